"""--reassociate: products before the gathers of the rows that they multiply. Drawn message functions and convolutions of PyG
are judged by the untouched module in float64, and their error by what rounding can make of it. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import random
import unittest

import numpy
import torch
from torch import nn
from torch_geometric import nn as pyg

from reassociated import ReassociatedTest
from tiers import one_in

WIDTH, FEW, ALONG, OUT = 24, 3, 4, 6  # columns of x, of y, of edges, of results
NODES, EDGES, EMPTY = 200, 1500, 20  # the last nodes have no edges to them
UNITS = {torch.float32: 2**-24, torch.float64: 2**-53}

# The parts of a concatenation, and the ends and tables from which all of a part is gathered.
I, J = ("i", "x"), ("j", "x")
PARTS = {"i": {I}, "j": {J}, "j - i": {I, J}, "i + j": {I, J}, "-j": {("j", "-x")}, "j / 2": {("j", "x / 2")},
         "y j": {("j", "y")}, "e": set(), "j + e": set(), "relu j": set()}


class Drawn(nn.Module):
    """Layers over rows of both ends of edges and of the edges, side by side, and an aggregation. `magnitude`: without a sign,
    so that the result bounds the sum of absolute values."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.names = [self.random.choice(list(PARTS)) for _ in range(self.random.randint(1, 4))]
        self.towers = self.random.choice([0, 0, 1, 3])
        self.way = self.random.choice(["linear", "linear", "no bias", "matmul", "addmm"])
        if self.towers:
            self.way = self.random.choice(["linear", "no bias"])
        self.activation = self.random.choice([False, True])
        self.second = self.random.choice([False, False, True])
        self.reduce = self.random.choice(["sum", "mean", "amax"])
        self.magnitude = False
        width = sum(self.width(name) for name in self.names)
        layers = max(self.towers, 1)
        self.weights = nn.ParameterList(torch.randn(OUT, width) / width**0.5 for _ in range(layers))
        self.biases = nn.ParameterList(torch.randn(OUT) for _ in range(layers))
        self.last = nn.Linear(OUT * layers, OUT)

    def width(self, name):
        return {"y j": FEW, "e": ALONG}.get(name, WIDTH // max(self.towers, 1))

    @property
    def moved(self):
        """The columns that are multiplied on nodes: where reading them and multiplying costs more than reading products."""
        columns = sum(self.width(name) for name in self.names if PARTS[name])
        reads = {table: self.width(name) for name in self.names for table in PARTS[name]}
        gathers = len({end for end, _ in reads})
        return columns if columns and 32 * sum(reads.values()) + columns * OUT >= 32 * gathers * OUT else 0

    def part(self, name, x, y, ends, e):
        i, j = x[ends[1]], x.index_select(0, ends[0])
        minus = 1 if self.magnitude else -1
        if name == "e":
            return e
        if name == "y j":
            return y[ends[0]]
        if name == "j + e":
            return j + e[..., :1]
        return {"i": i, "j": j, "j - i": j + i if self.magnitude else j - i, "i + j": i + j, "-j": minus * j, "j / 2": j / 2,
                "relu j": j.relu()}[name]

    def multiplied(self, rows, layer):
        weight, bias = self.weights[layer], self.biases[layer]
        if self.way == "matmul":
            return rows @ weight.t() + bias
        if self.way == "addmm":
            return torch.addmm(bias, rows, weight.t())
        return torch.nn.functional.linear(rows, weight, None if self.way == "no bias" else bias)

    def forward(self, x, y, edge_index, edge_attr):
        if self.towers:
            x = x.view(-1, self.towers, WIDTH // self.towers)
            y, edge_attr = (t.view(-1, 1, t.size(1)).repeat(1, self.towers, 1) for t in (y, edge_attr))
        rows = [self.part(name, x, y, edge_index, edge_attr) for name in self.names]
        rows = torch.cat(rows, -1) if len(rows) > 1 else rows[0]
        if self.towers:
            towers = [self.multiplied(rows[:, i], i) for i in range(self.towers)]
            messages = torch.stack(towers, 1).view(rows.size(0), self.towers * OUT)
        else:
            messages = self.multiplied(rows, 0)
        if self.activation:
            messages = messages.relu()
        if self.second:
            messages = self.last(messages)
        index = edge_index[1].view(-1, 1).expand_as(messages)
        start = torch.zeros(x.size(0), messages.size(1), dtype=x.dtype)
        return start.scatter_reduce(0, index, messages, self.reduce, include_self=False)

    def __repr__(self):
        return f"{self.names} {self.way} towers={self.towers} relu={self.activation} second={self.second} {self.reduce}"


def drawn_graph(dtype, edges=EDGES):
    source = torch.Generator().manual_seed(1)

    def rows(count, width):
        return torch.randn(count, width, generator=source, dtype=torch.float64).to(dtype)

    ends = torch.stack([torch.randint(0, NODES, (edges,), generator=source),
                        torch.randint(0, NODES - EMPTY, (edges,), generator=source)])
    return {"x": rows(NODES, WIDTH), "y": rows(NODES, FEW), "edge_index": ends, "edge_attr": rows(edges, ALONG)}


def module_of(seed, dtype):
    torch.manual_seed(seed)
    return Drawn(seed).to(dtype).eval()


def magnitude_of(seed, dtype, data):
    module = module_of(seed, dtype).double()
    module.magnitude = True
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.abs_()
        return module(*(t.double().abs() if t.is_floating_point() else t for t in data.values())).numpy()


def exact(module, data):
    with torch.no_grad():
        return module.double()(*(t.double() if t.is_floating_point() else t for t in data.values())).numpy()


class EdgeModel(nn.Module):
    """Edges of a MetaLayer: both ends, the edge and its graph."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2 * WIDTH + ALONG + FEW, OUT), nn.ReLU(), nn.Linear(OUT, OUT))

    def forward(self, x, y, edge_index, edge_attr):
        rows = torch.cat([x[edge_index[0]], x[edge_index[1]], edge_attr, y[edge_index[0]]], 1)
        return torch.zeros(x.size(0), OUT, dtype=x.dtype).index_add(0, edge_index[1], self.layers(rows))


class Distances(nn.Module):
    """Messages of an EGNN: both ends and their squared distance."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2 * WIDTH + 1, OUT), nn.SiLU(), nn.Linear(OUT, OUT), nn.SiLU())

    def forward(self, x, y, edge_index, edge_attr):
        src, dst = edge_index
        apart = (y[dst] - y[src]).pow(2).sum(-1, keepdim=True)
        messages = self.layers(torch.cat([x[dst], x[src], apart], -1))
        return torch.zeros(x.size(0), OUT, dtype=x.dtype).index_add(0, dst, messages)


class Convolved(nn.Module):
    def __init__(self, convolution, along=False):
        super().__init__()
        self.convolution, self.along = convolution, along

    def forward(self, x, y, edge_index, edge_attr):
        return self.convolution(x, edge_index, edge_attr) if self.along else self.convolution(x, edge_index)


def pna(**more):
    return pyg.PNAConv(WIDTH, WIDTH, ["mean", "min", "max", "std"], ["identity", "attenuation"], torch.tensor([1, 2, 5, 9, 4]),
                       **more)


# The products that are moved: their columns in and out. PNA has its input and eight aggregations of each node side by side.
CONVOLUTIONS = {
    "edge": (lambda: Convolved(pyg.EdgeConv(nn.Sequential(nn.Linear(2 * WIDTH, OUT), nn.ReLU()))), [(2 * WIDTH, OUT)]),
    "pna": (lambda: Convolved(pna()), [(9 * WIDTH, WIDTH), (2 * WIDTH, WIDTH)]),
    "pna, towers": (lambda: Convolved(pna(towers=3)), 3 * [(9 * WIDTH, WIDTH // 3)] + 3 * [(2 * WIDTH, WIDTH)]),
    "pna, own towers": (lambda: Convolved(pna(towers=3, divide_input=True)), 3 * [(3 * WIDTH, WIDTH // 3)] + 3 * [(2 * WIDTH // 3, WIDTH // 3)]),
    "pna, two layers": (lambda: Convolved(pna(pre_layers=2)), [(9 * WIDTH, WIDTH), (2 * WIDTH, WIDTH)]),
    "pna, edges": (lambda: Convolved(pna(edge_dim=ALONG), along=True), [(9 * WIDTH, WIDTH), (2 * WIDTH, WIDTH)]),
    "cg": (lambda: Convolved(pyg.CGConv(WIDTH)), 2 * [(2 * WIDTH, WIDTH)]),
    "cg, edges": (lambda: Convolved(pyg.CGConv(WIDTH, dim=ALONG), along=True), 2 * [(2 * WIDTH, WIDTH)]),
    "edge model": (EdgeModel, [(2 * WIDTH + FEW, OUT)]),
    "distances": (Distances, [(2 * WIDTH, OUT)]),
}


def convolution_of(kind, dtype=torch.float32):
    torch.manual_seed(5)
    return CONVOLUTIONS[kind][0]().to(dtype).eval()


class Convolutions(ReassociatedTest):
    def test_they_are_as_near_to_exact_results_as_before(self):
        data = drawn_graph(torch.float32)
        for kind, (_, places) in CONVOLUTIONS.items():
            with self.subTest(kind=kind):
                words = self.files(convolution_of(kind), data)
                _, plain = self.ran(words, "--verify", "none")
                report, moved = self.ran(words, "--reassociate", "--verify", "full", out="moved")
                self.assertEqual(report["verify"]["verdict"], "equal")
                self.assertEqual([(p["in"], p["out"]) for p in report["reassociated"]["places"]], places)
                reference = exact(convolution_of(kind), data)
                before, after = (abs(result - reference).max() for result in (plain, moved))
                self.assertLessEqual(after, 4 * before)

    def test_half_types_are_verified_with_their_own_tolerance(self):
        for kind in ("edge", "cg, edges"):
            for dtype in (torch.float16, torch.bfloat16):
                with self.subTest(kind=kind, dtype=dtype):
                    words = self.files(convolution_of(kind, dtype), drawn_graph(dtype))
                    report = self.document("run", *words, "-o", self.folder / "out", "--reassociate", "--verify", "full")
                    self.assertEqual(report["verify"]["verdict"], "equal", report["verify"])
                    self.assertTrue(report["reassociated"]["places"])

    def test_nothing_moves_before_a_gather_on_a_graph_with_fewer_edges_than_nodes(self):
        words = self.files(convolution_of("pna"), drawn_graph(torch.float32, edges=NODES - 1))
        report, _ = self.ran(words, "--reassociate")
        self.assertEqual([place["in"] for place in report["reassociated"]["places"]], [9 * WIDTH])


class DrawnMessages(ReassociatedTest):
    def test_drawn_messages_are_as_near_to_exact_ones_as_rounding_allows(self):
        moved = 0
        for seed in one_in(4, range(96)):
            dtype = list(UNITS)[seed % 2]
            module = module_of(seed, dtype)
            with self.subTest(seed=seed, dtype=dtype, module=repr(module)):
                data = drawn_graph(dtype)
                expected = [(module.moved, OUT)] * max(module.towers, 1) if module.moved else []
                if module.second and expected and not module.activation:
                    expected = expected + [(OUT * max(module.towers, 1), OUT)]
                words = self.files(module, data)
                report, made = self.ran(words, "--reassociate", "--verify", "full")
                self.assertEqual(report["verify"]["verdict"], "equal")
                places = [(place["in"], place["out"]) for place in report["reassociated"]["places"]]
                if all(PARTS[name] for name in module.names):
                    self.assertEqual(places, expected)
                else:  # what follows may not be moved any more
                    self.assertEqual(places, expected[:max(module.towers, 1)])
                moved += len(places)
                degree = numpy.bincount(data["edge_index"][1]).max()
                terms = 2 * (degree + 4 * WIDTH + 4 * OUT + 16)
                bound = terms * UNITS[dtype] * magnitude_of(seed, dtype, data)
                wrong = abs(made - exact(module, data)) > bound
                self.assertFalse(wrong.any(), f"{wrong.sum()} elements")
        self.assertGreater(moved, 10)


if __name__ == "__main__":
    unittest.main()
