"""A command that a fork carries out (engine_process.py) ends as the program itself does: the same exit code, the same words, the
same files. Every command of the engine is started as the program here, and one of hopscope-bench. HOPSCOPE_ENGINE and
HOPSCOPE_BENCH name the programs, HOPSCOPE_ENGINE_FORKS the one with forks, HOPSCOPE_ROOT the repository."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import engine_process
from engine_process import BENCH, ENGINE, own_folder, run, start

SAMPLES = Path(os.environ["HOPSCOPE_ROOT"]) / "samples"
KARATE = (str(SAMPLES / "karate/gcn.pt"), "--data", str(SAMPLES / "karate/graph.safetensors"))
JKNET = (str(SAMPLES / "digits/jknet.pt"), "--data", str(SAMPLES / "digits/graph.safetensors"))
CASES = str(SAMPLES.parent / "tests/optimiser/placement_cases.json")
# Exit code, and a command whose documents, files and words are the same to the byte.
SAME = ((0, "run", "--help"), (2, "fly"), (2,), (3, "inspect", "missing.pt", "--json"), (0, "devices"),
        (4, "plan", *KARATE, "--strategy", "depth", "--host-memory", "1"), (0, "inspect", *JKNET, "--json"),
        (0, "inspect", *KARATE), (0, "plan", *KARATE, "--json", "-o", "plan.json"),
        (0, "generate", "rmat", "--nodes", "90", "--edges", "400", "--seed", "3", "-o", "g.safetensors"),
        (0, "place", CASES, "--case", "gcn2_plain"))
# The same but for times.
ALIKE = ((0, "run", *KARATE, "-o", "out", "--batch", "9"), (0, "run", *KARATE, "-o", "out", "--quiet", "--json"),
         (0, "receptive-field", *KARATE, "--node", "5"), (0, "debug", *KARATE, "--nan", "--json"),
         (0, "verify", *KARATE),
         (0, "export", *KARATE, "-o", "exported"), (0, "serve"), (0, "worker"))


def shape(text):
    """Without numbers and their units, and as if columns had no width."""
    return re.sub(rb"[\s-]+", b" ", re.sub(rb"<?[-+]?\d[\d.,e+-]*( ?[KMG]?i?B(/s)?| ?[mn\xc2\xb5]*s\b)?", b"#", text))


def files(folder):
    """Their bytes; of a report its shape."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: shape(data) if name.endswith("report.json") else data for name, data in found.items()}


@unittest.skipUnless(engine_process.FORKS, "there is no program with forks")
class Forks(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def outcome(self, way, words):
        """Exit code, output and files of a command."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            done = way([BENCH if words[:1] == ["place"] else ENGINE, *words], capture_output=True, timeout=120, stdin=subprocess.DEVNULL, cwd=folder, check=False,
                       env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")})
            return done.returncode, (done.stdout, done.stderr), files(Path(folder))

    def both(self, code, words):
        program, fork = (self.outcome(way, words) for way in (subprocess.run, run))
        self.assertEqual((program[0], fork[0]), (code, code), (program[1], fork[1]))
        return program[1:], fork[1:]

    def test_they_say_and_write_the_same(self):
        for code, *words in SAME:
            with self.subTest(words=words):
                self.assertEqual(*self.both(code, words))

    def test_what_takes_time_says_the_same_but_for_that(self):
        for code, *words in ALIKE:
            with self.subTest(words=words):
                program, fork = self.both(code, words)
                self.assertEqual(*(list(map(shape, said)) for said, _ in (program, fork)))
                self.assertEqual(program[1], fork[1])

    def test_a_compared_folder_differs_from_none(self):
        run([ENGINE, "export", *KARATE, "-o", str(self.folder / "a"), "--quiet"], check=True)
        self.assertEqual(*self.both(0, ["diff", str(self.folder / "a"), str(self.folder / "a"), "--json"]))

    def signalled(self, way, number):
        """The exit code of a run that gets a signal when it is on its way, and whether it leaves its journal."""
        out = self.folder / f"{way.__name__}-{number}"
        process = way([ENGINE, "run", KARATE[0], "--data", str(self.folder / "g.safetensors"), "--batch", "1", "--verify", "none",
                       "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (out / ".hopscope-journal").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        return process.wait(60), (out / ".hopscope-journal").exists()

    def test_signals_end_both_alike(self):
        run([ENGINE, "generate", "er", "--nodes", "50000", "--edges", "100000", "--features", "34", "-o",
             str(self.folder / "g.safetensors"), "--quiet"], check=True)
        for number, ending in ((signal.SIGINT, (130, False)), (signal.SIGKILL, (-9, True))):
            self.assertEqual([self.signalled(way, number) for way in (subprocess.Popen, start)], [ending] * 2)

    def test_one_that_takes_too_long_is_ended(self):
        reader, writer = os.pipe()
        with open(reader), open(writer, "w"):
            self.assertRaises(subprocess.TimeoutExpired, run, [ENGINE, "serve"], stdin=reader, capture_output=True, timeout=0.1)

    def test_what_is_read_before_main_starts_the_program(self):
        self.assertTrue(engine_process.forks([ENGINE, "inspect"], dict(os.environ)))
        self.assertFalse(engine_process.forks([ENGINE, "inspect"], {**os.environ, "LD_LIBRARY_PATH": "/nowhere"}))
        self.assertFalse(engine_process.forks([ENGINE, "run", "--resume"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
