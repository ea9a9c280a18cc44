"""Rows by where they lie: split into pairs, turned, merged again; tables that are joined and taken apart again."""
from functools import partial

import torch
from torch import Tensor, nn

from graphs import FEATURES, HIDDEN, PLAIN, take
from layers import Parts, PartsGroup, add_rows

group = PartsGroup("positions")
H = HIDDEN
TYPES = ("item=node:item", "from_item=index:item>node")
plain = group.of


# Rows by where they lie: split, turned and merged again ----------------------------------------------------------------
def EVEN(graph):
    """An even number of nodes."""
    rows = graph["x"].size(0) // 2 * 2
    return {"x": graph["x"][:rows].clone(), "edge_index": graph["edge_index"][:, (graph["edge_index"] < rows).all(0)]}


even = partial(group.of, EVEN)


@even()
def partners_swapped(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h - 2 * h.view(-1, 2, H).flip(1).reshape(x.size(0), H), edge_index)


@even()
def halves_swapped(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h + h.view(2, -1, H).flip(0).flatten(0, 1).tanh(), edge_index)


@even()
def halves_dealt_out(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h * h.view(2, -1, H).transpose(0, 1).reshape(-1, H), edge_index)


@even()
def pairs_turned_and_turned_back(m, x, edge_index):
    pairs = m.a(m.inp(x), edge_index).unflatten(0, (-1, 2)).permute(1, 0, 2).flip(0)
    return m.b(pairs.permute(1, 0, 2).reshape(-1, H), edge_index)


@even()
def computed_in_pairs(m, x, edge_index):
    pairs = torch.relu(m.lin(m.a(m.inp(x), edge_index).view(-1, 2, H)))
    return m.b(pairs.view(-1, H) - (0.5 * pairs * pairs).flip(1).view(-1, H), edge_index)


@even()
def numbers_dealt_out(m, x, edge_index):
    order = torch.arange(x.size(0)).view(2, -1).t().flatten()
    h = m.a(m.inp(x), edge_index)[order]
    return m.b(h + torch.zeros_like(h).index_add(0, order.flip(0), h), edge_index)


@plain()
def rows_rolled_both_ways(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h.roll(3, 0) - h.roll(-2, 0), edge_index) + x.flip(0).sum(1, keepdim=True)


@plain()
def edges_backwards(m, x, edge_index):
    h = m.a(m.inp(x), edge_index.flip(1))
    return m.b(h, edge_index)


@plain()
def messages_backwards(m, x, edge_index):
    w = m.lin(m.inp(x)[edge_index[0]])
    return m.a(add_rows(torch.tanh(w - w.flip(0)), edge_index[1], x.size(0)), edge_index)


@plain()
def quantiles_of_messages(m, x, edge_index):
    """quantile refuses the batch of a node without edges, which has no messages."""
    messages = m.inp(x)[edge_index[0]]
    middle = torch.quantile(messages, 0.5, dim=1, keepdim=True)
    return m.a(add_rows(messages * middle, edge_index[1], x.size(0)), edge_index)


@group.model(take("x", "edge_index", "edge_attr", "edge_weight"), base=Parts)
def weights_backwards(m, x, edge_index, edge_attr, edge_weight):
    w = m.edge(edge_attr).roll(1, 0) * edge_weight.flip(0).unsqueeze(1) + m.inp(x)[edge_index[0]]
    return m.a(add_rows(w, edge_index[1], x.size(0)), edge_index)


