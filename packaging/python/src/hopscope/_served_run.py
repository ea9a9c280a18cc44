"""A run that `hopscope-scale serve` distributes across workers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._cluster import run
from ._driver import Event
from ._run_events import Feed, Translation
from ._scratch import Scratch
from ._settings import of_workers
from .errors import Cancelled, EngineError, HopscopeError, ResourceError, UsageError, document_of

_HINT_LIMITS = "start hopscope-engine serve instead, which runs in one process"

Notify = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class Workers:
    """The place of the workers of all runs, and the limits of each. `folder`: the place for the results of runs that
    name no folder; None: the folder for temporary files."""

    address: str
    count: int = 0
    threads: int = 0
    memory: int | None = None
    wait: float | None = None
    folder: str | None = None

    @property
    def local(self) -> bool:
        return self.address == "local"


class ServedRun:
    """`opened`: the parameters of model/open; `home`: the folder for results without a named folder. Raises UsageError
    for settings that workers do not support."""

    def __init__(
        self, number: int, opened: dict[str, Any], asked: dict[str, Any], workers: Workers, home: Path
    ) -> None:
        refuse(asked)
        self.number, self.document = number, asked["document"]
        self._workers, self._stop = workers, threading.Event()
        self._named = asked.get("output") or None
        self._place = Scratch(parent=_parent(self._named, workers, home))
        self.folder = str(Path(self._named).absolute() if self._named else self._place.folder() / "results")
        self._request = _request(opened, asked, workers, self.folder, self._place)
        self._thread: threading.Thread | None = None
        self.finished = False

    def begin(self, notify: Notify, progress: Callable[[str, int, int], None]) -> None:
        self._thread = threading.Thread(target=self._body, args=(notify, progress), name="hopscope-run", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        self._stop.set()

    def end(self) -> None:
        """Cancels the run, waits for its workers to end, and removes results without a named folder."""
        self.cancel()
        if self._thread is not None:
            self._thread.join()
        self._place.close()

    def _body(self, notify: Notify, progress: Callable[[str, int, int], None]) -> None:
        verifies = self._request["verify"] != "none"
        here = {"run": self.number}
        feed = Feed(lambda state, events: notify("run/events", {**here, "state": state, "events": events}))
        news = _News(Translation(), feed, verifies, progress)
        try:
            report = self._report(news.told)
            ended = {"folder": self.folder, "report": report if news.computes else _found(report, verifies)}
        except HopscopeError as problem:
            ended = {"error": document_of(problem)}
        except Exception as problem:  # the client needs an end even if a library raises something else
            ended = {"error": document_of(EngineError(f"unexpected error: {problem}", "please report this"))}
        feed.close()
        if self._named:
            self._place.close()
        self.finished = True
        notify("run/finished", {**here, **ended})

    def _report(self, told: Callable[[Event], None]) -> dict[str, Any]:
        where = self._workers
        try:
            return run(
                self._request, where.address, workers=where.count, threads=where.threads, told=told, stop=self._stop
            )
        except Cancelled as cancelled:
            raise Cancelled(cancelled.message, cancelled.hint if self._named else "") from None


class _News:
    """Turns the driver's messages into events, states and progress of the run."""

    def __init__(
        self, translation: Translation, feed: Feed, verifies: bool, progress: Callable[[str, int, int], None]
    ) -> None:
        self._translation, self._feed, self._verifies, self._progress = translation, feed, verifies, progress
        self._waiting: set[int] = set()
        self._ready = 0
        self.computes = False  # else the results were there before

    def told(self, event: Event) -> None:
        kind = event["event"]
        if kind in ("starting", "joined"):
            self._tell_readiness(event)
        self.computes = self.computes or kind == "stage"
        state = {"stage": "running", "publishing": "verifying" if self._verifies else None}.get(kind)
        self._feed.push(self._translation.of(event), state)

    def _tell_readiness(self, event: Event) -> None:
        self._waiting.add(event["worker"])
        self._ready += event["event"] == "joined"
        if self._ready < len(self._waiting):
            self._progress("workers load the model and the data", self._ready, len(self._waiting))


def _found(report: dict[str, Any], verifies: bool) -> dict[str, Any]:
    """Returns the report with a note that nothing was computed."""
    notes = ["the folder already contained the results of this run: nothing was computed"]
    if verifies and report["verify"] is None:
        notes.append(
            "the results were not verified when they were computed: choose another folder to compute and verify them"
        )
    return {**report, "notes": [*report["notes"], *notes]}


def refuse(asked: dict[str, Any]) -> None:
    """Raises UsageError."""
    device = asked.get("device") or "auto"
    if device not in ("auto", "cpu"):
        raise UsageError(
            f"workers for the window compute on CPUs, not on {device}", "choose the CPU, or " + _HINT_LIMITS
        )
    if asked.get("breakpoints") is not None:
        raise UsageError("a run of several workers cannot be stopped at operators", _HINT_LIMITS)
    if asked.get("paused"):
        raise UsageError("a run of several workers cannot be paused", _HINT_LIMITS)


def _parent(named: str | None, workers: Workers, home: Path) -> str:
    """Returns the folder of the plan and of results without a named folder, which all workers see."""
    if workers.folder or workers.local:
        return str(home)
    if named is None:
        raise UsageError(
            "workers on other machines need a folder for the results that all of them see",
            "choose an output folder, or start hopscope-scale serve with --folder",
        )
    there = Path(named).absolute().parent
    return str(next(folder for folder in (there, *there.parents) if folder.is_dir()))


def _request(
    opened: dict[str, Any], asked: dict[str, Any], workers: Workers, folder: str, place: Scratch
) -> dict[str, Any]:
    """Returns the parameters of worker/open."""
    plan = place.folder() / "plan.json"
    try:
        plan.write_text(json.dumps(asked["plan"]))
    except OSError as problem:
        raise ResourceError(f"{plan}: cannot be written: {problem.strerror}", "free some room there") from problem
    data = [absolute(word) for word in opened.get("data") or ()]
    files = {"model": str(Path(opened["model"]).absolute()), "data": data, "roles": opened.get("roles") or []}
    kept = [name for name, setting in of_workers().items() if not setting.of_search]
    options = {name: asked[name] for name in kept if asked.get(name) is not None}
    limits = {"memory": workers.memory, "wait": workers.wait, "verify": "sample"}
    given = {name: value for name, value in limits.items() if value is not None}
    given["trusted"] = True  # the engine of the plan has run it
    opening = {"reassociate": opened.get("reassociate", False)}
    return {**given, **options, **opening, **files, "plan": str(plan), "output": folder}


def absolute(word: str) -> str:
    """Makes a path absolute; in `--data`, a name may precede it."""
    name, separator, file = word.rpartition("=")
    return f"{name}{separator}{Path(file).absolute()}"
