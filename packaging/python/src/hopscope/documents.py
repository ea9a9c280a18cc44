"""The engine's documents as plain objects. `document` is always the whole JSON, as docs/reference/format-*.md describe
it; the other members are those used most. All of them have `to_pandas()` and a table for notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _svg
from ._figures import StageFigures
from ._options import path_of
from .errors import InputError

if TYPE_CHECKING:
    import pandas


def _frame(rows: list[Any]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows])


@dataclass(frozen=True)
class Value:
    """An intermediate value: `name` is unique and readable; `shape` contains "|node|" for a dimension with the
    rows of a table; `bytes` is None without data."""

    id: str
    name: str
    origin: str
    dtype: str | None
    shape: list[int | str]
    bytes: int | None


@dataclass(frozen=True)
class Operator:
    """An operator of the model, with its depth (rounds of neighbours behind it) and the line that it comes from."""

    id: str
    name: str
    kind: str
    module: str
    depth: int
    line: str


@dataclass(frozen=True)
class Cut:
    """A stored value between stages, or an output of the model (`output`). Its rows are written once and read by later
    stages."""

    value: str
    name: str
    stage: int
    shape: list[int | str]
    dtype: str | None
    output: bool
    written: int | None
    read: int | None


@dataclass(frozen=True)
class Stage:
    """One pass over all nodes: the number of its operators, its node types, and the names of the values that it reads
    and stores."""

    index: int
    destinations: list[str]
    operators: int
    reads: list[str]
    stores: list[str]


@dataclass(frozen=True)
class Lint:
    """Something that stands out; where `blocking`, the reason why the model cannot be split."""

    code: str
    message: str
    blocking: bool


@dataclass(frozen=True, repr=False)
class Inspection:
    """The structure of a model. If `splittable` is False, `lints` contain the reason."""

    model: str
    model_class: str
    depth: int
    splittable: bool
    roles: dict[str, str]
    sizes: dict[str, int]
    stages: list[Stage]
    cuts: list[Cut]
    operators: list[Operator]
    values: list[Value]
    lints: list[Lint]
    notes: list[str]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        kind = self.model_class or self.model
        return f"Inspection({kind}: depth {self.depth}, {len(self.stages)} stages, {len(self.operators)} operators)"

    def to_pandas(self) -> pandas.DataFrame:
        """A row per operator."""
        return _frame(self.operators)

    def _repr_html_(self) -> str:
        return _html.inspection(self)

    def _repr_svg_(self) -> str:
        return _svg.inspection(self)


@dataclass(frozen=True)
class Plan:
    """The operators of each stage and the stored values. `cost` is in `unit`, by the cost model; `gap` is the largest
    possible distance from the optimum (0: proven optimal; None: the plan of a heuristic). Sizes are None if the graph
    has not been analysed."""

    strategy: str
    device: str
    objective: str
    unit: str
    cost: float | None
    gap: float | None
    peak_memory: int | None
    bytes: dict[str, int]
    stages: list[Stage]
    cuts: list[Cut]
    notes: list[str]
    document: dict[str, Any] = field(repr=False)
    fingerprint: str = field(default="", repr=False)

    def __repr__(self) -> str:
        return f"<{_html.plan_title(self)}; {len(self.stages)} stages>"

    def save(self, path: str | Path) -> Path:
        """Writes plan.json, as `hopscope-engine run --plan` takes it."""
        target = path_of("path", path)
        try:
            target.write_text(json.dumps(self.document, indent=2) + "\n")
        except OSError as problem:
            raise InputError(f"{target}: cannot be written: {problem.strerror}", "choose another place") from problem
        return target

    def of_file(self, model_hash: str) -> Plan:
        """The same plan for another file of the same model."""
        hashes = {**self.document["hashes"], "model": model_hash}
        return replace(self, document={**self.document, "hashes": hashes})

    def to_pandas(self) -> pandas.DataFrame:
        """A row per stored value."""
        return _frame(self.cuts)

    def _repr_html_(self) -> str:
        return _html.plan(self)

    def _repr_svg_(self) -> str:
        return _svg.plan(self)


@dataclass(frozen=True)
class Compared:
    """One output: its largest errors (None: infinite), and how many of its elements are beyond the tolerance."""

    name: str
    max_abs: float | None
    max_rel: float | None
    rows: int
    different: int


@dataclass(frozen=True)
class Verification:
    """The comparison with `forward`. `verdict` is "equal", "different" or "unverifiable"; `reason` explains the last
    one: there is no reference at this size, or the model amplifies rounding."""

    verdict: str
    reason: str
    method: str
    rows: int
    outputs: list[Compared]
    seconds: float
    document: dict[str, Any] = field(repr=False)
    notes: list[str] = field(default_factory=list)

    @property
    def max_abs(self) -> float | None:
        """The largest difference of all outputs; None where one is infinite."""
        errors = [output.max_abs for output in self.outputs]
        return None if None in errors else max((error for error in errors if error is not None), default=0.0)

    @property
    def not_finite(self) -> int:
        """How many compared numbers are NaN or infinite, in the model's own results as well."""
        return sum(output["not_finite"] for output in self.document["outputs"])

    def to_pandas(self) -> pandas.DataFrame:
        """A row per output."""
        return _frame(self.outputs)

    def _repr_html_(self) -> str:
        return _html.verification(self)


