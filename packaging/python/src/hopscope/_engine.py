"""Finds the engine, and LibTorch for its process."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ._version import __version__
from .errors import EngineError

_HERE = Path(__file__).resolve().parent
_PROGRAM = "hopscope-engine"
_LINKED = "hopscope-engine-torch"  # executed by the engine for every command but --version
_asking = threading.Lock()  # so that threads that need it at once start it once
_MISSING_LIBRARY = re.compile(
    r"error while loading shared libraries: (\S+?):|symbol lookup error|version .* not found"
    r"|=> not found|undefined symbol"
)


@dataclass(frozen=True)
class Engine:
    """The engine's program.

    Attributes:
        path (str): The program.
        origin (str): Where it was found: "HOPSCOPE_ENGINE", "wheel", "PATH" or "checkout".
        version (str): Its version.
        libraries (tuple[str, ...]): Folders that its dynamic loader has to search besides its own.
    """

    path: str
    origin: str
    version: str
    libraries: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Returns the environment variables for its process.

        Returns:
            dict[str, str]: The variables of this process, with the folders of `libraries`.
        """
        return searching(self.libraries, os.environ)


def engine() -> Engine:
    """Finds the engine: the program in the environment variable HOPSCOPE_ENGINE, or the one in the wheel, on PATH, or
    in the checkout that contains this package, in this order.

    Returns:
        Engine: The program.

    Raises:
        EngineError: There is none, or it does not fit this environment.

    Example:
        >>> hopscope.engine().version == hopscope.__version__
        True
    """
    for origin, path in _candidates():
        with _asking:
            return _checked(path, origin, _changed(path))
    raise EngineError(
        f"{_PROGRAM} was not found in the package, on PATH or in a checkout",
        "install a wheel with the engine inside, or set HOPSCOPE_ENGINE to the program",
    )


def package_folder(name: str) -> Path | None:
    """Returns the folder of a package of this environment, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


def torch_folder() -> Path | None:
    return package_folder("torch")


def searching(folders: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Environment variables with folders that the dynamic loader searches first."""
    known = environment.get("LD_LIBRARY_PATH")
    places = [*folders, *([known] if known else [])]
    return {**environment, **({"LD_LIBRARY_PATH": os.pathsep.join(places)} if places else {})}


def torch_version(folder: Path) -> str:
    """Returns the version in the package, such as "2.13.0+cpu"."""
    text = (folder / "version.py").read_text() if (folder / "version.py").is_file() else ""
    found = re.search(r"__version__ = '([^']+)'", text)
    return found.group(1) if found else "of unknown version"


def _candidates() -> Iterator[tuple[str, Path]]:
    chosen = os.environ.get("HOPSCOPE_ENGINE")
    if chosen:
        yield "HOPSCOPE_ENGINE", named("HOPSCOPE_ENGINE", chosen)
    bundled = _bundled()
    if bundled:
        yield "wheel", _fitting(bundled)
    found = on_path(_PROGRAM)
    if found:
        yield "PATH", found
    for path in builds(_PROGRAM):
        yield "checkout", path


def _bundled() -> dict[str, Path]:
    """Returns the engines of a wheel by the minor version of torch that each was built for:
    bin/torch-2.13/hopscope-engine. The newest is the last."""
    places = {path.parent.name.removeprefix("torch-"): path for path in (_HERE / "bin").glob(f"torch-*/{_PROGRAM}")}
    return dict(sorted(places.items(), key=lambda place: [int(part) for part in place[0].split(".")]))


def _fitting(bundled: dict[str, Path]) -> Path:
    """Returns the engine that was built for this environment's torch: LibTorch's binary interface changes with every
    minor version."""
    torch, newest = torch_folder(), list(bundled)[-1]
    if torch is None:
        raise EngineError(
            "the engine needs LibTorch, and this environment has no torch", f"pip install 'torch=={newest}.*'"
        )
    here = torch_version(torch)
    minor = ".".join(here.split("+", maxsplit=1)[0].split(".")[:2])
    if minor not in bundled:
        raise EngineError(
            f"this wheel has engines for torch {', '.join(bundled)}, and this environment has torch {here}",
            f"pip install 'torch=={newest}.*', or build the engine from source against torch {minor}",
        )
    return bundled[minor]


