"""What tests of the documentation share: the fenced blocks of a page, and the comparison of shown output with printed output."""
import re
from pathlib import Path
from typing import NamedTuple

LEFT_OUT = "..."
# What depends on the machine and the hour: durations, rates, shares, and the last bits of results.
TIMES = re.compile(r"\d+(\.\d+)? (µs|ms|s|min)\b|\d+(\.\d+)?(?= ×)|[\d.,]+( [kMG])?(?= +\d+ ×)|<?\d+ %|(?<=difference )\S+")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks(page):
    text = page.read_text()
    return [Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2]) for found in FENCE.finditer(text)]


def pieces(lines):
    """The parts between gaps."""
    found = [[]]
    for line in lines:
        if line == LEFT_OUT:
            found.append([])
        else:
            found[-1].append(line)
    return found


def without(pattern, line):
    return " ".join(pattern.sub("#", line).split())


def place(piece, lines, first, pattern):
    """Where the piece begins in the lines from `first` on, or None."""
    wanted = [without(pattern, line) for line in piece]
    printed = [without(pattern, line) for line in lines]
    ends = range(first, len(lines) - len(piece) + 1)
    return next((at for at in ends if printed[at:at + len(piece)] == wanted), None)


def found(shown, printed, pattern):
    """The printed lines in place of the shown ones; the piece that is not among them, if there is one."""
    made, at, parts = [], 0, pieces(shown)
    for number, piece in enumerate(parts):
        begin = place(piece, printed, at, pattern)
        if begin is None or (number == 0 and begin > 0):
            return made, piece
        made += ([LEFT_OUT] if number else []) + printed[begin:begin + len(piece)]
        at = begin + len(piece)
    return made, None if at == len(printed) or not parts[-1] else parts[-1]
