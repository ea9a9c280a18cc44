"""Writes the files that the mutation runner starts from: OUT_FOLDER. Small models in plain PyTorch, traced and
scripted, as TorchScript writes them and once more with every zip entry stored, so that a mutation inside an entry can
keep its checksum right; one as an exported program; the same graph as .safetensors and as a folder of .npy files."""
import os
import sys
import zipfile

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn


class Seed(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        degree = self.degree(x, edge_index, edge_weight)
        h = self.inp(x).relu()
        for _ in range(2):
            message = h[edge_index[0]] * (edge_weight / degree[edge_index[1]]).unsqueeze(1)
            h = torch.zeros_like(h).index_add(0, edge_index[1], message).tanh() + h
        return self.out(h)

    def degree(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        n = x.size(0)
        return torch.zeros([n]).index_add(0, edge_index[1], edge_weight).clamp(min=1.0)


class WithGraph(Seed):
    """torch.export makes a graph within the program of a part without gradients."""

    def degree(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        with torch.no_grad():
            return super().degree(x, edge_index, edge_weight)


def stored(source, target):
    """The same archive with nothing compressed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            new.writestr(zipfile.ZipInfo(info.filename), old.read(info))


def main(out):
    os.makedirs(f"{out}/npy", exist_ok=True)
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(4)
    data = {"x": torch.randn(19, 5, generator=generator),
            "edge_index": torch.randint(0, 19, (2, 61), generator=generator),
            "edge_weight": torch.rand(61, generator=generator)}
    model = Seed().eval()
    torch.jit.trace(model, tuple(data.values()), check_trace=False).save(f"{out}/traced.pt")
    torch.jit.script(model).save(f"{out}/scripted.pt")
    sizes = {"x": {0: torch.export.Dim.AUTO}, "edge_index": {1: torch.export.Dim.AUTO}, "edge_weight": {0: torch.export.Dim.AUTO}}
    within = WithGraph().eval()
    within.load_state_dict(model.state_dict())
    torch.export.save(torch.export.export(within, tuple(data.values()), dynamic_shapes=sizes), f"{out}/exported.pt2")
    for name in ("traced", "scripted"):
        stored(f"{out}/{name}.pt", f"{out}/{name}_stored.pt")
    save_file(data, f"{out}/graph.safetensors")
    for key, value in data.items():
        np.save(f"{out}/npy/{key}.npy", value.numpy())


if __name__ == "__main__":
    main(sys.argv[1])
