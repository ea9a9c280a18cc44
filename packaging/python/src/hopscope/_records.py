"""Objects that hold tensors as attributes, as packages pass graphs to their models: dataclasses, NamedTuples, PyG's
containers, and objects of any other class. A model gets a copy with other tensors; the rest of the object is
unchanged."""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable, Mapping
from typing import Any

from . import arrays

# Objects of these have forms of their own, or none that could be copied.
_LIBRARIES = ("builtins", "dgl", "networkx", "numpy", "pandas", "pathlib", "pyarrow", "scipy", "torch")
_DEEPEST = 6
# Between the names that lead to a tensor: what no attribute has in its name.
_BETWEEN = "-"
# PyG counts the rows of these where a graph has no number of nodes of its own.
_COUNTED = ("x", "pos", "batch")
# Where PyG's Batch keeps how many there are, which to_dict() leaves out.
_GRAPHS = "_num_graphs"


def is_record(value: Any) -> bool:
    """Returns whether an object holds tensors as attributes."""
    return fields(value) is not None and bool(tensors(value))


def holds_records(value: Any) -> bool:
    """Returns whether a value is such an object or contains one."""
    if is_record(value):
        return True
    items = value.values() if isinstance(value, Mapping) else value
    return isinstance(value, (Mapping, list, tuple)) and any(map(holds_records, items))


def is_plain(value: Any) -> bool:
    """Returns whether it is such an object, but not a container of PyG."""
    return not _is_graph(value) and is_record(value)


def is_constant(value: Any) -> bool:
    """Returns whether an object contains only numbers and texts, which a trace keeps."""
    return fields(value) is not None and _is_fixed(value, 0)


def _is_fixed(value: Any, depth: int) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, bytes, enum.Enum)):
        return True
    holds = isinstance(value, (Mapping, list, tuple)) or fields(value) is not None
    return holds and depth < _DEEPEST and all(_is_fixed(item, depth + 1) for item in _items(value).values())


def tensors(value: Any) -> dict[str, Any]:
    """Returns the tensors of an object by the names that lead to them."""
    found: dict[str, Any] = {}
    _mapped(value, (), arrays.is_torch, found.setdefault)
    return found


def numbers(value: Any) -> dict[str, Any]:
    """Returns the whole numbers of an object by the names that lead to them, without the number of nodes that PyG
    counts."""
    found: dict[str, Any] = {}
    if _is_graph(value) and hasattr(value, _GRAPHS):
        found[_GRAPHS] = getattr(value, _GRAPHS)
    _mapped(value, (), _is_whole, found.setdefault)
    return {name: item for name, item in found.items() if name != "num_nodes" or not _counts_nodes(value)}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, (bool, enum.Enum))


def filled(value: Any, given: Mapping[str, Any]) -> Any:
    """Returns a copy with these tensors under the same names; all others are unchanged."""
    return _mapped(value, (), arrays.is_torch, given.get)


def numbered(value: Any, given: Mapping[str, Any]) -> Any:
    """Returns a copy of an object with these numbers."""
    made = _mapped(value, (), _is_whole, given.get) if given else value
    if _GRAPHS in given:
        made = copy.copy(made)
        setattr(made, _GRAPHS, given[_GRAPHS])
    return made


def fields(value: Any) -> dict[str, Any] | None:
    """Returns the attributes of an object by name; None for values of other kinds."""
    if _is_named_tuple(value):
        return dict(zip(value._fields, value, strict=True))
    if _is_graph(value):
        return dict(value.to_dict())
    if isinstance(value, (Mapping, list, tuple, enum.Enum)) or callable(value) or _home(value) in _LIBRARIES:
        return None
    slots = (getattr(kind, "__slots__", ()) for kind in type(value).__mro__)
    names = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
    return {name: getattr(value, name) for name in (*names, *getattr(value, "__dict__", ())) if hasattr(value, name)}


def _home(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _is_graph(value: Any) -> bool:
    """Returns whether an object is one of PyG's containers."""
    return hasattr(value, "to_dict") and hasattr(value, "edge_attrs")


def _counts_nodes(value: Any) -> bool:
    """Returns whether PyG finds the number of nodes of such a container from its tensors."""
    return _is_graph(value) and any(name in value for name in _COUNTED)


def _mapped(value: Any, path: tuple[Any, ...], wanted: Callable[[Any], bool], leaf: Callable[[str, Any], Any]) -> Any:
    """Returns the same with each wanted item replaced by its `leaf`; only changed containers are copied."""
    if wanted(value):
        return leaf(_BETWEEN.join(map(arrays.key_text, path)), value)
    if len(path) >= _DEEPEST:
        return value
    held = _items(value)
    made = {name: _mapped(item, (*path, name), wanted, leaf) for name, item in held.items()}
    changed = {name: item for name, item in made.items() if item is not held[name]}
    return _copied(value, changed) if changed else value


def _items(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)) and not _is_named_tuple(value):
        return dict(enumerate(value))
    return fields(value) or {}


def _copied(value: Any, changed: Mapping[Any, Any]) -> Any:
    if _is_named_tuple(value):
        return value._replace(**changed)
    if isinstance(value, tuple):
        return tuple(changed.get(position, item) for position, item in enumerate(value))
    made = copy.copy(value)
    if isinstance(value, (Mapping, list)) or _is_graph(value):
        for name, item in changed.items():
            _set(made, name, item)
        if _counts_nodes(value) and "num_nodes" in value:
            del made["num_nodes"]
    else:
        for name, item in changed.items():
            object.__setattr__(made, name, item)
    return made


def _set(made: Any, name: Any, item: Any) -> None:
    """Sets an entry of a container or, in one with types, the attributes of a type."""
    if isinstance(item, Mapping) and hasattr(made, "node_types"):
        for attribute, tensor in item.items():
            made[name][attribute] = tensor
    else:
        made[name] = item
