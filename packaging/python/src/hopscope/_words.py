"""Numbers, sizes and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: "1 row", "1,200 rows", "3 batches"."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def size(count: int | None) -> str:
    """Returns a size such as "225 KiB", or "?" if it is unknown."""
    if count is None:
        return "?"
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """Returns a duration such as "12 ms" or "3.2 s"."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Returns names with commas, at most four of them: "x, edge_index, a, b, ... 3 more"."""
    more = [f"... {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def shape(extents: Sequence[int | str | None]) -> str:
    """Returns a shape such as "[node, 16]", with "?" for an unknown extent."""
    return "[" + ", ".join("?" if extent is None else str(extent).strip("|") for extent in extents) + "]"


def largest(difference: float | None) -> str:
    """Returns a difference. None stands for an infinite one."""
    return "∞" if difference is None else f"{difference:.3g}"
