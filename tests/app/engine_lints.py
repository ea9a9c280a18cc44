"""Diagnostics of models that can be split, each with a model that deserves it and one that does not. HOPSCOPE_ENGINE names
the program, HOPSCOPE_ROOT the repository."""
import unittest

import torch
from safetensors.torch import save_file
from torch import nn

import engine_models as models
from engine_commands import EngineTest

WIDTH = 6


def neighbours(x, edge_index):
    return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


class Plain(nn.Module):
    """Sums over neighbours: nothing to say about it."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(WIDTH, 4)

    def forward(self, x, edge_index):
        return self.lin(neighbours(x, edge_index))


class Idle(Plain):
    def forward(self, x, edge_index, edge_weight, extra):
        return self.lin(neighbours(x * extra, edge_index)) + 0 * x.size(0)


class Largest(Plain):
    def forward(self, x, edge_index):
        to = edge_index[1].unsqueeze(1).expand(-1, WIDTH)
        start = torch.full_like(x, float("-inf"))
        return self.lin(start.scatter_reduce(0, to, x[edge_index[0]], "amax").clamp(min=-1))


class AddsLoops(Plain):
    def forward(self, x, edge_index):
        loop = torch.arange(x.size(0))
        return self.lin(neighbours(x, torch.cat([edge_index, torch.stack([loop, loop])], 1)))


class Degrees(Plain):
    def forward(self, x, edge_index):
        scale = torch.bincount(edge_index[1], minlength=x.size(0)).clamp(min=1).float().pow(-0.5)
        weight = scale[edge_index[0]] * scale[edge_index[1]]
        return self.lin(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]] * weight.unsqueeze(1)))


class OwnDegrees(Plain):
    """A mean: what a destination divides by, its own edges say."""

    def forward(self, x, edge_index):
        count = torch.bincount(edge_index[1], minlength=x.size(0)).clamp(min=1)
        return self.lin(neighbours(x, edge_index) / count.unsqueeze(1))


class Sums(Plain):
    """Rounds of sums in half precision, with something between them."""

    def __init__(self, between, dtype):
        super().__init__()
        self.between, self.dtype = between, dtype

    def forward(self, x, edge_index):
        h = x.to(self.dtype)
        for _ in range(8):
            h = self.between(neighbours(h, edge_index))
        return self.lin(h.float())


class Training(Plain):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, edge_index):
        return self.layer(self.lin(neighbours(x, edge_index)))


def graph(loops, nodes=40, edges=150):
    """Each node but the last has an edge into it; with self-loops, or without any."""
    x, index = models.graph(nodes, edges, WIDTH)
    index = index[:, index[0] != index[1]]
    ring = torch.arange(nodes - 1)
    index = torch.cat([index[:, index[1] < nodes - 1], torch.stack([(ring + 1) % (nodes - 1), ring])], 1)
    return x, torch.cat([index, torch.tensor([[3, 5], [3, 5]])], 1) if loops else index


class Lints(EngineTest):
    def lints(self, module, loops=False, train=False, **more):
        x, edge_index = graph(loops)
        inputs = {"x": x, "edge_index": edge_index, **{name: make(x, edge_index) for name, make in more.items()}}
        module.train(train)
        with torch.no_grad():
            torch.jit.trace(module, tuple(inputs.values()), check_trace=False).save(str(self.folder / "model.pt"))
        save_file({name: value.contiguous() for name, value in inputs.items()}, str(self.folder / "graph.safetensors"))
        self.words = [self.folder / "model.pt", "--data", self.folder / "graph.safetensors"]
        document = self.document("inspect", *self.words)
        self.valid("inspect", document)
        return {lint["code"]: lint for lint in document["lints"]}

    def told(self, code, says, *arguments, **options):
        """The one thing that is said of the model: this, with a hint."""
        found = self.lints(*arguments, **options)
        self.assertEqual(list(found), [code])
        self.assertIn(says, found[code]["message"])
        self.assertTrue(found[code]["hint"])
        self.assertFalse(found[code]["blocking"])
        return found[code]

    def test_nothing_is_said_of_a_plain_model(self):
        self.assertEqual(self.lints(Plain()), {})
        self.assertEqual(self.lints(Plain(), loops=True), {})
        self.assertEqual(self.lints(OwnDegrees()), {})

    def test_weights_that_are_not_finite_are_named(self):
        module = Plain()
        with torch.no_grad():
            module.lin.weight[1, 2], module.lin.weight[0, 0] = float("nan"), float("inf")
        self.told("nan-weights", "lin.weight holds NaN or infinite numbers (2)", module)

    def test_an_input_that_nobody_reads_is_named(self):
        self.told("unused-input", "the input edge_weight", Idle(), edge_weight=lambda x, e: torch.rand(e.size(1)),
                  extra=lambda x, e: torch.rand(x.size(0), 1))

    def test_rows_without_a_message_keep_the_initial_value_of_a_maximum(self):
        lint = self.told("isolated-extremum", ": no message reaches 1 of 40 rows of node", Largest())
        self.assertIn("engine_lints.py:", lint["message"])

    def test_a_second_self_loop_is_told(self):
        lint = self.told("self-loops-twice", "edge_index has self-loops (number: 2)", AddsLoops(), loops=True)
        self.assertIn("engine_lints.py:", lint["message"])
        self.assertEqual(self.lints(AddsLoops()), {})

    def test_degrees_of_sources_are_those_of_the_whole_graph(self):
        lint = self.told("whole-graph-degrees", "computed once, over the whole graph", Degrees())
        self.assertIn("engine_lints.py:", lint["message"])

    def test_sums_that_grow_beyond_their_type_are_told(self):
        lint = self.told("growing-sums", "in sums over neighbours up to aten::index_add", Sums(torch.relu, torch.float16))
        self.assertIn("engine_lints.py:", lint["message"])
        self.assertIn("float16 cannot hold them", lint["message"])
        self.assertEqual(self.lints(Sums(torch.tanh, torch.float16)), {})
        self.assertEqual(self.lints(Sums(torch.relu, torch.float32)), {})

    def test_what_training_leaves_on_is_refused_with_a_way_out(self):
        for layer, says in ((nn.Dropout(0.5), "draws random numbers"), (nn.RReLU(), "draws random numbers"),
                            (nn.BatchNorm1d(4), "updates its running statistics")):
            with self.subTest(layer=type(layer).__name__):
                lint = self.lints(Training(layer), train=True)["no-split"]
                self.assertIn(says, lint["message"])
                self.assertIn("in layer (functional.py:", lint["message"])
                self.assertIn("model.eval()", lint["hint"])


if __name__ == "__main__":
    unittest.main()
