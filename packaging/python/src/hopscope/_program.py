"""A model on samples of its data as an exported program of `torch.export`, whose numbers of rows stay open."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from . import _forms

_SIZE = r"L(\[[^\]]+\])+\.size\(\)\[\d+\]"
_OF_ALL_GRAPHS = re.compile(rf"{_SIZE} == {_SIZE}")  # tables of the same rows


class Program:
    """An exported program with the methods of a TorchScript module that `saving` calls."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self._module = program.module()

    def __call__(self, **arguments: Any) -> Any:
        return self._module(**arguments)

    def guards(self) -> list[str]:
        """Returns the conditions on sizes under which the program equals the model, as Python expressions of the
        arguments L. Conditions that only require equal numbers of rows are left out: every graph meets them."""
        return [guard for guard in self.program._guards_code if not _OF_ALL_GRAPHS.fullmatch(guard)]

    def save_to_buffer(self) -> bytes:
        """Returns the bytes of the archive (.pt2)."""
        import torch

        archive = io.BytesIO()
        torch.export.save(self.program, archive)
        return archive.getvalue()


def loaded(path: Path) -> Program:
    """Returns the program in a file."""
    import torch

    with _silent():
        return Program(torch.export.load(io.BytesIO(path.read_bytes())))


def exported(entry: Any, arguments: dict[str, Any], axes: dict[str, set[int]], strict: bool) -> Program:
    """Exports a module; the sizes of the inputs along `axes` stay open. Raises what `torch.export` raises."""
    import torch
    from torch.export import Dim

    def open_sizes(key: str) -> dict[int, Any]:
        return dict.fromkeys(sorted(axes[key]), Dim.AUTO)

    shapes = {name: _forms.rebuilt(name, value, open_sizes, texts=True) for name, value in arguments.items()}
    with _silent():
        program = torch.export.export(entry, (), kwargs=arguments, dynamic_shapes=shapes, strict=strict)
        made = Program(program)
        made.save_to_buffer()
    return made


@contextmanager
def _silent() -> Iterator[None]:
    """Suppresses the warnings and the graph that `torch.export` prints about a model that it then refuses."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)
