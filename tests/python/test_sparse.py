"""Sparse matrices that forward makes of the edges, in models that can only be traced: no size of the sample is baked in."""
import hopscope
import torch
from support import FEATURES, PackageTest, graph
from torch import nn
from torch_geometric.utils import to_torch_coo_tensor, to_torch_csr_tensor


def square(x):
    return x.size(0), x.size(0)


def csr(x, edge_index, weight):
    order = edge_index[0].argsort()
    ends = torch._convert_indices_from_coo_to_csr(edge_index[0][order], x.size(0))
    return torch.sparse_csr_tensor(ends, edge_index[1][order], weight[order], square(x))


MADE = {
    "by position": lambda x, index, weight: torch.sparse_coo_tensor(index, weight, square(x)),
    "by name": lambda x, index, weight: torch.sparse_coo_tensor(
        indices=index, values=weight, size=torch.Size(square(x)), dtype=x.dtype, device=x.device),
    "of another type": lambda x, index, weight: torch.sparse_coo_tensor(index, (10 * weight).long(), square(x), dtype=x.dtype),
    "of numbers": lambda x, index, weight: torch.sparse_coo_tensor(index, torch.ones(index.size(1)), [x.shape[0], x.shape[0]]),
    "turned": lambda x, index, weight: torch.sparse_coo_tensor(index.flip(0), weight, square(x)).t(),
    "merged": lambda x, index, weight: torch.sparse_coo_tensor(index, weight, square(x)).coalesce(),
    "legacy": lambda x, index, weight: torch.sparse.FloatTensor(index, weight, torch.Size(square(x))),
    "compressed": csr,
    "converted": lambda x, index, weight: torch.sparse_coo_tensor(index, weight, square(x)).to_sparse_csr(),
    "PyG's": lambda x, index, weight: to_torch_coo_tensor(index, weight, size=square(x)),
    "PyG's compressed": lambda x, index, weight: to_torch_csr_tensor(index, weight, size=square(x)),
}


class Multiplies(nn.Module):
    def __init__(self, made):
        super().__init__()
        self.made, self.linear = made, nn.Linear(FEATURES, 3)

    def forward(self, x, edge_index, edge_weight, **unused):  # TorchScript takes no **
        return self.made(x, edge_index, edge_weight) @ self.linear(x)


class Normalised(Multiplies):
    """Divides by the sums of rows, as Kipf's code does."""

    def forward(self, x, edge_index, edge_weight, **unused):
        adjacency = self.made(x, edge_index, edge_weight)
        degrees = torch.sparse.sum(adjacency, dim=1).to_dense() + adjacency.sum(0).to_dense()
        return adjacency @ self.linear(x) / (1 + degrees).unsqueeze(1) + torch.sparse.sum(adjacency)


class Sparse(PackageTest):
    def agrees(self, kind, made):
        data = graph()
        model = kind(MADE[made]).eval()
        given = {"x": data.x, "edge_index": data.edge_index, "edge_weight": torch.rand(data.edge_index.size(1))}
        with torch.no_grad():
            wanted = model(**given)
        result = hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False)
        self.assertEqual(result.verdict, "equal")
        torch.testing.assert_close(result.output, wanted, rtol=1e-5, atol=1e-5)

    def test_products_with_a_matrix_of_the_edges(self):
        for made in MADE:
            with self.subTest(made):
                self.agrees(Multiplies, made)

    def test_sums_of_rows_and_columns(self):
        for made in ("by position", "merged", "of another type", "PyG's"):
            with self.subTest(made):
                self.agrees(Normalised, made)

    def test_constructors_are_the_own_ones_again(self):
        own = torch.sparse_coo_tensor, torch.sparse_csr_tensor, torch.sparse_csc_tensor, torch.sparse.FloatTensor
        self.agrees(Multiplies, "by position")
        now = torch.sparse_coo_tensor, torch.sparse_csr_tensor, torch.sparse_csc_tensor, torch.sparse.FloatTensor
        self.assertEqual(list(map(id, own)), list(map(id, now)))
