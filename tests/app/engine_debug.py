"""Faults planted in a copy of a model, which the debugger has to find at the right operator and node: on a small graph (Cora,
where it is there) and on one of a million nodes, in the default tier of a tenth of them. What it says is compared with eager
PyTorch. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository, HOPSCOPE_CORA the folder with Cora."""
import json
import os
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import engine_models as models
from engine_process import ENGINE, own_folder, run
from tiers import sized

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SCHEMA = json.loads((ROOT / "resources/schemas/findings-1.schema.json").read_text())
MEMORY = json.loads((ROOT / "resources/schemas/stage-memory-1.schema.json").read_text())
CORA = Path(os.environ.get("HOPSCOPE_CORA") or "/nonexistent") / "cora.safetensors"
NODE = 17


class Layer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs)

    def forward(self, x, edges, weight):
        h = self.lin(x)
        return torch.zeros_like(h).index_add(0, edges[1], h[edges[0]] * weight.unsqueeze(1))


class Gcn(nn.Module):
    """`fault` is planted while the model is traced."""

    def __init__(self, inputs, hidden=8, outputs=4, fault=""):
        super().__init__()
        self.first, self.second = Layer(inputs, hidden), Layer(hidden, outputs)
        self.fault = fault

    def forward(self, x, edge_index):
        if self.fault == "direction":
            edge_index = torch.stack([edge_index[1], edge_index[0]])
        loop = torch.arange(x.size(0))
        if self.fault == "loop":
            loop = loop[loop != NODE]
        edges = torch.cat([edge_index, loop.unsqueeze(0).repeat(2, 1)], 1)
        degree = torch.zeros(x.size(0)).index_add(0, edges[1], torch.ones(edges.size(1)))
        norm = degree.pow(-1.0 if self.fault == "degree" else -0.5)
        norm = norm.masked_fill(norm == float("inf"), 0.0)
        weight = norm[edges[0]] * norm[edges[1]]
        h = self.first(x, edges, weight).relu()
        if self.fault == "nan":
            h = h * torch.log(x[:, :1]).mul(0).add(1)
        if self.fault == "half":
            h = h * (x[:, :1] * 100).half().float()
        return self.second(h, edges, weight)


def made(fault="", features=4):
    torch.manual_seed(5)
    return Gcn(features, fault=fault).eval()


