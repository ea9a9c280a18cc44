"""Writes the zoo: every model as TorchScript, its graphs, and what eager PyTorch computes.

Usage: zoo.py OUTDIR [--cover] [--every NUMBER] [--group NAME]... [--only MODEL]... [--programs COUNT] [--first SEED]
--cover: only the models that the quick and the default tier run (cover.txt). --every: only one of so many.
Per model it writes OUTDIR/GROUP/NAME.pt, NAME.g0.safetensors (a graph), NAME.e0.safetensors (eager outputs), ...;
OUTDIR/GROUP.list is what test_models reads. Nothing is done again while the generator's sources are the same.
"""
import argparse
import hashlib
import importlib
import os
import sys
import time
import warnings
from copy import deepcopy

import torch
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "support"))
import light_pyg  # noqa: E402, F401 (has an effect)
import torch_geometric  # noqa: E402

import cover
import exported
import graphs
from layers import Parts
from registry import NotTried

MODULES = {"convolutions": "convolutions", "scripted": "convolutions", "structures": "structures",
           "compressed_rows": "compressed_rows", "bags": "bags", "adjacencies": "adjacencies", "counted_rows": "counted_rows", "learned_rows": "learned_rows", "added_rows": "added_rows",
           "neighbour_tables": "neighbour_tables", "further": "further",
           "writings": "writings", "numbers": "sizes_and_ids", "positions": "positions", "typed": "typed",
           "whole_graphs": "whole_graphs",
           "refused": "refused", "sentences": "refusal_sentences",
           "operators": "operators", "sharing": "sharing", "programs": "programs", "table_programs": "programs",
           "row_programs": "row_programs", "wide_programs": "wide_programs", "composites": "composites", "field": "field", "arguments": "arguments", "signatures": "signatures",
           "exported": "exported", "decomposed": "exported", "exported_sample": "exported"}
APART = {"arguments", "signatures", "exported", "decomposed", "exported_sample"}  # written only where they are asked for


def parts_of(name, matrix):
    """Data keys of a sparse matrix."""
    size = torch.tensor(matrix.shape)
    if matrix.layout == torch.sparse_csr:
        return {f"{name}.csr_crow": matrix.crow_indices(), f"{name}.csr_col": matrix.col_indices(),
                f"{name}.csr_values": matrix.values(), f"{name}.csr_size": size}
    return {f"{name}.coo_indices": matrix._indices().contiguous(), f"{name}.coo_values": matrix._values(), f"{name}.coo_size": size}


