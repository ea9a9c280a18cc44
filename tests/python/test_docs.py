"""The examples of docs/python.md and the README run as they stand."""
import doctest
import inspect
import json
import os
import re
import tempfile
import textwrap
import unittest
from xml.etree import ElementTree

import hopscope
import notebook
from support import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def six_lines():
    """The README's example under "From Python"."""
    section = (ROOT / "README.md").read_text().split("\n### From Python\n")[1].split("\n#")[0]
    return textwrap.dedent(re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1))


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_the_page_runs_from_top_to_bottom(self):
        failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=OPTIONS)
        self.assertGreater(tried, 20)
        self.assertEqual(failed, 0)

    def test_the_notebook_reaches_a_verified_output_a_picture_and_an_export_in_fewer_than_15_lines(self):
        document = json.loads((ROOT / "docs/first-result.ipynb").read_text())
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

    def test_every_argument_of_a_call_is_explained(self):
        arguments = list(inspect.signature(hopscope.inference).parameters)
        text = inspect.getdoc(hopscope.inference).split("Returns:")[0]
        explained = re.findall(r"^ {4}(\w+): ", text, re.MULTILINE)
        self.assertEqual(explained, arguments)

    def test_the_readme_reaches_a_verified_output_in_six_lines(self):
        code = six_lines()
        self.assertLessEqual(len(code.strip().splitlines()), 6)
        names = {}
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102
        self.assertEqual(names["result"].verdict, "equal")


if __name__ == "__main__":
    unittest.main()
