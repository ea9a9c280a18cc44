"""Options as people give them, checked before anything starts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import UsageError

if TYPE_CHECKING:
    import torch

DeviceName: TypeAlias = "str | torch.device"
Choice: TypeAlias = "str | bool | torch.dtype | None"  # True and False are modes of `verify`
Size: TypeAlias = "int | str | None"
Count: TypeAlias = "int | None"
Seconds: TypeAlias = "float | None"
Flag: TypeAlias = bool
Patterns: TypeAlias = "str | Sequence[str]"
Folder: TypeAlias = "str | os.PathLike[str] | None"

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?")


def path_of(option: str, value: Any) -> Path:
    """A place in the file system."""
    try:
        path = Path(value)
    except TypeError:
        path = Path("\0")
    if "\0" in str(path):
        raise UsageError(f"{option}: {value!r} is not a path", "pass a text or a pathlib.Path")
    return path


def new_file(name: str, path: Any) -> Path:
    """A place for a file that does not exist yet, or is replaced."""
    target = path_of(name, path)
    if not target.name:
        raise UsageError(f"{name}: {path!r} names no file", "write one such as 'model.pt'")
    return target


def bytes_of(size: Size, option: str = "memory") -> int | None:
    """As the engine reads sizes: K M G are powers of 1000, Ki Mi Gi of 1024."""
    if size is None or (isinstance(size, int) and size >= 0):
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if not found or (found.group(3) and not found.group(2)):
        raise UsageError(f"{option}: {size!r} is not a size", "write it as 500M or 1Gi, or as a number of bytes")
    base = 1024 if found.group(3) else 1000
    return int(float(found.group(1)) * base ** _UNITS[found.group(2)])


def name_of(value: Any) -> str:
    """As the engine says it: "cuda:1" of torch.device("cuda", 1), "bfloat16" of torch.bfloat16."""
    return str(value).removeprefix("torch.")


def _whole_of(option: str, value: Any, most: int) -> int | None:
    """A whole number of at least 1, and of at most `most` where that is not 0."""
    whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= (most or (1 << 63) - 1)
    if value is not None and not whole:
        bound = f"from 1 to {most}" if most else "of at least 1"
        raise UsageError(f"{option}: {value!r} is not a whole number {bound}", "leave it out for the default")
    return value if whole else None


def _seconds_of(option: str, value: Any) -> float | None:
    if value is not None and not (isinstance(value, (int, float)) and 0 < value < float("inf")):
        raise UsageError(f"{option}: {value!r} is not a number of seconds above 0", "say a number of seconds")
    return value


@dataclass(frozen=True)
class Setting:
    """A setting of the engine's commands (docs/reference/settings.md). `kind`: one of the types above; `choices`: of a
    Choice; `most`: of a Count, 0 for no limit; `of_search`: says how a plan is looked for."""

    name: str
    kind: str
    usual: Any
    choices: tuple[str, ...]
    most: int
    of_search: bool
    meaning: str

    def checked(self, value: Any) -> Any:
        """As the engine reads it; None is the default, but for `verify`, which it turns off."""
        checks: dict[str, Callable[[Any], Any]]
        checks = {"Choice": self._choice, "Size": self._size, "Count": self._count, "Seconds": self._seconds,
                  "Flag": bool, "DeviceName": name_of, "Folder": self._folder, "Patterns": _patterns}  # fmt: skip
        if value is None and self.name != "verify":
            value = self.usual
        return checks[self.kind](value)

    def _choice(self, value: Any) -> str:
        mode = {True: "full", False: "none", None: "none"} if self.name == "verify" else {}
        word = mode.get(value, value) if isinstance(value, (bool, type(None))) else name_of(value)
        if word not in self.choices:
            raise UsageError(f"{self.name}: {value!r} is not one of its values", f"say {_listed(self.choices)}")
        return str(word)

    def _size(self, value: Any) -> int | None:
        return bytes_of(value, self.name)

    def _count(self, value: Any) -> int | None:
        return _whole_of(self.name, value, self.most)

    def _seconds(self, value: Any) -> float | None:
        return _seconds_of(self.name, value)

    def _folder(self, value: Any) -> str | None:
        return None if value is None else str(path_of(self.name, value).absolute())

    def told(self, usual: Any) -> str:
        """A line of a docstring."""
        choices = f": {_listed(self.choices)}" if self.choices else ""
        default = "" if usual is None or usual is False else f' (default: "{usual}")'
        return f"{self.name}: {self.meaning}{choices}{default}."


def _listed(choices: Sequence[str]) -> str:
    *first, last = [f'"{choice}"' for choice in choices]
    return f"{', '.join(first)} or {last}"


def _patterns(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(map(str, value))


def pins_of(pins: Any) -> list[list[Any]]:
    """Pins as lists of texts and numbers."""
    listed = list(pins) if isinstance(pins, (list, tuple)) else None
    if listed is None or not all(isinstance(pin, (list, tuple)) and all(map(_is_plain, pin)) for pin in listed):
        raise UsageError(f"pins: {pins!r} is not a list of pins", 'write them as [("checkpoint", "v4")]')
    return [list(pin) for pin in listed]


def _is_plain(item: Any) -> bool:
    return isinstance(item, (str, int))


_ROLE_HINT = 'write {NAME: ROLE} with roles as --role takes them, such as {"x": "node:user"}'


def parse_roles(roles: Any) -> dict[str, str]:
    """Roles by name: {"x": "node:user"} or ["x=node:user"]. Which words are roles, the engine knows."""
    if not isinstance(roles, (Mapping, list, tuple)):
        raise UsageError(f"roles: a {type(roles).__name__} is no list of roles", _ROLE_HINT)
    pairs = roles.items() if isinstance(roles, Mapping) else map(_pair, roles)
    return dict(map(_role, pairs))


def _pair(text: Any) -> tuple[Any, Any]:
    name, equals, role = text.rpartition("=") if isinstance(text, str) else (text, "", None)
    return (name, role) if equals else (text, None)


def _role(item: tuple[Any, Any]) -> tuple[str, str]:
    name, role = item
    if not isinstance(name, str) or not isinstance(role, str):
        raise UsageError(f"roles: {role!r} is no role of {name!r}", _ROLE_HINT)
    return name, role
