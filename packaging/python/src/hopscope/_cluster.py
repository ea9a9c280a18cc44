"""Starts the workers of one run, and ends them with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ._crew import Crew, LocalCrew
from ._driver import Driver, Event
from ._progress import Progress, reported
from ._ray import RayCrew
from .errors import UsageError


def run(
    request: Mapping[str, Any],
    address: str,
    *,
    workers: int = 0,
    threads: int = 0,
    told: Callable[[Event], None] = lambda _event: None,
    progress: bool | Progress = False,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Returns the report that the last worker has written, with the work of each worker as `scale`. `request`: the
    parameters of worker/open (docs/reference/protocol.md), with absolute paths; its `device` may name several, such as
    "cuda:0,cuda:1", which the workers use in turn. `stop` ends the run when any thread sets it. All workers end with
    the run, even if it fails."""
    crew = _crew(address, workers, threads)
    try:
        with reported(progress) as show:
            driver = Driver(crew, request, told, show, stop)
            report = driver.run()
            return {**report, "scale": driver.summary()}
    finally:
        crew.close()


def _crew(address: str, workers: int, threads: int) -> Crew:
    if address != "local":
        return RayCrew(address, workers, threads)
    if not workers:
        raise UsageError("the address 'local' needs a number of workers", "set it with --workers (workers= in Python)")
    return LocalCrew(workers, threads or max(len(os.sched_getaffinity(0)) // workers, 1))
