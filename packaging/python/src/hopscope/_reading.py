"""Reads the engine's documents (docs/reference/format-*.md) into the objects of `documents` and `reports`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from ._figures import StageFigures
from ._table import Table
from .documents import Cut, Device, Devices, Inspection, Lint, Operator, Plan, Stage, Value
from .reports import Compared, NotFinite, OperatorRun, Report, StageRun, Verification


def inspection(document: dict[str, Any]) -> Inspection:
    """From the document of `inspect --json`."""
    values = Table(_value(value) for value in document["values"])
    by_id = {value.id: value for value in values}
    operators = Table(_operator(op) for op in document["ops"])
    stages = Table(_inspected_stage(stage, document["ops"], by_id) for stage in document["stages"])
    results = {value for op in document["ops"] if op["kind"] == "output" for value in op["inputs"]}
    stored = [(value, stage["index"]) for stage in document["stages"] for value in stage["outputs"]]
    cuts = Table(_inspected_cut(by_id[value], stage, value in results) for value, stage in stored)
    lints = Table(Lint(lint["code"], lint["message"], lint["blocking"]) for lint in document["lints"])
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
    count = sum(op["stage"] == stage["index"] and op["kind"] not in ("input", "output") for op in ops)
    reads, stores = ([values[value].name for value in stage[part]] for part in ("inputs", "outputs"))
    return Stage(stage["index"], stage["destinations"], count, reads, stores)


def _inspected_cut(value: Value, stage: int, output: bool) -> Cut:
    return Cut(value.id, value.name, stage, value.shape, value.dtype, output, value.bytes, None)


def plan(document: dict[str, Any], notes: list[str], names: dict[str, str] | None = None) -> Plan:
    """From plan.json; `names` are the names of its values if it has none."""
    names = names or document.get("names", {})
    stages = Table(_planned_stage(stage, names) for stage in document["stages"])
    cuts = Table(_planned_cut(cut, names) for cut in document["checkpoints"])
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
    steps = [*stage["ops"], *(reduction for loop in loops for reduction in loop["reductions"])]
    operators = {step["op"] for step in steps}.union(stage["rowless"])
    return Stage(stage["index"], [loop["destination"] for loop in loops], len(operators), reads, stores)


def _planned_cut(cut: dict[str, Any], names: dict[str, str]) -> Cut:
    return Cut(
        cut["value"], names.get(cut["value"], cut["value"]), cut["stage"], cut["shape"], cut["dtype"], cut["output"],
        cut["bytes_written"], cut["bytes_read"],
    )  # fmt: skip


def verification(document: dict[str, Any], notes: Iterable[str] = ()) -> Verification:
    """From the document of `verify --json`, or `verify` of a report."""
    names = ("name", "max_abs", "max_rel", "rows", "different")
    outputs = Table(Compared(**{name: output[name] for name in names}) for output in document["outputs"])
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
        stages=Table(_stage_run(stage) for stage in document["stages"]),
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
    """From the document of `devices --json`."""
    shared = ("id", "name", "memory", "driver")
    found = Table(Device(**{name: device[name] for name in shared}) for device in document["devices"])
    return Devices(found, document["missing"], document)
