"""`hopscope-scale run` on a Ray cluster of simulated nodes of this machine: the bits of one process, whoever is killed when.

    scale_ray.py --kills 50 [--nodes 1000000] [--seed 1]

kills workers, actors, whole nodes and drivers so often, over samples and generated graphs, instead of testing, and prints
what came out.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import torch

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_health_check_period_ms="500", RAY_health_check_timeout_ms="1000",
                  RAY_health_check_failure_threshold="3", RAY_health_check_initial_delay_ms="500",
                  RAY_TMPDIR=tempfile.mkdtemp(prefix="hs-", dir="/tmp"))  # short: sockets are in it

from ray.cluster_utils import Cluster  # noqa: E402

from scale_support import (  # noqa: E402
    PATIENCE, SOON, Reference, ScaleTest, computed_twice, digests, everything, kill, processes, records, right, until_it_hits)

import scale_serve  # noqa: E402

MEGABYTES = 1 << 20


class Nodes:
    """A cluster: a head without cores, and nodes of one core each."""

    def __init__(self, count, environment):
        os.environ.update(environment)
        self.cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 0, "object_store_memory": 80 * MEGABYTES, "include_dashboard": False})
        self.nodes = []
        for _ in range(count):
            self.add()

    def add(self):
        self.nodes.append(self.cluster.add_node(num_cpus=1, object_store_memory=80 * MEGABYTES))

    def lose(self, draw):
        """A whole node at once, and another one in its place."""
        self.lose_at(draw.randrange(len(self.nodes)))

    def lose_at(self, number):
        self.cluster.remove_node(self.nodes.pop(number), allow_graceful=False)
        self.add()

    def close(self):
        self.cluster.shutdown()
        shutil.rmtree(os.environ["RAY_TMPDIR"], ignore_errors=True)


class RayTest(ScaleTest):
    count = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = Nodes(cls.count, {name: value for name, value in cls.environment().items()
                                        if name in ("PYTHONPATH", "HOPSCOPE_ENGINE")})
        cls.addClassCleanup(cls.cluster.close)
        cls.address = cls.cluster.cluster.address


class Served(RayTest, scale_serve.ServeTest):
    """`hopscope-scale serve` for a window."""

    def test_a_window_has_the_workers_of_the_cluster(self):
        client = self.serve("--address", self.address)
        document, plan, run = self.begun(client, output=str(self.out), verify="sample")
        for number in (1, 2):
            self.until_event(client, run, {"type": "shard", "outcome": "begun", "worker": number})
        self.assertTrue(kill(self.engines()[0]))
        end = client.finished(run, PATIENCE)
        self.assertEqual((end["report"]["verify"]["verdict"], end["report"]["scale"]["lost"]), ("equal", 1))
        self.assertEqual(digests(self.out), self.of_one_process(plan))
        self.assertEqual({e["host"] for e in client.events(run) if e["type"] == "worker" and e["what"] == "joined"},
                         {os.uname().nodename})
        run = self.start(client, document, plan, output=str(self.folder / "other"))["run"]
        self.until_event(client, run, {"type": "shard", "outcome": "computed"})
        client.call("run/cancel", run=run)
        self.assertEqual(client.finished(run, SOON)["error"]["exit_code"], 130)
        self.until(lambda: not self.engines(), SOON)
        self.start(client, document, plan, output=str(self.folder / "other"))
        self.until(self.engines)
        client.process.stdin.close()
        client.process.wait(SOON)
        self.until(lambda: not self.all_processes(), SOON)
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith("hopscope-")], [])


class Workers(RayTest):
    def test_one_two_and_four_workers_give_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("normed", 2), ("sage", 4)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                report = self.run_scale(case, "--workers", workers)
                self.assertEqual(len(report["scale"]["workers"]), workers)
                self.assertEqual(sum(w["destinations"] for w in report["scale"]["workers"]), case.destinations)
                hosts = {worker["host"] for worker in report["scale"]["workers"]}
                self.assertLessEqual(hosts, {os.uname().nodename, ""})  # one may come when all is done
                shutil.rmtree(self.out)
                self.nothing_runs()

    def test_workers_nodes_and_drivers_are_killed(self):
        draw = random.Random(2)
        left = {"worker": 2, "node": 1, "driver": 1}
        for _ in range(4):  # a run may be through before all of them have hit
            hit, twice = torture(self, self.case("slow normed"), draw, 2, left)
            self.assertLessEqual(twice, sum(hit.values()))
            left = {kind: count - hit[kind] for kind, count in left.items()}
            if not any(left.values()):
                return
        self.fail(f"{left} have not hit anything")

    def test_an_interrupted_command_ends_and_leaves_no_process(self):
        case = self.case("slow")
        process = until_it_hits(lambda: self.interrupted(
            self.words(case), lambda process: process.send_signal(signal.SIGINT), "--workers", 2))
        _, error = process.communicate()
        self.assertEqual(process.returncode, 130, error)
        self.until(lambda: not self.engines(), SOON)
        self.run_scale(case, "--workers", 2)

    def test_what_cannot_be_is_one_sentence(self):
        words = self.words(self.case("sage"))
        for says, address, more in (("has room for 4 workers of 1 core, not for 9", self.address, ["--workers", 9]),
                                    ("no Ray cluster answers at", "127.0.0.1:1", [])):
            process = self.start([*words, "--address", address], *more) if address == self.address else subprocess.Popen(
                [sys.executable, "-m", "hopscope.scale", "run", *words, "-o", str(self.out), "--address", address],
                env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 6, error)
            errors = [line for line in error.splitlines() if line.startswith("error: ")]
            self.assertEqual(len(errors), 1, error)
            self.assertIn(says, errors[0])
        self.assertFalse(self.out.exists())


def victim(test, draw):
    """An engine or the actor that owns it."""
    engines = test.engines()
    actors = [pid for pid, line in processes("ray::Engine").items() if line.startswith("ray::Engine")]
    found = engines if draw.random() < 0.6 else actors
    return draw.choice(found) if found else None


def strike(test, draw, kind, driver):
    """Whether it hit something."""
    if kind == "driver":
        driver.kill()
        return True
    if kind == "node":
        test.cluster.lose(draw)
        return True
    pid = victim(test, draw)
    return pid is not None and kill(pid)


def torture(test, case, draw, workers, kills):
    """One run until it comes through, with these kills on the way, each as soon as something was noted since the last one.
    The kills that hit, and how many pairs of records overlap at most."""
    todo = [kind for kind, count in kills.items() for _ in range(count)]
    draw.shuffle(todo)
    hit, twice, seen = dict.fromkeys(kills, 0), 0, 0
    while True:
        driver = test.start(test.words(case), "--workers", workers, "--json")
        while driver.poll() is None:
            time.sleep(draw.uniform(0.05, 0.3))
            found = records(test.out)
            twice = max(twice, computed_twice(found))
            if todo and len(found) > seen and strike(test, draw, todo[-1], driver):
                hit[todo.pop()] += 1
                seen = len(found)
        said, error = driver.communicate(timeout=PATIENCE)
        if driver.returncode == 0:
            break
        assert driver.returncode == -signal.SIGKILL, error + said
    right(case, test.out)
    shutil.rmtree(test.out)
    return hit, twice


class Tally(RayTest):
    """Not a test: what `--kills` runs."""

    def runTest(self):
        draw, kills, runs, again = random.Random(self.options.seed), {}, 0, 0
        made = [Reference(name, words, self.shared, "--threads", "1")
                for name, words in everything(self.shared, self.options.nodes)]
        while sum(kills.values()) < self.options.kills:
            case = made[runs % len(made)]
            wanted = {"worker": draw.randrange(1, 6), "node": draw.randrange(2), "driver": draw.randrange(2)}
            began = time.monotonic()
            hit, twice = torture(self, case, draw, draw.randrange(1, self.count + 1), wanted)
            kills = {kind: kills.get(kind, 0) + count for kind, count in hit.items()}
            runs, again = runs + 1, again + twice
            self.nothing_runs()
            print(f"{case.name}: {hit} in {time.monotonic() - began:.0f} s, {twice} chunks computed twice", flush=True)
        self.assertLessEqual(again, sum(kills.values()))
        print(f"{json.dumps(kills)} kills in {runs} runs: all hashes equal, {again} chunks computed twice, nothing left behind",
              flush=True)


def load_tests(loader, _standard, _pattern):
    """The tally only where it is asked for."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(Workers))


def main():
    if not any(word.startswith("--kills") for word in sys.argv):
        unittest.main()
    import argparse

    parser = argparse.ArgumentParser()
    for name, default in (("kills", 50), ("nodes", 1_000_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    Tally.options = parser.parse_args()
    torch.manual_seed(1)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite([Tally()])).wasSuccessful())


if __name__ == "__main__":
    main()
