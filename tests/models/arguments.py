"""Every argument of every overload of the operators of the table, at a value that is not the schema's default: a model for each,
made from that of the operator's row by writing the call anew. The staged run is equal to the model, or the model is refused as
arguments.txt says."""
import io
import os
import re
from collections import defaultdict

import torch
from torch import nn

import operators
from graphs import HIDDEN
from layers import Parts
from registry import Entry, Group, NotTried

group = Group("arguments")
H = HIDDEN
A, F = torch.ops.aten, nn.functional
REFUSED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arguments.txt")

# Arguments that are no part of what is computed, and promises that another value would break.
LEFT_OUT = {"device", "pin_memory", "generator", "layout", "is_coalesced", "unsafe", "requires_grad", "training", "use_input_stats",
            "train", "out", "dropout_p", "check_errors", "dense_dim", "sparse_dim", "blocksize"}


# ---- calls beside those of operators.py

class OnEdges(Parts):
    """The operator on messages, between two rounds of message passing."""

    body = None

    def forward(self, x, edge_index, edge_weight, batch):
        h = self.a(self.inp(x), edge_index)[edge_index[0]]
        v = operators.SimpleNamespace(h=h, p=h.sigmoid() * 0.9 + 0.05, i=(h * 3).to(torch.long), k=h > 0, n=h.size(0), m=self)
        y = type(self).body(v).to(torch.float)
        return self.b(torch.zeros(x.size(0), H).index_add(0, edge_index[1], y), edge_index)


def over_rows(name):
    return lambda v: getattr(A, name)(v.h, [0], keepdim=True) + v.h


# Called by a layer, not by forward: they have a form of their own below.
IN_LAYERS = {"aten::linear", "aten::embedding", "aten::layer_norm", "aten::batch_norm"}
# Another form of a row: operators over rows, and into graphs.
FORMS = {
    "layer_norm": lambda v: F.layer_norm(v.h, [H], v.m.layer_norm.weight, v.m.layer_norm.bias),
    "linear": lambda v: F.linear(v.h, v.m.lin.weight, v.m.lin.bias),
    "embedding": lambda v: F.embedding(v.c, v.m.table.weight) + v.h,
    "sum": over_rows("sum"), "mean": over_rows("mean"), "amax": over_rows("amax"), "amin": over_rows("amin"),
    "var": over_rows("var"), "std": over_rows("std"),
    "norm": lambda v: A.norm(v.h, 2, [0], True) + v.h,
    "linalg_norm": lambda v: A.linalg_norm(v.h, None, [0], True) + v.h,
    "linalg_vector_norm": lambda v: A.linalg_vector_norm(v.h, 2, [0], True) + v.h,
    "softmax": lambda v: v.h.softmax(0), "log_softmax": lambda v: v.h.log_softmax(0),
    "batch_norm": lambda v: F.batch_norm(v.h, None, None, v.m.batch_norm.weight, v.m.batch_norm.bias, True),
    "instance_norm": lambda v: F.instance_norm(v.h.t().unsqueeze(0)).squeeze(0).t(),
    "index_add": lambda v: v.h.new_zeros(4, H).index_add(0, v.c, v.h)[v.c],
    "scatter_add": lambda v: v.h.new_zeros(4, H).scatter_add(0, operators.along(v.c, v), v.h)[v.c],
    "scatter_reduce": lambda v: v.h.new_zeros(4, H).scatter_reduce(0, operators.along(v.c, v), v.h, "mean")[v.c],
    "index_reduce": lambda v: v.h.new_ones(4, H).index_reduce(0, v.c, v.h, "amax")[v.c],
    "index_put": lambda v: v.h.new_zeros(4, H).index_put((v.c,), v.h, True)[v.c],
    "addmm": lambda v: torch.addmm(v.p, v.h, v.m.lin.weight),
    "gather": lambda v: v.h.gather(1, v.i.abs() % H),
    "repeat_interleave": lambda v: v.h + torch.repeat_interleave(torch.bincount(v.e[1], minlength=v.n)).sum(),
}
ON_EDGES = ("add sub mul div neg abs sqrt relu exp leaky_relu sigmoid tanh silu softplus elu gelu celu hardtanh clamp logit rsub "
            "threshold nan_to_num addcmul").split()


def form(name, kind, body):
    made = type("Form", (kind,), {"body": staticmethod(body)})
    return Entry(f"{name}_{'on_edges' if kind is OnEdges else 'otherwise'}", made, operators.INPUTS, covers=operators.full(name))