def named(variable: str, value: str) -> Path:
    path = Path(value).expanduser()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise EngineError(f"{variable} names {value}, which is not a program", "set it to a program that exists")
    return path


def on_path(name: str) -> Path | None:
    """Returns the first program of that name, unless it is the script that this package installs, which would start
    itself."""
    found = shutil.which(name)
    return None if found is None or _is_own_script(Path(found)) else Path(found)


def _is_own_script(path: Path) -> bool:
    with path.open("rb") as program:
        head = program.read(2000)
    return head.startswith(b"#!") and b"from hopscope" in head


def builds(name: str) -> list[Path]:
    """Built programs of the checkout that contains this package, if there is one."""
    root = next((folder for folder in _HERE.parents if (folder / "app" / "engine").is_dir()), None)
    places = [root / "build" / preset / "bin" / name for preset in ("dev", "release")] if root else []
    return [path for path in places if os.access(path, os.X_OK)]


def _linked(path: Path) -> Path:
    return path.resolve().with_name(_LINKED)


def _changed(path: Path) -> tuple[int, ...]:
    return tuple(program.stat().st_mtime_ns for program in (path, _linked(path)) if program.is_file())


@functools.lru_cache(maxsize=16)
def _checked(path: Path, origin: str, _when: tuple[int, ...]) -> Engine:
    """An engine in a wheel uses the LibTorch of this environment; any other uses its own, or this one if its own is
    gone."""
    alone = None if origin == "wheel" else _started(path, origin, ())
    if alone is not None:
        return alone
    torch = torch_folder()
    with_torch = _started(path, origin, _libraries(torch))
    if with_torch is not None:
        return with_torch
    raise EngineError(
        f"{path} cannot be started with torch {torch_version(torch) if torch else ''}: {_failure(path, torch)}".strip(),
        "the engine needs the LibTorch that it was built with: install that torch, or build it against this one",
    )


def _libraries(torch: Path | None) -> tuple[str, ...]:
    folders = [*([torch / "lib"] if torch else []), _HERE / "bin" / "lib"]
    return tuple(str(folder) for folder in folders if folder.is_dir())


def _probe(path: Path, libraries: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Returns the version, or the missing library. Printing the version needs no LibTorch; for the program that links
    it, the dynamic loader lists missing libraries without starting it."""
    environment = Engine(str(path), "", "", libraries).environment()
    answer = _answer(path, ["--version"], environment)
    linked = _linked(path)
    if answer.returncode != 0 or not linked.is_file():
        return answer
    traced = _answer(linked, [], {**environment, "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes"})
    said = [line.strip() for line in (traced.stdout + traced.stderr).splitlines()]
    missing = [line for line in said if _MISSING_LIBRARY.search(line)]
    return subprocess.CompletedProcess(traced.args, 127, "", missing[0]) if missing else answer


def _answer(path: Path, words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [str(path), *words], capture_output=True, text=True, env=environment, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EngineError(f"{path} cannot be started: {problem}", "is it a program for this machine?") from problem


def _started(path: Path, origin: str, libraries: tuple[str, ...]) -> Engine | None:
    """Returns None if a library is missing, or differs from the one that the engine was built with."""
    answer = _probe(path, libraries)
    if answer.returncode != 0:
        if _MISSING_LIBRARY.search(answer.stderr):
            return None
        raise EngineError(
            f"{path} --version ended with {answer.returncode}: {answer.stderr.strip()[-300:]}",
            "is it Hopscope's engine?",
        )
    version = "".join(answer.stdout.split()[1:2])
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise EngineError(
            f"{path} is version {version or '?'}, this package is {__version__}",
            "use an engine and a package of the same version",
        )
    return Engine(str(path), origin, version, libraries)


def _failure(path: Path, torch: Path | None) -> str:
    return _probe(path, _libraries(torch)).stderr.strip()[-300:]
