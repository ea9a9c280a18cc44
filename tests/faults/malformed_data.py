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
@case("data: missing file", REFUSED, "nowhere.safetensors", "no such file")
def _(b):
    return [b.model(), "--data", b.path("nowhere.safetensors")]


@case("data: text file", REFUSED, "graph.safetensors", "is a text file")
def _(b):
    return [b.model(), "--data", b.text_file("graph.safetensors")]


@case("data: empty file", REFUSED, "graph.safetensors", "is empty")
def _(b):
    return [b.model(), "--data", b.write("graph.safetensors", b"")]


@case("data: folder without tensors", REFUSED, "empty", "has no .npy")
def _(b):
    os.mkdir(b.path("empty"))
    return [b.model(), "--data", b.path("empty")]


@case("data: foreign zip", REFUSED, "graph.zip", "is a zip archive")
def _(b):
    with zipfile.ZipFile(b.path("graph.zip"), "w") as z:
        z.writestr("a.txt", "b")
    return [b.model(), "--data", b.path("graph.zip")]


@case("data: npz", REFUSED, "graph.npz", "is a zip archive")
def _(b):
    np.savez(b.path("graph.npz"), **b.graph())
    return [b.model(), "--data", b.path("graph.npz")]


@case("data: pickle", REFUSED, "graph.pkl", "a Python pickle, which is never loaded")
def _(b):
    return [b.model(), "--data", b.write("graph.pkl", pickle.dumps(b.graph()))]


@case("data: HDF5", REFUSED, "graph.h5", "an HDF5 file")
def _(b):
    return [b.model(), "--data", b.write("graph.h5", b"\x89HDF\r\n\x1a\n" + bytes(512))]


@case("data: the model again", REFUSED, "model.pt", "is a zip archive")
def _(b):
    return [b.model(), "--data", b.model()]


@case("data: a FIFO", REFUSED, "pipe.npy", "is a named pipe")
def _(b):
    os.mkfifo(b.path("pipe.npy"))
    return b.run_npy(b.path("pipe.npy"))


@case("data: a FIFO in a folder", REFUSED, "x.npy", "is a named pipe")
def _(b):
    os.mkdir(b.path("graph"))
    os.mkfifo(b.path("graph/x.npy"))
    b.npy("graph/edge_index.npy", b.graph()["edge_index"])
    return [b.model(), "--data", b.path("graph")]


@case("data: name without a file", 2, "'x=' is not a valid data argument")
def _(b):
    return [b.model(), "--data", "x="]


@case("data: one key twice", 2, "'x' is given twice")
def _(b):
    return changed(b) + ["--data", "x=" + b.npy("x.npy", b.graph()["x"])]


