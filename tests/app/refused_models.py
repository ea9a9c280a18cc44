"""The models of engine_refusals.py, and sizes of their data."""
import torch
from torch import Tensor, nn

FEATURES, NODES, EDGES = 5, 19, 61


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(FEATURES, 8), nn.Linear(8, 3)
        self.table = nn.Parameter(torch.randn(NODES, 8))

    def hop(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).tanh() + h


class Plain(Net):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.hop(self.hop(self.inp(x), edge_index), edge_index))


class Extra(Net):
    def forward(self, x: Tensor, edge_index: Tensor, other: Tensor) -> Tensor:
        return self.out(self.hop(self.inp(x), edge_index)) + other.float().sum()


class Weighted(Net):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        return self.out(self.hop(self.inp(x), edge_index)) + edge_weight.sum()


class Two(Net):
    def forward(self, x: Tensor, pos: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.hop(self.inp(x), edge_index)) + pos.sum()


class Columns(Net):
    def forward(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        h = self.inp(x)
        return self.out(torch.zeros_like(h).index_add(0, b, h[a]))


class Graphs(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.hop(self.inp(x), edge_index)
        return self.out(torch.zeros(int(batch.max()) + 1, 8).index_add(0, batch, h))


class Table(Net):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.hop(self.inp(x) + self.table, edge_index))


class Sparse(Net):
    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        return self.out(torch.sparse.mm(adj, self.inp(x)))


class Merged(Net):
    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        return self.out(torch.sparse.mm(adj.coalesce(), self.inp(x)))


class Compressed(Net):
    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        h, ends = self.inp(x), adj.crow_indices()
        row = torch.repeat_interleave(torch.arange(x.size(0)), ends[1:] - ends[:-1])
        return self.out(torch.zeros_like(h).index_add(0, row, h[adj.col_indices()]))


class Number(Net):
    def forward(self, x: Tensor, edge_index: Tensor, k: int) -> Tensor:
        return self.out(self.hop(self.inp(x), edge_index)) + k


class Text(Net):
    def forward(self, x: Tensor, edge_index: Tensor, mode: str) -> Tensor:
        return self.out(self.hop(self.inp(x), edge_index)) + len(mode)


class Pair(Net):
    def forward(self, x: tuple[Tensor, Tensor], edge_index: Tensor) -> Tensor:
        return self.out(self.hop(self.inp(x[0]), edge_index)) + x[1].sum()


class Layers(Net):
    def forward(self, x: Tensor, edges: list[Tensor]) -> Tensor:
        h = self.inp(x)
        for index in edges:
            h = self.hop(h, index)
        return self.out(h)


class SparseWeight(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("mix", torch.eye(8).to_sparse())

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.hop(torch.mm(self.mix, self.inp(x).t()).t(), edge_index))


class DenseWeight(SparseWeight):
    def __init__(self):
        super().__init__()
        self.mix = self.mix.to_dense()


class Amplifying(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.inp, self.out = nn.Linear(33, 600), nn.Linear(600, 40)

    def hop(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.hop(self.inp(x), edge_index).tanh()
        return torch.sin(3000.0 * self.hop(self.out(h), edge_index))
