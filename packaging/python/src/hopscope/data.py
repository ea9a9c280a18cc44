"""Turns the objects of users into one table: names to tensors, or to dicts and lists of tensors, as `forward` takes
them. Arrays are copied only if their form has to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from . import _edges, _formats, _ogb, _records, arrays
from .errors import InputError

_FILES = (*_formats.TENSORS, *_formats.ARRAYS)
_EDGE_NAMES = ("edge_index", "edges", "adj", "adj_t", "adjacency")


_GRAPH_SIZES = ("num_nodes", "num_edges", "size", "n_nodes", "n_edges", "dim_size")


def counts_rows(name: str, value: Any) -> bool:
    """Returns whether an argument is a number of rows, or a tuple or list of these and None."""
    numbers = value if isinstance(value, (tuple, list)) else (value,)
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in numbers if item is not None)
    return name in _GRAPH_SIZES and whole and any(item is not None for item in numbers)


@dataclass
class Inputs:
    """`values`: the table. `paths`: its files as `--data` takes them, if there are any; the engine then reads them
    itself. `as_torch`: whether outputs should be torch tensors. `container`: the original object, for a `forward` that
    takes it whole. `others`: the same tensors under names that a `forward` may use for them; not written."""

    values: dict[str, Any]
    paths: list[str] | None = None
    as_torch: bool = False
    container: Any = None
    others: dict[str, Any] = field(default_factory=dict)


def inputs_of(data: Any) -> Inputs:  # noqa: PLR0911 (a line per kind of container)
    """Reads PyG's Data and HeteroData, DGL graphs, NetworkX graphs, SciPy matrices, tables of edges, objects that hold
    tensors as attributes, and dicts of arguments by name. It also reads paths: the forms of data files (data_forms), a
    list of these, a Parquet file with edges, or a folder of the Open Graph Benchmark."""
    if isinstance(data, Inputs):
        return data
    if isinstance(data, (str, Path)) and _ogb.is_folder(Path(data)):
        return Inputs(_ogb.table(Path(data)))
    paths = _paths(data)
    if paths is not None:
        return Inputs(_nested(_mapped(paths)), paths)
    if isinstance(data, Mapping):
        return _from_mapping(data)
    if hasattr(data, "node_types") and hasattr(data, "collect"):
        table, others = _hetero_tables(data)
        return Inputs(table, as_torch=True, container=data, others=others)
    if hasattr(data, "to_dict") and hasattr(data, "edge_attrs"):
        return Inputs(dict(data.to_dict()), as_torch=True, container=data)
    if hasattr(data, "canonical_etypes") and hasattr(data, "ndata"):
        return Inputs(_dgl_table(data), as_torch=True, container=data)
    if _records.is_record(data):
        return Inputs(_records.tensors(data), as_torch=True, container=data)
    edges = _edges.edges_of(data)
    if edges is not None:
        return Inputs({**edges.nodes, **edges.attributes, "edge_index": edges.edge_index})
    if hasattr(data, "state_dict"):
        raise InputError("the data is a model", "the order of the arguments is model, data")
    raise InputError(
        f"data of type {type(data).__name__} is not a known kind of graph",
        "pass PyG's Data or HeteroData, a DGL or NetworkX graph, a dict of tensors by argument, or a data file",
    )


def _paths(data: Any) -> list[str] | None:
    listed = [data] if isinstance(data, (str, Path)) else data
    if not isinstance(listed, (list, tuple)) or not listed:
        return None
    if not all(isinstance(item, (str, Path)) for item in listed):
        return None
    texts = [str(item) for item in listed]
    if any(Path(text).suffix not in _FILES and not Path(text).is_dir() for text in texts):
        wrong = next(text for text in texts if Path(text).suffix not in _FILES and not Path(text).is_dir())
        if _edges.edges_of(wrong) is None:  # a table of edges alone is no path for the engine
            saved = Path(wrong).suffix in (".pt", ".pth", ".pkl")
            raise InputError(
                f"{wrong} is neither a {' nor a '.join(_formats.TENSORS)} file nor a folder",
                "load it in Python, for example with torch.load, and pass the object"
                if saved
                else f"pass {_formats.data_forms()}, or a graph",
            )
        return None
    return texts


def _mapped(paths: Iterable[str]) -> dict[str, Any]:
    """Maps all arrays of the files at these paths and returns them by their keys."""
    table: dict[str, Any] = {}
    for text in paths:
        name, _, file = text.partition("=")
        if Path(text).is_dir():
            files = [path for path in sorted(Path(text).iterdir()) if path.suffix in _formats.ARRAYS]
            table.update({path.stem: _load(path) for path in files})
        elif Path(text).suffix in _formats.TENSORS:
            table.update(arrays.read(Path(text)))
        elif file:
            table[name] = _load(Path(file))
        else:
            raise InputError(f"{text}: a single array needs its argument's name", f"write NAME={text}")
    return table


def _load(path: Path) -> Any:
    return arrays.native(arrays.read_array(path))


def _nested(table: Mapping[str, Any]) -> dict[str, Any]:
    """Turns keys with dots into dicts: "x_dict.user" becomes the entry "user" of the dict "x_dict", and "xs.0" an item
    of a list."""
    nested: dict[str, Any] = {}
    for key, array in table.items():
        name, _, rest = key.partition(".")
        if rest:
            nested.setdefault(name, {})[rest] = array
        else:
            nested[name] = array
    return {name: _listed(value) for name, value in nested.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, dict) and all(key.isdigit() for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return value


def _from_mapping(data: Mapping[Any, Any]) -> Inputs:
    """Reads a dict whose entries are arrays, files of arrays, numbers, objects with tensors, dicts and lists of these,
    tables, or edges in any form. Attributes that come with edges at the top level are used unless the dict has an entry
    of that name."""
    table: dict[str, Any] = {}
    brought: dict[str, Any] = {}
    for key, value in data.items():
        name = str(key)
        table[name] = _entry(name, value, brought)
    merged = {**{name: value for name, value in brought.items() if name not in table}, **table}
    return Inputs(merged, as_torch=_holds_torch(merged))


def _entry(name: str, value: Any, brought: dict[str, Any]) -> Any:
    number = isinstance(value, (bool, int, float, numpy.generic)) or counts_rows(name, value)
    if value is None or arrays.is_array(value) or number or _records.is_record(value):
        return value.item() if isinstance(value, numpy.generic) else arrays.native(value)
    if isinstance(value, Mapping):
        return {key: _entry(f"{name}.{arrays.key_text(key)}", item, {}) for key, item in value.items()}
    if isinstance(value, (str, Path)) and Path(value).suffix in _formats.ARRAYS:
        return _load(Path(value))
    columns = _edges.columns_of(value)
    if columns is not None and not _names_edges(name):
        return _edges.matrix_of(columns, name)
    edges = _edges.edges_of(value)
    if edges is not None:
        brought.update({**edges.nodes, **edges.attributes})
        return edges.edge_index
    return _sequence(name, value)


def _sequence(name: str, value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if all(isinstance(item, (bool, int, float)) for item in value):
            return numpy.array(value)
        items = [_entry(f"{name}.{position}", item, {}) for position, item in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _names_edges(name: str) -> bool:
    return "edge_index" in name or name.partition(".")[0] in _EDGE_NAMES


def _holds_torch(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_torch, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_torch, value))
    return arrays.is_torch(value) or _records.is_record(value)


def _hetero_tables(data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns each attribute as a dict by type (`x_dict`), with those of the whole graph, and separately for each type
    (`x_user`)."""
    table: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for kind, store in [*data.node_items(), *data.edge_items()]:
        for name, value in store.items():
            table.setdefault(f"{name}_dict", {})[kind] = value
            others[f"{name}_{arrays.key_text(kind)}"] = value
    table.update(dict(data._global_store.items()))
    return table, others


def _dgl_table(graph: Any) -> dict[str, Any]:
    """Returns features by their names in ndata and edata, and edges as `edge_index`. For a graph of several types,
    the names end in `_dict`, and each entry is a dict by type."""
    if len(graph.ntypes) == 1 and len(graph.canonical_etypes) == 1:
        return {**graph.ndata, **graph.edata, "edge_index": _stack(graph.edges())}
    table: dict[str, Any] = {"edge_index_dict": {}}
    for kind in graph.ntypes:
        for name, value in graph.nodes[kind].data.items():
            table.setdefault(f"{name}_dict", {})[kind] = value
    for relation in graph.canonical_etypes:
        table["edge_index_dict"][tuple(relation)] = _stack(graph.edges(etype=relation))
        for name, value in graph.edges[relation].data.items():
            table.setdefault(f"{name}_dict", {})[tuple(relation)] = value
    return table


def _stack(ends: Sequence[Any]) -> Any:
    import torch

    return torch.stack(list(ends[:2]))
