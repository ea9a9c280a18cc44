"""The engine's other commands as functions: `inspect`, `plan`, `verify`, `devices`."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import documents
from ._files import Files, files_of, model_words, role_options, same_model
from ._options import path_of, pins_of
from ._process import command
from ._scratch import Scratch, size_of
from ._settings import beside_plan, settings_of, takes, words_of
from .data import inputs_of
from .documents import Devices, Inspection, Plan, Verification
from .errors import VerificationError, door
from .saving import Saved, prepare

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._contract import PlanSettings, VerifySettings


@contextlib.contextmanager
def files(
    model: Any, data: Any, roles: Any, scratch: str | os.PathLike[str] | None, *, once: bool = True
) -> Iterator[Files]:
    """Model and data as files for the duration of a command; existing files stay in place. `once`:
    nothing that outlives the command contains the model."""
    arguments = isinstance(data, tuple) or data is None
    table = None if arguments else inputs_of(data)
    expected = 0 if table is None or table.paths is not None else size_of(table.values)
    with Scratch(expected, scratch) as place:
        yield written(model, data if table is None else table, roles, place, once)


def written(model: Any, data: Any, roles: Any, place: Scratch, once: bool = True) -> Files:
    """As `files`, into a folder of the caller."""
    if data is None and isinstance(model, (str, os.PathLike)):
        saved = model if isinstance(model, Saved) else None
        return Files([*model_words(model, saved), *role_options(roles, saved)], saved)
    return files_of(*prepare(model, data, roles, place, once=once), roles)


@door
def inspect(
    model: Any, data: Any = None, *, roles: Any = (), scratch: str | os.PathLike[str] | None = None
) -> Inspection:
    """Shows the structure of a model: depth, stages, the stored values between them, and the reason if it cannot be
    split. A file can be inspected without data; a model in memory needs data to be saved."""
    with files(model, data, roles, scratch) as given:
        found = documents.inspection(command("inspect", *given.words).document)
        return replace(found, notes=given.told(found.notes))


@door
@takes("plan")
def plan(
    model: Any,
    data: Any,
    *,
    pins: Sequence[Sequence[Any]] = (),
    roles: Any = (),
    scratch: str | os.PathLike[str] | None = None,
    **settings: Unpack[PlanSettings],
) -> Plan:
    """Decides which operators run in which stage and which values are stored, and counts the bytes that move. Pass the
    plan to `inference` with the same model and data. `model`, `data`, `pins`, `roles` and `scratch` are those of
    `inference`.

    Args:
        SETTINGS
    """
    chosen = settings_of("plan", settings)
    with files(model, data, roles, scratch) as given, Scratch() as place:
        return planned(given, chosen, pins, place)


def planned(given: Files, settings: Mapping[str, Any], pins: Sequence[Sequence[Any]], place: Scratch) -> Plan:
    """As `plan`, for files."""
    answer = command("plan", *given.words, *words_of(settings), *pin_words(pins, place))
    made = documents.plan(answer.document, given.told(answer.notes))
    return replace(made, fingerprint=given.saved.fingerprint if given.saved else "")


def pin_words(pins: Sequence[Sequence[Any]], place: Scratch) -> list[str]:
    """Written to a file."""
    if not pins:
        return []
    path = place.folder() / "pins.json"
    path.write_text(json.dumps({"pins": pins_of(pins)}))
    return ["--pins", str(path)]


@door
@takes("verify")
def verify(
    model: Any,
    data: Any,
    *,
    plan: Plan | str | os.PathLike[str] | None = None,
    pins: Sequence[Sequence[Any]] = (),
    full: bool = False,
    roles: Any = (),
    scratch: str | os.PathLike[str] | None = None,
    **settings: Unpack[VerifySettings],
) -> Verification:
    """Compares the split with the model's own `forward`, on all rows if they fit and otherwise on a sample of nodes, or
    with `full` always on all rows. Raises VerificationError, whose `result` is the comparison, if they differ. `model`,
    `data`, `plan`, `pins`, `roles` and `scratch` are those of `inference`.

    Args:
        SETTINGS
    """
    chosen = settings_of("verify", {**settings, "verify": "full"} if full else settings)
    with files(model, data, roles, scratch) as given, Scratch() as place:
        answer = command("verify", *given.words, *by_plan(chosen, plan, pins, given, place))
    found = documents.verification(answer.document, given.told(answer.notes))
    if found.verdict == "different":
        problem = VerificationError(
            f"the split and the model's own forward differ: {found.reason}",
            "the comparison is this exception's `result`; hopscope.debug.compare finds the first operator that differs",
        )
        problem.result = found
        raise problem
    return found


def by_plan(
    settings: Mapping[str, Any],
    plan: Plan | str | os.PathLike[str] | None,
    pins: Sequence[Sequence[Any]],
    given: Files,
    place: Scratch,
) -> list[str]:
    """The options of the settings, together with the given plan or the pins of a new one."""
    if plan is None:
        return [*words_of(settings), *pin_words(pins, place)]
    return [*words_of(beside_plan(settings)), "--plan", str(plan_file(plan, given, place))]


def plan_file(plan: Plan | str | os.PathLike[str], given: Files, place: Scratch) -> Path:
    """The file of a plan; one that was made for another file of this model is made to fit."""
    if not isinstance(plan, Plan):
        return path_of("plan", plan).absolute()
    if given.saved is not None and same_model(plan, given.saved):
        plan = plan.of_file(command("inspect", *given.words).document["hashes"]["model"])
    return plan.save(place.folder() / "plan.json")


@door
def trust(path: str | os.PathLike[str]) -> None:
    """Agrees to run the code of a TorchScript file, which is then recognised by its content, or of all files below a
    folder. Models in memory need no agreement."""
    command("trust", str(path_of("path", path).absolute()))


@door
def devices() -> Devices:
    """What this machine can compute on, and why not on the rest."""
    return documents.devices(command("devices").document)
