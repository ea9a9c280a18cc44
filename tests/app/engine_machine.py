"""What the engine knows of the machine: measured, shown, refined by runs, forgotten."""
import functools
import json
import os
import tempfile
import unittest
from pathlib import Path

from engine_process import ENGINE, run
from serve_case import KARATE, ServeTest
from serve_client import Client
from tiers import FULL


@functools.cache
def measurement():
    """The output of the command, and the file that it writes: one measurement takes 8 s of both cores."""
    with tempfile.TemporaryDirectory() as cache:
        done = run([ENGINE, "bench", "machine", "--device", "cpu", "--json"], env={**os.environ, "XDG_CACHE_HOME": cache}, check=True,
                   capture_output=True, text=True, timeout=300)
        return done.stdout, Path(cache, "hopscope/machine.json").read_text()


class Machine(ServeTest):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "XDG_CACHE_HOME": str(self.folder / "cache")}

    def client(self, initialize=True):
        client = Client(initialize, env=self.env)
        self.addCleanup(client.stop)
        return client

    def values(self, rates):
        return {rate["key"]: rate["value"] for rate in rates["rates"]}

    def file(self):
        return self.folder / "cache/hopscope/machine.json"

    def written(self):
        return json.loads(self.file().read_text())

    def write(self, text):
        self.file().parent.mkdir(parents=True, exist_ok=True)
        self.file().write_text(text)

    def measured(self, client):
        if FULL:
            return client.call("machine/measure", device="cpu")
        self.write(measurement()[1])
        return client.call("machine/rates", device="cpu")

    def test_rates_are_measured_shown_and_forgotten(self):
        client = self.client()
        typical = client.call("machine/rates", device=None)
        self.assertEqual((typical["device"], typical["measured"], typical["runs"]), ("cpu", False, 0))
        self.assertTrue(all(rate["what"] and rate["unit"] in ("B/s", "FLOP/s", "s") for rate in typical["rates"]))
        measured = self.measured(client)
        self.assertTrue(measured["measured"])
        self.assertTrue(all(value > 0 for value in self.values(measured).values()))
        self.assertEqual(client.call("machine/rates", device="cpu"), measured)
        self.assertEqual(self.values(measured), {key: value for key, value in self.written()["devices"]["cpu"].items()
                                                 if key not in ("runs", "walls", "slowness")})
        self.assertEqual(len(measured["walls"]), len(self.written()["devices"]["cpu"]["walls"]))
        self.assertTrue(all(wall["what"] and wall["all"] >= wall["one"] > 0 for wall in measured["walls"]))
        document = client.call("model/open", **KARATE)["document"]
        before = self.plan(client, document)["predicted"]["seconds"]
        self.assertEqual(client.call("machine/forget", device="cpu"), typical)
        self.assertEqual(client.call("machine/forget", device="cpu"), typical)
        self.assertNotEqual(self.plan(client, document)["predicted"]["seconds"], before)
        self.refused(-32002, "unknown device abacus", client.call, "machine/rates", device="abacus")

    def test_runs_refine_what_was_measured_and_leave_a_typical_machine_alone(self):
        client = self.client()
        document = client.call("model/open", **self.large(12_000, 120_000))["document"]
        plan = self.plan(client, document, batch=1)["plan"]
        client.finished(self.start(client, document, plan)["run"])
        self.assertFalse(client.call("machine/rates", device="cpu")["measured"])
        rates = {key: 1e15 for key in ("read", "gather", "write", "structure", "elementwise", "aggregate", "matmul")}
        self.write(json.dumps({"version": 3, "devices": {
            "cpu": {**rates, "call": 1e-12, "batch": 1e-12, "walls": [], "slowness": 1}, "cuda:7": {"kept": True}}}))
        expected = self.plan(client, document, batch=1)["predicted"]["seconds"]
        client.finished(self.start(client, document, plan)["run"])
        now = client.call("machine/rates", device="cpu")
        self.assertEqual((now["measured"], now["runs"]), (True, 1))
        self.assertLess(self.values(now)["matmul"], 1e15)
        self.assertGreater(self.plan(client, document, batch=1)["predicted"]["seconds"], expected)
        self.assertEqual(self.written()["devices"]["cuda:7"], {"kept": True})

    def test_the_command_measures_and_a_run_on_the_command_line_refines(self):
        large = self.large(12_000, 120_000)
        engine = lambda *words: run([ENGINE, *words], env=self.env, check=True, capture_output=True, text=True, timeout=300).stdout
        plan = lambda: json.loads(engine("plan", KARATE["model"], "--data", *KARATE["data"], "--json"))
        typical = plan()
        self.assertRegex(engine("plan", KARATE["model"], "--data", *KARATE["data"]), r"predicted: peak memory")
        printed, text = measurement()
        self.write(text)
        printed, written = json.loads(printed), self.written()
        self.assertEqual(written["format"], "hopscope-machine")
        self.assertEqual(written["devices"]["cpu"] | {"device": "cpu"}, printed | {"runs": 0})
        self.assertTrue(all(rate > 0 for key, rate in printed.items() if key not in ("device", "walls")))
        self.assertLessEqual({"stream", "rows", "segments", "gemm", "pages", "stores"}, {wall["wall"] for wall in printed["walls"]})
        small = lambda *words: engine(*words, KARATE["model"], "--data", *KARATE["data"], "--verify", "none")
        self.assertRegex(small("run", "-o", str(self.folder / "small")), r"^stage +time +predicted +of roofline +rows/s")
        self.assertRegex(engine("plan", KARATE["model"], "--data", *KARATE["data"]), r"predicted: \S+ \S*s, peak memory")
        measured = plan()
        self.assertNotEqual(measured["cost"], typical["cost"])
        self.assertEqual(measured["checkpoints"][-1], typical["checkpoints"][-1])
        engine("run", large["model"], "--data", large["data"][0], "-o", str(self.folder / "out"), "--batch", "1",
               "--verify", "none")
        self.assertEqual(self.written()["devices"]["cpu"]["runs"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
