"""Whatever the engine does, it ends when it is told to: operators of a file that take minutes are no excuse. The limits are ten
times what is asked for (a second), and a hundredth of what the operators take."""
import contextlib
import itertools
import os
import random
import signal
import subprocess
import time
import unittest

import torch
from safetensors.torch import save_file
from torch import nn

from engine_process import ENGINE, always_the_program
from serve_case import ServeTest
from serve_client import Client

always_the_program()
SEED = int(os.environ.get("HOPSCOPE_SEED", "20261128"))
SOON = 10
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


def alive(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


class Ends(ServeTest):
    def setUp(self):
        super().setUp()
        x, edge_index = torch.randn(30, 4), torch.randint(0, 30, (2, 90))
        self.model, self.graph = self.folder / "slow.pt", self.folder / "graph.safetensors"
        torch.jit.script(Slow()).save(self.model)
        save_file({"x": x, "edge_index": edge_index}, self.graph)
        self.dice = random.Random(f"{SEED} {self.id()}")

    def wait_a_moment(self):
        moment = self.dice.uniform(0.05, 2)
        time.sleep(moment)
        return f"seed {SEED}, after {moment:.2f} s"

    def ended(self, process, code, where):
        """And everything that it had started."""
        began = time.monotonic()
        self.assertEqual(process.wait(SOON), code, where)
        while alive(process.pid):
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


if __name__ == "__main__":
    unittest.main()
