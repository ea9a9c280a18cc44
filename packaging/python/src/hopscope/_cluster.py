"""One run by several workers: where they are, and what becomes of them when it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ._crew import Crew, LocalCrew
from ._driver import Driver, Event
from ._progress import Progress, reported
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
    """The report, as the last worker has written it, with `scale`: who has computed what. `request`: the parameters of
    worker/open (docs/reference/protocol.md), with absolute paths. `stop`: set from any thread, it ends the run. Ends
    all workers, however it ends."""
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
        from ._ray import RayCrew

        return RayCrew(address, workers, threads)
    if not workers:
        raise UsageError("workers of this machine need a number of them", "name it with --workers (in Python workers=)")
    return LocalCrew(workers, threads or max(len(os.sched_getaffinity(0)) // workers, 1))
