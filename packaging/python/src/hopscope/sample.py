"""Small graphs cut from somebody's data: an isolated node, a self-loop, an edge twice, rows that really occur. The
model is traced and compared on them, so the whole graph is never evaluated in Python."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _largest, arrays
from .errors import InputError, UsageError

# Nodes and edges of the samples, of which the last has smaller numbers in all tables; the next type and relation of a
# sample get a few more, so that no two sizes are equal.
_SIZES = ((23, 71), (37, 127), (31, 101), (41, 139))
COUNT, SMALLER = len(_SIZES), len(_SIZES) - 1
_NODE_STEP, _EDGE_STEP = 5, 6
# As the engine reads them: with the names of types where those matter.
_ROLE = re.compile(r"graph|plain|(node|edge)(:[^>]+)?|(index|key|source|destination|offsets)(:[^>]+>[^>]+)?")
_ROLE_HINT = (
    "write {NAME: ROLE}; a role is node:T, index:S>T, source:S>T, destination:S>T, offsets:S>T, edge:R, key:T>U, graph "
    "or plain"
)
_NODE_NAMES = ("x", "feat", "feats", "features", "h", "z", "pos", "batch", "y", "n_id")


@dataclass(frozen=True)
class Role:
    """`kind` "node" (rows of type `of`), "edge" (rows of relation `of`), "index" (edges from `of` to `to`),
    "adjacency" (a sparse matrix, rows `of`, columns `to`) or "plain" (kept as it is)."""

    kind: str
    of: str = ""
    to: str = ""


@dataclass
class Shape:
    """What the tensors are: roles by key, rows of each node type (0: it has none), edges of each relation, and by
    which end its edges are sorted (0: source, 1: target, None: neither)."""

    roles: dict[str, Role]
    nodes: dict[str, int]
    edges: dict[str, int] = field(default_factory=dict)
    sorted_by: dict[str, int | None] = field(default_factory=dict)


def parse_roles(roles: Any) -> dict[str, str]:
    """Roles as the engine takes them, by name: {"x": "node:user"} or ["x=node:user"]."""
    listed = roles.items() if isinstance(roles, Mapping) else map(_pair, _listed(roles))
    return dict(map(_checked, listed))


def _listed(roles: Any) -> list[Any]:
    if isinstance(roles, (list, tuple)):
        return list(roles)
    raise UsageError(f"roles: a {type(roles).__name__} is no list of roles", _ROLE_HINT)


def _pair(text: Any) -> tuple[Any, Any]:
    name, _, role = text.partition("=") if isinstance(text, str) else (text, "", None)
    return name, role


def _checked(item: tuple[Any, Any]) -> tuple[str, str]:
    name, role = item
    if not isinstance(name, str) or not isinstance(role, str) or not _ROLE.fullmatch(role):
        raise UsageError(f"roles: {role!r} is no role of {name!r}", _ROLE_HINT)
    return name, role


def shape_of(leaves: Mapping[str, Any], given: Mapping[str, str]) -> Shape:
    """Infers what each tensor is from names, types and sizes; `given` goes first."""
    shape = Shape({}, {})
    indices = {key: array for key, array in leaves.items() if _is_index(key, array, given)}
    sparse = {key: array for key, array in leaves.items() if _is_sparse(array)}
    rest = {key: array for key, array in leaves.items() if key not in indices and key not in sparse}
    shape.edges = {key: int(array.shape[1]) for key, array in indices.items()}
    graphs = {_largest.count_of(array) for key, array in rest.items() if _is_batch(key, array)}
    rest_of_nodes = {key: array for key, array in rest.items() if key in given or not _is_of_graphs(key, array, graphs)}
    sizes = _table_sizes(rest_of_nodes, shape.edges, given)
    for key, array in indices.items():
        shape.roles[key] = _index_role(key, array, sizes, given)
        shape.sorted_by[key] = _sorted_by(array)
    for key, array in sparse.items():
        shape.roles[key] = Role("adjacency", _type_by_size(array.shape[0], sizes), _type_by_size(array.shape[1], sizes))
    for key, array in rest.items():
        of_nodes = key in rest_of_nodes
        shape.roles[key] = _row_role(key, array, sizes, shape.edges, given) if of_nodes else Role("plain")
    used = {name for role in shape.roles.values() for name in (role.of, role.to) if name and role.kind != "edge"}
    shape.nodes = {name: sizes.get(name, 0) for name in sorted(used)}
    return shape


def _is_sparse(array: Any) -> bool:
    return arrays.is_torch(array) and str(array.layout) != "torch.strided"


def _is_index(key: str, array: Any, given: Mapping[str, str]) -> bool:
    if key in given:
        return given[key].startswith("index")
    if _is_sparse(array) or array.ndim != 2 or array.shape[0] != 2:
        return False
    return arrays.dtype_name(array) in ("int64", "int32") and key.partition(".")[0] not in _NODE_NAMES


def _is_batch(key: str, array: Any) -> bool:
    return key.partition(".")[0].removesuffix("_dict").endswith("batch") and _largest.is_column(array)


def _is_of_graphs(key: str, array: Any, graphs: set[int]) -> bool:
    """Whether it has a row for each graph of a batch, and no name that nodes or edges have."""
    base = key.partition(".")[0].removesuffix("_dict")
    named = base in _NODE_NAMES or base.endswith("batch") or base.startswith("edge")
    return array.ndim > 0 and array.shape[0] in graphs and not named


def _ends(key: str) -> tuple[str, str] | None:
    """The types of a relation's key: "edge_index_dict.user__rates__item"."""
    parts = key.rpartition(".")[2].split("__")
    return (parts[0], parts[-1]) if "." in key and len(parts) >= 2 else None


