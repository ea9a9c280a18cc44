"""Tables of neighbours, [N, K], padded or not."""
import torch
from torch import nn

from graphs import compressed
from layers import Parts
from registry import Group

group = Group("neighbour_tables")
K = 6


def table(graph, padding, several=K):
    """The first K sources of each node; -1, or what `padding` says for a number of nodes, where there are fewer."""
    n = graph["x"].size(0)
    rowptr, col, _ = compressed(graph["edge_index"], n)
    filled = torch.full((n, several), padding(n))
    for node in range(n):
        some = col[rowptr[node]:rowptr[node + 1]][:several]
        filled[node, :some.numel()] = some
    return filled


def PADDED(graph):
    return {"x": graph["x"], "nbr": table(graph, lambda n: -1)}


def MASKED(graph):
    nbr = table(graph, lambda n: -1)
    return {"x": graph["x"], "neighbors": nbr.clamp(min=0), "neighbor_mask": nbr >= 0}


def BEYOND(graph):
    return {"x": graph["x"], "nbr": table(graph, lambda n: n)}


def NEAREST(graph):
    distance = torch.cdist(graph["x"], graph["x"])
    return {"x": graph["x"], "knn_idx": distance.topk(4, largest=False)[1]}


def WITH_WEIGHTS(graph):
    nbr = table(graph, lambda n: -1)
    return {"x": graph["x"], "nbr": nbr, "nbr_weight": torch.rand(nbr.shape, generator=torch.Generator().manual_seed(5))}


def BIPARTITE(graph):
    nbr = table({"x": graph["item"], "edge_index": graph["to_item"]}, lambda n: -1)
    return {"x": graph["x"], "item": graph["item"], "nbr": nbr}


@group.model(PADDED, base=Parts, stages=2)
def sum_of_clamped(m, x, nbr):
    mask = (nbr >= 0).unsqueeze(-1).float()
    h = m.inp(x)
    for _ in range(2):
        h = (m.lin(h) + (h[nbr.clamp(min=0)] * mask).sum(1)).tanh()
    return m.out(h)


@group.model(PADDED, base=Parts, stages=2)
def negative_rows_read_and_masked(m, x, nbr):
    h = m.inp(x)
    for _ in range(2):
        h = torch.where((nbr >= 0).unsqueeze(-1), h[nbr], torch.zeros(1)).sum(1).tanh()
    return m.out(h)


@group.model(MASKED, base=Parts, stages=2)
def mean_by_mask(m, x, neighbors, neighbor_mask):
    count = neighbor_mask.sum(1, keepdim=True).clamp(min=1)
    h = m.inp(x)
    for _ in range(2):
        near = h[neighbors].masked_fill(~neighbor_mask.unsqueeze(-1), 0.0).sum(1) / count
        h = (m.lin(h) + near).relu()
    return m.out(h)


@group.model(MASKED, base=Parts, stages=1)
def attention_over_the_table(m, x, neighbors, neighbor_mask):
    h = m.inp(x)
    near = h[neighbors]
    score = (near * h.unsqueeze(1)).sum(-1).masked_fill(~neighbor_mask, -1e9)
    return m.out((torch.softmax(score, 1).unsqueeze(-1) * near).sum(1))


@group.model(MASKED, base=Parts, stages=1)
def largest_of_the_table(m, x, neighbors, neighbor_mask):
    near = m.inp(x)[neighbors].masked_fill(~neighbor_mask.unsqueeze(-1), float("-inf"))
    top = near.max(dim=1)[0]
    return m.out(torch.where(torch.isinf(top), torch.zeros_like(top), top))


@group.model(NEAREST, base=Parts, stages=2)
def nearest_without_padding(m, x, knn_idx):
    h = m.inp(x)
    for _ in range(2):
        edge = torch.cat([h.unsqueeze(1).expand(-1, knn_idx.size(1), -1), h[knn_idx] - h.unsqueeze(1)], -1)
        h = (edge[..., :8] * edge[..., 8:]).amax(1).relu() + m.lin(h)
    return m.out(h)


@group.model(NEAREST, base=Parts, stages=1)
def embedding_of_the_table(m, x, knn_idx):
    return m.out(nn.functional.embedding(knn_idx, m.inp(x)).mean(1))


@group.model(WITH_WEIGHTS, base=Parts, stages=1)
def weighted_table(m, x, nbr, nbr_weight):
    weight = torch.where(nbr >= 0, nbr_weight, torch.zeros_like(nbr_weight))
    return m.out(torch.einsum("nk,nkf->nf", weight, m.inp(x)[nbr.clamp_min(0)]))


@group.model(BIPARTITE, base=Parts, stages=1, roles=("item=node:item", "nbr=key:item>node"))
def table_into_another_type(m, x, item, nbr):
    mask = (nbr >= 0).unsqueeze(-1)
    return m.out((m.inp(x)[nbr.clamp(min=0)] * mask).sum(1))


@group.model(PADDED, base=Parts, stages=1)
def recurrent_over_the_table(m, x, nbr):
    h = m.inp(x)
    near = h[nbr.clamp(min=0)] * (nbr >= 0).unsqueeze(-1)
    state = torch.zeros_like(h)
    for k in range(near.size(1)):
        state = m.gru(near[:, k], state)
    return m.out(state)


@group.model(BEYOND, base=Parts, stages=2)
def padded_with_a_row_of_zeros(m, x, nbr):
    h = m.inp(x)
    for _ in range(2):
        h = (m.lin(h) + torch.cat([h, torch.zeros(1, h.size(1))])[nbr].sum(1)).tanh()
    return m.out(h)


@group.model(PADDED, base=Parts, stages=1)
def looked_up_flat(m, x, nbr):
    n, k = nbr.shape
    near = m.inp(x).index_select(0, nbr.clamp(min=0).view(-1)).view(n, k, -1)
    return m.out((near * (nbr >= 0).unsqueeze(-1)).sum(1))
