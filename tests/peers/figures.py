"""The figures that compare the engine with peers come from docs/dev/benchmarks/figures.json, which `bench_peers.py --figures FILE` writes.
`figures.py` writes them into README.md and docs/explain/performance.md, between two comments, and draws the chart of both pages.
"""
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from chart import MODELS, WRONG, charts, run_of

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs/dev/benchmarks/figures.json"
BLOCK = re.compile(r"(<!-- from docs/dev/benchmarks/figures.json -->\n).*?(<!-- end -->)", re.DOTALL)
GRAPHS = {"communities": "communities, shuffled", "rmat": "RMAT"}
PEERS = {"loop": "PyG's layer-wise loop", "dgl": "DGL, whole graph", "dgl-loop": "DGL's layer-wise loop", "scatter": "PyG, whole graph"}


# ---- the file


def keep(file, run, dgl):
    """Replaces the run on the same graph; runs on another machine go."""
    known = json.loads(file.read_text()) if file.is_file() else {}
    here = machine(dgl)
    runs = known.get("runs", []) if known.get("machine") == here else []
    same = {name: run[name] for name in ("graph", "nodes")}
    runs = [other for other in runs if not same.items() <= other.items()] + [run]
    runs.sort(key=lambda one: (-len(one["graph"]), one["graph"], one["nodes"]))
    file.write_text(json.dumps({"machine": here, "runs": rounded(runs)}, indent=1) + "\n")


def machine(dgl):
    import torch
    import torch_geometric
    said = subprocess.run([dgl, "-W", "ignore", "-c", "import dgl; print(dgl.__version__)"], capture_output=True,
                          text=True, check=True).stdout.split() if dgl else []
    return {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "torch": torch.__version__,
            "pyg": torch_geometric.__version__, "dgl": said[-1] if said else None}


def processor():
    """Its name; where a virtual machine hides that, family and model."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    said = dict(re.split(r"\s*: ", line, maxsplit=1) for line in lines if ": " in line)
    name = said.get("model name", platform.machine())
    return f"{name} (family {said['cpu family']}, model {said['model']})" if "cpu family" in said else name


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


# ---- the pages


def times(value):
    """Two digits; "10" rather than "9.95"."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def span(values, ending=""):
    low, high = times(min(values)), times(max(values))
    return f"{low}{ending}" if low == high else f"{low} to {high}{ending}"


def compared(document, peer, column):
    rows = [rows for run in document["runs"] for rows in run["models"].values() if "seconds" in rows.get(peer, {})]
    if column == "peak":
        return [row[peer]["peak"] / row["engine"]["peak"] for row in rows]
    return [row[peer][column] for row in rows]


def headline(document):
    here, run = document["machine"], run_of(document)
    lines = [f"{run['nodes']:,} nodes, {run['edges'] / 1e6:.1f} million edges, three layers, {here['cores']} CPU cores; PyG {here['pyg']}, DGL {here['dgl']}. "
             "PyG's loop takes",
             f"{span(compared(document, 'loop', 'slower'))} times as long as Hopscope, and {span(compared(document, 'loop', 'peak'))} times the memory. "
             f"On {len(document['runs'])} graphs, DGL takes {span(compared(document, 'dgl', 'slower'))} times as long",
             f"and {span(compared(document, 'dgl', 'peak'))} times the memory: [performance](docs/explain/performance.md)."]
    return "\n".join(lines) + "\n"


def cell(row):
    """Of a peer: seconds and process as multiples of the engine's, and the peak."""
    if "seconds" not in row:
        return ""
    wrong = ", wrong" if (row["error"] or 0) > WRONG else ""
    return f"{times(row['slower'])}x, {times(row['process_slower'])}x, {row['peak'] / 1e9:.2g} GB{wrong}"


def sizes(run):
    return f"{GRAPHS[run['graph']]}, {run['nodes']:,} nodes, {run['edges'] / 1e6:.1f} million edges"


def table(document):
    here = document["machine"]
    peers = [peer for peer in PEERS if any(peer in rows for run in document["runs"] for rows in run["models"].values())]
    lines = [f"{here['processor']}, {here['cores']} cores, torch {here['torch']}, PyG {here['pyg']}, DGL {here['dgl']}; load "
             f"{span([run['load_before'] for run in document['runs']])} before the runs.", "",
             "| graph | model | Hopscope: seconds, process, peak | " + " | ".join(PEERS[peer] for peer in peers) + " |",
             "|---|---|---|" + "---|" * len(peers)]
    for run in document["runs"]:
        for name, rows in run["models"].items():
            ours = rows["engine"]
            first = [sizes(run) if name == next(iter(run["models"])) else "", MODELS[name],
                     f"{ours['seconds']:.2g} s, {ours['process']:.2g} s, {ours['peak'] / 1e9:.2g} GB"]
            lines.append(f"| {' | '.join([*first, *[cell(rows.get(peer, {})) for peer in peers]])} |")
    return "\n".join(lines) + "\n"


def written(document):
    """The pages and pictures as they should be."""
    pages = {ROOT / "README.md": headline(document), ROOT / "docs/explain/performance.md": table(document)}
    made = {page: BLOCK.sub(lambda found, text=text: found[1] + text + found[2], page.read_text()) for page, text in pages.items()}
    return made | {ROOT / "docs/images" / name: text for name, text in charts(document).items()}


if __name__ == "__main__":
    for page, text in written(json.loads(FIGURES.read_text())).items():
        if not page.is_file() or page.read_text() != text:
            page.write_text(text)
            print(f"{page.relative_to(ROOT)} has changed", file=sys.stderr)
