"""Plain PyTorch message passing in the shapes that models of the field take: stacks, norms, readouts, edges."""
from functools import partial

import torch

from graphs import BIPARTITE_COLUMNS, COLUMNS, GRAPHS, HIDDEN, PAIRS, RELATIONS, WITH_ATTR, WITH_BATCH, WITH_TYPE, take
from layers import Parts, PartsGroup, add_rows, softmax_by

group = PartsGroup("structures")
plain = group.of
batched = partial(group.of, WITH_BATCH)
attributed = partial(group.of, WITH_ATTR)


# Stacks --------------------------------------------------------------------------------------------------------------
@plain(stages=3)
def residual(m, x, edge_index):
    h = m.inp(x)
    for layer in m.layers:
        h = h + layer(m.batch_norm(h).relu(), edge_index)
    return h


@plain(stages=3)
def jumping_concat(m, x, edge_index):
    h, seen = m.inp(x), []
    for layer in m.layers:
        h = layer(h, edge_index).relu()
        seen.append(h)
    return m.wide(torch.cat(seen, 1))


@plain(stages=3)
def jumping_max(m, x, edge_index):
    h, seen = m.inp(x), []
    for layer in m.layers:
        h = layer(h, edge_index).relu()
        seen.append(h)
    return torch.stack(seen).max(0)[0]


@plain(stages=4)
def initial_residual(m, x, edge_index):
    h = h0 = m.inp(x).relu()
    for i in range(4):
        h = (0.9 * m.n(h, edge_index) + 0.1 * h0)
        h = (h * 0.7 + m.lin(h) * 0.3).relu()
    return m.out(h)


@plain(stages=4)
def shared_weights_loop(m, x, edge_index):
    h = m.inp(x)
    for _ in range(4):
        h = m.gru(m.a(h, edge_index), h)
    return h


@plain(stages=3)
def mixed_layers(m, x, edge_index):
    h = m.n(m.inp(x), edge_index).relu()
    return m.t(m.a(h, edge_index).relu(), edge_index)


@plain(stages=2)
def normalised_twice(m, x, edge_index):
    return m.n(m.n(m.inp(x), edge_index).relu(), edge_index)


@plain(stages=2)
def attention_twice(m, x, edge_index):
    return m.t(m.t(m.inp(x), edge_index).relu(), edge_index)


@plain(stages=1)
def no_neighbours(m, x, edge_index):
    return m.out(m.inp(x).relu()) + 0 * edge_index.size(1)


@plain()
def gather_after_aggregate_at_destination(m, x, edge_index):
    h = m.inp(x)
    h1 = add_rows(h[edge_index[0]], edge_index[1], x.size(0)).tanh()
    return add_rows(h[edge_index[0]] + h1[edge_index[1]], edge_index[1], x.size(0))


# Norms ---------------------------------------------------------------------------------------------------------------
@plain()
def norm_batch(m, x, edge_index):
    return m.b(m.batch_norm(m.a(m.inp(x), edge_index)).relu(), edge_index)


@plain()
def norm_layer_per_node(m, x, edge_index):
    return m.b(m.layer_norm(m.a(m.inp(x), edge_index)).relu(), edge_index)


