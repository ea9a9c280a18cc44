"""A Python environment that has PyTorch, NumPy and what these two require, and nothing else."""
import importlib.metadata
import json
import re
import subprocess
import venv
from pathlib import Path

# Runs several run.py one after the other: importing PyTorch takes longer than most of them.
MANY = """
import contextlib, io, json, runpy, sys
for name in ("safetensors", "torch_geometric", "scipy", "pandas", "hopscope", "tqdm"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    sys.exit(name + " can be imported here")
outcomes = []
for words in json.load(sys.stdin):
    sys.argv, said = words, io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(words[0], run_name="__main__")
        outcomes.append(("none", said.getvalue()))
    except SystemExit as end:
        outcomes.append((str(end.code), said.getvalue()))
print(json.dumps(outcomes))
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
    """run.py as a user starts it who has nothing else."""
    return subprocess.run([python, "-I", *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, check=False)


def run_many(python, commands, timeout=600):
    """Several run.py, each with its words; what each ended with, and what it said on standard error."""
    if not commands:
        return []
    lines = json.dumps([list(map(str, words)) for words in commands])
    made = subprocess.run([python, "-I", "-c", MANY], capture_output=True, text=True, timeout=timeout, input=lines,
                          check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr)
    return json.loads(made.stdout)
