"""Writes deep models whose tables exceed a small GPU's memory, and a list of them: make_stacks.py FOLDER.

Each of 14 layers makes a table of 12 MiB from the one before. "chain" returns the last one: two tables are read or written
at a time. "jumps" adds the sums over the neighbours of all of them, the last one first: these sums are needed until the end.
"dense" has two layers on 8,000 nodes with 100 neighbours each.
"""
import sys

import torch
from torch import nn

from make_models import save

NODES, EDGES, WIDTH, LAYERS = 49152, 80000, 64, 14


def neighbours(h, edge_index):
    return torch.zeros_like(h).index_add(0, edge_index[1], h.index_select(0, edge_index[0]))


class Stack(nn.Module):
    def __init__(self, jumps, layers=LAYERS, width=WIDTH):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.jumps = jumps

    def forward(self, x, edge_index):
        tables = [x]
        for layer in self.layers:
            tables.append(layer(tables[-1] + neighbours(tables[-1], edge_index)).relu())
        return sum(neighbours(h, edge_index) for h in reversed(tables)) if self.jumps else tables[-1]


def main(folder):
    torch.manual_seed(13)
    torch.set_num_threads(1)
    inputs = {"x": torch.randn(NODES, WIDTH) / 8, "edge_index": torch.randint(0, NODES - 4, (2, EDGES))}
    dense = {"x": torch.randn(8000, 2 * WIDTH) / 8, "edge_index": torch.randint(0, 8000, (2, 800_000))}
    lines = [save(folder, name, Stack(name == "jumps"), inputs) for name in ("chain", "jumps")]
    lines.append(save(folder, "dense", Stack(False, 2, 2 * WIDTH), dense))
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
