"""The two questions that few models ask: is a size the batch's or the whole graph's, is an id a row or a number."""
import math

import torch
from torch import Tensor, nn

from graphs import FEATURES, GRAPHS, HIDDEN, PLAIN, RELATIONS, WITH_TYPE, WITH_WEIGHT, take
from layers import Parts, add_rows
from registry import Group

group = Group("numbers")
H = HIDDEN


def plain(**options):
    return group.model(PLAIN, base=Parts, **options)


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
        return out / math.log(float(n) + 1.0) + float(e) / float(n) + float(e // n) + float(out.numel())


@group.module(PLAIN, how="script")
class number_scripted_min_max(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        h = self.lin(x) * float(min(n, 50)) + float(max(n, 40)) - float(n % 7)
        return torch.zeros([n, h.size(1)]).index_add(0, edge_index[1], h[edge_index[0]]) / float(edge_index.numel())


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
