"""One call from a model and its data to the outputs for every node: `inference`, and `run` for files that stay."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _cluster, _html, _reading, _records, _resuming, arrays
from ._contract import RunSettings
from ._files import files_of, role_words, same_model
from ._forms import Returned
from ._later import later
from ._log import finished
from ._options import Pins, Place, Roles, Via, count_of, path_of, pins_of, via_of
from ._progress import Progress, reported
from ._scratch import Scratch, size_of, tidied
from ._serve import Client, Starting
from ._settings import accepts, settings_of, takes
from ._words import duration, listed
from .data import inputs_of
from .documents import Plan
from .errors import InputError, UsageError, VerificationError, door, error_from
from .reports import Report, Verification, doubtful
from .saving import Prepared, Saved, prepare

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack


@dataclass(frozen=True, repr=False)
class Inference:
    """The result of a layer-wise run.

    Attributes:
        output (Any): The return value of `forward`: a tensor, or tuples and dicts of tensors. It is on the CPU.
        outputs (dict[str, Any]): The same tensors by the engine's names. They are mapped from files, and take memory
            when they are read.
        report (Report): Times, memory and bytes of each stage, and the verification.
        plan (Plan): The plan of the run.
        saved (Saved | None): The file of a model that was in memory.
        folder (Path | None): The output folder, if the call named one.
        notes (list[str]): Sentences about assumptions and ignored inputs.
    """

    output: Any
    outputs: dict[str, Any]
    report: Report
    plan: Plan
    saved: Saved | None = None
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def verification(self) -> Verification | None:
        """The comparison with the model's own `forward`; None if there was none."""
        return self.report.verification

    @property
    def verdict(self) -> str | None:
        """The verdict of the comparison, "equal" or "unverifiable". A difference raises VerificationError instead."""
        return self.verification.verdict if self.verification else None

    def __repr__(self) -> str:
        shapes = [f"{name} {list(array.shape)} {array.dtype}" for name, array in self.outputs.items()]
        verdict, seconds = self.verdict or "not verified", duration(self.report.seconds)
        return f"Inference({listed(shapes)}; {verdict}; {seconds})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per stage and a column per phase."""
        return self.report.to_pandas()

    def _repr_html_(self) -> str:
        rows = ((name, list(array.shape), str(array.dtype)) for name, array in self.outputs.items())
        outputs = _html.grid(("output", "shape", "dtype"), rows)
        saved = _html.listing(self.saved.notes) if self.saved else ""
        return _html.page("Result", outputs, saved, self.report._repr_html_())


@dataclass
class _Asked:
    """The arguments of a call, after all checks that do not need the engine."""

    model: Any
    data: Any
    roles: Any
    plan: Plan | str | None
    pins: list[list[Any]]
    settings: dict[str, Any]
    out: Place | None
    scratch: Place | None
    via: str


@dataclass
class _Job:
    """A request in the terms of the engine."""

    model: Path
    data: list[str]
    roles: list[str]
    plan: Plan | str | None
    pins: list[list[Any]]
    settings: dict[str, Any]
    transient: list[str]


