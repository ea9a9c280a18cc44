"""What a formatter does not see: lengths of files and functions, unfinished marks, paths of one machine."""

import ast
import json
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("app", "cmake", "core", "docs", "packaging", "resources", "samples", "tests", "tools", "widgets")
CODE = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
TEXT = CODE | {".md", ".txt", ".json"}
FILE_LIMIT = 500
FUNCTION_LIMIT = 60
METHOD_LIMIT = 40  # member functions of a class; overloads count once
CLASS_LIMIT = 400  # lines of all its member functions

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


def tags(paths, *options):
    """What ctags finds, as dictionaries."""
    if not has_ctags():
        raise AssertionError("universal-ctags is not installed; packaging/setup.sh does it")
    command = ["ctags", *options, "--output-format=json", "-L", "-", "-f", "-"]
    listing = subprocess.run(command, input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in listing.stdout.splitlines()]


def functions(paths):
    """(length, where) of every function that ctags finds in C++, CUDA and Python; TEST_CASEs are functions."""
    found = tags(paths, "--languages=C++,CUDA,Python", "--kinds-C++=f", "--kinds-CUDA=f", "--kinds-Python=fm",
                 "--fields=+ne")
    texts = {place: lines for path in paths if path.suffix == ".py" for place, lines in docstrings(path).items()}
    return [(tag["end"] - tag["line"] + 1 - texts.get((tag["path"], tag["line"]), 0), f"{tag['path']}:{tag['line']} {tag['name']}")
            for tag in found if "end" in tag] + test_cases(paths)


def docstrings(path):
    """{(path, line of the function): lines of its docstring}: those are for the reader of its help."""
    defined = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {(str(path), node.lineno): node.body[0].end_lineno - node.body[0].lineno + 1
            for node in defined if ast.get_docstring(node)}


def test_cases(paths):
    """(length, where) of every TEST_CASE of doctest: from its line to the brace that closes it at the start of a line."""
    found = []
    for path in paths:
        start = None
        for number, line in enumerate(path.read_text().splitlines() if path.suffix == ".cpp" else (), 1):
            if line.startswith("TEST_CASE"):
                start, name = number, line
            elif line == "}" and start:
                found.append((number - start + 1, f"{path}:{start} {name}"))
                start = None
    return found


def classes(paths):
    """(member functions, lines of them, name) of every class and struct in C++ and CUDA."""
    methods, lines = {}, {}
    found = tags(paths, "--languages=C++,CUDA", "--kinds-C++=fp", "--kinds-CUDA=fp", "--fields=+neKZ")
    for tag in found:
        if tag.get("scopeKind") in ("class", "struct"):
            name = re.sub(r"__anon\w+::", "", tag["scope"])
            methods.setdefault(name, set()).add(tag["name"])
            lines[name] = lines.get(name, 0) + (tag["end"] - tag["line"] + 1 if tag["kind"] == "function" else 0)
    return [(len(methods[name]), lines[name], name) for name in sorted(methods)]


def too_large(found):
    return [f"{name}: {methods} member functions with {lines} lines" for methods, lines, name in found
            if methods > METHOD_LIMIT or lines > CLASS_LIMIT]


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


    def test_no_class_is_larger_than_the_limits(self):
        found = classes(files(CODE))
        self.assertGreater(len(found), 100)
        print(f"{len(found)} classes, most member functions {max(found)[0]}, most lines {max(f[1] for f in found)}")
        self.assertEqual(too_large(found), [])


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

    def test_docstrings_are_no_part_of_the_length(self):
        path = self.root / "core/planted.py"
        path.write_text('def f():\n    """One\n    two\n    three."""\n    return 1\n')
        self.assertEqual([length for length, _ in functions([path])], [2])

    def test_the_length_of_a_test_case_is_measured(self):
        path = self.plant('TEST_CASE("a case")\n{\n' + "    CHECK(true);\n" * 70 + "}\n")
        self.assertEqual([length for length, _ in functions([path])], [73])

    def test_a_class_with_many_member_functions_is_found(self):
        path = self.plant("class A {\n" + "".join(f"    void f{i}();\n" for i in range(METHOD_LIMIT + 1)) + "};\n")
        self.assertEqual(too_large(classes([path])), [f"A: {METHOD_LIMIT + 1} member functions with 0 lines"])

    def test_a_class_with_many_lines_is_found(self):
        body = "".join(f"void A::f{i}()\n{{\n" + "    g();\n" * 50 + "}\n" for i in range(8))
        self.assertEqual(len(too_large(classes([self.plant("class A;\n" + body)]))), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
