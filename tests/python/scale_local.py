"""`hopscope-scale run` with workers of this machine: the bits of one process, whoever is killed when."""
import os
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from scale_support import JOURNAL, PATIENCE, SOON, ScaleTest, computed_twice, kill, records, right, until_it_hits

import hopscope  # found by scale_support
from hopscope import _cluster


def memory_of(pid):
    """Bytes of a process that are not in files."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


class Workers(ScaleTest):
    def test_any_number_of_workers_gives_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("sage", 2), ("sage", 4), ("normed", 2), ("frontier", 2)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                report = self.run_scale(case, "--workers", workers)
                found = report["scale"]["workers"]
                self.assertEqual(len(found), workers)
                self.assertEqual(sum(worker["destinations"] for worker in found), case.destinations)
                self.assertEqual((report["scale"]["lost"], report["scale"]["threads"]), (0, 1))
                self.assertEqual(len(self.events("stage")), len(report["stages"]))
                self.assertEqual(sum(event["destinations"] for event in self.events("shard")), case.destinations)
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def test_the_verification_sees_what_all_have_computed(self):
        case = self.case("normed")
        words = [word for word in self.words(case) if word not in ("--verify", "none")]
        process = self.start(words, "--workers", 2, "--verify", "full")
        said, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error)
        self.assertIn("out.npy: equal; workers: 2, cores of each: 1", said)
        right(case, self.out)

    def test_the_same_command_again_finds_the_results(self):
        case = self.case("sage")
        self.run_scale(case, "--workers", 2)
        computed = self.events("shard")
        self.run_scale(case, "--workers", 1)
        self.assertEqual(self.events("shard"), computed)

    def test_progress_is_told(self):
        case, told = self.case("sage"), []
        request = {"model": str(case.words[0]), "data": [str(case.words[2])], "verify": "none", "output": str(self.out)}
        with mock.patch.dict(os.environ, HOPSCOPE_ENGINE=str(self.program)):
            _cluster.run(request, "local", workers=2, threads=1, progress=lambda *step: told.append(step))
        self.assertEqual({what for what, _, _ in told}, {f"stage {i} of 3" for i in (1, 2, 3)})
        self.assertEqual(told[-1][1:], (60_000, 60_000))
        right(case, self.out)

    def test_a_worker_stays_within_its_limit(self):
        """Without one, a worker on this model takes 137 MB; 64 are for its libraries and the kernels that they compile."""
        case, limit, most = self.case("normed"), 104_000_000, 0
        process = self.start(self.words(case), "--workers", 2, "--memory", limit)
        while process.poll() is None:
            most = max([most, *map(memory_of, self.engines())])
            time.sleep(0.005)
        _, error = process.communicate()
        self.assertEqual(process.returncode, 0, error)
        self.assertGreater(most, 0)
        self.assertLessEqual(most, limit)


class Interruptions(ScaleTest):
    def test_what_a_killed_worker_had_noted_is_not_computed_again(self):
        case = self.case("slow")

        def killed():
            process = self.start(self.words(case), "--workers", 2, "--json")
            self.until(lambda: len(records(self.out)) > 3 or process.poll() is not None)
            if any(kill(pid) for pid in self.engines()[:1]):
                return process
            process.communicate()
            (self.folder / "events").unlink()
            return shutil.rmtree(self.out)

        process, twice = until_it_hits(killed), 0
        while process.poll() is None:
            twice = max(twice, computed_twice(records(self.out)))
            time.sleep(0.02)
        process.communicate()
        self.assertLessEqual(twice, 1)
        right(case, self.out)
        computed = sum(event["destinations"] for event in self.events("shard"))
        self.assertLessEqual(computed, case.destinations)

    def test_an_interrupted_command_ends_and_the_same_one_goes_on(self):
        case = self.case("slow")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = until_it_hits(lambda number=number: self.interrupted(
                self.words(case), lambda process: process.send_signal(number), "--workers", 2))
            _, error = process.communicate()
            self.assertEqual(process.returncode, 130, error)
            self.assertIn("the same command resumes the run", error)
            self.assertEqual(self.engines(), [])
        self.assertTrue((self.out / JOURNAL).is_dir())
        self.run_scale(case, "--workers", 3)


class Refusals(ScaleTest):
    def refused(self, code, says, words, *more, environment=None):
        """The one sentence in which the command refuses."""
        process = self.start(words, *more, environment=environment)
        said, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, error + said)
        errors = [line for line in error.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, error)
        self.assertIn(says, errors[0])
        self.assertEqual(self.engines(), [])
        return errors[0]

    def test_what_a_worker_refuses_has_its_name(self):
        words = self.words(self.case("sage"))
        here = os.uname().nodename
        missing = [self.folder / "missing.pt", *words[1:]]
        self.assertIn("worker 1", self.refused(3, f" on {here}: ", missing, "--workers", 1))
        self.assertFalse(self.out.exists())
        self.out.write_text("")
        self.refused(3, "is a file, not a folder", words, "--workers", 2)
        self.out.unlink()
        self.refused(6, "worker 1", words, "--workers", 1, "--memory", "16K")

    def test_another_model_than_the_run_was_begun_with(self):
        case = self.case("slow")
        until_it_hits(lambda: self.interrupted(self.words(case), lambda process: process.kill(), "--workers", 1)).communicate()
        self.until(lambda: not self.engines(), SOON)
        other = self.words(self.case("normed"))
        self.refused(3, "the model file; resume it under the same conditions", other, "--workers", 1)
        self.run_scale(case, "--workers", 1)

    def test_an_engine_of_another_version(self):
        stand_in = self.environment(HOPSCOPE_ENGINE=str(Path(__file__).with_name("stand_in.py")), STAND_IN_VERSION="9.9",
                                    STAND_IN_ENGINE=str(self.program))
        self.refused(7, "worker 1", self.words(self.case("sage")), "--workers", 1, environment=stand_in)

    def test_usage(self):
        words = self.words(self.case("sage"))
        self.refused(2, "the address 'local' needs a number of workers", words)
        self.refused(2, "cannot be written", words, "--workers", 1, "--events", self.folder)

    def test_without_ray_the_package_is_whole_and_says_what_is_missing(self):
        with mock.patch.dict(sys.modules, ray=None), self.assertRaises(hopscope.UsageError) as caught:
            _cluster.run({}, "auto")
        self.assertIn("needs Ray, which is not installed here", str(caught.exception))
        self.assertIn("hopscope[scale]", caught.exception.hint)


if __name__ == "__main__":
    unittest.main()
