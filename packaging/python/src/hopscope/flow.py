"""The layered flow of an exported model: layer by layer, block by block, with rows of the whole graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _html
from ._scratch import Scratch
from ._words import counted
from .errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

Reduce: TypeAlias = "str | Callable[[Tensor, Tensor, int], Tensor]"

_REDUCTIONS = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}


class LayeredFlow:
    """A graph that the layers of an exported folder compute one by one; `Exported.flow` returns it. `flow["x"]` returns
    a whole value: an input, a weight, a value of the prologue, a value that a layer has stored, or a result of
    `propagate`. Values have their names in stage_1.py and so on. Use the flow in a `with` statement, or close it:
    stored values occupy files until then.

    Attributes:
        layers (list[Layer]): The loops of the stages, in the order in which they run.

    Example:
        >>> with hopscope.export(model, data, "steps").load().flow(x=data.x, edge_index=data.edge_index) as flow:
        ...     first = flow.layers[0]
        ...     block = next(first.blocks(size=100))
        ...     means = first.propagate(lambda edges: edges.source["x"], "mean", into="means")
        ...     outputs = flow.run()
        >>> first, block, len(block.nodes)
        (Layer(stage_1: 500 node over ...), Block(stage_1: node 0 to 100), 100)
        >>> torch.allclose(outputs["out"], model(data.x, data.edge_index), atol=1e-4)
        True
    """

    def __init__(self, module: ModuleType, runner: Any, data: dict[str, Any], device: str, batch: int | None) -> None:
        import torch

        self._module, self._scratch = module, Scratch()
        folder = self._scratch.folder()
        self._run = module.Run(runner, runner.bind(data), folder, torch.device(device), batch, lambda *_: None)
        with torch.no_grad():
            self._run.begin(str(folder))
        self._made: dict[str, tuple[str, Tensor]] = {}
        self._names = _names(runner.code, runner.tensors)
        self.layers = [Layer(self, loop) for loop in runner.code["loops"]]

    def __enter__(self) -> LayeredFlow:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the stored values."""
        self._scratch.close()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rows of each table: node types, edge types, and tables derived from them."""
        return dict(self._run.graph.sizes)

    @property
    def names(self) -> list[str]:
        """The names of the values that `flow[...]` can return at the moment."""
        known = {name for name, value in self._names.items() if self._has(value)}
        return sorted(known | set(self._made))

    def __getitem__(self, name: str) -> Tensor:
        if name in self._made:
            return self._made[name][1]
        value = self._names.get(name, name)
        if not self._has(value):
            raise InputError(f"the flow has no '{name}' at this layer", f"it has {', '.join(self.names)}")
        return self._run.table(value)

    def _has(self, value: str) -> bool:
        run = self._run
        return any(value in place for place in (run.stores, run.names, run.prologue, run.weights))

    def table_of(self, name: str) -> str | None:
        """Returns the table whose rows a value has; None if it has none or is not known.

        Args:
            name (str): The name of the value.

        Returns:
            str | None: The name of the table.
        """
        if name in self._made:
            return self._made[name][0]
        value = self._names.get(name, name)
        spec = self._run.runner.tensors.get(value)
        return next((space for space in spec["row_spaces"] if space), None) if spec else None

    def rows(self, name: str, table: str, rows: Tensor) -> Tensor:
        """Copies rows of a value from the whole graph.

        Args:
            name (str): The name of the value.
            table (str): The table of the rows.
            rows (Tensor): Their numbers.

        Returns:
            Tensor: The rows.

        Raises:
            InputError: The value does not exist yet, has rows of another table, or has no rows.
        """
        home, whole = self.table_of(name), self[name]
        if home is None:
            raise InputError(f"'{name}' has no rows", f"flow['{name}'] is the whole value")
        if home != table:
            raise InputError(f"'{name}' has rows of {home}, not of {table}", "parents() says which rows these were")
        spec = self._run.runner.tensors.get(self._names.get(name, name))
        along = spec["row_spaces"].index(table) if spec and name not in self._made else 0
        return whole.index_select(along, rows)

    def parents(self, table: str, rows: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """Finds the origin of rows of a derived table. Edges with self-loops come from the edges and from the nodes.

        Args:
            table (str): The table.
            rows (Tensor): The numbers of its rows.

        Returns:
            dict[str, tuple[Tensor, Tensor]]: By input table, the positions in `rows` that come from it, and their row
                numbers there.
        """
        import torch

        found: dict[str, list[tuple[Tensor, Tensor]]] = {}
        self._trace(table, torch.arange(rows.numel()), rows, found)
        return {
            name: (torch.cat([p for p, _ in each]), torch.cat([r for _, r in each])) for name, each in found.items()
        }

    def _trace(self, table: str, places: Tensor, rows: Tensor, found: dict[str, list[tuple[Tensor, Tensor]]]) -> None:
        spec = next(spec for spec in self._run.code["tables"] if spec["name"] == table)
        if spec["kind"] == "cat":
            start = 0
            for part in spec["from"]:
                inside = (rows >= start) & (rows < start + self.sizes[part])
                self._trace(part, places[inside], rows[inside] - start, found)
                start += self.sizes[part]
        elif spec["parents"]:
            self._trace(spec["from"][0], places, self._run.graph.parents[table].index_select(0, rows), found)
        else:
            found.setdefault(table, []).append((places, rows))

    def run(self) -> dict[str, Tensor]:
        """Computes all layers of the model.

        Returns:
            dict[str, Tensor]: The outputs by name.
        """
        for layer in self.layers:
            layer.run()
        return self.outputs()

    def outputs(self) -> dict[str, Tensor]:
        """Returns the outputs of the model after all layers have run.

        Returns:
            dict[str, Tensor]: The outputs by name.
        """
        import torch

        with torch.no_grad():
            return {name: tensor.clone() for name, tensor in self._run.outputs().items()}

    def __repr__(self) -> str:
        return f"LayeredFlow({', '.join(f'{layer.name}: {layer.size} {layer.destination}' for layer in self.layers)})"

    def _repr_html_(self) -> str:
        rows = (
            (layer.name, layer.size, layer.destination, ", ".join(layer.relations), ", ".join(layer.reads),
             ", ".join(layer.stores))
            for layer in self.layers
        )  # fmt: skip
        layers = _html.grid(("layer", "rows", "of", "over", "reads", "stores"), rows)
        return _html.page(counted(len(self.layers), "layer"), layers)


class Layer:
    """A loop of a stage, which computes all rows of a table in blocks.

    Attributes:
        flow (LayeredFlow): The flow.
        stage (int): The number of the stage.
        name (str): The method of the exported module, such as "stage_1".
        destination (str): The table whose rows it computes.
        reads (list[str]): The names of the values that it reads.
        stores (list[str]): The names of its results: values that it stores, and reductions over all rows.
        relations (list[str]): The edge tables that it reads.
    """

    def __init__(self, flow: LayeredFlow, loop: dict[str, Any]) -> None:
        self.flow, self._loop = flow, loop
        self.stage, self.name, self.destination = int(loop["stage"]), str(loop["method"]), str(loop["destination"])
        called = {value: name for name, value in reversed(flow._names.items())}
        values = [argument["value"] for argument in loop["arguments"] if argument["value"]]
        self.reads = sorted({called.get(value, value) for value in values})
        self.stores = [called.get(result["value"], result["value"]) for result in loop["results"]]
        self.relations: list[str] = list(dict.fromkeys(source["table"] for source in loop["frontier"]))

    @property
    def size(self) -> int:
        """The number of its destinations."""
        return self.flow.sizes[self.destination]

    def blocks(self, size: int | None = None) -> Iterator[Block]:
        """Iterates over all destinations in blocks.

        Args:
            size (int | None): Destinations per block; None: as `run` chooses them.

        Returns:
            Iterator[Block]: The blocks.
        """
        run, first = self.flow._run, 0
        most = size or run.batch or self.flow._module.MOST_DESTINATIONS
        while first < self.size:
            last = min(self.size, first + most)
            last = last if size else run.end(self._loop, first, last)
            yield Block(self, first, last)
            first = last

    def run(self) -> None:
        """Computes the layer of the model for all blocks, and stores the results."""
        import torch

        with torch.no_grad():
            self.flow._run.compute(self._loop)

    def propagate(
        self,
        message: Callable[[Edges], Tensor],
        reduce: Reduce = "sum",
        apply: Callable[[Nodes, Tensor], Tensor] | None = None,
        *,
        into: str,
        relation: str | None = None,
        size: int | None = None,
    ) -> Tensor:
        """Computes the layer with functions of your own.

        Args:
            message (Callable[[Edges], Tensor]): Returns a row for each edge of a block.
            reduce (Reduce): "sum", "mean", "max", "min", or a function of the messages, the positions of their
                destinations in the block, and the number of destinations.
            apply (Callable[[Nodes, Tensor], Tensor] | None): Returns the rows to store, from the destinations and the
                reduced messages. None: the reduced messages.
            into (str): The name of the result, as `flow[into]`.
            relation (str | None): The edges, if the layer reads several kinds.
            size (int | None): Destinations per block; None: as `run` chooses them.

        Returns:
            Tensor: The rows of all destinations.

        Raises:
            InputError: The layer has no edges, does not read those of `relation`, or reads several kinds and
                `relation` is None; or `reduce` is not known.
        """
        import torch

        table = relation or self._only_relation()
        made = []
        with torch.no_grad():
            for block in self.blocks(size):
                edges = block.edges(table)
                rows = _reduced(reduce, message(edges), edges.places, len(block))
                made.append(rows if apply is None else apply(block.nodes, rows))
        whole = torch.cat(made)
        self.flow._made[into] = (self.destination, whole)
        return whole

    def __repr__(self) -> str:
        over = f" over {', '.join(self.relations)}" if self.relations else ""
        return f"Layer({self.name}: {self.size} {self.destination}{over})"

    def _only_relation(self) -> str:
        if len(self.relations) == 1:
            return self.relations[0]
        if not self.relations:
            raise InputError(
                f"{self.name} has no edges: it computes on rows of {self.destination} alone", "use a layer with edges"
            )
        raise InputError(
            f"{self.name} has several kinds of edges", f"pass relation=, one of {', '.join(self.relations)}"
        )


@dataclass(frozen=True, repr=False)
class Nodes:
    """Rows of a table; `nodes["x"]` returns a value for these rows.

    Attributes:
        flow (LayeredFlow): The flow.
        table (str): The table.
        ids (Tensor): Their row numbers in the whole graph.
    """

    flow: LayeredFlow
    table: str
    ids: Tensor

    def __len__(self) -> int:
        return int(self.ids.numel())

    def __getitem__(self, name: str) -> Tensor:
        return self.flow.rows(name, self.table, self.ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} of {self.table})"


@dataclass(frozen=True, repr=False)
class Edges(Nodes):
    """The edges into a block; `edges["weight"]` returns the rows of a value for these edges. In addition to the
    attributes of `Nodes`, there are:

    Attributes:
        places (Tensor): The position of the destination of each edge in the block.
        source (Nodes): The source of each edge.
        target (Nodes): The destination of each edge.
    """

    places: Tensor
    source: Nodes
    target: Nodes

    def parents(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Finds the rows of the input tables that the edges come from, as `LayeredFlow.parents` does.

        Returns:
            dict[str, tuple[Tensor, Tensor]]: By input table, the positions among these edges, and their rows there.
        """
        return self.flow.parents(self.table, self.ids)


