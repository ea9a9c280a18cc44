# SPDX-License-Identifier: 0BSD
"""Runs an exported model for all nodes, stage by stage, in batches. It needs PyTorch and NumPy, and this folder.

    python run.py --data graph.safetensors -o results
"""
from __future__ import annotations

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
import urllib.parse
from typing import Any

import numpy as np
import torch
from formats import ARRAYS, TENSORS, FormatError, read_npy, read_safetensors, storage_type

OWNED_ROWS = 1 << 20  # of edges per batch, unless --batch says otherwise
MOST_DESTINATIONS = 1 << 17


class Problem(Exception):
    """What is wrong with the inputs or the machine, as a sentence; `code` is the exit code."""

    def __init__(self, sentence, code=3):
        super().__init__(sentence)
        self.code = code


# ---- files


def as_tensor(array, dtype=None):
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def read_file(reader, path, *mode):
    if not os.path.isfile(path):
        raise Problem(f"{path}: is not a file")
    try:
        return reader(path, *mode)
    except (FormatError, OSError) as problem:
        raise Problem(f"{path}: {problem}") from None


def read_tensors(path):
    """The tensors of a file, by name."""
    arrays = read_file(TENSORS.get(path.suffix, read_safetensors), path)
    return {name: as_tensor(array, dtype) for name, (array, dtype) in arrays.items()}


def read_array(path):
    array = read_file(ARRAYS.get(path.suffix, read_npy), path, "c")
    return as_tensor(array if array.flags.c_contiguous else np.ascontiguousarray(array))


def read_data(words):
    """Tensors by name from the files of these arguments (data_forms)."""
    data = {}
    for word in words:
        path = pathlib.Path(word)
        name, _, file = word.partition("=")
        if path.is_dir():
            found = {entry.stem: read_array(entry) for entry in sorted(path.iterdir()) if entry.suffix in ARRAYS}
        elif path.suffix in ARRAYS and path.is_file():
            raise Problem(f"{word}: a {path.suffix} file needs a name; write NAME={word}")
        elif path.is_file():
            found = read_tensors(path)
        elif file and pathlib.Path(file).is_file():
            found = {name: read_array(pathlib.Path(file))}
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