@door
@takes("run")
def inference(
    model: Any,
    data: Any,
    *,
    plan: Plan | Place | Mapping[str, Any] | None = None,
    pins: Pins = (),
    roles: Roles = (),
    via: Via = "auto",
    out: Place | None = None,
    cluster: str | None = None,
    workers: int = 0,
    scratch: Place | None = None,
    progress: bool | Progress = False,
    **settings: Unpack[RunSettings],
) -> Inference:
    """Computes a model layer by layer for every node of a graph, and compares the result with the model's `forward`.

    Args:
        model (torch.nn.Module | Saved | str | Path): A model in memory, the result of `save`, a TorchScript file, or an
            exported program (.pt2). A model in memory is saved for the call; it does not change.
        data (Any): The arguments of `forward` by name: `Data` or `HeteroData` of PyG, a graph of DGL or NetworkX, or a
            dict of tensors, arrays, SciPy matrices and tables. Also a tuple of arguments, or paths of data
            files as `--data` takes them. Inputs that `forward` does not take are ignored, and `notes` names them.
        plan (Plan | str | Path | Mapping[str, Any] | None): A result of `plan`, a plan.json, or its content. None: the
            call makes a plan as `strategy`, `objective`, `stages`, `deadline` and `pins` say.
        pins (Sequence[Sequence[str | int]]): Decisions that a new plan respects, such as `("checkpoint", value)`, where
            `value` is the `value` of a `Cut` or the `id` of a `Value`.
        roles (Mapping[str, str] | Sequence[str]): The roles of inputs, if they cannot be inferred, such as
            `{"x": "node:user"}`.
        via (str): How a model in memory is saved for the call, as for `save`. `notes` say which way "auto" chose, and
            why.
        out (str | Path | None): An output folder for out.npy (or a file per output) and report.json. None: a temporary
            folder. With `resume`, the same call resumes an unfinished run in the folder, also in another process.
        cluster (str | None): Run on several workers with CPUs: "auto" or the HOST:PORT of a Ray cluster, or "local" for
            processes of this machine. Needs an `out` that all machines see. The run can be resumed.
        workers (int): The number of workers; 0: as many as fit. "local" needs a number.
        scratch (str | Path | None): The folder for temporary files; None: memory or the system's folder.
        progress (bool | Callable[[str, int, int], None]): True: a progress bar, which needs tqdm. A function receives
            the step, the rows that are done, and all rows. A run that can be resumed reports no progress.
        **settings: The settings of a run (docs/reference/settings.md).

    Returns:
        Inference: The outputs, the report of the run, its plan and the verdict.

    Raises:
        UsageError: An argument is wrong.
        InputError: An input is missing or unsuitable.
        Refused: The model cannot be saved or split; the message names the line.
        VerificationError: The result differs from that of `forward`; its `result` is the `Inference`.
        ResourceError: Memory or disk space is not enough.
        HopscopeError: Another failure of the engine. Ctrl+C raises KeyboardInterrupt. No failure leaves a file, unless
            the run can be resumed.

    Example:
        >>> import hopscope, torch
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GraphSAGE
        >>> model = GraphSAGE(in_channels=16, hidden_channels=32, num_layers=2, out_channels=4)
        >>> data = Data(x=torch.randn(500, 16), edge_index=torch.randint(0, 500, (2, 8000)))
        >>> result = hopscope.inference(model, data, device="cpu", memory="512Mi", verify="full")
        >>> result.output.shape, result.verdict
        (torch.Size([500, 4]), 'equal')
        >>> result
        Inference(out [500, 4] torch.float32; equal; ...)
    """
    chosen = settings_of("run", settings)
    if cluster is not None and chosen["device"] == "auto":
        chosen["device"] = "cpu"
    asked = _Asked(model, data, roles, _chosen(plan), pins_of(pins), chosen, out, scratch, via_of(via))
    if cluster is not None:
        return _agreed(_together(asked, cluster, workers, progress))
    return _agreed(_resumed(asked, progress) if chosen["resume"] else _watched(asked, progress))


class CallOptions(RunSettings, total=False):
    """The options of `inference` besides `out`."""

    plan: Plan | Place | Mapping[str, Any] | None
    pins: Pins
    roles: Roles
    via: Via
    cluster: str | None
    workers: int
    scratch: Place | None
    progress: bool | Progress


@door
@accepts(inference)
def run(model: Any, data: Any, out: Place, **options: Unpack[CallOptions]) -> Inference:
    """Computes a model as `inference` does, into a folder that stays: out.npy (or a file per output) and report.json,
    as `hopscope-engine run` writes them.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        out (str | Path): The output folder.
        **options: The other arguments of `inference`.

    Returns:
        Inference: The outputs, the report of the run, its plan and the verdict.

    Raises:
        HopscopeError: As for `inference`.

    Example:
        >>> result = hopscope.run(model, data, "kept", device="cpu")
        >>> sorted(path.name for path in result.folder.iterdir())
        ['out.npy', 'report.json']
    """
    return inference(model, data, out=out, **options)


def _is_arguments(data: Any) -> bool:
    return isinstance(data, tuple) and not any(isinstance(item, (str, os.PathLike)) for item in data)


def _chosen(plan: Any) -> Plan | str | None:
    """Returns a plan as an object, or the text of a plan.json."""
    if plan is None or isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return _text_of(plan)
    try:
        return path_of("plan", plan).read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{plan}: cannot be read: {problem}", "is it a plan.json?") from problem


