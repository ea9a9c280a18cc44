"""The two Triton kernels of the peers on a GPU: attention on CSR without rows on edges, and a gather in which the device
reads pinned host memory (zero-copy: Triton accepts a pinned tensor, since the device can read it).

They have not run on a GPU yet. With Triton 3.9 they equal csr_layers.attend and indexing in the interpreter
(TRITON_INTERPRET=1). The attention compiles for compute capabilities 8.0 and 9.0; the gather was compiled for 9.0 only.
"""
import torch
import triton
import triton.language as tl

EDGES = 32  # that one program loads together: rows of hubs are read in turns of as many


@triton.jit
def _attend(offsets, columns, source, target, wide, out, slope, HEADS: tl.constexpr, WIDTH: tl.constexpr,
            LANES: tl.constexpr, EDGES: tl.constexpr):
    """One destination and head: softmax and weighted sum in one walk over its edges."""
    node, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lanes = tl.arange(0, LANES)
    begin, end = tl.load(offsets + node), tl.load(offsets + node + 1)
    own = tl.load(target + node * HEADS + head)
    top = tl.full([1], float("-inf"), tl.float32)
    total = tl.zeros([1], tl.float32)
    mean = tl.zeros([LANES], tl.float32)
    for first in range(begin, end, EDGES):
        at = first + tl.arange(0, EDGES)
        there = at < end
        row = tl.load(columns + at, mask=there, other=0).to(tl.int64) * HEADS + head
        score = tl.load(source + row, mask=there, other=0.0) + own
        score = tl.where(there, tl.where(score > 0, score, score * slope), float("-inf"))
        higher = tl.maximum(top, tl.max(score, 0))
        share = tl.exp(score - higher)
        taken = tl.load(wide + row[:, None] * WIDTH + lanes[None, :],
                        mask=there[:, None] & (lanes < WIDTH)[None, :], other=0.0)
        mean = mean * tl.exp(top - higher) + tl.sum(share[:, None] * taken, 0)
        total = total * tl.exp(top - higher) + tl.sum(share, 0)
        top = higher
    tl.store(out + (node * HEADS + head) * WIDTH + lanes, mean / total, mask=lanes < WIDTH)


@triton.jit
def _gather(table, numbers, out, WIDTH: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)
    taken = tl.load(table + tl.load(numbers + row).to(tl.int64) * WIDTH + lanes, mask=lanes < WIDTH)
    tl.store(out + row * WIDTH + lanes, taken, mask=lanes < WIDTH)


def attend(block, source, target, wide, slope):
    """csr_layers.attend on the device."""
    heads, width = wide.shape[1:]
    out = wide.new_empty(target.shape[0], heads, width)
    _attend[(target.shape[0], heads)](block.offsets, block.columns, source.contiguous(), target.contiguous(), wide, out,
                                      slope, HEADS=heads, WIDTH=width, LANES=triton.next_power_of_2(width), EDGES=EDGES,
                                      num_warps=1)
    return out


def gather(table, numbers):
    """The rows `numbers` (on the device) of a pinned table on the host, on the device."""
    out = torch.empty(numbers.shape[0], table.shape[1], device=numbers.device)
    if numbers.shape[0] > 0:
        _gather[(numbers.shape[0],)](table, numbers, out, WIDTH=table.shape[1],
                                     LANES=triton.next_power_of_2(table.shape[1]), num_warps=1)
    return out
