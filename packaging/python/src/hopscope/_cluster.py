"""One run by several workers: where they are, and what becomes of them when it ends."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ._crew import Crew, LocalCrew
from ._driver import Driver, Event
from ._owners import Owners
from ._peers import LocalPlace, Place
from ._progress import Progress, reported
from .errors import UsageError


def run(
    request: Mapping[str, Any],
    address: str,
    *,
    workers: int = 0,
    threads: int = 0,
    told: Callable[[Event], None] = lambda _event: None,
    progress: bool | Progress | None = False,
    stop: threading.Event | None = None,
    layout: str = "shared",
    scratch: str | None = None,
    replicas: int = 1,
) -> dict[str, Any]:
    """The report, as the last worker has written it, with `scale`: who has computed what. `request`: the parameters of
    worker/open (docs/protocol.md), with absolute paths. `stop`: set from any thread, it ends the run of workers that
    share a folder. Ends all workers, however it ends. `layout`: "shared" or "owners"; `scratch`: where owners have
    their folders. `replicas`: 2, if another worker is to keep a copy of what an owner has computed."""
    if layout not in ("shared", "owners"):
        raise UsageError(f"layout: '{layout}' is neither shared nor owners", "leave it out for a shared folder")
    if replicas not in (1, 2) or (replicas == 2 and layout != "owners"):
        raise UsageError(
            "replicas are 1, or 2 for workers that keep their own rows",
            "--layout owners (in Python layout=) makes them do that",
        )
    if layout == "owners":
        place = _place(address, workers, threads, scratch, _name_of(request["output"]))
        return _run_owners(request, place, told, progress, replicas)
    crew = _crew(address, workers, threads)
    try:
        with reported(progress) as show:
            driver = Driver(crew, request, told, show, stop)
            report = driver.run()
            return {**report, "scale": driver.summary()}
    finally:
        crew.close()


def _run_owners(
    request: Mapping[str, Any],
    place: Place,
    told: Callable[[Event], None],
    progress: bool | Progress | None,
    replicas: int,
) -> dict[str, Any]:
    clean = False
    try:
        if replicas > place.size:
            raise UsageError(
                "one worker has no other one that could keep a copy of its rows", "name more with --workers"
            )
        with reported(progress) as show:
            owners = Owners(place, request, told, show, replicas)
            report = owners.run()
            clean = True
            return {**report, "scale": owners.summary()}
    finally:
        place.close(clean)


def _name_of(output: str) -> str:
    """What the folders of a run's workers are called: the same when its command is repeated."""
    return "hopscope-" + hashlib.sha256(f"{socket.gethostname()}:{output}".encode()).hexdigest()[:16]


def _place(address: str, workers: int, threads: int, scratch: str | None, name: str) -> Place:
    if address != "local":
        from ._ray_peers import RayPlace

        return RayPlace(address, workers, threads, scratch, name)
    if not workers:
        raise _uncounted()
    return LocalPlace(workers, threads or _cores_for(workers), scratch, name)


def _crew(address: str, workers: int, threads: int) -> Crew:
    if address != "local":
        from ._ray import RayCrew

        return RayCrew(address, workers, threads)
    if not workers:
        raise _uncounted()
    return LocalCrew(workers, threads or _cores_for(workers))


def _uncounted() -> UsageError:
    return UsageError("workers of this machine need a number of them", "name it with --workers (in Python workers=)")


def _cores_for(workers: int) -> int:
    return max(len(os.sched_getaffinity(0)) // workers, 1)
