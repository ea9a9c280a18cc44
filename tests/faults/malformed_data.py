"""Graphs that are damaged, inconsistent, odd but sound, or something else altogether."""
import json
import os
import pickle
import zipfile

import numpy as np

from workshop import EDGES, FEATURES, NODES, case, header_of

REFUSED, RIGHT = 3, 0


def changed(bench, **changes):
    return bench.run({**bench.graph(), **changes})


# Files that are not tensors ------------------------------------------------------------------------------------------
@case("data: missing file", REFUSED, "nowhere.safetensors")
def _(b):
    return [b.model(), "--data", b.path("nowhere.safetensors")]


@case("data: text file", REFUSED, "graph.safetensors")
def _(b):
    return [b.model(), "--data", b.text_file("graph.safetensors")]


@case("data: empty file", REFUSED, "graph.safetensors")
def _(b):
    return [b.model(), "--data", b.write("graph.safetensors", b"")]


@case("data: folder without tensors", REFUSED, "empty")
def _(b):
    os.mkdir(b.path("empty"))
    return [b.model(), "--data", b.path("empty")]


@case("data: foreign zip", REFUSED, "graph.zip")
def _(b):
    with zipfile.ZipFile(b.path("graph.zip"), "w") as z:
        z.writestr("a.txt", "b")
    return [b.model(), "--data", b.path("graph.zip")]


@case("data: npz", REFUSED, "graph.npz")
def _(b):
    np.savez(b.path("graph.npz"), **b.graph())
    return [b.model(), "--data", b.path("graph.npz")]


@case("data: pickle", REFUSED, "graph.pkl")
def _(b):
    return [b.model(), "--data", b.write("graph.pkl", pickle.dumps(b.graph()))]


@case("data: HDF5", REFUSED, "graph.h5")
def _(b):
    return [b.model(), "--data", b.write("graph.h5", b"\x89HDF\r\n\x1a\n" + bytes(512))]


@case("data: the model again", REFUSED, "model.pt")
def _(b):
    return [b.model(), "--data", b.model()]


@case("data: a FIFO", REFUSED, "pipe.npy")
def _(b):
    os.mkfifo(b.path("pipe.npy"))
    return b.run_npy(b.path("pipe.npy"))


@case("data: a FIFO in a folder", REFUSED, "x.npy")
def _(b):
    os.mkdir(b.path("graph"))
    os.mkfifo(b.path("graph/x.npy"))
    b.npy("graph/edge_index.npy", b.graph()["edge_index"])
    return [b.model(), "--data", b.path("graph")]


@case("data: name without a file", {2, 3}, "x|data")
def _(b):
    return [b.model(), "--data", "x="]


@case("data: one key twice", {2, 3}, "x")
def _(b):
    return changed(b) + ["--data", "x=" + b.npy("x.npy", b.graph()["x"])]


@case("data: in two files", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return [b.model(), "--data", b.safetensors({"x": data["x"]}), "--data",
            b.safetensors({"edge_index": data["edge_index"]}, name="edges.safetensors")]


# .safetensors --------------------------------------------------------------------------------------------------------
@case("safetensors: truncated", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), cut=100)


@case("safetensors: bytes too many", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), body=bytes(8))


@case("safetensors: header of 2^60 bytes", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), size=1 << 60)


@case("safetensors: header longer than the file", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), size=1 << 20)


@case("safetensors: header of zero bytes", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), size=0)


@case("safetensors: header is not JSON", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), header=b"{'x': [1, 2")


@case("safetensors: header nests too deep", REFUSED, "graph.safetensors")
def _(b):
    return b.run(b.graph(), header=b'{"x":' * 100000 + b"1" + b"}" * 100000)


@case("safetensors: one key twice", REFUSED, "x")
def _(b):
    data = b.graph()
    entry = json.dumps(header_of(data)["x"])
    index = json.dumps(header_of(data)["edge_index"])
    return b.run(data, header=f'{{"x":{entry},"x":{entry},"edge_index":{index}}}'.encode())


def lying_header(name, change, *names):
    @case(f"safetensors: {name}", REFUSED, *names)
    def _(b):
        data = b.graph()
        header = header_of(data)
        change(header)
        return b.run(data, header=header)


lying_header("tensors overlap", lambda h: h["edge_index"].update(data_offsets=[8, 8 + 16 * EDGES]), "edge_index|x")
lying_header("offsets beyond the file", lambda h: h["x"].update(data_offsets=[1 << 40, (1 << 40) + 380]), "x")
lying_header("offsets backwards", lambda h: h["x"].update(data_offsets=[380, 0]), "x")
lying_header("shape larger than the bytes", lambda h: h["x"].update(shape=[NODES + 1, FEATURES]), "x")
lying_header("shape that overflows", lambda h: h["x"].update(shape=[1 << 62, 1 << 62]), "x")
lying_header("negative shape", lambda h: h["x"].update(shape=[-NODES, -FEATURES]), "x")
lying_header("unknown dtype", lambda h: h["x"].update(dtype="Q4_K"), "x")
lying_header("dtype missing", lambda h: h["x"].pop("dtype"), "x")
lying_header("shape is text", lambda h: h["x"].update(shape="19x5"), "x")


