"""Runs of `hopscope-engine serve` that are held, ended and killed, and clients that misbehave."""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from engine_process import ENGINE, always_the_program
from patience import SOON
from serve_case import KARATE, ServeTest
from serve_client import Client, Refused, frame

always_the_program()


class Holding(ServeTest):
    """Pause, step and cancel."""

    def batches(self, client, run):
        return sum(event["type"] == "batch" for event in client.events(run))

    def wait_for(self, client, run, condition):
        while not condition():
            client.take()

    def test_steps_by_batch_and_by_stage(self):
        client, document = self.opened()
        run = self.start(client, document, self.plan(client, document)["plan"], batch=10, paused=True, verify="sample")
        run = run["run"]
        client.until_state(run, "paused")
        self.assertEqual(client.events(run), [])
        for count in (1, 2):
            client.call("run/step", run=run, unit="batch")
            self.wait_for(client, run, lambda wanted=count: self.batches(client, run) == wanted)
            client.until_state(run, "paused")
            self.assertEqual(self.batches(client, run), count)
        client.call("run/step", run=run, unit="stage")
        self.wait_for(client, run, lambda: any(event["type"] == "stage_end" for event in client.events(run)))
        client.until_state(run, "paused")
        self.assertEqual(self.batches(client, run), 4)
        client.call("run/resume", run=run)
        report = client.finished(run)["report"]
        self.assertEqual(report["verify"]["verdict"], "equal")
        self.assertTrue(any("paused" in note for note in report["notes"]))

    def test_a_run_fuses_what_it_is_told_to(self):
        client, document, plan = self.planned()
        for fuse, families in ((None, ["chain", "softmax", "several"]), ("none", []), ("softmax", ["softmax"])):
            run = self.start(client, document, plan, fuse=fuse)["run"]
            self.assertEqual(client.finished(run)["report"]["fuse"], families)
        self.refused(-32602, "unknown pattern to fuse 'chains'", self.start, client, document, plan, fuse="chains")

    def test_a_run_computes_nodes_in_the_order_it_is_told_to(self):
        client, document, plan = self.planned()
        for order, used in (("auto", "none"), ("none", None), ("rcm", "rcm")):
            run = self.start(client, document, plan, reorder=order, verify="full")["run"]
            report = client.finished(run)["report"]
            self.assertEqual((report["reorder"], report["verify"]["verdict"]), (order, "equal"))
            self.assertEqual([each["order"] for each in report["orders"]], [used] if used else [])
        self.refused(-32602, "reorder", self.start, client, document, plan, reorder="best")

    def test_a_cancelled_run_is_resumed_with_the_same_bits(self):
        client, out = self.client(), self.folder / "out"
        document = client.call("model/open", **KARATE)["document"]
        plan = self.plan(client, document)["plan"]
        whole = self.start(client, document, plan, self.folder / "whole", batch=5, reorder="none")["run"]
        stages = client.finished(whole)["report"]["stages"]
        begun = self.start(client, document, plan, out, batch=5, paused=True, resume=True)["run"]
        client.until_state(begun, "paused")
        for count in range(1, 4):
            client.call("run/step", run=begun, unit="batch")
            self.wait_for(client, begun, lambda wanted=count: self.batches(client, begun) == wanted)
            client.until_state(begun, "paused")
        client.call("run/cancel", run=begun)
        error = client.finished(begun)["error"]
        self.assertEqual((error["exit_code"], "the next run into it resumes from there" in error["hint"]), (130, True))

        another = {**plan, "strategy": "source-rule"}
        self.refused(-32003, "a run that was not finished", self.start, client, document, plan, out, batch=5)
        for changed, says in (({"batch": 6}, "--batch (was 5, is 6)"), ({"plan": another}, "the plan")):
            asked = {"plan": plan, "batch": 5, "resume": True, **changed}
            run = self.start(client, document, asked.pop("plan"), out, **asked)["run"]
            self.assertIn(says, client.finished(run)["error"]["message"])
        resumed = self.start(client, document, plan, out, batch=5, resume=True)["run"]
        report = client.finished(resumed)["report"]
        self.assertGreater(report["resumed"]["chunks"], 0)
        self.assertEqual(len(report["stages"]), len(stages))
        self.assertEqual((out / "out.npy").read_bytes(), (self.folder / "whole/out.npy").read_bytes())
        self.refused(-32602, "needs 'output'", self.start, client, document, plan, resume=True)
        self.refused(-32602, "stop at operators", self.start, client, document, plan, out, resume=True, breakpoints=[])

    def test_plans_and_runs_of_a_document_use_its_cache(self):
        data, cache = self.folder / "graph.safetensors", self.folder / "cache"
        given = {"x": torch.rand(5_000, 34), "edge_index": torch.randint(5_000, (2, 100_000), generator=torch.manual_seed(1))}
        save_file(given, str(data))
        kept = []
        for _ in range(2):
            client = self.client()
            document = client.call("model/open", **{**KARATE, "data": [str(data)]}, cache=str(cache))["document"]
            plan = self.plan(client, document)["plan"]
            run = self.start(client, document, plan, reorder="degree", verify="full", last=True)["run"]
            report = client.finished(run)["report"]
            self.assertEqual(report["verify"]["verdict"], "equal")
            self.assertEqual("found in the cache" in report["orders"][0]["reason"], bool(kept))
            kept.append({path: path.stat().st_ino for path in cache.iterdir()})
        self.assertGreater(len(kept[0]), 3)
        self.assertEqual(kept[0], kept[1])
        self.refused(-32006, "cannot create the folder", client.call, "model/open", **KARATE, cache=str(data / "below"))

    def test_the_last_run_takes_what_planning_has_found_and_planning_begins_anew(self):
        client, document, plan = self.planned()
        outputs = []
        for last, verify in ((False, "none"), (True, "none"), (True, "full")):
            run = self.start(client, document, plan, self.folder / "out", last=last, verify=verify)["run"]
            self.assertEqual((client.finished(run)["report"]["verify"] or {}).get("verdict"), "equal" if verify == "full" else None)
            outputs.append((self.folder / "out/out.npy").read_bytes())
        self.assertEqual(outputs, outputs[:1] * 3)
        self.assertEqual(self.plan(client, document)["plan"], plan)

    def test_files_that_are_given_away_are_emptied_and_no_others(self):
        client = self.client()
        files = []
        for name, array in load_file(KARATE["data"][0]).items():
            files.append(str(self.folder / f"{name}.safetensors"))
            save_file({name: array}, files[-1])
        opened = {**KARATE, "data": files}
        whole = client.call("model/open", **opened)["document"]
        plan = self.plan(client, whole)["plan"]
        self.refused(-32602, "transient", self.start, client, whole, plan, last=True, verify="full", transient=files)
        self.refused(-32602, "transient", self.start, client, whole, plan, verify="none", transient=files)
        client.finished(self.start(client, whole, plan, self.folder / "a", last=True, verify="none")["run"])
        self.assertTrue(all(Path(file).stat().st_size for file in files))
        given = [file for file in files if "edge_index" in file]
        run = self.start(client, whole, plan, self.folder / "b", last=True, verify="none", transient=given)["run"]
        self.assertNotIn("error", client.finished(run))
        self.assertEqual([file for file in files if not Path(file).stat().st_size], given)
        self.assertEqual((self.folder / "a/out.npy").read_bytes(), (self.folder / "b/out.npy").read_bytes())
        self.refused(-32602, "has given its data", self.plan, client, whole)
        self.refused(-32602, "has given its data", self.start, client, whole, plan)
        client.call("model/close", document=whole)

    def test_pauses_are_no_part_of_any_time(self):
        client, document = self.opened()
        plan = self.plan(client, document)["plan"]
        began = time.monotonic()
        run = self.start(client, document, plan, batch=8, paused=True)["run"]
        client.until_state(run, "paused")
        for unit in ("batch", "batch", "stage"):
            time.sleep(1)
            seen = len(client.events(run))
            client.call("run/step", run=run, unit=unit)
            self.wait_for(client, run, lambda before=seen: len(client.events(run)) > before)
            client.until_state(run, "paused")
        time.sleep(1)
        client.call("run/resume", run=run)
        report = client.finished(run)["report"]
        rest = time.monotonic() - began - 4  # the pauses take four seconds and more
        self.assertLess(report["seconds"], rest)
        self.assertLess(0, report["seconds"])
        for stage in report["stages"]:
            self.assertLess(stage["seconds"], rest)
            self.assertLess(0, stage["seconds"])
        events = client.events(run)
        self.assertLess(max(event["time"] for event in events if "time" in event), rest)
        self.assertLess(max(event["seconds"] for event in events if event["type"] == "stage_end"), rest)
        starts = [event["start"] for event in events if event["type"] == "phase"]
        self.assertEqual(starts, sorted(starts))
        paused = [float(found[1]) for note in report["notes"] if (found := re.search(r"paused for ([0-9.]+) s", note))]
        self.assertEqual(len(paused), 1, report["notes"])
        self.assertGreaterEqual(paused[0], 4)

    def test_a_running_run_pauses_and_goes_on(self):
        client, document = self.opened(self.large())
        run = self.start(client, document, self.plan(client, document)["plan"], batch=1)["run"]
        self.wait_for(client, run, lambda: self.batches(client, run) > 0)
        client.call("run/pause", run=run)
        client.until_state(run, "paused")
        seen = self.batches(client, run)
        client.call("fs/list", path="")  # other requests are answered meanwhile
        self.assertEqual(self.batches(client, run), seen)
        self.assertLess(seen, 8000)
        client.call("run/resume", run=run)
        self.assertNotIn("error", client.finished(run))
        self.assertEqual(self.batches(client, run), 8000)

    def test_a_cancelled_run_leaves_nothing_behind(self):
        client, document, plan = self.planned(self.large(40_000, 80_000))
        for paused in (True, False):
            run = self.start(client, document, plan, self.folder / "out", batch=1, paused=paused)["run"]
            client.until_state(run, "paused" if paused else "running")
            self.refused(-32602, "cancel the run first", client.call, "model/close", document=document)
            self.refused(-32602, "another run is in progress", self.start, client, document, plan)
            client.call("run/cancel", run=run)
            self.assertEqual(client.finished(run)["error"]["exit_code"], 130)
            self.assertFalse((self.folder / "out").exists())
            self.refused(-32602, "no such run is in progress", client.call, "run/resume", run=run)
        self.assertEqual(client.leave(), 0)
        self.assertEqual(self.leavings(), [])

    def test_a_run_that_has_just_run_out_of_memory_is_cancelled(self):
        client = self.client()
        document = client.call("model/open", **self.large(300_000, 3_000_000))["document"]
        plan = self.plan(client, document)["plan"]
        run = client.call("run/start", document=document, plan=plan, device="cpu", memory=4_200_000, batch=300_000, verify="none",
                          output=str(self.folder / "out"), nan="propagate", paused=False)["run"]
        end = time.monotonic() + 60
        while not any("after running out of memory" in event.get("message", "") for event in client.events(run)):
            client.take()
            self.assertLess(time.monotonic(), end)
        client.call("run/cancel", run=run)
        self.assertEqual(client.finished(run, SOON)["error"]["exit_code"], 130)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(client.leave(), 0)

    def test_the_end_of_the_input_ends_a_run_and_leaves_nothing_behind(self):
        for paused in (True, False):
            client, document = self.opened(self.large(40_000, 80_000))
            run = self.start(client, document, self.plan(client, document)["plan"], self.folder / "out", batch=1,
                             paused=paused)["run"]
            client.until_state(run, "paused" if paused else "running")
            client.process.stdin.close()
            self.assertEqual(client.process.wait(60), 0)
            self.assertFalse((self.folder / "out").exists())
            self.assertEqual(self.leavings(), [])

    def test_a_killed_engine_is_followed_by_one_that_runs_in_the_same_folder(self):
        client = self.client()
        opened = self.large()
        document = client.call("model/open", **opened)["document"]
        run = self.start(client, document, self.plan(client, document)["plan"], self.folder / "out", batch=1,
                         paused=True)["run"]
        client.until_state(run, "paused")
        client.process.kill()
        client.process.wait(60)
        self.assertNotEqual(self.leavings(), [])  # whether the process of the model still tidied up is a matter of luck
        after = self.client()
        self.assertEqual(len(self.leavings()), 1)  # its own
        document = after.call("model/open", **opened)["document"]
        run = self.start(after, document, self.plan(after, document)["plan"], self.folder / "out", batch=500)["run"]
        self.assertNotIn("error", after.finished(run))
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), ["out.npy", "report.json"])
        after.leave()
        self.assertEqual(self.leavings(), [])

    def test_a_signal_ends_the_engine_and_its_run(self):
        client, document = self.opened(self.large())
        run = self.start(client, document, self.plan(client, document)["plan"], self.folder / "out", batch=1,
                         paused=True)["run"]
        client.until_state(run, "paused")
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(60), 130)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.leavings(), [])

    def test_a_client_that_does_not_read_holds_the_run_and_loses_no_batch(self):
        client = Client.__new__(Client)
        client.process = subprocess.Popen([ENGINE, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
        self.addCleanup(client.process.kill)
        opened = self.large(20000, 40000)
        plan = subprocess.run([ENGINE, "plan", opened["model"], "--data", opened["data"][0], "--json", "--device",
                               "cpu"], capture_output=True, check=True, timeout=120).stdout
        client.next_id, client.asked = 0, {}
        client.ask("initialize", client={}, protocol={"major": 1, "minor": 0})
        first = client.process.stdout.readline()
        self.assertTrue(first.startswith(b"Content-Length"))
        client.ask("model/open", **opened)
        client.ask("run/start", document=1, plan=json.loads(plan), device="cpu", memory=None, batch=1, output=None,
                   verify="none", nan="propagate", paused=False)
        time.sleep(2)  # the pipe is full by now
        seen = 0
        rest = client.process.stdout
        rest.readline()
        rest.read(int(first.split(b":")[1]))
        while True:
            length = int(rest.readline().split(b":")[1])
            rest.readline()
            message = json.loads(rest.read(length))
            if message.get("method") == "run/events":
                seen += sum(event["type"] == "batch" for event in message["params"]["events"])
            if message.get("method") == "run/finished":
                break
        self.assertEqual(seen, 40000)
        client.process.stdin.close()
        self.assertEqual(client.process.wait(60), 0)
        rest.close()


class Hostile(ServeTest):
    def test_requests_before_initialize_are_refused(self):
        client = self.client(initialize=False)
        self.refused(-32002, "the first request must be initialize", client.call, "fs/list", path="")
        self.refused(-32002, "the first request must be initialize", client.call, "run/pause", run=1)
        self.refused(-32602, "version 1 of the protocol, not 2", client.call, "initialize", client={},
                     protocol={"major": 2, "minor": 0})
        self.refused(-32602, "/protocol is missing", client.call, "initialize")
        self.refused(-32002, "the first request must be initialize", client.call, "fs/list", path="")

    def test_unknown_methods_and_wrong_parameters_are_refused_and_the_engine_lives(self):
        client = self.client()
        for method in ("fly", "run/fly", "", "model/open/"):
            self.refused(-32601, f"unknown method {method}", client.call, method)
        for method, parameters, says in (
                ("model/open", {}, "/model is missing"), ("model/open", {"model": 3}, "/model must be a string"),
                ("model/close", {"document": 7}, "is not an open model"), ("plan/make", {"document": 1}, "is not an open model"),
                ("run/start", {"document": 1, "plan": {}}, "is not an open model"), ("run/start", {"document": 1}, "/plan is missing"),
                ("plan/make", {"document": 1, "pin": []}, "/pin is not known"), ("run/pause", {"run": 1, "paus": 1}, "/paus is not known"), ("run/pause", {"run": 1}, "no such run"),
                ("run/step", {"run": 1, "unit": "mile"}, "/unit"), ("run/cancel", {}, "/run is missing"),
                ("debug/rows", {"document": 0, "tensor": 1, "begin": 0, "end": 1}, "is not an open model"), ("fs/list", {"path": 1}, "/path must be a string"),
                ("model/open", {"model": "m", "data": "d"}, "/data must be an array")):
            with self.subTest(method=method, parameters=parameters):
                self.refused(-32602, says, client.call, method, **parameters)
        missing = str(self.folder / "missing.pt")
        self.refused(-32003, "missing.pt: No such file", client.call, "model/open", model=missing, data=[], roles=[])
        self.refused(-32002, "x=sheep is not a role", client.call, "model/open", model=KARATE["model"], data=[],
                     roles=["x=sheep"])
        self.assertEqual(client.leave(), 0)

    def test_garbage_in_a_frame_is_answered_and_passed_over(self):
        client = self.client()
        for body in (b"", b"{", b"[]", b"nul", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"[" * 5000,
                     b'{"jsonrpc":"2.0","id":"a","method":"fs/list"}'):
            client.send(frame(body))
        while len(client.answers.get(None, [])) < 8:
            client.take()
        self.assertTrue({message["error"]["code"] for message in client.answers[None]} <= {-32700, -32600})
        self.assertTrue(client.call("fs/list", path="")["entries"])

    def test_what_breaks_the_framing_ends_the_connection(self):
        for raw in (b"Content-Length: 99999999999\r\n\r\n", b"Content-Length: x\r\n\r\n", b"hello\r\n\r\n",
                    b"a" * 5000, b"\r\n\r\n"):
            client = self.client()
            client.send(raw)
            while None not in client.answers:
                client.take()
            self.assertEqual(client.answers[None][0]["error"]["code"], -32700)
            self.assertEqual(client.process.wait(60), 3)
            self.assertEqual(self.leavings(), [])

    def test_a_waiting_request_is_cancelled(self):
        client = self.client()
        sent, send = [], client.send
        client.send = sent.append
        opening = client.ask("model/open", **self.large(20000, 200000))
        waiting = client.ask("fs/list", path="")
        client.tell("$/cancelRequest", id=waiting)
        client.tell("$/cancelRequest", id=12345)
        send(b"".join(sent))  # all at once: it is cancelled before its turn comes
        self.refused(-32800, "cancelled", client.answer, waiting)
        self.assertIn("document", client.answer(opening))

    def test_clients_of_other_minor_versions_are_understood(self):
        client = self.client(initialize=False)
        greeting = client.call("initialize", protocol={"major": 1, "patch": 3}, dialect="later")
        self.assertEqual(greeting["protocol"]["major"], 1)
        self.assertIsNone(client.call("shutdown", reason="later"))

    def test_requests_after_shutdown_are_refused(self):
        client = self.client()
        client.call("shutdown")
        self.refused(-32600, "shutting down", client.call, "fs/list", path="")
        client.tell("exit")
        self.assertEqual(client.process.wait(60), 0)

    def test_nothing_but_frames_is_written_and_warnings_stay_off_the_connection(self):
        client, document = self.opened()
        run = self.start(client, document, self.plan(client, document)["plan"], verify="full")["run"]
        client.finished(run)  # read_messages() hands on whatever is no frame
        self.assertEqual(client.leave(), 0)

    def test_random_messages_never_end_the_engine(self):
        client = self.client()
        client.call("model/open", **KARATE)
        chance = random.Random(42)
        methods = ["initialize", "model/open", "model/close", "model/source", "fs/list", "plan/make", "plan/load",
                   "run/start", "run/pause", "run/resume", "run/step", "run/cancel", "debug/rows", "$/progress", "x"]
        names = ["document", "run", "value", "begin", "end", "path", "strategy", "pins", "plan", "text", "unit",
                 "model", "data", "roles", "op", "module", "batch", "memory", "device", "verify", "nan", "fuse", "reorder",
                 "output"]
        values = [None, True, 0, 1, -1, 2**62, 1.5, "", "v1", "v3", "op2", "depth", "cpu", "batch", [], {}, [1],
                  [["checkpoint", "v1"]], {"a": 1}, "x" * 1000]
        for number in range(200):
            params = {chance.choice(names): chance.choice(values) for _ in range(chance.randrange(8))}
            if chance.random() < 0.6:
                params["document"] = 1
            params.pop("output", None)
            try:
                client.call(chance.choice(methods), **params)
            except Refused as refused:
                self.assertIn(refused.code, (-32600, -32601, -32602, *range(-32007, -32001)))
        self.assertEqual(client.leave(), 0)


if __name__ == "__main__":
    unittest.main()
