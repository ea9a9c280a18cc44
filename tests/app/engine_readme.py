"""The sessions in pages of docs/ are the output of the engine, but for times, and docs/reference/command-line.md lists its commands.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository. engine_readme.py --update writes the list, and the lines of the sessions
where only their numbers have changed."""
import os
import re
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

from engine_process import ENGINE, run

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
sys.path.insert(0, str(ROOT / "tests/support"))

from pages import LEFT_OUT, TIMES, blocks, found  # noqa: E402

NUMBERS = re.compile(TIMES.pattern + r"|[\d.,]+( [KMG]i?B| B)?")
PROMPT = "$ hopscope-engine "
REFERENCE = ROOT / "docs/reference/command-line.md"
LIST = re.compile(r"(?<=<!-- commands -->\n).*(?=<!-- end -->\n)", re.DOTALL)


def sessions():
    """The blocks that show commands and their output."""
    return [block for page in sorted((ROOT / "docs").rglob("*.md")) for block in blocks(page) if block.text.startswith("$ ")]


def commands(text):
    """[(words, the lines shown below)]"""
    parts = re.findall(rf"^{re.escape(PROMPT)}(.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    return [(shlex.split(words), shown.strip("\n").splitlines()) for words, shown in parts]


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


class Pages(unittest.TestCase):
    def test_sessions_are_what_the_engine_prints(self):
        self.assertEqual([block.page.name for block in sessions()], ["command-line.md"])
        for block in sessions():
            self.assertEqual(len(commands(block.text)), block.text.count("\n$ ") + 1)
            with Session() as session:
                for words, lines in commands(block.text):
                    printed = session.printed(words)
                    _, missing = found(lines, printed, TIMES)
                    self.assertIsNone(missing, "\n".join([str(block), *(missing or []), "is not what is printed:", *printed]))

    def test_the_reference_lists_the_commands_and_options_of_the_engine(self):
        self.assertEqual(LIST.search(REFERENCE.read_text())[0], listed(), "engine_readme.py --update writes it")

    def test_other_numbers_than_times_are_noticed(self):
        lines = ["stage time peak", "1 3 ms 988 KiB", "", "peak memory 1.4 MiB"]
        self.assertEqual(found(lines, lines, TIMES), (lines, None))
        self.assertIsNone(found(["stage time peak", "1 800 µs 988 KiB", LEFT_OUT, lines[3]], lines, TIMES)[1])
        for wrong in (["stage time peak", "1 3 ms 989 KiB"], [LEFT_OUT, "peak memory 1.5 MiB"], lines[:2], lines[1:]):
            self.assertIsNotNone(found(wrong, lines, TIMES)[1], wrong)


def update():
    for block in sessions():
        text = block.text
        with Session() as session:
            for words, shown in commands(block.text):
                made, missing = found(shown, session.printed(words), NUMBERS)
                if missing:
                    raise SystemExit("\n".join(["not printed by " + shlex.join(words), *missing]))
                text = text.replace("\n".join(shown), "\n".join(made))
        block.page.write_text(block.page.read_text().replace(block.text, text))
    REFERENCE.write_text(LIST.sub(lambda _: listed(), REFERENCE.read_text()))


if __name__ == "__main__":
    update() if "--update" in sys.argv else unittest.main(verbosity=2)
