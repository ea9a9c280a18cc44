"""A Python environment that has PyTorch, NumPy and what these two require, and nothing else."""
import contextlib
import importlib.metadata
import json
import re
import subprocess
import venv
from pathlib import Path

# Runs several run.py, each in a fork: importing PyTorch takes longer than most of them.
FORKS = """
import json, multiprocessing, os, runpy, sys, tempfile
for name in ("safetensors", "torch_geometric", "scipy", "pandas", "hopscope", "tqdm"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    sys.exit(name + " can be imported here")
import numpy, torch
def run(words, errors):
    none = os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((none, none, errors)):
        os.dup2(file, number)
    sys.argv = words
    runpy.run_path(words[0], run_name="__main__")
for line in sys.stdin:
    said = tempfile.TemporaryFile()
    fork = multiprocessing.get_context("fork").Process(target=run, args=(json.loads(line), said.fileno()))
    fork.start()
    fork.join()
    print(json.dumps([fork.exitcode, os.pread(said.fileno(), 1 << 20, 0).decode()]), flush=True)
"""


def requirements(*names):
    """These distributions and all that they need here."""
    found, open_names = {}, list(names)
    while open_names:
        name = open_names.pop()
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # for another platform
            continue
        wanted = [line for line in found[name].requires or [] if "extra ==" not in line]
        open_names += [other for line in wanted if (other := re.match(r"[\w.-]+", line).group()) not in found]
    return found.values()


def environment(folder):
    """Makes one in `folder`, of links to the packages of this one, and returns its python."""
    venv.create(folder, symlinks=True, with_pip=False)
    (packages,) = Path(folder).glob("lib/python*/site-packages")
    for distribution in requirements("torch", "numpy"):
        for part in {file.parts[0] for file in distribution.files if not file.parts[0].startswith((".", "_"))
                     and not file.parts[0].endswith(".pth")}:
            whole = Path(distribution.locate_file(part))
            if whole.exists() and not (packages / part).exists():
                (packages / part).symlink_to(whole)
    return Path(folder) / "bin/python"


def run(python, *words, timeout=300):
    """run.py as a user starts it who has nothing else: its exit code, and what it said on standard error."""
    made = subprocess.run([python, "-I", *map(str, words)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          check=False)
    return made.returncode, made.stderr


class Forks:
    """One process of such an environment, of which each run.py is a fork."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-I", "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def run(self, *words):
        """As run() does."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(list(map(str, words))) + "\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(self.process.stderr.read())
        return tuple(json.loads(answer))

    def end(self):
        self.process.communicate()
