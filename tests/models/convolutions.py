"""PyG convolutions in 1-, 2- and 3-layer stacks with skip connections, traced and scripted."""
import torch
import torch_geometric.nn as G
from torch import Tensor, nn

from graphs import EDGE_FEATURES as ED
from graphs import FEATURES as F
from graphs import HIDDEN as H
from graphs import PLAIN, RELATIONS, WITH_ATTR, WITH_TYPE, WITH_WEIGHT
from registry import Group

traced = Group("convolutions")
scripted = Group("scripted")


def skips(layers, width):
    return nn.ModuleList([nn.Linear(width, H)] + [nn.Identity() for _ in range(layers - 1)])


class Plain(nn.Module):
    def __init__(self, make, layers):
        super().__init__()
        self.convs = nn.ModuleList(make(F if i == 0 else H) for i in range(layers))
        self.skips = skips(layers, F)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for conv, skip in zip(self.convs, self.skips):
            x = conv(x, edge_index).relu() + skip(x)
        return x


class Attributed(Plain):
    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        for conv, skip in zip(self.convs, self.skips):
            x = conv(x, edge_index, edge_attr).relu() + skip(x)
        return x


class Weighted(Plain):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        for conv, skip in zip(self.convs, self.skips):
            x = conv(x, edge_index, edge_weight).relu() + skip(x)
        return x


class Typed(Plain):
    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        for conv, skip in zip(self.convs, self.skips):
            x = conv(x, edge_index, edge_type).relu() + skip(x)
        return x


class SameWidth(nn.Module):
    """For convolutions that keep the width: a linear layer first, then residual blocks."""

    def __init__(self, make, layers):
        super().__init__()
        self.inp = nn.Linear(F, H)
        self.convs = nn.ModuleList(make(H) for _ in range(layers))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.inp(x).relu()
        for conv in self.convs:
            x = conv(x, edge_index).tanh() + x
        return x


class SameWidthAttributed(SameWidth):
    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        x = self.inp(x).relu()
        for conv in self.convs:
            x = conv(x, edge_index, edge_attr).tanh() + x
        return x


class InitialResidual(SameWidth):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = x0 = self.inp(x).relu()
        for conv in self.convs:
            x = conv(x, x0, edge_index).relu() + x
        return x


class DenseHistory(SameWidth):
    def forward(self, x, edge_index):
        history = [self.inp(x)]
        for conv in self.convs:
            history.append(conv(torch.stack(history, 1), edge_index))
        return history[-1] + history[0]


class Points(nn.Module):
    def __init__(self, make, layers):
        super().__init__()
        self.convs = nn.ModuleList(make(F if i == 0 else H) for i in range(layers))
        self.skips = skips(layers, F)

    def forward(self, x, edge_index):
        position = x[:, :3]
        for conv, skip in zip(self.convs, self.skips):
            x = conv(x, position, edge_index).relu() + skip(x)
        return x


def mlp(i):
    return nn.Sequential(nn.Linear(i, H), nn.BatchNorm1d(H), nn.ReLU(), nn.Linear(H, H))


HISTOGRAM = torch.tensor([2, 5, 9, 4, 1])

