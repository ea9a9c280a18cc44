"""hopscope-engine sample: what inputs are and samples of them, without a model and without LibTorch."""
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file, save_file

from engine_process import ENGINE, own_folder

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
GRAPH = ROOT / "samples/digits/graph.safetensors"


class SampleTest(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)
        self.out = self.folder / "out"
        self.out.mkdir()

    def asked(self, request, *words, program=ENGINE):
        text = request if isinstance(request, bytes) else json.dumps(request).encode()
        return subprocess.run([program, "sample", *words], input=text, capture_output=True, timeout=60, check=False)

    def request(self, *data, **more):
        return {"data": [str(item) for item in data or [GRAPH]], "roles": [], "folder": str(self.out), **more}

    def answer(self, request, *words, **options):
        done = self.asked(request, *words, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return json.loads(done.stdout)

    def refused(self, code, sentence, request, *words):
        done = self.asked(request, *words)
        problem = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, problem["exit_code"]), (code, code))
        self.assertRegex(problem["message"], sentence)
        self.assertEqual(list(self.out.iterdir()), [])


class Sample(SampleTest):
    def test_roles_are_those_of_inspect(self):
        found = self.answer(self.request(arguments=["x", "edge_index"]))
        command = [ENGINE, "inspect", ROOT / "samples/digits/jknet.pt", "--data", GRAPH, "--json"]
        inspected = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        self.assertEqual(found["roles"], inspected["roles"])
        self.assertEqual((found["nodes"], found["edges"], found["sizes"]["node"]), (1797, 14376, 1797))

    def test_samples_are_files_of_the_counts_that_it_says(self):
        found = self.answer(self.request(arguments=["x", "edge_index"]), "--json")
        self.assertEqual(len(found["samples"]), 4)
        for sample in found["samples"]:
            tensors = load_file(sample["file"])
            self.assertEqual(set(tensors), {"x", "edge_index"})
            self.assertEqual((len(tensors["x"]), tensors["edge_index"].shape[1]), (sample["nodes"], sample["edges"]))
            self.assertLess(tensors["edge_index"].max(), sample["nodes"])
        self.assertEqual(len({sample["nodes"] for sample in found["samples"]}), 4)

    def test_small_data_are_no_file(self):
        save_file({"x": numpy.zeros((20, 2), "f4"), "edge_index": numpy.zeros((2, 5), "i8")}, self.folder / "small.safetensors")
        found = self.answer(self.request(self.folder / "small.safetensors"))
        self.assertIsNone(found["samples"][0]["file"])
        self.assertEqual([found["samples"][0][what] for what in ("nodes", "edges")], [20, 5])

    def test_arrays_of_other_files_and_roles_are_taken(self):
        for name, array in (("a", numpy.zeros((20, 2), "f4")), ("b", numpy.zeros((2, 5), "i8"))):
            numpy.save(self.folder / f"{name}.npy", array)
        data = [f"{name}={self.folder}/{name}.npy" for name in "ab"]
        found = self.answer(self.request(*data, roles=["a=node:thing"]))
        self.assertEqual(found["roles"], {"a": "node:thing", "b": "index:thing>thing"})

    def test_it_needs_no_libtorch(self):
        alone = shutil.copy(ENGINE, self.folder / "hopscope-engine")
        self.assertEqual(self.answer(self.request(), program=alone), self.answer(self.request()))

    def test_mistakes_are_one_document(self):
        self.refused(3, "the request", b"no JSON")
        self.refused(3, "/data is missing|data", {"roles": [], "folder": str(self.out)})
        self.refused(3, "more", self.request(more=1))
        self.refused(3, "no such file", self.request(self.folder / "missing.safetensors"))
        self.refused(2, "x=sheep is not a role", self.request(roles=["x=sheep"]))
        self.refused(3, "neither an input nor a parameter", self.request(roles=["z=node"]))
        self.refused(2, "sample has no option --plan", self.request(), "--plan")
        damaged = self.folder / "damaged.safetensors"
        damaged.write_bytes(GRAPH.read_bytes()[:1000])
        self.refused(3, "damaged.safetensors", self.request(damaged))

    def test_a_folder_that_is_not_there_is_told(self):
        self.refused(2, "gone/sample-0.safetensors", {**self.request(), "folder": str(self.folder / "gone")})


NAMES = ("x edge_index ei batch u rowptr col nbr seeds pairs rev edge_attr src dst y xs.a es.a__to__b adj.coo_indices adj.coo_values "
         "adj.coo_size adj.csr_crow adj.csr_col adj.csr_size hyperedge_index gate x.0 x.1 line_index cluster").split()


def odd_data(random):
    """Arrays of any shape and type under names that mean something, all too often of equal sizes."""
    nodes, other, edges = (int(random.choice(sizes)) for sizes in ((0, 1, 2, 5, 40, 127, 128, 300), (1, 7, 200), (0, 1, 9, 500)))
    shapes = [(2, edges), (edges, 2), (nodes,), (other,), (edges,), (nodes + 1,), (nodes, 3), (edges, 2), (1, 4), (4,), (), (3, nodes, 4)]
    data = {}
    for name in random.choice(NAMES, random.integers(1, 7), replace=False):
        shape, kind = shapes[random.integers(len(shapes))], random.choice(["f4", "i8", "i8", "i8", "i4", "?"])
        numbers = random.integers(-1 if random.random() < 0.1 else 0, max(random.choice([nodes, other, edges]), 1), shape)
        data[str(name)] = numpy.asarray(numpy.sort(numbers) if len(shape) == 1 and random.random() < 0.5 else numbers).astype(kind)
    return data


class OddData(SampleTest):
    def test_whatever_the_data_it_answers_or_names_what_does_not_fit(self):
        random, codes = numpy.random.default_rng(1), set()
        for case in range(80):
            data = {"adj.coo_size": numpy.array(3), "ei": numpy.ones((2, 500), "?")} if case == 0 else odd_data(random)
            save_file(data, self.folder / "odd.safetensors")
            done = self.asked(self.request(self.folder / "odd.safetensors"))
            with self.subTest(case=case, shapes={name: array.shape for name, array in data.items()}):
                self.assertIn(done.returncode, (0, 2, 3), done.stderr)
                found = json.loads(done.stdout)
                codes.add(done.returncode)
                for sample in found.get("samples", []):
                    if sample["file"]:
                        self.assertEqual(set(load_file(sample["file"])), set(data))
        self.assertLessEqual({0, 3}, codes)


if __name__ == "__main__":
    unittest.main()
