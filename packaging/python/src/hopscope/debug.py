"""The debugger as functions: the operator at which numbers go wrong, the numbers that operators compute, and the memory
that batches take. Every result has the engine's whole JSON as `document` (docs/reference/format-findings.md,
docs/reference/format-tensor.md, and plan/memory in docs/reference/format-plan-answers.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy

from ._files import Files, beside
from ._options import Place as _Where
from ._options import Roles, count_of, numbers_of, path_of
from ._process import command
from ._scratch import Scratch
from ._settings import words_of
from .commands import files, plan_file
from .documents import Plan
from .errors import UsageError, door
from .findings import Divergence, Hits, LoopMemory, Maker, NonFinite, Place, Row, StageMemory, Tensor, Watched
from .saving import Saved

__all__ = [
    "Divergence",
    "Hits",
    "LoopMemory",
    "Maker",
    "NonFinite",
    "Place",
    "Row",
    "StageMemory",
    "Tensor",
    "Watched",
    "breakpoints",
    "compare",
    "memory",
    "non_finite",
    "tensor",
    "watch",
]

_Scratch: TypeAlias = "_Where | None"
_Plan: TypeAlias = "Plan | _Where | None"
_Nodes: TypeAlias = "int | Iterable[int]"


@door
def compare(
    model: Any,
    data: Any,
    *,
    against: Saved | _Where | None = None,
    absolute: float = 1e-5,
    relative: float = 1e-4,
    plan: _Plan = None,
    batch: int | None = None,
    roles: Roles = (),
    scratch: _Scratch = None,
) -> Divergence:
    """Finds the first operator at which the staged run and the model, or two models, differ.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        against (Saved | str | Path | None): Another model file to compare with, without `plan` and `batch`; None:
            compares the staged run with the model.
        absolute (float): The absolute tolerance.
        relative (float): The relative tolerance.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: 65,536.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Divergence: The comparison.

    Raises:
        UsageError: There is `plan` or `batch` beside `against`.
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.debug.compare(model, data)
        Divergence(staged and unsplit: no difference in ... values)
    """
    if against is not None and (plan is not None or batch is not None):
        raise UsageError(
            "two models are compared on whole tensors, without plan and batch",
            "leave these out, or leave out against to compare the staged run with the model",
        )
    given_against = None if against is None else str(path_of("against", against).absolute())
    options = {"against": given_against, "absolute": float(absolute), "relative": float(relative)}
    with _asked(model, data, plan, roles, scratch, batch=batch) as (asked, _):
        words, trusted = beside(asked, given_against or "", isinstance(against, Saved))
        return divergence_of(command("debug", *words, *words_of(options), trusted=trusted).document)


@door
def non_finite(
    model: Any, data: Any, *, plan: _Plan = None, batch: int | None = None, roles: Roles = (), scratch: _Scratch = None
) -> NonFinite:
    """Finds the operators that produce NaN and infinities.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: 65,536.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        NonFinite: The operators, inputs and outputs.

    Raises:
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.debug.non_finite(model, data)
        NonFinite(0 operators make NaN or infinities, 0 of them reach an output)
    """
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, _):
        document = command("debug", *words, "--nan").document
    makers = [
        Maker(_place(item), item["nan"], item["infinite"], item["reaches_output"], _rows(item["shown"]))
        for item in document["makers"]
    ]
    return NonFinite(makers, document["inputs"], document["outputs"], document)


@door
def breakpoints(
    model: Any,
    data: Any,
    places: str | Sequence[str],
    *,
    when: str = "always",
    hits: int = 20,
    plan: _Plan = None,
    batch: int | None = None,
    roles: Roles = (),
    scratch: _Scratch = None,
) -> Hits:
    """Records the results of operators at which a condition holds, batch by batch.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        places (str | Sequence[str]): Operators ("op42"), values, kinds ("aten::relu"), modules or stages ("stage 2").
        when (str): "always", "isnan" (NaN or infinite), "outside=LEAST,MOST" or "node=N".
        hits (int): The number of results to describe, at most.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: 65,536.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Hits: The results.

    Raises:
        UsageError: A place names neither an operator nor a stage of the plan, or `when` is no condition.
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.debug.breakpoints(model, data, "stage 1", when="node=17").seen > 0
        True
    """
    options = {"when": when, "hits": count_of("hits", hits)}
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, _):
        asked = [word for place in _listed(places) for word in ("--break", place)]
        document = command("debug", *words, *asked, *words_of(options)).document
    return Hits(document["hits"], document["seen"], document)


@door
def watch(
    model: Any,
    data: Any,
    places: str | Sequence[str] = (),
    *,
    nodes: _Nodes,
    messages: str | Sequence[str] = (),
    plan: _Plan = None,
    batch: int | None = None,
    roles: Roles = (),
    scratch: _Scratch = None,
) -> Watched:
    """Returns the rows of some nodes in the results of operators, and the contributions of their neighbours.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        places (str | Sequence[str]): Operators, values, kinds or modules.
        nodes (int | Iterable[int]): The nodes: numbers, an array or a tensor.
        messages (str | Sequence[str]): Aggregations, or modules with some. The largest contributions come first.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: 65,536.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Watched: The rows and contributions.

    Raises:
        UsageError: There is nothing to watch, no stage computes rows of a place, or a name in `messages` stands for no
            aggregation.
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.debug.watch(model, data, "convs.0", nodes=[17, 3], messages="convs.0")
        Watched(... values, 2 aggregations at 2 nodes)
    """
    if not _listed(places) and not _listed(messages):
        raise UsageError("there is nothing to watch", "name operators or modules, or aggregations with messages=")
    numbers = numbers_of("nodes", nodes)
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, place):
        asked = [word for name in _listed(places) for word in ("--watch", name)]
        asked += [word for name in _listed(messages) for word in ("--messages", name)]
        kept = ["-o", str(place.folder() / "rows")] if _listed(places) else []
        options = {"nodes": ",".join(map(str, numbers))}
        document = command("debug", *words, *asked, *kept, *words_of(options)).document
        values = {item["name"]: numpy.load(item["file"]) for item in document["watched"]}
    found = {item["name"]: _place(item) for item in document["watched"]}
    return Watched(numbers, values, found, document["aggregations"], document)


@door
def tensor(
    model: Any,
    data: Any,
    place: str,
    *,
    nodes: _Nodes | None = None,
    rows: tuple[int, int] | None = None,
    batch_of: int | None = None,
    plan: _Plan = None,
    batch: int | None = None,
    roles: Roles = (),
    scratch: _Scratch = None,
) -> Tensor:
    """Returns the numbers of a value: all rows, or some of them.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        place (str): An operator, a value, an input or a weight, or a kind or module with a single result.
        nodes (int | Iterable[int] | None): The nodes whose rows to return.
        rows (tuple[int, int] | None): The range of rows to return; its end is exclusive.
        batch_of (int | None): The node whose batch to return; without effect on values that no batch computes.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: 65,536.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Tensor: The numbers.

    Raises:
        UsageError: The place names no value or several, or its rows cannot be chosen in this way.
        HopscopeError: As for `inference`.

    Example:
        >>> shown = hopscope.debug.tensor(model, data, "out", nodes=torch.tensor([17, 3]))
        >>> shown.numbers.shape, shown.rows.tolist(), shown.statistics["nan"]
        ((2, 4), [3, 17], 0)
    """
    options = {
        "show": place, "batch-of": count_of("batch_of", batch_of, least=0),
        "nodes": None if nodes is None else ",".join(map(str, numbers_of("nodes", nodes))),
        "rows": None if rows is None else ":".join(map(str, numbers_of("rows", rows))),
    }  # fmt: skip
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, held):
        file = held.folder() / "tensor.npy"
        document = command("debug", *words, "-o", str(file), *words_of(options)).document
        numbers, ids = numpy.load(file), file.with_suffix(".rows.npy")
        found = numpy.load(ids) if ids.exists() else None
    names = ("numbers", "finite", "zeros", "nan", "infinite", "min", "max", "mean", "std")
    return Tensor(_place(document), numbers, found, {name: document[name] for name in names}, document)


@door
def memory(
    model: Any,
    data: Any,
    stage: int,
    *,
    plan: _Plan = None,
    batch: int | None = None,
    roles: Roles = (),
    scratch: _Scratch = None,
) -> StageMemory:
    """Breaks down the predicted memory of a stage step by step, without a run.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        stage (int): The number of the stage, counted from 1.
        plan (Plan | str | Path | None): The plan of the run; None: the plan of the depth heuristic.
        batch (int | None): Destination nodes per batch; None: as for `inference`.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        StageMemory: The memory.

    Raises:
        UsageError: There is no such stage.
        HopscopeError: As for `inference`.

    Example:
        >>> hopscope.debug.memory(model, data, stage=1)
        StageMemory(stage 1: peak ... KiB)
    """
    options = {"memory-of": count_of("stage", stage)}
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, _):
        document = command("debug", *words, *words_of(options)).document
    names = ("label", "destinations", "batches", "side_by_side", "peak_step", "steps", "held")
    loops = [LoopMemory(**{name: loop[name] for name in names}) for loop in document["loops"]]
    return StageMemory(document["stage"], document["peak_memory"], document["outside"], loops, document)


@contextmanager
def _asked(
    model: Any, data: Any, plan: _Plan, roles: Roles, scratch: _Scratch, *, batch: int | None
) -> Iterator[tuple[list[str], Scratch]]:
    """Yields model, data, plan and batch as command-line words, and a folder for the files of the engine."""
    rows = words_of({"batch": count_of("batch", batch)})
    with files(model, data, roles, scratch) as given, Scratch(0, scratch) as place:
        yield [*given.words, *_plan_words(plan, given, place), *rows], place


def _plan_words(plan: _Plan, given: Files, place: Scratch) -> list[str]:
    return [] if plan is None else ["--plan", str(plan_file(plan, given, place))]


def _listed(places: str | Sequence[str]) -> list[str]:
    return [places] if isinstance(places, str) else list(places)


def _place(item: dict[str, Any]) -> Place:
    return Place(**{name: item[name] for name in ("op", "value", "name", "kind", "module", "source", "depth")})


def _rows(items: list[dict[str, Any]]) -> list[Row]:
    return [
        Row(**{name: item[name] for name in ("table", "row", "ends", "element", "first", "second")}) for item in items
    ]


def divergence_of(document: dict[str, Any]) -> Divergence:
    """Reads the findings of a comparison, as `debug` and `debug --against` print them."""
    found = document["divergence"] or {}
    return Divergence(
        document["first"], document["second"], document["compared"], _place(found) if found else None,
        found.get("what", ""), found.get("rows", 0), found.get("of", 0), found.get("max_abs", 0),
        found.get("max_rel", 0), _rows(found.get("shown", [])), document["growth"], document,
    )  # fmt: skip
