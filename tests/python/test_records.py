"""Graphs as packages pass them: objects that hold tensors as attributes, beside other arguments or alone."""
import dataclasses
import typing

import hopscope
import torch
from support import EDGES, FEATURES, NODES, PackageTest, edges, graph
from torch import nn
from torch_geometric.data import Batch, Data


@dataclasses.dataclass(slots=True)
class Slots:
    V: torch.Tensor
    ends: torch.Tensor
    molecule: torch.Tensor
    targets: torch.Tensor  # unread
    size: int = 5
    layers: int = 2

    def __len__(self):
        return self.size


@dataclasses.dataclass(frozen=True)
class Frozen:
    V: torch.Tensor
    ends: torch.Tensor
    molecule: torch.Tensor
    name: str = "frozen"
    missing: torch.Tensor | None = None


class Tuple(typing.NamedTuple):
    V: torch.Tensor
    ends: torch.Tensor
    molecule: torch.Tensor
    missing: torch.Tensor | None = None


class Nested:
    def __init__(self, V, ends, molecule):
        self.inner, self.lists, self.molecule = Tuple(V, ends, molecule), {"ends": [ends]}, molecule

    @property
    def V(self):
        return self.inner.V

    @property
    def ends(self):
        return self.lists["ends"][0]


@dataclasses.dataclass
class Shards:
    nodes: list
    edges: list | None = None


@dataclasses.dataclass
class Both:
    nodes: torch.Tensor
    molecules: torch.Tensor
    loss: torch.Tensor | None = None


