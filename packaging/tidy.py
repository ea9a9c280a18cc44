"""Runs clang-tidy over every C++ source of core/, app/ and widgets/ that a configured build folder compiles.

    tidy.py BUILD_FOLDER [--jobs N] [PART_OF_A_PATH ...]

Most of the time of clang-tidy goes into headers. Sources that are compiled with the same options are therefore checked in
groups, each as one translation unit that includes them; sources that define the same private names go to different
groups. Where a group does not compile, its sources are checked one by one.
Exits with 1 if there are findings.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST_GROUP = 16
# clang-tidy does not know all options of the compiler, and a group is there to include sources.
EXTRA = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument"]


def commands(build, parts):
    """file -> its compile command without output and source, for the sources to check."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        checked = any(path.is_relative_to(ROOT / top) for top in ("core", "app", "widgets"))
        if checked and path.suffix == ".cpp" and (not parts or any(part in entry["file"] for part in parts)):
            words = shlex.split(entry["command"])
            cut = words.index("-o") if "-o" in words else len(words)
            found[path] = (entry["directory"], tuple(words[:cut]))
    return found


def private_names(paths):
    """file -> the names that it defines outside of classes and functions."""
    kinds = "--kinds-C++=dfvtscge"
    listing = subprocess.run(["ctags", "--languages=C++", kinds, "--fields=+KZ", "--output-format=json", "-L", "-", "-f", "-"],
                             input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    names = defaultdict(set)
    for line in listing.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("scopeKind") in (None, "namespace", "enum"):
            names[Path(tag["path"])].add(tag["name"])
    return names


def grouped(found):
    """Lists of files that share their options and no private name, in a fixed order."""
    names = private_names(found)
    groups = []
    for path in sorted(found):
        fits = next((g for g in groups if g["options"] == found[path] and len(g["files"]) < LARGEST_GROUP
                     and not g["names"] & names[path]), None)
        if fits is None:
            groups.append(fits := {"options": found[path], "files": [], "names": set()})
        fits["files"].append(path)
        fits["names"] |= names[path]
    return groups


def write_units(groups, folder):
    """A source and a compile command for each group; gives the sources."""
    folder.mkdir(exist_ok=True)
    entries = []
    for number, group in enumerate(groups):
        unit = folder / f"group_{number}.cpp"
        unit.write_text("".join(f'#include "{path}"  // NOLINT\n' for path in group["files"]))
        directory, options = group["options"]
        entries.append({"directory": directory, "file": str(unit), "arguments": [*options, "-c", str(unit)]})
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return [Path(entry["file"]) for entry in entries]


def tidy(database, source):
    run = subprocess.run(["clang-tidy", *EXTRA, "-p", str(database), str(source)], capture_output=True, text=True)
    return run.returncode, run.stdout


def check(build, database, unit, files):
    """The findings in a group, empty if there are none."""
    status, text = tidy(database, unit)
    if status == 0:
        return ""
    if "clang-diagnostic-error" not in text:
        return text
    results = [tidy(build, path) for path in files]
    return "".join(text for status, text in results if status != 0)


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over the whole tree")
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("parts", nargs="*", metavar="PART_OF_A_PATH")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    found = commands(arguments.build, arguments.parts)
    if not found:
        sys.exit("tidy.py: the build folder compiles none of these sources")
    groups = grouped(found)
    database = arguments.build / "groups"
    units = write_units(groups, database)
    print(f"clang-tidy: {len(found)} sources in {len(groups)} groups", flush=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        findings = list(pool.map(lambda unit, group: check(arguments.build, database, unit, group["files"]), units, groups))
    text = "".join(findings)
    print(re.sub(r"\n{3,}", "\n\n", text), end="")
    sys.exit(1 if text else 0)


if __name__ == "__main__":
    main()
