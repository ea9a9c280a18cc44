"""Edges in the forms of other libraries: SciPy matrices, NetworkX graphs, tables of pandas and Arrow, Parquet files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from .errors import InputError

_SOURCES = ("source", "src", "from", "head", "u", "row")
_TARGETS = ("target", "dst", "to", "tail", "v", "col", "destination")
_TABLE_FILES = (".parquet", ".pq")


@dataclass
class Edges:
    """`edge_index` [2, E] (int64, sources and targets), attributes of the edges, and node attributes if the graph has
    any."""

    edge_index: NDArray[numpy.int64]
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)
    nodes: dict[str, NDArray[Any]] = field(default_factory=dict)


def edges_of(value: object) -> Edges | None:
    """Returns the edges of such an object; None for any other object. A SciPy entry (i, j) is an edge from i to j;
    edges of an undirected NetworkX graph go both ways; a table's columns are named source and target or the like, or
    are its first two."""
    if isinstance(value, (str, Path)) and Path(value).suffix in _TABLE_FILES:
        return _from_table(_read_parquet(Path(value)))
    home = type(value).__module__.partition(".")[0]
    if home == "scipy" and hasattr(value, "tocoo"):
        return _from_scipy(value)
    if home == "networkx" or _is_networkx(value):
        return _from_networkx(value)
    columns = columns_of(value)
    return None if columns is None else _from_table(columns)


def columns_of(value: Any) -> dict[str, NDArray[Any]] | None:
    """Returns the columns of a pandas or Arrow table."""
    home = type(value).__module__.partition(".")[0]
    if home == "pandas" and hasattr(value, "columns"):
        return {str(name): value[name].to_numpy() for name in value.columns}
    if home == "pyarrow" and hasattr(value, "column_names"):
        return {name: value[name].to_numpy() for name in value.column_names}
    return None


def matrix_of(columns: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Returns the numbers of a table as a matrix with a row per row of the table."""
    for column, values in columns.items():
        if values.dtype.kind not in "biuf":
            raise InputError(f"'{name}': the column '{column}' contains no numbers", "encode it, or leave it out")
    matrix = numpy.column_stack(list(columns.values()))
    return matrix.astype(numpy.float32) if matrix.dtype == numpy.float64 else matrix


def _read_parquet(path: Path) -> dict[str, NDArray[Any]]:
    try:
        import pyarrow.parquet
    except ImportError as problem:
        raise InputError(f"{path}: Parquet files are read with pyarrow", "pip install pyarrow") from problem
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowInvalid) as problem:
        raise InputError(f"{path}: cannot be read: {problem}", "is it a Parquet file?") from problem
    return {name: table[name].to_numpy() for name in table.column_names}


def _from_table(columns: dict[str, NDArray[Any]]) -> Edges:
    names = {name.lower(): name for name in columns}
    source = next((names[name] for name in _SOURCES if name in names), None)
    target = next((names[name] for name in _TARGETS if name in names), None)
    if source is None or target is None:
        if len(columns) < 2:
            raise InputError(
                "a table of edges needs two columns: source and target", "name the columns source and target"
            )
        source, target = list(columns)[:2]
    ends = [_node_numbers(columns[name], name) for name in (source, target)]
    rest = {name: values for name, values in columns.items() if name not in (source, target)}
    return Edges(numpy.stack(ends), _numeric(rest))


def _node_numbers(values: NDArray[Any], name: str) -> NDArray[numpy.int64]:
    if values.dtype.kind not in "iu":
        raise InputError(
            f"the column '{name}' of the edges does not hold row numbers of nodes",
            "map the names of the nodes to their rows in x",
        )
    return values.astype(numpy.int64, copy=False)


def _numeric(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    named = {"edge_weight" if name == "weight" else name: values for name, values in columns.items()}
    kept = {name: values for name, values in named.items() if values.dtype.kind in "biuf"}
    return {name: _single(values) for name, values in kept.items()}


def _single(values: NDArray[Any]) -> NDArray[Any]:
    """Converts float64, the usual type of these libraries, to float32, in which models compute."""
    return values.astype(numpy.float32) if values.dtype == numpy.float64 else values


def _from_scipy(matrix: Any) -> Edges:
    entries = matrix.tocoo()
    index = numpy.stack([entries.row, entries.col]).astype(numpy.int64)
    return Edges(index, {"edge_weight": _single(entries.data)})


def _is_networkx(value: object) -> bool:
    return any(kind.__module__.startswith("networkx") for kind in type(value).__mro__)


def _from_networkx(graph: Any) -> Edges:
    """Nodes keep the graph's order. Only attributes that every node (or edge) has are used."""
    rows = {node: row for row, node in enumerate(graph.nodes)}
    listed = [(rows[source], rows[target], data) for source, target, data in graph.edges(data=True)]
    if not graph.is_directed():
        listed += [(target, source, data) for source, target, data in listed if source != target]
    index = numpy.array([entry[:2] for entry in listed], dtype=numpy.int64).reshape(-1, 2).T
    attributes = _numeric(_common(entry[2] for entry in listed))
    nodes = {name: _single(values) for name, values in _common(data for _, data in graph.nodes(data=True)).items()}
    return Edges(numpy.ascontiguousarray(index), attributes, nodes)


def _common(entries: Iterable[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    listed = list(entries)
    names = [name for name in (listed[0] if listed else {}) if all(name in entry for entry in listed)]
    stacked = {str(name): _stacked([entry[name] for entry in listed]) for name in names}
    return {name: values for name, values in stacked.items() if values is not None}


def _stacked(values: list[Any]) -> NDArray[Any] | None:
    try:
        array = numpy.array([numpy.asarray(value) for value in values])
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "biuf" else None
