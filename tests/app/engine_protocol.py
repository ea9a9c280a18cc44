"""The engine that the window's tests make up (tests/jobs/fake_engine.py) and the real one, held to one protocol: both get
the same requests, and their answers, events and errors have the same members of the same kinds. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

from engine_process import own_folder
from serve_client import ENGINE, Client, Refused

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SAMPLE = {"model": str(ROOT / "samples/digits/jknet.pt"), "data": [str(ROOT / "samples/digits/graph.safetensors")],
          "roles": []}
# Members whose names are those of a model's inputs, spaces or files.
MAPS = ("/roles", "/sizes", "/hashes")
# Events that a made-up run has no occasion for.
ONLY_REAL = {"run: note", "cancelled run: note", "run: merged", "cancelled run: merged"}
FAKE = [sys.executable, "-B", str(ROOT / "tests/jobs/fake_engine.py")]


class Nothing:
    """Null: of any kind."""

    def __repr__(self):
        return "null"


def shape(value):
    """Kinds instead of values. Elements of a list are put together: what one has, others may lack."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [together([shape(element) for element in value])] if value else []
    if value is None:
        return Nothing
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def together(shapes):
    if all(isinstance(one, dict) for one in shapes):
        keys = sorted({key for one in shapes for key in one})
        return {key: together([one[key] for one in shapes if key in one]) for key in keys}
    if all(isinstance(one, list) for one in shapes):
        inner = [element for one in shapes for element in one]
        return [together(inner)] if inner else []
    known = sorted({one for one in shapes if isinstance(one, str)})
    rest = [one for one in shapes if isinstance(one, (dict, list))]
    if rest:
        return together(rest) if not known else "anything"
    return " or ".join(known) if known else Nothing


def differences(fake, real, where):
    """Sentences; null and empty lists agree with all."""
    if Nothing in (fake, real) or "anything" in (fake, real) or [] in (fake, real):
        return []
    if isinstance(fake, dict) and isinstance(real, dict):
        if where.endswith(MAPS):
            return []
        found = [f"{where}/{key}: only the real engine has it" for key in real.keys() - fake.keys()]
        found += [f"{where}/{key}: only the made-up engine has it" for key in fake.keys() - real.keys()]
        return found + [f for key in fake.keys() & real.keys() for f in differences(fake[key], real[key], f"{where}/{key}")]
    if isinstance(fake, list) and isinstance(real, list):
        return differences(fake[0], real[0], where + "/*")
    both = isinstance(fake, str) and isinstance(real, str) and (set(fake.split(" or ")) & set(real.split(" or ")))
    return [] if both else [f"{where}: {fake} of the made-up engine, {real} of the real one"]



