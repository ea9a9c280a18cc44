"""Which C++ sources compile as one translation unit, in which headers are read once and templates made once.

As a module: partition() for tidy.py. As a program, for cmake/HopscopeUnity.cmake: reads lines `KEY|SOURCE`, and prints a line
`KEY|SOURCE|SOURCE...` for each two or more sources of a key that compile as one, in the order of the input. A source that
several keys have stays alone: CMake keeps one group for it, not one per target.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path


WORD = r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*\b"  # but not a.word, a->word, a::word
SILENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass
class Names:
    """What a source defines outside of classes and functions, and what it mentions."""
    all: set = field(default_factory=set)  # with their namespaces, but for functions that other sources may call: overloads
    types: set = field(default_factory=set)  # bare, like the next four
    private: set = field(default_factory=set)  # seen by this source alone, but for functions
    functions: set = field(default_factory=set)  # seen by this source alone
    words: set = field(default_factory=set)  # mentioned, but not as a part of something else
    calls: set = field(default_factory=set)  # those of them that a parenthesis follows
    opened: set = field(default_factory=set)  # namespaces that it is `using`

    def clash(self, other):
        """Whether a name is defined twice, or would mean something else in one of the two."""
        nested = self.opened <= other.opened or other.opened <= self.opened  # else names of two modules might meet
        return bool(self.all & other.all or self.hides(other) or other.hides(self) or not nested)

    def hides(self, other):
        return bool((self.types | self.private) & other.words or self.functions & other.calls)

    def add(self, other):
        for mine, its in ((self.all, other.all), (self.types, other.types), (self.private, other.private),
                          (self.functions, other.functions), (self.words, other.words), (self.calls, other.calls),
                          (self.opened, other.opened)):
            mine |= its


def names(paths, lax=False):
    """source -> its names, as Universal Ctags sees them. Lax: whether functions and constants that one source alone sees are
    mentioned elsewhere, where they might be taken for others, does not matter."""
    tests = ["TEST_CASE(name)=void TEST_CASE()", "TEST_CASE_FIXTURE(type,name)=void TEST_CASE()"]  # else locals are globals
    listing = subprocess.run(["ctags", "--languages=C++", "--kinds-C++=dfvtscge", "--fields=+KZf", "--output-format=json",
                              *(f"-D{test}" for test in tests), "-L", "-", "-f", "-"],
                             input="\n".join(map(str, paths)), capture_output=True, text=True, check=True)
    found = {path: Names() for path in paths}
    for tag in map(json.loads, listing.stdout.splitlines()):
        if tag.get("scopeKind") in (None, "namespace", "enum") and tag["name"] != "TEST_CASE":
            scope = tag.get("scope", "")
            mine = found[Path(tag["path"])]
            private = "__anon" in scope or tag.get("file")
            if private or tag["kind"] != "function":
                mine.all.add(re.sub(r"(::)?__anon\w+", "", scope) + "::" + tag["name"])
            if tag["kind"] in ("class", "struct", "enum", "typedef"):
                mine.types.add(tag["name"])
            if private and not lax:
                (mine.functions if tag["kind"] == "function" else mine.private).add(tag["name"])
    for path in paths:
        text = SILENT.sub(" ", path.read_text())
        found[path].words = set(re.findall(WORD, text))
        found[path].calls = set(re.findall(WORD + r"(?=\s*\()", text))
        if not lax:
            found[path].opened = set(re.findall(r"^using namespace ([\w:]+);", text, re.MULTILINE))
    return found


@dataclass
class Group:
    files: list = field(default_factory=list)
    names: Names = field(default_factory=Names)
    options: object = None

    def takes(self, names, options):
        return (options is None or self.options.fits(options)) and not self.names.clash(names)

    def add(self, path, names, options):
        self.files.append(path)
        self.names.add(names)
        if self.options is None:
            self.options = deepcopy(options)
        elif options is not None:
            self.options.add(options)


def partition(known, largest, options=None):
    """Groups of at most `largest` sources that compile as one. `known` has the names of each source; `options`, if given, its
    options, with fits(other) and add(other). Each source joins the first group that takes it: the time is at worst that of
    comparing each with each."""
    groups = []
    for path, its in known.items():
        mine = options[path] if options else None
        group = next((g for g in groups if len(g.files) < largest and g.takes(its, mine)), None)
        if group is None:
            groups.append(group := Group())
        group.add(path, its, mine)
    return groups


def stands_alone(path):
    """Highway compiles a source again and again, for one instruction set after another."""
    return "HWY_TARGET_INCLUDE" in path.read_text()


def main():
    parser = argparse.ArgumentParser(description="which sources compile as one")
    parser.add_argument("--largest", type=int, default=8, metavar="SOURCES")
    largest = parser.parse_args().largest
    pairs = [(key, Path(source)) for key, _, source in (line.rstrip("\n").rpartition("|") for line in sys.stdin)]
    uses = Counter(path for _, path in pairs)
    keyed = defaultdict(list)
    for key, path in pairs:
        if uses[path] == 1 and not stands_alone(path):
            keyed[key].append(path)
    known = names([path for paths in keyed.values() for path in paths])
    for key, paths in keyed.items():
        for group in partition({path: known[path] for path in paths}, largest):
            if len(group.files) > 1:
                print("|".join([key, *map(str, group.files)]))


if __name__ == "__main__":
    main()