@plain()
def norm_layer_whole_graph(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    h = h - h.mean()
    return m.b(h / (h.std(unbiased=False) + 1e-5), edge_index)


@plain()
def norm_graph(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    centred = h - 0.7 * h.mean(0, keepdim=True)
    return m.b(centred / (centred.pow(2).mean(0, keepdim=True) + 1e-5).sqrt(), edge_index)


@plain()
def norm_graph_twice(m, x, edge_index):
    h = m.inp(x)
    for layer in (m.a, m.b):
        h = layer(h, edge_index)
        h = (h - h.mean(0)) / (h.var(0) + 1e-5).sqrt()
    return m.out(h)


@plain()
def norm_pair(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    h = h - h.mean(0, keepdim=True)
    return m.b(h / (1e-5 + h.pow(2).sum(-1).mean()).sqrt(), edge_index)


@plain()
def norm_standard_deviation(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b((h - h.mean(0)) / (h.std(0) + 1e-4), edge_index)


@batched()
def norm_instance_per_graph(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    count = add_rows(torch.ones(x.size(0)), batch, GRAPHS).clamp(min=1).view(-1, 1)
    h = h - (add_rows(h, batch, GRAPHS) / count)[batch]
    return m.b(h / ((add_rows(h * h, batch, GRAPHS) / count)[batch] + 1e-5).sqrt(), edge_index)


@plain()
def subtract_mean(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h - h.mean(dim=0, keepdim=True), edge_index)


@plain()
def divide_by_largest(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h / h.abs().max(), edge_index)


@plain()
def smallest_and_largest(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h - h.amin(0), h.amax(0), h.min(0)[0] + h.max(0)[0]


@plain()
def norm_of_everything(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h / h.norm(), edge_index)


@plain()
def softmax_over_nodes(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    weight = (h - h.amax(0)).exp()
    return m.b(h * (weight / weight.sum(0)), edge_index)


# Readouts ------------------------------------------------------------------------------------------------------------
# Edges that are no [2, E] ----------------------------------------------------------------------------------------------
@group.model(PAIRS, base=Parts, stages=3)
def edges_as_pairs(m, x, pairs):
    h, edge_index = m.inp(x), pairs.t()
    for layer in m.layers:
        h = layer(h, edge_index).relu()
    return m.out(h)


@group.model(PAIRS, base=Parts, stages=2)
def pairs_by_columns(m, x, pairs):
    h = add_rows(m.inp(x)[pairs[:, 0]], pairs[:, 1], x.size(0)).relu()
    return m.out(add_rows(h[pairs[:, 1]], pairs[:, 0], x.size(0)))


@group.model(COLUMNS, base=Parts, stages=3)
def edges_in_two_columns(m, x, src, dst, edge_weight):
    h, edge_index = m.inp(x), torch.stack([src, dst])
    for layer in m.layers:
        h = layer(h, edge_index).relu()
    return m.out(h)


@group.model(COLUMNS, base=Parts, stages=2)
def columns_with_weights(m, x, src, dst, edge_weight):
    h = add_rows(m.inp(x)[src] * edge_weight.unsqueeze(1), dst, x.size(0)).relu()
    return m.out(add_rows(h[dst] * softmax_by(edge_weight, src, x.size(0)).unsqueeze(1), src, x.size(0)))


@group.model(BIPARTITE_COLUMNS, base=Parts, roles=("item=node:item", "src=source:node>item", "dst=destination:node>item"))
def columns_between_two_types(m, x, item, src, dst):
    h = add_rows(m.inp(x)[src], dst, item.size(0)).relu()
    return m.out(add_rows(h[dst], src, x.size(0)))


def pool(values, batch, how):
    start = torch.zeros(GRAPHS, values.size(1))
    return start.scatter_reduce(0, batch.view(-1, 1).expand_as(values), values, how, include_self=False)


@batched()
def pool_sum(m, x, edge_index, batch):
    return m.out(add_rows(m.b(m.a(m.inp(x), edge_index).relu(), edge_index), batch, GRAPHS))


@batched()
def pool_mean_max_min(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    return torch.cat([pool(h, batch, how) for how in ("mean", "amax", "amin")], 1)


@batched()
def pool_attention(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    return add_rows(softmax_by(m.out(h)[:, 0], batch, GRAPHS).unsqueeze(1) * h, batch, GRAPHS)


@plain()
def pool_whole_graph(m, x, edge_index):
    return m.out(m.a(m.inp(x), edge_index).mean(0, keepdim=True))


@plain()
def scalar_output(m, x, edge_index):
    return m.out(m.a(m.inp(x), edge_index)).sigmoid().sum()


@plain()
def virtual_node(m, x, edge_index):
    h, v = m.inp(x), m.table.weight[:1]
    for layer in (m.a, m.b):
        h = layer(h + v, edge_index).relu()
        v = v + m.lin(h.mean(0, keepdim=True))
    return h + v


@batched()
def virtual_node_per_graph(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index).relu()
    v = m.lin(add_rows(h, batch, GRAPHS))
    return m.b(h + v[batch], edge_index)


# Edges ---------------------------------------------------------------------------------------------------------------
@group.model(take("x", "edge_index", "query"), base=Parts, roles=("query=index:node>node",))
def decoder_dot(m, x, edge_index, query):
    z = m.b(m.a(m.inp(x), edge_index).relu(), edge_index)
    return (z[query[0]] * z[query[1]]).sum(-1)


@group.model(take("x", "edge_index", "query"), base=Parts, roles=("query=index:node>node",))
def decoder_and_embedding(m, x, edge_index, query):
    z = m.a(m.inp(x), edge_index)
    return m.out(z[query[0]] + z[query[1]]).sigmoid(), z


@attributed()
def edge_output(m, x, edge_index, edge_attr):
    z = m.b(m.a(m.inp(x), edge_index).relu(), edge_index)
    return torch.cat([z[edge_index[0]], z[edge_index[1]], edge_attr], -1)


@attributed()
def edge_states(m, x, edge_index, edge_attr):
    h, e = m.inp(x), m.edge(edge_attr)
    for _ in range(3):
        e = e + m.wide(torch.cat([h[edge_index[0]], h[edge_index[1]], e], 1)).tanh()
        h = m.gru(add_rows(e, edge_index[1], h.size(0)), h)
    return h, e


@attributed()
def edge_softmax_over_all(m, x, edge_index, edge_attr):
    score = m.edge(edge_attr).sum(-1)
    weight = (score - score.max()).exp()
    weight = weight / weight.sum()
    return add_rows(weight.unsqueeze(1) * m.inp(x)[edge_index[0]], edge_index[1], x.size(0))


@attributed()
def edge_norm_of_features(m, x, edge_index, edge_attr):
    h = m.inp(x)
    e = (h[edge_index[0]] * h[edge_index[1]] + m.edge(edge_attr)).sum(-1, keepdim=True)
    return add_rows(e / e.norm() * h[edge_index[0]], edge_index[1], x.size(0))


@plain()
def learned_degrees(m, x, edge_index):
    h = m.inp(x)
    w = (h[edge_index[0]] * h[edge_index[1]]).sum(-1).sigmoid()
    d = add_rows(w, edge_index[1], x.size(0)).clamp(min=1e-3).pow(-0.5)
    return add_rows((d[edge_index[0]] * w * d[edge_index[1]]).view(-1, 1) * h[edge_index[0]], edge_index[1], x.size(0))


@plain()
def both_directions(m, x, edge_index):
    both = torch.cat([edge_index, edge_index.flip(0)], 1)
    return m.b(m.a(m.inp(x), both).relu(), both)


@plain()
def both_directions_one_round(m, x, edge_index):
    h = m.inp(x)
    back = add_rows(h[edge_index[1]], edge_index[0], x.size(0))
    return m.b(add_rows(h[edge_index[0]], edge_index[1], x.size(0)) + m.lin(back), edge_index)


@plain()
def reversed_flow(m, x, edge_index):
    h = m.inp(x)
    for _ in range(2):
        h = (m.lin(h) + add_rows(h[edge_index[1]], edge_index[0], x.size(0))).tanh()
    return h


@plain()
def attention_by_destination_summed_by_source(m, x, edge_index):
    h = m.inp(x)
    alpha = softmax_by((h[edge_index[0]] * h[edge_index[1]]).sum(-1), edge_index[1], x.size(0))
    return add_rows(alpha.view(-1, 1) * h[edge_index[1]], edge_index[0], x.size(0))


@attributed()
def edges_sorted_in_the_model(m, x, edge_index, edge_attr):
    order = torch.argsort(edge_index[1])
    index, attr = edge_index[:, order], edge_attr[order]
    return add_rows(m.inp(x)[index[0]] * m.edge(attr), index[1], x.size(0))


@group.model(WITH_TYPE, base=Parts)
def edges_filtered_by_type(m, x, edge_index, edge_type):
    h = m.inp(x)
    for kind in range(RELATIONS):
        part = edge_index[:, edge_type == kind]
        h = h + m.a(h, part).tanh() @ m.maps[kind]
    return h


@plain()
def loops_removed_and_added(m, x, edge_index):
    kept = edge_index[:, edge_index[0] != edge_index[1]]
    loop = torch.arange(x.size(0)).view(1, -1).repeat(2, 1)
    full = torch.cat([kept, loop], 1)
    return m.b(m.a(m.inp(x), full).relu(), full)


@attributed()
def attributes_follow_the_loops(m, x, edge_index, edge_attr):
    keep = edge_index[0] != edge_index[1]
    loop = torch.arange(x.size(0))
    row, col = torch.cat([edge_index[0][keep], loop]), torch.cat([edge_index[1][keep], loop])
    e = torch.cat([m.edge(edge_attr[keep]), m.inp(x)], 0)
    return add_rows(e * m.inp(x)[row], col, x.size(0))


@plain()
def degrees_alone(m, x, edge_index):
    ones = torch.ones(edge_index.size(1))
    return torch.zeros(x.size(0)).index_add(0, edge_index[1], ones)


@plain()
def page_rank_alone(m, x, edge_index):
    sent = torch.zeros(x.size(0)).index_add(0, edge_index[0], torch.ones(edge_index.size(1))).clamp(min=1)
    rank = torch.ones(x.size(0)) / x.size(0)
    for _ in range(3):
        share = (rank / sent)[edge_index[0]]
        rank = 0.15 / x.size(0) + 0.85 * torch.zeros(x.size(0)).index_add(0, edge_index[1], share)
    return rank


@plain()
def degrees_beside_rows(m, x, edge_index):
    ones = torch.ones(edge_index.size(1))
    return m.inp(x).relu(), torch.zeros(x.size(0)).index_add(0, edge_index[1], ones)


@plain()
def weights_alone(m, x, edge_index):
    return m.lin(m.table.weight[:7])
