"""Small models of plain PyTorch whose exported programs, as several versions of torch write them, are in tests/app/data/exported: their
JSON, without weights. `exported_models.py FOLDER` adds those of the installed torch; test: engine_exported.py."""
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import torch
from torch import nn

FEATURES, OUTPUTS = 5, 3
JSON = ("models/", "data/weights/", "data/constants/")  # folders of an archive whose .json files are kept
PATH = re.compile(r'File \\"[^"]*?/(?=(torch/)|exported_models.py)')  # in stack traces
LEFT_OUT = re.compile(r"data/sample_inputs/|data/weights/weight_|\.data/|data/constants/tensor_")


class Sums(nn.Module):
    """Convolutions with an operator in place, norms, and dropout that does nothing."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(FEATURES, 8), nn.Linear(8, OUTPUTS, bias=False)
        self.norm = nn.LayerNorm(8)

    def forward(self, x, edge_index):
        h = nn.functional.dropout(self.norm(self.collect(self.first(x), edge_index)).relu(), 0.5, self.training)
        return self.collect(self.second(h), edge_index)

    def collect(self, x, edge_index):
        source, target = edge_index[0], edge_index[1]
        degree = torch.zeros(x.size(0), dtype=x.dtype).index_add_(0, target, torch.ones_like(target, dtype=x.dtype))
        weight = degree.clamp(min=1).pow(-0.5)
        return torch.zeros_like(x).index_add_(0, target, x[source] * (weight[source] * weight[target]).unsqueeze(1))


class Attends(nn.Module):
    """Dicts in and out, edges chosen by a mask, whose number no size tells, attention, and a part without gradients."""

    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(FEATURES, 6), nn.Linear(FEATURES, 6)
        self.score, self.out = nn.Linear(6, 1), nn.Linear(6, OUTPUTS)

    def forward(self, x_dict, edge_index):
        users, items = self.user(x_dict["user"]), self.item(x_dict["item"])
        with torch.no_grad():
            kept = edge_index[:, edge_index[0] != edge_index[1]]
        source, target = kept[0], kept[1]
        scores = self.score((users[source] + items[target]).tanh()).squeeze(1)
        most = torch.full((items.size(0),), -1e9).scatter_reduce(0, target, scores, "amax")
        weights = (scores - most[target]).exp()
        total = torch.zeros(items.size(0)).scatter_add(0, target, weights) + 1e-6
        h = torch.zeros_like(items).index_add(0, target, users[source] * (weights / total[target]).unsqueeze(1))
        return {"item": self.out(h + items), "users": users.mean(0)}


def graph(nodes, edges, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, FEATURES, generator=generator), torch.randint(0, nodes, (2, edges), generator=generator)


def inputs(name, size, seed):
    """The arguments of a model."""
    x, edge_index = graph(size, 5 * size, seed)
    return (x, edge_index) if name == "sums" else ({"user": x, "item": graph(size, 1, seed + 1)[0]}, edge_index)


MODELS = {"sums": Sums, "attends": Attends}


def weights_of(module):
    """Weights that follow from their names and positions, in the module itself."""
    with torch.no_grad():
        for number, (_, weight) in enumerate(sorted(module.named_parameters())):
            places = torch.arange(weight.numel(), dtype=torch.float64)
            weight.copy_((0.4 * torch.sin(1 + number + 0.7 * places)).reshape(weight.shape))
    return module.eval()


def export(name):
    rows = {0: torch.export.Dim.AUTO}
    shapes = (rows, {1: torch.export.Dim.AUTO}) if name == "sums" else ({"user": rows, "item": rows}, {1: torch.export.Dim.AUTO})
    program = torch.export.export(weights_of(MODELS[name]()), inputs(name, 30, 1), dynamic_shapes=shapes)
    archive = io.BytesIO()
    torch.export.save(program, archive)
    return zipfile.ZipFile(archive)


def shortened(path):
    return 'File \\"' + ("/site-packages/" if path[1] else "")


def members(archive):
    """The texts of an archive by their names, without its folder."""
    found = {}
    for info in archive.infolist():
        name = info.filename.partition("/")[2]
        if LEFT_OUT.search(name):
            continue
        text = archive.read(info).decode()
        found[name] = json.loads(PATH.sub(shortened, text)) if name.endswith(".json") else text
    return found


def write(folder):
    for name in MODELS:
        file = Path(folder) / f"{name}-torch-{torch.__version__.partition('+')[0]}.json"
        file.write_text(json.dumps(members(export(name)), sort_keys=True, separators=(",", ":")) + "\n")
        print(file, file.stat().st_size)


if __name__ == "__main__":
    write(sys.argv[1])
