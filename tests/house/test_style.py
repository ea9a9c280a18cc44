"""What a formatter does not see: lengths of files and functions, unfinished marks, paths of one machine."""

import json
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("app", "cmake", "core", "docs", "packaging", "resources", "samples", "tests", "widgets")
CODE = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
TEXT = CODE | {".md", ".txt", ".json"}
FILE_LIMIT = 500
FUNCTION_LIMIT = 60

# Put together from pieces, so that this file does not match itself.
MARKS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
PATHS = re.compile(r"(?<![\w.$}>])/(" + "|".join(["tmp", "work", "root"]) + r")/\w")


def files(suffixes, root=ROOT):
    inside = [path for top in TOPS for path in sorted((root / top).rglob("*"))]
    return [path for path in inside + sorted(root.glob("*")) if path.suffix in suffixes and path.is_file()]


def too_long(root=ROOT):
    lengths = {path: len(path.read_text().splitlines()) for path in files(CODE, root)}
    return [f"{path}: {length} lines" for path, length in lengths.items() if length > FILE_LIMIT]


def matches(pattern, root=ROOT):
    found = []
    for path in files(TEXT, root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


def functions(paths):
    """(length, where) of every function that ctags finds in C++, CUDA and Python."""
    if not has_ctags():
        raise AssertionError("universal-ctags is not installed; packaging/setup.sh does it")
    command = ["ctags", "--languages=C++,CUDA,Python", "--kinds-C++=f", "--kinds-CUDA=f", "--kinds-Python=fm",
               "--fields=+ne", "--output-format=json", "-L", "-", "-f", "-"]
    listing = subprocess.run(command, input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    tags = [json.loads(line) for line in listing.stdout.splitlines()]
    return [(tag["end"] - tag["line"] + 1, f"{tag['path']}:{tag['line']} {tag['name']}")
            for tag in tags if "end" in tag]


def has_ctags():
    """Whether ctags is the Universal one, with JSON output."""
    if not shutil.which("ctags"):
        return False
    listing = subprocess.run(["ctags", "--list-features"], capture_output=True, text=True)
    return "json " in listing.stdout


class Style(unittest.TestCase):
    def test_no_file_is_longer_than_the_limit(self):
        self.assertEqual(too_long(), [])

    def test_nothing_is_marked_unfinished(self):
        self.assertEqual(matches(MARKS), [])

    def test_no_path_of_one_machine_is_named(self):
        self.assertEqual(matches(PATHS), [])

    def test_no_function_is_longer_than_the_limit(self):
        lengths = functions(files(CODE))
        self.assertGreater(len(lengths), 100)
        sizes = sorted(length for length, _ in lengths)
        share = 100 * sum(size <= 20 for size in sizes) / len(sizes)
        print(f"{len(sizes)} functions, median {statistics.median(sizes)}, 90 %: {sizes[len(sizes) * 9 // 10]}, "
              f"longest {sizes[-1]}, {share:.0f} % up to 20 lines")
        self.assertEqual([f"{where}: {length} lines" for length, where in lengths if length > FUNCTION_LIMIT], [])


class TheChecksThemselves(unittest.TestCase):
    """Each check finds what is planted."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "core").mkdir()

    def plant(self, text):
        path = self.root / "core" / "planted.cpp"
        path.write_text(text)
        return path

    def test_a_long_file_is_found(self):
        self.plant("int x;\n" * (FILE_LIMIT + 1))
        self.assertEqual(len(too_long(self.root)), 1)

    def test_a_mark_is_found(self):
        self.plant("// TO" + "DO: later\nint methodToDo;\n")
        self.assertEqual(len(matches(MARKS, self.root)), 1)

    def test_a_path_is_found(self):
        self.plant('auto a = "/' + 'tmp/x";\nauto b = folder + "/work.npy";\n')
        self.assertEqual(len(matches(PATHS, self.root)), 1)

    def test_the_length_of_a_function_is_measured(self):
        path = self.plant("int f()\n{\n" + "    g();\n" * 70 + "    return 1;\n}\n")
        self.assertEqual([length for length, _ in functions([path])], [74])


if __name__ == "__main__":
    unittest.main(verbosity=2)
