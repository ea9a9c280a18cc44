"""Runs clang-tidy over every C++ source of core/, app/ and widgets/ that a configured build folder compiles.

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
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST_GROUP = 60
CHECKED = ("core", "app", "widgets")


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


def sources(build, parts):
    """source -> its options, in the order of their paths."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        checked = any(path.is_relative_to(ROOT / top) for top in CHECKED)
        if checked and path.suffix == ".cpp" and (not parts or any(part in entry["file"] for part in parts)):
            found[path] = parsed(entry["command"])
    return dict(sorted(found.items()))


def private_names(paths):
    """source -> the names that it defines outside of classes and functions, with their namespaces, and its types' names."""
    kinds = "--kinds-C++=dfvtscge"
    listing = subprocess.run(["ctags", "--languages=C++", kinds, "--fields=+KZ", "--output-format=json", "-L", "-", "-f", "-"],
                             input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    names, types = defaultdict(set), defaultdict(set)
    for tag in map(json.loads, listing.stdout.splitlines()):
        if tag.get("scopeKind") in (None, "namespace", "enum"):
            space = re.sub(r"(::)?__anon\w+", "", tag.get("scope", ""))
            names[Path(tag["path"])].add(f"{space}::{tag['name']}")
            if tag["kind"] in ("class", "struct", "enum", "typedef"):
                types[Path(tag["path"])].add(tag["name"])
    return names, types


@dataclass
class Group:
    options: Options = field(default_factory=Options)
    files: list = field(default_factory=list)
    names: set = field(default_factory=set)  # defined in the files
    types: set = field(default_factory=set)
    words: set = field(default_factory=set)  # mentioned in the files


def grouped(found):
    """Sources that compile as one: no name defined twice, and no type that means another one elsewhere in the group."""
    names, types = private_names(found)
    groups = []
    for path, options in found.items():
        words = set(re.findall(r"\w+", path.read_text()))
        group = next((g for g in groups if g.options.fits(options) and len(g.files) < LARGEST_GROUP
                      and not g.names & names[path] and not g.types & words and not types[path] & g.words), None)
        if group is None:
            groups.append(group := Group(Options(standard=options.standard)))
        group.options.add(options)
        group.files.append(path)
        for mine, its in ((group.names, names[path]), (group.types, types[path]), (group.words, words)):
            mine |= its
    return sorted(groups, key=lambda g: (g.options.kind() != "torch", -len(g.files)))  # the longest first


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
        findings = list(pool.map(lambda group: check(found, group.files), groups))
    text = "".join(findings)
    print(re.sub(r"\n{3,}", "\n\n", text), end="")
    sys.exit(1 if text else 0)


if __name__ == "__main__":
    main()
