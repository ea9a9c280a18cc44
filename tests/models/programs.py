"""Seeded random message-passing programs over two node types, three relations and what is derived from them.

A program is drawn while it is traced: values live in typed pools (rows of users, rows of items, edges of a relation,
graph rows, numbers), and each step draws an operation that fits. The same seed gives the same program, so a failing one
is named by its number: zoo.py OUT --group programs --first SEED --programs 1. The full number: --programs 5000."""
import random

import torch
from torch import nn

import program_steps
from graphs import GRAPHS
from registry import Group

W = 4
ROLES = ("user=node:user", "item=node:item", "follow=index:user>user", "buy=index:user>item", "of=index:item>user",
         "attr=edge:follow", "color=edge:follow", "weight=edge:follow", "community=key:user>group")


def ends(generator, sources, targets, count, quiet):
    return torch.stack([torch.randint(0, sources - quiet, (count,), generator=generator),
                        torch.randint(0, targets - quiet, (count,), generator=generator)])


def program_inputs(graph):
    """Shaped by the zoo's graph, so that the two test graphs and the traced one differ here too."""
    users, items = graph["x"].size(0) + 2, graph["item"].size(0) + 1
    g = torch.Generator().manual_seed(users)
    follow = ends(g, users, users, 3 * users, 3)
    follow[1, :5] = follow[0, :5]
    follow[:, 6] = follow[:, 7]
    follow[1, 9:9 + users // 2] = 2
    community = torch.randint(0, GRAPHS, (users,), generator=g)
    community[:GRAPHS] = torch.arange(GRAPHS)
    edges = follow.size(1)
    return {"user": torch.randn(users, W, generator=g), "item": torch.randn(items, W, generator=g), "follow": follow,
            "buy": ends(g, users, items, 2 * users - 1, 2), "of": ends(g, items, users, 2 * items + 3, 1),
            "attr": torch.randn(edges, W, generator=g), "color": torch.randint(0, 3, (edges,), generator=g),
            "weight": torch.rand(edges, generator=g) + 0.1, "community": community}


def aggregate(values, index, rows, how):
    if how == "sum":
        return values.new_zeros(rows, W).index_add(0, index, values)
    if how == "mean":
        count = values.new_zeros(rows).scatter_add(0, index, values.new_ones(values.size(0))).clamp(min=1)
        return values.new_zeros(rows, W).index_add(0, index, values) / count.view(-1, 1)
    wide = index.view(-1, 1).expand_as(values)
    return values.new_zeros(rows, W).scatter_reduce(0, wide, values, how, include_self=False)


class State:
    """The pools, and the relations in use, of a program being drawn."""

    def __init__(self, draw, weights, tensors):
        self.draw, self.weights, self.t = draw, weights, tensors
        self.rows = {"user": tensors["user"].size(0), "item": tensors["item"].size(0)}
        self.nodes = {"user": [tensors["user"]], "item": [tensors["item"]]}
        self.relations = {"follow": (tensors["follow"], "user", "user"), "buy": (tensors["buy"], "user", "item"),
                          "of": (tensors["of"], "item", "user")}
        self.selections = {}                       # derived relation -> function of a value on follow's edges
        for name in draw.sample(list(DERIVED), draw.randint(0, 3)):
            DERIVED[name](self, name)
        self.edges = {name: [] for name in self.relations}
        self.edges["follow"].append(tensors["attr"])
        self.totals, self.tables = [], []

    def pick(self, pool, recent=3):
        return self.draw.choice(pool[-recent:])

    def dense(self, values):
        return torch.tanh(values @ self.weights[self.draw.randrange(len(self.weights))])

    def node_type(self):
        return self.draw.choice(["user", "user", "item"])

    def relation(self, with_values=False):
        names = [n for n in self.relations if self.edges[n] or not with_values]
        return self.draw.choice(names)


def with_loops(s, name):
    loop = torch.arange(s.rows["user"])
    s.relations[name] = (torch.cat([s.t["follow"], torch.stack([loop, loop])], 1), "user", "user")
    s.selections[name] = lambda e, n: torch.cat([e, n], 0)


def of_one_color(s, name):
    mask = s.t["color"] == s.draw.randrange(3)
    s.relations[name] = (s.t["follow"][:, mask], "user", "user")
    s.selections[name] = lambda e, n: e[mask]


def reversed_edges(s, name):
    s.relations[name] = (s.t["follow"].flip(0), "user", "user")
    s.selections[name] = lambda e, n: e


def in_both_directions(s, name):
    s.relations[name] = (torch.cat([s.t["follow"], s.t["follow"].flip(0)], 1), "user", "user")
    s.selections[name] = lambda e, n: torch.cat([e, -e], 0)


def sorted_by_source(s, name):
    order = torch.argsort(s.t["follow"][0])
    s.relations[name] = (s.t["follow"][:, order], "user", "user")
    s.selections[name] = lambda e, n: e[order]


def proper_loops_only(s, name):
    keep = s.t["follow"][0] != s.t["follow"][1]
    loop = torch.arange(s.rows["user"]).view(1, -1).repeat(2, 1)
    s.relations[name] = (torch.cat([s.t["follow"][:, keep], loop], 1), "user", "user")
    s.selections[name] = lambda e, n: torch.cat([e[keep], n], 0)


DERIVED = {"looped": with_loops, "colored": of_one_color, "reversed": reversed_edges, "doubled": in_both_directions,
           "sorted": sorted_by_source, "proper": proper_loops_only}


# Steps: each takes the state and adds a value, or does nothing where it does not fit ---------------------------------
def step_dense(s):
    t = s.node_type()
    s.nodes[t].append(s.dense(s.pick(s.nodes[t])))


def step_combine(s):
    t = s.node_type()
    a, b = s.pick(s.nodes[t]), s.pick(s.nodes[t], 4)
    s.nodes[t].append(s.draw.choice([
        lambda: a + b, lambda: torch.tanh(a * b), lambda: torch.stack([a, b]).amax(0),
        lambda: torch.where(a > b, a, -b),
        lambda: s.dense(torch.cat([a[:, :2], b[:, 2:]], 1)), lambda: torch.lerp(a, b, 0.3)])())


def step_gather(s):
    r, end = s.relation(), s.draw.randint(0, 1)
    index, values = s.relations[r][0][end], s.pick(s.nodes[s.relations[r][1 + end]], 2)
    s.edges[r].append(s.draw.choice([lambda: values[index], lambda: values.index_select(0, index)])())


def step_combine_edges(s):
    r = s.relation(with_values=True)
    a, b = s.pick(s.edges[r]), s.pick(s.edges[r], 4)
    s.edges[r].append(s.draw.choice([lambda: a + b, lambda: torch.tanh(a * b), lambda: s.dense(a),
                                     lambda: a - b.relu()])())


def step_aggregate(s):
    r, end = s.relation(with_values=True), s.draw.randint(0, 1)
    index, t = s.relations[r][0][end], s.relations[r][1 + end]
    how = s.draw.choice(["sum", "sum", "mean", "amax", "amin"])
    s.nodes[t].append(torch.tanh(aggregate(s.edges[r][-1], index, s.rows[t], how)))


def step_aggregate_into(s):
    r, end = s.relation(with_values=True), s.draw.randint(0, 1)
    index, t = s.relations[r][0][end], s.relations[r][1 + end]
    s.nodes[t].append(torch.tanh(s.pick(s.nodes[t], 2).index_add(0, index, s.pick(s.edges[r]))))


def step_softmax(s):
    r, end = s.relation(with_values=True), s.draw.randint(0, 1)
    index, t, values = s.relations[r][0][end], s.relations[r][1 + end], s.pick(s.edges[r])
    weight = (values - aggregate(values, index, s.rows[t], "amax")[index]).exp()
    s.edges[r].append(weight / (aggregate(weight, index, s.rows[t], "sum")[index] + 1e-16))


def step_derive_edges(s):
    names = list(s.selections)
    if names:
        name = s.draw.choice(names)
        s.edges[name].append(s.selections[name](s.pick(s.edges["follow"]), s.pick(s.nodes["user"])))


def step_total(s):
    pool = s.nodes[s.node_type()] if s.draw.random() < 0.7 else s.edges[s.relation(with_values=True)]
    h = s.pick(pool)
    s.totals.append(s.draw.choice([lambda: h.mean(0), lambda: h.amax(0), lambda: h.std(0), lambda: h.norm(),
                                   lambda: h.sum(0, keepdim=True) / h.size(0), lambda: h.var(0, unbiased=False)])())


def step_use_total(s):
    if s.totals:
        t, total = s.node_type(), s.pick(s.totals, 2)
        h = s.pick(s.nodes[t])
        s.nodes[t].append(torch.tanh(h - total if s.draw.random() < 0.5 else h * torch.sigmoid(total)))


def step_pool(s):
    key, h = s.t["community"], s.pick(s.nodes["user"])
    table = s.dense(aggregate(h, key, GRAPHS, s.draw.choice(["sum", "mean", "amax"])))
    if s.draw.random() < 0.6:
        s.nodes["user"].append(h + table[key])
    else:
        s.tables.append(table)


def step_mask(s):
    h, kind = s.pick(s.nodes["user"]), s.draw.randrange(GRAPHS)
    if s.draw.random() < 0.5:
        chosen = (s.t["community"] == kind).nonzero().view(-1)
        s.nodes["user"].append(h.index_copy(0, chosen, s.dense(h[chosen])))
    else:
        s.nodes["user"].append(torch.where((s.t["community"] == kind).view(-1, 1), h, s.pick(s.nodes["user"])))


def step_in_place(s):
    t = s.node_type()
    h, other = s.pick(s.nodes[t]).clone(), s.pick(s.nodes[t], 4)
    h[:, 1] = other[:, 2]
    h[:, 2:].mul_(0.5)
    h.t()[0] += 1
    if t == "user" and s.draw.random() < 0.6:
        h.index_add_(0, s.t["follow"][1], other[s.t["follow"][0]] * 0.1)
        h[s.t["community"] == 3] = 0.25
    s.nodes[t].append(h)


def step_normalise(s):
    t = s.node_type()
    h = s.pick(s.nodes[t])
    s.nodes[t].append(s.draw.choice([lambda: nn.functional.layer_norm(h, [W]), lambda: h.softmax(-1),
                                     lambda: h.view(-1, 2, 2).softmax(-1).flatten(1)])())


def step_degrees(s):
    follow, weight, rows = s.t["follow"], s.t["weight"], s.rows["user"]
    scale = weight.new_zeros(rows).index_add(0, follow[s.draw.randint(0, 1)], weight).clamp(min=0.5).pow(-0.5)
    values = (scale[follow[0]] * weight * scale[follow[1]]).view(-1, 1)
    s.edges["follow"].append(values * s.nodes["user"][-1][follow[0]])


def step_number(s):
    t = s.node_type()
    h = s.pick(s.nodes[t])
    s.nodes[t].append(s.draw.choice([lambda: h * 10 / h.size(0), lambda: h + 0.01 * s.t["follow"].size(1),
                                     lambda: torch.cat([h[:, :3], h.new_full((h.size(0), 1), 0.5)], 1)])())


def step_ids(s):
    t = s.node_type()
    h, number = s.pick(s.nodes[t]), torch.arange(s.rows[t])
    s.nodes[t].append(torch.tanh(s.draw.choice([lambda: h * number.view(-1, 1).float().cos(),
                                                lambda: h + s.weights[0][number % W]])()))


def step_of_the_table(s):
    t = s.node_type()
    pool = s.nodes[t] if s.draw.random() < 0.6 else s.edges[s.relation(with_values=True)]
    pool.append(program_steps.step(s.draw, s.pick(pool), s.pick(pool, 4)))


STEPS = {step_dense: 2, step_combine: 3, step_gather: 11, step_combine_edges: 3, step_aggregate: 14,
         step_aggregate_into: 3, step_softmax: 3, step_derive_edges: 2, step_total: 1.5, step_use_total: 1.5,
         step_pool: 1, step_mask: 1, step_in_place: 1, step_normalise: 1, step_degrees: 1, step_number: 1, step_ids: 1}


TABLE_STEPS = {**STEPS, step_of_the_table: 12}


class Program(nn.Module):
    def __init__(self, seed, choice):
        super().__init__()
        self.seed, self.steps, self.choice = seed, 8 + seed % 48, choice
        self.weights = nn.ParameterList(torch.randn(W, W) / 2 for _ in range(6))

    def forward(self, user, item, follow, buy, of, attr, color, weight, community):
        tensors = dict(user=user, item=item, follow=follow, buy=buy, of=of, attr=attr, color=color, weight=weight,
                       community=community)
        draw = random.Random(self.seed)
        state = State(draw, list(self.weights), tensors)
        for _ in range(self.steps):
            draw.choices(list(self.choice), list(self.choice.values()))[0](state)
        edges = [pool[-1] for pool in state.edges.values() if pool]
        return tuple([state.nodes["user"][-1], state.nodes["item"][-1]] + edges[-2:] + state.totals[-1:]
                     + state.tables[-1:])


# Programs for which the optimum is refused although the rules have plans.
NO_PLAN = {}


def group(first, count, name="programs"):
    """"programs" move rows; "table_programs" also compute with the operators of the table (program_steps.py)."""
    programs = Group(name)
    choice = STEPS if name == "programs" else TABLE_STEPS
    for seed in range(first, first + count):
        programs.add(f"{name[:-1]}_{seed}", lambda seed=seed: Program(seed, choice), program_inputs, roles=ROLES, seed=seed,
                     random=True, no_optimum=NO_PLAN.get((name, seed), ""))
    return programs
