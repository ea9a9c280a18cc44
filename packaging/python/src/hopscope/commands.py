"""The engine's other commands as functions: `inspect`, `plan`, `verify`, `trust`, `devices`."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _reading
from ._files import Files, files_of, model_words, role_options, same_model
from ._log import finished
from ._options import Pins, Place, Roles, path_of, pins_of
from ._process import command
from ._scratch import Scratch, size_of
from ._settings import beside_plan, settings_of, takes, words_of
from .data import inputs_of
from .documents import Devices, Inspection, Plan
from .errors import VerificationError, door
from .reports import Verification, doubtful
from .saving import Saved, prepare

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._contract import PlanSettings, VerifySettings


@contextlib.contextmanager
def files(model: Any, data: Any, roles: Roles, scratch: Place | None, *, once: bool = True) -> Iterator[Files]:
    """Yields model and data as files for the duration of a command; existing files are used where they are. `once`: the
    file of a model in memory may fit these data only, because it does not outlive the command."""
    arguments = isinstance(data, tuple) or data is None
    table = None if arguments else inputs_of(data)
    expected = 0 if table is None or table.paths is not None else size_of(table.values)
    with Scratch(expected, scratch) as place:
        yield written(model, data if table is None else table, roles, place, once)


def written(model: Any, data: Any, roles: Roles, place: Scratch, once: bool = True) -> Files:
    """Writes model and data as `files` does, into a folder of the caller."""
    if data is None and isinstance(model, (str, os.PathLike)):
        saved = model if isinstance(model, Saved) else None
        return Files([*model_words(model, saved), *role_options(roles, saved)], saved)
    return files_of(*prepare(model, data, roles, place, once=once), roles)


@door
def inspect(model: Any, data: Any = None, *, roles: Roles = (), scratch: Place | None = None) -> Inspection:
    """Shows the structure of a model: its depth, its stages, the values stored between them, and the reason if it
    cannot be split.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`. A file can be inspected without data.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Inspection: The structure. Notebooks show a picture of it.

    Raises:
        InputError: The file or an input is missing or unsuitable.
        Refused: A model in memory cannot be saved.

    Example:
        >>> saved = hopscope.save(model, data, "inspected.pt")
        >>> found = hopscope.inspect(saved, data)
        >>> found
        Inspection(GraphSAGE: depth 2, 2 stages, ... operators)
        >>> found.splittable, found.roles["x"]
        (True, 'node:node')
    """
    with files(model, data, roles, scratch) as given:
        found = _reading.inspection(command("inspect", *given.words).document)
        return finished(replace(found, notes=given.told(found.notes)))


@door
@takes("plan")
def plan(
    model: Any,
    data: Any,
    *,
    pins: Pins = (),
    roles: Roles = (),
    scratch: Place | None = None,
    **settings: Unpack[PlanSettings],
) -> Plan:
    """Decides which operators run in which stage and which values are stored, and counts the bytes that move. Pass the
    plan to `inference` with the same model and data.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        pins (Sequence[Sequence[str | int]]): As for `inference`.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.
        **settings: The settings of a plan (docs/reference/settings.md).

    Returns:
        Plan: The plan. Notebooks show a picture of it.

    Raises:
        UsageError: An argument is wrong.
        InputError: An input is missing or unsuitable.
        Refused: The model cannot be saved or split, or not with these `pins`, `stages` or `host_memory`.
        ResourceError: No batch fits into `memory`, or memory or disk space is not enough.
        HopscopeError: As for `inference`.

    Example:
        >>> plan = hopscope.plan(saved, data, device="cpu", objective="bytes")
        >>> plan
        Plan(optimal plan for cpu, cost ... bytes, proven optimal; peak memory ...; 2 stages)
        >>> [(cut.stage, cut.shape, cut.written) for cut in plan.cuts]
        [(1, ['|node|', 16], 32000), (2, ['|node|', 4], 8000)]
        >>> pinned = hopscope.plan(saved, data, device="cpu", pins=[("checkpoint", plan.cuts[0].value)])
        >>> pinned.document["pins"]
        [['checkpoint', 'v...']]
        >>> hopscope.inference(saved, data, device="cpu", plan=plan).plan.strategy
        'optimal'
    """
    chosen = settings_of("plan", settings)
    with files(model, data, roles, scratch) as given, Scratch() as place:
        return finished(planned(given, chosen, pins, place))


def planned(given: Files, settings: Mapping[str, Any], pins: Pins, place: Scratch) -> Plan:
    """Makes a plan, as `plan` does, for files that exist."""
    answer = command("plan", *given.words, *words_of(settings), *pin_words(pins, place))
    made = _reading.plan(answer.document, given.told(answer.notes))
    return replace(made, fingerprint=given.saved.fingerprint if given.saved else "")


def pin_words(pins: Pins, place: Scratch) -> list[str]:
    """Writes the pins to a file and returns the options that name it. Without pins, there are none."""
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
    plan: Plan | Place | None = None,
    pins: Pins = (),
    full: bool = False,
    roles: Roles = (),
    scratch: Place | None = None,
    **settings: Unpack[VerifySettings],
) -> Verification:
    """Compares a split model with its own `forward`, without keeping the result.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        plan (Plan | str | Path | None): The plan to verify, as for `inference`.
        pins (Sequence[Sequence[str | int]]): As for `inference`.
        full (bool): True: compares all rows. False: as the setting `verify` says; by default all rows if `forward`
            fits in memory, and otherwise those of a sample of nodes.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.
        **settings: The settings of a verification (docs/reference/settings.md).

    Returns:
        Verification: The comparison.

    Raises:
        VerificationError: The results differ; its `result` is the `Verification`.
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.verify(saved, data, device="cpu", full=True)
        Verification(equal: 500 rows compared, largest difference ...)
    """
    chosen = settings_of("verify", {**settings, "verify": "full"} if full else settings)
    with files(model, data, roles, scratch) as given, Scratch() as place:
        answer = command("verify", *given.words, *by_plan(chosen, plan, pins, given, place))
    found = _reading.verification(answer.document, given.told(answer.notes))
    if found.verdict == "different":
        problem = VerificationError(
            f"the split and the model's own forward differ: {found.reason}",
            "the comparison is this exception's `result`; hopscope.debug.compare finds the first operator that differs",
        )
        problem.result = found
        raise problem
    doubtful(found)
    return finished(found)


def by_plan(
    settings: Mapping[str, Any],
    plan: Plan | Place | None,
    pins: Pins,
    given: Files,
    place: Scratch,
) -> list[str]:
    """Returns the options of the settings, together with the given plan or the pins of a new plan."""
    if plan is None:
        return [*words_of(settings), *pin_words(pins, place)]
    return [*words_of(beside_plan(settings)), "--plan", str(plan_file(plan, given, place))]


def plan_file(plan: Plan | Place, given: Files, place: Scratch) -> Path:
    """Returns the file of a plan; a plan for another file of this model is adapted."""
    if not isinstance(plan, Plan):
        return path_of("plan", plan).absolute()
    if given.saved is not None and same_model(plan, given.saved):
        plan = plan.of_file(command("inspect", *given.words).document["hashes"]["model"])
    return plan.save(place.folder() / "plan.json")


@door
def trust(path: Place) -> None:
    """Agrees to run the code of a TorchScript file, or of all files below a folder. A model in memory, and the result
    of `save`, need no agreement.

    Args:
        path (str | Path): The file, which is recognised by its content afterwards, or the folder.

    Raises:
        InputError: The path does not exist.
    """
    command("trust", str(path_of("path", path).absolute()))


@door
def devices() -> Devices:
    """Lists the devices of this machine.

    Returns:
        Devices: The usable devices, and the reasons why a GPU cannot be used or is slow.

    Example:
        >>> hopscope.devices().devices[0]
        Device(cpu: ..., ... GiB)
    """
    return _reading.devices(command("devices").document)
