"""From a model in memory to a tested file: `save` and `export_program`."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import _forms, _html, _program, _samples, _trace, _trial, calling
from ._log import finished
from ._options import Place, Roles, Via, new_file, parse_roles, via_of
from ._process import command
from ._scratch import Data, Scratch, data_files, size_of
from ._words import listed
from .calling import Call
from .data import Inputs, inputs_of
from .errors import InputError, Refused, ResourceError, UsageError, door, sentence_of

# What layers of PyG keep of the last graph.
_CACHE = re.compile(r"_cached_\w+")


@dataclass(frozen=True, repr=False)
class Saved:
    """The file of a saved model. All functions that take a model, except `save` and `export_program`, also
    accept this object.

    Attributes:
        path (Path): The file.
        how (str): "trace" or "script" for a TorchScript file, "export" for an exported program (.pt2), or "as it was"
            for a model that was compiled already.
        arguments (tuple[str, ...]): The arguments of `forward` that the file takes, in order.
        keys (tuple[str, ...]): The engine's names of the tensors in these arguments.
        notes (tuple[str, ...]): Sentences about how the model was saved, and about ignored inputs.
        difference (float): The largest difference from the model when the file was compared with it; 0 if it was not.
        structure (Any): The structure of the results, with tensors replaced by the engine's names.
        fingerprint (str): Equal for files that were traced from the same model with the same weights; empty for others.
        parameters (dict[str, str]): The names that parameters have in the file, if they differ.
    """

    path: Path
    how: str
    arguments: tuple[str, ...]
    keys: tuple[str, ...]
    notes: tuple[str, ...]
    difference: float
    structure: Any = None
    fingerprint: str = ""
    parameters: dict[str, str] = field(default_factory=dict, compare=False)

    def in_file(self, name: str) -> str:
        """Returns the name of an input or a parameter in the file.

        Args:
            name (str): The name in the model.

        Returns:
            str: The name in the file.
        """
        return self.parameters.get(name, name)

    def __repr__(self) -> str:
        return f"Saved({self.path}: {self.how}, arguments {listed(self.arguments)})"

    def __str__(self) -> str:
        return "\n".join([f"{self.path}: {self.how}, arguments {', '.join(self.arguments)}", *self.notes])

    def __fspath__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        given = f"arguments: {', '.join(self.arguments)}"
        return _html.page(f"{self.path}: {self.how}", _html.listing([given, *self.notes]))


@door
def save(model: Any, inputs: Any, path: Place, *, roles: Roles = (), via: Via = "auto") -> Saved:
    """Writes a model in memory as a file that Hopscope runs.

    The engine extracts small samples of the data. The model is traced on samples of different sizes and on the data
    themselves. It is scripted instead if tracing fails, or if the traces differ, because a size or a branch would be
    baked in. Data of more than 100,000 nodes and edges are not traced: the trace of a sample is not used if their
    sizes, or values that Python or NumPy reads from tensors, determine which operators run. If this gives no
    TorchScript file with the results of the model, the model is exported by `torch.export`. The file appears at `path`
    after it was loaded again and agreed with the model on another sample. A model that accepts no samples is compared
    on the data, and a ScriptModule is saved without a comparison. The model is saved as `eval()` would compute it; its
    modes, gradients and attributes do not change, nor does PyTorch's random state.

    Args:
        model (torch.nn.Module): The model.
        inputs (Any): The data, as for `inference`. A model that cannot compute a part of the data gets all of it, up
            to 100,000 nodes and edges.
        path (str | Path): The file to write.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.
        via (str): "trace": a TorchScript file. "export": an exported program (.pt2). "auto": the first of these that
            gives the results of the model.

    Returns:
        Saved: The file. Its notes state how the model was saved, and why.

    Raises:
        Refused: The model cannot be saved as `via` says, fails on a sample, or gives random results.
        InputError: Data is missing or unsuitable.
        ResourceError: The file cannot be written, for example because the disk is full.

    Example:
        >>> saved = hopscope.save(model, data, "sage.pt")
        >>> saved
        Saved(...sage.pt: trace, arguments x, edge_index)
        >>> hopscope.inference(saved, data, device="cpu").verdict
        'equal'
    """
    target, way = new_file("path", path), via_of(via)
    model, call, data = _bound(model, inputs)
    with Scratch(size_of(data.values)) as place:
        given = _Given(data_files(data, place).words, place, roles, way)
        return finished(_saved(model, call, target, given, once=False))


@door
def export_program(model: Any, inputs: Any, path: Place, *, roles: Roles = ()) -> Saved:
    """Writes a model in memory as an exported program (.pt2), as `save` does with `via="export"`.

    `torch.export` fixes every size that is not declared dynamic. The sizes that differ between samples of the data,
    which are the numbers of rows of its tables, stay open. A model that does not export with `strict=False` is exported
    with `strict=True`.

    Args:
        model (torch.nn.Module): The model.
        inputs (Any): The data, as for `inference`.
        path (str | Path): The file to write.
        roles (Mapping[str, str] | Sequence[str]): As for `inference`.

    Returns:
        Saved: The file.

    Raises:
        Refused: The model cannot be exported, fails on a sample, or gives random results.
        InputError: Data is missing or unsuitable.
        ResourceError: The file cannot be written, for example because the disk is full.

    Example:
        >>> saved = hopscope.export_program(model, data, "sage.pt2")
        >>> saved
        Saved(...sage.pt2: export, arguments x, edge_index)
        >>> hopscope.inference("sage.pt2", data, device="cpu").verdict
        'equal'
    """
    return save(model, inputs, path, roles=roles, via="export")


@dataclass(frozen=True)
class _Given:
    """The data of a call as `--data` takes them, a folder for samples of them, the roles that the user gave, and the
    way to save the model."""

    words: list[str]
    place: Scratch
    roles: Any
    via: str = "auto"

    def roles_of_inputs(self, model: Any) -> list[str]:
        """Returns the roles of inputs, without those of parameters and concatenations of them ("user+item"), which are
        left to the engine when it reads the file."""
        own = {name for name, _ in [*model.named_parameters(), *model.named_buffers()]}
        return [f"{name}={role}" for name, role in parse_roles(self.roles).items() if not own >= {*name.split("+")}]

    def objection(self, model: Any, program: _program.Program) -> str:
        """Returns the reason why the engine refuses a program for these data; empty if it does not."""
        file = self.place.folder() / "guarded.pt2"
        file.write_bytes(program.save_to_buffer())
        data = [word for name in self.words for word in ("--data", name)]
        roles = [word for role in self.roles_of_inputs(model) for word in ("--role", role)]
        try:
            command("inspect", str(file), *data, *roles)
        except (InputError, Refused) as problem:
            return problem.message.replace(str(file), "it")
        finally:
            file.unlink()
        return ""


def _bound(model: Any, inputs: Any) -> tuple[Any, Call, Inputs]:
    """Returns the module itself, how it is called, and the data that become its arguments."""
    if not isinstance(model, _torch().nn.Module):
        raise _not_a_module(model)
    inner, notes = calling.unwrapped(model)
    given = inputs_of(calling.positional(inner, inputs) if _is_arguments(inputs) else inputs)
    call = calling.bind(inner, given)
    call.notes[:0] = notes
    return inner, call, _only(given, call.arguments)


def _not_a_module(model: Any) -> InputError:
    if isinstance(model, type):
        return InputError(f"expected a model, got the class {model.__name__}", f"make one: {model.__name__}(...)")
    return InputError(
        f"expected a torch.nn.Module, got an object of type {type(model).__name__}",
        "a state dict has no code: build the model, and call its load_state_dict"
        if isinstance(model, Mapping)
        else "pass the model itself, or the path of its file",
    )


def _saved(model: Any, call: Call, target: Path, given: _Given, once: bool) -> Saved:
    if isinstance(model, _torch().jit.ScriptModule):
        if given.via == "export":
            raise Refused("a ScriptModule cannot be exported", "pass the module that it was made from")
        return _save_as_it_is(model, call, target)
    _check_initialised(model)
    if any(module.training for module in model.modules()):
        call.notes.append(
            "the model is in training mode: it is saved as eval() would compute it, without dropout and with the "
            "running statistics of its norms, and stays in training mode"
        )
    with _quiet(model):
        objection = functools.partial(given.objection, model)
        trial = _trial.try_out(model, call, _drawn(model, call, given), once, objection)
        if given.via == "export":
            return _written(*_trial.exported(trial), trial, target)
        try:
            return _written(*_trial.compiled(trial), trial, target)
        except Refused as problem:
            if given.via == "trace":
                raise
            return _exported_instead(problem, trial, target)


def _exported_instead(problem: Refused, trial: _trial.Trial, target: Path) -> Saved:
    """Exports the model if TorchScript does not fit. A refusal gives both reasons."""
    where = f" ({problem.where})" if problem.where else ""
    trial.call.notes.append(f"TorchScript does not fit: {problem.message}{where}")
    try:
        return _written(*_trial.exported(trial), trial, target)
    except Refused as other:
        raise Refused(f"{problem.message}; and {other.message}", problem.hint, problem.where) from other


def _drawn(model: Any, call: Call, given: _Given) -> _samples.Drawn:
    roles = given.roles_of_inputs(model)
    try:
        return _samples.draw(call.leaves(), given.words, call.arguments, roles, given.place.folder())
    except InputError:
        if not call.keep_what_is_read(model):
            raise
        return _samples.draw(call.leaves(), given.words, call.arguments, roles, given.place.folder())


def _torch() -> Any:
    try:
        import torch
    except ImportError as problem:
        raise InputError("a model in memory needs torch, which is not installed", "pip install torch") from problem
    return torch


def _is_arguments(inputs: Any) -> bool:
    """Returns whether the data are a tuple or list of arguments, not of paths."""
    return isinstance(inputs, (tuple, list)) and not any(isinstance(item, (str, os.PathLike)) for item in inputs)


def _check_initialised(model: Any) -> None:
    from torch.nn.parameter import is_lazy

    lazy = next((name for name, parameter in model.named_parameters() if is_lazy(parameter)), None)
    meta = next((name for name, parameter in model.named_parameters() if parameter.is_meta), None)
    if meta is not None:
        raise Refused(f"the parameter '{meta}' has no values: it is on the device meta", "load the weights")
    if lazy is not None:
        raise Refused(f"the parameter '{lazy}' has no values yet", "load the weights, or call the model once")


@contextlib.contextmanager
def _quiet(model: Any) -> Iterator[None]:
    """Runs a block with the model in evaluation mode, on one core (a second one does not pay off for small samples),
    without gradients, caches or warnings. Restores these afterwards, and PyTorch's random state."""
    import torch

    threads = torch.get_num_threads()
    modes = {module: module.training for module in model.modules()}
    caches = [(module, name, vars(module)[name]) for module in modes for name in list(vars(module)) if _caches(name)]
    for module, name, value in caches:
        setattr(module, name, False if value is True else None)
    try:
        with torch.no_grad(), torch.random.fork_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.set_num_threads(1)
            model.eval()
            yield
    finally:
        torch.set_num_threads(threads)
        for module, mode in modes.items():
            module.training = mode
        for module, name, value in caches:
            setattr(module, name, value)


