"""`open`: Hopscope's window on a model and its data."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from ._engine import engine, program
from ._process import stop
from ._scratch import Scratch
from .commands import plan_file, written
from .documents import Plan
from .errors import EngineError, door


class Window:
    """An open window. Its contents are temporary files until it is closed; keep the object that long."""

    def __init__(self, process: subprocess.Popen[bytes], scratch: Scratch) -> None:
        self._process, self._scratch = process, scratch

    @property
    def is_open(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> int:
        """Waits until it is closed; its exit code."""
        code = self._process.wait()
        self._scratch.close()
        return code

    def close(self) -> None:
        """Closes it and removes the temporary files."""
        stop(self._process, 15)
        self._scratch.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.close()


def _trusting(environment: dict[str, str], model: str) -> dict[str, str]:
    """The window opens, runs and exports the file, which is code of the caller's own, without asking."""
    known = environment.get("HOPSCOPE_TRUST")
    folders = [*([known] if known else []), str(Path(model).parent)]
    return {**environment, "HOPSCOPE_TRUST": ":".join(folders)}


@door
def open(
    model: Any, data: Any = None, *, plan: Plan | str | None = None, roles: Any = (), arguments: list[str] | None = None
) -> Window:
    """Starts the window on a model (in memory, saved, or a file), its data and a plan, and returns at once.
    `arguments` are added to its command line. Raises EngineError if the window is not installed (wheels contain
    only the engine)."""
    binary = program("hopscope", "HOPSCOPE_WINDOW")
    if binary is None:
        raise EngineError(
            "the window (hopscope) was not found beside the engine, on PATH or in a checkout",
            "install Hopscope, or set HOPSCOPE_WINDOW to the program",
        )
    scratch = Scratch()
    try:
        given = written(model, data, roles, scratch)
        planned = [] if plan is None else ["--plan", str(plan_file(plan, given, scratch))]
        here = engine()
        model = given.words[0]
        own = [word for word in given.words if word != "--trust"]
        words = [*own, *planned, *(arguments or []), "--engine", f"{shlex.quote(here.path)} serve"]
        environment = _trusting(here.environment(), model) if given.saved is not None else here.environment()
        process = subprocess.Popen(
            [str(binary), *words], env=environment, start_new_session=True, stdin=subprocess.DEVNULL
        )
    except BaseException:
        scratch.close()
        raise
    return Window(process, scratch)
