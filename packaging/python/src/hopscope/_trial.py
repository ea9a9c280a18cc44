"""A model on samples of its data: evaluated, traced or scripted, and compared with its file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import _decisions, _forms, _held, _program, _records, _samples, _sparse, _state, _trace, _tracing, arrays
from ._samples import FIRST, OTHER, SECOND, SMALLER, Drawn, Sample
from .calling import Call
from .errors import InputError, Refused, origin_of

# As the engine compares: an element agrees within 1e-5 + 1e-4 x |reference|.
_ABSOLUTE, _RELATIVE = 1e-5, 1e-4


@dataclass
class Trial:
    """`samples`: as _samples.draw gives them, or the data alone where the model takes nothing smaller, for the reason
    `alone`. `expected`: the model's results on the first three. `once`: the file is for these data only. `objection`:
    why the engine refuses a program with guards for the data; empty if it does not."""

    model: Any
    call: Call
    drawn: Drawn
    samples: list[Sample]
    once: bool
    objection: Callable[[_program.Program], str]
    alone: str = ""
    expected: list[dict[str, Any]] = field(default_factory=list)
    structure: Any = None

    def whole(self) -> Sample:
        """Returns the data, where the model has its parameters."""
        first = self.samples[FIRST]
        return first if first.whole else _placed(self.drawn.whole(self.call.leaves()), self.model)


def try_out(model: Any, call: Call, drawn: Drawn, once: bool, objection: Callable[[_program.Program], str]) -> Trial:
    """Evaluates the model on the samples, twice on the first one to detect random results."""
    call.fill_in_sizes(drawn.roles, drawn.sizes)
    trial = Trial(model, call, drawn, [_placed(sample, model) for sample in drawn.samples], once, objection)
    try:
        return _evaluated(trial)
    except Refused as problem:
        if drawn.few():
            return _evaluated(replace(trial, samples=[trial.whole()], alone=problem.message))
        if not _samples.has_matrices(call.leaves()):
            raise
        wider = [_samples.with_whole_matrices(sample, call.leaves()) for sample in trial.samples]
        return _evaluated(replace(trial, samples=wider))


def _evaluated(trial: Trial) -> Trial:
    results = [_result(trial, sample) for sample in (trial.samples[FIRST], *trial.samples[:SMALLER])]
    trial.expected = [_outputs(result) for result in results[1:]]
    trial.structure = _forms.rebuilt("out", results[0], lambda key: key, texts=False)
    if _difference(_outputs(results[0]), trial.expected[FIRST]) is None:
        raise Refused(
            "forward gives a different result each time on the same inputs",
            "remove random operators and state that survives a call from forward, or make them depend on self.training",
        )
    return trial


def _placed(sample: Sample, model: Any) -> Sample:
    device = next((parameter.device for parameter in model.parameters()), None)
    if device is not None:
        sample.leaves.update({key: leaf.to(device) for key, leaf in sample.leaves.items()})
    return sample


def _arguments(trial: Trial, sample: Sample) -> dict[str, Any]:
    """Returns the arguments of the file for a sample."""
    return {
        name: _forms.rebuilt(name, value, lambda key: sample.leaves[key].clone(), texts=True)
        for name, value in trial.call.arguments.items()
    }


def _result(trial: Trial, sample: Sample) -> Any:
    try:
        return trial.call.forward(trial.model, _arguments(trial, sample))
    except (Exception, SystemExit) as problem:
        where = f"the data ({sample})" if sample.whole else f"a sample of {sample}"
        said = ", ".join(f"{key}={role}" for key, role in trial.drawn.roles.items())
        asked = _remedy(str(problem))
        raise Refused(
            f"forward fails on {where}: {type(problem).__name__}: {problem}",
            asked if sample.whole else f"{asked}. If they fit, correct the roles of the inputs with roles=: {said}",
            origin_of(problem),
        ) from problem


def _remedy(said: str) -> str:
    """Returns the hint for an exception of forward."""
    if re.search(r"same dtype|expected scalar type|expected .* dtype", said):
        return "the types of inputs and weights have to match: convert the inputs, for instance with data.x.float()"
    widths = re.search(r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", said)
    if widths:
        return f"a layer takes {widths[2]} features and gets {widths[1]}: check the number of columns of the inputs"
    return "check that the model accepts these inputs when it is called directly"


def _outputs(value: Any) -> dict[str, Any]:
    try:
        return _forms.outputs_of(value)
    except InputError as problem:
        raise Refused(
            f"forward returns what no file can hold: {problem.message}", "return tensors, or dicts of them"
        ) from problem


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
    """Returns the largest difference; None if one exceeds the tolerance or a shape differs."""
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


def _entry(trial: Trial) -> Any:
    """Returns the module to compile: the model itself or, where TorchScript does not support its arguments or results,
    a module of the same name around it."""
    import torch

    call = trial.call
    if not call.wrapped() and not _forms.has_relations(trial.structure) and not _forms.has_none(trial.structure):
        return trial.model

    def forward(self: Any, **inputs: Any) -> Any:
        return _plain(call.forward(self.model, inputs))

    names = ["self", *call.arguments]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    entry = type(type(trial.model).__name__, (torch.nn.Module,), {"forward": forward})()
    entry.model = trial.model
    return entry.eval()


def parameters_of(trial: Trial) -> dict[str, str]:
    """Returns the names of parameters in the file, by their names in the model, where they differ."""
    if _entry(trial) is trial.model:
        return {}
    return {name: f"model.{name}" for name in trial.model.state_dict()}


def _plain(value: Any) -> Any:
    """Results with keys as texts, without None, and with objects replaced by their tensors."""
    if _records.is_record(value):
        return _records.tensors(value)
    if isinstance(value, Mapping):
        return {arrays.key_text(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value if item is not None)
    return value


def exported(trial: Trial) -> tuple[Any, str, list[str]]:
    """As `compiled`, for an exported program. Its results equal the model's on all samples."""
    note = "the numbers of rows stay open"
    if trial.alone:
        note = (
            f"the numbers of rows stay open where these data allow it, since the model accepts no others: {trial.alone}"
        )
    reasons = []
    for strict in (False, True):
        try:
            made = _exported_once(trial, strict)
            guards = " and ".join(made.guards())
            only = [f"the file is for graphs with {guards}; others are refused"] if guards else []
            return made, "export", [*trial.call.notes, f"exported with strict={strict}: {note}", *only]
        except Exception as problem:
            reasons.append(f"with strict={strict}: {_first_line(problem)}")
    raise Refused(f"it cannot be exported, {'; '.join(reasons)}", "take sizes from tensors, as x.size(0)")


