"""The largest number in an index, plus one, taken for a number of rows: the first rows of the table that it points into, which
are all of them on some graphs."""
from typing import Optional, Tuple

import torch
from torch import Tensor, nn
from torch_geometric import utils

from graphs import FEATURES, HIDDEN, RELATIONS, take
from layers import Parts
from registry import Group

group = Group("counted_rows")
H = HIDDEN


def edges_up_to(last):
    """The graph with edges among the nodes before `last`, counted from the end; the last of them has an edge to itself."""
    def inputs(graph):
        rows = graph["x"].size(0) - last
        index = graph["edge_index"] % rows
        index[:, 5] = rows - 1
        return {"x": graph["x"], "edge_index": index}
    return inputs


ALL, FEWER = edges_up_to(0), edges_up_to(4)
BIPARTITE = take("x", "item", "to_item")


def with_types(inputs):
    return lambda graph: {**inputs(graph), "edge_type": graph["edge_type"]}


def counted(forward):
    """A model twice, on graphs where the edges reach all nodes and where they do not."""
    for inputs, name in ((ALL, "all"), (FEWER, "fewer")):
        group.model(inputs, base=Parts, name=f"{forward.__name__}_{name}")(forward)
    return forward


def scripted(kind):
    for inputs, name in ((ALL, "all"), (FEWER, "fewer")):
        group.module(inputs, how="script", name=f"{kind.__name__}_{name}")(kind)
    return kind


@counted
def loops_up_to_the_largest(m, x, edge_index):
    edge_index, _ = utils.add_self_loops(edge_index)
    return m.b(m.a(m.inp(x), edge_index), edge_index)


@counted
def loops_that_were_missing(m, x, edge_index):
    edge_index, _ = utils.add_remaining_self_loops(edge_index)
    return m.b(m.a(m.inp(x), edge_index), edge_index)


@counted
def softmax_without_a_count(m, x, edge_index):
    h = m.inp(x)
    alpha = utils.softmax(m.lin(h)[edge_index[0]].sum(1), edge_index[1])
    return m.b(torch.zeros_like(h).index_add(0, edge_index[1], alpha.unsqueeze(1) * h[edge_index[0]]), edge_index)


@counted
def degree_without_a_count(m, x, edge_index):
    norm = utils.degree(edge_index[0], dtype=x.dtype).clamp(min=1).pow(-0.5)
    h = m.inp(x)
    return torch.zeros_like(h).index_add(0, edge_index[1], norm[edge_index[0]].unsqueeze(1) * h[edge_index[0]])


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin, self.out = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, 3)


@scripted
class rows_that_are_returned(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tuple[Tensor, Tensor]:
        h = utils.scatter(self.inp(x)[edge_index[0]], edge_index[1], reduce="mean")
        return self.lin(h).relu(), self.inp(x)


@scripted
class rows_that_send_again(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = utils.scatter(self.inp(x)[edge_index[0]], edge_index[1], reduce="sum")
        h = self.lin(h).relu()
        return self.out(utils.scatter(h[edge_index[0]], edge_index[1], reduce="max"))


@scripted
class rows_that_are_read_out(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = utils.scatter(self.inp(x)[edge_index[0]], edge_index[1], reduce="sum")
        return self.lin(h).softmax(1).mean(0)


@scripted
class scattered_by_hand(Scripted):
    def spread(self, h: Tensor, src: Tensor, dst: Tensor, size: Optional[int] = None) -> Tensor:
        rows = int(dst.max()) + 1 if size is None else size
        return torch.zeros([rows, h.size(1)]).index_add(0, dst, h[src])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        h = self.spread(self.inp(x), src, dst).tanh()
        return self.out(self.spread(h, src, dst)) / float(h.size(0))


@scripted
class written_in_other_ways(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        rows = int(edge_index.max()) + 1
        h = self.inp(x)
        put = torch.zeros([rows, h.size(1)]).index_put((dst,), h[src], accumulate=True)
        most = torch.full([rows, h.size(1)], -1.0).index_reduce(0, dst, h[src], "amax")
        wide = dst.unsqueeze(1).expand(-1, h.size(1))
        least = torch.zeros([rows, h.size(1)]).scatter_reduce(0, wide, h[src], "amin")
        seen = torch.gather(put, 0, src.unsqueeze(1).expand(-1, h.size(1))) + nn.functional.embedding(src, most)
        return torch.zeros_like(h).index_add(0, dst, seen + least[dst])


@group.model(with_types(FEWER), base=Parts)
def softmax_within_relations(m, x, edge_index, edge_type):
    h = m.inp(x)
    score, out = m.lin(h)[edge_index[0]].sum(1), torch.zeros_like(h)
    for r in range(RELATIONS):
        kept = edge_type == r
        index = edge_index[:, kept]
        alpha = utils.softmax(score[kept], index[1])
        out = out.index_add(0, index[1], alpha.unsqueeze(1) * (h @ m.maps[r])[index[0]])
    return m.b(out, edge_index)


@group.module(BIPARTITE, how="script", roles=("item=node:item", "to_item=index:node>item"))
class items_that_are_reached(Scripted):
    def forward(self, x: Tensor, item: Tensor, to_item: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        h = utils.scatter(self.inp(x)[to_item[0]], to_item[1], reduce="mean").relu()
        known = torch.zeros([item.size(0), h.size(1)]).index_add(0, to_item[1], self.inp(x)[to_item[0]])
        return self.lin(h), utils.scatter(h[to_item[1]], to_item[0], reduce="sum"), known + item.sum(1, keepdim=True)


@group.module(ALL, how="script")
class rows_that_meet_all_nodes(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        return self.lin(h + utils.scatter(h[edge_index[0]], edge_index[1], reduce="sum"))


@counted
def edges_counted_by_bincount(m, x, edge_index):
    count = torch.bincount(edge_index[1]).clamp(min=1).unsqueeze(1)
    h = m.inp(x)[edge_index[0]] / count[edge_index[1]]
    return m.b(torch.zeros_like(m.inp(x)).index_add(0, edge_index[1], h), edge_index)


@group.module(FEWER, how="script", expect="refuse", hint="num_nodes=x.size(0)",
              reason="the model derives the number of rows from the largest of some row numbers")
class numbers_that_are_turned_round(Scripted):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        rows, h = int(edge_index.max()) + 1, self.inp(x)
        return torch.zeros([rows, h.size(1)]).index_add(0, (edge_index[1] + 1) % rows, h[edge_index[0]])
