"""The packages this machine's apt knows, joined by their dependencies, and a 2-layer SAGE that guesses their sections.

Usage: python samples/make_apt.py [FOLDER]     writes sage.pt, graph.safetensors, sage.expected.safetensors, names.txt

Needs Debian or a relative with package lists (`apt-get update`); on Debian 12 these are some 60,000 packages. What it
writes follows from the lists, so it differs from machine to machine and from day to day.
"""

import re
import subprocess
import sys
import zlib
from pathlib import Path

import torch

from models import SAGE
from training import accuracy, train, write_graph, write_model

PRIORITIES = ["required", "important", "standard", "optional", "extra"]
NAME_BUCKETS = 64
FIELDS = {"Package", "Section", "Priority", "Architecture", "Size", "Installed-Size", "Depends", "Pre-Depends",
          "Provides"}
TRAINING_SHARE = 0.3


def packages(text):
    """name -> fields, of the first entry of each package, by name."""
    found = {}
    for entry in text.split("\n\n"):
        pairs = (line.split(": ", 1) for line in entry.splitlines() if ": " in line and not line[0].isspace())
        fields = {key: value for key, value in pairs if key in FIELDS}
        if "Package" in fields:
            found.setdefault(fields["Package"], fields)
    return dict(sorted(found.items()))


def listed(field):
    """'a (>= 1) | b, c:any' -> [['a', 'b'], ['c']]"""
    return [[re.split(r"[\s:(]", name.strip())[0] for name in group.split("|")] for group in field.split(",") if group]


def providers(found):
    """Virtual package -> the first real one that provides it."""
    first = {}
    for name, fields in found.items():
        for group in listed(fields.get("Provides", "")):
            first.setdefault(group[0], name)
    return first


def dependencies(found):
    """(package, what it needs) as pairs of indices, each once; of alternatives the first that exists."""
    index, virtual = {name: i for i, name in enumerate(found)}, providers(found)
    pairs = set()
    for name, fields in found.items():
        groups = listed(fields.get("Pre-Depends", "")) + listed(fields.get("Depends", ""))
        for group in groups:
            real = [index.get(other, index.get(virtual.get(other))) for other in group]
            needed = next((i for i in real if i is not None), None)
            if needed is not None:
                pairs.add((index[name], needed))
    return sorted(pairs)


def features(name, fields):
    """Sizes, priority, whether it is for every architecture, and the words of the name in buckets."""
    sizes = [torch.log1p(torch.tensor(float(fields.get(key, 0)))) / 10 for key in ("Size", "Installed-Size")]
    priority = [float(fields.get("Priority") == known) for known in PRIORITIES]
    words = [0.0] * NAME_BUCKETS
    for word in re.findall(r"[a-z]+", name):
        words[zlib.crc32(word.encode()) % NAME_BUCKETS] = 1.0
    return torch.tensor(sizes + priority + [float(fields.get("Architecture") == "all")] + words)


def section(fields):
    return fields.get("Section", "misc").split("/")[-1]


def graph(found):
    needs = torch.tensor(dependencies(found)).t()
    sections = sorted({section(fields) for fields in found.values()})
    labels = torch.tensor([sections.index(section(fields)) for fields in found.values()])
    train_mask = torch.rand(len(found), generator=torch.Generator().manual_seed(5)) < TRAINING_SHARE
    return {
        "x": torch.stack([features(name, fields) for name, fields in found.items()]),
        # Both ways: a package is told by what it needs and by what needs it.
        "edge_index": torch.cat([needs.flip(0), needs], 1),
        "y": labels, "train_mask": train_mask, "test_mask": ~train_mask,
    }


def main(folder):
    listing = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    found = packages(listing)
    if len(found) < 1000:
        sys.exit("apt knows hardly any packages here; run `apt-get update` first")
    folder.mkdir(parents=True, exist_ok=True)
    data = graph(found)
    print(f"{data['x'].size(0)} packages, {data['edge_index'].size(1)} edges, {int(data['y'].max()) + 1} sections")
    write_graph(folder, data)
    (folder / "names.txt").write_text("\n".join(found) + "\n")
    torch.manual_seed(3)
    model = train(SAGE(data["x"].size(1), 64, int(data["y"].max()) + 1), data, data["y"], data["train_mask"], steps=60)
    out = write_model(folder, "sage", model, data)
    print(f"sage: test accuracy {accuracy(out, data['y'], data['test_mask']):.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "build" / "samples" / "apt")
