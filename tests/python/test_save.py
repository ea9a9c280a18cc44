"""Models leave as files that were tried: what tracing would bake in is found before, and the model stays as it was."""
from unittest import mock

import hopscope
import torch
import torch_geometric.nn as G
from hopscope._samples import SMALLER, draw
from hopscope._scratch import Scratch, data_files
from hopscope.calling import bind
from hopscope.data import inputs_of
from support import FEATURES, Gcn, Hetero, NODES, PackageTest, Plain, TakesData, graph, made, shop
from torch import nn


class CountsNodes(nn.Module):
    """Takes the number of nodes from the edges: a number to a trace, a computation to a script."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, 3)

    def forward(self, x, edge_index):
        count = int(edge_index.max()) + 1
        return self.linear(torch.zeros(count, x.size(1)).index_add(0, edge_index[1], x[edge_index[0]]))


class CountsInNumpy(CountsNodes):
    """The same where TorchScript cannot follow."""

    def forward(self, x, edge_index):
        count = int(edge_index.numpy().max()) + 1
        return self.linear(torch.zeros(count, x.size(1)).index_add(0, edge_index[1], x[edge_index[0]]))


class Branches(CountsInNumpy):
    """Another operator for large graphs, by a number that a trace does not keep."""

    def forward(self, x, edge_index):
        h = self.linear(x)
        return h.relu() if int(edge_index.numpy().shape[1]) > 100 else h.tanh()


class BranchesOnSizes(Plain):
    """Samples and data take different ways."""

    def forward(self, x, edge_index):
        h = super().forward(x, edge_index)
        return h.relu() if edge_index.size(1) > 4 * x.size(0) else h.tanh()


class Sized(Plain):
    """One of two branches, by a relation of sizes."""

    relation = staticmethod(lambda nodes, links: nodes % 2 == 0)

    def forward(self, x, edge_index):
        h = super().forward(x, edge_index)
        return h.relu() if self.relation(x.size(0), edge_index.size(1)) else h.tanh()


class Fourfold(Sized):
    relation = staticmethod(lambda nodes, links: links > 4 * nodes)


class Fifth(Sized):
    relation = staticmethod(lambda nodes, links: nodes == links // 5)


def program_of(model, data, path, strict):
    """A program that knows the branch that the data take."""
    sizes = {"x": {0: torch.export.Dim.AUTO}, "edge_index": {1: torch.export.Dim.AUTO}}
    torch.export.save(torch.export.export(model, (data.x, data.edge_index), dynamic_shapes=sizes, strict=strict), path)
    return path


class Formats(Plain):
    """Computes with a size where neither a trace nor a script follows."""

    def forward(self, x, edge_index):
        return super().forward(x, edge_index) * (lambda rows: 1.0 / float(rows))(x.size(0))


class Random(Plain):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index) + torch.rand(3)


class Fails(Plain):
    def forward(self, x, edge_index):
        raise ValueError("not today")


class Save(PackageTest):
    def save(self, model, data, **options):
        return hopscope.save(model, data, self.folder / "model.pt", **options)

    def refused(self, model, data=None, **options):
        with self.assertRaises(hopscope.Refused) as caught:
            self.save(model, graph() if data is None else data, **options)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["scratch"])
        return caught.exception

    def test_a_traced_file_computes_what_the_model_does_on_a_graph_it_never_saw(self):
        model, data = made(Gcn), graph()
        saved = self.save(model, data)
        self.assertEqual((saved.how, saved.arguments), ("trace", ("x", "edge_index")))
        self.assertLess(saved.difference, 1e-5)
        self.assertIn("no size is baked in", str(saved))
        self.same(torch.jit.load(saved.path)(data.x, data.edge_index), model(data.x, data.edge_index))

    def test_modes_gradients_random_numbers_and_caches_stay_as_they_were(self):
        model, data = made(TakesData).train(), graph()
        model.conv.eval()
        model.conv.bias.requires_grad_(False)
        model.conv._cached_edge_index = "kept"
        before = torch.get_rng_state()
        self.save(model, data)
        self.assertTrue(model.training)
        self.assertFalse(model.conv.training)
        self.assertEqual([p.requires_grad for p in model.parameters()], [False, True])
        self.assertEqual((model.conv.cached, model.conv._cached_edge_index), (True, "kept"))
        self.assertTrue(torch.equal(torch.get_rng_state(), before))
        self.assertTrue(torch.is_grad_enabled())

    def test_a_baked_size_is_found_and_the_model_scripted(self):
        data = graph()
        data.edge_index[0, 0] = NODES - 1
        saved = self.save(made(CountsNodes), data)
        self.assertEqual(saved.how, "script")
        self.assertRegex(str(saved), r"baked in: \d+ for one graph, \d+ for another \(.*test_save\.py:\d+\)")

    def test_a_baked_size_that_cannot_be_scripted_is_refused_with_its_line(self):
        problem = self.refused(made(CountsInNumpy), via="trace")
        self.assertRegex(problem.message, "baked in")
        self.assertRegex(problem.where, r"test_save\.py:\d+")
        self.assertIn("x.size(0)", problem.hint)

    def test_a_branch_on_the_data_is_refused_with_the_reasons_of_all_ways(self):
        message = self.refused(made(Branches)).message
        self.assertRegex(message, "different graphs run different operators.*cannot be scripted.*cannot be exported, with strict=False: .*strict=True: ")
        self.assertNotIn("scripted", self.refused(made(Branches), via="export").message)
        self.assertNotIn("exported", self.refused(made(Branches), via="trace").message)

    def test_an_exported_program_computes_what_the_model_does_on_another_graph(self):
        for model, data in ((made(Gcn), graph()), (made(Hetero), shop())):
            saved = hopscope.export_program(model, data, self.folder / "model.pt2")
            self.assertEqual(saved.how, "export")
            result = hopscope.inference(saved.path, data, device="cpu", batch=7)
            self.assertEqual(result.verdict, "equal")
        model, data = made(Gcn), graph(150, 700)
        hopscope.export_program(model, graph(), self.folder / "model.pt2")
        self.same(hopscope.inference(self.folder / "model.pt2", data, device="cpu").output, model(data.x, data.edge_index))

    def test_a_program_is_not_written_for_data_that_break_a_guard_on_sizes(self):
        broken = r"would compute something else on these data: it was exported for graphs with edge_index.size\(1\) <= 4 \* x.size\(0\), and here edge_index"
        self.assertRegex(self.refused(made(BranchesOnSizes), graph(200, 900), via="export").message, broken)
        with self.assertRaisesRegex(hopscope.Refused, broken):
            hopscope.inference(made(BranchesOnSizes), graph(200, 900), device="cpu", verify="none", via="export")
        saved = self.save(made(BranchesOnSizes), graph(200, 700), via="export")
        self.assertRegex(str(saved), r"the file is for graphs with L\['edge_index'\].size\(\)\[1\] <= 4\*L\['x'\].size\(\)\[0\]; others")
        self.assertEqual(hopscope.inference(saved, graph(300, 800), device="cpu").verdict, "equal")
        with self.assertRaisesRegex(hopscope.InputError, r"graphs with edge_index.size\(1\) <= 4 \* x.size\(0\), and here edge_index.size\(1\) is 900"):
            hopscope.inference(saved, graph(200, 900), device="cpu")

    def test_a_program_runs_on_data_that_keep_its_guards_and_on_no_others(self):
        for kind, strict, keeps, breaks, says in (
            (Sized, True, (200, 700), (201, 700), r"x.size\(0\) % 2 == 0, and here x.size\(0\) is 201"),
            (Fourfold, False, (200, 900), (200, 700), r"edge_index.size\(1\) > 4 \* x.size\(0\), and here edge_index.size\(1\) is 700"),
            (Fifth, False, (200, 1003), (200, 900), r"x.size\(0\) == edge_index.size\(1\) // 5, and here x.size\(0\) is 200"),
        ):
            model, data, other = made(kind), graph(*keeps), graph(*breaks)
            path = program_of(model, graph(60, 300), self.folder / "model.pt2", strict)
            with self.subTest(kind.__name__):
                for verify in ("full", "sample"):  # a sample of the graph breaks guards that the graph keeps
                    result = hopscope.inference(path, data, device="cpu", batch=7, verify=verify)
                    self.assertEqual(result.verdict, "equal")
                self.same(result.output, model(data.x, data.edge_index))
                with self.assertRaisesRegex(hopscope.InputError, says) as caught:
                    hopscope.inference(path, other, device="cpu")
                self.assertIn("torch.export", caught.exception.hint)
        runner = hopscope.load(hopscope.export(path, data, self.folder / "made").folder)
        self.same(runner.inference(x=data.x, edge_index=data.edge_index), model(data.x, data.edge_index))
        with self.assertRaisesRegex(hopscope.InputError, r"does not fit this export: the model was exported for graphs with x.size\(0\) == edge"):
            runner.inference(x=other.x, edge_index=other.edge_index)

    def test_a_model_that_torchscript_changes_is_exported(self):
        model, data = made(Formats), graph(200, 900)
        result = hopscope.inference(model, data, device="cpu", batch=7)
        self.same(result.output, model(data.x, data.edge_index))
        self.assertEqual(result.saved.how, "export")
        self.assertRegex("\n".join(result.notes), "TorchScript does not fit: .*baked in.*cannot be scripted")
        self.assertEqual(hopscope.inference(made(Gcn), data, device="cpu", via="export").saved.how, "export")

    def test_ways_that_do_not_exist_are_refused(self):
        with self.assertRaisesRegex(hopscope.UsageError, "is not a way to save a model"):
            self.save(made(Plain), graph(), via="onnx")
        saved = self.save(made(Plain), graph())
        with self.assertRaisesRegex(hopscope.UsageError, "is a file already"):
            hopscope.inference(saved, graph(), via="export")

    def test_what_is_no_function_of_its_inputs_is_refused(self):
        model, data = made(Random), graph()
        before = torch.get_rng_state()
        self.assertRegex(self.refused(model, data).message, "a different result each time")
        self.assertTrue(torch.equal(torch.get_rng_state(), before))

    def test_a_file_that_computes_something_else_does_not_leave(self):
        def other(x, edge_index):
            return torch.zeros(x.size(0), 3)

        with mock.patch("torch.jit.load", lambda _: other):
            self.assertRegex(self.refused(made(Plain), via="trace").message, "the file and the model give different results")
        with mock.patch("torch.jit.load", side_effect=RuntimeError("broken")):
            problem = self.refused(made(Plain), via="trace")
            self.assertRegex(problem.message, "cannot be evaluated on another graph: RuntimeError: broken")

    def test_a_forward_that_fails_is_told_with_its_line(self):
        problem = self.refused(made(Fails))
        self.assertRegex(problem.message, "ValueError: not today")
        self.assertRegex(problem.where, r"test_save\.py:\d+")

    def test_weights_that_are_not_there_yet_are_refused(self):
        class Lazy(Plain):
            def __init__(self):
                super().__init__()
                self.conv = G.SAGEConv(-1, 3)

        self.assertRegex(self.refused(Lazy()).message, "has no values yet")

    def test_a_folder_that_is_not_there_is_an_input_error(self):
        with self.assertRaisesRegex(hopscope.InputError, "is not a folder"):
            hopscope.save(made(Plain), graph(), self.folder / "gone" / "model.pt")

    def test_relations_become_texts_in_the_file(self):
        saved = self.save(made(Hetero), shop())
        self.assertEqual(saved.keys[2], "edge_index_dict.user__rates__item")
        self.assertEqual(saved.structure, {"item": "out.item", "user": "out.user"})

    def test_two_files_of_one_model_have_one_fingerprint(self):
        model = made(Gcn)
        first, second = self.save(model, graph()), self.save(model, graph())
        self.assertEqual(first.fingerprint, second.fingerprint)
        with torch.no_grad():
            model.second.bias[0] += 1
        self.assertNotEqual(self.save(model, graph()).fingerprint, first.fingerprint)

    def test_a_compiled_module_is_saved_as_it_is(self):
        data = graph()
        traced = torch.jit.trace(made(Plain), (data.x, data.edge_index), check_trace=False)
        self.assertEqual(self.save(traced, data).how, "as it was")


class Reads(nn.Module):
    """Message passing, and a number of the data in Python, by a way that no trace follows."""

    def __init__(self, read):
        super().__init__()
        self.linear, self.read = nn.Linear(FEATURES, 3), read

    def forward(self, x, edge_index, batch=None, level=None, kind=None, edge_type=None, edge_attr=None, u=None, scale=None):
        given = dict(x=x, edge_index=edge_index, batch=batch, level=level, kind=kind, edge_type=edge_type, edge_attr=edge_attr,
                     u=u, scale=scale)
        return torch.zeros(x.size(0), 3).index_add(0, edge_index[1], self.linear(x)[edge_index[0]]) * self.read(**given)


def largest(name):
    return lambda **given: int(given[name].numpy().max()) + 1


def rows(name):
    return lambda **given: given[name].numpy().shape[0]


class BakedSizes(PackageTest):
    """Each kind of size that a trace can keep is found, or else the file is not said to be free of it."""

    GRAPHS, LEVELS, TYPES = 7, 5, 4

    def data(self):
        data = dict(graph().to_dict())
        nodes, edges = len(data["x"]), data["edge_index"].shape[1]
        data["batch"] = torch.arange(nodes) * self.GRAPHS // nodes
        data["level"] = (torch.arange(nodes) * 7 % self.LEVELS).float()
        data["kind"] = torch.arange(2 * nodes).view(nodes, 2) * 5 % self.TYPES
        data["edge_type"] = torch.arange(edges) * 3 % self.TYPES
        data["edge_attr"] = torch.randn(edges, 5)
        data["u"] = torch.randn(self.GRAPHS, 3)
        data["scale"] = torch.tensor(3)
        return data

    def save(self, read, *keys, **options):
        data = self.data()
        taken = {key: data[key] for key in ("x", "edge_index", *keys)}
        return hopscope.save(Reads(read).eval(), taken, self.folder / "model.pt", **options)

    def found(self, read, *keys):
        with self.assertRaises(hopscope.Refused) as caught:
            self.save(read, *keys, via="trace")
        self.assertRegex(caught.exception.message, r"baked in: [\d.]+ for one graph, [\d.]+ for another \(.*test_save\.py:\d+\)")

    def test_numbers_of_rows(self):
        for name in ("x", "edge_attr", "u"):
            with self.subTest(name):
                self.found(rows(name), *{name, "batch"} - {"x"})
        self.found(lambda **given: given["edge_index"].numpy().shape[1])

    def test_largest_numbers(self):
        for name in ("edge_index", "batch", "level", "kind", "edge_type"):
            with self.subTest(name):
                self.found(largest(name), *{name} - {"edge_index"})
        self.found(largest("level"), "level", "kind", "batch")

    def test_what_no_sample_can_vary_is_named(self):
        saved = self.save(rows("u"), "u", roles={"u": "plain"})
        self.assertRegex(str(saved), "unless forward reads one that was the same in both: the 7 rows of 'u'")
        self.assertRegex(str(self.save(lambda **given: int(given["scale"].numpy()), "scale")), "the number 'scale'")

    def test_a_model_that_needs_all_numbers_of_the_data_is_not_said_to_be_free(self):
        def needs(**given):
            if largest("batch")(**given) < self.GRAPHS:
                raise ValueError("all graphs, please")
            return 1

        self.assertRegex(str(self.save(needs, "batch")), r"the same in both: the largest number in 'batch' \(6\)")

    def test_nothing_is_named_where_everything_varies(self):
        saved = self.save(lambda batch, u, **_: u[batch], "batch", "u", "level", "kind", "edge_type", "edge_attr")
        self.assertRegex(str(saved), "the same operators: no size is baked in\n")

    def test_the_samples_have_the_largest_numbers_of_the_data_but_one(self):
        data = self.data()
        drawn = cut(Reads(None), data, self.scratch)
        self.assertEqual(len(drawn.samples), SMALLER + 1)
        for number, sample in enumerate(drawn.samples):
            for name in ("batch", "level", "kind", "edge_type"):
                compare = self.assertLess if number == SMALLER else self.assertEqual
                compare(sample.leaves[name].max(), data[name].max(), (number, name))
        smaller = drawn.samples[SMALLER].leaves
        self.assertEqual(len(smaller["u"]), smaller["batch"].max() + 1)


def cut(model, data, folder):
    """The samples of data in memory."""
    inputs = inputs_of(data)
    call = bind(model, inputs)
    with Scratch(parent=folder) as place:
        return draw(call.leaves(), data_files(inputs, place).words, call.arguments, [], place.folder())


class Samples(PackageTest):
    def test_a_sample_is_a_part_of_the_data_with_what_breaks_careless_models(self):
        data = graph()
        data.x, index = torch.randn(900, FEATURES), torch.randint(0, 899, (2, 4000))
        index[:, 0], index[:, 1] = 5, index[:, 2]  # a self-loop and an edge twice; the last node has no edges
        data.edge_index = index
        rows = {tuple(row): number for number, row in enumerate(data.x.tolist())}
        edges = set(map(tuple, index.t().tolist()))
        for sample in cut(made(Gcn), data, self.scratch).samples[:SMALLER]:
            kept = [rows[tuple(row)] for row in sample.leaves["x"].tolist()]
            found = [(kept[a], kept[b]) for a, b in sample.leaves["edge_index"].t().tolist()]
            self.assertLessEqual(set(found), edges)
            self.assertTrue(any(a == b for a, b in found), "a self-loop")
            self.assertLess(len(set(found)), len(found), "an edge twice")
            self.assertLess({node for edge in found for node in edge}, set(kept), "a node without edges")

    def test_no_two_sizes_of_the_samples_are_equal(self):
        samples = cut(made(Hetero), shop(), self.scratch).samples
        for key in samples[0].leaves:
            sizes = [sample.leaves[key].shape[-1 if "edge" in key else 0] for sample in samples]
            self.assertEqual(len(set(sizes)), len(sizes), key)

    def test_data_as_small_as_a_sample_are_traced_as_they_are(self):
        for nodes in (1, 2, 5, 60):
            data = {"x": torch.randn(nodes, FEATURES), "edge_index": torch.randint(0, nodes, (2, nodes - 1))}
            first, *others = cut(made(Gcn), data, self.scratch).samples
            self.assertTrue(first.whole)
            self.assertEqual(set(map(tuple, first.leaves["x"].tolist())), set(map(tuple, data["x"].tolist())))
            self.assertNotIn(nodes, [other.nodes for other in others[:-1]])

    def test_types_are_inferred_and_roles_go_first(self):
        self.assertEqual(cut(made(Hetero), shop(), self.scratch).roles["edge_index_dict.user__rates__item"], "index:user>item")
        data = {"x": torch.zeros(10, FEATURES), "edge_index": torch.tensor([[9, 0], [0, 9]])}
        saved = hopscope.save(made(Gcn), data, self.folder / "a.pt", roles=["x=node:a", "edge_index=index:a>a"])
        self.assertEqual(saved.how, "trace")

    def test_edges_of_another_graph_are_refused(self):
        data = {"x": torch.zeros(9, FEATURES), "edge_index": torch.tensor([[12], [0]])}
        with self.assertRaisesRegex(hopscope.InputError, "edge_index.* is 12, but \"node\" has 9 rows"):
            hopscope.save(made(Gcn), data, self.folder / "a.pt")
