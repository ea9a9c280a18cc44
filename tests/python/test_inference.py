"""One call from a model in memory to outputs that equal eager PyTorch."""
import builtins
import inspect
import sys
import unittest

import hopscope
import numpy
import torch
from hopscope._later import settle
from support import FEATURES, EdgeScores, Gcn, Hetero, PackageTest, Plain, TakesData, graph, made, shop
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GraphSAGE, SAGEConv, global_mean_pool, to_hetero


class Inference(PackageTest):
    def inference(self, model, data, **options):
        return hopscope.inference(model, data, scratch=self.scratch, **options)

    def test_a_homogeneous_model_equals_eager_and_is_verified(self):
        model, data = made(Gcn), graph()
        model.train()
        result = self.inference(model, data, verify="full")
        self.assertTrue(model.training)
        self.same(result.output, model.eval()(data.x, data.edge_index))
        self.assertEqual(result.verdict, "equal")
        self.assertEqual(result.report.verification.rows, len(data.x))
        self.assertEqual(result.saved.how, "trace")
        self.assertIn("equal", repr(result))

    def test_what_a_container_holds_beside_the_graph_may_fit_nothing(self):
        model, data = made(TakesData), graph()
        wanted = model(data).detach()
        data.edge_attr_old, data.far_edge_index = torch.rand(3, 3), torch.full((2, 5), 7 * len(data.x))
        result = self.inference(model, data, verify="full")
        self.same(result.output, wanted)
        for name in ("edge_attr_old", "far_edge_index", "y"):
            self.assertEqual(result.notes.count(f"'{name}' is not an argument of the model: ignored"), 1, name)

    def test_results_that_are_not_finite_are_named_first(self):
        model, data = made(Gcn), graph()
        data.x[3, 2] = torch.nan
        with torch.no_grad():
            lost = int(model.eval()(data.x, data.edge_index).isnan().sum())
        self.assertGreater(lost, 3)
        found = self.inference(model, data, verify="full").report.verification
        self.assertEqual((found.verdict, found.not_finite), ("equal", lost))
        self.assertRegex(found.reason, rf"^{lost} elements are NaN or infinite, in the model's own results as well")

    def test_devices_and_types_may_be_torchs(self):
        model, data = made(Gcn), graph()
        named = self.inference(model, data, device="cpu", store="bfloat16")
        result = self.inference(model, data, device=torch.device("cpu"), store=torch.bfloat16)
        self.assertTrue(torch.equal(result.output, named.output))
        self.assertEqual(result.report.document["store"], "bfloat16")
        self.assertEqual(hopscope.plan(model, data, device=torch.device("cpu"), scratch=self.scratch).device, "cpu")
        self.assertEqual(hopscope.verify(model, data, device=torch.device("cpu"), scratch=self.scratch).verdict, "equal")

    def test_the_device_is_chosen_alike_by_all_functions(self):
        taking = {name: inspect.signature(function).parameters for name in dir(hopscope)
                  if inspect.isfunction(function := getattr(hopscope, name))}
        found = {name: parameters["device"].default for name, parameters in taking.items() if "device" in parameters}
        self.assertEqual(found, dict.fromkeys(("export", "inference", "load", "plan", "run", "verify"), "auto"))

    def test_all_names_of_the_package_hide_none_of_python(self):
        self.assertEqual(set(hopscope.__all__) & (set(dir(builtins)) | set(sys.stdlib_module_names)), set())
        self.assertTrue(all(hasattr(hopscope, name) for name in hopscope.__all__))

    def test_a_heterogeneous_model_gives_results_by_type(self):
        model, data = made(Hetero), shop()
        result = self.inference(model, data)
        self.same(result.output, model(data.x_dict, data.edge_index_dict))
        self.assertEqual(result.verdict, "equal")

    def test_a_model_made_heterogeneous_takes_the_dicts_for_what_it_calls_x_and_edge_index(self):
        data = shop()
        model = to_hetero(GraphSAGE((-1, -1), 6, 2, 3), data.metadata()).eval()
        expected = model(data.x_dict, data.edge_index_dict)
        result = self.inference(model, data)
        self.same(result.output, expected)
        self.assertTrue(any("'x_dict' of the data is used as the argument 'x'" in note for note in result.notes))

    def test_scores_of_edges_and_several_results_come_as_forward_returns_them(self):
        model, data = made(EdgeScores), graph()
        result = self.inference(model, data, batch=7)
        self.same(result.output, model(data.x, data.edge_index))
        self.assertGreater(result.report.stages[-1].batches, 10)

    def test_weights_are_taken_from_the_data_and_said(self):
        model, data = made(Gcn), graph()
        data.edge_weight = torch.rand(data.num_edges)
        result = self.inference(model, data, verify=False)
        self.same(result.output, model(data.x, data.edge_index, data.edge_weight))
        self.assertIsNone(result.verdict)
        self.assertTrue(any("'edge_weight' is taken from the data" in note for note in result.notes))

    def test_a_forward_that_takes_the_whole_data_needs_only_what_it_reads(self):
        model, data = made(TakesData), graph()
        result = self.inference(model, data, verify=None)
        self.assertEqual(result.saved.arguments, ("x", "edge_index"))
        self.assertTrue(model.conv.cached)
        self.same(result.output, model(data))

    def test_graphs_in_a_batch_give_a_result_for_each(self):
        class Pooled(Plain):
            def forward(self, data):
                return global_mean_pool(super().forward(data.x, data.edge_index), data.batch, size=None)

        batch = Batch.from_data_list([graph() for _ in range(3)])
        model = made(Pooled)
        result = self.inference(model, batch, verify=None)
        self.assertEqual(result.saved.arguments, ("x", "edge_index", "batch"))
        self.assertRegex(str(result.saved), "for this data alone: a number that comes from the data is baked in: 3 for one graph, 2 ")
        self.same(result.output, model(batch))

    def test_an_aggregation_that_wants_sorted_edges_gets_them(self):
        class Sorted(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = SAGEConv(6, 3, aggr="max")

            def forward(self, x, edge_index):
                assert bool((edge_index[1][1:] >= edge_index[1][:-1]).all()), "not sorted"
                return self.conv(x, edge_index)

        model, data = made(Sorted), graph()
        index = data.edge_index[:, data.edge_index[1].argsort()]
        self.same(self.inference(model, (data.x, index), verify=None).output, model(data.x, index))

    def test_a_graph_without_edges_has_a_result(self):
        model, x = made(Gcn), torch.randn(9, 6)
        none = torch.zeros(2, 0, dtype=torch.long)
        result = self.inference(model, {"x": x, "edge_index": none, "edge_weight": torch.zeros(0)}, verify=None)
        self.same(result.output, model(x, none, torch.zeros(0)))

    def test_a_tuple_of_arguments_and_a_plain_module_will_do(self):
        model, data = made(Plain), graph()
        result = self.inference(model, (data.x, data.edge_index), verify="none", memory="64Mi")
        self.same(result.output, model(data.x, data.edge_index))

    def test_patterns_are_fused_as_wished(self):
        model, data = made(Plain), graph()
        for fuse, families in (("all", ["chain", "softmax", "several"]), ("none", []), ("softmax", ["softmax"])):
            result = self.inference(model, data, verify=None, fuse=fuse)
            self.assertEqual(result.report.document["fuse"], families)
            self.same(result.output, model(data.x, data.edge_index))

    def test_nodes_are_computed_in_the_order_asked_for(self):
        model, data = made(Plain), graph()
        for order, used in (("community", ["community"]), ("none", [])):
            document = self.inference(model, data, verify=None, reorder=order).report.document
            self.assertEqual((document["reorder"], [each["order"] for each in document["orders"]]), (order, used))

    def test_what_is_made_of_edges_is_kept_where_that_is_asked_for(self):
        model, data, cache = made(Gcn), graph(5_000, 100_000), self.folder / "cache"
        expected, kept = model.eval()(data.x, data.edge_index), None
        for options in ({}, {}, {"out": self.folder / "long", "resume": True}):
            result = self.inference(model, data, cache=cache, reorder="degree", **options)
            self.same(result.output, expected)
            (order,) = result.report.document["orders"]
            self.assertEqual("found in the cache" in order["reason"], kept is not None)
            files = {path: path.stat().st_ino for path in cache.iterdir()}
            kept = kept or files
            self.assertEqual(files, kept)
        with self.assertRaisesRegex(hopscope.UsageError, "keep nothing for later runs"):
            self.inference(model, data, cache=cache, cluster="local", workers=2, out=self.folder / "shared")

    def test_products_are_moved_before_sums_where_that_is_asked_for(self):
        torch.manual_seed(2)
        model, data = GraphSAGE(FEATURES, 16, 2, 3).eval(), graph()
        plain, moved = (self.inference(model, data, verify="full", reassociate=asked) for asked in (False, True))
        self.assertNotIn("reassociated", plain.report.document)
        (place,) = moved.report.document["reassociated"]["places"]
        self.assertEqual((place["in"], place["out"]), (16, 3))
        self.assertTrue(any("3 instead of 16 columns" in note for note in moved.report.notes))
        with torch.no_grad():
            torch.testing.assert_close(moved.output, model(data.x, data.edge_index), rtol=1e-4, atol=1e-5)
        planned = hopscope.plan(model, data, reassociate=True)
        self.assertTrue(planned.document["reassociate"])
        again = self.inference(model, data, plan=planned, reassociate=True, verify=None)
        self.assertEqual(again.plan.document["reassociate"], True)
        with self.assertRaisesRegex(hopscope.InputError, "was made with --reassociate"):
            self.inference(model, data, plan=planned)
        self.assertEqual(hopscope.verify(model, data, plan=planned, reassociate=True).verdict, "equal")
        for where, how in (("kept", {"resume": True}), ("dealt", {"cluster": "local", "workers": 1})):
            with self.subTest(how=how):
                kept = hopscope.run(model, data, self.folder / where, reassociate=True, verify=None, **how)
                self.assertEqual(kept.report.document["reassociated"]["places"], [place])

    def test_half_precision_results_come_back_as_they_are(self):
        class Rounded(nn.Module):
            def forward(self, x, edge_index):
                return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]).to(torch.bfloat16)

        data = graph()
        result = self.inference(Rounded(), data, verify=None)
        self.assertEqual(result.output.dtype, torch.bfloat16)
        torch.testing.assert_close(result.output, Rounded()(data.x, data.edge_index))

    def test_results_may_be_written_to_and_outlive_their_files(self):
        model, data = made(Plain), graph()
        result = self.inference(model, data, verify=None)
        settle()
        self.assertEqual(list(self.scratch.iterdir()), [])
        result.output[0] = 7
        self.assertEqual(float(result.output[0, 0]), 7)
        self.assertIsNone(result.folder)

    def test_a_file_and_arrays_of_numpy_give_arrays_of_numpy(self):
        model, data = made(Plain), graph()
        saved = hopscope.save(model, data, self.folder / "plain.pt")
        arrays = {"x": data.x.numpy(), "edge_index": data.edge_index.numpy()}
        result = hopscope.run(saved.path, arrays, self.folder / "out", verify=None, scratch=self.scratch)
        self.assertIsInstance(result.output, numpy.ndarray)
        self.same(torch.from_numpy(result.output), model(data.x, data.edge_index))
        kept = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertEqual(kept, ["out.npy", "report.json"])
        numpy.testing.assert_array_equal(numpy.load(self.folder / "out/out.npy"), result.output)

    def test_arrays_that_are_maps_of_files_are_read_from_there(self):
        model, data = made(Plain), graph()
        numpy.save(self.folder / "features.npy", data.x.numpy())
        mapped = numpy.load(self.folder / "features.npy", mmap_mode="r")
        from hopscope._scratch import Scratch, data_files
        from hopscope.data import inputs_of

        with Scratch(parent=self.scratch) as place:
            given = data_files(inputs_of({"x": mapped, "edge_index": data.edge_index}), place)
            self.assertEqual(given.words[0], f"x={self.folder / 'features.npy'}")
            self.assertEqual(given.words[1:], given.written)
        result = self.inference(model, {"x": mapped, "edge_index": data.edge_index}, verify=None)
        self.same(result.output, model(data.x, data.edge_index))
        numpy.testing.assert_array_equal(numpy.load(self.folder / "features.npy"), data.x.numpy())

    def test_a_plan_of_the_same_model_is_taken_and_of_another_one_refused(self):
        model, data = made(Gcn), graph()
        plan = hopscope.plan(model, data, strategy="depth", device="cpu", scratch=self.scratch)
        result = self.inference(model, data, plan=plan, verify=None)
        self.assertEqual(result.report.strategy, "depth")
        self.same(result.output, model(data.x, data.edge_index))
        self.assertEqual(hopscope.verify(model, data, plan=plan, scratch=self.scratch).verdict, "equal")
        with torch.no_grad():
            model.first.bias += 1
        with self.assertRaises(hopscope.InputError):
            self.inference(model, data, plan=plan, verify=None)

    def test_progress_is_told_step_by_step(self):
        told = []
        self.inference(made(Plain), graph(), verify=None, progress=lambda *event: told.append(event))
        self.assertIn(("stage 1 of 1", 90, 90), told)
        self.assertTrue(any(what.startswith("loading") for what, _, _ in told))


if __name__ == "__main__":
    unittest.main()
