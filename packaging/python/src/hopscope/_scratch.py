"""Temporary folders of a call: inputs on their way to the engine, and outputs without a named folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _forms, arrays
from ._later import settle
from ._options import path_of
from .data import Inputs
from .errors import ResourceError

_MEMORY = Path("/dev/shm")
# A file in memory competes with the run, so it may take only a small part of the free memory.
_SHARE = 4


class Scratch:
    """Creates a folder at the first request (by any thread) and removes it on `close`, at the latest when it is
    collected. `bytes_expected`: the size of the contents; they go to memory if enough is free, and otherwise to the
    folder for temporary files. `parent`: the folder that the user named."""

    def __init__(self, bytes_expected: int = 0, parent: str | os.PathLike[str] | None = None) -> None:
        self._expected, self._parent = bytes_expected, parent
        self._path: Path | None = None
        self._end: Any = None
        self._making = threading.Lock()

    def folder(self) -> Path:
        with self._making:
            if self._path is None:
                settle()
                parent = path_of("scratch", self._parent) if self._parent is not None else _place(self._expected)
                self._path = _made(parent)
                self._end = weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
            return self._path

    def close(self) -> None:
        if self._end is not None:
            self._end()

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _made(parent: str | os.PathLike[str] | None) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="hopscope-", dir=parent))
    except OSError as problem:
        raise ResourceError(
            f"{parent or tempfile.gettempdir()}: no folder can be made there: {problem.strerror}",
            "name another folder with scratch=",
        ) from problem


def _place(expected: int) -> str | None:
    """Returns the folder for this number of bytes; None stands for the usual folder for temporary files."""
    with contextlib.suppress(OSError, ValueError):
        free = shutil.disk_usage(_MEMORY).free
        text = Path("/proc/meminfo").read_text()
        available = next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("MemAvailable"))
        if expected * _SHARE < min(free, available) and os.access(_MEMORY, os.W_OK):
            return str(_MEMORY)
    return None


def size_of(table: Mapping[str, Any]) -> int:
    """Bytes of everything in a table of inputs."""
    return sum(arrays.extent(array) for name, value in table.items() for _, array in _arrays(name, value))


def _arrays(name: str, value: Any) -> list[tuple[str, Any]]:
    return [leaf for leaf in _leaves(name, value) if arrays.dtype_name(leaf[1]) != "object"]


def _leaves(name: str, value: Any) -> list[tuple[str, Any]]:
    """Returns the arrays of an entry; containers of graphs also hold numbers, texts and lists of names."""
    try:
        return [item for leaf in _forms.leaves(name, value) for item in arrays.flat(*leaf)]
    except ValueError:
        return []


@dataclass(frozen=True)
class Data:
    """The arguments of `--data`, and those of their files that were written for this call."""

    words: list[str]
    written: list[str]


def data_files(inputs: Inputs, scratch: Scratch, apart: bool = False) -> Data:
    """Files stay where they are; arrays in memory are written once, into one file or (`apart`) one for each."""
    if inputs.paths is not None:
        return Data([_absolute(text) for text in inputs.paths], [])
    leaves = dict(leaf for name, value in inputs.values.items() for leaf in _arrays(name, value))
    files = {key: path for key, array in leaves.items() if (path := arrays.npy_file(array)) is not None}
    words = [f"{key}={path.absolute()}" for key, path in files.items()]
    rest = {key: array for key, array in leaves.items() if key not in files}
    parts = [{key: array} for key, array in rest.items()] if apart else [rest] if rest else []
    written = [
        str(scratch.folder() / f"inputs{f'-{number}' if apart else ''}.safetensors") for number in range(len(parts))
    ]
    for file, part in zip(written, parts, strict=True):
        arrays.write(part, Path(file))
    return Data([*words, *written], written)


def _absolute(text: str) -> str:
    name, separator, file = text.rpartition("=")
    return f"{name}{separator}{Path(file).absolute()}"


@contextlib.contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Makes the folder, so that the engine's process for the model may write to it. After a failure, folders that were
    made here and are empty are removed."""
    made = [way for way in (folder, *folder.parents) if not way.exists()]
    with contextlib.suppress(OSError):  # the engine has a sentence for it
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for way in made:
            with contextlib.suppress(OSError):
                way.rmdir()
        raise
