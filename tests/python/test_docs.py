"""The examples of the pages in docs/ and of the README run as they stand."""
import contextlib
import doctest
import io
import json
import os
import tempfile
import unittest
from xml.etree import ElementTree

import gallery
import notebook
from gallery import FOLDER, IMAGES, blocks
from support import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


FIRST = "docs/start/python.md"


def pages():
    """Those with examples; all but the first one continue with its names."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")) if "\n>>> " in path.read_text()]
    return [page for page in found if page != FIRST]


def six_lines():
    """The README's example, and its output."""
    found = blocks(ROOT / "README.md")
    at = next(number for number, block in enumerate(found) if block.language == "python")
    return found[at].text, found[at + 1].text


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def examples(self, page, names):
        """Runs a page; its names are added to `names`."""
        test = doctest.DocTestParser().get_doctest((ROOT / page).read_text(), names, page, str(ROOT / page), 0)
        result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False)
        self.assertGreater(result.attempted, 0, page)
        self.assertEqual(result.failed, 0, page)
        return test.globs

    def test_pages_run_from_top_to_bottom(self):
        names = self.examples(FIRST, {})
        self.assertGreater(len(pages()), 6)
        for page in pages():
            with self.subTest(page=page):
                self.examples(page, names)

    def test_every_block_of_python_in_start_and_guides_is_run(self):
        for folder in ("start", "guides"):
            for path in (ROOT / "docs" / folder).glob("*.md"):
                code = [block for block in blocks(path) if block.language == "python"]
                self.assertEqual([str(block) for block in code if not block.text.startswith(">>> ")], [])

    def test_the_notebook_reaches_a_verified_output_a_picture_and_an_export_in_fewer_than_15_lines(self):
        document = json.loads((ROOT / "docs/start/first-result.ipynb").read_text())
        lines = [line for cell in notebook.code_cells(document) for line in "".join(cell["source"]).splitlines()]
        self.assertLess(len([line for line in lines if line.strip()]), 15)
        names = {}
        _, result, picture, same = notebook.run(document, names)
        self.assertEqual(names["result"].verdict, "equal")
        self.assertIn("equal", result["text/html"])
        ElementTree.fromstring(picture["image/svg+xml"])
        self.assertIn(picture["image/svg+xml"], picture["text/html"])
        for word in ("stage 1 · node", "convs.0", "convs.1"):
            self.assertIn(word, picture["image/svg+xml"])
        self.assertRegex(picture["text/plain"], r"^Inspection\(GraphSAGE: depth 2, 2 stages, \d+ operators\)$")
        self.assertEqual(same["text/plain"], "('equal', True)")

    def test_a_recipe_prints_and_draws_what_its_page_shows(self):
        self.assertEqual(gallery.differences("jumping-knowledge"), [])

    def test_recipes_are_short_and_have_a_picture(self):
        self.assertEqual(set(gallery.recipes()), set(gallery.PICTURES))
        self.assertEqual(len(gallery.recipes()), 12)
        for name in gallery.recipes():
            code, output = gallery.parts(name)
            self.assertEqual((code.language, output.language), ("python", ""), name)
            self.assertLessEqual(len([line for line in code.text.splitlines() if line.strip()]), gallery.LINES, name)
            self.assertIn(f"(../images/gallery/{name}.svg)", (FOLDER / f"{name}.md").read_text())
        self.assertEqual({path.stem for path in IMAGES.iterdir()}, set(gallery.recipes()))
        self.assertLess(sum(path.stat().st_size for path in IMAGES.iterdir()), gallery.BYTES)

    def test_the_readme_reaches_a_verified_output_in_six_lines(self):
        code, printed = six_lines()
        self.assertLessEqual(len(code.strip().splitlines()), 6)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, "README.md", "exec"), {})  # noqa: S102
        self.assertEqual(output.getvalue(), printed)
        self.assertTrue(printed.endswith(" equal\n"))


if __name__ == "__main__":
    unittest.main()
