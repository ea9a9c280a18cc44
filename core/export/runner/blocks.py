"""The part of run.py that cuts batches; it begins below."""
import torch
from files import Problem


# ---- the graph


class Adjacency:
    """The rows of a table, sorted by the row of another table that a column refers to."""

    def __init__(self, column, targets, table):
        if column.numel() and (int(column.min()) < 0 or int(column.max()) >= targets):
            raise Problem(f"{table} refers to a row that does not exist: the number of rows of its table is {targets}")
        keys = column.to(torch.int32) if targets < 1 << 31 else column  # sorted in half the time
        self.order = torch.argsort(keys, stable=True)
        counts = torch.bincount(column, minlength=targets)
        self.offsets = torch.zeros(targets + 1, dtype=torch.int64)
        torch.cumsum(counts, 0, out=self.offsets[1:])

    def rows(self, first, last):
        return self.order[int(self.offsets[first]):int(self.offsets[last])]


class Graph:
    """Sizes, columns and adjacencies of all tables, from the prologue's results."""

    def __init__(self, code, prologue):
        self.sizes = {table["name"]: int(prologue[table["size"]]) for table in code["tables"]}
        self.parents = {table["name"]: prologue[table["parents"]] for table in code["tables"] if table["parents"]}
        self.columns, self.targets, self.adjacencies, self.ordered = {}, {}, {}, {}
        for column in code["columns"]:
            key = column["table"], column["key"]
            self.columns[key] = prologue[column["tensor"]] if column["tensor"] else None
            self.targets[key] = column["target"]

    def column(self, table, key, rows):
        """The rows that these rows of a table refer to."""
        column = self.columns[table, key]
        return rows if column is None else column.index_select(0, rows)

    def owned_column(self, table, key, owner, first, last):
        """The same for the rows that a batch owns by the key `owner`: a part of a column in the order of its owners."""
        adjacency = self.adjacency(table, owner)
        if (table, key, owner) not in self.ordered:
            self.ordered[table, key, owner] = self.column(table, key, adjacency.order)
        return self.ordered[table, key, owner][int(adjacency.offsets[first]):int(adjacency.offsets[last])]

    def adjacency(self, table, key):
        if (table, key) not in self.adjacencies:
            column = self.columns[table, key]
            if column is None:
                column = torch.arange(self.sizes[table])
            self.adjacencies[table, key] = Adjacency(column, self.sizes[self.targets[table, key]], table)
        return self.adjacencies[table, key]


class Places:
    """Where rows of a table are among the rows of a batch."""

    def __init__(self, size):
        self.map = torch.full((size,), -1, dtype=torch.int64)

    def fill(self, rows):
        self.map[rows] = torch.arange(rows.numel())

    def find(self, rows):
        places = self.map.index_select(0, rows)
        if places.numel() and int(places.min()) < 0:
            raise Problem("an index leaves the rows of its batch: the graph does not fit this export")
        return places

    def clear(self, rows):
        self.map[rows] = -1


class Marks:
    """Distinct rows of a table in ascending order, without sorting."""

    def __init__(self, size):
        self.marked = torch.zeros(size, dtype=torch.bool)

    def distinct(self, rows):
        if rows.numel() * 16 < self.marked.numel():
            return torch.unique(rows)
        self.marked[rows] = True
        found = self.marked.nonzero().view(-1)
        self.marked[found] = False
        return found


