"""Every class of torch_geometric.nn (conv, aggr, norm, models) in several sets of options, made from its signature: values for arguments by
their names, options other than the defaults drawn by a seed. A set counts where PyG itself evaluates it."""
import functools
import inspect
import random
import textwrap
import warnings
import zlib

import torch
import torch_geometric.nn as G
from torch import nn
from torch_geometric.nn import aggr, conv, models, norm

import graphs
from graphs import EDGE_FEATURES, FEATURES, GRAPHS, HIDDEN, RELATIONS
from registry import Entry, Group, NotTried

SETS = 4   # of a class, at most
DRAWS = 24  # that are tried for them
TYPES = (["user", "item"], [("user", "to", "item"), ("item", "to", "user")])
DEGREES = torch.tensor([3, 4, 5, 4, 2, 1])


def mlp(*widths):
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def gcn(width=FEATURES):
    return G.GCNConv(FEATURES, width)


# Arguments of constructors without a default; "Class.name" goes before "name".
REQUIRED = {
    "in_channels": FEATURES, "out_channels": HIDDEN, "channels": FEATURES, "hidden_channels": HIDDEN, "num_layers": 2, "num_relations": RELATIONS,
    "K": 2, "alpha": 0.2, "dim": EDGE_FEATURES, "kernel_size": 3, "num_node_types": GRAPHS, "num_edge_types": RELATIONS, "edge_type_emb_dim": 3,
    "edge_dim": EDGE_FEATURES, "edge_attr_emb_dim": 4, "num_types": GRAPHS, "metadata": TYPES, "aggrs": ["mean", "max"], "aggr": "mean",
    "aggregators": ["mean", "max", "std"], "scalers": ["identity", "amplification"], "scaler": ["identity", "attenuation"], "deg": DEGREES,
    "q": 0.5, "processing_steps": 2, "k": 3, "heads": 2, "groups": 2, "patch_size": 2, "max_num_elements": 40, "num_timesteps": 2,
    "num_nodes": 29, "embedding_dim": HIDDEN, "mode": "cat", "first_aggr": True, "num_classes": GRAPHS, "types": ["a", "b"], "filter_size": 2,
    "num_correction_layers": 2, "correction_alpha": 0.3, "num_smoothing_layers": 2, "smoothing_alpha": 0.4, "depth": 2,
    "hidden_node_channels": HIDDEN, "hidden_edge_channels": HIDDEN, "nn": lambda: mlp(FEATURES, HIDDEN), "EdgeConv.nn": lambda: mlp(2 * FEATURES, HIDDEN),
    "DynamicEdgeConv.nn": lambda: mlp(2 * FEATURES, HIDDEN), "NNConv.nn": lambda: mlp(EDGE_FEATURES, FEATURES * HIDDEN),
    "GINEConv.edge_dim": EDGE_FEATURES, "gate_nn": lambda: nn.Linear(FEATURES, 1), "mlp_h": lambda: mlp(FEATURES, 3),
    "mlp_f": lambda: mlp(3 + FEATURES, HIDDEN), "mlp_g": lambda: mlp(HIDDEN, FEATURES), "conv": gcn, "encoder": lambda: gcn(HIDDEN),
    "GPSConv.conv": gcn, "summary": lambda: (lambda z, *args: z.mean(0)), "corruption": lambda: (lambda x, index: (x * 0.5, index)),
    "discriminator": lambda: mlp(HIDDEN, 1), "AntiSymmetricConv.phi": gcn, "EquilibriumAggregation.num_layers": [HIDDEN], "space_dimensions": 3,
    "propagate_dimensions": 4, "num_blocks": 2, "RGCNConv.num_blocks": 2, "num_bilinear": 2, "num_spherical": 2, "num_radial": 3,
    "MaskLabel.out_channels": FEATURES, "LightGCN.num_nodes": 83, "GroupAddRev.conv": lambda: G.GCNConv(FEATURES // 2, FEATURES // 2), "convs": lambda: {
        relation: G.SAGEConv((FEATURES, FEATURES), HIDDEN) for relation in TYPES[1]},
}
# Other values of options by their names; booleans are turned over.
OTHERS = {
    "aggr": ["mean", "max", "sum", "min", "std", ["mean", "max"]], "heads": [2], "num_heads": [2], "K": [1, 3], "num_stacks": [2], "num_layers": [1, 3],
    "edge_dim": [EDGE_FEATURES], "in_edge_channels": [EDGE_FEATURES], "normalization": [None, "rw"], "norm": ["layer_norm", "graph_norm", "batch_norm", None],
    "act": ["elu", "tanh"], "jk": ["cat", "max", "last"], "num_bases": [2], "num_blocks": [2], "mod": ["additive", "scaled", "f-additive", "f-scaled"],
    "attention_mechanism": ["within-relation", "across-relation"], "attention_mode": ["multiplicative-self-attention", "additive-self-attention", "edge", "node"],
    "attention_type": ["SD", "MX", "additive", "dot_product", "performer", "multihead"], "combine_root": ["sum", "cat", "self_loop"], "mode": ["node", "graph", "max"],
    "groups": [2], "t": [0.5], "p": [2.0], "eps": [0.3], "beta": [True, 0.5], "dim": [1], "towers": [2], "pre_layers": [2], "post_layers": [2], "theta": [0.5],
    "layer": [2], "num_iters": [3], "alpha": [0.4, 0.7], "negative_slope": [0.4], "fill_value": ["add", "max", 1.0], "max_degree": [3], "powers": [[0, 2]],
    "aggregators": [["sum", "std"], ["symnorm", "max"]], "diag_lambda": [0.5], "scale": [2.0], "num_encoder_blocks": [2], "num_decoder_blocks": [2],
    "num_seed_points": [2], "fill": [1.0], "interpolation": ["lower", "nearest"], "out_channels": [None, 5], "aggr_kwargs": [], "bias": [False, True],
    "channels": [FEATURES], "clamp_min": [0.1], "num_edge_layers": [2], "num_node_layers": [2], "mode_kwargs": [], "local_layers": [2],
    "global_layers": [1], "trans_num_layers": [1], "gnn_num_layers": [2], "trans_num_heads": [2], "decoder": [], "plain_last": [False], "attract_ratio": [0.3],
    "global_nn": [lambda: mlp(HIDDEN, 4)], "local_nn": [lambda: mlp(FEATURES + 3, HIDDEN)], "pos_nn": [lambda: mlp(3, HIDDEN)], "flow": ["target_to_source"],
}
# Values of options that the defaults would make too large or not at all.
ALWAYS = {"EGConv": {"num_heads": 2, "num_bases": 2}, "PointNetConv": {"local_nn": lambda: mlp(FEATURES + 3, HIDDEN)},
          "PPFConv": {"local_nn": lambda: mlp(FEATURES + 4, HIDDEN)}, "Polynormer": {"local_layers": 2, "global_layers": 1},
          "FiLMConv": {"num_relations": RELATIONS},
          "MLP": {"channel_list": [FEATURES, HIDDEN, HIDDEN]}, "MLPAggregation": {"num_layers": 1}, "GroupAddRev": {"num_groups": 2},
          "PNA": {"aggregators": ["mean", "std"], "scalers": ["identity", "amplification"], "deg": DEGREES},
          "DeepGCNLayer": {"conv": gcn, "norm": lambda: nn.LayerNorm(FEATURES), "act": lambda: nn.ReLU()}}