# name, body, inputs, convolution, ways ("t" traced, "s" scripted, where PyG can)
TABLE = [
    ("gcn", Plain, PLAIN, lambda i: G.GCNConv(i, H), "ts"),
    ("gcn_weighted", Weighted, WITH_WEIGHT, lambda i: G.GCNConv(i, H), "ts"),
    ("gcn_improved", Plain, PLAIN, lambda i: G.GCNConv(i, H, improved=True), "t"),
    ("gcn_no_loops", Plain, PLAIN, lambda i: G.GCNConv(i, H, add_self_loops=False), "t"),
    ("sage_mean", Plain, PLAIN, lambda i: G.SAGEConv(i, H), "ts"),
    ("sage_max_project", Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="max", project=True), "ts"),
    ("sage_many", Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr=["mean", "max", "std"]), "t"),
    ("sage_normalised", Plain, PLAIN, lambda i: G.SAGEConv(i, H, normalize=True), "ts"),
    ("sage_reversed", Plain, PLAIN, lambda i: G.SAGEConv(i, H, flow="target_to_source"), "t"),
    ("sage_softmax", Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr=G.aggr.SoftmaxAggregation(learn=True)), "t"),
    ("sage_power", Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr=G.aggr.PowerMeanAggregation(learn=True)), "t"),
    ("sage_product", Plain, PLAIN, lambda i: G.SAGEConv(i, H, aggr="mul"), "t"),
    ("gat", Plain, PLAIN, lambda i: G.GATConv(i, H // 2, heads=2), "t"),
    ("gat_edges", Attributed, WITH_ATTR, lambda i: G.GATConv(i, H // 2, heads=2, edge_dim=ED), "t"),
    ("gatv2", Plain, PLAIN, lambda i: G.GATv2Conv(i, H // 2, heads=2), "t"),
    ("gatv2_edges", Attributed, WITH_ATTR, lambda i: G.GATv2Conv(i, H, heads=2, concat=False, edge_dim=ED), "t"),
    ("gin", Plain, PLAIN, lambda i: G.GINConv(mlp(i), train_eps=True), "ts"),
    ("gine", Attributed, WITH_ATTR, lambda i: G.GINEConv(mlp(i), edge_dim=ED), "ts"),
    ("transformer", Plain, PLAIN, lambda i: G.TransformerConv(i, H // 2, heads=2, beta=True), "ts"),
    ("transformer_edges", Attributed, WITH_ATTR, lambda i: G.TransformerConv(i, H // 2, heads=2, edge_dim=ED), "t"),
    ("pna", Plain, PLAIN, lambda i: G.PNAConv(i, H, ["mean", "min", "max", "sum"],
                                              ["identity", "amplification", "attenuation"], HISTOGRAM), "t"),
    ("pna_std", Attributed, WITH_ATTR, lambda i: G.PNAConv(i, H, ["mean", "std"], ["identity", "linear"], HISTOGRAM,
                                                           edge_dim=ED, towers=2, divide_input=False), "t"),
    ("cheb", Plain, PLAIN, lambda i: G.ChebConv(i, H, 3), "t"),
    ("arma", Plain, PLAIN, lambda i: G.ARMAConv(i, H, num_stacks=2, num_layers=2), "ts"),
    ("tag", Plain, PLAIN, lambda i: G.TAGConv(i, H, K=2), "ts"),
    ("sg", Plain, PLAIN, lambda i: G.SGConv(i, H, K=2), "ts"),
    ("ssg", Plain, PLAIN, lambda i: G.SSGConv(i, H, alpha=0.1, K=2), "t"),
    ("resgated", Plain, PLAIN, lambda i: G.ResGatedGraphConv(i, H), "ts"),
    ("resgated_edges", Attributed, WITH_ATTR, lambda i: G.ResGatedGraphConv(i, H, edge_dim=ED), "t"),
    ("gated_graph", SameWidth, PLAIN, lambda i: G.GatedGraphConv(H, num_layers=2), "ts"),
    ("edge_conv", Plain, PLAIN, lambda i: G.EdgeConv(nn.Sequential(nn.Linear(2 * i, H), nn.ReLU())), "ts"),
    ("nn_conv", Attributed, WITH_ATTR, lambda i: G.NNConv(i, H, nn.Sequential(nn.Linear(ED, 7), nn.ReLU(),
                                                                              nn.Linear(7, i * H))), "ts"),
    ("cg", SameWidthAttributed, WITH_ATTR, lambda i: G.CGConv(H, dim=ED, batch_norm=True), "ts"),
    ("gmm", Attributed, WITH_ATTR, lambda i: G.GMMConv(i, H, dim=ED, kernel_size=3), "ts"),
    ("rgcn", Typed, WITH_TYPE, lambda i: G.RGCNConv(i, H, RELATIONS), "t"),
    ("rgcn_bases", Typed, WITH_TYPE, lambda i: G.RGCNConv(i, H, RELATIONS, num_bases=2), "t"),
    ("rgcn_fast", Typed, WITH_TYPE, lambda i: G.FastRGCNConv(i, H, RELATIONS), "t"),
    ("mf", Plain, PLAIN, lambda i: G.MFConv(i, H, max_degree=4), "ts"),
    ("le", Plain, PLAIN, lambda i: G.LEConv(i, H), "ts"),
    ("cluster_gcn", Plain, PLAIN, lambda i: G.ClusterGCNConv(i, H, diag_lambda=0.3), "ts"),
    ("film", Plain, PLAIN, lambda i: G.FiLMConv(i, H), "ts"),
    ("film_typed", Typed, WITH_TYPE, lambda i: G.FiLMConv(i, H, RELATIONS), "t"),
    ("supergat", Plain, PLAIN, lambda i: G.SuperGATConv(i, H // 2, heads=2), "t"),
    ("feast", Plain, PLAIN, lambda i: G.FeaStConv(i, H, heads=2), "ts"),
    ("gen", Plain, PLAIN, lambda i: G.GENConv(i, H, aggr="softmax", learn_t=True), "t"),
    ("gen_edges", Attributed, WITH_ATTR, lambda i: G.GENConv(i, H, aggr="powermean", edge_dim=ED), "t"),
    ("eg", Plain, PLAIN, lambda i: G.EGConv(i, H, aggregators=["sum", "mean", "symnorm", "max"], num_heads=2,
                                            num_bases=2), "ts"),
    ("fa", InitialResidual, PLAIN, lambda i: G.FAConv(H), "t"),
    ("gcn2", InitialResidual, PLAIN, lambda i: G.GCN2Conv(H, 0.1), "ts"),
    ("graph_conv", Plain, PLAIN, lambda i: G.GraphConv(i, H), "ts"),
    ("graph_conv_max", Weighted, WITH_WEIGHT, lambda i: G.GraphConv(i, H, aggr="max"), "t"),
    ("general", Attributed, WITH_ATTR, lambda i: G.GeneralConv(i, H, ED, attention=True, heads=2), "t"),
    ("dir_sage", Plain, PLAIN, lambda i: G.DirGNNConv(G.SAGEConv(i, H)), "t"),
    ("dir_gat", Plain, PLAIN, lambda i: G.DirGNNConv(G.GATConv(i, H, add_self_loops=False)), "t"),
    ("appnp", SameWidth, PLAIN, lambda i: G.APPNP(2, 0.1), "ts"),
    ("lightgcn", SameWidth, PLAIN, lambda i: G.LGConv(), "ts"),
    ("pdn", Attributed, WITH_ATTR, lambda i: G.PDNConv(i, H, ED, 7), "t"),
    ("antisymmetric", SameWidth, PLAIN, lambda i: G.AntiSymmetricConv(H, num_iters=2), "t"),
    ("dna", DenseHistory, PLAIN, lambda i: G.DNAConv(H, 2), "t"),
    ("pointnet", Points, PLAIN, lambda i: G.PointNetConv(nn.Linear(i + 3, H)), "t"),
    ("point_transformer", Points, PLAIN, lambda i: G.PointTransformerConv(i, H), "t"),
]


# Compiled to several methods, forward__0 and so on.
OVERLOADED = ("transformer",)
# Source and destination nodes may have tables of their own.
BIPARTITE = ("sage_mean", "graph_conv", "resgated")


def PAIR(graph):
    return graph["x"], graph["x"].flip(0)


def register():
    for name, body, inputs, make, ways in TABLE:
        for layers in (1, 2, 3):
            build = lambda body=body, make=make, layers=layers: body(make, layers)
            if "t" in ways:
                traced.add(f"{name}_{layers}", build, inputs, seed=layers)
            if "s" in ways:
                scripted.add(f"{name}_{layers}_scripted", build, inputs, how="script", seed=layers)
        if "s" in ways and body in (Plain, Attributed, Weighted) and name not in OVERLOADED:
            add_alone(name, inputs, make)


def add_alone(name, inputs, make):
    """A convolution without a module around it: its arguments are unions of tensors, tuples and sparse tensors."""
    scripted.add(f"{name}_alone", lambda: make(F), inputs, how="script")
    if name in BIPARTITE:
        scripted.add(f"{name}_alone_pair", lambda: make(F), lambda graph: {**inputs(graph), "x": PAIR(graph)}, how="script")


register()
