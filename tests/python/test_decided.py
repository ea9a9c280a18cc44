"""What decides about forward only in the data, where no small sample shows it, and what one call of forward leaves for the next."""
import hopscope
import numpy
import torch
from support import PackageTest, Plain, graph, made

FEW, MANY = (3_000, 9_000), (40_000, 70_000)  # nodes and edges: data that Python may compute as a whole, and others


class Decides(Plain):
    """One of two ways, by a function of the data."""

    def forward(self, x, edge_index):
        h = super().forward(x, edge_index)
        return h.relu() if self.decides(x, edge_index) else h.tanh()


class BySize(Decides):
    decides = staticmethod(lambda x, edge_index: x.size(0) > 2_900)


class ByRelation(Decides):
    decides = staticmethod(lambda x, edge_index: edge_index.size(1) < 1.9 * x.size(0) and x.size(0) > 30_000)


class ByShape(Decides):
    """A loop over pieces of the nodes."""

    decides = staticmethod(lambda x, edge_index: sum(piece.shape[0] // 2_000 for piece in x.split(2_500)) > 0)


class ByValue(Decides):
    decides = staticmethod(lambda x, edge_index: bool(x[-1].sum() > 100))


class ByNumPy(Decides):
    decides = staticmethod(lambda x, edge_index: x.numpy().max() > 50)


class ByArray(Decides):
    decides = staticmethod(lambda x, edge_index: numpy.asarray(x[-1]).all() and numpy.asarray(x).max() > 50)


class ByEquality(Decides):
    decides = staticmethod(lambda x, edge_index: torch.equal(x[-1], torch.full_like(x[-1], 60)))


class ByCloseness(Decides):
    decides = staticmethod(lambda x, edge_index: torch.allclose(x[-1], torch.full_like(x[-1], 60)))


class ByContents(Decides):
    decides = staticmethod(lambda x, edge_index: 60 in x)


class ByCount(Decides):
    """A size that follows from values."""

    decides = staticmethod(lambda x, edge_index: (x > 50).nonzero().size(0) > 0)


class ByLength(Decides):
    decides = staticmethod(lambda x, edge_index: len(x[x[:, 0] > 50]) > 0)


class ByBuffer(Decides):
    """A number of the model, against a size of the data."""

    def __init__(self):
        super().__init__()
        self.register_buffer("most", torch.tensor(30_000))

    def decides(self, x, edge_index):
        return self.most < x.size(0)


class ByChangedBuffer(Decides):
    """A number of the model that forward changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("largest", torch.zeros(()))

    def decides(self, x, edge_index):
        self.largest.copy_(x.max())
        return self.largest.abs() > 50


class ByDataOfBuffer(Decides):
    """The same, past the count of its versions."""

    def __init__(self):
        super().__init__()
        self.register_buffer("large", torch.tensor(False))

    def decides(self, x, edge_index):
        self.large.data.copy_(x.max() > 50)
        return bool(self.large)


class ByNumber(Plain):
    """A number that Python computes from the data."""

    def forward(self, x, edge_index):
        return super().forward(x, edge_index) * (3 if int((x > 50).sum()) else 2)


class Remembers(Plain):
    """Computes a number once, for whatever graph comes first."""

    def __init__(self):
        super().__init__()
        self.number, self.numbers, self.seen = None, {}, []

    def forward(self, x, edge_index):
        if self.number is None:
            self.number = x.mean(0)
        self.numbers.setdefault("deviation", x.std(0))
        self.seen.append(x.size(0))
        return super().forward((x - self.number) / self.numbers["deviation"], edge_index) * min(self.seen[0], 2)


class RemembersInside(Plain):
    """As Remembers, in an object of its own."""

    class Store:
        mean = None

    def __init__(self):
        super().__init__()
        self.store = (self.Store(), "a tuple")

    def forward(self, x, edge_index):
        store = self.store[0]
        store.mean = x.mean(0) if store.mean is None else store.mean
        return super().forward(x - store.mean, edge_index)


def data_of(size):
    data = graph(*size)
    data.x[-1] = 60
    return data


class Asserts(Plain):
    """Reads values, but computes the same for all of them."""

    def forward(self, x, edge_index):
        assert int(edge_index.max()) < x.size(0), "edges of another graph"
        if bool(torch.isnan(x).any()):
            raise ValueError("a feature is not a number")
        return super().forward(x, edge_index)


class ReadsItself(Plain):
    """Python reads values of the model alone, and a text."""

    def __init__(self):
        super().__init__()
        self.register_buffer("on", torch.tensor(True))
        self.scale = torch.nn.Parameter(torch.tensor(-2.5))

    def forward(self, x, edge_index):
        h = super().forward(x, edge_index) * float(self.scale.abs())
        self.said = f"{x.mean():.2f} {x[0]}"
        return h.relu() if self.on else h.tanh()


class Selects(Plain):
    """A size follows from values, but decides nothing."""

    def forward(self, x, edge_index):
        return super().forward(x, edge_index)[x[:, 0] > 0]


class Decided(PackageTest):
    def computed(self, kind, size):
        """Runs inference, and compares its result with that of the model."""
        data, model = data_of(size), made(kind)
        result = hopscope.inference(model, data, device="cpu", verify="none", via="trace")
        self.same(result.output, made(kind)(data.x, data.edge_index))
        return model

    def test_a_trace_that_the_data_contradict_is_refused_with_the_line(self):
        for kind, size in (
            (BySize, FEW), (ByShape, FEW), (ByValue, FEW), (ByNumber, FEW),
            (BySize, MANY), (ByRelation, MANY), (ByShape, MANY), (ByValue, MANY), (ByNumber, MANY), (ByNumPy, MANY),
            (ByArray, MANY), (ByEquality, MANY), (ByCloseness, MANY), (ByContents, MANY), (ByCount, MANY), (ByLength, MANY),
            (ByBuffer, MANY), (ByChangedBuffer, MANY), (ByDataOfBuffer, MANY),
        ):  # fmt: skip
            with self.subTest(kind.__name__, size=size), self.assertRaises(hopscope.Refused) as caught:
                hopscope.save(made(kind), data_of(size), self.folder / "model.pt", via="trace")
            said = r"baked in|the path through forward depends on (the data|the sizes of these data|a (value|size that follows from values) in the data) "
            self.assertRegex(caught.exception.message, said)
            self.assertRegex(caught.exception.where, r"test_decided\.py:\d+")

    def test_a_trace_that_they_do_not_contradict_is_used(self):
        self.computed(ByRelation, FEW)
        self.computed(Asserts, MANY)
        self.computed(ReadsItself, MANY)
        hopscope.save(made(Selects), data_of(MANY), self.folder / "selects.pt", via="trace")

    def test_a_call_leaves_nothing_for_the_next_one(self):
        model = self.computed(Remembers, FEW)
        self.assertEqual((model.number, model.numbers, model.seen), (None, {}, []))
        self.assertIsNone(self.computed(RemembersInside, MANY).store[0].mean)


if __name__ == "__main__":
    import unittest

    unittest.main()
