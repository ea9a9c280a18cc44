"""Runs the tests of the package (all, or those of the named modules) in one process: importing PyTorch Geometric takes longer than
most of them."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "packaging/python/src")]
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(HERE), top_level_dir=str(HERE))
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
