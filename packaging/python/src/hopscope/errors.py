"""Exceptions for the engine's exit codes; each has a sentence, and may have a hint and the location of the fault."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from . import _failures
from ._failures import *  # noqa: F403
from ._failures import EngineError, ResourceError, UsageError
from ._keywords import in_python
from ._problem import HopscopeError

__all__ = [
    "HopscopeError",
    "callers_own",
    "document_of",
    "door",
    "error_from",
    "kind_of",
    "origin_of",
    "passing",
    "sentence_of",
]
__all__ += _failures.__all__

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_BY_EXIT_CODE: dict[int, type[HopscopeError]] = {
    kind.exit_code: kind for kind in (getattr(_failures, name) for name in _failures.__all__)
}


def kind_of(exit_code: int) -> type[HopscopeError]:
    """Returns the class of exceptions for an exit code of the engine; EngineError for an undocumented one."""
    return _BY_EXIT_CODE.get(exit_code, EngineError)


def error_from(document: Mapping[str, Any]) -> HopscopeError:
    """Returns the exception for an error document of the engine: {code, exit_code, message, hint, where}."""
    text = {name: str(document.get(name) or "") for name in ("message", "hint", "where", "code")}
    return kind_of(int(document.get("exit_code", 7)))(**text)


def document_of(problem: HopscopeError) -> dict[str, Any]:
    """Returns the document from which `error_from` makes the exception."""
    named = {name: getattr(problem, name) for name in ("message", "hint", "where")}
    return {**named, "code": problem.code, "exit_code": problem.exit_code}


def door(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Marks a function as public: every failure in it becomes an exception of this module. Exceptions of the caller's
    own functions, and Python's TypeError for unknown or missing arguments, pass unchanged."""

    @functools.wraps(function)
    def entered(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **options)
        except HopscopeError as problem:
            problem.hint = in_python(problem.hint)
            raise
        except Exception as problem:
            called = problem.__traceback__ is not None and problem.__traceback__.tb_next is not None
            if getattr(problem, _PASSES, False) or not called:
                passing(problem)
                raise
            raise _unforeseen(function.__name__, problem) from problem

    return entered


_PASSES = "_hopscope_passes"


def passing(problem: Exception) -> Exception:
    """Marks an exception so that it passes unchanged."""
    setattr(problem, _PASSES, True)
    return problem


def callers_own(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Wraps a function of the caller so that its exceptions pass unchanged."""

    @functools.wraps(function)
    def called(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **options)
        except Exception as problem:
            passing(problem)
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
    """Returns the innermost line outside of torch as FILE:LINE; empty if there is none."""
    trace, place = problem.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if f"{os.sep}torch{os.sep}" not in name:
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def sentence_of(problem: BaseException) -> str:
    """Returns the first line of an exception's text; without a text, the name of its class."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
