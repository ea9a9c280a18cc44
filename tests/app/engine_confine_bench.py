"""What confinement costs: commands with and without --no-sandbox in turn, medians of their differences, in seconds of the processor,
which other programs change little. HOPSCOPE_ENGINE names the program; --pairs N: so many pairs (30)."""
import statistics
import sys
import tempfile
import unittest
from pathlib import Path

from engine_process import ENGINE, program
from serve_case import KARATE

START = 0.2  # of the processor time that a command takes to start
pairs = int(sys.argv.pop(sys.argv.index("--pairs") + 1)) if "--pairs" in sys.argv else 30
sys.argv = [argument for argument in sys.argv if argument != "--pairs"]
DIGITS = Path(KARATE["model"]).parents[1] / "digits"
STARTS = ["inspect", KARATE["model"], "--data", KARATE["data"][0]]
BATCHES = ["run", DIGITS / "gat.pt", "--data", DIGITS / "graph.safetensors", "--batch", "1", "--verify", "none", "-o", "OUT"]


def seconds(words, *options):
    with tempfile.TemporaryDirectory() as folder:
        out = [Path(folder) / "out" if word == "OUT" else word for word in words]
        return program([ENGINE, *map(str, out), "--quiet", *options], check=True, capture_output=True).seconds


class Costs(unittest.TestCase):
    def difference(self, words):
        """Additional seconds of the confined command, and seconds of the other one; the two alternate in going first."""
        differences, plain = [], []
        for number in range(pairs):
            took = {options: seconds(words, *options) for options in ((), ("--no-sandbox",))[:: 1 if number % 2 else -1]}
            differences.append(took[()] - took["--no-sandbox",])
            plain.append(took["--no-sandbox",])
        return statistics.median(differences), statistics.median(plain)

    def test_a_start_takes_little_longer_and_batches_take_no_longer(self):
        start, inspected = self.difference(STARTS)
        batches, run = self.difference(BATCHES)
        print(f"inspect: {1000 * start:+.1f} ms of {1000 * inspected:.0f}; a run of 3,594 batches: {1000 * batches:+.1f} ms of {1000 * run:.0f}")
        self.assertLess(start, START * inspected)
        self.assertLess(batches, START * inspected + 0.03 * run)  # as repeated measurements of one program differ


if __name__ == "__main__":
    unittest.main()
