"""Options as people give them, checked before anything starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import UsageError

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?")
_MODES = ("sample", "full", "none")


def path_of(option: str, value: Any) -> Path:
    """A place in the file system."""
    try:
        path = Path(value)
    except TypeError:
        path = Path("\0")
    if "\0" in str(path):
        raise UsageError(f"{option}: {value!r} is no path", "pass a text or a pathlib.Path")
    return path


def new_file(name: str, path: Any) -> Path:
    """A place for a file that does not exist yet, or is replaced."""
    target = path_of(name, path)
    if not target.name:
        raise UsageError(f"{name}: {path!r} names no file", "write one such as 'model.pt'")
    return target


def bytes_of(size: int | str | None) -> int | None:
    """As the engine reads sizes: K M G are powers of 1000, Ki Mi Gi of 1024."""
    if size is None or (isinstance(size, int) and size >= 0):
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if not found or (found.group(3) and not found.group(2)):
        raise UsageError(f"memory: {size!r} is no size", "write it as 500M or 1Gi, or as a number of bytes")
    base = 1024 if found.group(3) else 1000
    return int(float(found.group(1)) * base ** _UNITS[found.group(2)])


def whole_of(option: str, value: Any) -> int | None:
    """A number of things, at least 1."""
    whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 1 << 63
    if value is not None and not whole:
        raise UsageError(f"{option}: {value!r} is no number of things", "say a whole number, at least 1")
    return value if whole else None


def seconds_of(option: str, value: Any) -> float | None:
    """A time of at least 0."""
    if value is not None and not (isinstance(value, (int, float)) and 0 <= value < float("inf")):
        raise UsageError(f"{option}: {value!r} is no time", "say a number of seconds")
    return value


def mode_of(verify: Any) -> str:
    """How much is verified; True is all, False and None are nothing."""
    mode = {True: "full", False: "none", None: "none"}.get(verify) if verify in (True, False, None) else verify
    if mode not in _MODES:
        raise UsageError(f"verify: {verify!r} is no mode", 'say "sample", "full" (or True) or "none"')
    return str(mode)


def pins_of(pins: Any) -> list[list[Any]]:
    """Pins as lists of texts and numbers."""
    listed = list(pins) if isinstance(pins, (list, tuple)) else None
    if listed is None or not all(isinstance(pin, (list, tuple)) and all(map(_is_plain, pin)) for pin in listed):
        raise UsageError(f"pins: {pins!r} is no list of pins", 'write them as [("checkpoint", "v4")]')
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
