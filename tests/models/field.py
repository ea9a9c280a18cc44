"""Models as repositories of the field write them: leaderboards, knowledge graphs, snapshots in time, recommenders; those
with inputs of a form of their own are in field_inputs.py."""
import math
from typing import Dict, List, Optional, Tuple

import torch
import torch_geometric.nn as G
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import coalesce, to_undirected

from field_inputs import both_ways, group, seeded, triplets
from graphs import EDGE_FEATURES as ED
from graphs import FEATURES, GRAPHS, PLAIN, RELATIONS, WITH_ATTR, WITH_TYPE, take
from graphs import HIDDEN as H
from layers import Mean, add_rows, softmax_by


# Knowledge graphs -----------------------------------------------------------------------------------------------------
def knowledge(graph):
    return {"entity": graph["order"].clone(), "edge_index": graph["edge_index"], "edge_type": graph["edge_type"],
            "query": graph["query"], "wanted": torch.randint(0, RELATIONS, (graph["query"].size(1),), generator=seeded(graph))}


@both_ways(knowledge, roles=("entity=node:node",))
class Composition(nn.Module):
    """CompGCN with DistMult: relations are vectors that the layers update."""

    def __init__(self):
        super().__init__()
        self.entities, self.relations = nn.Embedding(128, H), nn.Parameter(torch.randn(RELATIONS, H))
        self.near, self.own, self.rel = nn.Linear(H, H), nn.Linear(H, H), nn.Linear(H, H)

    def forward(self, entity: Tensor, edge_index: Tensor, edge_type: Tensor, query: Tensor, wanted: Tensor) -> Tensor:
        h, r = self.entities(entity), self.relations
        for _ in range(2):
            message = self.near(h[edge_index[0]] * r[edge_type])
            h = torch.tanh(self.own(h) + torch.zeros_like(h).index_add(0, edge_index[1], message))
            r = self.rel(r)
        return (h[query[0]] * r[wanted] * h[query[1]]).sum(-1)


class RelationMatrices(nn.Module):
    """RGCN by one product per relation and a mask on its edges."""

    def __init__(self):
        super().__init__()
        self.root, self.maps = nn.Linear(FEATURES, H), nn.Parameter(torch.randn(RELATIONS, FEATURES, H))

    def forward(self, x, edge_index, edge_type):
        out = self.root(x)
        for r in range(RELATIONS):
            chosen = edge_index[:, edge_type == r]
            count = torch.bincount(chosen[1], minlength=x.size(0)).clamp(min=1).unsqueeze(1)
            out = out + add_rows(x[chosen[0]] @ self.maps[r], chosen[1], x.size(0)) / count
        return out


group.add("relation_matrices", RelationMatrices, WITH_TYPE)


class Typed(nn.Module):
    """HGT on one table: rows sorted by type, a matrix per type."""

    def __init__(self):
        super().__init__()
        self.lins = nn.ModuleList(nn.Linear(FEATURES, H) for _ in range(GRAPHS))
        self.out = nn.Linear(H, 3)

    def forward(self, x, edge_index, kind):
        h = torch.zeros(x.size(0), H)
        for t, lin in enumerate(self.lins):
            rows = (kind == t).nonzero().view(-1)
            h[rows] = lin(x[rows])
        return self.out(add_rows(h[edge_index[0]], edge_index[1], x.size(0)))


group.add("typed_by_nonzero", Typed, take("x", "edge_index", "kind"), roles=("kind=node:node",))


class TypedSorted(nn.Module):
    """PyG's HeteroLinear: sorted by type, a product per segment, back by the inverse order."""

    def __init__(self, make):
        super().__init__()
        self.lin, self.out = make(), nn.Linear(H, 3)

    def forward(self, x, edge_index, kind):
        h = self.lin(x, kind)
        return self.out(add_rows(h[edge_index[0]], edge_index[1], x.size(0)))


group.add("typed_sorted", lambda: TypedSorted(lambda: G.HeteroLinear(FEATURES, H, GRAPHS)), take("x", "edge_index", "kind"),
          roles=("kind=node:node",))


