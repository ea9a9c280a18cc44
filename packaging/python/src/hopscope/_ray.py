"""Workers on a Ray cluster: an actor for each, which owns the process of its engine. Ray never sees a row: workers meet
in the output folder."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from ._crew import Answer, Member
from ._words import counted
from ._worker import Worker
from .errors import ResourceError, UsageError

_PATIENCE = 10.0  # seconds for the head of a cluster to answer


class Engine:
    """The contents of an actor. The engine's process ends with the actor, even if the actor is killed."""

    def __init__(self) -> None:
        self._worker = Worker()

    def call(self, method: str, params: Mapping[str, Any]) -> Answer:
        return self._worker.call(method, params)


class _Actor:
    def __init__(self, ray: Any, threads: int) -> None:
        self._ray = ray
        kind = ray.remote(num_cpus=threads, max_restarts=0, max_task_retries=0)(Engine)
        self._handle = kind.remote()

    def call(self, method: str, params: Mapping[str, Any]) -> Future[Answer]:
        asked: Future[Answer] = self._handle.call.remote(method, dict(params)).future()
        return asked

    def end(self) -> None:
        with contextlib.suppress(Exception):  # whatever Ray says of an actor that is gone already
            self._ray.kill(self._handle, no_restart=True)


class RayCrew:
    """Connects to a cluster: "auto" is one of this machine, else HOST:PORT. `threads` 0: as many as the smallest node
    has; `size` 0: as many as there is room for."""

    def __init__(self, address: str, size: int, threads: int) -> None:
        self._ray, self._ours = _connected(address)
        self._members: list[_Actor] = []
        try:
            cores = _cores(self._ray)
            self.threads = threads or min(cores)
            room = sum(count // self.threads for count in cores)
            self.size = size or room
            if room == 0 or self.size > room:
                raise ResourceError(
                    f"{address} has room for {counted(room, 'worker')} of {counted(self.threads, 'core')}, "
                    f"not for {self.size}",
                    "ask for fewer with --workers, or for smaller ones with --threads",
                )
        except BaseException:
            self.close()
            raise

    def member(self, number: int) -> Member:
        made = _Actor(self._ray, self.threads)
        self._members.append(made)
        return made

    def close(self) -> None:
        for member in self._members:
            member.end()
        if self._ours:
            self._ray.shutdown()


def _connected(address: str) -> tuple[Any, bool]:
    """Ray, and whether this call has connected to it; an existing connection remains open."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as problem:
        raise UsageError(
            f"a cluster at {address} needs Ray, which is not installed here",
            "pip install 'hopscope[scale]'; without it, the address 'local' starts workers on this machine",
        ) from problem
    if ray.is_initialized():
        return ray, False
    _knock(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as problem:
        said = str(problem).strip().splitlines()
        raise _silent(address, said[0] if said else type(problem).__name__) from problem
    return ray, True


def _knock(address: str) -> None:
    """Checks the address first, because Ray waits for minutes if nothing listens there."""
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except OSError as problem:
        raise _silent(address, str(problem)) from problem


def _silent(address: str, why: str) -> ResourceError:
    return ResourceError(
        f"no Ray cluster answers at {address}: {why}",
        "`ray start --head` starts one; the address 'local' needs none",
    )


def _cores(ray: Any) -> list[int]:
    """Returns the cores of each node that has any."""
    found = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    cores = [count for count in found if count > 0]
    if not cores:
        raise ResourceError(
            "no node of the cluster has a core to compute with", "set the number of cores with `ray start --num-cpus`"
        )
    return cores
