"""The commands in blocks of docs/start and docs/guides run, each page in a folder with the files that it names. Every option that a page
of the documentation names is one of its program. The default tier runs commands of the engine, HOPSCOPE_TIER=full all of them; NOT_RUN
lists those that need more than a machine and its packages. HOPSCOPE_WINDOW names the window's program, if there is one,
HOPSCOPE_COMPILE a compiler that finds LibTorch."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from engine_process import ENGINE, engine
from page_commands import ROOT, WINDOW, calls, engine_commands, has, help_of, lines_of
from tiers import FULL

sys.path.insert(0, str(ROOT / "tests/support"))

from pages import FENCE, blocks  # noqa: E402

COMPILE = shlex.split(os.environ.get("HOPSCOPE_COMPILE", ""))
HISTORY = "docs/dev/decisions"  # names options that are gone
# Words of a command that a test replaces: it has one machine and a model of 64 features, and waits for nothing.
REPLACED = {
    "--nodes 1000000 --edges 16000000 --features 100": "--nodes 2000 --edges 32000 --features 64",
    "--shard 1/3": "--shard 1/1",
    "--address auto": "--address local --workers 2",
    "/shared/results": "results",
}
# How a command begins that is not run, and why. Its files and its options are there.
NOT_RUN = {
    "packaging/demo.sh": "installs packages and builds everything",
    "packaging/test.sh": "installs packages and runs all tests",
    "packaging/gpu-check.sh": "needs a GPU; the test gpu_check runs its steps",
    "packaging/python/build_wheels.sh": "builds three engines; packaging/python/test_wheels.sh tries its wheels",
    "packaging/package.sh": "makes packages; its option --check tries them in bare systems",
    "sudo apt install ./dist/": "installs the package that packaging/package.sh makes",
    "tar -xJf dist/": "unpacks the archive that packaging/package.sh makes",
    "pip install": "would change the environment; the test python_wheel installs the wheel in another one",
    "ray start": "the test python_scale_ray starts Ray",
    'hopscope model.pt --data graph.safetensors --engine "hopscope-scale serve --address HOST': "needs a Ray cluster",
}
MODELS = ("model.pt", "MODEL.pt", "before.pt", "after.pt")
RESULTS = ("out", "results", "rows", "op45.npy")
STUBS = {
    "hopscope-engine": f'exec {shlex.quote(ENGINE)} "$@"',
    "hopscope-scale": f'exec {shlex.quote(sys.executable)} -m hopscope.scale "$@"',
    "hopscope": f'exec {shlex.quote(WINDOW)} "$@" --screenshot window.png',  # which ends it
    "python": f'exec {shlex.quote(sys.executable)} "$@"',
    "sbatch": f'exec {shlex.quote(sys.executable)} "$(dirname "$0")/sbatch.py" "$@"',
}
SBATCH = """import os, re, subprocess, sys
array, requeue, wrap, command = sys.argv[1:]
assert (requeue, wrap) == ("--requeue", "--wrap"), sys.argv
first, last = map(int, re.fullmatch(r"--array=(\\d+)-(\\d+)", array).groups())
jobs = [subprocess.Popen(command, shell=True, env=os.environ | {"SLURM_ARRAY_TASK_ID": str(number)}) for number in range(first, last + 1)]
sys.exit(max(job.wait() for job in jobs))
"""


def pages(*folders):
    return [page for folder in folders for page in sorted((ROOT / "docs" / folder).glob("*.md"))]


def every_page():
    return [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if HISTORY not in page.as_posix())]


def commands(page):
    """[(block, line)] of the blocks without a language; sessions are tested by engine_readme.py."""
    return [(block, line) for block in blocks(page) if block.language == "" and not block.text.startswith("$ ")
            for line in lines_of(block.text)]


def is_run(line):
    return not any(line.startswith(begin) for begin in NOT_RUN)


def replaced(line):
    for old, new in REPLACED.items():
        line = line.replace(old, new)
    return line


def wrong_options(page):
    """[(call, option)] of the page's command lines, in blocks and in the text."""
    text = page.read_text()
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    lines = [line for block in blocks(page) for line in lines_of(block.text)]
    named = [call for line in [*lines, *spans] for call in calls(line)]
    named += [call for span in spans if span.split()[0] in engine_commands() for call in calls(f"hopscope-engine {span}")]
    return [(f"{program} {command}".strip(), option) for program, command, options in named for option in options
            if (program != "ray" or FULL) and not has(help_of(program, command), option)]


