"""Models, plans and devices as the engine describes them, as plain objects. The `document` of an `Inspection`, a
`Plan` and `Devices` is the whole JSON. The other attributes are those used most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html
from ._options import path_of
from ._svg import Box, Picture, Stored, draw
from ._table import Table
from ._words import counted, listed, shape, size
from .errors import InputError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Value:
    """A value of a model: an input, a weight, a constant, or a result of an operator.

    Attributes:
        id (str): Its id in documents and pins, such as "v17".
        name (str): A unique, readable name, such as "relu after convs.0".
        origin (str): The place that it comes from: "input", "parameter", "constant" or "op".
        dtype (str | None): The type of its elements; None if it is unknown.
        shape (list[int | str | None]): Its extents; "|node|" stands for the number of rows of the table `node`, None
            for an unknown extent.
        bytes (int | None): Its size with the given data; None if it is unknown.
    """

    id: str
    name: str
    origin: str
    dtype: str | None
    shape: list[int | str | None]
    bytes: int | None

    def __repr__(self) -> str:
        return f"Value({self.id}: {self.name}, {shape(self.shape)} {self.dtype or ''})".replace(" )", ")")


@dataclass(frozen=True, repr=False)
class Operator:
    """An operator of a model, or an input or output.

    Attributes:
        id (str): Its id in documents, such as "op7" or "input.x".
        name (str): The operator of LibTorch, or the name of an input or output of the model.
        kind (str): Its part in message passing: "input", "structure", "rowwise", "gather", "aggregate", "reduce" or
            "output".
        module (str): The path of the module that calls it.
        depth (int): The depth of its result, in hops.
        line (str): The source line, such as "gcn.py:31"; empty if it is unknown.
    """

    id: str
    name: str
    kind: str
    module: str
    depth: int
    line: str

    def __repr__(self) -> str:
        inside = f" in {self.module}" if self.module else ""
        return f"Operator({self.id}: {self.name}{inside}, {self.kind}, depth {self.depth})"


@dataclass(frozen=True, repr=False)
class Cut:
    """A stored value between stages, or an output of the model.

    Attributes:
        value (str): The id of the value, as pins name it.
        name (str): Its readable name.
        stage (int): The stage that stores it, counted from 1.
        shape (list[int | str | None]): Its extents, as those of a `Value`.
        dtype (str | None): The type of its elements; None if it is unknown.
        output (bool): Whether it is an output of the model.
        written (int | None): Bytes that the run writes; None if they are not known.
        read (int | None): Bytes that later stages read; None if they are not known.
    """

    value: str
    name: str
    stage: int
    shape: list[int | str | None]
    dtype: str | None
    output: bool
    written: int | None
    read: int | None

    def __repr__(self) -> str:
        kind = "output" if self.output else "stored"
        return f"Cut({self.value}: {self.name} {shape(self.shape)}, {kind} after stage {self.stage})"

    def _cells(self) -> dict[str, object]:
        return {
            "value": self.value,
            "name": self.name,
            "stage": f"after {self.stage}",
            "shape": shape(self.shape),
            "dtype": self.dtype or "",
            "written": size(self.written),
            "read": size(self.read),
            "is": "output" if self.output else "cut",
        }


@dataclass(frozen=True, repr=False)
class Stage:
    """A part of a model that is computed for all nodes, batch by batch.

    Attributes:
        index (int): Its number, counted from 1.
        destinations (list[str]): The node types whose rows it computes.
        operators (int): The number of its operators. Those that are computed again count in each stage of a `Plan`, but
            only in the first stage of an `Inspection`.
        reads (list[str]): The names of the values that it reads.
        stores (list[str]): The names of the values that it stores.
    """

    index: int
    destinations: list[str]
    operators: int
    reads: list[str]
    stores: list[str]

    def __repr__(self) -> str:
        reads, stores = listed(self.reads), listed(self.stores)
        operators = counted(self.operators, "operator")
        return f"Stage({self.index}: {operators}; reads {reads or 'nothing'}; stores {stores or 'nothing'})"

    def _cells(self) -> dict[str, object]:
        return {
            "stage": self.index,
            "operators": self.operators,
            "for all of": ", ".join(self.destinations),
            "reads": ", ".join(self.reads),
            "stores": ", ".join(self.stores),
        }


@dataclass(frozen=True)
class Lint:
    """A finding about a model.

    Attributes:
        code (str): The name of the kind of finding.
        message (str): A sentence, with the operator and its line if it is about one.
        blocking (bool): Whether it is the reason why the model cannot be split.
    """

    code: str
    message: str
    blocking: bool


@dataclass(frozen=True, repr=False)
class Inspection:
    """The structure of a model.

    Attributes:
        model (str): The file.
        model_class (str): The class of the model.
        depth (int): The message-passing depth of the outputs, in hops.
        splittable (bool): Whether the model can be split. If not, a blocking entry of `lints` gives the reason.
        roles (dict[str, str]): The roles of the inputs, as `roles` of `inference` takes them.
        sizes (dict[str, int]): The rows of each table, as far as they follow from the data.
        stages (Table[Stage]): The stages by message-passing depth.
        cuts (Table[Cut]): The values that these stages store.
        operators (Table[Operator]): The operators, in the order in which they run; the inputs of the model come first,
            and its outputs last.
        values (Table[Value]): The values.
        lints (Table[Lint]): Findings about the model.
        notes (list[str]): Sentences about assumptions and ignored inputs.
        document (dict[str, Any]): The whole document (docs/reference/format-inspect.md).
    """

    model: str
    model_class: str
    depth: int
    splittable: bool
    roles: dict[str, str]
    sizes: dict[str, int]
    stages: Table[Stage]
    cuts: Table[Cut]
    operators: Table[Operator]
    values: Table[Value]
    lints: Table[Lint]
    notes: list[str]
    document: dict[str, Any]

    def __repr__(self) -> str:
        kind = self.model_class or self.model
        stages, operators = counted(len(self.stages), "stage"), counted(len(self.operators), "operator")
        return f"Inspection({kind}: depth {self.depth}, {stages}, {operators})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per operator."""
        return self.operators.to_pandas()

    def _repr_html_(self) -> str:
        depth, stages = f"depth {self.depth}", counted(len(self.stages), "stage")
        title = f"{self.model_class or self.model}: {depth}, {stages}{'' if self.splittable else ', cannot be split'}"
        lints = _html.listing(lint.message for lint in self.lints)
        return _html.page(title, self._repr_svg_(), _html.table(self.stages), _html.table(self.cuts), lints)

    def _repr_svg_(self) -> str:
        return draw(_picture_of_model(self))


