"""ONNX files by onnxruntime, which computes a whole graph at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _forms, arrays
from .errors import InputError, UsageError, sentence_of


def is_onnx(value: object) -> bool:
    """Returns whether the name of a path is that of an ONNX file."""
    return isinstance(value, (str, Path)) and Path(value).suffix == ".onnx"


def outputs_of(path: Path, inputs: Mapping[str, Any]) -> list[NDArray[Any]]:
    """Returns the outputs of the file, in its order. Inputs are bound by their names."""
    if not path.is_file():
        raise InputError(f"no such file: {path}", "pass the path of an ONNX file")
    try:
        import onnxruntime
    except ImportError as problem:
        raise UsageError(f"{path} needs onnxruntime, which is not installed", "pip install onnxruntime") from problem
    given = {key: array for name, value in inputs.items() for key, array in _forms.leaves(name, value)}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # the exception says as much
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        wanted = [entry.name for entry in session.get_inputs()]
        missing = [name for name in wanted if name not in given]
        if missing:
            raise InputError(
                f"{path} takes '{missing[0]}', which the data lack",
                "give its inputs the names of the model's arguments",
            )
        return list(session.run(None, {name: _array(given[name]) for name in wanted}))
    except InputError:
        raise
    except Exception as problem:  # a class of onnxruntime's for each of its codes
        raise InputError(f"{path}: onnxruntime: {sentence_of(problem)}", "is it a file for these data?") from problem


def _array(value: Any) -> NDArray[Any]:
    if arrays.is_torch(value):
        value = value.detach().cpu().numpy()
    return numpy.ascontiguousarray(value)
