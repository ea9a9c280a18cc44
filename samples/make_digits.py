"""scikit-learn's 1,797 handwritten digits, each joined to the 8 most similar ones, and five small models trained on it.

Usage: python samples/make_digits.py [FOLDER]
Writes graph.safetensors and per model NAME.pt and NAME.expected.safetensors.
"""

import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits

from models import GAT, GCN, JKNet, Residual, SAGE
from training import accuracy, train, write_graph, write_model

NEIGHBOURS = 8
TRAINING_SHARE = 0.1


def nearest(x):
    """Edges from the most similar others to each node, [2, N * NEIGHBOURS]."""
    distance = torch.cdist(x.double(), x.double())
    distance.fill_diagonal_(float("inf"))
    sources = distance.topk(NEIGHBOURS, largest=False).indices
    destinations = torch.arange(x.size(0)).repeat_interleave(NEIGHBOURS)
    return torch.stack([sources.reshape(-1), destinations])


def graph():
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)
    train_mask = torch.rand(x.size(0), generator=torch.Generator().manual_seed(5)) < TRAINING_SHARE
    return {"x": x, "edge_index": nearest(x), "y": labels, "train_mask": train_mask, "test_mask": ~train_mask}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = graph()
    write_graph(folder, data)
    for name, kind in {"gcn": GCN, "sage": SAGE, "gat": GAT, "jknet": JKNet, "residual": Residual}.items():
        torch.manual_seed(3)
        model = train(kind(data["x"].size(1), 32, 10), data, data["y"], data["train_mask"])
        out = write_model(folder, name, model, data)
        print(f"{name}: test accuracy {accuracy(out, data['y'], data['test_mask']):.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "digits")
