"""What the benchmarks run beside the engine: the same models in PyG and DGL, one process per measurement.

    peers.py NAME MODEL FOLDER BEGAN     prints one line of JSON

  exact     PyG's layers in float64, on some destinations at a time
  scatter   PyG on the whole graph: forward(x, edge_index)
  spmm      PyG on the whole graph with a sparse matrix in CSR format, made beforehand
  loop      PyG's layer-wise inference() with NeighborLoader, if pyg-lib or torch-sparse is installed
  dgl       DGL on the whole graph, its formats made beforehand, with PyG's weights
  dgl-loop  DGL's layer-wise loop with MultiLayerFullNeighborSampler(1), as in its examples, with PyG's weights

`seconds`: the faster of two inferences, nothing else; `process`: from BEGAN (seconds of the system's clock, taken before
the process was started) to the first output in a file, so that a peer pays for one inference, as the engine does, and
not for its interpreter's end; `peak` in bytes.
"""
import json
import sys
import time
import warnings
from pathlib import Path

import numpy

FEATURES, HIDDEN, CLASSES, LAYERS, EDGE_FEATURES = 100, 128, 47, 3, 8
BATCH = 16384
BASIC = ("sage", "gcn", "gat")
# Three of these convolutions with ReLU between them. There is nothing beside them but PyG on the whole graph: DGL and
# PyG's loop have them in other forms or not at all, and no product with a sparse matrix computes them.
CONVOLUTIONS = ("gatv2", "transformer", "resgated", "gine", "edge", "pna")
# Ten hops over the same edges: ten layers of GCN; APPNP behind two linear layers; SGConv before one.
DEEP = ("deepgcn", "appnp", "sgc")
HOPS = 10


# ---- models


def convolution(name, i, o, last):
    import torch
    from torch import nn
    from torch_geometric import nn as pyg
    def mlp(width):
        return nn.Sequential(nn.Linear(width, o), nn.ReLU(), nn.Linear(o, o))
    heads = {"heads": 2, "concat": not last}
    width = o if last else o // 2
    return {"gatv2": lambda: pyg.GATv2Conv(i, width, **heads),
            "transformer": lambda: pyg.TransformerConv(i, width, **heads),
            "resgated": lambda: pyg.ResGatedGraphConv(i, o),
            "gine": lambda: pyg.GINEConv(mlp(i), edge_dim=EDGE_FEATURES),
            "edge": lambda: pyg.EdgeConv(mlp(2 * i), aggr="max"),
            "pna": lambda: pyg.PNAConv(i, o, ["mean", "min", "max", "std"],
                                       ["identity", "amplification", "attenuation"],
                                       torch.tensor([4, 9, 12, 9, 7, 5, 3, 2, 1, 1]))}[name]()


def stack(name):
    from torch import nn
    sizes = [FEATURES, *[HIDDEN] * (LAYERS - 1), CLASSES]
    convolutions = [convolution(name, *sizes[k:k + 2], k == LAYERS - 1) for k in range(LAYERS)]

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(convolutions)

        def layers(self, x, *edges):
            for k, conv in enumerate(self.convs):
                x = conv(x, *edges)
                x = x if k == LAYERS - 1 else x.relu()
            return x

        def forward(self, x, edge_index):
            return self.layers(x, edge_index)

    class Attributed(Stack):
        def forward(self, x, edge_index, edge_attr):
            return self.layers(x, edge_index, edge_attr)

    return (Attributed if name == "gine" else Stack)().eval()


def deep(name):
    from torch import nn
    from torch_geometric.nn import APPNP, GCN, Sequential, SGConv
    if name == "deepgcn":
        return GCN(FEATURES, HIDDEN, HOPS, CLASSES).eval()
    if name == "sgc":
        return SGConv(FEATURES, CLASSES, K=HOPS).eval()
    return Sequential("x, edge_index", [
        (nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)), "x -> x"),
        (APPNP(K=HOPS, alpha=0.1), "x, edge_index -> x")]).eval()


def pyg_model(name):
    import torch
    torch.manual_seed(0)
    if name in CONVOLUTIONS:
        return stack(name)
    if name in DEEP:
        return deep(name)
    from torch_geometric.nn import GAT, GCN, GraphSAGE
    kind = {"sage": GraphSAGE, "gcn": GCN, "gat": lambda *sizes: GAT(*sizes, heads=2)}[name]
    return kind(FEATURES, HIDDEN, LAYERS, CLASSES).eval()


def inputs(folder):
    import torch
    return torch.from_numpy(numpy.load(folder / "x.npy")), torch.from_numpy(numpy.load(folder / "edge_index.npy"))


def attributes(model, folder):
    """Of edges, for the model that takes them."""
    import torch
    return [torch.from_numpy(numpy.load(folder / "edge_attr.npy"))] if model == "gine" else []


# ---- float64


def exact(model, x, edges, *more, chunk=1 << 22):
    """What PyG's layers compute in float64 on edges sorted by destination: of destinations with some `chunk` edges at a
    time, since rows of all edges need not fit in memory. Hops over the same edges (DEEP) are computed at once."""
    import torch
    network, h = pyg_model(model).double(), x.double()
    more = [each.double() for each in more]
    if model in DEEP:
        return network(h, edges, *more)
    if model == "gcn":
        edges, more = normalised(network, edges, h.shape[0])
    for k, conv in enumerate(network.convs):
        h = torch.cat([conv(h, edges[:, cut], *(each[cut] for each in more))[rows]
                       for rows, cut in parts(edges[1], h.shape[0], chunk)])
        h = h if k == LAYERS - 1 else h.relu()
    return h


