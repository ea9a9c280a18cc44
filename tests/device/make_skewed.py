"""Writes models whose batches share rows, and a list of them: make_skewed.py FOLDER.

"skewed" is two layers of sums over the neighbours in an R-MAT graph of 2^16 nodes and half a million edges with rows of 1,024
bytes: a table of 64 MiB, of which batches read the rows of hubs again and again. "hidden" is the same on a graph of communities of 64 nodes
whose numbers are shuffled: in the order of the numbers, batches share few rows.
"""
import sys

import torch
from torch import nn

from make_models import save
from make_stacks import neighbours

SCALE, EDGES, WIDTH = 16, 1 << 19, 256


def rmat():
    ends = torch.zeros(2, EDGES, dtype=torch.long)
    for _ in range(SCALE):
        quadrant = torch.multinomial(torch.tensor([0.57, 0.19, 0.19, 0.05]), EDGES, replacement=True)
        ends = 2 * ends + torch.stack([quadrant // 2, quadrant % 2])
    return torch.randperm(1 << SCALE)[ends]


class Sums(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, edge_index):
        for layer in (self.a, self.b):
            x = layer(x + neighbours(x, edge_index) / 64).relu()
        return x


def communities(nodes=1 << 13, size=64):
    target = torch.arange(nodes).repeat(8)
    return torch.randperm(nodes)[torch.stack([target // size * size + torch.randint(0, size, target.shape), target])]


def main(folder):
    torch.manual_seed(17)
    torch.set_num_threads(1)
    inputs = {"x": torch.randn(1 << SCALE, WIDTH) / 8, "edge_index": rmat()}
    hidden = {"x": inputs["x"][:1 << 13].clone(), "edge_index": communities()}
    lines = [save(folder, "skewed", Sums(), inputs), save(folder, "hidden", Sums(), hidden)]
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
