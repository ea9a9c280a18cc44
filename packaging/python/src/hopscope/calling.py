"""How a model's `forward` is called: which entries of the data are its arguments, and what its results look like."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import _counts, _forms, _held, _records, _state, arrays
from .data import Inputs, counts_rows
from .errors import InputError, Refused

_FEATURES = ("x", "feat", "feats", "features", "h", "inputs", "in_feat", "node_features")
_ALIASES: dict[str, tuple[str, ...]] = {
    "edge_index": ("edges", "adj_t"),
    "edges": ("edge_index",),
    "edge_weight": ("weight", "edge_attr"),
    "edge_attr": ("efeat", "edge_weight"),
    "x_dict": ("feat_dict",),
    **dict.fromkeys(_FEATURES, ("x", "feat", "features")),
}
# A model may be evaluated on so many rows.
_FEW_ROWS = 100_000
_CONTAINERS = ("data", "batch", "graph", "g", "hetero_data", "batch_data")


@dataclass
class Call:
    """`arguments`: the inputs of the file, in the order of `forward`'s parameters, without None. `forms`:
    the same with None, as `forward` takes them. `constants`: arguments without tensors, and objects whose tensors are
    not read, which the file keeps; `sizes`: numbers of rows, which the file computes from its inputs; `counted`: those
    of objects. `unnamed`: the arguments that are passed by position, because `forward` takes *args. `container`: the
    object that `forward` takes as a whole, or None. `held`: arguments of the file that are attributes of the
    model, which `forward` gets through the model."""

    arguments: dict[str, Any]
    forms: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    counted: dict[str, dict[str, Any]] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    container: Any = None
    held: dict[str, list[_held.Place]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: Any) -> None:
        """Adds an argument with tensors."""
        self.forms[name], self.arguments[name] = value, _forms.without_none(value)

    def wrapped(self) -> bool:
        """Returns whether the arguments of the file differ from those of `forward`."""
        other = self.constants or self.sizes or self.unnamed or self.held or self.container is not None
        return bool(other) or any(_forms.has_relations(item) or _forms.has_none(item) for item in self.forms.values())

    def leaves(self) -> dict[str, Any]:
        """Returns the tensors by the engine's keys; a sparse one is a leaf."""
        return dict(leaf for name, value in self.arguments.items() for leaf in _forms.leaves(name, value))

    def keep_what_is_read(self, model: Any) -> bool:
        """Drops the entries of a container or an object that the model does not read. They may have any shape. Does
        nothing if there are many rows. Returns whether it dropped any."""
        if not self.holds_objects() or sum(map(len, filter(_has_rows, self.leaves().values()))) > _FEW_ROWS:
            return False
        read = _read_by(lambda: self.forward(model, self.arguments))
        unread = {key for key, leaf in self.leaves().items() if id(leaf) not in read}
        return self.drop(unread)

    def holds_objects(self) -> bool:
        """Returns whether the model may read only a part of its arguments: a container, objects with attributes, or
        attributes of its own."""
        return self.container is not None or bool(self.held) or any(map(_records.is_record, self.forms.values()))

    def drop(self, unread: set[str]) -> bool:
        """Drops the entries of a container or an object that the model does not read, by the engine's keys. Drops
        nothing if no argument would remain. Returns whether it dropped any."""
        before = self.leaves()
        kept = {name: self._without(name, unread) for name in self.arguments}
        gone = [name for name, value in kept.items() if value is None]
        if len(gone) == len(kept) or not self.holds_objects():
            return False
        self.arguments = {name: value for name, value in kept.items() if value is not None}
        if self.container is None:
            self.constants.update({name: self.forms[name] for name in gone if name not in self.held})
            self.notes += [f"'{key}' is not read by the model: left out" for key in before if key in unread]
        else:
            self.notes += [ignored(name) for name in gone]
        return len(self.leaves()) < len(before)

    def _without(self, name: str, unread: set[str]) -> Any:
        value = self.arguments[name]
        if _records.is_record(self.forms[name]):
            return {key: item for key, item in value.items() if f"{name}.{key}" not in unread} or None
        needed = (self.container is None and name not in self.held) or any(
            key not in unread for key, _ in _forms.leaves(name, value)
        )
        return value if needed else None

    def fill_in_sizes(self, roles: Mapping[str, str], rows: Mapping[str, int]) -> None:
        """Finds for each size the input whose rows it counts, by the roles and the rows of the inputs' tables."""
        found = _counts.Counted(self.leaves(), roles, rows)
        self.sizes = {name: found.places(name, value) for name, value in self.sizes.items()}
        records = {"": self.container} if self.container is not None else self.forms
        for name, record in {**records, **self.constants}.items():
            self._find_counts(name, record, found)

    def _find_counts(self, name: str, record: Any, found: _counts.Counted) -> None:
        """Decides for each number of an object whether it counts rows or becomes part of the file."""
        own = _records.fields(record) or {}
        for attribute, number in _records.numbers(record).items():
            place = found.place(number) if _counts.may_count(attribute) else None
            if place is not None:
                self.counted.setdefault(name, {})[attribute] = place
            elif name not in self.constants and attribute in own:
                self.notes.append(part_of_file(f"{name}.{attribute}".removeprefix("."), number))

    def forward(self, model: Any, given: Mapping[str, Any]) -> Any:
        """Returns the model's results for the arguments of the file. The call leaves no state on the model."""
        with _state.restored(model):
            return self._forward(model, given)

    def _forward(self, model: Any, given: Mapping[str, Any]) -> Any:
        counts = self.sizes or self.counted
        tensors = dict(leaf for name, value in given.items() for leaf in _forms.leaves(name, value)) if counts else {}
        _held.put(self.held, given)
        given = {name: value for name, value in given.items() if name not in self.held}
        if self.container is not None:
            return model(self._counting("", _container(self.container, given, self.arguments), tensors))
        named = {name: _forms.filled(self.forms[name], value) for name, value in given.items()}
        named = {name: self._counting(name, value, tensors) for name, value in named.items()}
        sizes = {name: _counts.read(value, tensors) for name, value in self.sizes.items()}
        unnamed = [named.pop(name) for name in self.unnamed]
        constants = {name: self._counting(name, value, tensors) for name, value in self.constants.items()}
        return model(*unnamed, **named, **constants, **sizes)

    def _counting(self, name: str, record: Any, tensors: Mapping[str, Any]) -> Any:
        """Returns an object with the numbers of rows that these tensors have."""
        places = self.counted.get(name, {})
        known = {attribute: place for attribute, place in places.items() if place.key in tensors}
        return _records.numbered(record, {key: _counts.read(place, tensors) for key, place in known.items()})


