# SPDX-License-Identifier: 0BSD
"""Readers of data files that need NumPy only. They are part of run.py; _formats.py of the Python package is a copy."""

import json
import math
import pathlib
from typing import Any

import numpy as np

# ---- formats of data files


class FormatError(ValueError):
    """A file does not have its format. The message continues a sentence that begins with the path."""


# By the names of safetensors. NumPy has no bfloat16: its bits are kept in 16-bit integers.
SAFETENSORS = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "I32": "int32",
               "U32": "uint32", "I64": "int64", "U64": "uint64", "F16": "float16", "BF16": "bfloat16",
               "F32": "float32", "F64": "float64", "C64": "complex64"}  # fmt: skip
LONGEST_HEADER = 100_000_000


def storage_type(dtype: str) -> Any:
    return np.dtype("int16") if dtype == "bfloat16" else np.dtype(dtype)


def read_safetensors(path: Any) -> dict[str, tuple[Any, str]]:
    """Maps the arrays of a file copy-on-write, and returns them with the names of their dtypes."""
    header, begin, size = read_header(path)
    arrays, end = {}, 0
    entries = [(name, *place_of(name, entry, size)) for name, entry in header.items() if name != "__metadata__"]
    for name, first, last, shape, dtype in sorted(entries, key=lambda entry: entry[1:3]):
        if first < end:
            raise FormatError(f"{name} overlaps another tensor")
        end = last
        arrays[name] = (mapped(path, storage_type(dtype), begin + first, shape), dtype)
    return arrays


def read_header(path: Any) -> tuple[dict[str, Any], int, int]:
    """Returns the header of a file, the offset of its tensors, and the number of their bytes."""
    size = pathlib.Path(path).stat().st_size
    with pathlib.Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEADER):
            raise FormatError("is not a .safetensors file, or is truncated")
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            header = None
    if not isinstance(header, dict):
        raise FormatError("is not a .safetensors file")
    return header, 8 + length, size - 8 - length


def place_of(name: str, entry: Any, size: int) -> tuple[int, int, list[int], str]:
    """Returns the first and last byte of a tensor, its shape and its dtype."""
    entry = entry if isinstance(entry, dict) else {}
    dtype = SAFETENSORS.get(str(entry.get("dtype")))
    shape, place = whole_numbers(entry.get("shape")), whole_numbers(entry.get("data_offsets"))
    if dtype is None:
        raise FormatError(f"{name} has the dtype {entry.get('dtype')}, which is not supported")
    if shape is None or place is None or len(place) != 2:
        raise FormatError(f"{name} has no shape or no place in the file")
    if place[1] - place[0] != math.prod(shape) * storage_type(dtype).itemsize:
        raise FormatError(f"the shape of {name} does not match its size in the file")
    if place[1] > size:
        raise FormatError(f"{name} lies beyond the end of the file")
    return place[0], place[1], shape, dtype


def whole_numbers(value: Any) -> list[int] | None:
    """Returns a list of numbers from 0 on as it is, and None for everything else."""
    numbers = isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)
    return value if numbers else None


def mapped(path: Any, dtype: Any, offset: int, shape: list[int]) -> Any:
    if 0 in shape:
        return np.empty(shape, dtype)
    array = np.memmap(path, dtype, "c", offset, tuple(shape))
    return array.copy() if offset % dtype.itemsize else array


def read_npy(path: Any, mode: Any) -> Any:
    """Maps the array of a file copy-on-write ("c") or read-only ("r")."""
    try:
        array = np.load(path, mmap_mode=mode, allow_pickle=False)
    except OSError:
        raise
    except Exception as problem:  # whatever Python's parser, which NumPy gives the header to, comes to
        raise FormatError(f"is not a .npy file: {problem}") from problem
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc":
        raise FormatError("contains no numbers")
    return array


# By suffix. Readers of one array take a mode as read_npy does; those of tensors return what read_safetensors does.
ARRAYS = {".npy": read_npy}
TENSORS = {".safetensors": read_safetensors}


def data_forms() -> str:
    """Returns the forms of data arguments: "a .safetensors file, a folder of .npy files, or NAME=FILE.npy"."""
    named = " or ".join(f"NAME=FILE{suffix}" for suffix in ARRAYS)
    return f"a {' or '.join(TENSORS)} file, a folder of {' or '.join(ARRAYS)} files, or {named}"
