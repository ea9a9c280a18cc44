"""Training and writing, shared by the sample generators."""

import pickletools
import re
import struct
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.nn import functional as F

# With one thread the same sums are made in the same order, on every machine with the same vector units.
torch.set_num_threads(1)


def train(model, graph, labels, train_mask, steps=200, rate=0.01):
    """Full-graph training; the model comes back ready for inference."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=5e-4)
    for _ in range(steps):
        model.train()
        optimiser.zero_grad()
        out = model(graph["x"], graph["edge_index"])
        F.cross_entropy(out[train_mask], labels[train_mask]).backward()
        optimiser.step()
    return model.eval()


def write_graph(folder, graph):
    save_file({key: value.contiguous() for key, value in graph.items()}, str(Path(folder) / "graph.safetensors"))


def without_local_folders(pickle):
    """A record of source lines, with the folders cut off that only this machine has.

    Inside the texts of stack frames the space is kept, at the end of the line, because the record counts offsets.
    """
    local = re.compile(re.escape(f"{Path(__file__).resolve().parents[1]}/") + r"|^/.*/site-packages/")
    parts, done = [], 0
    for opcode, text, start in pickletools.genops(pickle):
        if opcode.name == "BINUNICODE":
            short = local.sub("", text)
            if text.endswith("\n"):
                short = short[:-1].ljust(len(text) - 1) + "\n"
            parts += [pickle[done:start], b"X", struct.pack("<I", len(short.encode())), short.encode()]
            done = start + 5 + len(text.encode())
    return b"".join(parts) + pickle[done:]


def save_portably(traced, path):
    """Saves a traced module so that its source lines name this project's files, not this machine's folders."""
    traced.save(path)
    reader = torch._C.PyTorchFileReader(path)
    records = {name: reader.get_record(name) for name in reader.get_all_records()}
    del reader
    writer = torch._C.PyTorchFileWriter(path)
    for name, data in records.items():
        if name not in ("version", ".data/serialization_id"):
            data = without_local_folders(data) if name.endswith(".debug_pkl") else data
            writer.write_record(name, data, len(data))
    writer.write_end_of_file()


def write_model(folder, name, model, graph):
    """NAME.pt, traced, and NAME.expected.safetensors: what the model itself answers for this graph."""
    inputs = (graph["x"], graph["edge_index"])
    with torch.inference_mode():
        out = model(*inputs)
    traced = torch.jit.trace(model, inputs, check_trace=False)
    save_portably(traced, str(Path(folder) / f"{name}.pt"))
    save_file({"out": out.contiguous()}, str(Path(folder) / f"{name}.expected.safetensors"))
    return out


def accuracy(out, labels, mask):
    return (out.argmax(1) == labels)[mask].float().mean().item()
