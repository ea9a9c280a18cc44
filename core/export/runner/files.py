# SPDX-License-Identifier: 0BSD
"""Runs an exported model for all nodes, stage by stage, in batches. It needs PyTorch and NumPy, and this folder.

    python run.py --data graph.safetensors -o results
"""
import argparse
import ctypes
import difflib
import hashlib
import importlib.util
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import tokenize
import urllib.parse

import numpy as np
import torch

OWNED_ROWS = 1 << 20  # of edges per batch, unless --batch says otherwise
MOST_DESTINATIONS = 1 << 17
SAFETENSORS = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "I32": "int32",
               "U32": "uint32", "I64": "int64", "U64": "uint64", "F16": "float16", "BF16": "bfloat16",
               "F32": "float32", "F64": "float64", "C64": "complex64"}
# Of Python's parser, which NumPy gives the header of a file to.
UNREADABLE = (EOFError, LookupError, MemoryError, OSError, OverflowError, RecursionError, SyntaxError, TypeError, ValueError)


class Problem(Exception):
    """What is wrong with the inputs or the machine, as a sentence; `code` is the exit code."""

    def __init__(self, sentence, code=3):
        super().__init__(sentence)
        self.code = code


# ---- files


def storage_type(dtype):
    """NumPy has no bfloat16: its bits are kept in 16-bit integers."""
    return np.dtype("int16") if dtype == "bfloat16" else np.dtype(dtype)


def as_tensor(array, dtype=None):
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def read_safetensors(path):
    """The tensors of a .safetensors file, mapped."""
    header, begin, size = read_header(path)
    tensors, end = {}, 0
    entries = [(name, *place_of(path, name, entry, size)) for name, entry in header.items() if name != "__metadata__"]
    for name, first, last, shape, dtype in sorted(entries, key=lambda entry: entry[1:3]):
        if first < end:
            raise Problem(f"{path}: {name} overlaps another tensor")
        end = last
        tensors[name] = mapped(path, storage_type(dtype), begin + first, shape, dtype)
    return tensors


def read_header(path):
    """The header of the file, the offset of its tensors, and the number of their bytes."""
    if not os.path.isfile(path):
        raise Problem(f"{path}: is not a file")
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise Problem(f"{path}: is not a .safetensors file, or is truncated")
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            header = None
    if not isinstance(header, dict):
        raise Problem(f"{path}: is not a .safetensors file")
    return header, 8 + length, size - 8 - length


def place_of(path, name, entry, size):
    """First and last byte of a tensor, its shape and its dtype."""
    entry = entry if isinstance(entry, dict) else {}
    dtype = SAFETENSORS.get(str(entry.get("dtype")))
    shape, place = whole_numbers(entry.get("shape")), whole_numbers(entry.get("data_offsets"))
    if dtype is None:
        raise Problem(f"{path}: {name} has the dtype {entry.get('dtype')}, which is not supported")
    if shape is None or place is None or len(place) != 2:
        raise Problem(f"{path}: {name} has no shape or no place in the file")
    if place[1] - place[0] != math.prod(shape) * storage_type(dtype).itemsize:
        raise Problem(f"{path}: the shape of {name} does not match its size in the file")
    if place[1] > size:
        raise Problem(f"{path}: {name} lies beyond the end of the file")
    return *place, shape, dtype


def whole_numbers(value):
    """A list of numbers from 0 on, or None where it is none."""
    numbers = isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)
    return value if numbers else None


def mapped(path, dtype, offset, shape, name):
    if 0 in shape:
        return as_tensor(np.empty(shape, dtype), name)
    array = np.memmap(path, dtype, "c", offset, tuple(shape))
    if offset % dtype.itemsize:
        array = array.copy()
    return as_tensor(array, name)


def read_npy(path):
    if not os.path.isfile(path):
        raise Problem(f"{path}: is not a file")
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except (*UNREADABLE, tokenize.TokenError) as problem:
        raise Problem(f"{path}: is not a .npy file: {problem}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc":
        raise Problem(f"{path}: contains no numbers")
    return as_tensor(array if array.flags.c_contiguous else np.ascontiguousarray(array))


def read_data(words):
    """Tensors by name from .safetensors files, folders of .npy files and NAME=FILE.npy."""
    data = {}
    for word in words:
        path = pathlib.Path(word)
        name, _, file = word.partition("=")
        if path.is_dir():
            found = {entry.stem: read_npy(entry) for entry in sorted(path.glob("*.npy"))}
        elif path.suffix == ".npy" and path.is_file():
            raise Problem(f"{word}: a .npy file needs a name; write NAME={word}")
        elif path.is_file():
            found = read_safetensors(path)
        elif file and pathlib.Path(file).is_file():
            found = {name: read_npy(file)}
        else:
            raise Problem(f"{word}: there is no such file or folder")
        for key, tensor in found.items():
            if key in data:
                raise Problem(f"{key} is given twice")
            data[key] = tensor
    return data


def file_name(output):
    return urllib.parse.quote(output, safe="-_.~")


class Store:
    """A tensor in a file, written by rows. Outputs are .npy, or .safetensors where NumPy lacks the dtype."""

    def __init__(self, folder, name, dtype, shape, dim):
        self.dtype, self.dim, self.name = dtype, dim, name
        bare = dtype == "bfloat16"
        self.path = pathlib.Path(folder) / (file_name(name) + (".safetensors" if bare else ".npy"))
        try:
            self.array = self._safetensors(shape) if bare else self._npy(shape)
        except OSError as problem:
            raise Problem(f"{self.path}: cannot be written: {problem.strerror}", 6) from None
        self.tensor = as_tensor(self.array, dtype)

    def _npy(self, shape):
        if 0 in shape or not shape:
            return np.empty(shape, self.dtype)  # nothing that could be mapped
        array = np.lib.format.open_memmap(self.path, "w+", storage_type(self.dtype), shape=tuple(shape))
        reserve(self.path)
        return array

    def _safetensors(self, shape):
        size = int(np.prod(shape)) * 2
        header = {self.name: {"dtype": "BF16", "shape": list(shape), "data_offsets": [0, size]}}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(self.path, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + size)
        if 0 in shape:
            return np.empty(shape, "int16")
        reserve(self.path)
        return np.memmap(self.path, "int16", "r+", 8 + len(text), tuple(shape))

    def finish(self):
        if isinstance(self.array, np.memmap):
            self.array.flush()
        elif self.path.suffix == ".npy":
            np.save(self.path, self.array)

    def write(self, rows, values):
        """`rows`: a slice or the numbers of the rows."""
        place = (slice(None),) * self.dim + (rows,)
        self.tensor[place] = values.to("cpu")


def reserve(path):
    """Takes the blocks of a file now, so that a full disk is an error here and not a crash later."""
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.path.getsize(path))
