"""Schedules the shards of a run on a pool of workers, stage by stage. A lost worker is replaced, and its unfinished
shards go to others. If everything ends, the same call resumes the run from its journal."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from ._crew import Answer, Crew, Member
from ._progress import Progress
from ._shards import Shard, Shards
from ._version import __version__
from .errors import Cancelled, EngineError, HopscopeError, InputError, ResourceError, error_from, sentence_of

_QUIET = 20.0  # seconds without any worker before that is said
_TICK = 0.2  # seconds between looks at what takes too long
_PIECES = 16  # shards per worker and stage
_LOSSES = 6  # times the number of workers, in a row, while nobody has finished a shard
_GRACE = 0.5  # seconds for a process whose connection has ended to end, too
_PAUSE = 1.0  # seconds, times the losses in a row but the first, before a worker begins again

Event = dict[str, Any]
Told = Callable[[Event], None]


@dataclass
class _Task:
    """A pending request. `shards`: those of its stage; `attempt`: how many times this shard has been assigned."""

    kind: str
    answer: Future[Answer]
    shard: Shard | None = None
    shards: Shards | None = None
    begun: float = 0.0
    attempt: int = 1


@dataclass
class _Slot:
    """A place for a worker: `member` is its process, `stage` the stage that it has reached. A replacement starts at
    `rest`; other workers then receive the lost one's shards, which are among those in `owed`."""

    number: int
    member: Member | None = None
    host: str = ""
    stage: int | None = None
    tasks: deque[_Task] = field(default_factory=deque)
    rest: float = 0.0
    owed: list[Shards] = field(default_factory=list)
    losses: int = 0
    joined: int = 0
    retired: bool = False
    shards: int = 0
    destinations: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return f"worker {self.number}" + (f" on {self.host}" if self.host else "")


