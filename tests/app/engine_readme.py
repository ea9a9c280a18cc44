"""The session of docs/start/command-line.md is the output of the engine, but for times, and docs/reference/command-line.md lists its commands.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository. engine_readme.py --update writes the list, and the lines of the session where
only their numbers have changed."""
import os
import re
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

import help_text
from engine_process import ENGINE, run

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
PAGE = ROOT / "docs/start/command-line.md"
REFERENCE = ROOT / "docs/reference/command-line.md"
LIST = re.compile(r"(?<=<!-- commands -->\n).*(?=<!-- end -->\n)", re.DOTALL)
SESSION = re.compile(r"```\n(\$ hopscope-engine .*?)```", re.DOTALL)
LEFT_OUT = "..."
# What depends on the machine and the hour: durations, rates, shares, and the last bits of results.
TIMES = re.compile(r"\d+(\.\d+)? (µs|ms|s|min)\b|\d+(\.\d+)?(?= ×)|[\d.,]+( [kMG])?(?= +\d+ ×)|<?\d+ %|(?<=difference )\S+")
NUMBERS = re.compile(TIMES.pattern + r"|[\d.,]+( [KMG]i?B| B)?")


def commands(text):
    """[(words, the lines shown below)]"""
    found = re.findall(r"^\$ hopscope-engine (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    return [(shlex.split(words), shown.strip("\n").splitlines()) for words, shown in found]


def options_shown():
    """[(page, command, options)] of the commands in blocks of the README and of the pages."""
    found = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            for command, words in re.findall(r"hopscope-engine ([a-z][a-z-]+)((?: [^\n#]*)?)", block):
                found.append((page.name, command, re.findall(r"(?<= )--[a-z-]+", words)))
    return found


def pieces(lines):
    """What is shown without a gap."""
    found = [[]]
    for line in lines:
        if line == LEFT_OUT:
            found.append([])
        else:
            found[-1].append(line)
    return found


def without(pattern, line):
    return " ".join(pattern.sub("#", line).split())


def place(piece, lines, first, pattern):
    """Where the piece begins in the lines from `first` on, or None."""
    wanted = [without(pattern, line) for line in piece]
    printed = [without(pattern, line) for line in lines]
    ends = range(first, len(lines) - len(piece) + 1)
    return next((at for at in ends if printed[at:at + len(piece)] == wanted), None)


def found(shown, printed, pattern):
    """The printed lines in place of the shown ones; the piece that is not among them, if there is one."""
    made, at, parts = [], 0, pieces(shown)
    for number, piece in enumerate(parts):
        begin = place(piece, printed, at, pattern)
        if begin is None or (number == 0 and begin > 0):
            return made, piece
        made += ([LEFT_OUT] if number else []) + printed[begin:begin + len(piece)]
        at = begin + len(piece)
    return made, None if at == len(printed) or not parts[-1] else parts[-1]


def listed():
    return run([ENGINE, "manual", "markdown"], capture_output=True, text=True, check=True, timeout=60).stdout


class Session:
    """What the engine prints in a folder of its own, with typical rates of machines, on two cores."""

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = Path(self.holder.name)
        (self.folder / "samples").symlink_to(ROOT / "samples")
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def printed(self, words):
        settings = {"XDG_CACHE_HOME": str(self.folder / "cache"), "OMP_NUM_THREADS": "2"}
        done = run([ENGINE, *words], capture_output=True, text=True, check=True, timeout=300, cwd=self.folder,
                   env=os.environ | settings)
        return [line.rstrip() for line in done.stdout.strip("\n").splitlines()]


class Page(unittest.TestCase):
    def test_the_session_is_what_the_engine_prints(self):
        shown = commands(SESSION.search(PAGE.read_text())[1])
        self.assertEqual([words[0] for words, _ in shown], ["inspect", "plan", "run"])
        with Session() as session:
            for words, lines in shown:
                printed = session.printed(words)
                _, missing = found(lines, printed, TIMES)
                self.assertIsNone(missing, "\n".join([*(missing or []), "is not what is printed:", *printed]))

    def test_the_reference_lists_the_commands_and_options_of_the_engine(self):
        self.assertEqual(LIST.search(REFERENCE.read_text())[0], listed(), "engine_readme.py --update writes it")

    def test_commands_of_all_pages_take_their_options(self):
        shown = options_shown()
        self.assertGreater(len(shown), 15)
        helps = {}
        for path in help_text.commands():
            helps[path[0]] = helps.get(path[0], "") + help_text.text(*path)
        wrong = [(page, command, option) for page, command, options in shown for option in options
                 if not re.search(rf"{option}\b", helps[command])]
        self.assertEqual(wrong, [])

    def test_other_numbers_than_times_are_noticed(self):
        lines = ["stage time peak", "1 3 ms 988 KiB", "", "peak memory 1.4 MiB"]
        self.assertEqual(found(lines, lines, TIMES), (lines, None))
        self.assertIsNone(found(["stage time peak", "1 800 µs 988 KiB", LEFT_OUT, lines[3]], lines, TIMES)[1])
        for wrong in (["stage time peak", "1 3 ms 989 KiB"], [LEFT_OUT, "peak memory 1.5 MiB"], lines[:2], lines[1:]):
            self.assertIsNotNone(found(wrong, lines, TIMES)[1], wrong)


def update():
    page = PAGE.read_text()
    with Session() as session:
        for words, shown in commands(SESSION.search(page)[1]):
            made, missing = found(shown, session.printed(words), NUMBERS)
            if missing:
                raise SystemExit("\n".join(["not printed by " + shlex.join(words), *missing]))
            page = page.replace("\n".join(shown), "\n".join(made))
    PAGE.write_text(page)
    REFERENCE.write_text(LIST.sub(lambda _: listed(), REFERENCE.read_text()))


if __name__ == "__main__":
    update() if "--update" in sys.argv else unittest.main(verbosity=2)
