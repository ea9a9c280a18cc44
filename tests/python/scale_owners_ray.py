"""`hopscope-scale run --layout owners` on a Ray cluster of simulated nodes of this machine."""
import os
import shutil
import tempfile
import unittest

from scale_ray import RayTest


class Owners(RayTest):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="hopscope-owners-")
        cls.addClassCleanup(shutil.rmtree, cls.scratch, True)
        super().setUpClass()

    def start(self, words, *more, environment=None):
        return super().start(words, "--layout", "owners", "--scratch", self.scratch, *more, environment=environment)

    def left(self):
        return sorted(os.listdir(self.scratch))

    def test_one_two_and_four_workers_give_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("normed", 2), ("sage", 4)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                scale = self.run_scale(case, "--workers", workers)["scale"]
                self.assertEqual((len(scale["workers"]), scale["lost"]), (workers, 0))
                self.assertEqual(sum(worker["destinations"] for worker in scale["workers"]), case.destinations)
                self.assertEqual(self.left(), [])
                shutil.rmtree(self.out)
                self.nothing_runs()


if __name__ == "__main__":
    unittest.main()
