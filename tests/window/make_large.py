"""Writes a large graph network for tests of the window: OUT/large.pt, traced, about 10,000 operators in more than 500
modules, and its graph in OUT/large (x.npy, edge_index.npy). Plain PyTorch.

40 equal blocks: a hop along the one edge index that all share, 14 gated units, and a skip around them; every block's
result is read again by the head. Nothing is written if it is there already and this file is older.
"""
import os
import sys

import numpy
import torch
from torch import nn

BLOCKS, UNITS, WIDTH, NODES, EDGES = 40, 14, 8, 300, 1200


class Hop(nn.Module):
    """The mean over the neighbours beside the node's own row."""

    def __init__(self):
        super().__init__()
        self.near, self.own = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, h, edge_index):
        source, target = edge_index[0], edge_index[1]
        rows = self.near(h).index_select(0, source)
        total = torch.zeros_like(h).index_add(0, target, rows)
        count = torch.zeros_like(h[:, :1]).index_add(0, target, torch.ones_like(rows[:, :1]))
        return total / count.clamp(min=1) + self.own(h)


class Unit(nn.Module):
    """A gated step of every node for itself."""

    def __init__(self):
        super().__init__()
        self.value, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, h):
        value = torch.tanh(self.value(self.norm(h)))
        gate = torch.sigmoid(self.gate(h))
        step = torch.relu(value * gate) * 0.5 + torch.sin(value) * (1 - gate)
        return h * 0.9 + step.clamp(-2, 2) - step.abs().sqrt() * 0.01


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.hop = Hop()
        self.units = nn.ModuleList(Unit() for _ in range(UNITS))

    def forward(self, h, edge_index):
        step = torch.relu(self.hop(h, edge_index))
        for unit in self.units:
            step = unit(step)
        return h + step * 0.1


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.head = nn.Linear(WIDTH * BLOCKS, 4)

    def forward(self, x, edge_index):
        h, results = x, []
        for block in self.blocks:
            h = block(h, edge_index)
            results.append(h)
        return self.head(torch.cat(results, dim=1))


def main(out):
    model, graph = os.path.join(out, "large.pt"), os.path.join(out, "large")
    if os.path.exists(model) and os.path.getmtime(model) > os.path.getmtime(__file__):
        return
    torch.set_num_threads(1)  # the tensors are small: threads would only wait for each other
    torch.manual_seed(17)
    x, edges = torch.randn(NODES, WIDTH), torch.randint(NODES, (2, EDGES))
    os.makedirs(graph, exist_ok=True)
    numpy.save(os.path.join(graph, "x.npy"), x.numpy())
    numpy.save(os.path.join(graph, "edge_index.npy"), edges.numpy())
    traced = torch.jit.trace(Large().eval(), (x, edges), check_trace=False)
    torch.jit.save(traced, model + ".part")
    os.replace(model + ".part", model)


if __name__ == "__main__":
    main(sys.argv[1])
