"""The table of predicted and measured runs in docs/dev/benchmarks/placement.md: the plan of every strategy for the models of
make_stacks.py, on a graph of communities.

usage: bench_stacks.py ENGINE [--nodes 500000] [--edges 10000000] [--repeat 3] [--models gcn sage ..]

hopscope-bench is beside ENGINE. The machine should have been measured by `hopscope-engine bench machine`. Exits with 1 if bytes are not those predicted.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FEATURES = 64
MODELS = ("gcn", "sage", "jknet", "dense", "bottleneck", "expanding")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    return parser.parse_args()


def prepare(folder, options):
    graph = folder / "graph.safetensors"
    subprocess.run([options.engine, "generate", "sbm", "--nodes", str(options.nodes), "--edges", str(options.edges),
                    "--features", str(FEATURES), "--seed", "3", "-o", graph, "--quiet"], check=True)
    subprocess.run([sys.executable, Path(__file__).with_name("make_stacks.py"), folder, str(FEATURES)], check=True)
    return graph


def measured(options, model, graph):
    done = subprocess.run([Path(options.engine).with_name("hopscope-bench"), "plans", model, "--data", graph, "--repeat",
                           str(options.repeat)], stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout)["plans"]


def row(model, plan):
    predicted, moved = (sum(plan[key].values()) for key in ("predicted_bytes", "bytes"))
    seconds = [f"{sum(plan[key]):.2f} s" for key in ("predicted_seconds", "seconds")]
    size = f"{moved / 2**20:.0f} MiB" if moved == predicted else f"{moved / 2**20:.1f} instead of {predicted / 2**20:.1f} MiB"
    return f"| {model} | {plan['name']} | {plan['stages']} | {plan['stores']} | {' | '.join(seconds)} | {size} |"


def main():
    options, exact = arguments(), True
    print("| model | plan | stages | stores | predicted | measured | bytes, as predicted |", "|---|---|---|---|---|---|---|", sep="\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = prepare(folder, options)
        for model in options.models:
            plans = measured(options, folder / f"{model}.pt", graph)
            print(*(row(model, plan) for plan in plans), sep="\n", flush=True)
            exact = exact and all(plan["bytes"] == plan["predicted_bytes"] for plan in plans)
    raise SystemExit(not exact)


if __name__ == "__main__":
    main()