def _exported_once(trial: Trial, strict: bool) -> Any:
    axes = _samples.row_axes(trial.drawn, trial.samples)
    with _state.restored(trial.model):
        _held.put(trial.call.held, {})
        made = _program.exported(_entry(trial), _arguments(trial, _example(trial, axes)), axes, strict)
    expected = [*trial.expected, *_of_smaller(trial)]
    for sample, wanted in zip(trial.samples, expected, strict=False):
        if _difference(wanted, _outputs(made(**_arguments(trial, sample)))) is None:
            raise ValueError(f"the exported program computes something else on a graph of {sample}")
    # A branch on sizes leaves a guard, which a sample need not violate. No file is written that does not fit the data.
    if made.guards() and (objection := trial.objection(made)):
        raise ValueError(f"the program would compute something else on these data: {objection}")
    return made


def _example(trial: Trial, axes: dict[str, set[int]]) -> Sample:
    """Returns a sample for the export, preferably without the sizes 0 and 1, which `torch.export` fixes."""
    for sample in trial.samples:
        if all(sample.leaves[key].shape[axis] > 1 for key, rows in axes.items() for axis in rows):
            return sample
    return trial.samples[FIRST]


def _of_smaller(trial: Trial) -> list[dict[str, Any]]:
    """Returns the model's results on the sample with smaller numbers, unless it needs all the numbers of the data."""
    if trial.alone:
        return []
    try:
        return [_outputs(_result(trial, trial.samples[SMALLER]))]
    except Refused:
        return []


def compiled(trial: Trial) -> tuple[Any, str, list[str]]:
    """Returns the TorchScript module to save, the way in which it was made, and notes."""
    trouble, where, traced = "", "", None
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
        if traced is not None and trial.once and trial.samples[FIRST].whole:
            note = f"traced with the data, for these data alone: {trouble} ({where})"
            del trial.samples[SECOND:], trial.expected[SECOND:]
            return traced, "trace", [*trial.call.notes, note]
        raise Refused(
            f"{trouble}{f' ({where})' if where else ''}; and it cannot be scripted: {_first_line(problem)}",
            "take sizes from tensors (x.size(0), not int(edge_index.max()) + 1), and branch on nothing in the data",
            where,
        ) from problem
    return scripted, "script", [*trial.call.notes, f"scripted, because {trouble}{f' ({where})' if where else ''}"]


def _first_line(problem: BaseException) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__


