"""Hopscope: full-graph inference for graph neural networks, layer by layer, verified against the model itself.

    result = hopscope.inference(model, data)
    result.output, result.verdict

The help of each function and class describes its arguments and attributes; docs/reference/python.md has the same text.
"""

from . import _failures, debug
from ._engine import Engine, engine
from ._failures import *  # noqa: F403
from ._inference import Inference, inference, run
from ._table import Table
from ._version import __version__
from .commands import devices, plan, trust, verify
from .commands import inspect as inspect
from .comparing import ComparedOutput, Comparison, compare
from .documents import Cut, Device, Devices, Inspection, Lint, Operator, Plan, Stage, Value
from .errors import HopscopeError
from .exporting import Export, Exported, export, load
from .flow import Block, Edges, Layer, LayeredFlow, Nodes
from .reports import Compared, NotFinite, OperatorRun, Report, StageRun, Verification
from .saving import Saved, export_program, save
from .window import Window
from .window import open as open

__all__ = [  # without open and inspect, which are names of Python: hopscope.open, hopscope.inspect
    "Block",
    "Compared",
    "ComparedOutput",
    "Comparison",
    "Cut",
    "Device",
    "Devices",
    "Edges",
    "Engine",
    "Export",
    "Exported",
    "HopscopeError",
    "Inference",
    "Inspection",
    "Layer",
    "LayeredFlow",
    "Lint",
    "Nodes",
    "NotFinite",
    "Operator",
    "OperatorRun",
    "Plan",
    "Report",
    "Saved",
    "Stage",
    "StageRun",
    "Table",
    "Value",
    "Verification",
    "Window",
    "__version__",
    "compare",
    "debug",
    "devices",
    "engine",
    "export",
    "export_program",
    "inference",
    "load",
    "plan",
    "run",
    "save",
    "trust",
    "verify",
]
__all__ += _failures.__all__
