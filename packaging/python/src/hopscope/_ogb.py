"""Unpacked downloads of the Open Graph Benchmark: tables `raw/*.csv.gz`, or `raw/data.npz`."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from .errors import InputError

Array = NDArray[Any]

# Whose files hold each edge once, and whose graphs have it in both directions.
_BOTH_WAYS = {"ogbn_products", "ogbn_proteins"}


def is_folder(path: Path) -> bool:
    """Returns whether this is such a folder, or its `raw` folder."""
    return _raw(path) is not None


def table(path: Path) -> dict[str, Any]:
    """Returns `x` and `edge_index` (and `edge_attr` if there is one), or `x_dict` and `edge_index_dict` for several
    types."""
    raw = _raw(path)
    if raw is None:
        raise InputError(f"{path} is not a folder of the Open Graph Benchmark", "name the folder that contains raw/")
    if (raw / "triplet-type-list.csv.gz").is_file():
        return _typed(raw)
    if (raw / "data.npz").is_file():
        return _packed(raw / "data.npz")
    return _plain(raw, raw.parent.name in _BOTH_WAYS)


def _raw(path: Path) -> Path | None:
    marks = ("edge.csv.gz", "data.npz", "triplet-type-list.csv.gz")
    for folder in (path / "raw", path):
        if any((folder / mark).is_file() for mark in marks):
            return folder
    return None


def _plain(raw: Path, both_ways: bool) -> dict[str, Any]:
    edges = _csv(raw / "edge.csv.gz", numpy.int64).T
    found: dict[str, Any] = {"edge_index": numpy.ascontiguousarray(_doubled(edges) if both_ways else edges)}
    if (raw / "node-feat.csv.gz").is_file():
        found["x"] = _csv(raw / "node-feat.csv.gz", numpy.float32)
    if (raw / "edge-feat.csv.gz").is_file():
        features = _csv(raw / "edge-feat.csv.gz", numpy.float32)
        found["edge_attr"] = numpy.repeat(features, 2, axis=0) if both_ways else features
    return found


def _doubled(edges: Array) -> Array:
    """Returns each edge, followed by its reverse, as the benchmark's own loader has them."""
    whole: Array = numpy.repeat(edges, 2, axis=1)
    whole[:, 1::2] = edges[::-1]
    return whole


def _packed(path: Path) -> dict[str, Any]:
    try:
        with numpy.load(path) as archive:
            return {"x": archive["node_feat"], "edge_index": archive["edge_index"]}
    except (OSError, ValueError, KeyError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}", "download it again") from problem


def _typed(raw: Path) -> dict[str, Any]:
    with gzip.open(raw / "triplet-type-list.csv.gz", "rt", encoding="utf-8") as file:
        relations = [tuple(line.strip().split(",")) for line in file if line.strip()]
    edges: dict[Any, Array] = {}
    for relation in relations:
        path = raw / "relations" / "___".join(relation) / "edge.csv.gz"
        edges[relation] = numpy.ascontiguousarray(_csv(path, numpy.int64).T)
    features = {
        path.parent.name: _csv(path, numpy.float32) for path in sorted(raw.glob("node-feat/*/node-feat.csv.gz"))
    }
    return {"x_dict": features, "edge_index_dict": edges}


def _csv(path: Path, dtype: Any) -> Array:
    """Returns a table without a header, with a row per line."""
    try:
        try:
            import pandas
        except ImportError:
            return numpy.loadtxt(path, delimiter=",", dtype=dtype, ndmin=2)
        return numpy.asarray(pandas.read_csv(path, header=None, dtype=dtype).to_numpy())
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        raise InputError(f"{path}: cannot be read: {problem}", "is the download complete?") from problem
