"""Writes two layers of PyG's convolutions on a graph with hubs, and a list of them: make_convolutions.py FOLDER."""
import sys

import torch
from torch import nn
from torch_geometric import nn as pyg

from make_models import save

NODES, EDGES, HUB, WIDTH = 500, 4000, 2500, 8


def graph():
    """Each edge once, with self-loops, nodes without edges, and two nodes with more edges than a kernel's piece has."""
    random = torch.Generator().manual_seed(3)
    ends = torch.randint(0, NODES - 9, (2, EDGES), generator=random)
    hubs = torch.randint(0, NODES - 9, (2, HUB), generator=random)
    hubs[1] = torch.where(torch.arange(HUB) < HUB // 2, 7, 301)
    return torch.cat([ends, hubs], 1)


class Two(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class TwoAlong(Two):
    def forward(self, x, edge_index, edge_attr):
        return self.second(self.first(x, edge_index, edge_attr).relu(), edge_index, edge_attr)


def two(make):
    return Two(make(), make())


def heads(convolution, **options):
    return two(lambda: convolution(WIDTH, WIDTH // 2, heads=2, **options))


def main(folder):
    torch.manual_seed(12)
    torch.set_num_threads(1)
    edges = graph()
    plain = {"x": torch.randn(NODES, WIDTH), "edge_index": edges}
    along = {**plain, "edge_attr": torch.randn(edges.size(1), WIDTH)}
    degrees = torch.bincount(torch.bincount(edges[1], minlength=NODES))
    gine = [pyg.GINEConv(nn.Linear(WIDTH, WIDTH)) for _ in range(2)]
    edge = [pyg.EdgeConv(nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU())) for _ in range(2)]
    pna = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification"], deg=degrees)
    models = {"sage": two(lambda: pyg.SAGEConv(WIDTH, WIDTH)), "gcn": two(lambda: pyg.GCNConv(WIDTH, WIDTH)),
              "gat": heads(pyg.GATConv), "gatv2": heads(pyg.GATv2Conv), "transformer": heads(pyg.TransformerConv),
              "resgated": two(lambda: pyg.ResGatedGraphConv(WIDTH, WIDTH, aggr="mean")),
              "edgeconv": Two(*edge), "pna": two(lambda: pyg.PNAConv(WIDTH, WIDTH, **pna))}
    lines = [save(folder, name, model, plain) for name, model in models.items()]
    lines.append(save(folder, "gine", TwoAlong(*gine), along))
    ends = [pyg.PNAConv(WIDTH, WIDTH, edge_dim=WIDTH, towers=2, **pna) for _ in range(2)]
    lines.append(save(folder, "pna_along", TwoAlong(*ends), along))
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
