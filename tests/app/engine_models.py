"""Small models in plain PyTorch message passing, written as TorchScript files for the tests of the command line."""
import torch
from torch import nn


def mean(x, edge_index):
    source, target = edge_index[0], edge_index[1]
    out = torch.zeros_like(x).index_add(0, target, x[source])
    degree = torch.zeros(x.size(0), dtype=x.dtype).index_add(0, target, torch.ones(target.size(0), dtype=x.dtype))
    return out / degree.clamp(min=1).unsqueeze(1)


class Sage(nn.Module):
    def __init__(self, inputs, hidden, outputs, layers=2):
        super().__init__()
        widths = [inputs] + [hidden] * (layers - 1) + [outputs]
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.neighbours = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:]))

    def forward(self, x, edge_index):
        for i, (own, neighbours) in enumerate(zip(self.own, self.neighbours)):
            x = own(x) + neighbours(mean(x, edge_index))
            if i + 1 < len(self.own):
                x = torch.relu(x)
        return x


class Several(nn.Module):
    """A dict with a key that is no file name, one value twice, and one of another dtype."""

    def forward(self, x, edge_index):
        h = mean(x, edge_index)
        return {"a/b": h, "again": h, "half": torch.relu(h).to(torch.bfloat16)}


class Pair(nn.Module):
    def forward(self, x, edge_index):
        h = mean(x, edge_index)
        return h, h * 2


class OwnLoops(nn.Module):
    """Edges without self-loops, and one more for each node."""

    def forward(self, x, edge_index):
        kept = edge_index[:, edge_index[0] != edge_index[1]]
        loop = torch.arange(x.size(0)).unsqueeze(0).repeat(2, 1)
        return mean(x, torch.cat([kept, loop], 1)).relu()


class GlobalAttention(nn.Module):
    def forward(self, x, edge_index):
        h = mean(x, edge_index)
        return torch.softmax(h @ h.t(), dim=-1) @ h


class Noise(nn.Module):
    """Cannot be walked: it draws random numbers, in one of two modules."""

    def __init__(self):
        super().__init__()
        self.own = nn.Linear(6, 6)
        self.blur = Blur()

    def forward(self, x, edge_index):
        return mean(self.blur(self.own(x)), edge_index).relu()


class Blur(nn.Module):
    def forward(self, x):
        if self.training:
            x = x * 2
        return x + torch.rand_like(x)


class Pictures(nn.Module):
    """No graph network: there is no sample to be guessed for it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(3600, 2))

    def forward(self, image):
        return self.layers(image)


def graph(nodes, edges, features, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, features, generator=generator)
    edge_index = torch.randint(0, nodes - 1, (2, edges), generator=generator)  # the last node is isolated
    return x, edge_index


def save(module, inputs, path):
    torch.manual_seed(0)
    module = module.eval()
    with torch.no_grad():
        traced = torch.jit.trace(module, inputs, check_trace=False, strict=False)
    traced.save(str(path))


@torch.jit.script
def halve_until_small(x):
    # The number of turns depends on the features.
    while float(x.abs().max()) > 1.0:
        x = x / 2
    return x


class FeatureLoop(nn.Module):
    def forward(self, x, edge_index):
        return halve_until_small(mean(x, edge_index))


@torch.jit.script
def twice_if_large(x, edge_index):
    if edge_index.size(1) > 1500:
        x = x * 2
    return x


class Branch(nn.Module):
    """Takes another branch on the whole graph than on a small sample of it."""

    def forward(self, x, edge_index):
        return twice_if_large(mean(x, edge_index), edge_index)
