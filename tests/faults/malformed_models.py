"""Model files that are not what they should be, and command lines that make no sense."""
import os
import pickle
import random
import shutil
import zipfile

import numpy as np
import torch

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


@case("model: truncated", REFUSED, "model.pt")
def _(b):
    path = b.model()
    os.truncate(path, os.path.getsize(path) * 2 // 3)
    return on_sound_data(b, path)


@case("model: a few bytes", REFUSED, "model.pt")
def _(b):
    return on_sound_data(b, b.write("model.pt", b"PK\x03\x04"))


@case("model: empty file", REFUSED, "model.pt")
def _(b):
    return on_sound_data(b, b.write("model.pt", b""))


@case("model: text file", REFUSED, "model.pt")
def _(b):
    return on_sound_data(b, b.text_file("model.pt"))


@case("model: a folder", REFUSED, "models")
def _(b):
    os.mkdir(b.path("models"))
    return on_sound_data(b, b.path("models"))


@case("model: missing", REFUSED, "nowhere.pt")
def _(b):
    return on_sound_data(b, b.path("nowhere.pt"))


@case("model: state dict", REFUSED, "weights.pt")
def _(b):
    torch.save(b.net.state_dict(), b.path("weights.pt"))
    return on_sound_data(b, b.path("weights.pt"))


@case("model: state dict in the old format", REFUSED, "weights.pt")
def _(b):
    torch.save(b.net.state_dict(), b.path("weights.pt"), _use_new_zipfile_serialization=False)
    return on_sound_data(b, b.path("weights.pt"))


@case("model: pickle", REFUSED, "model.pkl")
def _(b):
    return on_sound_data(b, b.write("model.pkl", pickle.dumps({"weights": [1, 2, 3]})))


@case("model: foreign zip", REFUSED, "photos.zip")
def _(b):
    with zipfile.ZipFile(b.path("photos.zip"), "w") as z:
        z.writestr("holiday/beach.txt", "sand")
    return on_sound_data(b, b.path("photos.zip"))


@case("model: npz", REFUSED, "model.npz")
def _(b):
    np.savez(b.path("model.npz"), **b.graph())
    return on_sound_data(b, b.path("model.npz"))


@case("model: safetensors", REFUSED, "graph.safetensors")
def _(b):
    path = b.safetensors(b.graph())
    return [path, "--data", path]


@case("model: torch.export archive", {3, 4}, "model.pt2")
def _(b):
    with zipfile.ZipFile(b.path("model.pt2"), "w") as z:
        z.writestr("model/archive_format", "pt2")
        z.writestr("model/models/model.json", "{}")
    return on_sound_data(b, b.path("model.pt2"))


@case("model: FlatBuffer", {3, 4}, "model.ptl")
def _(b):
    return on_sound_data(b, b.write("model.ptl", b"\x18\x00\x00\x00PTMF" + b"\x00" * 200))


@case("model: weights with a flipped bit", REFUSED, "model.pt")
def _(b):
    path = b.model()
    content = bytearray(open(path, "rb").read())
    at = content.find(b.net.inp.weight.detach().numpy().tobytes())
    content[at + 9] ^= 16
    return on_sound_data(b, b.write("model.pt", bytes(content)))


@case("model: entry beyond the file", REFUSED, "model.pt")
def _(b):
    path = b.model()
    content = bytearray(open(path, "rb").read())
    at = content.find(b"PK\x01\x02")
    content[at + 20:at + 28] = b"\xf0\xff\xff\x7f\xf0\xff\xff\x7f"
    return on_sound_data(b, b.write("model.pt", bytes(content)))


@case("model: entry above its root", REFUSED, "edited.pt")
def _(b):
    edit = lambda n, c: [(n, c), ("../evil.py", b"x")] if n.endswith("version") else [(n, c)]
    return on_sound_data(b, rezip(b, edit))


@case("model: two entries of one name", REFUSED, "edited.pt")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [(n, c), (n, c)] if n.endswith("version") else [(n, c)]))


