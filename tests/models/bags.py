"""Bags of rows by the places where they begin: nn.EmbeddingBag with offsets, and what models compute from these."""
import torch
import torch.nn.functional as F
from torch import nn

from graphs import FEATURES, HIDDEN
from layers import Parts, add_rows
from registry import Group

group = Group("bags")
WORDS = 17


def bagged(graph, seed, rows, ids, last=False):
    """Bags of 0 to 3 numbers below `ids` for each row, the last two empty: the numbers, the beginning of each bag, and weights."""
    generator = torch.Generator().manual_seed(seed + rows)
    counts = torch.randint(4, (rows,), generator=generator)
    counts[-2:], counts[0] = 0, 3
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
    total = int(counts.sum())
    return torch.randint(ids, (total,), generator=generator), offsets if last else offsets[:-1].clone(), torch.randn(total, generator=generator)


def inputs(graph, last=False, x=True):
    words, offsets, weight = bagged(graph, 1, graph["x"].size(0), WORDS, last)
    given = {"words": words, "offsets": offsets, "word_weight": weight, "edge_index": graph["edge_index"]}
    return {"x": graph["x"], **given} if x else given


def STARTS(graph):
    return {name: value for name, value in inputs(graph).items() if name != "word_weight"}


def WEIGHTED(graph):
    return inputs(graph)


def WHOLE(graph):
    return {name: value for name, value in inputs(graph, last=True).items() if name != "word_weight"}


def ALONE(graph):
    """Without features: the offsets tell how many nodes there are."""
    given = {name: value for name, value in inputs(graph, x=False).items() if name != "word_weight"}
    given["words"] = torch.cat([given["words"], given["words"][:2]])  # the last bag has two
    return given


def ALONE_WHOLE(graph):
    return {name: value for name, value in inputs(graph, last=True, x=False).items() if name != "word_weight"}


def AMBIGUOUS(graph):
    """The last bags are empty and no edge reaches the last node: the code tells whether the last offset begins a bag."""
    given = {name: value for name, value in inputs(graph, x=False).items() if name != "word_weight"}
    last = graph["x"].size(0) - 1
    given["edge_index"] = given["edge_index"][:, (given["edge_index"] < last).all(0)]
    return given


def AS_MANY(graph):
    """As many words as nodes."""
    rows = graph["x"].size(0)
    offsets = torch.arange(0, rows, 2).repeat_interleave(2)[:rows]
    return {"x": graph["x"], "words": torch.arange(rows) % WORDS, "offsets": offsets, "word_weight": graph["x"][:, 0].clone(), "edge_index": graph["edge_index"]}


def SEVERAL(graph):
    tags, tag_offsets, _ = bagged(graph, 2, graph["x"].size(0), WORDS)
    words = STARTS(graph)
    edges = words.pop("edge_index")
    return {**words, "tags": tags, "tag_offsets": tag_offsets, "edge_index": edges}


def NARROW(graph):
    return {name: value.int() if name in ("words", "offsets") else value for name, value in STARTS(graph).items()}


def ITEMS(graph):
    """Bags of rows of another table."""
    ids, offsets, _ = bagged(graph, 3, graph["x"].size(0), graph["item"].size(0))
    return {"x": graph["x"], "item": graph["item"], "bought": ids, "offsets": offsets, "edge_index": graph["edge_index"]}


class Bags(Parts):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, HIDDEN)

    def after(self, h, edge_index):
        """Sends the rows of bags along the edges, twice."""
        h = (h + add_rows(self.lin(h)[edge_index[0]], edge_index[1], h.size(0))).tanh()
        return self.out(add_rows(h[edge_index[0]], edge_index[1], h.size(0)))


OPTIONS = {"sum": "mode='sum'", "mean": "mode='mean'", "largest": "mode='max'", "mean_padded": "mode='mean', padding_idx=3",
           "sum_padded": "mode='sum', padding_idx=0", "largest_padded": "mode='max', padding_idx=0", "padded_from_the_end": "mode='sum', padding_idx=-1"}


def add_bags(name, how, graph, call, arguments, x=True):
    """A module with this call, as a class of its own that can be scripted."""
    first = "x, " if x else ""
    own = "self.inp(x) + " if x else ""
    source = f"def forward(self, {first}{arguments}, edge_index):\n    return self.after({own}{call}, edge_index)\n"
    space = {"F": F, "torch": torch}
    exec(compile(source, f"<{name}>", "exec"), space)
    group.add(name, type(name, (Bags,), {"forward": space["forward"]}), graph, how=how)


for name, options in OPTIONS.items():
    add_bags(f"bags_{name}", "trace", STARTS, f"F.embedding_bag(words, self.table.weight, offsets, {options})", "words, offsets")
for name in ("sum", "mean_padded", "largest"):
    call = f"F.embedding_bag(words, self.table.weight, offsets, include_last_offset=True, {OPTIONS[name]})"
    add_bags(f"whole_bags_{name}", "trace", WHOLE, call, "words, offsets")
    add_bags(f"whole_bags_alone_{name}", "trace", ALONE_WHOLE, call, "words, offsets", x=False)
    add_bags(f"bags_alone_{name}", "trace", ALONE, f"F.embedding_bag(words, self.table.weight, offsets, {OPTIONS[name]})", "words, offsets", x=False)