def row_of(graph, width):
    return graph["x"][:, :width].contiguous()


# Arguments of forward, from a graph of graphs.py.
INPUTS = {
    "x": lambda g: g["x"], "z": lambda g: g["x"], "x_0": lambda g: g["x"] * 0.5, "msg": lambda g: g["x"] * 0.5, "edge_index": lambda g: g["edge_index"],
    "adj": lambda g: g["edge_index"], "edge_weight": lambda g: g["edge_weight"], "edge_attr": lambda g: g["edge_attr"], "edge_type": lambda g: g["edge_type"],
    "batch": lambda g: g["batch"], "index": lambda g: g["batch"], "pos": lambda g: row_of(g, 3), "normal": lambda g: nn.functional.normalize(g["x"][:, 3:6], dim=1),
    "node_type": lambda g: g["kind"], "type_vec": lambda g: g["kind"], "y": lambda g: g["kind"], "mask": lambda g: g["x"][:, 0] > 0,
    "pos_edge_index": lambda g: g["edge_index"], "neg_edge_index": lambda g: g["query"], "edge_label_index": lambda g: g["query"],
    "hyperedge_index": lambda g: g["to_item"], "xs": lambda g: [g["x"], g["x"] * 0.5], "y_soft": lambda g: g["x"].softmax(-1),
    "u": lambda g: torch.linspace(0, 1, GRAPHS * 2).view(GRAPHS, 2),
    "DNAConv.x": lambda g: torch.stack([g["x"], g["x"] * 0.5, g["x"].sin()], 1), "edge_index_dict": lambda g: {
        "user__to__item": g["to_item"], "item__to__user": g["from_item"]}, "xs_dict": lambda g: {"a": [g["x"], g["x"] * 0.5], "b": [g["x"], g["x"].sin()]},
    "x_dict": lambda g: {"user": g["x"], "item": row_of({"x": torch.nn.functional.pad(g["item"], (0, FEATURES - 4))}, FEATURES)},
}
INPUTS_OF = {"InnerProductDecoder": ("z", "edge_index"), "GAE": ("x", "edge_index"), "VGAE": ("x", "edge_index"), "ARGA": ("x", "edge_index"),
             "ARGVA": ("x", "edge_index"), "DeepGraphInfomax": ("x", "edge_index"), "DeepGCNLayer": ("x", "edge_index"), "GroupAddRev": ("x", "edge_index"),
             "LabelPropagation": ("y", "edge_index"), "RECT_L": ("x", "edge_index", "edge_weight"),
             "HeteroConv": ("x_dict", "edge_index_dict"), "NNConv": ("x", "edge_index", "edge_attr"), "PMLP": ("x", "edge_index")}
