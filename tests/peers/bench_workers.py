"""What a second worker is worth: `hopscope-scale run` on this machine with one worker of one core and with two, in turn.

    bench_workers.py --engine ENGINE [--graph rmat|communities] [--nodes 1000000] [--degree 16] [--model sage]
                     [--rounds 5] [--results FOLDER] [--json]

Stages alone, without starting: time counts from when the last worker has joined to the last barrier, and what the first
one has computed of stage 1 by then is taken off on the other side. `--results` says where the stores are written: by
default /dev/shm, since a disk has its own limit. Prints each round, and the medians of the stages.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_peers import prepare
from graphs import GRAPHS
from peers import BASIC

PACKAGE = Path(__file__).parents[2] / "packaging" / "python" / "src"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--graph", choices=GRAPHS, default="rmat")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--model", choices=BASIC, default="sage")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--results", default="/dev/shm")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def run(options, folder, workers):
    """The events of a run."""
    with tempfile.TemporaryDirectory(dir=options.results) as results:
        events = Path(results) / "events"
        subprocess.run(
            [sys.executable, "-m", "hopscope.scale", "run", folder / f"{options.model}.pt", "--data",
             folder / "graph.safetensors", "-o", Path(results) / "out", "--address", "local", "--workers", str(workers),
             "--threads", "1", "--events", events, "--verify", "none", "--quiet", "--trust"],
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "HOPSCOPE_ENGINE": str(options.engine)}, check=True)
        return [json.loads(line) for line in events.read_text().splitlines()]


def stages(events):
    """Seconds of each stage since all have joined, and the share of stage 1 that was computed since then."""
    barriers = [event["time"] for event in events if event["event"] == "barrier"]
    joined = min(barriers[0], max(event["time"] for event in events if event["event"] == "joined"))
    begun, work, left = {}, 0.0, 0.0
    for event in events:
        if event.get("stage") == 1 and event["event"] == "begun":
            begun[event["number"]] = event["time"]
        elif event.get("stage") == 1 and event["event"] == "shard":
            start, end = begun[event["number"]], event["time"]
            work += event["work"]
            left += event["work"] * min(max((end - joined) / max(end - start, 1e-9), 0.0), 1.0)
    return [end - start for start, end in zip([joined, *barriers], barriers)], left / work


def round_of(options, folder):
    one, two = (stages(run(options, folder, workers)) for workers in (1, 2))
    (alone, _), (together, left) = one, two
    expected = [alone[0] * left, *alone[1:]]
    whole = together[0] / left if left else 0.0
    return {"one": alone, "two": [whole, *together[1:]], "ratio": sum(expected) / sum(together)}


def summary(rounds):
    medians = {who: [statistics.median(values) for values in zip(*(each[who] for each in rounds))] for who in ("one", "two")}
    ratios = sorted(each["ratio"] for each in rounds)
    return {**medians, "ratio": statistics.median(ratios), "least": ratios[0], "most": ratios[-1]}


def seconds(values):
    return " + ".join(f"{value:.3f}" for value in values)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        options.models = [options.model]
        prepare(folder, options)
        run(options, folder, 1)  # so that the files are in memory
        rounds = []
        for _ in range(options.rounds):
            rounds.append(round_of(options, folder))
            if not options.json:
                last = rounds[-1]
                print(f"one {seconds(last['one'])} s, two {seconds(last['two'])} s: {last['ratio']:.2f} x", flush=True)
    found = summary(rounds)
    if options.json:
        print(json.dumps({"rounds": rounds, **found}))
    else:
        print(f"median: one {seconds(found['one'])} s, two {seconds(found['two'])} s; two are {found['ratio']:.2f} x as fast "
              f"({found['least']:.2f} to {found['most']:.2f})")


if __name__ == "__main__":
    main()
