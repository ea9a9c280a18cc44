"""`open`: Hopscope's window on a model and its data."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ._engine import engine
from ._options import Place, Roles
from ._process import stop
from ._scratch import Scratch
from ._window import environment, window
from .commands import plan_file, written
from .documents import Plan
from .errors import door


class Window:
    """An open window. For a model and data from memory there are temporary files, which exist until this object is
    closed or deleted."""

    def __init__(self, process: subprocess.Popen[bytes], scratch: Scratch) -> None:
        self._process, self._scratch = process, scratch

    @property
    def is_open(self) -> bool:
        """Whether the window is still open."""
        return self._process.poll() is None

    def wait(self) -> int:
        """Waits until the user closes the window, and removes the temporary files.

        Returns:
            int: The exit code of the window.
        """
        code = self._process.wait()
        self._scratch.close()
        return code

    def close(self) -> None:
        """Closes the window and removes the temporary files."""
        stop(self._process, 15)
        self._scratch.close()

    def __repr__(self) -> str:
        return f"Window({'open' if self.is_open else 'closed'})"

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.close()


def _trusting(known: dict[str, str], model: str) -> dict[str, str]:
    """Lets the window open, run and export the file without asking, because it is the caller's own code."""
    trusted = known.get("HOPSCOPE_TRUST")
    folders = [*([trusted] if trusted else []), str(Path(model).parent)]
    return {**known, "HOPSCOPE_TRUST": ":".join(folders)}


@door
def open(
    model: Any,
    data: Any = None,
    *,
    plan: Plan | Place | None = None,
    roles: Roles = (),
    arguments: Sequence[str] = (),
) -> Window:
    """Opens a model and its data in the window, and does not wait until the window is closed.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`. A file can be opened without data.
        plan (Plan | str | Path | None): The plan to show.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        arguments (Sequence[str]): Additional command-line arguments of the window.

    Returns:
        Window: The window. Keep the object as long as the window is open.

    Raises:
        EngineError: The window is not installed: `pip install "hopscope[window]"`.
        HopscopeError: As for `inspect`.
    """
    binary = window()
    scratch = Scratch()
    try:
        given = written(model, data, roles, scratch)
        planned = [] if plan is None else ["--plan", str(plan_file(plan, given, scratch))]
        here = engine()
        model = given.words[0]
        own = [word for word in given.words if word != "--trust"]
        words = [*own, *planned, *arguments, "--engine", f"{shlex.quote(here.path)} serve"]
        known = _trusting(here.environment(), model) if given.saved is not None else here.environment()
        process = subprocess.Popen(
            [str(binary), *words], env=environment(binary, known), start_new_session=True, stdin=subprocess.DEVNULL
        )
    except BaseException:
        scratch.close()
        raise
    return Window(process, scratch)
