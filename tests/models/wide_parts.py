"""The inputs of random programs over many kinds of rows (wide_programs.py): how they are made, with sizes that collide on some graphs, and
what a program has of them: values by space, columns of row numbers."""
import random

import torch
from torch.nn import functional as F

from graphs import compressed, pairs

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


# Programs over these parts ----------------------------------------------------------------------------------------------
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
    """One to four parts and those that they depend on, in the order of the table; at most one table of items."""
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