class Block:
    """The rows of one batch in every table, and their places among each other."""

    def __init__(self, graph, loop, maps):
        self.graph, self.loop, self.maps = graph, loop, maps
        self.first = self.last = 0
        self.known, self.filled, self.marks = {}, {}, {}

    def begin(self, first, last):
        for kind, rows in self.filled.items():
            self.maps[kind].clear(rows)
        self.first, self.last = first, last
        self.known, self.filled = {}, {}

    def rows(self, kind):
        name = kind["kind"], kind["table"], kind["key"]
        if name not in self.known:
            self.known[name] = self._rows(*name)
        return self.known[name]

    def _rows(self, kind, table, key):
        if kind == "batch":
            return torch.arange(self.first, self.last)
        if kind == "owned":
            return self.graph.adjacency(table, key).rows(self.first, self.last)
        return self._frontier(table)

    def _frontier(self, table):
        """The batch's own rows first, then each new one."""
        own = table == self.loop["destination"]
        members = torch.arange(self.first, self.last) if own else torch.empty(0, dtype=torch.int64)
        wanted = [self._column(source["table"], source["key"], source["owner"])
                  for source in self.loop["frontier"] if source["target"] == table]
        if wanted:
            rows = self._distinct(table, torch.cat(wanted))
            new = rows[(rows < self.first) | (rows >= self.last)] if own else rows
            members = torch.cat([members, new])
        return members

    def _distinct(self, table, rows):
        size = self.graph.sizes[table]
        if rows.numel() and (int(rows.min()) < 0 or int(rows.max()) >= size):
            by = ", ".join(sorted({s["table"] for s in self.loop["frontier"] if s["target"] == table}))
            raise Problem(f"{by} refers to a row of {table} that does not exist: the number of its rows, counted from 0, is {size}")
        if table not in self.marks:
            self.marks[table] = Marks(size)
        return self.marks[table].distinct(rows)

    def _column(self, table, key, kind):
        """What the rows of a kind refer to by a column of that table."""
        if kind["kind"] == "owned" and kind["table"] == table:
            return self.graph.owned_column(table, key, kind["key"], self.first, self.last)
        return self.graph.column(table, key, self.rows(kind))

    def places(self, rows, kind):
        """For each of these rows of a table, its place among those of the kind."""
        name = kind["kind"], kind["table"], kind["key"]
        if name[0] == "batch":
            places = rows - self.first
            if places.numel() and (int(places.min()) < 0 or int(places.max()) >= self.last - self.first):
                raise Problem("an index leaves the rows of its batch: the graph does not fit this export")
            return places
        if name not in self.maps:
            self.maps[name] = Places(self.graph.sizes[name[1]])
        if name not in self.filled:
            self.filled[name] = self.rows(kind)
            self.maps[name].fill(self.filled[name])
        return self.maps[name].find(rows)

    def positions(self, argument):
        on, place = argument["rows"]
        return self.places(self._column(argument["table"], argument["key"], on), place)

    def selected(self, argument):
        on, place = argument["rows"]
        return self.places(self.graph.parents[on["table"]][self.rows(on)], place)

    def order(self, argument):
        """Places of the rows of a concatenation in its parts, one after the other."""
        on, *parts = argument["rows"]
        rows = self.rows(on)
        order = torch.empty_like(rows)
        start = place = 0
        for part in parts:
            end = start + self.graph.sizes[part["table"]]
            inside = (rows >= start) & (rows < end)
            order[inside] = self.places(rows[inside] - start, part) + place
            start, place = end, place + self.rows(part).numel()
        return order


# ---- reductions over all rows


class Total:
    """The contributions of batches, merged."""

    def __init__(self, merge, dtype):
        self.merge, self.dtype = merge, dtype
        self.parts, self.count = None, 0

    def add(self, parts, rows):
        if rows == 0:
            if self.parts is None and self.merge["kind"].startswith("scatter"):
                self.parts = parts
            return
        count = rows * self.merge["per_row"]
        self.parts = list(parts) if self.parts is None else self._merged(parts, count)
        self.count += count

    def _merged(self, parts, count):
        kind, (first, *rest) = self.merge["kind"], self.parts
        if kind in ("var", "std"):
            delta, n = parts[0] - first, self.count + count
            spread = rest[0] + parts[1] + delta * delta * (self.count * count / n)
            return [first + delta * (count / n), spread]
        if kind in ("max", "scatter_max"):
            first = torch.maximum(first, parts[0])
        elif kind in ("min", "scatter_min"):
            first = torch.minimum(first, parts[0])
        else:
            first = first + parts[0]
        hits = [rest[0] + parts[1]] if len(rest) == 2 else []
        return [first, *hits, *rest[-1:]]

    def finish(self):
        kind = self.merge["kind"]
        if kind.startswith("scatter"):
            return self._scattered(kind).to(self.dtype)
        if self.parts is None:
            return self._empty(kind)
        first = self.parts[0]
        if kind == "mean":
            first = first / self.count
        elif kind in ("var", "std"):
            first = self.parts[1] / (self.count - self.merge["correction"])
        if kind in ("std", "norm2"):
            first = first.sqrt()
        return first.reshape(self.merge["shape"]).to(self.dtype)

    def _empty(self, kind):
        if kind in ("max", "min"):
            raise Problem("a maximum or minimum over zero rows is undefined")
        value = 0.0 if kind in ("sum", "norm2") else float("nan")
        return torch.full(self.merge["shape"], value, dtype=self.dtype)

    def _scattered(self, kind):
        value, start = self.parts[0], self.parts[-1].to(self.parts[0].dtype)
        if kind == "scatter_sum":
            return start + value
        hits, own = self.parts[1], self.merge["include_self"]
        if kind == "scatter_mean":
            mean = (value + start) / (hits + 1) if own else value / hits
            return torch.where(hits > 0, mean, start)
        if not own:
            return torch.where(hits > 0, value, start)
        return torch.maximum(value, start) if kind == "scatter_max" else torch.minimum(value, start)
