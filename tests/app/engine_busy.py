"""Where other programs want the cores, a verified run of a small model costs little more of them than with threads that sleep while
they wait for each other. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from engine_process import own_folder
from tiers import sized

ENGINE, SAMPLES = os.environ["HOPSCOPE_ENGINE"], Path(os.environ["HOPSCOPE_ROOT"]) / "samples/digits"
MODELS, ROUNDS = ("gat", "jknet"), sized(1, 2)
MOST = 2.5  # times the processor time of threads that sleep
TICK = os.sysconf("SC_CLK_TCK")


def processes():
    """{process: (parent, ticks of a core)}"""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        found[int(stat.parent.name)] = int(words[1]), int(words[11]) + int(words[12])
    return found


def family(root, known):
    """The process and all that it has started, directly or not."""
    members = {root}
    while more := {process for process, (parent, _) in known.items() if parent in members} - members:
        members |= more
    return members


def core_seconds(words, environment):
    """Of the process and its children, whoever waits for them: what they have used when they are last seen."""
    used = {}
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            known = processes()
            used |= {member: known[member][1] for member in family(process.pid, known) & known.keys()}
            time.sleep(0.01)
    assert process.returncode == 0, words
    return sum(used.values()) / TICK


class Busy(unittest.TestCase):
    def setUp(self):
        self.out = own_folder(self)
        for _ in os.sched_getaffinity(0):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)

    def verified(self, model, **waiting):
        words = [ENGINE, "run", model, "--data", SAMPLES / "graph.safetensors", "-o", self.out, "--verify", "full", "--quiet"]
        return core_seconds(words, os.environ | waiting)

    def test_a_verified_run_of_a_small_model_does_not_wait_by_computing(self):
        usual = asleep = 0
        for model in [SAMPLES / f"{name}.pt" for name in MODELS] * ROUNDS:
            usual += self.verified(model)
            asleep += self.verified(model, OMP_WAIT_POLICY="passive")
        print(f"{usual:.2f} s of a core, {asleep:.2f} s with threads that sleep: {usual / asleep:.2f} times as much")
        self.assertLess(usual, MOST * asleep)


if __name__ == "__main__":
    unittest.main(verbosity=2)
