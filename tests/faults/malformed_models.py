"""Model files that are not what they should be, and command lines that make no sense."""
import os
import pickle
import pickletools
import random
import shutil
import struct
import zipfile
import zlib

import numpy as np
import torch
from safetensors.numpy import load_file

from workshop import case

REFUSED = 3


def on_sound_data(bench, model):
    return [model, "--data", bench.safetensors(bench.graph())]


def rezip(bench, edit, compression=zipfile.ZIP_STORED):
    """The sound model with its entries passed through `edit`: (name, content) -> list of (name, content)."""
    source, target = bench.model(), bench.path("edited.pt")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        for info in old.infolist():
            for name, content in edit(info.filename, old.read(info)):
                new.writestr(zipfile.ZipInfo(name), content, compression)
    return target


KARATE = os.path.join(os.path.dirname(__file__), "..", "..", "samples", "karate")


def with_broken_tables(bench, seed):
    """The karate sample with some bytes of one pickled entry replaced, and checksums that are right for them."""
    chance = random.Random(seed)
    target = bench.path("tables.pt")
    with zipfile.ZipFile(os.path.join(KARATE, "gcn.pt")) as old, zipfile.ZipFile(target, "w") as new:
        victim = chance.choice([n for n in old.namelist() if n.endswith(("debug_pkl", "data.pkl", "constants.pkl"))])
        for name in old.namelist():
            content = bytearray(old.read(name))
            if name == victim:
                for _ in range(chance.randint(1, 8)):
                    content[chance.randrange(len(content))] = chance.randrange(256)
            new.writestr(zipfile.ZipInfo(name), bytes(content))
    return [target, "--data", os.path.join(KARATE, "graph.safetensors")]


def replace_code(bench, old, new):
    def edit(name, content):
        if name.endswith(".py"):
            if old not in content and b"class Net" in content:
                raise ValueError(f"{old} is not in the code")
            content = content.replace(old, new)
        return [(name, content)] if not name.endswith(".debug_pkl") else []

    return rezip(bench, edit)


@case("model: truncated", REFUSED, "model.pt", "the zip directory at the end is missing")
def _(b):
    path = b.model()
    os.truncate(path, os.path.getsize(path) * 2 // 3)
    return on_sound_data(b, path)


@case("model: a few bytes", REFUSED, "model.pt", "too short for a zip archive")
def _(b):
    return on_sound_data(b, b.write("model.pt", b"PK\x03\x04"))


@case("model: empty file", REFUSED, "model.pt", "is empty, not a TorchScript archive")
def _(b):
    return on_sound_data(b, b.write("model.pt", b""))


@case("model: text file", REFUSED, "model.pt", "is a text file, not a TorchScript archive")
def _(b):
    return on_sound_data(b, b.text_file("model.pt"))


@case("model: a folder", REFUSED, "models", "it is a folder")
def _(b):
    os.mkdir(b.path("models"))
    return on_sound_data(b, b.path("models"))


@case("model: missing", REFUSED, "nowhere.pt", "No such file")
def _(b):
    return on_sound_data(b, b.path("nowhere.pt"))


@case("model: state dict", REFUSED, "weights.pt", "was saved by torch.save")
def _(b):
    torch.save(b.net.state_dict(), b.path("weights.pt"))
    return on_sound_data(b, b.path("weights.pt"))


@case("model: state dict in the old format", REFUSED, "weights.pt", "an old torch.save file")
def _(b):
    torch.save(b.net.state_dict(), b.path("weights.pt"), _use_new_zipfile_serialization=False)
    return on_sound_data(b, b.path("weights.pt"))


@case("model: pickle", REFUSED, "model.pkl", "is a pickle")
def _(b):
    return on_sound_data(b, b.write("model.pkl", pickle.dumps({"weights": [1, 2, 3]})))


@case("model: foreign zip", REFUSED, "photos.zip", "'constants.pkl' is missing")
def _(b):
    with zipfile.ZipFile(b.path("photos.zip"), "w") as z:
        z.writestr("holiday/beach.txt", "sand")
    return on_sound_data(b, b.path("photos.zip"))


@case("model: npz", REFUSED, "model.npz", "its entries have no common folder")
def _(b):
    np.savez(b.path("model.npz"), **b.graph())
    return on_sound_data(b, b.path("model.npz"))


@case("model: safetensors", REFUSED, "graph.safetensors", "is a safetensors file, not a TorchScript archive")
def _(b):
    path = b.safetensors(b.graph())
    return [path, "--data", path]


@case("model: exported program without a version", 3, "model.pt2", "field /schema_version is missing")
def _(b):
    with zipfile.ZipFile(b.path("model.pt2"), "w") as z:
        z.writestr("model/archive_format", "pt2")
        z.writestr("model/models/model.json", "{}")
    return on_sound_data(b, b.path("model.pt2"))


@case("model: FlatBuffer", 4, "model.ptl", "in FlatBuffer form")
def _(b):
    return on_sound_data(b, b.write("model.ptl", b"\x18\x00\x00\x00PTMF" + b"\x00" * 200))


@case("model: weights with a flipped bit", REFUSED, "model.pt", "has a wrong checksum")
def _(b):
    path = b.model()
    content = bytearray(open(path, "rb").read())
    at = content.find(b.net.inp.weight.detach().numpy().tobytes())
    content[at + 9] ^= 16
    return on_sound_data(b, b.write("model.pt", bytes(content)))


# LibTorch would read whatever follows in memory.
@case("model: weights that are shorter than declared, with a right checksum", REFUSED, "edited.pt", "the entry data/0 has")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [(n, c[:-4] if n.endswith("data/0") else c)]))


