"""A verified split as a folder of code: `export` writes it, `load` runs it, without the engine."""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _html
from ._log import finished
from ._options import DeviceName, Pins, Place, Roles, count_of, name_of, path_of
from ._process import command
from ._scratch import Scratch
from ._settings import settings_of, takes
from ._words import listed
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


@dataclass(frozen=True, repr=False)
class Export:
    """A self-contained folder that `export` has written (docs/guides/exporting.md).

    Attributes:
        folder (Path): The folder.
        document (dict[str, Any]): The content of its schema.json (docs/reference/format-schema.md).
        saved (Saved | None): The file of a model that was in memory.
        notes (list[str]): Sentences about assumptions and ignored inputs.
    """

    folder: Path
    document: dict[str, Any]
    saved: Saved | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The verdict of the comparison with the model's own `forward`: "equal", because export requires it."""
        return str(self.document["verification"]["verdict"])

    @property
    def methods(self) -> list[str]:
        """The methods of the exported module for the prologue and the loops, in the order in which they run."""
        return ["prologue", *(loop["method"] for loop in self.document["code"]["loops"])]

    def load(self) -> Exported:
        """Loads the folder, as `hopscope.load` does.

        Returns:
            Exported: The runner of the folder.
        """
        return load(self.folder)

    def __repr__(self) -> str:
        return f"Export({self.folder}: {self.verdict}; {listed(self.methods)})"

    def _repr_html_(self) -> str:
        rows = (
            (loop["method"], loop["destination"], f"stage_{loop['stage']}.py", len(loop["arguments"]),
             len(loop["results"]))
            for loop in self.document["code"]["loops"]
        )  # fmt: skip
        methods = _html.grid(("method", "for all of", "file", "arguments", "results"), rows)
        return _html.page(f"{self.folder}: {self.verdict}", methods, _html.listing(self.notes))


@door
@takes("export")
def export(
    model: Any,
    data: Any,
    out: Place,
    *,
    plan: Plan | Place | None = None,
    pins: Pins = (),
    roles: Roles = (),
    scratch: Place | None = None,
    **settings: Unpack[ExportSettings],
) -> Export:
    """Writes the split of a model, verified on this data, as a folder with Python code, TorchScript, weights, a schema
    and a runner. The folder needs neither Hopscope nor the model file.

    Args:
        model (torch.nn.Module | Saved | str | Path): As for `inference`.
        data (Any): As for `inference`.
        out (str | Path): The new folder.
        plan (Plan | str | Path | None): The plan to export, as for `inference`.
        pins (Sequence[Sequence[str | int]]): As for `inference`.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        scratch (str | Path | None): As for `inference`.
        **settings: The settings of an export (docs/reference/settings.md).

    Returns:
        Export: The folder.

    Raises:
        InputError: The folder exists, or an input is unsuitable.
        Refused: The split cannot be expressed as code.
        VerificationError: The split differs or cannot be verified.
        HopscopeError: As for `inference`. A failure leaves no folder behind.

    Example:
        >>> exported = hopscope.export(model, data, "exported", device="cpu")
        >>> exported
        Export(...exported: equal; prologue, stage_1, stage_2)
    """
    chosen = settings_of("export", settings)
    with files(model, data, roles, scratch, once=False) as given, Scratch() as place:
        target = path_of("out", out).absolute()
        answer = command("export", *given.words, *by_plan(chosen, plan, pins, given, place), "-o", str(target))
        return finished(Export(target, answer.document, given.saved, given.told(answer.notes)))


class Exported:
    """The runner of an exported folder: its own run.py, in this process.

    Attributes:
        folder (Path): The folder.
        device (str): The device on which it computes.
        batch (int | None): Destination nodes per batch; None: as the runner chooses.
        document (dict[str, Any]): The content of its schema.json.
    """

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
        """Computes the return value of `forward`. The graph may differ from the one used for the export.

        Args:
            **inputs: The arguments of `forward` by name: tensors, or dicts and lists of tensors.

        Returns:
            Any: A tensor, or tuples and dicts of tensors.

        Raises:
            InputError: An input is missing or unsuitable.
            ResourceError: Memory or disk space is not enough.
        """
        data: dict[str, Any] = {}
        for name, value in inputs.items():
            self._module.flatten(name, value, data)
        with self._problems(), Scratch() as place:
            outputs = self._runner.run(data, place.folder(), self.device, self.batch)
            return _nested({name: tensor.clone() for name, tensor in outputs.items()})

    @door
    def flow(self, **inputs: Any) -> LayeredFlow:
        """Prepares a graph to be computed layer by layer, with the model's functions or your own.

        Args:
            **inputs: The arguments of `forward` by name, as for `inference`.

        Returns:
            LayeredFlow: The graph with the layers. Use it in a `with` statement, or close it.

        Raises:
            InputError: An input is missing or unsuitable.
        """
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
def load(folder: Place, *, device: DeviceName = "auto", batch: int | None = None) -> Exported:
    """Loads an exported folder into this process. This runs the code in the folder: load only folders that you trust.

    Args:
        folder (str | Path): The folder.
        device (str | torch.device): "cpu", "cuda", "cuda:1", or "auto" for a GPU if there is one.
        batch (int | None): Destination nodes per batch; None: as the runner chooses.

    Returns:
        Exported: The runner.

    Raises:
        InputError: The folder is not an exported one, or is damaged.

    Example:
        >>> runner = hopscope.load("exported")
        >>> runner
        Exported(exported: x, edge_index)
        >>> output = runner.inference(x=data.x[:100], edge_index=data.edge_index % 100)
        >>> torch.allclose(output, model.eval()(data.x[:100], data.edge_index % 100), atol=1e-4)
        True
    """
    path, batch = path_of("folder", folder), count_of("batch", batch)
    if not (path / "schema.json").is_file() or not (path / "run.py").is_file():
        raise InputError(
            f"{path} is not an exported folder: it has no schema.json and run.py", "hopscope.export makes one"
        )
    try:
        json.loads((path / "schema.json").read_text(encoding="utf-8"))
    except ValueError as problem:
        raise InputError(f"{path / 'schema.json'} is damaged: {problem}", "export the model again") from problem
    return Exported(path, _module(path / "run.py"), _resolved(name_of(device)), batch)


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hopscope_exported_run", file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} cannot be read", "export the model again")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:
        raise
    except Exception as problem:
        raise InputError(f"{file} is damaged: {problem}", "export the model again") from problem
    if not hasattr(module, "Runner") or not hasattr(module, "Problem"):
        raise InputError(f"{file} is damaged: its end is missing", "export the model again")
    return module


def _resolved(device: str) -> str:
    import torch

    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def _nested(outputs: dict[str, Any]) -> Any:
    """Returns outputs as `forward` does: "out" is a tensor, "out.0" and "out.1" form a tuple, and "out.KEY" a dict."""
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