def all_helps():
    helps = [help_of("hopscope-engine", command) for command in engine_commands()]
    return "\n".join([*helps, *(help_of("hopscope-scale", command) for command in ("run", "serve")), help_of("hopscope"),
                      help_of("run.py")])


def unknown_options(page, known):
    """Those in the text that no program has."""
    spans = re.findall(r"`(--[a-z][a-z-]*)[^`\n]*`", FENCE.sub("", page.read_text()))
    return [option for option in spans if not has(known, option)]


def texts(paths):
    return "\n".join(path.read_text() for path in paths if path.is_file())


class Reader:
    """A folder with the files of a page's reader, and the programs."""

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = Path(self.holder.name)
        for name in MODELS:
            shutil.copy(ROOT / "samples/digits/jknet.pt", self.folder / name)
        shutil.copy(ROOT / "samples/digits/graph.safetensors", self.folder)
        (self.folder / "samples").symlink_to(ROOT / "samples")
        for name in ("A", "B"):
            (self.folder / name).symlink_to("DIR")  # once a command has made it
        self.bin = self.folder / "build/release/bin"
        self.bin.mkdir(parents=True)
        for name, text in STUBS.items():
            (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.bin / name).chmod(0o755)
        (self.bin / "sbatch.py").write_text(SBATCH)
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def environment(self):
        """Without an agreement to run the code of any model."""
        homes = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
        paths = {"PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "packaging/python/src"), "HOME": str(self.folder)}
        kept = {name: value for name, value in os.environ.items() if name != "HOPSCOPE_TRUST"}
        return {**kept, **homes, **paths, "HOPSCOPE_ENGINE": ENGINE, "QT_QPA_PLATFORM": "offscreen"}

    def begin(self):
        """A block writes its results anew."""
        for name in RESULTS:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def run(self, line):
        """(exit code, output)"""
        words = shlex.split(line, comments=True)
        options = {"cwd": self.folder, "env": self.environment(), "timeout": 300}
        if words[0] == "hopscope-engine":
            done = engine(*words[1:], **options)
        else:
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options)
        return done.returncode, done.stdout + done.stderr


def cheap(line):
    """Commands of the engine but for those that forks cannot carry out, and those with a graph that is generated."""
    return line.startswith(("hopscope-engine", "HOPSCOPE_")) and not re.search("--resume|--shard|big.safetensors", line)


def wanted(line):
    """Whether this tier runs the command."""
    window = re.match(r"(\S*/)?hopscope ", line)
    return is_run(line) and (FULL or cheap(line)) and not (window and not WINDOW)


