"""`hopscope.inference` on the modules of the zoo that run from files: the outputs are those of the module's own forward.

Usage: python_door.py [--via WAY] [--every NUMBER] [--group NAME]... [--only MODEL]... [--most-misses PERCENT]
--every: one model of so many, chosen by its name. A model that the zoo expects to be refused may be refused here, or be equal; of
the others, --most-misses percent may be refused. Fails on a wrong number and on exceptions that are not those of the package.
--via export: the group of exported programs, each on two graphs, in batches and at once; what torch.export itself refuses with the
sizes of the zoo is not tried.
HOPSCOPE_ENGINE names the engine.
"""
import argparse
import multiprocessing
import sys
import time
import warnings
import zlib
from collections import Counter

import torch

import by_forks  # noqa: F401 (has an effect)
import engine_process
import exported
import graphs
import zoo
from registry import NotTried

import hopscope

AT_ONCE = 100_000
# By `via`: the groups, and the numbers of the graphs with the sizes of batches.
GROUPS = {"auto": [name for name in zoo.MODULES if name not in zoo.APART], "export": ["exported"]}
RUNS = {"auto": [(0, 7)], "export": [(0, 7), (0, AT_ONCE), (1, 7), (1, AT_ONCE)]}


def module_of(entry):
    torch.manual_seed(entry.seed + 100)
    model = entry.build().eval()
    zoo.randomise(model, entry.seed)
    return model.eval()


def differs(expected, found, absolute):
    if expected.keys() != found.keys():
        return f"outputs {sorted(found)}, not {sorted(expected)}"
    for name, value in expected.items():
        got = torch.as_tensor(found[name])
        if got.shape != value.shape:
            return f"{name} is {list(got.shape)}, not {list(value.shape)}"
        if not torch.allclose(got.double(), value.double(), 1e-4, max(absolute, 1e-5), equal_nan=True):
            return f"{name} is off by {(got.double() - value.double()).abs().max():.3g}"
    return ""


def verdict(entry, model, inputs, batch, via):
    absolute = max(entry.absolute, 1e-5 + 4 * zoo.changed_by_rounding(model, inputs)) if entry.random else entry.absolute
    expected = zoo.call(model, inputs)
    try:
        result = hopscope.inference(model, {name: zoo.copy(value) for name, value in inputs.items()}, device="cpu", batch=batch,
                                    verify="none", roles=list(entry.roles), progress=False, via=via)
    except (hopscope.Refused, hopscope.InputError) as refused:
        return "refused", str(refused)
    difference = differs(expected, zoo.flat("out", result.output), absolute)
    return ("wrong", difference) if difference else ("equal", "")


def worst(entry, via):
    """The first verdict on a run that is not equal, or the last one."""
    model, all_inputs = module_of(entry), [entry.inputs(graph) for graph in graphs.test_graphs()]
    for number, batch in RUNS[via]:
        what, text = verdict(entry, model, all_inputs[number], batch, via)
        if what != "equal":
            break
    if what == "refused" and via == "export":
        exported.export(entry, model, entry.inputs(graphs.trace_graph()))
    return what, text


def entries_of(group, arguments):
    for entry in zoo.load_group(group, argparse.Namespace(first=1, programs=64)).entries:
        named = zlib.crc32(f"{group}/{entry.name}".encode()) % arguments.every == 0
        if entry.change is None and (entry.name in arguments.only if arguments.only else named):
            yield entry


def run_group(group, arguments):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    counts = Counter()
    for entry in entries_of(group, arguments):
        began = time.monotonic()
        try:
            what, text = worst(entry, arguments.via)
        except NotTried as reason:
            print(f"{group}/{entry.name}  not tried  {reason}", flush=True)
            continue
        except Exception as problem:
            what, text = "wrong", f"{type(problem).__name__}: {problem}"
        if what == "refused" and entry.expect == "ok":
            what = "missed"
        counts[what] += 1
        print(f"{group}/{entry.name}  {what}  {time.monotonic() - began:.2f} s  {text}", flush=True)
    return counts


def counts_of(group, arguments):
    """In a process of its own: PyG compiles `propagate` for the first module of a class, and all others of the process share it. A
    fork, since importing PyG takes longer than most groups."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(False)
    process = context.Process(target=lambda: writer.send(run_group(group, arguments)))
    process.start()
    writer.close()
    try:
        return reader.recv()
    finally:
        process.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--via", choices=list(RUNS), default="auto")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--group", action="append", choices=list(zoo.MODULES))
    parser.add_argument("--only", action="append")
    parser.add_argument("--most-misses", type=float, default=0)
    arguments = parser.parse_args()
    engine_process.forking()  # which all groups share
    counts = sum((counts_of(group, arguments) for group in arguments.group or GROUPS[arguments.via]), Counter())
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    sys.exit(1 if counts["wrong"] or 100 * counts["missed"] > arguments.most_misses * counts.total() else 0)


if __name__ == "__main__":
    main()
