"""What can go wrong, by the engine's exit codes: a sentence, a hint what to do, and the place."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


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


class Untrusted(HopscopeError):
    """You have not agreed to run the code of the model file; `hopscope.trust` records that you do."""

    exit_code = 8


class Cancelled(HopscopeError):
    """The engine was told to stop by somebody else. (Ctrl+C in Python stays a KeyboardInterrupt.)"""

    exit_code = 130


_BY_EXIT_CODE: dict[int, type[HopscopeError]] = {
    kind.exit_code: kind
    for kind in (UsageError, InputError, Refused, VerificationError, ResourceError, EngineError, Untrusted, Cancelled)
}


# What the engine calls them.
_NAMES = {
    2: "usage",
    3: "input",
    4: "unsupported",
    5: "different",
    6: "resources",
    7: "internal",
    8: "untrusted",
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


def door(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """A function of the package: every failure in it becomes an exception of this module. Exceptions of the caller's
    own functions pass, and so does Python's TypeError for arguments that the function does not have."""

    @functools.wraps(function)
    def entered(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **options)
        except HopscopeError:
            raise
        except Exception as problem:
            called = problem.__traceback__ is not None and problem.__traceback__.tb_next is not None
            if getattr(problem, _PASSES, False) or not called:
                setattr(problem, _PASSES, True)
                raise
            raise _unforeseen(function.__name__, problem) from problem

    return entered


_PASSES = "_hopscope_passes"


def callers_own(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The caller's own function, whose exceptions pass every door."""

    @functools.wraps(function)
    def called(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **options)
        except Exception as problem:
            setattr(problem, _PASSES, True)
            raise

    return called


def _unforeseen(name: str, problem: Exception) -> HopscopeError:
    said = f"{name}: {type(problem).__name__}: {sentence_of(problem)}"
    if isinstance(problem, MemoryError):
        return ResourceError(said, "use a machine with more memory", origin_of(problem))
    return UsageError(
        said,
        f"is every argument what help(hopscope.{name}) says? If so, please report this with the model",
        origin_of(problem),
    )


def origin_of(problem: BaseException) -> str:
    """The innermost line outside of torch."""
    trace, place = problem.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if f"{os.sep}torch{os.sep}" not in name:
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def sentence_of(problem: BaseException) -> str:
    """The first line of what any exception says."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