def _caches(name: str) -> bool:
    return name == "cached" or _CACHE.fullmatch(name) is not None


def _written(compiled: Any, how: str, notes: list[str], trial: _trial.Trial, target: Path) -> Saved:
    """Saves the file under a temporary name, loads it, compares it with the model, and then gives it its name."""
    with _published(compiled, target) as temporary:
        difference, note = _trial.agreement(temporary, how, trial)
    arguments = tuple(trial.call.arguments)
    keys = [key for name, value in trial.call.arguments.items() for key, _ in _forms.leaves(name, value)]
    shown = _trace.fingerprint(compiled) if how == "trace" else ""
    found = Saved(target.absolute(), how, arguments, tuple(keys), (*notes, note), difference, trial.structure, shown)
    return replace(found, parameters=_trial.parameters_of(trial))


@contextlib.contextmanager
def _published(compiled: Any, target: Path) -> Iterator[Path]:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        # Where a disk is full, `save` would end Python: its writer throws while it is destroyed.
        temporary.unlink(missing_ok=True)  # of a killed process, or a planted link
        with temporary.open("xb") as file:
            file.write(compiled.save_to_buffer())
        yield temporary
        temporary.replace(target)
    except (OSError, RuntimeError) as problem:
        if not target.parent.is_dir():
            raise InputError(f"{target.parent} is not a folder", "make it, or choose another one") from problem
        raise ResourceError(f"{target}: cannot be written: {sentence_of(problem)}", "is the disk full?") from problem
    finally:
        temporary.unlink(missing_ok=True)


