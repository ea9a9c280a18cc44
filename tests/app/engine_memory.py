"""Limits of the executing device's memory that bite: models of several kinds under limits that force many batches, some
of them redone smaller, against eager PyTorch. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import os
import random
import re
import sys
import unittest
import warnings
from pathlib import Path

import numpy
import torch
from safetensors.torch import load_file, save_file
from torch_geometric.nn import GCN, GATConv, GraphSAGE, SAGEConv

from engine_process import ENGINE, own_folder, run

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
sys.path[:0] = [str(ROOT / "tests/models"), str(ROOT / "tests/placement")]

import convolutions  # noqa: E402
import graphs  # noqa: E402
import make_stacks  # noqa: E402
import structures  # noqa: E402
import zoo  # noqa: E402

NODES, EDGES, FEATURES = 3000, 30000, 24

# Attention, several aggregations at once, wide messages, relations; sums over all nodes, over all edges and per graph,
# which must count a batch once that is redone.
ZOO = {convolutions.traced: ("gat_2", "pna_2", "transformer_edges_2", "nn_conv_1", "edge_conv_2", "sage_softmax_2"),
       structures.group: ("jumping_concat", "norm_graph_twice", "edge_softmax_over_all", "pool_mean_max_min",
                          "virtual_node")}


# Tables of a prologue take more than a quarter of a megabyte; strips of edges as much of scratch memory on each core.
LIMITS = {"gat_2": 500_000, "pna_2": 500_000, "transformer_edges_2": 450_000, "edge_conv_2": 450_000,
          "sage_softmax_2": 450_000}


# Models, graphs by nodes and edges, and options of runs within the limit that a refusal names. The first graph has hubs, the
# second so many rows that its prologue is not computed beforehand unless the limit is small.
REFUSED = {(NODES, EDGES): ("sage", "dense", "jknet", "gcn_pyg"), (2_000, 530_000): ("gcn_pyg", "max_pyg")}
SETTINGS = (), ("--threads", "1"), ("--strategy", "depth"), ("--batch", "500"), ("--store", "float16"), ("--fuse", "none")


def graph_without_hub():
    """A single destination with a sixth of all edges would need more memory than all others together."""
    graph = graphs.random_graph(21, NODES, EDGES, 40, 500)
    few = 220
    hub = slice(few, 20 + EDGES // 6)
    spread = torch.randint(0, NODES, (hub.stop - hub.start,), generator=torch.Generator().manual_seed(5))
    graph["edge_index"][1, hub] = spread
    return graph


def eager(model, *inputs):
    with torch.no_grad():
        return zoo.flat("out", model(*inputs))


def trace(model, inputs, path):
    with torch.no_grad():
        torch.jit.trace(model, inputs, check_trace=False, strict=False).save(str(path))


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.filterwarnings("ignore")
        torch.set_num_threads(1)
        cls.folder = own_folder(cls)
        cls.graph = cls.folder / "graph.safetensors"
        run([ENGINE, "generate", "rmat", "--nodes", str(NODES), "--edges", str(EDGES), "--features",
             str(FEATURES), "--seed", "3", "-o", cls.graph, "--quiet"], check=True, timeout=60)
        cls.inputs = tuple(load_file(cls.graph)[key] for key in ("x", "edge_index"))
        torch.manual_seed(1)
        cls.stacks = {name: model.eval() for name, model in make_stacks.stacks(FEATURES).items()}

    def run_within(self, limit, batch, model, data):
        """The report of a run that keeps the limit, with the outputs."""
        out = self.folder / "out"
        words = [ENGINE, "run", model, "--data", data, "-o", out, "--memory", limit, "--batch", batch, "--strategy",
                 "depth", "--verify", "none", "--device", "cpu", "--json"]
        done = run(list(map(str, words)), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        for stage in report["stages"]:
            self.assertLessEqual(stage["peak_memory"], limit)
        files = {path.stem: path for path in out.glob("out*.npy")}
        return report, {name: torch.from_numpy(numpy.load(path)) for name, path in files.items()}

    def close(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, value in expected.items():
            torch.testing.assert_close(found[name].to(value.dtype), value, rtol=1e-3, atol=1e-4)

    def many(self, report, least=8):
        self.assertGreaterEqual(max(stage["batches"] for stage in report["stages"]), least)

    def backed_off(self, report):
        """At least one batch was redone smaller, every one with its note."""
        notes = [note for note in report["notes"] if "after running out of memory" in note]
        told = {index: [int(found.replace(",", "")) for found in re.findall(
            rf"stage {index}: destinations per batch reduced to ([\d,]+) after", "\n".join(notes))]
            for index in {stage["index"] for stage in report["stages"]}}
        self.assertGreater(sum(stage["back_offs"] for stage in report["stages"]), 0)
        for stage in report["stages"]:
            sizes = told[stage["index"]]
            self.assertEqual(len(sizes), stage["back_offs"], notes)
            self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_batches_that_do_not_fit_are_redone_smaller_until_they_do(self):
        for name, model in self.stacks.items():
            with self.subTest(model=name):
                path = self.folder / f"{name}.pt"
                trace(model, self.inputs, path)
                report, found = self.run_within(500_000 if name in ("sage", "dense") else 1_000_000, NODES, path, self.graph)
                self.many(report)
                self.backed_off(report)
                self.close(found, eager(model, *self.inputs))

    def test_batches_by_the_executor_itself_keep_the_limit_without_running_into_it(self):
        for name, limit in (("sage", 500_000), ("dense", 500_000), ("expanding", 500_000), ("gcn", 750_000)):
            with self.subTest(model=name):
                path = self.folder / f"{name}.pt"
                trace(self.stacks[name], self.inputs, path)
                report, found = self.run_within(limit, "auto", path, self.graph)
                self.many(report)
                self.assertFalse([note for note in report["notes"] if "running out" in note])
                self.close(found, eager(self.stacks[name], *self.inputs))

    def test_batches_of_one_destination_take_what_is_predicted(self):
        """Which is less than larger batches tell: a product of one row needs no memory of its own."""
        samples = ROOT / "samples/digits"
        words = [ENGINE, "run", samples / "jknet.pt", "--data", samples / "graph.safetensors", "-o", self.folder / "ones", "--batch",
                 1, "--verify", "none", "--device", "cpu", "--json"]
        done = run(list(map(str, words)), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        for stage in json.loads(done.stdout)["stages"]:
            self.assertAlmostEqual(stage["predicted"]["peak_memory"] / stage["peak_memory"], 1, delta=0.05)

    def test_a_hub_that_is_larger_than_the_limit_is_computed_in_pieces_or_refused(self):
        """All edges lead into one node: what its messages take is a multiple of the limit."""
        width, edges = 24, 40_000
        generator = torch.Generator().manual_seed(2)
        index = torch.stack([torch.randint(0, NODES, (edges,), generator=generator), torch.zeros(edges, dtype=torch.int64)])
        inputs = torch.randn(NODES, width, generator=generator), index
        data = self.folder / "hub.safetensors"
        save_file(dict(zip(("x", "edge_index"), inputs)), data)
        for name, convolution, limit in (("mean", SAGEConv(width, 4), 1_000_000), ("max", SAGEConv(width, 4, aggr="max"), 1_000_000),
                                         ("softmax", GATConv(width, 24), 3_000_000)):
            with self.subTest(aggregation=name):
                self.assertGreater(edges * width * 4, limit)
                path = self.folder / f"hub-{name}.pt"
                trace(convolution.eval(), inputs, path)
                _, found = self.run_within(limit, "auto", path, data)
                self.close(found, eager(convolution, *inputs))
                words = [ENGINE, "run", path, "--data", data, "-o", self.folder / "little", "--memory", "200k"]
                done = run(words, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn("for a single destination node", done.stderr)

    def within(self, limit, model, data, options):
        """Exit code and answer."""
        words = [ENGINE, "run", model, "--data", data, "-o", self.folder / "named", "--memory", limit, "--verify", "none",
                 "--device", "cpu", "--json", *options]
        done = run(list(map(str, words)), capture_output=True, text=True, timeout=120)
        return done.returncode, json.loads(done.stdout)

    def test_the_limit_that_a_refusal_names_is_sufficient(self):
        chosen = random.Random(7)
        models = {**self.stacks, "gcn_pyg": GCN(FEATURES, 32, 2), "max_pyg": GraphSAGE(FEATURES, 32, 2, aggr="max")}
        for (nodes, edges), names in REFUSED.items():
            data = self.folder / "refused.safetensors"
            run([ENGINE, "generate", "rmat", "--nodes", str(nodes), "--edges", str(edges), "--features", str(FEATURES),
                 "--seed", "3", "-o", data, "--quiet"], check=True, timeout=60)
            for name in names:
                options = chosen.choice(SETTINGS)
                with self.subTest(model=name, nodes=nodes, options=options):
                    path = self.folder / f"{name}.pt"
                    trace(models[name].eval(), self.inputs, path)
                    code, answer = self.within(1024, path, data, options)
                    self.assertEqual(code, 6, answer)
                    named = int(re.search(r"raise it to --memory (\d+)$", answer["error"]["hint"])[1])
                    code, answer = self.within(named, path, data, options)
                    self.assertEqual(code, 0, answer)
                    self.assertLessEqual(max(stage["peak_memory"] for stage in answer["stages"]), named)

    def test_models_of_the_zoo_keep_their_numbers(self):
        graph = graph_without_hub()
        for group, names in ZOO.items():
            entries = {entry.name: entry for entry in group.entries}
            for name in names:
                with self.subTest(model=name):
                    self.check_entry(entries[name], graph)

    def check_entry(self, entry, graph):
        torch.manual_seed(entry.seed + 100)
        model = entry.build().eval()
        zoo.randomise(model, entry.seed)
        model, inputs = model.eval(), entry.inputs(graph)
        path, data = self.folder / f"{entry.name}.pt", self.folder / f"{entry.name}.safetensors"
        trace(model, tuple(entry.inputs(graphs.trace_graph()).values()), path)
        save_file({key: value.contiguous() for key, value in inputs.items()}, str(data))
        report, found = self.run_within(LIMITS.get(entry.name, 300_000), NODES, path, data)
        self.many(report)
        self.backed_off(report)
        self.close(found, eager(model, *inputs.values()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
