"""A progress bar out of the engine's events: tqdm's where it is installed, in notebooks too."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .errors import callers_own

Progress = Callable[[str, int, int], None]


@contextlib.contextmanager
def reported(progress: bool | Progress | None) -> Iterator[Progress]:
    """What to call with (what, done, total) meanwhile. True: a bar; None: a bar on terminals and in notebooks; False:
    nothing; a function gets the events itself."""
    bar = _bar(progress)
    if bar is None:
        yield callers_own(progress) if callable(progress) else _silent
        return
    try:
        yield bar.show
    finally:
        bar.close()


def _bar(progress: bool | Progress | None) -> _Bar | None:
    if callable(progress) or progress is False or (progress is None and not _is_watched()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm)


def _silent(_what: str, _done: int, _total: int) -> None:
    pass


def _is_watched() -> bool:
    stream = sys.stderr
    return "ipykernel" in sys.modules or (stream is not None and stream.isatty())


class _Bar:
    """One bar that begins again for every step of the work."""

    def __init__(self, kind: Any) -> None:
        self._kind, self._bar, self._what = kind, None, ""

    def show(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._kind(total=total or None, desc=what, unit="row", unit_scale=True, leave=False)
        bar: Any = self._bar
        if what != self._what:
            bar.reset(total=total or None)
            bar.set_description(what)
            self._what = what
        bar.n = done
        bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            bar: Any = self._bar
            bar.close()
