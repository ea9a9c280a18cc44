"""Two traces of one model, compared operator by operator: what differs was baked in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from . import arrays

_PLACE = re.compile(r"# (?P<place>\S+?:\d+):\d+\s*$", re.MULTILINE)
_LONGEST = 60  # characters of a number that a sentence quotes
_MANGLED = re.compile(r"\.?___torch_mangle_\d+")


@dataclass(frozen=True)
class Baked:
    """A value that depends on the traced graph, and its source line."""

    sentence: str
    where: str


def baked(first: Any, second: Any) -> Baked | None:
    """Returns the first difference between two traced modules, or None. Dead operators do not count."""
    for one, other in zip_longest(_nodes(first), _nodes(second)):
        if one is None or other is None or one[0] != other[0]:
            here = one if one is not None else other
            place = _place(here[1], first if one is not None else second)
            return Baked(
                "different graphs run different operators: the path through forward depends on the data", place
            )
        if one[2] != other[2]:
            what = f"{_short(one[2])} for one graph, {_short(other[2])} for another"
            return Baked(f"a number that comes from the data is baked in: {what}", _place(one[1], first))
    return None


def unread(traced: Any, keys: Iterable[str]) -> set[str]:
    """Returns the inputs, by the engine's keys, that no operator reads."""
    inputs = list(traced.inlined_graph.inputs())[1:]
    read = {key for value in inputs for key in _read(value.debugName().partition(".")[0], value)}
    return {key for key in keys if not any(key == one or key.startswith(f"{one}.") for one in read)}


def _read(name: str, value: Any) -> Iterator[str]:
    """Yields the argument, or the items of a dict."""
    for reader in (use.user for use in value.uses()):
        if reader.kind() != "aten::__getitem__":
            yield name
        elif reader.output().uses():
            yield f"{name}.{list(reader.inputs())[1].toIValue()}"


def fingerprint(traced: Any) -> str:
    """Returns a text that is the same for two files of one model with the same weights, even if TorchScript named its
    classes differently."""
    digest = hashlib.sha256(_MANGLED.sub("", str(traced.inlined_graph.copy())).encode())
    for name, tensor in sorted(traced.state_dict().items()):
        digest.update(name.encode())
        digest.update(arrays.raw(tensor))
    return digest.hexdigest()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _nodes(module: Any) -> Iterator[tuple[str, Any, str]]:
    """(operator, node, its constant part) of every node that the result depends on."""
    import torch

    graph = module.inlined_graph.copy()
    torch._C._jit_pass_dce(graph)
    yield from _of_block(graph)


def _of_block(block: Any) -> Iterator[tuple[str, Any, str]]:
    for node in block.nodes():
        yield node.kind(), node, _constant(node)
        for inner in node.blocks():
            yield from _of_block(inner)


def _constant(node: Any) -> str:
    if node.kind() != "prim::Constant" or not node.hasAttribute("value"):
        return ""
    value = node.output().toIValue()
    if hasattr(value, "tolist") and value.numel() <= 1000:
        return str(value.tolist())
    return f"a tensor {list(value.shape)}" if hasattr(value, "shape") else str(value)


def _place(node: Any, module: Any) -> str:
    """Returns the line of an operator; a constant usually has none, so its user's line is taken."""
    uses = [use.user for output in node.outputs() for use in output.uses()]
    for candidate in [node, *uses]:
        found = _PLACE.search(str(candidate))
        if found:
            return found.group("place")
    return type(module).__name__
