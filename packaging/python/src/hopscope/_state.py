"""The attributes of a module, put back after a call of forward: what one call leaves there, such as a cache, would
affect the results of the next one, which gets a different graph."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

_CODE = (type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_CONTAINERS = (dict, list, set, tuple)
_MANY = 10_000


@contextlib.contextmanager
def restored(model: Any) -> Iterator[None]:
    """Puts back the attributes of the model, of its modules and of the objects that they hold, and the items of dicts,
    lists and sets. Values inside tensors stay."""
    before = [(held, dict(held) if isinstance(held, dict) else list(held)) for held in _held(model)]
    try:
        yield
    finally:
        for held, items in before:
            if not _same(held, items):
                held.clear()
                held.extend(items) if isinstance(held, list) else held.update(items)


def _held(model: Any) -> list[Any]:
    """Returns all containers that are reached from the model, each once, except large ones, which are data."""
    import torch

    found: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (torch.Tensor, torch.jit.ScriptModule, *_CODE)):
            continue
        held: Any = item if isinstance(item, _CONTAINERS) else getattr(item, "__dict__", None)
        if isinstance(held, (dict, list, set)) and id(held) not in found and len(held) <= _MANY:
            found[id(held)] = held
        elif not isinstance(item, tuple):
            continue
        waiting.extend(held.values() if isinstance(held, dict) else held)
    return list(found.values())


def _same(held: Any, items: Any) -> bool:
    if len(held) != len(items) or any(one is not other for one, other in zip(held, items, strict=True)):
        return False
    return not isinstance(held, dict) or all(
        one is other for one, other in zip(held.values(), items.values(), strict=True)
    )
