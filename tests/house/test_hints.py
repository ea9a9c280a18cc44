"""Options that a program mentions in its sentences are options that it has."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?![\w-]*=)")
OTHERS = re.compile(r"docker run --gpus|hopscope --engine")
ALL = {"help", "version", "json", "quiet", "verbose"}
COMMANDS = {"json", "show", "shard", "wait", "type"}  # of things that the window does otherwise or not at all
REWRITTEN = {"memory"}  # by the window (widgets/models/labels.h)


def strings(*folders):
    """Each string of the C++ sources with its place; adjacent ones are one."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            text = re.sub(r'"\s*\n\s*(?:u8)?"', "", re.sub(r"//.*", "", path.read_text()))
            for found in STRING.finditer(text):
                yield f"{path.relative_to(ROOT)}: {found[1]}", OTHERS.sub("", found[1])


def options_of_engine():
    return ALL | set(re.findall(r"^\| `(?:-\w, )?--([a-z-]+)", (ROOT / "docs/reference/command-line.md").read_text(), re.M))


def options_of_window():
    return set(re.findall(r"^\s+\{+(?:QStringLiteral\(\"\w\"\), )?QStringLiteral\(\"([a-z-]+)\"\)",
                          (ROOT / "app/hopscope/command_line.cpp").read_text(), re.M))


class Hints(unittest.TestCase):
    def test_the_engine_has_the_options_that_it_mentions(self):
        known = options_of_engine()
        self.assertGreater(len(known), 40)
        unknown = [place for place, text in strings("core", "app/engine") for name in OPTION.findall(text) if name not in known]
        self.assertEqual(unknown, [])

    def test_the_window_has_those_that_it_mentions_without_the_engine(self):
        known = options_of_window() | REWRITTEN
        self.assertGreater(len(known), 10)
        unknown = [place for place, text in strings("widgets", "app/hopscope") if "hopscope-engine" not in text
                   for name in OPTION.findall(text) if name not in known]
        self.assertEqual(unknown, [])

    def test_sentences_of_the_core_which_the_window_shows_as_well_mention_settings(self):
        settings = set(re.findall(r"setting\(\s*\"([a-z_]+)\"", (ROOT / "core/base/settings.h").read_text()))
        known = {name.replace("_", "-") for name in settings} | options_of_window() | COMMANDS
        self.assertGreater(len(known), 15)
        unknown = [place for place, text in strings("core") for name in OPTION.findall(text) if name not in known]
        self.assertEqual(unknown, [])


if __name__ == "__main__":
    unittest.main()
