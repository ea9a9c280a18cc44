"""What gpu_check.py prints: the lower bound of a run, the table of all steps, that of peers, the report files."""
import json

FLOAT = 4  # bytes


def walls(stage, widths, nodes, edges, rates):
    """Seconds that each resource of the machine needs for a stage of the generated GraphSAGE on its own. Bytes
    that are copied are those that the run has counted, with what its batches read twice and without what stays on the GPU.
    Messages are counted at the narrower of a layer's two widths: the product may come first."""
    into, out = widths
    copies, moved = rates["copies"], stage["bytes"]
    return {
        "gathers": moved["h2d"] / copies["gather"],
        "host-to-device copies": (moved["h2d"] + moved["structure"]) / copies["up"],
        "device-to-host copies": moved["d2h"] / copies["down"],
        "GPU memory": edges * min(into, out) * FLOAT / rates["aggregate"]
        + nodes * (into + out) * FLOAT / rates["elementwise"],
        "matrix products": 2 * 2 * nodes * into * out / rates["matmul"],  # of the row itself, of its neighbours
    }


def bound(document, rates):
    """(seconds, the bottleneck of each stage) of a `hopscope-bench run` document: no run with its batches can be faster on a machine with
    these rates. None where stages are not layers."""
    options, case = document["options"], document["cases"][0]
    widths = [options["features"], *[options["hidden"]] * (options["layers"] - 1), options["outputs"]]
    if not rates or len(case["stages"]) != options["layers"]:
        return None
    found = [walls(stage, widths[i:i + 2], case["nodes"], case["edges"], rates)
             for i, stage in enumerate(case["stages"])]
    nearest = [max(each, key=each.get) for each in found]
    return sum(max(each.values()) for each in found), nearest


def seconds_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def rate_text(rate):
    return f"{rate / 1e9:.3g} GB/s"


def cells(step):
    limit = step.get("bound_seconds")
    share = f"{100 * limit / step['measured_seconds']:.0f} %" if limit else ""
    said = step["verdict"] + (f": {step['reason']}" if step.get("reason") else "")
    return [step["name"], step["measured"], seconds_text(limit) if limit else "", share, said]


HEAD = ["step", "measured", "bound", "share", "verdict"]


def table(steps):
    return aligned([HEAD, *map(cells, steps)])


def aligned(lines):
    """For a terminal: columns as wide as what is in them."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown_table(lines):
    lines = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def peer_lines(document):
    """A line for each program of a bench_gpu.py document; `/ engine`: as a multiple of the engine's."""
    head = ["model", "program", "device", "host to host", "/ engine", "process", "peak", "/ engine", "error"]
    return [head, *(peer_cells(model, name, row, rows["engine"])
                    for model, rows in document["models"].items() for name, row in rows.items())]


def peer_cells(model, name, row, engine):
    if "missing" in row:
        return [model, name, *[""] * 6, f"not measured: {row['missing']}"]
    device = seconds_text(row["device"]) if "device" in row else ""
    wrong = "unknown" if row["error"] is None else f"{row['error']:.1e}"
    return [model, name, device, seconds_text(row["host"]), f"{row['host'] / engine['host']:.2f}",
            seconds_text(row["process"]), f"{row['peak'] / 2**30:.2f} GiB", f"{row['peak'] / engine['peak']:.2f}", wrong]


def nearest_peers(document):
    """Of each model, how long PyG's fastest variant takes from host to host beside the engine, or, without one, the fastest peer."""
    said = []
    for model, rows in document["models"].items():
        times = {name: row["host"] / rows["engine"]["host"] for name, row in rows.items()
                 if "host" in row and name not in document["ours"]}
        times = {name: ratio for name, ratio in times.items() if name in document["pyg"]} or times
        if times:
            name = min(times, key=times.get)
            said.append(f"{model} {times[name]:.2f}x ({name})")
    return ", ".join(said)


def markdown(report):
    facts = "\n".join(f"- {name}: {value}" for name, value in report["machine"].items() if value)
    rates = report.get("rates") or {}
    copies = "\n".join(f"- {name}: {value}" for name, value in rates_lines(rates))
    walls_of = "\n".join(f"- {step['name']}: {', '.join(step['walls'])}" for step in report["steps"] if step.get("walls"))
    tails = "\n".join(f"\n### {step['name']}\n```\n{step['output']}\n```" for step in report["steps"]
                      if step["verdict"] == "FAILED" and step.get("output"))
    peers = "\n\n".join(markdown_table(peer_lines(step["peers"])) for step in report["steps"] if step.get("peers"))
    parts = [f"# Hopscope on a GPU: {report['verdict']}", facts, markdown_table([HEAD, *map(cells, report["steps"])]),
             "The bound is the sum of the bottleneck times of all stages at the rates below; see docs/guides/gpu.md.",
             peers and f"## Peers\n{peers}", copies and f"## Rates\n{copies}",
             walls_of and f"## Bottleneck of each stage\n{walls_of}",
             tails and f"## Output of failed steps{tails}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def rates_lines(rates):
    """Names and words of what `bench machine --json` has measured."""
    lines = [(f"copies, {name}", rate_text(value)) for name, value in rates.get("copies", {}).items()
             if not isinstance(value, bool)]
    lines += [(name, rate_text(rates[name])) for name in ("read", "gather", "write", "structure", "elementwise", "aggregate")
              if name in rates]
    if "matmul" in rates:
        lines += [("matmul", f"{rates['matmul'] / 1e12:.3g} TFLOP/s"), ("call", seconds_text(rates["call"]))]
    return lines


def write(report, folder):
    (folder / "gpu-check-report.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / "gpu-check-report.md").write_text(markdown(report))
