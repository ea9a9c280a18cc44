"""Installs the wheels of this folder into a new environment and tries them: what test_wheels.sh runs in the bare system."""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = HERE / "environment"
BIN = ENVIRONMENT / "bin"
SECONDS, MEGABYTES = 180, 400
SAMPLE = [HERE / "samples/digits/jknet.pt", "--data", HERE / "samples/digits/graph.safetensors"]
GCN = """
import json, torch, hopscope
from torch_geometric.nn import GCN
torch.manual_seed(1)
model = GCN(16, 32, num_layers=3, out_channels=5).eval()
x, edges = torch.randn(1000, 16), torch.randint(0, 1000, (2, 8000))
result = hopscope.inference(model, {"x": x, "edge_index": edges}, verify="full")
with torch.no_grad():
    difference = float((result.output - model(x, edges)).abs().max())
print(json.dumps({"verdict": result.verdict, "difference": difference, "engine": hopscope.engine().path}))
"""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def timed(*words):
    start = time.monotonic()
    run(*words)
    return time.monotonic() - start


def files():
    """The installed files with their sizes."""
    return {path: path.stat().st_size for path in ENVIRONMENT.rglob("*") if path.is_file() and not path.is_symlink()}


def megabytes(paths, sizes):
    return sum(sizes[path] for path in paths) / 1e6


def install():
    """The seconds that pip needs for the wheels, and the files that it adds."""
    run(sys.executable, "-m", "venv", ENVIRONMENT)
    print(f"torch: {timed(BIN / 'pip', 'install', os.environ['HOPSCOPE_TORCH']):.0f} s")
    before = files()
    seconds = timed(BIN / "pip", "install", *sorted(HERE.glob("hopscope*.whl")))
    return seconds, set(files()) - set(before)


def check_sizes(seconds, added):
    sizes = files()
    site = next(ENVIRONMENT.glob("lib/python3*/site-packages"))
    packages = {}
    for path in added:
        top = path.relative_to(site).parts[0] if site in path.parents else "commands"
        packages.setdefault(top, []).append(path)
    for name, paths in sorted(packages.items(), key=lambda package: -megabytes(package[1], sizes))[:8]:
        print(f"  {name}: {megabytes(paths, sizes):.0f} MB")
    total = megabytes(added, sizes)
    print(f"pip install: {seconds:.0f} s, {total:.0f} MB")
    if seconds > SECONDS or total > MEGABYTES:
        sys.exit(f"more than {SECONDS} s or {MEGABYTES} MB")


def check_programs():
    print(run(BIN / "hopscope-engine", "--version").strip())
    for program in (BIN / "hopscope", BIN / "hopscope-scale"):
        print(run(program, "--version").strip())
    run(BIN / "python", "-m", "hopscope", "inspect", *SAMPLE)
    picture = HERE / "window.png"
    print(f"screenshot of the window: {timed(BIN / 'hopscope', *SAMPLE, '--run', '--screenshot', picture):.1f} s")
    if picture.stat().st_size < 100_000:
        sys.exit("the screenshot is too small to show a graph")


def check_inference():
    run(BIN / "pip", "install", "torch_geometric")
    said = json.loads(run(BIN / "python", "-c", GCN))
    print(f"GCN of PyTorch Geometric: {said['verdict']}, largest difference {said['difference']:.1g}, by {said['engine']}")
    if said["verdict"] != "equal" or said["difference"] > 1e-5:
        sys.exit("the results differ")


def check_removal():
    run(BIN / "pip", "uninstall", "-y", "hopscope", "hopscope-window")
    left = [path for path in files() if "hopscope" in str(path.relative_to(ENVIRONMENT))]
    if left:
        sys.exit(f"pip uninstall leaves {left[:5]}")


if __name__ == "__main__":
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    print(sys.version)
    check_sizes(*install())
    check_programs()
    check_inference()
    check_removal()
    print("passed")