def flat(name, value):
    """Data keys of a value: "x", "xs.user", "adjs.0"."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        return {name: value.detach().contiguous().clone()}
    if isinstance(value, torch.Tensor):
        return parts_of(name, value)
    if isinstance(value, (bool, int, float)):
        return {name: torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    out = {}
    for key, item in items:
        out.update(flat(f"{name}.{key}", item))
    return out


def copy(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {k: copy(v) for k, v in value.items()}
    return type(value)(copy(v) for v in value)


def randomise(model, seed):
    """Weights that hide nothing: no zero biases, no unit scales, no fresh running statistics."""
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 1:
                p += 0.1 * torch.randn(p.shape, generator=generator)
        for name, b in model.named_buffers():
            if name.endswith("running_mean"):
                b += 0.1 * torch.randn(b.shape, generator=generator)
            if name.endswith("running_var"):
                b += 0.2 * torch.rand(b.shape, generator=generator)


def call(model, inputs):
    with torch.no_grad():
        return flat("out", model(*[copy(v) for v in inputs.values()]))


def drop_unused(model, inputs):
    """Tracing visits every module, and with those that many models share and few use it takes twice as long."""
    seen, kind = set(), type(model)

    def watched(self, name):
        seen.add(name)
        return torch.nn.Module.__getattr__(self, name)

    kind.__getattr__ = watched
    try:
        with torch.random.fork_rng():
            call(model, inputs)
    finally:
        del kind.__getattr__
    for name in set(model._modules) - seen:
        delattr(model, name)


def compile_model(entry, model, inputs):
    if entry.how == "script":
        return torch.jit.script(model)
    if entry.how in exported.PARTS:
        return exported.export(entry, model, inputs)
    with torch.no_grad():
        return torch.jit.trace(model, tuple(copy(v) for v in inputs.values()), check_trace=False, strict=False)


def same(a, b):
    return a.keys() == b.keys() and all(
        a[k].shape == b[k].shape and torch.allclose(a[k].double(), b[k].double(), 1e-4, 1e-5, equal_nan=True)
        for k in a)


def expected_outputs(entry, model, compiled, inputs):
    """Eager outputs; for models that are refused, what the file itself computes, if it can."""
    if entry.expect == "ok":
        out = call(model, inputs)
        if not same(out, call(compiled, inputs)):
            raise ValueError("the compiled model differs from the eager one")
        return out
    try:
        return call(compiled, inputs)
    except Exception:
        return {"out": torch.zeros(0)}


def kinds(block):
    """All operators of a block and of those inside it."""
    for node in block.nodes():
        yield node.kind()
        for inner in node.blocks():
            yield from kinds(inner)


def check_cover(entry, path):
    if entry.covers.startswith("aten::") and entry.covers not in kinds(torch.jit.load(path).inlined_graph):
        raise ValueError(f"the model does not hold {entry.covers}")


def off_from_double(model, inputs, exact):
    """How far outputs are from those in float64, if that is still rounding: not where a branch or a comparison turned."""
    wide = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    try:
        double = call(deepcopy(model).double(), wide)
    except RuntimeError:  # a dtype is part of the program
        return 0.0
    off = [(double[k].double() - v.double()).nan_to_num().abs().max().item()
           for k, v in exact.items() if v.numel() and k in double and double[k].shape == v.shape]
    most = max(off, default=0.0)
    return most if most < 1e-3 else 0.0


def changed_by_rounding(model, inputs):
    """How far outputs move where inputs differ in their last digit, or are from exact ones: what some random programs make of
    rounding. The engine asks the same where numbers differ (core/verify/rounding.h)."""
    exact = call(model, inputs)
    most = off_from_double(model, inputs, exact)
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        moved = call(model, {k: v * (1 + 1e-7 * torch.randn(v.shape, generator=generator)) if v.is_floating_point() else v
                             for k, v in inputs.items()})
        most = max([most] + [(exact[k].double() - moved[k].double()).nan_to_num().abs().max().item()
                             for k in exact if exact[k].numel() and exact[k].shape == moved[k].shape])
    return most


def write_model(entry, folder):
    torch.manual_seed(entry.seed + 100)
    model = entry.build().eval()
    randomise(model, entry.seed)
    model = model.eval()
    if isinstance(model, Parts) and entry.how == "trace":
        drop_unused(model, entry.inputs(graphs.trace_graph()))
    compiled = compile_model(entry, model, entry.inputs(graphs.trace_graph()))
    if entry.change:
        compiled = model = entry.change(compiled, [copy(v) for v in entry.inputs(graphs.trace_graph()).values()])
    compiled.save(f"{folder}/{entry.name}.pt")
    check_cover(entry, f"{folder}/{entry.name}.pt")
    for number, graph in enumerate(graphs.test_graphs()):
        inputs = entry.inputs(graph)
        if entry.random:
            entry.absolute = max(entry.absolute, 1e-5 + 4 * changed_by_rounding(model, inputs))
        keys = {}
        for name, value in inputs.items():
            keys.update(flat(name, value))
        save_file(keys, f"{folder}/{entry.name}.g{number}.safetensors")
        save_file(expected_outputs(entry, model, compiled, inputs), f"{folder}/{entry.name}.e{number}.safetensors")


def list_line(entry, folder, tier):
    fields = {"name": entry.name, "model": f"{folder}/{entry.name}.pt", "expect": entry.expect}
    if tier == "quick":
        fields["quick"] = "1"
    for number in range(2):
        fields[f"data{number}"] = f"{folder}/{entry.name}.g{number}.safetensors"
        fields[f"expected{number}"] = f"{folder}/{entry.name}.e{number}.safetensors"
    if entry.reason:
        fields["reason"] = entry.reason
    if entry.hint:
        fields["hint"] = entry.hint
    if entry.no_optimum:
        fields["no_optimum"] = entry.no_optimum
    if entry.roles:
        fields["roles"] = ";".join(entry.roles)
    if entry.batches:
        fields["batches"] = ",".join(map(str, entry.batches))
    if entry.stages:
        fields["stages"] = str(entry.stages)
    if entry.absolute:
        fields["absolute"] = f"{entry.absolute:.3g}"
    for name in ("peaks", "gpu"):
        if not getattr(entry, name):
            fields[name] = "0"
    return "\t".join(f"{k}={v}" for k, v in fields.items())


def stamp(arguments):
    versions = [sys.version, torch.__version__, torch_geometric.__version__]
    digest = hashlib.sha256(repr((versions, arguments.cover, arguments.every, arguments.programs, arguments.first)).encode())
    for name in sorted(os.listdir(HERE)):
        if name.endswith((".py", ".txt")):
            digest.update(open(os.path.join(HERE, name), "rb").read())
    return digest.hexdigest()


def write_group(group, arguments, failures):
    folder = os.path.join(arguments.out, group.name)
    os.makedirs(folder, exist_ok=True)
    lines, untried, start = [], dict(group.untried), time.time()
    tiers = {name: tier for of, name, tier in cover.read_cover() if of == group.name}
    for entry in group.entries[:: arguments.every]:
        if (arguments.only and entry.name not in arguments.only) or (arguments.cover and entry.name not in tiers):
            continue
        try:
            write_model(entry, folder)
            lines.append(list_line(entry, folder, tiers.get(entry.name)))
        except NotTried as problem:
            untried[entry.name] = problem
        except Exception as problem:
            said = f"{type(problem).__name__}: {str(problem).strip()[-600:]}"
            if not group.all_of_it:
                untried[entry.name] = said.splitlines()[-1]
                continue
            failures.append(entry.name)
            print(f"{group.name}: {entry.name}: {said}", flush=True)
    with open(f"{folder}.list", "w") as file:
        file.writelines(line + "\n" for line in lines)
    with open(f"{folder}.untried", "w") as file:
        file.writelines(f"{name}\t{reason}\n" for name, reason in untried.items())
    print(f"{group.name}: {len(lines)} models in {time.time() - start:.1f} s", flush=True)
    if untried:
        print(f"{group.name}: {len(untried)} that LibTorch does not evaluate, such as {min(untried)}: {untried[min(untried)]}")


def load_group(name, arguments):
    module = importlib.import_module(MODULES[name])
    if name.endswith("programs"):
        return module.group(arguments.first, arguments.programs, name)
    if name == "convolutions":
        return module.traced
    if MODULES[name] == "exported":
        return module.groups()[name]
    return module.scripted if name == "scripted" else module.group


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--group", action="append", choices=list(MODULES))
    parser.add_argument("--only", action="append")
    parser.add_argument("--cover", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--programs", type=int, default=64)
    parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    arguments.out = os.path.abspath(arguments.out)
    os.makedirs(arguments.out, exist_ok=True)
    failures = []
    for name in arguments.group or [name for name in MODULES if name not in APART]:
        mark = os.path.join(arguments.out, f"{name}.stamp")
        if not arguments.only and os.path.exists(mark) and open(mark).read() == stamp(arguments):
            print(f"{name}: up to date")
            continue
        before = len(failures)
        write_group(load_group(name, arguments), arguments, failures)
        if not arguments.only and len(failures) == before:
            open(mark, "w").write(stamp(arguments))
    if failures:
        sys.exit(f"{len(failures)} models could not be generated: {' '.join(failures)}")


if __name__ == "__main__":
    main()