class TypedChosen(nn.Module):
    """Each kind of rows by a choice instead of sorting."""

    def __init__(self):
        super().__init__()
        self.kinds, self.out = nn.ModuleList(nn.Linear(FEATURES, H) for _ in range(GRAPHS)), nn.Linear(H, 3)

    def forward(self, x, edge_index, kind):
        h = x.new_zeros(x.size(0), H)
        for k, lin in enumerate(self.kinds):
            h = torch.where((kind == k).unsqueeze(1), lin(x), h)
        return self.out(add_rows(h[edge_index[0]], edge_index[1], x.size(0)))


group.add("typed_chosen", TypedChosen, take("x", "edge_index", "kind"), roles=("kind=node:node",))


class TypedGathered(nn.Module):
    """A matrix per row, gathered by type: bmm."""

    def __init__(self):
        super().__init__()
        self.weight, self.out = nn.Parameter(torch.randn(GRAPHS, FEATURES, H)), nn.Linear(H, 3)

    def forward(self, x, edge_index, kind):
        h = torch.bmm(x.unsqueeze(1), self.weight[kind]).squeeze(1)
        return self.out(add_rows(h[edge_index[0]], edge_index[1], x.size(0)))


group.add("typed_gathered", TypedGathered, take("x", "edge_index", "kind"), roles=("kind=node:node",))


# Further spellings ----------------------------------------------------------------------------------------------------
class LineGraph(nn.Module):
    """ALIGNN: one index over atoms, another over bonds, in turn."""

    def __init__(self):
        super().__init__()
        self.node, self.edge = nn.Linear(FEATURES, H), nn.Linear(ED, H)
        self.gate, self.near, self.own = nn.Linear(3 * H, H), nn.Linear(H, H), nn.Linear(H, H)
        self.read = nn.Linear(H, 1)

    def gated(self, h, index, e):
        row, col = index
        m = self.gate(torch.cat([h[row], h[col], e], 1))
        s = torch.sigmoid(m)
        total = add_rows(s * self.near(h)[row], col, h.size(0)) / (add_rows(s, col, h.size(0)) + 1e-6)
        return h + F.silu(self.own(h) + total), e + F.silu(m)

    def forward(self, x, edge_index, edge_attr, lg_edge_index, angle, batch):
        h, e = self.node(x), self.edge(edge_attr)
        t = torch.cos(angle.unsqueeze(1) * torch.arange(H))
        for _ in range(2):
            e, t = self.gated(e, lg_edge_index, t)
            h, e = self.gated(h, edge_index, e)
        return self.read(add_rows(h, batch, GRAPHS) / add_rows(torch.ones(h.size(0), 1), batch, GRAPHS))


def line_graph(graph):
    inputs = triplets(graph)
    pairs = torch.stack([inputs.pop("idx_kj"), inputs.pop("idx_ji")])
    return {"x": inputs["x"], "edge_index": inputs["edge_index"], "edge_attr": inputs["edge_attr"], "lg_edge_index": pairs,
            "angle": inputs["angle"], "batch": graph["batch"]}


group.add("line_graph", LineGraph, line_graph)


def bonds_of_line_graph(graph):
    return {key: value for key, value in line_graph(graph).items() if key not in ("angle", "batch")}


@group.module(bonds_of_line_graph, how="script")
class MatrixOfBondStates(nn.Module):
    """The entries of a sparse matrix are rows of a table that other edges point to."""

    def __init__(self):
        super().__init__()
        self.node, self.edge = nn.Linear(FEATURES, H), nn.Linear(ED, H)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, lg_edge_index: Tensor) -> Tuple[Tensor, Tensor]:
        e = self.edge(edge_attr)
        e = (e + torch.zeros_like(e).index_add(0, lg_edge_index[1], e[lg_edge_index[0]])).tanh()
        adj = torch.sparse_coo_tensor(edge_index.flip(0), e[:, 0], [x.size(0), x.size(0)])
        return adj.transpose(0, 0) @ self.node(x) + adj.t() @ self.node(x).relu(), e


