"""Sparse matrices that a model holds itself, as recommenders hold their graph: they are inputs of its file."""
import hopscope
import torch
from support import PackageTest
from torch import nn

USERS, ITEMS, WIDTH = 70, 41, 6


def matrix(users=USERS, items=ITEMS, edges=300, layout=torch.sparse_coo):
    draw = torch.Generator().manual_seed(4)
    user = torch.randint(0, users - 1, (edges,), generator=draw)
    item = torch.randint(0, items - 1, (edges,), generator=draw) + users
    index = torch.stack([torch.cat([user, item]), torch.cat([item, user])])
    size = (users + items, users + items)
    made = torch.sparse_coo_tensor(index, torch.rand(2 * edges, generator=draw), size).coalesce()
    return made if layout == torch.sparse_coo else made.to_sparse_csr()


class Recommender(nn.Module):
    """LightGCN, as many repositories have it: `forward` takes nothing."""

    def __init__(self, graph, users=USERS, items=ITEMS):
        super().__init__()
        self.user, self.item = nn.Embedding(users, WIDTH), nn.Embedding(items, WIDTH)
        self.keep(graph)

    def keep(self, graph):
        self.graph = graph

    def adjacency(self):
        return self.graph

    def forward(self):
        h = torch.cat([self.user.weight, self.item.weight])
        layers = [h]
        for _ in range(2):
            h = torch.sparse.mm(self.adjacency(), h)
            layers.append(h)
        h = torch.stack(layers, dim=1).mean(dim=1)
        return torch.split(h, [self.user.num_embeddings, self.item.num_embeddings])


class InBuffer(Recommender):
    def keep(self, graph):
        self.register_buffer("graph", graph)
        self.unread = matrix(5, 4, 20)


class Deeper(Recommender):
    """In a module of its own, which two modules share."""

    def keep(self, graph):
        self.inner = nn.Identity()
        self.inner.graph = self.other = graph

    def adjacency(self):
        return self.inner.graph


class Scaled(Recommender):
    def forward(self, x):
        h = torch.cat([self.user.weight, self.item.weight]) * x.sum(1, keepdim=True)
        return torch.sparse.mm(self.graph, h)


class Held(PackageTest):
    def agrees(self, model, data):
        model = model.eval()
        before = {name: id(value) for name, value in vars(model).items()}
        with torch.no_grad():
            wanted = model(**data)
        result = hopscope.inference(model, data, scratch=self.scratch, verify="full", progress=False)
        self.assertEqual(result.verdict, "equal")
        self.assertEqual(before, {name: id(value) for name, value in vars(model).items()})
        torch.testing.assert_close(result.output, wanted, rtol=1e-5, atol=1e-5)
        return result

    def test_attributes_and_buffers_are_inputs(self):
        for kind in (Recommender, InBuffer, Deeper):
            for layout in (torch.sparse_coo, torch.sparse_csr):
                with self.subTest(kind=kind.__name__, layout=layout):
                    result = self.agrees(kind(matrix(layout=layout)), {})
                    self.assertIn("', a sparse matrix that the model holds, is an input of the file", " ".join(result.notes))

    def test_a_table_of_the_data_beside_them(self):
        self.agrees(Scaled(matrix()), {"x": torch.rand(USERS + ITEMS, 3)})

    def test_a_graph_of_which_only_a_sample_is_traced(self):
        users, items = 70_000, 40_000
        self.agrees(Recommender(matrix(users, items, 50_000), users, items), {})
