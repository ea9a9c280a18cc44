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


if __name__ == "__main__":
    unittest.main()
