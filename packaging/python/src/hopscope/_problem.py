"""The base of all exceptions of the package."""

from __future__ import annotations

from typing import Any, ClassVar


class HopscopeError(Exception):
    """The base class: `message` is a sentence, `hint` a remedy (may be empty), `where` the place (a file,
    an operator and its line; may be empty), `code` the engine's name of the error, and `exit_code` that of its process.
    `result` of a VerificationError is the run, or the verification."""

    __module__ = "hopscope.errors"
    exit_code: ClassVar[int] = 7
    name: ClassVar[str] = "internal"
    result: Any = None

    def __init__(self, message: str, hint: str = "", where: str = "", code: str = "") -> None:
        super().__init__(message, hint, where, code)
        self.message, self.hint, self.where, self.code = message, hint, where, code

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message