def _table_sizes(rest: Mapping[str, Any], edges: Mapping[str, int], given: Mapping[str, str]) -> dict[str, int]:
    """Rows of each node type, by its name: the key of a dict, what a role says, or one made from the size."""
    sizes: dict[str, int] = {}
    for key, array in rest.items():
        if array.ndim == 0:
            continue
        base, _, last = key.partition(".")
        if given.get(key, "node").startswith("node") and ":" in given.get(key, ""):
            sizes.setdefault(given[key].partition(":")[2], int(array.shape[0]))
        elif last and not last.isdigit() and _ends(key) is None:
            sizes.setdefault(last, int(array.shape[0]))
        elif base in _NODE_NAMES or not (base.startswith("edge") or array.shape[0] in edges.values()):
            _add_size(sizes, int(array.shape[0]))
    return sizes


def _add_size(sizes: dict[str, int], rows: int) -> None:
    if rows not in sizes.values():
        sizes[f"rows of {rows}"] = rows


def _type_by_size(rows: int, sizes: dict[str, int]) -> str:
    _add_size(sizes, int(rows))
    return next(name for name, size in sizes.items() if size == rows)


def _index_role(key: str, array: Any, sizes: dict[str, int], given: Mapping[str, str]) -> Role:
    """Where types have no names, sources belong to the first table that is large enough, targets to the last one."""
    if ":" in given.get(key, ""):
        source, _, target = given[key].partition(":")[2].partition(">")
        return Role("index", source, target)
    ends = _ends(key)
    if ends is not None:
        return Role("index", *ends)
    highest = [int(array[row].max()) if array.shape[1] else -1 for row in (0, 1)]
    fitting = [[name for name, size in sizes.items() if size > top] for top in highest]
    if sizes and not all(fitting):
        largest = max(sizes.values())
        raise InputError(
            f"'{key}' names the node {max(highest)}, and the largest table of nodes has {largest} rows",
            "are the features or the edges of another graph?",
        )
    return Role("index", fitting[0][0], fitting[1][-1]) if sizes else Role("index", "nodes", "nodes")


