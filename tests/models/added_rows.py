"""Rows that forward adds to those of a table: a node that all others send to, padding in front, learned rows in one numbering with
nodes. Edges lead to them by numbers that the model makes."""
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from graphs import FEATURES, HIDDEN, PLAIN
from layers import PartsGroup

group = PartsGroup("added_rows")
H, WORDS = HIDDEN, 9


plain = group.of


def both_ways(edge_index, n):
    """The edges, and those of a node n from and to all others."""
    number = torch.arange(n)
    last = torch.zeros_like(number) + n
    return torch.cat([edge_index, torch.stack([number, last]), torch.stack([last, number])], 1)


def summed(both, edges):
    return torch.zeros_like(both).index_add(0, edges[1], both[edges[0]])


class Learned(nn.Module):
    def __init__(self, rows=1):
        super().__init__()
        self.inp, self.lin, self.out = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, 3)
        self.rows, self.conv = nn.Parameter(torch.randn(rows, H)), pyg.SAGEConv(H, H, aggr="sum")


def learned(name, inputs=PLAIN, rows=1, **options):
    """A forward function of a module with learned rows."""
    def register(forward):
        group.add(name, lambda: type(name, (Learned,), {"forward": forward})(rows), inputs, **options)
        return forward
    return register


@learned("node_of_all")
def _(m, x, edge_index):
    n = x.size(0)
    edges = both_ways(edge_index, n)
    both = torch.cat([m.inp(x), m.rows])
    for _ in range(2):
        both = (m.lin(both) + summed(both, edges)).tanh()
    return m.out(both[:n]), m.out(both[n])


@learned("node_of_all_in_a_convolution")
def _(m, x, edge_index):
    edges = both_ways(edge_index, x.size(0))
    both = m.conv(torch.cat([m.inp(x), m.rows]), edges).relu()
    return m.out(m.conv(both, edges)[:-1])


@plain()
def node_that_is_the_mean(m, x, edge_index):
    h = m.inp(x)
    both = torch.cat([h, h.mean(0, keepdim=True)])
    sent = both.index_select(0, torch.cat([edge_index[0], torch.zeros_like(edge_index[0]) + h.size(0)]))
    return torch.zeros_like(h).index_add(0, torch.cat([edge_index[1], edge_index[1]]), sent.tanh())


@learned("several_rows", rows=3)
def _(m, x, edge_index):
    n = x.size(0)
    kinds = torch.zeros_like(torch.arange(n)) + n
    both = torch.cat([m.inp(x), m.rows])
    total = torch.zeros_like(both).index_add(0, torch.cat([edge_index[1], kinds + 2]), both[torch.cat([edge_index[0], kinds + 1])])
    nodes, others = (both + m.lin(total)).split([n, 3])
    return m.out(nodes + total[-1]), others, total[n + 2]


@learned("padding_in_front")
def _(m, x, edge_index):
    both = torch.cat([m.rows, m.inp(x)]).tanh()
    total = torch.zeros_like(both).index_add(0, edge_index[1] + 1, both[edge_index[0] + 1])
    return m.out(total[1:]) - both[0, :3]


@learned("words_behind_nodes", lambda graph: {**PLAIN(graph), "word": graph["edge_index"][0] * 7 % WORDS}, rows=WORDS)
def _(m, x, edge_index, word):
    n = x.size(0)
    both, node, other = torch.cat([m.inp(x), m.rows]), edge_index[1], word + n
    edges = torch.cat([torch.stack([node, other]), torch.stack([other, node])], 1)
    for _ in range(2):
        both = both + m.lin(summed(both, edges)).tanh()
    return m.out(both[:n]), both[n:]


@group.module(PLAIN, how="script")
class node_of_all_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin = nn.Linear(FEATURES, H), nn.Linear(H, H)
        self.row = nn.Parameter(torch.randn(1, H))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        both = torch.cat([self.inp(x), self.row])
        last = torch.full([n], n, dtype=torch.long)
        src, dst = torch.cat([edge_index[0], torch.arange(n)]), torch.cat([edge_index[1], last])
        degree = torch.zeros([n + 1]).index_add(0, dst, torch.ones_like(dst).float()).clamp(min=1.0)
        both = self.lin(torch.zeros([n + 1, both.size(1)]).index_add(0, dst, both[src]) / degree.unsqueeze(1)).relu()
        return both[:n] + both[n]


@learned("all_rows_together", expect="refuse", reason="joins rows of node with rows that belong to no table",
         hint="add such rows to the inputs of the model")
def _(m, x, edge_index):
    return torch.cat([m.inp(x), m.rows])
