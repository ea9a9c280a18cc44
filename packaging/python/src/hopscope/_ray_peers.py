"""Workers that keep their own rows on a Ray cluster. Rows that pass between them are what calls of actors return:
objects that Ray moves from node to node, and forgets when they have been taken over."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy

from ._owner import Gatherer, Owner, remove
from ._peers import Answer, LocalPeer, Parcel, Peer
from ._ray import RayCrew

_PATIENCE = 60.0  # seconds for a node to remove what workers have left: it starts a process for that first


class Engine:
    """What runs in the actor: an `Owner`, whose files are objects here."""

    def __init__(self, scratch: str | None, name: str) -> None:
        self._owner = Owner(scratch, name)

    def ask(self, what: str, *words: Any) -> Answer:
        answer: Answer = getattr(self._owner, what)(*words)
        return answer

    def listing(self, path: str) -> bytes:
        return self._owner.listing(path)

    def draw(self, what: str, *words: Any) -> tuple[Answer, Any]:
        answer = self.ask(what, *words)
        if "result" not in answer:
            return answer, None
        file = Path(answer.pop("file"))
        rows = numpy.fromfile(file, numpy.uint8)
        file.unlink()
        return answer, rows

    def give(self, what: str, rows: Any, *words: Any) -> Answer:
        return self.ask(what, memoryview(rows), *words)


class _Gathering(LocalPeer):
    """The process of this machine that makes the results appear: what it takes over comes from the cluster."""

    def __init__(self, ray: Any, owner: Owner) -> None:
        super().__init__(owner)
        self._ray = ray

    def listing(self, parcel: Parcel) -> Any:
        return Path(parcel["list"]).read_bytes()

    def give(self, what: str, rows: Any, *words: Any) -> Future[Answer]:
        return self._thread.submit(self._give, what, rows, *words)

    def _give(self, what: str, rows: Any, *words: Any) -> Answer:
        answer: Answer = getattr(self._owner, what)(memoryview(self._ray.get(rows)), *words)
        return answer


class _Actor:
    def __init__(self, ray: Any, threads: int, scratch: str | None, name: str) -> None:
        self._ray = ray
        kind = ray.remote(num_cpus=threads, max_restarts=0, max_task_retries=0)(Engine)
        self._handle = kind.remote(scratch, name)

    def ask(self, what: str, *words: Any) -> Future[Answer]:
        asked: Future[Answer] = self._handle.ask.remote(what, *words).future()
        return asked

    def listing(self, parcel: Parcel) -> Any:
        return self._handle.listing.remote(parcel["list"])

    def draw(self, what: str, *words: Any) -> tuple[Future[Answer], Any]:
        answer, rows = self._handle.draw.options(num_returns=2).remote(what, *words)
        asked: Future[Answer] = answer.future()
        return asked, rows

    def give(self, what: str, rows: Any, *words: Any) -> Future[Answer]:
        asked: Future[Answer] = self._handle.give.remote(what, rows, *words).future()
        return asked

    def end(self) -> None:
        with contextlib.suppress(Exception):  # whatever Ray says of an actor that is gone already
            self._ray.kill(self._handle, no_restart=True)


class RayPlace:
    """As `RayCrew`. `name`: of the folders of workers in `scratch`, before their numbers."""

    def __init__(self, address: str, size: int, threads: int, scratch: str | None, name: str) -> None:
        self._crew = RayCrew(address, size, threads)
        self.size, self.threads = self._crew.size, self._crew.threads
        self._scratch, self._name = scratch, name
        self._actors: list[_Actor] = []
        self._gatherers: list[_Gathering] = []

    def peer(self, number: int) -> Peer:
        self._actors.append(_Actor(self._crew.ray, self.threads, self._scratch, f"{self._name}-{number}"))
        return self._actors[-1]

    def gatherer(self, output: Path) -> Peer:
        self._gatherers.append(_Gathering(self._crew.ray, Gatherer(output)))
        return self._gatherers[-1]

    def close(self, clean: bool) -> None:
        for actor in self._actors:
            actor.end()
        for gatherer in self._gatherers:
            gatherer.end()
            with contextlib.suppress(OSError):
                gatherer.close()
        if clean or not self._scratch:
            self._sweep()
        self._crew.close()

    def _sweep(self) -> None:
        """A worker that was killed leaves its folder, on whichever node it was."""
        ray = self._crew.ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        task = ray.remote(num_cpus=0, max_retries=0)(remove)
        swept = [
            task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(
                self._scratch, self._name
            )
            for node in nodes
        ]
        with contextlib.suppress(Exception):  # a node may go while it sweeps
            ray.wait(swept, num_returns=len(swept), timeout=_PATIENCE)