class Messages(nn.Module):
    """Two rounds of messages, and sums over molecules. `trainer` raises as that of a LightningModule does."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(FEATURES, 8), nn.Linear(8, 4)

    @property
    def trainer(self):
        raise RuntimeError(f"{type(self).__name__} is not attached to a Trainer")

    def nodes(self, g):
        x = self.first(g.V).relu()
        x = x.new_zeros(x.size(0), 8).index_add(0, g.ends[1], x[g.ends[0]])
        return self.second(x.new_zeros(x.size(0), 8).index_add(0, g.ends[1], x[g.ends[0]])).tanh()

    def molecules(self, g, x):
        return x.new_zeros(g.molecule.max() + 1, 4).index_add(0, g.molecule, x)

    def forward(self, g: typing.Any, scale: torch.Tensor | None = None) -> torch.Tensor:
        x = self.molecules(g, self.nodes(g))
        return x if scale is None else x * scale


class Named(Messages):
    def forward(self, g):
        x = self.nodes(g)
        return Both(x, self.molecules(g, x))


class Ends(Messages):
    """As MeshGraphNet of PhysicsNeMo: features, and the graph as a container. `shards` holds numbers only."""

    def forward(self, features, graph, shards: Shards):
        if shards.edges is not None:
            raise ValueError("no edges are sharded")
        source, target = graph.edge_index
        x = self.first(features)
        x = self.second(x.new_zeros(graph.num_nodes, 8).index_add(0, target, x[source]))
        return x.new_zeros(sum(shards.nodes), 4).index_add(0, target, x[source].relu())


def tensors():
    molecule = torch.sort(torch.cat([torch.arange(5), torch.randint(0, 5, (NODES - 5,))])).values
    return {"V": torch.randn(NODES, FEATURES), "ends": edges(NODES, NODES, EDGES), "molecule": molecule}


class Records(PackageTest):
    def equal(self, model, given, wanted):
        result = hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False)
        self.assertEqual(result.verdict, "equal", result.notes)
        return result, wanted(result.output)

    def check(self, model, given, expected):
        with torch.no_grad():
            wanted = model.eval()(*(given if isinstance(given, tuple) else (given,)))
        result, _ = self.equal(model, given, lambda output: self.same(output, wanted))
        for part in expected:
            self.assertTrue(any(part in note for note in result.notes), (part, result.notes))

    def test_objects_are_arguments(self):
        held = tensors()
        scale = torch.rand(5, 4)
        slots = Slots(**held, targets=torch.randn(3, 2))
        notes = ("'g.targets' is not read by the model: left out", "'g.layers' = 2 is part of the file")
        for given, expected in ((slots, notes), (Frozen(**held), ()), (Tuple(**held), ()), (Nested(**held), ())):
            with self.subTest(type(given).__name__):
                self.check(Messages(), (given, scale), expected)
                self.check(Messages(), (given,), ())

    def test_an_object_alone_is_what_forward_takes(self):
        for given in (Frozen(**tensors()), Slots(**tensors(), targets=torch.randn(3, 2)), Nested(**tensors())):
            with self.subTest(type(given).__name__):
                self.check(Messages(), given, ())

    def test_the_object_stays_as_it_was(self):
        given = Slots(**tensors(), targets=torch.randn(3, 2))
        before = {name: getattr(given, name) for name in given.__slots__}
        self.check(Messages(), (given,), ())
        self.assertTrue(all(getattr(given, name) is value for name, value in before.items()))

    def test_a_container_is_one_argument_of_several(self):
        data = graph()
        for nodes in (None, NODES):
            held = Data(edge_index=data.edge_index, pos=torch.randn(NODES, 3), title="a graph")
            if nodes:
                held.num_nodes = nodes
            with self.subTest(nodes=nodes):
                self.check(Ends(), (data.x, held, Shards([NODES])), ("'shards', a Shards, is part of the file",))

    def test_a_batch_keeps_its_kind_and_its_number_of_graphs(self):
        class Takes(Messages):
            def forward(self, g):
                if not isinstance(g, Batch) or g.names != [["a"], ["b"]]:
                    raise TypeError("another object")
                return super().forward(Tuple(g.V, g.edge_index, g.batch)).view(g.num_graphs, -1)

        graphs = [Data(V=torch.randn(n, FEATURES), edge_index=edges(n, n, 3 * n), names=[name], num_nodes=n)
                  for n, name in ((30, "a"), (20, "b"))]
        self.check(Takes(), Batch.from_data_list(graphs), ())

    def test_results_are_objects_too(self):
        given, model = Frozen(**tensors()), Named().eval()
        with torch.no_grad():
            wanted = model(given)
        result = hopscope.inference(model, (given,), scratch=self.scratch, verify="full", progress=False)
        self.assertIsInstance(result.output, Both)
        self.assertIsNone(result.output.loss)
        self.same(result.output.nodes, wanted.nodes)
        self.same(result.output.molecules, wanted.molecules)
        self.assertEqual(set(result.outputs), {"out.nodes", "out.molecules"})

    def test_what_was_saved_takes_other_objects(self):
        model = Messages().eval()
        saved = hopscope.save(model, (Slots(**tensors(), targets=torch.randn(3, 2)),), self.folder / "messages.pt")
        for other in (Slots(**tensors(), targets=torch.randn(3, 2)), Frozen(**tensors())):
            with torch.no_grad():
                wanted = model(other)
            result = hopscope.inference(saved, {"g": other}, scratch=self.scratch, verify="full", progress=False)
            self.same(result.output, wanted)


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope if ctx.needs_input_grad[0] else None
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, gradient, ctx.slope * gradient), None


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x, x.sign()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, gradient, _):
        return 2 * ctx.saved_tensors[0] * gradient


slope = Slope.apply  # as many packages keep it


class OwnDerivatives(Messages):
    def forward(self, g):
        square, sign = Squared.apply(self.nodes(g))
        return slope(square * sign, 0.2)


@torch.jit.script
def scripted_sum(x: torch.Tensor, places: torch.Tensor, size: int, dim: int = 0):
    shape = list(x.shape)
    shape[dim] = size
    return torch.zeros(shape, dtype=x.dtype).index_add(dim, places, x)


class ScriptedSums(Messages):
    """As SchNetPack and matgl have them."""

    def forward(self, g):
        x = self.first(g.V).relu()
        x = self.second(scripted_sum(x[g.ends[0]], g.ends[1], x.shape[0]))
        return scripted_sum(x[g.ends[0]].tanh(), g.ends[1], size=x.size(0))


class CountedOffsets(nn.Module):
    """Keeps the number of rows so far and counts on in place, as HGTConv does."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 5)

    def forward(self, x, y, edge_index):
        total, offsets, tables = 0, [], []
        for table in (x, y):
            offsets.append(total)
            total += table.size(0)
            tables.append(self.lin(table))
        messages = torch.cat(tables)[edge_index[0] + offsets[1]]
        return torch.zeros(x.size(0), 5).index_add(0, edge_index[1], messages)


class Functions(PackageTest):
    def test_a_number_of_rows_that_is_counted_on_in_place_keeps_what_was_read_from_it(self):
        model, draw = CountedOffsets().eval(), torch.Generator().manual_seed(1)
        ends = [torch.randint(rows, (300,), generator=draw) for rows in (41, 60)]
        given = {"x": torch.randn(60, 6, generator=draw), "y": torch.randn(41, 6, generator=draw), "edge_index": torch.stack(ends)}
        with torch.no_grad():
            wanted = model(**given)
        self.same(hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False).output, wanted)

    def test_functions_with_their_own_derivative_are_what_they_compute(self):
        model, given = OwnDerivatives().eval(), Frozen(**tensors())
        with torch.no_grad():
            wanted = model(given)
        self.same(hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False).output, wanted)
        traced = given.V.clone().requires_grad_()
        slope(traced, 0.2).sum().backward()
        self.same(traced.grad, torch.where(traced > 0, 1.0, 0.2))

    def test_scripted_functions_get_sizes_as_computations(self):
        model, given = ScriptedSums().eval(), Frozen(**tensors())
        with torch.no_grad():
            wanted = model(given)
        result = hopscope.inference(model, given, scratch=self.scratch, verify="full", progress=False)
        self.same(result.output, wanted)
        self.assertIn("no size is baked in", " ".join(result.notes))
