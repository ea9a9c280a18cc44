"""Sound models with inputs that somebody changed: other dtypes, shapes, row numbers, keys. ZOO [--count COUNT] [--seed SEED]
[--only MODEL]; HOPSCOPE_ENGINE names the program, ZOO is what tests/models/zoo.py has written.

Whatever the inputs, a run with full verification ends with equal numbers, or with a sentence about the model, the data or the
machine: never as a fault of the engine, by a signal, not at all, or with other numbers than those of the model.
"""
import argparse
import concurrent.futures
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from engine_process import ENGINE, run  # noqa: E402

SECONDS = 300
USAGE, INPUT, UNSUPPORTED, RESOURCES = 2, 3, 4, 6
FLOATS = (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)
WHOLE = (torch.int32, torch.uint8, torch.int16, torch.float32, torch.bool)


# ---- changes of a table of tensors by key

def other_dtype(data, key, chance):
    data[key] = data[key].to(chance.choice(FLOATS if data[key].is_floating_point() else WHOLE))


def fewer_rows(data, key, chance):
    data[key] = data[key][: chance.choice((0, 1, 2, max(len(data[key]) - 1, 0)))] if data[key].dim() else data[key]


def fewer_columns(data, key, chance):
    data[key] = data[key][..., : chance.choice((0, 1, 2))] if data[key].dim() else data[key]


def a_row_more(data, key, chance):
    data[key] = torch.cat([data[key], data[key][:1]]) if data[key].dim() else data[key]


def a_dimension_more(data, key, chance):
    data[key] = data[key].unsqueeze(chance.choice((0, -1)))


def a_dimension_less(data, key, chance):
    data[key] = data[key].select(chance.choice((0, -1)), 0) if data[key].dim() and data[key].numel() else data[key]


def turned(data, key, chance):
    data[key] = data[key].t() if data[key].dim() == 2 else data[key].flip(0) if data[key].dim() == 1 else data[key]


def other_numbers(data, key, chance):
    if data[key].numel() and data[key].dtype != torch.bool:
        data[key] = data[key].clone()
        data[key].view(-1)[chance.randrange(data[key].numel())] = chance.choice((-1, 0, 1, 120, 10**6))


def not_finite(data, key, chance):
    if data[key].is_floating_point() and data[key].numel():
        data[key] = data[key].clone()
        data[key].view(-1)[chance.randrange(data[key].numel())] = chance.choice((float("nan"), float("inf")))


def left_out(data, key, chance):
    del data[key]


def renamed(data, key, chance):
    data[key + chance.choice(("s", ".0", "_dict"))] = data.pop(key)


def a_key_more(data, key, chance):
    data["more"] = data[key].clone()


# Of the whole graph, which stays sound where its edges are in edge_index.
def keep_edges(data, kept):
    edges = len(kept)
    for key, value in data.items():
        if value.dim() == 2 and value.shape == (2, edges):
            data[key] = value[:, kept]
        elif value.dim() and len(value) == edges:
            data[key] = value[kept]


def few_edges(data, key, chance):
    if "edge_index" in data and data["edge_index"].dim() == 2:
        edges = data["edge_index"].shape[1]
        keep_edges(data, torch.arange(edges) < chance.choice((0, 1, 2)))


def few_nodes(data, key, chance):
    if "x" not in data or "edge_index" not in data or data["edge_index"].dim() != 2:
        return
    nodes, left = len(data["x"]), chance.choice((0, 1, 2, 3))
    keep_edges(data, (data["edge_index"] < left).all(0))
    for name, value in data.items():
        if value.dim() and len(value) == nodes:
            data[name] = value[:left]


def one_hub(data, key, chance):
    if "edge_index" in data and data["edge_index"].dim() == 2:
        data["edge_index"] = data["edge_index"].clone()
        data["edge_index"][chance.choice((0, 1))] = 0


CHANGES = (few_edges, few_nodes, one_hub, other_dtype, fewer_rows, fewer_columns, a_row_more, a_dimension_more, a_dimension_less, turned, other_numbers,
           not_finite, left_out, renamed, a_key_more)


def changed(data, chance):
    """A changed copy, and what was done, in words."""
    data, done = dict(data), []
    for _ in range(chance.choice((1, 1, 2))):
        if data:
            key, change = chance.choice(sorted(data)), chance.choice(CHANGES)
            change(data, key, chance)
            done.append(f"{change.__name__}({key})")
    return {key: value.contiguous() for key, value in data.items()}, ", ".join(done)


# ---- runs

def problem_of(done):
    if done is None:
        return f"is not done after {SECONDS} s"
    if done.returncode == 0 and "equal" not in done.stdout:
        return "ends well without being equal"
    if done.returncode in (0, USAGE, INPUT, UNSUPPORTED, RESOURCES):
        return ""
    return f"ends with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"


def tried(model, data, folder):
    save_file(data, folder / "graph.safetensors")
    command = [ENGINE, "run", model, "--data", folder / "graph.safetensors", "-o", folder / "out", "--verify", "full"]
    try:
        return run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return None


def one(case):
    model, seed = case
    chance = random.Random(f"{seed} {model.parent.name} {model.stem}")
    data, words = changed(load_file(model.with_suffix(".g0.safetensors")), chance)
    with tempfile.TemporaryDirectory(prefix="hopscope-changed-") as folder:
        done = tried(model, data, Path(folder))
    return f"{model.parent.name}/{model.stem} [{seed}] {words}", problem_of(done), -1 if done is None else done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("zoo", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    models = sorted(p for p in arguments.zoo.glob("*/*.pt") if not arguments.only or arguments.only == p.stem)
    cases = [(model, seed) for seed in range(arguments.seed, arguments.seed + arguments.count) for model in models]
    random.Random(arguments.seed).shuffle(cases)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(one, cases[: arguments.count]))
    for words, problem, code in rows:
        print(f"{'FAILED' if problem else f'exit {code}'} {words} {problem}", flush=True)
    failed = sum(bool(problem) for _, problem, _ in rows)
    print(f"{len(rows)} runs: {sum(code == 0 for *_, code in rows)} equal, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
