"""Two files of a model on the same data: `compare`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _onnx, arrays
from ._files import Files, beside
from ._log import finished
from ._options import Place, Roles, path_of
from ._process import command
from ._scratch import Scratch
from ._table import Table
from ._words import counted, largest
from .commands import files, written
from .data import inputs_of
from .debug import divergence_of
from .errors import InputError, door
from .findings import Divergence
from .saving import Saved

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ComparedOutput:
    """The comparison of one output of two files.

    Attributes:
        name (str): The name of the output.
        max_abs (float | None): The largest absolute difference; None if it is infinite.
        max_rel (float | None): The largest relative difference; None if it is infinite.
        rows (int): The number of rows.
        different (int): The number of elements beyond the tolerance.
        row (int | None): The row of the first of these elements; None if there are none.
        element (int | None): The position of this element in the row; None if there is none.
        first (float | None): This element in the first file; None if there is none, or if it is not finite.
        second (float | None): This element in the second file; None in the same cases.
    """

    name: str
    max_abs: float | None
    max_rel: float | None
    rows: int
    different: int
    row: int | None
    element: int | None
    first: float | None
    second: float | None


@dataclass(frozen=True, repr=False)
class Comparison:
    """The comparison of two files of a model.

    Attributes:
        verdict (str): "equal", "different", or "unverifiable" if all differences are rounding that the model amplifies.
        reason (str): A sentence about the verdict and, if it is known, the operator at which the files diverge.
        outputs (Table[ComparedOutput]): The comparison of each output.
        where (Divergence | None): Both models operator by operator, if the verdict is "different". None also if they
            cannot be compared; `document["not_located"]` says why.
        seconds (float): The duration.
        document (dict[str, Any]): The whole document (docs/reference/format-comparison.md).
        notes (list[str]): Sentences about assumptions and ignored inputs.
    """

    verdict: str
    reason: str
    outputs: Table[ComparedOutput]
    where: Divergence | None
    seconds: float
    document: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Comparison({self.verdict}: {self.reason})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per output."""
        return self.outputs.to_pandas()

    def _repr_html_(self) -> str:
        rows = (
            (output.name, output.rows, largest(output.max_abs), output.different,
             "" if output.row is None else f"row {output.row:,}, {output.element}")
            for output in self.outputs
        )  # fmt: skip
        compared = _html.grid(("output", "rows", "largest difference", "beyond the tolerance", "first at"), rows)
        return _html.page(f"{self.verdict}: {self.reason}", compared, _html.listing(self.notes))


@door
def compare(first: Any, second: Any, data: Any, *, roles: Roles = (), scratch: Place | None = None) -> Comparison:
    """Compares two files of a model on the same data. If it can, finds the operator at which they diverge.

    All rows of all outputs are compared, with the same tolerance as in a verification. A model is computed by its own
    `forward`. If that does not fit into memory, a staged run computes it.

    Args:
        first (torch.nn.Module | Saved | str | Path): A model, as for `inference`.
        second (torch.nn.Module | Saved | str | Path): Another model, an ONNX file (.onnx), which onnxruntime computes,
            or outputs: a data file, or a folder of files with an array each.
        data (Any): As for `inference`; the inputs of an ONNX file have the same names.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.

    Returns:
        Comparison: The comparison.

    Raises:
        InputError: The outputs differ in names, types or sizes, or data is missing or unsuitable.
        UsageError: onnxruntime is not installed.
        HopscopeError: As for `inference`.

    Example:
        >>> exported = hopscope.export_program(model, data, "compared.pt2")
        >>> hopscope.compare(exported, saved, data)
        Comparison(equal: equal within the tolerance on all rows)
    """
    with files(first, data, roles, scratch) as given, Scratch(0, scratch) as place:
        against, own = _second(second, data, roles, given, place)
        words, trusted = beside(given.words, against, own)
        answer = command("verify", *words, "--against", against, trusted=trusted)
    document = answer.document
    where = divergence_of(document["operators"]) if document["operators"] else None
    outputs = Table(_output(item) for item in document["outputs"])
    notes = given.told(answer.notes)
    return finished(
        Comparison(document["verdict"], document["reason"], outputs, where, document["seconds"], document, notes)
    )


def _second(second: Any, data: Any, roles: Roles, given: Files, place: Scratch) -> tuple[str, bool]:
    """Returns the second file, and whether its code is the caller's own."""
    if _onnx.is_onnx(second):
        return str(_computed(Path(second), data, given, place)), False
    if isinstance(second, (str, os.PathLike)) and not isinstance(second, Saved):
        return str(path_of("second", second).absolute()), False
    return written(second, data, roles, place).words[0], True


def _computed(path: Path, data: Any, given: Files, place: Scratch) -> Path:
    """Returns a file with the outputs of an ONNX file, under the names of the first file's outputs."""
    values = dict(zip(given.saved.arguments, data, strict=False)) if given.saved and isinstance(data, tuple) else data
    found = _onnx.outputs_of(path, inputs_of(values).values)
    operators = command("inspect", *given.words).document["ops"]
    names = [operator["name"] for operator in operators if operator["kind"] == "output"]
    if len(names) != len(found):
        raise InputError(
            f"{path} yields {counted(len(found), 'output')}, and the model {len(names)}: {', '.join(names)}",
            "export the ONNX file from a module with the same results",
        )
    file = place.folder() / "outputs.safetensors"
    arrays.write(dict(zip(names, found, strict=True)), file)
    return file


def _output(item: dict[str, Any]) -> ComparedOutput:
    at = item["at"] or dict.fromkeys(("row", "element", "first", "second"))
    return ComparedOutput(**{name: item[name] for name in ("name", "max_abs", "max_rel", "rows", "different")}, **at)
