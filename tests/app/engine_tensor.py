"""Tensors that the debugger shows: their numbers are those of eager PyTorch, what is said of them is what numpy says, and rows are
named by their nodes and edges, from the command line and by the window's protocol. HOPSCOPE_ENGINE names the program,
HOPSCOPE_ROOT the repository."""
import base64
import json
import unittest

import jsonschema
import numpy
import torch
from safetensors.torch import save_file
from torch import nn

import engine_models as models
from engine_process import ENGINE, own_folder, run
from serve_case import ROOT, ServeTest

SCHEMA = json.loads((ROOT / "resources/schemas/tensor-1.schema.json").read_text())
NODES, EDGES, BATCH = 700, 4200, 90


class Gcn(nn.Module):
    """Keeps what a test compares with."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x, edge_index):
        source, target = edge_index[0], edge_index[1]
        degree = torch.zeros(x.size(0)).index_add(0, target, torch.ones(target.size(0))) + 1
        norm = degree.pow(-0.5)
        mapped = self.first(x)
        messages = mapped[source] * (norm[source] * norm[target]).unsqueeze(1)
        summed = torch.zeros_like(mapped).index_add(0, target, messages)
        hidden = torch.relu(summed)
        again = self.second(hidden)
        out = torch.zeros_like(again).index_add(0, target, again[source])
        if torch.jit.is_tracing():
            return out
        return {"degree": degree, "mapped": mapped, "messages": messages, "hidden": hidden, "out": out}


def made():
    torch.manual_seed(3)
    return Gcn().eval()


def graph():
    generator = torch.Generator().manual_seed(9)
    x = torch.randn((NODES, 5), generator=generator)
    edges = torch.randint(0, NODES - 20, (2, EDGES), generator=generator)  # the last 20 nodes have none
    return {"x": x, "edge_index": edges}


def write(folder):
    data = graph()
    small = torch.randint(0, 30, (2, 90), generator=torch.Generator().manual_seed(1))
    models.save(made(), (data["x"][:30], small), folder / "model.pt")
    save_file(data, str(folder / "graph.safetensors"))


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = own_folder(cls)
        write(cls.folder)
        cls.data = graph()
        with torch.no_grad():
            cls.eager = made()(**cls.data)
        told = run([ENGINE, "inspect", cls.folder / "model.pt", "--data", cls.folder / "graph.safetensors", "--json"],
                   capture_output=True, text=True, timeout=300, check=True)
        cls.ops = json.loads(told.stdout)["ops"]

    def op(self, name, at=0):
        return [op for op in self.ops if op["name"] == name][at]["id"]

    def run_engine(self, *words, data=None):
        return run([ENGINE, "debug", self.folder / "model.pt", "--data", data or self.folder / "graph.safetensors",
                    *map(str, words)], capture_output=True, text=True, timeout=300, check=False)

    def show(self, place, *words, data=None):
        """The document, the numbers and their row numbers."""
        file = self.folder / "shown.npy"
        rows = self.folder / "shown.rows.npy"
        rows.unlink(missing_ok=True)
        done = self.run_engine("--show", place, "--batch", BATCH, "--json", "-o", file, *words, data=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        numbers = numpy.load(file)
        self.assertEqual((document["shape"], document["dtype"]), (list(numbers.shape), str(numbers.dtype)))
        self.measured(document, numbers)
        return document, numbers, numpy.load(rows) if rows.exists() else None

    def measured(self, document, numbers):
        """What numpy says of the same numbers."""
        finite = numbers[numpy.isfinite(numbers)].astype(numpy.float64)
        counts = {"numbers": numbers.size, "finite": finite.size, "zeros": (numbers == 0).sum(),
                  "nan": numpy.isnan(numbers).sum(), "infinite": numpy.isinf(numbers).sum()}
        self.assertEqual({key: document[key] for key in counts}, {key: int(count) for key, count in counts.items()})
        self.assertEqual((document["min"], document["max"]), (finite.min(), finite.max()))
        self.assertAlmostEqual(document["mean"], finite.mean(), places=9)
        self.assertAlmostEqual(document["std"], finite.std(), places=9)
        self.assertEqual(document["histogram"], numpy.histogram(finite, bins=40)[0].tolist())

    def test_all_rows_of_nodes_are_those_of_the_model(self):
        document, numbers, rows = self.show(self.op("aten::relu"))
        numpy.testing.assert_allclose(numbers, self.eager["hidden"], atol=1e-5)
        self.assertIsNone(rows)
        self.assertEqual((document["from"], document["batch"], document["axis"], document["count"]), ("staged", None, 0, NODES))
        self.assertEqual([row["row"] for row in document["shown"]], list(range(20)))
        numpy.testing.assert_allclose([row["numbers"] for row in document["shown"]], self.eager["hidden"][:20], atol=1e-5)
        self.assertGreater(document["zeros"], 0)

    def test_rows_that_several_batches_need_are_there_once(self):
        _, numbers, rows = self.show(self.op("aten::linear"))
        expected = self.eager["mapped"].numpy()
        rows = numpy.arange(NODES) if rows is None else rows
        self.assertEqual(len(set(rows.tolist())), len(rows))
        numpy.testing.assert_allclose(numbers, expected[rows], atol=1e-5)

    def test_one_batch_is_that_of_its_node(self):
        document, numbers, rows = self.show(self.op("aten::relu"), "--batch-of", 333)
        batch = document["batch"]
        self.assertTrue(batch["first_destination"] <= 333 < batch["first_destination"] + batch["destinations"])
        self.assertEqual(rows.tolist(), list(range(batch["first_destination"], batch["first_destination"] + BATCH)))
        self.assertEqual(batch["number"], 333 // BATCH + 1)
        numpy.testing.assert_allclose(numbers, self.eager["hidden"][rows], atol=1e-5)
        self.assertEqual(document["shown"][0]["row"], batch["first_destination"])

    def test_rows_are_chosen_by_node_and_by_number(self):
        document, numbers, rows = self.show(self.op("aten::relu"), "--nodes", "690,5,17")
        self.assertEqual(rows.tolist(), [5, 17, 690])
        numpy.testing.assert_allclose(numbers, self.eager["hidden"][[5, 17, 690]], atol=1e-5)
        self.assertEqual([row["row"] for row in document["shown"]], [5, 17, 690])
        _, numbers, rows = self.show(self.op("aten::relu"), "--rows", "80:200")
        self.assertEqual(rows.tolist(), list(range(80, 200)))
        numpy.testing.assert_allclose(numbers, self.eager["hidden"][80:200], atol=1e-5)

    def test_the_first_rows_have_numbers_wherever_they_are_from(self):
        for place in (self.op("aten::relu"), self.op("aten::pow.Tensor_Scalar"), "x"):
            with self.subTest(place=place):
                _, numbers, rows = self.show(place, "--rows", "0:5")
                self.assertEqual((len(numbers), rows.tolist()), (5, [0, 1, 2, 3, 4]))

    def test_nodes_and_rows_are_both_conditions(self):
        for place in (self.op("aten::relu"), "x"):
            with self.subTest(place=place):
                _, numbers, rows = self.show(place, "--nodes", "690,17,5,17", "--rows", "10:700")
                self.assertEqual((len(numbers), rows.tolist()), (2, [17, 690]))

    def test_messages_have_the_edges_that_they_travel_along(self):
        source, target = self.data["edge_index"].numpy()
        product = [op for op in self.ops if op["name"] == "aten::mul.Tensor"][-1]["id"]
        document, numbers, rows = self.show(product, "--nodes", "17,200")
        into = numpy.isin(target, [17, 200]).nonzero()[0]
        self.assertEqual(rows.tolist(), into.tolist())
        numpy.testing.assert_allclose(numbers, self.eager["messages"][into], atol=1e-5)
        self.assertEqual([(row["row"], row["ends"]) for row in document["shown"]],
                         [(int(edge), [int(source[edge]), int(target[edge])]) for edge in into])
        _, numbers, rows = self.show(product)
        numpy.testing.assert_allclose(numbers, self.eager["messages"], atol=1e-5)

    def test_what_no_batch_computes_is_computed_as_a_whole(self):
        document, numbers, _ = self.show(self.op("aten::pow.Tensor_Scalar"))
        self.assertEqual((document["from"], document["stage"]), ("unsplit", None))
        numpy.testing.assert_allclose(numbers, self.eager["degree"] ** -0.5, atol=1e-6)

    def test_inputs_and_weights_are_shown_as_they_are(self):
        document, numbers, _ = self.show("edge_index")
        self.assertEqual((document["from"], document["axis"], document["count"], document["op"]), ("input", 1, EDGES, ""))
        numpy.testing.assert_array_equal(numbers, self.data["edge_index"])
        self.assertEqual(document["shown"][3]["ends"], self.data["edge_index"][:, 3].tolist())
        document, numbers, _ = self.show("first.weight")
        self.assertEqual((document["from"], document["axis"], document["shown"][0]["table"]), ("weight", None, ""))
        numpy.testing.assert_array_equal(numbers, made().first.weight.detach())

    def test_what_is_not_finite_is_counted_and_left_out_of_the_rest(self):
        data = {**self.data, "x": self.data["x"].clone()}
        data["x"][7, 3], data["x"][8, 1], data["x"][9, 0], data["x"][10:40] = float("nan"), float("inf"), -float("inf"), 0
        save_file(data, str(self.folder / "odd.safetensors"))
        document, _, _ = self.show("x", data=self.folder / "odd.safetensors")
        self.assertEqual((document["nan"], document["infinite"], document["zeros"]), (1, 2, 150))
        self.assertIsNone(document["shown"][7]["numbers"][3])
        same = {**self.data, "x": torch.full((NODES, 5), 2.5)}
        save_file(same, str(self.folder / "same.safetensors"))
        document, _, _ = self.show("x", data=self.folder / "same.safetensors")
        self.assertEqual(document["histogram"][20], NODES * 5)

    def test_mistakes_are_refused(self):
        relu = self.op("aten::relu")
        for says, *words in (("names no operator", "--show", "sheep"), ("names 2 values", "--show", "aten::linear"),
                             ("is not a range", "--show", relu, "--rows", "5:2"), ("--rows requires", "--rows", "5:9"),
                             ("excludes", "--show", relu, "--nan"), ("no batch computes", "--show", relu, "--batch-of", NODES),
                             ("has no rows of nodes", "--show", "edge_index", "--nodes", "3"),
                             ("has no rows", "--show", "first.weight", "--rows", "0:2")):
            with self.subTest(words=words):
                done = self.run_engine(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(says, done.stderr)

    def test_the_text_says_the_same(self):
        text = self.run_engine("--show", self.op("aten::relu"), "--batch-of", 333, "--batch", BATCH).stdout
        for words in ("aten::relu", "float32, 90 x 8, rows of node in the batch", "batch 4 with destinations 270 to 359", "zeros",
                      "node 270"):
            self.assertIn(words, text)


class Opened(ServeTest):
    """The model open in a served engine, its plan, and what it computes eagerly."""

    def setUp(self):
        super().setUp()
        write(self.folder)
        self.engine = self.client()
        opened = self.engine.call("model/open", model=str(self.folder / "model.pt"), roles=[],
                                  data=[str(self.folder / "graph.safetensors")])
        self.document, self.ops = opened["document"], opened["inspect"]["ops"]
        self.made = self.plan(self.engine, self.document)["plan"]
        with torch.no_grad():
            self.eager = made()(**graph())

    def op(self, name):
        return next(op["id"] for op in self.ops if op["name"] == name)


class Asked(Opened):
    def tensor(self, place, **rows):
        found = self.engine.call("debug/tensor", document=self.document, plan=self.made, batch=BATCH, value=place, **rows)
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
        return found

    def rows(self, tensor, begin, end):
        return self.engine.call("debug/rows", document=self.document, tensor=tensor, begin=begin, end=end)

    def test_rows_are_fetched_by_range_with_their_nodes(self):
        found = self.tensor(self.op("aten::relu"))
        rows = self.rows(found["tensor"], 100, 103)
        numbers = numpy.frombuffer(base64.b64decode(rows["rows"]), numpy.float32).reshape(3, 8)
        numpy.testing.assert_allclose(numbers, self.eager["hidden"][100:103], atol=1e-5)
        self.assertEqual(rows["names"], [{"table": "node", "row": row, "ends": []} for row in (100, 101, 102)])
        beyond = self.rows(found["tensor"], NODES - 1, NODES + 9)
        self.assertEqual((beyond["begin"], beyond["end"], len(beyond["names"])), (NODES - 1, NODES, 1))

    def test_edges_are_rows_whatever_dimension_they_are(self):
        found = self.tensor("edge_index")
        rows = self.rows(found["tensor"], 7, 9)
        numbers = numpy.frombuffer(base64.b64decode(rows["rows"]), numpy.int64).reshape(2, 2)
        numpy.testing.assert_array_equal(numbers, graph()["edge_index"][:, 7:9].T)
        self.assertEqual([name["ends"] for name in rows["names"]], numbers.tolist())

    def test_the_last_four_are_kept(self):
        numbers = [self.tensor("x")["tensor"] for _ in range(5)]
        self.refused(-32602, "last tensors", self.rows, numbers[0], 0, 1)
        self.assertEqual(self.rows(numbers[1], 0, 1)["end"], 1)

    def test_a_tensor_is_saved_where_the_engine_is(self):
        found, file = self.tensor(self.op("aten::relu"), nodes=[9, 4]), str(self.folder / "kept.npy")
        answer = self.engine.call("debug/save", document=self.document, tensor=found["tensor"], file=file)
        self.assertEqual(answer["file"], file)
        numpy.testing.assert_allclose(numpy.load(file), self.eager["hidden"][[4, 9]], atol=1e-5)
        self.assertEqual(numpy.load(self.folder / "kept.rows.npy").tolist(), [4, 9])

    def test_what_makes_no_sense_is_refused(self):
        self.refused(-32002, "names no operator", self.tensor, "op99999")
        relu = self.tensor(self.op("aten::relu"))["tensor"]
        self.refused(-32602, "more than 4,096", self.rows, self.tensor("edge_index")["tensor"], 0, EDGES)
        for begin, end in ((-1, 3), (4, 2)):
            self.refused(-32602, "must not be", self.rows, relu, begin, end)
        self.refused(-32602, ".npy", self.engine.call, "debug/save", document=self.document, tensor=relu, file="x.txt")


if __name__ == "__main__":
    unittest.main(verbosity=2)
