"""`hopscope-scale run --layout owners` on a Ray cluster of simulated nodes of this machine: the bits of one process, whoever
is killed when, and nothing left of the workers."""
import json
import os
import random
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from scale_owners import parent_of
from scale_ray import RayTest
from scale_support import PATIENCE, kill, processes, records, right

from hopscope import _cluster  # found by scale_support


class Owners(RayTest):
    """One class, since it has one cluster."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="hopscope-owners-")
        cls.addClassCleanup(holder.cleanup)
        cls.scratch = Path(holder.name)
        super().setUpClass()

    def start(self, words, *more, environment=None):
        return super().start(words, "--layout", "owners", "--scratch", self.scratch, *more, environment=environment)

    def left(self):
        return sorted(self.scratch.iterdir())

    def test_one_two_and_four_workers_give_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("normed", 2), ("sage", 4)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                scale = self.run_scale(case, "--workers", workers)["scale"]
                self.assertEqual((len(scale["workers"]), scale["lost"]), (workers, 0))
                self.assertEqual(sum(worker["destinations"] for worker in scale["workers"]), case.destinations)
                self.assertEqual(any(worker["halo"] for worker in scale["workers"]), workers > 1)
                self.assertEqual(self.left(), [])
                shutil.rmtree(self.out)
                self.nothing_runs()

    def test_the_command_is_killed_and_the_same_one_leaves_nothing(self):
        """Ray kills engines with their actors, before they could remove their folders."""
        place, case = Path(tempfile.gettempdir()), self.case("slow")
        mine = f"{_cluster._name_of(str(self.out.absolute()))}-*"
        process = super().start(self.words(case), "--layout", "owners", "--workers", 2)
        self.until(lambda: any(records(folder) for folder in place.glob(mine)))
        process.kill()
        process.communicate()
        self.until(lambda: not self.engines(), 10)  # they end by themselves
        process = super().start(self.words(case), "--layout", "owners", "--workers", 2)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error)
        right(case, self.out)
        self.assertEqual(list(place.glob(mine)), [])

    def strike(self, draw, kind):
        """Whether it hit something."""
        if kind == "node":
            self.cluster.lose(draw)
            return True
        engines = self.engines()
        found = [pid for pid in engines if parent_of(pid) not in (*engines, None)]
        if kind == "actor":
            found = [pid for pid, line in processes("ray::Engine").items() if line.startswith("ray::Engine")]
        return bool(found) and kill(draw.choice(found))

    def test_workers_actors_and_a_node_are_killed(self):
        draw, case = random.Random(3), self.case("slow")
        kinds = ["worker", "actor", "worker", "node"]
        for _ in range(4):  # a run may be through before all of them have hit
            process, end = self.start(self.words(case), "--workers", 2, "--json"), time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < end:
                time.sleep(draw.uniform(0.3, 1.0))
                if kinds and any(records(folder) for folder in self.left()) and self.strike(draw, kinds[0]):
                    kinds.pop(0)
            said, error = process.communicate(timeout=5)
            self.assertEqual(process.returncode, 0, error + said)
            right(case, self.out)
            self.until(lambda: not self.left(), 5)
            self.nothing_runs()
            self.assertGreaterEqual(json.loads(said)["scale"]["lost"], 1)
            shutil.rmtree(self.out)
            if not kinds:
                return
        self.fail(f"{kinds} have not hit anything")


if __name__ == "__main__":
    unittest.main()
