"""Tables for notebooks, in the colours of the notebook. Everything that comes from a model or a file is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from html import escape
from typing import Any


def grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def page(title: str, *parts: str) -> str:
    """Returns a title with paragraphs and tables."""
    return f"<div><p><b>{escape(title)}</b></p>{''.join(parts)}</div>"


def listing(sentences: Iterable[str]) -> str:
    """Returns a list of sentences. No sentences give an empty text."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def records(rows: Sequence[Mapping[str, object]]) -> str:
    """Returns a table with the keys of the first row as its columns."""
    return grid(list(rows[0]), (list(row.values()) for row in rows)) if rows else ""


def record(item: Any) -> dict[str, Any]:
    """Returns the columns of an entry: those that it names itself, its fields, or the entry if it is a mapping."""
    if hasattr(item, "_columns"):
        return dict(item._columns())
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return dict(item) if isinstance(item, Mapping) else {"value": item}


def table(items: Sequence[Any]) -> str:
    """Returns a list of results of the same type. Types may choose the columns for notebooks."""
    chooses = bool(items) and hasattr(items[0], "_cells")
    return records([item._cells() if chooses else record(item) for item in items])
