"""Exporting a model and running what came out of it, for the tests."""
import importlib.util
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import numpy
import torch
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from engine_process import ENGINE, engine  # noqa: E402, F401
from tiers import one_in  # noqa: E402, F401

ROOT = Path(os.environ["HOPSCOPE_ROOT"])


class Wide(torch.nn.Module):
    """Its weights take more than everything else of an export."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(200, 200)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        rows = self.linear(x)
        return torch.zeros_like(rows).index_add(0, edge_index[1], rows[edge_index[0]])


def runner(folder):
    """The module run.py of an exported folder."""
    spec = importlib.util.spec_from_file_location("exported_run", Path(folder) / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(path):
    """The models of a list of the zoo: dictionaries of its fields."""
    lines = [dict(field.split("=", 1) for field in line.split("\t")) for line in Path(path).read_text().splitlines()]
    files = re.compile(r"model|data\d|expected\d")
    return [{key: str(ROOT / value) if files.fullmatch(key) else value for key, value in line.items()} for line in lines]


def difference(found, expected, tolerance):
    """Nothing where both agree, else a sentence. An element agrees within the tolerance, absolute and relative, or where
    rounding is amplified (a deviation from sums of squares, say) within a millionth of the tensor's largest number, as for
    the engine."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{tuple(found.shape)} {found.dtype} instead of {tuple(expected.shape)} {expected.dtype}"
    a, b = found.double(), expected.double()
    scale = b[b.isfinite()].abs().max() if b.isfinite().any() else 0
    if torch.isclose(a, b, tolerance, max(tolerance, 1e-6 * float(scale)), equal_nan=True).all():
        return ""
    return f"differs by up to {(a - b).abs().nan_to_num(float('inf')).max():.3g}"


def complaints(folder, graphs, scratch, batches=(7, None), tolerance=1e-5):
    """What is wrong with an exported folder: its Python and stages.pt, run in batches, on (data, expected) files."""
    run = runner(folder)
    found = []
    for stages, name in ((None, "python"), (torch.jit.load(str(Path(folder) / "stages.pt")), "stages.pt")):
        exported = run.Runner(folder, stages)
        for data, expected in graphs:
            inputs, wanted = run.read_data([data]), load_file(expected)
            for batch in batches:
                out = Path(scratch) / f"{name}-{batch}-{Path(data).stem}"
                out.mkdir(parents=True)
                made = exported.run(inputs, out, batch=batch)
                problems = differences(made, wanted, tolerance)
                found += [f"{name}, {Path(data).name}, batch {batch}: {problem}" for problem in problems]
    return found


def arrays(folder):
    """The outputs that run.py left in a folder."""
    found = {unquote(file.stem): torch.from_numpy(numpy.load(file)) for file in Path(folder).glob("*.npy")}
    for file in Path(folder).glob("*.safetensors"):
        found.update(load_file(file))
    return found


def differences(found, expected, tolerance):
    """What is wrong with outputs by name, as a list of sentences."""
    if set(found) != set(expected):
        return [f"{sorted(found)} instead of {sorted(expected)}"]
    problems = {name: difference(found[name], value, tolerance) for name, value in expected.items()}
    return [f"{name} {problem}" for name, problem in problems.items() if problem]


def graphs_of(case):
    """The graphs of a case as (data, expected)."""
    return [(case[f"data{n}"], case[f"expected{n}"]) for n in range(10) if f"data{n}" in case]
