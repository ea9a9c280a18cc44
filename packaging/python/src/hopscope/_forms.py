"""The forms of arguments and results: dicts, lists and objects around tensors, with and without their None members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _records, arrays
from .errors import InputError


@dataclass(frozen=True)
class Returned:
    """An object that `forward` has returned, and the engine's names of its tensors."""

    like: Any
    names: dict[str, str]


def filled(form: Any, value: Any) -> Any:
    """Converts an argument of the file back to the form that `forward` takes, with its own keys and None members."""
    if _records.is_record(form):
        return _records.filled(form, value)
    if isinstance(form, Mapping):
        return {
            key: item if without_none(item) is None else filled(item, value[arrays.key_text(key)])
            for key, item in form.items()
        }
    if isinstance(form, (list, tuple)):
        rest = iter(value)
        items = [item if without_none(item) is None else filled(item, next(rest)) for item in form]
        return items if isinstance(form, list) else tuple(items)
    return value


def has_relations(value: Any) -> bool:
    """Returns whether a key is not a text or an item is an object: no TorchScript file accepts either."""
    if isinstance(value, Returned) or _records.is_record(value):
        return True
    if isinstance(value, Mapping):
        return any(not isinstance(key, str) or has_relations(item) for key, item in value.items())
    return isinstance(value, (list, tuple)) and any(map(has_relations, value))


def has_none(value: Any) -> bool:
    if isinstance(value, Returned) or _records.is_record(value):
        return False
    if isinstance(value, Mapping):
        return any(map(has_none, value.values()))
    return any(map(has_none, value)) if isinstance(value, (list, tuple)) else value is None


def without_none(value: Any) -> Any:
    """Returns the value without its None members, with objects as dicts of their tensors; None where all members are
    None."""
    if _records.is_record(value):
        return _records.tensors(value)
    if not has_none(value) and not _records.holds_records(value):
        return value
    if isinstance(value, Mapping):
        kept = {key: without_none(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None} or None
    if isinstance(value, (list, tuple)):
        items = [item for item in map(without_none, value) if item is not None]
        return (items if isinstance(value, list) else tuple(items)) or None
    return None


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the tensors by the engine's keys: `x`, `arg.key`, `arg.0`; a sparse tensor is one leaf. Others are
    refused."""
    if _records.is_record(value):
        value = _records.tensors(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(f"{name}.{arrays.key_text(key)}", item)
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from leaves(f"{name}.{position}", item)
    elif arrays.is_array(value):
        yield name, arrays.checked(name, value)
    elif value is not None:
        raise InputError(
            f"'{name}' is of type {type(value).__name__}, not a tensor", "pass tensors, or dicts and lists of them"
        )


def rebuilt(name: str, value: Any, leaf: Callable[[str], Any], texts: bool) -> Any:
    """Returns the same structure with other leaves; with `texts`, its keys become texts."""
    if _records.is_record(value):
        return Returned(value, {key: leaf(f"{name}.{key}") for key in _records.tensors(value)})
    if isinstance(value, Mapping):
        return {
            arrays.key_text(key) if texts else key: rebuilt(f"{name}.{arrays.key_text(key)}", item, leaf, texts)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        items = [rebuilt(f"{name}.{position}", item, leaf, texts) for position, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return None if value is None else leaf(name)


def outputs_of(value: Any, name: str = "out") -> dict[str, Any]:
    """Returns the tensors of a result by the engine's names."""
    return dict(leaves(name, value))
