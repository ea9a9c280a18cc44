"""Tensors of the made-up models: number c of row r is (r % 1000) / 1000 + c, but for a NaN in row 3 and an infinity in row 7. All but
the edges have 10,000 rows of 16 numbers; batches have 1,000."""
import base64
import math
import struct

from fake_findings import named, place
from fake_model import EDGES, NODES, WIDTH

BATCH = 1000


def leaf(model, name):
    return next((value for value in model.values if value["origin"] != "op" and name in (value["id"], value["name"])), None)


def number(row, column):
    if (row, column) == (3, 2):
        return math.nan
    return math.inf if (row, column) == (7, 0) else row % 1000 / 1000 + column


class Tensor:
    def __init__(self, model, name, nodes=None, batch_of=None):
        self.op, self.leaf = named(model, name), leaf(model, name)
        self.edges = bool(self.leaf) and self.leaf["name"] == "edge_index"
        self.first, self.count = 0, EDGES if self.edges else NODES
        self.numbers, self.batch = sorted(nodes) if nodes else None, None
        if nodes:
            self.count = len(nodes)
        if batch_of is not None:
            self.first, self.count = batch_of // BATCH * BATCH, BATCH
            self.batch = {"number": batch_of // BATCH + 1, "first_destination": self.first, "destinations": BATCH}

    def row(self, position):
        return self.numbers[position] if self.numbers else self.first + position

    def values(self, position):
        row = self.row(position)
        return [row, (row + 1) % NODES] if self.edges else [number(row, column) for column in range(WIDTH)]

    def name(self, position):
        row = self.row(position)
        return {"table": "edge_index" if self.edges else "node", "row": row,
                "ends": [row % NODES, (row + 1) % NODES] if self.edges else []}

    def document(self, identity):
        total = self.count * (2 if self.edges else WIDTH)
        odd = {"nan": 1, "infinite": 1} if not self.numbers and not self.edges and self.first == 0 else {"nan": 0, "infinite": 0}
        finite = total - odd["nan"] - odd["infinite"]
        made = place(self.op) if self.op else {"op": "", "value": self.leaf["id"], "name": self.leaf["name"], "kind": "input",
                                               "module": "", "source": "", "depth": 0}
        histogram = [finite // 40 + (finite % 40 if part == 0 else 0) for part in range(40)]
        return made | odd | {
            "format": "hopscope-tensor", "version": "1.0", "seconds": .01, "tensor": identity,
            "from": "staged" if self.op else "input", "stage": self.op["stage"] if self.op else None, "batch": self.batch,
            "dtype": "int64" if self.edges else "float32", "shape": [2, self.count] if self.edges else [self.count, WIDTH],
            "axis": 1 if self.edges else 0, "count": self.count, "rows": "rows of edge_index" if self.edges else "rows of node",
            "numbers": total, "finite": finite, "zeros": 10, "min": 0.0, "max": 15.999, "mean": 8.0, "std": 4.6,
            "histogram": histogram, "shown": [], "file": ""}

    def rows(self, begin, end):
        begin, end = min(begin, self.count), min(end, self.count)
        numbers = [each for position in range(begin, end) for each in self.values(position)]
        raw = struct.pack(f"<{len(numbers)}{'q' if self.edges else 'f'}", *numbers)
        return {"dtype": "int64" if self.edges else "float32", "begin": begin, "end": end,
                "rows": base64.b64encode(raw).decode(), "names": [self.name(position) for position in range(begin, end)]}
