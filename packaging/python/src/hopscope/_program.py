"""A model on samples of its data as an exported program of `torch.export`, whose numbers of rows stay open."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _forms
from ._samples import Sample


class Program:
    """An exported program with the methods of a TorchScript module that `saving` calls."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self._module = program.module()

    def __call__(self, **arguments: Any) -> Any:
        return self._module(**arguments)

    def save_to_buffer(self) -> bytes:
        """The bytes of the archive (.pt2)."""
        import torch

        archive = io.BytesIO()
        torch.export.save(self.program, archive)
        return archive.getvalue()


def loaded(path: Path) -> Program:
    """The program in a file."""
    import torch

    with _silent():
        return Program(torch.export.load(io.BytesIO(path.read_bytes())))


def exported(entry: Any, arguments: dict[str, Any], samples: list[Sample], strict: bool) -> Program:
    """Exports a module for the arguments of the first sample. Raises what `torch.export` raises."""
    import torch

    shapes = {name: _forms.rebuilt(name, value, _shapes(samples), texts=True) for name, value in arguments.items()}
    with _silent():
        program = torch.export.export(entry, (), kwargs=arguments, dynamic_shapes=shapes, strict=strict)
        made = Program(program)
        made.save_to_buffer()
    return made


def _shapes(samples: list[Sample]) -> Any:
    """The sizes of an input, by its key, that differ between samples, which are numbers of rows."""
    from torch.export import Dim

    def of(key: str) -> dict[int, Any]:
        first, *others = [tuple(sample.leaves[key].shape) for sample in samples]
        return {axis: Dim.AUTO for axis, size in enumerate(first) if any(other[axis] != size for other in others)}

    return of


@contextmanager
def _silent() -> Iterator[None]:
    """Without the warnings that `torch.export` logs about a model that it then refuses."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)
