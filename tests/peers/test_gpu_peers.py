"""The peers of bench_gpu.py on a CPU against PyG's forward in float64, and the bench on wrong ones.
HOPSCOPE_ENGINE names the engine; HOPSCOPE_TIER=full also measures peers in processes of their own."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import bench_gpu
import csr_layers
import gpu_peers
import gpu_report
import numpy
import peers
import torch
from graphs import rmat

NODES = 700
FULL = os.environ.get("HOPSCOPE_TIER") == "full"
HERE = Path(__file__).parent


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.edges, cls.x = torch.from_numpy(rmat(NODES, 6)), torch.randn(NODES, peers.FEATURES)

    def forward(self, model, *more):
        with torch.no_grad():
            return peers.pyg_model(model).double()(self.x.double(), self.edges, *(each.double() for each in more))

    def test_the_experts_layers_and_both_loops_equal_pyg(self):
        for model in peers.BASIC:
            weights, graph = peers.pyg_model(model).state_dict(), csr_layers.structure(model, self.edges, NODES)
            loops = [gpu_peers.loop(name, model, weights, self.x, graph, 100) for name in gpu_peers.LOOPS]
            for peer in (gpu_peers.expert(model, weights, self.x, graph), *loops):
                with torch.no_grad():
                    torch.testing.assert_close(peer.run(*peer.held).double(), self.forward(model), atol=1e-5, rtol=0)

    def test_float64_on_some_destinations_at_a_time_equals_the_forward(self):
        self.assertGreater(len(peers.parts(self.edges[1], NODES, 500)), 5)
        for model in (*peers.BASIC, "gatv2", "gine", "pna", "sgc"):
            more = [torch.randn(self.edges.shape[1], peers.EDGE_FEATURES)] if model == "gine" else []
            with torch.no_grad():
                found = peers.exact(model, self.x, self.edges, *more, chunk=500)
            torch.testing.assert_close(found, self.forward(model, *more), atol=1e-11, rtol=0)

    def test_the_edges_of_a_destination_are_in_one_part(self):
        found = peers.parts(torch.tensor([0, 0, 2, 2, 2, 3]), 5, 2)
        self.assertEqual(found, [(slice(0, 2), slice(0, 2)), (slice(2, 5), slice(2, 6))])


class Bench(unittest.TestCase):
    def bench(self, code, *options, **environment):
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", HERE / "bench_gpu.py", "--engine",
                               os.environ["HOPSCOPE_ENGINE"], "--device", "cpu", "--nodes", "900", "--degree", "6",
                               "--rounds", "1", "--batch", "300", "--json", *options], capture_output=True, text=True,
                              check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(FULL, "it starts each peer: test peers_gpu_all")
    def test_every_peer_is_measured_and_right_and_torch_compile_is_left_out_with_a_sentence(self):
        document = self.bench(0, "--models", "gat")
        rows = document["models"]["gat"]
        self.assertEqual(tuple(rows), ("engine", *gpu_peers.NAMES))
        self.assertIn("left out on a CPU", rows.pop("compile")["missing"])
        for name, row in rows.items():
            self.assertLess(row["error"], 1e-5, name)
            self.assertEqual("device" in row, name not in gpu_peers.LOOPS)
            self.assertTrue(0 < row["host"] < row["process"], (name, row))
            self.assertGreater(row["peak"], 1 << 20)
        self.assertRegex(gpu_report.nearest_peers(document), r"^gat \d+\.\d\dx \((coo|csr|edgeindex)\)$")

    @unittest.skipUnless(FULL, "it starts three processes with torch: test peers_gpu_all")
    def test_a_peer_that_computes_something_else_fails_the_bench(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text(WRONG)
            document = self.bench(5, "--models", "sage", "--peers", "expert", PYTHONPATH=folder)
        self.assertEqual(len(document["wrong"]), 1)
        self.assertIn("sage: expert differs from float64 by 0.0", document["wrong"][0])

    def test_an_output_that_is_off_in_one_place_is_wrong(self):
        exact = numpy.random.default_rng(1).standard_normal((20, 8), numpy.float32)
        off = exact.copy()
        off[3, 4] += 0.05
        with tempfile.TemporaryDirectory() as folder:
            for name, values in (("exact", exact), ("engine", exact), ("expert", off)):
                numpy.save(Path(folder) / f"sage.{name}.npy", values)
            rows = {name: {"error": bench_gpu.error(Path(folder), "sage", name)} for name in ("engine", "expert")}
        said, = bench_gpu.wrong({"sage": rows})
        self.assertIn("sage: expert differs from float64 by 0.0", said)

    def test_nan_a_missing_reference_and_no_peer_at_all_are_wrong(self):
        right, gone = {"error": 1e-7}, {"missing": "out of memory"}
        self.assertEqual(bench_gpu.wrong({"gat": {"engine": right, "coo": right, "csr": gone}}), [])
        for rows in ({"engine": {"error": numpy.nan}, "coo": right}, {"engine": {"error": None}, "coo": right},
                     {"engine": right, "coo": gone}):
            self.assertEqual(len(bench_gpu.wrong({"gat": rows})), 1)

    def test_medians_of_clocks_and_the_largest_peak_count(self):
        rounds = [{"host": host, "process": 2 * host, "peak": 10 - host} for host in (3, 1, 2)]
        self.assertEqual(bench_gpu.middle(rounds), {"host": 2, "process": 4, "peak": 9})
        self.assertEqual(bench_gpu.middle([rounds[0], {"missing": "killed"}]), {"missing": "killed"})


# For the process of that peer: its saved output is off by 0.05 in one place.
WRONG = """
import sys
if sys.orig_argv[-6:-5] == ["expert"]:
    import numpy
    save = numpy.save

    def off(file, values):
        values = values.copy()
        values[3, 4] += 0.05
        save(file, values)

    numpy.save = off
"""

if __name__ == "__main__":
    unittest.main(verbosity=2)
