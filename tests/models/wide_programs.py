"""Seeded random programs over the kinds of rows that models make, from a table of parts (PARTS: inputs with their columns of
row numbers) and a table of productions (STEPS).

Values are [rows, W] in the pool of their space (nodes, edges, items, pairs, rows that were joined ..); a column has a row number
of another space for each row of its own. A production draws values and columns that fit, and may make further spaces, columns
and ways back. Sizes collide on some graphs. The same seed gives the same program: random_programs.py runs many, and says of
one that fails what it is made of."""
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch_geometric import utils

import program_steps
from graphs import compressed, pairs
from registry import Group

W, RELATIONS, GRAPHS, K, NODES, ITEMS, WORDS = 4, 3, 4, 3, 19, 17, 11


# Inputs ---------------------------------------------------------------------------------------------------------------
def sizes_of(seed, graph, learned):
    """How many rows each input has: some as many as another one by chance, other ones on each graph."""
    draw = random.Random(seed * 31 + graph["x"].size(0))
    n = NODES if "nodes" in learned else graph["x"].size(0)
    e = draw.choice([n, 3 * n, 3 * n + 7])
    m = ITEMS if "items" in learned else draw.choice([n, n // 2 + 5, n + 1, e])
    return {"n": n, "e": e, "m": m, "b": draw.choice([n, e, m, 2 * n - 1]), "t": draw.choice([n, e, 2 * n + 3])}


def edge_index(s, g):
    index = pairs(g, s["n"] - 2, s["n"] - 1, s["e"])
    index[:, 3], index[1, 4] = index[:, 2], index[0, 4]
    return {"edge_index": index}


def sorted_kinds(s, g, count):
    kinds = torch.sort(torch.randint(0, count, (s["n"],), generator=g))[0]
    kinds[0], kinds[-1] = 0, count - 1
    return kinds


def triples(s, g):
    last = [s["n"], RELATIONS, s["n"] if s["seed"] % 3 else WORDS]
    table = torch.stack([torch.randint(0, count, (s["t"],), generator=g) for count in last])
    return {"triples": table if s["seed"] % 2 else table.t().contiguous()}


def rows_of_edges(s, g):
    rowptr, col, _ = compressed(pairs(g, s["n"], s["n"], s["e"]), s["n"])
    return {"rowptr": rowptr, "col": col}


def bags(s, g):
    count = torch.randint(0, 4, (s["n"],), generator=g)
    return {"words": torch.randint(0, WORDS, (int(count.sum()),), generator=g), "offsets": F.pad(count.cumsum(0)[:-1], (1, 0))}


def offsets_of_graphs(s, g):
    return {"ptr": F.pad(torch.bincount(sorted_kinds(s, g, GRAPHS), minlength=GRAPHS).cumsum(0), (1, 0))}


def neighbours(s, g):
    return {"nbr": torch.randint(-1, s["n"], (s["n"], K), generator=g)}


def adjacency(s, g):
    return {"adj": torch.sparse_coo_tensor(pairs(g, s["n"], s["n"], s["e"]), torch.rand(s["e"], generator=g), (s["n"], s["n"])).coalesce()}


def drawn(name, rows, *shape):
    return lambda s, g: {name: torch.randn(s[rows], *shape, generator=g)}


# What a program makes of them -----------------------------------------------------------------------------------------
class State:
    """The pools, columns and ways back of a program being drawn."""

    def __init__(self, draw, module, tensors):
        self.draw, self.m, self.t = draw, module, tensors
        self.pools, self.rows, self.columns, self.ways, self.steps = {}, {}, [], {}, []
        self.space("node", tensors["x"].size(0), tensors["x"])

    def space(self, name, rows, *values):
        self.rows[name], self.pools[name] = rows, list(values)

    def column(self, index, of, into):
        self.columns.append((index, of, into))

    def put(self, space, values):
        self.pools[space].append(torch.tanh(values))

    def pick(self, space):
        return self.draw.choice(self.pools[space][-3:])

    def some_space(self):
        return self.draw.choice([name for name, pool in self.pools.items() if pool])

    def some_column(self, with_values=False, into=None):
        fit = [c for c in self.columns if self.pools[c[1 if with_values else 2]] and into in (None, c[2])]
        return self.draw.choice(fit) if fit else None

    def dense(self, values):
        return values @ self.draw.choice(list(self.m.weights))


def use_edges(s):
    s.space("edge", s.t["edge_index"].size(1))
    for end in s.t["edge_index"][0], s.t["edge_index"][1]:
        s.column(end, "edge", "node")


def use_attributes(s):
    s.pools["edge"].append(s.t["edge_attr"])


def use_weights(s):
    s.pools["edge"].append(s.t["edge_weight"].view(-1, 1).expand(-1, W).cos())


def use_types(s):
    s.space("relation", RELATIONS, s.m.relations)
    s.column(s.t["edge_type"], "edge", "relation")


def use_items(s):
    s.space("item", s.t["item"].size(0), s.t["item"])


def use_learned_items(s):
    s.space("item", s.m.items.size(0), s.m.items)


def use_buys(s):
    s.space("buy", s.t["buy"].size(1))
    s.column(s.t["buy"][0], "buy", "node")
    s.column(s.t["buy"][1], "buy", "item")


def use_learned_nodes(s):
    s.pools["node"].append(s.m.nodes)


def use_batch(s):
    batch = s.t["batch"]
    s.space("graph", s.draw.choice([lambda: GRAPHS, lambda: batch.max() + 1, lambda: batch[-1] + 1])())
    s.column(batch, "node", "graph")


def use_ptr(s):
    count = s.t["ptr"][1:] - s.t["ptr"][:-1]
    s.space("graph of ptr", s.t["ptr"].size(0) - 1, torch.segment_reduce(s.pick("node"), s.draw.choice(["sum", "mean", "max"]), offsets=s.t["ptr"], axis=0).clamp(-9, 9).nan_to_num())
    s.column(torch.repeat_interleave(torch.arange(s.t["ptr"].size(0) - 1), count), "node", "graph of ptr")


def use_kinds(s):
    s.space("kind", GRAPHS, s.m.kinds.weight)
    s.column(s.t["kind"], "node", "kind")


def use_triples(s):
    table = s.t["triples"]
    head, relation, tail = table.unbind(0 if s.m.seed % 2 else 1) if s.draw.random() < 0.5 else \
        [table[i] if s.m.seed % 2 else table[:, i] for i in range(3)]
    s.space("triple", head.size(0))
    if "relation" not in s.pools:
        s.space("relation", RELATIONS, s.m.relations)
    s.column(head, "triple", "node")
    s.column(relation, "triple", "relation")
    if s.m.seed % 3 == 0:
        s.space("word", WORDS, s.m.words.weight)
    s.column(tail, "triple", "node" if s.m.seed % 3 else "word")


def use_compressed(s):
    rowptr, col = s.t["rowptr"], s.t["col"]
    s.space("compressed", col.size(0))
    s.column(col, "compressed", "node")
    s.column(torch.repeat_interleave(torch.arange(rowptr.size(0) - 1), rowptr[1:] - rowptr[:-1]), "compressed", "node")


def use_bags(s):
    mode = s.draw.choice(["sum", "mean", "max"])
    s.put("node", F.embedding_bag(s.t["words"], s.m.words.weight, s.t["offsets"], mode=mode))


def use_neighbours(s):
    nbr, h = s.t["nbr"], s.pick("node")
    near, mask = h[nbr.clamp(min=0)], (nbr >= 0).unsqueeze(-1)
    s.put("node", s.draw.choice([
        lambda: (near * mask).sum(1), lambda: near.masked_fill(~mask, -1e9).amax(1).clamp(min=-2),
        lambda: F.scaled_dot_product_attention(h.unsqueeze(1), near, near).squeeze(1),
        lambda: F.scaled_dot_product_attention(h.unsqueeze(1), near, near, attn_mask=(mask | ~mask.any(1, keepdim=True)).transpose(1, 2)).squeeze(1),
        lambda: (torch.einsum("nw,nkw->nk", h, near).masked_fill(~mask.squeeze(-1), -1e9).softmax(1).unsqueeze(-1) * near).sum(1),
        lambda: s.m.attention(near, near, near, need_weights=False)[0].mean(1)])())


def use_adjacency(s):
    adj, h = s.t["adj"], s.pick("node")
    s.put("node", s.draw.choice([lambda: adj @ h, lambda: torch.sparse.mm(adj, h), lambda: torch.spmm(adj, h), lambda: adj.t() @ h,
                                 lambda: torch.addmm(h, adj, s.dense(h), beta=0.5, alpha=2)])())


class Part:
    """Inputs of a program: how they are made, and what becomes of them."""

    def __init__(self, inputs, use, needs=(), roles=()):
        self.inputs, self.use, self.needs, self.roles = inputs, use, needs, roles


def none(s, g):
    return {}


PARTS = {
    "edges": Part(edge_index, use_edges),
    "attributes": Part(drawn("edge_attr", "e", W), use_attributes, ["edges"]),
    "weights": Part(drawn("edge_weight", "e"), use_weights, ["edges"]),
    "types": Part(lambda s, g: {"edge_type": torch.randint(0, RELATIONS, (s["e"],), generator=g)}, use_types, ["edges"]),
    "items": Part(drawn("item", "m", W), use_items, roles=["item=node:item"]),
    "learned items": Part(none, use_learned_items),
    "buys": Part(lambda s, g: {"buy": pairs(g, s["n"], s["m"] - 1, s["b"])}, use_buys, ["items"], roles=["buy=index:node>item"]),
    "learned buys": Part(lambda s, g: {"buy": pairs(g, s["n"], ITEMS, s["b"])}, use_buys, ["learned items"]),
    "learned nodes": Part(none, use_learned_nodes, ["edges"]),
    "batch": Part(lambda s, g: {"batch": sorted_kinds(s, g, GRAPHS)}, use_batch),
    "ptr": Part(offsets_of_graphs, use_ptr),
    "kinds": Part(lambda s, g: {"kind": torch.randint(0, GRAPHS, (s["n"],), generator=g)}, use_kinds),
    "triples": Part(triples, use_triples),
    "compressed": Part(rows_of_edges, use_compressed),
    "bags": Part(bags, use_bags),
    "neighbours": Part(neighbours, use_neighbours),
    "adjacency": Part(adjacency, use_adjacency),
}


def parts_of(seed):
    """One to four parts, with what they need, in the order of the table; without two tables of items."""
    draw = random.Random(seed)
    chosen = {"edges"} if draw.random() < 0.7 else set()
    for name in draw.sample(list(PARTS), draw.randint(1, 3)):
        chosen |= {name, *PARTS[name].needs}
    if "items" in chosen:
        chosen -= {"learned items", "learned buys"}
    return [name for name in PARTS if name in chosen]


def inputs_of(seed):
    parts = parts_of(seed)
    learned = [name.split()[1] for name in parts if name.startswith("learned ")]

    def inputs(graph):
        sizes = {**sizes_of(seed, graph, learned), "seed": seed}
        g = torch.Generator().manual_seed(sizes["n"] + sizes["e"])
        found = {"x": torch.randn(sizes["n"], W, generator=g)}
        for name in parts:
            found.update(PARTS[name].inputs(sizes, g))
        return found
    return inputs


# Productions: each takes the state and adds a value, a space or a column, or does nothing where nothing fits ----------
def looked_up(s, values, index):
    return s.draw.choice([lambda: values[index], lambda: values.index_select(0, index), lambda: F.embedding(index, values),
                          lambda: values.gather(0, index.view(-1, 1).expand(-1, W)), lambda: torch.take_along_dim(values, index.view(-1, 1), 0)])()


def summed(s, values, index, rows):
    """Rows of another space, by one of the ways to reduce."""
    zeros, wide = values.new_zeros((rows, W)), index.view(-1, 1).expand(-1, W)
    return s.draw.choice([
        lambda: zeros.index_add(0, index, values), lambda: zeros.index_add(0, index, values, alpha=0.5),
        lambda: zeros.scatter_add(0, wide, values), lambda: zeros.index_put((index,), values, accumulate=True),
        lambda: utils.scatter(values, index, 0, rows, s.draw.choice(["sum", "mean", "max", "min", "mul"])),
        lambda: zeros.scatter_reduce(0, wide, values, s.draw.choice(["sum", "prod", "mean", "amax", "amin"]), include_self=s.draw.random() < 0.5),
        lambda: zeros.index_reduce(0, index, values, s.draw.choice(["prod", "mean", "amax", "amin"]), include_self=s.draw.random() < 0.5)])()


def step_gather(s):
    found = s.some_column()
    if found:
        index, of, into = found
        s.put(of, looked_up(s, s.pick(into), index))


def step_reduce(s):
    found = s.some_column(with_values=True)
    if found:
        index, of, into = found
        s.put(into, summed(s, s.pick(of), index, s.rows[into]))


def step_attention(s):
    found = s.some_column(with_values=True)
    if found:
        index, of, into = found
        score = s.pick(of)
        weight = utils.softmax(score.view(-1, 2, 2).sum(-1), index, num_nodes=s.rows[into]).repeat_interleave(2, 1)
        s.put(into, summed(s, weight * s.pick(of), index, s.rows[into]))


def step_combine(s):
    space = s.some_space()
    a, b = s.pick(space), s.pick(space)
    s.put(space, s.draw.choice([lambda: a + b, lambda: a * b, lambda: s.dense(a) - b, lambda: torch.where(a > b, a, -b), lambda: torch.add(a, b, alpha=0.3),
                                lambda: torch.lerp(a, b, 0.3), lambda: torch.addmm(b, a, s.m.weights[0], beta=0.5, alpha=-1), lambda: torch.rsub(a, b, alpha=2)])())


ARGUMENTS = [
    lambda a: a.sum(1, keepdim=True) + a, lambda a: a.sum(-1, dtype=torch.float64).float().unsqueeze(1) * a, lambda a: a.mean([1], True) - a,
    lambda a: a.softmax(1, dtype=torch.float64).float(), lambda a: a.std(1, correction=0, keepdim=True) + a, lambda a: a.var((-1,), unbiased=False, keepdim=True) + a,
    lambda a: torch.aminmax(a, dim=1, keepdim=True)[1] - a, lambda a: F.normalize(a, p=1.0, dim=1), lambda a: F.normalize(a, dim=-1, eps=1e-6),
    lambda a: torch.linalg.vector_norm(a, 3, dim=-1, keepdim=True) + a, lambda a: a.norm(p=1, dim=1, keepdim=True) * a, lambda a: a.cumsum(-1, dtype=torch.float64).float(),
    lambda a: a.round(decimals=1), lambda a: F.elu(a, alpha=0.5), lambda a: F.softplus(a, beta=2, threshold=1), lambda a: F.gelu(a, approximate="tanh"),
    lambda a: F.leaky_relu(a, -0.1), lambda a: a.clamp(min=-0.3), lambda a: F.hardtanh(a, -0.5, 0.7), lambda a: torch.nan_to_num(a, nan=1.0, posinf=2.0),
    lambda a: a.topk(2, dim=1, largest=False, sorted=True)[0].repeat(1, 2), lambda a: a.sort(dim=1, descending=True, stable=True)[0],
    lambda a: a.logsumexp((1,), keepdim=True) - a, lambda a: a.amax((1,), True) - a, lambda a: torch.quantile(a, 0.5, dim=1, keepdim=True, interpolation="lower") + a,
    lambda a: a.prod(1, keepdim=True, dtype=torch.float64).float() + a, lambda a: a.to(torch.float64).float(), lambda a: F.pad(a, (1, 1), value=0.5)[:, 1:5],
    lambda a: F.layer_norm(a, [W], eps=1e-3), lambda a: a.flatten(0, -1).view(-1, W), lambda a: torch.roll(a, (1, -1), (1, 1)), lambda a: a.unfold(1, 2, 1).sum(-1).repeat(1, 2)[:, :W]]


def step_arguments(s):
    space = s.some_space()
    s.put(space, s.draw.choice(ARGUMENTS)(s.pick(space)))


def step_of_the_table(s):
    space = s.some_space()
    s.put(space, program_steps.step(s.draw, s.pick(space), s.pick(space)))


def step_total(s):
    space = s.some_space()
    h = s.pick(space)
    total = s.draw.choice([lambda: h.mean(0, keepdim=True), lambda: h.amax(0), lambda: h.sum(0) / h.size(0), lambda: s.m.row, lambda: h.std(0, unbiased=False)])()
    other = s.some_space()
    s.put(other, s.draw.choice([lambda: s.pick(other) - total, lambda: s.pick(other) * total.expand(s.rows[other], W)])())


def step_back(s):
    if s.ways:
        space = s.draw.choice(list(s.ways))
        s.put(*s.ways[space](s.pick(space)))


def step_prefix(s):
    """As many of the first rows as the largest number of an index counts."""
    found = s.some_column()
    if found and "prefix" not in s.pools:
        index, of, into = found
        rows = index.max() + 1
        s.space("prefix", rows, s.pick(into)[:rows])
        s.column(index, of, "prefix")


def step_pairs(s):
    """Rows for each pair of a kind and a row: kind * rows + row, or row * kinds + kind."""
    kinds = [(i, of, {"relation": RELATIONS, "kind": GRAPHS}[into]) for i, of, into in s.columns if into in ("relation", "kind")]
    found = [(k, c) for k in kinds for c in s.columns if c[1] == k[1] and c[2] != "prefix" and c[0] is not k[0]]
    if not found or "pair" in s.pools:
        return
    (kind, of, count), (index, _, into) = s.draw.choice(found)
    rows = s.rows[into]
    if s.draw.random() < 0.5:
        s.space("pair", count * rows, s.pick(into).repeat(count, 1) if s.pools[into] else s.m.row.expand(count * rows, W))
        s.column(kind * rows + index, of, "pair")
        s.ways["pair"] = lambda v: (into, s.draw.choice([lambda: v.reshape(count, rows, W).sum(0), lambda: v.reshape(count, -1, W).amax(0), lambda: v[:rows] - v[rows:2 * rows]])())
    else:
        s.space("pair", count * rows, s.pick(into).repeat_interleave(count, 0) if s.pools[into] else s.m.row.expand(rows * count, W))
        s.column(index * count + kind, of, "pair")
        s.ways["pair"] = lambda v: (into, s.draw.choice([lambda: v.reshape(rows, count, W).sum(1), lambda: v.reshape(-1, count * W)[:, :W], lambda: v.reshape(-1, count, W)[:, 1]])())


def step_virtual(s):
    """A learned row behind those of nodes, with edges from and to it."""
    ends = [c[0] for c in s.columns if c[1:] == ("edge", "node")][:2]
    if len(ends) < 2 or "virtual" in s.pools:
        return
    rows, extra = s.rows["node"], s.m.row if s.draw.random() < 0.7 else s.pick("node").mean(0, keepdim=True)
    s.space("virtual", rows + 1, torch.cat([s.pick("node"), extra]))
    s.space("edge and virtual", ends[0].size(0) + rows)
    number = torch.arange(rows)
    s.column(torch.cat([ends[0], number]), "edge and virtual", "virtual")
    s.column(torch.cat([ends[1], torch.full_like(number, 1) * rows]), "edge and virtual", "virtual")
    s.ways["virtual"] = lambda v: ("node", s.draw.choice([lambda: v[:rows], lambda: v[:-1], lambda: v[:rows] + v[rows], lambda: v[:rows] * v[-1:]])())


def step_stacked(s):
    """Two tables in one numbering, with the edges between them in both directions."""
    into = next((into for into in ("item", "word", "relation") if into in s.pools), None)
    sides = [c for c in s.columns if c[2] == into]
    if not sides or "stacked" in s.pools:
        return
    theirs, of, _ = s.draw.choice(sides)
    ours = next((c[0] for c in s.columns if c[1:] == (of, "node")), None)
    if ours is None:
        return
    rows = s.rows["node"]
    s.space("stacked", rows + s.rows[into], torch.cat([s.pick("node"), s.pick(into)]))
    s.space("both ways", 2 * ours.size(0))
    s.column(torch.cat([ours, theirs + rows]), "both ways", "stacked")
    s.column(torch.cat([theirs + rows, ours]), "both ways", "stacked")
    s.ways["stacked"] = lambda v: s.draw.choice([lambda: ("node", v[:rows]), lambda: (into, v[rows:]), lambda: ("node", v.split([rows, s.rows[into]])[0])])()


def step_joined(s):
    """Three tables of the same rows behind each other, and indices into the second."""
    found = s.some_column(into="node")
    if found and "joined" not in s.pools:
        index, of, _ = found
        rows = s.rows["node"]
        s.space("joined", 3 * rows, torch.cat([s.pick("node"), s.dense(s.pick("node")), s.pick("node")]))
        s.column(index + rows, of, "joined")
        s.ways["joined"] = lambda v: ("node", s.draw.choice([lambda: v[rows:2 * rows], lambda: v.chunk(3)[1], lambda: v.view(3, -1, W).sum(0), lambda: v[:rows] * v[-rows:]])())


def step_heads(s):
    """Rows of heads, [rows * heads, features]: gathered, weighted and summed as rows, then merged."""
    ends = [c for c in s.columns if c[1:] == ("edge", "node")][:2]
    if len(ends) < 2:
        return
    h, rows, edges = s.pick("node"), s.rows["node"], ends[0][0].size(0)
    src, dst, head = ends[0][0], ends[1][0], torch.arange(2)
    if s.draw.random() < 0.5:
        flat, a, b = h.view(-1, 2), (src.view(-1, 1) * 2 + head).view(-1), (dst.view(-1, 1) * 2 + head).view(-1)
        out = h.new_zeros((rows * 2, 2)).index_add(0, b, flat[a] * flat[b].sum(1, keepdim=True))
        s.put("node", s.draw.choice([lambda: out.view(rows, W), lambda: out.view(-1, 2, 2).flatten(1), lambda: out.view(-1, 2, 2).mean(1).repeat(1, 2)])())
    else:
        flat = h.view(-1, 2, 2).transpose(0, 1).reshape(-1, 2)
        a, b = (head.view(-1, 1) * rows + src).view(-1), (head.view(-1, 1) * rows + dst).view(-1)
        out = h.new_zeros((2 * rows, 2)).index_add(0, b, flat[a] * flat[b].sum(1, keepdim=True))
        s.put("node", out.view(2, rows, 2).transpose(0, 1).reshape(rows, W))


def step_derived(s):
    """Edges of a kind, or with a loop at each node, as a relation of their own."""
    ends = [c for c in s.columns if c[1:] == ("edge", "node")][:2]
    name = s.draw.choice(["kept", "looped", "ordered"])
    if len(ends) < 2 or name in s.pools:
        return
    rows = s.rows["node"]
    if name == "kept":
        keep = ends[0][0] != ends[1][0] if "edge_type" not in s.t else s.t["edge_type"] == 1
        columns, values = [end[0][keep] for end in ends], [v[keep] for v in s.pools["edge"][-1:]]
    elif name == "looped":
        loop = torch.arange(rows)
        columns, values = [torch.cat([end[0], loop]) for end in ends], [torch.cat([v, s.pick("node")]) for v in s.pools["edge"][-1:]]
    else:
        order = torch.argsort(ends[1][0], stable=True)
        columns, values = [end[0][order] for end in ends], [v[order] for v in s.pools["edge"][-1:]]
    s.space(name, columns[0].size(0), *values)
    for column in columns:
        s.column(column, name, "node")


@torch.jit.script
def matrix_of(src: torch.Tensor, dst: torch.Tensor, value: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
    """Scripted, since tracing would keep the size of one graph."""
    return torch.sparse_coo_tensor(torch.stack([dst, src]), value, [nodes.size(0), nodes.size(0)])


def step_sparse(s):
    """A sparse adjacency made of the edges."""
    ends = [c[0] for c in s.columns if c[1:] == ("edge", "node")][:2]
    if len(ends) < 2:
        return
    h = s.pick("node")
    adj = matrix_of(ends[0], ends[1], s.pick("edge")[:, 0] if s.pools["edge"] else h.new_ones(ends[0].size(0)), h)
    s.put("node", s.draw.choice([lambda: adj @ h, lambda: torch.sparse.mm(adj, h), lambda: adj.t() @ h, lambda: torch.sparse.mm(adj.coalesce(), h)])())


def step_degrees(s):
    found = s.some_column(into="node")
    if found:
        index, of, _ = found
        n = s.rows["node"]
        degree = s.draw.choice([lambda: utils.degree(index, n), lambda: torch.bincount(index, minlength=n).float(),
                                lambda: torch.zeros(n).scatter_add(0, index, torch.ones(index.size(0)))])()
        s.put(of, s.pick("node")[index] * degree.clamp(min=1).pow(-0.5)[index].view(-1, 1))


STEPS = {step_gather: 9, step_reduce: 11, step_attention: 2, step_combine: 3, step_arguments: 3, step_of_the_table: 3, step_total: 1, step_back: 5, step_prefix: 1,
         step_pairs: 2, step_virtual: 1.5, step_stacked: 2, step_joined: 1, step_heads: 1, step_derived: 1.5, step_sparse: 1, step_degrees: 1}


class Program(nn.Module):
    """Parts and productions, drawn again in each call. Its forward names the inputs of its parts."""

    def __init__(self, seed):
        super().__init__()
        self.seed, self.parts, self.productions = seed, parts_of(seed), 4 + seed % 13
        self.weights = nn.ParameterList(torch.randn(W, W) / 2 for _ in range(4))
        self.relations, self.row = nn.Parameter(torch.randn(RELATIONS, W)), nn.Parameter(torch.randn(1, W))
        self.nodes, self.items = nn.Parameter(torch.randn(NODES, W)), nn.Parameter(torch.randn(ITEMS, W))
        self.words, self.kinds = nn.Embedding(WORDS, W), nn.Embedding(GRAPHS, W)
        self.attention = nn.MultiheadAttention(W, 2, batch_first=True)

    def drawn(self, tensors):
        draw = random.Random(self.seed)
        state = State(draw, self, tensors)
        for name in self.parts:
            PARTS[name].use(state)
        for step in draw.choices(list(STEPS), list(STEPS.values()), k=self.productions):
            before = len(state.columns), len(state.pools), sum(map(len, state.pools.values()))
            step(state)
            if before != (len(state.columns), len(state.pools), sum(map(len, state.pools.values()))):
                state.steps.append(step.__name__[5:])
        for space in state.ways:
            state.put(*state.ways[space](state.pick(space)))
        return state

    def results(self, tensors):
        state = self.drawn(tensors)
        parts = [] if state.draw.random() < 0.1 else state.ways  # tables that are joined are mostly taken apart again
        pools = [pool[-1] for space, pool in state.pools.items() if len(pool) > 1 and space not in parts]
        return tuple(pools[-4:]) or (tensors["x"] + 1,)


def program(seed):
    names = ", ".join(inputs_of(seed)({"x": torch.zeros(23, 1)}))
    scope = {}
    exec(f"def forward(self, {names}):\n    return self.results(dict({', '.join(f'{n}={n}' for n in names.split(', '))}))", scope)
    return type("Program", (Program,), {"forward": scope["forward"]})(seed)


def described(seed):
    """What the program is made of, in a line."""
    model = program(seed)
    with torch.no_grad():
        steps = model.drawn(inputs_of(seed)({"x": torch.zeros(23, 1)})).steps
    return f"{' + '.join(model.parts)}: {' '.join(steps)}"


def roles_of(seed):
    """Of every other program, roles of the inputs whose tables the user names."""
    return tuple(role for name in parts_of(seed) for role in PARTS[name].roles) if seed % 2 else ()


def group(first, count, name="wide_programs"):
    programs = Group(name)
    for seed in range(first, first + count):
        programs.add(f"wide_program_{seed}", lambda seed=seed: program(seed), inputs_of(seed), roles=roles_of(seed), seed=seed, random=True,
                     expect="either", batches=(7, 0))
    return programs
