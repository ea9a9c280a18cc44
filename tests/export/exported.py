"""Exporting a model and running what came out of it, for the tests."""
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

ENGINE = os.environ["HOPSCOPE_ENGINE"]
ROOT = Path(os.environ["HOPSCOPE_ROOT"])

# run.py with everything but torch, numpy and the standard library out of reach.
ALONE = """
import importlib.abc, runpy, sys
class Wall(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("safetensors", "torch_geometric", "scipy", "pandas", "hopscope", "tqdm"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Wall())
script = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(script, run_name="__main__")
"""


def engine(*arguments, timeout=300):
    words = [ENGINE, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False)


def alone(*arguments, timeout=300):
    """run.py as a user starts it who has nothing but torch and numpy."""
    words = [sys.executable, "-c", ALONE, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False)


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
    """What is wrong with an exported folder: its stages.py and stages.pt, run in batches, on (data, expected) files."""
    run = runner(folder)
    found = []
    for stages, name in ((None, "stages.py"), (torch.jit.load(str(Path(folder) / "stages.pt")), "stages.pt")):
        exported = run.Runner(folder, stages)
        for data, expected in graphs:
            inputs, wanted = run.read_data([data]), load_file(expected)
            for batch in batches:
                out = Path(scratch) / f"{name}-{batch}-{Path(data).stem}"
                out.mkdir(parents=True)
                made = exported.run(inputs, out, batch=batch)
                if set(made) != set(wanted):
                    found.append(f"{name}: {sorted(made)} instead of {sorted(wanted)}")
                    continue
                for key, value in wanted.items():
                    problem = difference(made[key], value, tolerance)
                    if problem:
                        found.append(f"{name}, {Path(data).name}, batch {batch}: {key} {problem}")
    return found


def graphs_of(case):
    """The graphs of a case as (data, expected)."""
    return [(case[f"data{n}"], case[f"expected{n}"]) for n in range(10) if f"data{n}" in case]