class Gated(nn.Module):
    """GatedGCN with edge states and batch norms, as leaderboards have it."""

    def __init__(self):
        super().__init__()
        self.node, self.edge = nn.Linear(FEATURES, H), nn.Linear(ED, H)
        self.layers = nn.ModuleList(nn.ModuleDict({k: nn.Linear(H, H) for k in "ABCDE"}) for _ in range(3))
        self.norm_h, self.norm_e = nn.BatchNorm1d(H), nn.BatchNorm1d(H)
        self.out = nn.Linear(3 * H, 2)

    def forward(self, x, edge_index, edge_attr):
        src, dst = edge_index[0], edge_index[1]
        h, e = self.node(x), self.edge(edge_attr)
        for m in self.layers:
            new = m["C"](e) + m["D"](h)[src] + m["E"](h)[dst]
            s = torch.sigmoid(new)
            near = add_rows(s * m["B"](h)[src], dst, h.size(0)) / (add_rows(s, dst, h.size(0)) + 1e-6)
            h = h + self.norm_h(m["A"](h) + near).relu()
            e = e + self.norm_e(new).relu()
        return self.out(torch.cat([h[src], h[dst], e], 1))


group.add("gated_with_edge_states", Gated, WITH_ATTR)


class Correct(nn.Module):
    """Correct and smooth: labels of training nodes are spread by a normalised adjacency."""

    def __init__(self):
        super().__init__()
        self.mlp = nn.Linear(FEATURES, 4)

    def forward(self, x, edge_index, train_mask, label):
        n = x.size(0)
        deg = torch.bincount(edge_index[1], minlength=n).float()
        norm = deg.pow(-0.5)
        norm = norm.masked_fill(norm == float("inf"), 0)
        weight = (norm[edge_index[0]] * norm[edge_index[1]]).unsqueeze(1)
        soft = self.mlp(x).softmax(1)
        error = torch.where(train_mask.unsqueeze(1), F.one_hot(label, 4).float() - soft, torch.zeros_like(soft))
        spread = error
        for _ in range(4):
            spread = 0.2 * error + 0.8 * add_rows(weight * spread[edge_index[0]], edge_index[1], n)
            spread = spread.clamp(-1, 1)
        out = soft + spread
        out = torch.where(train_mask.unsqueeze(1), F.one_hot(label, 4).float(), out)
        for _ in range(2):
            out = 0.5 * out + 0.5 * add_rows(weight * out[edge_index[0]], edge_index[1], n)
        return out


group.add("correct_and_smooth", Correct, lambda g: {
    "x": g["x"], "edge_index": g["edge_index"], "train_mask": g["edge_weight"][:g["x"].size(0)] > 0.5, "label": g["kind"]},
    roles=("label=node:node",))


class Sign(nn.Module):
    """SIGN: powers of the adjacency, an MLP each, joined."""

    def __init__(self):
        super().__init__()
        self.lins = nn.ModuleList(nn.Linear(FEATURES, H) for _ in range(4))
        self.out = nn.Sequential(nn.PReLU(), nn.Dropout(0.5), nn.Linear(4 * H, 3))

    def forward(self, x, edge_index):
        n = x.size(0)
        scale = torch.ones(edge_index.size(1)).new_zeros(n).index_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        out = [self.lins[0](x)]
        for lin in self.lins[1:]:
            x = add_rows(x[edge_index[0]], edge_index[1], n) / scale.clamp(min=1).unsqueeze(1)
            out.append(lin(x))
        return self.out(torch.cat(out, 1))


group.add("sign", Sign, PLAIN)


