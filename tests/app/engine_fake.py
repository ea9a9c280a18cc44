"""The engine on two GPUs that are not there (engine_fake.cpp), as a user and the window meet it. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
import unittest

import numpy
from safetensors.numpy import load_file

from engine_process import ENGINE, run, start
from patience import until_it_hits
from serve_case import DIGITS, KARATE, ROOT, ServeTest
from serve_client import Client
from tiers import FULL

LOST = {"HOPSCOPE_FAKE_FAULT": "segment:1:719"}  # CUDA's "unspecified launch failure"
BOTH = "cuda:0,cuda:1"


class FakeTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "XDG_CACHE_HOME": str(self.folder / "cache")}

    def engine(self, *words, code=0, **environment):
        done = run([ENGINE, *map(str, words)], env={**self.env, **environment}, capture_output=True, text=True,
                   timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def run_on(self, device, asked, *words, code=0, **environment):
        """A run, compared with the model on every row; its report."""
        out = self.folder / f"out{len(list(self.folder.iterdir()))}"
        self.engine("run", asked["model"], "--data", asked["data"][0], "--device", device, "-o", out, "--verify", "full",
                    *words, code=code, **environment)
        if code:
            self.assertFalse(out.exists())
            return None
        report = json.loads((out / "report.json").read_text())
        self.assertEqual((report["device"], report["verify"]["verdict"]), (device, "equal"))
        return report


    def slow_cpu(self):
        """Makes the rates of a slow CPU and of a GPU that starts in a quarter of a second those of this machine."""
        def rates(speed, **more):
            bytes_and_operations = dict.fromkeys(("read", "gather", "write", "structure", "elementwise", "aggregate", "matmul"),
                                                 1e10 * speed)
            return {**bytes_and_operations, "call": 1e-6 / speed, "batch": 1e-5 / speed, "walls": [], "slowness": 1.0, "runs": 0,
                    **more}
        file = self.folder / "cache/hopscope/machine.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"format": "hopscope-machine", "version": 3,
                                    "devices": {"cpu": rates(1e-7), "cuda:0": rates(10, start=0.25)}}))


class Commands(FakeTest):
    def test_auto_chooses_the_device_that_is_predicted_to_end_first(self):
        words = ("run", KARATE["model"], "--data", KARATE["data"][0], "-o")

        def device(out):
            return json.loads((self.folder / out / "report.json").read_text())["device"]

        said = self.engine(*words, self.folder / "small").stderr
        self.assertIn("auto chose the CPU, predicted to take ", said)
        self.assertIn("cuda:0 would take 600 ms to start (by typical rates;", said)
        self.assertEqual(device("small"), "cpu")
        self.slow_cpu()
        self.assertRegex(self.engine(*words, self.folder / "large").stderr,
                         "auto chose cuda:0, predicted to take 25[0-9] ms with its start: the CPU would take [0-9]+ min")
        self.assertEqual(device("large"), "cuda:0")
        self.assertNotIn("auto", self.engine(*words, self.folder / "told", "--device", "cpu").stderr)
        self.engine(*words, self.folder / "kept", "--resume")
        self.assertEqual(device("kept"), "cuda:0")

    def test_both_gpus_are_listed_beside_the_cpu(self):
        listed = json.loads(self.engine("devices", "--json").stdout)["devices"]
        self.assertEqual([device["id"] for device in listed], ["cpu", "cuda:0", "cuda:1"])

    def test_runs_equal_the_model_on_both_gpus_and_in_any_batches(self):
        for device, asked, batch, batches in (("cuda:0", KARATE, "1", 34), ("cuda:1", KARATE, "7", 5),
                                              ("cuda:1", DIGITS["gat"], "700", 3)):
            with self.subTest(device=device, model=asked["model"], batch=batch):
                report = self.run_on(device, asked, "--batch", batch)
                self.assertEqual({stage["batches"] for stage in report["stages"]}, {batches})
        for device, asked in (("cuda:0", DIGITS["jknet"]), ("cuda:1", DIGITS["residual"])):
            with self.subTest(device=device, model=asked["model"]):
                report = self.run_on(device, asked, "--batch", "auto")
                self.assertTrue(all(stage["reserved_memory"] > 0 for stage in report["stages"]))

    def test_a_memory_limit_makes_batches_smaller_and_too_small_a_one_is_refused(self):
        report = self.run_on("cuda:1", DIGITS["gat"], "--memory", "6Mi")
        self.assertGreater(max(stage["batches"] for stage in report["stages"]), 1)
        self.assertLessEqual(max(stage["reserved_memory"] for stage in report["stages"]), 6 << 20)
        self.run_on("cuda:1", DIGITS["gat"], "--memory", "1Ki", code=6)

    def test_a_plan_is_made_for_the_first_gpu_and_runs_on_the_other(self):
        file = self.folder / "plan.json"
        self.engine("plan", KARATE["model"], "--data", KARATE["data"][0], "--device", "cuda", "-o", file)
        self.assertEqual(json.loads(file.read_text())["device"], "cuda:0")
        self.run_on("cuda:0", KARATE, "--plan", file)
        self.run_on("cuda:1", KARATE, "--plan", file)

    def test_the_machine_is_measured_with_the_walls_between_it_and_the_gpu(self):
        rates = json.loads(self.engine("bench", "machine", "--device", "cuda:1", "--json",
                                       HOPSCOPE_FAKE_FAULT="memory:67108864").stdout)
        self.assertEqual(rates.pop("device"), "cuda:1")
        copies, walls = rates.pop("copies"), rates.pop("walls")
        self.assertLessEqual({"up", "down"}, {wall["wall"] for wall in walls})
        self.assertIs(copies.pop("pinned"), True)
        self.assertEqual(set(copies), {"up", "down", "both", "gather"})
        self.assertTrue(all(value > 0 for value in [*rates.values(), *copies.values()]))
        kept = json.loads((self.folder / "cache/hopscope/machine.json").read_text())["devices"]["cuda:1"]
        self.assertGreater(kept.pop("start"), 0)
        self.assertEqual(kept, {**rates, "walls": walls, "runs": 0})

    @unittest.skipUnless(FULL, "15 s of a core: the full tier measures all devices")
    def test_without_a_device_the_cpu_and_both_gpus_are_measured(self):
        first = json.loads(self.engine("bench", "machine", "--json", HOPSCOPE_FAKE_FAULT="memory:67108864").stdout)
        cpu, second = first.pop("others")
        self.assertEqual([rates["device"] for rates in (first, cpu, second)], ["cuda:0", "cpu", "cuda:1"])
        self.assertEqual(["copies" in rates for rates in (first, cpu, second)], [True, False, True])
        kept = json.loads((self.folder / "cache/hopscope/machine.json").read_text())["devices"]
        self.assertEqual({rates["device"]: rates["matmul"] for rates in (first, cpu, second)},
                         {device: rates["matmul"] for device, rates in kept.items()})

    def test_want_of_device_or_pinned_memory_once_costs_time_alone(self):
        plan, asked = self.folder / "plan.json", (DIGITS["gat"]["model"], "--data", DIGITS["gat"]["data"][0])
        self.engine("plan", *asked, "--device", "cuda", "-o", plan)
        expected = load_file(str(ROOT / "samples/digits/gat.expected.safetensors"))["out"]
        for fault in ("allocation:240", "allocation:330"):
            with self.subTest(fault=fault):
                out = self.folder / fault
                # The check on a sample, which a verification brings along, would meet the fault first.
                self.engine("run", *asked, "--plan", plan, "--batch", "200", "--verify", "none", "-o", out,
                            HOPSCOPE_FAKE_FAULT=fault)
                report = json.loads((out / "report.json").read_text())
                self.assertEqual((report["device"], sum(stage["back_offs"] for stage in report["stages"])), ("cuda:0", 1))
                numpy.testing.assert_allclose(numpy.load(out / "out.npy"), expected, rtol=1e-4, atol=1e-4)
        self.run_on("cuda:0", KARATE, HOPSCOPE_FAKE_FAULT="pinned:1")

    def test_a_lost_gpu_ends_a_command_with_one_line_and_no_files(self):
        for device in ("cuda:0", BOTH):
            self.run_on(device, KARATE, code=7, **LOST)

    def test_a_lost_gpu_ends_a_command_with_one_line_also_where_memory_is_freed(self):
        for device in ("cuda:0", BOTH):
            with self.subTest(device=device):
                out = self.folder / device
                asked = ("run", KARATE["model"], "--data", KARATE["data"][0], "--device", device, "-o", out, "--quiet")
                said = self.engine(*asked, code=7, HOPSCOPE_FAKE_FAULT="lost:1").stderr
                self.assertRegex(said, r"^error: unexpected error: CUDA error: unspecified launch failure[^\n]*\n$")
                self.assertFalse((out / "report.json").exists())
                self.engine(*asked)

    def test_several_gpus_run_and_are_verified_planned_and_measured_under_the_same_words(self):
        self.run_on(BOTH, DIGITS["gat"], "--batch", "100")
        self.run_on("cuda:1,cuda:0", DIGITS["residual"])
        asked = (KARATE["model"], "--data", KARATE["data"][0], "--device", BOTH)
        self.engine("verify", *asked)
        file = self.folder / "plan.json"
        self.engine("plan", *asked, "-o", file)
        self.assertEqual(json.loads(file.read_text())["device"], BOTH)
        self.run_on(BOTH, KARATE, "--plan", file)
        self.run_on("cuda:1", KARATE, "--plan", file)
        for devices, sentence in (("cuda:0,cuda:0", "cuda:0 is named twice"), ("cuda:0,cuda:5", "there is no GPU cuda:5"),
                                  ("cpu,cuda:0", "several devices must be GPUs, and cpu is not the name of one")):
            error = self.engine("run", *asked[:-1], devices, "-o", self.folder / "none", code=2).stderr
            self.assertIn(sentence, error)



class Journals(FakeTest):
    """Runs that are killed, and runs of several processes. The model takes a while in small batches."""

    def setUp(self):
        super().setUp()
        asked = self.large(nodes=6000)
        self.words = ["run", asked["model"], "--data", asked["data"][0], "--batch", "40", "--verify", "none", "--quiet"]
        self.out = self.folder / "out"

    def digest(self, out=None):
        return hashlib.sha256(((out or self.out) / "out.npy").read_bytes()).hexdigest()

    def expected(self, *words):
        out = self.folder / "whole"
        self.engine(*self.words, "--device", "cuda:0", "--resume", "-o", out, *words)
        return self.digest(out)

    def process(self, *words):
        return start([ENGINE, *map(str, self.words), "-o", str(self.out), *words], env=self.env, stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def noted(self, name="chunks"):
        try:
            return len((self.out / ".hopscope-journal" / name).read_bytes().splitlines())
        except OSError:
            return 0

    def killed(self, process, records):
        """Whether the process was killed as soon as it had so many records, before all was done."""
        while process.poll() is None and self.noted() < records:
            time.sleep(0.001)
        process.kill()
        _, error = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, -9), error)
        return (self.out / ".hopscope-journal").exists()

    def killed_for_sure(self, records, *words):
        def attempt():
            return self.killed(self.process(*words), records) or shutil.rmtree(self.out)

        self.assertTrue(until_it_hits(attempt))

    def test_a_run_that_is_killed_again_and_again_gives_the_same_bits_on_either_gpu_and_on_both(self):
        expected, draw = self.expected(), random.Random(5)
        for records in (1, 40, 200):
            self.killed_for_sure(records, "--device", draw.choice(("cuda:0", "cuda:1", BOTH)), "--resume")
            while self.killed(self.process("--device", draw.choice(("cuda:0", "cuda:1", BOTH)), "--resume"),
                              self.noted() + records):
                pass
            self.assertEqual(self.digest(), expected)
            self.assertEqual(json.loads((self.out / "report.json").read_text())["resumed"]["damaged"], 0)
            shutil.rmtree(self.out)

    def test_a_run_on_two_gpus_gives_the_bits_of_a_run_with_a_journal_on_one(self):
        expected = self.expected()
        self.engine(*self.words, "--device", BOTH, "-o", self.out, "--trace", self.folder / "trace.json")
        self.assertEqual(self.digest(), expected)
        self.assertEqual(json.loads((self.out / "report.json").read_text())["device"], BOTH)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        written = [event["pid"] for event in events if event["name"] == "write"]  # computing takes no time here
        self.assertEqual(set(written), {1, 2})
        self.assertAlmostEqual(written.count(1), written.count(2), delta=0.1 * len(written))

    def test_a_run_on_a_gpu_is_not_resumed_on_a_cpu(self):
        expected = self.expected()
        self.killed_for_sure(3, "--device", "cuda:1", "--resume")
        error = self.engine(*self.words, "--device", "cpu", "--resume", "-o", self.out, code=3).stderr
        self.assertIn("the GPU (was Fake GPU, compute capability 0.0, CUDA 0.0, is none)", error)
        self.engine(*self.words, "--resume", "-o", self.out)
        self.assertEqual(self.digest(), expected)

    def test_workers_on_two_gpus_give_the_bits_of_one_process(self):
        expected = self.expected("--threads", "1")
        package = str(ROOT / "packaging/python/src")
        for devices in ("cuda:0,cuda:1", "cuda:1"):
            done = subprocess.run([sys.executable, "-m", "hopscope.scale", *map(str, self.words), "-o", self.out, "--address",
                                   "local", "--workers", "2", "--threads", "1", "--device", devices, "--wait", "120"],
                                  env={**self.env, "PYTHONPATH": package}, capture_output=True, text=True, check=False,
                                  timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.digest(), expected)
            report = json.loads((self.out / "report.json").read_text())
            self.assertIn(report["device"], devices)
            shutil.rmtree(self.out)

    def test_shards_on_two_gpus_give_the_bits_of_one_process(self):
        expected = self.expected()
        for devices in (("cuda:0", "cuda:1"), ("cuda:1", "cuda:1")):
            processes = [self.process("--device", device, "--shard", f"{i}/2") for i, device in enumerate(devices, 1)]
            for process in processes:
                _, error = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, error)
            self.assertEqual(self.digest(), expected)
            shutil.rmtree(self.out)


class Served(FakeTest):
    def client(self, initialize=True, **environment):
        client = Client(initialize, env={**self.env, **environment})
        self.addCleanup(client.stop)
        return client

    def begin(self, client, device):
        """A run on the device, of a plan for the CPU."""
        document = client.call("model/open", **KARATE)["document"]
        plan = self.plan(client, document)["plan"]
        return client.call("run/start", document=document, plan=plan, device=device, memory=None, batch=7, output=None,
                           verify="none", nan="propagate", paused=False)["run"]

    def test_plans_for_auto_name_the_chosen_device_and_say_why(self):
        self.slow_cpu()
        client = self.client()
        document = client.call("model/open", **KARATE)["document"]
        for near in (False, True):
            made = client.call("plan/make", document=document, strategy="optimal", pins=[], device="auto", memory=None,
                               batch=None, objective=None, near=near)
            self.assertEqual(made["plan"]["device"], "cuda:0")
            self.assertEqual(sum("auto chose cuda:0" in note for note in made["notes"]), 1)
        self.assertEqual(client.leave(), 0)

    def test_runs_on_both_gpus_one_after_the_other(self):
        client = self.client()
        for device in ("cuda:0", "cuda:1", "cuda:0"):
            self.assertEqual(client.finished(self.begin(client, device))["report"]["device"], device)
        self.assertEqual(client.leave(), 0)

    def test_after_a_lost_gpu_the_run_fails_the_server_ends_and_the_next_one_works(self):
        client = self.client(**LOST)
        error = client.finished(self.begin(client, "cuda:1"))["error"]
        self.assertEqual(error["exit_code"], 7)
        self.assertIn("CUDA", error["message"])
        self.assertEqual(client.process.wait(60), 7)
        self.assertEqual(self.leavings(), [])
        after = self.client()
        self.assertEqual(after.finished(self.begin(after, "cuda:1"))["report"]["device"], "cuda:1")

    def test_a_gpu_that_is_lost_while_a_plan_is_made_ends_the_server_or_does_no_harm(self):
        for fault in (LOST["HOPSCOPE_FAKE_FAULT"], "lost:1"):
            with self.subTest(fault=fault):
                client = self.client(HOPSCOPE_FAKE_FAULT=fault)
                document = client.call("model/open", **KARATE)["document"]
                made = client.ask("plan/make", document=document, strategy="depth", pins=[], device="cuda:0", memory=None,
                                  batch=None, objective=None)
                while made not in client.answers:
                    client.take()
                if "error" in client.answers[made][0]:
                    self.assertEqual(client.process.wait(60), 7)
                else:
                    self.assertEqual(client.leave(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
