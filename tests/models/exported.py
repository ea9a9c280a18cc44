"""Models of the other groups as exported programs (.pt2): a share of those that the engine computes, and a few by name."""
import io
import zlib
from dataclasses import replace

import torch

import graphs
from registry import Group, NotTried

EVERY = 7  # one of so many, chosen by its name, so that a new model leaves the choice of the others as it is
# Which of the models in so many parts: exported as they are, and decomposed into the operators of core ATen as well.
PARTS = {"export": 0, "decompose": 1}
ALIKE = {"scripted", "operators", "composites"}  # groups whose modules are those of others, or single operators
# One of each kind for the default tier.
SAMPLE = {"convolutions": ["gcn_2", "gatv2_edges_2"], "structures": ["norm_batch", "pool_mean_max_min"], "typed": ["two_types"],
          "learned_rows": ["nodes_as_channels_traced"]}


def dynamic(value):
    """Every size open, as torch.export takes it: torch fixes those that the model itself fixes, such as numbers of features."""
    if isinstance(value, torch.Tensor):
        return dict.fromkeys(range(value.dim()), torch.export.Dim.AUTO)
    if isinstance(value, dict):
        return {key: dynamic(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(dynamic, value))
    return torch.export.Dim.AUTO if type(value) is int else None


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
    values = tuple(inputs.values())
    shapes = dynamic(values)
    problem = None
    for strict in (False, True):
        try:
            with torch.no_grad():
                program = torch.export.export(model, values, dynamic_shapes=shapes, strict=strict)
                exported = Exported(program.run_decompositions() if entry.how == "decompose" else program)
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


def exported(entry, how, name):
    return replace(entry, name=name, how=how, covers="")


def groups():
    found = {"export": Group("exported", all_of_it=False), "decompose": Group("decomposed", all_of_it=False)}
    sample = Group("exported_sample")
    for name, entry in entries():
        part = zlib.crc32(f"{name}/{entry.name}".encode()) % EVERY
        for how, group in found.items():
            if part == PARTS[how]:
                group.entries.append(exported(entry, how, f"{name}_{entry.name}"))
            if entry.name in SAMPLE.get(name, []):
                sample.entries.append(exported(entry, how, f"{entry.name}_{group.name}"))
    return {"exported": found["export"], "decomposed": found["decompose"], "exported_sample": sample}
