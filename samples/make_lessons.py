"""A wrong model for the lesson on degrees: the GCN of karate/, as a loop over blocks computes it that counts degrees in each
block instead of in the whole graph.

Usage: python samples/make_lessons.py [FOLDER]      writes gcn_blocks.pt; reads karate/
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from models import GCN, GCNLayer, degree, sum_into
from training import save_portably

HERE = Path(__file__).parent
BLOCK = 17  # nodes of a batch


class BlockwiseGCNLayer(GCNLayer):
    """The block of a batch has the edges that arrive at its own nodes: there, all other nodes have no arriving edges."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        scale = (degree(x, dst) + 1).rsqrt()
        h = self.lin(x) * scale
        messages, of_source = h.index_select(0, src), scale.index_select(0, src)
        inside = (src // BLOCK == dst // BLOCK).unsqueeze(1)
        wrong = torch.where(inside, torch.ones_like(of_source), 1 / of_source)
        return (sum_into(messages * wrong, dst, x.size(0)) + h) * scale + self.bias


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    weights = torch.jit.load(HERE / "karate/gcn.pt").state_dict()
    hidden, inputs = weights["conv1.lin.weight"].shape
    classes = weights["conv2.bias"].numel()
    model = GCN(inputs, hidden, classes)
    model.conv1, model.conv2 = BlockwiseGCNLayer(inputs, hidden), BlockwiseGCNLayer(hidden, classes)
    model.load_state_dict(weights)
    data = load_file(HERE / "karate/graph.safetensors")
    traced = torch.jit.trace(model.eval(), (data["x"], data["edge_index"]), check_trace=False)
    save_portably(traced, str(folder / "gcn_blocks.pt"))
    right = torch.jit.load(HERE / "karate/gcn.pt")(data["x"], data["edge_index"])
    differing = (traced(data["x"], data["edge_index"]).argmax(1) != right.argmax(1)).sum().item()
    print(f"gcn_blocks: {differing} of {right.size(0)} members in the other faction")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "lessons")
