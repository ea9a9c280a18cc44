"""Work that a call leaves to a thread: the caller need not wait the tenth of a second that ending the engine's process
and removing its files take."""

from __future__ import annotations

import threading
from collections.abc import Callable

_under_way: list[threading.Thread] = []


def later(work: Callable[[], object]) -> None:
    """Does the work in a thread; the interpreter waits for it before it ends."""
    thread = threading.Thread(target=work, name="hopscope-end")
    thread.start()
    _under_way[:] = [other for other in _under_way if other.is_alive()] + [thread]


def settle() -> None:
    """Waits for all such work, so that it does not pile up."""
    for thread in list(_under_way):
        thread.join()