@case("safetensors: with metadata", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run(data, header={"__metadata__": {"made by": "a test"}, **header_of(data)})


# .npy ----------------------------------------------------------------------------------------------------------------
@case("npy: truncated", REFUSED, "x.npy")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    os.truncate(path, os.path.getsize(path) - 10)
    return b.run_npy(path)


@case("npy: truncated header", REFUSED, "x.npy")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    os.truncate(path, 20)
    return b.run_npy(path)


@case("npy: object dtype", REFUSED, "x.npy")
def _(b):
    array = np.empty((NODES, FEATURES), object)
    array[:] = 1.5
    return b.run_npy(b.npy("x.npy", array))


@case("npy: structured dtype", REFUSED, "x.npy")
def _(b):
    return b.run_npy(b.npy("x.npy", np.zeros(NODES, [("a", "f4"), ("b", "f4")])))


@case("npy: text dtype", REFUSED, "x.npy")
def _(b):
    return b.run_npy(b.npy("x.npy", np.full((NODES, FEATURES), "abc")))


def npy_header(name, header, *names):
    @case(f"npy: {name}", REFUSED, *names)
    def _(b):
        return b.run_npy(b.npy("x.npy", b.graph()["x"], header=header))


npy_header("header claims too many rows", "{'descr': '<f4', 'fortran_order': False, 'shape': (900, 5), }", "x.npy")
npy_header("header claims too many bytes", f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 61}, 8), }}",
           "x.npy")
npy_header("negative shape", "{'descr': '<f4', 'fortran_order': False, 'shape': (-19, 5), }", "x.npy")
npy_header("header is garbage", "{'descr': open('/etc/passwd'), 'shape': 1", "x.npy")
npy_header("header without a shape", "{'descr': '<f4', 'fortran_order': False, }", "x.npy")


def right_npy(name, change_x=lambda a: a, change_index=lambda a: a, version=None):
    @case(f"npy: {name}", RIGHT)
    def _(b):
        data = b.graph()
        b.answer(data)
        x = b.npy("x.npy", change_x(data["x"]), version)
        return b.run_npy(x, b.npy("edge_index.npy", change_index(data["edge_index"]), version))


right_npy("Fortran order", np.asfortranarray, np.asfortranarray)
right_npy("big-endian", lambda a: a.astype(">f4"), lambda a: a.astype(">i8"))
right_npy("big-endian and Fortran order", lambda a: np.asfortranarray(a.astype(">f4")))
right_npy("format version 2", version=(2, 0))
right_npy("format version 3", version=(3, 0))


@case("npy: format version 9", REFUSED, "x.npy")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    with open(path, "r+b") as file:
        file.seek(6)
        file.write(b"\x09")
    return b.run_npy(path)


# What does not fit the model -----------------------------------------------------------------------------------------
@case("keys: no x", REFUSED, "x")
def _(b):
    return b.run({"edge_index": b.graph()["edge_index"]})


@case("keys: no edge_index", REFUSED, "edge_index")
def _(b):
    return b.run({"x": b.graph()["x"]})


@case("keys: a near miss", REFUSED, "edge_indx")
def _(b):
    data = b.graph()
    return b.run({"x": data["x"], "edge_indx": data["edge_index"]})


@case("keys: a near miss besides the right one", {0, 3}, "edge_indez")
def _(b):
    data = b.graph()
    return b.run({**data, "edge_indez": data["edge_index"]})


