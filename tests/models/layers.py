"""Plain PyTorch layers that the models of the zoo share."""
import torch
from torch import nn

from graphs import EDGE_FEATURES, FEATURES, GRAPHS, HIDDEN, PLAIN, RELATIONS
from registry import Group

H = HIDDEN


def add_rows(values, index, rows):
    return torch.zeros((rows,) + values.shape[1:], dtype=values.dtype).index_add(0, index, values)


def softmax_by(values, index, rows):
    top = torch.full((rows,), -1e30).scatter_reduce(0, index, values, "amax")
    weight = (values - top[index]).exp()
    return weight / (add_rows(weight, index, rows)[index] + 1e-16)


class Mean(nn.Module):
    """x_i W + mean of neighbours V."""

    def __init__(self, width=H):
        super().__init__()
        self.own, self.near = nn.Linear(width, H), nn.Linear(width, H, bias=False)

    def forward(self, x, edge_index):
        total = add_rows(x[edge_index[0]], edge_index[1], x.size(0))
        count = add_rows(torch.ones(edge_index.size(1)), edge_index[1], x.size(0)).clamp(min=1)
        return self.own(x) + self.near(total / count.unsqueeze(1))


class Normalised(nn.Module):
    """Symmetric normalisation with self-loops, written by hand."""

    def __init__(self, width=H):
        super().__init__()
        self.lin = nn.Linear(width, H)

    def forward(self, x, edge_index):
        n = x.size(0)
        loop = torch.arange(n)
        row, col = torch.cat([edge_index[0], loop]), torch.cat([edge_index[1], loop])
        scale = torch.zeros(n).scatter_add_(0, col, torch.ones_like(col, dtype=torch.float)).pow(-0.5)
        weight = (scale[row] * scale[col]).view(-1, 1)
        return torch.zeros(n, H).index_add_(0, col, weight * self.lin(x)[row])


class Attention(nn.Module):
    def __init__(self, width=H):
        super().__init__()
        self.lin, self.score = nn.Linear(width, H), nn.Linear(2 * H, 1)

    def forward(self, x, edge_index):
        h, (row, col) = self.lin(x), (edge_index[0], edge_index[1])
        score = nn.functional.leaky_relu(self.score(torch.cat([h[row], h[col]], 1)).squeeze(1), 0.2)
        alpha = softmax_by(score, col, x.size(0))
        return add_rows(alpha.unsqueeze(1) * h[row], col, x.size(0))


class Parts(nn.Module):
    """The layers that the forward functions below share."""

    def __init__(self):
        super().__init__()
        self.inp, self.lin, self.out = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, 3)
        self.edge = nn.Linear(EDGE_FEATURES, H)
        self.a, self.b, self.n, self.t = Mean(), Mean(), Normalised(), Attention()
        self.batch_norm, self.layer_norm = nn.BatchNorm1d(H), nn.LayerNorm(H)
        self.gru, self.wide = nn.GRUCell(H, H), nn.Linear(3 * H, H)
        self.table = nn.Embedding(128, H)
        self.kinds, self.types = nn.Embedding(GRAPHS, H), nn.Embedding(RELATIONS, H)
        self.maps = nn.Parameter(torch.randn(RELATIONS, H, H) / 3)
        self.layers = nn.ModuleList(Mean() for _ in range(3))


class PartsGroup(Group):
    """Its methods are decorators for forward functions (m, arguments...) of modules that hold Parts."""

    def of(self, inputs=PLAIN, **options):
        return self.model(inputs, base=Parts, **options)

    def refused(self, reason, **options):
        return self.of(expect="refuse", reason=reason, **options)
