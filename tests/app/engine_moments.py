"""Random moments of opening, planning, running, verifying and exporting, at which it is cancelled, gets a signal, loses its input or its
window: all of it ends soon, nothing is left of it, and outputs are whole, can be resumed, or are not there. HOPSCOPE_WINDOW names
the window's program, if there is one; HOPSCOPE_TIER=full takes 200 moments, HOPSCOPE_SEED other ones."""
import functools
import itertools
import os
import random
import signal
import time
import unittest

import torch
from safetensors.torch import save_file

import hostile_models as hostile
from engine_process import ENGINE, always_the_program, engine
from patience import SOON
from serve_client import Refused
from tiers import sized
from watched_case import WatchedCase

always_the_program()
SEED = int(os.environ.get("HOPSCOPE_SEED", "20261128"))
MOMENTS = sized(9, 200)
LONGEST = sized(0.5, 2)  # of a moment while a model computes for minutes
NODES, EDGES, BATCH = 3000, 30000, 4
WINDOW = os.environ.get("HOPSCOPE_WINDOW", "")
COMMANDS = {"inspect": [], "plan": [], "run": ["-o", "OUT", "--batch", BATCH, "--verify", "full"],
            "run --resume": ["-o", "OUT", "--batch", BATCH, "--resume"], "verify": ["--batch", BATCH, "--verify", "full"],
            "export": ["-o", "OUT", "--batch", BATCH]}
REQUESTS = ("open", "plan", "run", "export")


