"""The faults of mutants/*.txt, and a copy of the sources that has them all, each behind a switch (mutants/switch.h).

A fault is a block of lines: a sentence, the source, and what is replaced ("-") by what ("+"). An old text that ends
with a semicolon or a brace is a statement, any other one an expression. The old text may be there only once, or is
the first one behind a text ("@") that is. A line "equivalent: WHY" says that no test can notice the fault.
"""
import hashlib
import os
import re
import subprocess
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tests/mutants"
SOURCES = ("app", "cmake", "core", "packaging", "resources", "samples", "tests", "tools", "widgets")
OPERATORS = "core/operators/table.cpp"
LOOKUP = "core/operators/operators.cpp"
CONFINED = "core/confine/landlock.cpp"
DEVICE_LINE = '    rules.allow("/dev/null", readFile | writeFile);'
SWITCH = "::hopscope::mutants::isOn"


class Misfit(Exception):
    pass


@dataclass
class Fault:
    module: str
    name: str
    file: str
    old: str
    new: str
    anchor: str = ""
    equivalent: str = ""

    @property
    def number(self):
        return zlib.crc32(self.name.encode())

    @property
    def text(self):
        return "\n".join((self.file, self.anchor, self.old, self.new))

    @property
    def switch(self):
        return f"{SWITCH}<{self.number}>()"

    def place(self, text):
        """Where the old text is; it may be there only once, or is looked for behind the anchor."""
        start = text.find(self.anchor)
        once = text.count(self.anchor if self.anchor else self.old) == 1
        begin = text.find(self.old, start)
        if not once or begin < 0:
            raise Misfit(f"{self.file} has changed: {self.name}: {self.old!r} is not there once")
        return begin, begin + len(self.old)

    def switched(self):
        if self.old.endswith((";", "}")):
            return f"if ({self.switch}) {{ {' '.join(self.new.split())} }} else {{ {self.old} }}"
        return f"({self.switch} ? ({' '.join(self.new.split())}) : ({self.old}))"


# ---- the faults


def fault(module, lines):
    parts = {mark: [line[1:] for line in lines[2:] if line[0] == mark] for mark in "-+@"}
    old, new, anchor = ("\n".join(parts[mark]).strip() for mark in "-+@")
    excuse = [line.removeprefix("equivalent: ") for line in lines if line.startswith("equivalent: ")]
    return Fault(module, lines[0], lines[1], old, new, anchor, " ".join(excuse))


def faults():
    found = []
    for table in sorted(TABLES.glob("*.txt")):
        found += [fault(table.stem, block.splitlines()) for block in table.read_text().strip().split("\n\n")]
    return found


def by_file(all_faults):
    files = {}
    for one in all_faults:
        files.setdefault(one.file, []).append(one)
    return files


def mutated(file, text, here):
    """The source with a switch for each of its faults."""
    places = sorted(((one.place(text), one) for one in here), key=lambda found: found[0])
    for (before, _), (after, one) in pairwise(places):
        if after[0] < before[1]:
            raise Misfit(f"{file}: {one.name}: overlaps with the fault before")
    if file == OPERATORS:
        return with_lines(text, here)
    for (begin, end), one in reversed(places):
        text = text[:begin] + one.switched() + text[end:]
    return text


def operator_of(line):
    return re.match(r'\{("[^"]+")', line.old)[1]


def replaced_once(text, old, new):
    if text.count(old) != 1:
        raise Misfit(f"{old!r} is not there once")
    return text.replace(old, new)


def with_lines(text, lines):
    """The table of operators is constant: the copy has one that is made at run time."""
    changes = " ".join(f"if (line.name == {operator_of(one)} && ::hopscope::mutants::numberOn() == {one.number}) "
                       f"line = Operator{one.new};" for one in lines)
    marks = " ".join(f"static_cast<void>({one.switch});" for one in lines)
    return "#include <vector>\n" + replaced_once(text, "std::span<const Operator> table() { return lines; }", (
        "std::span<const Operator> unmarked() { static const std::vector<Operator> all = [] { "
        "std::vector<Operator> made(std::begin(lines), std::end(lines)); "
        f"for (Operator& line : made) {{ {changes} }} return made; }}(); return all; }} "
        f"std::span<const Operator> table() {{ {marks} return unmarked(); }}"))


