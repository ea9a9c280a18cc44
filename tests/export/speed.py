"""Times what computes the output for every node of one graph: the engine, an export's run.py, and PyTorch Geometric. Not a test:
prints the table of docs/guides/exporting.md. Options: --nodes N, --degree D, --runs R; the best of R runs counts.

PyG's own loop is that of its examples: layer by layer, in batches of destinations with all their neighbours. Where no sampler of PyG
is installed, its subgraphs are cut by a sorted edge list, which takes less than a sampler. The engine and run.py tell the time of the
computation themselves; reading the model and starting PyTorch are in none of the figures."""
import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch_geometric.nn as G
from safetensors.torch import save_file

from exported import ROOT, engine, runner

sys.path.insert(0, str(ROOT / "packaging/python/src"))
import hopscope

MODELS = {"GraphSAGE": lambda: G.GraphSAGE(64, 64, 2, 16), "GCN": lambda: G.GCN(64, 64, 2, 16),
          "GAT": lambda: G.GAT(64, 64, 2, 16, heads=4)}
BATCH = 16384


def pyg_whole(model, data):
    return model(data["x"], data["edge_index"])


def pyg_layers(model, data):
    """Each layer for all nodes before the next one."""
    order = torch.argsort(data["edge_index"][1], stable=True)
    source, target = data["edge_index"][:, order]
    nodes, x = data["x"].size(0), data["x"]
    for layer, conv in enumerate(model.convs):
        rows = []
        for first in range(0, nodes, BATCH):
            last = min(nodes, first + BATCH)
            begin, end = torch.searchsorted(target, torch.tensor([first, last]))
            block = source[begin:end]
            others = torch.unique(block)
            others = others[(others < first) | (others >= last)]
            frontier = torch.cat([torch.arange(first, last), others])
            places = torch.empty(nodes, dtype=torch.int64)
            places[frontier] = torch.arange(frontier.numel())
            index = torch.stack([places[block], target[begin:end] - first])
            rows.append(conv(x[frontier], index)[:last - first])
        x = torch.cat(rows)
        if layer + 1 < len(model.convs):
            x = model.act(x)
    return x


def best(runs, work):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def engine_seconds(model, data, folder, runs):
    times = []
    for run in range(runs):
        made = engine("run", model, "--data", data, "-o", folder / f"engine{run}", "--verify", "none", "--quiet")
        assert made.returncode == 0, made.stderr
        times.append(json.loads((folder / f"engine{run}" / "report.json").read_text())["seconds"])
    return min(times)


def measure(name, data, path, runs):
    torch.manual_seed(1)
    model = MODELS[name]().eval()
    with tempfile.TemporaryDirectory() as place, torch.no_grad():
        folder = Path(place)
        saved = hopscope.save(model, data, folder / "model.pt")
        made = engine("export", saved.path, "--data", path, "-o", folder / "exported", "--quiet")
        assert made.returncode == 0, made.stderr
        exported = runner(folder / "exported").Runner(folder / "exported")
        seconds = [engine_seconds(saved.path, path, folder, runs), best(runs, lambda: exported.run(data, folder)),
                   best(runs, lambda: pyg_layers(model, data)), best(runs, lambda: pyg_whole(model, data))]
        wanted = exported.run(data, folder)["out"]
        torch.testing.assert_close(pyg_whole(model, data), wanted, atol=1e-4, rtol=1e-4)
    return seconds


def processor():
    text = Path("/proc/cpuinfo").read_text()
    return f"{re.search(r'model name.*: (.*)', text).group(1)}, {torch.get_num_threads()} threads"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)
    data = {"x": torch.randn(options.nodes, 64),
            "edge_index": torch.randint(0, options.nodes, (2, options.nodes * options.degree))}
    print(f"{options.nodes:,} nodes, {options.nodes * options.degree:,} edges, {processor()}, torch {torch.__version__}\n")
    print("| model | engine | `run.py` | PyG, layer by layer | PyG, whole graph |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "graph.safetensors"
        save_file(data, path)
        for name in MODELS:
            print(f"| {name} | " + " | ".join(f"{s:.2f} s" for s in measure(name, data, path, options.runs)) + " |", flush=True)


if __name__ == "__main__":
    main()
