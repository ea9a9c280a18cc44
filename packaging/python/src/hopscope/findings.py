"""The results of the debugger, as plain objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from . import _html
from ._words import counted, size

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Place:
    """An operator and its result.

    Attributes:
        op (str): The id of the operator; empty for an input or a weight.
        value (str): The id of the result.
        name (str): The readable name of the result.
        kind (str): The operator, such as "aten::relu".
        module (str): The path of the module that calls it.
        source (str): The source line, such as "gcn.py:31"; empty if it is unknown.
        depth (int): The number of hops before it.
    """

    op: str
    value: str
    name: str
    kind: str
    module: str
    source: str
    depth: int

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}{f' in {self.module}' if self.module else ''}, {self.source or 'no source'})"

    def __repr__(self) -> str:
        return f"Place({self})"


@dataclass(frozen=True)
class Row:
    """A row of a result that shows a fault.

    Attributes:
        table (str): The table of the input from which the row comes.
        row (int): Its number.
        ends (list[int]): The source and the destination of an edge; empty for other rows.
        element (int): The position of the element that shows the fault best.
        first (float | None): That element in the first computation; None if it is not finite.
        second (float | None): The same element in the second computation; None if it is not finite. Rows of a `Maker`
            have 0 here.
    """

    table: str
    row: int
    ends: list[int]
    element: int
    first: float | None
    second: float | None


class _Rows:
    """A finding with a table, which is a list of dataclasses or of dicts."""

    def _listed(self) -> list[Any]:
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def _dicts(self) -> list[dict[str, Any]]:
        return [item if isinstance(item, dict) else asdict(item) for item in self._listed()]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the table of the finding as a data frame."""
        import pandas

        return pandas.DataFrame(self._dicts())

    def _repr_html_(self) -> str:
        return _html.page(self._title(), _html.records(self._dicts()))


@dataclass(frozen=True, repr=False)
class Divergence(_Rows):
    """The comparison of two computations, operator by operator.

    Attributes:
        first (str): The first computation: a model file, or "staged".
        second (str): The second computation: a model file, or "unsplit".
        compared (int): The number of compared values.
        place (Place | None): The first operator whose results differ, if there is one.
        what (str): "values", or the difference of types or shapes; empty if nothing differs.
        differing (int): The number of rows that differ at this operator.
        of (int): The number of its rows.
        max_abs (float | None): The largest absolute difference; None if it is not finite.
        max_rel (float | None): The largest relative difference; None if it is not finite.
        shown (list[Row]): The first of the rows that differ, at most 20.
        growth (list[dict[str, Any]]): The largest differences of each value, in order.
        document (dict[str, Any]): The whole document (docs/reference/format-findings.md).
    """

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
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"Divergence({self._title()})"

    def _title(self) -> str:
        if self.place is None:
            return f"{self.first} and {self.second}: no difference in {counted(self.compared, 'value')}"
        return (
            f"{self.first} and {self.second} diverge at {self.place}: {self.differing:,} of {counted(self.of, 'row')}"
        )

    def _listed(self) -> list[Any]:
        return self.shown


@dataclass(frozen=True, repr=False)
class Maker:
    """An operator that produces NaN or infinities from finite operands.

    Attributes:
        place (Place): The operator.
        nan (int): The number of elements of its result that are NaN.
        infinite (int): The number of elements of its result that are infinite.
        reaches_output (bool): Whether NaN or infinities get from this operator to an output.
        shown (list[Row]): Some of the rows with such numbers.
    """

    place: Place
    nan: int
    infinite: int
    reaches_output: bool
    shown: list[Row]

    def __repr__(self) -> str:
        return f"Maker({self.place}: {self.nan} NaN, {self.infinite} infinite)"


