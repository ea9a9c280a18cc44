"""The properties of large data that determine the path through `forward`: sizes, and values that Python reads.

`forward` runs on a sample, and on tensors with the sizes of the data but without values (`FakeTensorMode` of torch),
which take no memory. There each value that Python reads is the one that it read from the sample."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

_READS = ("__bool__", "__int__", "__float__", "__index__", "__complex__", "item", "tolist")


@dataclass
class Way:
    """The functions that forward called, each with its source line, and the values that Python read, with theirs."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    reads: list[tuple[Any, str]] = field(default_factory=list)


def decided(
    forward: Callable[[dict[str, Any]], Any], small: dict[str, Any], shapes: Mapping[str, Any]
) -> tuple[str, str]:
    """What `forward` decides by, as a phrase, and its source line: a value that may be another one in the data, or the
    sizes of the data if they lead another way than those of a sample. Both are empty if there is neither, or if torch
    cannot run some operator without values. `small`: the tensors of the sample; `shapes`: of the same ones in the
    data."""
    import torch

    if any(tensor.layout != torch.strided for tensor in small.values()):
        return "", ""
    way = _way(forward, small, None)
    known = [number for tensor in small.values() for number in _largest(tensor)]
    places = (place for value, place in way.reads if isinstance(value, bool) or value not in known)
    if line := next((place for place in places if not _only_raises(place)), ""):
        return "a value in the data", line
    try:
        other = _without_values(forward, small, shapes, way)
    except Exception:  # torch has no version of some operator without values
        return "", ""
    pairs = zip_longest(way.steps, other.steps, fillvalue=("", ""))
    line = next((one[1] or two[1] for one, two in pairs if one != two), "")
    return ("the sizes of these data", line) if line else ("", "")


def _without_values(forward: Any, like: dict[str, Any], shapes: Mapping[str, Any], way: Way) -> Way:
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    with FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()):
        made = {key: torch.empty(shapes[key], dtype=one.dtype, device=one.device) for key, one in like.items()}
        return _way(forward, made, [value for value, _ in way.reads])


def _way(forward: Any, leaves: dict[str, Any], known: list[Any] | None) -> Way:
    """`known`: what to answer where Python reads values, in this order."""
    import torch
    from torch.overrides import TorchFunctionMode, resolve_name

    library, way = f"{Path(torch.__file__).parent}{os.sep}", Way()

    class Recording(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            name, place = getattr(function, "__name__", ""), _place(library)
            if name != "__get__":  # of an attribute: FakeTensor has some of its own
                way.steps.append((resolve_name(function) or name, place))
            if name not in _READS:
                return function(*given, **(named or {}))
            value = function(*given) if known is None else known[len(way.reads)]
            way.reads.append((value, place))
            return value

    with Recording():
        forward(leaves)
    return way


def _place(library: str) -> str:
    """The line that called torch."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(library):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _largest(tensor: Any) -> list[int]:
    """The largest number of a column and the count that follows from it: samples have those of the data."""
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype.itemsize == 1 or not tensor.numel():
        return []
    return [int(tensor.max()), int(tensor.max()) + 1]


def _only_raises(place: str) -> bool:
    """Whether the statement at a source line is an assertion, or raises for one of two outcomes."""
    path, _, line = place.rpartition(":")
    around = [item for item in _statements(path) if item.lineno <= int(line) <= item.test.end_lineno]
    if not around:
        return False
    item = max(around, key=lambda one: one.lineno)
    return isinstance(item, ast.Assert) or (not item.orelse and isinstance(item.body[-1], ast.Raise))


@functools.cache
def _statements(path: str) -> list[Any]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return []
    return [item for item in ast.walk(tree) if isinstance(item, (ast.Assert, ast.If))]