class Commands(unittest.TestCase):
    def test_commands_run(self):
        ran = 0
        for page in pages("start", "guides"):
            with Reader() as reader:
                before = None
                for block, line in commands(page):
                    if block is not before:
                        reader.begin()
                    before = block
                    if wanted(line):
                        code, said = reader.run(replaced(line))
                        self.assertEqual(code, 0, f"{block}: {replaced(line)}\n{said}")
                        ran += 1
        self.assertGreater(ran, 20 if FULL else 12)

    def test_every_block_is_of_a_kind_that_a_test_runs(self):
        kinds = {(block.language, str(block)) for page in pages("start", "guides") for block in blocks(page)}
        self.assertEqual([place for kind, place in kinds if kind not in ("", "python", "cpp")], [])  # python: test_docs.py

    @unittest.skipUnless(FULL, "compiles for some seconds")
    def test_blocks_of_cpp_compile(self):
        self.assertTrue(COMPILE, "HOPSCOPE_COMPILE names no compiler")
        texts = [block.text for page in pages("start", "guides") for block in blocks(page) if block.language == "cpp"]
        self.assertEqual(len(texts), 1)
        for text in texts:
            source = f"#include <torch/script.h>\nvoid run(torch::Tensor x, torch::Tensor edge_index) {{\n{text}}}\n"
            done = subprocess.run([*COMPILE, "-fsyntax-only", "-x", "c++", "-"], input=source, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_commands_that_are_not_run_name_files_that_are_there(self):
        lines = [line for page in pages("start", "guides") for _, line in commands(page)]
        for begin in NOT_RUN:
            self.assertTrue(any(line.startswith(begin) for line in lines), begin)
            if begin.startswith("packaging/"):
                self.assertTrue(os.access(ROOT / begin, os.X_OK), begin)
        for old in REPLACED:
            self.assertTrue(any(old in line for line in lines), old)
        extras = [extra for line in lines if line.startswith("pip") for extra in re.findall(r"\[(\w+)\]", line)]
        self.assertEqual(extras, ["scale"])
        self.assertRegex((ROOT / "packaging/python/pyproject.toml").read_text(), r"(?m)^scale = ")
        self.assertIn("dist", (ROOT / "packaging/python/build_wheel.sh").read_text())


class Options(unittest.TestCase):
    def test_command_lines_in_all_pages_take_their_options(self):
        lines = [line for page in every_page() for block in blocks(page) for line in lines_of(block.text)]
        self.assertGreater(len([call for line in lines for call in calls(line)]), 30)
        self.assertEqual({page.name: wrong_options(page) for page in every_page() if wrong_options(page)}, {})

    def test_options_in_the_text_are_those_of_a_program(self):
        scripts = texts([*(ROOT / "packaging").glob("*"), *(ROOT / "tools").rglob("*.cpp")])
        known = all_helps()
        for page in every_page():
            more = scripts + (texts((ROOT / "tests").rglob("*.py")) if "docs/dev" in page.as_posix() else "")
            self.assertEqual(unknown_options(page, known + more), [], page)


class TheChecksThemselves(unittest.TestCase):
    def test_command_lines_are_read(self):
        self.assertEqual(calls('build/release/bin/hopscope m.pt --engine "ssh host hopscope-engine serve --trust"  # --not'),
                         [("hopscope", "", ["--engine"]), ("hopscope-engine", "serve", ["--trust"])])
        self.assertEqual(calls("hopscope-engine export MODEL [--plan P | --strategy S ...] -o DIR"),
                         [("hopscope-engine", "export", ["--plan", "--strategy", "-o"])])
        self.assertEqual(calls("A=b python DIR/run.py --data D [--script]"), [("run.py", "", ["--data", "--script"])])
        self.assertEqual(calls("cmake --preset dev"), [])

    def test_options_that_no_program_has_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            block = "```\nhopscope-engine pln m.pt --data D\nhopscope-engine run m.pt --dta D -o out\nhopscope-scale run m.pt --wait 3\n```\n"
            page.write_text("`--thread 2`, `debug --nans`\n" + block)
            self.assertEqual(wrong_options(page), [("hopscope-engine pln", "--data"), ("hopscope-engine run", "--dta"),
                                                   ("hopscope-engine debug", "--nans")])
            self.assertEqual(unknown_options(page, all_helps()), ["--thread"])

    def test_a_command_that_fails_is_noticed(self):
        with Reader() as reader:
            self.assertEqual(reader.run("hopscope-engine debug model.pt --data graph.safetensors --show op4200 -o x.npy")[0] == 0, False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