def _text_of(plan: Mapping[str, Any]) -> str:
    try:
        return json.dumps(plan)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"plan: not the content of a plan.json: {problem}", "pass what json.load returns") from problem


def _watched(asked: _Asked, progress: bool | Progress) -> Inference:
    with reported(progress) as show:
        return _evaluated(asked, _Watcher(show))


def _evaluated(asked: _Asked, watcher: _Watcher) -> Inference:
    inputs, expected = _inputs(asked.data)
    with contextlib.ExitStack() as held:
        place = held.enter_context(Scratch(expected, asked.scratch))
        folder = path_of("out", asked.out) if asked.out is not None else place.folder() / "outputs"
        held.enter_context(tidied(folder))
        engine = held.enter_context(Starting(watcher.told))
        given_away = asked.settings["verify"] == "none"
        found, given = prepare(asked.model, inputs, asked.roles, place, apart=given_away, via=asked.via)
        roles = role_words(asked.roles, found.saved)
        transient = given.written if given_away else []
        job = _Job(
            found.path.absolute(), given.words, roles, asked.plan, asked.pins, asked.settings, transient
        )  # fmt: skip
        document, made = _carried_out(engine.client(), watcher, job, found.saved, folder)
        outputs = _outputs(document, folder, found.data.as_torch or found.saved is not None)
        later(held.pop_all().close)
    return _result(document, made, found, outputs, folder if asked.out is not None else None)


def _resumed(asked: _Asked, progress: bool | Progress) -> Inference:
    if progress:
        raise UsageError("a run that can be resumed reports no progress", "leave out progress= or resume=")
    return _kept(asked, asked.scratch, _resuming.alone)


def _together(asked: _Asked, cluster: str, workers: int, progress: bool | Progress) -> Inference:
    """Puts files where the workers see them: next to the folder of the results."""
    number = count_of("workers", workers, least=0) or 0
    if asked.settings["cache"] is not None:
        raise UsageError("workers of a cluster keep nothing for later runs", "leave cache= or cluster= out")

    def carry(order: _resuming.Order) -> dict[str, Any]:
        return _cluster.run(_request(order), cluster, workers=number, progress=progress)

    return _kept(asked, asked.scratch or path_of("out", asked.out or ".").absolute().parent, carry)


def _request(order: _resuming.Order) -> dict[str, Any]:
    """Returns the parameters of worker/open."""
    model, *rest = order.files.words
    trusted = order.files.saved is not None
    named = {
        option: [word for at, word in enumerate(rest) if rest[at - 1] == option] for option in ("--data", "--role")
    }
    options = {name: value for name, value in order.settings.items() if name != "resume"}
    files = {"model": model, "data": named["--data"], "roles": named["--role"], "trusted": trusted}
    return {**options, **files, "plan": str(order.plan), "output": str(order.out)}


def _kept(asked: _Asked, scratch: Place | None, carry: Callable[[_resuming.Order], dict[str, Any]]) -> Inference:
    if asked.out is None:
        raise UsageError("a run that can be resumed needs a folder", "name one with out=, or use hopscope.run")
    inputs, expected, folder = *_inputs(asked.data), path_of("out", asked.out)
    with Scratch(expected, scratch) as place:
        found, given = prepare(asked.model, inputs, asked.roles, place, via=asked.via)
        files = files_of(found, given, asked.roles)
        wanted = _resuming.Wanted(asked.settings, asked.plan, asked.pins)
        document, made = _resuming.carried_out(files, wanted, folder, place, carry)
        outputs = _outputs(document, folder, found.data.as_torch or found.saved is not None)
    return _result(document, made, found, outputs, folder)


def _inputs(data: Any) -> tuple[Any, int]:
    """Returns the data as a table, unless they are a tuple of arguments, and the number of bytes to write."""
    inputs = data if _is_arguments(data) else inputs_of(data)
    written = not isinstance(inputs, tuple) and inputs.paths is None
    return inputs, size_of(inputs.values) if written else 0


