"""A made-up graph network for tests of the window that need no LibTorch: a chain of layers, in the documents that the
engine would send. Each layer is a linear map, a gather of neighbours, their sum and a rectifier; `layers` of them make
about 4 x layers operators. Every layer's result is also read by a concatenation at the end when `skips` is true.
"""

import json
from pathlib import Path

NODES, EDGES, WIDTH = 10_000, 80_000, 16
ENVELOPE = {"version": "1.0"}
SCHEMA = json.loads((Path(__file__).parents[2] / "resources/schemas/report-1.schema.json").read_text())
# The figures of a stage, zero. The schema names them, so that a new figure needs no line here.
NO_FIGURES = {name: 0 for name, member in SCHEMA["$defs"]["stage"]["properties"].items()
              if "integer" in member.get("type", ()) or "number" in member.get("type", ())}
RULES = [name for name in SCHEMA["properties"]["strategy"]["enum"] if name not in ("optimal", "local-search")]


def value(number, name, origin, rows, structure=False):
    shape = ["|node|", WIDTH] if rows else [2, "|edge_index|"]
    spaces = ["node", None] if rows else [None, "edge_index"]
    size = NODES * WIDTH * 4 if rows else 2 * EDGES * 8
    return {"id": f"v{number}", "name": name, "label": name or f"value {number}", "origin": origin, "dtype": "float32" if rows else "int64", "shape": shape,
            "row_spaces": spaces, "bytes": size, "structure_only": structure}


def op(identity, kind, name, module, depth, stage, inputs, outputs, structure=False):
    source = {"label": "python", "file": "model.py", "text": f"h = {name}(h)", "line": 10 + depth} if module else None
    return {"id": identity, "kind": kind, "name": name, "module": module, "module_type": "GCNConv" if module else "",
            "source": source, "depth": depth, "depth_module": depth, "depth_op": depth, "stage": stage,
            "structure_only": structure, "view": False, "arguments": arguments_of(name), "inputs": inputs, "outputs": outputs}


def arguments_of(name):
    return {"aten::index_select": [{"name": "dim", "value": 0}], "aten::scatter_add": [{"name": "dim", "value": 0}],
            "aten::linear": [{"name": "bias", "value": None}]}.get(name, [])


def verified(layers):
    return {"verdict": "equal", "reason": "equal within the tolerance on all rows", "seconds": .1, "checkpoints": [],
            "outputs": [{"name": "out", "max_abs": 1e-7, "max_rel": 1e-6, "rows": NODES, "different": 0, "not_finite": 0}],
            "coverage": {"method": "full", "rows": NODES, "chosen": NODES, "skipped": 0, "with_in_edges": NODES,
                         "hops": layers},
            "tolerance": {"absolute": 1e-5, "relative": 1e-4, "scale": 1e-6}}


