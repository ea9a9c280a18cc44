"""Every refusal of roles, inputs, archives, data files, plans and exports: its sentence, what the hint says to do, and that
doing so works. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import concurrent.futures
import itertools
import json
import multiprocessing
import os
import runpy
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from engine_process import ENGINE, own_folder, run
from refused_models import (EDGES, FEATURES, NODES, Amplifying, Columns, Compressed, DenseWeight, Extra, Graphs, Layers, Merged, Number,
                            Pair, Plain, Sparse, SparseWeight, Table, Text, Two, Weighted)
from tiers import one_in

SAMPLES = Path(os.environ["HOPSCOPE_ROOT"]) / "samples"
os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)  # a fork would have no threads of a pool
RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal((NODES, FEATURES)).astype(np.float32)
INDEX = RANDOM.integers(0, NODES, (2, EDGES)).astype(np.int64)
WEIGHT = RANDOM.random(EDGES).astype(np.float32)
BATCH = np.sort(RANDOM.integers(0, 3, NODES)).astype(np.int64)
GRAPH = {"x": X, "edge_index": INDEX}
MATRIX = torch.sparse_coo_tensor(torch.from_numpy(INDEX), torch.from_numpy(WEIGHT), (NODES, NODES)).coalesce()
ROWS = MATRIX.to_sparse_csr()
COO = {"x": X, "adj.coo_indices": MATRIX.indices().numpy(), "adj.coo_values": MATRIX.values().numpy(),
       "adj.coo_size": np.array([NODES, NODES])}
CSR = {"x": X, "adj.csr_crow": ROWS.crow_indices().numpy(), "adj.csr_col": ROWS.col_indices().numpy(),
       "adj.csr_values": ROWS.values().numpy(), "adj.csr_size": np.array([NODES, NODES])}


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


def as_a_program(words, errors):
    os.dup2(errors, sys.stderr.fileno())
    sys.argv = words
    runpy.run_path(words[0], run_name="__main__")


def roles(*words):
    return [part for word in words for part in ("--role", word)]


# Case: model, data, options | exit code, its sentence, its hint | data and options by the hint; None where there is
# nothing to run: the hint asks for another input.
INPUTS = {
    "role without a kind": (Plain, GRAPH, roles("x"), 2, "--role x is not a role", "write NAME=node:T, index:S>T",
                            (GRAPH, roles("x=node:T", "edge_index=index:T>T"))),
    "role of an unknown input": (Plain, GRAPH, roles("y=node"), 3, "--role names y, which is neither an input nor",
                                 "the inputs are edge_index, x", (GRAPH, roles("x=node"))),
    "one table of two sizes": (Two, {**GRAPH, "pos": np.ones((23, 3), np.float32)}, roles("x=node:t", "pos=node:t"), 3,
                               "x has 19 rows and pos has 23, but both hold rows of \"t\"",
                               "name another table for one of them: --role x=node:T",
                               ({**GRAPH, "pos": np.ones((23, 3), np.float32)}, roles("x=node:T", "pos=node:t"))),
    "too few weights": (Weighted, {**GRAPH, "edge_weight": WEIGHT[:-1]}, [], 3, "the number of rows of edge_weight is 60, but edge_index has 61",
                        "give it a row for each edge, or say --role edge_weight=plain",
                        ({**GRAPH, "edge_weight": WEIGHT[:-1]}, roles("edge_weight=plain"))),
    "too few rows for edges": (Extra, {**GRAPH, "other": WEIGHT[:1]}, roles("other=edge"), 3,
                               "the number of rows of other is 1, but edge_index has 61 edges", "give it a row for each edge",
                               ({**GRAPH, "other": WEIGHT}, roles("other=edge"))),
    "edges of an unknown index": (Weighted, {**GRAPH, "edge_weight": WEIGHT}, roles("edge_weight=edge:friends"), 3,
                                  "--role edge_weight=edge:friends does not name an edge index",
                                  "name one of these edge indices: edge_index",
                                  ({**GRAPH, "edge_weight": WEIGHT}, roles("edge_weight=edge:edge_index"))),
    "edges of no index": (Columns, {"x": X, "a": np.zeros(33, np.int64), "b": np.zeros(44, np.int64)}, roles("a=edge"), 3,
                          "--role a=edge: the data has no edge index", "declare the input with the edges", None),
    "a float index": (Plain, {**GRAPH, "edge_index": INDEX.astype(np.float32)}, [], 3, "edge_index is float32 [2, 61]",
                      "store it as int64", (GRAPH, [])),
    "pairs": (Plain, {**GRAPH, "edge_index": INDEX.T}, [], 3, "edge_index is int64 [61, 2]", "transpose it", (GRAPH, [])),
    "an index of three rows": (Plain, {**GRAPH, "edge_index": np.concatenate([INDEX, INDEX[:1]])}, [], 3,
                               "edge_index is int64 [3, 61], but an edge index is an integer [2, E]",
                               "give it two rows: the sources of the edges, and their destinations", (GRAPH, [])),
    "one end as an index": (Columns, {"x": X, "a": INDEX[0], "b": INDEX[1]}, roles("a=index"), 3,
                            "a is int64 [61], but an edge index is an integer [2, E]",
                            "declare both ends: --role NAME=source and --role NAME=destination",
                            ({"x": X, "a": INDEX[0], "b": INDEX[1]}, roles("a=source", "b=destination"))),
    "one end alone": (Columns, {"x": X, "a": INDEX[0], "b": INDEX[1]}, roles("a=source"), 3,
                      "--role a is one end of each edge, which needs an input with the same number of edges for the other end",
                      "give both --role NAME=source and --role NAME=destination",
                      ({"x": X, "a": INDEX[0], "b": INDEX[1]}, roles("a=source", "b=destination"))),
    "a negative node": (Plain, {**GRAPH, "edge_index": changed(INDEX, (0, 3), -1)}, [], 3,
                        "edge_index[0, 3] is -1, but row numbers cannot be negative", "remove these edges",
                        ({**GRAPH, "edge_index": np.delete(INDEX, 3, 1)}, [])),
    "a node too many": (Plain, {**GRAPH, "edge_index": changed(changed(INDEX, (1, 3), NODES), (0, 0), 0)}, [], 3,
                        'edge_index[1, 3] is 19, but "node" has 19 rows',
                        "if the input points into another table, use --role edge_index=index:S>T", None),
    "numbers from 1": (Plain, {**GRAPH, "edge_index": np.clip(INDEX, 0, NODES - 1) + 1}, [], 3, 'but "node" has 19 rows',
                       "its numbers start at 1, but rows are counted from 0: subtract 1", (GRAPH, [])),
    "a key of floats": (Graphs, {**GRAPH, "batch": BATCH.astype(np.float32)}, roles("batch=key:node>graph"), 3,
                        "--role batch=key needs one integer per row of a node table, but the input is float32 [19]",
                        "the only node table is node (number of rows: 19)", ({**GRAPH, "batch": BATCH}, roles("batch=key:node>graph"))),
    "a key and no node table": (Plain, GRAPH, roles("x=key", "edge_index=plain"), 3, "--role x=key needs one integer per row of a node table",
                                "no input is a node table: declare one with --role NAME=node", (GRAPH, roles("x=node"))),
    "a table of too large numbers": (Extra, {**GRAPH, "other": np.full((NODES, 4), 90)}, roles("other=key"), 3,
                                     "but the input is int64 [19, 4] with numbers up to 90", "the only node table is node (number of rows: 19)",
                                     ({**GRAPH, "other": np.full((NODES, 4), NODES - 1)}, roles("other=key"))),
    "a graph below 0": (Graphs, {**GRAPH, "batch": changed(BATCH, 4, -2)}, [], 3, "batch[4] is -2", "number them from 0",
                        ({**GRAPH, "batch": BATCH}, [])),
    "nodes called as edges are": (Plain, GRAPH, roles("x=node:edge_index"), 3, 'two tables are called "edge_index"',
                                  "give the nodes another name: --role NAME=node:T", (GRAPH, roles("x=node:T"))),
    "a parameter of an unknown table": (Table, GRAPH, roles("table=node:user"), 3, "--role table=node:user does not name a",
                                        "name one of these tables: node, edge_index", (GRAPH, roles("table=node:node"))),
    "a parameter of row numbers": (Table, GRAPH, roles("table=key"), 3, "--role table: a parameter holds rows, not row numbers",
                                   "say table=node:T, edge:R, graph or plain", (GRAPH, roles("table=node:node"))),
    "a parameter of fewer rows": (Table, {**GRAPH, "x": np.ones((23, FEATURES), np.float32)}, roles("table=node:node"), 3,
                                  '--role table=node:node: the number of rows of table is 19, but that of "node" is 23',
                                  "give the data that the model was made for: no table has as many rows",
                                  (GRAPH, roles("table=node:node"))),
    "a parameter of another table": (Table, GRAPH, roles("table=edge:edge_index"), 3,
                                     'the number of rows of table is 19, but that of "edge_index" is 61',
                                     "say --role table=node:node", (GRAPH, roles("table=node:node"))),
    "a graph too few": (Graphs, {**GRAPH, "batch": BATCH[:-1]}, [], 3, "Number of indices (18) should be equal to",
                        "batch has 18 numbers, but no table has as many rows (edge_index 61, node 19): give one for each row",
                        ({**GRAPH, "batch": BATCH}, [])),
    "a dense matrix": (Sparse, {"x": X, "adj": MATRIX.to_dense().numpy()}, [], 4,
                       "adj is a dense matrix with a number for each pair of rows of node",
                       "NAME.coo_indices, NAME.coo_values and NAME.coo_size of a.to_sparse().coalesce()", (COO, [])),
    "a dense matrix to coalesce": (Merged, {"x": X, "adj": MATRIX.to_dense().numpy()}, [], 3, "but got Strided",
                                   "give the matrix by its parts: NAME.coo_indices", (COO, [])),
    "a dense matrix to take apart": (Compressed, {"x": X, "adj": MATRIX.to_dense().numpy()}, [], 3, "but got Strided",
                                     "give the matrix by its parts: NAME.csr_crow", (CSR, [])),
    "a matrix without a size": (Sparse, {k: v for k, v in COO.items() if "size" not in k}, [], 3, "'adj' is incomplete",
                                "give adj.coo_indices, .coo_values and .coo_size", (COO, [])),
    "a matrix of short indices": (Sparse, {**COO, "adj.coo_indices": COO["adj.coo_indices"].astype(np.int32)}, [], 3,
                                  "'adj' needs int64 indices [2, E], and two sizes",
                                  "a.coalesce().indices(), a.coalesce().values(), a.size()", (COO, [])),
    "a matrix without a value": (Sparse, {**COO, "adj.coo_values": COO["adj.coo_values"][:-1]}, [], 3,
                                 "adj", "", (COO, [])),
    "compressed rows that end early": (Sparse, {**CSR, "adj.csr_crow": changed(CSR["adj.csr_crow"], -1, 3)}, [], 3,
                                       "the parts of the sparse input 'adj' do not fit together", "from one sparse PyTorch tensor",
                                       (CSR, [])),
    "compressed rows that descend": (Sparse, {**CSR, "adj.csr_crow": changed(CSR["adj.csr_crow"], 7, 60)}, [], 3,
                                     "the parts of the sparse input 'adj' do not fit together", "from one sparse PyTorch tensor",
                                     (CSR, [])),
    "compressed rows of one size": (Sparse, {**CSR, "adj.csr_size": np.array([NODES])}, [], 3, "'adj.csr_size' needs two sizes",
                                    "give the numbers of rows and of columns", (CSR, [])),
    "two numbers for one": (Number, {**GRAPH, "k": np.array([1, 2])}, [], 3,
                            "'k' has 2 numbers, but forward takes a single one (int)", "give one number",
                            ({**GRAPH, "k": np.array(1)}, [])),
    "a float for an integer": (Number, {**GRAPH, "k": np.float32(1.5)}, [], 3, "'k' is Float, but forward takes an integer",
                               "store it as int64", ({**GRAPH, "k": np.array(1)}, [])),
    "a text": (Text, GRAPH, [], 4, "forward takes 'mode' as str, which cannot be made from a tensor",
               "wrap the model in a module whose forward takes tensors", None),
    "a tensor for a tuple": (Pair, GRAPH, [], 4, "forward takes 'x' as (Tensor, Tensor)",
                             "name its elements in the data: x.0, x.1", ({"x.0": X, "x.1": X[:, :2], "edge_index": INDEX}, [])),
    "half a tuple": (Pair, {"x.0": X, "edge_index": INDEX}, [], 3, "missing data key 'x.1'", "forward takes 'x' as a tuple of 2",
                     ({"x.0": X, "x.1": X[:, :2], "edge_index": INDEX}, [])),
    "a tensor for a list": (Layers, {"x": X, "edges": INDEX}, [], 4, "forward takes 'edges' as Tensor[]",
                            "name its elements in the data: edges.0, edges.1",
                            ({"x": X, "edges.0": INDEX, "edges.1": INDEX}, [])),
    "a list that begins with 1": (Layers, {"x": X, "edges.1": INDEX}, [], 3, "forward needs 'edges' (Tensor[])",
                                  "the keys of its elements are edges.0, edges.1 and so on; add it to the data", ({"x": X, "edges.0": INDEX}, [])),
    "features of another width": (Plain, {**GRAPH, "x": np.ones((NODES, 7), np.float32)}, [], 3,
                                  "cannot be multiplied (19x7 and 5x8) (aten::linear in inp",
                                  "the weights expect a different number of columns", (GRAPH, [])),
    "features of another type": (Plain, {**GRAPH, "x": X.astype(np.float16)}, [], 3, "have the same dtype",
                                 "convert the inputs to the type of the weights, for instance x to float32", (GRAPH, [])),
    "no edges": (Plain, {"x": X}, [], 3, "forward needs 'edge_index' (Tensor), which is missing from the data",
                 "add it to the data; given: x", (GRAPH, [])),
    "an index that is a mask": (Plain, {**GRAPH, "edge_index": INDEX.astype(np.uint8)}, [], 3, "The shape of the mask [61]",
                                "uint8 and bool numbers are a mask: store row numbers as int64", (GRAPH, [])),
}


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.folder = own_folder(cls)
        cls.models = {}

    def path(self, name):
        return str(self.folder / name)

    def model(self, kind):
        if kind not in self.models:
            torch.jit.script(kind().eval()).save(self.path(f"{kind.__name__}.pt"))
            self.models[kind] = self.path(f"{kind.__name__}.pt")
        return self.models[kind]

    def data(self, name, tensors):
        path = self.path(f"{name}.safetensors")
        save_file({key: np.ascontiguousarray(tensor) for key, tensor in tensors.items()}, path)
        return path

    def engine(self, *arguments):
        return run([ENGINE, *arguments, "--quiet"], capture_output=True, text=True, errors="replace", timeout=120)

    def refused(self, code, sentence, hint, *arguments):
        done = self.engine(*arguments)
        lines = done.stderr.strip().splitlines()
        self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr)
        self.assertIn(sentence, lines[0])
        self.assertIn(hint, lines[0].partition(sentence)[2])
        return lines[0]

    def accepted(self, *arguments):
        done = self.engine(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def run_input(self, number, case, follow):
        """`follow`: also follows the hint."""
        kind, data, options, code, sentence, hint, way = case
        with self.subTest(sentence):
            model, out = self.model(kind), self.path(f"out{number}")
            run = ["run", model, "--data", self.data(f"bad{number}", data), *options, "-o", out, "--verify", "none"]
            self.refused(code, sentence, hint, *run)
            if way is not None and follow:
                self.accepted("run", model, "--data", self.data(f"good{number}", way[0]), *way[1], "-o", out, "--verify", "none")

    def test_inputs_and_roles(self):
        for case in INPUTS.values():
            self.model(case[0])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            followed = one_in(3, INPUTS)
            for done in [pool.submit(self.run_input, i, case, name in followed) for i, (name, case) in enumerate(INPUTS.items())]:
                done.result()

    # ---- files

    def test_archives(self):
        whole = Path(self.model(Plain)).read_bytes()
        data, broken = self.data("graph", GRAPH), Path(self.path("broken.pt"))
        state = self.path("state.pt")
        torch.save(Plain().state_dict(), state)
        for content, code, sentence, hint in (
                (whole[:-40], 3, "the zip directory at the end is missing", "copy or export it again"),
                (whole[:4], 3, "too short for a zip archive", "copy or export it again"),
                (b"", 3, "is empty, not a TorchScript archive", 'save the model in Python with hopscope.save(model, data, "model.pt")'),
                (Path(state).read_bytes(), 3, "was saved by torch.save", "build the model in Python, load these weights into it, and save it")):
            broken.write_bytes(content)
            with self.subTest(sentence):
                self.refused(code, sentence, hint, "inspect", str(broken), "--data", data)
        other = Path(self.path("net.onnx"))
        other.write_bytes(b"\x08\x07\x12\x07pytorch" + bytes(200))
        self.refused(3, "net.onnx is an ONNX model, not a TorchScript archive", "hopscope.save(model", "inspect", str(other), "--data", data)
        self.refused(3, f"cannot read {other.parent}: it is a folder", "check the path", "inspect", str(other.parent), "--data", data)
        self.refused(3, "no such file: nowhere.npy", "check the path", "inspect", self.model(Plain), "--data", "x=nowhere.npy")
        weight = next(i for i in range(len(whole)) if whole[i:i + 2] == b"FB") + 200
        broken.write_bytes(whole[:weight] + bytes([whole[weight] ^ 1]) + whole[weight + 1:])
        self.refused(3, "wrong checksum", "copy or export it again", "inspect", str(broken), "--data", data)
        self.accepted("inspect", self.model(Plain), "--data", data)

    def test_data_files(self):
        model, graph = self.model(Plain), Path(self.data("whole", GRAPH)).read_bytes()
        cut, x = Path(self.path("cut.safetensors")), Path(self.path("x.npy"))
        cut.write_bytes(graph[:-100])
        self.refused(3, "but the data of the file end at", "the file is damaged or cut short: write it again", "inspect", model, "--data", str(cut))
        index = self.path("edge_index.npy")
        np.save(index, INDEX)
        files = ["--data", f"x={x}", "--data", f"edge_index={index}"]
        for array, sentence, hint in ((np.full((NODES, FEATURES), "abc"), "holds strings, not numbers", "array.astype(numpy.float32)"),
                                      (X.astype(object), "holds Python objects", "array.astype(numpy.float32)")):
            np.save(x, array, allow_pickle=True)
            self.refused(3, sentence, hint, "inspect", model, *files)
        np.save(x, X)
        x.write_bytes(x.read_bytes()[:-10])
        self.refused(3, "needs this number of bytes: 380, but 370 follow", "write it again with numpy.save", "inspect", model, *files)
        np.save(x, X.astype(object).astype(np.float32))
        self.accepted("inspect", model, *files)

    # ---- plans

    def pins(self, *pins):
        path = self.path("pins.json")
        Path(path).write_text(json.dumps({"pins": pins}))
        return ["--pins", path]

    def test_plans(self):
        plan = ["plan", str(SAMPLES / "digits/jknet.pt"), "--data", str(SAMPLES / "digits/graph.safetensors")]
        inspect = json.loads(self.accepted("inspect", *plan[1:], "--json").stdout)
        label = {value["label"]: value["id"] for value in inspect["values"]}
        relu, gather, row = (label[name] for name in ("relu after convs.0", "convs.1 gather source", "convs.1 product"))
        self.refused(3, "'op19', which is not a value of this model", "inspect --json lists the ids and labels", *plan,
                     *self.pins(["checkpoint", "op19"]))
        self.accepted(*plan, *self.pins(["checkpoint", "relu after convs.0"]))
        self.refused(4, "the model needs at least 3 stages", "--stages 3", *plan, "--stages", "2")
        self.accepted(*plan, "--stages", "3")
        said = self.refused(4, "no plan fits the host memory limit of 1000 B", "raise it to at least", *plan, "--host-memory", "1K")
        self.accepted(*plan, "--host-memory", said.rpartition("--host-memory ")[2].strip(")"))
        hops = ["hop_stage", label["convs.1 sum aggregation (2)"], 2]
        self.refused(4, "'convs.1 gather source' cannot be stored", "store the values that it is computed from", *plan,
                     *self.pins(["checkpoint", gather], hops))
        self.accepted(*plan, *self.pins(["checkpoint", row], hops))
        never = [["no_checkpoint", label[name]] for name in (
            "convs.0 output", "convs.0 product (2)", "convs.0 sum (2)", "convs.0 sum aggregation (2)", "convs.1.lin output",
            "convs.1 product")]
        said = self.refused(4, "no legal plan respects every pin: never store", "remove this pin: never store", *plan,
                            "--strategy", "source-rule", *self.pins(["no_checkpoint", relu], *never))
        self.assertIn("remove this pin: never store 'relu after convs.0'", said)
        self.accepted(*plan, "--strategy", "source-rule", *self.pins(*never))
        self.refused(4, "read 'relu after convs.0' from a store", "remove one of the pins", *plan,
                     *self.pins(["no_checkpoint", relu], ["cut", relu, label["convs.1.lin output"]]))
        self.accepted(*plan, *self.pins(["cut", relu, label["convs.1.lin output"]]))
        self.refused(2, "--stages and --deadline apply to optimised plans only", "use --strategy optimal or local-search", *plan,
                     "--stages", "3", "--strategy", "depth")

    def test_plans_that_lack_something(self):
        model, data = self.model(Plain), self.data("planned", GRAPH)
        path, out = self.path("plan.json"), self.path("planned")
        self.accepted("plan", model, "--data", data, "--strategy", "depth", "-o", path)
        plan, run = json.loads(Path(path).read_text()), ["run", model, "--data", data, "--plan", path, "-o", out]
        loop, steps = "/stages/1/loops/0", len(plan["stages"][1]["ops"])
        lacking = {
            "/stages/1": "is not a stage of this plan", "/stages/1/loops/0": "", loop + "/frontier/0": "frontier lacks the rows",
            loop + "/reads/0": "needs it, but no earlier step computes it, and the loop does not read it",
            loop + "/writes/0": "which does not write it", "/checkpoints/0": "which this stage does not store",
            "/checkpoints/1": "which this stage does not store",
            **{f"/stages/1/ops/{i}": "" for i in range(steps)}}
        for pointer, sentence in lacking.items():
            with self.subTest(pointer):
                self.write_without(plan, pointer, path)
                said = self.refused(3, f"{path}: field /", "make a new plan with `hopscope-engine plan`", *run)
                self.assertIn(sentence, said)
        self.accepted("plan", model, "--data", data, "-o", path)
        self.accepted(*run)

    @staticmethod
    def write_without(plan, pointer, path):
        changed = json.loads(json.dumps(plan))
        *way, last = [int(word) if word.isdigit() else word for word in pointer[1:].split("/")]
        at = changed
        for word in way:
            at = at[word]
        del at[last]
        for number, stage in enumerate(changed["stages"], 1):
            stage["index"] = number
        Path(path).write_text(json.dumps(changed))

    def test_too_little_memory(self):
        plan = ["plan", str(SAMPLES / "digits/jknet.pt"), "--data", str(SAMPLES / "digits/graph.safetensors")]
        for batch in ((), ("--batch", "7")):
            said = self.refused(6, "for a single destination node, which does not fit into the limit of 1000 B",
                                "raise it to --memory", *plan, *batch, "--memory", "1K")
            memory = ["--memory", said.rpartition("--memory ")[2]]
            self.accepted(*plan, *batch, *memory)
            self.accepted("run", *plan[1:], *batch, *memory, "-o", self.path("within"))

    def test_plans_and_runs_agree_about_memory(self):
        codes, data = set(), str(SAMPLES / "digits/graph.safetensors")
        for model in ("jknet", "gat"):
            limits = ("4K", "8K", "20K", "40K", "80K", "160K", "1Mi")
            for limit, batch in one_in(5, itertools.product(limits, ((), ("--batch", "7")))):
                with self.subTest(model=model, limit=limit, batch=batch):
                    words = [str(SAMPLES / f"digits/{model}.pt"), "--data", data, *batch, "--memory", limit]
                    planned = self.engine("plan", *words)
                    ran = self.engine("run", *words, "-o", self.path("limited"), "--verify", "none")
                    self.assertEqual(ran.returncode, planned.returncode, ran.stderr + planned.stderr)
                    codes.add(ran.returncode)
                    if ran.returncode:
                        self.assertEqual(ran.stderr, planned.stderr)
        self.assertEqual(codes, {0, 6})

    # ---- exports

    def run_py(self, folder, *arguments):
        """Its exit code and what it says; in a fork of this process, which has imported torch."""
        words = [self.path(folder) + "/run.py", *arguments, "-o", self.path("results"), "--quiet"]
        with tempfile.TemporaryFile() as said:
            fork = multiprocessing.get_context("fork").Process(target=as_a_program, args=(words, said.fileno()))
            fork.start()
            fork.join()
            return fork.exitcode, os.pread(said.fileno(), 1 << 20, 0).decode()

    def test_exports(self):
        graph = self.data("export", GRAPH)
        self.refused(4, "export cannot write mix, which is not a dense tensor", "register it as a dense matrix: mix.to_dense()",
                     "export", self.model(SparseWeight), "--data", graph, "-o", self.path("no"))
        self.accepted("export", self.model(DenseWeight), "--data", graph, "-o", self.path("parts"))
        self.refused(3, "exists already", "remove it, or choose another folder", "export", self.model(DenseWeight), "--data",
                     graph, "-o", self.path("parts"))
        np.save(self.path("x.npy"), X)
        wrong = self.data("beyond", {**GRAPH, "edge_index": changed(INDEX, (0, 2), NODES)})
        for data, sentence in ((self.path("x.npy"), f"a .npy file needs a name; write NAME={self.path('x.npy')}"),
                               (wrong, "edge_index refers to a row of node that does not exist: the number of its rows, counted from 0, is 19")):
            code, said = self.run_py("parts", "--data", data)
            self.assertEqual((code, sentence in said), (3, True), said)
        shutil.copytree(self.path("parts"), self.path("torn"))
        os.remove(self.path("torn") + "/weights.safetensors")
        code, said = self.run_py("torn", "--data", graph)
        self.assertEqual((code, "is missing; export the model again" in said), (3, True), said)
        self.assertEqual(self.run_py("parts", "--data", graph), (0, ""))

    def test_what_is_no_export(self):
        graph, hint = self.data("compared", GRAPH), "hopscope-engine export MODEL --data D... -o DIR makes such a folder"
        self.accepted("export", self.model(Plain), "--data", graph, "-o", self.path("compared"))
        os.mkdir(self.path("empty"))
        for other, sentence in (("empty", "is not an exported folder: it has no schema.json"), ("nowhere", "no such folder"),
                                ("compared/plan.json", "field /format is 'hopscope-plan', not 'hopscope-schema'"),
                                ("Plain.pt", "at byte 0: unexpected text")):
            with self.subTest(other):
                self.refused(3, self.path(other) + ": " + sentence, hint, "diff", self.path("compared"), self.path(other))
                self.refused(3, self.path(other) + ": " + sentence, hint, "verify", self.model(Plain), "--data", graph, "--schema",
                             self.path(other))
        self.accepted("diff", self.path("compared"), self.path("compared"))
        self.accepted("verify", self.model(Plain), "--data", graph, "--schema", self.path("compared"))

    def test_a_model_that_amplifies_rounding(self):
        x, data = torch.randn(200, 33), {"edge_index": np.random.default_rng(1).integers(0, 200, (2, 3000))}
        torch.jit.script(Amplifying().eval()).save(self.path("single.pt"))
        torch.jit.script(Amplifying().eval().double()).save(self.path("double.pt"))
        single, double = self.data("single", {**data, "x": x.numpy()}), self.data("double", {**data, "x": x.double().numpy()})
        said = self.refused(5, "the split could not be verified", "trace model.double()", "export", self.path("single.pt"), "--data",
                            single, "-o", self.path("amplified"))
        self.assertRegex(said, r"out: the model amplifies rounding: its own result \S+ .* up to \S+e-0\d")
        self.accepted("export", self.path("double.pt"), "--data", double, "-o", self.path("amplified"))

    def test_exports_of_models_with_sparse_inputs(self):
        x = torch.from_numpy(X)
        for name, data, matrix in (("coo", COO, MATRIX), ("csr", CSR, ROWS)):
            with self.subTest(name):
                graph = self.data(name, data)
                self.accepted("export", self.model(Sparse), "--data", graph, "-o", self.path(name))
                self.assertEqual(self.run_py(name, "--data", graph), (0, ""))
                expected = torch.jit.load(self.model(Sparse))(x, matrix).detach().numpy()
                np.testing.assert_allclose(np.load(self.path("results") + "/out.npy"), expected, 1e-4, 1e-5)


if __name__ == "__main__":
    unittest.main()
