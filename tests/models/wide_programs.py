"""Seeded random programs over the kinds of rows that models make, from a table of parts (wide_parts.py: inputs with their columns of
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
from registry import Group
from wide_parts import GRAPHS, ITEMS, NODES, PARTS, RELATIONS, WORDS, State, W, inputs_of, parts_of


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
    h, rows = s.pick("node"), s.rows["node"]
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
    """The parts and steps of the program in a line."""
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
