"""The properties of large data that determine the path through `forward`: sizes, and values that Python reads.

`forward` runs on a sample, and on tensors with the sizes of the data but without values (`FakeTensorMode` of torch),
which take no memory. There each value that Python reads is the one that it read from the sample."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

# What Python learns from tensors. The text of a tensor decides nothing.
_READS = {"__bool__", "__int__", "__float__", "__index__", "__complex__", "__contains__", "__format__", "__repr__"}
_READS |= {"__array__", "__dlpack__", "item", "tolist", "numpy", "equal", "allclose", "is_nonzero"}


@dataclass
class Way:
    """The path through forward: the functions that it called, each with its source line; the values that Python read;
    and those of them that the model alone does not determine, with their lines. `inside`: the function in progress."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    reads: list[Any] = field(default_factory=list)
    open: list[tuple[Any, str]] = field(default_factory=list)
    inside: str = ""


def decided(
    model: Any, forward: Callable[[dict[str, Any]], Any], small: dict[str, Any], shapes: Mapping[str, Any]
) -> tuple[str, str]:
    """Finds what decides the path of a model through `forward`, as a phrase, and its source line: a value
    that may be different in the data, or the sizes of the data if forward takes a different path for them than for
    the sizes of a sample. Both are empty if there is neither. The comparison of the paths ends at an operator that
    torch cannot run without values. `small`: the tensors of the sample; `shapes`: their shapes in the data."""
    import torch

    way, other = Way(), Way()
    strided = all(tensor.layout == torch.strided for tensor in small.values())
    if not strided or _followed(way, model, lambda: forward(small), None):
        return "", ""
    known = [number for tensor in small.values() for number in _largest(tensor)]
    places = (place for value, place in way.open if not (type(value) in (int, float) and value in known))
    if line := next((place for place in places if not _only_raises(place)), ""):
        return "a value in the data", line
    with _without_values(small, shapes) as leaves:
        ended = _followed(other, model, lambda: forward(leaves), way.reads)
    if line := _open_size(other, ended):
        return "a size that follows from values in the data", line
    pairs = zip_longest(way.steps[: len(other.steps) if ended else None], other.steps, fillvalue=("", ""))
    line = next((one[1] or two[1] for one, two in pairs if one != two), "")
    return ("the sizes of these data", line) if line else ("", "")


@contextlib.contextmanager
def _without_values(like: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Tensors with these shapes, for the duration of a block."""
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    with FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()):
        yield {key: torch.empty(shapes[key], dtype=one.dtype, device=one.device) for key, one in like.items()}


def _followed(way: Way, model: Any, forward: Callable[[], Any], known: list[Any] | None) -> Exception | None:
    """Follows forward to its end or to an exception, which is the result. `known`: what to answer where Python reads
    values, in this order."""
    import torch
    from torch.overrides import TorchFunctionMode, resolve_name

    constants, writable = _Constants(model), torch.Tensor.data.__get__

    class Following(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            way.inside, place = getattr(function, "__name__", ""), _place()
            reads = way.inside in _READS
            if way.inside != "__get__":  # of an attribute: FakeTensor has some of its own
                way.steps.append((resolve_name(function) or way.inside, place))
            answers = known[len(way.reads) :] if reads and known is not None else []
            result = answers[0] if answers else function(*given, **(named or {}))
            if function == writable:
                constants.forget(given[0])
            constant = constants.determine(result, given, named)
            if reads:
                way.reads.append(result)
                way.open += [] if constant or isinstance(result, str) else [(result, place)]
            way.inside = ""
            return result

    try:
        with Following():
            forward()
    except Exception as problem:
        return problem
    return None


class _Constants:
    """Tensors that the model alone determines: its parameters and buffers as long as forward does not change them, and
    the results of functions that take nothing else."""

    def __init__(self, model: Any) -> None:
        self._versions: dict[int, tuple[Any, int]] = {}
        for tensor in (*model.parameters(), *model.buffers()):
            self._add(tensor)

    def _add(self, tensor: Any) -> None:
        if not tensor.is_inference():  # such a tensor has no version
            self._versions[id(tensor)] = (tensor, tensor._version)

    def forget(self, tensor: Any) -> None:
        """Ends the knowledge of a tensor whose `data` forward takes: a write to them leaves its version as it was."""
        self._versions.pop(id(tensor), None)

    def determine(self, result: Any, given: Any, named: Any) -> bool:
        """Returns whether all arguments of a function are such tensors. Its result then becomes one of them too."""
        import torch

        found = [self._versions.get(id(one), (None, 0)) for one in given]
        constant = bool(found) and not named and all(one is not None and one._version == then for one, then in found)
        if constant and isinstance(result, torch.Tensor):
            self._add(result)
        return constant


def _open_size(way: Way, ended: Exception | None) -> str:
    """Returns the line of forward that reads a size which follows from values, if that ended the way."""
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    if not isinstance(ended, GuardOnDataDependentSymNode) or way.inside not in ("", "__len__"):
        return ""
    lines = [f"{frame.f_code.co_filename}:{line}" for frame, line in traceback.walk_tb(ended.__traceback__)]
    line = next(one for one in reversed(lines) if not one.startswith((_library(), __file__)))
    return "" if _only_raises(line) else line


def _place() -> str:
    """Returns the line that called torch."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_library()):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@functools.cache
def _library() -> str:
    import torch

    return f"{Path(torch.__file__).parent}{os.sep}"


def _largest(tensor: Any) -> list[int]:
    """Returns the largest number of a column and the count that follows from it. Samples have the same two as the
    data."""
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype.itemsize == 1 or not tensor.numel():
        return []
    return [int(tensor.max()), int(tensor.max()) + 1]


def _only_raises(place: str) -> bool:
    """Returns whether the statement at a source line is an assertion, or raises for one of two outcomes."""
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
