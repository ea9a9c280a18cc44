"""The debugger as functions: where numbers go wrong, what operators compute, and what batches hold.

    hopscope.debug.compare(model, data).place          # where the staged run and the model part, if they do
    hopscope.debug.compare(before, data, against=after)
    hopscope.debug.tensor(model, data, "convs.0 output").numbers

Every result has the engine's whole JSON as `document` (docs/reference/format-findings.md,
docs/reference/format-tensor.md, and plan/memory in docs/reference/protocol.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from . import _html
from ._files import Files
from ._options import count_of, numbers_of, path_of
from ._process import command
from ._scratch import Scratch
from ._settings import words_of
from .commands import files, plan_file
from .documents import Plan
from .errors import UsageError, door

if TYPE_CHECKING:
    import pandas

_Scratch = str | os.PathLike[str] | None
_Plan = Plan | str | os.PathLike[str] | None
_Nodes = int | Iterable[int]


@dataclass(frozen=True)
class Place:
    """An operator and its result: ids, the result's name, the kind ("aten::relu"), module, source line and depth."""

    op: str
    value: str
    name: str
    kind: str
    module: str
    source: str
    depth: int

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}{f' in {self.module}' if self.module else ''}, {self.source or 'no source'})"


@dataclass(frozen=True)
class Row:
    """A row with an error: for an edge also its two ends, and the element with the largest error in the first and in
    the second computation."""

    table: str
    row: int
    ends: list[int]
    element: int
    first: float | None
    second: float | None


class _Rows:
    """Findings with a table: a list of dataclasses, or of dicts."""

    def _listed(self) -> list[Any]:
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def _dicts(self) -> list[dict[str, Any]]:
        return [item if isinstance(item, dict) else asdict(item) for item in self._listed()]

    def to_pandas(self) -> pandas.DataFrame:
        """A row per entry of the list."""
        import pandas

        return pandas.DataFrame(self._dicts())

    def _repr_html_(self) -> str:
        return _html.findings(self._title(), self._dicts())


@dataclass(frozen=True, repr=False)
class Divergence(_Rows):
    """Two computations operator by operator. `place` is the first operator whose results differ (None: none does), at
    `differing` of `of` rows; `shown` contains some of them. `growth` lists the largest errors of all values, in
    order."""

    first: str
    second: str
    compared: int
    place: Place | None
    what: str
    differing: int
    of: int
    max_abs: float | None
    max_rel: float | None
    shown: list[Row]
    growth: list[dict[str, Any]]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"Divergence({self._title()})"

    def _title(self) -> str:
        if self.place is None:
            return f"{self.first} and {self.second}: no difference in {self.compared} values"
        return f"{self.first} and {self.second} part at {self.place}: {self.differing} of {self.of} rows"

    def _listed(self) -> list[Any]:
        return self.shown


@dataclass(frozen=True)
class Maker:
    """An operator that makes NaN or infinities of finite operands; `shown` are rows with some."""

    place: Place
    nan: int
    infinite: int
    reaches_output: bool
    shown: list[Row]


@dataclass(frozen=True, repr=False)
class NonFinite(_Rows):
    """What makes NaN and infinities: operators in the order of the program; `inputs` and `outputs` that have some."""

    makers: list[Maker]
    inputs: list[Any]
    outputs: list[Any]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"NonFinite({self._title()})"

    def _title(self) -> str:
        harmful = sum(maker.reaches_output for maker in self.makers)
        return f"{len(self.makers)} operators make NaN or infinities, {harmful} of them reach an output"

    def _listed(self) -> list[Any]:
        rows = ((asdict(maker.place), maker) for maker in self.makers)
        return [{**place, "nan": maker.nan, "infinite": maker.infinite, "reaches_output": maker.reaches_output}
                for place, maker in rows]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Hits(_Rows):
    """Results of batches at which a condition held: `hits` are described, `seen` is how many there were."""

    hits: list[dict[str, Any]]
    seen: int
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"Hits({self._title()})"

    def _title(self) -> str:
        return f"{self.seen} results, {len(self.hits)} described"

    def _listed(self) -> list[Any]:
        return self.hits


@dataclass(frozen=True, repr=False)
class Watched(_Rows):
    """Rows of values by name, one for each of `nodes`, and the contributions of the neighbours for each aggregation and
    node."""

    nodes: list[int]
    values: dict[str, NDArray[Any]]
    places: dict[str, Place]
    aggregations: list[dict[str, Any]]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"Watched({self._title()})"

    def _title(self) -> str:
        return f"{len(self.values)} values, {len(self.aggregations)} aggregations at {len(self.nodes)} nodes"

    def _listed(self) -> list[Any]:
        return [{"value": name, **asdict(place)} for name, place in self.places.items()] or self.aggregations


