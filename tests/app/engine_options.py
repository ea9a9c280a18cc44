"""Options of a run that trade something for time, memory or disk: the order of the nodes. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file
from safetensors.numpy import save_file

import engine_models as models
from engine_commands import ROOT, EngineTest

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

    def test_communities_are_looked_for_where_they_are_worth_it(self):
        models.save(models.Sage(WIDTH, 128, 47, 3), models.graph(50, 200, WIDTH), self.folder / "wide.pt")
        found = planted(60_007, 100, 12, 4)
        random = numpy.random.default_rng(5)
        none = found | {"edge_index": random.integers(0, 60_007, found["edge_index"].shape)}
        for name, graph, expected in (("found", found, "community"), ("none", none, "none")):
            data = self.folder / f"{name}.safetensors"
            save_file(graph, str(data))
            report, made = self.ran(self.folder / "wide.pt", data, "auto")
            (order,) = report["orders"]
            self.assertEqual(order["order"], expected, order["reason"])
            _, before = self.ran(self.folder / "wide.pt", data, "none")
            numpy.testing.assert_array_equal(made, before)

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
        self.refused(2, "unknown order of nodes 'best'", "run", ROOT / "samples/karate/gcn.pt", "--data",
                     ROOT / "samples/karate/graph.safetensors", "-o", self.folder / "out", "--reorder", "best")


if __name__ == "__main__":
    unittest.main()