class Planted:
    """The tests for one graph, which setUpClass() of a class below writes."""

    @classmethod
    def prepare(cls, edge_index, rows, features=4):
        cls.folder = own_folder(cls)
        cls.rows, cls.edges = rows, edge_index
        generator = numpy.random.default_rng(2)
        x = generator.random((rows, features), numpy.float32) + 0.1
        cls.x, cls.index = torch.from_numpy(x), torch.from_numpy(edge_index)
        cls.graph = cls.folder / "graph.safetensors"
        save_file({"x": x, "edge_index": edge_index}, str(cls.graph))
        cls.right = cls.save(made(), "right.pt")

    @classmethod
    def save(cls, module, name):
        small = torch.randint(0, 30, (2, 90), generator=torch.Generator().manual_seed(1))
        models.save(module, (cls.x[:30], small), cls.folder / name)
        return cls.folder / name

    def engine(self, *words):
        done = run([ENGINE, "debug", *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def found(self, *words):
        document = json.loads(self.engine(*words, "--json"))
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        return document

    def against(self, fault, module=None):
        other = self.save(module or made(fault), f"{fault}.pt")
        return self.found(self.right, "--data", self.graph, "--against", other)

    def hidden(self, module):
        """What the first layer's linear map gives."""
        with torch.no_grad():
            return module.first.lin(self.x)

    def test_a_wrong_weight_is_found_in_its_layer_and_on_the_nodes_that_it_changes(self):
        other = made()
        with torch.no_grad():
            other.first.lin.weight[3, 2] += 0.5
        found = self.against("weight", other)
        self.assertEqual(found["parameters"], ["first.lin.weight: 1 of 32 elements, by up to 0.5"])
        self.assertEqual(found["nodes"]["module"], "first.lin")
        self.assertEqual(found["divergence"]["op"], found["nodes"]["op"])
        a, b = self.hidden(made()), self.hidden(other)
        wrong = ((a - b).abs() > 1e-5 + 1e-4 * b.abs()).any(1)
        self.assertEqual(found["nodes"]["rows"], int(wrong.sum()))
        for shown, row in zip(found["nodes"]["shown"], wrong.nonzero().flatten().tolist()):
            self.assertEqual((shown["row"], shown["element"]), (row, 3))
            self.assertAlmostEqual(shown["first"], a[row, 3].item(), places=5)
            self.assertAlmostEqual(shown["second"], b[row, 3].item(), places=5)
        depths = {point["depth"] for point in found["growth"] if point["max_abs"] > 0}
        self.assertEqual(depths, {0, 1, 2})

    def test_a_wrong_normalisation_is_found_at_its_power_and_says_which_argument(self):
        found = self.against("degree")["divergence"]
        self.assertEqual(found["kind"], "aten::pow")
        self.assertEqual([text.replace(" ", "") for text in found["arguments"]], ["exponent:-0.5,-1"])
        degree = numpy.bincount(self.edges[1], minlength=self.rows) + 1
        self.assertEqual(found["rows"], int((degree != 1).sum()))
        self.assertEqual(found["shown"][0]["row"], int((degree != 1).nonzero()[0][0]))

    def test_a_swapped_direction_is_found_where_the_ends_of_edges_are_taken(self):
        found = self.against("direction")
        self.assertIn(found["divergence"]["kind"], ("aten::select", "aten::stack", "aten::cat"))
        degree = [numpy.bincount(end, minlength=self.rows) for end in self.edges]
        self.assertEqual(found["nodes"]["rows"], int((degree[0] != degree[1]).sum()))
        self.assertEqual(found["nodes"]["shown"][0]["row"], int((degree[0] != degree[1]).nonzero()[0][0]))

    def test_a_dropped_self_loop_is_found_at_its_node(self):
        found = self.against("loop")
        self.assertEqual(found["nodes"]["kind"], "aten::index_add")
        self.assertEqual([row["row"] for row in found["nodes"]["shown"]], [NODE])
        self.assertEqual(found["nodes"]["rows"], 1)
        self.assertTrue(found["divergence"]["what"].startswith("shape"), found["divergence"])

    def hunt(self, fault, x):
        graph = self.folder / f"{fault}.safetensors"
        save_file({"x": x.numpy(), "edge_index": self.edges}, str(graph))
        model = self.save(made(fault), f"{fault}.pt")
        found = self.found(model, "--data", graph, "--nan", "--batch", self.rows // 3 + 1)
        self.assertEqual(found["outputs"], ["out"])
        maker, = (one for one in found["makers"] if one["reaches_output"])
        return maker

    def test_an_inserted_nan_is_found_at_its_operator_and_node(self):
        x = self.x.clone()
        x[NODE, 0] = -1
        maker = self.hunt("nan", x)
        self.assertEqual((maker["kind"], maker["nan"], maker["infinite"]), ("aten::log", 1, 0))
        self.assertEqual([row["row"] for row in maker["shown"]], [NODE])
        last = self.rows - 1
        x = self.x.clone()
        x[last, 0] = -1
        maker = self.hunt("nan", x)
        self.assertEqual(([row["row"] for row in maker["shown"]], maker["batch"]), ([last], 3))

    def test_a_verdict_about_results_that_are_not_finite_begins_with_them(self):
        x = self.x.clone()
        x[NODE, 0] = -1
        maker = self.hunt("nan", x)
        out, words = self.folder / "out", [self.folder / "nan.pt", "--data", self.folder / "nan.safetensors"]
        for store in ("exact", "bfloat16"):  # which puts words of its own before the reason
            said = run([ENGINE, "run", *map(str, words), "-o", str(out / store), "--verify", "full", "--store", store,
                        "--device", "cpu"], capture_output=True, text=True)
            lost = int((~numpy.isfinite(numpy.load(out / store / "out.npy"))).sum())
            self.assertGreater(lost, 1)
            sentence = f"{lost:,} elements are NaN or infinite, in the model's own results as well (first made by aten::log (engine_debug.py:"
            self.assertIn(f"verified, but not finite: {sentence}", said.stdout)
            report = json.loads((out / store / "report.json").read_text())
            self.assertTrue(report["verify"]["reason"].startswith(sentence))
            self.assertEqual(report["not_finite"]["first"]["op"], maker["op"])

    def test_a_half_precision_overflow_is_found_at_its_conversion_and_node(self):
        x = self.x.clone()
        x[NODE, 0] = 1000
        maker = self.hunt("half", x)
        self.assertEqual((maker["kind"], maker["nan"], maker["infinite"]), ("aten::to", 0, 1))
        self.assertEqual([row["row"] for row in maker["shown"]], [NODE])


class OnCora(Planted, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        file = CORA if CORA.exists() else ROOT / "samples/digits/graph.safetensors"
        edges = load_file(file)["edge_index"]
        directed = edges[:, numpy.random.default_rng(1).random(edges.shape[1]) < 0.7]  # so that directions matter
        cls.prepare(numpy.ascontiguousarray(directed), int(edges.max()) + 1)

    def test_a_sound_split_has_no_divergence_and_small_errors(self):
        found = self.found(self.right, "--data", self.graph)
        self.assertIsNone(found["divergence"])
        self.assertGreaterEqual(found["compared"], 3)
        self.assertLess(max(point["max_abs"] for point in found["growth"]), 1e-4)

    def test_equal_models_do_not_diverge(self):
        found = self.against("same", made())
        self.assertIsNone(found["divergence"])
        self.assertEqual((found["parameters"], found["only_first"], found["only_second"]), ([], [], []))
        self.assertGreater(found["compared"], 10)

    def test_breakpoints_describe_what_batches_compute(self):
        found = self.found(self.right, "--data", self.graph, "--break", "aten::relu", "--batch", 1000)
        with torch.no_grad():
            module = made()
            loop = torch.arange(self.rows).unsqueeze(0).repeat(2, 1)
            edges = torch.cat([self.index, loop], 1)
            degree = torch.zeros(self.rows).index_add(0, edges[1], torch.ones(edges.size(1)))
            weight = degree.pow(-0.5)[edges[0]] * degree.pow(-0.5)[edges[1]]
            h = module.first(self.x, edges, weight).relu()
        batches = [hit for hit in found["hits"] if hit["rows"].endswith("in the batch")]
        self.assertEqual(found["seen"], len(found["hits"]))
        self.assertEqual(len(batches), -(-self.rows // 1000))
        for hit in batches:
            part = h[hit["first_destination"]:hit["first_destination"] + hit["destinations"]]
            self.assertEqual(hit["shape"], list(part.shape))
            self.assertEqual(hit["zeros"], int((part == 0).sum()))
            for key, wanted in (("min", part.min()), ("max", part.max()), ("mean", part.mean())):
                self.assertAlmostEqual(hit[key], wanted.item(), places=5)

    def test_conditions_choose_among_batches(self):
        asked = (self.right, "--data", self.graph, "--break", "aten::relu", "--batch", 500)
        of_node = self.found(*asked, "--when", "node=1203")["hits"]
        self.assertTrue(of_node)
        for hit in of_node:
            self.assertTrue(hit["first_destination"] <= 1203 < hit["first_destination"] + hit["destinations"])
        self.assertEqual(self.found(*asked, "--when", "isnan")["seen"], 0)
        self.assertEqual(self.found(*asked, "--when", "outside=-1,1e9")["seen"], 0)
        self.assertEqual(self.found(*asked, "--when", "outside=-1,0")["seen"], self.found(*asked)["seen"])

    def test_watched_rows_are_those_of_the_model(self):
        nodes = [0, NODE, 1203]
        found = self.found(self.right, "--data", self.graph, "--watch", "second", "--nodes", ",".join(map(str, nodes)),
                           "-o", self.folder / "rows", "--batch", 400)
        with torch.no_grad():
            wanted = made()(self.x, self.index)[nodes].numpy()
        last = found["watched"][-1]
        self.assertEqual(last["nodes"], nodes)
        numpy.testing.assert_allclose(numpy.load(last["file"]), wanted, atol=1e-5)
        numpy.testing.assert_allclose(last["numbers"], wanted, atol=1e-5)

    def test_messages_into_a_node_are_sorted_by_what_they_add(self):
        node = int(numpy.bincount(self.edges[1]).argmax())
        found = self.found(self.right, "--data", self.graph, "--messages", "first", "--nodes", node, "--batch", 300)
        one, = found["aggregations"]
        loop = torch.arange(self.rows).unsqueeze(0).repeat(2, 1)
        edges = torch.cat([self.index, loop], 1)
        degree = torch.zeros(self.rows).index_add(0, edges[1], torch.ones(edges.size(1)))
        into = (edges[1] == node).nonzero().flatten()
        source = edges[0][into]
        with torch.no_grad():
            weight = degree.pow(-0.5)[source] * degree.pow(-0.5)[node]
            norms = (made().first.lin(self.x)[source] * weight.unsqueeze(1)).norm(dim=1)
        order = norms.argsort(descending=True)
        self.assertEqual((one["node"], one["messages"]), (node, into.numel()))
        self.assertEqual(len(one["contributions"]), min(20, into.numel()))
        for found, place in zip(one["contributions"], order.tolist()):
            self.assertAlmostEqual(found["first"], norms[place].item(), places=5)
            self.assertAlmostEqual(found["share"], (norms[place] / norms.sum()).item(), places=5)
            wanted = ("node", node, []) if into[place] >= self.index.shape[1] else \
                ("edge_index", int(into[place]), [int(source[place]), node])
            self.assertEqual((found["table"], found["row"], found["ends"]), wanted)

    def test_the_memory_of_a_stage_is_what_its_batches_hold(self):
        """Sums are added up again, and the peak is that of the run."""
        batch = self.rows // 7
        asked = (self.right, "--data", self.graph, "--batch", batch)
        run([ENGINE, "run", *map(str, asked), "--strategy", "depth", "--verify", "none", "--quiet", "-o",
             self.folder / "ran"], check=True)
        report = json.loads((self.folder / "ran/report.json").read_text())
        for stage in report["stages"]:
            memory = json.loads(self.engine(*asked, "--memory-of", stage["index"], "--json"))
            jsonschema.Draft202012Validator(MEMORY).validate(memory)
            self.assertEqual(memory["peak_memory"], stage["peak_memory"])
            loop, = memory["loops"]
            self.assertEqual((loop["batches"], loop["destinations"]), (-(-self.rows // batch), batch))
            for at, step in enumerate(loop["steps"]):
                held = [item["bytes"] for item in loop["held"] if item["from"] <= at < item["to"]]
                self.assertEqual(step["bytes"], sum(held))
            most = max(step["bytes"] for step in loop["steps"])
            self.assertEqual(loop["steps"][loop["peak_step"]]["bytes"], most)
            self.assertLessEqual(most + memory["outside"], memory["peak_memory"])
            texts = self.engine(*asked, "--memory-of", stage["index"])
            self.assertIn(f"stage {stage['index']}: peak ", texts)
            for item in loop["held"]:
                self.assertIn(item["label"], texts)

    def test_mistakes_are_refused(self):
        for says, *words in (("the plan has no stage 9", "--memory-of", "9"), ("names no operator", "--break", "sheep"),
                             ("is not a condition", "--break", "op1", "--when", "odd"), ("names no operator", "--break", "stage 9"), ("--watch requires", "--watch", "op1"),
                             ("names no operator", "--watch", "sheep", "--nodes", 1, "-o", "rows"),
                             ("aggregates no messages", "--messages", "op1", "--nodes", 1),
                             ("excludes", "--against", self.right, "--batch", 7),
                             ("excludes", "--against", self.right, "--plan", "plan.json")):
            with self.subTest(words=words):
                self.assertIn(says, self.usage(*words))

    def usage(self, *words):
        done = run([ENGINE, "debug", self.right, "--data", self.graph, *map(str, words)], capture_output=True, text=True,
                   timeout=300, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_what_no_stage_computes_is_shown_instead_of_watched(self):
        said = self.usage("--watch", "op1", "--nodes", 1, "-o", self.folder / "rows")
        self.assertIn("no stage computes rows of 'op1'; debug --show op1 shows its values", said)
        self.assertIn("on whole tensors", self.engine(self.right, "--data", self.graph, "--show", "op1"))

    def test_the_texts_name_operator_node_and_values(self):
        other = self.save(made("degree"), "degree.pt")
        text = self.engine(self.right, "--data", self.graph, "--against", other)
        for words in ("First divergence", "aten::pow", "argument exponent: -0.5, -1", "node "):
            self.assertIn(words, text)


class OnManyNodes(Planted, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rows, generator = sized(100_000, 1_000_000), numpy.random.default_rng(4)
        source = (generator.random(rows) ** 2 * rows).astype(numpy.int64)
        target = generator.integers(0, rows - 1000, rows)
        cls.prepare(numpy.stack([source, target]), rows)


if __name__ == "__main__":
    unittest.main()
