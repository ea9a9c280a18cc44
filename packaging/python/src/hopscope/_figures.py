# Written by tools/contract from the table in core/plan/figures.h.
"""The figures of a stage that has run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StageFigures:
    """The figures of a stage, as docs/reference/format-report.md defines them.

    Attributes:
        seconds (float): Duration.
        phases (dict[str, float]): Seconds. On a GPU batches overlap, and the phases can add up to more than
            the duration of the stage. The cores of a CPU that compute tiles side by side count together: a
            second of each of two cores is one second.
        batches (int): Their number; tiles count as batches.
        smallest_batch (int): Destinations.
        largest_batch (int): Destinations.
        destinations (int): Sum over the batches.
        frontier_rows (int): Sum over the batches.
        bytes (dict[str, int]): Numbers of rows along an adjacency count 4 bytes each where 32 bits are
            enough. On a CPU, reads from and writes to stores are counted in the same way; a table that tiles
            read in place counts once per loop.
        peak_memory (int): Maximum number of bytes allocated for tensors on the device.
        overlap (float | None): On a GPU: the time during which it copied and computed simultaneously, as a
            share (0 to 1) of the shorter of the two; with less copying than computation, 0.92 means that 92 %
            of the copying was hidden behind computation. Null on a CPU, where nothing is copied.
        reserved_memory (int | None): On a GPU: maximum number of bytes that the allocator reserved from the
            driver, including its cache; null on a CPU.
        core_seconds (float | None): Total time that all cores of the CPU worked for the program during the
            stage.
        back_offs (int): Batches that ran out of memory and were repeated, with fewer rows or while no other
            batch ran.
        windows (int): Where tables and results did not fit into the memory of a CPU: the windows in which the
            loops were computed; 0 elsewhere.
        file_bytes (int): Bytes that these windows read from files.
        host_reads (int): On a GPU: bytes of rows that kernels read from pinned memory of the host.
    """

    seconds: float
    phases: dict[str, float]
    batches: int
    smallest_batch: int
    largest_batch: int
    destinations: int
    frontier_rows: int
    bytes: dict[str, int]
    peak_memory: int
    overlap: float | None = None
    reserved_memory: int | None = None
    core_seconds: float | None = None
    back_offs: int
    windows: int = 0
    file_bytes: int = 0
    host_reads: int = 0
