"""Copies of what other workers have computed, in the folder of one that keeps them: of each worker and stage the
parcels of its rows, the files of its journal with what it contributes to reductions, and its records. Methods raise
OSError, and InputError for names of files that no engine gives."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import InputError

_SEAL = "sealed.json"
_CONTRIBUTION = re.compile(r"(parts|totals)(-[0-9]+)+\.safetensors")


def checked(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Files of another worker, which has chosen their names. Raises InputError for a name that engines do not give."""
    for name in files:
        if not _CONTRIBUTION.fullmatch(name):
            raise InputError(f"a worker sends a file with the name {name!r}", "do all workers have the same version?")
    return files


class Copies:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[list[int]]:
        """Worker and stage of those that are complete."""
        seals = self._folder.glob(f"*/*/{_SEAL}")
        return sorted([int(seal.parent.parent.name), int(seal.parent.name)] for seal in seals)

    def parcel(self, worker: int, stage: int, number: int) -> Path:
        return self._of(worker, stage) / f"rows-{number}"

    def keep(self, rows: str | memoryview, worker: int, stage: int, number: int) -> int:
        """The bytes. What is a file is moved."""
        file = self._made(worker, stage) / f"rows-{number}"
        (file.parent / _SEAL).unlink(missing_ok=True)  # of an older copy
        if isinstance(rows, str):
            shutil.move(rows, file)
        else:
            file.write_bytes(rows)
        return file.stat().st_size

    def seal(self, worker: int, stage: int, records: str, files: Mapping[str, bytes]) -> None:
        """Now the copy is complete."""
        folder = self._made(worker, stage)
        for name, content in checked(files).items():
            (folder / name).write_bytes(content)
        document = {"records": records, "files": sorted(files), "digest": _digest(records, files)}
        unfinished = folder / f"{_SEAL}.part"
        unfinished.write_text(json.dumps(document))
        unfinished.replace(folder / _SEAL)

    def of(self, worker: int, stage: int) -> dict[str, Any]:
        """`records`, `files` and the `sizes` of the parcels; without sizes, if records or files are damaged. Rows are
        checked by the records, where they are taken back."""
        folder = self._of(worker, stage)
        try:
            seal = json.loads((folder / _SEAL).read_text())
            files = {name: (folder / name).read_bytes() for name in checked(dict.fromkeys(seal["files"], b""))}
            intact = seal["digest"] == _digest(seal["records"], files)
        except (OSError, ValueError, KeyError, TypeError):  # InputError is a ValueError
            intact = False
        if not intact:
            return {"sizes": None}
        parcels = sorted(folder.glob("rows-*"), key=lambda file: int(file.name.rpartition("-")[2]))
        return {"records": seal["records"], "files": files, "sizes": [file.stat().st_size for file in parcels]}

    def _made(self, worker: int, stage: int) -> Path:
        """What they are in is not made again: where it is gone, so is the run, and nobody would remove it any more."""
        folder = self._of(worker, stage)
        for made in (self._folder, folder.parent, folder):
            made.mkdir(exist_ok=True)
        return folder

    def _of(self, worker: int, stage: int) -> Path:
        return self._folder / str(worker) / str(stage)


def _digest(records: str, files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(records.encode())
    for name in sorted(files):
        digest.update(name.encode())
        digest.update(files[name])
    return digest.hexdigest()
