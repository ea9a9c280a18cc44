"""Checks the options of callers before anything starts."""

from __future__ import annotations

import numbers
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy

from ._failures import UsageError

if TYPE_CHECKING:
    import torch

# The types of settings, as texts that docstrings show as well. None is the default of each.
DeviceName: TypeAlias = "str | torch.device | None"
Size: TypeAlias = "int | float | str | None"
Count: TypeAlias = "int | None"
Seconds: TypeAlias = "float | None"
Flag: TypeAlias = "bool | None"
Patterns: TypeAlias = "str | Sequence[str] | None"
Folder: TypeAlias = "str | os.PathLike[str] | None"

Place: TypeAlias = "str | os.PathLike[str]"
Roles: TypeAlias = "Mapping[str, str] | list[str] | tuple[str, ...]"
Pins: TypeAlias = "Sequence[Sequence[str | int]]"
Via: TypeAlias = "Literal['auto', 'trace', 'export']"

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def path_of(option: str, value: Any) -> Path:
    """Checks a path."""
    try:
        path = Path(value)
    except TypeError:
        path = Path("\0")
    if "\0" in str(path):
        raise UsageError(f"{option}: {value!r} is not a path", "pass a text or a pathlib.Path")
    return path


def via_of(value: Any) -> str:
    """Checks the way to save a module."""
    if value not in ("auto", "trace", "export"):
        raise UsageError(f"via: {value!r} is not a way to save a model", 'use "auto", "trace" or "export"')
    return str(value)


def new_file(name: str, path: Any) -> Path:
    """Checks the path of a file to create or replace."""
    target = path_of(name, path)
    if not target.name:
        raise UsageError(f"{name}: {path!r} names no file", "write one such as 'model.pt'")
    return target


def whole_number(value: Any) -> int | None:
    """Returns a number as an int: Python's, NumPy's, or a tensor with a single integer. None for everything else,
    and for truth values."""
    if isinstance(value, (bool, numpy.bool_)) or str(getattr(value, "dtype", "")) == "torch.bool":
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def bytes_of(size: Any, option: str = "memory") -> int | None:
    """Reads sizes as the engine does: K, M and G are powers of 1000, Ki, Mi and Gi of 1024."""
    if size is None:
        return None
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found and (found.group(2) or not found.group(3)):
        base = 1024 if found.group(3) else 1000
        return int(float(found.group(1)) * base ** _UNITS[found.group(2).upper()])
    count = whole_number(size)
    if count is None and isinstance(size, float) and size.is_integer():
        count = int(size)  # 1e9
    if count is None or count < 0:
        raise UsageError(f"{option}: {size!r} is not a size", 'write it as "500M" or "1Gi", or as a number of bytes')
    return count


def name_of(value: Any) -> str:
    """Returns the name that the engine uses: "cuda:1" of torch.device("cuda", 1), "bfloat16" of torch.bfloat16."""
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return value.__name__
    return str(value).removeprefix("torch.")


def count_of(option: str, value: Any, most: int = 0, least: int = 1) -> int | None:
    """Returns a whole number of at least `least`, and of at most `most` where that is not 0; None stays None."""
    count = whole_number(value)
    if value is None or (count is not None and least <= count <= (most or (1 << 63) - 1)):
        return count
    bound = f"from {least} to {most}" if most else f"of at least {least}"
    raise UsageError(f"{option}: {value!r} is not a whole number {bound}", "leave it out for the default")


def numbers_of(option: str, values: Any) -> list[int]:
    """Whole numbers of at least 0: one, or a list, a range, an array or a tensor of them."""
    single = whole_number(values)
    listed = values if isinstance(values, Iterable) and not isinstance(values, str) and single is None else [values]
    found = [whole_number(value) for value in listed]
    kept = [number for number in found if number is not None and number >= 0]
    if len(kept) < len(found):
        raise UsageError(f"{option}: {values!r} are not row numbers", "pass whole numbers from 0 on")
    return kept


