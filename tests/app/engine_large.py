"""A graph of a million edges in little memory: the numbers against numpy in float64, what goes to files instead of memory,
and what `hopscope-bench run` says of its own run. HOPSCOPE_ENGINE names the program, HOPSCOPE_BENCH the other one, HOPSCOPE_ROOT
the repository."""
import json
import os
import re
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file
from torch import nn

import engine_models as models

ENGINE, BENCH = os.environ["HOPSCOPE_ENGINE"], os.environ["HOPSCOPE_BENCH"]
# A file without a name, or with one until it is open.
SPILLED = re.compile(r"/\.hopscope-journal/(?:#\d+|spill\.\w+) \(deleted\)")
NODES, EDGES, WIDTHS = 100_000, 1_000_000, (16, 32, 16, 8)
from engine_process import own_folder


class Normalised(nn.Module):
    """Every edge has a weight that follows from degrees: a table of the prologue with a row per edge."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(WIDTHS, WIDTHS[1:]))

    def forward(self, x, edge_index):
        source, target = edge_index[0], edge_index[1]
        ones = torch.ones(target.size(0), dtype=x.dtype)
        degree = torch.zeros(x.size(0), dtype=x.dtype).index_add(0, target, ones).clamp(min=1)
        weight = (degree[source] * degree[target]).rsqrt().unsqueeze(1)
        for i, layer in enumerate(self.layers):
            h = layer(x)
            x = torch.zeros_like(h).index_add(0, target, h[source] * weight)
            x = torch.relu(x) if i + 1 < len(self.layers) else x
        return x


def by_hand(model, x, edge_index):
    """The same in float64, a column at a time, without PyTorch."""
    source, target = edge_index
    degree = numpy.maximum(numpy.bincount(target, minlength=len(x)), 1).astype(numpy.float64)
    weight = 1 / numpy.sqrt(degree[source] * degree[target])
    x = x.astype(numpy.float64)
    for i, layer in enumerate(model.layers):
        h = x @ layer.weight.detach().numpy().astype(numpy.float64).T + layer.bias.detach().numpy()
        x = numpy.stack([numpy.bincount(target, h[source, column] * weight, len(x)) for column in range(h.shape[1])], 1)
        x = numpy.maximum(x, 0) if i + 1 < len(model.layers) else x
    return x


class Watch(threading.Thread):
    """Looks at a run again and again until it is told to stop: the most bytes of stores in its folder at once, and the
    most tensors in files of their own."""

    def __init__(self, process, folder):
        super().__init__(daemon=True)
        self.process, self.folder, self.over = process, folder, threading.Event()
        self.most, self.looks, self.spilled = 0, 0, 0

    def run(self):
        while not self.over.wait(0.002):
            try:
                self.most = max(self.most, sum(path.stat().st_size for path in self.folder.iterdir()))
                self.looks += 1
                maps = Path(f"/proc/{self.process.pid}/maps").read_text()
            except OSError:  # between two looks the folder, a file of it or the process went
                continue
            self.spilled = max(self.spilled, len(SPILLED.findall(maps)))

    def stop(self):
        self.over.set()
        self.join()


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = own_folder(cls)
        cls.graph, cls.file = cls.folder / "graph.safetensors", cls.folder / "model.pt"
        subprocess.run([ENGINE, "generate", "rmat", "--nodes", str(NODES), "--edges", str(EDGES), "--features",
                        str(WIDTHS[0]), "--seed", "5", "-o", cls.graph, "--quiet"], check=True, timeout=60)
        torch.manual_seed(0)
        cls.model = Normalised().eval()
        models.save(cls.model, models.graph(40, 150, WIDTHS[0]), cls.file)
        data = load_file(cls.graph)
        assert data["edge_index"].shape == (2, EDGES)
        cls.expected = by_hand(cls.model, data["x"], data["edge_index"])

    def run_engine(self, *options, verify="none"):
        """The report, and the files that the run had meanwhile, on a disk that is slow enough to look (bad_host.cpp)."""
        out = self.folder / "out"
        words = [ENGINE, "run", self.file, "--data", self.graph, "-o", out, "--device", "cpu", "--objective", "bytes",
                 "--verify", verify, "--json", "--quiet", *options]
        slow = {"LD_PRELOAD": os.environ["HOPSCOPE_BAD_HOST"], "BAD_HOST_FOLDER": str(out), "BAD_HOST_DELAY": "3:300"}
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, env={**os.environ, **slow}) as process:
            watch = Watch(process, out / ".hopscope-journal")
            watch.start()
            printed = process.communicate(timeout=120)[0]
            watch.stop()
        self.assertEqual(process.returncode, 0, printed)
        found = numpy.load(out / "out.npy")
        numpy.testing.assert_allclose(found, self.expected, rtol=1e-4, atol=1e-5)
        self.assertGreater(watch.looks, 20)
        return json.loads(printed), watch

    def test_tables_of_the_prologue_that_are_larger_than_the_limit_go_to_files(self):
        # A weight per edge takes 4 MB; tensors may take all of so small a limit.
        report, watch = self.run_engine("--memory", 2_000_000)
        self.assertGreater(watch.spilled, 0)
        for stage in report["stages"]:
            self.assertLessEqual(stage["peak_memory"], 2_000_000)
            self.assertGreaterEqual(stage["batches"], 8)

    def test_stores_go_as_soon_as_nobody_reads_them_where_the_host_is_small_or_nothing_is_verified(self):
        # The cheapest stores are the products before a sum; the first goes when the second is complete.
        sizes = [4 * NODES * width for width in (WIDTHS[2], WIDTHS[3], WIDTHS[3])]
        everything, pair = sum(sizes), sizes[0] + sizes[1]
        for most, verify, options in ((everything, "full", ()), (pair, "none", ()),
                                      (pair, "full", ("--host-memory", pair))):
            _, watch = self.run_engine("--memory", 16_000_000, *options, verify=verify)
            heads = 1000  # of the files, and the lock
            self.assertGreaterEqual(watch.most, most)
            self.assertLess(watch.most, most + heads)

    def test_bench_run_proves_itself_and_keeps_the_limit_with_all_that_the_process_takes(self):
        limit = 160 << 20
        words = [BENCH, "run", "--nodes", 50_000, "--edges", 500_000, "--features", 16, "--hidden", 24,
                 "--outputs", 8, "--layers", 2, "--memory", limit, "--scale", 2]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual([(case["nodes"], case["edges"]) for case in document["cases"]],
                         [(50_000, 500_000), (100_000, 1_000_000)])
        first, second = document["cases"]
        (scaling,) = document["scaling"]
        bound = [sum(stage["bound_seconds"] for stage in case["stages"]) for case in document["cases"]]
        self.assertAlmostEqual(scaling["nodes"], 2)
        self.assertAlmostEqual(scaling["time"], second["seconds"] / first["seconds"])
        self.assertAlmostEqual(scaling["bound"], bound[1] / bound[0])
        self.assertAlmostEqual(scaling["over_bound"], scaling["time"] / scaling["bound"])
        for case in document["cases"]:
            self.assertEqual((case["reference"]["verdict"], case["reference"]["rows"]), ("equal", case["nodes"]))
            self.assertEqual((case["verify"]["verdict"], case["verify"]["coverage"]["chosen"]), ("equal", 65))
            self.assertLess(case["anonymous_before"], case["anonymous_peak"])
            self.assertLess(case["anonymous_peak"], limit)
            self.assertAlmostEqual(case["edges_per_second"] * case["seconds"] / (2 * case["edges"]), 1)
            self.assertAlmostEqual(sum(case["shares"].values()), 1, places=2)
            self.assertEqual(case["stages"][-1]["bytes"]["d2h"], 4 * case["nodes"] * 8)


class Wide(nn.Module):
    """The sums of neighbours' rows, whose elements are too many for 32 bits."""

    def forward(self, x, edge_index):
        sums = x[edge_index[0]].to(torch.float32).sum(1)
        return torch.zeros(x.size(0), dtype=torch.float32).index_add(0, edge_index[1], sums)


