"""Writes the models that the device tests run, and a list of them as tests/models has it: make_models.py FOLDER.

Small ones, on a graph with isolated nodes, self-loops and duplicate edges: "gcn" (weighted sums), "gat" (a softmax over
neighbours), "sparse" (a product with a sparse matrix), "normed" (statistics over all nodes), "readout" (sums, maxima and means over groups of nodes), "edges" (rows of
edges, an output on them), "typed" (nodes of two types), "along" (an operator that takes row numbers of 64 bits only),
"doubles" and "extremes" (sums, maxima and minima of 64 bits). "ends" has rows of edges that all end at one node, "looped" a self-loop of each node
as well. Two on 20,000 nodes with rows of 512 bytes: "wide" reads
neighbours, "rows" reads and writes each row once.
"""
import os
import sys

import torch
from safetensors.torch import save_file
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "executor"))
import make_models as small

NODES, EDGES, WIDTH = 20000, 60000, 128


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, edge_index):
        for layer in (self.a, self.b):
            x = layer(x + small.sums(x.index_select(0, edge_index[0]), edge_index[1], x.size(0))).relu()
        return x


class Along(nn.Module):
    def forward(self, x, edge_index):
        h = x.relu()
        return small.sums(h.take_along_dim(edge_index[0].view(-1, 1).expand(-1, x.size(1)), 0), edge_index[1], x.size(0))


class Doubles(nn.Module):
    """The mean and the weighted sum of neighbours, of 64 bits."""
    def forward(self, x, edge_index):
        src, dst, n = edge_index[0], edge_index[1], x.size(0)
        sums = torch.zeros_like(x).index_add(0, dst, x.index_select(0, src) * (1 + dst.double()).view(-1, 1))
        mean = torch.zeros_like(x).scatter_reduce(0, dst.view(-1, 1).expand(-1, x.size(1)), x.index_select(0, src), "mean",
                                                  include_self=False)
        return (sums / n + mean).relu()


class Extremes(nn.Module):
    """The largest and the smallest neighbour, of 64 bits; rows without one are 0."""
    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1].view(-1, 1).expand(-1, x.size(1))
        m = x.index_select(0, src)
        none = torch.zeros_like(x)
        return (none.scatter_reduce(0, dst, m, "amax", include_self=False) -
                none.scatter_reduce(0, dst, m, "amin", include_self=False))


class Ends(nn.Module):
    """Rows of edges, and the largest of each node: a sum of so many would round."""
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2 * small.F, small.F)

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        state = self.a(torch.cat([x.index_select(0, src), x.index_select(0, dst)], 1)).tanh()
        largest = torch.zeros_like(x).scatter_reduce(0, dst.view(-1, 1).expand(-1, x.size(1)), state, "amax", include_self=False)
        return largest, state


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, edge_index):
        h = self.a(x)
        return small.sums(h.index_select(0, edge_index[0]), edge_index[1], x.size(0)) + h


def flat(value):
    if isinstance(value, torch.Tensor):
        return {"out": value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {f"out.{key}": v for key, v in items}


def given(inputs):
    """The tensors of a dictionary, under the names that the engine gives them."""
    held = {}
    for key, value in inputs.items():
        held |= {f"{key}.{k}": v.contiguous() for k, v in value.items()} if isinstance(value, dict) else {key: value.contiguous()}
    return held


def save(folder, name, model, inputs, scripted=False):
    model = model.eval()
    with torch.no_grad():
        traced = None if scripted else torch.jit.trace(model, tuple(inputs.values()), strict=False, check_trace=False)
        (traced or torch.jit.script(model)).save(f"{folder}/{name}.pt")
        expected = {key: value.contiguous().clone() for key, value in flat(model(*inputs.values())).items()}
    save_file(given(inputs), f"{folder}/{name}.safetensors")
    save_file(expected, f"{folder}/{name}.expected.safetensors")
    return "\t".join([f"name={name}", f"model={folder}/{name}.pt", f"data0={folder}/{name}.safetensors",
                      f"expected0={folder}/{name}.expected.safetensors"])


def main(folder):
    torch.manual_seed(11)
    torch.set_num_threads(1)
    plain = {"x": torch.randn(small.N, small.F), "edge_index": small.graph(5)}
    large = {"x": torch.randn(NODES, WIDTH) / 8, "edge_index": small.graph(6, NODES, EDGES)}
    rows = {"x": large["x"], "edge_index": torch.arange(NODES).repeat(2, 1)}  # a batch reads its own rows
    typed = {"xs": {"user": torch.randn(23, small.F), "item": torch.randn(31, small.F)},
             "es": {f"{a}__to__{b}": torch.stack([torch.randint(0, n, (60,)), torch.randint(0, m - 1, (60,))])
                    for a, n, b, m in (("user", 23, "item", 31), ("item", 31, "user", 23), ("user", 23, "user", 23))}}
    ends = {**plain, "edge_index": torch.stack([torch.randint(0, small.N, (40000,)), torch.full((40000,), 3)])}
    loops = torch.arange(small.N).repeat(2, 1)
    looped = {**ends, "edge_index": torch.cat([ends["edge_index"], loops], 1)}
    lines = [save(folder, "ends", Ends(), ends), save(folder, "looped", Ends(), looped), save(folder, "gcn", small.Stack(small.Gcn, 2), plain), save(folder, "gat", small.Stack(small.Gat), plain),
             save(folder, "normed", small.Normed(), plain), save(folder, "edges", small.Edges(), plain),
             save(folder, "readout", small.Readout(), {**plain, "batch": torch.arange(small.N) * 3 // small.N}),
             save(folder, "typed", small.Hetero(), typed), save(folder, "along", Along(), plain),
             save(folder, "doubles", Doubles(), {**plain, "x": plain["x"].double()}),
             save(folder, "extremes", Extremes(), {**plain, "x": plain["x"].double()}),
             save(folder, "sparse", small.Sparse(), {**plain, "edge_weight": torch.rand(plain["edge_index"].size(1))}, scripted=True),
             save(folder, "wide", Wide(), large), save(folder, "rows", Rows(), rows)]
    with open(f"{folder}/models.list", "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
