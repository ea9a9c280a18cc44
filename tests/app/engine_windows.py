"""Tables that do not fit into memory: the engine in a control group with less of it than the data take, beside the run
without a limit. HOPSCOPE_ENGINE names the program."""
import contextlib
import json
import os
import subprocess
import unittest
import warnings
from pathlib import Path

import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

ENGINE = os.environ["HOPSCOPE_ENGINE"]
NODES, EDGES, FEATURES = 200_000, 800_000, 256  # 205 MB of features
LIMIT = 260 << 20  # bytes; a process needs about 120 MB besides tables
GROUP = f"hopscope-test-{os.getpid()}"
from engine_process import own_folder


class Net(torch.nn.Module):
    def __init__(self, convolution, hidden):
        super().__init__()
        self.first, self.second = convolution(FEATURES, hidden), convolution(hidden, 16)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def memory_group():
    """The folder of a new group with the limit (version 1 or 2); None where there is none to be had."""
    for root, limit in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")):
        group = root / GROUP
        try:
            group.mkdir()
            with (group / limit).open("r+") as file:
                file.write(str(LIMIT))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return group
    return None


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.filterwarnings("ignore")
        torch.set_num_threads(1)
        cls.folder = own_folder(cls)
        system = subprocess.run(["stat", "-f", "-c", "%T", cls.folder], capture_output=True, text=True, check=True)
        if system.stdout.strip() in ("tmpfs", "ramfs"):
            raise unittest.SkipTest(f"{cls.folder} is in memory: files there take it anyway")
        cls.group = memory_group()
        if not cls.group:
            raise unittest.SkipTest("no control group with a limit on memory can be made here")
        cls.addClassCleanup(cls.group.rmdir)
        cls.graph = cls.folder / "graph.safetensors"
        subprocess.run([ENGINE, "generate", "rmat", "--nodes", str(NODES), "--edges", str(EDGES), "--features",
                        str(FEATURES), "--seed", "3", "-o", cls.graph, "--quiet"], check=True, timeout=120)

    def model(self, convolution, hidden):
        path = self.folder / f"{convolution.__name__}-{hidden}.pt"
        torch.manual_seed(1)
        sample = torch.randn(60, FEATURES), torch.randint(0, 60, (2, 300))
        with torch.no_grad():
            torch.jit.trace(Net(convolution, hidden).eval(), sample, check_trace=False).save(str(path))
        return path

    def within_group(self, words):
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.group / "cgroup.procs"), *words]

    def run_model(self, model, threads, within=False):
        """The report, and the bytes of the output."""
        out = self.folder / "out"
        words = [ENGINE, "run", model, "--data", self.graph, "-o", out, "--verify", "none", "--device", "cpu", "--json"]
        words = list(map(str, words))
        done = subprocess.run(self.within_group(words) if within else words, capture_output=True, text=True, timeout=300,
                              env=os.environ | {"OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": "0"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        output = (out / "out.npy").read_bytes()
        for file in out.iterdir():
            file.unlink()
        out.rmdir()
        return json.loads(done.stdout), output

    def test_runs_that_do_not_fit_give_the_same_bytes_and_report_their_windows(self):
        # With wide rows the second loop does not fit either: the first one leaves it rows in memory.
        for convolution, hidden in ((SAGEConv, 64), (GCNConv, 64), (GATConv, 64), (SAGEConv, 256), (GCNConv, 256)):
            model = self.model(convolution, hidden)
            usual, expected = self.run_model(model, 2)
            self.assertEqual({(s["windows"], s["file_bytes"]) for s in usual["stages"]}, {(0, 0)})
            for threads in (1, 2):
                with self.subTest(model=model.stem, threads=threads):
                    report, found = self.run_model(model, threads, within=True)
                    self.assertEqual(found, expected)
                    self.check_windows(report)
                    if (convolution, hidden) == (GCNConv, 256):
                        self.check_rows_that_stay(report["stages"][1], NODES * hidden * 4)

    def check_rows_that_stay(self, stage, table):
        """Its self-loops ask for every row: less than all is read only where rows of the stage before are still there."""
        self.assertGreater(stage["windows"], 0)
        self.assertLess(stage["file_bytes"], table)

    def check_windows(self, report):
        stages = [stage for stage in report["stages"] if stage["windows"]]
        self.assertTrue(stages, "no stage was computed in windows")
        for stage in report["stages"]:
            self.assertEqual(stage["file_bytes"] > 0, stage["windows"] > 0)
        # The features are read from the file, at least those that a window asks for.
        self.assertGreater(sum(stage["file_bytes"] for stage in stages), NODES * FEATURES * 4 // 2)


if __name__ == "__main__":
    unittest.main()
