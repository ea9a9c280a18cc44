"""What the tests of `hopscope-scale` share: runs of one process to compare with, and the processes that belong to a test."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import torch

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
PACKAGE = ROOT / "packaging/python/src"
sys.path[:0] = [str(ROOT / "tests/app"), str(PACKAGE)]

from engine_resume import JOURNAL, cases, everything  # noqa: E402, F401
from engine_shards import Reference, computed_twice, digests, records, right  # noqa: E402, F401
from patience import SOON, until_it_hits  # noqa: E402, F401

PATIENCE = 240


def processes(mark):
    """Of all whose command line has this text: the ids, with the command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if mark in line and int(entry.name) != os.getpid():
                found[int(entry.name)] = line
    return found


class ScaleTest(unittest.TestCase):
    """Engines are started under a name that belongs to the test alone; none may be left in the end."""

    address, nodes, degree = "local", 60_000, 8

    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        holder = tempfile.TemporaryDirectory(prefix="hopscope-scale-")
        cls.addClassCleanup(holder.cleanup)
        cls.shared = Path(holder.name)
        cls.program = cls.shared / "hopscope-engine"
        cls.program.symlink_to(Path(os.environ["HOPSCOPE_ENGINE"]).resolve())
        cls.made = {name: words for name, words in cases(cls.shared, cls.nodes, cls.degree) if name != "batches"}
        cls.known = {}

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.out = self.folder / "out"
        self.addCleanup(self.nothing_runs)

    @classmethod
    def case(cls, name):
        """What begins with "slow" takes a second and more, so that somebody can come in between."""
        if name not in cls.known:
            more = ("--batch", "15") if name.startswith("slow") else ()
            words = cls.made.get(name.split()[-1], cls.made["sage"])
            cls.known[name] = Reference(name.replace(" ", "-"), words, cls.shared, "--threads", "1", *more)
        return cls.known[name]

    @classmethod
    def environment(cls, **more):
        return {**os.environ, "PYTHONPATH": str(PACKAGE), "HOPSCOPE_ENGINE": str(cls.program), **more}

    def start(self, words, *more, environment=None):
        command = [sys.executable, "-m", "hopscope.scale", "run", *map(str, words), "-o", str(self.out), "--threads", "1",
                   "--address", self.address, "--events", str(self.folder / "events"), *map(str, more)]
        return subprocess.Popen(command, env=environment or self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def words(self, case):
        """Without the number of threads, which the command has for all."""
        words = [str(word) for word in case.words]
        at = words.index("--threads")
        return words[:at] + words[at + 2:]

    def run_scale(self, case, *more):
        """The report of a run that comes through."""
        process = self.start(self.words(case), "--json", *more)
        said, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error + said)
        right(case, self.out)
        return json.loads(said)

    def interrupted(self, words, interrupt, *more):
        """The process of a command behind interrupt(process), which ends it; none if its run was over before."""
        process = self.start(words, *more)
        self.until(lambda: process.poll() is not None or (records(self.out) and self.engines()))
        interrupt(process)
        process.wait(SOON)
        if (self.out / JOURNAL).exists():
            return process
        process.communicate()
        return shutil.rmtree(self.out)

    def events(self, kind):
        file = self.folder / "events"
        lines = file.read_text().splitlines() if file.exists() else []
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def engines(self):
        """The worker processes of this test."""
        return sorted(pid for pid, line in processes(str(self.program)).items() if line.startswith(f"{self.program} worker"))

    def until(self, condition, patience=PATIENCE):
        end = time.monotonic() + patience
        while not (found := condition()):
            self.assertLess(time.monotonic(), end, "it takes too long")
            time.sleep(0.01)
        return found

    def nothing_runs(self):
        self.until(lambda: not self.engines(), SOON)


def kill(pid):
    """Whether it was still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
