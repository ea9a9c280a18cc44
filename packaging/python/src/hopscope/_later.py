"""Work that a call leaves to a thread: ending the engine's process and removing its files take a tenth of a second,
for which the caller need not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

_under_way: list[threading.Thread] = []


def later(work: Callable[[], object]) -> None:
    """Does it in a thread, for which the interpreter waits before it ends."""
    thread = threading.Thread(target=work, name="hopscope-end")
    thread.start()
    _under_way[:] = [other for other in _under_way if other.is_alive()] + [thread]


def settle() -> None:
    """Waits for all of it: what calls leave must not add up."""
    for thread in list(_under_way):
        thread.join()
