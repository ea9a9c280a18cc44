"""What the made-up engine's debugger finds. Models to compare with are made up from their file's name: same.pt is equal, bad.pt
is none, slow.pt takes a second, and any other one has a wrong weight in its first layer."""

ROWS = 20


def place(op):
    source = op["source"]
    return {"op": op["id"], "value": op["outputs"][0], "name": f"{op['module']} {op['name']}", "kind": op["name"],
            "module": op["module"], "source": f"{source['file']}:{source['line']}" if source else "", "depth": op["depth"]}


def row(number, ends=(), first=1.5, second=1.25):
    return {"table": "edge_index" if ends else "node", "row": number, "ends": list(ends), "element": 3, "first": first,
            "second": second}


def document(kind, **members):
    return {"format": "hopscope-findings", "version": "1.0", "kind": kind, "seconds": .01} | members


def computing(model):
    return [op for op in model.ops if op["kind"] not in ("input", "output")]


def divergence(model, first, second, parts):
    """`parts`: whether they diverge, at the model's first operator."""
    ops = computing(model)
    error = .25 if parts else 1e-7
    growth = [{"op": op["id"], "value": op["outputs"][0], "depth": op["depth"], "max_abs": error * (at + 1), "max_rel": error}
              for at, op in enumerate(ops)]
    found = place(ops[0]) | {
        "other": ops[0]["id"], "what": "values", "arguments": [], "rows": 40, "of": 10_000, "max_abs": .25, "max_rel": .2,
        "shown": [row(number) for number in range(ROWS)], "stage": None if first != "staged" else 1}
    return document("divergence", first=first, second=second, compared=len(ops), divergence=found if parts else None,
                    nodes=found if parts else None, parameters=["lin.weight: 1 of 64 elements, by up to 0.5"] if parts else [],
                    only_first=[], only_second=[], growth=growth)


def not_finite(model):
    maker = place(computing(model)[2]) | {"nan": 3, "infinite": 1, "stage": 1, "batch": 2, "reaches_output": True,
                                          "shown": [row(17, first=None, second=None)]}
    return document("nan", makers=[maker], inputs=[], outputs=["out"])


def named(model, name):
    for op in computing(model):
        if name in (op["id"], op["outputs"][0], op["name"], op["module"]):
            return op
    return None


def watched(model, nodes, values, aggregations):
    rows = [place(named(model, name)) | {"file": "", "nodes": nodes, "numbers": [[.5, float(node)] for node in nodes]}
            for name in values]
    added = [place(named(model, name)) | {"node": node, "messages": 2, "contributions": [
        row(2 * node + step, (node + step, node), .75 - .5 * step, 0.0) | {"share": .75 - .5 * step} for step in (0, 1)]}
        for name in aggregations for node in nodes]
    return document("watch", hits=[], seen=0, watched=rows, aggregations=added)
