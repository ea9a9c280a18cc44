"""Readouts that need all rows of a graph at once, or combine them in a way that cannot be put together from parts."""
from functools import partial

from typing import Optional

import torch
from torch import nn
from torch_geometric import nn as G
from torch_geometric.nn.aggr.utils import PoolingByMultiheadAttention
from torch_geometric.utils import to_dense_batch

from graphs import FEATURES, GRAPHS, HIDDEN, PLAIN, WITH_BATCH
from layers import PartsGroup

group = PartsGroup("whole_graphs")
H, WIDTH = HIDDEN, 12


class Read(nn.Module):
    """A layer, the readout, and a layer on graphs."""

    def __init__(self, aggregation, width, **sizes):
        super().__init__()
        self.conv, self.read, self.out = G.SAGEConv(FEATURES, H), aggregation, nn.Linear(width, H)
        self.sizes = {"dim_size": GRAPHS, **sizes}

    def forward(self, x, edge_index, batch):
        return self.out(self.read(self.conv(x, edge_index), batch, **self.sizes)).tanh()


AGGREGATIONS = {
    "median": (G.MedianAggregation, H, {}),
    "quantile": (lambda: G.QuantileAggregation(0.3), H, {}),
    "nearest_quantile": (lambda: G.QuantileAggregation(0.7, interpolation="nearest"), H, {}),
    "quantiles": (lambda: G.QuantileAggregation([0.25, 0.5, 0.75]), 3 * H, {}),
    "product": (G.MulAggregation, H, {}),
    "gru": (lambda: G.GRUAggregation(H, H), H, {"max_num_elements": WIDTH}),
    "lstm": (lambda: G.LSTMAggregation(H, H), H, {"max_num_elements": WIDTH}),
    "mlp": (lambda: G.MLPAggregation(H, H, WIDTH, num_layers=1), H, {}),
    "attention": (lambda: G.SetTransformerAggregation(H, heads=2), H, {"max_num_elements": WIDTH}),
    "multisets": (lambda: G.GraphMultisetTransformer(H, 3, heads=2), H, {"max_num_elements": WIDTH}),
    "patches": (lambda: G.PatchTransformerAggregation(H, H, 2, H, 1, 2, 0.0), H, {"max_num_elements": WIDTH}),
}
for name, (make, width, sizes) in AGGREGATIONS.items():
    group.add(name, lambda make=make, width=width, sizes=sizes: Read(make(), width, **sizes), WITH_BATCH, stages=2)


def vector(name):
    """Numbers under a neutral name, with gaps among them or in another order."""
    def inputs(graph):
        numbers = {"gaps": graph["batch"].clamp(min=1) // 3 * 3, "shuffled": graph["kind"]}[name]
        return {"x": graph["x"], "edge_index": graph["edge_index"], "part": numbers}
    return inputs


class ReadParts(Read):
    def forward(self, x, edge_index, part):
        return super().forward(x, edge_index, part)


for name in ("gaps", "shuffled"):
    group.add(f"product_{name}", lambda: ReadParts(G.MulAggregation(), H), vector(name), stages=2)
    group.add(f"median_{name}", lambda: ReadParts(G.MedianAggregation(), H), vector(name), stages=2)


batched = partial(group.of, WITH_BATCH)


@batched()
def last_row_of_each_graph(m, x, edge_index, batch):
    out = torch.zeros(GRAPHS, H)
    out[batch] = m.a(m.inp(x), edge_index)
    return out


@batched()
def dense_batch_with_its_mask(m, x, edge_index, batch):
    return to_dense_batch(m.a(m.inp(x), edge_index), batch, max_num_nodes=WIDTH, batch_size=GRAPHS)


@batched()
def graphs_back_to_their_nodes(m, x, edge_index, batch):
    h = m.inp(x)
    largest = h.new_ones(GRAPHS, H).scatter_reduce(0, batch.view(-1, 1).expand_as(h), h.sigmoid(), "prod")
    return m.a(h + largest[batch], edge_index)


class SizeFromTheBatch(nn.Module):
    """The number of graphs as the largest number of the batch vector says."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)

    def forward(self, x, edge_index, batch, size: Optional[int] = None):
        count = size if size is not None else int(batch.max()) + 1
        h = self.inp(x).sigmoid()
        return h.new_ones(count, h.size(1)).scatter_reduce(0, batch.view(-1, 1).expand_as(h), h, "prod")


group.add("size_from_the_batch", SizeFromTheBatch, WITH_BATCH, how="script", stages=2)


# Where the rows of each graph begin, as an input ---------------------------------------------------------------------
def offsets(graph):
    counts = torch.bincount(graph["batch"], minlength=GRAPHS)
    return {"x": graph["x"], "edge_index": graph["edge_index"], "ptr": torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])}


class ReadByOffsets(nn.Module):
    def __init__(self, aggregation):
        super().__init__()
        self.conv, self.read, self.out = G.SAGEConv(FEATURES, H), aggregation, nn.Linear(H, H)

    def forward(self, x, edge_index, ptr):
        return self.out(self.read(self.conv(x, edge_index), ptr=ptr))


for name, make in {"sum": G.SumAggregation, "mean": G.MeanAggregation, "max": G.MaxAggregation, "min": G.MinAggregation,
                   "power_mean": lambda: G.PowerMeanAggregation(learn=True), "variance": G.VarAggregation,
                   "kept_variance": G.VariancePreservingAggregation}.items():
    group.add(f"offsets_{name}", lambda make=make: ReadByOffsets(make()), offsets, stages=1)


# Attention among the places of a row, and norms with statistics that were kept ---------------------------------------
def places(graph):
    n, g = graph["x"].size(0), torch.Generator().manual_seed(graph["x"].size(0))
    return {"x": torch.randn(n, 4, H, generator=g), "mask": torch.rand(n, 4, generator=g) < 0.3}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(H, 2, batch_first=True)

    def forward(self, x, mask):
        mask = torch.cat([torch.zeros_like(mask[:, :1]), mask[:, 1:]], 1)
        return self.attention(x, x, x, mask, need_weights=False)[0]


group.add("places_of_a_row", Attention, places, stages=1)
group.add("places_of_a_row_scripted", Attention, places, how="script", stages=1)


class PooledPlaces(nn.Module):
    """Attention of learned places to those of a row, with several heads."""

    def __init__(self):
        super().__init__()
        self.pool = PoolingByMultiheadAttention(H, num_seed_points=2, heads=2)

    def forward(self, x, mask):
        mask = torch.cat([torch.ones_like(mask[:, :1]), mask[:, 1:]], 1)
        return self.pool(x, mask)


group.add("pooled_places", PooledPlaces, places, stages=1)
group.add("pooled_places_scripted", PooledPlaces, places, how="script", stages=1)


@group.module(lambda graph: {"x": places(graph)["x"], "edge_index": graph["edge_index"]}, stages=1)
class GroupsOfColumns(nn.Module):
    """A weight for each group of columns, which is turned to the front of rows and places."""

    def __init__(self):
        super().__init__()
        self.conv = G.DNAConv(H, heads=2, groups=4)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


class KeptStatistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = G.SAGEConv(FEATURES, H), G.InstanceNorm(H, affine=True, track_running_stats=True)
        self.norm.running_mean.copy_(torch.linspace(-1, 1, H))
        self.norm.running_var.copy_(torch.linspace(0.5, 2, H))

    def forward(self, x, edge_index):
        return self.norm(self.conv(x, edge_index))


group.add("kept_statistics", KeptStatistics, PLAIN, stages=1)
group.add("kept_statistics_scripted", KeptStatistics, PLAIN, how="script", stages=1)
