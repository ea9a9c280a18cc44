"""The PyG convolutions that the other groups do not hold, ready-made models, dtypes, and forms of inputs.

Everything here is meant to come out equal: test_models says which entries do, and which are refused and why
(coverage.py)."""
import torch
import torch_geometric.nn as G
from torch import Tensor, nn

import convolutions as C
from graphs import EDGE_FEATURES as ED
from graphs import FEATURES as F
from graphs import HIDDEN as H
from graphs import PLAIN, RELATIONS, WITH_ATTR, WITH_TYPE, WITH_WEIGHT, take
from layers import Parts, add_rows, softmax_by
from registry import Group
from typed import hypergraph

group = Group("further")


class Signed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = G.SignedConv(F, H, first_aggr=True), G.SignedConv(H, H, first_aggr=False)

    def forward(self, x, edge_index, query):
        return self.b(self.a(x, edge_index, query).relu(), edge_index, query)


class Hyper(nn.Module):
    """The number of hyperedges is that of a table: without it, tracing keeps the one of its graph."""

    def __init__(self):
        super().__init__()
        self.a, self.b = G.HypergraphConv(F, H), G.HypergraphConv(H, 3)

    def forward(self, x, hyper_x, members):
        count = hyper_x.size(0)
        return self.b(self.a(x, members, num_edges=count).relu(), members, num_edges=count)


