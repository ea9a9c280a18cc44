"""docs/explain/faults.md: each of the 44 fault cases has a test that exists, with its tier. HOPSCOPE_BUILD names the folder of a build,
whose entries of CTest are looked at; by hand it is build/dev, or the entries are not looked at."""
import fnmatch
import functools
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("HOPSCOPE_BUILD", ROOT / "build/dev"))
CASES = 44
TIERS = ("quick", "default", "full")
# A test case of doctest, a test or a slot in Python and Qt, a malformed file.
FORMS = (r'TEST_CASE(?:_FIXTURE)?\((?:\w+, |\s*)"{}"', r"def {}\(self", r"void (?:\w+::)?{}\(\)", r'case\("{}"', r'^\w+\("{}"')


class Row:
    def __init__(self, line):
        self.cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        self.number = int(self.cells[0])
        self.entries, self.tests, self.tiers = (re.sub(r"`", "", cell).split("<br>") for cell in self.cells[3:6])

    def each(self):
        return zip(self.entries, self.tests, self.tiers, strict=True)


def rows(text):
    return [Row(line) for line in text.splitlines() if re.match(r"\| \d+ \|", line)]


def wrong_numbers(found):
    return sorted(set(range(1, CASES + 1)) ^ {row.number for row in found}) + sorted(
        {row.number for row in found if [other.number for other in found].count(row.number) > 1})


@functools.cache
def listed(name):
    text = (ROOT / "tests/tiers.cmake").read_text()
    return re.sub(r"#.*", "", re.search(rf"set\(hopscope_{name}\n(.*?)\)", text, re.DOTALL)[1]).split()


def tier(entry):
    return next((name for name in ("quick", "full") if entry in listed(name)), "default")


@functools.cache
def entries():
    """Of CTest, by name; None without a build."""
    if not (BUILD / "CTestTestfile.cmake").exists():
        return None
    done = subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {entry["name"]: entry for entry in json.loads(done.stdout)["tests"]}


def is_whole():
    """Whether the build has all tests: some need LibTorch, Qt, packages of Python, or a build without sanitizers."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    parts = all(values.get(f"HOPSCOPE_{name}") == "ON" for name in ("TORCH", "GUI"))
    fewer = values.get("HOPSCOPE_SANITIZE") or values.get("HOPSCOPE_TEST_FOLDERS")
    return parts and not fewer and (ROOT / ".venv/bin/python").exists()


def texts(entry):
    """The sources that may hold the entry's tests: those of its folder, or its own script."""
    script = ROOT / f"tests/app/{entry['name']}.py"
    if script.exists():
        return script.read_text()
    properties = {item["name"]: item["value"] for item in entry["properties"]}
    folder = ROOT / Path(properties["WORKING_DIRECTORY"]).relative_to(BUILD.resolve())
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*")) if path.suffix in (".cpp", ".py"))


@functools.cache
def all_texts():
    return "\n".join(path.read_text() for path in sorted((ROOT / "tests").rglob("*"))
                     if path.suffix in (".cpp", ".py") and path != Path(__file__))


def has(text, test):
    return any(re.search(form.format(re.escape(test)), text, re.MULTILINE) for form in FORMS)


def runs(entry, test):
    """Whether the entry's program is not told to leave this test out. CTest has no command where the program is not built yet."""
    options = dict(word.split("=", 1) for word in entry.get("command", []) if re.match(r"-tce?=", word))
    found = {key: any(fnmatch.fnmatch(test, pattern) for pattern in value.split(",")) for key, value in options.items()}
    return found.get("-tc", True) and not found.get("-tce", False)


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = rows((ROOT / "docs/explain/faults.md").read_text())

    def test_every_case_is_there_once(self):
        self.assertEqual(wrong_numbers(self.rows), [])

    def test_every_test_is_in_the_sources(self):
        self.assertEqual([(row.number, test) for row in self.rows for _, test, _ in row.each() if not has(all_texts(), test)], [])

    def test_every_tier_is_that_of_the_entry(self):
        wrong = [(row.number, entry) for row in self.rows for entry, _, said in row.each() if said != tier(entry)]
        self.assertEqual(wrong, [])

    def test_every_entry_has_its_test(self):
        if entries() is None:
            self.skipTest(f"{BUILD} is no build")
        for row in self.rows:
            for name, test, said in row.each():
                with self.subTest(case=row.number, entry=name, test=test):
                    entry = entries().get(name)
                    if entry is None and not is_whole():
                        continue
                    self.assertIsNotNone(entry, "CTest has no such entry")
                    labels = next(item["value"] for item in entry["properties"] if item["name"] == "LABELS")
                    self.assertEqual([label for label in labels if label in TIERS], [said])
                    self.assertTrue(has(texts(entry), test), "the sources of the entry do not have it")
                    self.assertTrue(runs(entry, test), "the entry leaves it out")


class TheChecksThemselves(unittest.TestCase):
    LINE = "| {} | a fault | what is done | `engine_hostile`<br>`loader` | `test_a`<br>`a case` | default<br>quick |"

    def test_a_missing_and_a_double_number_are_found(self):
        found = [self.LINE.format(number) for number in range(1, CASES + 1)]
        self.assertEqual(wrong_numbers(rows("\n".join(found))), [])
        self.assertEqual(wrong_numbers(rows("\n".join([*found[:6], *found[7:], found[2]]))), [7, 3])

    def test_a_row_has_as_many_tests_as_entries(self):
        row = rows(self.LINE.format(5))[0]
        self.assertEqual(list(row.each()), [("engine_hostile", "test_a", "default"), ("loader", "a case", "quick")])
        row.tests.pop()
        with self.assertRaises(ValueError):
            list(row.each())

    def test_tests_are_found_in_every_form_and_no_others(self):
        text = ('TEST_CASE("a case")\nTEST_CASE_FIXTURE(Device, "Another")\n    def test_it(self):\n    void aSlot();\n'
                '@case("npy: cut", 3)\nlying("a header", 1)\n')
        for name in ("a case", "Another", "test_it", "aSlot", "npy: cut", "a header"):
            self.assertTrue(has(text, name), name)
        for name in ("a cas", "test_i", "Slot", "lying"):
            self.assertFalse(has(text, name), name)

    def test_tiers_are_read(self):
        self.assertEqual([tier(entry) for entry in ("house_faults", "loader", "engine_hostile", "device_faults_all")],
                         ["quick", "quick", "default", "full"])

    def test_what_an_entry_leaves_out_is_known(self):
        entry = {"command": ["test_device", "-sf=*tests/device/*", "-tce=*hichever allocation*,*other*"]}
        self.assertEqual([runs(entry, test) for test in ("Whichever allocation fails", "A third")], [False, True])


if __name__ == "__main__":
    unittest.main(verbosity=2)