@case("model: zip bomb", REFUSED, "edited.pt")
def _(b):
    edit = lambda n, c: [(n, c), ("model/extra/zeros", bytes(300_000_000))] if n.endswith("version") else [(n, c)]
    return on_sound_data(b, rezip(b, edit, zipfile.ZIP_DEFLATED))


@case("model: without its pickle", REFUSED, "edited.pt")
def _(b):
    return on_sound_data(b, rezip(b, lambda n, c: [] if n.endswith("data.pkl") else [(n, c)]))


@case("model: code that is not code", REFUSED, "edited.pt")
def _(b):
    return on_sound_data(b, replace_code(b, b"def forward", b"dfe forward"))


@case("model: unknown operator", {3, 4}, "evil")
def _(b):
    return on_sound_data(b, replace_code(b, b"torch.tanh(", b"ops.evil.tanh("))


# LibTorch 2.13 dereferences a null pointer on what seed 64 makes, only when it looks up a source line.
@case("model: a source table that crashes the reader, with a right checksum", REFUSED, "tables.pt")
def _(b):
    return with_broken_tables(b, 64)


for seed in range(16):
    @case(f"model: pickled entries that lie, with right checksums, seed {seed}", {0, 3, 4})
    def _(b, seed=seed):
        return with_broken_tables(b, seed)


@case("model: reads a file", {3, 4}, "from_file")
def _(b):
    code = b'torch.add(torch.from_file("/etc/hostname", False, 8), '
    return on_sound_data(b, replace_code(b, b"torch.add(", code))


@case("model: a FIFO", REFUSED, "pipe.pt")
def _(b):
    os.mkfifo(b.path("pipe.pt"))
    return on_sound_data(b, b.path("pipe.pt"))


@case("model: not readable", REFUSED, "loop.pt")
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
def usage(name, *arguments, codes=frozenset({2}), names=()):
    @case(f"usage: {name}", set(codes), *names)
    def _(b):
        return on_sound_data(b, b.model()) + list(arguments)


usage("bad memory size", "--memory", "12XB", names=("12XB",))
usage("negative memory", "--memory", "-1G", names=("-1G|memory",))
usage("unknown strategy", "--strategy", "magic", names=("magic",))
usage("batch of zero", "--batch", "0", names=("batch",))
usage("negative batch", "--batch", "-5", names=("batch",))
usage("batch that is no number", "--batch", "many", names=("many|batch",))
usage("unknown flag", "--frobnicate", names=("frobnicate",))
usage("unknown device", "--device", "abacus", names=("abacus",))
usage("role without meaning", "--role", "x=banana", names=("banana",))
usage("role without a value", "--role", "x", names=("x|role",))
usage("role of an unknown input", "--role", "y=node", codes={2, 3}, names=("y",))
usage("role of an unknown parameter", "--role", "lin.wieght=node", codes={2, 3}, names=("lin.wieght",))
usage("role that cannot be", "--role", "x=index", codes={2, 3}, names=("x",))
usage("unknown NaN policy", "--nan", "ignore", names=("ignore",))


@case("usage: no data", {2, 3}, "data|x")
def _(b):
    return [b.model()]


@case("usage: no model", 2)
def _(b):
    return []


@case("output: a file is in the way", {2, 3, 6}, "out", keeps_out=True)
def _(b):
    b.write("out", b"I was here first")
    return on_sound_data(b, b.model())


@case("output: nowhere to write", {2, 3, 6}, "proc")
def _(b):
    b.out = "/proc/no/such/place"
    return on_sound_data(b, b.model())


@case("plan: not JSON", REFUSED, "plan.json")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.text_file("plan.json")]


@case("plan: another document", REFUSED, "plan.json")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.write("plan.json", b'{"version": 1, "stages": 7}')]


@case("plan: missing", REFUSED, "plan.json")
def _(b):
    return on_sound_data(b, b.model()) + ["--plan", b.path("plan.json")]
