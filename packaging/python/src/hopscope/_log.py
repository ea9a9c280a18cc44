"""The logger of the package, `logging.getLogger("hopscope")`. It is silent until the program configures logging."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

log = logging.getLogger("hopscope")
log.addHandler(logging.NullHandler())

_Result = TypeVar("_Result", bound=Any)


def finished(result: _Result) -> _Result:
    """Logs a result with its notes, and returns it."""
    for note in result.notes:
        log.info("note: %s", note)
    log.info("%r", result)
    return result