def _carried_out(
    client: Client, watcher: _Watcher, job: _Job, saved: Saved | None, folder: Path
) -> tuple[dict[str, Any], Plan]:
    """Returns the report, and the plan of the run."""
    files = {"model": str(job.model), "data": job.data, "roles": job.roles, "trusted": saved is not None}
    output = str(folder.absolute())
    opened = client.call("model/open", **files, **job.settings, writes=[output, *job.transient])
    number = opened["document"]
    made = _plan(client, number, opened["inspect"], job, saved)
    started = client.call(
        "run/start", document=number, plan=made.document, output=output, last=True, transient=job.transient,
        **job.settings,
    )  # fmt: skip
    while started["run"] not in watcher.finished:
        client.read()
    return watcher.outcome(started["run"]), made


def _plan(client: Client, number: int, inspected: dict[str, Any], job: _Job, saved: Saved | None) -> Plan:
    names = {value["id"]: value["label"] for value in inspected["values"]}
    if job.plan is None:
        answer = client.call("plan/make", document=number, pins=job.pins, **job.settings)
    else:
        text = job.plan if isinstance(job.plan, str) else json.dumps(_adopted(job.plan, inspected, saved))
        answer = client.call("plan/load", document=number, text=text, **job.settings)
    return _reading.plan(answer["plan"], answer["notes"], names)


def _adopted(plan: Plan, inspected: dict[str, Any], saved: Saved | None) -> dict[str, Any]:
    """Returns a plan from another call for the same model, whose file had the same content in other bytes."""
    same = saved is not None and same_model(plan, saved)
    return (plan.of_file(inspected["hashes"]["model"]) if same else plan).document


class _Watcher:
    """Turns the engine's notifications into progress, and stores the outcome of each run."""

    def __init__(self, show: Progress) -> None:
        self._show, self._stage = show, ""
        self.finished: dict[int, dict[str, Any]] = {}

    def told(self, method: str, params: dict[str, Any]) -> None:
        if method == "$/progress":
            self._show(params["what"], params["done"], params["total"])
        elif method == "run/events":
            for event in params["events"]:
                self._event(event)
        elif method == "run/finished":
            self.finished[params["run"]] = params

    def _event(self, event: dict[str, Any]) -> None:
        if event["type"] == "stage":
            self._stage = f"stage {event['index']} of {event['count']}"
            self._show(self._stage, 0, event["destinations"])
        elif event["type"] == "batch":
            self._show(self._stage, event["done"], event["total"])

    def outcome(self, run: int) -> dict[str, Any]:
        """Returns the report of a run, or the error that ended it."""
        ended = self.finished[run]
        if "error" in ended:
            raise error_from(ended["error"])
        report: dict[str, Any] = ended["report"]
        return report


def _outputs(document: dict[str, Any], folder: Path, as_torch: bool) -> dict[str, Any]:
    """Maps the outputs, which remain valid after the folder is removed."""
    return {item["name"]: arrays.load(folder / item["file"], item["dtype"], as_torch) for item in document["outputs"]}


def _result(
    document: dict[str, Any], plan: Plan, found: Prepared, outputs: dict[str, Any], folder: Path | None
) -> Inference:
    report = _reading.report(document)
    structure = found.saved.structure if found.saved else None
    notes = list(dict.fromkeys([*found.notes, *plan.notes, *report.notes]))
    doubtful(report.verification, report.not_finite)
    return finished(Inference(_structured(outputs, structure), outputs, report, plan, found.saved, folder, notes))


def _structured(outputs: dict[str, Any], structure: Any) -> Any:
    """Outputs in the form that `forward` returns; for a model file, their names determine the form."""
    if structure is not None:
        return _filled(structure, outputs)
    if set(outputs) == {"out"}:
        return outputs["out"]
    keys = {name.removeprefix("out."): array for name, array in outputs.items()}
    return tuple(keys.values()) if all(key.isdigit() for key in keys) else keys


def _filled(structure: Any, outputs: dict[str, Any]) -> Any:
    if isinstance(structure, Returned):
        return _records.filled(structure.like, {key: outputs[name] for key, name in structure.names.items()})
    if isinstance(structure, Mapping):
        return {key: _filled(item, outputs) for key, item in structure.items()}
    if isinstance(structure, (list, tuple)):
        return type(structure)([_filled(item, outputs) for item in structure])
    return None if structure is None else outputs[structure]


def _agreed(result: Inference) -> Inference:
    found = result.report.verification
    if found is None or found.verdict != "different":
        return result
    problem = VerificationError(
        f"the split and the model's own forward differ: {found.reason}",
        "the result is in this exception's `result`; please report it",
    )
    problem.result = result
    raise problem
