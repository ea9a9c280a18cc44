"""A progress bar of tqdm for the engine's events, on terminals and in notebooks."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .errors import UsageError, callers_own

Progress = Callable[[str, int, int], None]


@contextlib.contextmanager
def reported(progress: bool | Progress) -> Iterator[Progress]:
    """Yields the function to call with (what, done, total): that of a bar for True, or the caller's own."""
    if callable(progress) or not progress:
        yield callers_own(progress) if callable(progress) else _silent
        return
    bar = _bar()
    try:
        yield bar.show
    finally:
        bar.close()


def _bar() -> _Bar:
    try:
        from tqdm.auto import tqdm
    except ImportError as problem:
        raise UsageError(
            "progress=True needs tqdm, which is not installed", "pip install tqdm, or pass a function as progress="
        ) from problem
    return _Bar(tqdm)


def _silent(_what: str, _done: int, _total: int) -> None:
    pass


def suits_terminal() -> bool:
    """Returns whether a command should show a bar: only on terminals, and if tqdm is installed."""
    return sys.stderr is not None and sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


class _Bar:
    """A bar that starts over for each step of the work."""

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