@case("data: in two files", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return [b.model(), "--data", b.safetensors({"x": data["x"]}), "--data",
            b.safetensors({"edge_index": data["edge_index"]}, name="edges.safetensors")]


# .safetensors --------------------------------------------------------------------------------------------------------
@case("safetensors: truncated", REFUSED, "graph.safetensors", "but the data of the file end at 1256")
def _(b):
    return b.run(b.graph(), cut=100)


@case("safetensors: bytes too many", REFUSED, "graph.safetensors", "bytes that belong to no tensor: 8")
def _(b):
    return b.run(b.graph(), body=bytes(8))


@case("safetensors: header of 2^60 bytes", REFUSED, "graph.safetensors", "more than the limit of 100000000")
def _(b):
    return b.run(b.graph(), size=1 << 60)


@case("safetensors: header longer than the file", REFUSED, "graph.safetensors",
      "the header length is 1048576, but the file ends")
def _(b):
    return b.run(b.graph(), size=1 << 20)


@case("safetensors: header of zero bytes", REFUSED, "graph.safetensors", "unexpected end of text")
def _(b):
    return b.run(b.graph(), size=0)


@case("safetensors: header is not JSON", REFUSED, "graph.safetensors", "unexpected text")
def _(b):
    return b.run(b.graph(), header=b"{'x': [1, 2")


@case("safetensors: header nests too deep", REFUSED, "graph.safetensors", "nesting is deeper than 8")
def _(b):
    return b.run(b.graph(), header=b'{"x":' * 100000 + b"1" + b"}" * 100000)


@case("safetensors: one key twice", REFUSED, "the key 'x' is repeated")
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


lying_header("tensors overlap", lambda h: h["edge_index"].update(data_offsets=[8, 8 + 16 * EDGES]),
             "overlapping the data before it")
lying_header("offsets beyond the file", lambda h: h["x"].update(data_offsets=[1 << 40, (1 << 40) + 380]),
             "leaving a gap after the data before it")
lying_header("offsets backwards", lambda h: h["x"].update(data_offsets=[380, 0]),
             "spans [380, 0)")
lying_header("shape larger than the bytes", lambda h: h["x"].update(shape=[NODES + 1, FEATURES]),
             "dtype and shape need this number of bytes: 400")
lying_header("shape that overflows", lambda h: h["x"].update(shape=[1 << 62, 1 << 62]),
             "exceeds 64-bit sizes")
lying_header("negative shape", lambda h: h["x"].update(shape=[-NODES, -FEATURES]),
             "has a negative extent")
lying_header("unknown dtype", lambda h: h["x"].update(dtype="Q4_K"),
             "'Q4_K', which is not supported")
lying_header("dtype missing", lambda h: h["x"].pop("dtype"),
             "/x/dtype is missing")
lying_header("shape is text", lambda h: h["x"].update(shape="19x5"),
             "must be an array, but is of kind string")


@case("safetensors: with metadata", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run(data, header={"__metadata__": {"made by": "a test"}, **header_of(data)})


# .npy ----------------------------------------------------------------------------------------------------------------
@case("npy: truncated", REFUSED, "x.npy", "needs this number of bytes: 380, but 370 follow")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    os.truncate(path, os.path.getsize(path) - 10)
    return b.run_npy(path)


@case("npy: truncated header", REFUSED, "x.npy", "but the file ends at byte 20")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    os.truncate(path, 20)
    return b.run_npy(path)


@case("npy: object dtype", REFUSED, "x.npy", "holds Python objects")
def _(b):
    array = np.empty((NODES, FEATURES), object)
    array[:] = 1.5
    return b.run_npy(b.npy("x.npy", array))


@case("npy: structured dtype", REFUSED, "x.npy", "a structured dtype is not supported")
def _(b):
    return b.run_npy(b.npy("x.npy", np.zeros(NODES, [("a", "f4"), ("b", "f4")])))


@case("npy: text dtype", REFUSED, "x.npy", "holds strings, not numbers")
def _(b):
    return b.run_npy(b.npy("x.npy", np.full((NODES, FEATURES), "abc")))


def npy_header(name, header, *names):
    @case(f"npy: {name}", REFUSED, *names)
    def _(b):
        return b.run_npy(b.npy("x.npy", b.graph()["x"], header=header))


npy_header("header claims too many rows", "{'descr': '<f4', 'fortran_order': False, 'shape': (900, 5), }", "x.npy",
           "needs this number of bytes: 18000, but 380 follow")
npy_header("header claims too many bytes", f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 61}, 8), }}",
           "x.npy", "the array exceeds 64-bit sizes")
npy_header("negative shape", "{'descr': '<f4', 'fortran_order': False, 'shape': (-19, 5), }", "x.npy",
           "an extent is negative: -19")
npy_header("header is garbage", "{'descr': open('/etc/passwd'), 'shape': 1", "x.npy",
           "the dtype must be a quoted string")
npy_header("header without a shape", "{'descr': '<f4', 'fortran_order': False, }", "x.npy",
           "the header does not contain the field 'shape'")


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


@case("npy: format version 9", REFUSED, "x.npy", "format version 9.0 is not known")
def _(b):
    path = b.npy("x.npy", b.graph()["x"])
    with open(path, "r+b") as file:
        file.seek(6)
        file.write(b"\x09")
    return b.run_npy(path)


# What does not fit the model -----------------------------------------------------------------------------------------
@case("keys: no x", REFUSED, "forward needs 'x'")
def _(b):
    return b.run({"edge_index": b.graph()["edge_index"]})


@case("keys: no edge_index", REFUSED, "forward needs 'edge_index'")
def _(b):
    return b.run({"x": b.graph()["x"]})


@case("keys: a near miss", REFUSED, "did you mean 'edge_indx'")
def _(b):
    data = b.graph()
    return b.run({"x": data["x"], "edge_indx": data["edge_index"]})