class Moments(WatchedCase):
    def setUp(self):
        super().setUp()
        self.out, self.dice, self.took = self.folder / "out/here", random.Random(SEED), {}
        self.over = 0  # it had ended already, which nothing of the slow model can have
        self.files = {"large": self.large(NODES, EDGES), "slow": self.slow()}

    def slow(self):
        """Its operators take minutes, while it is opened."""
        model, data = self.folder / "models/slow.pt", self.folder / "models/graph.safetensors"
        hostile.written(hostile.FORWARD["slow operators"]).save(str(model))
        save_file({"x": torch.randn(hostile.NODES, hostile.WIDTH),
                   "edge_index": torch.randint(0, hostile.NODES, (2, hostile.EDGES))}, str(data))
        return {"model": str(model), "data": [str(data)], "roles": []}

    def words(self, command, kind):
        options = [self.out if word == "OUT" else word for word in COMMANDS[command]]
        return [ENGINE, command.split()[0], self.files[kind]["model"], "--data", *self.files[kind]["data"], *options]

    @functools.cache
    def length(self, what, *how):
        """How long it usually takes; what takes minutes is left in its first seconds."""
        began = time.monotonic()
        what(*how)
        took = time.monotonic() - began
        self.tidy()
        return took

    def whole_command(self, command):
        self.assertEqual(self.start(self.words(command, "large")).wait(120), 0, self.said())
        if command == "run --resume":
            self.expected = (self.out / "out.npy").read_bytes()

    def wait_a_moment(self, kind, *operation):
        moment = self.dice.uniform(0, self.length(*operation) if kind == "large" else LONGEST)
        time.sleep(moment)
        return f"{moment:.3f} s"

    def soon(self, began, what, where):
        took = time.monotonic() - began
        self.took[what] = max(took, self.took.get(what, 0))
        self.assertLess(took, SOON, where)

    # what is left of it ------------------------------------------------------------------------------------------------------
    def check_outputs(self, command, code, where):
        if command == "run --resume":
            return self.check_resumed(where)
        left = sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []
        last = {"run": "report.json", "export": "schema.json"}.get(command)
        self.assertEqual(last in left, code == 0 and last is not None, f"{where}: {left}")
        self.assertEqual(bool(left), code == 0 and last is not None, f"{where}: {left}")

    def check_resumed(self, where):
        again = engine(*self.words("run --resume", "large")[1:], env=self.environment)
        self.assertEqual(again.returncode, 0, f"{where}: {again.stderr}")
        self.assertEqual((self.out / "out.npy").read_bytes(), self.expected, where)

    # the ends ----------------------------------------------------------------------------------------------------------------
    def signalled(self, command, kind):
        self.length(self.whole_command, command)
        process = self.start(self.words(command, kind))
        where = f"{command} of the {kind} model, SIGTERM after {self.wait_a_moment(kind, self.whole_command, command)}, seed {SEED}"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        self.soon(began, "SIGTERM", where)
        done = (0,) if kind == "large" else ()
        self.assertIn(code, (*done, 130, -signal.SIGTERM), f"{where}: {self.said()}")  # or not yet ready for signals
        self.check_gone(where)
        self.over += code == 0
        if kind == "large":
            self.check_outputs(command, code, where)

    def asked(self, client, request):
        """The id of the request, behind those that come before it."""
        if request == "open":
            return client.ask("model/open", **self.files["large"])
        writes = [str(self.out)] if request == "run" else []
        document = client.call("model/open", **self.files["large"], writes=writes)["document"]
        how = {"document": document, "device": "cpu", "memory": None, "batch": BATCH}
        if request == "plan":
            return client.ask("plan/make", **how, strategy="optimal", objective=None, pins=[])
        plan = client.call("plan/make", **how, strategy="optimal", objective=None, pins=[])["plan"]
        if request == "export":
            return client.ask("export/write", **self.files["large"], plan=plan, device="cpu", memory=None, batch=BATCH, folder=str(self.out))
        return client.ask("run/start", **how, plan=plan, output=str(self.out), verify="full", nan="propagate", paused=False)

    def finished(self, client, request, number):
        answer = client.answer(number)
        return client.finished(answer["run"]) if request == "run" else answer

    def whole_request(self, request):
        client = self.served()
        number = self.asked(client, request)
        began = time.monotonic()
        self.finished(client, request, number)
        length = time.monotonic() - began
        client.leave()
        return length

    @functools.cache
    def length_of(self, request):
        length = self.whole_request(request)
        self.tidy()
        return length

    def begun(self, request, kind):
        """A client in the middle of the request, and when that is."""
        longest = self.length_of(request) if kind == "large" else LONGEST
        client = self.served()
        number = (self.asked(client, request) if kind == "large" else client.ask("model/open", **self.files["slow"]))
        moment = self.dice.uniform(0, longest)
        time.sleep(moment)
        return client, number, f"{request} of the {kind} model, {moment:.3f} s, seed {SEED}"

    def cancelled(self, request, kind):
        client, number, where = self.begun(request, kind)
        where += ", cancelled"
        began = time.monotonic()
        run = client.answer(number)["run"] if request == "run" else None
        try:
            client.call("run/cancel", run=run) if run else client.tell("$/cancelRequest", id=number)
            end = client.finished(run) if run else client.answer(number)
        except Refused as refused:  # a run that has ended cannot be cancelled any more
            self.assertIn(refused.code, (-32800, -32602) if run else (-32800,), where)
            end = client.finished(run) if refused.code == -32602 else {"error": refused}
        self.soon(began, "cancel", where)
        self.assertEqual(client.leave(), 0, where)
        self.check_gone(where)
        self.assertTrue(kind == "large" or "error" in end, where)
        self.over += "error" not in end
        self.check_outputs(request, int("error" in end), where)

    def input_ended(self, request, kind):
        client, _, where = self.begun(request, kind)
        where += ", end of input"
        began = time.monotonic()
        client.process.stdin.close()
        code = client.process.wait(60)
        self.soon(began, "end of input", where)
        self.assertEqual(code, 0, where)
        self.check_gone(where)
        left = sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []
        last = {"run": "report.json", "export": "schema.json"}.get(request)
        self.assertTrue(not left or last in left, f"{where}: {left}")

    def whole_window(self, kind):
        picture = self.folder / "own/picture.png"
        self.assertEqual(self.window(kind, picture).wait(120), 0, self.said())

    def window(self, kind, picture):
        return self.start([WINDOW, self.files[kind]["model"], "--data", *self.files[kind]["data"], "--run", "--screenshot", picture])

    def window_ended(self, how, kind):
        self.length(self.whole_window, "large")
        process = self.window(kind, self.folder / "own/picture.png")
        where = f"the window with the {kind} model, {how} after {self.wait_a_moment(kind, self.whole_window, 'large')}, seed {SEED}"
        began = time.monotonic()
        process.send_signal(signal.Signals[how])
        process.wait(60)
        self.check_gone(where)
        self.soon(began, f"window, {how}", where)

    def ways(self):
        yield from ((self.signalled, command, kind) for command in COMMANDS for kind in ("large", "slow"))
        yield from ((end, request, "large") for request in REQUESTS for end in (self.cancelled, self.input_ended))
        yield from ((end, "open", "slow") for end in (self.cancelled, self.input_ended))
        if WINDOW:
            yield from ((self.window_ended, how, kind) for how in ("SIGKILL", "SIGTERM") for kind in ("large", "slow"))

    def test_everything_ends_at_any_moment(self):
        ways = list(self.ways())
        self.dice.shuffle(ways)
        for number, (end, what, kind) in enumerate(itertools.islice(itertools.cycle(ways), MOMENTS)):
            with self.subTest(number=number, end=end.__name__, what=what, kind=kind):
                end(what, kind)
            self.tidy()
        print("at most", ", ".join(f"{seconds:.2f} s ({what})" for what, seconds in sorted(self.took.items())),
              f"; {self.over} of {MOMENTS} were over already")


if __name__ == "__main__":
    unittest.main()
