"""A run by workers that share no folder: each computes its part of every stage, keeps the rows, and gets those that it
reads of others; a process here gathers the results. Whoever is lost is replaced, and makes its rows again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Slow
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ._owner import begun_in
from ._peers import Answer, Parcel, Peer, Place
from ._progress import Progress
from ._version import __version__
from .errors import EngineError, HopscopeError, ResourceError, error_from, sentence_of

_TICK = 0.2  # seconds between looks at whether the run has ended
_PIECES = 16  # shards of a worker and stage
_ATTEMPTS = 50  # at handing something over
_LOSSES = 6  # times the number of workers, in a row, while nobody has finished anything
_PAUSE = 1.0  # seconds, times the losses in a row but the first, before a worker begins again

Event = dict[str, Any]
_T = TypeVar("_T")


class _Lost(Exception):
    """A worker is gone."""


class _Ended(Exception):
    """The run is over, for whatever reason."""


@dataclass
class _Slot:
    """A worker (0: who gathers). `peer`: its process, if any, and whether that takes part in the run; `finished`: the
    stages of which its rows are there."""

    number: int
    peer: Peer | None = None
    host: str = ""
    open: bool = False
    finished: int = 0
    joined: int = 0
    losses: int = 0
    destinations: int = 0
    seconds: float = 0.0
    halo: dict[int, list[int]] = field(default_factory=dict)  # by stage: rows and bytes that came in

    @property
    def name(self) -> str:
        if self.number == 0:
            return "the process that gathers the results"
        return f"worker {self.number}" + (f" on {self.host}" if self.host else "")

    def drop(self) -> None:
        """Its process, and what that stood for."""
        if self.peer is not None:
            self.peer.end()
        self.peer, self.open, self.finished = None, False, 0


class Owners:
    """`request`: what worker/open gets, but for `owner`; its `wait` is also for how many seconds a worker may have to
    wait for its place. All members but those of a slot are guarded by `_changed`."""

    def __init__(self, place: Place, request: Mapping[str, Any], told: Callable[[Event], None], show: Progress) -> None:
        self._place, self._listener, self._show = place, told, show
        self._request = {**request, "threads": place.threads}
        self._began = time.monotonic()
        self._slots = [_Slot(number) for number in range(place.size + 1)]
        self._changed = threading.Condition(threading.RLock())
        self._begun: dict[str, str] = {}
        self._stages, self._done, self._total = 0, 0, 0
        self._problem: BaseException | None = None
        self._over = False
        self._lost = self._losses = 0

    def run(self) -> dict[str, Any]:
        """The report. Raises what a worker refuses, by its name."""
        threads: list[threading.Thread] = []
        try:
            report = self._surely(self._begin)
            if report is not None:
                return report
            threads = [threading.Thread(target=self._tend, args=(slot,)) for slot in self._slots[1:]]
            for thread in threads:
                thread.start()
            return self._surely(self._finish)
        except _Ended:
            assert self._problem is not None
            raise self._problem from None
        finally:
            self._end()
            for thread in threads:
                thread.join()

    def summary(self) -> dict[str, Any]:
        """Who has computed what, what came in of others, and what was lost on the way."""
        workers = [
            {"worker": slot.number, "host": slot.host, "joined": slot.joined, "destinations": slot.destinations}
            | {"seconds": round(slot.seconds, 3), "halo": _halo_of(slot)}
            for slot in self._slots[1:]
        ]
        gathered = sum(size for _, size in self._slots[0].halo.values())
        more = {"threads": self._place.threads, "lost": self._lost, "gathered": gathered}
        return {"layout": "owners", "workers": workers, **more}

    # ---- one worker

    def _tend(self, slot: _Slot) -> None:
        """The life of a worker and of those that replace it, in a thread of its own."""
        while not self._over:
            try:
                slot.peer = self._place.peer(slot.number)
                self._live(slot)
            except _Ended:
                return
            except _Lost as lost:
                self._lose(slot, str(lost))
            except BaseException as problem:
                self._fail(problem)
                return

    def _live(self, slot: _Slot) -> None:
        self._opened(slot, self._ask(slot, "open", self._params(slot), self._begun))
        wanted = self._ask(slot, "call", "rows/wanted", {})
        for stage in range(1, self._stages + 1):
            self._compute(slot, stage)
            with self._changed:
                slot.finished = stage
                self._changed.notify_all()
            self._tell("finished", slot, stage=stage, stages=self._stages)
            if stage < self._stages:
                self._hear(slot, stage, wanted)
                self._ask(slot, "call", "stage/end", {"stage": stage})
        self._until(lambda: slot.peer is None)
        raise _Lost("its connection ended")

    def _params(self, slot: _Slot) -> dict[str, Any]:
        return {**self._request, "owner": {"index": slot.number, "count": self._place.size}}

    def _opened(self, slot: _Slot, result: dict[str, Any]) -> None:
        if result["version"] != __version__:
            raise EngineError(
                f"{slot.name} has version {result['version']} of this package, not {__version__}",
                "install the same everywhere",
            )
        slot.joined, slot.open = slot.joined + 1, True
        self._tell("joined", slot)
        for note in result["notes"]:
            self._tell("note", slot, message=note)

    def _compute(self, slot: _Slot, stage: int) -> None:
        left = self._ask(slot, "call", "shard/list", {"stage": stage, "parts": _PIECES})
        self._count(left["total"], left["done"])
        for shard in left["shards"]:
            began = time.monotonic()
            where = {"stage": stage, **{name: shard[name] for name in ("loop", "first", "count")}}
            computed = self._ask(slot, "call", "shard/compute", where)["destinations"]
            seconds = time.monotonic() - began
            slot.destinations += computed
            slot.seconds += seconds
            slot.losses = 0
            self._tell("shard", slot, **where, destinations=computed, seconds=round(seconds, 4))
            self._count(0, shard["count"])

    def _count(self, total: int, done: int) -> None:
        with self._changed:
            self._losses = 0 if done else self._losses
            self._total, self._done = self._total + total, self._done + done
            stage = min(min(slot.finished for slot in self._slots[1:]) + 1, self._stages)
            self._show(f"stage {stage} of {self._stages}", min(self._done, self._total), self._total)

    # ---- what passes between workers

    def _hear(self, slot: _Slot, stage: int, wanted: dict[str, Any]) -> None:
        """All that a worker needs of others before it leaves a stage."""
        if stage in wanted["hears"]:
            for other in self._slots[1:]:
                if other is not slot:
                    said = self._from(other, stage, slot, lambda peer: peer.ask("records", stage))
                    self._ask(slot, "accept", said["records"], said["files"])
        for parcel in wanted["parcels"]:
            if parcel["stage"] == stage:
                self._fetch(slot, parcel)

    def _fetch(self, slot: _Slot, parcel: Parcel) -> None:
        """Rows for a worker, from whoever owns them."""
        began = time.monotonic()
        target, handed = self._peer(slot), {}

        def send(peer: Peer) -> Future[Answer]:
            answer, handed["rows"] = peer.send(parcel, target)
            return answer

        for _ in range(_ATTEMPTS):
            said = self._from(self._slots[parcel["from"]], parcel["stage"], slot, send)
            rows = handed["rows"] if handed["rows"] is not None else said["file"]
            try:
                taken = self._answered(slot, target, target.receive(parcel, said["digest"], rows))
                break
            except _Lost:
                if not self._stands(slot):
                    raise
                # what was under way is gone, with who sent it
        else:
            raise EngineError(f"{slot.name} cannot take rows over", "has Ray's object store room for them?")
        halo = slot.halo.setdefault(parcel["stage"], [0, 0])
        halo[0], halo[1] = halo[0] + taken["rows"], halo[1] + taken["bytes"]
        more = {"from": parcel["from"], "rows": taken["rows"], "bytes": taken["bytes"]}
        self._tell("rows", slot, stage=parcel["stage"], **more, seconds=round(time.monotonic() - began, 4))

    def _from(self, source: _Slot, stage: int, reader: _Slot, ask: Callable[[Peer], Future[Answer]]) -> dict[str, Any]:
        """What a worker that has finished a stage answers a reader; its heir, where it is lost."""
        for _ in range(_ATTEMPTS):
            self._until(lambda: reader.peer is None or (source.peer is not None and source.finished >= stage))
            self._peer(reader)  # somebody may have noticed that it is gone, and wait for its heir
            peer = source.peer
            try:
                if peer is not None:
                    return self._answered(source, peer, ask(peer))
            except _Lost:
                if not self._stands(source):
                    self._gone(source, peer)
                elif not self._stands(reader):
                    raise
        raise EngineError(f"{source.name} cannot hand over what {reader.name} needs", "the same command begins again")

    def _stands(self, slot: _Slot) -> bool:
        """Whether the process still answers."""
        try:
            self._ask(slot, "stand")
        except _Lost:
            return False
        return True

    # ---- the results

    def _surely(self, work: Callable[[], _T]) -> _T:
        """What comes of it, if not at once, then by another process that gathers."""
        slot = self._slots[0]
        while True:
            try:
                return work()
            except _Lost as lost:
                self._lose(slot, str(lost))
                slot.halo.clear()
                if self._problem is not None:
                    raise _Ended from None

    def _begin(self) -> dict[str, Any] | None:
        """Makes the plan, unless a run in the folder has one; the report of a run that was finished before."""
        slot, output = self._slots[0], Path(self._request["output"])
        slot.peer = self._place.gatherer(output)
        place = self._ask(slot, "open", self._params(slot), self._begun)
        for note in place["notes"]:
            self._tell("note", slot, message=note)
        if place["stage"] is None:
            report: dict[str, Any] | None = place["report"]
            return report
        self._stages, self._begun = place["stages"], begun_in(output)
        return None

    def _finish(self) -> dict[str, Any]:
        slot = self._slots[0]
        if slot.peer is None:
            finished = self._begin()
            if finished is not None:
                return finished
        wanted = self._ask(slot, "call", "rows/wanted", {})
        for stage in range(1, self._stages + 1):
            self._hear(slot, stage, wanted)
            last = stage == self._stages
            place = self._ask(slot, "call", "stage/end", {"stage": stage, "publish": last})
        for note in place["notes"]:
            self._tell("note", slot, message=note)
        report: dict[str, Any] = place["report"]
        return report

    # ---- asking, and what may come of it

    def _peer(self, slot: _Slot) -> Peer:
        peer = slot.peer
        if peer is None:
            raise _Lost("its connection ended")
        return peer

    def _ask(self, slot: _Slot, what: str, *words: Any) -> dict[str, Any]:
        peer = self._peer(slot)
        return self._answered(slot, peer, peer.ask(what, *words))

    def _answered(self, slot: _Slot, peer: Peer, asked: Future[Answer]) -> dict[str, Any]:
        """What a worker says, with the version of its package and the file that it names, if any."""
        answer = self._waited(slot, asked)
        slot.host = answer.get("host", slot.host)
        if "lost" in answer or slot.peer is not peer:
            raise _Lost(answer.get("lost", "it was replaced"))
        if "error" in answer:
            problem = error_from(answer["error"])
            raise type(problem)(f"{slot.name}: {problem.message}", problem.hint, problem.where, problem.code)
        more = {name: answer[name] for name in ("version", "file") if name in answer}
        return {**answer["result"], **more}

    def _waited(self, slot: _Slot, asked: Future[Answer]) -> Answer:
        patience, began = self._request.get("wait"), time.monotonic()
        while not self._over or slot.number == 0:
            try:
                return asked.result(_TICK)
            except Slow:
                if patience is not None and slot.number and not slot.open and time.monotonic() - began > patience:
                    hint = "has the cluster free cores for it?"
                    raise ResourceError(f"{slot.name} has not begun within {patience:.0f} s", hint) from None
                if slot.number == 0 and self._problem is not None:
                    raise _Ended from None
            except HopscopeError:
                raise
            except Exception as problem:
                raise _Lost(sentence_of(problem)) from None
        raise _Ended

    def _until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            while not condition():
                if self._over or self._problem is not None:
                    raise _Ended
                self._changed.wait(_TICK)

    def _gone(self, slot: _Slot, peer: Peer | None) -> None:
        """Somebody has noticed that a worker is gone; whoever tends it replaces it."""
        with self._changed:
            if peer is not None and slot.peer is peer:
                slot.drop()
                self._changed.notify_all()

    def _lose(self, slot: _Slot, why: str) -> None:
        with self._changed:
            if self._over:
                return
            slot.drop()
            self._lost, self._losses, slot.losses = self._lost + 1, self._losses + 1, slot.losses + 1
            if self._losses >= _LOSSES * len(self._slots):
                problem = f"workers were lost {self._losses} times without finishing anything, the last time"
                self._problem = EngineError(f"{problem} {slot.name}: {why}", "the same command begins again")
            self._changed.notify_all()
        self._tell("lost", slot, message=why)
        time.sleep(min(_PAUSE * (slot.losses - 1) + 0.1, _PAUSE * _LOSSES))

    def _fail(self, problem: BaseException) -> None:
        with self._changed:
            self._problem = self._problem or problem
            self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
            for slot in self._slots:
                if slot.peer is not None:
                    slot.peer.end()

    def _tell(self, event: str, slot: _Slot, **more: Any) -> None:
        with self._changed:
            when = round(time.monotonic() - self._began, 3)
            self._listener({"event": event, "time": when, "worker": slot.number, "host": slot.host, **more})


def _halo_of(slot: _Slot) -> list[dict[str, int]]:
    return [{"stage": stage, "rows": rows, "bytes": size} for stage, (rows, size) in sorted(slot.halo.items())]