# Optional arguments of forward that are given where a set wants them.
OPTIONAL = {"edge_weight", "edge_attr", "edge_type", "batch", "index", "type_vec", "mask", "edge_label_index", "node_type"}


class Call(nn.Module):
    """A layer that gets its arguments by name, or by position. Tables of graphs have as many rows as `u`."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer


def plain(value):
    """Tensors alone, as a file can return them."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        kept = [plain(item) for item in value if item is not None]
        return kept[0] if len(kept) == 1 else tuple(kept)
    return value


def typed(value):
    """Relations as tuples, which no file holds."""
    return {tuple(key.split("__")): item for key, item in value.items()}


@functools.cache
def kind_of(names, positional, sized):
    given = {name: "typed(edge_index_dict)" if name == "edge_index_dict" else name for name in names if name != "u"} | (
        {sized: "u.size(0)"} if sized else {})
    call = ", ".join(value if positional else f"{name}={value}" for name, value in given.items())
    code = textwrap.dedent(f"""
        def forward(self, {', '.join(names)}):
            return plain(self.layer({call}))
        """)
    space = {"plain": plain, "typed": typed}
    exec(code, space)  # noqa: S102 (tracing names inputs as the parameters of forward)
    return type("Call", (Call,), {"forward": space["forward"]})


