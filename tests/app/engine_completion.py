"""Completions and the man page know every command, option and value that help lists. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT
the repository, HOPSCOPE_BUILD the build folder."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import help_text
from engine_process import engine

FOLDER_OF = {"bash": "bash-completion/completions/hopscope-engine", "zsh": "zsh/site-functions/_hopscope-engine",
             "fish": "fish/vendor_completions.d/hopscope-engine.fish", "man": "man/man1/hopscope-engine.1"}


def candidates(script, lines):
    """The words that bash offers at the end of each line; its words are separated as the shell does it, at blanks and at '='."""
    asked = [script]
    for line in lines:
        words = ["hopscope-engine", *re.findall(r"=|[^ =]+", line), *([""] if line[-1:] in ("", " ") else [])]
        asked += [f"COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1} COMPREPLY=()", "_hopscope_engine",
                  'echo "${COMPREPLY[*]}"']
    done = subprocess.run(["bash", "--norc", "-u"], input="\n".join(asked), capture_output=True, text=True, check=True, timeout=60)
    assert not done.stderr, done.stderr
    return dict(zip(lines, map(str.split, done.stdout.splitlines()), strict=True))


def installed(folder):
    """The files that cmake --install puts into share."""
    build = os.environ["HOPSCOPE_BUILD"]
    subprocess.run(["cmake", "--install", build, "--prefix", folder, "--component", "texts"], check=True, capture_output=True)
    return {str(path.relative_to(folder / "share")): path.read_text() for path in folder.rglob("*") if path.is_file()}


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {command: help_text.text(*command) for command in ((), *help_text.commands())}
        with tempfile.TemporaryDirectory() as folder:
            cls.texts = installed(Path(folder))
        cls.scripts = {shell: cls.texts[name] for shell, name in FOLDER_OF.items()}

    def test_what_is_installed_is_what_the_program_prints(self):
        self.assertEqual(sorted(self.texts), sorted(FOLDER_OF.values()))
        for shell in ("bash", "zsh", "fish"):
            self.assertEqual(engine("completion", shell).stdout, self.scripts[shell])
        self.assertIn("use bash, zsh or fish", engine("completion", "csh").stderr)

    def test_bash_offers_commands_options_and_values(self):
        expected = {}
        for command, shown in self.helps.items():
            at = "".join(f"{word} " for word in command)
            below = [row.heading for row in help_text.sections(shown).get("Commands", [])]
            rows = help_text.options(shown)
            expected[f"{at}-"] = [name for row in rows for name in row.names]
            expected[at] = below
            for row in rows:
                listed = row.choices if row.value in ("CHOICE", "PATTERNS", "KIND", "SHELL") else []
                if not row.names:
                    expected[at] = expected[at] or listed
                elif row.value and row.value not in ("DEVICE", "CONDITION"):
                    expected.update({f"{at}{name} ": listed for name in row.names})
                    expected.update({f"{at}{name}=": listed for name in row.names if name.startswith("--")})
        found = candidates(self.scripts["bash"], list(expected))
        self.assertGreater(len(found), 150)
        self.assertEqual({line: sorted(words) for line, words in found.items()},
                         {line: sorted(words) for line, words in expected.items()})

    def test_bash_offers_what_begins_like_the_word_and_looks_no_further_than_the_command(self):
        found = candidates(self.scripts["bash"], ["ru", "run --me", "run plan --strategy d", "run --strategy=loc", "bench m", "fly ",
                                                  "plan run --tr", "verify --device ", "run --data run --wa", "bench machine --d"])
        self.assertEqual(found, {"ru": ["run"], "run --me": ["--memory"], "run plan --strategy d": ["depth"],
                                 "run --strategy=loc": ["local-search"], "bench m": ["machine"],
                                 "fly ": [row.heading for row in help_text.sections(self.helps[()])["Commands"]],
                                 "plan run --tr": ["--trust"], "verify --device ": ["auto", "cpu", "cuda"],
                                 "run --data run --wa": ["--wait"], "bench machine --d": ["--device"]})

    def names(self, command):
        return {name for row in help_text.options(self.helps[command]) for name in row.names}

    def test_zsh_and_fish_know_each_option(self):
        functions = dict(re.findall(r"^_hopscope_engine(\w*)\(\) \{\n(.*?)^\}", self.scripts["zsh"], re.MULTILINE | re.DOTALL))
        for command in self.helps:
            function = functions["".join(f"_{word}".replace("-", "_") for word in command)]
            with self.subTest(command=command):
                self.assertEqual(set(re.findall(r"'(?:\*|\([^)]*\))?(-[a-zA-Z-]+)[=+]?\[", function)), self.names(command))
                at = "_begins " + " ".join(command) if command else "_ends"
                options = "".join(line for line in self.scripts["fish"].splitlines(True) if f"{at}'" in line)
                found = re.findall(r" (-l|-s) (\S+)", options)
                self.assertEqual({f"{'-' if flag == '-s' else '--'}{name}" for flag, name in found}, self.names(command))
        self.assertEqual(len(functions), len(self.helps))
        for shell, check in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
            if shutil.which(shell):
                subprocess.run([shell, check], input=self.scripts[shell], text=True, check=True, timeout=60)

    def test_the_man_page_holds_each_command_and_option(self):
        plain = re.sub(r"\\f[BIR]", "", self.scripts["man"]).replace("\\-", "-")
        parts = dict(re.findall(r"^\.S[SH] (.*)\n((?:(?!\.S[SH] ).*\n)*)", plain, re.MULTILINE))
        for command, shown in self.helps.items():
            part = parts[" ".join(command) or "OPTIONS"]
            self.assertEqual(re.findall(r"^\.TP\n(.*)", part, re.MULTILINE), [row.heading for row in help_text.options(shown)])

    def test_the_man_page_formats_without_a_warning(self):
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(self.scripts["man"])
            file.flush()
            for words in (["man", "--warnings", "-l", file.name], ["groff", "-man", "-ww", "-Tutf8", file.name],
                          ["mandoc", "-Tlint", "-Wwarning", file.name]):
                if shutil.which(words[0]):
                    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
                    self.assertEqual(done.stderr, "", words)
                    self.assertIn("--objective", re.sub("\x1b\\[[\\d;]*m|.\x08", "", done.stdout).replace("\u2010", "-"))


if __name__ == "__main__":
    unittest.main()
