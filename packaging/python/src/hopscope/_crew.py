"""Workers as processes of this machine; `_ray` starts them on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from ._worker import Worker

Answer = dict[str, Any]


class Member(Protocol):
    """A worker. It answers requests in order."""

    def call(self, method: str, params: Mapping[str, Any]) -> Future[Answer]:
        """As `Worker.call`. An exception means that the worker has ended."""

    def end(self) -> None:
        """Ends the worker at once, without waiting, and cancels its requests."""


class Crew(Protocol):
    """`size`: the number of workers, with `threads` cores each."""

    size: int
    threads: int

    def member(self, number: int) -> Member:
        """Returns a new worker, which may have to wait until there is room for it."""

    def close(self) -> None:
        """Ends all workers; none of their processes remains."""


class _Local:
    """A worker process, and the thread that talks to it."""

    def __init__(self, number: int) -> None:
        self._worker = Worker()
        self._thread = ThreadPoolExecutor(1, f"hopscope-worker-{number}")

    def call(self, method: str, params: Mapping[str, Any]) -> Future[Answer]:
        return self._thread.submit(self._worker.call, method, params)

    def end(self) -> None:
        self._worker.end()

    def close(self) -> None:
        self._worker.abandon()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._worker.close()


class LocalCrew:
    """Workers of this machine."""

    def __init__(self, size: int, threads: int) -> None:
        self.size, self.threads = size, threads
        self._members: list[_Local] = []

    def member(self, number: int) -> Member:
        made = _Local(number)
        self._members.append(made)
        return made

    def close(self) -> None:
        for member in self._members:
            member.end()
        with ThreadPoolExecutor(max(len(self._members), 1), "hopscope-close") as pool:
            list(pool.map(_closed, self._members))


def _closed(member: _Local) -> None:
    with contextlib.suppress(OSError):
        member.close()
