"""Runs and verifications as the engine reports them, as plain objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from . import _html
from ._figures import StageFigures
from ._log import log
from ._table import Table
from ._words import counted, duration, largest, size

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Compared:
    """The comparison of one output.

    Attributes:
        name (str): The name of the output.
        max_abs (float | None): The largest absolute difference; None if it is infinite.
        max_rel (float | None): The largest relative difference; None if it is infinite.
        rows (int): The number of compared rows.
        different (int): The number of elements beyond the tolerance.
    """

    name: str
    max_abs: float | None
    max_rel: float | None
    rows: int
    different: int


@dataclass(frozen=True, repr=False)
class Verification:
    """The comparison of a split model with its own `forward`.

    Attributes:
        verdict (str): "equal", "different" or "unverifiable".
        reason (str): A sentence about the verdict.
        method (str): "full": all rows were compared; "sampled": the rows of some nodes; "sample": the rows of a sample
            of the graph, before the run; "": none.
        rows (int): The number of compared rows.
        outputs (Table[Compared]): The comparison of each output.
        seconds (float): The duration.
        document (dict[str, Any]): The whole document (docs/reference/format-report.md, "Verification").
        notes (list[str]): Sentences about assumptions and ignored inputs.
    """

    verdict: str
    reason: str
    method: str
    rows: int
    outputs: Table[Compared]
    seconds: float
    document: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @property
    def max_abs(self) -> float | None:
        """The largest absolute difference of all outputs; None if one is infinite."""
        errors = [output.max_abs for output in self.outputs]
        return None if None in errors else max((error for error in errors if error is not None), default=0.0)

    @property
    def not_finite(self) -> int:
        """The number of compared elements that are NaN or infinite in both results."""
        return sum(output["not_finite"] for output in self.document["outputs"])

    def __repr__(self) -> str:
        most = "infinite" if self.max_abs is None else f"{self.max_abs:.3g}"
        return f"Verification({self.verdict}: {counted(self.rows, 'row')} compared, largest difference {most})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per output."""
        return self.outputs.to_pandas()

    def _repr_html_(self) -> str:
        rows = ((output.name, output.rows, largest(output.max_abs), output.different) for output in self.outputs)
        compared = _html.grid(("output", "rows", "largest difference", "beyond the tolerance"), rows)
        return _html.page(f"{self.verdict}: {self.reason}", compared, _html.listing(self.notes))


@dataclass(frozen=True, repr=False)
class NotFinite:
    """Results of a run that are NaN or infinite.

    Attributes:
        numbers (int): The number of such elements.
        outputs (dict[str, int]): The number of such elements in each output.
        first (dict[str, Any] | None): The operator that produced them from finite numbers, if it is known.
        stage (int | None): The stage of that operator; None before the first stage, and if `first` is None.
        given (list[str]): Inputs and parameters that contain such numbers themselves.
        origin (str): A phrase about their origin, or about how to find it.
    """

    numbers: int
    outputs: dict[str, int]
    first: dict[str, Any] | None
    stage: int | None
    given: list[str]
    origin: str

    def __str__(self) -> str:
        lost, are = counted(self.numbers, "number"), "is" if self.numbers == 1 else "are"
        return f"{lost} in {', '.join(self.outputs)} {are} NaN or infinite: {self.origin}"

    def __repr__(self) -> str:
        return f"NotFinite({self})"


@dataclass(frozen=True, repr=False)
class OperatorRun:
    """The cost of an operator in one loop of a stage, on a CPU.

    Attributes:
        stage (int): The number of the stage.
        op (str): The id of the operator.
        label (str): The readable name of its result.
        seconds (float): The duration, of the whole pass if operators are fused.
        bytes (int): The largest size of its results in one batch.
        fused (tuple[str, ...]): The operators of the same pass over the edges.
    """

    stage: int
    op: str
    label: str
    seconds: float
    bytes: int
    fused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OperatorRun({self.op}: {self.label}, {duration(self.seconds)} in stage {self.stage})"


