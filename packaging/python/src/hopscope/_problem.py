"""The base of all exceptions of the package."""

from __future__ import annotations

from typing import Any, ClassVar


class HopscopeError(Exception):
    """The base class of all exceptions of the package. Its text is the message, followed by the hint.

    Attributes:
        message (str): A sentence about the failure.
        hint (str): A remedy.
        where (str): The place, such as a file, or an operator and its line. Empty if there is none.
        code (str): The name of the kind of failure, such as "usage".
        exit_code (int): The exit code of the engine for this kind.
        result (Inference | Verification | None): The run or the comparison of a VerificationError.

    Example:
        >>> try:
        ...     hopscope.inference(model, data, memory="much")
        ... except hopscope.HopscopeError as problem:
        ...     print(type(problem).__name__, problem.code, problem.exit_code)
        ...     print(problem)
        UsageError usage 2
        memory: 'much' is not a size
        hint: write it as "500M" or "1Gi", or as a number of bytes
    """

    __module__ = "hopscope.errors"
    exit_code: ClassVar[int] = 7
    name: ClassVar[str] = "internal"
    result: Any = None

    def __init__(self, message: str, hint: str = "", where: str = "", code: str = "") -> None:
        super().__init__(message, hint, where, code)
        self.message, self.hint, self.where, self.code = message, hint, where, code or self.name

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message
