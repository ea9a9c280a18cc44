"""Workers that keep their own rows, and how rows pass from one to another: by files on this machine here, on a cluster
in `_ray_peers`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from ._owner import Gatherer, Owner, remove

Answer = dict[str, Any]
Parcel = Mapping[str, Any]


class Peer(Protocol):
    """A worker. Requests are carried out in their order; an exception stands for one that is gone."""

    def ask(self, what: str, *words: Any) -> Future[Answer]:
        """A method of `Owner`."""

    def draw(self, what: str, *words: Any) -> tuple[Future[Answer], Any]:
        """A method of `Owner` that hands rows over: the answer, which may name a `file`; if not, the rows."""

    def give(self, what: str, rows: Any, *words: Any) -> Future[Answer]:
        """A method of `Owner` that takes rows, those of another one's `draw`."""

    def listing(self, parcel: Parcel) -> Any:
        """The list of the rows, as `hand` takes it."""

    def end(self) -> None:
        """At once and without waiting; what it has begun is cancelled."""


class Place(Protocol):
    """Where workers are, `size` of them with `threads` cores each."""

    size: int
    threads: int

    def peer(self, number: int) -> Peer:
        """A new worker. It may have to wait for its place."""

    def gatherer(self, output: Path) -> Peer:
        """The process of this machine that makes the results appear."""

    def close(self, clean: bool) -> None:
        """Ends all workers. Nothing is left but, unless `clean`, what is finished in folders that were named."""


class LocalPeer:
    """A worker process of this machine, and the thread that talks to it."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._thread = ThreadPoolExecutor(1, "hopscope-owner")

    def ask(self, what: str, *words: Any) -> Future[Answer]:
        return self._thread.submit(getattr(self._owner, what), *words)

    def listing(self, parcel: Parcel) -> Any:
        return parcel["list"]

    def draw(self, what: str, *words: Any) -> tuple[Future[Answer], Any]:
        return self.ask(what, *words), None

    def give(self, what: str, rows: Any, *words: Any) -> Future[Answer]:
        return self.ask(what, rows, *words)

    def end(self) -> None:
        self._owner.end()

    def close(self) -> None:
        self._owner.end()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._owner.close()
        self._thread.shutdown(wait=True)


class LocalPlace:
    """Workers of this machine. `name`: of their folders in `scratch`, before their numbers."""

    def __init__(self, size: int, threads: int, scratch: str | None, name: str) -> None:
        self.size, self.threads = size, threads
        self._scratch, self._name = scratch, name
        self._peers: list[LocalPeer] = []

    def peer(self, number: int) -> Peer:
        return self._kept(Owner(self._scratch, f"{self._name}-{number}"))

    def gatherer(self, output: Path) -> Peer:
        return self._kept(Gatherer(output))

    def _kept(self, owner: Owner) -> LocalPeer:
        self._peers.append(LocalPeer(owner))
        return self._peers[-1]

    def close(self, clean: bool) -> None:
        for peer in self._peers:
            peer.end()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.close()
        if clean or not self._scratch:
            remove(self._scratch, self._name)
