"""Help fits a screen; mistakes on the command line are named with the nearest word that exists, and output that cannot be written is one.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import re
import shutil
import subprocess
import unittest

import help_text
from engine_commands import ENGINE, KARATE, ROOT, EngineTest


class Help(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {command: help_text.text(*command) for command in ((), *help_text.commands())}

    def test_each_help_fits_a_screen_and_ends_with_an_example_that_it_explains(self):
        self.assertGreater(len(self.helps), 15)
        for command, shown in self.helps.items():
            with self.subTest(command=command):
                lines = shown.splitlines()
                self.assertLessEqual(len(lines), 60)
                self.assertLessEqual(max(map(len, lines)), 100)
                examples = help_text.sections(shown)["Examples"]
                self.assertEqual(lines[-1].strip(), examples[-1])
                self.assertTrue(any(f"hopscope-engine {' '.join(command)}" in line for line in examples))
                if command not in ((), ("serve",)):
                    known = {name for row in help_text.options(shown) for name in row.names}
                    self.assertLessEqual(set(re.findall(r"(?<= )--?[a-z-]+", " ".join(examples))), known)

    def test_options_stand_in_groups_and_their_explanations_in_one_column(self):
        for command, shown in self.helps.items():
            with self.subTest(command=command):
                rows = [line for line in shown.split("\n\n", 2)[2].split("\nExamples:")[0].splitlines() if line.startswith("  ")]
                self.assertEqual(len({re.match(r"  (\S.*?  +| +)", row).end() for row in rows}), 1, shown)
                self.assertEqual([*help_text.sections(shown)][-2:], ["General", "Examples"])
                self.assertNotRegex(shown, "Excludes|Needs|REQUIRED|Options:")

    def test_settings_stand_in_the_groups_of_their_reference(self):
        page = (ROOT / "docs/reference/settings.md").read_text()
        settings = re.findall(r"^\| `(\w+)` \| ([\w ]+) \|.*\| ([\w, ]+) \| [\w ]*\|$", page, re.MULTILINE)
        self.assertGreater(len(settings), 15)
        for name, group, tasks in settings:
            for task in tasks.split(", "):
                rows = help_text.sections(self.helps[(task,)])[group]
                self.assertIn([f"--{name.replace('_', '-')}"], [row.names for row in rows], (name, task))


class Usage(EngineTest):
    def test_a_misspelt_command_or_option_is_named_with_the_nearest_one(self):
        helps = {command: help_text.text(*command) for command in help_text.commands() if len(command) == 1}
        self.assertGreater(len(helps), 8)
        options = 0
        for (command,), shown in helps.items():
            wrong = command[1] + command[0] + command[2:]
            error = self.refused(2, f"unknown command '{wrong}'", wrong, *KARATE)
            self.assertIn(f"did you mean '{command}'? see `hopscope-engine --help`", error)
            names = [name for row in help_text.options(shown) for name in row.names if len(name) > 5 and name != "--help"]
            for option in names:
                options += 1
                with self.subTest(command=command, option=option):
                    wrong = f"--{option[3]}{option[2]}{option[4:]}"
                    error = self.refused(2, f"unknown option '{wrong}'", command, wrong)
                    self.assertIn(f"did you mean '{option}'? see `hopscope-engine {command} --help`", error)
        self.assertGreater(options, 60)
        self.assertNotIn("did you mean", self.refused(2, "unknown command 'fly'", "fly"))
        self.assertIn("bench machine", self.refused(2, "unknown option '--devise'", "bench", "machine", "--devise", "cpu"))

    def test_a_mistake_is_named_instead_of_printing_the_help_that_follows_it(self):
        cases = (("unknown command 'pln'; did you mean 'plan'?", "pln", "--help"),
                 ("unknown command 'pln'; did you mean 'plan'?", "pln", "--version"),
                 ("unknown command 'machin'; did you mean 'machine'?", "bench", "machin", "-h"),
                 ("unknown option '--hlep'; did you mean '--help'?", "--hlep"),
                 ("unknown option '--hlep'; did you mean '--help'?", "--hlep", "--help"),
                 ("unknown option '--modle'", "run", "--modle", "x", "--help"),
                 ("unknown option '--memroy'; did you mean '--memory'?", "run", *KARATE, "--memroy=1Gi", "-h"),
                 ("unknown option '-x'; see `hopscope-engine run --help`", "run", "-x", "--help"))
        for says, *words in cases:
            with self.subTest(words=words):
                self.refused(2, says, *words)
        for words in (["run", *KARATE, "-oout", "--help"], ["run", *KARATE, "-qo", "out", "-h"], ["plan", "--data", "-", "-h"],
                      ["generate", "rmat", "--seed", "-1", "--help"], ["--help", "run"], ["--help", "--json"],
                      ["run", "--help", "--", "--modle"]):
            with self.subTest(words=words):
                self.assertIn("Examples:", self.done(*words).stdout)

    def test_output_that_cannot_be_written_is_no_success(self):
        run = ["run", *KARATE, "-o", self.folder / "out"]
        printing = (["inspect", *KARATE], ["plan", *KARATE], ["verify", *KARATE], ["devices"], ["--help"], run,
                    ["receptive-field", *KARATE])
        cases = [(6, [*words, *form]) for words in printing for form in ([], ["--json"])]
        for code, words in [*cases, (6, ["--version"]), (2, ["inspect", *KARATE, "--frobnicate", "--json"])]:
            with self.subTest(words=words), open("/dev/full", "w") as full:
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                done = subprocess.run([ENGINE, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("error: standard output cannot be written: No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
