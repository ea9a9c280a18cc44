"""Small graphs that the engine cuts from the data, with the roles that it infers: the model is traced and compared on
them, so that Python never evaluates it on a whole large graph."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import arrays
from ._process import command
from ._words import counted

# The first two samples are traced, the third serves to compare the file with the module, and the last one has smaller
# numbers in all columns than the data.
FIRST, SECOND, OTHER, SMALLER = range(4)
# The module may be evaluated on the whole data up to this number of rows.
_FEW_ROWS = 100_000
_WHOLE_NUMBERS = ("uint8", "int8", "int16", "int32", "int64")


@dataclass(frozen=True)
class Sample:
    """Tensors of torch by key, with their numbers of nodes and edges. `whole`: the sample is all of the data."""

    leaves: dict[str, Any]
    nodes: int
    edges: int
    whole: bool

    def __str__(self) -> str:
        return f"{counted(self.nodes, 'node')} and {counted(self.edges, 'edge')}"


@dataclass(frozen=True)
class Drawn:
    """The samples, the roles of the inputs ("x": "node:user"), the rows of each table of the data, and its numbers of
    nodes and edges."""

    samples: list[Sample]
    roles: dict[str, str]
    sizes: dict[str, int]
    nodes: int
    edges: int

    def few(self) -> bool:
        """Returns whether a model may see all of the data."""
        return self.nodes + self.edges <= _FEW_ROWS

    def whole(self, leaves: Mapping[str, Any]) -> Sample:
        """Returns all of the data as a sample."""
        return Sample(_copied(leaves), self.nodes, self.edges, True)


def draw(
    leaves: Mapping[str, Any], words: list[str], arguments: Iterable[str], roles: list[str], folder: Path
) -> Drawn:
    """Has the engine cut samples of the `leaves`, which it finds in `words` (as `--data` takes them). Raises InputError
    where data do not fit together."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        request = {"data": words, "arguments": list(arguments), "roles": roles, "folder": place}
        found = command("sample", given=json.dumps(request).encode()).document
        samples = [_sample(leaves, item) for item in found["samples"]]
    return Drawn(samples, found["roles"], found["sizes"], found["nodes"], found["edges"])


def _sample(leaves: Mapping[str, Any], found: Mapping[str, Any]) -> Sample:
    if found["file"] is None:
        return Sample(_copied(leaves), found["nodes"], found["edges"], True)
    cut = arrays.tensors(Path(found["file"]))
    return Sample({key: _leaf(key, leaf, cut) for key, leaf in leaves.items()}, found["nodes"], found["edges"], False)


def _copied(leaves: Mapping[str, Any]) -> dict[str, Any]:
    import torch

    return {key: leaf.detach().clone() if arrays.is_torch(leaf) else torch.tensor(leaf) for key, leaf in leaves.items()}


def _leaf(key: str, like: Any, cut: Mapping[str, Any]) -> Any:
    import torch

    if not _is_sparse(like):
        return cut[key]
    if str(like.layout) == "torch.sparse_csr":
        parts = [cut[f"{key}.csr_{part}"] for part in ("crow", "col", "values")]
        return torch.sparse_csr_tensor(*parts, size=cut[f"{key}.csr_size"].tolist())
    parts = [cut[f"{key}.coo_{part}"] for part in ("indices", "values")]
    return torch.sparse_coo_tensor(*parts, size=cut[f"{key}.coo_size"].tolist()).coalesce()


def has_matrices(leaves: Mapping[str, Any]) -> bool:
    """Returns whether there are sparse matrices."""
    return any(map(_is_sparse, leaves.values()))


def with_whole_matrices(sample: Sample, leaves: Mapping[str, Any]) -> Sample:
    """Returns the sample with sparse matrices as large as those of the data. A weight may have a row for each
    column."""
    import torch

    wider = dict(sample.leaves)
    for key, leaf in leaves.items():
        if _is_sparse(leaf):
            entries = sample.leaves[key].to_sparse_coo()
            whole = torch.sparse_coo_tensor(entries.indices(), entries.values(), leaf.shape).coalesce()
            wider[key] = whole.to_sparse_csr() if leaf.layout == torch.sparse_csr else whole
    return replace(sample, leaves=wider)


def _is_sparse(array: Any) -> bool:
    return arrays.is_torch(array) and str(array.layout) != "torch.strided"


def row_axes(drawn: Drawn, samples: list[Sample]) -> dict[str, set[int]]:
    """Returns the dimensions of inputs that are numbers of rows: those that differ between samples or, without samples,
    those with the size that follows from the role of the input."""
    first, *others = [{key: tuple(leaf.shape) for key, leaf in sample.leaves.items()} for sample in samples]
    if not others:
        rows = {key: drawn.sizes.get(_table(key, drawn.roles.get(key, ""))) for key in first}
        return {key: {axis for axis, size in enumerate(shape) if size == rows[key]} for key, shape in first.items()}
    return {
        key: {axis for axis, size in enumerate(shape) if any(other[key][axis] != size for other in others)}
        for key, shape in first.items()
    }


def _table(key: str, role: str) -> str:
    """Returns the table whose rows are those of an input."""
    kind, _, tables = role.partition(":")
    return key if kind == "index" else tables.partition(">")[0]


def alike(one: Sample, other: Sample) -> list[str]:
    """Returns the numbers of rows and the largest numbers that are equal in both samples, as phrases."""
    return [what for key, array in one.leaves.items() for what in _common(key, array, other.leaves[key])]


def _common(key: str, a: Any, b: Any) -> Iterator[str]:
    if _is_sparse(a):
        return
    if a.ndim == 0 and bool(a == b):
        yield f"the number '{key}'"
    if a.numel() and a.ndim and a.shape == b.shape:
        yield f"the {counted(a.shape[0], 'row')} of '{key}'"
    if _is_column(a) and a.numel() and b.numel() and a.max() == b.max():
        yield f"the largest number in '{key}' ({a.max().item():g})"


def _is_column(array: Any) -> bool:
    """Returns whether the numbers of an input may be counts: whole numbers, or one number for each row."""
    name = arrays.dtype_name(array)
    return array.ndim > 0 and (name in _WHOLE_NUMBERS or ("float" in name and array.shape[0] == array.numel()))
