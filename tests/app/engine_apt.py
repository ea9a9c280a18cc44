"""samples/make_apt.py on package lists that are made up here, and the engine on what it writes. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file

from engine_process import engine, own_folder

SCRIPT = Path(os.environ["HOPSCOPE_ROOT"]) / "samples/make_apt.py"
COUNT = 1100
SECTIONS = ("admin", "libs", "non-free/net")


def name(i):
    return f"pack{i:04}"


def entry(i):
    """Package i needs the one before it, in a version; of two alternatives the one that exists; every tenth what
    package 3 provides; and, before all that, package 0."""
    needs = [f"{name(i - 1)} (>= 1.{i})", f"nowhere | {name(i // 2)}:any"] if i > 1 else []
    needs += ["mail-agent"] if i % 10 == 5 else []
    lines = [f"Package: {name(i)}", f"Section: {SECTIONS[i % 3]}", "Priority: optional", "Architecture: amd64",
             f"Size: {1000 + i}", "Installed-Size: 7", "Description: none", " Depends: pack0009 is only spoken of here"]
    lines += [f"Depends: {', '.join(needs)}"] if needs else []
    lines += [f"Pre-Depends: {name(0)}"] if i == 4 else []
    lines += ["Provides: mail-agent (= 2)"] if i in (3, 8) else []
    return "\n".join(lines) + "\n"


def edges():
    """The pairs that `entry` means, both ways."""
    pairs = {(i, i - 1) for i in range(2, COUNT)} | {(i, i // 2) for i in range(2, COUNT)}
    pairs |= {(i, 3) for i in range(5, COUNT, 10)} | {(4, 0)}
    return {(b, a) for a, b in pairs} | pairs


class Apt(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def make(self, count):
        listing = self.folder / "listing"
        # The last ones first, one of them twice: the lists of several sources are in no order.
        listing.write_text("\n".join(entry(i) for i in [*reversed(range(count)), 7]))
        program = self.folder / "bin/apt-cache"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\n[ "$1" = dumpavail ] && cat "{listing}"\n')
        program.chmod(0o755)
        return subprocess.run([sys.executable, "-B", "-W", "ignore", SCRIPT, self.folder / "apt"], capture_output=True,
                              text=True, timeout=120,
                              env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})

    def test_the_graph_is_that_of_the_lists_and_the_engine_computes_what_the_model_does(self):
        done = self.make(COUNT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{COUNT} packages, {len(edges())} edges, 3 sections", done.stdout)
        out = self.folder / "apt"
        data = load_file(out / "graph.safetensors")
        self.assertEqual((out / "names.txt").read_text().split(), [name(i) for i in range(COUNT)])
        self.assertEqual(set(map(tuple, data["edge_index"].T.tolist())), edges())
        self.assertEqual(data["edge_index"].shape[1], len(edges()))
        numpy.testing.assert_array_equal(data["y"], numpy.arange(COUNT) % 3)
        numpy.testing.assert_allclose(data["x"][:, 0], numpy.log1p(1000.0 + numpy.arange(COUNT)) / 10, rtol=1e-6)
        self.assertTrue((data["train_mask"] != data["test_mask"]).all())
        run = engine("run", out / "sage.pt", "--data", out / "graph.safetensors", "-o", out / "run", "--verify", "full",
                     "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        numpy.testing.assert_allclose(numpy.load(out / "run/out.npy"), load_file(out / "sage.expected.safetensors")["out"],
                                      rtol=1e-4, atol=1e-5)

    def test_a_machine_without_package_lists_is_told_what_to_do(self):
        done = self.make(10)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run `apt-get update` first", done.stderr)
        self.assertFalse((self.folder / "apt").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
