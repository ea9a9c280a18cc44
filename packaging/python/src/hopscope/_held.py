"""Sparse matrices that a model holds as attributes or buffers. Recommenders hold their graph in this way. TorchScript
cannot save such a matrix. It becomes an input of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """An attribute of a module."""

    module: Any
    name: str

    def put(self, value: Any) -> None:
        buffers = vars(self.module)["_buffers"]
        if self.name in buffers:
            buffers[self.name] = value
        else:
            vars(self.module)[self.name] = value


def matrices(model: Any) -> dict[str, tuple[Any, list[Place]]]:
    """Returns each matrix with its places, by the name of the first one: `inner_graph` for `model.inner.graph`."""
    import torch

    found: dict[int, tuple[str, Any, list[Place]]] = {}
    for path, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            continue
        for name, value in {**vars(module), **vars(module)["_buffers"]}.items():
            if isinstance(value, torch.Tensor) and value.layout in (torch.sparse_coo, torch.sparse_csr):
                whole = f"{path}.{name}".removeprefix(".").replace(".", "_")
                found.setdefault(id(value), (whole, value, []))[2].append(Place(module, name))
    return {name: (value, places) for name, value, places in found.values()}


def put(places: Mapping[str, list[Place]], values: Mapping[str, Any]) -> None:
    """Sets the attributes to these values, and the others to None."""
    for name, several in places.items():
        for place in several:
            place.put(values.get(name))
