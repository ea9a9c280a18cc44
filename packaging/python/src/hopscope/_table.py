"""Lists of documents that notebooks display as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from . import _html

if TYPE_CHECKING:
    import pandas

_Item = TypeVar("_Item")
_SHOWN = 20  # entries of a repr


class Table(list[_Item]):
    """A list of results of the same type. It prints one entry per line, and notebooks display it as a table."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per entry."""
        import pandas

        return pandas.DataFrame([_html.record(item) for item in self])

    def __repr__(self) -> str:
        lines = [f"  {item!r}," for item in self[:_SHOWN]]
        more = [f"  ... {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join(["[", *lines, *more, "]"]) if self else "[]"

    def _repr_html_(self) -> str:
        return _html.table(self)
