"""Removes obstacles to tracing and scripting a module that do not affect its results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def tolerant() -> Iterator[None]:
    """TorchScript asks each attribute of a module whether it is to be exported. A property may raise, such as `trainer`
    of a LightningModule that has none; it is not to be exported then. A file holds no function of the user's with its
    own derivative: what its `forward` computes takes its place. A scripted function would get a size as the number that
    it is in this trace; the Python that it was made from keeps the computation. Sizes are tensors while a module is
    traced: `total += x.size(0)` would change the number that `offset = total` has kept before."""
    import torch
    from torch.autograd import function

    with (
        contextlib.ExitStack() as numbers,
        replaced(torch._jit_internal, "module_has_exports", _has_exports),
        replaced(function._SingleLevelFunction, "apply", classmethod(_computed)),
        replaced(torch.jit.ScriptFunction, "__call__", _with_sizes(torch.jit.ScriptFunction.__call__)),
    ):
        for name in ("add", "sub", "mul", "floordiv"):
            numbers.enter_context(replaced(torch.Tensor, f"__i{name}__", _of_numbers(name)))
        yield


@contextlib.contextmanager
def replaced(owner: Any, name: str, other: Any) -> Iterator[None]:
    own, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def _has_exports(module: Any) -> bool:
    import torch

    internal = torch._jit_internal
    for name in dir(module):
        with contextlib.suppress(Exception):
            item = getattr(module, name)
            if callable(item) and internal.get_torchscript_modifier(item) is internal.FunctionModifiers.EXPORT:
                return True
    return False


def inlined(traced: Any) -> Any:
    """Returns a traced module in which calls of autograd functions are replaced by the operators inside them. Up to
    torch 2.13 `tolerant` leaves no such calls; from 2.14 on, `apply` is not a Python function."""
    for module in traced.modules():
        if module._c._has_method("forward"):
            graph = module._c._get_method("forward").graph
            while _inline_one(graph):
                pass
    return traced


def _inline_one(graph: Any) -> bool:
    """A call carries the operators that were traced inside it, and returns one tensor or a tuple."""
    calls = graph.findAllNodes("prim::PythonOp")
    call = next((node for node in calls if node.hasAttribute("Subgraph")), None)
    if call is None:
        return False
    graph.setInsertPoint(call)
    results = list(graph.insertGraph(call.g("Subgraph"), list(call.inputs())))
    if call.output().type().kind() == "TupleType":
        together = graph.create("prim::TupleConstruct", results, 1)
        together.insertBefore(call)
        together.output().setType(call.output().type())
        results = [together.output()]
    call.output().replaceAllUsesWith(results[0])
    call.destroy()
    return True


class _Context:
    """Accepts the values that such a function's `forward` saves for its derivative, which is never computed."""

    def __init__(self, arguments: int) -> None:
        self.needs_input_grad = (False,) * arguments

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: None


def _computed(function: Any, *given: Any) -> Any:
    import torch

    if function.setup_context is not torch.autograd.Function.setup_context:
        return function.forward(*given)
    return function.forward(_Context(len(given)), *given)


def _of_numbers(name: str) -> Callable[..., Any]:
    """The in-place operator, which creates a new number from a size, as Python does for its own numbers."""
    import torch

    in_place, anew = getattr(torch.Tensor, f"__i{name}__"), getattr(torch.Tensor, f"__{name}__")

    def called(number: Any, other: Any) -> Any:
        is_size = torch.jit.is_tracing() and number.dim() == 0 and number.dtype == torch.int64
        return anew(number, other) if is_size else in_place(number, other)

    return called


def _with_sizes(call: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    def called(function: Any, *given: Any, **named: Any) -> Any:
        python = getattr(function, "_torchdynamo_inline", None)
        if python is None or not torch.jit.is_tracing():
            return call(function, *given, **named)
        names = [argument.name for argument in function.schema.arguments]
        passed = {**dict(zip(names, given, strict=False)), **named}
        numbers = {argument.name for argument in function.schema.arguments if "Tensor" not in str(argument.type)}
        sizes = any(name in numbers and _holds_tensor(value) for name, value in passed.items())
        return python(*given, **named) if sizes else call(function, *given, **named)

    return called


def _holds_tensor(value: Any) -> bool:
    import torch

    if isinstance(value, (list, tuple)):
        return any(map(_holds_tensor, value))
    return isinstance(value, torch.Tensor)
