"""A process of `hopscope-engine worker` (docs/reference/protocol.md), on any machine: its answers and failures are
values that can be sent between machines."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._serve import Client
from ._version import __version__
from .errors import HopscopeError, document_of

JOURNAL = ".hopscope-journal"  # docs/reference/format-journal.md
_RUN = Path(JOURNAL, "run.json")
_PATIENCE = 0.7  # seconds for an engine to clean up


class Worker:
    """Starts the process with the first request. `end`, from any thread, ends it even during a request."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._ended = False

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """{"result": ..}, {"error": ..} as the engine describes errors, or {"lost": a sentence} if the process has
        ended; with `host` and the package's `version`."""
        where = {"host": socket.gethostname(), "version": __version__}
        try:
            result = self._started().call(method, **params)
        except HopscopeError as problem:
            lost = self._ended or (self._client is not None and self._client.gone)
            return {**where, **({"lost": problem.message} if lost else {"error": document_of(problem)})}
        if method == "worker/open":
            result["folder"] = _identity(Path(params["output"]))
        return {**where, "result": result}

    def end(self) -> None:
        self._ended = True
        if self._client is not None:
            self._client.hang_up()

    def abandon(self) -> None:
        """Ends the process from any thread, and waits for its end."""
        self._ended = True
        if self._client is not None:
            self._client.abandon(_PATIENCE)

    def close(self) -> None:
        """Releases a process that has ended."""
        if self._client is not None:
            self._client.__exit__(KeyboardInterrupt, None, None)

    def _started(self) -> Client:
        if self._client is None:
            self._client = Client(lambda _method, _params: None, "worker")
            self._client.__enter__()
        if self._ended:
            self._client.hang_up()
        return self._client


def _identity(output: Path) -> list[int]:
    """Identifies the folder of a run, as opposed to one of the same name on another machine; None once it contains
    results."""
    try:
        found = (output / _RUN).stat()
    except OSError:
        return []
    return [found.st_ino, found.st_mtime_ns, found.st_size]