@case("model: weights without a byte", REFUSED, "edited.pt", "the entry data/0 has 0 bytes, but its tensor needs")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [(n, b"" if n.endswith("data/0") else c)]))


@case("model: weights that are missing", REFUSED, "edited.pt", "the entry data/0 is missing")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [] if n.endswith("data/0") else [(n, c)]))


def with_larger_tensor(name, content):
    """The first tensor's first size is one more than its storage has rows."""
    if not name.endswith("data.pkl"):
        return [(name, content)]
    operations = [(op.name, arg, at) for op, arg, at in pickletools.genops(content)]
    storage = next(i for i, (op, _, _) in enumerate(operations) if op == "BINPERSID")
    at = next(at for op, arg, at in operations[storage:] if op == "BININT1" and arg > 1) + 1
    return [(name, content[:at] + bytes([content[at] + 1]) + content[at + 1:])]


@case("model: a tensor that is larger than its storage", REFUSED, "edited.pt", "does not fit into its")
def _(b):
    return on_sound_data(b, rezip(b, with_larger_tensor))


def with_overlap(path):
    with zipfile.ZipFile(path) as archive:
        first, second, third = archive.infolist()[:3]
    content = bytearray(open(path, "rb").read())
    begin = first.header_offset + 30 + len(first.filename)
    size = third.header_offset - begin
    facts = struct.pack("<III", zlib.crc32(content[begin:begin + size]), size, size)
    directory = content.find(b"PK\x01\x02")
    content[directory + 16:directory + 28] = facts
    content[first.header_offset + 14:first.header_offset + 26] = facts
    with open(path, "wb") as file:
        file.write(content)
    return path


@case("model: entry beyond the file", REFUSED, "model.pt", "does not end before the zip directory")
def _(b):
    path = b.model()
    content = bytearray(open(path, "rb").read())
    at = content.find(b"PK\x01\x02")
    content[at + 20:at + 28] = b"\xf0\xff\xff\x7f\xf0\xff\xff\x7f"
    return on_sound_data(b, b.write("model.pt", bytes(content)))


@case("model: entry above its root", REFUSED, "edited.pt", "climbing entry name '../evil.py'")
def _(b):
    edit = lambda n, c: [(n, c), ("../evil.py", b"x")] if n.endswith("version") else [(n, c)]
    return on_sound_data(b, rezip(b, edit))


@case("model: two entries of one name", REFUSED, "edited.pt", "duplicate entry model/version")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [(n, c), (n, c)] if n.endswith("version") else [(n, c)]))


@case("model: zip bomb", REFUSED, "edited.pt", "a zip bomb?")
def _(b):
    edit = lambda n, c: [(n, c), ("model/extra/zeros", bytes(300_000_000))] if n.endswith("version") else [(n, c)]
    return on_sound_data(b, rezip(b, edit, zipfile.ZIP_DEFLATED))


@case("model: entries on the same bytes", REFUSED, "edited.pt", " overlap")
def _(b):
    """The first entry takes in the header and the content of the next one; its checksum is right."""
    return on_sound_data(b, with_overlap(rezip(b, lambda n, c: [(n, c)])))


@case("model: 70,000 entries", REFUSED, "edited.pt", "too many entries")
def _(b):
    many = [(f"model/extra/{i}", b"") for i in range(70_000)]
    return on_sound_data(b, rezip(b, lambda n, c: [(n, c), *many] if n.endswith("version") else [(n, c)]))


@case("model: without its pickle", REFUSED, "edited.pt", "'data.pkl' is missing")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [] if n.endswith("data.pkl") else [(n, c)]))


@case("model: code that is not code", REFUSED, "edited.pt", "PyTorch cannot load")
def _(b):
    return on_sound_data(b, replace_code(b, b"def forward", b"dfe forward"))


@case("model: unknown operator", 4, "uses the operator evil::tanh, which is not part of PyTorch")
def _(b):
    return on_sound_data(b, replace_code(b, b"torch.tanh(", b"ops.evil.tanh("))


