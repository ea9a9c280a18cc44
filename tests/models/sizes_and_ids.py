"""The two questions that few models ask: is a size the batch's or the whole graph's, is an id a row or a number."""
import math
from typing import Tuple

import torch
from torch import Tensor, nn

from graphs import FEATURES, GRAPHS, HIDDEN, PLAIN, RELATIONS, WITH_TYPE, WITH_WEIGHT, take
from layers import Parts, PartsGroup, add_rows

group = PartsGroup("numbers")
H = HIDDEN
plain = group.of


# Sizes as numbers: the whole graph's, in every batch -----------------------------------------------------------------
@plain()
def number_linear_attention(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    q = m.lin(h).sigmoid()
    return m.b((q @ (q.t() @ h)) / h.size(0), edge_index)


@plain()
def number_divides_by_nodes(m, x, edge_index):
    h = m.a(m.inp(x), edge_index) / x.size(0)
    return m.b(h * 10, edge_index)


@plain()
def number_times_nodes(m, x, edge_index):
    return m.a(m.inp(x) + 0.01 * x.size(0), edge_index) - x.size(0)


@plain()
def number_one_over_edges(m, x, edge_index):
    return m.a(m.inp(x), edge_index) * (1.0 / edge_index.size(1))


@plain()
def number_of_gathered_edges(m, x, edge_index):
    message = m.inp(x)[edge_index[0]]
    return add_rows(message * 10 / message.size(0), edge_index[1], x.size(0))


@plain()
def number_of_filtered_edges(m, x, edge_index):
    kept = edge_index[:, edge_index[0] != edge_index[1]]
    return add_rows(m.inp(x)[kept[0]] / kept.size(1), kept[1], x.size(0))


@plain()
def number_logarithm(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h * torch.log(torch.ones(1) * h.size(0)), edge_index)


@plain()
def number_fills_rows(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    extra = h.new_full((h.size(0), 1), 1.0) / h.size(0)
    return torch.cat([h, extra], 1)


@plain()
def number_mean_degree(m, x, edge_index):
    degree = add_rows(torch.ones(edge_index.size(1)), edge_index[1], x.size(0))
    h = m.a(m.inp(x), edge_index)
    return m.b(h * (degree / degree.mean()).unsqueeze(1), edge_index)


@plain()
def number_relative_position(m, x, edge_index):
    position = torch.arange(x.size(0)).float() / x.size(0)
    return m.a(m.inp(x) + position.unsqueeze(1), edge_index)


@plain()
def number_sum_over_nodes_divided(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h - h.sum(0) / h.size(0)


@group.module(PLAIN, how="script")
class number_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n, e = x.size(0), edge_index.size(1)
        h = self.lin(x) * math.sqrt(float(n)) + 1.0 / float(e)
        out = torch.zeros([n, h.size(1)]).index_add(0, edge_index[1], h[edge_index[0]])
        return out / math.log(float(n) + 1.0) + float(e) / float(n) + float(e // n) + float(out.numel()) + math.log(n, 2)


@group.module(PLAIN, how="script")
class number_scripted_min_max(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        h = self.lin(x) * float(min(n, 50)) + float(max(n, 40)) - float(n % 7)
        h = h * (int(float(n) ** 0.5) + int(float(n) * 0.3) + 1)
        return torch.zeros([n, h.size(1)]).index_add(0, edge_index[1], h[edge_index[0]]) / float(edge_index.numel())


@group.module(PLAIN, how="script")
class numbers_returned(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tuple[Tensor, int, float, bool]:
        h = torch.zeros([x.size(0), 8]).index_add(0, edge_index[1], self.lin(x)[edge_index[0]])
        return h, x.size(0), float(edge_index.size(1)) / 7.0, x.size(0) > 30


# Ids as values: renumbered only where they pick rows of a table of rows ----------------------------------------------
@plain()
def id_as_position(m, x, edge_index):
    return m.a(m.inp(x) + torch.arange(x.size(0)).float().sin().view(-1, 1), edge_index)


@plain()
def id_into_weights(m, x, edge_index):
    return m.a(m.inp(x) + m.table(torch.arange(x.size(0))), edge_index)


@plain()
def id_of_source_into_weights(m, x, edge_index):
    return add_rows(m.table(edge_index[0]), edge_index[1], x.size(0)) + m.inp(x)


@plain()
def id_of_source_and_its_row(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return add_rows(m.table.weight[edge_index[0]] * h[edge_index[0]], edge_index[1], x.size(0))


@plain()
def id_of_destination_into_weights(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return add_rows(m.table(edge_index[1]) * h[edge_index[0]], edge_index[1], x.size(0))


@plain()
def id_modulo(m, x, edge_index):
    h = m.a(m.inp(x), edge_index) + m.kinds(torch.arange(x.size(0)) % GRAPHS)
    return add_rows(h[edge_index[0]] * m.kinds(edge_index[0] % GRAPHS), edge_index[1], x.size(0))


@plain()
def id_difference(m, x, edge_index):
    step = (edge_index[1] - edge_index[0]).float() / 10
    return add_rows(m.inp(x)[edge_index[0]] * step.unsqueeze(1), edge_index[1], x.size(0))


@plain()
def id_compared(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    forward = (edge_index[0] < edge_index[1]).float().unsqueeze(1)
    loop = (edge_index[0] == edge_index[1]).unsqueeze(1)
    return add_rows(h[edge_index[0]] * forward + loop * h[edge_index[1]], edge_index[1], x.size(0))


@plain()
def marked_rows(m, x, edge_index):
    mark = torch.zeros(x.size(0))
    mark[torch.tensor([3, 5])] = 1.0
    return m.a(m.inp(x) + mark.unsqueeze(1), edge_index)


@plain()
def edges_counted_on(m, x, edge_index):
    """What looks at all edges in their order, and has a number for each."""
    place = (edge_index[0] != edge_index[1]).long().cumsum(0).float().cos()
    return m.a(add_rows(m.inp(x)[edge_index[0]] * place.unsqueeze(1), edge_index[1], x.size(0)), edge_index)


@plain()
def id_as_number(m, x, edge_index):
    h = m.inp(x)
    message = h[edge_index[0]] + edge_index[0].float().unsqueeze(1) * 0.1
    return m.a(add_rows(message, edge_index[1], x.size(0)), edge_index)


@plain()
def id_through_arange_gather(m, x, edge_index):
    number = torch.arange(x.size(0))
    h = m.a(m.inp(x), edge_index)
    return add_rows(h[number[edge_index[0]]] + m.table(number[edge_index[0]]), number[edge_index[1]], x.size(0))


@group.model(take("edge_index", "node_id=order"), base=Parts, roles=("node_id=node",))
def id_column_into_weights(m, edge_index, node_id):
    h = m.table(node_id)
    return m.b(m.a(h, edge_index).relu(), edge_index)


@group.model(take("x", "edge_index", "kind"), base=Parts)
def kinds_of_nodes(m, x, edge_index, kind):
    h = m.kinds(kind)
    return m.b(m.a(h, edge_index).relu() + m.inp(x), edge_index)


@group.model(WITH_TYPE, base=Parts)
def types_of_edges_into_weights(m, x, edge_index, edge_type):
    h = m.a(m.inp(x), edge_index)
    message = torch.bmm(h[edge_index[0]].unsqueeze(1), m.maps[edge_type]).squeeze(1) + m.types(edge_type)
    return add_rows(message, edge_index[1], x.size(0))


@group.model(WITH_TYPE, base=Parts)
def types_one_hot(m, x, edge_index, edge_type):
    hot = nn.functional.one_hot(edge_type, RELATIONS).float()
    return add_rows((hot @ m.types.weight) * m.inp(x)[edge_index[0]], edge_index[1], x.size(0))


@plain()
def degree_as_feature(m, x, edge_index):
    degree = add_rows(torch.ones(edge_index.size(1)), edge_index[1], x.size(0))
    return m.a(m.inp(x) * degree.log1p().view(-1, 1), edge_index)


@plain()
def degree_into_weights(m, x, edge_index):
    degree = torch.bincount(edge_index[0], minlength=x.size(0)).clamp(max=9)
    return m.a(m.inp(x) + m.table(degree), edge_index)


@plain()
def degree_by_source_of_neighbours(m, x, edge_index):
    degree = add_rows(torch.ones(edge_index.size(1)), edge_index[0], x.size(0))
    near = add_rows(degree[edge_index[0]], edge_index[1], x.size(0))
    return m.a(m.inp(x) * near.sqrt().unsqueeze(1), edge_index)


@group.model(WITH_WEIGHT, base=Parts)
def weights_normalised_twice(m, x, edge_index, edge_weight):
    d = add_rows(edge_weight, edge_index[1], x.size(0)).clamp(min=1)
    w = edge_weight / d[edge_index[1]]
    w = w / add_rows(w, edge_index[0], x.size(0)).clamp(min=0.1)[edge_index[0]]
    h = m.inp(x)
    for layer in (m.lin, m.lin):
        h = layer(add_rows(w.unsqueeze(1) * h[edge_index[0]], edge_index[1], x.size(0))).tanh()
    return h


# Rows by their position ------------------------------------------------------------------------------------------------
@plain()
def rows_in_a_range(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.out(h[2:9]), h[-5:], h[3:-4], h[1::3]


@plain()
def rows_to_the_middle(m, x, edge_index):
    h, half = m.a(m.inp(x), edge_index), x.size(0) // 2
    return m.b(h * h[:half].mean(0), edge_index), h[half:] - m.inp(x)[half:]


@plain()
def row_by_number(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h - h[0], edge_index), h[-2], h.unsqueeze(0).tanh()[:, 3] + h.argmax(1)[7]


@plain()
def rows_written_by_position(m, x, edge_index):
    h, half = m.a(m.inp(x), edge_index), x.size(0) // 2
    h[:4] = 0.5
    h[half:] = m.lin(h[half:]).tanh() * h[half:]
    h[-3:].mul_(2)
    h[5] = 1
    h.view(-1, 2, H // 2)[1:, 0] += 0.25
    return m.b(h, edge_index)


@plain()
def rows_split_in_two(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    few, rest = h.split([4, x.size(0) - 4])
    last = h.narrow(0, 2, 5)
    return m.out(few), rest * m.kinds.weight[0], last


@plain()
def edges_to_the_middle(m, x, edge_index):
    h, half = m.inp(x), edge_index.size(1) // 2
    one, other = edge_index[:, :half], edge_index[:, half:]
    return add_rows(m.lin(h)[one[0]], one[1], x.size(0)) - add_rows(h[other[1]], other[0], x.size(0))


@group.model(take("x", "edge_index", "edge_attr"), base=Parts)
def every_second_edge(m, x, edge_index, edge_attr):
    h, (row, col) = m.inp(x), edge_index[:, ::2]
    w = m.edge(edge_attr)[::2].sigmoid()
    return add_rows(w * h[row], col, x.size(0)) + h


@group.module(take("x", "edge_index", "edge_weight"), how="script")
class rows_by_position_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin = nn.Linear(FEATURES, H), nn.Linear(H, H)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        h = self.inp(x)
        first = h.size(0) // 3
        out = torch.zeros_like(h)
        out[:first] = self.lin(h[:first])
        out[first:] = torch.relu(h[first:])
        half = edge_index.size(1) // 2
        index = edge_index[:, half:]
        return out.index_add(0, index[1], edge_weight[half:].unsqueeze(1) * h[index[0]]) + h[-1]


@group.model(take("x", "edge_index", "kind"), base=Parts, roles=("kind=node:node",))
def rows_sorted_and_put_back(m, x, edge_index, kind):
    order = torch.argsort(kind)
    h = m.lin(m.inp(x)[order]).tanh()
    back = torch.zeros(x.size(0), H)
    back[order] = h
    return m.a(back, edge_index)


@group.model(take("x", "edge_index", "kind"), base=Parts, roles=("kind=node:node",))
def places_in_sorted_rows(m, x, edge_index, kind):
    order = torch.argsort(kind)
    h = m.inp(x)[order]
    h = h * (torch.arange(h.size(0)).float() * 0.1).cos().unsqueeze(1)
    return m.a(add_rows(m.lin(h), order, x.size(0)), edge_index)


@plain()
def places_in_selected_edges(m, x, edge_index):
    kept = edge_index[:, edge_index[0] != edge_index[1]]
    h = m.inp(x)[kept[0]] * (torch.arange(kept.size(1)).float() * 0.1).cos().unsqueeze(1)
    return m.a(add_rows(m.lin(h), kept[1], x.size(0)), edge_index)


@plain()
def places_of_edges(m, x, edge_index):
    first = torch.arange(edge_index.size(1)) < 29
    return add_rows(torch.where(first.unsqueeze(1), x[edge_index[0]], -x[edge_index[1]]), edge_index[1], x.size(0))


@group.model(take("x", "edge_index", "kind"), base=Parts, roles=("kind=node:node",))
def places_of_sorted_rows(m, x, edge_index, kind):
    order = torch.argsort(kind)
    h = x[order]
    back = torch.empty_like(h)
    back[order] = torch.where((torch.arange(h.size(0)) < 9).unsqueeze(1), h, -h)
    return m.a(m.inp(back), edge_index)


@plain()
def numbers_of_rows_from_one(m, x, edge_index):
    h = m.a(m.inp(x) * torch.arange(1, x.size(0) + 1).float().rsqrt().unsqueeze(1), edge_index)
    return h + torch.arange(0, 2 * x.size(0), 2).float().cos().unsqueeze(1)


@plain()
def equations_with_dots(m, x, edge_index):
    h = m.a(m.inp(x), edge_index).view(-1, 2, H // 2)
    alpha = torch.einsum("...f,...f->...", h, h.tanh())
    return m.b(torch.einsum("...h,...hf->...hf", alpha, h).flatten(1), edge_index) + torch.einsum("n...,n...", x, x).mean()


@plain()
def every_row_in_its_place(m, x, edge_index):
    kept = edge_index[:, edge_index[0] != edge_index[1]]
    h = m.inp(x)[kept[0]]
    return add_rows(h[torch.arange(h.size(0))], kept[1], x.size(0))


# Numbers of pairs, of a relation and a node ---------------------------------------------------------------------------
@group.model(WITH_TYPE, base=Parts)
def pairs_counted_and_looked_up(m, x, edge_index, edge_type):
    pair = edge_type * x.size(0) + edge_index[1]
    count = torch.zeros(RELATIONS * x.size(0)).index_add(0, pair, torch.ones_like(pair, dtype=torch.float))
    return add_rows(m.inp(x)[edge_index[0]] / count[pair].unsqueeze(1), edge_index[1], x.size(0))


@group.model(WITH_TYPE, base=Parts)
def pairs_counted_by_bincount(m, x, edge_index, edge_type):
    pair = edge_index[1] * RELATIONS + edge_type
    count = torch.bincount(pair, minlength=RELATIONS * x.size(0))
    weight = count.float().rsqrt().index_select(0, pair)
    return m.b(add_rows(weight.unsqueeze(1) * m.inp(x)[edge_index[0]], edge_index[1], x.size(0)), edge_index)


@group.model(WITH_TYPE, base=Parts)
def sums_by_relation_and_node(m, x, edge_index, edge_type):
    h, n = m.inp(x), x.size(0)
    pair = edge_type * n + edge_index[1]
    sums = torch.zeros(RELATIONS * n, H).index_add(0, pair, h[edge_index[0]])
    count = torch.zeros(RELATIONS * n).index_add(0, pair, torch.ones_like(pair, dtype=torch.float)).clamp(min=1)
    means = (sums.view(RELATIONS, n, H) / count.view(RELATIONS, n, 1)).tanh()
    return m.b(torch.einsum("rnf,rfo->no", means, m.maps), edge_index)


@group.model(WITH_TYPE, base=Parts)
def sums_by_node_and_relation(m, x, edge_index, edge_type):
    h = m.inp(x)
    pair = edge_index[1] * RELATIONS + edge_type
    sums = x.new_zeros(x.size(0) * RELATIONS, H).scatter_add(0, pair.view(-1, 1).expand(-1, H), h[edge_index[0]])
    return m.wide(sums.view(-1, RELATIONS * H)) + h


@group.module(WITH_TYPE, how="script")
class sums_by_pairs_scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.maps = nn.Linear(FEATURES, H), nn.Parameter(torch.randn(RELATIONS, H, H) / 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        h, n, kinds = self.lin(x), x.size(0), self.maps.size(0)
        pair = edge_index[1] + n * edge_type
        for i in range(2):
            sums = torch.zeros([kinds * n, h.size(1)]).index_add_(0, pair, h[edge_index[0]])
            h = torch.bmm(sums.view(kinds, n, -1), self.maps).sum(0).relu() + h
        return h