def parameters(function):
    known = inspect.signature(function).parameters.values()
    return {one.name: one for one in known if one.name != "self" and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def made(value):
    return value() if callable(value) and not isinstance(value, type) else value


def required(kind, name):
    for key in (f"{kind.__name__}.{name}", name):
        if key in REQUIRED:
            return REQUIRED[key]
    raise NotTried(f"no value is known for the argument {name}")


def drawn(kind, dice):
    """Arguments of a constructor; without dice the defaults."""
    chosen = {name: required(kind, name) for name, one in parameters(kind.__init__).items() if one.default is one.empty}
    chosen.update({name: value for name, value in ALWAYS.get(kind.__name__, {}).items()})
    if dice is None:
        return chosen
    for name, one in parameters(kind.__init__).items():
        others = [not one.default] if isinstance(one.default, bool) else OTHERS.get(name, [])
        if others and name not in ("cached", "track_running_stats", "train_norm", "allow_single_element") and dice.random() < 0.5:
            chosen[name] = dice.choice(others)
    return chosen


def arguments_of(kind, chosen, dice):
    """Names of what forward gets, whether by position, and which argument takes the number of graphs."""
    if kind.__name__ in INPUTS_OF:
        return INPUTS_OF[kind.__name__], True, ""
    known = parameters(kind.forward)
    wanted = [name for name, one in known.items() if one.default is one.empty]
    wanted += [name for name in known if name in OPTIONAL and name not in wanted and takes(name, chosen, dice)]
    missing = next((name for name in wanted if name not in INPUTS), None)
    if missing:
        raise NotTried(f"no value is known for forward's {missing}")
    grouped = "batch" in wanted or "index" in wanted
    sized = next((name for name in ("dim_size", "batch_size") if name in known), "") if grouped and (dice is None or dice.random() < 0.7) else ""
    return tuple(wanted + (["u"] if sized else [])), False, sized


def takes(name, chosen, dice):
    if name == "edge_attr":
        return any(chosen.get(option) for option in ("edge_dim", "in_edge_channels", "dim"))
    if name in ("edge_type", "index", "type_vec", "node_type", "batch"):
        return name != "batch" or dice is None or dice.random() < 0.7
    return dice is not None and dice.random() < 0.5


def built(kind, chosen):
    return kind(**{name: made(value) for name, value in chosen.items()})


def evaluates(kind, chosen, call):
    """Whether PyG makes and evaluates it, on two graphs."""
    names, positional, sized = call
    torch.manual_seed(1)
    module = kind_of(names, positional, sized)(built(kind, chosen)).eval()
    for graph in (graphs.trace_graph(), *graphs.test_graphs()):
        with torch.no_grad():
            plain(module(*inputs_of(kind, names, graph).values()))


def inputs_of(kind, names, graph):
    return {name: INPUTS.get(f"{kind.__name__}.{name}", INPUTS.get(name))(graph) for name in names}


def sets_of(kind):
    """Distinct options that PyG evaluates, the defaults first; without any, the reason."""
    dice, found, reason = random.Random(zlib.crc32(kind.__name__.encode())), {}, None
    for draw in range(DRAWS):
        try:
            chosen = drawn(kind, dice if draw else None)
            call = arguments_of(kind, chosen, dice if draw else None)
            key = repr((sorted((name, str(value)) for name, value in chosen.items() if not callable(value)), call))
            if key not in found:
                evaluates(kind, chosen, call)
                found[key] = chosen, call
        except Exception as problem:  # noqa: BLE001 (PyG's own checks raise all kinds)
            reason = reason or problem
        if len(found) == SETS:
            break
    return list(found.values()), reason


def add(entries, kind):
    found, reason = sets_of(kind)
    if not found:
        entries.untried[kind.__name__] = f"{type(reason).__name__}: {str(reason).splitlines()[0] if str(reason) else ''}"
    for number, (chosen, (names, positional, sized)) in enumerate(found, 1):
        def build(kind=kind, chosen=chosen, how=(names, positional, sized)):
            return kind_of(*how)(built(kind, chosen))

        inputs = functools.partial(inputs_of, kind, names)
        entries.entries.append(Entry(f"{kind.__name__}_{number}", build, inputs, seed=number))


def classes():
    for module in (conv, aggr, norm, models):
        for name in module.__all__:
            if inspect.isclass(kind := getattr(module, name)):
                yield kind


@functools.cache
def made_group():
    entries = Group("signatures", all_of_it=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in classes():
            add(entries, kind)
    return entries


def __getattr__(name):
    """The group is made when it is asked for: it takes half a minute."""
    if name == "group":
        return made_group()
    raise AttributeError(name)
