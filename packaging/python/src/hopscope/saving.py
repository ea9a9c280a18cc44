"""From a model in memory to a TorchScript file that was tried: `save`."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import _html, _largest, _trace, arrays, calling, sample
from ._options import new_file
from .calling import Call
from .data import Inputs, inputs_of
from .errors import InputError, Refused, ResourceError, door, origin_of

# As the engine compares: an element agrees within 1e-5 + 1e-4 x |reference|.
_ABSOLUTE, _RELATIVE = 1e-5, 1e-4
# What layers of PyG keep of the last graph.
_CACHE = re.compile(r"_cached_\w+")


@dataclass(frozen=True)
class Saved:
    """A file, and what is known of it: `how` it was made ("trace", "script" or "as it was"), the `arguments` of its
    `forward` in order, the keys of its data, the `notes` (sentences), the largest difference to the model on another
    graph, and the `structure` of its results (tensors replaced by the engine's names). `fingerprint` tells whether two
    files hold the same model with the same weights."""

    path: Path
    how: str
    arguments: tuple[str, ...]
    keys: tuple[str, ...]
    notes: tuple[str, ...]
    difference: float
    structure: Any = field(repr=False, default=None)
    fingerprint: str = field(repr=False, default="")

    def __str__(self) -> str:
        return "\n".join([f"{self.path}: {self.how}, arguments {', '.join(self.arguments)}", *self.notes])

    def __fspath__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        return _html.saved(self)


@dataclass
class _Trial:
    """The samples: leaves by key, and the model's results on all but the one with smaller numbers. `once`: the file is
    for the data that they were drawn from."""

    model: Any
    call: Call
    shape: sample.Shape
    samples: list[dict[str, Any]]
    expected: list[dict[str, Any]]
    structure: Any
    once: bool


@door
def save(model: Any, inputs: Any, path: str | os.PathLike[str], *, roles: Any = ()) -> Saved:
    """Writes an nn.Module as the TorchScript file that Hopscope runs.

    `inputs` is the model's data in any form that `inference` takes, or a tuple of arguments; its rows and types make
    the samples, the model never sees all of it. The model is traced on three samples of different sizes, the last of
    which has smaller numbers than the data (fewer graphs, for example), and where the traces differ (a size or a branch
    would be baked in) scripted instead. The file appears at `path` once it was loaded again and agrees with the model
    on another sample; the model's modes, gradients and random numbers stay as they were. `roles` says what inputs are
    where that cannot be inferred, as the engine takes it: {"x": "node:user"}.

    Raises Refused with the line where neither way works, InputError where data is missing or does not fit.
    """
    return _saved(*_bound(model, inputs), new_file("path", path), roles, once=False)


def _bound(model: Any, inputs: Any) -> tuple[Any, Call]:
    """The module itself, and how it is called."""
    if not isinstance(model, _torch().nn.Module):
        raise InputError(
            f"a {type(model).__name__} is no torch.nn.Module", "pass the model itself, or the path of its file"
        )
    inner, notes = calling.unwrapped(model)
    given = calling.positional(inner, inputs) if _is_arguments(inputs) else inputs
    call = calling.bind(inner, inputs_of(given))
    call.notes[:0] = notes
    return inner, call


def _saved(model: Any, call: Call, target: Path, roles: Any, once: bool) -> Saved:
    if isinstance(model, _torch().jit.ScriptModule):
        return _save_as_it_is(model, call, target)
    _check_initialised(model)
    if any(module.training for module in model.modules()):
        call.notes.append(
            "the model is in training mode, and is taken as eval() makes it: without dropout, norms by their running "
            "statistics; it stays as it was"
        )
    with _quiet(model):
        trial = _try_out(model, call, sample.parse_roles(roles), once)
        compiled, how, notes = _compiled(trial)
        return _written(compiled, how, notes, trial, target)


def _torch() -> Any:
    try:
        import torch
    except ImportError as problem:
        raise InputError("a model in memory needs torch, which is not installed", "pip install torch") from problem
    return torch


def _is_arguments(inputs: Any) -> bool:
    """Whether it is a tuple of arguments, not of paths."""
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
    """Evaluation mode without gradients, caches, warnings of the tracer and used-up random numbers, on one core (what
    runs here is so small that waiting for a second one takes longer); then all as it was."""
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


def _try_out(model: Any, call: Call, roles: Mapping[str, str], once: bool) -> _Trial:
    """Draws the samples and evaluates the model on them; twice on the first one, to see whether it is a function at
    all."""
    leaves = call.leaves()
    shape = sample.shape_of(leaves, roles)
    device = next((parameter.device for parameter in model.parameters()), None)
    samples = [_placed(sample.draw(leaves, shape, number), device) for number in range(sample.COUNT)]
    trial = _Trial(model, call, shape, samples, [], None, once)
    results = [_evaluated(trial, number) for number in (0, 0, 1, 2)]
    trial.expected = [_results(result) for result in (results[0], *results[2:])]
    trial.structure = _structure(results[0])
    if _difference(trial.expected[0], _results(results[1])) is None:
        raise Refused(
            "forward gives another result each time on the same inputs",
            "leave out what is random when the model evaluates",
        )
    return trial


def _placed(leaves: dict[str, Any], device: Any) -> dict[str, Any]:
    return {key: leaf if device is None else leaf.to(device) for key, leaf in leaves.items()}


def _arguments(trial: _Trial, number: int, texts: bool) -> dict[str, Any]:
    """The arguments for a sample; `texts`: as the file takes them."""
    leaves = trial.samples[number]
    return {
        name: calling.rebuilt(name, value, lambda key: leaves[key].clone(), texts)
        for name, value in trial.call.arguments.items()
    }


def _evaluated(trial: _Trial, number: int) -> Any:
    shape = trial.shape
    try:
        return _forward(trial.model, trial.call, _arguments(trial, number, texts=False))
    except (Exception, SystemExit) as problem:
        raise Refused(
            f"forward fails on a sample of {sample.summary(shape, number)}: {type(problem).__name__}: {problem}",
            "does the model take these inputs itself? If so, say with roles= what they are: the sample, drawn by what "
            "was inferred, has a node without edges, a self-loop and an edge twice",
            origin_of(problem),
        ) from problem


def _forward(model: Any, call: Call, arguments: dict[str, Any]) -> Any:
    if call.container is None:
        return model(**arguments, **call.constants)
    return model(_container(call.container, arguments))


def _container(like: Any, arguments: dict[str, Any]) -> Any:
    """A PyG container with these tensors."""
    from torch_geometric.data import Data, HeteroData

    typed = hasattr(like, "node_types")
    made = HeteroData() if typed else Data()
    for name, value in arguments.items():
        if not typed:
            made[name] = value
            continue
        for kind, tensor in value.items():
            made[kind][name.removesuffix("_dict")] = tensor
    return made


def _results(value: Any) -> dict[str, Any]:
    try:
        return calling.outputs_of(value)
    except InputError as problem:
        raise Refused(
            f"forward returns what no file can hold: {problem.message}", "return tensors, or dicts of them"
        ) from None


def _structure(value: Any) -> Any:
    return calling.rebuilt("out", value, lambda key: key, texts=False)


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
    """The largest difference; None where something is beyond the tolerance or of another shape."""
    import torch

    if one.keys() != other.keys():
        return None
    largest = 0.0
    for name, wanted in one.items():
        a, b = wanted.detach().cpu(), other[name].detach().cpu()
        if a.shape != b.shape or not torch.allclose(b.double(), a.double(), _RELATIVE, _ABSOLUTE, equal_nan=True):
            return None
        if a.numel():
            largest = max(largest, float((a.double() - b.double()).abs().nan_to_num(0, 0, 0).max()))
    return largest


def _entry(trial: _Trial) -> Any:
    """What is compiled: the model itself, or where its arguments or results are none that TorchScript takes, a module
    around it with its name."""
    import torch

    call = trial.call
    if not call.wrapped() and not calling.has_relations(trial.structure) and not _has_none(trial.structure):
        return trial.model

    def forward(self: Any, **inputs: Any) -> Any:
        arguments = {name: _with_keys(inputs[name], value) for name, value in call.arguments.items()}
        return _plain(_forward(self.model, call, arguments))

    names = ["self", *call.arguments]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    entry = type(type(trial.model).__name__, (torch.nn.Module,), {"forward": forward})()
    entry.model = trial.model
    return entry.eval()


def _has_none(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_none, value.values()))
    return any(map(_has_none, value)) if isinstance(value, (list, tuple)) else value is None


def _with_keys(given: Any, like: Any) -> Any:
    """The keys of `like` back in place of texts."""
    if isinstance(like, Mapping):
        return {key: _with_keys(given[arrays.key_text(key)], item) for key, item in like.items()}
    return given


def _plain(value: Any) -> Any:
    """Results with keys as texts and without None."""
    if isinstance(value, Mapping):
        return {arrays.key_text(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value if item is not None)
    return value


def _compiled(trial: _Trial) -> tuple[Any, str, list[str]]:
    """The module to save, how it was made, and what there is to say."""
    trouble, where = "", ""
    try:
        traced, found, note = _traced(trial)
        if found is None:
            return traced, "trace", [*trial.call.notes, note]
        trouble, where = f"tracing does not fit this model: {found.sentence}", found.where
    except Exception as problem:
        trouble = f"it cannot be traced: {_first_line(problem)}"
    try:
        scripted = _scripted(trial)
    except Exception as problem:
        raise Refused(
            f"{trouble}{f' ({where})' if where else ''}; and it cannot be scripted: {_first_line(problem)}",
            "take sizes from tensors (x.size(0), not int(edge_index.max()) + 1), and branch on nothing in the data",
            where,
        ) from problem
    return scripted, "script", [*trial.call.notes, f"scripted, because {trouble}{f' ({where})' if where else ''}"]


def _first_line(problem: BaseException) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__


def _traced(trial: _Trial) -> tuple[Any, _trace.Baked | None, str]:
    """The first trace, the size that others show to be baked in, or else a note that none was found."""
    entry = _entry(trial)
    if trial.call.container is not None:
        _drop_unused(trial, _trace_once(trial, entry, 0))
        entry = _entry(trial)
    first = _trace_once(trial, entry, 0)
    found = _trace.baked(first, _trace_once(trial, entry, 1))
    sizes = sample.summary(trial.shape, 0), sample.summary(trial.shape, 1)
    same = f"traced with {sizes[0]}; a trace with {sizes[1]} has the same operators"
    if found is not None:
        return first, found, ""
    fixed, common = _fixed(trial, entry, first)
    if fixed is not None and trial.once:
        return first, None, f"{same}, for this data alone: {fixed.sentence} ({fixed.where})"
    kept = f"no size is baked in, unless forward reads one that was the same in both: {', '.join(common)}"
    return first, fixed, f"{same}: {kept if common else 'no size is baked in'}"


def _fixed(trial: _Trial, entry: Any, first: Any) -> tuple[_trace.Baked | None, list[str]]:
    """The difference between the first trace and one on smaller numbers, and the numbers that all samples share."""
    common = _largest.alike(trial.samples[0], trial.samples[1])
    if not common:
        return None, []
    try:
        smaller = _trace_once(trial, entry, sample.SMALLER)
    except Exception:  # the model may need all the numbers of the data
        return None, common
    still = set(_largest.alike(trial.samples[0], trial.samples[sample.SMALLER]))
    return _trace.baked(first, smaller), [what for what in common if what in still]


def _trace_once(trial: _Trial, entry: Any, number: int) -> Any:
    import torch

    arguments = _arguments(trial, number, texts=True)
    return torch.jit.trace(entry, example_kwarg_inputs=arguments, check_trace=False, strict=False)


def _drop_unused(trial: _Trial, traced: Any) -> None:
    """Of a container only what `forward` reads becomes an argument."""
    inputs = {value.debugName().partition(".")[0]: value for value in traced.inlined_graph.inputs()}
    used = {name for name, value in inputs.items() if value.uses()}
    arguments = trial.call.arguments
    trial.call.notes += [calling.ignored(name) for name in arguments if name not in used]
    trial.call.arguments = {name: value for name, value in arguments.items() if name in used}


def _scripted(trial: _Trial) -> Any:
    import torch

    if _entry(trial) is not trial.model:
        raise TypeError("TorchScript knows dicts with texts as keys only, and no constants as arguments")
    scripted = torch.jit.script(trial.model)
    for number, expected in enumerate(trial.expected):
        found = _results(scripted(**_arguments(trial, number, texts=True)))
        if _difference(expected, found) is None:
            raise ValueError("the scripted model computes something else")
    return scripted


def _written(compiled: Any, how: str, notes: list[str], trial: _Trial, target: Path) -> Saved:
    """Saved beside its name, loaded again, compared on the third sample, and only then given its name."""
    with _published(compiled, target) as temporary:
        difference = _agreement(temporary, trial)
    arguments = tuple(trial.call.arguments)
    keys = [key for name, value in trial.call.arguments.items() for key, _ in calling.leaves(name, value)]
    note = f"loaded again, it agrees with the model on another graph (largest difference {difference:.2g})"
    shown = _trace.fingerprint(compiled) if how == "trace" else ""
    return Saved(target.absolute(), how, arguments, tuple(keys), (*notes, note), difference, trial.structure, shown)


@contextlib.contextmanager
def _published(compiled: Any, target: Path) -> Iterator[Path]:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        # Where a disk is full, `save` would end Python: its writer throws while it is destroyed.
        temporary.unlink(missing_ok=True)  # of a process that was killed, or a link that somebody has laid there
        with temporary.open("xb") as file:
            file.write(compiled.save_to_buffer())
        yield temporary
        temporary.replace(target)
    except (OSError, RuntimeError) as problem:
        if not target.parent.is_dir():
            raise InputError(f"{target.parent} is no folder", "make it, or choose another one") from problem
        raise ResourceError(f"{target}: cannot be written: {_first_line(problem)}", "is the disk full?") from problem
    finally:
        temporary.unlink(missing_ok=True)


def _agreement(path: Path, trial: _Trial) -> float:
    import torch

    try:
        loaded = torch.jit.load(str(path))
        found = _results(loaded(**_arguments(trial, 2, texts=True)))
    except Exception as problem:
        raise Refused(
            f"the file cannot be evaluated on another graph: {_first_line(problem)}",
            "a size or a branch may be baked in",
        ) from problem
    difference = _difference(trial.expected[2], found)
    if difference is None:
        raise Refused(
            f"the file gives other results than the model on a graph of {sample.summary(trial.shape, 2)}",
            "a size or a branch is baked in: take sizes from tensors, as x.size(0)",
        )
    return difference


def _save_as_it_is(model: Any, call: Call, target: Path) -> Saved:
    """A ScriptModule is what it is: nothing can be compared with the Python that it came from."""
    with _published(model, target):
        pass
    note = "it was compiled already: saved without a comparison"
    keys = [key for name, value in call.arguments.items() for key, _ in calling.leaves(name, value)]
    return Saved(target.absolute(), "as it was", tuple(call.arguments), tuple(keys), (*call.notes, note), 0.0)


@dataclass(frozen=True)
class Prepared:
    """The file of a model, its data (the arguments of the model alone, where they are known), how it was saved, and
    what else there is to say."""

    path: Path
    data: Inputs
    saved: Saved | None = None
    notes: tuple[str, ...] = ()


def prepare(
    model: Any, data: Any, folder: Callable[[], Path], roles: Any, known: Callable[[Inputs], None], *, once: bool
) -> Prepared:
    """Saves a model in memory into `folder()`, for these data alone if it is for `once`; a file stays where it is.
    `known` gets the data as soon as they are known, which can be long before the model is saved."""
    if isinstance(model, (str, os.PathLike)) and not isinstance(model, Saved):
        found = Prepared(Path(model), inputs_of(data))
    elif isinstance(model, Saved):
        found = _of_saved(model, data)
    else:
        return _of_module(model, data, folder, roles, known, once=once)
    known(found.data)
    return found


def _of_saved(model: Saved, data: Any) -> Prepared:
    inputs = inputs_of(dict(zip(model.arguments, data, strict=False)) if _is_arguments(data) else data)
    call = calling.bind_names(model.arguments, inputs)
    return Prepared(model.path, _only(inputs, call.arguments), model, (*model.notes, *call.notes))


def _of_module(
    model: Any, data: Any, folder: Callable[[], Path], roles: Any, known: Callable[[Inputs], None], *, once: bool
) -> Prepared:
    inputs = inputs_of(calling.positional(calling.unwrapped(model)[0], data) if _is_arguments(data) else data)
    model, call = _bound(model, inputs)
    # What of a container is read, only the trace tells.
    if call.container is None:
        known(_only(inputs, call.arguments))
    saved = _saved(model, call, folder() / f"{type(model).__name__}.pt", roles, once)
    used = _only(inputs, call.arguments)
    if call.container is not None:
        known(used)
    return Prepared(saved.path, used, saved, saved.notes)


def _only(inputs: Inputs, arguments: dict[str, Any]) -> Inputs:
    """Files stay files unless an argument has another name there."""
    same = all(inputs.values.get(name) is value for name, value in arguments.items())
    return replace(inputs, values=arguments, paths=inputs.paths if same else None)
