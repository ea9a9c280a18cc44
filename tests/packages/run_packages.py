"""Runs models of public packages, unmodified, through hopscope.inference, and compares them with their own forward.

Usage: run_packages.py --into DIR [--page docs/reference/coverage-packages.md] [NAME]...
Each package is installed from PyPI into DIR/NAME, an environment of its own that sees the packages of the Python that runs this
(torch, PyG); DIR takes some 4 GB, and torch-scatter is compiled, which takes a quarter of an hour on one core. What is there already
stays. HOPSCOPE_ENGINE names the engine, as for the package. No test runs this: it depends on what PyPI has.
"""
import argparse
import json
import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "packaging/python/src"


@dataclass(frozen=True)
class Package:
    """`alone` are installed without their dependencies, which would bring another torch or gigabytes that no model needs; `others` are
    those that the models import, with their own dependencies; `compiled` are built with the installed torch."""

    alone: tuple[str, ...]
    others: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()


PACKAGES = {
    "chemprop": Package(("chemprop", "descriptastorus", "pandas-flavor", "xarray"),
                        ("lightning", "rdkit", "configargparse", "rich", "multiprocess", "six", "cuik-molmaker-pin", "astartes", "myerson")),
    "matgl": Package(("matgl",), ("lightning", "pydantic", "ase", "pymatgen-core", "huggingface-hub", "boto3", "torchdata")),
    "anemoi-models": Package(("anemoi-models", "anemoi-graphs"), ("anemoi-utils", "einops", "hydra-core")),
    "schnetpack": Package(("schnetpack",), ("ase", "h5py", "hydra-core", "torchmetrics", "pytorch-lightning", "fasteners", "dirsync",
                                            "torch-ema", "matscipy", "hydra-colorlog", "rich", "tensorboard", "tensorboardX")),
    "nvidia-physicsnemo": Package(("nvidia-physicsnemo",),
                                  ("einops", "gitpython", "h5py", "importlib-metadata", "jaxtyping", "nvtx", "omegaconf", "tensordict",
                                   "termcolor", "timm", "treelib", "warp-lang", "cftime", "s3fs"), ("torch-scatter",)),
    "torch-geometric-temporal": Package(("torch-geometric-temporal",), ("decorator", "six")),
    "ogb": Package(("ogb",), ("six", "outdated")),
}
PAGE = """# Packages

`tests/packages/run_packages.py` writes this page. It builds models of public packages as their own documentation does,
with weights drawn from a seed and data made in the package's own way: a small graph, and one of some 2,000 nodes. It
passes them unchanged to `hopscope.inference(model, data)`, without `roles=`.

`equal` means that the verification of all rows and the comparison with the module's
own `forward` agree; the difference is the largest over both graphs, relative to the largest value where that is above 1. The packages
were used with PyTorch {torch} and PyG {pyg}.
The packages' own files are untouched. `package_models.py` supplies names that their dependencies lack here (a type of
torch-sparse for torch-geometric-temporal, `T_co` of older torch versions for SchNetPack, and two operators of torchvision for PhysicsNeMo). OGB
has encoders only: the layers behind them are PyG's.

| package | version | model | result | largest difference |
|---|---|---|---|---|
"""


def environment(name, into):
    """The Python of the package's environment, which is made where it is not there."""
    package, folder = PACKAGES[name], into / name
    python = folder / "bin/python"
    if (folder / "installed").exists():
        return python
    venv.create(folder, with_pip=True)
    inner = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True)
    Path(inner.stdout.strip(), "around.pth").write_text(sysconfig.get_path("purelib") + "\n")
    kept = folder / "kept.txt"
    kept.write_text("".join(f"{module}=={version(module)}\n" for module in ("torch", "torch-geometric", "numpy")))
    install = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "--no-deps", *package.alone], check=True)
    if package.others:
        subprocess.run([*install, "--constraint", kept, *package.others], check=True)
    if package.compiled:
        subprocess.run([*install, "wheel", "setuptools"], check=True)
        subprocess.run([*install, "--no-deps", "--no-build-isolation", *package.compiled], check=True)
    (folder / "installed").touch()
    return python


def version(module):
    from importlib.metadata import version as of

    return of(module).partition("+")[0]


def results(name, into):
    """The rows of a package; one that says why where it cannot be installed or imported."""
    try:
        python = environment(name, into)
    except subprocess.CalledProcessError as problem:
        return [{"package": name, "version": "", "model": "", "result": f"not tried: it cannot be installed ({problem.cmd[-1]})", "difference": ""}]
    told = {**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-W", "ignore", HERE / "package_models.py", name], capture_output=True, text=True, env=told)
    rows = [json.loads(line.removeprefix("ROW ")) for line in done.stdout.splitlines() if line.startswith("ROW ")]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        rows.append({"package": name, "version": "", "model": "", "result": f"not tried: {last}", "difference": ""})
    return rows


def line(row):
    cells = [row[key] for key in ("package", "version", "model", "result", "difference")]
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PACKAGES))
    parser.add_argument("--into", type=Path, required=True, help="the folder of the environments")
    parser.add_argument("--page", type=Path, help="the page that is written")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(PACKAGES)
    if unknown:
        parser.error(f"no such package: {', '.join(sorted(unknown))}")
    arguments.into.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in arguments.names or PACKAGES:
        for row in results(name, arguments.into):
            lines.append(line(row))
            print(lines[-1], end="", flush=True)
    if arguments.page:
        arguments.page.write_text(PAGE.format(torch=version("torch"), pyg=version("torch-geometric")) + "".join(lines))


if __name__ == "__main__":
    sys.exit(main())
