"""Copies of the rows that workers have computed: another worker keeps those of each stage but the last one, which goes
to the results, and whoever replaces a worker that was lost with its folder gets them back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._peers import Peer
from ._roster import Ended, Lost, Roster, Slot
from .errors import EngineError

_AT_ONCE = 4  # parcels on their way: each waits for a shard of who hands it over, and one of who takes it
_ATTEMPTS = 50  # at a copy
_PAUSE = 0.2  # seconds between them


class _End(NamedTuple):
    """Of what passes between two workers."""

    slot: Slot
    peer: Peer


class Replicas:
    """What a slot `keeps` says who has which copies."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    # ---- copies

    def copy(self, slot: Slot) -> None:
        """Has copies made of what a worker and those that replace it have finished, in a thread of its own."""
        try:
            while True:
                self._roster.until(lambda: self._next(slot) is not None)
                self._copied(slot)
        except Ended:
            return
        except BaseException as problem:
            self._roster.fail(problem)

    def wait(self, slot: Slot, stage: int) -> None:
        """Until there is a copy of a stage, so that copies are one stage behind at most."""
        if stage > 0:
            self._roster.until(lambda: slot.peer is None or self._keeper(slot, stage) is not None)
        self._roster.peer(slot)

    def _keeper(self, slot: Slot, stage: int) -> Slot | None:
        """Who has a copy."""
        return next((other for other in self._roster.slots if (slot.number, stage) in other.keeps), None)

    def _next(self, slot: Slot) -> tuple[int, Slot] | None:
        """The first stage without a copy, and who is to keep it: the next worker on another host, else the next."""
        finished = range(1, min(slot.finished, self._roster.stages - 1) + 1)
        missing = [stage for stage in finished if self._keeper(slot, stage) is None]
        others = [*self._roster.slots[slot.number + 1 :], *self._roster.slots[1 : slot.number]]
        if not missing or not slot.open or not all(other.host for other in others):
            return None
        keeper = next((other for other in others if other.host != slot.host), others[0])
        return (missing[0], keeper) if keeper.open else None

    def _copied(self, slot: Slot) -> None:
        """Nothing where it is not due any more."""
        for _ in range(_ATTEMPTS):
            due = self._next(slot)
            ends = self._ends(slot, due[1]) if due else None
            if due is None or ends is None:
                return None
            try:
                return self._copy(*ends, due[0])
            except Lost:
                self._blame(*ends)
                time.sleep(_PAUSE)
        raise EngineError(
            f"no other worker can keep a copy of what {slot.name} has", "has Ray's object store room for it?"
        )

    def _copy(self, source: _End, target: _End, stage: int) -> None:
        began = time.monotonic()
        worker, parcels = source.slot.number, [parcel for parcel in source.slot.own if parcel["stage"] == stage]
        records = self._ask(source, "records", stage)
        size = self._pass_on(
            source,
            [("hand", parcel["value"], source.peer.listing(parcel)) for parcel in parcels],
            target,
            [("keep", worker, stage, number) for number in range(len(parcels))],
        )
        self._ask(target, "seal", worker, stage, records["records"], records["files"])
        rows = sum(parcel["rows"] for parcel in parcels)
        with self._roster.changed:
            if target.slot.peer is not target.peer:
                raise Lost("it was replaced")
            target.slot.keeps.add((worker, stage))
            came = target.slot.copies.setdefault(stage, [0, 0])
            came[0], came[1] = came[0] + rows, came[1] + size
            self._roster.changed.notify_all()
        self._tell("copied", target, source, stage, began, rows=rows, bytes=size)

    # ---- and back

    def restored(
        self, slot: Slot, stage: int, left: dict[str, Any], look: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """What is left of a stage of which a worker has nothing, once it has its copy back."""
        began, keeper = time.monotonic(), self._keeper(slot, stage)
        ends = self._ends(keeper, slot) if keeper else None
        if ends is None:
            return left
        source, target = ends
        try:
            size = self._hand_back(source, target, stage)
        except Lost:
            self._blame(source, target)
            self._roster.peer(slot)
            return left  # to be computed again
        left = look()
        if left["done"] < left["total"]:
            self._forget(slot, stage)
        self._tell("restored", target, source, stage, began, destinations=left["done"], bytes=size)
        return left

    def _hand_back(self, source: _End, target: _End, stage: int) -> int:
        """The bytes; none, if the copy is damaged in a way that can be seen at once."""
        worker, parcels = target.slot.number, [parcel for parcel in target.slot.own if parcel["stage"] == stage]
        kept = self._ask(source, "kept", worker, stage)
        if kept["sizes"] != [parcel["bytes"] for parcel in parcels]:
            return 0
        drawn = [("back", worker, stage, number) for number in range(len(parcels))]
        size = self._pass_on(source, drawn, target, [("take", parcel, None) for parcel in parcels])
        self._ask(target, "accept", kept["records"], kept["files"])
        return size

    def _forget(self, slot: Slot, stage: int) -> None:
        """The copy is made anew once the stage is finished."""
        with self._roster.changed:
            for other in self._roster.slots:
                other.keeps.discard((slot.number, stage))

    # ---- both

    @staticmethod
    def _ends(source: Slot, target: Slot) -> tuple[_End, _End] | None:
        """None where one of them is gone."""
        one, other = source.peer, target.peer
        return (_End(source, one), _End(target, other)) if one and other else None

    def _ask(self, end: _End, what: str, *words: Any) -> dict[str, Any]:
        return self._roster.answered(end.slot, end.peer, end.peer.ask(what, *words))

    def _pass_on(
        self, source: _End, drawn: Sequence[tuple[Any, ...]], target: _End, given: Sequence[tuple[Any, ...]]
    ) -> int:
        """Rows that the one hands over, in words for it, as the other one takes them; the bytes."""
        size = 0
        for first in range(0, len(drawn), _AT_ONCE):
            pieces = slice(first, first + _AT_ONCE)
            coming = [source.peer.draw(*words) for words in drawn[pieces]]
            going = []
            for (answer, rows), (what, *words) in zip(coming, given[pieces], strict=True):
                said = self._roster.answered(source.slot, source.peer, answer)
                going.append(target.peer.give(what, rows if rows is not None else said["file"], *words))
            size += sum(self._roster.answered(target.slot, target.peer, taken)["bytes"] for taken in going)
        return size

    def _blame(self, *ends: _End) -> None:
        """Whoever does not answer any more is replaced."""
        for end in ends:
            if not self._roster.stands(end.slot):
                self._roster.gone(end.slot, end.peer)

    def _tell(self, event: str, target: _End, source: _End, stage: int, began: float, **more: Any) -> None:
        seconds = round(time.monotonic() - began, 4)
        self._roster.tell(event, target.slot, stage=stage, **{"from": source.slot.number}, **more, seconds=seconds)
