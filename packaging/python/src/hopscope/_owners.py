"""A run by workers that share no folder: each computes its part of every stage, keeps the rows, and gets those that it
reads of others; a process here gathers the results. Whoever is lost is replaced, and makes its rows again
or gets back the copies that others have."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from ._owner import begun_in
from ._peers import Answer, Parcel, Peer, Place
from ._progress import Progress
from ._replicas import Replicas
from ._roster import Ended, Event, Lost, Roster, Slot
from ._version import __version__
from .errors import EngineError

_PIECES = 16  # shards of a worker and stage
_ATTEMPTS = 50  # at handing something over

_T = TypeVar("_T")


class Owners(Roster):
    """`request`: what worker/open gets, but for `owner`. `replicas`: 2, if another worker is to keep a copy of what
    each has finished."""

    def __init__(
        self,
        place: Place,
        request: Mapping[str, Any],
        told: Callable[[Event], None],
        show: Progress,
        replicas: int = 1,
    ) -> None:
        super().__init__(place, request, told)
        self._place, self._show = place, show
        self._request = {**request, "threads": place.threads}
        self._begun: dict[str, str] = {}
        self._done = self._total = 0
        self._replicas = Replicas(self) if replicas > 1 else None

    def run(self) -> dict[str, Any]:
        """The report. Raises what a worker refuses, by its name."""
        threads: list[threading.Thread] = []
        try:
            report = self._surely(self._begin)
            if report is not None:
                return report
            lives = [self._tend] + ([self._replicas.copy] if self._replicas else [])
            threads = [threading.Thread(target=life, args=(slot,)) for slot in self.slots[1:] for life in lives]
            for thread in threads:
                thread.start()
            return self._surely(self._finish)
        except Ended:
            assert self.problem is not None
            raise self.problem from None
        finally:
            self.end()
            for thread in threads:
                thread.join()

    def summary(self) -> dict[str, Any]:
        """Who has computed what, what came in of others, and what was lost on the way."""
        workers = [
            {"worker": slot.number, "host": slot.host, "joined": slot.joined, "destinations": slot.destinations}
            | {"seconds": round(slot.seconds, 3), "halo": _by_stage(slot.halo)}
            | ({"copies": _by_stage(slot.copies)} if self._replicas else {})
            for slot in self.slots[1:]
        ]
        gathered = sum(size for _, size in self.slots[0].halo.values())
        more = {"threads": self._place.threads, "lost": self._lost, "gathered": gathered}
        return {"layout": "owners", "workers": workers, **more}

    # ---- one worker

    def _tend(self, slot: Slot) -> None:
        """The life of a worker and of those that replace it, in a thread of its own."""
        while not self.over:
            try:
                slot.peer = self._place.peer(slot.number)
                self._live(slot)
            except Ended:
                return
            except Lost as lost:
                self.lose(slot, str(lost))
            except BaseException as problem:
                self.fail(problem)
                return

    def _live(self, slot: Slot) -> None:
        self._opened(slot, self.ask(slot, "open", self._params(slot), self._begun))
        wanted = self.ask(slot, "call", "rows/wanted", {"own": self._replicas is not None})
        slot.own = [parcel for parcel in wanted["own"] if parcel["stage"] < self.stages]
        for stage in range(1, self.stages + 1):
            self._compute(slot, stage)
            if self._replicas:
                self._replicas.wait(slot, stage - 1)
            with self.changed:
                slot.finished = stage
                self.changed.notify_all()
            self.tell("finished", slot, stage=stage, stages=self.stages)
            if stage < self.stages:
                self._hear(slot, stage, wanted)
                self._noted(slot, self.ask(slot, "call", "stage/end", {"stage": stage}))
        self.until(lambda: slot.peer is None)
        raise Lost("its connection ended")

    def _params(self, slot: Slot) -> dict[str, Any]:
        return {**self._request, "owner": {"index": slot.number, "count": self._place.size}}

    def _opened(self, slot: Slot, result: dict[str, Any]) -> None:
        if result["version"] != __version__:
            raise EngineError(
                f"{slot.name} has version {result['version']} of this package, not {__version__}",
                "install the same everywhere",
            )
        with self.changed:
            slot.joined, slot.open = slot.joined + 1, True
            slot.keeps = {(worker, stage) for worker, stage in result["copies"]}
            self.changed.notify_all()
        self.tell("joined", slot)
        self._noted(slot, result)

    def _noted(self, slot: Slot, place: dict[str, Any]) -> None:
        for note in place["notes"]:
            self.tell("note", slot, message=note)

    def _left(self, slot: Slot, stage: int) -> dict[str, Any]:
        return self.ask(slot, "call", "shard/list", {"stage": stage, "parts": _PIECES})

    def _compute(self, slot: Slot, stage: int) -> None:
        left = self._left(slot, stage)
        if self._replicas and left["done"] == 0 < left["total"]:
            left = self._replicas.restored(slot, stage, left, lambda: self._left(slot, stage))
        self._count(left["total"], left["done"])
        for shard in left["shards"]:
            began = time.monotonic()
            where = {"stage": stage, **{name: shard[name] for name in ("loop", "first", "count")}}
            computed = self.ask(slot, "call", "shard/compute", where)["destinations"]
            seconds = time.monotonic() - began
            slot.destinations += computed
            slot.seconds += seconds
            slot.losses = 0
            self.tell("shard", slot, **where, destinations=computed, seconds=round(seconds, 4))
            self._count(0, shard["count"])

    def _count(self, total: int, done: int) -> None:
        with self.changed:
            if done:
                self.advanced()
            self._total, self._done = self._total + total, self._done + done
            stage = min(min(slot.finished for slot in self.slots[1:]) + 1, self.stages)
            self._show(f"stage {stage} of {self.stages}", min(self._done, self._total), self._total)

    # ---- what passes between workers

    def _hear(self, slot: Slot, stage: int, wanted: dict[str, Any]) -> None:
        """All that a worker needs of others before it leaves a stage."""
        if stage in wanted["hears"]:
            for other in self.slots[1:]:
                if other is not slot:
                    said = self._from(other, stage, slot, lambda peer: peer.ask("records", stage))
                    self.ask(slot, "accept", said["records"], said["files"])
        for parcel in wanted["parcels"]:
            if parcel["stage"] == stage:
                self._fetch(slot, parcel)

    def _fetch(self, slot: Slot, parcel: Parcel) -> None:
        """Rows for a worker, from whoever owns them."""
        began = time.monotonic()
        target, handed = self.peer(slot), {}

        def send(peer: Peer) -> Future[Answer]:
            answer, handed["rows"] = peer.draw("hand", parcel["value"], target.listing(parcel))
            return answer

        for _ in range(_ATTEMPTS):
            said = self._from(self.slots[parcel["from"]], parcel["stage"], slot, send)
            rows = handed["rows"] if handed["rows"] is not None else said["file"]
            try:
                taken = self.answered(slot, target, target.give("take", rows, parcel, said["digest"]))
                break
            except Lost:
                if not self.stands(slot):
                    raise
                # what was under way is gone, with who sent it
        else:
            raise EngineError(f"{slot.name} cannot take rows over", "has Ray's object store room for them?")
        halo = slot.halo.setdefault(parcel["stage"], [0, 0])
        halo[0], halo[1] = halo[0] + taken["rows"], halo[1] + taken["bytes"]
        more = {"from": parcel["from"], "rows": taken["rows"], "bytes": taken["bytes"]}
        self.tell("rows", slot, stage=parcel["stage"], **more, seconds=round(time.monotonic() - began, 4))

    def _from(self, source: Slot, stage: int, reader: Slot, ask: Callable[[Peer], Future[Answer]]) -> dict[str, Any]:
        """What a worker that has finished a stage answers a reader; its heir, where it is lost."""
        for _ in range(_ATTEMPTS):
            self.until(lambda: reader.peer is None or (source.peer is not None and source.finished >= stage))
            self.peer(reader)  # somebody may have noticed that it is gone, and wait for its heir
            peer = source.peer
            try:
                if peer is not None:
                    return self.answered(source, peer, ask(peer))
            except Lost:
                if not self.stands(source):
                    self.gone(source, peer)
                elif not self.stands(reader):
                    raise
        raise EngineError(f"{source.name} cannot hand over what {reader.name} needs", "the same command begins again")

    # ---- the results

    def _surely(self, work: Callable[[], _T]) -> _T:
        """What comes of it, if not at once, then by another process that gathers."""
        slot = self.slots[0]
        while True:
            try:
                return work()
            except Lost as lost:
                self.lose(slot, str(lost))
                slot.halo.clear()
                if self.problem is not None:
                    raise Ended from None

    def _begin(self) -> dict[str, Any] | None:
        """Makes the plan, unless a run in the folder has one; the report of a run that was finished before."""
        slot, output = self.slots[0], Path(self._request["output"])
        slot.peer = self._place.gatherer(output)
        place = self.ask(slot, "open", self._params(slot), self._begun)
        self._noted(slot, place)
        if place["stage"] is None:
            report: dict[str, Any] | None = place["report"]
            return report
        self.stages, self._begun = place["stages"], begun_in(output)
        return None

    def _finish(self) -> dict[str, Any]:
        slot = self.slots[0]
        if slot.peer is None:
            finished = self._begin()
            if finished is not None:
                return finished
        wanted = self.ask(slot, "call", "rows/wanted", {})
        for stage in range(1, self.stages + 1):
            self._hear(slot, stage, wanted)
            last = stage == self.stages
            place = self.ask(slot, "call", "stage/end", {"stage": stage, "publish": last})
        self._noted(slot, place)
        report: dict[str, Any] = place["report"]
        return report


def _by_stage(came: Mapping[int, list[int]]) -> list[dict[str, int]]:
    return [{"stage": stage, "rows": rows, "bytes": size} for stage, (rows, size) in sorted(came.items())]