@case("model: operator of another LibTorch", 4, "uses the operator aten::evil, which is not part of the LibTorch that Hopscope uses (")
def _(b):
    return on_sound_data(b, replace_code(b, b"torch.tanh(", b"ops.aten.evil("))


# LibTorch 2.13 dereferences a null pointer on what seed 64 makes, only when it looks up a source line.
@case("model: a source table that crashes the reader, with a right checksum", REFUSED, "tables.pt",
      "PyTorch's reader crashes on")
def _(b):
    return with_broken_tables(b, 64)


# What the damaged bytes said was of no consequence: source lines.
HARMLESS = (10, 15)

for seed in set(range(16)) - set(HARMLESS):
    @case(f"model: pickled entries that lie, with right checksums, seed {seed}", REFUSED,
          "PyTorch cannot load|a table of the file cannot be read|but its tensor needs|that it has not made")
    def _(b, seed=seed):
        return with_broken_tables(b, seed)

for seed in HARMLESS:
    @case(f"model: pickled entries that lie, with right checksums, seed {seed}", 0)
    def _(b, seed=seed):
        b.expected = load_file(os.path.join(KARATE, "gcn.expected.safetensors"))["out"]
        return with_broken_tables(b, seed)


@case("model: reads a file", 4, "aten::from_file has side effects")
def _(b):
    code = b'torch.add(torch.from_file("/etc/hostname", False, 8), '
    return on_sound_data(b, replace_code(b, b"torch.add(", code))


@case("model: a FIFO", REFUSED, "pipe.pt", "not a regular file")
def _(b):
    os.mkfifo(b.path("pipe.pt"))
    return on_sound_data(b, b.path("pipe.pt"))


@case("model: not readable", REFUSED, "loop.pt", "Too many levels of symbolic links")
def _(b):
    os.symlink(b.path("loop.pt"), b.path("loop.pt"))
    return on_sound_data(b, b.path("loop.pt"))


@case("model: NaN in a weight", 0)
def _(b):
    with torch.no_grad():
        b.net.out.weight[1, 2] = float("nan")
    b.answer(b.graph())
    return on_sound_data(b, b.model())


@case("model: a name with spaces and quotes", 0)
def _(b):
    shutil.move(b.model(), b.path("my 'model' é.pt"))
    b.answer(b.graph())
    return on_sound_data(b, b.path("my 'model' é.pt"))


# The command line ----------------------------------------------------------------------------------------------------
def usage(name, *arguments, says, code=2):
    @case(f"usage: {name}", code, says)
    def _(b):
        return on_sound_data(b, b.model()) + list(arguments)


usage("bad memory size", "--memory", "12XB", says="'12XB' is not a valid size")
usage("negative memory", "--memory", "-1G", says="'-1G' is not a valid size")
usage("unknown strategy", "--strategy", "magic", says="unknown value of --strategy 'magic'")
usage("batch of zero", "--batch", "0", says="'0' is neither auto nor a positive whole number")
usage("negative batch", "--batch", "-5", says="'-5' is neither auto nor a positive whole number")
usage("batch that is no number", "--batch", "many", says="'many' is neither auto nor a positive whole number")
usage("unknown flag", "--frobnicate", says="unknown option '--frobnicate'")
usage("unknown device", "--device", "abacus", says="unknown device abacus")
usage("role without meaning", "--role", "x=banana", says="--role x=banana is not a role")
usage("role without a value", "--role", "x", says="--role x is not a role")
usage("role of an unknown input", "--role", "y=node", code=REFUSED, says="--role names y, which is neither an input nor a parameter")
usage("role of an unknown parameter", "--role", "lin.wieght=node", code=REFUSED,
      says="--role names lin.wieght, which is neither an input nor a parameter")
usage("role that cannot be", "--role", "x=index", code=REFUSED, says="an edge index is an integer [2, E]")
usage("unknown NaN policy", "--nan", "ignore", says="unknown value of --nan 'ignore'")


@case("usage: no data", 2, "--data is required")
def _(b):
    return [b.model()]


@case("usage: no model", 2, "MODEL is required")
def _(b):
    return []


@case("output: a file is in the way", REFUSED, "out", "is a file, not a folder", keeps_out=True)
def _(b):
    b.write("out", b"I was here first")
    return on_sound_data(b, b.model())


@case("output: nowhere to write", REFUSED, "proc", "cannot be created or written")
def _(b):
    b.out = "/proc/no/such/place"
    return on_sound_data(b, b.model())


@case("plan: not JSON", REFUSED, "plan.json", "unexpected text")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.text_file("plan.json")]


@case("plan: another document", REFUSED, "plan.json", "field /format is missing")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.write("plan.json", b'{"version": 1, "stages": 7}')]


@case("plan: missing", REFUSED, "plan.json", "no such file")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.path("plan.json")]
