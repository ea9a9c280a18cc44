"""Sparse matrices that a model creates while it is traced. A trace records their sizes as numbers. Scripted functions
take the sizes as tensors instead, so that the trace computes them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ._tracing import replaced


@contextlib.contextmanager
def traceable() -> Iterator[None]:
    """Replaces the constructors in `torch` while a model is traced."""
    import torch

    with contextlib.ExitStack() as others:
        for name, (indices, scripted) in _constructors().items():
            other = _with_sizes(getattr(torch, name), indices, scripted)
            others.enter_context(replaced(torch, name, other))
        others.enter_context(replaced(torch.sparse, "FloatTensor", torch.sparse_coo_tensor))  # its former name
        yield


@functools.cache
def _constructors() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Returns, by name, the parameters with the positions of elements, and the scripted function."""
    import torch
    from torch import Tensor

    def coo(indices: Tensor, values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        return torch.sparse_coo_tensor(indices, values, [int(rows), int(columns)])

    def csr(ends: Tensor, indices: Tensor, values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        return torch.sparse_csr_tensor(ends, indices, values, [int(rows), int(columns)], dtype=values.dtype)

    def csc(ends: Tensor, indices: Tensor, values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        return torch.sparse_csc_tensor(ends, indices, values, [int(rows), int(columns)], dtype=values.dtype)

    return {
        "sparse_coo_tensor": (("indices",), torch.jit.script(coo)),
        "sparse_csr_tensor": (("crow_indices", "col_indices"), torch.jit.script(csr)),
        "sparse_csc_tensor": (("ccol_indices", "row_indices"), torch.jit.script(csc)),
    }


def _with_sizes(own: Callable[..., Any], indices: tuple[str, ...], scripted: Any) -> Callable[..., Any]:
    import torch

    def called(*given: Any, **named: Any) -> Any:
        passed = {**named, **dict(zip((*indices, "values", "size"), given, strict=False))}
        size = passed.get("size") or ()
        if not torch.jit.is_tracing() or len(size) != 2 or not any(isinstance(number, torch.Tensor) for number in size):
            return own(*given, **named)
        values = torch.as_tensor(passed["values"], dtype=passed.get("dtype"), device=passed.get("device"))
        where = [torch.as_tensor(passed[name], device=passed.get("device")) for name in indices]
        return scripted(*where, values, *map(torch.as_tensor, size))

    return called
