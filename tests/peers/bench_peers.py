"""Full-neighbour inference of all nodes: the engine beside what people use today, on the same graph, in turn.

    bench_peers.py --engine ENGINE [--graph communities|rmat] [--nodes 131072] [--degree 16]
                   [--models sage gcn gat ..] [--peers scatter spmm loop ..] [--rounds 3] [--dgl PYTHON] [--reassociate]
                   [--json] [--figures FILE]

Three layers, 100 features, hidden width 128, 47 classes, float32. Everything runs in processes of its own, one after the
other, in each of the rounds, so that a busy machine is busy for all of them; the fastest round counts. `peers.py` says
what the peers are; those of DGL need --dgl, a Python that imports it.

  seconds   of the engine: `seconds` of the report of `run --verify none` (prologue and stages); of a peer: one inference,
            prepared beforehand
  process   from before the process is started to the output in a file, on both sides
  error     the largest difference from PyG's forward in float64, as a share of the largest output where that is above 1
  peak      of the whole process

`moved` is the engine with --reassociate. The engine's lines are followed by what its time went to: how much of the bound
its stages reach, the share of the system in its CPU time, and how many of its cores were busy in stages.
--figures keeps the results in FILE, from which figures.py writes those of README.md and docs/explain/performance.md.
Exits with 1 if the engine's error is larger than 1e-4, or unknown.
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
from figures import keep
from graphs import GRAPHS
from peers import BASIC, CONVOLUTIONS, DEEP, EDGE_FEATURES, FEATURES, pyg_model

OURS = ("engine", "moved")
TOLERANCE = 1e-4
PEERS = ("scatter", "spmm", "loop", "dgl", "dgl-loop")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--graph", choices=GRAPHS, default="communities")
    parser.add_argument("--nodes", type=int, default=1 << 17)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--models", nargs="+", choices=BASIC + CONVOLUTIONS + DEEP, default=list(BASIC))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reassociate", action="store_true", help="the engine once more, with --reassociate")
    parser.add_argument("--dgl", help="a Python that can import dgl")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--figures", type=Path, help="the file that keeps the results, one for each graph")
    return parser.parse_args()


# ---- files for both sides


def prepare(folder, options):
    from safetensors.numpy import save_file
    edges = GRAPHS[options.graph](options.nodes, options.degree)
    features = numpy.random.default_rng(3).standard_normal((options.nodes, FEATURES), dtype=numpy.float32)
    numpy.save(folder / "edge_index.npy", edges)
    numpy.save(folder / "x.npy", features)
    save_file({"x": features, "edge_index": edges}, str(folder / "graph.safetensors"))
    if "gine" in options.models:
        attributes = numpy.random.default_rng(5).standard_normal((edges.shape[1], EDGE_FEATURES), dtype=numpy.float32)
        numpy.save(folder / "edge_attr.npy", attributes)
        save_file({"x": features, "edge_index": edges, "edge_attr": attributes}, str(folder / "gine.safetensors"))
    for name in options.models:
        save_model(name, folder)
    return edges.shape[1]


def save_model(name, folder):
    import torch
    sample = torch.randn(60, FEATURES), torch.randint(0, 60, (2, 300))
    if name == "gine":
        sample += (torch.randn(300, EDGE_FEATURES),)
    model = pyg_model(name)
    with torch.no_grad():
        torch.jit.trace(model, sample, check_trace=False).save(str(folder / f"{name}.pt"))
    torch.save(model.state_dict(), folder / f"{name}.weights.pt")


# ---- rounds


def peer(python, name, model, folder, script="peers.py", more=()):
    done = subprocess.run([python, "-B", "-W", "ignore", Path(__file__).with_name(script), name, model, folder,
                           str(time.time()), *more], capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    return {"missing": (done.stderr.strip().splitlines() or ["it failed"])[-1]}


def engine(options, model, folder, name="engine"):
    report, usage = engine_run(options.engine, model, folder, name, "--device", "cpu",
                               *(["--reassociate"] if name == "moved" else []))
    return {"seconds": report["seconds"], "process": usage["seconds"], "peak": usage["peak"], **where(report, usage)}


def engine_run(program, model, folder, name, *more):
    """Runs the engine, keeps its output as that of a peer called `name`, and gives its report and that of launch.py."""
    out = folder / f"{model}.{name}"
    data = folder / ("gine.safetensors" if model == "gine" else "graph.safetensors")
    launch = Path(__file__).with_name("launch.py")
    done = subprocess.run([sys.executable, "-E", "-S", launch, program, "run", folder / f"{model}.pt", "--data", data,
                           "-o", out, "--verify", "none", "--quiet", "--trust", *more],
                          stdout=subprocess.PIPE, check=True)
    usage = json.loads(done.stdout)
    if usage["status"] != 0:
        raise SystemExit(f"the engine failed with {usage['status']}")
    report = json.loads((out / "report.json").read_text())
    numpy.save(folder / f"{model}.{name}.npy", numpy.load(out / "out.npy"))
    return report, usage


def where(report, usage):
    """What the time went to, as shares."""
    stages = report["stages"]
    seconds = sum(stage["seconds"] for stage in stages)
    cores = len(os.sched_getaffinity(0))
    return {"bound": sum(stage["bound_seconds"] or 0 for stage in stages) / seconds,
            "system": usage["system"] / (usage["system"] + usage["user"]),
            "cores": sum(stage["core_seconds"] for stage in stages) / (seconds * cores)}


def fastest(rounds):
    found = [r for r in rounds if "seconds" in r]
    if not found:
        return rounds[0]
    return min(found, key=lambda r: r["seconds"]) | {"process": min(r["process"] for r in found)}


def wanted(options, model):
    if model in CONVOLUTIONS + DEEP:
        return [name for name in options.peers if name == "scatter"]
    return [name for name in options.peers if options.dgl or not name.startswith("dgl")]


def compare(options, model, folder):
    exact = peer(sys.executable, "exact", model, folder)
    ours = ["engine", "moved"] if options.reassociate else ["engine"]
    rounds = {name: [] for name in ours}
    for _ in range(options.rounds):
        for name in ours:
            rounds[name].append(engine(options, model, folder, name))
        for name in wanted(options, model):
            python = options.dgl if name.startswith("dgl") else sys.executable
            rounds.setdefault(name, []).append(peer(python, name, model, folder))
    rows = {name: fastest(taken) for name, taken in rounds.items()}
    for name, row in rows.items():
        if "seconds" in row:
            row["slower"] = row["seconds"] / rows["engine"]["seconds"]
            row["process_slower"] = row["process"] / rows["engine"]["process"]
            row["error"] = None if "missing" in exact else error(folder, model, name)
    return rows


def error(folder, model, name):
    exact = numpy.load(folder / f"{model}.exact.npy")
    made = numpy.load(folder / f"{model}.{name}.npy")
    return float(numpy.abs(made - exact).max() / max(numpy.abs(exact).max(), 1))


def close(found):
    """Whether an error is known and small; that of a NaN is neither."""
    return found is not None and found <= TOLERANCE


# ---- results


def line(model, name, row):
    if "missing" in row:
        return f"{model:11} {name:8} not measured: {row['missing']}"
    wrong = "unknown" if row["error"] is None else f"{row['error']:.1e}"
    return (f"{model:11} {name:8} {row['seconds']:8.3f} s  x {row['slower']:6.2f}   process {row['process']:7.2f} s"
            f"  x {row['process_slower']:6.2f}   peak {row['peak'] / 1e9:5.2f} GB   error {wrong}")


def table(results):
    for model, rows in results.items():
        for name, row in rows.items():
            print(line(model, name, row))
            if name in OURS:
                print(f"{'':20} stages reach {row['bound']:.0%} of the bound, {row['cores']:.0%} of the cores busy, "
                      f"system {row['system']:.0%} of the CPU time")


def main():
    options, load = arguments(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edges = prepare(folder, options)
        results = {model: compare(options, model, folder) for model in options.models}
    run = {"graph": options.graph, "nodes": options.nodes, "edges": edges, "rounds": options.rounds, "models": results}
    if options.figures:
        keep(options.figures, run | {"load_before": round(load, 1)}, options.dgl)
    if options.json:
        print(json.dumps(run))
    else:
        print(f"{options.graph}, {options.nodes:,} nodes, {edges:,} edges; x: how many times as long as the engine")
        table(results)
    errors = [row["error"] for rows in results.values() for name, row in rows.items() if name in OURS]
    raise SystemExit(not all(map(close, errors)))


if __name__ == "__main__":
    main()
