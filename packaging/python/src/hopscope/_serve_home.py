"""The folder of a process for results without a named folder. The next process removes it if this one is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from .errors import ResourceError

_PREFIX = "hopscope-scale-"
_LOCK = "lock"


class Home:
    """A folder in `parent`, held by a lock until `close`."""

    def __init__(self, parent: str) -> None:
        _sweep(Path(parent))
        while True:
            try:
                self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            except OSError as problem:
                raise ResourceError(
                    f"{parent}: no folder can be made there: {problem.strerror}", "name another one with --folder"
                ) from problem
            lock = _held(self.path, os.O_CREAT)
            # Another process may have taken a lock that was not held yet, and removed its folder.
            if lock is not None and os.fstat(lock).st_nlink > 0:
                break
            if lock is not None:
                os.close(lock)
        self._lock = lock

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _held(folder: Path, more: int = 0) -> int | None:
    """Returns the lock of a folder, as a file descriptor; None if another process holds it."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | more, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _sweep(parent: Path) -> None:
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            lock = _held(folder) if folder.lstat().st_uid == os.getuid() else None
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
