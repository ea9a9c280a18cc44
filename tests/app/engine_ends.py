"""Whatever the engine does, it ends when it is told to: operators of a file that take minutes are no excuse."""
import contextlib
import itertools
import os
import random
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from engine_process import ENGINE, always_the_program
from patience import SOON
from serve_case import KARATE, ServeTest
from serve_client import Client, Refused
from tiers import sized

always_the_program()
SEED = int(os.environ.get("HOPSCOPE_SEED", "20261128"))
LAST_LINES, OPENINGS, BUSY = sized(3, 12), sized(2, 20), 8
LONGEST = sized(0.4, 2)  # seconds, of a moment; the model computes meanwhile
COMMANDS = ("inspect", "plan", "run", "verify", "export", "receptive-field")


class Slow(nn.Module):
    """Products of whole numbers, which no library speeds up: minutes, before the first message."""

    def forward(self, x, edge_index):
        product = torch.ones(5000, 5000, dtype=torch.int64)
        for _ in range(20):
            product = product @ product
        sums = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return sums * product[0, 0]


def handles(process, number):
    """A signal before that ends the process by itself."""
    with open(f"/proc/{process.pid}/status") as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt"))
    return int(caught, 16) >> (number - 1) & 1


def processes(session):
    """Those that live in a session: the processes of models have groups of their own."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            state, _, _, its = (folder / "stat").read_text().rpartition(")")[2].split()[:4] if folder.name.isdigit() else "Z000"
            if state != "Z" and its == str(session):
                found.append(int(folder.name))
    return found


def field(pid, name):
    with contextlib.suppress(OSError):
        return re.search(rf"^{name}:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]


def models(session):
    """The processes of models among them: they have a filter of system calls, their parents have none."""
    filtered = {pid for pid in processes(session) if field(pid, "Seccomp") == "2"}
    return [pid for pid in filtered if int(field(pid, "PPid") or 0) not in filtered]


class Ends(ServeTest):
    def setUp(self):
        super().setUp()
        x, edge_index = torch.randn(30, 4), torch.randint(0, 30, (2, 90))
        self.model, self.graph = self.folder / "slow.pt", self.folder / "graph.safetensors"
        torch.jit.script(Slow()).save(self.model)
        save_file({"x": x, "edge_index": edge_index}, self.graph)
        self.dice = random.Random(f"{SEED} {self.id()}")

    def wait_a_moment(self):
        moment = self.dice.uniform(0.05, LONGEST)
        time.sleep(moment)
        return f"seed {SEED}, after {moment:.2f} s"

    def ended(self, process, code, where):
        """And everything that it had started."""
        began = time.monotonic()
        self.assertEqual(process.wait(SOON), code, where)
        while processes(process.pid):
            self.assertLess(time.monotonic() - began, SOON, f"{where}: a child is left")
            time.sleep(0.02)

    def test_a_signal_ends_every_command_at_any_moment(self):
        for number, command in zip(itertools.cycle((signal.SIGTERM, signal.SIGINT)), COMMANDS):
            with self.subTest(command=command, signal=number):
                words = [ENGINE, command, self.model, "--data", self.graph]
                if command in ("run", "export"):
                    words += ["-o", self.folder / f"{command}{number}"]
                process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while not handles(process, number):
                    time.sleep(0.01)
                where = self.wait_a_moment()
                process.send_signal(number)
                self.ended(process, 130, where)
                self.assertEqual({path.name for path in self.folder.iterdir()}, {"tmp", "slow.pt", "graph.safetensors"}, where)

    def test_a_signal_is_not_lost_when_a_command_has_just_opened_its_outputs(self):
        """Beside busy programs the threads of the command take a while to follow each other."""
        save_file({"x": torch.randn(50_000, 34), "edge_index": torch.randint(0, 50_000, (2, 100_000))}, self.graph)
        words = [ENGINE, "run", KARATE["model"], "--data", self.graph, "--batch", "1", "--verify", "none", "-o"]  # some 10 s
        with contextlib.ExitStack() as stack:
            for _ in range(BUSY):
                busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
                stack.callback(busy.wait)
                stack.callback(busy.kill)
            for number in range(OPENINGS):
                out = self.folder / f"opened{number}"
                process = subprocess.Popen([*words, out], start_new_session=True, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                while not (out / ".hopscope-journal").exists() and process.poll() is None:
                    time.sleep(0.003)
                process.send_signal(signal.SIGINT)
                self.ended(process, 130, number)

    def test_a_signal_after_the_last_line_of_a_command_leaves_no_file(self):
        """It has only to remove its scratch files then."""
        words = [ENGINE, "inspect", KARATE["model"], "--data", *KARATE["data"]]
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp")}
        said = subprocess.run(words, env=environment, check=True, capture_output=True).stdout
        for number in range(LAST_LINES):
            process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(process.stdout.read(len(said)), said)
            time.sleep(self.dice.uniform(0, 0.002))
            process.send_signal(signal.SIGTERM)
            process.stdout.close()
            self.assertIn(process.wait(SOON), (0, 130, -signal.SIGTERM))
            self.assertEqual(self.leavings(), [], f"seed {SEED}, number {number}")

    def opening(self):
        client = Client(env={**os.environ, "TMPDIR": str(self.folder / "tmp")}, start_new_session=True)
        client.ask("model/open", model=str(self.model), data=[str(self.graph)], roles=[])
        return client

    def test_serve_ends_with_its_input_and_on_signals(self):
        for how, code in (("end of input", 0), ("exit", 0), ("SIGTERM", 130)):
            with self.subTest(how=how):
                client = self.opening()
                where = self.wait_a_moment()
                if how == "SIGTERM":
                    client.process.send_signal(signal.SIGTERM)
                elif how == "exit":
                    client.tell("exit")
                else:
                    client.process.stdin.close()
                self.ended(client.process, code, where)

    def test_opening_is_cancelled_and_the_engine_goes_on(self):
        client = self.opening()
        self.addCleanup(client.stop)
        for _ in range(sized(2, 3)):
            where = self.wait_a_moment()
            client.tell("$/cancelRequest", id=client.next_id)
            with self.assertRaises(Refused) as caught:
                client.answer(client.next_id, SOON)
            self.assertEqual(caught.exception.code, -32800, where)
            self.assertEqual(models(client.process.pid), [], where)
            client.ask("model/open", model=str(self.model), data=[str(self.graph)], roles=[])
        client.tell("$/cancelRequest", id=client.next_id)
        self.assertEqual(client.call("model/open", **KARATE)["document"], 1)
        self.assertEqual(client.leave(), 0)

    def test_the_engine_survives_the_processes_of_its_models(self):
        client = Client(env={**os.environ, "TMPDIR": str(self.folder / "tmp")}, start_new_session=True)
        self.addCleanup(client.stop)
        session = client.process.pid
        for number, name, code in ((signal.SIGSEGV, "Segmentation fault", -32007), (signal.SIGKILL, "ran out of memory", -32006)):
            with self.subTest(signal=number):
                while models(session):  # those of closed models
                    time.sleep(0.01)
                client.ask("model/open", model=str(self.model), data=[str(self.graph)], roles=[])
                self.killed(session, number)
                self.refused(code, name, client.answer, client.next_id)
                other = client.call("model/open", **KARATE)["document"]
                document = client.call("model/open", **KARATE)["document"]
                plan = self.plan(client, document)["plan"]
                run = self.start(client, document, plan, self.folder / "out", batch=1, paused=True)["run"]
                self.killed(session, number, but=1)
                error = client.finished(run)["error"]
                self.assertIn(name, error["message"])
                self.assertEqual(error["hint"], "open the model again")
                self.assertFalse((self.folder / "out/out.npy").exists())
                self.refused(code, name, self.plan, client, document)
                client.call("model/close", document=document)
                self.refused(-32602, "is not an open model", self.plan, client, document)
                again = self.start(client, other, self.plan(client, other)["plan"])["run"]
                self.assertNotEqual(again, run)
                self.assertIn("report", client.finished(again))
                client.call("model/close", document=other)
        self.assertEqual(client.leave(), 0)
        self.ended(client.process, 0, "after goodbye")
        self.assertEqual(self.leavings(), [])

    def killed(self, session, number, but=0):
        """The newest process of a model, once there are more than `but` of them."""
        began = time.monotonic()
        while len(found := models(session)) <= but:
            self.assertLess(time.monotonic() - began, SOON)
            time.sleep(0.01)
        os.kill(max(found), number)


if __name__ == "__main__":
    unittest.main()