def _row_role(
    key: str, array: Any, sizes: Mapping[str, int], edges: Mapping[str, int], given: Mapping[str, str]
) -> Role:
    kind, _, of = given.get(key, "").partition(":")
    if kind in ("graph", "plain") or array.ndim == 0:
        return Role("plain")
    rows, last = int(array.shape[0]), key.rpartition(".")[2]
    relation = of if kind == "edge" and of else _relation(key, rows, edges)
    node = of.partition(">")[0] if kind in ("node", "key") and of else _node(last, rows, sizes)
    prefers_node = kind in ("node", "key") or key.partition(".")[0] in _NODE_NAMES
    if node and (prefers_node or not relation):
        return Role("node", node)
    return Role("edge", relation) if relation else Role("plain")


def _relation(key: str, rows: int, edges: Mapping[str, int]) -> str:
    """The relation of an edge attribute: the one of the same key, else the first one with as many edges."""
    last = key.rpartition(".")[2]
    same = [name for name in edges if "." in key and name.rpartition(".")[2] == last]
    return next((name for name in [*same, *edges] if edges[name] == rows), "")


def _node(last: str, rows: int, sizes: Mapping[str, int]) -> str:
    if sizes.get(last) == rows:
        return last
    return next((name for name, size in sizes.items() if size == rows), "")


def draw(leaves: Mapping[str, Any], shape: Shape, number: int) -> dict[str, Any]:
    """Sample `number` of COUNT: tensors of torch with the same keys. The same each time. All but the one called SMALLER
    have the largest number of each column of the data."""
    generator = numpy.random.default_rng(number)
    nodes, edges = _SIZES[number]
    counts = {name: nodes + _NODE_STEP * place for place, name in enumerate(shape.nodes)}
    amounts = {name: edges + _EDGE_STEP * place for place, name in enumerate(shape.edges)}
    columns = _columns(leaves, shape)
    choose = _rows_below if number == SMALLER else _rows
    rows = {name: choose(shape.nodes[name], counts[name], generator, columns["node", name]) for name in counts}
    chosen = {name: choose(shape.edges[name], amounts[name], generator, columns["edge", name]) for name in amounts}
    drawn: dict[str, Any] = {}
    for key, array in leaves.items():
        role = shape.roles[key]
        if role.kind == "index":
            index = _index(role, counts, amounts[key], generator)
            drawn[key] = _typed(_ordered(index, shape.sorted_by[key]), array)
        elif role.kind == "adjacency":
            drawn[key] = _adjacency(role, counts, edges, generator, array)
        else:
            taken = {"node": rows, "edge": chosen}.get(role.kind, {}).get(role.of)
            amount = (counts if role.kind == "node" else amounts).get(role.of, 0)
            drawn[key] = _copy(array) if taken is None else _copy(_take(array, taken, amount))
    return _with_fewer_rows(drawn, leaves, shape) if number == SMALLER else drawn


def _columns(leaves: Mapping[str, Any], shape: Shape) -> dict[tuple[str, str], list[Any]]:
    """The columns of numbers of each table of nodes and edges."""
    columns: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for key, array in leaves.items():
        role = shape.roles[key]
        if role.kind in ("node", "edge") and _largest.is_column(array):
            columns[role.kind, role.of].append(array)
    return columns


