"""Events of a run of several workers for the client of `hopscope-scale serve`: those of the driver, translated to
run/events (docs/reference/protocol.md) and sent some thirty times a second."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ._driver import Event

_INTERVAL = 0.034  # seconds
_MOST = 2000  # events of a message
_FIGURES = ("destinations", "written", "read", "done")
_OF_WORKERS = {name: name for name in ("starting", "joined", "lost", "late", "refused")} | {"retired": "done"}


class Translation:
    """The translation of one run. It tracks the shard that each worker computes."""

    def __init__(self) -> None:
        self._under_way: dict[int, Event] = {}
        self._stage_began = 0.0
        self._noted: set[str] = set()

    def of(self, event: Event) -> list[Event]:
        """Translates an event; returns an empty list if the protocol has no such event."""
        kind = event["event"]
        if kind in _OF_WORKERS:
            return [*self._ended_by(event), _worker(event)]
        told = {
            "begun": self._begun,
            "shard": self._computed,
            "stage": self._stage,
            "barrier": self._barrier,
            "left": self._left,
            "note": self._note,
            "waiting": self._note,
        }.get(kind)
        return told(event) if told else []

    def _ended_by(self, event: Event) -> list[Event]:
        begun = self._under_way.pop(event["worker"], None) if event["event"] == "lost" else None
        return [] if begun is None else [_shard(begun, "lost", end=event["time"])]

    def _begun(self, event: Event) -> list[Event]:
        self._under_way[event["worker"]] = event
        return [_shard(event, "begun")]

    def _computed(self, event: Event) -> list[Event]:
        begun = self._under_way.pop(event["worker"], event)
        figures: Event = {name: event.get(name) for name in _FIGURES}
        outcome = "computed" if event["destinations"] else "found"
        return [_shard({**begun, **figures}, outcome, end=event["time"])]

    def _stage(self, event: Event) -> list[Event]:
        self._stage_began = event["time"]
        named: Event = {"index": event["stage"], "count": event["stages"], "destinations": event["total"]}
        return [{"type": "stage", **named, "time": event["time"], "done": event["done"], "shards": event["shards"]}]

    def _barrier(self, event: Event) -> list[Event]:
        place = {"time": event["time"]}
        seconds = round(event["time"] - self._stage_began, 3)
        return [
            {"type": "barrier", "stage": event["stage"], **place},
            {"type": "stage_end", "index": event["stage"], "seconds": seconds, "overlap": None, **place},
        ]

    def _left(self, event: Event) -> list[Event]:
        span = {"begin": round(event["time"] - event["seconds"], 3), "end": event["time"]}
        named = {name: event[name] for name in ("worker", "stage", "bytes")}
        return [{"type": "read_back", **named, **span}]

    def _note(self, event: Event) -> list[Event]:
        """Sends a note once, although every worker reports it."""
        message = event["message"]
        if message in self._noted:
            return []
        self._noted.add(message)
        return [{"type": "note", "message": message}]


def _worker(event: Event) -> Event:
    message = {
        "late": f"is slow to compute destinations from {event.get('first')} on; others compute them as well",
    }.get(event["event"], event.get("message"))
    told = {"type": "worker", "worker": event["worker"], "what": _OF_WORKERS[event["event"]], "host": event["host"]}
    return {**told, "message": message, "time": event["time"]}


def _shard(event: Event, outcome: str, end: float | None = None) -> Event:
    names = ("worker", "stage", "loop", "first", "count", "work", "attempt")
    told = {"type": "shard", "outcome": outcome, "shard": event["number"], **{name: event[name] for name in names}}
    figures = {name: event.get(name) for name in _FIGURES}
    return {**told, "begin": event["time"], "end": end, **figures, "time": event["time"] if end is None else end}


class Feed:
    """Gathers events, and sends them with the state of the run; everything is sent when `close` returns."""

    def __init__(self, send: Callable[[str, list[Event]], None]) -> None:
        self._send = send
        self._events: list[Event] = []
        self._state, self._told, self._closed = "preparing", "", False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._loop, name="hopscope-events", daemon=True)
        self._thread.start()

    def push(self, events: list[Event], state: str | None = None) -> None:
        with self._changed:
            self._events += events
            self._state = state or self._state

    def close(self) -> None:
        with self._changed:
            self._state, self._closed = "finished", True
            self._changed.notify()
        self._thread.join()

    def _loop(self) -> None:
        while not self._flush():
            with self._changed:
                self._changed.wait_for(lambda: self._closed, _INTERVAL)

    def _flush(self) -> bool:
        """Sends the gathered events; returns whether they were the last."""
        with self._changed:
            events, self._events = self._events, []
            state, closed, news = self._state, self._closed, bool(events) or self._state != self._told
            self._told = state
        for first in range(0, max(len(events), 1), _MOST) if news else ():
            self._send(state, events[first : first + _MOST])
        return closed
