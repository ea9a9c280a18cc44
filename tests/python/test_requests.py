"""Vectors of row numbers whose rows forward returns or compares: pairs, triplets and lists of nodes, of any name and length."""
import hopscope
import torch
from support import FEATURES, PackageTest, edges
from torch import nn

NODES, EDGES = 300, 2000


class Convolved(nn.Module):
    """A convolution of features, or, without any, of the rows of an embedding."""

    def __init__(self, forward, learned=False):
        super().__init__()
        self.asked, self.linear = forward, nn.Linear(FEATURES, FEATURES)
        self.table = nn.Embedding(NODES, FEATURES) if learned else None

    def rows(self, x, edge_index):
        h = x if self.table is None else self.table.weight
        return torch.zeros_like(h).index_add(0, edge_index[1], self.linear(h)[edge_index[0]])


class Pairs(Convolved):
    def forward(self, x, edge_index, users, items):
        return self.asked(self.rows(x, edge_index), users, items)


class LearnedPairs(Convolved):
    def forward(self, edge_index, users, items):
        return self.asked(self.rows(None, edge_index), users, items)


class Triplets(Convolved):
    def forward(self, x, edge_index, anchor, near, far):
        h = self.rows(x, edge_index)
        return self.asked((h[anchor] - h[near]).norm(dim=1), (h[anchor] - h[far]).norm(dim=1))


class One(Convolved):
    def forward(self, x, edge_index, wanted):
        return self.asked(self.rows(x, edge_index), wanted)


class LearnedOne(Convolved):
    def forward(self, edge_index, first):
        return self.asked(self.rows(None, edge_index), first)


def product(h, users, items):
    return (h[users] * h.index_select(0, items)).sum(1)


def beside(h, users, items):
    return torch.cat([h[users], h[items]], -1)


def some(count):
    return torch.randint(0, NODES, (count,))


class Requests(PackageTest):
    def agrees(self, model, **inputs):
        torch.manual_seed(3)
        given = {"x": torch.randn(NODES, FEATURES), "edge_index": edges(NODES, NODES, EDGES), **inputs}
        if model.table is not None:
            del given["x"]
        with torch.no_grad():
            wanted = model.eval()(**given)
        result = hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False)
        self.assertEqual(result.verdict, "equal")
        torch.testing.assert_close(result.output, wanted, rtol=1e-5, atol=1e-5)

    def test_pairs(self):
        for count in (40, NODES, EDGES, 3 * NODES):  # as many as nodes, edges, or neither
            for kind, ask in ((Pairs, product), (Pairs, beside), (LearnedPairs, product)):
                with self.subTest(kind=kind.__name__, ask=ask.__name__, count=count):
                    self.agrees(kind(ask, learned=kind is LearnedPairs), users=some(count), items=some(count))

    def test_pairs_of_other_lengths(self):
        self.agrees(Pairs(lambda h, users, items: (h[users], h[items])), users=some(40), items=some(31))

    def test_triplets(self):
        self.agrees(Triplets(lambda near, far: (near - far + 1).relu()), anchor=some(40), near=some(40), far=some(40))

    def test_one_vector(self):
        self.agrees(One(lambda h, wanted: h[wanted]), wanted=some(40))
        self.agrees(LearnedOne(lambda h, first: h[first].sigmoid(), learned=True), first=some(2 * NODES))
        self.agrees(One(lambda h, parent: h + h[parent]), wanted=some(NODES))


USERS = 120


class Recommender(nn.Module):
    """Users and items in one numbering, as LightGCN's repositories have them; requests count each from 0."""

    def __init__(self, asked):
        super().__init__()
        self.asked = asked
        self.users, self.items = nn.Embedding(USERS, FEATURES), nn.Embedding(NODES - USERS, FEATURES)
        ends = edges(NODES, NODES, EDGES)
        self.adjacency = torch.sparse_coo_tensor(ends, torch.rand(EDGES) / 8, (NODES, NODES)).coalesce()

    def forward(self, users, items):
        h = torch.cat([self.users.weight, self.items.weight])
        means = torch.stack([h, torch.sparse.mm(self.adjacency, h)], 1).mean(1)
        return self.asked(means, users, items)


class OfPairs(Recommender):
    def forward(self, pairs):
        return super().forward(pairs[0], pairs[1])


def parts(h, users, items):
    of_users, of_items = torch.split(h, [USERS, NODES - USERS])
    return (of_users[users] * of_items[items]).sum(1)


def columns(h, users, items):
    return (h[:USERS, :][users, :] * h[USERS:, :][items, :]).sum(1)


def embedded(h, users, items):
    of_users, of_items = torch.split(h, [USERS, NODES - USERS])
    return (nn.functional.embedding(users, of_users) * nn.functional.embedding(items, of_items)).sum(-1)


def shifted(h, users, items):
    return (h[users] * h[items + USERS]).sum(1)


class Parts(PackageTest):
    def tried(self, asked, users, items, paired=False):
        torch.manual_seed(4)
        model = (OfPairs if paired else Recommender)(asked).eval()
        given = {"pairs": torch.stack([users, items])} if paired else {"users": users, "items": items}
        return model, given, lambda **more: hopscope.inference(model, given, scratch=self.scratch, progress=False, **more)

    def test_requests_in_parts_of_a_table(self):
        few, many = 40, 2 * NODES
        for asked, count, paired in ((parts, few, False), (parts, many, False), (columns, few, False), (embedded, few, False),
                                     (shifted, many, False), (parts, few, True)):
            with self.subTest(asked.__name__, count=count, paired=paired):
                ids = torch.randint(0, USERS, (count,)), torch.randint(0, NODES - USERS, (count,))
                model, given, run = self.tried(asked, *ids, paired)
                with torch.no_grad():
                    wanted = model(**given)
                result = run(verify="full")
                self.assertEqual(result.verdict, "equal")
                torch.testing.assert_close(result.output, wanted, rtol=1e-4, atol=1e-4)

    def test_numbers_beyond_their_part_are_refused_as_the_model_refuses_them(self):
        for users, items in ((USERS, 0), (0, NODES - USERS)):
            model, given, run = self.tried(parts, torch.tensor([0, users]), torch.tensor([0, items]))
            self.assertRaises(IndexError, model, **given)
            self.assertRaisesRegex(hopscope.HopscopeError, "out of bounds", run, verify="none")
