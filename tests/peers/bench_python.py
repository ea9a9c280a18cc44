"""What calling the engine from Python costs: `hopscope.inference` on a model and tensors in memory beside the engine's
own process on files, in turn, from the same inputs.

    bench_python.py --engine ENGINE [--graph communities|rmat] [--nodes 500000] [--degree 20] [--models sage gcn gat]
                    [--rounds 3] [--verify none|sample|full] [--touch-memory] [--json]

Both sides begin before anything is started and end when outputs can be read; the call saves its model and writes its
tensors within that time, the engine's process finds them as files. The fastest round counts. Outputs are compared:
exits with 1 unless they are the same to the bit.

With --touch-memory each side begins with free memory that was in use a moment ago. Memory that has been free for
seconds can cost several times as much to get on a virtual machine; the call, which takes more of it, then costs more
than its own work.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from bench_peers import prepare
from graphs import GRAPHS
from peers import BASIC, pyg_model

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging" / "python" / "src"))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--graph", choices=GRAPHS, default="communities")
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--models", nargs="+", choices=BASIC, default=list(BASIC))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--verify", choices=("none", "sample", "full"), default="none")
    parser.add_argument("--touch-memory", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def touch_free_memory(tensors):
    """Six times the inputs: room for their copy, what is computed from them, and outputs."""
    numpy.ones(6 * sum(tensor.nbytes for tensor in tensors.values()), numpy.uint8)


def engine_alone(options, saved, folder, out):
    begin = time.perf_counter()
    subprocess.run([options.engine, "run", saved, "--data", folder / "graph.safetensors", "-o", out,
                    "--verify", options.verify, "--quiet", "--trust"], check=True, stdout=subprocess.DEVNULL)
    output = numpy.load(out / "out.npy", mmap_mode="r")
    return time.perf_counter() - begin, output


def from_python(options, model, tensors):
    import hopscope
    from hopscope._later import settle
    begin = time.perf_counter()
    result = hopscope.inference(model, tensors, verify=options.verify, progress=False)
    seconds = time.perf_counter() - begin
    settle()
    return seconds, result.output.numpy()


def compared(name, options, folder):
    import hopscope
    import torch
    model = pyg_model(name)
    tensors = {key: torch.from_numpy(numpy.load(folder / f"{key}.npy")) for key in ("x", "edge_index")}
    saved = folder / "saved.pt"
    hopscope.save(model, tensors, saved)
    seconds, same = {"engine": [], "inference": []}, True
    before = touch_free_memory if options.touch_memory else lambda _: None
    for _ in range(options.rounds):
        before(tensors)
        alone, expected = engine_alone(options, saved, folder, folder / "out")
        before(tensors)
        called, found = from_python(options, model, tensors)
        seconds["engine"].append(alone)
        seconds["inference"].append(called)
        same = same and numpy.array_equal(expected, found)
    best = {side: min(values) for side, values in seconds.items()}
    return {"model": name, **best, "ratio": best["inference"] / best["engine"], "same": same}


def main():
    options = arguments()
    os.environ["HOPSCOPE_ENGINE"] = str(Path(options.engine).resolve())
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = Path(name)
        edges = prepare(folder, options)
        rows = [compared(model, options, folder) for model in options.models]
    if options.json:
        print(json.dumps({"nodes": options.nodes, "edges": edges, "verify": options.verify, "models": rows}, indent=1))
    else:
        print(f"{options.nodes:,} nodes, {edges:,} edges, --verify {options.verify}")
        for row in rows:
            print(f"{row['model']:5} engine {row['engine']:.2f} s, hopscope.inference {row['inference']:.2f} s, "
                  f"{row['ratio']:.2f} x, outputs {'equal' if row['same'] else 'DIFFERENT'}")
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