add_bags("bags_weighted", "trace", WEIGHTED, "F.embedding_bag(words, self.table.weight, offsets, mode='sum', per_sample_weights=word_weight)", "words, offsets, word_weight")
for name in ("sum", "largest_padded"):
    add_bags(f"bags_by_the_code_{name}", "trace", AMBIGUOUS, f"F.embedding_bag(words, self.table.weight, offsets, {OPTIONS[name]})", "words, offsets", x=False)
add_bags("bags_as_many", "trace", AS_MANY, "F.embedding_bag(words, self.table.weight, offsets, mode='sum', per_sample_weights=word_weight)", "words, offsets, word_weight")
add_bags("bags_narrow", "trace", NARROW, "F.embedding_bag(words, self.table.weight, offsets, mode='sum')", "words, offsets")
add_bags("bags_several", "trace", SEVERAL, "F.embedding_bag(words, self.table.weight, offsets, mode='sum') * F.embedding_bag(tags, self.table.weight, tag_offsets, mode='max')",
         "words, offsets, tags, tag_offsets")


@group.module(STARTS, how="script")
class ScriptedBags(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.a, self.b = nn.EmbeddingBag(WORDS, HIDDEN, mode="mean", padding_idx=2), nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x, words, offsets, edge_index):
        h = self.words(words, offsets) + self.a(x)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).relu()
        return self.b(torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]))


@group.module(ALONE, how="script")
class ScriptedBagsAlone(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.b = nn.EmbeddingBag(WORDS, HIDDEN, mode="sum"), nn.Linear(HIDDEN, 3)

    def forward(self, words, offsets, edge_index):
        h = self.words(words, offsets)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).relu()
        return self.b(torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]))


# Ids of bags that models compute ----------------------------------------------------------------------------------------
IDS = {
    "searched": "torch.searchsorted(offsets, torch.arange(words.size(0)), right=True) - 1",
    "searched_by_side": "torch.searchsorted(offsets, torch.arange(words.numel()), side='right').sub(1)",
    "searched_among_ends": "torch.searchsorted(offsets[1:], torch.arange(words.size(0)), right=True)",
    "bucketized": "torch.bucketize(torch.arange(words.size(0)), offsets, right=True) - 1",
    "repeated": "torch.repeat_interleave(torch.arange(offsets.size(0)), torch.cat([offsets, torch.full((1,), words.size(0))]).diff(), output_size=words.size(0))",
    "repeated_by_ends": "torch.repeat_interleave(torch.arange(offsets.size(0)), torch.cat([offsets[1:], offsets.new_full((1,), words.size(0))]) - offsets)",
    "repeated_by_appended": "torch.repeat_interleave(torch.diff(offsets, append=torch.full((1,), words.size(0))))",
}
for name, ids in IDS.items():
    for graph, x in (STARTS, True), (ALONE, False):
        add_bags(f"ids_{name}{'' if x else '_alone'}", "trace", graph,
                 f"torch.zeros(offsets.size(0), {HIDDEN}).index_add(0, {ids}, self.table(words))", "words, offsets", x=x)
for name in "searched", "bucketized":
    add_bags(f"ids_{name}_of_whole", "trace", WHOLE, f"torch.zeros(x.size(0), {HIDDEN}).index_add(0, {IDS[name]}, self.table(words))", "words, offsets")


@group.model(STARTS, base=Bags)
def segments_of_starts(m, x, words, offsets, edge_index):
    ends = torch.cat([offsets, torch.full((1,), words.size(0))])
    h = torch.segment_reduce(m.table(words), "max", offsets=ends, axis=0, initial=-1)
    return m.after(m.inp(x) + h, edge_index)


@group.model(WHOLE, base=Bags)
def segments_of_offsets(m, x, words, offsets, edge_index):
    h = torch.segment_reduce(m.table(words), "mean", offsets=offsets, axis=0, initial=0)
    return m.after(m.inp(x) + h, edge_index)


class Bought(Bags):
    def __init__(self):
        super().__init__()
        self.item = nn.Linear(4, HIDDEN)


@group.model(ITEMS, base=Bought, roles=("item=node:item", "bought=source:item>node", "offsets=starts:item>node"))
def bags_of_computed_rows(m, x, item, bought, offsets, edge_index):
    table = m.lin(m.item(item)).tanh()
    return m.after(m.inp(x) + F.embedding_bag(bought, table, offsets, mode="mean"), edge_index)


@group.model(ITEMS, base=Bought)
def bags_of_computed_rows_by_themselves(m, x, item, bought, offsets, edge_index):
    table = m.lin(m.item(item)).tanh()
    return m.after(m.inp(x) + F.embedding_bag(bought, table, offsets, mode="sum"), edge_index)
