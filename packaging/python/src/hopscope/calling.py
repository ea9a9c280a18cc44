"""How a model's `forward` is called: which entries of the data are its arguments, and what its results look like."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import arrays
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
    """`arguments`: what becomes an input of the file, in the order of `forward`'s parameters, without None. `forms`:
    the same with None, as `forward` takes them. `constants`: numbers, texts and flags, which the file keeps; `sizes`:
    numbers of rows, for which the file asks its inputs. `unnamed`: the arguments that `forward` takes by position only.
    `container`: what `forward` takes whole, or None."""

    arguments: dict[str, Any]
    forms: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    container: Any = None
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: Any) -> None:
        """An argument with tensors."""
        self.forms[name], self.arguments[name] = value, without_none(value)

    def wrapped(self) -> bool:
        """Whether the arguments of the file differ from those of `forward`."""
        other = self.constants or self.sizes or self.unnamed or self.container is not None
        return bool(other) or any(has_relations(value) or has_none(value) for value in self.forms.values())

    def leaves(self) -> dict[str, Any]:
        """The tensors by the engine's keys; a sparse one is a leaf."""
        return dict(leaf for name, value in self.arguments.items() for leaf in leaves(name, value))

    def keep_what_is_read(self, model: Any) -> bool:
        """Leaves out what of a small container the model does not read, which may fit nothing. Whether there is any."""
        if self.container is None or sum(map(len, filter(_has_rows, self.leaves().values()))) > _FEW_ROWS:
            return False
        read = _read_by(lambda: self.forward(model, self.arguments))
        kept = {
            name: value
            for name, value in self.arguments.items()
            if any(id(leaf) in read for _, leaf in leaves(name, value))
        }
        self.notes += [ignored(name) for name in self.arguments if name not in kept]
        fewer = bool(kept) and len(kept) < len(self.arguments)
        self.arguments = kept
        return fewer

    def fill_in_sizes(self, roles: Mapping[str, str], rows: Mapping[str, int]) -> None:
        """Finds for each size the input whose rows it counts, by the roles and the rows of the inputs' tables."""
        found = _Counted(self.leaves(), roles, rows)
        self.sizes = {name: found.places(name, value) for name, value in self.sizes.items()}

    def forward(self, model: Any, given: Mapping[str, Any]) -> Any:
        """The model's results for the arguments of the file."""
        if self.container is not None:
            return model(_container(self.container, given, self.arguments))
        named = {name: _filled(self.forms[name], value) for name, value in given.items()}
        tensors = dict(leaf for name, value in given.items() for leaf in leaves(name, value)) if self.sizes else {}
        sizes = {name: _read(value, tensors) for name, value in self.sizes.items()}
        unnamed = [named.pop(name) for name in self.unnamed]
        return model(*unnamed, **named, **self.constants, **sizes)


def _has_rows(array: Any) -> bool:
    return bool(array.ndim)


def _read_by(work: Callable[[], Any]) -> set[int]:
    """The ids of the tensors that torch's functions get, until it ends or fails."""
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


@dataclass(frozen=True)
class _Place:
    """The extent of an input along a dimension."""

    key: str
    dimension: int


@dataclass(frozen=True)
class _Counted:
    """Inputs with their roles and the rows of their tables."""

    leaves: Mapping[str, Any]
    roles: Mapping[str, str]
    rows: Mapping[str, int]

    def places(self, name: str, size: Any) -> Any:
        """Instead of each number the place that has it. Of two numbers the first one counts sources, if it can."""
        if not isinstance(size, tuple):
            return self._place(name, size, list(self.rows))
        index = next((role for role in self.roles.values() if role.startswith("index:")), "")
        ends = index.partition(":")[2].split(">")
        first = ends if len(ends) == len(size) else [""] * len(size)
        return tuple(
            None if number is None else self._place(name, number, [end, *self.rows])
            for number, end in zip(size, first, strict=True)
        )

    def _place(self, name: str, number: int, tables: list[str]) -> _Place:
        for table in tables:
            place = self._of(table) if self.rows.get(table) == number else None
            if place is not None:
                return place
        raise Refused(
            f"forward takes a size of the graph as a number, and no input has so many rows: '{name}' ({number})",
            "take it from a tensor inside forward, as x.size(0)",
        )

    def _of(self, table: str) -> _Place | None:
        for key, leaf in self.leaves.items():
            role = self.roles.get(key, "")
            edges = key == table and role.startswith("index")
            if not edges and role not in (f"node:{table}", f"edge:{table}"):
                continue
            dimensions = [at for at, extent in enumerate(leaf.shape) if extent == self.rows[table]]
            if dimensions:
                return _Place(key, dimensions[-1 if edges else 0])
        return None