class Labels(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = G.WLConvContinuous()

    def forward(self, x, edge_index, edge_weight):
        return self.conv(self.conv(x, edge_index, edge_weight), edge_index, edge_weight)


class PointPairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = G.PPFConv(nn.Linear(F + 4, H))

    def forward(self, x, edge_index):
        normal = nn.functional.normalize(x[:, 3:6], dim=1)
        return self.conv(x, x[:, :3], normal, edge_index)


class PointGnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = G.PointGNNConv(nn.Linear(F, 3), nn.Linear(F + 3, H), nn.Linear(H, F))

    def forward(self, x, edge_index):
        return self.conv(x, x[:, :3], edge_index)


class Heat(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = G.HEATConv(F, H, RELATIONS + 1, RELATIONS, 4, ED, 4, heads=2)

    def forward(self, x, edge_index, kind, edge_type, edge_attr):
        return self.conv(x, edge_index, kind, edge_type, edge_attr)


TABLE = [
    ("agnn", C.SameWidth, PLAIN, lambda i: G.AGNNConv(), "ts"),
    ("simple_mean", C.SameWidth, PLAIN, lambda i: G.SimpleConv("mean", combine_root="sum"), "ts"),
    ("simple_self_loop", C.SameWidth, PLAIN, lambda i: G.SimpleConv("max", combine_root="self_loop"), "t"),
    ("rgat", C.Typed, WITH_TYPE, lambda i: G.RGATConv(i, H, RELATIONS), "t"),
    ("rgat_bases", C.Typed, WITH_TYPE, lambda i: G.RGATConv(i, H, RELATIONS, num_bases=2, mod="f-scaled"), "t"),
    ("gat_mean_heads", C.Plain, PLAIN, lambda i: G.GATConv(i, H, heads=3, concat=False, residual=True), "t"),
    ("gat_no_loops", C.Plain, PLAIN, lambda i: G.GATConv(i, H // 2, heads=2, add_self_loops=False), "t"),
    ("ssg_scripted", C.Plain, PLAIN, lambda i: G.SSGConv(i, H, alpha=0.1, K=2), "s"),
    ("gen_scripted", C.Plain, PLAIN, lambda i: G.GENConv(i, H), "s"),
    ("fa_scripted", C.InitialResidual, PLAIN, lambda i: G.FAConv(H), "s"),
    ("pdn_scripted", C.Attributed, WITH_ATTR, lambda i: G.PDNConv(i, H, ED, 7), "s"),
    ("sage_mul", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="mul"), "s"),
    ("sage_var", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr=G.aggr.VarAggregation()), "ts"),
    ("sage_std", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="std"), "ts"),
    ("sage_min", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="min"), "ts"),
    ("sage_median", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="median"), "t"),
    ("sage_quantile", C.Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr=G.aggr.QuantileAggregation(0.3)), "t"),
    ("sage_quantile_midpoint", C.Plain, PLAIN,
     lambda i: G.SAGEConv(i, H, aggr=G.aggr.QuantileAggregation(0.8, "midpoint", fill_value=0.5)), "t"),
    ("gat_like_median", C.Plain, PLAIN, lambda i: G.GATConv(i, H // 2, heads=2, aggr="median"), "t"),
    ("sage_mean_median", C.Plain, PLAIN,
     lambda i: G.SAGEConv(i, H, aggr=G.aggr.MultiAggregation(["mean", "median"])), "t"),
    ("sage_multi_project", C.Plain, PLAIN,
     lambda i: G.SAGEConv(i, H, aggr=G.aggr.MultiAggregation(["mean", "max"], mode="sum")), "t"),
]


class Quantiles(nn.Module):
    """Several quantiles of the neighbours at once, side by side."""

    def __init__(self, interpolation):
        super().__init__()
        self.inp, self.mix, self.out = nn.Linear(F, H), nn.Linear(3 * H, H), nn.Linear(3 * H, 3)
        self.aggr = G.aggr.QuantileAggregation([0.1, 0.5, 0.8], interpolation, fill_value=0.5)

    def forward(self, x, edge_index):
        h = self.inp(x)
        for lin in (self.mix, self.out):
            h = lin(self.aggr(h[edge_index[0]], edge_index[1], dim_size=x.size(0), dim=0)).tanh()
        return h


for interpolation in ("linear", "lower", "higher", "nearest", "midpoint"):
    group.add(f"quantiles_{interpolation}", lambda i=interpolation: Quantiles(i), PLAIN)


class MixHops(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = G.MixHopConv(F, H, [0, 1, 2]), G.MixHopConv(3 * H, 3, [0, 1])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.b(self.a(x, edge_index).relu(), edge_index)


for name, body, inputs, make, ways in TABLE:
    for way in ways:
        build = lambda body=body, make=make: body(make, 2)
        group.add(f"{name}_{'scripted' if way == 's' else 'traced'}" if not name.endswith("_scripted") else name, build,
                  inputs, how="script" if way == "s" else "trace")

# Its softmax over a relation counts the nodes by the largest number among that relation's edges.
group.add("rgat_within_relation",
          lambda: C.Typed(lambda i: G.RGATConv(i, H // 2, RELATIONS, heads=2, attention_mode="multiplicative-self-attention",
                                               attention_mechanism="within-relation"), 2),
          WITH_TYPE)
def few_neighbours(graph):
    """Edges sorted by destination, four for each at most: tracing keeps the largest degree as the length of sequences."""
    index = graph["edge_index"][:, torch.argsort(graph["edge_index"][1], stable=True)]
    place = torch.arange(index.size(1)) - torch.searchsorted(index[1], index[1])
    return {"x": graph["x"], "edge_index": index[:, place < 4].contiguous()}


group.add("sage_lstm", lambda: C.Plain(lambda i: G.SAGEConv(i, H, aggr="lstm"), 2), few_neighbours, peaks=False)
group.add("sage_lstm_projected", lambda: C.Plain(lambda i: G.SAGEConv(i, H, aggr="lstm", project=True), 1), few_neighbours,
          peaks=False)
group.add("signed", Signed, take("x", "edge_index", "query"), roles=("query=index:node>node",))
group.add("hypergraph", Hyper, hypergraph, roles=("x=node:node", "hyper_x=node:hyper", "members=index:node>hyper"))
group.add("wl_continuous", Labels, WITH_WEIGHT)
group.add("ppf", PointPairs, PLAIN)
group.add("point_gnn", PointGnn, PLAIN)
group.add("heat", Heat, take("x", "edge_index", "kind", "edge_type", "edge_attr"), roles=("kind=node:node",))
group.add("mixhop_traced", MixHops, PLAIN)
group.add("mixhop_scripted", MixHops, PLAIN, how="script")


# Ready-made models ----------------------------------------------------------------------------------------------------
class Model(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.model = make()

    def forward(self, x, edge_index):
        return self.model(x, edge_index)


MODELS = {
    "gcn_jk_cat": lambda: G.GCN(F, H, 3, 4, jk="cat", norm="batch_norm"),
    "sage_jk_max": lambda: G.GraphSAGE(F, H, 3, 4, jk="max", norm="layer_norm"),
    "gat_jk_lstm": lambda: G.GAT(F, H, 3, 4, jk="lstm", v2=True),
    "gin_graph_norm": lambda: G.GIN(F, H, 3, 4, norm="graph_norm"),
    "edge_cnn": lambda: G.EdgeCNN(F, H, 2, 4, norm="pair_norm"),
    "gcn_message_norm": lambda: G.GENConv(F, H, msg_norm=True, learn_msg_scale=True),
    "gcn_diff_group": lambda: G.GCN(F, H, 2, 4, norm=G.DiffGroupNorm(H, 2)),
    "label_propagation_like": lambda: G.APPNP(4, 0.2),
    "gcn_instance_norm": lambda: G.GCN(F, H, 2, 4, norm="instance_norm"),
    "linkx_free": lambda: G.GCN(F, H, 1),
    "gcn_prelu_first": lambda: G.GCN(F, H, 3, 4, act="prelu", act_first=True, act_kwargs={"num_parameters": H}),
    "recurrent": lambda: G.GatedGraphConv(H, 5),
}
for name, make in MODELS.items():
    # An LSTM holds some 33 KB whatever the batch, which the estimate leaves out.
    group.add(f"model_{name}", lambda make=make: Model(make), PLAIN, peaks="lstm" not in name)


class DeepLayers(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.inp = nn.Linear(F, H)
        self.layers = nn.ModuleList(
            G.DeepGCNLayer(G.GENConv(H, H, num_layers=1), nn.LayerNorm(H), nn.ReLU(), block=block) for _ in range(2))

    def forward(self, x, edge_index):
        x = self.inp(x)
        for layer in self.layers:
            x = layer(x, edge_index)
        return x


for block in ("res+", "res", "dense", "plain"):
    if block != "dense":
        group.add(f"model_deep_gcn_{block.replace('+', '_plus')}", lambda block=block: DeepLayers(block), PLAIN)


# dtypes ---------------------------------------------------------------------------------------------------------------
def in_dtype(inputs, dtype):
    def of(graph):
        return {k: v.to(dtype) if v.is_floating_point() else v for k, v in inputs(graph).items()}

    return of


class InDtype(nn.Module):
    def __init__(self, make, dtype):
        super().__init__()
        self.conv = make().to(dtype)

    def forward(self, x, edge_index):
        return self.conv(self.conv(x, edge_index).tanh(), edge_index)


IN_DTYPES = {"gcn": lambda: G.GCNConv(F, F), "sage": lambda: G.SAGEConv(F, F, aggr="max"), "gat": lambda: G.GATv2Conv(F, F),
             "gin": lambda: G.GINConv(nn.Linear(F, F)),
             "pna": lambda: G.PNAConv(F, F, ["mean", "std"], ["identity"], C.HISTOGRAM)}
for label, make in IN_DTYPES.items():
    group.add(f"double_{label}", lambda make=make: InDtype(make, torch.float64), in_dtype(PLAIN, torch.float64))
# In half types a sum in another order differs by some of their last digits.
for short, dtype, absolute in (("half", torch.float16, 0.002), ("bfloat16", torch.bfloat16, 0.016)):
    for label, make in IN_DTYPES.items():
        if label != "pna":  # its std takes the square root of a difference: noise in half types
            group.add(f"{short}_{label}", lambda make=make, dtype=dtype: InDtype(make, dtype), in_dtype(PLAIN, dtype),
                      absolute=absolute)


@group.model(take("edge_index", "kind", "order"), base=Parts, roles=("kind=node:node", "order=node:node"))
def ids_into_embeddings(m, edge_index, kind, order):
    return m.out(m.b(m.a(m.kinds(kind) + m.table(order), edge_index).relu(), edge_index))


@group.model(PLAIN, base=Parts)
def double_accumulation(m, x, edge_index):
    h = add_rows(m.inp(x).double()[edge_index[0]], edge_index[1], x.size(0)).float()
    return m.out(h)


@group.model(WITH_TYPE, base=Parts)
def bool_mask_on_messages(m, x, edge_index, edge_type):
    return add_rows(m.inp(x)[edge_index[0]] * (edge_type != 1).unsqueeze(1), edge_index[1], x.size(0))


# Forms ----------------------------------------------------------------------------------------------------------------
@group.model(take("x", "edge_index"), base=Parts)
def reverse_edge_by_flip(m, x, edge_index):
    h = m.a(m.inp(x), edge_index.flip(0)).relu()
    return m.b(h, edge_index[[1, 0]])


@group.model(take("x", "edge_index", "batch"), base=Parts)
def graph_softmax_readout(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    alpha = softmax_by(m.out(h)[:, 0], batch, 4)
    return m.out(add_rows(alpha.unsqueeze(1) * h, batch, 4))


@group.model(PLAIN, base=Parts)
def edges_as_tuple(m, x, edge_index):
    row, col = edge_index
    deg = torch.bincount(col, minlength=x.size(0)).clamp(min=1).float()
    return m.out(add_rows(m.inp(x)[row], col, x.size(0)) / deg.unsqueeze(1))


def matrix(csr):
    def of(graph):
        size = (graph["x"].size(0), graph["x"].size(0))
        a = torch.sparse_coo_tensor(graph["edge_index"].flip(0), graph["edge_weight"], size).coalesce()
        return {"x": graph["x"], "adj": a.to_sparse_csr() if csr else a}

    return of


class SparseArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(F, H), nn.Linear(H, 3)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        h = torch.relu(torch.sparse.mm(adj, self.a(x)))
        return self.b(adj @ h)


for layout in ("coo", "csr"):
    group.add(f"sparse_argument_{layout}_scripted", SparseArgument, matrix(layout == "csr"), how="script")


@group.model(PLAIN, base=Parts)
def equal_by_construction(m, x, edge_index):
    """Nodes with one edge, or with none, have a mean that is their sum: tanh of the two has to be the same number, however
    each is computed."""
    h = m.inp(x)
    rows = h[edge_index[0]]
    total = add_rows(rows, edge_index[1], h.size(0))
    count = add_rows(torch.ones_like(rows[:, :1]), edge_index[1], h.size(0)).clamp(min=1)
    near = torch.tanh(total / count)
    scaled = add_rows(rows * near[edge_index[1]], edge_index[1], h.size(0))
    return scaled + (near >= torch.tanh(total)) * 2.0
