"""Several node types and relations, lists and dicts as inputs and outputs, and PyG's own models and aggregations."""
from typing import Dict, List, Optional

import torch
import torch_geometric.nn as G
from torch import Tensor, nn

from graphs import (EDGE_FEATURES, FEATURES, GRAPHS, HIDDEN, PLAIN, WITH_ATTR, WITH_BATCH, pairs, take)
from layers import Attention, Mean, Normalised, add_rows
from registry import Group

group = Group("typed")
H = HIDDEN


def shop(graph):
    return {"xs": {"user": graph["x"], "item": graph["item"]},
            "es": {"user__knows__user": graph["edge_index"], "user__buys__item": graph["to_item"],
                   "item__of__user": graph["from_item"]}}


class Bipartite(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Linear(H, H), nn.Linear(H, H)

    def forward(self, source, target, edge_index):
        total = add_rows(self.source(source)[edge_index[0]], edge_index[1], target.size(0))
        return total.tanh() + self.target(target)


class Shop(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(FEATURES, H), nn.Linear(4, H)
        self.knows = nn.ModuleList(Normalised() for _ in range(2))
        self.buys = nn.ModuleList(Bipartite() for _ in range(2))
        self.of = nn.ModuleList(Bipartite() for _ in range(2))


def shop_model(**options):
    return group.model(shop, base=Shop, **options)


@shop_model(stages=2)
def two_types(m, xs, es):
    u, i = m.user(xs["user"]), m.item(xs["item"])
    for knows, buys, of in zip(m.knows, m.buys, m.of):
        nu = knows(u, es["user__knows__user"]) + of(i, u, es["item__of__user"])
        u, i = nu.relu(), buys(u, i, es["user__buys__item"]).relu()
    return {"user": u, "item": i}


@shop_model()
def two_types_only_source(m, xs, es):
    u, i = m.user(xs["user"]), m.item(xs["item"])
    u = m.of[0](i, u, es["item__of__user"]).relu()
    return m.of[1](i, u, es["item__of__user"])


@shop_model()
def two_types_one_after_the_other(m, xs, es):
    u, i = m.user(xs["user"]), m.item(xs["item"])
    i = m.buys[0](u, i, es["user__buys__item"]).relu()
    u = m.of[0](i, u, es["item__of__user"]).relu()
    return u, i, i.mean(0)


@shop_model()
def two_types_there_and_back(m, xs, es):
    u, i = m.user(xs["user"]), m.item(xs["item"])
    buys = es["user__buys__item"]
    for _ in range(2):
        i = add_rows(u[buys[0]], buys[1], i.size(0)).tanh() + i
        u = add_rows(i[buys[1]], buys[0], u.size(0)).tanh() + u
    return u


@shop_model()
def two_types_unused_relation(m, xs, es):
    u, i = m.user(xs["user"]), m.item(xs["item"])
    return m.buys[0](u, i, es["user__buys__item"]), u.size(0) * torch.ones(1)


class Hetero(nn.Module):
    """PyG modules with tuple keys inside, strings outside."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, xs, es):
        edges = {tuple(k.split("__")): v for k, v in es.items()}
        for layer in self.layers:
            xs = {k: v.relu() for k, v in layer(xs, edges).items()}
        return xs


RELATIONS = [("user", "knows", "user"), ("user", "buys", "item"), ("item", "of", "user")]


def hetero_conv():
    def layer(user, item):
        return G.HeteroConv({RELATIONS[0]: G.GCNConv(user, H), RELATIONS[1]: G.SAGEConv((user, item), H),
                             RELATIONS[2]: G.GATConv((item, user), H, add_self_loops=False)}, aggr="mean")

    return Hetero(nn.ModuleList([layer(FEATURES, 4), layer(H, H)]))


def han():
    metadata = (["user", "item"], RELATIONS)
    return Hetero(nn.ModuleList([G.HANConv({"user": FEATURES, "item": 4}, H, metadata, 2),
                                 G.HANConv(H, H, metadata, 2)]))


class ToHetero(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(FEATURES, H), nn.Linear(4, H)
        self.net = G.to_hetero(Sage(), (["user", "item"], RELATIONS))

    def forward(self, xs, es):
        edges = {tuple(k.split("__")): v for k, v in es.items()}
        return self.net({"user": self.user(xs["user"]), "item": self.item(xs["item"])}, edges)


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = G.SAGEConv(H, H), G.SAGEConv(H, H)

    def forward(self, x, edge_index):
        return self.b(self.a(x, edge_index).relu(), edge_index)


group.add("pyg_hetero_conv", hetero_conv, shop)
group.add("pyg_han", han, shop)
group.add("pyg_to_hetero", ToHetero, shop)


# Lists, dicts, optionals ---------------------------------------------------------------------------------------------
def relations(graph):
    e = graph["edge_index"]
    return {"x": graph["x"], "adjs": [e, e[:, ::2].contiguous(), e.flip(0)[:, 1:].contiguous()]}


ADJS = tuple(f"adjs.{i}=index:node>node" for i in range(3))


@group.module(relations, roles=ADJS)
class list_of_relations(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.layers = nn.Linear(FEATURES, H), nn.ModuleList([Mean(), Attention(), Mean()])

    def forward(self, x, adjs):
        x = self.inp(x)
        for layer, edges in zip(self.layers, adjs):
            x = layer(x, edges).relu()
        return x


@group.module(relations, roles=ADJS, how="script")
class list_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin = nn.Linear(FEATURES, H), nn.Linear(H, H)

    def forward(self, x: Tensor, adjs: List[Tensor]) -> List[Tensor]:
        h = self.inp(x)
        seen: List[Tensor] = []
        for edges in adjs:
            h = self.lin(torch.zeros_like(h).index_add(0, edges[1], h[edges[0]])).tanh() + h
            seen.append(h)
        return seen


@group.module(shop, how="script")
class dict_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item, self.lin = nn.Linear(FEATURES, H), nn.Linear(4, H), nn.Linear(H, H)

    def forward(self, xs: Dict[str, Tensor], es: Dict[str, Tensor]) -> Dict[str, Tensor]:
        u, i = self.user(xs["user"]), self.item(xs["item"])
        buys, of = es["user__buys__item"], es["item__of__user"]
        i = torch.zeros_like(i).index_add(0, buys[1], u[buys[0]]).tanh() + i
        u = self.lin(torch.zeros_like(u).index_add(0, of[1], i[of[0]])) + u
        return {"user": u, "item": i}


@group.module(PLAIN, how="script")
class optional_left_out(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None, steps: int = 2) -> Tensor:
        h = self.lin(x)
        for _ in range(steps):
            message = h[edge_index[0]]
            if edge_weight is not None:
                message = message * edge_weight.unsqueeze(1)
            h = torch.zeros_like(h).index_add(0, edge_index[1], message).tanh()
        return h


@group.module(WITH_ATTR, how="script")
class tuple_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.edge = nn.Linear(FEATURES, H), nn.Linear(EDGE_FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor):
        h, e = self.lin(x), self.edge(edge_attr)
        e = (e + h[edge_index[0]] * h[edge_index[1]]).relu()
        h = torch.zeros_like(h).index_add(0, edge_index[1], e)
        return h, e, h.sum()


# Two tables of one kind ----------------------------------------------------------------------------------------------
def hypergraph(graph):
    g = torch.Generator().manual_seed(5)
    edges = 37 if graph["x"].size(0) < 50 else 41
    return {"x": graph["x"], "hyper_x": torch.randn(edges, 4, generator=g),
            "members": torch.stack([graph["edge_index"][0], graph["edge_index"][1] % edges])}


@group.module(hypergraph, roles=("x=node:node", "hyper_x=node:hyper", "members=index:node>hyper"))
class hypergraph_two_layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.hyper, self.lin = nn.Linear(FEATURES, H), nn.Linear(4, H), nn.Linear(H, H)

    def forward(self, x, hyper_x, members):
        h, q = self.inp(x), self.hyper(hyper_x)
        for _ in range(2):
            e = add_rows(h[members[0]], members[1], q.size(0)) + q
            h = self.lin(add_rows(e.tanh()[members[1]], members[0], h.size(0))).relu() + h
        return h


def clusters(graph):
    g = torch.Generator().manual_seed(9)
    nodes = graph["x"].size(0)
    count = 11 if nodes < 50 else 17
    of = torch.randint(0, count, (nodes,), generator=g)
    of[0] = count - 1
    return {"x": graph["x"], "edge_index": graph["edge_index"], "cluster": of,
            "cluster_x": torch.randn(count, H, generator=g), "cluster_edges": pairs(g, count, count, 43 + count)}


@group.module(clusters, roles=("x=node:node", "edge_index=index:node>node", "cluster=key:node>cluster",
                               "cluster_x=node:cluster", "cluster_edges=index:cluster>cluster"))
class pool_to_clusters_and_back(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.a, self.b, self.c = nn.Linear(FEATURES, H), Mean(), Mean(), Mean()

    def forward(self, x, edge_index, cluster, cluster_x, cluster_edges):
        h = self.a(self.inp(x), edge_index).relu()
        count = torch.bincount(cluster, minlength=cluster_x.size(0)).clamp(min=1).unsqueeze(1)
        c = add_rows(h, cluster, cluster_x.size(0)) / count + cluster_x
        return self.c(h + self.b(c, cluster_edges).relu()[cluster], edge_index)


def globals_of_graphs(graph):
    g = torch.Generator().manual_seed(1)
    return {"x": graph["x"], "edge_index": graph["edge_index"], "edge_attr": graph["edge_attr"],
            "u": torch.randn(GRAPHS, 3, generator=g), "batch": graph["batch"]}


@group.module(globals_of_graphs, roles=("x=node:node", "u=graph", "batch=key:node>graph"))
class meta_layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.edge = nn.Linear(2 * FEATURES + EDGE_FEATURES + 3, H)
        self.node, self.whole = nn.Linear(FEATURES + H + 3, FEATURES), nn.Linear(3 + FEATURES, 3)

    def forward(self, x, edge_index, edge_attr, u, batch):
        for _ in range(2):
            ends = [x[edge_index[0]], x[edge_index[1]], edge_attr, u[batch[edge_index[0]]]]
            e = self.edge(torch.cat(ends, 1)).relu()
            x = self.node(torch.cat([x, add_rows(e, edge_index[1], x.size(0)), u[batch]], 1)).tanh()
            u = self.whole(torch.cat([u, add_rows(x, batch, u.size(0))], 1)).tanh()
        return x, u


def two_relations(graph):
    return {"x": graph["x"], "edge_index": graph["edge_index"], "other_index": graph["query"]}


@group.module(two_relations, roles=("other_index=index:node>node",))
class two_relations_of_one_type(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.a, self.b = nn.Linear(FEATURES, H), Normalised(), Mean()

    def forward(self, x, edge_index, other_index):
        h = self.a(self.inp(x), edge_index).relu()
        return self.b(h, other_index) + self.b(h, edge_index)


# PyG's ready models --------------------------------------------------------------------------------------------------
for name, kind in {"gcn": G.models.GCN, "sage": G.models.GraphSAGE, "gin": G.models.GIN, "gat": G.models.GAT,
                   "edge_cnn": G.models.EdgeCNN}.items():
    group.add(f"pyg_basic_{name}", lambda kind=kind: kind(FEATURES, H, 2, 3, jk="cat", act="elu"), PLAIN)
group.add("pyg_basic_layer_norm", lambda: G.models.GraphSAGE(FEATURES, H, 2, 3, norm="layer_norm"), PLAIN)


class Blocks(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.inp, self.edge = nn.Linear(FEATURES, H), nn.Linear(EDGE_FEATURES, H)
        self.layers = nn.ModuleList(
            G.DeepGCNLayer(G.GENConv(H, H, aggr="softmax", learn_t=True, num_layers=2, norm="layer"), nn.LayerNorm(H),
                           nn.ReLU(), block=block, dropout=0.1) for _ in range(2))

    def forward(self, x, edge_index, edge_attr):
        h, e = self.inp(x), self.edge(edge_attr)
        for layer in self.layers:
            h = layer(h, edge_index, e)
        return h


for block in ("res+", "res", "plain"):
    group.add(f"pyg_deep_gcn_{block.replace('+', '_plus')}", lambda block=block: Blocks(block), WITH_ATTR)


class Normed(nn.Module):
    def __init__(self, norm, batched):
        super().__init__()
        self.inp, self.a, self.b, self.norm = nn.Linear(FEATURES, H), G.SAGEConv(FEATURES, H), G.SAGEConv(H, H), norm
        self.batched = batched

    def forward(self, x, edge_index, batch):
        h = self.a(x, edge_index)
        h = self.norm(h, batch) if self.batched else self.norm(h)
        return self.b(h.relu(), edge_index)


NORMS = {"graph": lambda: G.GraphNorm(H), "pair": lambda: G.PairNorm(), "layer": lambda: G.LayerNorm(H),
         "layer_node": lambda: G.LayerNorm(H, mode="node"), "instance": lambda: G.InstanceNorm(H),
         "batch": lambda: G.BatchNorm(H), "mean_subtraction": lambda: G.MeanSubtractionNorm(),
         "diff_group": lambda: G.DiffGroupNorm(H, 3)}
for name, norm in NORMS.items():
    batched = name in ("graph", "layer", "pair")
    group.add(f"pyg_norm_{name}", lambda norm=norm: Normed(norm(), False),
              lambda g: {**WITH_BATCH(g)})
    if batched:
        group.add(f"pyg_norm_{name}_batch", lambda norm=norm: Normed(norm(), True), WITH_BATCH)


class Readout(nn.Module):
    def __init__(self, read):
        super().__init__()
        self.a, self.read = G.SAGEConv(FEATURES, H), read

    def forward(self, x, edge_index, batch):
        return self.read(self.a(x, edge_index).relu(), batch)


READOUTS = {"mean": lambda: G.MeanAggregation(), "max": lambda: G.MaxAggregation(), "sum": lambda: G.SumAggregation(),
            "attention": lambda: G.aggr.AttentionalAggregation(nn.Linear(H, 1)),
            "set2set": lambda: G.aggr.Set2Set(H, 2)}
for name, read in READOUTS.items():
    group.add(f"pyg_readout_{name}", lambda read=read: Readout(read()), WITH_BATCH)


@group.module(take("x", "edge_index", "edge_attr"))
class pyg_attention_returned(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = G.GATConv(FEATURES, H, edge_dim=EDGE_FEATURES), G.GATConv(H, H, edge_dim=EDGE_FEATURES)

    def forward(self, x, edge_index, edge_attr):
        h, (_, alpha) = self.a(x, edge_index, edge_attr, return_attention_weights=True)
        return self.b(h, edge_index, edge_attr), alpha
