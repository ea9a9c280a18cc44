"""CONTRIBUTING.md and the pages in docs/dev name files and declarations: they are there. Names without a folder are those of files somewhere in the
tree, names without a suffix those of something that a source declares or uses."""

import json
import re
import unittest
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("app", "cmake", "core", "docs", "packaging", "resources", "samples", "tests", "tools", "widgets")
SUFFIXES = (".h", ".cpp", ".cu", ".cuh", ".py", ".md", ".json", ".sh", ".txt", ".qrc", ".cmake")
MADE = ("out.npy", "report.json", "schema.json", "run.py", "plan.json", "stages.pt")  # by users' runs
ELSEWHERE = ("/path/to/torch", "include/", "lib/")  # of LibTorch
WORD = re.compile(r"[A-Za-z_]\w*")
# Of documents whose page has another name, or that contain others.
PAGES = {"verification": ["format-report"], "error": ["format-report"], "graph-part": ["format-plan-answers"],
         "stage-memory": ["format-plan-answers"], "schema": ["format-schema", "format-report"],
         "comparison": ["format-comparison", "format-findings", "format-report"]}


def pages():
    """CONTRIBUTING.md and the pages for developers."""
    return [ROOT / "CONTRIBUTING.md", *(ROOT / "docs/dev" / f"{name}.md" for name in ("building", "operators", "testing"))]


def marked(text):
    """The words in backticks, without blocks of code and without commands."""
    names = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [name for name in names if not re.search(r"[\s<>=]|^--|^\.", name)]


def is_file(name):
    return "/" in name or name.endswith(SUFFIXES)


def paths(root):
    found = [path.relative_to(root).as_posix() for top in TOPS for path in (root / top).rglob("*")]
    return found + [path.name for path in root.glob("*")]


def missing_files(names, there):
    """Those that are no path from the root and no end of one."""
    def known(name):
        name = name.rstrip("/")
        return any(path == name or path.endswith("/" + name) or fnmatch(path, name) or fnmatch(path, "*/" + name)
                   for path in there)

    return [name for name in names if not known(name)]


def members(schema):
    """The names of all members that a JSON Schema describes."""
    if isinstance(schema, list):
        return set().union(*map(members, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})) | set().union(*(
        members(list(part.values())) if key == "properties" else members(part) for key, part in schema.items()))


def words(root):
    found = set()
    for top in ("app", "core", "widgets", "tests", "packaging", "resources"):
        for path in (root / top).rglob("*"):
            if path.suffix in SUFFIXES and path.name != Path(__file__).name:
                found.update(WORD.findall(path.read_text()))
    return found


class Contributing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = {name for page in pages() for name in marked(page.read_text())}
        cls.recipes = marked((ROOT / "CONTRIBUTING.md").read_text().split("## Recipes")[1].split("\n## ")[0])

    def test_files_are_there(self):
        names = sorted(name for name in self.names if is_file(name) and name not in MADE and name not in ELSEWHERE)
        self.assertGreater(len(names), 60)
        self.assertEqual(missing_files(names, paths(ROOT)), [])

    def test_contributing_is_short(self):
        self.assertLessEqual((ROOT / "CONTRIBUTING.md").stat().st_size, 15_000)

    def test_declarations_are_there(self):
        names = sorted(name for name in self.recipes if not is_file(name))
        self.assertGreater(len(names), 10)
        there = words(ROOT)
        self.assertEqual([name for name in names if not set(WORD.findall(name)) <= there], [])

    def test_the_index_of_the_documentation_names_every_page_and_the_readme_names_the_index(self):
        linked = set(re.findall(r"\]\(([^)#]+)", (ROOT / "docs/README.md").read_text()))
        pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".ipynb")}
        self.assertEqual({page for page in pages - linked if not page.startswith("dev/decisions/")}, {"README.md"})
        self.assertIn("(docs/README.md)", (ROOT / "README.md").read_text())

    def test_every_member_of_a_document_is_named_by_its_pages(self):
        for schema in sorted((ROOT / "resources/schemas").glob("*.json")):
            if schema.name.startswith("requests"):
                continue  # no document: the tables of its page are written with it
            kind = schema.name.removesuffix("-1.schema.json")
            pages = " ".join((ROOT / "docs/reference" / f"{page}.md").read_text() for page in PAGES.get(kind, [f"format-{kind}"]))
            named = set(WORD.findall(" ".join(re.findall(r"```.*?```|`[^`]+`", pages, re.DOTALL))))
            with self.subTest(document=kind):
                self.assertEqual(members(json.loads(schema.read_text())) - named, set())


class TheChecksThemselves(unittest.TestCase):
    def test_a_file_that_is_gone_is_found(self):
        there = ["core/base/names.h", "tests/app/engine_plans.py"]
        names = ["core/base/names.h", "names.h", "tests/app/engine_*.py", "core/base/", "core/base/gone.h", "gone.py"]
        self.assertEqual(missing_files(names, there + ["core/base"]), ["core/base/gone.h", "gone.py"])

    def test_commands_and_options_are_no_names(self):
        self.assertEqual(marked("| a | `core/x.h`, `--role`, `ninja -C build`, `Kind` in `y.cpp` |"),
                         ["core/x.h", "Kind", "y.cpp"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