def _has_rows(array: Any) -> bool:
    return bool(array.ndim)


def _read_by(work: Callable[[], Any]) -> set[int]:
    """Returns the ids of the tensors that are passed to torch's functions, until the call ends or fails."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_leaves

    seen: set[int] = set()

    class Watching(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            seen.update(map(id, tree_leaves((given, named or {}))))
            return function(*given, **(named or {}))

    with contextlib.suppress(Exception), Watching():
        work()
    return seen


def _container(like: Any, given: Mapping[str, Any], forms: Mapping[str, Any]) -> Any:
    """Returns a container with these tensors."""
    if not hasattr(like, "node_types"):
        return _records.filled(like, given)
    from torch_geometric.data import HeteroData

    made = HeteroData()
    for name, value in given.items():
        for kind, tensor in _forms.filled(forms[name], value).items():
            made[kind][name.removesuffix("_dict")] = tensor
    return made


def unwrapped(model: Any) -> tuple[Any, list[str]]:
    """Returns the module without wrappers that only change its device or speed, with a note for each."""
    import torch
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    notes = []
    while True:
        if isinstance(getattr(model, "_orig_mod", None), torch.nn.Module):
            model = model._orig_mod
            notes.append("torch.compile is left out: the module inside it is used")
        elif isinstance(model, (DataParallel, DistributedDataParallel)):
            notes.append(f"{type(model).__name__} is left out: the module inside it is used")
            model = model.module
        else:
            return model, notes


def bind(model: Any, inputs: Inputs) -> Call:
    """Finds `forward`'s arguments in the data by name. Adds those that the model holds. Raises InputError where a
    required one is missing."""
    held = _held.matrices(model)
    call = _bound(model, inputs, bool(held))
    for name, (matrix, places) in held.items():
        own = name if name not in call.arguments else f"{name}_of_model"
        call.add(own, matrix)
        call.held[own] = places
        call.notes.append(f"'{own}', a sparse matrix that the model holds, is an input of the file")
    return call


def _bound(model: Any, inputs: Inputs, holds: bool) -> Call:
    parameters = _parameters(model)
    inputs = _as_argument(inputs, [item.name for item in parameters if item.default is inspect.Parameter.empty])
    if inputs.container is not None and _takes_container(parameters, inputs):
        return _bind_container(inputs)
    call, values, used = Call({}), {**inputs.others, **inputs.values}, set()
    for parameter in parameters:
        name = _found(parameter, values, call)
        if name is not None:
            used.add(name)
            _add(call, parameter, values[name])
    if inputs.container is None and inputs.paths is None:
        rest = {name: value for name, value in inputs.values.items() if name not in used}
        used |= _add_others(call, _variable(model), rest)
    if not parameters and not call.arguments and not holds:
        raise Refused(
            f"forward of {type(model).__name__} names no arguments",
            "wrap it in a module whose forward names them, as in forward(self, x, edge_index)",
        )
    if not call.arguments and not holds:
        raise InputError("nothing in the data is an argument of the model", f"the data has {_listing(inputs.values)}")
    call.notes += _dropped(inputs, {id(values[name]) for name in used})
    return call


def _add_others(call: Call, kinds: set[Any], rest: Mapping[str, Any]) -> set[str]:
    """Adds the other entries of a dict if `forward` takes *args or **kwargs. Returns their names. They are passed by
    name if `forward` takes no *args, or if it takes **kwargs and has other arguments; otherwise in the order of the
    dict."""
    if not kinds:
        return set()
    in_order, by_name = (kind in kinds for kind in _ANY)
    if call.arguments and by_name:
        in_order = False
    given = {name: value for name, value in rest.items() if value is not None}
    for name, value in given.items():
        call.add(name, value)
    if in_order:
        call.unnamed = list(call.arguments)
    return set(given)


def _dropped(inputs: Inputs, used: set[int]) -> list[str]:
    return [ignored(name) for name, value in inputs.values.items() if value is not None and id(value) not in used]


def part_of_file(name: str, value: Any) -> str:
    return f"'{name}' = {value!r} is part of the file"


def ignored(name: str) -> str:
    """Returns the engine's note about an ignored input."""
    return f"'{name}' is not an argument of the model: ignored"