@case("keys: one more", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run({**data, "train_mask": np.ones(NODES, bool)})


@case("keys: an odd name", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run({**data, "<b>lab\nels</b>\x1b[31m": np.ones(NODES, np.int64)})


@case("keys: a name of a megabyte", {0, 3})
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run({**data, "z" * 1_000_000: np.ones(NODES, np.int64)})


@case("features: wrong width", REFUSED, "x|linear|mat")
def _(b):
    return changed(b, x=np.zeros((NODES, FEATURES + 2), np.float32))


@case("features: no width", REFUSED, "x|linear|mat")
def _(b):
    return changed(b, x=np.zeros((NODES, 0), np.float32))


@case("features: one dimension", REFUSED, "x|linear|mat")
def _(b):
    return changed(b, x=np.zeros(NODES, np.float32))


@case("features: float64", REFUSED, "x|dtype|Double")
def _(b):
    return changed(b, x=b.graph()["x"].astype(np.float64))


@case("features: float16", REFUSED, "x|dtype|Half")
def _(b):
    return changed(b, x=b.graph()["x"].astype(np.float16))


@case("features: integers", REFUSED, "x|dtype|Long")
def _(b):
    return changed(b, x=np.ones((NODES, FEATURES), np.int64))


@case("features: booleans", REFUSED, "x|dtype|Bool")
def _(b):
    return changed(b, x=np.ones((NODES, FEATURES), bool))


@case("features: complex", REFUSED, "x")
def _(b):
    return b.run_npy(b.npy("x.npy", np.ones((NODES, FEATURES), np.complex64)))


@case("features: fewer rows than ids", REFUSED, "edge_index")
def _(b):
    return changed(b, x=b.graph()["x"][:NODES - 6])


@case("edges: float ids", REFUSED, "edge_index")
def _(b):
    return changed(b, edge_index=b.graph()["edge_index"].astype(np.float32))


def bad_id(name, value):
    @case(f"edges: {name}", REFUSED, "edge_index")
    def _(b):
        index = b.graph()["edge_index"]
        index[0, 17] = value
        return changed(b, edge_index=index)


bad_id("negative id", -1)
bad_id("id out of range", NODES)
bad_id("id of 2^40", 1 << 40)
bad_id("id of -2^63", -(1 << 63))


@case("edges: one row per edge", REFUSED, "edge_index")
def _(b):
    return changed(b, edge_index=np.ascontiguousarray(b.graph()["edge_index"].T))


@case("edges: one dimension", REFUSED, "edge_index|index_add")
def _(b):
    return changed(b, edge_index=b.graph()["edge_index"][0])


@case("edges: three rows", {0, 3}, "edge_index")
def _(b):
    data = b.graph()
    b.answer(data)
    return changed(b, edge_index=np.concatenate([data["edge_index"], data["edge_index"][:1]]))


@case("edges: int32 ids", {0, 3}, "edge_index")
def _(b):
    data = b.graph()
    b.answer(data)
    return changed(b, edge_index=data["edge_index"].astype(np.int32))


@case("edges: uint8 ids", {0, 3}, "edge_index")
def _(b):
    data = b.graph()
    b.answer(data)
    return changed(b, edge_index=data["edge_index"].astype(np.uint8))


@case("edges: fewer weights than edges", REFUSED, "edge_weight")
def _(b):
    data = b.weighted_graph()
    return b.run({**data, "edge_weight": data["edge_weight"][:-1]}, weighted=True)


@case("edges: no weights where they are needed", REFUSED, "edge_weight")
def _(b):
    return b.run(b.graph(), weighted=True)


@case("edges: with weights", RIGHT)
def _(b):
    b.answer(b.weighted_graph())
    return b.run(b.weighted_graph(), weighted=True)


# Numbers that are not ------------------------------------------------------------------------------------------------
def spoilt(bench, value):
    data = bench.graph()
    data["x"][3, 2] = value
    bench.answer(data)
    return bench.run(data)


@case("NaN: refused on demand", REFUSED, "x")
def _(b):
    return spoilt(b, np.nan) + ["--nan", "refuse"]


@case("NaN: infinity refused on demand", REFUSED, "x")
def _(b):
    return spoilt(b, np.inf) + ["--nan", "refuse"]


@case("NaN: propagated", RIGHT)
def _(b):
    return spoilt(b, np.nan)


@case("NaN: infinity propagated", RIGHT)
def _(b):
    return spoilt(b, -np.inf) + ["--nan", "propagate"]


# Graphs at the edge --------------------------------------------------------------------------------------------------
def small_graph(name, nodes, edges, codes=RIGHT):
    @case(f"graph: {name}", codes)
    def _(b):
        data = b.graph(nodes, edges)
        b.answer(data)
        return b.run(data)


small_graph("no nodes and no edges", 0, 0, {0, 3})
small_graph("no edges", NODES, 0, {0, 3})
small_graph("one node, one loop", 1, 1)
small_graph("one node, no edge", 1, 0, {0, 3})
small_graph("two nodes, one edge", 2, 1)
small_graph("two nodes, many edges", 2, 400)


@case("graph: edges but no nodes", REFUSED, "edge_index")
def _(b):
    return b.run({"x": np.zeros((0, FEATURES), np.float32), "edge_index": b.graph()["edge_index"]})


@case("graph: the same edge a hundred times", RIGHT)
def _(b):
    data = b.graph()
    data["edge_index"] = np.repeat(data["edge_index"][:, :2], 100, axis=1)
    b.answer(data)
    return b.run(data)