@both_ways(take("x", "edge_index"))
class MultiHeadScripted(nn.Module):
    """GAT with heads in a dimension of their own and softmax by scatter."""

    def __init__(self):
        super().__init__()
        self.lin, self.left, self.right = nn.Linear(FEATURES, 12), nn.Parameter(torch.randn(1, 3, 4)), nn.Parameter(torch.randn(1, 3, 4))
        self.out = nn.Linear(12, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        src, dst = edge_index.unbind(0)
        h = self.lin(x).view(n, 3, 4)
        a = torch.nn.functional.leaky_relu((h * self.left).sum(-1)[src] + (h * self.right).sum(-1)[dst], 0.2)
        top = torch.full((n, 3), float("-inf")).scatter_reduce(0, dst.unsqueeze(-1).expand_as(a), a, "amax")
        a = torch.exp(a - top[dst])
        total = torch.zeros(n, 3).scatter_add(0, dst.unsqueeze(-1).expand_as(a), a)
        a = a / total[dst].clamp(min=1e-16)
        out = torch.zeros(n, 3, 4).index_add(0, dst, a.unsqueeze(-1) * h[src])
        return self.out(torch.nn.functional.elu(out.flatten(1)))


class Snapshots(nn.Module):
    """EvolveGCN-O: weights evolve by a cell, one edge index per snapshot."""

    def __init__(self):
        super().__init__()
        self.weight, self.cell, self.out = nn.Parameter(torch.randn(FEATURES, FEATURES)), nn.GRUCell(FEATURES, FEATURES), nn.Linear(FEATURES, 2)

    def forward(self, x, edges: List[Tensor]):
        weight, h = self.weight, x
        for index in edges:
            weight = self.cell(weight, weight)
            deg = torch.bincount(index[1], minlength=x.size(0)).float().clamp(min=1)
            h = (add_rows((x @ weight)[index[0]], index[1], x.size(0)) / deg.unsqueeze(1)).relu()
        return self.out(h)


group.add("snapshots_with_evolving_weights", Snapshots, lambda g: {
    "x": g["x"], "edges": [g["edge_index"], g["edge_index"].flip(0)[:, ::2].contiguous(), g["query"]]})


class Links(nn.Module):
    """Link prediction with positive and negative pairs, dot products and a small network."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = G.SAGEConv(FEATURES, H), G.SAGEConv(H, H)
        self.score = nn.Sequential(nn.Linear(H, H), nn.ReLU(), nn.Linear(H, 1))

    def forward(self, x, edge_index, pos_edge_index, neg_edge_index):
        h = self.conv2(self.conv1(x, edge_index).relu(), edge_index)
        pos = (h[pos_edge_index[0]] * h[pos_edge_index[1]]).sum(-1).sigmoid()
        neg = self.score(h[neg_edge_index[0]] * h[neg_edge_index[1]]).squeeze(-1)
        return pos, neg


group.add("positive_and_negative_pairs", Links, lambda g: {
    "x": g["x"], "edge_index": g["edge_index"], "pos_edge_index": g["query"],
    "neg_edge_index": g["query"].flip(0)[:, :30].contiguous()})


class SetToSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool, self.out = G.NNConv(FEATURES, H, nn.Linear(ED, FEATURES * H)), G.aggr.Set2Set(H, 3), nn.Linear(2 * H, 1)
        self.gru = nn.GRU(H, H)

    def forward(self, x, edge_index, edge_attr, batch):
        h = self.conv(x, edge_index, edge_attr).relu()
        h, _ = self.gru(h.unsqueeze(0), h.unsqueeze(0))
        return self.out(self.pool(h.squeeze(0), batch, dim_size=GRAPHS))


group.add("message_passing_to_sets", SetToSet, take("x", "edge_index", "edge_attr", "batch"))


class Hetero(nn.Module):
    """Books and authors: a layer per relation, summed; an attention over relations."""

    def __init__(self):
        super().__init__()
        self.lin = nn.ModuleDict({"node": nn.Linear(FEATURES, H), "item": nn.Linear(4, H)})
        self.rel = nn.ModuleDict({k: nn.Linear(H, H) for k in ("cites", "writes", "written")})
        self.score = nn.Linear(H, 1)

    def forward(self, x: Dict[str, Tensor], edges: Dict[str, Tensor]):
        h = {k: self.lin[k](v).relu() for k, v in x.items()}
        for _ in range(2):
            cites = add_rows(self.rel["cites"](h["node"])[edges["node__cites__node"][0]], edges["node__cites__node"][1], h["node"].size(0))
            written = add_rows(self.rel["written"](h["item"])[edges["item__written__node"][0]], edges["item__written__node"][1], h["node"].size(0))
            writes = add_rows(self.rel["writes"](h["node"])[edges["node__writes__item"][0]], edges["node__writes__item"][1], h["item"].size(0))
            both = torch.stack([cites, written], 1)
            share = torch.softmax(self.score(torch.tanh(both)), 1)
            h = {"node": h["node"] + (share * both).sum(1), "item": h["item"] + torch.tanh(writes)}
        return h["node"], h["item"]


group.add("hetero_with_relation_attention", Hetero, lambda g: {
    "x": {"node": g["x"], "item": g["item"]},
    "edges": {"node__cites__node": g["edge_index"], "item__written__node": g["from_item"], "node__writes__item": g["to_item"]}})


class Bipartite(nn.Module):
    """Recommender: LightGCN over user and item tables of weights, scores of pairs."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, FEATURES)

    def forward(self, x, item, to_item, from_item, query):
        u, v = x, self.lin(item)
        us, vs = [u], [v]
        for _ in range(3):
            nu = add_rows(v[from_item[0]], from_item[1], u.size(0))
            nv = add_rows(u[to_item[0]], to_item[1], v.size(0))
            u, v = F.normalize(nu, dim=1), F.normalize(nv, dim=1)
            us.append(u), vs.append(v)
        u, v = torch.stack(us, 1).mean(1), torch.stack(vs).mean(0)
        return (u[query[0]] * u[query[1]]).sum(1), v


group.add("recommender", Bipartite, take("x", "item", "to_item", "from_item", "query"),
          roles=("x=node:node", "item=node:item", "to_item=index:node>item", "from_item=index:item>node", "query=index:node>node"))


class Diffusion(nn.Module):
    """GRAND by Euler steps: attention once, then an explicit scheme."""

    def __init__(self):
        super().__init__()
        self.inp, self.q, self.k, self.out = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, H), nn.Linear(H, 3)

    def forward(self, x, edge_index):
        h = self.inp(x)
        score = (self.q(h)[edge_index[1]] * self.k(h)[edge_index[0]]).sum(1) / math.sqrt(H)
        a = softmax_by(score, edge_index[1], x.size(0)).unsqueeze(1)
        for _ in range(4):
            h = h + 0.25 * (add_rows(a * h[edge_index[0]], edge_index[1], x.size(0)) - h)
        return self.out(h)