@dataclass(frozen=True)
class NotFinite:
    """Results of a run that are NaN or infinite: how many `numbers`, by `outputs`; `first` is the operator that
    produced them from finite ones, in `stage` (None: before the first one); `given` are inputs and parameters that hold
    some themselves. `origin` is a sentence about them, or about how to find them (`hopscope.debug.non_finite`)."""

    numbers: int
    outputs: dict[str, int]
    first: dict[str, Any] | None
    stage: int | None
    given: list[str]
    origin: str

    def __str__(self) -> str:
        return f"{self.numbers:,} numbers in {', '.join(self.outputs)} are NaN or infinite: {self.origin}"


@dataclass(frozen=True)
class OperatorRun:
    """The cost of an operator in one loop of a stage, on a CPU: `label` is the readable name of its result, `fused`
    lists the operators of the same pass over the edges, and `bytes` is the size of its results in one batch."""

    stage: int
    op: str
    label: str
    seconds: float
    bytes: int
    fused: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StageRun(StageFigures):
    """A stage as it ran, with its figures; `written` and `read` are bytes of rows. It cannot take less than
    `bound_seconds` on this machine, mostly because of `wall`. Predictions are None if none could be made before the
    run."""

    index: int
    written: int
    read: int
    predicted_seconds: float | None = None
    predicted_peak_memory: int | None = None
    bound_seconds: float | None = None
    wall: str | None = None
    operators: tuple[OperatorRun, ...] = field(default=(), repr=False)

    @property
    def times_bound(self) -> float | None:
        """How many times its bound the stage took."""
        return self.seconds / self.bound_seconds if self.bound_seconds else None


@dataclass(frozen=True)
class Report:
    """What happened in a run (docs/reference/format-report.md)."""

    strategy: str
    device: str
    seconds: float
    prologue_seconds: float
    peak_memory: int
    stages: list[StageRun]
    notes: list[str]
    verification: Verification | None
    document: dict[str, Any] = field(repr=False)
    not_finite: NotFinite | None = None

    def __repr__(self) -> str:
        verdict = self.verification.verdict if self.verification else "not verified"
        lost = f"; {self.not_finite}" if self.not_finite else ""
        return f"<{self.strategy} plan, {_html.report_title(self)}; {len(self.stages)} stages; {verdict}{lost}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A row per stage, with a column per phase."""
        import pandas

        rows = [{**asdict(stage), **stage.phases} for stage in self.stages]
        return pandas.DataFrame(rows).drop(columns=["phases", "bytes", "operators"], errors="ignore")

    def operators_to_pandas(self) -> pandas.DataFrame:
        """A row per operator and loop, in the order of computation; none for a run on a GPU."""
        return _frame([operator for stage in self.stages for operator in stage.operators])

    def _repr_html_(self) -> str:
        return _html.report(self)


@dataclass(frozen=True)
class Device:
    """Something to compute on; `memory` in bytes, `driver` is a GPU's."""

    id: str
    name: str
    memory: int
    driver: str


@dataclass(frozen=True)
class Devices:
    """The usable devices of this machine; `missing` explains in sentences why others cannot be used."""

    devices: list[Device]
    missing: list[str]
    document: dict[str, Any] = field(repr=False)

    def to_pandas(self) -> pandas.DataFrame:
        """A row per device."""
        return _frame(self.devices)

    def _repr_html_(self) -> str:
        return _html.devices(self)


def inspection(document: dict[str, Any]) -> Inspection:
    """From what `inspect --json` prints."""
    values = [_value(value) for value in document["values"]]
    by_id = {value.id: value for value in values}
    operators = [_operator(op) for op in document["ops"]]
    stages = [_inspected_stage(stage, document["ops"], by_id) for stage in document["stages"]]
    results = {value for op in document["ops"] if op["kind"] == "output" for value in op["inputs"]}
    stored = [(value, stage["index"]) for stage in document["stages"] for value in stage["outputs"]]
    cuts = [_inspected_cut(by_id[value], stage, value in results) for value, stage in stored]
    lints = [Lint(lint["code"], lint["message"], lint["blocking"]) for lint in document["lints"]]
    shared = {
        name: document[name] for name in ("model", "model_class", "depth", "splittable", "roles", "sizes", "notes")
    }
    return Inspection(
        **shared, stages=stages, cuts=cuts, operators=operators, values=values, lints=lints, document=document
    )


