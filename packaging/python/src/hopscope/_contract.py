# Written by tools/contract from the table in core/base/settings.h.
"""The settings of the engine's commands: their names, values, defaults and meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._options import Count, DeviceName, Flag, Folder, Patterns, Seconds, Setting, Size

if TYPE_CHECKING:
    import torch

SETTINGS = (
    Setting(
        "strategy", "Choice", "optimal", ("optimal", "local-search", "depth", "source-rule"), most=0, of_search=True,
        meaning="How cuts are chosen",
    ),
    Setting(
        "objective", "Choice", "time", ("time", "bytes"), most=0, of_search=True,
        meaning="Cost that the search for a plan minimises",
    ),
    Setting(
        "stages", "Count", None, (), most=1000, of_search=True,
        meaning="Maximum number of stages in the search for a plan",
    ),
    Setting(
        "deadline", "Seconds", None, (), most=0, of_search=True,
        meaning="Time limit of the optimisation in seconds; the best plan found by then is used",
    ),
    Setting(
        "device", "DeviceName", "auto", (), most=0, of_search=False,
        meaning="Device: auto, cpu, cuda, cuda:N, or several: cuda:0,cuda:1",
    ),
    Setting(
        "memory", "Size", None, (), most=0, of_search=False,
        meaning="Memory limit of the device, of each of several",
    ),
    Setting(
        "host_memory", "Size", None, (), most=0, of_search=False,
        meaning="Limit of the values stored between stages; each is freed after its last use",
    ),
    Setting(
        "batch", "Count", None, (), most=0, of_search=False,
        meaning="Destination nodes per batch",
    ),
    Setting(
        "threads", "Count", None, (), most=4096, of_search=False,
        meaning="CPU cores to use",
    ),
    Setting(
        "fuse", "Patterns", "all", ("all", "none", "chain", "softmax", "several"), most=0, of_search=False,
        meaning="Patterns to fuse into one pass over the edges",
    ),
    Setting(
        "reassociate", "Flag", False, (), most=0, of_search=False,
        meaning="Multiply by weights before gathers, sums and concatenations where that saves work; rounding changes",
    ),
    Setting(
        "store", "Choice", "exact", ("exact", "float32", "bfloat16", "float16"), most=0, of_search=False,
        meaning="Type of the values stored between stages",
    ),
    Setting(
        "reorder", "Choice", "auto", ("auto", "none", "rcm", "degree", "community"), most=0, of_search=False,
        meaning="Order in which nodes are computed",
    ),
    Setting(
        "cache", "Folder", None, (), most=0, of_search=False,
        meaning="Keep adjacencies and node orders in this folder for later runs on the same edges",
    ),
    Setting(
        "verify", "Choice", "sample", ("sample", "full", "none"), most=0, of_search=False,
        meaning="Rows to compare with the model's own forward",
    ),
    Setting(
        "nan", "Choice", "propagate", ("propagate", "refuse"), most=0, of_search=False,
        meaning="Treatment of NaN or infinite inputs",
    ),
    Setting(
        "resume", "Flag", False, (), most=0, of_search=False,
        meaning="Keep a journal in the output folder and resume an interrupted run found there; results are bit-identical",
    ),
)

DEFAULTS: dict[str, dict[str, Any]] = {
    "plan": {
        "strategy": "optimal",
        "objective": "time",
        "stages": None,
        "deadline": None,
        "device": "auto",
        "memory": None,
        "host_memory": None,
        "batch": None,
        "threads": None,
        "fuse": "all",
        "reassociate": False,
        "store": "exact",
    },
    "run": {
        "strategy": "optimal",
        "objective": "time",
        "stages": None,
        "deadline": None,
        "device": "auto",
        "memory": None,
        "host_memory": None,
        "batch": None,
        "threads": None,
        "fuse": "all",
        "reassociate": False,
        "store": "exact",
        "reorder": "auto",
        "cache": None,
        "verify": "sample",
        "nan": "propagate",
        "resume": False,
    },
    "verify": {
        "strategy": "optimal",
        "objective": "time",
        "stages": None,
        "deadline": None,
        "device": "auto",
        "memory": None,
        "host_memory": None,
        "batch": None,
        "threads": None,
        "fuse": "all",
        "reassociate": False,
        "verify": "sample",
    },
    "export": {
        "strategy": "optimal",
        "objective": "bytes",
        "stages": None,
        "deadline": None,
        "device": "auto",
        "memory": None,
        "host_memory": None,
        "batch": None,
        "threads": None,
        "fuse": "all",
    },
}


class PlanSettings(TypedDict, total=False):
    strategy: Literal["optimal", "local-search", "depth", "source-rule"] | None
    objective: Literal["time", "bytes"] | None
    stages: Count
    deadline: Seconds
    device: DeviceName
    memory: Size
    host_memory: Size
    batch: Count
    threads: Count
    fuse: Patterns
    reassociate: Flag
    store: Literal["exact", "float32", "bfloat16", "float16"] | torch.dtype | None


class RunSettings(TypedDict, total=False):
    strategy: Literal["optimal", "local-search", "depth", "source-rule"] | None
    objective: Literal["time", "bytes"] | None
    stages: Count
    deadline: Seconds
    device: DeviceName
    memory: Size
    host_memory: Size
    batch: Count
    threads: Count
    fuse: Patterns
    reassociate: Flag
    store: Literal["exact", "float32", "bfloat16", "float16"] | torch.dtype | None
    reorder: Literal["auto", "none", "rcm", "degree", "community"] | None
    cache: Folder
    verify: Literal["sample", "full", "none"] | bool | None
    nan: Literal["propagate", "refuse"] | None
    resume: Flag


class VerifySettings(TypedDict, total=False):
    strategy: Literal["optimal", "local-search", "depth", "source-rule"] | None
    objective: Literal["time", "bytes"] | None
    stages: Count
    deadline: Seconds
    device: DeviceName
    memory: Size
    host_memory: Size
    batch: Count
    threads: Count
    fuse: Patterns
    reassociate: Flag
    verify: Literal["sample", "full", "none"] | bool | None


class ExportSettings(TypedDict, total=False):
    strategy: Literal["optimal", "local-search", "depth", "source-rule"] | None
    objective: Literal["time", "bytes"] | None
    stages: Count
    deadline: Seconds
    device: DeviceName
    memory: Size
    host_memory: Size
    batch: Count
    threads: Count
    fuse: Patterns
