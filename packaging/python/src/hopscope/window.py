"""`open`: Hopscope's window on a model and its data."""

from __future__ import annotations

import os
import shlex
import subprocess
from types import TracebackType
from typing import Any

from ._engine import engine, program
from ._inference import role_words
from ._process import stop
from ._scratch import Scratch, data_words
from .data import inputs_of
from .documents import Plan
from .errors import EngineError
from .saving import prepare


class Window:
    """A window that was opened. What it shows lies in temporary files until it is closed; keep the object as long."""

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


def open(
    model: Any, data: Any = None, *, plan: Plan | str | None = None, roles: Any = (), arguments: list[str] | None = None
) -> Window:
    """Starts the window on a model (in memory, saved, or a file), its data and a plan, and returns at once.
    `arguments` are further ones of its command line. Raises EngineError where the window is not installed (wheels hold
    the engine alone)."""
    binary = program("hopscope", "HOPSCOPE_WINDOW")
    if binary is None:
        raise EngineError(
            "the window (hopscope) was not found beside the engine, on PATH or in a checkout",
            "install Hopscope, or set HOPSCOPE_WINDOW to the program",
        )
    scratch = Scratch()
    try:
        words = [*_words(model, data, plan, roles, scratch), *(arguments or [])]
        here = engine()
        words += ["--engine", f"{shlex.quote(here.path)} serve"]
        process = subprocess.Popen(
            [str(binary), *words], env=here.environment(), start_new_session=True, stdin=subprocess.DEVNULL
        )
    except BaseException:
        scratch.close()
        raise
    return Window(process, scratch)


def _words(model: Any, data: Any, plan: Plan | str | None, roles: Any, scratch: Scratch) -> list[str]:
    if data is None and isinstance(model, (str, os.PathLike)):
        words = [os.fspath(model)]
    else:
        _, inputs, path = prepare(model, inputs_of(data), scratch.folder, roles)
        words = [str(path), *(word for name in data_words(inputs, scratch) for word in ("--data", name))]
    if plan is not None:
        file = plan.save(scratch.folder() / "plan.json") if isinstance(plan, Plan) else plan
        words += ["--plan", str(file)]
    return words + [word for role in role_words(roles) for word in ("--role", role)]