def normalised(network, edges, nodes):
    """The edges of a GCN with their weights, which depend on all edges; its layers then take them as they are."""
    import torch
    from torch_geometric.nn.conv.gcn_conv import gcn_norm
    edges, weights = gcn_norm(edges, None, nodes, dtype=torch.double)
    for conv in network.convs:
        conv.normalize = False
    order = edges[1].argsort(stable=True)
    return edges[:, order], [weights[order]]


def parts(owners, nodes, chunk):
    """Slices of destinations and of their edges."""
    import torch
    cuts = torch.cat([torch.tensor([0]), owners[chunk::chunk], torch.tensor([nodes])]).unique()
    edges = torch.searchsorted(owners, cuts).tolist()
    rows = cuts.tolist()
    return [(slice(*rows[k:k + 2]), slice(*edges[k:k + 2])) for k in range(len(rows) - 1)]


# ---- PyG


def adjacency(edges, nodes):
    import torch
    rows = torch.zeros(nodes + 1, dtype=torch.long)
    rows[1:] = torch.bincount(edges[1], minlength=nodes).cumsum(0)
    return torch.sparse_csr_tensor(rows, edges[0], torch.ones(edges.shape[1]), (nodes, nodes))


def pyg_inference(name, model, folder):
    x, edges = inputs(folder)
    network = pyg_model(model)
    more = attributes(model, folder)
    if name == "exact":
        return lambda: exact(model, x, edges, *more)
    if name == "scatter":
        return lambda: network(x, edges, *more)
    if name == "spmm":
        matrix = adjacency(edges, x.shape[0])
        return lambda: network(x, matrix)
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader
    loader = NeighborLoader(Data(x=x, edge_index=edges), num_neighbors=[-1], batch_size=BATCH, shuffle=False,
                            is_sorted=True)
    return lambda: network.inference(loader)


# ---- DGL


def dgl_layers(model, folder):
    """DGL's layers of the same sizes with the weights that `export_weights` wrote."""
    import dgl.nn as layers
    import torch
    sizes = [(FEATURES, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, CLASSES)]
    makers = {"sage": lambda i, o, _: layers.SAGEConv(i, o, "mean"),
              "gcn": lambda i, o, _: layers.GraphConv(i, o, norm="both", allow_zero_in_degree=True),
              "gat": lambda i, o, last: layers.GATConv(i, o if last else o // 2, 2, allow_zero_in_degree=True)}
    network = torch.nn.ModuleList([makers[model](*size, k == LAYERS - 1) for k, size in enumerate(sizes)]).eval()
    weights = torch.load(folder / f"{model}.weights.pt")
    for k, layer in enumerate(network):
        own = {name.removeprefix(f"convs.{k}."): value for name, value in weights.items()
               if name.startswith(f"convs.{k}.")}
        layer.load_state_dict(renamed(model, own))
    return network


def renamed(model, weights):
    """A layer's weights by DGL's names."""
    if model == "sage":
        return {"fc_neigh.weight": weights["lin_l.weight"], "fc_self.weight": weights["lin_r.weight"],
                "fc_self.bias": weights["lin_l.bias"]}
    if model == "gcn":
        return {"weight": weights["lin.weight"].t().contiguous(), "bias": weights["bias"]}
    heads = weights["att_src"].shape[1]
    wide = weights["lin.weight"].shape[0]
    # DGL adds the bias before it takes the mean over heads, PyG afterwards.
    bias = weights["bias"] if weights["bias"].shape[0] == wide else weights["bias"].repeat(heads)
    return {"fc.weight": weights["lin.weight"], "attn_l": weights["att_src"], "attn_r": weights["att_dst"], "bias": bias}


def between(model, k, h):
    if model == "gat":
        h = h.mean(1) if k == LAYERS - 1 else h.flatten(1)
    return h if k == LAYERS - 1 else h.relu()


def dgl_graph(model, edges, nodes):
    import dgl
    graph = dgl.graph((edges[0], edges[1]), num_nodes=nodes)
    # PyG's GCN and GAT add loops themselves.
    graph = graph if model == "sage" else dgl.add_self_loop(graph)
    graph.create_formats_()
    return graph


def dgl_inference(name, model, folder):
    import dgl
    import torch
    x, edges = inputs(folder)
    nodes = x.shape[0]
    graph, network = dgl_graph(model, edges, nodes), dgl_layers(model, folder)

    def whole():
        h = x
        for k, layer in enumerate(network):
            h = between(model, k, layer(graph, h))
        return h

    def loop():
        sampler = dgl.dataloading.MultiLayerFullNeighborSampler(1)
        batches = dgl.dataloading.DataLoader(graph, torch.arange(nodes), sampler, batch_size=BATCH, shuffle=False)
        h = x
        for k, layer in enumerate(network):
            rows = torch.empty(nodes, CLASSES if k == LAYERS - 1 else HIDDEN)
            for sources, destinations, blocks in batches:
                rows[destinations] = between(model, k, layer(blocks[0], h[sources]))
            h = rows
        return h
    return whole if name == "dgl" else loop


# ---- one measurement


def measure(name, model, folder, began):
    warnings.filterwarnings("ignore")
    import torch
    try:
        run = (dgl_inference if name.startswith("dgl") else pyg_inference)(name, model, folder)
    except ImportError as missing:
        return {"missing": str(missing)}
    seconds = []
    with torch.inference_mode():
        for _ in range(1 if name == "exact" else 2):
            begin = time.perf_counter()
            out = run()
            seconds.append(time.perf_counter() - begin)
            if len(seconds) == 1:
                numpy.save(folder / f"{model}.{name}.npy", out.numpy())
                process = time.time() - began
    return {"seconds": min(seconds), "process": process, "peak": peak()}


# getrusage() would count what this process occupied before it became Python, which is what its parent occupies.
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:3], Path(sys.argv[3]), float(sys.argv[4]))))
