"""One computation written in many ways: in place and through views, with other operators, on masks, on other axes, with
sparse matrices, with control flow."""
from functools import partial

from typing import Optional

import torch
from torch import Tensor, nn

from graphs import FEATURES, HIDDEN, PLAIN, WITH_BATCH, take
from layers import PartsGroup

group = PartsGroup("writings")
H = HIDDEN
plain = group.of
batched = partial(group.of, WITH_BATCH)


# Writing in place ----------------------------------------------------------------------------------------------------
@plain()
def writes_through_views(m, x, edge_index):
    h = m.inp(x)
    o = torch.zeros(x.size(0), 2 * H)
    o[:, :H] += h
    v = o[:, H:]
    v.copy_(m.a(h, edge_index))
    o.mul_(2)
    v.add_(1)
    o.t()[0] = 3.0
    return m.b(o[:, 4:4 + H], edge_index)


@batched()
def masked_fill_and_columns(m, x, edge_index, batch):
    h = m.inp(x).clone()
    h[batch == 1] = 0
    h[:, 0] = 1.0
    h[:, 1:3] *= 2
    return m.a(h, edge_index)


@batched()
def masked_rows_rewritten(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    mask = batch == 1
    h = h.clone()
    h[mask] = m.lin(h[mask])
    return m.b(h, edge_index)


@plain()
def relu_in_place(m, x, edge_index):
    h = m.inp(x).relu_()
    h = m.a(h, edge_index)
    k = h
    h += 1
    return m.b(k.tanh_(), edge_index)


@plain()
def aggregate_into_features(m, x, edge_index):
    h = m.inp(x)
    h = h.index_add(0, edge_index[1], h[edge_index[0]]).relu()
    index = edge_index[1].view(-1, 1).expand(-1, H)
    return h.scatter_reduce(0, index, h[edge_index[0]], "amax", include_self=True)


# Other ways to write the same ----------------------------------------------------------------------------------------
@plain()
def gather_and_scatter_expanded(m, x, edge_index):
    h = m.inp(x)
    source = edge_index[0].view(-1, 1).expand(-1, H)
    target = edge_index[1].view(-1, 1).expand(-1, H)
    return torch.zeros_like(h).scatter_add(0, target, torch.gather(h, 0, source))


@plain()
def transposed(m, x, edge_index):
    h = m.inp(x).t()
    out = torch.zeros(H, x.size(0)).index_add(1, edge_index[1], h.index_select(1, edge_index[0]))
    return out.t().contiguous()


@plain()
def node_axis_in_the_middle(m, x, edge_index):
    h = torch.stack([m.inp(x), m.lin(m.inp(x))])
    out = torch.zeros(2, x.size(0), H).index_add(1, edge_index[1], h.index_select(1, edge_index[0]))
    return out.sum(0), out.permute(1, 0, 2).flatten(1)


@plain()
def mean_by_bincount(m, x, edge_index):
    h = m.inp(x)
    count = torch.bincount(edge_index[1], minlength=x.size(0)).clamp(min=1)
    return torch.zeros_like(h).index_add_(0, edge_index[1], h[edge_index[0]]) / count.unsqueeze(1)


@plain()
def mean_by_index_reduce(m, x, edge_index):
    h = m.inp(x)
    return torch.zeros_like(h).index_reduce(0, edge_index[1], h[edge_index[0]], "mean", include_self=False)


@plain()
def product_and_minimum(m, x, edge_index):
    h = m.inp(x).tanh()
    index = edge_index[1].view(-1, 1).expand(-1, H)
    low = torch.zeros_like(h).scatter_reduce(0, index, h[edge_index[0]], "amin", include_self=False)
    return low + torch.ones_like(h).scatter_reduce(0, index, h[edge_index[0]], "prod")


@plain()
def einsum_and_matmul(m, x, edge_index):
    h = m.a(m.inp(x), edge_index).view(-1, 2, H // 2)
    k = torch.einsum("nhf,hfg->nhg", h, m.maps[:2, :H // 2, :H // 2])
    return torch.matmul(k, k.transpose(1, 2)).softmax(-1).flatten(1)


@plain()
def reshapes(m, x, edge_index):
    h = m.a(m.inp(x), edge_index).reshape(-1, 4, 2).transpose(1, 2).contiguous().view(x.size(0), -1)
    first, second = h.chunk(2, dim=1)
    parts = torch.cat([first, second, h[:, ::2]], -1).unsqueeze(-1).expand(-1, -1, 2).flatten(1)
    return parts.split([5, 19], dim=1)[1]


@plain()
def best_features(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h.topk(3, dim=1)[0], h.sort(dim=1, descending=True)[0], h.cumsum(1)


# Masks and selections ------------------------------------------------------------------------------------------------
@batched()
def rows_of_a_mask(m, x, edge_index, batch):
    return m.out(m.b(m.a(m.inp(x), edge_index), edge_index))[batch == 1]


@batched()
def rows_of_an_index(m, x, edge_index, batch):
    chosen = (batch == 1).nonzero().view(-1)
    return m.out(m.a(m.inp(x), edge_index)[chosen])


@batched()
def where_and_masked_fill(m, x, edge_index, batch):
    h = m.a(m.inp(x), edge_index)
    h = torch.where((batch == 2).view(-1, 1), h, m.lin(h))
    return m.b(h.masked_fill((batch == 0).unsqueeze(1), 0.25), edge_index)


# Sparse matrices (scripted: tracing would bake their size) -----------------------------------------------------------
@group.module(PLAIN, how="script", stages=2)
class sparse_product(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        matrix = torch.sparse_coo_tensor(edge_index, torch.ones(edge_index.size(1)), [n, n])
        h = torch.sparse.mm(matrix, self.lin(x)).relu()
        return torch.sparse.mm(matrix, h) + h


@group.module(PLAIN, how="script", stages=2)
class sparse_normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        degree = torch.bincount(edge_index[0], minlength=n).clamp(min=1).float()
        matrix = torch.sparse_coo_tensor(edge_index, 1 / degree[edge_index[0]], [n, n])
        return matrix @ (matrix @ self.lin(x)).relu()


@group.module(PLAIN, how="script")
class sparse_learned_entries(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n, h = x.size(0), self.lin(x)
        weight = (h[edge_index[0]] * h[edge_index[1]]).sum(1).sigmoid()
        matrix = torch.sparse_coo_tensor(edge_index, weight, [n, n])
        return torch.mm(matrix, torch.mm(matrix, h).relu())


# Scripted control flow -----------------------------------------------------------------------------------------------
@group.module(PLAIN, how="script", stages=3)
class scripted_range_loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin, self.steps = nn.Linear(FEATURES, H), nn.Linear(H, H), 3

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        for i in range(self.steps):
            z = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
            h = self.lin(z).tanh() + h if i % 2 == 0 else z.sigmoid()
        return h


@group.module(PLAIN, how="script")
class scripted_branch_on_size(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.lin(x)
        if x.size(0) > 2 and edge_index.numel() > 0:
            h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return h.relu() if h.dim() == 2 else h


@group.module(take("x", "edge_index", "edge_weight"), how="script")
class scripted_optional_given(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None) -> Tensor:
        h = self.lin(x)
        message = h[edge_index[0]]
        if edge_weight is not None:
            message = message * edge_weight.unsqueeze(1)
        return torch.zeros_like(h).index_add(0, edge_index[1], message)
