"""The models of the window's tests, made up from their file's name: chain3.pt has three layers, each a linear map, a gather of
neighbours, their sum and a gate. chain3-skips.pt also reads every layer's result at the end, chain3-long8.pt has eight more
row-wise operators in a module of every layer, the input of chain3-nan.pt loses a few numbers, and the rows of unsplittable3.pt
are added up in sequence. In changed.pt the first layer's weights differ from those of chain3.pt."""
import re

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

NODES, WIDTH = 10_000, 4  # rows and columns of x


def width(layer):
    """That of its input. A layer's sums are twice as wide as its result, so the best plans store results."""
    return WIDTH + 2 * min(layer, 4)


class Unit(nn.Module):
    def __init__(self, steps: int):
        super().__init__()
        self.steps = steps

    def forward(self, h: Tensor) -> Tensor:
        for _ in range(self.steps):
            h = h.tanh()
        return h


class Linear(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(outputs, inputs)), nn.Parameter(torch.empty(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight, self.bias)


class Layer(nn.Module):
    def __init__(self, number: int, steps: int):
        super().__init__()
        self.lin = Linear(width(number), 2 * width(number + 1))
        self.units = nn.ModuleList(Unit(min(6, steps - first)) for first in range(0, steps, 6))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.lin(x)
        messages = h.index_select(0, edge_index[0])
        h = torch.zeros_like(h).index_add(0, edge_index[1], messages)
        h = torch._C._nn.glu(h, -1)
        for unit in self.units:
            h = unit(h)
        return h


class Chain(nn.Module):
    def __init__(self, layers: int, name: str, steps: int):
        super().__init__()
        self.convs = nn.ModuleList(Layer(number, steps) for number in range(layers))
        self.skips, self.nan, self.unsplittable = "skips" in name, "nan" in name, "unsplittable" in name

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.nan:
            x = (x - 0.001).log()
        results: list[Tensor] = []
        for conv in self.convs:
            x = conv(x, edge_index)
            results.append(x)
        if self.unsplittable:
            x = x.cumsum(0)
        return torch.cat(results, 1) if self.skips else x


def make_model(file):
    """Of a name that stands for no model it is some text."""
    name = file.stem
    layers, long = re.search(r"\d+", name), re.search(r"long(\d+)", name)
    if name.startswith("bad"):
        return file.write_text("no model")
    model = Chain(int(layers[0]) if layers else 3, name, int(long[1]) if long else 0)
    with torch.no_grad():
        for number, (_, parameter) in enumerate(model.named_parameters()):
            places = torch.arange(parameter.numel(), dtype=torch.float32).reshape(parameter.shape)
            parameter.copy_(((places * 37 + number * 11) % 64 - 24) / 256)
        if name.startswith("changed"):
            model.convs[0].lin.weight[2, 3] += 0.5
    torch.jit.script(model).save(str(file))


def make_graph(file):
    """A ring: each node reads its two neighbours and itself. Files of other names have other numbers."""
    to = torch.arange(NODES).repeat_interleave(3)
    source = (to + torch.tensor([-1, 0, 1]).repeat(NODES)) % NODES
    x = (torch.arange(NODES) % 1000 / 1000).unsqueeze(1) + torch.arange(WIDTH) + (0 if file.stem == "graph" else 1)
    save_file({"x": x, "edge_index": torch.stack([source, to])}, str(file))