group.add("diffusion", Diffusion, PLAIN)


class Undirected(nn.Module):
    """Both directions made in the model, duplicates merged by coalesce."""

    def __init__(self):
        super().__init__()
        self.conv = G.SAGEConv(FEATURES, H)

    def forward(self, x, edge_index):
        return self.conv(x, to_undirected(edge_index, num_nodes=x.size(0)))


group.add("made_undirected", Undirected, PLAIN)


class Coalesced(Undirected):
    """Each edge once, by destination; then what the model writes itself: keys that differ from the one before."""

    def forward(self, x, edge_index):
        n = x.size(0)
        once = coalesce(edge_index, num_nodes=n, sort_by_row=False)
        key, order = torch.sort(edge_index[0] * n + edge_index[1])
        first = torch.diff(key, prepend=torch.full((1,), -1)) > 0
        return self.conv(x, once) + self.conv(x.tanh(), edge_index[:, order][:, first])


group.add("coalesced", Coalesced, PLAIN)


class CoalescedWithValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = G.GINEConv(nn.Linear(FEATURES, H), edge_dim=ED)

    def forward(self, x, edge_index, edge_attr):
        return self.conv(x, *to_undirected(edge_index, edge_attr, num_nodes=x.size(0), reduce="mean"))


group.add("coalesced_with_values", CoalescedWithValues, WITH_ATTR, expect="refuse", reason="uses unknown rows",
          hint="merge equal edges (coalesce) before the model")


class Degrees(nn.Module):
    """Positional features from degrees and an embedding of clamped in-degrees, as Graphormer adds them."""

    def __init__(self):
        super().__init__()
        self.inp, self.centrality, self.conv = nn.Linear(FEATURES, H), nn.Embedding(12, H), Mean()

    def forward(self, x, edge_index):
        deg = torch.bincount(edge_index[1], minlength=x.size(0)).clamp(max=11)
        return self.conv(self.inp(x) + self.centrality(deg), edge_index)


group.add("degree_embedding", Degrees, PLAIN)


@both_ways(take("x", "edge_index", "edge_weight"))
class OptionalWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(FEATURES, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        if edge_weight is None:
            edge_weight = torch.ones(edge_index.size(1), device=x.device)
        h = self.a(x)
        out = torch.zeros_like(h)
        out.index_add_(0, edge_index[1], h[edge_index[0]] * edge_weight.view(-1, 1))
        return out, self.b(torch.relu(out))
