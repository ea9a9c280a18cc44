"""What the malformed cases are made with: a sound model and a sound graph, and the writers that lie on demand."""
import json
import os
import struct
from dataclasses import dataclass
from typing import Callable

import numpy as np
import torch
from torch import Tensor, nn

NODES, EDGES, FEATURES, CLASSES = 19, 61, 5, 3
DTYPES = {"float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "int32": "I32", "bool": "BOOL",
          "uint8": "U8", "int8": "I8", "int16": "I16"}
CASES = []


@dataclass
class Case:
    name: str
    prepare: Callable                 # (workshop) -> arguments of `run`
    code: int                         # exit code
    names: tuple = ()                 # parts of the error's sentence, enough to tell it from others; "a|b": one of the two
    keeps_out: bool = False           # the output path existed before


def case(name, code, *names, **options):
    if (code == 0) == any(" " in part for part in names):
        raise ValueError(f"{name}: a refusal has a part of a sentence, a right answer has none")

    def register(prepare):
        CASES.append(Case(name, prepare, code, names, **options))
        return prepare

    return register


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(FEATURES, 8), nn.Linear(8, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x).relu()
        for _ in range(2):
            h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).tanh() + h
        return self.out(h)


class Weighted(Net):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        h = self.inp(x).relu()
        message = h[edge_index[0]] * edge_weight.unsqueeze(1)
        return self.out(torch.zeros_like(h).index_add(0, edge_index[1], message))


def tensor_bytes(array):
    return np.ascontiguousarray(array).tobytes()


def header_of(arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        size = array.nbytes
        header[name] = {"dtype": DTYPES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    return header


class Workshop:
    """One case's folder."""

    def __init__(self, folder):
        self.folder, self.out, self.expected = folder, os.path.join(folder, "out"), None
        torch.manual_seed(5)
        self.net, self.weighted = Net().eval(), Weighted().eval()

    def path(self, name):
        return os.path.join(self.folder, name)

    def graph(self, nodes=NODES, edges=EDGES, seed=6):
        g = np.random.default_rng(seed)
        index = g.integers(0, max(nodes, 1), (2, edges)).astype(np.int64)
        return {"x": g.standard_normal((nodes, FEATURES)).astype(np.float32), "edge_index": index}

    def weighted_graph(self):
        data = self.graph()
        return {**data, "edge_weight": np.random.default_rng(7).random(EDGES).astype(np.float32)}

    def model(self, weighted=False, name="model.pt"):
        torch.jit.script(self.weighted if weighted else self.net).save(self.path(name))
        return self.path(name)

    def answer(self, data, net=None):
        """Asks for the answer that eager PyTorch gives."""
        keys = [k for k in ("x", "edge_index", "edge_weight") if k in data]
        inputs = [torch.from_numpy(np.ascontiguousarray(data[k])) for k in keys]
        with torch.no_grad():
            self.expected = (net or (self.weighted if len(inputs) == 3 else self.net))(*inputs).numpy()

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def text_file(self, name):
        return self.write(name, b"nodes,edges\n19,61\nthis is a table, not a tensor\n" * 20)

    def safetensors(self, arrays, name="graph.safetensors", header=None, size=None, cut=0, body=b""):
        """A .safetensors file; `header`, `size` and `cut` make it lie."""
        text = header if isinstance(header, bytes) else json.dumps(header or header_of(arrays)).encode()
        content = struct.pack("<Q", len(text) if size is None else size) + text
        content += b"".join(tensor_bytes(a) for a in arrays.values()) + body
        return self.write(name, content[:len(content) - cut])

    def npy(self, name, array, version=None, header=None):
        """A .npy file, or one with the given header text in front of the array's bytes."""
        if header is not None:
            text = header.encode("latin1") + b" " * (-(10 + len(header) + 1) % 64) + b"\n"
            return self.write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + tensor_bytes(array))
        with open(self.path(name), "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        return self.path(name)

    def run(self, data, weighted=False, **lies):
        """Arguments for a sound model on `data`."""
        return [self.model(weighted), "--data", self.safetensors(data, **lies)]

    def run_npy(self, x, index=None):
        """Arguments with x and edge_index as single .npy files, given by path or as arrays."""
        data = self.graph()
        index = data["edge_index"] if index is None else index
        x = x if isinstance(x, str) else self.npy("x.npy", x)
        index = index if isinstance(index, str) else self.npy("edge_index.npy", index)
        return [self.model(), "--data", f"x={x}", "--data", f"edge_index={index}"]
