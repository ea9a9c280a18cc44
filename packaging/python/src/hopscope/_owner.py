"""A worker that keeps the rows it computes in a folder of its own (layout `owners`, docs/scale.md), wherever it is: its
answers and failures are values, which travel between machines."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._worker import Worker
from .errors import HopscopeError, ResourceError, UsageError, document_of

JOURNAL = ".hopscope-journal"
_BEGUN = ("run.json", "plan.json")
_MADE = "made"  # tells the engine that the folder was made for this run


def begun_in(folder: Path) -> dict[str, bytes]:
    """What a run has to go on with that others take part in."""
    return {name: (folder / JOURNAL / name).read_bytes() for name in _BEGUN}


class Owner:
    """`scratch`: the folder for its folder, none: the one for temporary files there. What is in it of another run of the
    same name is removed."""

    def __init__(self, scratch: str | None, name: str) -> None:
        self._worker = Worker()
        self._scratch, self._folder = scratch, Path(scratch or tempfile.gettempdir()) / name
        self._numbers = itertools.count(1)

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """As `Worker.call`."""
        return self._worker.call(method, params)

    def open(self, params: Mapping[str, Any], begun: Mapping[str, bytes]) -> dict[str, Any]:
        """Takes part in the run that has begun so."""
        try:
            self._prepare(begun)
        except OSError as problem:
            return {"error": document_of(self._refusal(problem))}
        return self._worker.call("worker/open", {**params, "output": str(self._folder), "keep": bool(self._scratch)})

    def stand(self) -> dict[str, Any]:
        """Whether there is somebody to ask."""
        return {"result": {}}

    def listing(self, path: str) -> bytes:
        """A list of rows that this worker needs."""
        return Path(path).read_bytes()

    def hand(self, value: int, listing: str | bytes) -> dict[str, Any]:
        """Rows for another worker, in the file that the answer names."""
        path = listing if isinstance(listing, str) else self._written(listing)
        file = self._fresh()
        answer = self._worker.call("rows/export", {"value": value, "list": path, "file": str(file)})
        if path != listing:
            Path(path).unlink(missing_ok=True)
        return {**answer, "file": str(file)}

    def take(self, parcel: Mapping[str, Any], digest: str, rows: str | memoryview) -> dict[str, Any]:
        """Rows of another worker, by their file or as they are. The file is removed."""
        try:
            file = rows if isinstance(rows, str) else self._written(rows)
        except OSError as problem:
            return {"error": document_of(self._refusal(problem))}
        where = {"value": parcel["value"], "list": parcel["list"], "file": file, "digest": digest}
        answer = self._worker.call("rows/import", where)
        Path(file).unlink(missing_ok=True)
        return answer

    def records(self, stage: int) -> dict[str, Any]:
        """What this worker has finished of a stage; `files` with what it contributes to reductions, by name."""
        answer = self._worker.call("records/export", {"stage": stage})
        if "result" in answer:
            names = answer["result"]["files"]
            answer["result"]["files"] = {name: (self._folder / JOURNAL / name).read_bytes() for name in names}
        return answer

    def accept(self, records: str, files: Mapping[str, bytes]) -> dict[str, Any]:
        """What another one has finished."""
        try:
            for name, content in files.items():
                (self._folder / JOURNAL / name).write_bytes(content)
        except OSError as problem:
            return {"error": document_of(self._refusal(problem))}
        return self._worker.call("records/import", {"records": records})

    def end(self) -> None:
        """From any thread."""
        self._worker.end()

    def close(self) -> None:
        """From any thread, and waits until the process has ended."""
        self._worker.abandon()
        self._worker.close()

    def _prepare(self, begun: Mapping[str, bytes]) -> None:
        journal = self._folder / JOURNAL
        if not self._folder.parent.is_dir():
            raise FileNotFoundError(2, "no such folder")
        if (journal / _BEGUN[0]).exists() and begun_in(self._folder) != begun:
            shutil.rmtree(self._folder)
        journal.mkdir(parents=True, exist_ok=True)
        (journal / _MADE).touch()
        for name, content in begun.items():
            (journal / name).write_bytes(content)

    def _refusal(self, problem: OSError) -> HopscopeError:
        full = problem.errno is not None and problem.errno not in (2, 13, 20, 30)
        kind = ResourceError if full else UsageError
        return kind(f"{self._folder}: cannot be written: {problem.strerror}", "--scratch names another folder")

    def _fresh(self) -> Path:
        return self._folder / JOURNAL / f"parcel-{next(self._numbers)}"

    def _written(self, content: bytes | memoryview) -> str:
        file = self._fresh()
        file.write_bytes(content)
        return str(file)


class Gatherer(Owner):
    """Keeps no rows: what it is handed goes into the results."""

    def __init__(self, output: Path) -> None:
        super().__init__(str(output.parent), output.name)

    def open(self, params: Mapping[str, Any], begun: Mapping[str, bytes]) -> dict[str, Any]:
        return self._worker.call("worker/open", {**params, "output": str(self._folder)})


def remove(scratch: str | None, name: str) -> None:
    """The folders of all workers of a run on this machine."""
    for folder in Path(scratch or tempfile.gettempdir()).glob(f"{name}-*"):
        shutil.rmtree(folder, ignore_errors=True)
