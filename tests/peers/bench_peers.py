"""Full-neighbour inference of all nodes: the engine beside what people use today, on the same graph, in turn.

    bench_peers.py --engine ENGINE [--nodes 131072] [--degree 16] [--models sage gcn gat ..] [--rounds 3] [--dgl PYTHON]
                   [--json]

Three layers, 100 features, hidden width 128, 47 classes, float32. Everything runs in processes of its own, one after the
other, in each of the rounds, so that a busy machine is busy for all of them; the fastest round counts, and of a peer
the faster of two inferences in each.

  engine   `run --verify none`: `seconds` of its report (prologue and stages), and the whole process from file to file
  scatter  PyG on the whole graph: forward(x, edge_index)
  spmm     PyG on the whole graph with a sparse matrix in CSR format, made beforehand
  loop     PyG's layer-wise inference() with NeighborLoader, if pyg-lib or torch-sparse is installed
  dgl      DGL on the whole graph, prepared beforehand, with weights of its own; with --dgl, a Python that imports it

Seconds of the peers are those of the inference alone. `error` is the largest difference from PyG's forward in float64, as a
share of the largest output where that is above 1. Peaks are those of the whole processes.
Exits with 1 if the engine's is larger than 1e-4, or unknown.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy

FEATURES, HIDDEN, CLASSES, LAYERS, EDGE_FEATURES = 100, 128, 47, 3, 8
PEERS = ("scatter", "spmm", "loop")
BASIC = ("sage", "gcn", "gat")
# Three of these convolutions with ReLU between them. There is nothing beside them but PyG on the whole graph: DGL and
# PyG's loop have them in other forms or not at all, and no product with a sparse matrix computes them.
CONVOLUTIONS = ("gatv2", "transformer", "resgated", "gine", "edge", "pna")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine")
    parser.add_argument("--nodes", type=int, default=1 << 17)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--models", nargs="+", choices=BASIC + CONVOLUTIONS, default=list(BASIC))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dgl", help="a Python that can import dgl")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", nargs=3, metavar=("NAME", "MODEL", "FOLDER"), help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- the graph and the models


def communities(nodes, degree, seed=7):
    """An undirected graph of communities with shuffled ids, [2, E], sorted by destination."""
    random = numpy.random.default_rng(seed)
    half = nodes * degree // 2
    size = max(nodes // 1000, 50)
    source = random.integers(0, nodes, half)
    inside = numpy.minimum(source // size * size + random.integers(0, size, half), nodes - 1)
    target = numpy.where(random.random(half) < 0.9, inside, random.integers(0, nodes, half))
    names = random.permutation(nodes)
    pairs = numpy.stack([names[source], names[target]])[:, source != target]
    both = numpy.concatenate([pairs, pairs[::-1]], axis=1)
    keys = numpy.unique(both[1] * nodes + both[0])
    return numpy.stack([keys % nodes, keys // nodes])


def convolution(name, i, o, last):
    import torch
    from torch import nn
    from torch_geometric import nn as pyg
    def mlp(width):
        return nn.Sequential(nn.Linear(width, o), nn.ReLU(), nn.Linear(o, o))
    heads = {"heads": 2, "concat": not last}
    width = o if last else o // 2
    return {"gatv2": lambda: pyg.GATv2Conv(i, width, **heads),
            "transformer": lambda: pyg.TransformerConv(i, width, **heads),
            "resgated": lambda: pyg.ResGatedGraphConv(i, o),
            "gine": lambda: pyg.GINEConv(mlp(i), edge_dim=EDGE_FEATURES),
            "edge": lambda: pyg.EdgeConv(mlp(2 * i), aggr="max"),
            "pna": lambda: pyg.PNAConv(i, o, ["mean", "min", "max", "std"],
                                       ["identity", "amplification", "attenuation"],
                                       torch.tensor([4, 9, 12, 9, 7, 5, 3, 2, 1, 1]))}[name]()


def stack(name):
    from torch import nn
    sizes = [FEATURES, *[HIDDEN] * (LAYERS - 1), CLASSES]
    convolutions = [convolution(name, *sizes[k:k + 2], k == LAYERS - 1) for k in range(LAYERS)]

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(convolutions)

        def layers(self, x, *edges):
            for k, conv in enumerate(self.convs):
                x = conv(x, *edges)
                x = x if k == LAYERS - 1 else x.relu()
            return x

        def forward(self, x, edge_index):
            return self.layers(x, edge_index)

    class Attributed(Stack):
        def forward(self, x, edge_index, edge_attr):
            return self.layers(x, edge_index, edge_attr)

    return (Attributed if name == "gine" else Stack)().eval()


def pyg_model(name):
    import torch
    if name in CONVOLUTIONS:
        torch.manual_seed(0)
        return stack(name)
    from torch_geometric.nn import GAT, GCN, GraphSAGE
    torch.manual_seed(0)
    kind = {"sage": GraphSAGE, "gcn": GCN, "gat": lambda *sizes: GAT(*sizes, heads=2)}[name]
    return kind(FEATURES, HIDDEN, LAYERS, CLASSES).eval()


def prepare(folder, options):
    import torch
    from safetensors.numpy import save_file
    edges = communities(options.nodes, options.degree)
    features = numpy.random.default_rng(3).standard_normal((options.nodes, FEATURES), dtype=numpy.float32)
    numpy.save(folder / "edge_index.npy", edges)
    numpy.save(folder / "x.npy", features)
    save_file({"x": features, "edge_index": edges}, str(folder / "graph.safetensors"))
    if "gine" in options.models:
        attributes = numpy.random.default_rng(5).standard_normal((edges.shape[1], EDGE_FEATURES), dtype=numpy.float32)
        numpy.save(folder / "edge_attr.npy", attributes)
        save_file({"x": features, "edge_index": edges, "edge_attr": attributes}, str(folder / "gine.safetensors"))
    for name in options.models:
        sample = torch.randn(60, FEATURES), torch.randint(0, 60, (2, 300))
        if name == "gine":
            sample += (torch.randn(300, EDGE_FEATURES),)
        with torch.no_grad():
            torch.jit.trace(pyg_model(name), sample, check_trace=False).save(str(folder / f"{name}.pt"))
    return edges.shape[1]


# ---- one measurement, in a process of its own


def inputs(folder):
    import torch
    return torch.from_numpy(numpy.load(folder / "x.npy")), torch.from_numpy(numpy.load(folder / "edge_index.npy"))


def adjacency(edges, nodes):
    import torch
    rows = torch.zeros(nodes + 1, dtype=torch.long)
    rows[1:] = torch.bincount(edges[1], minlength=nodes).cumsum(0)
    return torch.sparse_csr_tensor(rows, edges[0], torch.ones(edges.shape[1]), (nodes, nodes))


def inference(name, model, folder):
    """What is timed, as a function."""
    if name == "dgl":
        return dgl_inference(model, folder)
    import torch
    x, edges = inputs(folder)
    network = pyg_model(model)
    more = [torch.from_numpy(numpy.load(folder / "edge_attr.npy"))] if model == "gine" else []
    if name == "exact":
        return lambda: network.double()(x.double(), edges, *[m.double() for m in more])
    if name == "scatter":
        return lambda: network(x, edges, *more)
    if name == "spmm":
        matrix = adjacency(edges, x.shape[0])
        return lambda: network(x, matrix)
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader
    loader = NeighborLoader(Data(x=x, edge_index=edges), num_neighbors=[-1], batch_size=16384, shuffle=False)
    return lambda: network.inference(loader)


def dgl_inference(model, folder):
    import dgl
    import dgl.nn as layers
    import torch
    x, edges = inputs(folder)
    graph = dgl.graph((edges[0], edges[1]), num_nodes=x.shape[0])
    graph.create_formats_()
    sizes = [(FEATURES, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, CLASSES)]
    makers = {"sage": lambda i, o, _: layers.SAGEConv(i, o, "mean"),
              "gcn": lambda i, o, _: layers.GraphConv(i, o, norm="both", allow_zero_in_degree=True),
              "gat": lambda i, o, last: layers.GATConv(i, o if last else o // 2, 2, allow_zero_in_degree=True)}
    network = torch.nn.ModuleList([makers[model](*size, k == LAYERS - 1) for k, size in enumerate(sizes)])

    def run():
        h = x
        for k, layer in enumerate(network):
            h = layer(graph, h)
            if model == "gat":
                h = h.mean(1) if k == LAYERS - 1 else h.flatten(1)
            h = h if k == LAYERS - 1 else h.relu()
        return h
    return run


def measure_peer(name, model, folder):
    warnings.filterwarnings("ignore")
    import torch
    try:
        run = inference(name, model, Path(folder))
    except ImportError as missing:
        print(json.dumps({"missing": str(missing)}))
        return
    with torch.inference_mode():
        seconds = float("inf")
        for _ in range(1 if name == "exact" else 2):  # the first one warms caches and libraries up
            began = time.perf_counter()
            out = run()
            seconds = min(seconds, time.perf_counter() - began)
    if name != "dgl":
        numpy.save(Path(folder) / f"{model}.{name}.npy", out.numpy())
    print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


# ---- rounds


def peer(python, name, model, folder):
    done = subprocess.run([python, "-W", "ignore", __file__, "--peer", name, model, str(folder)], capture_output=True,
                          text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    return {"missing": (done.stderr.strip().splitlines() or ["it failed"])[-1]}


def engine(options, model, folder):
    out = folder / f"{model}.engine"
    data = folder / ("gine.safetensors" if model == "gine" else "graph.safetensors")
    began = time.perf_counter()
    with subprocess.Popen([options.engine, "run", str(folder / f"{model}.pt"), "--data", str(data), "-o", str(out),
                           "--verify", "none", "--quiet", "--device", "cpu"], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    whole = time.perf_counter() - began
    if process.returncode != 0:
        raise SystemExit(f"the engine failed with {process.returncode}")
    report = json.loads((out / "report.json").read_text())
    numpy.save(folder / f"{model}.engine.npy", numpy.load(out / "out.npy"))
    return {"seconds": report["seconds"], "process": whole, "peak": usage.ru_maxrss * 1024}


def best(rounds):
    found = [r for r in rounds if "seconds" in r]
    return min(found, key=lambda r: r["seconds"]) if found else rounds[0]


def compare(options, model, folder):
    names = ["scatter"] if model in CONVOLUTIONS else [*PEERS, *(["dgl"] if options.dgl else [])]
    rounds = {name: [] for name in ("engine", *names)}
    exact = peer(sys.executable, "exact", model, folder)
    for _ in range(options.rounds):
        rounds["engine"].append(engine(options, model, folder))
        for name in names:
            rounds[name].append(peer(options.dgl if name == "dgl" else sys.executable, name, model, folder))
    rows = {name: best(taken) for name, taken in rounds.items()}
    for name, row in rows.items():
        made = folder / f"{model}.{name}.npy"
        if made.exists() and "missing" not in exact:
            wanted = numpy.load(folder / f"{model}.exact.npy")
            row["error"] = float(numpy.abs(numpy.load(made) - wanted).max() / max(numpy.abs(wanted).max(), 1))
        if "seconds" in row:
            row["engine_is_faster"] = row["seconds"] / rows["engine"]["seconds"]
    return rows


def table(results):
    for model, rows in results.items():
        for name, row in rows.items():
            if "missing" in row:
                print(f"{model:11} {name:8} not measured: {row['missing']}")
                continue
            error = f"{row['error']:.1e}" if "error" in row else "own weights"
            process = f"  process {row['process']:.2f} s" if "process" in row else ""
            peak = f"  peak {row['peak'] / 1e9:.2f} GB" if "peak" in row else ""
            print(f"{model:11} {name:8} {row['seconds']:8.3f} s  x {row['engine_is_faster']:5.2f}  error {error}{peak}"
                  f"{process}")


def main():
    options = arguments()
    if options.peer:
        measure_peer(*options.peer)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edges = prepare(folder, options)
        results = {model: compare(options, model, folder) for model in options.models}
    if options.json:
        print(json.dumps({"nodes": options.nodes, "edges": edges, "models": results}))
    else:
        print(f"{options.nodes:,} nodes, {edges:,} edges; x: how many times as long as the engine")
        table(results)
    raise SystemExit(any(not rows["engine"].get("error", 1) <= 1e-4 for rows in results.values()))


if __name__ == "__main__":
    main()
