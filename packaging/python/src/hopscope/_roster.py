"""The workers of a run that share no folder, as its driver sees them: what they are asked, what may come of that, and
what becomes of those that are lost. Several threads at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Slow
from dataclasses import dataclass, field
from typing import Any

from ._peers import Answer, Parcel, Peer, Place
from .errors import EngineError, HopscopeError, ResourceError, error_from, sentence_of

_TICK = 0.2  # seconds between looks at whether the run has ended
_LOSSES = 6  # times the number of workers, in a row, while nobody has finished anything
_PAUSE = 1.0  # seconds, times the losses in a row but the first, before a worker begins again

Event = dict[str, Any]


class Lost(Exception):
    """A worker is gone."""


class Ended(Exception):
    """The run is over, for whatever reason."""


@dataclass
class Slot:
    """A worker (0: who gathers). `peer`: its process, if any, and whether that takes part in the run; `finished`: the
    stages of which its rows are there; `own`: these rows; `keeps`: the workers and stages of which it has copies."""

    number: int
    peer: Peer | None = None
    host: str = ""
    open: bool = False
    finished: int = 0
    joined: int = 0
    losses: int = 0
    destinations: int = 0
    seconds: float = 0.0
    own: list[Parcel] = field(default_factory=list)
    keeps: set[tuple[int, int]] = field(default_factory=set)
    halo: dict[int, list[int]] = field(default_factory=dict)  # by stage: rows and bytes that came in
    copies: dict[int, list[int]] = field(default_factory=dict)  # likewise, to be kept

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
        self.keeps = set()


class Roster:
    """`request`: what worker/open gets; its `wait` is also for how many seconds a worker may have to wait for its
    place. All members but those of a slot are guarded by `changed`."""

    def __init__(self, place: Place, request: Mapping[str, Any], told: Callable[[Event], None]) -> None:
        self._listener, self._patience = told, request.get("wait")
        self._began = time.monotonic()
        self.slots = [Slot(number) for number in range(place.size + 1)]
        self.changed = threading.Condition(threading.RLock())
        self.problem: BaseException | None = None
        self.over = False
        self.stages = 0  # known once the run has begun
        self._lost = self._losses = 0

    def peer(self, slot: Slot) -> Peer:
        peer = slot.peer
        if peer is None:
            raise Lost("its connection ended")
        return peer

    def ask(self, slot: Slot, what: str, *words: Any) -> dict[str, Any]:
        peer = self.peer(slot)
        return self.answered(slot, peer, peer.ask(what, *words))

    def answered(self, slot: Slot, peer: Peer, asked: Future[Answer]) -> dict[str, Any]:
        """What a worker says, with the version of its package and the file that it names, if any."""
        answer = self._waited(slot, asked)
        slot.host = answer.get("host", slot.host)
        if "lost" in answer or slot.peer is not peer:
            raise Lost(answer.get("lost", "it was replaced"))
        if "error" in answer:
            problem = error_from(answer["error"])
            raise type(problem)(f"{slot.name}: {problem.message}", problem.hint, problem.where, problem.code)
        more = {name: answer[name] for name in ("version", "file") if name in answer}
        return {**answer["result"], **more}

    def _waited(self, slot: Slot, asked: Future[Answer]) -> Answer:
        patience, began = self._patience, time.monotonic()
        while not self.over or slot.number == 0:
            try:
                return asked.result(_TICK)
            except Slow:
                if patience is not None and slot.number and not slot.open and time.monotonic() - began > patience:
                    hint = "has the cluster free cores for it?"
                    raise ResourceError(f"{slot.name} has not begun within {patience:.0f} s", hint) from None
                if slot.number == 0 and self.problem is not None:
                    raise Ended from None
            except HopscopeError:
                raise
            except Exception as problem:
                raise Lost(sentence_of(problem)) from None
        raise Ended

    def until(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            while not condition():
                if self.over or self.problem is not None:
                    raise Ended
                self.changed.wait(_TICK)

    def gone(self, slot: Slot, peer: Peer | None) -> None:
        """Somebody has noticed that a worker is gone; whoever tends it replaces it."""
        with self.changed:
            if peer is not None and slot.peer is peer:
                slot.drop()
                self.changed.notify_all()

    def lose(self, slot: Slot, why: str) -> None:
        with self.changed:
            if self.over:
                return
            slot.drop()
            self._lost, self._losses, slot.losses = self._lost + 1, self._losses + 1, slot.losses + 1
            if self._losses >= _LOSSES * len(self.slots):
                problem = f"workers were lost {self._losses} times without finishing anything, the last time"
                self.problem = EngineError(f"{problem} {slot.name}: {why}", "the same command begins again")
            self.changed.notify_all()
        self.tell("lost", slot, message=why)
        time.sleep(min(_PAUSE * (slot.losses - 1) + 0.1, _PAUSE * _LOSSES))

    def advanced(self) -> None:
        """Somebody has finished something."""
        with self.changed:
            self._losses = 0

    def fail(self, problem: BaseException) -> None:
        with self.changed:
            self.problem = self.problem or problem
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()
            for slot in self.slots:
                if slot.peer is not None:
                    slot.peer.end()

    def tell(self, event: str, slot: Slot, **more: Any) -> None:
        with self.changed:
            when = round(time.monotonic() - self._began, 3)
            self._listener({"event": event, "time": when, "worker": slot.number, "host": slot.host, **more})

    def stands(self, slot: Slot) -> bool:
        """Whether the process still answers."""
        try:
            self.ask(slot, "stand")
        except Lost:
            return False
        return True