def with_marks(text, lines):
    """Whoever looks an operator up has reached the switch of its line."""
    marks = " ".join(f"if (name == {operator_of(one)}) static_cast<void>({one.switch});" for one in lines)
    return replaced_once(text, "const auto lines = table();",
                         f"std::span<const Operator> unmarked(); {marks} const auto lines = unmarked();")


def including(file, text):
    path = os.path.relpath("tests/mutants/switch.h", Path(file).parent)
    include = f'#include "{path}"\n'
    once = "#pragma once\n"
    return text.replace(once, once + include, 1) if once in text else include + text


def mutated_sources(all_faults):
    files = by_file(all_faults)
    made = {file: mutated(file, (ROOT / file).read_text(), here) for file, here in files.items()}
    if OPERATORS in files:
        made[LOOKUP] = with_marks(made.get(LOOKUP, (ROOT / LOOKUP).read_text()), files[OPERATORS])
    return {file: including(file, text) for file, text in made.items()} | {CONFINED: traceable((ROOT / CONFINED).read_text())}


def traceable(text):
    """Confined processes may leave their traces (mutants/switch.h)."""
    return replaced_once(text, DEVICE_LINE, DEVICE_LINE + """
    if (const char* const traces = std::getenv("HOPSCOPE_MUTANT_TRACE")) rules.allow(traces, writing);""")


def whole(text):
    """Whether the text can stand alone, as switched() needs it: each bracket is closed, an expression begins and ends with an
    operand, and a statement declares nothing."""
    bare = re.sub(r'"[^"]*"', '""', text)
    closed = all(bare.count(one) == bare.count(other) for one, other in ("()", "[]", "{}"))
    if bare.endswith((";", "}")):
        return closed and not re.match(r"(const|static|inline|auto)\b|[!<>=?:|,]", bare)
    return closed and not re.match(r"(if|else|for|while|return|case)\b|[<>=?:|&,]", bare) and not re.search(r"[<=?:|&,]$", bare)


def check(all_faults):
    mutated_sources(all_faults)
    if torn := [one.name for one in all_faults if not whole(one.old)]:
        raise Misfit(f"not a whole expression or statement: {torn[0]}")
    numbers = [one.number for one in all_faults]
    if len(set(numbers)) < len(numbers):
        raise Misfit("two faults have the same name or number")
    print(f"{len(all_faults)} faults fit the sources")


# ---- the copy


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


class Copy:
    def __init__(self, folder, all_faults):
        self.tree = folder / "tree"
        self.build = self.tree / "build/dev"
        self.changed = {file: text.encode() for file, text in mutated_sources(all_faults).items()}
        self.names = tracked()

    def content(self, name):
        return self.changed.get(name) or (ROOT / name).read_bytes()

    def key(self):
        """Says whether results still hold: changes with the sources, but for those of the faults."""
        digest = hashlib.sha256()
        for name in sorted(self.names):
            if name.split("/")[0] in SOURCES and not name.startswith(("tests/mutants", "tests/seeded_faults")):
                digest.update(name.encode() + b"\0" + hashlib.sha256((ROOT / name).read_bytes()).digest())
        return digest.hexdigest()

    def update(self):
        """Writes only what differs, so that little is compiled again."""
        for name in self.names:
            path, content = self.tree / name, self.content(name)
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                path.chmod((ROOT / name).stat().st_mode)
        for top in SOURCES:
            for path in (self.tree / top).rglob("*"):
                if path.is_file() and path.relative_to(self.tree).as_posix() not in self.names:
                    path.unlink()
        if (ROOT / ".venv").exists() and not (self.tree / ".venv").exists():
            (self.tree / ".venv").symlink_to((ROOT / ".venv").resolve())

    def make(self):
        self.update()
        cora = ROOT.parent / "shared/data"
        subprocess.run(["bash", "-c", '. packaging/common.sh && configure dev "$@" && build dev', "configure",
                        f"-DHOPSCOPE_CORA={cora}"], cwd=self.tree, check=True)