def calls():
    """The models that hold a call."""
    for entry in operators.group.entries:
        if entry.covers.startswith("aten::") and entry.covers not in IN_LAYERS:
            yield entry
    for name, body in FORMS.items():
        yield form(name, operators.Row, body)
    for name in ON_EDGES:
        yield form(name, OnEdges, operators.bodies[operators.full(name)])


# ---- values

def call(graph, operator, inputs, kind=None):
    """The result of a new call."""
    node = graph.insertNode(graph.create(operator, inputs, 1))
    if kind is not None:
        node.output().setType(kind)
    return node.output()


def like(name):
    """Another tensor of the shape of this operand, with numbers between 0 and 1."""
    return lambda graph, given: call(graph, "aten::sigmoid", [given[name]])


def tensor(data):
    return lambda graph, given: graph.insertConstant(torch.tensor(data))


DIMS = [0, 1, -1, [0], [1], [-1], [0, 1]]
VALUES = {
    "alpha": [2], "beta": [0.5], "value": [0.5], "dtype": [7, 11], "memory_format": [0], "dim": DIMS, "dims": DIMS,
    "ord": [1, 2, float("inf"), "fro", "nuc"], "p": [1, 2, 0.5], "eps": [0.1], "momentum": [0.7], "approximate": ["tanh"],
    "rounding_mode": ["floor", "trunc"], "correction": [0, 2], "mode": ["reflect", "replicate", "circular"],
    "reduce": ["sum", "mean", "amax", "amin", "prod", "max", "min", "add", "multiply"], "padding_idx": [1],
    "num_classes": [H + 1], "minlength": [3, 90], "start_dim": [0, -1], "end_dim": [1], "start": [1, -3], "end": [3, -1],
    "step": [2], "stride": [[2], [1]], "dilation": [[2]], "divisor_override": [2], "side": ["right"], "n": [2], "offset": [1],
    "dim1": [-1], "dim2": [-2], "output_size": [8], "chunks": [2], "split_size": [4, [3, 5]], "sections": [2], "repeats": [2],
    "shifts": [2], "k": [2], "diagonal": [1, -1], "compute_mode": [1, 2], "axis": [1], "initial": [0.5], "path": [[0, 1]],
    "index": [1], "length": [2], "decimals": [1], "min": [0.1, like("self")], "max": [0.1, like("self")], "nan": [0.5],
    "posinf": [0.5], "neginf": [0.5], "lower": [0.2], "upper": [0.6], "bias": [None], "weight": [None], "weights": [like("self")],
    "prepend": [like("self")], "append": [like("self")], "sorter": [tensor([1, 0])], "masked_grad": [False],
    "storage_offset": [1], "groups": [1], "padding": [[0], [1], [2], "same"],
}


def otherwise(argument):
    """A value that is not the default, by type."""
    if not argument.has_default_value():
        return []
    kind, default = str(argument.type), argument.default_value
    if kind == "bool":
        return [not default]
    if kind in ("float", "number", "Optional[float]"):
        return [(default or 0) * 0.5 + 0.3]
    return [(default or 0) + 1] if kind == "int" else []


def values(argument):
    default = argument.default_value if argument.has_default_value() else ...
    chosen = VALUES.get(argument.name) or otherwise(argument)
    return [value for value in chosen if value != default and fits(value, argument)]


def fits(value, argument):
    kind = str(argument.type)
    if value is None:
        return kind == "Optional[Tensor]"
    if callable(value):
        return kind in ("Tensor", "Optional[Tensor]")
    wanted = {bool: "bool", str: "str", int: "int|number|float", float: "float|number", list: "List"}[type(value)]
    return re.search(wanted, kind) is not None and ("List" in kind) == isinstance(value, list)


# ---- the call written anew

# What an overload takes that the call of the row does not have: by name, then by type.
FURTHER = {
    "dtype": 7, "out_dtype": 6, "p": 2, "repeats": tensor(2), "exponent": 2, "reduce": "add", "ord": "fro", "value": tensor(0.5),
    "Tensor": lambda graph, given: call(graph, "aten::sigmoid", [next(iter(given.values()))]) if given else tensor(1.0)(graph, given),
    "number": 0.5, "float": 0.5, "int": 1, "bool": False, "List[int]": [1], "str": "sum", "Device": torch.device("cpu"),
}