def _traced(trial: Trial) -> tuple[Any, _trace.Baked | None, str]:
    """Returns the first trace, and the size that other traces show to be baked in, or a note that none was found."""
    entry = _entry(trial)
    if trial.call.holds_objects():
        trial.call.drop(_trace.unread(_trace_once(trial, entry, trial.samples[FIRST]), trial.call.leaves()))
        entry = _entry(trial)
    first = _trace_once(trial, entry, trial.samples[FIRST])
    if trial.alone:
        return first, None, f"traced with {trial.samples[FIRST]}, the data, alone: {trial.alone}"
    found = _trace.baked(first, _trace_once(trial, entry, trial.samples[SECOND])) or _elsewhere(trial, entry, first)
    if found is not None:
        return first, found, ""
    same = f"traced with {trial.samples[FIRST]}; a trace with {trial.samples[SECOND]} has the same operators"
    fixed, common = _fixed(trial, entry, first)
    if fixed is not None and trial.once:
        return first, None, f"{same}, for this data alone: {fixed.sentence} ({fixed.where})"
    kept = f"no size is baked in, unless forward reads one that was the same in both: {', '.join(common)}"
    return first, fixed, f"{same}: {kept if common else 'no size is baked in'}"


def _elsewhere(trial: Trial, entry: Any, first: Any) -> _trace.Baked | None:
    """Returns what shows that the trace does not fit the data. Instead of tracing large
    data, this checks whether the path through forward depends on them."""
    if trial.drawn.few():
        return _trace.baked(first, _trace_once(trial, entry, trial.whole()))
    shapes = {key: leaf.shape for key, leaf in trial.call.leaves().items()}

    def forward(leaves: dict[str, Any]) -> Any:
        return trial.call.forward(trial.model, _arguments(trial, replace(trial.samples[FIRST], leaves=leaves)))

    what, where = _decisions.decided(trial.model, forward, trial.samples[FIRST].leaves, shapes)
    return _trace.Baked(f"the path through forward depends on {what}", where) if what else None


def _fixed(trial: Trial, entry: Any, first: Any) -> tuple[_trace.Baked | None, list[str]]:
    """Returns the difference between the first trace and one on smaller numbers, and the numbers that all samples
    share."""
    common = _samples.alike(trial.samples[FIRST], trial.samples[SECOND])
    if not common:
        return None, []
    try:
        smaller = _trace_once(trial, entry, trial.samples[SMALLER])
    except Exception:  # the model may need all the numbers of the data
        return None, common
    still = set(_samples.alike(trial.samples[FIRST], trial.samples[SMALLER]))
    return _trace.baked(first, smaller), [what for what in common if what in still]


def _trace_once(trial: Trial, entry: Any, sample: Sample) -> Any:
    import torch

    arguments = _arguments(trial, sample)
    with _tracing.tolerant(), _sparse.traceable(), _state.restored(entry):
        _held.put(trial.call.held, {})
        traced = torch.jit.trace(entry, example_kwarg_inputs=arguments, check_trace=False, strict=False)
    return _tracing.inlined(traced)


def _scripted(trial: Trial) -> Any:
    import torch

    if _entry(trial) is not trial.model:
        raise TypeError("TorchScript supports no constants as arguments, and only texts as keys of dicts")
    with _tracing.tolerant():
        scripted = torch.jit.script(trial.model)
    for sample, expected in zip(trial.samples, trial.expected, strict=False):
        found = _outputs(scripted(**_arguments(trial, sample)))
        if _difference(expected, found) is None:
            raise ValueError("the scripted model computes something else")
    return scripted


def agreement(path: Path, how: str, trial: Trial) -> tuple[float, str]:
    """Returns the largest difference between the reloaded file and the model, if possible on a sample that the file was
    not made with; and a sentence about it."""
    import torch

    number = OTHER if len(trial.samples) > OTHER else FIRST
    sample, graph = trial.samples[number], "another graph" if number == OTHER else "the data"
    try:
        loaded = _program.loaded(path) if how == "export" else torch.jit.load(str(path))
        found = _outputs(loaded(**_arguments(trial, sample)))
    except Exception as problem:
        raise Refused(
            f"the file cannot be evaluated on {graph}: {_first_line(problem)}",
            "a size or a branch may be baked in",
        ) from problem
    difference = _difference(trial.expected[number], found)
    if difference is None:
        raise Refused(
            f"the file and the model give different results on a graph of {sample}",
            "a size or a branch is baked in: take sizes from tensors, as x.size(0)",
        )
    note = f"loaded again, it agrees with the model on {graph} (largest difference {difference:.2g})"
    return difference, note
