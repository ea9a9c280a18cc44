"""How far the predicted seconds of stages are from what they take.

    bench_predictions.py --engine ENGINE [--graph communities|rmat] [--nodes 131072] [--degree 16]
                         [--models sage gcn gat ..] [--rounds 2] [--json]

Measures the machine first, in a folder of its own, so that nothing of earlier runs counts; then each model in turn, in
each of the rounds. As in use, predictions learn from the runs before them. Prints predicted / measured by stage, and how
far half and nine of ten of all stages are off. A stage of which other programs took the cores says so and is left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench_peers import prepare
from graphs import GRAPHS
from peers import BASIC, CONVOLUTIONS

LEAST_BUSY = 0.8  # of the cores


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--graph", choices=GRAPHS, default="rmat")
    parser.add_argument("--nodes", type=int, default=1 << 17)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--models", nargs="+", choices=BASIC + CONVOLUTIONS, default=list(BASIC + CONVOLUTIONS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def stages(options, folder, model):
    """Of a run: predicted and measured seconds, and the share of the cores, by stage."""
    data = folder / ("gine.safetensors" if model == "gine" else "graph.safetensors")
    subprocess.run([options.engine, "run", folder / f"{model}.pt", "--data", data, "-o", folder / "out", "--verify", "none",
                    "--quiet", "--trust", "--device", "cpu"], stdout=subprocess.DEVNULL, check=True)
    cores = len(os.sched_getaffinity(0))
    report = json.loads((folder / "out" / "report.json").read_text())
    return [{"model": model, "stage": s["index"], "predicted": s["predicted"]["seconds"], "seconds": s["seconds"],
             "busy": s["core_seconds"] / s["seconds"] / cores} for s in report["stages"]]


def line(rows):
    def ratio(row):
        return f"{row['predicted'] / row['seconds']:5.2f}" + ("" if row["busy"] >= LEAST_BUSY else " (busy machine)")
    return f"{rows[0]['model']:12}" + "  ".join(map(ratio, rows))


def summary(rows):
    off = sorted(abs(row["predicted"] / row["seconds"] - 1) for row in rows if row["busy"] >= LEAST_BUSY)
    if not off:
        return {"stages": 0, "median": None, "nine_of_ten": None}
    return {"stages": len(off), "median": statistics.median(off), "nine_of_ten": off[min(int(0.9 * len(off)), len(off) - 1)]}


def main():
    options = arguments()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, options)
        os.environ["XDG_CACHE_HOME"] = name
        subprocess.run([options.engine, "bench", "machine", "--quiet", "--device", "cpu"], stdout=subprocess.DEVNULL, check=True)
        for _ in range(options.rounds):
            for model in options.models:
                made = stages(options, folder, model)
                rows += made
                if not options.json:
                    print(line(made), flush=True)
    found = summary(rows)
    if options.json:
        print(json.dumps({"rows": rows, **found}))
    elif found["stages"]:
        print(f"{found['stages']} stages: half are off by at most {found['median']:.0%}, nine of ten by {found['nine_of_ten']:.0%}")
    else:
        print("other programs had the cores all the time: nothing was measured")


if __name__ == "__main__":
    main()
