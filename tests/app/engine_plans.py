"""What every strategy's plan was predicted to move, and what it moved, on stacks whose widths make different cuts the
best. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ENGINE = os.environ["HOPSCOPE_ENGINE"]
ROOT = Path(os.environ["HOPSCOPE_ROOT"])
STACKS = ("gcn", "sage", "jknet", "dense", "bottleneck", "expanding")


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.holder.name)
        cls.addClassCleanup(cls.holder.cleanup)
        subprocess.run([sys.executable, str(ROOT / "tests/placement/make_stacks.py"), str(cls.folder), "24"], check=True,
                       timeout=300)
        cls.graph = cls.folder / "graph.safetensors"
        cls.engine("generate", "sbm", "--nodes", 2000, "--edges", 20000, "--features", 24, "--seed", 3, "-o", cls.graph)

    @staticmethod
    def engine(*words):
        done = subprocess.run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300, check=True)
        return done.stdout

    def measured(self, name, *options):
        printed = self.engine("bench", "plans", self.folder / f"{name}.pt", "--data", self.graph, "--repeat", 1, "--json",
                              *options)
        return {plan["name"]: plan for plan in json.loads(printed)["plans"]}

    def test_plans_move_what_was_predicted_and_the_optimum_moves_least(self):
        for name in STACKS:
            for batch in ("auto", 300):
                with self.subTest(model=name, batch=batch):
                    plans = self.measured(name, "--batch", batch)
                    self.assertEqual(set(plans), {"optimal, time", "optimal, bytes", "depth", "source-rule"})
                    for plan in plans.values():
                        self.assertEqual(plan["bytes"], plan["predicted_bytes"])
                        self.assertEqual(len(plan["seconds"]), len(plan["predicted_seconds"]))
                        for wanted, held in zip(plan["predicted_peak_memory"], plan["peak_memory"], strict=True):
                            self.assertLessEqual(abs(wanted / held - 1), 0.05)
                    moved = {key: sum(plan["bytes"].values()) for key, plan in plans.items()}
                    self.assertEqual(moved["optimal, bytes"], min(moved.values()))
                    seconds = {key: sum(plan["predicted_seconds"]) for key, plan in plans.items()}
                    self.assertLessEqual(seconds["optimal, time"], min(seconds.values()) * (1 + 1e-6))
                    self.assertLessEqual(plans["optimal, time"]["gap"], 1e-4)

    def test_the_narrow_layer_is_what_is_stored(self):
        plans = self.measured("bottleneck")
        stored = {key: plan["bytes"]["d2h"] for key, plan in plans.items()}
        self.assertLess(stored["optimal, bytes"], stored["depth"])
        self.assertLess(stored["optimal, bytes"], stored["source-rule"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
