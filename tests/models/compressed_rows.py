"""Edges as compressed rows, and the ways in which models get at the destinations of each."""
from functools import partial

import torch
from torch import nn

from graphs import CSR, CSR_BIPARTITE, CSR_NARROW, CSR_WEIGHTED, FEATURES, HIDDEN
from layers import Parts, PartsGroup, add_rows, softmax_by

group = PartsGroup("compressed_rows")
rows = partial(group.of, CSR)
weighted = partial(group.of, CSR_WEIGHTED)


@rows(stages=3)
def ids_by_differences(m, x, rowptr, col):
    dst = torch.repeat_interleave(torch.arange(x.size(0)), rowptr[1:] - rowptr[:-1])
    h, edge_index = m.inp(x), torch.stack([col, dst])
    for layer in m.layers:
        h = layer(h, edge_index).relu()
    return m.out(h)


@rows(stages=2)
def ids_by_diff_alone(m, x, rowptr, col):
    dst = torch.repeat_interleave(rowptr.diff())
    h = add_rows(m.inp(x)[col], dst, x.size(0)).relu()
    return m.out(add_rows(h[col], dst, x.size(0)))


@rows(stages=2)
def ids_from_the_length(m, x, rowptr, col):
    n = rowptr.size(0) - 1
    dst = torch.arange(n).repeat_interleave(rowptr[1:] - rowptr[:n], output_size=col.numel())
    h = add_rows(m.inp(x)[col], dst, n).relu()
    return m.out(add_rows(h[col], dst, n))


@rows(stages=2)
def ids_from_the_last_offset(m, x, rowptr, col):
    ones = torch.ones(col.size(0))
    dst = torch.repeat_interleave(torch.arange(rowptr.numel() - 1), torch.diff(rowptr))
    h = add_rows(m.inp(x)[col] * ones.unsqueeze(1), dst, x.size(0)).relu()
    return m.out(add_rows(h[col], dst, x.size(0)))


@rows(stages=2)
def rows_repeated(m, x, rowptr, col):
    h = m.inp(x)
    counts = rowptr[1:] - rowptr[:-1]
    for _ in range(2):
        own = h.repeat_interleave(counts, dim=0)
        e = (m.lin(h[col]) - own).tanh()
        h = torch.segment_reduce(e, "sum", offsets=rowptr, axis=0)
    return m.out(h)


@rows(stages=2)
def mean_of_segments(m, x, rowptr, col):
    counts = rowptr[1:] - rowptr[:-1]
    h = torch.segment_reduce(m.inp(x)[col], "mean", lengths=counts, axis=0)
    h = torch.where(torch.isnan(h), torch.zeros_like(h), h).relu()
    return torch.segment_reduce(h[col], "mean", offsets=rowptr, axis=0)


@rows(stages=2)
def extrema_of_segments(m, x, rowptr, col):
    h = m.inp(x)
    top = torch.segment_reduce(h[col], "max", offsets=rowptr, axis=0, initial=-3)
    low = torch.segment_reduce(h[col], "min", offsets=rowptr, axis=0, initial=3.5)
    h = m.lin(top - low)
    return torch.segment_reduce(h[col], "max", offsets=rowptr, axis=0)


@rows()
def softmax_of_segments(m, x, rowptr, col):
    h = m.inp(x)
    counts = rowptr.diff()
    dst = torch.repeat_interleave(torch.arange(x.size(0)), counts)
    alpha = softmax_by((h[col] * h[dst]).sum(-1), dst, x.size(0))
    return torch.segment_reduce(alpha.unsqueeze(1) * h[col], "sum", lengths=counts, axis=0)


@rows(stages=1)
def degrees_of_offsets(m, x, rowptr, col):
    degree = (rowptr[1:] - rowptr[:-1]).float().clamp(min=1).unsqueeze(1)
    dst = torch.repeat_interleave(torch.arange(x.size(0)), rowptr.diff())
    return add_rows(m.inp(x)[col], dst, x.size(0)) / degree + degree.log()


@rows(stages=2)
def differences_of_prefix_sums(m, x, rowptr, col):
    h = m.inp(x)
    for _ in range(2):
        sums = torch.cat([torch.zeros(1, h.size(1)), m.lin(h)[col].cumsum(0)])
        h = (sums[rowptr[1:]] - sums[rowptr[:-1]]).tanh()
    return m.out(h)


@rows(stages=1)
def padded_prefix_sums(m, x, rowptr, col):
    sums = nn.functional.pad(m.inp(x)[col].cumsum(dim=0), (0, 0, 1, 0))
    return sums.index_select(0, rowptr[1:]) - sums.index_select(0, rowptr[:-1])


@rows(stages=1)
def prefix_sums_written_in_place(m, x, rowptr, col):
    e = m.inp(x)[col]
    sums = e.new_zeros(e.size(0) + 1, e.size(1))
    sums[1:] = torch.cumsum(e, 0)
    return m.out(sums[rowptr].diff(dim=0))


@group.module(CSR, stages=2, how="script")
class ScriptedRows(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x, rowptr, col):
        counts = rowptr[1:] - rowptr[:-1]
        dst = torch.repeat_interleave(torch.arange(x.size(0)), counts)
        h = self.a(torch.zeros_like(x).index_add(0, dst, x[col])).relu()
        return self.b(torch.zeros_like(h).index_add(0, dst, h[col]))


@weighted(stages=2)
def weighted_rows(m, x, indptr, indices, edge_weight):
    counts = indptr[1:] - indptr[:-1]
    dst = torch.repeat_interleave(torch.arange(x.size(0)), counts)
    h = add_rows(m.inp(x)[indices] * edge_weight.unsqueeze(1), dst, x.size(0)).relu()
    return m.out(torch.segment_reduce(h[indices] * edge_weight.view(-1, 1), "sum", lengths=counts, axis=0))


@weighted(stages=1)
def normalised_rows(m, x, indptr, indices, edge_weight):
    dst = torch.repeat_interleave(torch.arange(x.size(0)), indptr.diff())
    strength = add_rows(edge_weight, dst, x.size(0)).clamp(min=1e-6).rsqrt()
    weight = strength[dst] * edge_weight * strength[indices]
    return add_rows(m.inp(x)[indices] * weight.unsqueeze(1), dst, x.size(0))


@group.model(CSR_NARROW, base=Parts, stages=2)
def narrow_offsets(m, x, rowptr, col):
    dst = torch.repeat_interleave(torch.arange(x.size(0)), rowptr[1:] - rowptr[:-1])
    h = add_rows(m.inp(x)[col], dst, x.size(0)).relu()
    return m.out(torch.segment_reduce(h[col], "sum", lengths=rowptr.diff().long(), axis=0))


@group.model(CSR_BIPARTITE, base=Parts, stages=1, roles=("item=node:item", "rowptr=offsets:node>item", "col=source:node>item"))
def rows_between_two_types(m, x, item, rowptr, col):
    dst = torch.repeat_interleave(torch.arange(item.size(0)), rowptr.diff())
    return m.out(add_rows(m.inp(x)[col], dst, item.size(0)))


@rows(stages=2)
def transposed_rows(m, x, rowptr, col):
    source = torch.repeat_interleave(torch.arange(x.size(0)), rowptr.diff())
    h = add_rows(m.inp(x)[source], col, x.size(0)).relu()
    return m.out(add_rows(h[source], col, x.size(0)))