@dataclass(frozen=True, repr=False)
class Plan:
    """The operators of each stage, and the values that are stored between stages.

    Attributes:
        strategy (str): The strategy that made the plan.
        device (str): The device for which it was made.
        objective (str): The quantity that an optimisation minimises: "time" or "bytes".
        unit (str): The unit of `cost`: "seconds" or "bytes".
        cost (float | None): The cost by the cost model; None without data.
        gap (float | None): The largest possible distance from the optimum, relative to the cost. It is 0 if the plan
            is proven optimal; None: no bound is known, as for the plan of a heuristic.
        peak_memory (int | None): The predicted bytes on the device; None without data.
        bytes (dict[str, int]): Bytes that the stages write ("d2h"), read ("h2d"), and read of the graph's structure
            ("structure"). Empty without data.
        stages (Table[Stage]): The stages.
        cuts (Table[Cut]): The stored values, with the outputs of the model.
        notes (list[str]): Sentences about assumptions and ignored inputs.
        document (dict[str, Any]): The content of plan.json (docs/reference/format-plan.md).
        fingerprint (str): Equal for plans of the same traced model with the same weights. Empty for other models, and
            for paths of model files.
    """

    strategy: str
    device: str
    objective: str
    unit: str
    cost: float | None
    gap: float | None
    peak_memory: int | None
    bytes: dict[str, int]
    stages: Table[Stage]
    cuts: Table[Cut]
    notes: list[str]
    document: dict[str, Any]
    fingerprint: str = ""

    def __repr__(self) -> str:
        return f"Plan({self._title()}; {counted(len(self.stages), 'stage')})"

    def save(self, path: str | Path) -> Path:
        """Writes plan.json, which `hopscope-engine run --plan` reads.

        Args:
            path (str | Path): The file to write.

        Returns:
            Path: The file.

        Raises:
            InputError: The file cannot be written.
        """
        target = path_of("path", path)
        try:
            target.write_text(json.dumps(self.document, indent=2) + "\n")
        except OSError as problem:
            raise InputError(f"{target}: cannot be written: {problem.strerror}", "choose another folder") from problem
        return target

    def of_file(self, model_hash: str) -> Plan:
        """Returns the same plan for another file of the same model.

        Args:
            model_hash (str): The hash of that file.

        Returns:
            Plan: The plan.
        """
        hashes = {**self.document["hashes"], "model": model_hash}
        return replace(self, document={**self.document, "hashes": hashes})

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per stored value."""
        return self.cuts.to_pandas()

    def _repr_html_(self) -> str:
        tables = _html.table(self.stages), _html.table(self.cuts)
        return _html.page(self._title(), self._repr_svg_(), *tables, _html.listing(self.notes))

    def _repr_svg_(self) -> str:
        return draw(_picture_of_plan(self))

    def _title(self) -> str:
        cost = "" if self.cost is None else f", cost {self.cost:.3g} {self.unit}"
        proof = ", proven optimal" if self.gap == 0 else ""
        return f"{self.strategy} plan for {self.device}{cost}{proof}; peak memory {size(self.peak_memory)}"


@dataclass(frozen=True, repr=False)
class Device:
    """A device to compute on.

    Attributes:
        id (str): Its name as `device` takes it, such as "cpu" or "cuda:0".
        name (str): The model name of the processor or GPU.
        memory (int): Its memory in bytes.
        driver (str): The driver of a GPU; empty for the CPU.
    """

    id: str
    name: str
    memory: int
    driver: str

    def __repr__(self) -> str:
        return f"Device({self.id}: {self.name}, {size(self.memory)})"

    def _cells(self) -> dict[str, object]:
        return {"device": self.id, "name": self.name, "memory": size(self.memory), "driver": self.driver}


@dataclass(frozen=True, repr=False)
class Devices:
    """The usable devices of this machine.

    Attributes:
        devices (Table[Device]): The devices, the CPU first.
        missing (list[str]): Sentences about why a GPU cannot be used or is slow.
        document (dict[str, Any]): The document of `hopscope-engine devices --json`.
    """

    devices: Table[Device]
    missing: list[str]
    document: dict[str, Any]

    def __repr__(self) -> str:
        return f"Devices({listed([device.id for device in self.devices])})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per device."""
        return self.devices.to_pandas()

    def _repr_html_(self) -> str:
        return _html.page("Devices", _html.table(self.devices), _html.listing(self.missing))