@dataclass(frozen=True, repr=False)
class Tensor(_Rows):
    """The numbers of a value and their statistics; `rows` are the row numbers (None: all of its table, in order)."""

    place: Place
    numbers: NDArray[Any]
    rows: NDArray[numpy.int64] | None
    statistics: dict[str, Any]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"Tensor({self._title()})"

    def _title(self) -> str:
        return f"{self.place.name}, {list(self.numbers.shape)} {self.document['dtype']}"

    def _listed(self) -> list[Any]:
        return [self.statistics]


@dataclass(frozen=True)
class LoopMemory:
    """The largest batch of a node type: `steps` with the live bytes at each, and `held` with the live range of each
    value, as steps counted from 0, the end excluded."""

    label: str
    destinations: int
    batches: int
    side_by_side: int
    peak_step: int
    steps: list[dict[str, Any]]
    held: list[dict[str, Any]]


@dataclass(frozen=True, repr=False)
class StageMemory(_Rows):
    """The contents of the batches of a stage, step by step, for each node type that it computes."""

    stage: int
    peak_memory: int
    outside: int
    loops: list[LoopMemory]
    document: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        return f"StageMemory({self._title()})"

    def _title(self) -> str:
        return f"stage {self.stage}: peak {_html.size(self.peak_memory)}"

    def _listed(self) -> list[Any]:
        return [{"batches of": loop.label, **held} for loop in self.loops for held in loop.held]


@door
def compare(
    model: Any,
    data: Any,
    *,
    against: str | os.PathLike[str] | None = None,
    absolute: float = 1e-5,
    relative: float = 1e-4,
    plan: _Plan = None,
    batch: int | None = None,
    roles: Any = (),
    scratch: _Scratch = None,
) -> Divergence:
    """The first operator at which the staged run and the model differ, or `model` and the model file `against`."""
    given_against = None if against is None else str(path_of("against", against).absolute())
    options = {"against": given_against, "absolute": float(absolute), "relative": float(relative)}
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, _):
        return _divergence(command("debug", *words, *words_of(options)).document)


@door
def non_finite(
    model: Any, data: Any, *, plan: _Plan = None, batch: int | None = None, roles: Any = (), scratch: _Scratch = None
) -> NonFinite:
    """The operators that make NaN and infinities."""
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
    roles: Any = (),
    scratch: _Scratch = None,
) -> Hits:
    """Returns the results of operators, batch by batch. `places`: "op42", a value, a kind ("aten::relu"), a module or
    "stage 2". `when`: "always", "isnan", "outside=LEAST,MOST" or "node=N"."""
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
    roles: Any = (),
    scratch: _Scratch = None,
) -> Watched:
    """Returns the rows of `nodes` in the results of operators or modules, and the contribution of each neighbour to the
    aggregations `messages`, the largest first."""
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
    roles: Any = (),
    scratch: _Scratch = None,
) -> Tensor:
    """Returns the numbers of an operator's result, a value, an input or a weight: all rows, those of `nodes`, a
    half-open range of `rows`, or those of the batch that computes the node `batch_of`."""
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
    roles: Any = (),
    scratch: _Scratch = None,
) -> StageMemory:
    """Breaks down the memory of one stage step by step, including its peak. Does not execute the model."""
    options = {"memory-of": count_of("stage", stage)}
    with _asked(model, data, plan, roles, scratch, batch=batch) as (words, _):
        document = command("debug", *words, *words_of(options)).document
    names = ("label", "destinations", "batches", "side_by_side", "peak_step", "steps", "held")
    loops = [LoopMemory(**{name: loop[name] for name in names}) for loop in document["loops"]]
    return StageMemory(document["stage"], document["peak_memory"], document["outside"], loops, document)


@contextmanager
def _asked(
    model: Any, data: Any, plan: _Plan, roles: Any, scratch: _Scratch, *, batch: int | None
) -> Iterator[tuple[list[str], Scratch]]:
    """Model, data, plan and batch as words, and a folder for the files of the engine."""
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


def _divergence(document: dict[str, Any]) -> Divergence:
    found = document["divergence"] or {}
    return Divergence(
        document["first"], document["second"], document["compared"], _place(found) if found else None,
        found.get("what", ""), found.get("rows", 0), found.get("of", 0), found.get("max_abs", 0),
        found.get("max_rel", 0), _rows(found.get("shown", [])), document["growth"], document,
    )  # fmt: skip
