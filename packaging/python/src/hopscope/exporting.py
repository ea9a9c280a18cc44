"""A verified split as a folder of code: `export` writes it, `load` runs it, without the engine."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _html
from ._options import DeviceName, count_of, name_of, path_of
from ._process import command
from ._scratch import Scratch
from ._settings import settings_of, takes
from .commands import by_plan, files
from .documents import Plan
from .errors import InputError, door, kind_of
from .flow import LayeredFlow
from .saving import Saved

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._contract import ExportSettings


_REMEDIES = {
    2: 'load the folder with device="cpu"',
    3: "schema.json in the folder lists the inputs; the graph must have the same kinds of nodes and edges",
    6: "free memory or disk space, or load the folder with a smaller batch=",
}


@dataclass(frozen=True)
class Export:
    """A self-contained folder (docs/guides/exporting.md). `document` is its schema.json."""

    folder: Path
    document: dict[str, Any] = field(repr=False)
    saved: Saved | None = field(repr=False, default=None)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The verdict of the comparison with the model's own `forward`: "equal", since nothing else is exported."""
        return str(self.document["verification"]["verdict"])

    @property
    def methods(self) -> list[str]:
        """The methods of the exported module, in the order in which they run."""
        return ["prologue", *(loop["method"] for loop in self.document["code"]["loops"])]

    def _repr_html_(self) -> str:
        return _html.export(self)

    def load(self) -> Exported:
        """The folder's runner."""
        return load(self.folder)


@door
@takes("export")
def export(
    model: Any,
    data: Any,
    out: str | os.PathLike[str],
    *,
    plan: Plan | str | os.PathLike[str] | None = None,
    pins: Sequence[Sequence[Any]] = (),
    roles: Any = (),
    scratch: str | os.PathLike[str] | None = None,
    **settings: Unpack[ExportSettings],
) -> Export:
    """Writes a model's split, verified on this data, as a new folder `out` with Python code, TorchScript, weights, a
    schema and a runner. `model`, `data`, `plan`, `pins`, `roles` and `scratch` are those of `inference`.

    Args:
        SETTINGS

    Raises InputError if the folder exists, Refused if the split cannot be expressed as code, and VerificationError
    if it is not verified. A failure leaves no folder.
    """
    chosen = settings_of("export", settings)
    with files(model, data, roles, scratch, once=False) as given, Scratch() as place:
        target = path_of("out", out).absolute()
        answer = command("export", *given.words, *by_plan(chosen, plan, pins, given, place), "-o", str(target))
        return Export(target, answer.document, given.saved, given.told(answer.notes))


class Exported:
    """The runner of an exported folder: its own run.py, in this process. `document` is its schema.json."""

    def __init__(self, folder: Path, module: ModuleType, device: str, batch: int | None) -> None:
        self.folder, self.device, self.batch = folder, device, batch
        self._module = module
        with self._problems():
            self._runner = module.Runner(folder)
        self.document: dict[str, Any] = self._runner.schema

    def __repr__(self) -> str:
        names = ", ".join(tensor["name"] for tensor in self._runner.inputs)
        return f"Exported({self.folder}: {names})"

    @door
    def inference(self, **inputs: Any) -> Any:
        """Computes the return value of `forward` for these arguments, by name: tensors, or dicts and lists of them. The
        graph may differ from that of the export. Raises InputError if an input is missing or unsuitable."""
        data: dict[str, Any] = {}
        for name, value in inputs.items():
            self._module.flatten(name, value, data)
        with self._problems(), Scratch() as place:
            outputs = self._runner.run(data, place.folder(), self.device, self.batch)
            return _nested({name: tensor.clone() for name, tensor in outputs.items()})

    @door
    def flow(self, **inputs: Any) -> LayeredFlow:
        """A graph to go through layer by layer: blocks, their rows in the whole graph, functions of your own."""
        data: dict[str, Any] = {}
        for name, value in inputs.items():
            self._module.flatten(name, value, data)
        with self._problems():
            return LayeredFlow(self._module, self._runner, data, self.device, self.batch)

    @contextlib.contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except self._module.Problem as problem:
            raise kind_of(problem.code)(str(problem), _REMEDIES.get(problem.code, "")) from problem


@door
def load(folder: str | os.PathLike[str], *, device: DeviceName = "auto", batch: int | None = None) -> Exported:
    """Returns the runner of an exported folder, for "cpu", "cuda", "cuda:1", a torch.device or "auto" (a GPU if there
    is one), with `batch` destination nodes per batch. It runs the code in the folder: load only folders you trust."""
    path, batch = path_of("folder", folder), count_of("batch", batch)
    if not (path / "schema.json").is_file() or not (path / "run.py").is_file():
        raise InputError(f"{path} is no exported folder: it has no schema.json and run.py", "hopscope.export makes one")
    try:
        json.loads((path / "schema.json").read_text(encoding="utf-8"))
    except ValueError as problem:
        raise InputError(f"{path / 'schema.json'} is damaged: {problem}", "export the model again") from problem
    spec = importlib.util.spec_from_file_location("hopscope_exported_run", path / "run.py")
    if spec is None or spec.loader is None:
        raise InputError(f"{path / 'run.py'} cannot be read", "export the model again")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Exported(path, module, _resolved(name_of(device)), batch)


def _resolved(device: str) -> str:
    import torch

    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def _nested(outputs: dict[str, Any]) -> Any:
    """ "out", or "out.0", "out.1", "out.KEY" as forward returns them: a tensor, a tuple, a dict."""
    if list(outputs) == ["out"]:
        return outputs["out"]
    branches: dict[str, dict[str, Any]] = {}
    for name, tensor in outputs.items():
        key, _, rest = name.removeprefix("out.").partition(".")
        branches.setdefault(key, {})["out." + rest if rest else "out"] = tensor
    items = {key: _nested(branch) for key, branch in branches.items()}
    if list(items) == [str(number) for number in range(len(items))]:
        return tuple(items.values())
    return items
