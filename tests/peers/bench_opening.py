#!/usr/bin/env python3
"""bench_opening.py ENGINE [NODES] [TIMES]: how long `ENGINE inspect` takes to open one module as a trace (.pt) and as an exported program (.pt2).

The module has NODES (10,000) row-wise operators and one aggregation. The two files are opened alternately, TIMES (5) times each; the table shows
medians and ranges of the CPU seconds (user and system) and of the clock.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch


class Long(torch.nn.Module):
    """Row-wise operators, half of them before and half of them after one aggregation."""

    def __init__(self, nodes):
        super().__init__()
        self.pairs = nodes // 4

    def rows(self, x):
        for _ in range(self.pairs):
            x = torch.relu(x * 0.5)
        return x

    def forward(self, x, edge_index):
        x = self.rows(x)
        return self.rows(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]))


def files(folder, nodes):
    """The module, traced and exported for any number of nodes and edges."""
    module, inputs = Long(nodes).eval(), (torch.randn(20, 4), torch.randint(20, (2, 60)))
    traced, exported = folder / "long.pt", folder / "long.pt2"
    torch.jit.trace(module, inputs).save(traced)
    sizes = {"x": {0: torch.export.Dim("n", min=2)}, "edge_index": {1: torch.export.Dim("e", min=2)}}
    program = torch.export.export(module, inputs, dynamic_shapes=sizes)
    torch.export.save(program, exported)
    print(f"{len(program.graph.nodes):,} nodes; .pt {traced.stat().st_size / 1e6:.2f} MB, .pt2 {exported.stat().st_size / 1e6:.2f} MB")
    return traced, exported


def opened(engine, file):
    """Opens the file; returns its seconds of CPU and of the clock."""
    began = time.monotonic()
    process = subprocess.Popen([engine, "inspect", file, "--trust"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{file.name}: inspect ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - began


def main(engine, nodes=10_000, times=5):
    """Prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        both = files(Path(folder), int(nodes))
        rows = {file: [] for file in both}
        for _ in range(int(times)):
            for file in both:
                rows[file].append(opened(engine, file))
    print("| file | CPU time | clock |\n|---|---|---|")
    for file, measured in rows.items():
        cells = [f"{statistics.median(one):.2f} s ({min(one):.2f} to {max(one):.2f})" for one in zip(*measured, strict=True)]
        print(f"| `{file.suffix}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
