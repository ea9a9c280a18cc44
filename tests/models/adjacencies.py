"""Layers between two tables, and sparse adjacencies as PyG's layers take, make and change them."""
from typing import Dict, Tuple

import torch
from torch import Tensor, nn
from torch_geometric.nn import (APPNP, GATConv, GATv2Conv, GCNConv, GraphConv, HEATConv, LGConv, PointNetConv, SAGEConv, SGConv, TAGConv,
                                TransformerConv)
from torch_geometric.utils import to_torch_csr_tensor

from graphs import EDGE_FEATURES, FEATURES, GRAPHS, HIDDEN, RELATIONS, take
from layers import add_rows
from registry import Group

group = Group("adjacencies")


# Pairs of inputs -----------------------------------------------------------------------------------------------------
FOUR = torch.tensor([[0, 1, 2, 3], [0, 0, 1, 1]])


def noise(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def pair(sources, targets, width, edge_index):
    return lambda graph: {"x": (noise(sources, FEATURES), noise(targets, width)), "edge_index": edge_index(graph)}


def of_all(edges, sources, targets):
    def make(graph):
        g = torch.Generator().manual_seed(graph["x"].size(0))
        index = torch.stack([torch.randint(0, sources, (edges,), generator=g), torch.randint(0, targets, (edges,), generator=g)])
        index[0, :sources] = torch.arange(min(sources, edges))
        index[1, :targets] = torch.arange(min(targets, edges))
        return index

    return make


PAIRS = {"four": pair(4, 2, 16, lambda graph: FOUR), "wide": pair(40, 7, 60, of_all(90, 40, 7)),
         "edges_as_sources": pair(30, 9, 5, of_all(30, 30, 9)), "edges_as_destinations": pair(30, 11, 5, of_all(11, 30, 11)),
         "more_destinations": pair(9, 40, 5, of_all(70, 9, 9))}
WIDTHS = {"four": 16, "wide": 60}

for key, make in PAIRS.items():
    width = WIDTHS.get(key, 5)
    group.add(f"pair_{key}", lambda width=width: SAGEConv((FEATURES, width), HIDDEN), make, stages=1)
group.add("pair_four_attention", lambda: GATv2Conv((FEATURES, 16), HIDDEN, heads=2, add_self_loops=False), PAIRS["four"], stages=1)
group.add("pair_four_scripted", lambda: SAGEConv((FEATURES, 16), HIDDEN), PAIRS["four"], how="script", stages=1)


# Loops of the nodes that are on both sides, whose numbers are those of two tables
def placed(make):
    def inputs(graph):
        (x, other), edge_index = make(graph).values()
        return {"x": x, "pos": (noise(x.size(0), 3), noise(other.size(0), 3)), "edge_index": edge_index}

    return inputs


def compressed_pair(make):
    def inputs(graph):
        pair, edge_index = make(graph).values()
        return {"x": pair, "edge_index": to_torch_csr_tensor(edge_index, size=(len(pair[0]), len(pair[1]))).t().to_sparse_csr()}

    return inputs


class Placed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = PointNetConv(nn.Linear(FEATURES + 3, HIDDEN), nn.Linear(HIDDEN, HIDDEN))

    def forward(self, x: Tensor, pos: Tuple[Tensor, Tensor], edge_index: Tensor):
        return self.conv(x, pos, edge_index)


for key in ("four", "wide", "edges_as_sources", "edges_as_destinations"):
    width, make = WIDTHS.get(key, 5), PAIRS[key]
    group.add(f"loops_{key}_gat", lambda width=width: GATConv((FEATURES, width), HIDDEN, heads=2), make)
    group.add(f"loops_{key}_gatv2", lambda width=width: GATv2Conv((FEATURES, width), HIDDEN), make)
    group.add(f"loops_{key}_points", Placed, placed(make))
    group.add(f"loops_{key}_points_scripted", Placed, placed(make), how="script")
    group.add(f"loops_{key}_compressed", lambda width=width: GATConv((FEATURES, width), HIDDEN), compressed_pair(make))


# Compressed rows as an argument --------------------------------------------------------------------------------------
def square(weighted=True):
    def make(graph):
        n, weight = graph["x"].size(0), graph["edge_weight"] if weighted else None
        return {"x": graph["x"], "edge_index": to_torch_csr_tensor(graph["edge_index"].flip(0), weight, size=(n, n))}

    return make


def small(graph):
    edges = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    return {"x": noise(4, FEATURES), "edge_index": to_torch_csr_tensor(edges, size=(4, 4))}


class Two(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.a, self.b = make(FEATURES), make(HIDDEN)

    def forward(self, x, edge_index):
        return self.b(self.a(x, edge_index).relu(), edge_index)


for way in ("mean", "max", "min"):
    group.add(f"csr_{way}", lambda way=way: Two(lambda width: GraphConv(width, HIDDEN, aggr=way)), square(), stages=2)
group.add("csr_mean_without_weights", lambda: Two(lambda width: SAGEConv(width, HIDDEN)), square(False), stages=2)
group.add("csr_mean_small", lambda: SAGEConv(FEATURES, HIDDEN), small, stages=1)
group.add("csr_attention", lambda: Two(lambda width: TransformerConv(width, HIDDEN)), square(False))
group.add("csr_attention_small", lambda: TransformerConv(FEATURES, HIDDEN, heads=2), small)


# Rebuilt with self-loops and normalised: a trace holds the number of rows, so that all graphs have as many.
def rebuilt(weighted=True, layout="csr"):
    def make(graph):
        g = torch.Generator().manual_seed(graph["x"].size(0))
        edges = torch.randint(0, 40, (2, graph["edge_index"].size(1)), generator=g)
        edges[1] = (edges[0] + 1 + edges[1] % 39) % 40      # no loops, which PyG would merge with its own
        weight = torch.rand(edges.size(1), generator=g) + 0.1 if weighted else None
        adj = to_torch_csr_tensor(edges, weight, size=(40, 40))
        return {"x": torch.randn(40, FEATURES, generator=g), "edge_index": adj if layout == "csr" else adj.to_sparse_coo()}

    return make


group.add("csr_gcn", lambda: Two(lambda width: GCNConv(width, HIDDEN)), rebuilt(), stages=2)
group.add("coo_gcn", lambda: Two(lambda width: GCNConv(width, HIDDEN)), rebuilt(layout="coo"), stages=2)
group.add("csr_gcn_small", lambda: GCNConv(FEATURES, HIDDEN), small, stages=1)
group.add("csr_gcn_without_loops", lambda: GCNConv(FEATURES, HIDDEN, add_self_loops=False), rebuilt(), stages=1)
group.add("csr_gat", lambda: GATConv(FEATURES, HIDDEN, heads=2), rebuilt(False))
group.add("csr_hops", lambda: SGConv(FEATURES, HIDDEN, K=2), rebuilt(), stages=2)
group.add("csr_pages", lambda: APPNP(K=2, alpha=0.1), rebuilt(), stages=2)
group.add("csr_light", LGConv, rebuilt(False), stages=1)
group.add("csr_powers", lambda: TAGConv(FEATURES, HIDDEN, K=2), rebuilt(), stages=2)


# Sparse matrices in a Dict, and with several values for each edge ----------------------------------------------------
def between(layout):
    def make(graph):
        index, shape = graph["to_item"].flip(0), (graph["item"].size(0), graph["x"].size(0))
        adj = torch.sparse_coo_tensor(index, torch.ones(index.size(1)), shape).coalesce()
        return {"xs": {"user": graph["x"], "item": graph["item"]},
                "adj_ts": {"user__to__item": adj.to_sparse_csr() if layout == "csr" else adj}}

    return make


class Between(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.own = nn.Linear(FEATURES, HIDDEN), nn.Linear(4, HIDDEN)

    def forward(self, xs: Dict[str, Tensor], adj_ts: Dict[str, Tensor]):
        return self.own(xs["item"]) + torch.sparse.mm(adj_ts["user__to__item"], self.lin(xs["user"]))


for layout in ("csr", "coo"):
    group.add(f"dict_of_{layout}", Between, between(layout), stages=1)
    group.add(f"dict_of_{layout}_scripted", Between, between(layout), how="script", stages=1)


def channels(graph):
    n = graph["x"].size(0)
    adj = torch.sparse_coo_tensor(graph["edge_index"].flip(0), graph["edge_attr"], (n, n, graph["edge_attr"].size(1)))
    return {"x": graph["x"], "adj": adj.coalesce()}


@group.module(channels, stages=2)
class EdgesWithChannels(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.edge = nn.Linear(FEATURES, HIDDEN), nn.Linear(EDGE_FEATURES, HIDDEN)

    def forward(self, x, adj):
        (row, col), weight = adj.indices(), self.edge(adj.values())
        h = self.inp(x)
        for _ in range(2):
            h = add_rows(h[col] * weight, row, x.size(0)).tanh()
        return h


# Rows of each kind, sorted, by offsets that count them ---------------------------------------------------------------
group.add("kinds_by_offsets", lambda: HEATConv(FEATURES, HIDDEN, GRAPHS, RELATIONS, 3, EDGE_FEATURES, 4, heads=2),
          take("x", "edge_index", "node_type=kind", "edge_type", "edge_attr"), how="script")


@group.module(take("x", "edge_index", "edge_weight"), how="script", gpu=False)
class sparse_product_and_addition(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, HIDDEN)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        h, adj = self.inp(x), torch.sparse_coo_tensor(edge_index, edge_weight, [x.size(0), x.size(0)])
        once = torch.addmm(h, adj, h.tanh(), beta=0.5, alpha=2)
        return torch.addmm(torch.addmm(once, adj, once), adj, h, beta=0)