def _with_fewer_rows(drawn: dict[str, Any], leaves: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Tables that some column points into, such as those of graphs, end with the largest number that is left."""
    pointers = [key for key in drawn if shape.roles[key].kind in ("node", "edge") and _largest.is_column(leaves[key])]
    for key, array in drawn.items():
        if shape.roles[key].kind != "plain" or array.ndim == 0:
            continue
        into = [drawn[name] for name in pointers if _largest.count_of(leaves[name]) == array.shape[0]]
        if into:
            drawn[key] = array[: max(map(_largest.count_of, into))]
    return drawn


def summary(shape: Shape, number: int) -> str:
    """As "23 nodes and 71 edges"."""
    nodes, edges = _SIZES[number]
    total = sum(nodes + _NODE_STEP * place for place in range(max(len(shape.nodes), 1)))
    return f"{total} nodes and {sum(edges + _EDGE_STEP * place for place in range(max(len(shape.edges), 1)))} edges"


def _rows(
    available: int, count: int, generator: numpy.random.Generator, columns: list[Any] | None = None
) -> NDArray[numpy.int64]:
    """Rows with repetition, in order (graph numbers stay sorted), the first and the last among them, and those with the
    largest numbers."""
    if available == 0:
        return numpy.zeros(0, numpy.int64)
    wanted = sorted({0, available - 1, *map(_largest.row_of_largest, columns or [])})[:count]
    chosen = generator.integers(0, available, count)
    chosen[: len(wanted)] = wanted
    return numpy.sort(chosen)


def _rows_below(
    available: int, count: int, generator: numpy.random.Generator, columns: list[Any]
) -> NDArray[numpy.int64]:
    """The same among the rows with smaller numbers."""
    rows = _largest.rows_below(columns, available, generator) if available else numpy.zeros(0, numpy.int64)
    return rows[_rows(len(rows), count, generator)]


def _take(array: Any, rows: NDArray[numpy.int64], amount: int) -> Any:
    """The rows; where there are none to take, `amount` of zeros."""
    if not len(rows):
        return numpy.zeros((amount, *array.shape[1:]), arrays.dtype_name(array))
    if arrays.is_torch(array):
        import torch

        return array.detach()[torch.from_numpy(rows).to(array.device)]
    return array[rows]


def _copy(array: Any) -> Any:
    if arrays.is_torch(array):
        return array.detach().clone()
    import torch

    return torch.from_numpy(numpy.array(array))


def _index(
    role: Role, counts: Mapping[str, int], amount: int, generator: numpy.random.Generator
) -> NDArray[numpy.int64]:
    """The node in the middle of each type has no edges."""
    ends = [_end(counts[name], amount, generator) for name in (role.of, role.to)]
    for end in ends:
        end[3] = end[2]  # an edge twice
    if role.of == role.to:
        ends[1][5] = ends[0][5]  # a self-loop
    return numpy.stack(ends)


def _typed(index: NDArray[numpy.int64], like: Any) -> Any:
    import torch

    return torch.from_numpy(index).to(getattr(torch, arrays.dtype_name(like)))


def _sorted_by(edges: Any) -> int | None:
    """The end by which edges are sorted, if there is one: some aggregations ask for that."""
    # The first ones tell of most that they are not.
    return next((row for row in (1, 0) if _ascends(edges[row][:1000]) and _ascends(edges[row])), None)


def _ordered(index: NDArray[numpy.int64], by: int | None) -> NDArray[numpy.int64]:
    return index if by is None else index[:, numpy.argsort(index[by], kind="stable")]


def _ascends(values: Any) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _end(count: int, amount: int, generator: numpy.random.Generator) -> NDArray[numpy.int64]:
    end = generator.integers(0, count - 1, amount)
    return numpy.where(end >= count // 2, end + 1, end)


def _adjacency(role: Role, counts: Mapping[str, int], amount: int, generator: numpy.random.Generator, like: Any) -> Any:
    import torch

    size = (counts[role.of], counts[role.to])
    index = torch.from_numpy(numpy.stack([_end(count, amount, generator) for count in size]))
    known = like.detach().values() if str(like.layout) == "torch.sparse_csr" else like.detach().coalesce().values()
    values = known[torch.from_numpy(_rows(len(known), amount, generator))].cpu()
    matrix = torch.sparse_coo_tensor(index, values, size).coalesce()
    return matrix.to_sparse_csr() if str(like.layout) == "torch.sparse_csr" else matrix