@case("keys: a near miss besides the right one", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
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


@case("keys: a name of a megabyte", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return b.run({**data, "z" * 1_000_000: np.ones(NODES, np.int64)})


@case("features: wrong width", REFUSED, "cannot be multiplied (19x7 and 5x8)")
def _(b):
    return changed(b, x=np.zeros((NODES, FEATURES + 2), np.float32))


@case("features: no width", REFUSED, "cannot be multiplied (19x0 and 5x8)")
def _(b):
    return changed(b, x=np.zeros((NODES, 0), np.float32))


@case("features: one dimension", REFUSED, "cannot be multiplied (1x19 and 5x8)")
def _(b):
    return changed(b, x=np.zeros(NODES, np.float32))


@case("features: float64", REFUSED, "got Double and Float")
def _(b):
    return changed(b, x=b.graph()["x"].astype(np.float64))


@case("features: float16", REFUSED, "got Half and Float")
def _(b):
    return changed(b, x=b.graph()["x"].astype(np.float16))


@case("features: integers", REFUSED, "got Long and Float")
def _(b):
    return changed(b, x=np.ones((NODES, FEATURES), np.int64))


@case("features: booleans", REFUSED, "got Bool and Float")
def _(b):
    return changed(b, x=np.ones((NODES, FEATURES), bool))


@case("features: complex", REFUSED, "got ComplexFloat and Float")
def _(b):
    return b.run_npy(b.npy("x.npy", np.ones((NODES, FEATURES), np.complex64)))


@case("features: fewer rows than ids", REFUSED, 'but "node" has 13 rows')
def _(b):
    return changed(b, x=b.graph()["x"][:NODES - 6])


@case("edges: float ids", REFUSED, "edge_index", "an edge index is an integer")
def _(b):
    return changed(b, edge_index=b.graph()["edge_index"].astype(np.float32))


def bad_id(name, value, says):
    @case(f"edges: {name}", REFUSED, "edge_index[0, 17] " + says)
    def _(b):
        index = b.graph()["edge_index"]
        index[0, 17] = value
        return changed(b, edge_index=index)


bad_id("negative id", -1, "is -1, but row numbers cannot be negative")
bad_id("id out of range", NODES, "is 19, but")
bad_id("id of 2^40", 1 << 40, "is 1099511627776, but")
bad_id("id of -2^63", -(1 << 63), "is -9223372036854775808, but row numbers cannot be negative")


@case("edges: one row per edge", REFUSED, "edge_index", "transpose it")
def _(b):
    return changed(b, edge_index=np.ascontiguousarray(b.graph()["edge_index"].T))


@case("edges: one dimension", REFUSED, "Number of indices (1) should be equal")
def _(b):
    return changed(b, edge_index=b.graph()["edge_index"][0])


@case("edges: three rows", REFUSED, "edge_index is int64 [3, 61], but an edge index is an integer [2, E]")
def _(b):
    data = b.graph()
    return changed(b, edge_index=np.concatenate([data["edge_index"], data["edge_index"][:1]]))


@case("edges: int32 ids", RIGHT)
def _(b):
    data = b.graph()
    b.answer(data)
    return changed(b, edge_index=data["edge_index"].astype(np.int32))


# To PyTorch they are masks.
@case("edges: uint8 ids", REFUSED, "The shape of the mask [61]")
def _(b):
    return changed(b, edge_index=b.graph()["edge_index"].astype(np.uint8))


@case("edges: fewer weights than edges", REFUSED, "the number of rows of edge_weight is 60, but edge_index has 61 edges")
def _(b):
    data = b.weighted_graph()
    return b.run({**data, "edge_weight": data["edge_weight"][:-1]}, weighted=True)


@case("edges: no weights where they are needed", REFUSED, "forward needs 'edge_weight'")
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


@case("NaN: refused on demand", REFUSED, "x", "holds 1 NaN or infinite number")
def _(b):
    return spoilt(b, np.nan) + ["--nan", "refuse"]


@case("NaN: infinity refused on demand", REFUSED, "x", "holds 1 NaN or infinite number")
def _(b):
    return spoilt(b, np.inf) + ["--nan", "refuse"]


@case("NaN: propagated", RIGHT)
def _(b):
    return spoilt(b, np.nan)


@case("NaN: infinity propagated", RIGHT)
def _(b):
    return spoilt(b, -np.inf) + ["--nan", "propagate"]


# Graphs at the edge --------------------------------------------------------------------------------------------------
def small_graph(name, nodes, edges):
    @case(f"graph: {name}", RIGHT)
    def _(b):
        data = b.graph(nodes, edges)
        b.answer(data)
        return b.run(data)


small_graph("no nodes and no edges", 0, 0)
small_graph("no edges", NODES, 0)
small_graph("one node, one loop", 1, 1)
small_graph("one node, no edge", 1, 0)
small_graph("two nodes, one edge", 2, 1)
small_graph("two nodes, many edges", 2, 400)


@case("graph: edges but no nodes", REFUSED, "edge_index", "has 0 rows (invalid: 61 of 61 numbers)")
def _(b):
    return b.run({"x": np.zeros((0, FEATURES), np.float32), "edge_index": b.graph()["edge_index"]})


@case("graph: two loops at every node", RIGHT)
def _(b):
    data = b.graph()
    loops = np.repeat(np.arange(NODES), 2)
    data["edge_index"] = np.concatenate([data["edge_index"], np.stack([loops, loops])], axis=1)
    b.answer(data)
    return b.run(data)


@case("graph: the same edge a hundred times", RIGHT)
def _(b):
    data = b.graph()
    data["edge_index"] = np.repeat(data["edge_index"][:, :2], 100, axis=1)
    b.answer(data)
    return b.run(data)