class Block:
    """Consecutive destinations of a layer, with the edges into them and their sources.

    Attributes:
        layer (Layer): The layer.
        first (int): The first destination.
        last (int): The end of the range of destinations, exclusive.
    """

    def __init__(self, layer: Layer, first: int, last: int) -> None:
        self.layer, self.first, self.last = layer, first, last
        self._block = layer.flow._module.Block(layer.flow._run.graph, layer._loop, {})
        self._block.begin(first, last)

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def nodes(self) -> Nodes:
        """The destinations."""
        kind = {"kind": "batch", "table": self.layer.destination, "key": ""}
        return Nodes(self.layer.flow, self.layer.destination, self._block.rows(kind))

    def frontier(self, table: str | None = None) -> Nodes:
        """Returns the rows of a table from which the block is computed.

        Args:
            table (str | None): The table; None: the table of the destinations, which come first.

        Returns:
            Nodes: The rows.
        """
        name = table or self.layer.destination
        return Nodes(self.layer.flow, name, self._block.rows({"kind": "frontier", "table": name, "key": ""}))

    def edges(self, relation: str | None = None) -> Edges:
        """Returns the edges into the block, ordered by destination.

        Args:
            relation (str | None): The edges, if the layer reads several kinds.

        Returns:
            Edges: The edges.

        Raises:
            InputError: The layer does not read these edges, or there are several kinds and no `relation`.
        """
        flow, table = self.layer.flow, relation or self.layer._only_relation()
        source = next((s for s in self.layer._loop["frontier"] if s["table"] == table), None)
        if source is None:
            raise InputError(
                f"{self.layer.name} reads no edges of {table}",
                f"pass relation=, one of {', '.join(self.layer.relations)}",
            )
        graph, owner = flow._run.graph, source["owner"]
        ids = self._block.rows(owner)
        target = graph.column(table, owner["key"], ids)
        ends = Nodes(flow, source["target"], graph.column(table, source["key"], ids))
        return Edges(flow, table, ids, target - self.first, ends, Nodes(flow, self.layer.destination, target))

    def compute(self) -> dict[str, Tensor]:
        """Computes the block with the code of the model, without reductions over all rows.

        Returns:
            dict[str, Tensor]: The rows by the names in `Layer.stores`.
        """
        import torch

        run, loop = self.layer.flow._run, self.layer._loop
        with torch.no_grad():
            made = iter(getattr(run.stages, loop["method"])(*run.arguments(loop, self._block)))
            found = {}
            for name, result in zip(self.layer.stores, loop["results"], strict=True):
                tensors = [next(made) for _ in range(result["merge"]["tensors"] if result["merge"] else 1)]
                if not result["merge"]:
                    found[name] = tensors[0]
        return found

    def __repr__(self) -> str:
        return f"Block({self.layer.name}: {self.layer.destination} {self.first} to {self.last})"


def _reduced(reduce: Reduce, messages: Tensor, places: Tensor, count: int) -> Tensor:
    if callable(reduce):
        return reduce(messages, places, count)
    if reduce not in _REDUCTIONS:
        raise InputError(f"'{reduce}' is not a reduction", f"pass one of {', '.join(_REDUCTIONS)}, or a function")
    index = places.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
    start = messages.new_zeros((count, *messages.shape[1:]))
    return start.scatter_reduce(0, index, messages, _REDUCTIONS[reduce], include_self=False)


def _names(code: Mapping[str, Any], tensors: Mapping[str, Any]) -> dict[str, str]:
    """Returns the values by their names: those of inputs and outputs first, then those of the parameters of stages."""
    names = {spec["name"]: value for value, spec in tensors.items() if spec["name"]}
    names.update({output["name"]: output["value"] for output in code["outputs"] if output["name"] not in names})
    named = set(names.values())
    for loop in code["loops"]:
        for argument in loop["arguments"]:
            if argument["value"] and argument["value"] not in named and argument["name"] not in names:
                names[argument["name"]] = argument["value"]
                named.add(argument["value"])
    return names
