"""README.md stays short, links lead somewhere, commands in pages take the options that pages give them, and pictures stay small."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def pages():
    """All Markdown files that are checked in, but for generated texts of tests."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


def anchors(text):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)}


def broken(page):
    """Links of the page that lead nowhere."""
    found = []
    for target in filter(None, (word for pair in LINK.findall(FENCE.sub("", page.read_text())) for word in pair)):
        name, _, place = target.partition("#")
        path = (page.parent / name) if name else page
        if re.match(r"\w+:", target):
            continue
        if not path.exists() or (place and path.suffix == ".md" and place not in anchors(path.read_text())):
            found.append(target)
    return found


class Pages(unittest.TestCase):
    def test_the_readme_is_short(self):
        text = (ROOT / "README.md").read_text()
        self.assertLessEqual(len(text.splitlines()), 120)
        self.assertLessEqual(len(text.split()), 900)

    def test_links_lead_somewhere(self):
        self.assertGreater(len(pages()), 40)
        self.assertEqual({str(page.relative_to(ROOT)): broken(page) for page in pages() if broken(page)}, {})

    def test_pictures_are_small(self):
        pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".png", ".svg", ".gif", ".jpg")]
        self.assertGreaterEqual(len(pictures), 4)
        self.assertEqual([path.name for path in pictures if path.stat().st_size > 300_000], [])

    def test_the_readme_counts_models_as_the_page_about_them(self):
        models, equal, asked, refused, wrong, peak = map(int, re.search(
            r"^(\d+) models: (\d+) equal, (\d+) refused because .*?, (\d+) refused although .*?, (\d+) wrong, (\d+) equal, but with",
            (ROOT / "docs/reference/coverage.md").read_text(), re.MULTILINE).groups())
        text = " ".join((ROOT / "README.md").read_text().split())
        self.assertEqual(wrong, 0)
        self.assertIn(f"Of {models} models", text)
        self.assertIn(f"{equal + peak} give equal results, {asked + refused} are refused with a reason, and none is wrong", text)


class TheChecksThemselves(unittest.TestCase):
    def test_anchors_are_those_of_github(self):
        self.assertEqual(anchors("# A b\n## The part `code` of x.json\n```\n# no heading\n```\n"), {"a-b", "the-part-code-of-xjson"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
