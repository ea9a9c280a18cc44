"""packaging/gpu-check.sh on GPUs that are not there: its table, its report, its exit code, its bound. HOPSCOPE_ENGINE, HOPSCOPE_BENCH
and HOPSCOPE_TEST_MODELS name the programs with such GPUs, HOPSCOPE_ZOO the generated models, HOPSCOPE_ROOT the repository."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "tests/peers")]
import bench_gpu  # noqa: E402: from that folder
import gpu_check  # noqa: E402: from that folder
import gpu_report  # noqa: E402: from that folder
from tiers import FULL  # noqa: E402

STEPS = ["devices", "kernels", "sandbox on cuda:0", "samples on cuda:0", "zoo on cuda:0", "cora on cuda:0",
         "sandbox on cuda:1", "samples on cuda:1", "zoo on cuda:1", "cora on cuda:1", "bench machine", "run",
         "run on two GPUs", "large run", "large run in 6Mi", *gpu_check.PEERS, "compute-sanitizer"]
RUNS = ["run", "large run", "large run in 6Mi"]  # that have a bound
FAST = {"HOPSCOPE_FAKE_FAULT": "memory:268435456"}  # tables for measuring are an eighth of a GPU's memory


class Check(unittest.TestCase):
    def started(self, folder, *more, engine=os.environ["HOPSCOPE_ENGINE"], models=os.environ["HOPSCOPE_TEST_MODELS"], **environment):
        return subprocess.run(["bash", str(ROOT / "packaging/gpu-check.sh"), "--small", "--engine", engine, "--bench",
                               os.environ["HOPSCOPE_BENCH"], "--test-models", models, "--zoo",
                               os.environ["HOPSCOPE_ZOO"], "--out", folder, *more], capture_output=True, text=True,
                              timeout=600, check=False, env={**os.environ, **FAST, "HOPSCOPE_PYTHON": sys.executable, **environment})

    def check(self, code, *more, **how):
        """The report and what was printed."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        done = self.started(holder.name, *more, **how)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(sorted(path.name for path in Path(holder.name).glob("gpu-check-report.*")),
                         ["gpu-check-report.json", "gpu-check-report.md"])
        self.assertFalse((Path(holder.name) / "large").exists())
        text = (Path(holder.name) / "gpu-check-report.md").read_text()
        return json.loads((Path(holder.name) / "gpu-check-report.json").read_text()), text, done.stdout

    @unittest.skipUnless(FULL, "it measures all peers: test gpu_check_all")
    def test_every_step_is_in_the_table_and_in_the_report_and_runs_stand_beside_their_bound(self):
        report, text, printed = self.check(0, "--peers")
        self.assertEqual([step["name"] for step in report["steps"]], STEPS)
        self.assertEqual(report["verdict"], "passed, 4 steps skipped")
        table = printed[printed.index("step "):]
        for step in report["steps"]:
            self.assertIn(f"\n{step['name']} ", table)
            self.assertIn(f"\n| {step['name']} | ", text)
            left_out = step["name"].split()[0] in ("kernels", "cora", "compute-sanitizer")
            self.assertEqual(step["verdict"] == "skipped", left_out)
            self.assertTrue(step["verdict"] != "skipped" or step["reason"])
            self.assertEqual("bound_seconds" in step, step["name"] in RUNS)
            self.assertEqual(len(step.get("walls", [])), 3 if step["name"] in RUNS else 0)
        self.assertEqual((report["machine"]["GPU"], report["machine"]["driver"]), ("Fake GPU", "fake"))
        self.assertRegex(report["machine"]["commit"], "^[0-9a-f]{40}|^, changed|^$")
        self.assertTrue(all(rate > 0 for name, rate in report["rates"]["copies"].items()))
        peers = {step["name"]: list(step["peers"]["models"]) for step in report["steps"] if step.get("peers")}
        self.assertEqual(peers, {"peers": ["sage", "gcn", "gat"], "peers, other convolutions": ["pna"], "peers with a memory limit": ["sage"]})
        for model in ("sage", "gcn", "gat"):
            self.assertRegex(printed, rf"\n{model} +loop-uva +[\d.]+ (us|ms|s) ")
            self.assertIn(f"\n| {model} | compile |  |  |  |  |  | not measured: torch.compile is left out on a CPU", text)

    def test_single_steps_are_run_by_name(self):
        only = ["run", "peers, other convolutions"]
        report, _, printed = self.check(0, "--peers", *(word for name in only for word in ("--only", name)))
        self.assertEqual([step["name"] for step in report["steps"]], ["devices", *only])
        self.assertEqual(report["verdict"], "passed")
        self.assertEqual(list(report["steps"][2]["peers"]["models"]["pna"]), ["engine", "moved", "coo"])
        self.assertRegex(printed, r"\npna +moved +[\d.]+ (us|ms|s) .* [\d.]+e-\d+\n")

    def test_the_engine_runs_in_its_sandbox_on_each_gpu_and_on_both(self):
        report, _, _ = self.check(0, "--only", "sandbox", "--only", "run on two GPUs")
        of = {step["name"]: step for step in report["steps"]}
        self.assertEqual(list(of), ["devices", "sandbox on cuda:0", "sandbox on cuda:1", "run on two GPUs"])
        self.assertEqual({step["verdict"] for step in of.values()}, {"passed"})
        self.assertIn("equal on all 10,000 rows", of["run on two GPUs"]["reason"])
        self.assertRegex(of["sandbox on cuda:1"]["measured"], "^equal to forward, (not )?confined")

    def test_the_steps_for_peers_are_the_same_in_both_sizes_and_their_options_are_known(self):
        self.assertEqual(list(gpu_check.PEERS), list(gpu_check.SMALL_PEERS))
        for words in (*gpu_check.PEERS.values(), *gpu_check.SMALL_PEERS.values()):
            with self.subTest(words=words), unittest.mock.patch("sys.argv", ["bench_gpu.py", "--engine", "e", *words.split()]):
                self.assertEqual(bench_gpu.arguments().graph, "rmat")

    def test_an_unknown_step_is_refused_with_the_names_of_all(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.started(folder, "--only", "peers")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown step 'peers'; there are bench machine, compute-sanitizer, cora,", done.stderr)

    def test_a_step_that_fails_is_told_and_the_others_go_on(self):
        report, text, printed = self.check(1, "--only", "samples", "--only", "zoo", "--only", "run", models="/bin/false")
        failed = [step["name"] for step in report["steps"] if step["verdict"] == "FAILED"]
        self.assertEqual(failed, ["samples on cuda:0", "zoo on cuda:0", "samples on cuda:1", "zoo on cuda:1"])
        self.assertEqual(report["steps"][-1]["verdict"], "passed")
        self.assertTrue(text.startswith("# Hopscope on a GPU: FAILED"))
        self.assertIn("FAILED; the report", printed)

    def test_without_a_gpu_the_reason_is_told_and_nothing_is_run(self):
        report, text, printed = self.check(1, HOPSCOPE_FAKE_FAULT="listing:0")
        self.assertEqual({step["verdict"] for step in report["steps"][1:]}, {"skipped"})
        self.assertEqual((report["steps"][0]["verdict"], report["steps"][0]["reason"]), ("FAILED", "there is no GPU here"))


class Peers(unittest.TestCase):
    ROW = {"device": 0.5, "host": 2.0, "process": 3.0, "peak": 1 << 30, "error": 1e-7}
    MODELS = {"gat": {"engine": ROW, "coo": {**ROW, "host": 5.0}, "csr": {"missing": "out of memory"}}}

    def step(self, document, code, small=True):
        """Runs the step with a bench that answers this."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        bench = Path(folder.name) / "python"
        bench.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(document)}\nEND\nexit {code}\n")
        bench.chmod(0o755)
        check = gpu_check.Check(argparse.Namespace(out=folder.name, small=small, python=str(bench), engine="engine"))
        check.step("peers", check.peers, "")
        return check.steps[0]

    def test_the_fastest_variant_of_pyg_stands_in_the_table_and_all_of_them_in_the_report(self):
        step = self.step({"models": self.MODELS, "pyg": ["coo", "csr"], "ours": ["engine"], "wrong": []}, 0)
        self.assertEqual((step["verdict"], step["measured"]), ("passed", "host to host, peer / engine: gat 2.50x (coo)"))
        self.assertEqual(gpu_report.peer_lines(step["peers"])[2:],
                         [["gat", "coo", "500 ms", "5.0 s", "2.50", "3.0 s", "1.00 GiB", "1.00", "1.0e-07"],
                          ["gat", "csr", "", "", "", "", "", "", "not measured: out of memory"]])

    def test_without_pyg_the_fastest_peer_stands_in_the_table_and_never_the_engine(self):
        rows = {"engine": self.ROW, "moved": {**self.ROW, "host": 1.0}, "loop-uva": {**self.ROW, "host": 3.0},
                "loop-host": {**self.ROW, "host": 4.0}}
        said = gpu_report.nearest_peers({"models": {"sage": rows}, "pyg": ["coo"], "ours": ["engine", "moved"]})
        self.assertEqual(said, "sage 1.50x (loop-uva)")

    def test_results_that_are_far_from_float64_fail_the_step(self):
        step = self.step({"models": self.MODELS, "pyg": ["coo"], "ours": ["engine"], "wrong": ["gat: coo differs"]}, 5)
        self.assertEqual((step["verdict"], step["reason"]), ("FAILED", "gat: coo differs"))
        self.assertIn("out of memory", step["output"])
        self.assertEqual(self.step({}, 1)["verdict"], "FAILED")

    def test_the_full_size_is_skipped_where_torch_finds_no_gpu(self):
        step = self.step({}, 0, small=False)
        self.assertEqual(step["verdict"], "skipped")
        self.assertIn("finds no GPU", step["reason"])


class Bound(unittest.TestCase):
    RATES = {"aggregate": 4e9, "elementwise": 2e9, "matmul": 1e12,
             "copies": {"up": 1e9, "down": 2e9, "both": 1e9, "gather": 5e8, "pinned": True}}

    def document(self, **bytes_of):
        stage = {"bytes": {"h2d": 0, "d2h": 0, "structure": 0, **bytes_of}}
        return {"options": {"features": 100, "hidden": 50, "outputs": 10, "layers": 2},
                "cases": [{"nodes": 1000, "edges": 10000, "stages": [stage, stage]}]}

    def test_the_bottleneck_of_each_stage_counts(self):
        memory = [10000 * 50 * 4 / 4e9 + 1000 * 150 * 4 / 2e9, 10000 * 10 * 4 / 4e9 + 1000 * 60 * 4 / 2e9]
        for bytes_of, seconds, wall in (({}, sum(memory), "GPU memory"), ({"h2d": 10**9}, 4.0, "gathers"),
                                        ({"structure": 10**9}, 2.0, "host-to-device copies"),
                                        ({"d2h": 10**9}, 1.0, "device-to-host copies")):
            found, nearest = gpu_report.bound(self.document(**bytes_of), self.RATES)
            self.assertAlmostEqual(found, seconds)
            self.assertEqual(nearest, [wall] * 2)
        slow = {**self.RATES, "matmul": 1e3}
        self.assertAlmostEqual(gpu_report.bound(self.document(), slow)[0], 4 * 1000 * (100 * 50 + 50 * 10) / 1e3)

    def test_there_is_none_without_rates_or_where_stages_are_no_layers(self):
        self.assertIsNone(gpu_report.bound(self.document(), {}))
        joined = self.document()
        joined["cases"][0]["stages"].pop()
        self.assertIsNone(gpu_report.bound(joined, self.RATES))


if __name__ == "__main__":
    unittest.main(verbosity=2)