def _value(value: dict[str, Any]) -> Value:
    return Value(name=value["label"], **{name: value[name] for name in ("id", "origin", "dtype", "shape", "bytes")})


def _operator(op: dict[str, Any]) -> Operator:
    source = op["source"]
    line = f"{source['file']}:{source['line']}" if source else ""
    return Operator(**{name: op[name] for name in ("id", "name", "kind", "module", "depth")}, line=line)


def _inspected_stage(stage: dict[str, Any], ops: list[dict[str, Any]], values: dict[str, Value]) -> Stage:
    count = sum(op["stage"] == stage["index"] for op in ops)
    reads, stores = ([values[value].name for value in stage[part]] for part in ("inputs", "outputs"))
    return Stage(stage["index"], stage["destinations"], count, reads, stores)


def _inspected_cut(value: Value, stage: int, output: bool) -> Cut:
    return Cut(value.id, value.name, stage, value.shape, value.dtype, output, value.bytes, None)


def plan(document: dict[str, Any], notes: list[str], names: dict[str, str] | None = None) -> Plan:
    """From plan.json; `names` are the values' names, where they are not in it."""
    names = names or document.get("names", {})
    stages = [_planned_stage(stage, names) for stage in document["stages"]]
    cuts = [_planned_cut(cut, names) for cut in document["checkpoints"]]
    shared = ("strategy", "device", "objective", "unit", "cost", "gap", "peak_memory")
    return Plan(
        **{name: document[name] for name in shared},
        bytes=document["bytes"] or {}, stages=stages, cuts=cuts, notes=notes, document=document,
    )  # fmt: skip


def _planned_stage(stage: dict[str, Any], names: dict[str, str]) -> Stage:
    loops = stage["loops"]
    reads, stores = (
        [names.get(access["value"], access["value"]) for loop in loops for access in loop[part]]
        for part in ("reads", "writes")
    )
    return Stage(stage["index"], [loop["destination"] for loop in loops], len(stage["ops"]), reads, stores)


def _planned_cut(cut: dict[str, Any], names: dict[str, str]) -> Cut:
    return Cut(
        cut["value"], names.get(cut["value"], cut["value"]), cut["stage"], cut["shape"], cut["dtype"], cut["output"],
        cut["bytes_written"], cut["bytes_read"],
    )  # fmt: skip


def verification(document: dict[str, Any], notes: Iterable[str] = ()) -> Verification:
    """From what `verify --json` prints, or a report's `verify`."""
    names = ("name", "max_abs", "max_rel", "rows", "different")
    outputs = [Compared(**{name: output[name] for name in names}) for output in document["outputs"]]
    coverage = document["coverage"]
    return Verification(
        document["verdict"], document["reason"], coverage["method"], coverage["chosen"] - coverage["skipped"], outputs,
        document["seconds"], document, list(notes),
    )  # fmt: skip


def report(document: dict[str, Any]) -> Report:
    """From report.json."""
    shared = ("strategy", "device", "seconds", "prologue_seconds", "peak_memory", "notes")
    return Report(
        **{name: document[name] for name in shared},
        stages=[_stage_run(stage) for stage in document["stages"]],
        verification=verification(document["verify"]) if document["verify"] else None,
        document=document,
        not_finite=_not_finite(document["not_finite"]) if document.get("not_finite") else None,
    )


def _not_finite(item: dict[str, Any]) -> NotFinite:
    outputs = {lost["output"]: lost["numbers"] for lost in item["outputs"]}
    shared = {name: item[name] for name in ("first", "stage", "given", "origin")}
    return NotFinite(sum(outputs.values()), outputs, **shared)


def _stage_run(stage: dict[str, Any]) -> StageRun:
    figures = {each.name: stage[each.name] for each in fields(StageFigures) if each.name in stage}
    predicted = stage["predicted"] or {}
    return StageRun(
        **figures, index=stage["index"], written=stage["bytes"]["d2h"], read=stage["bytes"]["h2d"],
        predicted_seconds=predicted.get("seconds"), predicted_peak_memory=predicted.get("peak_memory"),
        bound_seconds=stage["bound_seconds"], wall=stage["wall"],
        operators=tuple(_operator_run(stage["index"], operator) for operator in stage.get("operators", ())),
    )  # fmt: skip


def _operator_run(stage: int, operator: dict[str, Any]) -> OperatorRun:
    shared = ("op", "label", "seconds", "bytes")
    return OperatorRun(stage, fused=tuple(operator["fused"]), **{name: operator[name] for name in shared})


def devices(document: dict[str, Any]) -> Devices:
    """From what `devices --json` prints."""
    found = [
        Device(**{name: device[name] for name in ("id", "name", "memory", "driver")}) for device in document["devices"]
    ]
    return Devices(found, document["missing"], document)
