"""Runs clang-tidy over every C++ source of core/, app/, widgets/ and tools/ that a configured build folder compiles.

    tidy.py BUILD_FOLDER [--jobs N] [PART_OF_A_PATH ...]

Most of the time of clang-tidy goes into headers: 30 s for those of LibTorch alone. Sources are therefore checked in
groups, each as one translation unit that includes them. Sources that define the same private names, or macros of
different values, go to different groups, and so do those with LibTorch, with Qt and with neither. Where a group does not
compile nevertheless, the sources with the errors are checked without the others.
Exits with 1 if there are findings.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import together

ROOT = Path(__file__).resolve().parents[1]
LARGEST_GROUP = 160
CHECKED = ("core", "app", "widgets", "tools")


@dataclass
class Options:
    """What of a compile command matters to clang-tidy."""
    includes: dict = field(default_factory=dict)  # -I, and -isystem, which decides the kind; in order, without values
    system: dict = field(default_factory=dict)
    defines: dict = field(default_factory=dict)  # name -> value
    headers: dict = field(default_factory=dict)  # included first: what precompiled headers are made of
    standard: str = ""

    def kind(self):
        return next((name for name in ("torch", "qt") if any(f"/{name}" in path for path in self.system)), "plain")

    def fits(self, other):
        return (self.kind(), self.standard) == (other.kind(), other.standard) and all(
            other.defines.get(name, value) == value for name, value in self.defines.items())

    def add(self, other):
        for mine, others in ((self.includes, other.includes), (self.system, other.system), (self.defines, other.defines),
                             (self.headers, other.headers)):
            mine.update(others)

    def words(self):
        return [self.standard, *(f"-I{path}" for path in self.includes), *(f"-isystem{path}" for path in self.system),
                *(f"-D{name}{value}" for name, value in self.defines.items())]


def parsed(command):
    words = iter(shlex.split(command))
    options = Options()
    for word in words:
        if word == "-isystem":
            options.system[next(words)] = None
        elif word == "-include":
            options.headers[next(words)] = None
        elif word.startswith("-I"):
            options.includes[word[2:]] = None
        elif word.startswith("-D"):
            name, sign, value = word[2:].partition("=")
            options.defines[name] = sign + value
        elif word.startswith("-std="):
            options.standard = word
    return options


def united(path, build):
    """The sources that a source of the build folder compiles as one (cmake/HopscopeUnity.cmake); any other one is alone."""
    if not path.is_relative_to(build):
        return [path]
    includes = re.findall(r'^#include "(.+[.]cpp)"$', path.read_text() if path.exists() else "", re.MULTILINE)
    return [(path.parent / include).resolve() for include in includes]


def sources(build, parts):
    """source -> its options, in the order of their paths."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for path in united(Path(entry["file"]), build):
            checked = any(path.is_relative_to(ROOT / top) for top in CHECKED)
            if checked and path.suffix == ".cpp" and (not parts or any(part in str(path) for part in parts)):
                found[path] = parsed(entry["command"])
    return dict(sorted(found.items()))


def grouped(found):
    """Sources that compile as one, with options that agree; the longest first."""
    groups = [group.files for group in together.partition(together.names(found, lax=True), LARGEST_GROUP, found)]
    return sorted(groups, key=lambda files: (found[files[0]].kind() != "torch", -len(files)))


def tidy(found, files):
    """The status and the output of clang-tidy for these sources as one translation unit."""
    options = Options(standard=found[files[0]].standard)
    for path in files:
        options.add(found[path])
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "group.cpp"
        unit.write_text("".join(f'#include "{path}"  // NOLINT\n' for path in [*options.headers, *files]))
        run = subprocess.run(["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(unit), "--",
                              *options.words()], capture_output=True, text=True)
    return run.returncode, run.stdout or run.stderr


def divided(files, text):
    """Two parts of a group that did not compile: the sources with errors and the others, or else halves."""
    wrong = {Path(path) for path in re.findall(r"^(/[^:\n]+):\d+:\d+: error: .*\[clang-diagnostic-error\]?", text, re.MULTILINE)}
    parts = [path for path in files if path in wrong], [path for path in files if path not in wrong]
    return parts if all(parts) else (files[: len(files) // 2], files[len(files) // 2:])


def check(found, files):
    """The findings in a group, empty if there are none."""
    began = time.monotonic()
    status, text = tidy(found, files)
    broken = re.search(r"(?m)^.*\[clang-diagnostic-error.*$", text)
    print(f"{found[files[0]].kind()}: {len(files)} sources from {files[0].relative_to(ROOT)} on, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    if status == 0:
        return ""
    if not broken or len(files) == 1:
        return text
    print(f"  do not compile as one: {broken[0]}", flush=True)
    return "".join(check(found, part) for part in divided(files, text))


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over the whole tree")
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("parts", nargs="*", metavar="PART_OF_A_PATH")
    arguments = parser.parse_args()
    found = sources(arguments.build.resolve(), arguments.parts)
    if not found:
        sys.exit("tidy.py: the build folder compiles none of these sources")
    groups = grouped(found)
    print(f"clang-tidy: {len(found)} sources in {len(groups)} groups", flush=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        findings = list(pool.map(lambda files: check(found, files), groups))
    text = "".join(findings)
    print(re.sub(r"\n{3,}", "\n\n", text), end="")
    sys.exit(1 if text else 0)


if __name__ == "__main__":
    main()
