"""The largest numbers in the data, which a trace keeps wherever `forward` reads one (`int(batch.max()) + 1`): the rows
that hold them, rows with smaller ones, and the numbers that two samples share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy
from numpy.typing import NDArray

from . import arrays

# Of large tables as many rows are looked at for smaller numbers.
_CANDIDATES = 4096
_WHOLE = ("uint8", "int8", "int16", "int32", "int64")


def is_column(array: Any) -> bool:
    """Whether its numbers may say how many there are of something: whole ones, or one for each row."""
    name = arrays.dtype_name(array)
    if array.ndim == 0 or not _elements(array):
        return False
    return name in _WHOLE or ("float" in name and array.shape[0] == _elements(array))


def row_of_largest(array: Any) -> int:
    """The first row that holds the largest number."""
    return int(array.reshape(-1).argmax()) // max(_elements(array) // int(array.shape[0]), 1)


def rows_below(columns: Iterable[Any], available: int, generator: numpy.random.Generator) -> NDArray[numpy.int64]:
    """Rows in which each column is below its largest number, if there are such rows; a column that none are left for is
    passed over."""
    rows = (
        numpy.arange(available)
        if available <= _CANDIDATES
        else numpy.sort(generator.integers(0, available, _CANDIDATES))
    )
    for column in columns:
        numbers = numpy.asarray(_picked(column, rows)).reshape(len(rows), -1)
        below = rows[(numbers < float(column.max())).all(axis=1)]
        rows = below if len(below) else rows
    return rows


def _picked(column: Any, rows: NDArray[numpy.int64]) -> Any:
    if not arrays.is_torch(column):
        return column[rows]
    import torch

    return column.detach()[torch.from_numpy(rows).to(column.device)].cpu()


def _elements(array: Any) -> int:
    return int(numpy.prod(array.shape))


def count_of(column: Any) -> int:
    """As many rows has the table that its numbers point into."""
    return int(column.max()) + 1


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The numbers of rows and largest numbers that a trace would take from both samples alike, as phrases."""
    return [what for key, array in one.items() for what in _common(key, array, other[key])]


def _common(key: str, a: Any, b: Any) -> Iterator[str]:
    if str(a.layout) != "torch.strided":
        return
    if a.ndim == 0 and bool(a == b):
        yield f"the number '{key}'"
    if a.ndim and a.shape == b.shape:
        yield f"the {a.shape[0]} rows of '{key}'"
    if is_column(a) and a.max() == b.max():
        yield f"the largest number in '{key}' ({a.max().item():g})"
