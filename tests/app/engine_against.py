"""The option --against of verify, which compares two files of a model. Its answers are compared with torch's own forward of both modules.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import io
import json
import os
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.torch import save_file
from torch_geometric.nn import SAGEConv

import engine_models as models
from engine_process import ENGINE, own_folder, run

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SCHEMA = json.loads((ROOT / "resources/schemas/comparison-1.schema.json").read_text())
NODES, FEATURES = 700, 6


class Sage(torch.nn.Module):
    def __init__(self, aggregation="mean", outputs=4):
        super().__init__()
        torch.manual_seed(11)
        self.convs = torch.nn.ModuleList([SAGEConv(FEATURES, 8, aggr=aggregation), SAGEConv(8, outputs, aggr=aggregation)])

    def forward(self, x, edge_index):
        return self.convs[1](self.convs[0](x, edge_index).relu(), edge_index)


class Twice(Sage):
    def forward(self, x, edge_index):
        out = super().forward(x, edge_index)
        return out, 2 * out


class Ends(Sage):
    """Differs in its last operator, which the other file does not have."""

    def forward(self, x, edge_index):
        return super().forward(x, edge_index).tanh()


class Classes(Sage):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index).argmax(1)


class Attention(models.GlobalAttention):
    """Cannot be split."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(11)
        self.lin = torch.nn.Linear(FEATURES, 4)

    def forward(self, x, edge_index):
        return super().forward(self.lin(x), edge_index)


def changed(module):
    with torch.no_grad():
        module.convs[1].lin_l.weight[2, 5] += 0.25
    return module


def tolerated(a, b):
    """The stated tolerance, element by element."""
    gap = (a.double() - b.double()).abs()
    return (gap <= 1e-5 + 1e-4 * b.double().abs()) | (gap <= 1e-6 * b.double().abs().max())


class TwoFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = own_folder(cls)
        cls.x, cls.edges = models.graph(NODES, 4000, FEATURES)
        cls.graph = cls.folder / "graph.safetensors"
        save_file({"x": cls.x, "edge_index": cls.edges}, str(cls.graph))
        cls.traced = cls.trace(Sage(), "sage")
        cls.exported = cls.export(Sage(), "sage")

    @classmethod
    def sample(cls):
        return models.graph(40, 200, FEATURES, seed=3)

    @classmethod
    def trace(cls, module, name):
        models.save(module, cls.sample(), cls.folder / f"{name}.pt")
        return cls.folder / f"{name}.pt"

    @classmethod
    def export(cls, module, name):
        rows = torch.export.Dim.AUTO
        with torch.no_grad():
            program = torch.export.export(module.eval(), cls.sample(), dynamic_shapes=({0: rows}, {1: rows}))
        archive = io.BytesIO()
        torch.export.save(program, archive)
        (cls.folder / f"{name}.pt2").write_bytes(archive.getvalue())
        return cls.folder / f"{name}.pt2"

    def engine(self, first, second, *words):
        return run([ENGINE, "verify", str(first), "--data", str(self.graph), "--against", str(second), *words],
                   capture_output=True, text=True, timeout=600, check=False)

    def compared(self, first, second, code=0):
        done = self.engine(first, second, "--json")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        self.assertEqual(document["verdict"], "different" if code else "equal")
        return document

    def forward(self, module):
        with torch.no_grad():
            return module.eval()(self.x, self.edges)

    def check_outputs(self, document, first, second):
        """By torch's forward of both modules."""
        a, b = self.forward(first), self.forward(second)
        output, = document["outputs"]
        wrong = ~tolerated(a, b)
        # Elements at the very edge of the tolerance may fall on either side of it.
        self.assertLessEqual(abs(output["different"] - int(wrong.sum())), 2)
        self.assertAlmostEqual(output["max_abs"], (a - b).abs().max().item(), places=4)
        row, column = wrong.nonzero()[0].tolist()
        self.assertEqual((output["at"]["row"], output["at"]["element"]), (row, column))
        self.assertAlmostEqual(output["at"]["first"], a[row, column].item(), places=5)
        self.assertAlmostEqual(output["at"]["second"], b[row, column].item(), places=5)

    def test_a_program_and_its_trace_yield_the_same_numbers(self):
        for first, second in ((self.exported, self.traced), (self.traced, self.exported), (self.traced, self.traced)):
            document = self.compared(first, second)
            output, = document["outputs"]
            self.assertEqual((output["name"], output["rows"], output["different"], output["at"]), ("out", NODES, 0, None))
            self.assertLess(output["max_abs"], 1e-5)
            self.assertEqual((document["first_by"], document["second_by"]), ("forward", "forward"))
            self.assertIsNone(document["operators"])

    def test_a_changed_weight_is_found_in_its_module_and_stage(self):
        other = changed(Sage())
        for first, second in ((self.exported, self.trace(other, "changed")), (self.traced, self.export(other, "changed")),
                              (self.exported, self.folder / "changed.pt2")):
            document = self.compared(first, second, code=5)
            self.check_outputs(document, Sage(), other)
            found = document["operators"]
            self.assertEqual(found["parameters"], ["convs.1.lin_l.weight: 1 of 32 elements, by up to 0.25"])
            self.assertEqual((found["divergence"]["module"], found["divergence"]["kind"]), ("convs.1.lin_l", "aten::linear"))
            self.assertEqual(found["divergence"]["stage"], 2)
            self.assertIn("the files diverge at aten::linear in convs.1.lin_l (", document["reason"])
            self.assertTrue(document["reason"].endswith(", in stage 2"), document["reason"])

    def test_another_aggregation_is_found_where_it_aggregates(self):
        other = Sage("max")
        document = self.compared(self.exported, self.trace(other, "max"), code=5)
        self.check_outputs(document, Sage(), other)
        found = document["operators"]
        self.assertEqual(found["divergence"]["module"], "convs.0.lin_l")
        for only in (found["only_first"], found["only_second"]):
            self.assertEqual({op["module"] for op in only}, {"convs.0.aggr_module", "convs.1.aggr_module"})
        self.assertRegex(document["reason"], r"the files diverge at \S+ in convs.0.aggr_module \(.*\), which only \S+sage.pt2 has, and "
                                             r"numbers differ first at aten::linear in convs.0.lin_l")

    def test_a_last_operator_that_one_file_alone_has_is_named(self):
        document = self.compared(self.traced, self.trace(Ends(), "ends"), code=5)
        self.check_outputs(document, Sage(), Ends())
        self.assertIsNone(document["operators"]["divergence"])
        self.assertRegex(document["reason"], r"the files diverge at aten::tanh \(engine_against.py:\d+\), which only \S+ends.pt has$")

    def test_models_that_cannot_be_split_are_compared(self):
        first = self.trace(Attention(), "attention")
        self.compared(first, self.export(Attention(), "attention"))
        other = Attention()
        with torch.no_grad():
            other.lin.bias[1] -= 0.5
        document = self.compared(first, self.export(other, "shifted"), code=5)
        self.check_outputs(document, Attention(), other)
        self.assertEqual(document["operators"]["divergence"]["module"], "lin")
        self.assertIsNone(document["operators"]["divergence"]["stage"])

    def test_whole_numbers_must_be_the_same(self):
        first = self.trace(Classes(), "classes")
        self.compared(first, self.export(Classes(), "classes"))
        other = Classes()
        with torch.no_grad():
            other.convs[1].lin_l.bias[3] += 0.5
        document = self.compared(first, self.export(other, "others"), code=5)
        a, b = self.forward(Classes()), self.forward(other)
        self.assertEqual(document["outputs"][0]["different"], int((a != b).sum()))
        self.assertEqual(document["outputs"][0]["at"]["row"], int((a != b).nonzero()[0]))

    def test_other_outputs_are_refused(self):
        for module, words in ((Sage(outputs=5), r"the output 'out' is float32 \[700, 4\] in \S+sage.pt2, but float32 \[700, 5\] in"),
                              (Twice(), r"\S+sage.pt2 yields out, but \S+other.pt yields out.0, out.1"),
                              (Classes(), r"the output 'out' is float32 \[700, 4\] in \S+sage.pt2, but int64 \[700\] in")):
            refused = self.engine(self.exported, self.trace(module, "other"))
            self.assertEqual((refused.returncode, refused.stdout), (3, ""))
            self.assertRegex(refused.stderr, words)
            self.assertIn("both must have the same outputs", refused.stderr)

    def test_outputs_in_a_file_can_take_the_place_of_a_model(self):
        out = self.forward(Sage())
        save_file({"out": out}, str(self.folder / "out.safetensors"))
        numpy.save(self.folder / "single.npy", out.numpy())
        (self.folder / "results").mkdir()
        numpy.save(self.folder / "results/out.npy", out.numpy())
        for file in ("out.safetensors", "single.npy", "results"):
            document = self.compared(self.exported, self.folder / file)
            self.assertEqual((document["second_by"], document["outputs"][0]["rows"]), ("file", NODES))
        other = self.forward(changed(Sage()))
        save_file({"out": other}, str(self.folder / "wrong.safetensors"))
        document = self.compared(self.traced, self.folder / "wrong.safetensors", code=5)
        self.check_outputs(document, Sage(), changed(Sage()))
        self.assertEqual(document["operators"], None)
        self.assertIn("wrong.safetensors contains outputs alone", document["not_located"])

    def test_the_text_has_the_verdict_and_the_place(self):
        said = self.engine(self.exported, self.traced)
        self.assertIn("equal: equal within the tolerance on all rows", said.stdout)
        self.trace(changed(Sage()), "text")
        said = self.engine(self.exported, self.folder / "text.pt")
        self.assertEqual(said.returncode, 5)
        for words in ("(its forward) with", "convs.1.lin_l.weight: 1 of 32 elements", "in stage 2", "different: out: "):
            self.assertIn(words, said.stdout)

    def test_options_of_a_run_of_one_model_are_refused(self):
        for words in (("--verify", "full"), ("--schema", "x"), ("--plan", "p.json"), ("--pins", "p.json")):
            refused = self.engine(self.exported, self.traced, *words)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn("excludes", refused.stderr)
        missing = self.engine(self.exported, self.folder / "none.pt")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("none.pt", missing.stderr)


if __name__ == "__main__":
    unittest.main()
