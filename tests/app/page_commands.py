"""The commands that pages name, and the options that their programs have."""
import functools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import help_text
from engine_process import engine

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
WINDOW = os.environ.get("HOPSCOPE_WINDOW", "")
WITH_COMMANDS = ("hopscope-engine", "hopscope-scale", "ray", "pip")
PROGRAMS = (*WITH_COMMANDS, "hopscope", "run.py", "sbatch")
OPTION = re.compile(r"-(?:-[a-z][a-z-]*|[a-zA-Z](?![\w.]))")


def lines_of(text):
    """The command lines of a block, without prompts, and without the output of a session."""
    session = text.startswith("$ ")
    lines = [line for line in text.splitlines() if line.startswith("$ ") or not session]
    return [line.removeprefix("$ ") for line in lines if line.strip()]


def words_of(line):
    """The words of a command line or a synopsis, without comment, brackets and assignments."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    words = [word if " " in word else word.lstrip("[").rstrip("].,") for word in words]
    while words and re.match(r"\w+=|python3?$", words[0]):
        words = words[1:]
    return words


def calls(line):
    """[(program, its command or "", options)] of a command line and of those in its quotes."""
    return calls_of(words_of(line))


def calls_of(words):
    program = Path(words[0]).name if words else ""
    if program not in PROGRAMS:
        return []
    rest = words[1:]
    command = rest[0] if program in WITH_COMMANDS and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]) else ""
    if command == "bench":
        command = " ".join(rest[:2])
    options = [OPTION.match(word)[0] for word in rest if OPTION.match(word) and " " not in word]
    return [(program, command, options), *(call for word in rest if " " in word for call in quoted(word))]


def quoted(text):
    """Of a quoted command, which may begin with `ssh HOST`."""
    words = words_of(text)
    begin = next((at for at, word in enumerate(words) if word in PROGRAMS), len(words))
    return calls_of(words[begin:])


def source(name):
    return (ROOT / name).read_text()


@functools.cache
def engine_commands():
    """Those that help lists, as in "run" and "bench machine"."""
    return [" ".join(path) for path in help_text.commands()]


def printed(*words):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "packaging/python/src"), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120, env=environment).stdout


@functools.cache
def help_of(program, command=""):
    """The text that names a program's options."""
    words = [*command.split(), "--help"]
    modules = {"hopscope-scale": "hopscope.scale", "ray": "ray.scripts.scripts", "pip": "pip"}
    if program == "hopscope-engine":  # an unknown command has the help of the program
        return engine(*words).stdout if not command or command in engine_commands() else ""
    if program == "hopscope":
        return printed(WINDOW, *words) if WINDOW else source("app/hopscope/command_line.cpp").replace('QStringLiteral("', "--")
    if program in modules:
        return printed(sys.executable, "-m", modules[program], *words)
    if program == "sbatch":
        return "--array --requeue --wrap"  # as Slurm's manual describes them
    return source("core/export/runner/runner.py").partition("ArgumentParser")[2]


def has(text, option):
    return re.search(rf"(?<![\w-]){option}(?![\w-])", text) is not None