def _read(size: Any, tensors: Mapping[str, Any]) -> Any:
    """In a trace, an extent stays a computation."""
    if isinstance(size, tuple):
        return tuple(_read(item, tensors) for item in size)
    return None if size is None else tensors[size.key].size(size.dimension)


def _filled(form: Any, value: Any) -> Any:
    """An argument of the file as `forward` takes it: with its own keys, and None where there was None."""
    if isinstance(form, Mapping):
        return {
            key: item if without_none(item) is None else _filled(item, value[arrays.key_text(key)])
            for key, item in form.items()
        }
    if isinstance(form, (list, tuple)):
        rest = iter(value)
        items = [item if without_none(item) is None else _filled(item, next(rest)) for item in form]
        return items if isinstance(form, list) else tuple(items)
    return value


def _container(like: Any, given: Mapping[str, Any], forms: Mapping[str, Any]) -> Any:
    """A PyG container with these tensors."""
    from torch_geometric.data import Data, HeteroData

    typed = hasattr(like, "node_types")
    made = HeteroData() if typed else Data()
    for name, value in given.items():
        if not typed:
            made[name] = value
            continue
        for kind, tensor in _filled(forms[name], value).items():
            made[kind][name.removesuffix("_dict")] = tensor
    return made


def unwrapped(model: Any) -> tuple[Any, list[str]]:
    """Without what only changes where or how fast it runs."""
    import torch
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    notes = []
    while True:
        if isinstance(getattr(model, "_orig_mod", None), torch.nn.Module):
            model = model._orig_mod
            notes.append("torch.compile is left out: the module that it was given is taken")
        elif isinstance(model, (DataParallel, DistributedDataParallel)):
            notes.append(f"{type(model).__name__} is left out: the module that it was given is taken")
            model = model.module
        else:
            return model, notes


def bind(model: Any, inputs: Inputs) -> Call:
    """Finds `forward`'s arguments in the data by name. Raises InputError where a required one is missing."""
    parameters = _parameters(model)
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
    if not parameters and not call.arguments:
        raise Refused(
            f"forward of {type(model).__name__} names no arguments",
            "wrap it: a module whose forward names them, as forward(self, x, edge_index)",
        )
    if not call.arguments:
        raise InputError("nothing in the data is an argument of the model", f"it has {_listing(inputs.values)}")
    call.notes += _dropped(inputs, {id(values[name]) for name in used})
    return call


def _add_others(call: Call, kinds: set[Any], rest: Mapping[str, Any]) -> set[str]:
    """What else a dict has, where forward takes any arguments: by name beside others, else in the order of the dict."""
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


def ignored(name: str) -> str:
    """As the engine says it of files."""
    return f"'{name}' is not an argument of the model: ignored"


def bind_names(names: tuple[str, ...], inputs: Inputs) -> Call:
    """As `bind`, for the arguments of a file."""
    call, values = Call({}), {**inputs.others, **inputs.values}
    for parameter in (inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names):
        found = _found(parameter, values, call)
        if found is not None:
            call.add(parameter.name, values[found])
    call.notes += _dropped(inputs, set(map(id, call.forms.values())))
    return call


