"""A process that opens a model reaches the files that its command names, and nothing else. A library that is
loaded into the engine (tests/confine/intruder.cpp) tries the rest, in each command, just before the file is opened.
HOPSCOPE_INTRUDER names the library."""
import json
import os
import re
import subprocess
import unittest

from engine_process import ENGINE, always_the_program
from serve_case import KARATE, ServeTest
from serve_client import Client

always_the_program()
INTRUDER = os.environ["HOPSCOPE_INTRUDER"]
MODEL, DATA = KARATE["model"], KARATE["data"][0]
FEWEST = 30  # attempts of one process


class Confined(ServeTest):
    def setUp(self):
        super().setUp()
        self.victim = self.folder / "victim"
        for name in ("folder", "empty"):
            (self.victim / name).mkdir(parents=True)
        (self.victim / "file").write_text("precious")

    def engine(self, *words, given=None, **environment):
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "HOME": str(self.folder), **environment}
        return subprocess.run([ENGINE, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env=environment, check=False, input=given)

    def commands(self):
        out = self.folder / "out"
        yield "inspect", MODEL, "--data", DATA
        yield "plan", MODEL, "--data", DATA, "-o", out / "plan.json", "--explain", out / "why.json", "--steps", out / "steps.json"
        yield "run", MODEL, "--data", DATA, "-o", out / "new/run", "--verify", "full", "--cache", out / "cache", "--trace", out / "trace.json"
        yield "run", MODEL, "--data", DATA, "-o", out / "resumed", "--resume"
        yield "run", MODEL, "--data", DATA, "-o", out / "shard", "--shard", "1/1"
        yield "run", MODEL, "--data", DATA, "-o", out / "planned", "--plan", out / "plan.json"
        yield "verify", MODEL, "--data", DATA, "--verify", "full"
        yield "export", MODEL, "--data", DATA, "-o", out / "exported"
        yield "verify", MODEL, "--data", DATA, "--schema", out / "exported"
        yield "receptive-field", MODEL, "--data", DATA, "--node", "0", "--ids", out / "ids.safetensors"
        yield "debug", MODEL, "--data", DATA, "--nan"
        yield "debug", MODEL, "--data", DATA, "--against", MODEL
        yield "debug", MODEL, "--data", DATA, "--watch", "conv1", "--nodes", "0,1", "-o", out / "watched"

    def test_no_command_leaves_a_file_anything_to_reach(self):
        (self.folder / "out").mkdir()
        for words in self.commands():
            with self.subTest(words=words):
                done = self.engine(*words, LD_PRELOAD=INTRUDER, INTRUDER_FILE=MODEL, INTRUDER_VICTIM=str(self.victim))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.all_failed(done.stderr, FEWEST)
        self.untouched()

    def test_a_command_without_a_model_leaves_data_nothing_to_reach(self):
        (self.folder / "out").mkdir()
        request = {"data": [DATA], "roles": [], "folder": str(self.folder / "out")}
        done = self.engine("sample", LD_PRELOAD=INTRUDER, INTRUDER_FILE=DATA, INTRUDER_VICTIM=str(self.victim), given=json.dumps(request))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.all_failed(done.stderr, FEWEST)
        self.untouched()

    def all_failed(self, said, fewest):
        attempts = re.findall(r"^intruder: (.*): (\d+)$", said, re.MULTILINE)
        self.assertGreaterEqual(len(attempts), fewest, said)
        self.assertEqual([name for name, error in attempts if error == "0"], [])

    def untouched(self):
        self.assertEqual(sorted(path.name for path in self.victim.iterdir()), ["empty", "file", "folder"])
        self.assertEqual((self.victim / "file").read_text(), "precious")
        self.assertEqual(self.leavings(), [])

    def client_of(self, *words):
        (self.folder / "out").mkdir()
        intruder = {"LD_PRELOAD": INTRUDER, "INTRUDER_FILE": MODEL, "INTRUDER_VICTIM": str(self.victim)}
        client = Client(command=(ENGINE, *words), env={**os.environ, "TMPDIR": str(self.folder / "tmp"), **intruder})
        self.addCleanup(client.stop)
        self.assertEqual(client.greeting["confinement"], "confined")
        return client

    def test_the_processes_of_serve_have_no_more(self):
        client, out = self.client_of("serve"), self.folder / "out"
        number = client.call("model/open", **KARATE)["document"]
        plan = self.plan(client, number)["plan"]
        client.finished(self.start(client, number, plan, output=out / "run")["run"])
        client.call("export/write", **KARATE, plan=plan, folder=str(out / "exported"))
        client.leave()
        self.all_failed(client.errors.decode(), 3 * FEWEST)
        self.untouched()

    def test_the_process_of_a_worker_has_no_more(self):
        client, out = self.client_of("worker"), self.folder / "out"
        for number in range(2):  # another run takes another process
            place = client.call("worker/open", **KARATE, output=str(out / f"run{number}"), verify="full")
            while place["stage"] is not None:
                for shard in client.call("shard/list", stage=place["stage"], parts=2)["shards"]:
                    client.call("shard/compute", stage=place["stage"],
                                **{name: shard[name] for name in ("loop", "first", "count")})
                place = client.call("stage/end", stage=place["stage"], publish=True)
            self.assertEqual(place["report"]["verify"]["verdict"], "equal")
            self.assertEqual(place["report"]["confinement"], "confined")
        client.leave()
        self.all_failed(client.errors.decode(), 2 * FEWEST)
        self.untouched()

    def test_reports_and_devices_say_it(self):
        for more, state in (((), "confined"), (("--no-sandbox",), "not confined: --no-sandbox")):
            report = self.engine("run", MODEL, "--data", DATA, "-o", self.folder / "run", "--json", *more)
            self.assertEqual(json.loads(report.stdout)["confinement"], state, report.stderr)
            self.assertEqual(json.loads((self.folder / "run/report.json").read_text())["confinement"], state)
            self.assertEqual(json.loads(self.engine("devices", "--json", *more).stdout)["confinement"], state)
            self.assertIn(f"the process that opens a model is {state}\n", self.engine("devices", *more).stdout)

    def test_data_are_reached_by_links(self):
        (self.folder / "data").mkdir()
        (self.folder / "model.pt").symlink_to(MODEL)
        (self.folder / "data/graph.safetensors").symlink_to(DATA)
        for data in ("data/graph.safetensors", self.folder / "data/graph.safetensors"):
            self.assertEqual(self.engine("inspect", "model.pt", "--data", data).returncode, 0)


if __name__ == "__main__":
    unittest.main()
