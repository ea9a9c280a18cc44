"""`hopscope-scale serve` as a window uses it: everything but runs is the engine's, and runs are dealt out to workers of this
machine."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from scale_support import JOURNAL, ROOT, SOON, ScaleTest, digests, kill, processes, records

from hopscope import _frames  # found by scale_support
from serve_client import Client, Refused, frame

SAMPLE = {"model": str(ROOT / "samples/digits/jknet.pt"), "data": [str(ROOT / "samples/digits/graph.safetensors")],
          "roles": []}
PATIENCE = 300


class ServeTest(ScaleTest):
    nodes = 100_000

    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def surroundings(self, **more):
        return {**self.environment(), "TMPDIR": str(self.temporary), **more}

    def serve(self, *more, command=None, initialize=True, **environment):
        words = [sys.executable, "-m", "hopscope.scale", "serve", "--address", "local", "--workers", "2", "--threads", "1"]
        client = Client(initialize, command or [*words, *more], env=self.surroundings(**environment))
        self.addCleanup(client.stop)
        return client

    def engine(self):
        return self.serve(command=[str(self.program), "serve"], OMP_NUM_THREADS="2")

    def open(self, client, files=None):
        return client.call("model/open", **(files or self.slow()))["document"]

    def slow(self):
        """A model and a graph of which three stages take some seconds in small batches."""
        model, _, data = self.made["sage"][:3]
        return {"model": str(model), "data": [str(data)], "roles": []}

    def plan(self, client, document):
        return client.call("plan/make", document=document, strategy="depth", pins=[], device="cpu", memory=None, batch=None,
                           objective="time", stages=None)["plan"]

    def start(self, client, document, plan, **more):
        asked = {"device": "auto", "memory": None, "batch": 8, "output": None, "verify": "none", "nan": "propagate",
                 "paused": False, **more}
        return client.call("run/start", document=document, plan=plan, **asked)

    def begun(self, client, **more):
        """A run of the slow model, its number and its plan."""
        document = self.open(client)
        plan = self.plan(client, document)
        return document, plan, self.start(client, document, plan, **more)["run"]

    def of_one_process(self, plan, files=None, batch="8"):
        """Of all results of a run by the same plan without workers."""
        files, out = files or self.slow(), self.folder / "alone"
        (self.folder / "plan.json").write_text(json.dumps(plan))
        subprocess.run([self.program, "run", files["model"], "--data", files["data"][0], "--plan", self.folder / "plan.json",
                        "-o", out, "--resume", "--threads", "1", "--batch", batch, "--verify", "none", "--quiet"],
                       check=True, timeout=PATIENCE)
        return digests(out)

    def refused(self, code, says, call, *words, **params):
        with self.assertRaises(Refused) as caught:
            call(*words, **params)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(says, str(caught.exception))
        return caught.exception.error

    def all_processes(self):
        return processes(str(self.program))

    def until_event(self, client, run, wanted, patience=PATIENCE):
        """Reads on until there is an event with these members; it."""
        end = time.monotonic() + patience
        while True:
            for event in client.events(run):
                if wanted.items() <= event.items():
                    return event
            self.assertLess(time.monotonic(), end, f"no event {wanted}")
            client.take()

    def leavings(self):
        return sorted(path.name for path in self.temporary.iterdir())


class PassedOn(ServeTest):
    def said(self, client):
        """What is said to requests that have nothing to do with runs."""
        said = {"opened": client.call("model/open", **SAMPLE)}
        asked = {"document": said["opened"]["document"], "strategy": "depth", "pins": [], "device": "cpu", "memory": None,
                 "batch": 8, "objective": "bytes", "stages": None}
        made = said["made"] = client.call("plan/make", **asked)
        last = said["opened"]["inspect"]["ops"][-2]["id"]
        requests = [("plan/load", {"document": asked["document"], "text": json.dumps(made["plan"])}),
                    ("plan/explain", asked), ("plan/steps", asked), ("model/source", {**asked, "op": last}),
                    ("plan/graph", {"document": 1, "plan": made["plan"], "node": 3}), ("fs/list", {"path": str(ROOT / "samples")}),
                    ("export/preview", {"document": 1, "plan": made["plan"]}), ("no/such", {}), ("plan/make", {"document": 99}),
                    ("debug/tensor", {"document": 1, "plan": made["plan"], "value": "op3"}), ("model/close", {"document": 7}),
                    ("run/start", {"document": 99, "plan": {}}), ("model/close", {"document": 1})]
        for at, (method, params) in enumerate(requests):
            try:
                said[at, method] = client.call(method, **params)
            except Refused as refused:
                said[at, method] = refused.error
        return said

    def test_requests_and_answers_are_those_of_the_engine(self):
        ours, theirs = self.said(self.serve()), self.said(self.engine())
        self.assertEqual(ours.keys(), theirs.keys())
        for name in theirs:
            if name[1] == "debug/tensor":
                ours[name]["seconds"] = theirs[name]["seconds"]
            self.assertEqual(ours[name], theirs[name], name)

    def test_the_greeting_says_what_runs_can_do(self):
        greeting, engine = self.serve().greeting, self.engine().greeting
        self.assertEqual(greeting["workers"], {"address": "local", "count": 2})
        self.assertIs(greeting["pauses"], False)
        self.assertEqual([device["id"] for device in greeting["devices"]], ["cpu"])
        self.assertEqual((greeting["protocol"], greeting["server"]), (engine["protocol"], engine["server"]))

    def test_nothing_comes_before_the_greeting(self):
        client = self.serve(initialize=False)
        self.refused(-32002, "initialize", client.call, "run/start", document=1, plan={})

    def test_what_is_no_frame_ends_both(self):
        client = self.serve()
        client.send(b"hello, this is not the protocol\r\n\r\n")
        with self.assertRaises(EOFError):
            while True:
                client.take()
        self.assertEqual([m["error"]["code"] for m in client.answers[None]], [-32700])
        self.assertEqual(client.process.wait(SOON), 3)
        self.assertEqual(self.all_processes(), {})

    def test_a_client_that_says_goodbye(self):
        client = self.serve()
        self.assertEqual(client.leave(), 0)
        self.assertEqual((self.all_processes(), self.leavings()), ({}, []))

    def test_an_engine_that_dies_ends_it_with_a_sentence(self):
        client = self.serve()
        kill(client.greeting["process_id"])
        self.assertEqual(client.process.wait(SOON), 7)
        client.readers[1].join(10)
        self.assertIn(b"error: the engine was killed (signal 9)", client.errors)


class Frames(unittest.TestCase):
    def through(self, text, sizes):
        read, write = os.pipe()
        found = []
        for size in sizes:
            os.write(write, text[:size])
            text = text[size:]
        os.write(write, text)
        os.close(write)
        for one in _frames.frames(read):
            found.append((one.raw, one.body))
        os.close(read)
        return found

    def test_frames_come_out_as_they_went_in(self):
        draw = random.Random(3)
        for _ in range(60):
            bodies = [bytes(draw.randrange(256) for _ in range(draw.randrange(90))) for _ in range(draw.randrange(1, 8))]
            frames = [b"content-LENGTH:  %d\r\nX-More: 1\r\n\r\n" % len(body) + body for body in bodies]
            sizes = [draw.randrange(1, 40) for _ in range(draw.randrange(30))]
            self.assertEqual(self.through(b"".join(frames), sizes), list(zip(frames, bodies)))

    def test_what_follows_something_that_is_no_frame_passes_as_it_is(self):
        good = frame({"id": 1})
        for bad in (b"Content-Length: x\r\n\r\n{}", b"Length: 2\r\n\r\n{}", b"Content-Length: 99999999999\r\n\r\n",
                    b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", b"x" * 5000):
            found = self.through(good + bad + good, [])
            self.assertEqual(found[0][0], good)
            self.assertEqual((b"".join(raw for raw, _ in found), {body for _, body in found[1:]}), (good + bad + good, {None}))


class Runs(ServeTest):
    def check_events(self, events):
        """A lane does one thing at a time, and a stage is whole before its barrier."""
        under_way, done, barriers = {}, {}, []
        for event in events:
            if event["type"] == "shard" and event["outcome"] == "begun":
                self.assertNotIn(event["worker"], under_way)
                under_way[event["worker"]] = event
            elif event["type"] == "shard":
                begun = under_way.pop(event["worker"])
                self.assertEqual([begun[n] for n in ("stage", "shard", "attempt", "begin")],
                                 [event[n] for n in ("stage", "shard", "attempt", "begin")])
                self.assertLessEqual(event["begin"], event["end"])
                if event["outcome"] != "lost":
                    done.setdefault(event["stage"], set()).add((event["loop"], event["first"], event["count"]))
            elif event["type"] == "barrier":
                barriers.append(event["stage"])
                total = next(e["destinations"] for e in events if e["type"] == "stage" and e["index"] == event["stage"])
                finished = next(e["done"] for e in events if e["type"] == "stage" and e["index"] == event["stage"])
                self.assertEqual(sum(count for _, _, count in done.get(event["stage"], ())), total - finished)
        self.assertEqual(barriers, [1, 2, 3])
        times = [event["time"] for event in events if "time" in event]
        self.assertEqual(times, sorted(times))

    def check_bytes(self, events):
        """At the end of a stage each of two workers reads what the other has written since it joined."""
        joined = max(event["time"] for event in events if event["type"] == "worker" and event["what"] == "joined")
        stages = [event["index"] for event in events if event["type"] == "stage" and event["time"] > joined]
        for stage in stages[:-1]:
            written = sum(event["written"] or 0 for event in events if event["type"] == "shard" and event["stage"] == stage)
            back = sum(event["bytes"] for event in events if event["type"] == "read_back" and event["stage"] == stage)
            self.assertEqual(written, back)
            self.assertGreater(written, 0)

    def test_a_run_of_two_workers_gives_the_bits_of_one_process(self):
        client = self.serve()
        _, plan, run = self.begun(client, output=str(self.out), verify="full")
        end = client.finished(run, PATIENCE)
        self.assertEqual(end["report"]["verify"]["verdict"], "equal")
        self.assertEqual(digests(self.out), self.of_one_process(plan))
        published = json.loads((self.out / "report.json").read_text())
        self.assertEqual({name: end["report"][name] for name in published}, published)
        self.assertEqual(len(end["report"]["scale"]["workers"]), 2)
        events = client.events(run)
        self.check_events(events)
        self.assertEqual({e["worker"] for e in events if e["type"] == "shard"}, {1, 2})
        self.assertEqual(sorted(e["what"] for e in events if e["type"] == "worker"),
                         ["done", "joined", "joined", "starting", "starting"])
        self.check_bytes(events)
        states = [state for i, state in enumerate(client.states(run)) if client.states(run)[i - 1:i] != [state]]
        self.assertEqual(states, ["preparing", "running", "verifying", "finished"])
        self.assertEqual(client.told[-1]["method"], "run/finished")
        self.assertTrue([m for m in client.told if m["method"] == "$/progress" and "workers load" in m["params"]["what"]])
        self.until(lambda: not self.engines(), SOON)

    def test_results_that_are_there_are_taken_with_a_note(self):
        client = self.serve()
        document, plan, run = self.begun(client, output=str(self.out))
        first = client.finished(run, PATIENCE)["report"]
        run = self.start(client, document, plan, output=str(self.out), verify="sample")["run"]
        second = client.finished(run, PATIENCE)["report"]
        self.assertEqual([e for e in client.events(run) if e["type"] == "shard"], [])
        self.assertEqual(second["stages"], first["stages"])
        self.assertIsNone(second["verify"])
        self.assertEqual([note.split(":")[0] for note in second["notes"][-2:]],
                         ["the folder already contained the results of this run", "the results were not verified when they were computed"])

    def test_results_that_nobody_asked_to_keep_go_with_the_next_run(self):
        client = self.serve()
        document, plan, run = self.begun(client)
        folder = Path(client.finished(run, PATIENCE)["folder"])
        expected = self.of_one_process(plan)
        self.assertEqual(digests(folder), expected)
        run = self.start(client, document, plan)["run"]
        self.assertFalse(folder.exists())
        folder = Path(client.finished(run, PATIENCE)["folder"])
        self.assertEqual(digests(folder), expected)
        client.call("model/close", document=document)
        self.assertFalse(folder.exists())
        self.assertEqual(client.leave(), 0)
        self.assertEqual(self.leavings(), [])

    def test_a_worker_that_is_killed_is_replaced(self):
        client = self.serve()
        _, plan, run = self.begun(client, output=str(self.out))
        for number in (1, 2):
            self.until_event(client, run, {"type": "shard", "outcome": "begun", "worker": number})
        self.assertTrue(kill(self.engines()[0]))
        lost = self.until_event(client, run, {"type": "worker", "what": "lost"})
        self.assertIn("killed", lost["message"])
        end = client.finished(run, PATIENCE)
        self.assertEqual(end["report"]["scale"]["lost"], 1)
        self.assertEqual(digests(self.out), self.of_one_process(plan))
        events = client.events(run)
        self.check_events(events)
        mine = [e["what"] for e in events if e["type"] == "worker" and e["worker"] == lost["worker"]]
        self.assertEqual(mine[:4], ["starting", "joined", "lost", "starting"])
        gone = [e for e in events if e["type"] == "shard" and e["outcome"] == "lost"]
        self.assertEqual([e["worker"] for e in gone], [lost["worker"]])
        again = {(e["stage"], e["shard"]) for e in events if e["type"] == "shard" and e["attempt"] > 1}
        self.assertIn((gone[0]["stage"], gone[0]["shard"]), again)

    def test_a_cancelled_run_ends_and_goes_on_in_its_folder(self):
        client = self.serve()
        document, plan, run = self.begun(client, output=str(self.out))
        self.until_event(client, run, {"type": "shard", "outcome": "computed", "stage": 2})
        client.call("run/cancel", run=run)
        error = client.finished(run, SOON)["error"]
        self.assertEqual((error["exit_code"], error["code"], self.engines()), (130, "cancelled", []))
        self.assertIn("resumes the run", error["hint"])
        self.assertTrue((self.out / JOURNAL).is_dir())
        run = self.start(client, document, plan, output=str(self.out))["run"]
        client.finished(run, PATIENCE)
        self.check_events(client.events(run))
        first = next(e for e in client.events(run) if e["type"] == "stage")
        self.assertEqual(first["done"], first["destinations"])
        self.assertEqual(digests(self.out), self.of_one_process(plan))

    def test_a_cancelled_run_without_a_folder_leaves_nothing(self):
        client = self.serve()
        document, _, run = self.begun(client)
        self.until_event(client, run, {"type": "shard", "outcome": "computed"})
        client.call("run/cancel", run=run)
        self.assertEqual(client.finished(run)["error"]["hint"], "")
        client.call("model/close", document=document)
        self.assertEqual(client.leave(), 0)
        self.assertEqual((self.all_processes(), self.leavings()), ({}, []))


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


class Ends(ServeTest):
    def begin(self):
        client = self.serve()
        _, _, run = self.begun(client)
        self.until_event(client, run, {"type": "shard", "outcome": "computed"})
        engines = self.engines()  # each with the processes that it has forked
        self.assertEqual(len([pid for pid in engines if parent_of(pid) not in engines]), 2)
        return client

    def test_the_end_of_its_input_ends_everything(self):
        client = self.begin()
        client.process.stdin.close()
        self.assertEqual(client.process.wait(SOON), 0)
        self.assertEqual((self.all_processes(), self.leavings()), ({}, []))

    def test_a_signal_ends_everything(self):
        client = self.begin()
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(SOON), 130)
        self.assertEqual((self.all_processes(), self.leavings()), ({}, []))

    def test_when_it_is_killed_its_processes_end_by_themselves_and_the_next_one_tidies_up(self):
        client = self.begin()
        client.process.kill()
        self.until(lambda: not self.all_processes(), SOON)
        self.assertEqual(self.serve().leave(), 0)
        self.assertEqual(self.leavings(), [])


class Refusals(ServeTest):
    def test_what_several_workers_cannot_do(self):
        client = self.serve()
        document = self.open(client)
        plan = self.plan(client, document)
        for says, more in (("workers for the window compute on CPUs, not on cuda:0", {"device": "cuda:0"}),
                           ("cannot be stopped at operators", {"breakpoints": []}), ("cannot be paused", {"paused": True})):
            error = self.refused(-32002, says, self.start, client, document, plan, **more)
            self.assertEqual((error["data"]["exit_code"], error["data"]["code"], bool(error["data"]["hint"])), (2, "usage", True))
        self.refused(-32602, "/plan must be a plan", self.start, client, document, None)
        self.refused(-32602, "/output must be a string", self.start, client, document, plan, output=5)
        self.refused(-32602, "/document", self.start, client, [document], plan)
        self.assertEqual(self.engines(), [])

    def test_one_run_at_a_time_which_cannot_be_paused(self):
        client = self.serve()
        document, plan, run = self.begun(client)
        self.refused(-32602, "another run is in progress", self.start, client, document, plan)
        self.refused(-32602, "the model is running", client.call, "model/close", document=document)
        for method in ("run/pause", "run/resume"):
            self.refused(-32002, "cannot be paused", client.call, method, run=run)
        self.refused(-32002, "cannot be paused", client.call, "run/step", run=run, unit="batch")
        self.refused(-32602, "no such run", client.call, "run/cancel", run=99)
        client.call("run/cancel", run=run)
        client.finished(run)
        self.refused(-32602, "no such run", client.call, "run/cancel", run=run)

    def test_a_model_without_data(self):
        client = self.serve()
        document = client.call("model/open", model=SAMPLE["model"], data=[], roles=[])["document"]
        self.refused(-32002, "there is no data to run on", self.start, client, document, self.plan(client, document))

    def test_what_a_worker_refuses_has_its_name(self):
        client = self.serve()
        _, _, run = self.begun(client, memory=16_000, output=str(self.out))
        error = client.finished(run)["error"]
        self.assertRegex(error["message"], r"^worker [12] on \S+: ")
        self.assertEqual((error["exit_code"], error["code"]), (6, "resources"))
        shutil.rmtree(self.out, ignore_errors=True)

    def test_another_run_in_the_folder(self):
        client = self.serve()
        document, plan, run = self.begun(client, output=str(self.out))
        self.until(lambda: records(self.out))
        client.call("run/cancel", run=run)
        client.finished(run)
        run = self.start(client, document, plan, output=str(self.out), batch=300)["run"]
        self.assertIn("something has changed: --batch (was 8, is 300)", client.finished(run)["error"]["message"])

    def test_a_cluster_that_is_not_there(self):
        client = self.serve("--address", "127.0.0.1:1")
        document = self.open(client, SAMPLE)
        plan = self.plan(client, document)
        self.refused(-32002, "need a folder for the results that all of them see", self.start, client, document, plan)
        run = self.start(client, document, plan, output=str(self.out))["run"]
        self.assertRegex(client.finished(run)["error"]["message"], "no Ray cluster answers|needs Ray")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["tmp"])

    def test_commands_that_cannot_start(self):
        def said(code, *words, **environment):
            done = subprocess.run([sys.executable, "-m", "hopscope.scale", "serve", *words], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, env=self.surroundings(**environment), check=False)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            return done.stderr

        self.assertIn("error: the address 'local' needs a number", said(2, "--address", "local"))
        self.assertIn("is not a program", said(7, "--address", "local", "--workers", "1", HOPSCOPE_ENGINE="/no/such"))
        self.assertIn("no folder can be made there", said(6, "--address", "local", "--workers", "1", "--folder", "/no/such"))


if __name__ == "__main__":
    unittest.main()
