"""numpy and safetensors write files that graph_dump must read alike, and read back the files that it writes."""

import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

DUMP = sys.argv[1]
RANDOM = np.random.default_rng(11)
DTYPES = ["bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (7,), (0,), (3, 4), (4, 1, 5), (0, 3), (3, 0), (2, 3, 2, 2)]
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def dump(*arguments):
    done = subprocess.run([DUMP, *arguments], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0, f"{arguments} exits with {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout) if done.returncode == 0 else {}


def sample(dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = RANDOM.integers(0, 2 if dtype == "bool" else 256, size, dtype=np.uint8).tobytes()
    return np.frombuffer(raw, dtype).reshape(shape)


def matches(record, array, what):
    check(record.get("dtype") == array.dtype.newbyteorder("=").name, f"{what}: dtype {record.get('dtype')}")
    check(record.get("shape") == list(array.shape), f"{what}: shape {record.get('shape')}")
    native = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    check(record.get("data") == native.tobytes().hex(), f"{what}: elements")


def write_npy(path, array, version):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def npy_files(folder):
    """Every dtype, shape, byte order, memory order and version that numpy writes, read in one go."""
    arrays = {}
    for dtype in DTYPES:
        for shape in SHAPES:
            for order in "CF":
                for endian in "<>":
                    version = [(1, 0), (2, 0), (3, 0)][len(arrays) % 3]
                    array = np.array(sample(dtype, shape).astype(np.dtype(dtype).newbyteorder(endian)), order=order)
                    key = f"a{len(arrays)}"
                    arrays[key] = (array, f"npy {dtype}{endian} {shape} {order} {version}")
                    write_npy(os.path.join(folder, key + ".npy"), array, version)
    seen = dump("read", folder)
    check(sorted(seen) == sorted(arrays), "keys of a folder")
    for key, (array, what) in arrays.items():
        matches(seen.get(key, {}), array, what)
    return arrays


def refused_by_numpy_types(folder):
    """What numpy writes but tensors cannot hold is refused by name."""
    cases = {"object": (np.array([{"a": 1}, None], dtype=object), "Python objects"),
             "text": (np.array(["ab", "c"]), "strings"),
             "bytes": (np.array([b"ab"]), "strings"),
             "date": (np.array(["2020-01-01"], dtype="datetime64[D]"), "dates"),
             "record": (np.zeros(2, dtype=[("a", "<f4"), ("b", "<i8")]), "structured"),
             "long": (np.zeros(2, dtype=np.longdouble), "not a supported element type")}
    for name, (array, expected) in cases.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, array, allow_pickle=True)
        error = dump("read", f"x={path}").get("error", {})
        check(error.get("code") == "input", f"{name}: code {error}")
        check(expected in error.get("message", "") and path in error.get("message", ""), f"{name}: {error}")


def other_formats(folder):
    archive, text = os.path.join(folder, "a.npz"), os.path.join(folder, "a.txt")
    np.savez(archive, x=np.zeros(3))
    np.savetxt(text, np.zeros((3, 2)))
    check("zip archive" in dump("read", archive).get("error", {}).get("message", ""), "npz")
    check("text file" in dump("read", text).get("error", {}).get("message", ""), "savetxt")


def safetensors_files(folder):
    source = {f"{d}{list(s)}": sample(d, s).copy() for d in DTYPES if d != "complex128" for s in SHAPES}
    path, copy = os.path.join(folder, "s.safetensors"), os.path.join(folder, "copy.safetensors")
    save_file(source, path, metadata={"made": "by safetensors"})
    seen = dump("read", path)
    check(sorted(seen) == sorted(source), "keys of a .safetensors file")
    for name, array in source.items():
        matches(seen.get(name, {}), array, "safetensors " + name)
    check(dump("safetensors", path, copy) == {}, "copying a .safetensors file")
    again = load_file(copy)
    check(sorted(again) == sorted(source), "keys of a copied .safetensors file")
    for name, array in source.items():
        check(again[name].dtype == array.dtype and again[name].shape == array.shape, f"copied {name}: type")
        check(again[name].tobytes() == array.tobytes(), f"copied {name}: elements")


def bfloat16(folder):
    """The safetensors library itself, below numpy, which has no bfloat16."""
    path, copy = os.path.join(folder, "b.safetensors"), os.path.join(folder, "bcopy.safetensors")
    raw = bytes(range(12))
    header = json.dumps({"h": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + raw)
    record = dump("read", path).get("h", {})
    expected = {"dtype": "bfloat16", "shape": [2, 3], "contiguous": True, "data": raw.hex()}
    check(record == expected, f"bfloat16: {record}")
    dump("safetensors", path, copy)
    with open(copy, "rb") as file:
        [(name, tensor)] = safetensors.deserialize(file.read())
    copied = (name, tensor["dtype"], list(tensor["shape"]), bytes(tensor["data"]))
    check(copied == ("h", "BF16", [2, 3], raw), "bfloat16 copy")


def npy_writer(folder, out, arrays):
    dump("npy", folder, out)
    for key, (array, what) in arrays.items():
        again = np.load(os.path.join(out, key + ".npy"), allow_pickle=False)
        check(again.shape == array.shape and again.dtype == array.dtype.newbyteorder("<"), f"written {what}: type")
        check(again.tobytes() == np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes(),
              f"written {what}: elements")
        check(again.flags.c_contiguous, f"written {what}: order")


def agree_on_damage(folder):
    """What safetensors refuses must be refused here too, for random damage to a header."""
    good_path, path = os.path.join(folder, "g.safetensors"), os.path.join(folder, "d.safetensors")
    save_file({"a": sample("float32", (3,)).copy(), "b": sample("int64", (2, 2)).copy()}, good_path)
    with open(good_path, "rb") as file:
        good = file.read()
    for _ in range(150):
        damaged = bytearray(good)
        damaged[int(RANDOM.integers(0, len(good) - 44))] ^= int(RANDOM.choice([1, 2, 4, 16, 32]))
        with open(path, "wb") as file:
            file.write(damaged)
        try:
            theirs = {n: bytes(t["data"]) for n, t in safetensors.deserialize(bytes(damaged))}
        except Exception:  # the library's error type varies with its version
            theirs = None
        ours = dump("read", path)
        if theirs is None:
            check("error" in ours, f"accepted what safetensors refuses: {bytes(damaged)!r}")
        elif "error" not in ours:
            check({n: r["data"] for n, r in ours.items()} == {n: d.hex() for n, d in theirs.items()},
                  f"read differently: {bytes(damaged)!r}")


def main():
    with tempfile.TemporaryDirectory() as root:
        folders = {}
        for name in ["npy", "out", "bad", "other", "safe"]:
            folders[name] = os.path.join(root, name)
            os.mkdir(folders[name])
        arrays = npy_files(folders["npy"])
        npy_writer(folders["npy"], folders["out"], arrays)
        refused_by_numpy_types(folders["bad"])
        other_formats(folders["other"])
        safetensors_files(folders["safe"])
        bfloat16(folders["safe"])
        agree_on_damage(folders["safe"])
    print(f"{len(failures)} failures, {len(arrays)} arrays")
    sys.exit(1 if failures else 0)


main()
