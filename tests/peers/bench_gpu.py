"""Full-neighbour inference on a GPU: the engine beside PyG, an expert's layers and layer-wise loops, in turn.

    bench_gpu.py --engine ENGINE [--device cuda:0] [--graph rmat|communities] [--nodes 1048576] [--degree 25]
                 [--models sage gcn gat ..] [--peers coo csr ..] [--rounds 5] [--batch 65536] [--memory 4Gi]
                 [--reassociate] [--json]

Models, graphs and files are those of bench_peers.py; gpu_peers.py lists the peers and defines their clocks. They run on
the GPU that torch finds, and without one on the CPU, where a small graph tests this file. Convolutions other than
sage, gcn and gat have only PyG's `coo` and `compile` beside them. Every measurement is a process of its own, and each
round runs all of them; medians of the rounds count, and the largest peak.

  device   of the engine: its time for computing (`phases.compute` of the report); on a CPU, that of its stages
  host     of the engine: `seconds` of the report, from the start of the prologue to the output in a file
  process  from before the process is started to the output in a file, on both sides
  peak     bytes of tensors on the GPU; on a CPU, of the process
  error    the largest difference from PyG's layers in float64 (peers.py, `exact`), as a share of the largest output
           where that is above 1

--memory limits the tensors on the GPU, of the engine and of peers; one that runs out of it has no times. `moved` is the
engine with --reassociate. --batch: destinations in a batch of a loop, whose fastest value is found by trying. Where time
on a GPU is short, run one of --models at a time.
Exits with 5 if the engine or a peer is further from float64 than 1e-4, or if no peer was measured.
"""
import argparse
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

from bench_peers import TOLERANCE, close, engine_run, error, peer, prepare
from gpu_peers import NAMES, WHOLE
from graphs import GRAPHS
from peers import BASIC, CONVOLUTIONS

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))
import gpu_report  # noqa: E402: from the folder above

CLOCKS = ("device", "host", "process")
OURS = ("engine", "moved")
UNITS = {"Ki": 10, "Mi": 20, "Gi": 30}


def size(text: str) -> str:
    if not re.fullmatch("[0-9]+[KMG]i", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 512Mi or 4Gi")
    return text


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--device", default="cuda:0", help="of the engine")
    parser.add_argument("--graph", choices=GRAPHS, default="rmat")
    parser.add_argument("--nodes", type=int, default=1 << 20)
    parser.add_argument("--degree", type=int, default=25)
    parser.add_argument("--models", nargs="+", choices=BASIC + CONVOLUTIONS, default=list(BASIC))
    parser.add_argument("--peers", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=1 << 16)
    parser.add_argument("--memory", type=size, help="on the GPU, as in 512Mi or 4Gi; all of it unless said")
    parser.add_argument("--reassociate", action="store_true", help="the engine once more, with --reassociate")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


# ---- rounds


def ours(options: argparse.Namespace, model: str, folder: Path, name: str) -> dict:
    more = (["--memory", options.memory] if options.memory else []) + (["--reassociate"] if name == "moved" else [])
    report, usage = engine_run(options.engine, model, folder, name, "--device", options.device, *more)
    on_gpu = options.device != "cpu"
    device = sum(stage["phases"]["compute"] if on_gpu else stage["seconds"] for stage in report["stages"])
    return {"device": device, "host": report["seconds"], "process": usage["seconds"],
            "peak": report["peak_memory"] if on_gpu else usage["peak"]}


def memory(options: argparse.Namespace) -> int:
    """In bytes; 0 for all."""
    return int(options.memory[:-2]) << UNITS[options.memory[-2:]] if options.memory else 0


def wanted(options: argparse.Namespace, model: str) -> list[str]:
    return [name for name in options.peers if model in BASIC or name in ("coo", "compile")]


def compare(options: argparse.Namespace, model: str, folder: Path) -> dict[str, dict]:
    exact = peer(sys.executable, "exact", model, folder)
    more = (str(options.batch), str(memory(options)))
    rounds: dict[str, list[dict]] = {}
    for _ in range(options.rounds):
        for name in OURS if options.reassociate else OURS[:1]:
            rounds.setdefault(name, []).append(ours(options, model, folder, name))
        for name in wanted(options, model):
            rounds.setdefault(name, []).append(peer(sys.executable, name, model, folder, "gpu_peers.py", more))
    rows = {name: middle(taken) for name, taken in rounds.items()}
    for name, row in rows.items():
        if "missing" not in row:
            row["error"] = None if "missing" in exact else error(folder, model, name)
    return rows


def middle(rounds: list[dict]) -> dict:
    """Of all rounds; the reason of one in which it could not be measured."""
    missing = [taken for taken in rounds if "missing" in taken]
    if missing:
        return missing[0]
    clocks = {clock: statistics.median(taken[clock] for taken in rounds) for clock in CLOCKS if clock in rounds[0]}
    return clocks | {"peak": max(taken["peak"] for taken in rounds)}


# ---- results


def wrong(models: dict[str, dict]) -> list[str]:
    """What speaks against these results."""
    said = []
    for model, rows in models.items():
        measured = {name: row["error"] for name, row in rows.items() if "missing" not in row}
        said += [f"{model}: {name} differs from float64 by {found}, more than {TOLERANCE}"
                 for name, found in measured.items() if not close(found)]
        said += [f"{model}: no peer was measured"] if not set(measured) - set(OURS) else []
    return said


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name:
        edges = prepare(Path(name), options)
        models = {model: compare(options, model, Path(name)) for model in options.models}
    run = {"graph": options.graph, "nodes": options.nodes, "edges": edges, "rounds": options.rounds,
           "device": options.device, "memory": memory(options), "pyg": WHOLE, "ours": OURS, "models": models, "wrong": wrong(models)}
    print(json.dumps(run) if options.json else gpu_report.aligned(gpu_report.peer_lines(run)))
    print(*run["wrong"], sep="\n", end="\n" if run["wrong"] else "", file=sys.stderr)
    return 5 if run["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
