"""What a call leaves to be done after it has returned: the end of the engine's process and the removal of its files
take a tenth of a second, for which nobody has to wait."""

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
