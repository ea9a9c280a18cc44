"""`hopscope-scale run --layout owners` on a Ray cluster of simulated nodes of this machine: the bits of one process, whoever
is killed when, and nothing left of the workers."""
import json
import os
import random
import shutil
import signal
import tempfile
import time
import unittest
from pathlib import Path

from scale_owners import opened_by, parent_of
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

    def test_copies_come_in_as_one_machine_counts_them(self):
        case = self.case("normed")
        scale = self.run_scale(case, "--workers", 3, "--replicas", 2)["scale"]
        copied = [sum(stage["bytes"] for stage in worker["copies"]) for worker in scale["workers"]]
        told = {number: 0 for number in (1, 2, 3)}
        for event in self.events("copied"):
            told[event["worker"]] += event["bytes"]
            self.assertEqual(event["from"], (event["worker"] - 2) % 3 + 1)
        self.assertEqual(copied, list(told.values()))
        self.assertTrue(all(copied))

    def node_of(self, pid):
        """The number of the node on which an engine of a worker is."""
        raylet = parent_of(parent_of(pid))
        found = [at for at, node in enumerate(self.cluster.nodes)
                 if any(started.process.pid == raylet for started in node.all_processes["raylet"])]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_a_node_is_lost_with_its_disk_and_finished_stages_are_not_computed_again(self):
        for name in ("slow", "slow normed"):
            with self.subTest(model=name):
                case = self.case(name)
                process = self.start(self.words(case), "--workers", 3, "--replicas", 2, "--json")
                self.until(lambda: any(e["from"] == 2 and e["stage"] == 1 for e in self.events("copied")))
                folder, = self.scratch.glob("hopscope-*-2")
                pid, = [pid for pid in self.engines() if f"{folder}/" in opened_by(pid)]
                for stopped in (pid, parent_of(pid)):
                    os.kill(stopped, signal.SIGSTOP)
                node = self.node_of(pid)
                shutil.rmtree(folder)
                self.cluster.lose_at(node)
                kill(pid)
                said, error = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 0, error + said)
                right(case, self.out)
                report = json.loads(said)
                self.assertGreaterEqual(report["scale"]["lost"], 1)
                first = sum(event["destinations"] for event in self.events("shard") if event["stage"] == 1)
                self.assertEqual(first, report["stages"][0]["destinations"])
                self.assertTrue(any(e["worker"] == 2 and e["stage"] == 1 for e in self.events("restored")))
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()
                self.nothing_runs()

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
        for replicas in (2, 1, 2, 1):  # a run may be through before all of them have hit
            process = self.start(self.words(case), "--workers", 2, "--replicas", replicas, "--json")
            end = time.monotonic() + PATIENCE
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
