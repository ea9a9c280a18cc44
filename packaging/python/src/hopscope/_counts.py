"""Numbers of rows, as arguments or in objects passed as arguments. A trace must compute them instead of fixing them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Refused

_THINGS = {
    "atom", "atoms", "bond", "bonds", "edge", "edges", "graph", "graphs", "molecule", "molecules", "mols", "node",
    "nodes", "structures", "systems",
}  # fmt: skip
_COUNTS = {"size", "count", "length", "len"}


def may_count(name: str) -> bool:
    """Whether a number of this name may be a number of rows."""
    words = re.findall("[a-z]+", name.lower())
    return bool(words) and (words[-1] in _COUNTS or not _THINGS.isdisjoint(words))


@dataclass(frozen=True)
class Place:
    """The extent of an input along a dimension."""

    key: str
    dimension: int


@dataclass(frozen=True)
class Groups:
    """The number of graphs that a column mentions: one more than its largest number."""

    key: str


@dataclass(frozen=True)
class Counted:
    """Inputs with their roles and the rows of their tables."""

    leaves: Mapping[str, Any]
    roles: Mapping[str, str]
    rows: Mapping[str, int]

    def places(self, name: str, size: Any) -> Any:
        """Replaces each number by the place that determines it. The first of two numbers counts sources, if
        possible."""
        if not isinstance(size, tuple):
            return self._place(name, size, list(self.rows))
        index = next((role for role in self.roles.values() if role.startswith("index:")), "")
        ends = index.partition(":")[2].split(">")
        first = ends if len(ends) == len(size) else [""] * len(size)
        return tuple(
            None if number is None else self._place(name, number, [end, *self.rows])
            for number, end in zip(size, first, strict=True)
        )

    def _place(self, name: str, number: int, tables: list[str]) -> Place | Groups | int:
        place = self.place(number, tables)
        if place is not None:
            return place
        if any(_counts(leaf, number) for leaf in self.leaves.values()):
            return number
        raise Refused(
            f"forward takes a size of the graph as a number, and no input has that many rows: '{name}' ({number})",
            "take it from a tensor inside forward, as x.size(0)",
        )

    def place(self, number: int, tables: Iterable[str] = ()) -> Place | Groups | None:
        """Returns a place with this number of rows; None if there is none."""
        fitting = [table for table in (tables or self.rows) if self.rows.get(table) == number]
        return next((place for table in fitting for place in (self._of(table), self._groups(table)) if place), None)

    def _groups(self, table: str) -> Groups | None:
        keys = (key for key, role in self.roles.items() if role.startswith("key:") and role.endswith(f">{table}"))
        return next((Groups(key) for key in keys if self.leaves[key].ndim == 1), None)

    def _of(self, table: str) -> Place | None:
        for key, leaf in self.leaves.items():
            role = self.roles.get(key, "")
            edges = key == table and role.startswith("index")
            if not edges and role not in (f"node:{table}", f"edge:{table}"):
                continue
            dimensions = [at for at, extent in enumerate(leaf.shape) if extent == self.rows[table]]
            if dimensions:
                return Place(key, dimensions[-1 if edges else 0])
        return None


def _counts(leaf: Any, number: int) -> bool:
    """Returns whether a vector of row numbers or offsets belongs to this number of graphs, which the file then
    keeps."""
    if len(leaf.shape) != 1 or "int" not in str(leaf.dtype) or len(leaf) == 0:
        return False
    steps = leaf[1:] - leaf[:-1]
    offsets = len(leaf) == number + 1 and int(leaf[0]) == 0 and bool((steps >= 0).all())
    return offsets or int(leaf.max()) + 1 == number


def read(size: Any, tensors: Mapping[str, Any]) -> Any:
    """Returns the number of rows, which a trace keeps as a computation."""
    import torch

    if isinstance(size, tuple):
        return tuple(read(item, tensors) for item in size)
    if isinstance(size, Groups):
        groups = tensors[size.key].max() + 1
        return groups if torch.jit.is_tracing() else int(groups)
    return tensors[size.key].size(size.dimension) if isinstance(size, Place) else size
