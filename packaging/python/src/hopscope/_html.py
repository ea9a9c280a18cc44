"""Tables for notebooks, in the colours of the notebook. Everything that comes from a model or a file is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from . import _svg
from ._words import counted

if TYPE_CHECKING:
    from . import documents, reports
    from ._inference import Inference
    from .comparing import Comparison
    from .exporting import Export
    from .flow import LayeredFlow
    from .saving import Saved


def size(count: int | None) -> str:
    """Returns a size such as "225 KiB", or "?" if it is unknown."""
    if count is None:
        return "?"
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """As "12 ms" or "3.2 s"."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, at most four of them: "x, edge_index, a, b, ... 3 more"."""
    more = [f"... {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _page(title: str, *parts: str) -> str:
    return f"<div><p><b>{escape(title)}</b></p>{''.join(parts)}</div>"


def _list(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def shape(extents: Sequence[int | str | None]) -> str:
    """Returns a shape such as "[node, 16]", with "?" for an unknown extent."""
    return "[" + ", ".join("?" if extent is None else str(extent).strip("|") for extent in extents) + "]"


def _stages(stages: Iterable[documents.Stage]) -> str:
    rows = (
        (stage.index, stage.operators, ", ".join(stage.destinations), ", ".join(stage.reads), ", ".join(stage.stores))
        for stage in stages
    )
    return _grid(("stage", "operators", "for all of", "reads", "stores"), rows)


def _cuts(cuts: Iterable[documents.Cut]) -> str:
    rows = (
        (cut.value, cut.name, f"after {cut.stage}", shape(cut.shape), cut.dtype or "", size(cut.written),
         size(cut.read), "output" if cut.output else "cut")
        for cut in cuts
    )  # fmt: skip
    return _grid(("value", "name", "stage", "shape", "dtype", "written", "read", "is"), rows)


def _ran(stages: Iterable[reports.StageRun]) -> str:
    rows = (
        (stage.index, duration(stage.seconds), _bound(stage), stage.batches, size(stage.written), size(stage.read),
         size(stage.peak_memory))
        for stage in stages
    )  # fmt: skip
    return _grid(("stage", "time", "bound", "batches", "written", "read", "peak memory"), rows)


def _devices(devices: Iterable[documents.Device]) -> str:
    rows = ((device.id, device.name, size(device.memory), device.driver) for device in devices)
    return _grid(("device", "name", "memory", "driver"), rows)


def _records(rows: Sequence[Mapping[str, object]]) -> str:
    """Returns a table with the keys of the first row as its columns."""
    return _grid(list(rows[0]), (list(row.values()) for row in rows)) if rows else ""


def record(item: Any) -> dict[str, Any]:
    """Returns the columns of an entry: those that it names itself, its fields, or the entry if it is a mapping."""
    if hasattr(item, "_columns"):
        return dict(item._columns())
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return dict(item) if isinstance(item, Mapping) else {"value": item}


def table(items: Sequence[object]) -> str:
    """Returns a list of results of the same type."""
    kinds: dict[str, Callable[[Any], str]]
    kinds = {"Stage": _stages, "Cut": _cuts, "StageRun": _ran, "Device": _devices}
    shown = kinds.get(type(items[0]).__name__) if items else None
    return shown(items) if shown else _records([record(item) for item in items])


def inspection(found: documents.Inspection) -> str:
    title = f"{found.model_class or found.model}: depth {found.depth}, {counted(len(found.stages), 'stage')}"
    if not found.splittable:
        title += ", cannot be split"
    lints = _list(lint.message for lint in found.lints)
    return _page(title, _svg.inspection(found), _stages(found.stages), _cuts(found.cuts), lints)


def plan_title(made: documents.Plan) -> str:
    cost = "" if made.cost is None else f", cost {made.cost:.3g} {made.unit}"
    proof = ", proven optimal" if made.gap == 0 else ""
    return f"{made.strategy} plan for {made.device}{cost}{proof}; peak memory {size(made.peak_memory)}"


def plan(made: documents.Plan) -> str:
    return _page(plan_title(made), _svg.plan(made), _stages(made.stages), _cuts(made.cuts), _list(made.notes))


def verification(found: reports.Verification) -> str:
    rows = (
        (output.name, output.rows, "∞" if output.max_abs is None else f"{output.max_abs:.3g}", output.different)
        for output in found.outputs
    )
    title = f"{found.verdict}: {found.reason}"
    compared = _grid(("output", "rows", "largest difference", "beyond the tolerance"), rows)
    return _page(title, compared, _list(found.notes))


def comparison(found: Comparison) -> str:
    rows = (
        (output.name, output.rows, "∞" if output.max_abs is None else f"{output.max_abs:.3g}", output.different,
         "" if output.row is None else f"row {output.row:,}, {output.element}")
        for output in found.outputs
    )  # fmt: skip
    compared = _grid(("output", "rows", "largest difference", "beyond the tolerance", "first at"), rows)
    return _page(f"{found.verdict}: {found.reason}", compared, _list(found.notes))


def _bound(stage: reports.StageRun) -> str:
    if stage.times_bound is None:
        return ""
    return f"{stage.times_bound:.1f} times {duration(stage.bound_seconds or 0)}, {stage.wall}"


def report_title(run: reports.Report) -> str:
    return f"{duration(run.seconds)} on {run.device}; peak memory {size(run.peak_memory)}"


def report(run: reports.Report) -> str:
    found = run.verification
    verdict = f"<p>{escape(found.verdict)}: {escape(found.reason)}</p>" if found else "<p>not verified</p>"
    lost = f"<p>{escape(str(run.not_finite))}</p>" if run.not_finite else ""
    return _page(report_title(run), _ran(run.stages), lost + verdict, _list(run.notes))


def devices(found: documents.Devices) -> str:
    return _page("Devices", _devices(found.devices), _list(found.missing))


def inference(result: Inference) -> str:
    rows = ((name, list(array.shape), str(array.dtype)) for name, array in result.outputs.items())
    outputs = _grid(("output", "shape", "dtype"), rows)
    saved = _list(result.saved.notes) if result.saved else ""
    return _page("Result", outputs, saved, report(result.report))


def findings(title: str, rows: Sequence[Mapping[str, object]]) -> str:
    return _page(title, _records(rows))


def saved(done: Saved) -> str:
    return _page(f"{done.path}: {done.how}", _list([f"arguments: {', '.join(done.arguments)}", *done.notes]))


def layers(flow: LayeredFlow) -> str:
    rows = (
        (layer.name, layer.size, layer.destination, ", ".join(layer.relations), ", ".join(layer.reads),
         ", ".join(layer.stores))
        for layer in flow.layers
    )  # fmt: skip
    return _page(counted(len(flow.layers), "layer"), _grid(("layer", "rows", "of", "over", "reads", "stores"), rows))


def export(made: Export) -> str:
    code = made.document["code"]
    rows = (
        (loop["method"], loop["destination"], f"stage_{loop['stage']}.py", len(loop["arguments"]), len(loop["results"]))
        for loop in code["loops"]
    )
    methods = _grid(("method", "for all of", "file", "arguments", "results"), rows)
    return _page(f"{made.folder}: {made.verdict}", methods, _list(made.notes))
