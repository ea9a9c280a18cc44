"""What can go wrong, by the engine's exit codes: a sentence, a hint what to do, and the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class HopscopeError(Exception):
    """The base of all: `message` is a sentence, `hint` says what to do (may be empty), `where` is the place (a file,
    an operator and its line; may be empty), `code` the engine's name of the error, `exit_code` what its process ends
    with."""

    exit_code: ClassVar[int] = 7

    def __init__(self, message: str, hint: str = "", where: str = "", code: str = "") -> None:
        super().__init__(message, hint, where, code)
        self.message, self.hint, self.where, self.code = message, hint, where, code

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class UsageError(HopscopeError, ValueError):
    """An argument is wrong: an unknown strategy, a device that is not there."""

    exit_code = 2


class InputError(HopscopeError, ValueError):
    """An input was refused: missing, unreadable, malformed, or at odds with another one."""

    exit_code = 3


class Refused(HopscopeError):
    """The model is not supported, cannot be split or cannot be saved; the message names the operator or the line."""

    exit_code = 4


class VerificationError(HopscopeError):
    """The split and the model's own `forward` differ. `result` holds the run, or what `verify` found."""

    exit_code = 5
    result: Any = None


class ResourceError(HopscopeError, MemoryError):
    """Out of memory or disk, even with the smallest batch."""

    exit_code = 6


class EngineError(HopscopeError, RuntimeError):
    """The engine is not found, does not fit this environment, ended unexpectedly or reports an error of its own."""

    exit_code = 7


class Cancelled(HopscopeError):
    """The engine was told to stop by somebody else. (Ctrl+C in Python stays a KeyboardInterrupt.)"""

    exit_code = 130


_BY_EXIT_CODE: dict[int, type[HopscopeError]] = {
    kind.exit_code: kind
    for kind in (UsageError, InputError, Refused, VerificationError, ResourceError, EngineError, Cancelled)
}


# What the engine calls them.
_NAMES = {
    2: "usage",
    3: "input",
    4: "unsupported",
    5: "different",
    6: "resources",
    7: "internal",
    130: "cancelled",
}


def kind_of(exit_code: int) -> type[HopscopeError]:
    """The exception for an exit code of the engine; EngineError for one that is not documented."""
    return _BY_EXIT_CODE.get(exit_code, EngineError)


def error_from(document: Mapping[str, Any]) -> HopscopeError:
    """The exception for what the engine says of an error: {code, exit_code, message, hint, where}."""
    text = {name: str(document.get(name) or "") for name in ("message", "hint", "where", "code")}
    return kind_of(int(document.get("exit_code", 7)))(**text)


def document_of(problem: HopscopeError) -> dict[str, Any]:
    """What `error_from` makes the exception of."""
    named = {name: getattr(problem, name) for name in ("message", "hint", "where")}
    return {**named, "code": problem.code or _NAMES[problem.exit_code], "exit_code": problem.exit_code}


def sentence_of(problem: BaseException) -> str:
    """The first line of what any exception says."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
