"""Writes GraphSAGE on graphs whose tables exceed a small GPU's memory, and a list of them: make_skews.py FOLDER.

In "skewed", a few nodes are the sources of most edges. In "local", all nodes have the same degree, and their neighbours are
numbered like them: batches of consecutive nodes share most of their rows.
"""
import sys

import torch
from torch import nn
from torch_geometric import nn as pyg

from make_models import save

NODES, DEGREE, WIDTH = 60000, 8, 128


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = pyg.SAGEConv(WIDTH, WIDTH), pyg.SAGEConv(WIDTH, WIDTH)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def skewed():
    """Sources by a power law, at random numbers."""
    share = torch.rand(NODES * DEGREE, dtype=torch.float64)
    sources = torch.randperm(NODES)[(NODES * share ** 4).long().clamp(max=NODES - 1)]
    return torch.stack([sources, torch.randint(0, NODES, (NODES * DEGREE,))])


def local():
    nodes = torch.arange(NODES).repeat(DEGREE)
    away = torch.arange(1, DEGREE + 1).repeat_interleave(NODES)
    return torch.stack([(nodes + away) % NODES, nodes])


def main(folder):
    torch.manual_seed(14)
    torch.set_num_threads(1)
    x = torch.randn(NODES, WIDTH)
    lines = [save(folder, graph.__name__, Two(), {"x": x, "edge_index": graph()}) for graph in (skewed, local)]
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
