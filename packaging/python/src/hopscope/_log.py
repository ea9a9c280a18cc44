"""The logger of the package, `logging.getLogger("hopscope")`. It is silent until the program configures logging."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .reports import NotFinite, Verification

log = logging.getLogger("hopscope")
log.addHandler(logging.NullHandler())

_Result = TypeVar("_Result", bound=Any)


def finished(result: _Result) -> _Result:
    """Logs a result with its notes, and returns it."""
    for note in result.notes:
        log.info("note: %s", note)
    log.info("%r", result)
    return result


def doubtful(verification: Verification | None, not_finite: NotFinite | None = None) -> None:
    """Logs a warning if a result could not be verified, or is not finite."""
    if verification is not None and verification.verdict == "unverifiable":
        log.warning("the result is not verified: %s", verification.reason)
    if not_finite is not None:
        log.warning("%s", not_finite)