class Driver:
    """`request`: the parameters of worker/open; their `wait` also limits the seconds without any worker. `stop` ends
    the run when any thread sets it."""

    def __init__(
        self,
        crew: Crew,
        request: Mapping[str, Any],
        told: Told,
        progress: Progress,
        stop: threading.Event | None = None,
    ) -> None:
        self._crew, self._request, self._listener, self._progress = crew, dict(request), told, progress
        self._stop = stop or threading.Event()
        self._began = time.monotonic()
        self._slots = [_Slot(number + 1) for number in range(crew.size)]
        self._stage, self._stages, self._passed, self._done, self._total = 1, 0, 0, 0, 0
        self._shards: Shards | None = None
        self._listing = self._publishing = self._alone = False
        self._folder: list[int] = []
        self._alive = self._began
        self._report: dict[str, Any] | None = None
        self._lost = self._losses = self._again = 0

    def run(self) -> dict[str, Any]:
        """Returns the report. Raises the refusal of a worker, with its name."""
        while self._report is None:
            if self._stop.is_set():
                raise Cancelled("cancelled", "the same call resumes the run")
            self._start_members()
            self._collect()
            self._look_for_late()
            self._deal()
        return self._report

    def summary(self) -> dict[str, Any]:
        """Returns the work of each worker, and the losses."""
        workers = [
            {"worker": slot.number, "host": slot.host, "joined": slot.joined, "shards": slot.shards}
            | {"destinations": slot.destinations, "seconds": round(slot.seconds, 3)}
            for slot in self._slots
        ]
        again = self._again + (self._shards.again if self._shards is not None else 0)
        return {"workers": workers, "threads": self._crew.threads, "lost": self._lost, "again": again}

    # ---- workers

    def _start_members(self) -> None:
        now = time.monotonic()
        wanted = [slot for slot in self._slots if slot.member is None and not slot.retired and slot.rest <= now]
        for slot in wanted:
            for shards in slot.owed:
                shards.lost(slot.number)
            slot.owed.clear()
            slot.member = self._crew.member(slot.number)
            self._tell("starting", slot)
            devices = self._request.get("device", "cpu").split(",")
            device = devices[(slot.number - 1) % len(devices)]
            self._ask(slot, "worker/open", {**self._request, "threads": self._crew.threads, "device": device})
        self._look_for_any(now)

    def _look_for_any(self, now: float) -> None:
        """Fails, or reports to the user, if no worker appears."""
        if any(slot.stage is not None for slot in self._slots):
            self._alive, self._alone = now, False
            return
        if all(slot.retired for slot in self._slots):
            raise ResourceError(
                "no worker is left", "finished work stays in the folder: the same command resumes the run"
            )
        patience = self._request.get("wait")
        if patience is not None and now - self._alive > patience:
            raise ResourceError(
                f"no worker has started within {patience:.0f} s", "does the cluster have free cores for one?"
            )
        if not self._alone and now - self._alive > _QUIET:
            self._alone = True
            self._told("waiting", message="no worker has started yet")

    def _ask(self, slot: _Slot, method: str, params: Mapping[str, Any], shard: Shard | None = None) -> None:
        assert slot.member is not None
        shards = self._shards if shard else None
        task = _Task(method, slot.member.call(method, params), shard, shards)
        if shard is not None and shards is not None:
            task.attempt = shards.given[shard]
        slot.tasks.append(task)
        if len(slot.tasks) == 1:
            self._begin(slot)

    def _begin(self, slot: _Slot) -> None:
        """Records that the first request of a worker has begun."""
        task = slot.tasks[0]
        task.begun = time.monotonic()
        if task.shard is not None:
            self._tell("begun", slot, **_named(slot, task))

    def _collect(self) -> None:
        """Waits for answers and processes those that have arrived."""
        waiting = [slot.tasks[0].answer for slot in self._slots if slot.tasks]
        if waiting:
            wait(waiting, _TICK, FIRST_COMPLETED)
        else:
            time.sleep(_TICK)
        for slot in self._slots:
            while slot.tasks and slot.tasks[0].answer.done():
                self._answered(slot, slot.tasks.popleft())

    def _answered(self, slot: _Slot, task: _Task) -> None:
        problem = task.answer.exception()
        answer: Answer = {"lost": sentence_of(problem)} if problem is not None else task.answer.result()
        slot.host = answer.get("host", slot.host)
        if "lost" in answer:
            self._lose(slot, task, answer["lost"])
        elif "error" in answer:
            self._refused(slot, task, error_from(answer["error"]))
        else:
            self._take(slot, task, answer)
            if slot.tasks:
                self._begin(slot)

    def _take(self, slot: _Slot, task: _Task, answer: Answer) -> None:
        result = answer["result"]
        if task.kind == "worker/open":
            self._opened(slot, result, answer["version"])
        elif task.kind == "shard/list":
            self._listed(result)
        elif task.kind == "shard/compute":
            self._computed(slot, task, result)
        else:
            if not self._publishing:
                took = round(time.monotonic() - task.begun, 3)
                self._tell("left", slot, stage=slot.stage, bytes=result["read_back"], seconds=took)
            self._moved(slot, result)

    def _opened(self, slot: _Slot, result: dict[str, Any], version: str) -> None:
        if version != __version__:
            raise EngineError(
                f"{slot.name} has version {version} of this package, not {__version__}",
                "install the same version everywhere",
            )
        known, found = self._folder, result["folder"]
        if known and found and known != found:
            raise InputError(
                f"{slot.name}: {self._request['output']} is a different folder there than for other workers",
                "all workers need the same folder, under the same path",
            )
        self._folder = found or known
        self._stages = result["stages"]
        slot.joined += 1
        self._tell("joined", slot)
        self._moved(slot, result)

    def _moved(self, slot: _Slot, result: dict[str, Any]) -> None:
        slot.stage = result["stage"]
        self._report = result["report"] or self._report
        for note in result["notes"]:
            self._tell("note", slot, message=note)
        if slot.stage is None and self._report is None:  # another process is making the results appear
            self._drop(slot)

    def _refused(self, slot: _Slot, task: _Task, problem: HopscopeError) -> None:
        """The run continues without a replacement that is refused; any other refusal ends it."""
        if task.kind == "worker/open" and slot.joined:
            self._tell("refused", slot, message=problem.message)
            self._drop(slot)
            slot.retired = True
            return
        raise type(problem)(f"{slot.name}: {problem.message}", problem.hint, problem.where, problem.code)

    def _lose(self, slot: _Slot, task: _Task, why: str) -> None:
        self._lost += 1
        self._losses += 1
        slot.losses += 1
        self._tell("lost", slot, message=why)
        tasks = [task, *slot.tasks]
        slot.owed = list({id(item.shards): item.shards for item in tasks if item.shards is not None}.values())
        if any(item.kind == "shard/list" for item in tasks):
            self._listing = False
        self._drop(slot)
        if self._losses >= _LOSSES * len(self._slots):
            raise EngineError(
                f"workers were lost {self._losses} times without finishing anything, most recently {slot.name}: {why}",
                "finished work stays in the folder: the same command resumes the run",
            )

    def _drop(self, slot: _Slot) -> None:
        if slot.member is not None:
            slot.member.end()
        slot.member, slot.stage = None, None
        slot.tasks.clear()
        slot.rest = time.monotonic() + max(_GRACE, _PAUSE * min(slot.losses - 1, _LOSSES))
        self._publishing = False

    def _told(self, event: str, **more: Any) -> None:
        self._listener({"event": event, "time": round(time.monotonic() - self._began, 3), **more})

    def _tell(self, event: str, slot: _Slot, **more: Any) -> None:
        self._told(event, worker=slot.number, host=slot.host, **more)

    # ---- stages

    def _listed(self, result: dict[str, Any]) -> None:
        shards = [
            Shard(item["loop"], item["first"], item["count"], item["work"], number)
            for number, item in enumerate(result["shards"], 1)
        ]
        self._shards, self._listing = Shards.of(shards), False
        self._done, self._total = result["done"], result["total"]
        place = {"stage": self._stage, "stages": self._stages, "shards": len(shards)}
        self._told("stage", **place, done=self._done, total=self._total)
        self._show()

    def _computed(self, slot: _Slot, task: _Task, result: dict[str, Any]) -> None:
        assert task.shard is not None and task.shards is not None
        now = time.monotonic()
        first = task.shards.answered(slot.number, task.shard, now)
        slot.losses = self._losses = 0
        slot.shards += 1
        slot.destinations += result["destinations"]
        slot.seconds += now - task.begun
        if first and task.shards is self._shards:
            self._done += task.shard.count
            self._show()
        moved = {name: result[name] for name in ("destinations", "written", "read")}
        self._tell(
            "shard", slot, **_named(slot, task), **moved, seconds=round(now - task.begun, 4), **self._so_far(task)
        )

    def _so_far(self, task: _Task) -> dict[str, Any]:
        return {"done": self._done} if task.shards is self._shards else {}

    def _show(self) -> None:
        self._progress(f"stage {self._stage} of {self._stages}", self._done, self._total)

    def _look_for_late(self) -> None:
        for attempt in self._shards.overdue(time.monotonic()) if self._shards is not None else ():
            self._tell("late", self._slots[attempt.worker - 1], stage=self._stage, first=attempt.shard.first)

    def _deal(self) -> None:
        if self._report is not None:
            return
        if self._shards is not None and self._shards.done:
            self._end_stage()
        for slot in self._slots:
            if slot.stage is not None and slot.stage < self._stage and not slot.tasks:
                self._ask(slot, "stage/end", {"stage": slot.stage})
            elif slot.stage == self._stage and not self._publishing:
                self._give(slot)

    def _give(self, slot: _Slot) -> None:
        if self._shards is None:
            if not self._listing and not slot.tasks:
                self._listing = True
                self._ask(slot, "shard/list", {"stage": self._stage, "parts": _PIECES * self._crew.size})
            return
        while (shard := self._shards.take(slot.number, time.monotonic())) is not None:
            where = {"stage": self._stage, "loop": shard.loop, "first": shard.first, "count": shard.count}
            self._ask(slot, "shard/compute", where, shard)

    def _end_stage(self) -> None:
        if self._stage > self._passed:  # once, even if workers are lost while the results appear
            self._passed = self._stage
            self._told("barrier", stage=self._stage)
        if self._stage < self._stages:
            self._again += self._shards.again if self._shards is not None else 0
            self._stage, self._shards = self._stage + 1, None
            return
        ready = next((slot for slot in self._slots if slot.stage == self._stage and not slot.tasks), None)
        if ready is None or self._publishing:
            return
        for slot in self._slots:  # the publishing worker waits until it alone uses the folder
            if slot is not ready and not slot.retired:
                self._tell("retired", slot)
                self._drop(slot)
                slot.retired = True
        self._publishing = True
        self._tell("publishing", ready)
        self._ask(ready, "stage/end", {"stage": self._stage, "publish": True})


def _named(slot: _Slot, task: _Task) -> dict[str, Any]:
    """Returns the members that identify a shard in events."""
    assert task.shard is not None
    shard = {name: getattr(task.shard, name) for name in ("number", "loop", "first", "count", "work")}
    return {"stage": slot.stage, **shard, "attempt": task.attempt}