def is_tensor(value):
    return value.type().isSubtypeOf(torch._C.TensorType.get())


def inserted(graph, given, value):
    return value(graph, given) if callable(value) else graph.insertConstant(value)


def arguments(graph, node, schema, argument, value):
    named = dict(zip([a.name for a in torch._C.parse_schema(node.schema()).arguments], node.inputs()))
    given = {name: v for name, v in named.items() if is_tensor(v)}
    for a in schema.arguments:
        if a.name == argument:
            yield inserted(graph, given, value)
        elif a.name in named and named[a.name].type().isSubtypeOf(a.type):
            yield named[a.name]
        elif a.has_default_value() or str(a.type).startswith("Optional"):
            yield graph.insertConstant(a.default_value if a.has_default_value() else None)
        else:
            yield inserted(graph, given, FURTHER[a.name if a.name in FURTHER else str(a.type)])


def write_anew(compiled, operator, schema, argument, value, alone):
    """The first call of the operator as the overload with that argument; `alone`: its result is that of the model."""
    graph = compiled.graph
    node = graph.findNode(operator)
    if node is None:
        raise ValueError(f"the model does not call {operator} itself")
    graph.setInsertPoint(node)
    new = graph.create(operator, list(arguments(graph, node, schema, argument, value)), len(schema.returns))
    new.insertBefore(node)
    new.copyMetadata(node)
    for output, result in zip(new.outputs(), schema.returns):
        output.setType(result.type)
    for old, output in zip(node.outputs(), new.outputs()):
        old.replaceAllUsesWith(output)
    node.destroy()
    if alone:
        first = next(iter(new.outputs()))
        graph.setInsertPoint(graph.return_node())
        if not is_tensor(first):
            first = call(graph, "aten::__getitem__", [first, graph.insertConstant(0)], torch._C.TensorType.get())
        graph.eraseOutput(0)
        graph.registerOutput(first)
        torch._C._jit_pass_inline(graph)  # calls of modules stay otherwise
    torch._C._jit_pass_dce(graph)


def again(compiled):
    """Written and loaded: LibTorch chooses the overload by what it is called with."""
    file = io.BytesIO()
    torch.jit.save(compiled, file)
    file.seek(0)
    return torch.jit.load(file)


class Call:
    """A call with one argument that is not its default."""

    def __init__(self, operator, schema, argument, value):
        self.operator, self.schema, self.argument, self.value = operator, schema, argument, value

    def __call__(self, compiled, inputs):
        """The model with this call; where what follows does not fit its result, that is the model's. Raises NotTried."""
        trouble = None
        for alone in (False, True):
            try:
                model = again(compiled)
                write_anew(model, self.operator, self.schema, self.argument, self.value, alone)
                model = again(model)
                model(*inputs)
                return model
            except Exception as problem:  # of whatever kind: LibTorch does not take the call
                trouble = problem
        raise NotTried(str(trouble).strip().splitlines()[-1])


def name_of(name, schema, argument, value):
    text = "tensor" if callable(value) else re.sub(r"[^\w.-]+", "_", str(value)).strip("_")
    return "_".join(part for part in (name, schema.overload_name, argument, text) if part)


def computes(schema):
    """Whether it is an overload on tensors that a trace holds."""
    on_tensors = any("Tensor" in str(a.type) for a in (*schema.arguments, *schema.returns))
    # LibTorch runs to.prim_other as to.dtype, with False for a dtype.
    other = "hacked_twin" in schema.overload_name or schema.overload_name == "prim_other"
    return on_tensors and not other and not any(a.is_out for a in schema.arguments)


def read_refused():
    with open(REFUSED) as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if line.strip() and not line.startswith("#"))


def fill():
    refused, schemas = read_refused(), defaultdict(list)
    for schema in filter(computes, torch._C._jit_get_all_schemas()):
        schemas[schema.name].append(schema)
    for base in calls():
        for schema in schemas[base.covers]:
            for argument in schema.arguments:
                for value in values(argument) if argument.name not in LEFT_OUT else ():
                    key = name_of(base.name, schema, argument.name, value)
                    options = {"expect": "refuse", "reason": refused.pop(key)} if key in refused else {}
                    group.add(key, base.build, base.inputs, how=base.how, gpu=base.gpu, peaks=False,
                              change=Call(base.covers, schema, argument.name, value), **options)
    if refused:
        raise ValueError(f"arguments.txt names what is not there: {', '.join(refused)}")


fill()
