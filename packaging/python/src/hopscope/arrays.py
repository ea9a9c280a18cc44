"""Arrays on their way to the engine and back: flat keys, .safetensors files written directly from memory, and mapped
outputs."""

from __future__ import annotations

import errno
import json
import math
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy

from . import _formats
from .errors import InputError, ResourceError, sentence_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16",
    "float32": "F32", "float64": "F64", "bfloat16": "BF16",
}  # fmt: skip
_RELATION = "__"
_LAYOUTS = ("strided", "sparse_coo", "sparse_csr")
# Of the first array in a file, as LibTorch allocates: kernels read whole vectors of aligned rows.
_ALIGNMENT = 64


def is_torch(value: object) -> bool:
    """Returns whether an object is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    """Returns whether an object is a torch tensor or a NumPy array."""
    return is_torch(value) or isinstance(value, numpy.ndarray)


def key_text(key: object) -> str:
    """Returns the text for a key of a dict: ("user", "rates", "item") is "user__rates__item"."""
    return _RELATION.join(map(str, key)) if isinstance(key, tuple) else str(key)


def checked(name: str, array: Any) -> Any:
    """Returns the array. Raises InputError if its elements are no plain numbers in memory. Its layout must be dense,
    COO or CSR."""
    if not is_torch(array):
        if array.dtype.kind not in "biufc":
            raise InputError(f"'{name}' has the dtype {array.dtype}", "encode it as numbers, or leave it out")
        return array
    layout = "nested" if array.is_nested else str(array.layout).removeprefix("torch.")
    if layout not in _LAYOUTS:
        raise InputError(f"'{name}' has the layout {layout}", "use a dense, COO or CSR tensor")
    if array.is_quantized:
        raise InputError(f"'{name}' is quantized ({array.dtype})", "use dequantize()")
    if array.is_meta:
        raise InputError(f"'{name}' has no values: it is on the device meta", "make it on a real device")
    return array


def native(array: Any) -> Any:
    """Returns the array in the machine's byte order, which torch requires."""
    is_foreign = isinstance(array, numpy.ndarray) and not array.dtype.isnative
    return array.astype(array.dtype.newbyteorder("=")) if is_foreign else array


def flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields an array with its name, which is the engine's key for it. A sparse tensor has several parts and keys:
    `arg.coo_indices`, `arg.coo_values` and `arg.coo_size`, or `arg.csr_crow`, `arg.csr_col`, `arg.csr_values` and
    `arg.csr_size`."""
    if is_torch(value) and str(value.layout) != "torch.strided":
        yield from _sparse(name, value)
    else:
        yield name, value


def _sparse(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    size = numpy.array(value.shape, dtype=numpy.int64)
    layout = str(value.layout)
    if layout == "torch.sparse_coo":
        value = value.coalesce()
        yield f"{name}.coo_indices", value.indices()
        yield f"{name}.coo_values", value.values()
        yield f"{name}.coo_size", size
    elif layout == "torch.sparse_csr":
        yield f"{name}.csr_crow", value.crow_indices()
        yield f"{name}.csr_col", value.col_indices()
        yield f"{name}.csr_values", value.values()
        yield f"{name}.csr_size", size
    else:
        raise InputError(f"'{name}' has the layout {layout}", "use a dense, COO or CSR tensor")


def dtype_name(array: Any) -> str:
    """Returns the name of the dtype of an array, such as "float32" or "bfloat16"."""
    return str(array.dtype).removeprefix("torch.")


def extent(array: Any) -> int:
    """Returns the size of an array in bytes."""
    width = int(array.element_size() if is_torch(array) else array.dtype.itemsize)
    return int(math.prod(array.shape)) * width


def raw(array: Any) -> memoryview:
    """Returns the little-endian bytes of an array in C order: a view of the array if possible, otherwise a copy."""
    if is_torch(array):
        array = array.detach().resolve_conj().cpu().contiguous()
        if dtype_name(array) == "bfloat16":
            array = array.view(sys.modules["torch"].int16)
        array = array.numpy()
    array = numpy.ascontiguousarray(array)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return memoryview(little.reshape(-1).view(numpy.uint8))


def write(arrays: Mapping[str, Any], path: Path) -> None:
    """Writes a .safetensors file. Raises InputError if a dtype is not in `_NAMES`, or if the file cannot be written.
    Raises ResourceError if there is no room for it."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        if dtype_name(array) not in _NAMES:
            raise InputError(f"'{name}' has the dtype {dtype_name(array)}", "convert it to float32, int64 or the like")
        begin, end = end, end + extent(array)
        header[name] = {"dtype": _NAMES[dtype_name(array)], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    try:
        with path.open("wb") as file:
            _write_all(file, struct.pack("<Q", len(text)) + text, arrays)
    except OSError as problem:
        path.unlink(missing_ok=True)
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise ResourceError(
                f"{path.parent} has no room for {end:,} bytes of inputs", "name another folder with scratch="
            ) from problem
        raise InputError(
            f"{path}: cannot be written: {problem.strerror}", "name another folder with scratch="
        ) from problem


def _write_all(file: BinaryIO, head: bytes, arrays: Mapping[str, Any]) -> None:
    file.write(head)
    for array in arrays.values():
        file.write(raw(array))


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Maps a file of arrays with names; bfloat16 becomes its bits (int16)."""
    return {name: array for name, (array, _) in _read(path).items()}


def tensors(path: Path) -> dict[str, Any]:
    """Returns the arrays of a .safetensors file as tensors of torch in memory."""
    return {name: _tensor(numpy.array(array), dtype) for name, (array, dtype) in _read(path).items()}


def _read(path: Path) -> dict[str, tuple[Any, str]]:
    try:
        return _formats.TENSORS.get(path.suffix, _formats.read_safetensors)(path)
    except (OSError, _formats.FormatError) as problem:
        raise _unreadable(path, problem) from problem


def read_array(path: Path) -> NDArray[Any]:
    """Maps a file with one array, read-only if its format can be mapped."""
    try:
        array: NDArray[Any] = _formats.ARRAYS.get(path.suffix, _formats.read_npy)(path, "r")
    except (OSError, _formats.FormatError) as problem:
        raise _unreadable(path, problem) from problem
    return array


def _unreadable(path: Path, problem: Exception) -> InputError:
    if isinstance(problem, OSError) and problem.strerror:
        return InputError(f"cannot read {path}: {problem.strerror}", "check the path")
    return InputError(f"{path}: {sentence_of(problem)}", "write it again, or name another file")


def npy_file(array: object) -> Path | None:
    """Returns the .npy file that this array maps as a whole, read-only and in C order. None: there is none. The engine
    can read such a file itself."""
    if not isinstance(array, numpy.memmap) or not array.filename or not array.flags.c_contiguous:
        return None
    path = Path(array.filename)
    if path.suffix != ".npy" or array.mode != "r":
        return None
    whole = numpy.load(path, mmap_mode="r")
    same = whole.shape == array.shape and whole.dtype == array.dtype
    return path if same and whole.offset == array.offset else None


def load(path: Path, dtype: str, as_torch: bool) -> Any:
    """Maps an output of the engine copy-on-write: writing to it does not change the file. The map stays valid when the
    file is removed. If torch is not asked for, bfloat16 becomes float32 in memory."""
    if path.suffix == ".safetensors":
        (array,) = read(path).values()
    else:
        array = numpy.load(path, mmap_mode="c")
    if as_torch:
        return _tensor(array, dtype)
    if dtype == "bfloat16":
        return (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array


def _tensor(array: NDArray[Any], dtype: str) -> Any:
    import torch

    plain = numpy.asarray(array)
    if dtype == "bfloat16":
        return torch.from_numpy(plain.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(plain)
