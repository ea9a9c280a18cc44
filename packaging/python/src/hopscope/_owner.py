"""A worker that keeps the rows it computes in a folder of its own (layout `owners`, docs/scale.md), wherever it is: its
answers and failures are values, which travel between machines."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._copies import Copies, checked
from ._worker import JOURNAL, Worker
from .errors import HopscopeError, InputError, ResourceError, UsageError, document_of

_ATTEMPTS, _PAUSE = 20, 0.05  # seconds between them


def begun_in(folder: Path) -> dict[str, str]:
    """What a run has to go on with that others take part in, as worker/open takes it."""
    return {name: (folder / JOURNAL / f"{name}.json").read_text() for name in ("run", "plan")}


class Owner:
    """`scratch`: where its folder `name` is; none: where temporary files are. What is in the folder of another run is
    removed."""

    def __init__(self, scratch: str | None, name: str) -> None:
        self._worker = Worker()
        self._scratch, self._folder = scratch, Path(scratch or tempfile.gettempdir()) / name
        self._problem: dict[str, Any] | None = None
        self._copies = Copies(self._folder / JOURNAL / "copies")
        self._numbers = itertools.count(1)

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """As `Worker.call`. What has ended the run of this worker is what it says from then on, whoever asks."""
        answer = self._worker.call(method, params)
        if "error" in answer:
            self._problem = self._problem or answer["error"]
            return {**answer, "error": self._problem}
        return answer

    def open(self, params: Mapping[str, Any], begun: Mapping[str, str]) -> dict[str, Any]:
        """Takes part in the run that has begun so."""
        try:
            self._prepare(begun)
        except (OSError, InputError) as problem:
            return {"error": document_of(self._refusal(problem))}
        where = {"output": str(self._folder), "begun": begun, "keep": bool(self._scratch)}
        answer = self.call("worker/open", {**params, **where})
        if "result" in answer:
            answer["result"]["copies"] = self._copies.all()
        return answer

    def stand(self) -> dict[str, Any]:
        """Whether the process still answers."""
        return self.call("rows/wanted", {})

    def listing(self, path: str) -> bytes:
        """A list of rows that this worker needs."""
        return Path(path).read_bytes()

    def hand(self, value: int, listing: str | bytes) -> dict[str, Any]:
        """Rows for another worker, in the file that the answer names."""
        file, own = self._fresh(), self._fresh()
        try:
            own.write_bytes(Path(listing).read_bytes() if isinstance(listing, str) else listing)
        except OSError as problem:
            return self._refused(problem)
        answer = self.call("rows/export", {"value": value, "list": str(own), "file": str(file)})
        own.unlink(missing_ok=True)
        return {**answer, "file": str(file)}

    def take(self, rows: str | memoryview, parcel: Mapping[str, Any], digest: str | None) -> dict[str, Any]:
        """Rows of another worker, by their file or as they are; without a digest, of this one before it was lost. The
        file is removed."""
        try:
            file = shutil.move(rows, self._fresh()) if isinstance(rows, str) else self._written(rows)
        except OSError as problem:
            return self._refused(problem)
        where = {"value": parcel["value"], "list": parcel["list"], "file": str(file)}
        where |= {"own": True} if digest is None else {"digest": digest}
        answer = self.call("rows/import", where)
        Path(file).unlink(missing_ok=True)
        return answer

    def records(self, stage: int) -> dict[str, Any]:
        """What this worker has finished of a stage; `files` with what it contributes to reductions, by name."""
        answer = self.call("records/export", {"stage": stage})
        if "result" in answer:
            names = answer["result"]["files"]
            answer["result"]["files"] = {name: (self._folder / JOURNAL / name).read_bytes() for name in names}
        return answer

    def accept(self, records: str, files: Mapping[str, bytes]) -> dict[str, Any]:
        """What another one has finished."""
        try:
            for name, content in checked(files).items():
                (self._folder / JOURNAL / name).write_bytes(content)
        except (OSError, InputError) as problem:
            return self._refused(problem)
        return self.call("records/import", {"records": records})

    def keep(self, rows: str | memoryview, worker: int, stage: int, number: int) -> dict[str, Any]:
        """A parcel of what another worker has computed. The file is removed."""
        try:
            return {"result": {"bytes": self._copies.keep(rows, worker, stage, number)}}
        except OSError as problem:
            return self._refused(problem)

    def seal(self, worker: int, stage: int, records: str, files: Mapping[str, bytes]) -> dict[str, Any]:
        """All parcels are there, and this is what the other one has noted."""
        try:
            self._copies.seal(worker, stage, records, files)
        except (OSError, InputError) as problem:
            return self._refused(problem)
        return {"result": {}}

    def kept(self, worker: int, stage: int) -> dict[str, Any]:
        """Records and files of a copy, and the `sizes` of its parcels, to be asked `back`; none, if it is damaged."""
        return {"result": self._copies.of(worker, stage)}

    def back(self, worker: int, stage: int, number: int) -> dict[str, Any]:
        """A parcel of a copy, in the file that the answer names."""
        file = self._fresh()
        try:
            shutil.copyfile(self._copies.parcel(worker, stage, number), file)
        except OSError as problem:
            return self._refused(problem)
        return {"result": {}, "file": str(file)}

    def end(self) -> None:
        """From any thread."""
        self._worker.end()

    def close(self) -> None:
        """From any thread, and waits until the process has ended."""
        self._worker.abandon()
        self._worker.close()

    def _prepare(self, begun: Mapping[str, str]) -> None:
        if not self._folder.parent.is_dir():
            raise FileNotFoundError(2, "there is no such folder")
        if os.path.lexists(self._folder) and not _is_own(self._folder):  # others know the name of a folder for everyone
            raise InputError(f"{self._folder}: is a link or a folder of another user", "--scratch names another place")
        try:
            other = begun_in(self._folder) != begun
        except FileNotFoundError:
            other = True
        if other:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _refused(self, problem: OSError | InputError) -> dict[str, Any]:
        """A file that is missing went with the folder of a worker that is lost, this one or another."""
        if isinstance(problem, FileNotFoundError):
            return {"lost": f"{problem.filename} is gone"}
        return {"error": document_of(self._refusal(problem))}

    def _refusal(self, problem: OSError | InputError) -> HopscopeError:
        if isinstance(problem, InputError):
            return problem
        full = problem.errno is not None and problem.errno not in (2, 13, 20, 30)
        kind = ResourceError if full else UsageError
        where = self._folder.parent
        return kind(f"{where}: workers cannot have a folder there: {problem.strerror}", "--scratch names another one")

    def _fresh(self) -> Path:
        return self._folder / JOURNAL / f"parcel-{next(self._numbers)}"

    def _written(self, content: memoryview) -> Path:
        file = self._fresh()
        file.write_bytes(content)
        return file


def _is_own(folder: Path) -> bool:
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


class Gatherer(Owner):
    """Keeps no rows: what it is handed goes into the results."""

    def __init__(self, output: Path) -> None:
        super().__init__(str(output.parent), output.name)

    def open(self, params: Mapping[str, Any], begun: Mapping[str, str]) -> dict[str, Any]:
        where = {"output": str(self._folder), **({"begun": begun} if begun else {})}
        return self.call("worker/open", {**params, **where})


def remove(scratch: str | None, name: str) -> None:
    """The folders of all workers of a run on this machine."""
    for _ in range(_ATTEMPTS):  # a worker that is just ending may remove the same
        folders = list(Path(scratch or tempfile.gettempdir()).glob(f"{name}-*"))
        if not folders:
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_PAUSE)
