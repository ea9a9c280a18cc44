"""--reassociate: products with tables side by side, one by one. Drawn concatenations and products are judged by the untouched
module in float64, and their error by what rounding can make of it. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the
repository."""
import random
import unittest

import numpy
import torch
from torch import nn

from engine_early_products import ALONG, FEW, NODES, UNITS, WIDTH, drawn_graph, exact
from reassociated import ReassociatedTest
from tiers import one_in

OUT = 6
PARTS = {"x": WIDTH, "y": FEW, "sum": WIDTH, "mean of edges": ALONG, "max": WIDTH, "scaled": WIDTH}


class Drawn(nn.Module):
    """Tables of nodes side by side, some within others, an operator on all columns, and a layer on each tower."""

    def __init__(self, seed):
        super().__init__()
        draw = random.Random(seed)
        self.names = draw.sample(list(PARTS), 2) + [draw.choice(list(PARTS)) for _ in range(draw.randint(0, 4))]
        self.nested = draw.choice([False, True])
        self.between = draw.choice(["nothing", "relu", "scale", "relu scale"])
        self.towers = draw.choice([0, 0, 1, 3])
        self.way = draw.choice(["linear", "no bias", "matmul", "addmm"])
        self.width = sum(PARTS[name] for name in self.names)
        self.weight = nn.Parameter(torch.randn(OUT, self.width) / self.width**0.5)
        self.bias = nn.Parameter(torch.randn(OUT))

    @property
    def parts(self):
        """The places of separate products: all of them, or none where sums would touch more numbers."""
        separate = self.width >= (len(self.names) - 1) * OUT
        return max(self.towers, 1) * [(self.width, OUT)] if separate else []

    def table(self, name, x, y, ends, e):
        zeros, src, dst = torch.zeros_like(x), ends[0], ends[1]
        if name == "x":
            return x
        if name == "y":
            return y
        if name == "sum":
            return zeros.index_add(0, dst, x[src])
        if name == "max":
            return zeros.scatter_reduce(0, dst.view(-1, 1).expand(-1, WIDTH), x[src], "amax", include_self=False)
        if name == "scaled":
            return x * y[:, :1]
        return torch.zeros(x.size(0), ALONG, dtype=x.dtype).index_reduce(0, dst, e, "mean", include_self=False)

    def multiplied(self, rows):
        if self.way == "matmul":
            return rows @ self.weight.t() + self.bias
        if self.way == "addmm":
            return torch.addmm(self.bias, rows, self.weight.t())
        return nn.functional.linear(rows, self.weight, None if self.way == "no bias" else self.bias)

    def forward(self, x, y, edge_index, edge_attr):
        tables = [self.table(name, x, y, edge_index, edge_attr) for name in self.names]
        if self.towers:
            tables = [t.view(-1, 1, t.size(1)).repeat(1, self.towers, 1) for t in tables]
        if self.nested:
            tables = [tables[0], torch.cat(tables[1:], -1)]
        rows = torch.cat(tables, -1)
        if "relu" in self.between:
            rows = rows.relu()
        if "scale" in self.between:
            rows = rows * (y[:, 1:2].view(-1, 1, 1) if self.towers else y[:, 1:2])
        if not self.towers:
            return self.multiplied(rows)
        return torch.cat([self.multiplied(rows[:, i]) for i in range(self.towers)], -1)

    def __repr__(self):
        return f"{self.names} nested={self.nested} {self.between} {self.way} towers={self.towers}"


def module_of(seed, dtype):
    torch.manual_seed(seed)
    return Drawn(seed).to(dtype).eval()


def magnitude(module, data):
    """The same sums with all signs taken away, which bounds them: what stands between is monotone."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.abs_()
    return exact(module, {name: tensor.abs() for name, tensor in data.items()})


class DrawnColumns(ReassociatedTest):
    def test_results_are_as_near_to_exact_ones_as_rounding_allows(self):
        apart = 0
        for seed in one_in(8, range(96)):
            dtype = list(UNITS)[seed % 2]
            module = module_of(seed, dtype)
            with self.subTest(seed=seed, dtype=dtype, module=repr(module)):
                data = drawn_graph(dtype)
                report, made = self.ran(self.files(module, data), "--reassociate", "--verify", "full")
                self.assertEqual(report["verify"]["verdict"], "equal")
                places = [(place["in"], place["out"]) for place in report["reassociated"]["places"]]
                self.assertEqual([place for place in places if place[0] == module.width], module.parts)
                apart += len(module.parts)
                degree = numpy.bincount(data["edge_index"][1], minlength=NODES).max()
                bound = 2 * (degree + module.width + 16) * UNITS[dtype] * magnitude(module_of(seed, dtype), data)
                wrong = abs(made - exact(module, data)) > bound
                self.assertFalse(wrong.any(), f"{wrong.sum()} elements")
        self.assertGreater(apart, 6)


if __name__ == "__main__":
    unittest.main()
