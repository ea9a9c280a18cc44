"""Writes OUT/NAME.pt: untrained stacks of layers, traced, whose widths make different cuts the best. Plain PyTorch; for
`hopscope-bench plans OUT/NAME.pt --data GRAPH`, where x has FEATURES columns.

usage: make_stacks.py OUT [FEATURES]
"""
import sys
from pathlib import Path

import torch
from torch import nn


def mean(h, edge_index):
    """Over the in-neighbours."""
    source, target = edge_index[0], edge_index[1]
    total = torch.zeros_like(h).index_add(0, target, h.index_select(0, source))
    count = torch.zeros_like(h[:, :1]).index_add(0, target, torch.ones_like(target, dtype=h.dtype).unsqueeze(1))
    return total / count.clamp(min=1)


class Sage(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.near, self.own = nn.Linear(width_in, width_out), nn.Linear(width_in, width_out, bias=False)

    def forward(self, h, edge_index):
        return self.near(mean(h, edge_index)) + self.own(h)


class Conv(nn.Module):
    """The product first, as GCN does it."""

    def __init__(self, width_in, width_out):
        super().__init__()
        self.lin = nn.Linear(width_in, width_out)

    def forward(self, h, edge_index):
        return mean(self.lin(h), edge_index)


class Stack(nn.Module):
    """Layers of the given widths with relu between; `join`: what the head reads: the last layer, all of them (jumping
    knowledge), or every layer all before it (dense)."""

    def __init__(self, layer, widths, join="last"):
        super().__init__()
        self.join = join
        before = [sum(widths[:i + 1]) if join == "dense" else widths[i] for i in range(len(widths) - 1)]
        self.layers = nn.ModuleList(layer(a, b) for a, b in zip(before, widths[1:]))
        self.head = nn.Linear(widths[-1] if join == "last" else sum(widths[1:]), 16)

    def forward(self, x, edge_index):
        seen = [x]
        for layer in self.layers:
            h = torch.cat(seen, dim=1) if self.join == "dense" else seen[-1]
            seen.append(layer(h, edge_index).relu())
        return self.head(seen[-1] if self.join == "last" else torch.cat(seen[1:], dim=1))


def stacks(features):
    return {
        "gcn": Stack(Conv, [features, 64, 64, 64]),
        "sage": Stack(Sage, [features, 64, 64, 64]),
        "jknet": Stack(Conv, [features, 64, 64, 64], "jump"),
        "dense": Stack(Conv, [features, 32, 32, 32], "dense"),
        "bottleneck": Stack(Conv, [features, 128, 8, 128]),
        "expanding": Stack(Sage, [features, 16, 64, 256]),
    }


def main(out, features):
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    example = (torch.randn(6, features), torch.tensor([[0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 0, 1]]))
    for name, model in stacks(features).items():
        with torch.no_grad():
            torch.jit.trace(model.eval(), example, check_trace=False).save(str(out / f"{name}.pt"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 64)