@dataclass(frozen=True, kw_only=True, repr=False)
class StageRun(StageFigures):
    """A stage as it ran, with the figures of a stage in report.json (docs/reference/format-report.md).

    Attributes:
        index (int): Its number, counted from 1.
        written (int): Bytes of the rows that it wrote.
        read (int): Bytes of the rows that it read.
        predicted_seconds (float | None): The duration that was predicted before the run; None without a
            prediction.
        predicted_peak_memory (int | None): The peak memory that was predicted before the run; None without
            a prediction.
        bound_seconds (float | None): The least time that the stage can take on this machine, if its rates are known.
        wall (str | None): The largest part of this bound: "gemm", "rows", "stream", "link" or "disk".
        operators (tuple[OperatorRun, ...]): The cost of each operator; empty on a GPU.
    """

    index: int
    written: int
    read: int
    predicted_seconds: float | None = None
    predicted_peak_memory: int | None = None
    bound_seconds: float | None = None
    wall: str | None = None
    operators: tuple[OperatorRun, ...] = ()

    @property
    def times_bound(self) -> float | None:
        """The duration as a multiple of `bound_seconds`."""
        return self.seconds / self.bound_seconds if self.bound_seconds else None

    def __repr__(self) -> str:
        seconds, batches = duration(self.seconds), counted(self.batches, "batch")
        return f"StageRun({self.index}: {seconds}, {batches}, peak memory {size(self.peak_memory)})"

    def _cells(self) -> dict[str, object]:
        multiple, bound = self.times_bound, duration(self.bound_seconds or 0)
        return {
            "stage": self.index,
            "time": duration(self.seconds),
            "bound": "" if multiple is None else f"{multiple:.1f} times {bound}, {self.wall}",
            "batches": self.batches,
            "written": size(self.written),
            "read": size(self.read),
            "peak memory": size(self.peak_memory),
        }

    def _columns(self) -> dict[str, Any]:
        """Returns the figures and a column per phase."""
        figures = {**asdict(self), **self.phases}
        return {name: value for name, value in figures.items() if name not in ("phases", "bytes", "operators")}


@dataclass(frozen=True, repr=False)
class Report:
    """Times, memory and bytes of a run.

    Attributes:
        strategy (str): The strategy of the plan.
        device (str): The device.
        seconds (float): The duration of the run.
        prologue_seconds (float): The part of this duration that the prologue took.
        peak_memory (int): The maximum number of bytes allocated for tensors on the device.
        stages (Table[StageRun]): The stages as they ran.
        notes (list[str]): Remarks of the engine.
        verification (Verification | None): The comparison with the model's own `forward`; None if there was none.
        document (dict[str, Any]): The content of report.json (docs/reference/format-report.md).
        not_finite (NotFinite | None): Results that are NaN or infinite, if there are any.
    """

    strategy: str
    device: str
    seconds: float
    prologue_seconds: float
    peak_memory: int
    stages: Table[StageRun]
    notes: list[str]
    verification: Verification | None
    document: dict[str, Any]
    not_finite: NotFinite | None = None

    @property
    def operators(self) -> Table[OperatorRun]:
        """The cost of each operator in each loop, in the order of computation; empty for a run on a GPU."""
        return Table(operator for stage in self.stages for operator in stage.operators)

    def __repr__(self) -> str:
        verdict = self.verification.verdict if self.verification else "not verified"
        lost = f"; {self.not_finite}" if self.not_finite else ""
        stages = counted(len(self.stages), "stage")
        return f"Report({self.strategy} plan, {self._title()}; {stages}; {verdict}{lost})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per stage and a column per phase."""
        return self.stages.to_pandas()

    def _repr_html_(self) -> str:
        found, lost = self.verification, escape(str(self.not_finite)) if self.not_finite else ""
        verdict = f"{escape(found.verdict)}: {escape(found.reason)}" if found else "not verified"
        remarks = "".join(f"<p>{remark}</p>" for remark in (lost, verdict) if remark)
        return _html.page(self._title(), _html.table(self.stages), remarks, _html.listing(self.notes))

    def _title(self) -> str:
        return f"{duration(self.seconds)} on {self.device}; peak memory {size(self.peak_memory)}"


def doubtful(verification: Verification | None, not_finite: NotFinite | None = None) -> None:
    """Logs a warning if a result could not be verified, or is not finite."""
    if verification is not None and verification.verdict == "unverifiable":
        log.warning("the result is not verified: %s", verification.reason)
    if not_finite is not None:
        log.warning("%s", not_finite)