def _picture_of_model(found: Inspection) -> Picture:
    """Operators by their modules: everything in "convs.0", such as "convs.0.lin", is one box."""
    homes: dict[str, str] = {}
    counts: dict[tuple[int, str], list[str]] = {}
    for op in found.document["ops"]:
        if op["stage"] is not None and op["kind"] not in ("input", "output"):
            counts.setdefault((op["stage"], _module(op["module"])), []).append(op["name"])
            homes.update({value: _key(op["stage"], _module(op["module"])) for value in op["outputs"]})
    bands = [[Box(_key(*at), at[1], _operators(names)) for at, names in counts.items() if at[0] == stage.index]
             for stage in found.stages]  # fmt: skip
    readers, links = _readers(found, homes)
    stored = [_stored(cut, homes.get(cut.value, ""), readers.get(cut.value, [])) for cut in found.cuts]
    titles = [_title(stage) for stage in found.stages]
    return Picture(titles, bands, stored, links)


def _picture_of_plan(made: Plan) -> Picture:
    """Returns a box per stage; stored values are linked with the stages that read them."""
    bands = [
        [Box(_key(stage.index, ""), counted(stage.operators, "operator"), f"for all {', '.join(stage.destinations)}")]
        for stage in made.stages
    ]
    stored = []
    for cut in made.cuts:
        targets = [_key(stage.index, "") for stage in made.stages if cut.name in stage.reads]
        stored.append(_stored(cut, _key(cut.stage, ""), targets))
    return Picture([_title(stage) for stage in made.stages], bands, stored)


def _title(stage: Stage) -> str:
    return f"stage {stage.index} · {', '.join(stage.destinations)}"


def _key(stage: int, module: str) -> str:
    return f"{stage} {module}"


def _module(name: str) -> str:
    """ "convs.0" of "convs.0.lin", "conv1" of "conv1.lin"."""
    first, _, rest = name.partition(".")
    second = rest.partition(".")[0]
    return (f"{first}.{second}" if second.isdigit() else first) or "model"


def _operators(names: Sequence[str]) -> str:
    return names[0].removeprefix("aten::") if len(names) == 1 else counted(len(names), "operator")


def _readers(found: Inspection, homes: dict[str, str]) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Which boxes read a value, and which boxes of a stage are linked."""
    readers: dict[str, list[str]] = {}
    links: dict[tuple[str, str], None] = {}
    for op in found.document["ops"]:
        if op["stage"] is None or op["kind"] in ("input", "output"):
            continue
        here = _key(op["stage"], _module(op["module"]))
        for value in op["inputs"]:
            readers.setdefault(value, []).append(here)
            home = homes.get(value, here)
            if home != here and home.split(" ")[0] == here.split(" ")[0]:
                links[home, here] = None
    return readers, list(links)


def _stored(cut: Cut, source: str, readers: Iterable[str]) -> Stored:
    extents = " x ".join(str(extent).strip("|") for extent in cut.shape)
    amount = f", {size(cut.written)}" if cut.written is not None else ""
    later = [key for key in dict.fromkeys(readers) if int(key.split(" ")[0]) > cut.stage]
    return Stored(cut.name, extents + amount, cut.stage - 1, source, later, cut.output)
