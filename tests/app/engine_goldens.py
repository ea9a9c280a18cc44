"""The documents with which the window's graph is tested are those that the engine writes today. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository. With --update they are written anew."""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from engine_process import ENGINE, run

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
DATA = ROOT / "tests/graphview/data"
# Depends on the allocator of the LibTorch that is installed, and on the number of threads.
VOLATILE = ("peak_memory",)
GOLDENS = [(command, name) for command in ("inspect", "plan") for name in ("gat", "jknet")]


def answer(command, name):
    """What the engine prints on a sample; paths are relative to the repository."""
    folder = "samples/digits"
    with tempfile.TemporaryDirectory() as cache:  # without the rates of this machine
        done = run([ENGINE, command, f"{folder}/{name}.pt", "--data", f"{folder}/graph.safetensors", "--json"],
                   env={**os.environ, "XDG_CACHE_HOME": cache}, cwd=ROOT, capture_output=True, text=True,
                   timeout=120, check=True)
    return done.stdout


def settled(text):
    document = json.loads(text)
    return {name: value for name, value in document.items() if name not in VOLATILE}


def golden(command, name):
    return DATA / f"{name}.{command}.json"


class Goldens(unittest.TestCase):
    maxDiff = None

    def test_every_document_is_what_the_engine_writes(self):
        self.assertEqual(sorted(DATA.glob("*.json")), sorted(golden(*which) for which in GOLDENS))
        for which in GOLDENS:
            with self.subTest(which):
                self.assertEqual(settled(answer(*which)), settled(golden(*which).read_text()),
                                 "write them anew with engine_goldens.py --update, and look at the difference")


if __name__ == "__main__":
    if "--update" in sys.argv:
        for each in GOLDENS:
            golden(*each).write_text(answer(*each))
    else:
        unittest.main()
