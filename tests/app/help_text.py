"""The help of the engine's commands as data."""
import re
from typing import NamedTuple

from engine_process import ENGINE, run

ROW = re.compile(r"  (\S.*?)  +(\S.*)")


class Row(NamedTuple):
    heading: str  # "-o, --output DIR"
    text: str

    @property
    def names(self):
        return re.findall(r"(?:^|, )(-[^ ,]+)", self.heading)

    @property
    def value(self):
        """"DIR"; of an argument its name, of a flag nothing."""
        return re.sub(r"^(-[^ ,]+(, )?)+ ?", "", self.heading)

    @property
    def choices(self):
        """Of "How: a, b or c [default: a]"."""
        listed = self.text.split("[default: ")[0].split(": ")[-1]
        return re.split(r", | or ", re.sub("^all, none, or any of ", "all, none, ", listed).strip())


def text(*command):
    return run([ENGINE, *command, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def sections(shown):
    """{title: rows} of a help text; examples are a section of their lines."""
    found, title = {}, None
    for line in shown.splitlines():
        row = ROW.fullmatch(line)
        if re.fullmatch(r"[A-Z][A-Za-z ]+:", line):
            title = line[:-1]
            found[title] = []
        elif title == "Examples":
            found[title].append(line.strip())
        elif title and row:
            found[title].append(Row(*row.groups()))
        elif title and line.strip():
            found[title][-1] = Row(found[title][-1].heading, f"{found[title][-1].text} {line.strip()}")
        else:
            title = None
    return found


def commands(*above):
    """Paths of all commands that help lists: ("run",), ("bench",), ("bench", "machine"), ..."""
    for row in sections(text(*above)).get("Commands", []):
        yield (*above, row.heading)
        yield from commands(*above, row.heading)


def options(shown):
    """The rows of all options and arguments of a help text."""
    return [row for title, rows in sections(shown).items() if title not in ("Commands", "Examples") for row in rows]
