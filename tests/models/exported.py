"""Models of the other groups as exported programs (.pt2): every so many of those that the engine computes, and a few by name."""
import io
from dataclasses import replace

import torch

import graphs
from registry import Group, NotTried

EVERY = 8
ALIKE = {"scripted", "operators", "composites"}  # groups whose modules are those of others, or single operators
# One of each kind for the default tier.
SAMPLE = {"convolutions": ["gcn_2", "gatv2_edges_2"], "structures": ["norm_batch", "pool_mean_max_min"], "typed": ["two_types"]}


def dynamic(value, other):
    """The sizes that differ between two graphs, as torch.export takes them."""
    if isinstance(value, torch.Tensor):
        return {dim: torch.export.Dim.AUTO for dim in range(value.dim()) if value.size(dim) != other.size(dim)}
    if isinstance(value, dict):
        return {key: dynamic(value[key], other[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return type(value)(dynamic(a, b) for a, b in zip(value, other))
    return torch.export.Dim.AUTO if type(value) is int and value != other else None


class Exported:
    """An exported program with the methods of a TorchScript module that zoo.py calls."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *values):
        return self.program.module()(*values)

    def save(self, path):
        archive = io.BytesIO()
        torch.export.save(self.program, archive)
        open(path, "wb").write(archive.getvalue())


def export(entry, model, inputs):
    values, shapes = tuple(inputs.values()), dynamic(tuple(inputs.values()), tuple(entry.inputs(graphs.test_graphs()[0]).values()))
    problem = None
    for strict in (False, True):
        try:
            with torch.no_grad():
                exported = Exported(torch.export.export(model, values, dynamic_shapes=shapes, strict=strict))
            exported.save("/dev/null")
            return exported
        except Exception as error:
            problem = problem or error
    raise NotTried(f"torch.export: {type(problem).__name__}: {str(problem).strip().splitlines()[0]}")


def entries():
    """(group, entry) of the models that are computed and made by the zoo itself."""
    import zoo

    for name in zoo.MODULES:
        if name in zoo.APART | ALIKE or name.endswith("programs"):
            continue
        for entry in zoo.load_group(name, None).entries:
            if entry.expect == "ok" and entry.change is None:
                yield name, entry


def exported(entry, name):
    return replace(entry, name=name, how="export", covers="")


def groups():
    all_of_it, sample = Group("exported", all_of_it=False), Group("exported_sample")
    for number, (name, entry) in enumerate(entries()):
        if number % EVERY == 0:
            all_of_it.entries.append(exported(entry, f"{name}_{entry.name}"))
        if entry.name in SAMPLE.get(name, []):
            sample.entries.append(exported(entry, entry.name))
    return {"exported": all_of_it, "exported_sample": sample}
