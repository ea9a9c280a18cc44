"""run.py of an exported folder with inputs and parts that were changed at random: it ends well or with one sentence, never with a
traceback, by a signal or not at all, and reads nothing outside of its files. HOPSCOPE_ENGINE names the program, HOPSCOPE_TIER how many
are changed."""
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file

from exported import ROOT, engine, runner

sys.path.insert(0, str(ROOT / "tests/app"))
from tiers import sized  # noqa: E402

KARATE = ROOT / "samples/karate"
ODD = (None, True, -1, 0, 1, 3, 2 ** 31, 2 ** 62, 2 ** 70, -2 ** 63, 0.5, 1e300, "", "x", "F32", "F8", "v999", "../x", [], [0], [-16, 0],
       [[]], {}, {"kind": "rows"}, "\ud800", "node", "1.0")


def inner(value, here=()):
    """The ways to all values of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*here, key)
        yield from inner(item, (*here, key))


def other_value(document, draw):
    """Another value, or none, somewhere in a document."""
    document = json.loads(json.dumps(document))
    way = draw.choice(list(inner(document)))
    holder = document
    for key in way[:-1]:
        holder = holder[key]
    if draw.random() < 0.3:
        del holder[way[-1]]
    elif draw.random() < 0.2 and isinstance(holder[way[-1]], int):
        holder[way[-1]] += draw.choice((-8, -1, 1, 8))
    else:
        holder[way[-1]] = draw.choice(ODD)
    return json.dumps(document).encode()


def other_bytes(content, draw, first=0):
    content = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at = first + draw.randrange(min(len(content) - first, 400))
        content[at] = draw.choice((0, 0xFF, 0x7B, 0x22, draw.randrange(256)))
    return bytes(content[:draw.randrange(len(content))] if draw.random() < 0.15 else content)


def other_header(content, draw):
    """Of a .safetensors file."""
    length = int.from_bytes(content[:8], "little")
    header = other_value(json.loads(content[8:8 + length]), draw)
    return len(header).to_bytes(8, "little") + header + content[8 + length:]


class Mutated(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.scratch = Path(holder.name)
        self.clean = self.scratch / "clean"
        made = engine("export", KARATE / "gcn.pt", "--data", KARATE / "graph.safetensors", "-o", self.clean, "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.data = (KARATE / "graph.safetensors").read_bytes()
        self.arrays = load_file(KARATE / "graph.safetensors")
        self.expected = self.output(self.clean, [KARATE / "graph.safetensors"])[1]

    def output(self, folder, data):
        """The exit code and the result, or what was said."""
        out, said = self.scratch / "out", io.StringIO()
        shutil.rmtree(out, ignore_errors=True)
        words = [word for name in data for word in ("--data", str(name))]
        with contextlib.redirect_stderr(said):
            code = runner(folder).main([*words, "-o", str(out), "--quiet"])
        return code, numpy.load(out / "out.npy") if code == 0 else said.getvalue()

    def checked(self, number, folder, data, equal):
        try:
            code, got = self.output(folder, data)
        except SystemExit as end:
            code, got = end.code, "run.py: "
        except BaseException:  # noqa: BLE001 (whatever it is, it is a traceback)
            return f"{number}: {traceback.format_exc()[-400:]}"
        if code == 0:
            return "" if not equal or numpy.allclose(got, self.expected, equal_nan=True) else f"{number}: other numbers"
        return "" if code in (2, 3, 6) and got.startswith("run.py: ") and got.count("\n") <= 1 else f"{number}: {code} {got[:300]}"

    def all_of(self, count, change, equal=False):
        """`change` makes (folder, data) of draws. Numbers of files may change, parts of the code may not."""
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("it does not end")))
        problems = []
        for number in range(count):
            folder, data = change(random.Random(f"{change.__name__} {number}"))
            signal.alarm(30)
            problems.append(self.checked(number, folder, data, equal))
            signal.alarm(0)
        self.assertEqual([problem for problem in problems if problem], [])

    def test_data_in_one_file(self):
        def change(draw):
            file = self.scratch / "data.safetensors"
            file.write_bytes(other_header(self.data, draw) if draw.random() < 0.7 else other_bytes(self.data, draw))
            return self.clean, [file]
        self.all_of(sized(60, 200), change)

    def test_arrays(self):
        def change(draw):
            words = []
            for name, array in self.arrays.items():
                file = self.scratch / f"{name}.npy"
                numpy.save(file, array)
                words.append(f"{name}={file}")
            file = self.scratch / f"{draw.choice(list(self.arrays))}.npy"
            file.write_bytes(other_bytes(file.read_bytes()[:128], draw, 6) + file.read_bytes()[128:])
            return self.clean, words
        self.all_of(sized(40, 100), change)

    def part(self, name, changed):
        """The export with another part."""
        folder = self.scratch / "part"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.clean, folder)
        (folder / name).write_bytes(changed)
        return folder, [KARATE / "graph.safetensors"]

    def test_schemas(self):
        schema = json.loads((self.clean / "schema.json").read_text())

        def change(draw):
            return self.part("schema.json", other_value(schema, draw))
        self.all_of(sized(60, 200), change)

    def test_weights(self):
        """The schema knows their digest."""
        weights = (self.clean / "weights.safetensors").read_bytes()

        def change(draw):
            return self.part("weights.safetensors", draw.choice((other_header, other_bytes))(weights, draw))
        self.all_of(sized(20, 60), change, equal=True)

    def test_pipes_and_places_that_are_none(self):
        pipe = self.scratch / "pipe.safetensors"
        os.mkfifo(pipe)
        for data in ([pipe], [f"x={pipe}"], ["/dev/zero"], ["x=/dev/zero"], ["/"]):
            self.assertEqual(self.checked(0, self.clean, data, False), "")
        for place in ("/proc/x", "/dev/null", "/dev/null/below"):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = runner(self.clean).main(["--data", str(KARATE / "graph.safetensors"), "-o", place, "--quiet"])
            self.assertIn(code, (3, 6), said.getvalue())
            self.assertIn(place, said.getvalue())
            self.assertNotIn("export the model again", said.getvalue())


if __name__ == "__main__":
    unittest.main()
