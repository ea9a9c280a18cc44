"""What a model of the zoo is, and the tables they are collected in."""
from dataclasses import dataclass
from typing import Callable


class NotTried(Exception):
    """There is no such model: LibTorch itself does not evaluate it."""


@dataclass
class Entry:
    name: str
    build: Callable          # () -> nn.Module
    inputs: Callable         # (graph) -> {argument name: tensor, list or dict of tensors}
    how: str = "trace"       # or "script", "export", "decompose"
    expect: str = "ok"       # "refuse": with exit code 4 and `reason`; "either": a random program may be refused
    reason: str = ""         # a part of the refusal's sentence
    hint: str = ""           # a part of the refusal's hint
    no_optimum: str = ""     # why optimal cuts are refused, a part of the sentence; everything else has an optimum
    roles: tuple = ()        # --role overrides
    batches: tuple = ()      # numbers of destinations in a batch, 0: all at once; none given: 1, 7 and all
    stages: int = 0          # of the depth strategy; 0: not checked
    peaks: bool = True       # predicted peaks of memory are compared
    gpu: bool = True         # runs on the simulated GPU, which has no sparse weights, too
    seed: int = 0            # of the weights
    random: bool = False     # a random program: errors may be as large as what it makes of rounding
    absolute: float = 0      # the largest error allowed; 0: as for every model
    covers: str = ""         # an operator that the compiled model must hold, "aten::relu"
    change: Callable = None  # (compiled model, its arguments) -> another one, which is what it has to compute; or NotTried


class Group:
    """A named list of entries; one list file and one CTest each."""

    def __init__(self, name, all_of_it=True):
        self.name, self.entries = name, []
        self.all_of_it = all_of_it  # every model can be written
        self.untried = {}           # names without a model, and the reason

    def add(self, name, build, inputs, **options):
        if any(e.name == name for e in self.entries):
            raise ValueError(f"two models are named {name}")
        if (options.get("expect") == "refuse") != bool(options.get("reason")):
            raise ValueError(f"{name}: a refusal has a reason, and nothing else has")
        self.entries.append(Entry(name, build, inputs, **options))

    def model(self, inputs, **options):
        """Decorator for a forward function (m, arguments...) of a module that holds the layers of `base`."""
        base = options.pop("base")

        def register(forward):
            name = options.pop("name", forward.__name__)
            kind = type(name, (base,), {"forward": forward})
            self.add(name, kind, inputs, **options)
            return forward

        return register

    def module(self, inputs, **options):
        """Decorator for an nn.Module class without constructor arguments."""

        def register(kind):
            self.add(options.pop("name", kind.__name__), kind, inputs, **options)
            return kind

        return register
