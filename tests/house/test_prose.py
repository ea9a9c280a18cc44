"""Prose reads like a colleague's: prose.json holds, for each group of files, how many places per 1,000 words prose.py may find, and how many
words nine of ten sentences have at most. These numbers may fall and not rise; test_prose.py --lower writes those of now where they are lower."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import prose

ROOT = Path(__file__).parents[2]
RATES = Path(__file__).with_name("prose.json")
GROUPS = {
    "front": ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/python/README.md", "samples/README.md"],
    "pages": ["docs/*.md", "docs/start/*.md", "docs/guides/*.md", "docs/gallery/*.md", "docs/explain/*.md"],
    "reference": ["docs/reference/*.md"],
    "development": ["docs/dev/**/*.md"],
    "python": ["packaging/python/src/hopscope/*.py"],
    "headers": ["core/**/*.h", "widgets/**/*.h", "app/**/*.h"],
    "sources": ["core/**/*.cpp", "widgets/**/*.cpp", "app/**/*.cpp"],
    "window": ["widgets/**/*.cpp", "app/hopscope/*.cpp"],
    "lessons": ["resources/lessons/*.json"],
}
OTHER = {"window": prose.strings}  # readers other than those of the kind of file


def measured(name, patterns):
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    found, words, lengths = prose.figures(paths, OTHER.get(name))
    assert words > 500, patterns
    return {"per_1000": round(1000 * len(found) / words, 2), "words": lengths[len(lengths) * 9 // 10]}


class Prose(unittest.TestCase):
    def test_no_group_of_files_reads_worse_than_before(self):
        allowed = json.loads(RATES.read_text())
        self.assertEqual(list(allowed), list(GROUPS))
        for name, patterns in GROUPS.items():
            now = measured(name, patterns)
            print(f"{name}: {now['per_1000']} places per 1,000 words, nine of ten sentences have up to {now['words']} words")
            with self.subTest(group=name):
                for figure, most in allowed[name].items():
                    self.assertLessEqual(now[figure], most, f"tests/house/prose.py {' '.join(patterns)} lists the places")

    def test_the_file_of_rates_has_not_been_raised(self):
        before = subprocess.run(["git", "show", "HEAD:tests/house/prose.json"], cwd=ROOT, capture_output=True, text=True, check=False)
        if before.returncode == 0:
            now = json.loads(RATES.read_text())
            for name, figures in json.loads(before.stdout).items():
                for figure, most in figures.items():
                    self.assertLessEqual(now[name][figure], most, name)


class TheChecksThemselves(unittest.TestCase):
    def found(self, text):
        return [rule for _, part in prose.marked_parts(text) for rule, _ in prose.places(prose.plain(part))]

    def test_places_are_found(self):
        self.assertEqual(self.found("It keeps what is slow to make of the edges.\n"), [prose.NOUNS])
        self.assertEqual(self.found("| a | the run goes on with it |\n"), [prose.VERBS])
        self.assertEqual(self.found(" ".join(["word"] * 36) + ".\n"), ["more than 35 words"])

    def test_questions_code_and_plain_sentences_are_none(self):
        self.assertEqual(self.found("What is a stage? A stage reads rows.\n\n```\nwhat is it\n```\n\n- `what is it`\n"), [])

    def test_comments_are_read_line_by_line(self):
        text = "// One\n// sentence.\nint a;  // Another\n\n// A third.\n"
        self.assertEqual([part for _, part in prose.comments(text) if part], ["One sentence.", "Another", "A third."])

    def test_texts_of_the_window_are_read(self):
        text = 'a->setText(tr("One sentence, "\n   "told twice."));\nb(translate("Op", "&Two<p>three")); c("four");\n'
        self.assertEqual([part for _, part in prose.strings(text)], ["One sentence, told twice.", "Two", "three"])
        text = '{"title": "One", "steps": [{"text": "Two.\\n\\nThree.", "do": [["open", "x"]]}], "minutes": 7}'
        self.assertEqual([part for _, part in prose.lesson(text)], ["One", "Two.", "Three."])

    def test_docstrings_are_read(self):
        self.assertEqual([part for _, part in prose.docstrings('"""One."""\ndef f():\n    """Two\n    words."""\n')], ["One.", "Two words."])


def lower():
    known = json.loads(RATES.read_text()) if RATES.is_file() else {}
    now = {name: measured(name, patterns) for name, patterns in GROUPS.items()}
    kept = {name: {figure: min(value, known.get(name, {}).get(figure, value)) for figure, value in figures.items()}
            for name, figures in now.items()}
    RATES.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    lower() if "--lower" in sys.argv else unittest.main(verbosity=2)
