"""The figures and charts of README.md and docs/explain/performance.md are those that the benchmark has written."""

import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/peers"))
import figures  # noqa: E402


class Figures(unittest.TestCase):
    def test_pages_have_the_figures_of_the_file(self):
        for page, text in figures.written(json.loads(figures.FIGURES.read_text())).items():
            self.assertRegex(text, figures.BLOCK if page.suffix == ".md" else "^<svg ")
            self.assertEqual(page.read_text(), text, "tests/peers/figures.py writes them anew")

    def test_the_readme_compares_with_a_peer_in_that_place_alone(self):
        readme = figures.BLOCK.sub("", (ROOT / "README.md").read_text())
        self.assertEqual(re.findall(r".*\d+ (?:times|x) .*\b(?:DGL|PyG)\b.*", readme), [])


if __name__ == "__main__":
    unittest.main()
