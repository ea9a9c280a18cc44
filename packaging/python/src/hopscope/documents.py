"""Models, plans and devices as the engine describes them, as plain objects. The `document` of an `Inspection`, a
`Plan` and `Devices` is the whole JSON. The other attributes are those used most."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _svg
from ._options import path_of
from ._table import Table
from ._words import counted
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
        return f"Value({self.id}: {self.name}, {_html.shape(self.shape)} {self.dtype or ''})".replace(" )", ")")


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
        return f"Cut({self.value}: {self.name} {_html.shape(self.shape)}, {kind} after stage {self.stage})"


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
        reads, stores = _html.listed(self.reads), _html.listed(self.stores)
        operators = counted(self.operators, "operator")
        return f"Stage({self.index}: {operators}; reads {reads or 'nothing'}; stores {stores or 'nothing'})"


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
        return _html.inspection(self)

    def _repr_svg_(self) -> str:
        return _svg.inspection(self)


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
        return f"Plan({_html.plan_title(self)}; {counted(len(self.stages), 'stage')})"

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
        return _html.plan(self)

    def _repr_svg_(self) -> str:
        return _svg.plan(self)


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
        return f"Device({self.id}: {self.name}, {_html.size(self.memory)})"


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
        return f"Devices({_html.listed([device.id for device in self.devices])})"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per device."""
        return self.devices.to_pandas()

    def _repr_html_(self) -> str:
        return _html.devices(self)
