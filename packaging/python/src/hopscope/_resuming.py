"""Runs that another process can resume. The engine's `run --resume` keeps a journal (docs/reference/format-journal.md).
Next to it, this module stores the plan and the file of the model, which differs each time it is saved."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import _reading
from ._files import Files
from ._process import command
from ._scratch import Scratch
from ._settings import beside_plan, of_search, taken_by, words_of
from ._worker import JOURNAL
from .commands import plan_file, planned
from .documents import Plan
from .errors import InputError

_OURS = ".hopscope-python"


@dataclass(frozen=True)
class Wanted:
    """The settings of a run, and its `plan` or the `pins` of a new plan."""

    settings: dict[str, Any]
    plan: Plan | str | None
    pins: list[list[Any]]


@dataclass(frozen=True)
class Order:
    """A run for another process. `settings`: those that a run with a given plan takes."""

    files: Files
    plan: Path
    settings: dict[str, Any]
    out: Path


def alone(order: Order) -> dict[str, Any]:
    """Runs it in a process of its own and returns the report."""
    words = [*order.files.words, "--plan", str(order.plan), *words_of(order.settings)]
    return command("run", *words, "-o", str(order.out)).document


def carried_out(
    given: Files, wanted: Wanted, out: Path, place: Scratch, carry: Callable[[Order], dict[str, Any]] = alone
) -> tuple[dict[str, Any], Plan]:
    """Returns the report and the plan of the run. Resumes an earlier call in the folder; finished work stays there even
    if this call is killed. Raises InputError if the folder contains a different unfinished run."""
    there = out.exists()
    try:
        files, made = _taken_up(given, wanted, out) or _begun(given, wanted, out, place)
        plan = made.save(place.folder() / "plan.json").absolute()
        settings = beside_plan(wanted.settings)
        document = carry(Order(files, plan, {**settings, "resume": True}, out.absolute()))
    except BaseException:
        if not (out / JOURNAL).is_dir():
            _forget(out, there)
        raise
    _forget(out, there=True)
    return document, made


def _forget(out: Path, there: bool) -> None:
    shutil.rmtree(out / _OURS, ignore_errors=True)
    if not there:
        with contextlib.suppress(OSError):
            out.rmdir()


def _taken_up(given: Files, wanted: Wanted, out: Path) -> tuple[Files, Plan] | None:
    """Returns the files and plan of an earlier call, or None if the engine has no journal of it."""
    record = out / _OURS / "begun.json"
    if (out / _OURS).is_symlink():
        raise InputError(f"{out / _OURS} is a link, and is not used", "remove it, or name another folder")
    if not (out / JOURNAL / "run.json").is_file() or not record.is_file():
        return None
    begun = json.loads(record.read_text())
    hint = f"repeat the call that started it, or remove {JOURNAL} and {_OURS} in the folder to discard it"
    if begun["model"] != _fingerprint(given):
        raise InputError(f"{out} holds an unfinished run of a different model", hint)
    for name, value in _decisive(wanted).items():
        if begun["asked"][name] != value:
            raise InputError(f"{out} holds an unfinished run with a different '{name}'", hint)
    kept = out / _OURS / "model.pt"
    model = str(kept.absolute()) if kept.is_file() else given.words[0]
    made = replace(_reading.plan(begun["plan"], []), fingerprint=begun["model"])
    return Files([model, *given.words[1:]], given.saved), made


def _begun(given: Files, wanted: Wanted, out: Path, place: Scratch) -> tuple[Files, Plan]:
    """Makes the plan and stores it, with the model if this call has saved it."""
    made = _plan(given, wanted, place)
    try:
        shutil.rmtree(out / _OURS, ignore_errors=True)
        (out / _OURS).mkdir(parents=True)
        files = given if given.saved is None else _kept(given, out)
        record = {"model": _fingerprint(given), "asked": _decisive(wanted), "plan": made.document}
        (out / _OURS / "begun.json").write_text(json.dumps(record))
    except OSError as problem:
        raise InputError(f"{out}: cannot be written: {problem.strerror}", "name another folder") from problem
    return files, made


def _kept(given: Files, out: Path) -> Files:
    model = (out / _OURS / "model.pt").absolute()
    shutil.copyfile(given.words[0], model)
    return replace(given, words=[str(model), *given.words[1:]])


def _plan(given: Files, wanted: Wanted, place: Scratch) -> Plan:
    if wanted.plan is None:
        return planned(given, taken_by("plan", wanted.settings), wanted.pins, place)
    if isinstance(wanted.plan, Plan):
        return _reading.plan(json.loads(plan_file(wanted.plan, given, place).read_text()), [])
    return _reading.plan(json.loads(wanted.plan), [])


def _fingerprint(given: Files) -> str:
    """Returns the hash of a model; for a file, the engine computes it."""
    if given.saved is None:
        return ""
    return given.saved.fingerprint or _content(given.words[0])


def _content(archive: str) -> str:
    """Returns the content of a scripted model: its files differ only in the name of the folder that they contain."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(archive) as file:
        for member in file.namelist():
            digest.update(member.partition("/")[2].encode())
            digest.update(file.read(member))
    return digest.hexdigest()


def _decisive(wanted: Wanted) -> dict[str, Any]:
    """Returns the settings on which the requested plan depends, as JSON."""
    document = wanted.plan.document if isinstance(wanted.plan, Plan) else json.loads(wanted.plan or "{}")
    content = {name: value for name, value in document.items() if name != "hashes"}
    plan = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    asked: dict[str, Any] = json.loads(json.dumps({**of_search(wanted.settings), "pins": wanted.pins, "plan": plan}))
    return asked
