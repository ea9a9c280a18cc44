"""Mistakes on the command line are named with the nearest word that exists, and output that cannot be written is one.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import re
import shutil
import subprocess
import unittest

from engine_commands import ENGINE, KARATE, EngineTest


class Usage(EngineTest):
    def test_a_misspelt_command_or_option_is_named_with_the_nearest_one(self):
        def words(pattern, *command):
            return re.findall(pattern, self.done(*command, "--help").stdout, re.MULTILINE)

        commands = words(r"^  ([a-z][a-z-]+) ")
        self.assertGreater(len(commands), 8)
        options = 0
        for command in commands:
            wrong = command[1] + command[0] + command[2:]
            error = self.refused(2, f"there is no command '{wrong}'", wrong, *KARATE)
            self.assertIn(f"did you mean '{command}'? see `hopscope-engine --help`", error)
            for option in set(words(r"(--[a-z][a-z-]{3,})\b", command)) - {"--help", "--version"}:
                options += 1
                with self.subTest(command=command, option=option):
                    wrong = f"--{option[3]}{option[2]}{option[4:]}"
                    error = self.refused(2, f"there is no option '{wrong}'", command, wrong)
                    self.assertIn(f"did you mean '{option}'? see `hopscope-engine {command} --help`", error)
        self.assertGreater(options, 60)
        self.assertNotIn("did you mean", self.refused(2, "there is no command 'fly'", "fly"))
        self.assertIn("bench machine", self.refused(2, "there is no option '--devise'", "bench", "machine", "--devise", "cpu"))

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
