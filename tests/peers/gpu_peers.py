"""What bench_gpu.py runs beside the engine: one measurement of one peer, on the GPU, or on the CPU if torch finds none.

    gpu_peers.py NAME MODEL FOLDER BEGAN BATCH MEMORY     prints one line of JSON

  coo        PyG on the whole graph: forward(x, edge_index)
  csr        the same with a torch.sparse matrix in CSR format, made beforehand
  edgeindex  the same with an EdgeIndex, its caches filled beforehand
  compile    coo under torch.compile; left out on a CPU, where compiling takes 10 to 20 seconds
  expert     layers written by hand (csr_layers.py): sparse products, and for GAT a Triton kernel, replaced by segment
             operators on a CPU
  loop-host  the expert's layers one after the other, BATCH destinations at a time: the host makes their blocks and
             gathers rows into pinned memory, which the GPU copies
  loop-uva   the same with the graph on the GPU, which makes the blocks and reads rows in pinned host memory itself
             (zero-copy); on a CPU it is the same as loop-host

Clocks, in seconds: `process`, from BEGAN (the system's clock, before the process was started) to the first output in a
file; `host`, a second inference, from inputs in host memory to the output there: the graph has the form that the peer
wants, and tables of loops are pinned; `device`, a third one, with inputs and output on the GPU; loops have none.
`peak`: bytes of tensors on the GPU by the end of the first inference; on a CPU, of the process. MEMORY: bytes that
tensors on the GPU may take, 0 for all.

None of this has run on a GPU yet. On a CPU test_gpu_peers.py compares all peers with PyG's forward.
"""
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import csr_layers
import numpy
import peers
import torch
from csr_layers import Block
from torch import Tensor

WHOLE = ("coo", "csr", "edgeindex", "compile")  # PyG's
LOOPS = ("loop-host", "loop-uva")
NAMES = (*WHOLE, "expert", *LOOPS)


class Peer(NamedTuple):
    """`run` makes the output from the tensors `held` on the host; if `resident`, on the device, from copies there."""
    held: tuple
    run: Callable[..., Tensor]
    resident: bool


# ---- peers


def pyg(name: str, model: str, folder: Path, device: torch.device) -> Peer:
    network = peers.pyg_model(model).to(device)
    x, edges = peers.inputs(folder)
    if name == "csr":
        edges = peers.adjacency(edges, x.shape[0])
    elif name == "edgeindex":
        from torch_geometric import EdgeIndex
        edges = EdgeIndex(edges, sparse_size=(x.shape[0], x.shape[0]), sort_order="col").fill_cache_()
    elif name == "compile":
        network = torch.compile(network)
    return Peer((x, edges, *peers.attributes(model, folder)), network, True)


def expert(model: str, weights: dict, x: Tensor, graph: Block) -> Peer:
    def run(h: Tensor, *parts: Tensor) -> Tensor:
        for k in range(peers.LAYERS):
            h = csr_layers.layer(model, weights, k, h, h, Block(*parts))
        return h
    return Peer((x, *graph), run, True)


def loop(name: str, model: str, weights: dict, x: Tensor, graph: Block, batch: int) -> Peer:
    device = next(iter(weights.values())).device
    where = device if name == "loop-uva" else torch.device("cpu")
    x = x.pin_memory() if device.type == "cuda" else x

    def run(h: Tensor, *parts: Tensor) -> Tensor:
        whole = Block(*parts).to(where)
        for k in range(peers.LAYERS):
            width = peers.CLASSES if k == peers.LAYERS - 1 else peers.HIDDEN
            h = computed(partial(csr_layers.layer, model, weights, k), h, whole, width, batch, device)
        return h
    return Peer((x, *graph), run, False)


def computed(apply: Callable, h: Tensor, whole: Block, width: int, batch: int, device: torch.device) -> Tensor:
    """One layer of all nodes in batches, from a table on the host to another; blocks are made where the graph lies."""
    out = torch.empty(h.shape[0], width, pin_memory=device.type == "cuda")
    for first in range(0, h.shape[0], batch):
        offsets = whole.offsets[first:first + batch + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        needed, columns = torch.unique(whole.columns[begin:end], return_inverse=True)
        block = Block(offsets - begin, columns.int(), whole.weights[begin:end]).to(device)
        own = h[first:first + batch].to(device, non_blocking=True)
        out[first:first + batch].copy_(apply(gathered(h, needed, device), own, block), non_blocking=True)
    synchronise()
    return out


def gathered(h: Tensor, needed: Tensor, device: torch.device) -> Tensor:
    """Rows of a table on the host, by numbers that lie on the host or on the device."""
    if needed.is_cuda:
        import triton_kernels
        return triton_kernels.gather(h, needed)
    rows = torch.empty(needed.shape[0], h.shape[1], pin_memory=device.type == "cuda")
    return torch.index_select(h, 0, needed, out=rows).to(device, non_blocking=True)


def made(name: str, model: str, folder: Path, batch: int, device: torch.device) -> Peer:
    if name in WHOLE:
        return pyg(name, model, folder, device)
    weights = {key: value.to(device) for key, value in torch.load(folder / f"{model}.weights.pt").items()}
    x, edges = peers.inputs(folder)
    graph = csr_layers.structure(model, edges, x.shape[0])
    return expert(model, weights, x, graph) if name == "expert" else loop(name, model, weights, x, graph, batch)


# ---- one measurement


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def timed(work: Callable, *inputs: Tensor) -> float:
    synchronise()
    began = time.perf_counter()
    work(*inputs)
    synchronise()
    return time.perf_counter() - began


def measure(name: str, model: str, folder: Path, began: float, batch: int, memory: int) -> dict:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu" and name == "compile":
        return {"missing": "torch.compile is left out on a CPU, where compiling takes 10 to 20 seconds"}
    if device.type == "cuda" and memory:
        torch.cuda.set_per_process_memory_fraction(min(memory / torch.cuda.get_device_properties(0).total_memory, 1.0))
    peer = made(name, model, folder, batch, device)

    def from_host(*inputs: Tensor) -> Tensor:
        return peer.run(*(each.to(device) for each in inputs)).cpu() if peer.resident else peer.run(*inputs)

    with torch.no_grad():
        numpy.save(folder / f"{model}.{name}.npy", from_host(*peer.held).numpy())
        taken = {"process": time.time() - began,
                 "peak": torch.cuda.max_memory_allocated() if device.type == "cuda" else peers.peak()}
        taken |= {"host": timed(from_host, *peer.held)}
        if peer.resident:
            taken |= {"device": timed(peer.run, *(each.to(device) for each in peer.held))}
    return taken


def main() -> None:
    warnings.filterwarnings("ignore")
    name, model, folder, began, batch, memory = sys.argv[1:]
    print(json.dumps(measure(name, model, Path(folder), float(began), int(batch), int(memory))))


if __name__ == "__main__":
    main()