@dataclass(frozen=True, repr=False)
class NonFinite(_Rows):
    """The origins of NaN and infinities.

    Attributes:
        makers (list[Maker]): The operators that produce them, in the order of the program.
        inputs (list[Any]): The names of the inputs and weights that contain some.
        outputs (list[Any]): The names of the outputs that contain some.
        document (dict[str, Any]): The whole document (docs/reference/format-findings.md).
    """

    makers: list[Maker]
    inputs: list[Any]
    outputs: list[Any]
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"NonFinite({self._title()})"

    def _title(self) -> str:
        harmful = sum(maker.reaches_output for maker in self.makers)
        if len(self.makers) == 1:
            return f"1 operator makes NaN or infinities, which reach {'an' if harmful else 'no'} output"
        reach = "reaches" if harmful == 1 else "reach"
        return f"{len(self.makers):,} operators make NaN or infinities, {harmful:,} of them {reach} an output"

    def _listed(self) -> list[Any]:
        rows = ((asdict(maker.place), maker) for maker in self.makers)
        return [{**place, "nan": maker.nan, "infinite": maker.infinite, "reaches_output": maker.reaches_output}
                for place, maker in rows]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Hits(_Rows):
    """Results of batches at which a condition held.

    Attributes:
        hits (list[dict[str, Any]]): The first of these results, with their shapes and statistics.
        seen (int): The number of all such results.
        document (dict[str, Any]): The whole document (docs/reference/format-findings.md).
    """

    hits: list[dict[str, Any]]
    seen: int
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"Hits({self._title()})"

    def _title(self) -> str:
        return f"{counted(self.seen, 'result')}, {len(self.hits):,} described"

    def _listed(self) -> list[Any]:
        return self.hits


@dataclass(frozen=True, repr=False)
class Watched(_Rows):
    """Rows of values at some nodes, and the contributions of their neighbours.

    Attributes:
        nodes (list[int]): The nodes.
        values (dict[str, NDArray[Any]]): By the name of a value, its rows for these nodes.
        places (dict[str, Place]): By the name of a value, its operator.
        aggregations (list[dict[str, Any]]): For each aggregation and node, the largest contributions of neighbours, at
            most 20.
        document (dict[str, Any]): The whole document (docs/reference/format-findings.md).
    """

    nodes: list[int]
    values: dict[str, NDArray[Any]]
    places: dict[str, Place]
    aggregations: list[dict[str, Any]]
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"Watched({self._title()})"

    def _title(self) -> str:
        found = f"{counted(len(self.values), 'value')}, {counted(len(self.aggregations), 'aggregation')}"
        return f"{found} at {counted(len(self.nodes), 'node')}"

    def _listed(self) -> list[Any]:
        return [{"value": name, **asdict(place)} for name, place in self.places.items()] or self.aggregations


@dataclass(frozen=True, repr=False)
class Tensor(_Rows):
    """The numbers of a value.

    Attributes:
        place (Place): The value and its operator.
        numbers (NDArray[Any]): The numbers.
        rows (NDArray[numpy.int64] | None): The row numbers; None: all rows, in order, or a value without rows.
        statistics (dict[str, Any]): Counts, extremes, mean and standard deviation.
        document (dict[str, Any]): The whole document (docs/reference/format-tensor.md).
    """

    place: Place
    numbers: NDArray[Any]
    rows: NDArray[numpy.int64] | None
    statistics: dict[str, Any]
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"Tensor({self._title()})"

    def _title(self) -> str:
        return f"{self.place.name}, {list(self.numbers.shape)} {self.document['dtype']}"

    def _listed(self) -> list[Any]:
        return [self.statistics]


@dataclass(frozen=True, repr=False)
class LoopMemory:
    """The memory of the largest batch of a node type.

    Attributes:
        label (str): The name of the loop.
        destinations (int): The destinations of the batch.
        batches (int): The number of batches.
        side_by_side (int): The number of batches that are computed at the same time.
        peak_step (int): The step with the most live bytes, counted from 0.
        steps (list[dict[str, Any]]): The live bytes at each step.
        held (list[dict[str, Any]]): The steps during which each value is live; the end is exclusive.
    """

    label: str
    destinations: int
    batches: int
    side_by_side: int
    peak_step: int
    steps: list[dict[str, Any]]
    held: list[dict[str, Any]]

    def __repr__(self) -> str:
        destinations, steps = counted(self.destinations, "destination"), counted(len(self.steps), "step")
        return f"LoopMemory({self.label}: {destinations}, {steps})"


@dataclass(frozen=True, repr=False)
class StageMemory(_Rows):
    """The memory of a stage, step by step.

    Attributes:
        stage (int): The number of the stage.
        peak_memory (int): Its peak in bytes.
        outside (int): The part of the peak outside of the batches.
        loops (list[LoopMemory]): The largest batch of each node type that the stage computes.
        document (dict[str, Any]): The whole document (plan/memory in docs/reference/protocol.md).
    """

    stage: int
    peak_memory: int
    outside: int
    loops: list[LoopMemory]
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"StageMemory({self._title()})"

    def _title(self) -> str:
        return f"stage {self.stage}: peak {size(self.peak_memory)}"

    def _listed(self) -> list[Any]:
        return [{"batches of": loop.label, **held} for loop in self.loops for held in loop.held]