class ManyElements(unittest.TestCase):
    NODES, WIDTH, EDGES = 70_000, 32_768, 2_000  # 2.3e9 elements in a sparse file, which takes little of the disk

    def test_a_table_of_more_than_two_to_the_31_elements(self):
        with tempfile.TemporaryDirectory() as name:
            folder, draw = Path(name), numpy.random.default_rng(1)
            sample = torch.ones(30, 8, dtype=torch.uint8), torch.randint(0, 30, (2, 90))
            models.save(Wide(), sample, folder / "model.pt")
            x = numpy.lib.format.open_memmap(folder / "x.npy", "w+", numpy.uint8, (self.NODES, self.WIDTH))
            self.assertGreater(x.size, 2 ** 31)
            rows = [0, 65_535, 65_536, 65_537, self.NODES - 1]  # the first element of row 65,536 has the number 2^31
            x[rows] = draw.integers(0, 256, (len(rows), self.WIDTH))
            index = draw.integers(0, self.NODES, (2, self.EDGES))
            index[0, :1000], index[1, :500] = draw.choice(rows, 1000), self.NODES - 1
            numpy.save(folder / "edge_index.npy", index)
            words = [ENGINE, "run", folder / "model.pt", "--data", f"x={folder}/x.npy", "--data",
                     f"edge_index={folder}/edge_index.npy", "-o", folder / "out", "--verify", "none", "--quiet"]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            expected = numpy.bincount(index[1], x[index[0]].sum(1, dtype=numpy.int64), self.NODES)
            numpy.testing.assert_allclose(numpy.load(folder / "out/out.npy"), expected, rtol=1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
