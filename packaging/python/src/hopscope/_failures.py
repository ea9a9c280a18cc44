# Written by tools/contract from the table in core/base/failures.h.
"""The kinds of failures, by the engine's exit codes."""

from __future__ import annotations

from ._problem import HopscopeError

__all__ = [
    "UsageError",
    "InputError",
    "Refused",
    "VerificationError",
    "ResourceError",
    "EngineError",
    "Untrusted",
    "Cancelled",
]


class UsageError(HopscopeError, ValueError):
    """The command line or an argument is wrong."""

    __module__ = "hopscope.errors"
    exit_code = 2
    name = "usage"


class InputError(HopscopeError, ValueError):
    """An input is missing, unreadable, malformed, hostile or inconsistent, or changed while a run read it."""

    __module__ = "hopscope.errors"
    exit_code = 3
    name = "input"


class Refused(HopscopeError):
    """The model is not supported, cannot be split or, in Python, cannot be saved; the message gives the reason."""

    __module__ = "hopscope.errors"
    exit_code = 4
    name = "unsupported"


class VerificationError(HopscopeError):
    """The results of the split and of the model's own `forward`, or of two files of a model, differ; in Python, `result` holds the run or the verification."""

    __module__ = "hopscope.errors"
    exit_code = 5
    name = "different"


class ResourceError(HopscopeError, MemoryError):
    """Memory or disk space is not enough, even for the smallest batch."""

    __module__ = "hopscope.errors"
    exit_code = 6
    name = "resources"


class EngineError(HopscopeError, RuntimeError):
    """An invariant of Hopscope is broken, or the engine has ended or does not answer; in Python, also: the engine is missing or does not fit this torch."""

    __module__ = "hopscope.errors"
    exit_code = 7
    name = "internal"


class Untrusted(HopscopeError):
    """You have not agreed to run the code of the model file: see `hopscope-engine trust` and `hopscope.trust`."""

    __module__ = "hopscope.errors"
    exit_code = 8
    name = "untrusted"


class Cancelled(HopscopeError):
    """The work was stopped (Ctrl+C in Python stays a KeyboardInterrupt)."""

    __module__ = "hopscope.errors"
    exit_code = 130
    name = "cancelled"
