"""Writes models that are no graph networks into OUT: what somebody may drop on the window all the same. Plain PyTorch.

Each is scripted, traced and exported, and graph networks that cannot be split are exported. Nothing is written if all of it is there already
and this file is older.
"""
import itertools
import os
import sys

import torch
from torch import nn
from torch.nn import functional


class Basic(nn.Module):
    """Two convolutions and a skip around them."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.downsample = nn.Sequential()
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + self.downsample(x))


class ResNet18(nn.Module):
    """With the layers, names and order of torchvision's, narrower."""

    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        for i, stride in enumerate((1, 2, 2, 2)):
            blocks = Basic(widths[i], widths[i + 1], stride), Basic(widths[i + 1], widths[i + 1], 1)
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8 * width, 10)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        first = torch.relu(self.down1(x))
        second = torch.relu(self.down2(functional.max_pool2d(first, 2)))
        return self.out(torch.cat([first, self.up(second)], 1))


class Last(nn.Module):
    """The last step of a recurrent layer, classified."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(16, 4)

    def forward(self, x):
        steps, _ = self.layer(x)
        return self.out(steps[:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        weights = torch.softmax(self.query(x) @ self.key(x).transpose(1, 2) / 4.0, -1)
        return weights @ self.value(x)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(100, 16), nn.Linear(16, 3)

    def forward(self, words):
        return self.out(self.table(words).mean(1))


class Loop(nn.Module):
    """As often as its argument says: cannot be traced."""

    def __init__(self):
        super().__init__()
        self.step = nn.Linear(8, 8)

    def forward(self, x, times: int):
        for _ in range(times):
            x = torch.tanh(self.step(x))
        return x


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        if bool(x.sum() > 0):
            return self.left(x)
        return self.right(x)


class Optional(nn.Module):
    """Takes a list, returns a dictionary."""

    def forward(self, parts: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sum": torch.stack(parts).sum(0), "first": parts[0]}


class Numbers(nn.Module):
    def forward(self, x: float, y: int) -> float:
        return x * y + 1.0


class Nothing(nn.Module):
    def forward(self, x):
        return x


class Whole(nn.Module):
    """A graph network with a step that mixes all nodes: it cannot be split."""

    def __init__(self, mix):
        super().__init__()
        self.first, self.second, self.mix = nn.Linear(8, 8), nn.Linear(8, 4), mix

    def forward(self, x, edge_index):
        h = torch.relu(self.first(self.sums(x, edge_index)))
        return self.second(self.sums(self.mix(h), edge_index))

    def sums(self, x, edge_index):
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


def wholes():
    """Steps of a Whole by their names."""
    return {"attention": lambda h: torch.softmax(h @ h.t(), -1) @ h, "sorted": lambda h: h.sort(0).values,
            "ordered": lambda h: h[h[:, 0].argsort()],
            "solved": lambda h: torch.linalg.solve(torch.eye(8) + h.t() @ h, h.t()).t(), "products": lambda h: h.cumprod(0),
            "ranks": lambda h: torch.linalg.qr(h).Q, "spectrum": lambda h: torch.fft.fft(h, dim=0).real,
            "distances": lambda h: torch.cdist(h, h).softmax(-1) @ h, "kernel": lambda h: (h @ h.t()).tanh() @ h,
            "dominant": lambda h: h @ torch.linalg.svd(h, full_matrices=False).Vh}


def dense(*widths):
    layers = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def images():
    """(name, model, arguments) of what looks at pictures."""
    picture = torch.randn(2, 3, 32, 32)
    vgg = nn.Sequential(*[layer for width, before in ((8, 3), (16, 8), (32, 16))
                          for layer in (nn.Conv2d(before, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))],
                        nn.Flatten(), nn.Linear(512, 10))
    mobile = nn.Sequential(nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 3, groups=8, padding=1), nn.Hardswish(),
                           nn.Conv2d(8, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return [("resnet18", ResNet18(), (torch.randn(1, 3, 64, 64),)), ("vgg", vgg, (picture,)), ("unet", UNet(), (picture,)),
            ("depthwise", mobile, (picture,)), ("shuffle", nn.PixelShuffle(2), (torch.randn(1, 4, 8, 8),)),
            ("upsample", nn.Upsample(scale_factor=2.0, mode="bilinear"), (picture,)),
            ("instance_norm", nn.InstanceNorm2d(3), (picture,))]


def sequences():
    steps = torch.randn(2, 12, 16)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 4, enable_nested_tensor=False)
    return [("lstm", Last(nn.LSTM(16, 16, batch_first=True)), (steps,)), ("gru", Last(nn.GRU(16, 16, batch_first=True)), (steps,)),
            ("transformer", encoder, (steps,)), ("attention", Attention(), (steps,)),
            ("words", Words(), (torch.randint(0, 100, (4, 7)),)), ("conv1d", nn.Conv1d(12, 4, 3), (steps,)),
            ("causal", nn.Sequential(nn.ConstantPad1d((2, 0), 0.0), nn.Conv1d(12, 12, 3), nn.GELU()), (steps,))]


def tables():
    rows = torch.randn(8, 8)
    return [("mlp", dense(8, 32, 32, 4), (rows,)), ("autoencoder", dense(8, 4, 2, 4, 8), (rows,)),
            ("deep_mlp", dense(*[8] * 60), (rows,)), ("normed", nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 2)), (rows,)),
            ("identity", Nothing(), (rows,)), ("bilinear", nn.Bilinear(8, 8, 4), (rows, rows))]


def export(folder, name, model, arguments, shapes=None):
    torch.export.save(torch.export.export(model.eval(), arguments, dynamic_shapes=shapes), os.path.join(folder, name + "_exported.pt2"))


def export_all(folder):
    """30 and more."""
    for name, model, arguments in images() + sequences() + tables():
        export(folder, name, model, arguments)
    rows = torch.export.Dim.AUTO
    for name, mix in wholes().items():
        graph = torch.randn(30, 8), torch.randint(0, 30, (2, 120))
        export(folder, "whole_" + name, Whole(mix), graph, ({0: rows}, {1: rows}))


def write(folder, name, module):
    module.save(os.path.join(folder, name + ".pt"))


def main():
    folder = sys.argv[1]
    done = os.path.join(folder, "complete")
    if os.path.exists(done) and os.path.getmtime(done) > os.path.getmtime(__file__):
        return
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(3)
    for name, model, arguments in images() + sequences() + tables():
        model.eval()
        write(folder, name + "_traced", torch.jit.trace(model, arguments, check_trace=False))
        if name not in ("transformer",):
            write(folder, name + "_scripted", torch.jit.script(model))
    for name, model in (("loop", Loop()), ("branch", Branch()), ("optional", Optional()), ("numbers", Numbers())):
        write(folder, name, torch.jit.script(model.eval()))
    export_all(folder)
    open(done, "w").close()


main()
