"""Options of a run that trade something for time, memory or disk: the order of the nodes, the type of stores. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import json
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file
from safetensors.numpy import save_file

import engine_models as models
from engine_commands import ROOT, EngineTest, engine
from tiers import one_in

WIDTH = load_file(str(ROOT / "samples/digits/graph.safetensors"))["x"].shape[1]
SAMPLES = ("sage", "gcn", "gat")


def planted(nodes, size, degree, seed):
    """Communities of `size` nodes with shuffled ids; nine of ten edges lie within one."""
    random = numpy.random.default_rng(seed)
    ids = random.permutation(nodes)
    to = numpy.repeat(numpy.arange(nodes), degree)
    near = to // size * size + random.integers(0, size, len(to))
    source = numpy.where(random.random(len(to)) < 0.9, numpy.minimum(near, nodes - 1), random.integers(0, nodes, len(to)))
    edges = numpy.stack([ids[source], ids[to]])
    edges = numpy.ascontiguousarray(edges[:, random.permutation(edges.shape[1])])
    return {"x": random.standard_normal((nodes, WIDTH), dtype=numpy.float32), "edge_index": edges}


def rows_per_tile(edges, order, rows):
    """Distinct sources of each tile of destinations, per destination."""
    place = numpy.empty_like(order)
    place[order] = numpy.arange(len(order))
    pairs = numpy.unique(numpy.stack([place[edges[1]] // rows, edges[0]]), axis=1)
    return pairs.shape[1] / len(order)


class Orders(EngineTest):
    def ran(self, model, data, order, *more):
        out = self.folder / f"{Path(model).stem}-{order}"
        report = self.document("run", model, "--data", data, "-o", out, "--reorder", order, "--verify", "none", *more)
        self.valid("report", report)
        self.assertEqual(report["reorder"], order)
        return report, numpy.load(out / "out.npy")

    def test_results_are_the_same_to_the_bit_in_any_order(self):
        models.save(models.Sage(WIDTH, 128, 47, 3), models.graph(50, 200, WIDTH), self.folder / "wide.pt")
        data = self.folder / "graph.safetensors"
        save_file(planted(60_007, 100, 10, 1), str(data))
        alike = set()
        for model in (self.folder / "wide.pt", *(ROOT / f"samples/digits/{name}.pt" for name in SAMPLES)):
            report, expected = self.ran(model, data, "none")
            self.assertEqual(report["orders"], [])
            for order in ("community", "rcm", "degree"):
                with self.subTest(model=model.stem, order=order):
                    report, made = self.ran(model, data, order)
                    (used,) = report["orders"]
                    self.assertEqual(used["order"], order)
                    if used["reason"] == "as asked for":
                        alike.add(model.stem)
                        numpy.testing.assert_array_equal(made, expected)
                    else:
                        self.assertIn("last bits", used["reason"])
                        numpy.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5)
        self.assertIn("wide", alike)

    def test_communities_are_not_looked_for_where_they_are_not_worth_it(self):
        models.save(models.Sage(WIDTH, 128, 47, 3), models.graph(50, 200, WIDTH), self.folder / "wide.pt")
        data = self.folder / "graph.safetensors"
        save_file(planted(60_007, 100, 6, 4), str(data))
        report, _ = self.ran(self.folder / "wide.pt", data, "auto")
        (order,) = report["orders"]
        self.assertEqual(order["order"], "none")
        self.assertIn("would not save enough time to be worth its cost", order["reason"])
        asked, _ = self.ran(self.folder / "wide.pt", data, "community")
        self.assertLess(order["seconds"], asked["orders"][0]["seconds"] / 3)

    def test_the_report_says_how_many_rows_a_tile_asks_for(self):
        data = planted(100_000, 100, 12, 2)
        save_file(data, str(self.folder / "graph.safetensors"))
        report, _ = self.ran(str(ROOT / "samples/digits/sage.pt"), self.folder / "graph.safetensors", "community")
        (order,) = report["orders"]
        before = rows_per_tile(data["edge_index"], numpy.arange(100_000), 1024)
        self.assertLess(abs(order["alpha_before"] / before - 1), 0.1)
        self.assertLess(order["alpha_after"], before / 2)

    def test_small_graphs_are_left_as_they_are(self):
        model, data = ROOT / "samples/karate/gcn.pt", ROOT / "samples/karate/graph.safetensors"
        report, _ = self.ran(str(model), data, "auto")
        self.assertTrue(all(order["order"] == "none" and order["reason"] for order in report["orders"]))

    def test_an_unknown_order_is_refused(self):
        self.refused(2, "unknown value of --reorder 'best'", "run", ROOT / "samples/karate/gcn.pt", "--data",
                     ROOT / "samples/karate/graph.safetensors", "-o", self.folder / "out", "--reorder", "best")


class Caches(EngineTest):
    """Folders that keep what is made of the edges."""

    def setUp(self):
        super().setUp()
        self.model, self.cache = self.folder / "wide.pt", self.folder / "caches" / "mine"
        models.save(models.Sage(WIDTH, 128, 47, 3), models.graph(50, 200, WIDTH), self.model)
        self.data = self.graph("graph", planted(60_007, 100, 10, 1))

    def graph(self, name, data):
        save_file(data, str(self.folder / f"{name}.safetensors"))
        return self.folder / f"{name}.safetensors"

    def ran(self, data, *more, cache=None):
        out = self.folder / "out"
        report = self.document("run", self.model, "--data", data, "-o", out, "--verify", "none", "--cache", cache or self.cache, *more)
        self.valid("report", report)
        return report, (out / "out.npy").read_bytes()

    def kept(self):
        return {path: path.read_bytes() for path in self.cache.iterdir()}

    def test_runs_find_what_others_have_made_of_the_same_edges_and_results_are_the_same_to_the_bit(self):
        expected = engine("run", self.model, "--data", self.data, "-o", self.folder / "plain", "--verify", "none", "--reorder", "none")
        self.assertEqual(expected.returncode, 0)
        expected = (self.folder / "plain/out.npy").read_bytes()
        first, made = self.ran(self.data, "--reorder", "community")
        self.assertEqual(made, expected)
        self.assertEqual(first["orders"][0]["reason"], "as asked for")
        kept = self.kept()
        # An adjacency and a column in the order of the input; the order; adjacency, column and places in it.
        self.assertEqual(len(kept), 6)
        second, made = self.ran(self.data, "--reorder", "community")
        self.assertEqual(made, expected)
        self.assertEqual(second["orders"][0]["reason"], "as asked for, found in the cache")
        self.assertEqual(self.kept(), kept)
        features = load_file(str(self.data))
        features["x"] = features["x"] + numpy.float32(1)
        third, made = self.ran(self.graph("features", features), "--reorder", "community")
        self.assertIn("found", third["orders"][0]["reason"])
        self.assertNotEqual(made, expected)
        self.assertEqual(self.kept(), kept)

    def test_edges_of_which_one_has_changed_are_others(self):
        self.ran(self.data, "--reorder", "community")
        data = load_file(str(self.data))
        data["edge_index"][0, 1234] = (data["edge_index"][0, 1234] + 1) % 60_007
        changed = self.graph("changed", data)
        report, made = self.ran(changed, "--reorder", "community")
        self.assertNotIn("found", report["orders"][0]["reason"])
        _, expected = self.ran(changed, "--reorder", "none", cache=self.folder / "other")
        self.assertEqual(made, expected)

    def test_damaged_files_are_made_anew(self):
        _, expected = self.ran(self.data, "--reorder", "community")
        kept = self.kept()
        for damage in (lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:5000] + bytes([b[5000] ^ 1]) + b[5001:]):
            for path, content in kept.items():
                path.write_bytes(damage(content))
            report, made = self.ran(self.data, "--reorder", "community")
            self.assertEqual(made, expected)
            self.assertNotIn("found", report["orders"][0]["reason"])
            self.assertEqual(self.kept(), kept)

    def test_an_order_that_is_kept_is_searched_for_where_one_run_would_not_gain_by_it(self):
        data = self.graph("sparse", planted(60_007, 100, 8, 4))
        alone = self.document("run", self.model, "--data", data, "-o", self.folder / "out", "--verify", "none", "--threads", 1)
        self.assertIn("would not save enough time to be worth its cost", alone["orders"][0]["reason"])
        _, expected = self.ran(data, "--reorder", "none", cache=self.folder / "other")
        for reason in ("nodes of a community share rows", "nodes of a community share rows, found in the cache"):
            report, made = self.ran(data, "--threads", 1)
            self.assertEqual(report["orders"][0]["reason"], reason)
            self.assertEqual(made, expected)

    def test_nothing_is_kept_of_few_edges(self):
        report = self.document("run", ROOT / "samples/karate/gcn.pt", "--data", ROOT / "samples/karate/graph.safetensors", "-o",
                               self.folder / "out", "--reorder", "rcm", "--cache", self.cache)
        self.assertEqual(report["orders"][0]["order"], "rcm")
        self.assertEqual(self.kept(), {})

    def test_a_folder_that_cannot_be_made_is_refused_and_one_that_cannot_be_written_is_said(self):
        self.refused(6, "cannot create the folder", "run", self.model, "--data", self.data, "-o", self.folder / "out", "--cache",
                     self.model / "below")
        report, _ = self.ran(self.data, cache="/proc")
        self.assertTrue(any(note.startswith("the cache lacks a part of this graph: ") for note in report["notes"]))


class Stores(EngineTest):
    def graph(self, scale=1.0):
        data = planted(60_000, 100, 6, 3)
        data["x"] *= numpy.float32(scale)
        save_file(data, str(self.folder / "graph.safetensors"))
        return self.folder / "graph.safetensors"

    def ran(self, name, data, store, *more):
        out = self.folder / f"{name}-{store}"
        words = ["run", ROOT / f"samples/digits/{name}.pt", "--data", data, "-o", out, "--store", store, *more]
        report = self.document(*words)
        self.valid("report", report)
        self.assertEqual(report["store"], store)
        return report, numpy.load(out / "out.npy")

    def test_narrower_stores_take_fewer_bytes_and_the_error_is_stated(self):
        data = self.graph()
        for name in one_in(2, SAMPLES):
            exact, expected = self.ran(name, data, "exact", "--strategy", "depth", "--verify", "none")
            self.assertEqual(exact["narrowed"], [])
            for store, unit in (("bfloat16", 2**-8), ("float16", 2**-11)):
                with self.subTest(model=name, store=store):
                    report, made = self.ran(name, data, store, "--strategy", "depth", "--verify", "full")
                    self.assertTrue(report["narrowed"])
                    for value in report["narrowed"]:
                        self.assertEqual((value["from"], value["to"], value["infinite"]), ("float32", store, 0))
                        self.assertLess(0, value["max_abs"])
                        self.assertLessEqual(value["max_abs"], unit * value["largest"])
                    difference = abs(made - expected).max()
                    self.assertLess(0, difference)
                    verify = report["verify"]
                    self.assertEqual(verify["verdict"], "equal")
                    self.assertIn(f"within the stated error of {store} stores", verify["reason"])
                    self.assertLessEqual(difference, verify["tolerance"]["scale"] * abs(expected).max())
                    self.assertAlmostEqual(verify["outputs"][0]["max_abs"], difference, delta=1e-4)
                    for stage, before in zip(report["stages"][:-1], exact["stages"]):
                        self.assertEqual(2 * stage["bytes"]["d2h"], before["bytes"]["d2h"])
                    for stage in report["stages"]:
                        for direction in ("d2h", "h2d"):
                            self.assertEqual(stage["bytes"][direction], stage["predicted"]["bytes"][direction])

    def test_plans_count_the_smaller_bytes(self):
        words = ["plan", ROOT / "samples/digits/sage.pt", "--data", self.graph(), "--strategy", "depth"]
        exact, narrow = self.document(*words), self.document(*words, "--store", "bfloat16")
        for before, after in zip(exact["checkpoints"], narrow["checkpoints"]):
            self.assertEqual(after["bytes_written"] * (1 if before["output"] else 2), before["bytes_written"])

    def test_what_is_as_narrow_already_stays_as_it_is(self):
        data = self.graph()
        _, expected = self.ran("sage", data, "exact", "--verify", "none")
        report, made = self.ran("sage", data, "float32", "--verify", "none")
        self.assertEqual(report["narrowed"], [])
        self.assertIn("no value stored between stages is wider than float32: --store changes nothing", report["notes"])
        numpy.testing.assert_array_equal(made, expected)

    def test_values_that_a_store_cannot_hold_are_counted_and_fail_the_verification(self):
        out = self.folder / "out"
        result = engine("run", ROOT / "samples/digits/sage.pt", "--data", self.graph(1e6), "-o", out, "--store", "float16",
                        "--strategy", "depth", "--verify", "full", "--json")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertGreater(sum(value["infinite"] for value in json.loads(result.stdout)["narrowed"]), 0)


if __name__ == "__main__":
    unittest.main()