# Tables that are joined and taken apart again ---------------------------------------------------------------------------
@plain()
def joined_and_chunked(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    one, two = m.layer_norm(m.lin(torch.cat([h, h.tanh()], 0))).chunk(2, 0)
    return m.b(one * two, edge_index)


@plain()
def joined_with_half_numbers(m, x, edge_index):
    """A part has the dtype of the whole: the sine is one of float32."""
    half, whole = torch.cat([x.half(), x.tanh()]).chunk(2)
    return m.a(m.inp(torch.sin(half * 3) + whole), edge_index)


@plain()
def product_between_two_views(m, x, edge_index):
    """As torch.export decomposes products; this transposition, by -2, is none."""
    h = torch.stack([m.inp(x), m.inp(x).tanh()], 1)
    made = torch.mm(h.view(-1, h.size(2)), m.lin.weight.transpose(0, -2)).view(h.size(0), 2, h.size(2))
    return m.a(made.sum(1), edge_index)


@plain()
def rows_in_one_chunk(m, x, edge_index):
    h = torch.cat([m.lin(part) for part in torch.tensor_split(m.a(m.inp(x), edge_index), 1, dim=0)], dim=0)
    return m.b(torch.cat([part.relu() for part in h.chunk(1)]), edge_index)


@plain()
def joined_in_thirds(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    one, two, three = torch.cat([h, h.tanh(), m.lin(h)]).relu().chunk(3)
    return m.b(one - two * three, edge_index)


@group.module(PLAIN, how="script")
class JoinedAndSplit(nn.Module):
    """Traced, the number of rows would be one of the file."""

    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(FEATURES, H), nn.Linear(H, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        parts = torch.relu(self.out(torch.cat([h, torch.tanh(h)]))).split(x.size(0))
        return torch.zeros_like(parts[0]).index_add(0, edge_index[0], (parts[0] - parts[1])[edge_index[1]])


@plain()
def joined_and_cut(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    both = torch.cat([h, m.lin(h)]) * 0.5
    return m.b(both[:x.size(0)] - both[x.size(0):].sigmoid(), edge_index)


@plain()
def joined_and_unflattened(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(torch.cat([h, -h, m.lin(h)]).unflatten(0, (3, -1)).amax(0), edge_index)


@plain()
def joined_edges_taken_apart(m, x, edge_index):
    h = m.inp(x)
    ends = torch.tanh(m.lin(torch.cat([h[edge_index[0]], h[edge_index[1]]]))).view(2, edge_index.size(1), H)
    return m.a(add_rows(ends[0] * ends[1], edge_index[1], x.size(0)), edge_index)


@group.model(take("x", "item", "from_item"), base=Parts, roles=TYPES)
def types_joined_and_cut(m, x, item, from_item):
    both = m.lin(torch.cat([m.inp(x), torch.cat([item, item], 1)]))
    mine, theirs = both[:x.size(0)], both[x.size(0):]
    return mine + add_rows(theirs[from_item[0]], from_item[1], x.size(0)), theirs.mean(0)


@group.model(take("x", "item", "from_item"), base=Parts, roles=TYPES)
def types_in_one_numbering(m, x, item, from_item):
    both = torch.tanh(torch.cat([m.inp(x), torch.cat([item, item], 1)]))
    return both[from_item[1]] * 2 - add_rows(both[from_item[0] + x.size(0)] - both[from_item[1]], from_item[1],
                                             x.size(0))[from_item[1]]


@plain()
def pair_of_shifted_ids(m, x, edge_index):
    both = torch.cat([m.inp(x), m.lin(m.inp(x)), m.inp(x).tanh()])
    first, second = edge_index + x.size(0), edge_index + 2 * x.size(0)
    return add_rows(both[first[0]] - both.index_select(0, second[1]), edge_index[1], x.size(0))


@group.model(take("x", "item", "from_item"), base=Parts, roles=TYPES)
def types_as_one_graph(m, x, item, from_item):
    """Two types in one numbering, with edges in both directions: convolutions of a homogeneous graph."""
    n = x.size(0)
    row = torch.cat([from_item[1], from_item[0] + n])
    col = torch.cat([from_item[0] + n, from_item[1]])
    h = torch.tanh(torch.cat([m.inp(x), torch.cat([item, item], 1)]))
    degree = torch.zeros(n + item.size(0)).index_add(0, col, torch.ones(col.size(0))).clamp(min=1)
    for layer in (m.lin, m.lin):
        h = h + layer(torch.zeros_like(h).index_add(0, col, h[row] / degree[col].unsqueeze(1)))
    return m.out(h[:n]), m.out(h[n:])


@group.model(take("x", "item", "from_item"), base=Parts, roles=TYPES)
def types_by_stacked_edges(m, x, item, from_item):
    shift = torch.stack([from_item[0] + x.size(0), from_item[1]])
    both = torch.cat([shift, shift.flip(0)], 1)
    h = torch.tanh(torch.cat([m.inp(x), torch.cat([item, item], 1)]))
    total = torch.zeros_like(h).scatter_add(0, shift[1].unsqueeze(1).expand(-1, H), h[shift[0]])
    return m.lin(total + torch.zeros_like(h).index_add(0, both[1], m.lin(h[both[0]])))[:x.size(0)]
