"""`hopscope-scale run --layout owners` with workers of this machine: the bits of one process, whoever is killed when, and
nothing left of the workers."""
import glob
import json
import os
import random
import shutil
import signal
import tempfile
import time
import unittest
from pathlib import Path

from scale_support import JOURNAL, PATIENCE, ScaleTest, kill, right

from engine_commands import engine
from engine_shards import checked


class OwnersTest(ScaleTest):
    """Workers have their folders in `scratch`, which is that for temporary files unless a test names it."""

    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    def start(self, words, *more, environment=None):
        environment = environment or self.environment(TMPDIR=str(self.scratch))
        return super().start(words, "--layout", "owners", *more, environment=environment)

    def left(self):
        return sorted(path.name for path in self.scratch.glob("hopscope-*-*"))


class Workers(OwnersTest):
    def test_any_number_of_workers_gives_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("sage", 2), ("sage", 4), ("normed", 2), ("frontier", 3)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                report = self.run_scale(case, "--workers", workers)
                scale = report["scale"]
                self.assertEqual((scale["layout"], scale["lost"], len(scale["workers"])), ("owners", 0, workers))
                self.assertEqual(sum(worker["destinations"] for worker in scale["workers"]), case.destinations)
                self.assertEqual(sum(stage["destinations"] for stage in report["stages"]), case.destinations)
                self.assertEqual(any(worker["halo"] for worker in scale["workers"]), workers > 1)
                self.assertEqual(self.left(), [])
                shutil.rmtree(self.out)

    def test_what_comes_in_is_what_was_predicted_to_the_byte(self):
        for name, workers in (("sage", 4), ("frontier", 2), ("normed", 3)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                plan = self.folder / f"{name}.json"
                predicted = self.predicted(case, plan, workers)
                report = self.run_scale(case, "--workers", workers, "--plan", plan)
                self.assertEqual([in_of(worker["halo"]) for worker in report["scale"]["workers"]],
                                 [in_of(worker["stages"], "halo_") for worker in predicted["workers"]])
                stored = sum(stage["output_bytes"] for worker in predicted["workers"] for stage in worker["stages"])
                self.assertEqual(report["scale"]["gathered"], stored)
                told = sum(event["bytes"] for event in self.events("rows"))
                self.assertEqual(told, stored + sum(s["halo_bytes"] for w in predicted["workers"] for s in w["stages"]))
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def predicted(self, case, plan, workers):
        words = self.words(case)
        words = words[:words.index("--verify")] + words[words.index("--verify") + 2:]
        said = checked(engine("plan", *words, "--threads", 1, "--device", "cpu", "-o", plan, "--workers", workers, "--json"))
        return json.loads(said.stdout)["workers"]


def in_of(stages, prefix=""):
    """What came in, by stage: rows and bytes."""
    return {stage["stage"]: (stage[prefix + "rows"], stage[prefix + "bytes"]) for stage in stages if stage[prefix + "rows"]}


if __name__ == "__main__":
    unittest.main()
