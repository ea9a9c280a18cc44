"""Writes two layers of PyG's convolutions on a graph with hubs, and a list of them: make_convolutions.py FOLDER [large].

With "large", on graphs so large that bytes take longer than launches: some lead to hubs.
"""
import sys

import torch
from torch import nn
from torch_geometric import nn as pyg

from make_models import save

SMALL = {"": (500, 4000, 2500, 8, 1)}  # nodes, edges, edges to hubs, width, scale of the features
LARGE = {"-dense": (8192, 180000, 2200, 64, 1 / 64), "-wide": (8192, 64000, 2200, 128, 1 / 64)}
MANY = (8192, 600000, 2200, 64, 1 / 64)  # for EdgeConv alone


def graph(nodes, edges, hub):
    """Each edge once, with self-loops, nodes without edges, and two nodes with more edges than a kernel's piece has."""
    random = torch.Generator().manual_seed(3)
    ends = torch.randint(0, nodes - 9, (2, edges), generator=random)
    hubs = torch.randint(0, nodes - 9, (2, hub), generator=random)
    hubs[1] = torch.where(torch.arange(hub) < hub // 2, 7, 301)
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


def heads(convolution, width):
    return two(lambda: convolution(width, width // 2, heads=2))


def edgeconv(width):
    return two(lambda: pyg.EdgeConv(nn.Sequential(nn.Linear(2 * width, width), nn.ReLU())))


def features(nodes, width, scale):
    return torch.randn(nodes, width) * scale


def write_many(folder, nodes, edges, hub, width, scale):
    return save(folder, "edgeconv-many", edgeconv(width),
                {"x": features(nodes, width, scale), "edge_index": graph(nodes, edges, hub)})


def write(folder, suffix, nodes, edges, hub, width, scale):
    ends = graph(nodes, edges, hub)
    plain = {"x": features(nodes, width, scale), "edge_index": ends}
    along = {**plain, "edge_attr": features(ends.size(1), width, scale)}
    degrees = torch.bincount(torch.bincount(ends[1], minlength=nodes))
    gine = [pyg.GINEConv(nn.Linear(width, width)) for _ in range(2)]
    pna = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification"], deg=degrees)
    models = {"sage": two(lambda: pyg.SAGEConv(width, width)), "gcn": two(lambda: pyg.GCNConv(width, width)),
              "gat": heads(pyg.GATConv, width), "gatv2": heads(pyg.GATv2Conv, width),
              "transformer": heads(pyg.TransformerConv, width),
              "resgated": two(lambda: pyg.ResGatedGraphConv(width, width, aggr="mean")),
              "edgeconv": edgeconv(width), "pna": two(lambda: pyg.PNAConv(width, width, **pna))}
    lines = [save(folder, name + suffix, model, plain) for name, model in models.items()]
    towers = [pyg.PNAConv(width, width, edge_dim=width, towers=2, **pna) for _ in range(2)]
    return lines + [save(folder, "gine" + suffix, TwoAlong(*gine), along),
                    save(folder, "pna_along" + suffix, TwoAlong(*towers), along)]


def main(folder, sizes):
    torch.manual_seed(12)
    torch.set_num_threads(1)
    lines = [line for suffix, size in sizes.items() for line in write(folder, suffix, *size)]
    if sizes is LARGE:
        lines.append(write_many(folder, *MANY))
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], LARGE if sys.argv[2:] == ["large"] else SMALL)