def _as_argument(inputs: Inputs, required: list[str]) -> Inputs:
    """Puts an object under the name of the only required argument. Otherwise its attributes may be arguments."""
    if len(required) == 1 and required[0] not in inputs.values and _records.is_plain(inputs.container):
        return replace(inputs, values={required[0]: inputs.container}, container=None)
    return inputs


def bind_names(names: tuple[str, ...], inputs: Inputs) -> Call:
    """Binds the arguments of a file, as `bind` does those of a module."""
    inputs = _as_argument(inputs, list(names))
    call, values = Call({}), {**inputs.others, **inputs.values}
    for parameter in (inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names):
        found = _found(parameter, values, call)
        if found is not None:
            call.add(parameter.name, values[found])
    call.notes += _dropped(inputs, set(map(id, call.forms.values())))
    return call


def positional(model: Any, values: tuple[Any, ...] | list[Any]) -> dict[str, Any]:
    """Returns a tuple of arguments as a dict with the names of `forward`."""
    parameters = _parameters(model)
    names = [parameter.name for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in _variable(model) and len(values) > len(names):
        names = _names_inside(model, len(values))
    if len(values) > len(names):
        raise InputError(
            f"the number of arguments is {len(values)}, but forward takes {len(names)}",
            "pass a dict whose keys are their names",
        )
    required = {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty}
    pairs = zip(names, values, strict=False)
    return {name: value for name, value in pairs if value is not None or name in required}


def _names_inside(model: Any, count: int) -> list[str]:
    """Returns the first argument names of the first submodule with at least this number of arguments, to which a
    container passes its own. Without such a submodule, the names are input0, input1 and so on."""
    for module in list(model.modules())[1:]:
        names = [parameter.name for parameter in _named(module)]
        if len(names) >= count:
            return names[:count]
    return [f"input{position}" for position in range(count)]


def _parameters(model: Any) -> list[inspect.Parameter]:
    """Returns the named parameters; for a ScriptModule, those of its schema."""
    script = getattr(model, "_c", None)
    if script is not None and hasattr(script, "_get_method"):
        if not script._has_method("forward"):
            names = [name for name in script._method_names() if not name.startswith("_")]
            raise _without_forward(model.original_name, names)
        listed = script._get_method("forward").schema.arguments[1:]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        return [
            inspect.Parameter(item.name, kind, default=item.default_value if item.has_default_value() else empty)
            for item in listed
        ]
    _check_forward(model)
    return _named(model)


_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _named(model: Any) -> list[inspect.Parameter]:
    return [item for item in inspect.signature(model.forward).parameters.values() if item.kind not in _ANY]


def _variable(model: Any) -> set[Any]:
    """Returns which of *args and **kwargs the model's `forward` takes."""
    if hasattr(getattr(model, "_c", None), "_get_method"):
        return set()
    return {item.kind for item in inspect.signature(model.forward).parameters.values()} & set(_ANY)


def _check_forward(model: Any) -> None:
    """Raises Refused if the model has no forward."""
    if getattr(type(model), "forward", None) is not sys.modules["torch"].nn.Module.forward or "forward" in vars(model):
        return
    raise _without_forward(type(model).__name__, _methods(type(model)))


def _without_forward(name: str, methods: list[str]) -> Refused:
    called = methods[0] if methods else "METHOD"
    return Refused(
        f"{name} has no forward" + (f"; its methods are {', '.join(methods)}" if methods else ""),
        f"wrap it in a module whose forward(self, x, edge_index) returns self.model.{called}(x, edge_index)",
    )


def _methods(kind: type) -> list[str]:
    """Returns the public methods that the classes of a model define."""
    base = sys.modules["torch"].nn.Module
    own = [one for one in kind.__mro__ if issubclass(one, base) and one is not base]
    names = [name for one in own for name, item in vars(one).items() if inspect.isfunction(item)]
    return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def _found(parameter: inspect.Parameter, values: Mapping[str, Any], call: Call) -> str | None:
    """Returns the name of the entry that is this argument. An optional argument is taken under its own name only;
    without such an entry, returns None. Raises InputError if a required argument is missing."""
    if values.get(parameter.name) is not None:
        if parameter.default is not inspect.Parameter.empty and arrays.is_array(values[parameter.name]):
            call.notes.append(f"the optional argument '{parameter.name}' is taken from the data")
        return parameter.name
    if parameter.default is not inspect.Parameter.empty:
        return None
    if parameter.name in values:
        return parameter.name  # None was given
    # Heterogeneous models take dicts by type and call them `x` and `edge_index`.
    for alias in (*_ALIASES.get(parameter.name, ()), f"{parameter.name}_dict"):
        if values.get(alias) is not None and _stands_for(parameter.name, values[alias]):
            call.notes.append(f"'{alias}' of the data is used as the argument '{parameter.name}'")
            return alias
    raise InputError(
        f"forward needs '{parameter.name}', and the data has {_listing(values)}",
        f"add it to the data, or pass a dict with all arguments: {{'{parameter.name}': ..., ...}}",
    )


def _stands_for(name: str, value: Any) -> bool:
    """Returns whether an array can stand for an argument: an edge attribute is a weight only if it is one number per
    edge."""
    return name != "edge_weight" or getattr(value, "ndim", 0) == 1


def _listing(values: Mapping[str, Any]) -> str:
    names = [name for name, value in values.items() if value is not None]
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "nothing"


def _add(call: Call, parameter: inspect.Parameter, value: Any) -> None:
    name = parameter.name
    if type(value) is type(parameter.default) and value == parameter.default:
        return
    if counts_rows(name, value):
        call.sizes[name] = value
    elif _forms.without_none(value) is None or isinstance(value, (bool, int, float, str)):
        call.constants[name] = value
        call.notes.append(part_of_file(name, value))
    elif _records.is_constant(value):
        call.constants[name] = value
        call.notes.append(f"'{name}', a {type(value).__name__}, is part of the file")
    else:
        call.add(name, value)


def _takes_container(parameters: list[inspect.Parameter], inputs: Inputs) -> bool:
    required = [item for item in parameters if item.default is inspect.Parameter.empty]
    if len(required) != 1 or required[0].name in inputs.values:
        return False
    annotation = str(required[0].annotation)
    return required[0].name in _CONTAINERS or annotation.rstrip("'>").endswith(("Data", "Batch"))


def _bind_container(inputs: Inputs) -> Call:
    """Binds the tensors of a container; `drop` leaves out those that `forward` does not read."""
    if hasattr(inputs.container, "canonical_etypes"):
        raise Refused(
            f"forward takes a {type(inputs.container).__name__}, whose operators no TorchScript file can hold",
            "use a model whose forward takes tensors, as PyG's layers do",
        )
    hetero = hasattr(inputs.container, "node_types")
    kept = {
        name: value
        for name, value in inputs.values.items()
        if (arrays.is_torch(value) and not hetero) or (hetero and name.endswith("_dict") and _all_tensors(value))
    }
    numbers = _records.numbers(inputs.container)
    notes = [ignored(name) for name in inputs.values if name not in kept and name not in numbers]
    return Call(kept, dict(kept), container=inputs.container, notes=notes)


def _all_tensors(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(arrays.is_torch, value.values()))