class Talk:
    """What one engine says to the script: by name, the answer, error or event."""

    def __init__(self, command, opened):
        self.client = Client(command=command)
        self.said = {"initialize": self.client.greeting}
        try:
            self.hold(opened)
        finally:
            self.client.stop()

    def ask(self, name, method, **params):
        try:
            self.said[name] = self.client.call(method, **params)
        except Refused as refused:
            self.said[name] = {"error": refused.error}
        return self.said[name]

    def hold(self, opened):
        document = self.ask("model/open", "model/open", **opened)["document"]
        asked = {"document": document, "strategy": "optimal", "objective": "time", "pins": [], "device": None, "memory": None,
                 "batch": 20, "stages": None, "deadline": None}
        made = self.ask("plan/make", "plan/make", **asked)
        stored = [c["value"] for c in made["plan"]["checkpoints"] if not c["output"]]
        self.ask("plan/make by a rule", "plan/make", **{**asked, "strategy": "depth"})
        self.ask("plan/make with a pin", "plan/make", **{**asked, "pins": [["checkpoint", stored[0]]]})
        self.ask("plan/make near the last one", "plan/make", **asked, near=True)
        self.ask("plan/make of what a rule cannot keep", "plan/make",
                 **{**asked, "strategy": "depth", "pins": [["no_recompute", stored[0]]]})
        self.ask("plan/make of a pin on an input", "plan/make", **{**asked, "pins": [["checkpoint", "v0"]]})
        self.ask("plan/explain", "plan/explain", **asked)
        self.ask("plan/steps", "plan/steps", **asked)
        self.ask("plan/graph", "plan/graph", document=document, plan=made["plan"], node=3)
        self.ask("plan/memory", "plan/memory", document=document, plan=made["plan"], stage=1, batch=7)
        self.ask("plan/memory of no stage", "plan/memory", document=document, plan=made["plan"], stage=99)
        self.ask("plan/graph of no node", "plan/graph", document=document, plan=made["plan"], node=1 << 40)
        self.ask("plan/repairs", "plan/repairs", **{**asked, "pins": [["no_checkpoint", stored[0]], ["checkpoint", "v0"]]})
        self.ask("plan/load", "plan/load", document=document, text=json.dumps(made["plan"]))
        self.ask("model/source", "model/source", document=document, op=self.said["model/open"]["inspect"]["ops"][-2]["id"])
        for average in (True, False):
            self.ask(f"model/receptiveField {average}", "model/receptiveField", document=document, node=3, average=average)
        self.debugging(document, made["plan"], opened)
        self.ask("fs/list", "fs/list", path="")
        self.ask("machine/rates", "machine/rates", device=None)
        self.exports(document, made["plan"], opened)
        self.ask("unknown method", "no/such")
        self.stopping(document, made["plan"])
        self.run("run", document, made["plan"], False)
        self.run("cancelled run", document, made["plan"], True)
        self.ask("run/pause of no run", "run/pause", run=99)
        self.ask("model/close", "model/close", document=document)

    def debugging(self, document, plan, opened):
        ops = self.said["model/open"]["inspect"]["ops"]
        last = [op["id"] for op in ops if op["kind"] == "rowwise"][-1]
        sums = [op["id"] for op in ops if op["kind"] == "aggregate"][-1]
        asked = {"document": document, "plan": plan, "batch": 20}
        self.ask("debug/staged", "debug/staged", **asked, absolute=1e-5, relative=1e-4)
        self.ask("debug/nan", "debug/nan", **asked)
        self.ask("debug/against", "debug/against", document=document, against=opened["model"], roles=[])
        self.ask("debug/against of no model", "debug/against", document=document, against=opened["data"][0], roles=[])
        self.ask("debug/watch of rows", "debug/watch", **asked, nodes=[3, 5], values=[last])
        self.ask("debug/watch of messages", "debug/watch", **asked, nodes=[3], aggregations=[sums])
        shown = self.ask("debug/tensor", "debug/tensor", **asked, value=last)
        self.ask("debug/tensor of a batch", "debug/tensor", **asked, value=last, batch_of=3)
        self.ask("debug/tensor of nodes", "debug/tensor", **asked, value=last, nodes=[3, 5])
        self.ask("debug/tensor of an input", "debug/tensor", **asked, value="v0")
        self.ask("debug/tensor of nothing", "debug/tensor", **asked, value="op999999")
        self.ask("debug/rows", "debug/rows", document=document, tensor=shown["tensor"], begin=2, end=5)
        self.ask("debug/rows of nothing", "debug/rows", document=document, tensor=99, begin=0, end=1)
        with tempfile.TemporaryDirectory() as place:
            self.ask("debug/save", "debug/save", document=document, tensor=shown["tensor"], file=f"{place}/shown.npy")
        self.ask("debug/watch of nothing", "debug/watch", **asked, nodes=[3], values=["op999999"])

    def stopping(self, document, plan):
        """A run that stops behind an operator, and one that cannot."""
        op = [op["id"] for op in self.said["model/open"]["inspect"]["ops"] if op["kind"] == "rowwise" and op["depth"] > 0][0]
        start = {"document": document, "plan": plan, "device": "cpu", "memory": None, "batch": 200, "output": None,
                 "verify": "none", "nan": "propagate", "paused": True}
        run = self.ask("run/start with breakpoints", "run/start", **start, breakpoints=[{"place": op}])["run"]
        self.client.until_state(run, "paused")
        self.ask("debug/stopped before it is", "debug/stopped", document=document, run=run)
        self.ask("run/resume to a breakpoint", "run/resume", run=run)
        self.said["run: stop"] = self.stop_of(run, 1)
        stopped = self.ask("debug/stopped", "debug/stopped", document=document, run=run)
        self.ask("debug/rows of it", "debug/rows", document=document, tensor=stopped["tensor"], begin=0, end=2)
        self.ask("run/step by operator", "run/step", run=run, unit="operator")
        self.said["run: stop after a step"] = self.stop_of(run, 2)
        self.ask("run/breakpoints", "run/breakpoints", run=run, breakpoints=[{"place": op, "node": 3}, {"place": "stage 1", "outside": [-1, 1]}])
        self.ask("run/cancel of it", "run/cancel", run=run)
        self.client.finished(run)
        run = self.ask("run/start without breakpoints", "run/start", **start)["run"]
        self.client.until_state(run, "paused")
        self.ask("run/breakpoints of one without", "run/breakpoints", run=run, breakpoints=[])
        self.ask("run/step by operator of one without", "run/step", run=run, unit="operator")
        self.ask("run/cancel of one without", "run/cancel", run=run)
        self.client.finished(run)

    def stop_of(self, run, number):
        while len(stops := [event for event in self.client.events(run) if event["type"] == "stop"]) < number:
            self.client.take()
        return stops[number - 1]

    def exports(self, document, plan, opened):
        with tempfile.TemporaryDirectory() as place:
            folder, device = f"{place}/exported", {"device": None, "memory": None, "batch": None}
            self.ask("export/preview", "export/preview", document=document, plan=plan)
            self.ask("export/write", "export/write", **opened, **device, plan=plan, folder=folder)
            self.ask("export/read", "export/read", folder=folder)
            self.ask("export/read of nothing", "export/read", folder=f"{place}/none")
            self.ask("export/check", "export/check", **opened, **device, folder=folder)

    def run(self, name, document, plan, cancelled):
        self.client.told.clear()
        started = self.ask(name, "run/start", document=document, plan=plan, device=None, memory=None, batch=None, output=None,
                           verify="full", nan="propagate", paused=True)
        self.client.until_state(started["run"], "paused")
        if cancelled:
            self.ask("run/cancel", "run/cancel", run=started["run"])
        else:
            self.ask("run/step", "run/step", run=started["run"], unit="batch")
            self.ask("run/resume", "run/resume", run=started["run"])
        self.said[name + " finished"] = self.client.finished(started["run"])
        for event in self.client.events(started["run"]):
            self.said.setdefault(f"{name}: {event['type']}", event)
        # A quick run has ended before it was seen running; one that verifies nothing does not say so.
        states = dict.fromkeys(self.client.states(started["run"]))
        self.said[name + " states"] = [state for state in states if state not in ("running", "verifying")]


class OneProtocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["XDG_CACHE_HOME"] = str(own_folder(cls))
        cls.real = Talk([ENGINE, "serve"], SAMPLE).said
        cls.fake = Talk(FAKE, {"model": "chain3-skips.pt", "data": ["graph.safetensors"], "roles": []}).said

    def test_both_answer_the_same_requests_with_the_same_members(self):
        self.assertEqual(self.fake.keys() - self.real.keys(), set())
        self.assertEqual(self.real.keys() - self.fake.keys() - ONLY_REAL, set())
        for name in sorted(self.fake.keys() & self.real.keys()):
            with self.subTest(answer=name):
                self.assertEqual(differences(shape(self.fake[name]), shape(self.real[name]), name), [])

    def test_both_refuse_the_same_with_the_same_codes(self):
        def codes(said):
            return {name: answer["error"]["code"] for name, answer in said.items()
                    if isinstance(answer, dict) and "error" in answer}
        self.assertEqual(codes(self.fake), codes(self.real))
        self.assertGreaterEqual(len(codes(self.real)), 5)

    def test_runs_go_through_the_same_states(self):
        for name in ("run states", "cancelled run states"):
            self.assertEqual(self.real[name], ["preparing", "paused", "finished"])
            self.assertEqual(self.fake[name], self.real[name])

    def test_documents_of_both_are_those_of_the_schemas(self):
        documents = {"inspect": lambda said: said["model/open"]["inspect"], "plan": lambda said: said["plan/make"]["plan"],
                     "steps": lambda said: said["plan/steps"], "graph-part": lambda said: said["plan/graph"],
                     "stage-memory": lambda said: said["plan/memory"],
                     "report": lambda said: said["run finished"]["report"]}
        def found(name):
            return lambda said: said[f"debug/{name}"]
        documents |= {f"tensor {name}": found(name) for name in ("tensor", "tensor of a batch", "tensor of an input", "stopped")}
        documents |= {f"findings of {name}": found(name) for name in ("staged", "nan", "against", "watch of rows", "watch of messages")}
        for name, document in documents.items():
            schema = json.loads((ROOT / f"resources/schemas/{name.split()[0]}-1.schema.json").read_text())
            for who, said in (("made-up", self.fake), ("real", self.real)):
                with self.subTest(document=name, engine=who):
                    jsonschema.Draft202012Validator(schema).validate(document(said))


if __name__ == "__main__":
    unittest.main(verbosity=2)