class Model:
    def __init__(self, layers, skips=False, long=0, hard=False):
        self.layers = layers
        self.hard = hard  # the optimum is proven after ten seconds, which pass at once
        self.ops, self.values = [], []
        self.results = []  # the value that ends each layer
        self.linears = []
        self.stage_ops = {stage: [] for stage in range(1, layers + 1)}
        x, edges = self.input("x", True), self.input("edge_index", False)
        last = x
        for layer in range(layers):
            last = self.layer(layer, last, edges, long)
        if skips and layers > 1:
            last = self.step("rowwise", "aten::cat", "", layers, layers, self.results)
        self.output = last
        self.ops.append(op("output.out", "output", "out", "", layers, None, [last], []))

    def input(self, name, rows):
        identity = f"v{len(self.values)}"
        self.values.append(value(len(self.values), name, "input", rows, not rows))
        self.ops.append(op(f"input.{name}", "input", name, "", 0, None, [], [identity], not rows))
        return identity

    def step(self, kind, name, module, depth, stage, inputs):
        identity, made = f"op{len(self.ops)}", f"v{len(self.values)}"
        self.values.append(value(len(self.values), "", "op", True))
        self.ops.append(op(identity, kind, name, module, depth, stage, inputs, [made]))
        self.stage_ops[stage].append(identity)
        return made

    def layer(self, layer, last, edges, long):
        module, stage = f"convs.{layer}", layer + 1
        linear = self.step("rowwise", "aten::linear", module + ".lin", layer, stage, [last])
        self.linears.append(linear)
        gathered = self.step("gather", "aten::index_select", module, layer, stage, [linear, edges])
        summed = self.step("aggregate", "aten::scatter_add", module, layer + 1, stage, [gathered, edges])
        result = self.step("rowwise", "aten::relu", module, layer + 1, stage, [summed])
        for step in range(long):
            result = self.step("rowwise", "aten::tanh", f"{module}.units.{step // 6}", layer + 1, stage, [result])
        self.results.append(result)
        return result

    def inspect(self, path):
        return ENVELOPE | {
            "format": "hopscope-inspect", "model": path, "model_class": "Chain", "traced": True, "repaired": False,
            "splittable": "unsplittable" not in path, "depth": self.layers, "depth_module": self.layers,
            "depth_op": self.layers, "notes": [], "roles": {"x": "node:node", "edge_index": "index:node>node"},
            "sizes": {"node": NODES, "edge_index": EDGES}, "hashes": {"model": f"{self.layers:032d}"}, "prologue": [],
            "lints": self.lints(path), "stages": [], "from_code": False,
            "values": self.values, "ops": self.ops}

    def lints(self, path):
        remark = {"code": "W1", "blocking": False, "message": "a made-up remark", "op": self.ops[2]["id"], "hint": ""}
        in_the_way = {"code": "no-split", "blocking": True, "op": self.ops[-2]["id"],
                      "message": "aten::relu in convs (model.py:11): works over the rows of node in sequence",
                      "hint": "the model cannot be evaluated in batches of nodes because of this operator"}
        return [remark, in_the_way] if "unsplittable" in path else [remark]

    # Plans. Storing anything but results and linear maps, or no result at all, is refused; so is what a rule does not keep
    # to, and a hop in a stage that there is not.

    def stored(self, strategy, pins):
        hidden = self.results[:-1]
        stored = list(self.linears[1:] if strategy == "source-rule" else hidden)
        for kind, pinned, *rest in pins:
            if kind not in ("checkpoint", "no_checkpoint"):
                if strategy in RULES:
                    raise ValueError(f"no rule keeps to {kind}: take the optimal strategy")
                if kind != "cut":
                    continue
            if pinned not in hidden + self.linears:
                raise ValueError(f"{pinned} cannot be stored: it has no rows of its own")
            if kind in ("checkpoint", "cut") and pinned not in stored:
                stored.append(pinned)
            if kind == "no_checkpoint" and pinned in stored:
                stored.remove(pinned)
        if hidden and not stored:
            raise ValueError("without any stored value all hops would be in one stage")
        return sorted(stored, key=lambda identity: int(identity[1:]))

    def staged(self, pins, stages):
        """The operators of each stage; hops run where they are pinned."""
        staged = {index: list(ops) for index, ops in self.stage_ops.items()}
        makers = {output: op["id"] for op in self.ops for output in op["outputs"]}
        for kind, hop, *rest in pins:
            if kind != "hop_stage":
                continue
            if rest[0] > max(stages or 0, self.layers):
                raise ValueError(f"{hop} cannot run in stage {rest[0]}: there are only {max(stages or 0, self.layers)}")
            for ops in staged.values():
                if makers[hop] in ops:
                    ops.remove(makers[hop])
            staged.setdefault(rest[0], []).append(makers[hop])
        return staged

    def make_plan(self, strategy, pins, device, batch, objective="time", stages=None, near=False, deadline=None):
        stored = self.stored(strategy, pins)
        cost = 0.002 + 0.001 * len(stored)
        open_gap = 0.2 / (deadline or 10) if self.hard and (deadline or 10) < 10 else 0.0
        best = cost * (1 - open_gap) if strategy == "optimal" and not near else None
        checkpoints = [self.checkpoint(identity, index + 1, False) for index, identity in enumerate(stored)]
        checkpoints.append(self.checkpoint(self.output, self.layers, True))
        made = [self.stage(index, ops, stored, checkpoints) for index, ops in self.staged(pins, stages).items()]
        plan = ENVELOPE | {
            "format": "hopscope-plan", "strategy": strategy, "objective": objective or "time",
            "unit": "bytes" if objective == "bytes" else "seconds", "cost": cost, "lower_bound": best,
            "gap": None if best is None else open_gap, "device": device or "cpu", "batch": batch,
            "resident": [], "resident_structure": False, "cached": [], "prologue": [], "stages": made,
            "checkpoints": checkpoints, "bytes": None, "peak_memory": None, "pins": pins, "hashes": {}}
        return {"plan": plan, "predicted": self.prediction(stored), "notes": []}

    def repairs(self, pins, stages, **arguments):
        """Pins without which there is a plan, and the stages with which there is one."""
        tries = [({"drop": pin}, [other for other in pins if other != pin], stages) for pin in pins]
        tries.append(({"stages": self.layers + 1}, pins, self.layers + 1))
        found = []
        for way, kept, allowed in tries:
            try:
                plan = self.make_plan(pins=kept, stages=allowed, **arguments)["plan"]
            except ValueError:
                continue
            found.append(way | {"cost": plan["cost"], "unit": plan["unit"]})
        return {"repairs": found}

    def explain(self, **arguments):
        """Every stored value is worth it; the rules store each linear map instead of the first result."""
        plan = self.make_plan(**arguments)["plan"]
        size = NODES * WIDTH * 4
        decisions = [{"kind": "stored", "value": checkpoint["value"], "stages": [checkpoint["stage"]], "write": .001,
                      "read": .0005, "compute": 0, "possible": index % 2 == 0, "alternative": .008 if index % 2 == 0 else None,
                      "saves": .008 - plan["cost"] if index % 2 == 0 else None}
                     for index, checkpoint in enumerate(plan["checkpoints"]) if not checkpoint["output"]]
        decisions.append({"kind": "recomputed", "value": self.linears[-1], "stages": [1, 2], "write": 0, "read": 0,
                          "compute": .0002, "possible": True, "alternative": .0061, "saves": .0001})
        values = [{"value": linear, "cost": {"own": 0, "other": .002}, "written": {"own": 0, "other": size},
                   "read": {"own": 0, "other": 3 * size}, "stages": {"own": [2], "other": [1, 2]}}
                  for linear in self.linears[1:]]
        against = [{"strategy": strategy, "cost": .006, "seconds": .006, "values": values,
                    "bytes": {"d2h": size, "h2d": 3 * size, "structure": 8 * EDGES}} for strategy in RULES]
        return {"unit": plan["unit"], "cost": plan["cost"], "decisions": decisions, "against": against}

    def steps(self, objective):
        """The source rule pulls the linear maps to the stages of their layers; the rest is as the plans have it."""
        def step(kind, moved=(), stored=None):
            return {"kind": kind, "moved": [{"op": op, "stages": [index]} for op, index in moved], "stored": stored}

        label = step("label", [(op, index) for index, ops in self.stage_ops.items() for op in ops])
        pull = step("pull", [(self.stage_ops[index][0], index) for index in self.stage_ops])
        ways = []
        for strategy in (*RULES, "optimal"):
            stores = [step("store", stored=value) for value in self.stored(strategy, [])]
            ways.append({"strategy": strategy, "steps": [label, *([pull] if strategy == "source-rule" else []), *stores]})
        return {"format": "hopscope-steps", "version": "1.0", "ways": ways,
                "unit": "bytes" if objective == "bytes" else "seconds",
                "colouring": {"cost": .002, "stored": self.results[:-1], "missing": None}}

    def stage(self, index, ops, stored, checkpoints):
        along = [{"type": "node", "space": "edge_index", "owner": "edge_index[1]", "key": "edge_index[0]"}]
        loop = {"destination": "node", "frontier": along, "reductions": [], "reads": self.reads(index, stored),
                "writes": [{"value": checkpoint["value"], "class": "B(node)"} for checkpoint in checkpoints
                           if checkpoint["stage"] == index]}
        steps = [{"op": identity, "class": self.rows_of(identity), "loop": "node"} for identity in ops]
        return {"index": index, "ops": steps, "loops": [loop], "rowless": []}

    def rows_of(self, identity):
        """Linear maps run on all that is gathered, gathers on the edges, the rest on the batch."""
        kind, name = next((op["kind"], op["name"]) for op in self.ops if op["id"] == identity)
        if kind == "gather":
            return "O(edge_index,edge_index[1])"
        return "F(node)" if name == "aten::linear" else "B(node)"

    def reads(self, index, stored):
        """The first stage reads the input, each other one what was stored before it."""
        values = ["v0"] if index == 1 else stored[index - 2:index - 1]
        return [{"value": value, "class": "F(node)"} for value in values]

    def graph_part(self, node, seed):
        """A ring, of which nine nodes around one are drawn: each reads its two neighbours and itself."""
        node = 7919 * seed % NODES if node is None else node
        whole = sorted((node + step) % NODES for step in range(-3, 4))
        ids = sorted((node + step) % NODES for step in range(-4, 5))
        ends = [((to + step) % NODES, to) for to in whole for step in (-1, 0, 1)]
        relation = {"table": "edge_index", "owner": "edge_index[1]", "key": "edge_index[0]", "label": "edge_index", "from": "node",
                    "to": "node", "of": 3 * NODES, "from_ids": [source for source, _ in ends], "to_ids": [to for _, to in ends]}
        return {"format": "hopscope-graph-part", "version": "1.0", "complete": False, "table": "node", "node": node,
                "tables": [{"table": "node", "label": "node", "rows": NODES, "ids": ids, "whole": whole}],
                "relations": [relation]}

    def stage_memory(self, stage):
        """Rows are read, numbered and gathered; then each operator makes a value that the next one reads and frees."""
        size = 1000 * WIDTH * 4
        held = [{"value": "", "label": "row numbers", "rows": "rows of edge_index into the batch", "bytes": 24000, "from": 0, "to": 2}]
        steps = [{"kind": "numbers", "op": "", "fused": [], "label": "row numbers"}]
        for place, op in enumerate(self.stage_ops[stage]):
            label = f"{op} result"
            held.append({"value": "v1", "label": label, "rows": "rows of node in the batch", "bytes": size * (3 if place == 1 else 1),
                         "from": place + 1, "to": place + 3})
            steps.append({"kind": "operator", "op": op, "fused": [], "label": label})
        for item in held:
            item.update(to=min(item["to"], len(steps)), over=None, view_of=None, in_place=False)
        for at, step in enumerate(steps):
            step["bytes"] = sum(item["bytes"] for item in held if item["from"] <= at < item["to"])
        peak = max(range(len(steps)), key=lambda at: steps[at]["bytes"])
        loop = {"table": "node", "label": "node", "destinations": 1000, "batches": 10, "side_by_side": 1, "peak_step": peak,
                "steps": steps, "held": held}
        return {"format": "hopscope-stage-memory", "version": "1.0", "stage": stage, "peak_memory": steps[peak]["bytes"] + size,
                "outside": size // 2, "estimated": False, "loops": [loop]}

    def checkpoint(self, identity, stage, output):
        size = NODES * WIDTH * 4
        return {"value": identity, "stage": stage, "output": output, "bytes_written": size, "bytes_read": 3 * size,
                "dtype": "float32", "shape": ["|node|", WIDTH], "row_spaces": ["node", None]}

    def prediction(self, stored):
        """Every stage reads all that is stored before it."""
        size, count = NODES * WIDTH * 4, len(stored)
        stages = [{"index": index, "written": size, "read": 3 * size, "structure": EDGES * 8, "frontier_rows": NODES,
                   "reads": [{"value": identity, "bytes": 3 * size} for identity in stored[:index - 1]],
                   "destinations": NODES, "peak_memory": 5 * size, "seconds": .2, "recomputed": [],
                   "operators": [{"op": identity, "seconds": .02 * (1 + place)} for place, identity in enumerate(self.stage_ops[index])]}
                  for index in self.stage_ops]
        return {"batch": 1000, "batches": 10 * self.layers, "stages": stages, "stores": count * size,
                "d2h": count * size, "h2d": 3 * count * size, "structure": self.layers * EDGES * 8,
                "peak_memory": 5 * size, "seconds": .2 * self.layers}

    def operator_times(self, index):
        """Each takes half as long as the one before it; rows are gathered in the pass that sums them."""
        ops = {op["id"]: op for op in self.ops}
        gathers = [identity for identity in self.stage_ops[index] if ops[identity]["kind"] == "gather"]
        alone = [identity for identity in self.stage_ops[index] if identity not in gathers]
        return [{"op": identity, "label": f"value {ops[identity]['outputs'][0][1:]}", "seconds": .1 / 2 ** place,
                 "fused": gathers if ops[identity]["kind"] == "aggregate" else [], "bytes": NODES * WIDTH * 4}
                for place, identity in enumerate(alone)]

    def report(self, overlaps=()):
        """`overlaps`: of the stages, on a GPU."""
        phases = {"block": .01, "gather": .02, "h2d": .01, "compute": .1, "d2h": .01, "write": .02}
        size = NODES * WIDTH * 4
        stages = [{**NO_FIGURES, "index": index, "seconds": .2, "core_seconds": .38, "phases": phases, "batches": 10, "smallest_batch": 1000,
                   "largest_batch": 1000, "destinations": NODES, "frontier_rows": NODES, "bytes": {"d2h": size, "h2d": 3 * size, "structure": 8 * EDGES},
                   "peak_memory": 5 * size,
                   "predicted": {"seconds": .18, "bytes": {"d2h": size, "h2d": 3 * size, "structure": 8 * EDGES},
                                 "peak_memory": 5 * size, "batches": 10, "destinations": NODES, "frontier_rows": NODES},
                   "bound_seconds": .12, "wall": "rows", "reserved_memory": None, "overlap": None,
                   "operators": [] if overlaps else self.operator_times(index)}
                  for index in self.stage_ops]
        for stage, overlap in zip(stages, overlaps):
            stage |= {"overlap": overlap, "reserved_memory": 5 << 19}
        return ENVELOPE | {
            "format": "hopscope-report", "model": "chain.pt", "model_class": "Chain", "strategy": "depth",
            "device": "cuda:0" if overlaps else "cpu", "fuse": ["chain", "softmax", "several"],
            "confinement": "confined", "reorder": "auto", "orders": [], "store": "exact", "narrowed": [], "resumed": None, "shard": None,
            "hashes": {}, "stages": stages, "prologue_seconds": .01, "seconds": 1.0, "peak_memory": 5 * size,
            "outputs": [{"name": "out", "file": "out.npy", "dtype": "float32", "shape": [NODES, WIDTH]}], "notes": [],
            "not_finite": None, "verify": verified(self.layers)}