def positional(model: Any, values: tuple[Any, ...] | list[Any]) -> dict[str, Any]:
    """A tuple of arguments as a dict by the names of `forward`."""
    parameters = _parameters(model)
    names = [parameter.name for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in _variable(model) and len(values) > len(names):
        names = _names_inside(model, len(values))
    if len(values) > len(names):
        raise InputError(f"forward takes {len(names)} arguments, and {len(values)} are given", "pass a dict by name")
    required = {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty}
    pairs = zip(names, values, strict=False)
    return {name: value for name, value in pairs if value is not None or name in required}


def _names_inside(model: Any, count: int) -> list[str]:
    """The names of the arguments of the first submodule that has so many: a container hands its arguments on to it."""
    for module in list(model.modules())[1:]:
        names = [parameter.name for parameter in _named(module)]
        if len(names) >= count:
            return names[:count]
    return [f"input{position}" for position in range(count)]


def _parameters(model: Any) -> list[inspect.Parameter]:
    """Those with a name; of a ScriptModule by its schema."""
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
    """Which of *args and **kwargs its forward takes."""
    if hasattr(getattr(model, "_c", None), "_get_method"):
        return set()
    return {item.kind for item in inspect.signature(model.forward).parameters.values()} & set(_ANY)


def _check_forward(model: Any) -> None:
    """Raises Refused where there is none."""
    if getattr(type(model), "forward", None) is not sys.modules["torch"].nn.Module.forward or "forward" in vars(model):
        return
    raise _without_forward(type(model).__name__, _methods(type(model)))


def _without_forward(name: str, methods: list[str]) -> Refused:
    called = methods[0] if methods else "METHOD"
    return Refused(
        f"{name} has no forward" + (f"; its methods are {', '.join(methods)}" if methods else ""),
        f"wrap it: a module whose forward(self, x, edge_index) returns self.model.{called}(x, edge_index)",
    )


def _methods(kind: type) -> list[str]:
    """Those that the classes of a model define."""
    base = sys.modules["torch"].nn.Module
    own = [one for one in kind.__mro__ if issubclass(one, base) and one is not base]
    names = [name for one in own for name, item in vars(one).items() if inspect.isfunction(item)]
    return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def _found(parameter: inspect.Parameter, values: Mapping[str, Any], call: Call) -> str | None:
    """The entry that is this argument. An optional one is taken under its own name only."""
    if values.get(parameter.name) is not None:
        if parameter.default is not inspect.Parameter.empty and arrays.is_array(values[parameter.name]):
            call.notes.append(f"the optional argument '{parameter.name}' is taken from the data")
        return parameter.name
    if parameter.default is not inspect.Parameter.empty:
        return None
    if parameter.name in values:
        return parameter.name  # None was given
    # Heterogeneous models take dicts by type for what they call `x` and `edge_index`.
    for alias in (*_ALIASES.get(parameter.name, ()), f"{parameter.name}_dict"):
        if values.get(alias) is not None and _stands_for(parameter.name, values[alias]):
            call.notes.append(f"'{alias}' of the data is taken for the argument '{parameter.name}'")
            return alias
    raise InputError(
        f"forward needs '{parameter.name}', and the data has {_listing(values)}",
        f"pass a dict by argument: {{'{parameter.name}': ...}}",
    )


def _stands_for(name: str, value: Any) -> bool:
    """An edge attribute is a weight only if it is one number an edge."""
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
    elif without_none(value) is None or isinstance(value, (bool, int, float, str)):
        call.constants[name] = value
        call.notes.append(f"'{name}' = {value!r} is part of the file")
    else:
        call.add(name, value)


def _takes_container(parameters: list[inspect.Parameter], inputs: Inputs) -> bool:
    required = [item for item in parameters if item.default is inspect.Parameter.empty]
    if len(required) != 1 or required[0].name in inputs.values:
        return False
    annotation = str(required[0].annotation)
    return required[0].name in _CONTAINERS or annotation.rstrip("'>").endswith(("Data", "Batch"))


def _bind_container(inputs: Inputs) -> Call:
    """All tensors of a container that PyG can make again; those that `forward` does not use are left out when it is
    traced."""
    if not hasattr(inputs.container, "to_dict"):
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
    notes = [ignored(name) for name in inputs.values if name not in kept]
    return Call(kept, dict(kept), container=inputs.container, notes=notes)


def _all_tensors(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(arrays.is_torch, value.values()))


def has_relations(value: Any) -> bool:
    """Whether keys are not texts, which no TorchScript file takes."""
    if isinstance(value, Mapping):
        return any(not isinstance(key, str) or has_relations(item) for key, item in value.items())
    return isinstance(value, (list, tuple)) and any(map(has_relations, value))


def has_none(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(has_none, value.values()))
    return any(map(has_none, value)) if isinstance(value, (list, tuple)) else value is None


def without_none(value: Any) -> Any:
    """The value without its None members: None where all are None, and the same object where none is."""
    if not has_none(value):
        return value
    if isinstance(value, Mapping):
        kept = {key: without_none(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None} or None
    if isinstance(value, (list, tuple)):
        items = [item for item in map(without_none, value) if item is not None]
        return (items if isinstance(value, list) else tuple(items)) or None
    return None


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """As arrays.flat, but a sparse tensor is one leaf, and what is no tensor is refused."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(f"{name}.{arrays.key_text(key)}", item)
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from leaves(f"{name}.{position}", item)
    elif arrays.is_array(value):
        yield name, arrays.checked(name, value)
    elif value is not None:
        raise InputError(
            f"'{name}' is a {type(value).__name__}, not a tensor", "pass tensors, or dicts and lists of them"
        )


def rebuilt(name: str, value: Any, leaf: Callable[[str], Any], texts: bool) -> Any:
    """The same structure with other leaves; `texts`: with keys as texts."""
    if isinstance(value, Mapping):
        return {
            arrays.key_text(key) if texts else key: rebuilt(f"{name}.{arrays.key_text(key)}", item, leaf, texts)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        items = [rebuilt(f"{name}.{position}", item, leaf, texts) for position, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return None if value is None else leaf(name)


def outputs_of(value: Any, name: str = "out") -> dict[str, Any]:
    """The tensors of a result by the engine's names."""
    return dict(leaves(name, value))
