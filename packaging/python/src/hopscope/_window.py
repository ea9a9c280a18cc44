"""Where the window's program is, what its process needs, and the command `hopscope`."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ._engine import builds, engine, named, on_path, package_folder, searching
from ._process import become
from ._version import __version__
from .errors import EngineError

_NAME = "hopscope"
_VARIABLE = "HOPSCOPE_WINDOW"
_PACKAGE = "hopscope-window"


def main() -> int:
    """The command `hopscope`: becomes the window, with its streams and its exit code."""
    words = sys.argv[1:]
    return become(lambda: _start(words), words)


def window() -> Path:
    """Finds the window: the program in HOPSCOPE_WINDOW, in the package hopscope-window, next to the engine, on PATH or
    in a checkout, in this order."""
    path = next((path for path in _candidates() if os.access(path, os.X_OK)), None)
    if path is None:
        raise EngineError(
            "the window is not installed", f'pip install "{_NAME}[window]", or set {_VARIABLE} to the program'
        )
    return path


def environment(path: Path, known: Mapping[str, str]) -> dict[str, str]:
    """The environment variables for the process of the window: that of hopscope-window needs Qt, which comes with
    PySide6, and the libraries that this system lacks."""
    folder = package_folder("hopscope_window")
    if folder is None or path.parent != folder / "bin":
        return dict(known)
    qt = package_folder("PySide6")
    if qt is None:
        raise EngineError("the window needs Qt, and this environment has no PySide6", "pip install PySide6-Essentials")
    return searching([str(folder / "lib"), str(qt / "Qt" / "lib"), *_missing(folder / "system")], known)


def _start(words: list[str]) -> tuple[str, dict[str, str]]:
    """Returns the program and its variables; it finds the engine on PATH."""
    path, values = window(), dict(os.environ)
    options = {word.split("=", maxsplit=1)[0] for word in words}
    if not options & {"--engine", "--help", "-h", "--version", "-v"}:
        here = engine()
        values = here.environment()
        values["PATH"] = os.pathsep.join([str(Path(here.path).parent), values.get("PATH", os.defpath)])
    return str(path), environment(path, values)


def _candidates() -> Iterator[Path]:
    variable = os.environ.get(_VARIABLE)
    if variable:
        yield named(_VARIABLE, variable)
    folder = package_folder("hopscope_window")
    if folder:
        _check_version()
        yield folder / "bin" / _NAME
    with contextlib.suppress(EngineError):
        yield Path(engine().path).with_name(_NAME)
    found = on_path(_NAME)
    if found:
        yield found
    yield from builds(_NAME)


def _check_version() -> None:
    version = importlib.metadata.version(_PACKAGE)
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise EngineError(
            f"{_PACKAGE} is version {version}, {_NAME} is {__version__}", "install the same version of both packages"
        )


def _missing(folder: Path) -> list[str]:
    """Folders with one library each, of those that the dynamic loader does not find on this system."""
    try:
        listed = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except OSError:
        listed = ""
    known = {line.split()[0] for line in listed.splitlines() if line.startswith("\t")}
    return [str(place) for place in sorted(folder.iterdir()) if place.name not in known]