def _seconds_of(option: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < float("inf"):
        return float(value)
    raise UsageError(f"{option}: {value!r} is not a number of seconds above 0", "pass a number of seconds")


def _flag_of(option: str, value: Any) -> bool:
    if not isinstance(value, (bool, numpy.bool_)):
        raise UsageError(f"{option}: {value!r} is neither True nor False", "leave it out for the default")
    return bool(value)


_MODES = {True: "full", False: "none", None: "none"}  # of `verify`
_SIZES = ' A number of bytes, or text such as "1Gi".'


@dataclass(frozen=True)
class Setting:
    """A setting of the engine's commands (docs/reference/settings.md). `kind`: "Choice" or one of the types above;
    `choices`: the values of a choice, or the patterns; `most`: the largest count, 0 for no limit; `of_search`: whether
    it controls the search for a plan."""

    name: str
    kind: str
    usual: Any
    choices: tuple[str, ...]
    most: int
    of_search: bool
    meaning: str

    def checked(self, value: Any) -> Any:
        """Returns the value for the engine. None means the default, except for `verify`, which it turns off."""
        checks: dict[str, Callable[[Any], Any]]
        checks = {
            "Choice": self._choice, "Size": self._size, "Count": self._count, "Seconds": self._seconds,
            "Flag": self._flag, "DeviceName": name_of, "Folder": self._folder, "Patterns": self._patterns,
        }  # fmt: skip
        if value is None and self.name != "verify":
            value = self.usual
        return checks[self.kind](value)

    def _choice(self, value: Any) -> str:
        modes = _MODES if self.name == "verify" else {}
        word = modes.get(value, value) if isinstance(value, (bool, type(None))) else name_of(value)
        if word not in self.choices:
            raise UsageError(f"{self.name}: {value!r} is not one of its values", f"pass {_listed(self.choices)}")
        return str(word)

    def _size(self, value: Any) -> int | None:
        return bytes_of(value, self.name)

    def _count(self, value: Any) -> int | None:
        return count_of(self.name, value, self.most)

    def _seconds(self, value: Any) -> float | None:
        return _seconds_of(self.name, value)

    def _flag(self, value: Any) -> bool:
        return _flag_of(self.name, value)

    def _patterns(self, value: Any) -> str:
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, (list, tuple)) or not all(word in self.choices for word in words):
            raise UsageError(
                f"{self.name}: {value!r} is not a list of patterns", f"pass some of {_listed(self.choices)}"
            )
        return ",".join(words)

    def _folder(self, value: Any) -> str | None:
        return None if value is None else str(path_of(self.name, value).absolute())

    def told(self, usual: Any, kind: str) -> str:
        """Returns the entry of a docstring, for a default and a type."""
        values = f": {_listed(self.choices)}" if self.choices else ""
        modes = '; True is "full", and False is "none"' if self.name == "verify" else ""
        default = "" if usual is None or usual is False else f' (default: "{usual}")'
        form = _SIZES if self.kind == "Size" else ""
        return f"{self.name} ({kind}): {self.meaning}{values}{modes}{default}.{form}"


def _listed(choices: Sequence[str]) -> str:
    *first, last = [f'"{choice}"' for choice in choices]
    return f"{', '.join(first)} or {last}"


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
    """Roles by name: {"x": "node:user"} or ["x=node:user"]. The engine checks whether they are roles."""
    if not isinstance(roles, (Mapping, list, tuple)):
        raise UsageError(f"roles: a {type(roles).__name__} is not a list of roles", _ROLE_HINT)
    pairs = roles.items() if isinstance(roles, Mapping) else map(_pair, roles)
    return dict(map(_role, pairs))


def _pair(text: Any) -> tuple[Any, Any]:
    name, equals, role = text.rpartition("=") if isinstance(text, str) else (text, "", None)
    return (name, role) if equals else (text, None)


def _role(item: tuple[Any, Any]) -> tuple[str, str]:
    name, role = item
    if not isinstance(name, str) or not isinstance(role, str):
        raise UsageError(f"roles: {role!r} is not a role of {name!r}", _ROLE_HINT)
    return name, role