def _save_as_it_is(model: Any, call: Call, target: Path) -> Saved:
    """Saves a ScriptModule unchanged, because there is no Python module to compare it with."""
    with _published(model, target):
        pass
    note = "the model was compiled already: it is saved without a comparison"
    keys = [key for name, value in call.arguments.items() for key, _ in _forms.leaves(name, value)]
    return Saved(target.absolute(), "as it was", tuple(call.arguments), tuple(keys), (*call.notes, note), 0.0)


@dataclass(frozen=True)
class Prepared:
    """The file of a model, its data (only the arguments of the model, if they are known), the way in which it was
    saved, and notes."""

    path: Path
    data: Inputs
    saved: Saved | None = None
    notes: tuple[str, ...] = ()


def prepare(
    model: Any, data: Any, roles: Any, place: Scratch, *, apart: bool = False, once: bool = True, via: str = "auto"
) -> tuple[Prepared, Data]:
    """Writes data in memory (see `data_files`) and a model in memory into files in `place`; with `once` the file of the
    model may fit these data only. Existing files are used unchanged."""
    if isinstance(model, (str, os.PathLike)) and via != "auto":
        raise UsageError(f"via: {model} is a file already", "leave it out, or pass the model itself")
    if isinstance(model, (str, os.PathLike)) and not isinstance(model, Saved):
        found = Prepared(Path(model), inputs_of(data))
    elif isinstance(model, Saved):
        found = _of_saved(model, data)
    else:
        return _of_module(model, data, roles, place, apart=apart, once=once, via=via)
    return found, data_files(found.data, place, apart)


def _of_saved(model: Saved, data: Any) -> Prepared:
    inputs = inputs_of(dict(zip(model.arguments, data, strict=False)) if _is_arguments(data) else data)
    call = calling.bind_names(model.arguments, inputs)
    call.drop(set(call.leaves()).difference(model.keys))
    return Prepared(model.path, _only(inputs, call.arguments), model, (*model.notes, *call.notes))


def _of_module(
    model: Any, data: Any, roles: Any, place: Scratch, *, apart: bool, once: bool, via: str
) -> tuple[Prepared, Data]:
    model, call, inputs = _bound(model, data)
    given = data_files(inputs, place, apart)
    target = place.folder() / f"{type(model).__name__}.pt"
    saved = _saved(model, call, target, _Given(given.words, place, roles, via), once)
    return Prepared(saved.path, _only(inputs, call.arguments), saved, saved.notes), given


def _only(inputs: Inputs, arguments: dict[str, Any]) -> Inputs:
    """Keeps the arguments only. Existing files are used if each argument is the entry of its name in them."""
    same = all(inputs.values.get(name) is value for name, value in arguments.items())
    return replace(inputs, values=arguments, paths=inputs.paths if same else None)
