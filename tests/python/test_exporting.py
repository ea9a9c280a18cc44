"""`hopscope.export` and `hopscope.load` against the models' own forward."""
import importlib.util
import shutil
import tempfile
import unittest
from pathlib import Path

import hopscope
import torch
from hopscope.data import inputs_of

from support import FEATURES, ROOT, Attention, EdgeScores, Gcn, Plain


class Chaotic(Plain):
    """The last bits of what it computes on edges decide about its output."""

    def forward(self, x, edge_index):
        messages = torch.exp(x[edge_index[0]]) * torch.sigmoid(x[edge_index[1]])
        return torch.sin(torch.zeros_like(x).index_add(0, edge_index[1], messages) * 1e8)


class Graphs(torch.nn.Module):
    """A round of messages, then the nodes of each graph reduced onto a table of the graphs."""

    def __init__(self, reduce):
        super().__init__()
        self.lin, self.reduce = torch.nn.Linear(FEATURES, 2), reduce

    def forward(self, x, edge_index, batch, y):
        h = self.lin(x)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).relu()
        place = batch[:, None].expand(-1, 2)
        return torch.zeros(y.size(0), 2).scatter_reduce(0, place, h, self.reduce, include_self=False) + y


class Exporting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        torch.manual_seed(3)
        self.inputs = {"x": torch.randn(90, FEATURES), "edge_index": torch.randint(0, 89, (2, 400))}
        self.other = {"x": torch.randn(30, FEATURES), "edge_index": torch.randint(0, 30, (2, 70))}

    def test_a_loaded_export_takes_and_returns_what_forward_does(self):
        for model in (Gcn(), Plain(), EdgeScores()):
            with self.subTest(type(model).__name__):
                model.eval()
                made = hopscope.export(model, self.inputs, self.folder / type(model).__name__)
                self.assertEqual(made.verdict, "equal")
                for batch in (None, 7):
                    runner = hopscope.load(made.folder, batch=batch, device=torch.device("cpu"))
                    for inputs in (self.inputs, self.other):
                        with torch.no_grad():
                            wanted = model(**inputs)
                        torch.testing.assert_close(runner.inference(**inputs), wanted, atol=1e-5, rtol=1e-5)

    def test_tables_without_rows_give_what_forward_does(self):
        """No nodes, no edges, no graphs: of a model that scatters nodes into graphs, and has a table for each."""
        generator = torch.Generator().manual_seed(4)

        def graph(nodes, edges, graphs):
            def drawn(high, *shape):
                return torch.randint(0, max(high, 1), shape, generator=generator)

            return {"x": torch.randn(nodes, FEATURES, generator=generator), "edge_index": drawn(nodes, 2, edges),
                    "batch": drawn(graphs, nodes), "y": torch.randn(graphs, 2, generator=generator)}

        for reduce in ("sum", "mean", "amax"):
            model = Graphs(reduce).eval()
            made = hopscope.export(model, graph(60, 200, 9), self.folder / reduce, device="cpu")
            for sizes in ((60, 0, 9), (0, 0, 9), (0, 0, 0), (5, 0, 1), (60, 200, 9)):
                with self.subTest(reduce=reduce, sizes=sizes), torch.no_grad():
                    inputs = graph(*sizes)
                    found = made.load().inference(**inputs)
                    torch.testing.assert_close(found, model(**inputs), atol=1e-5, rtol=1e-5)

    def test_a_plan_can_be_given(self):
        model = Gcn()
        plan = hopscope.plan(model, self.inputs, device="cpu", strategy="depth")
        made = hopscope.export(model, self.inputs, self.folder / "made", plan=plan)
        self.assertEqual(made.document["strategy"], "depth")
        self.assertEqual(made.load().document, made.document)

    def test_what_cannot_be_exported_is_an_exception_of_its_kind_and_leaves_nothing(self):
        for kind, model in ((hopscope.Refused, Attention()), (hopscope.VerificationError, Chaotic())):
            with self.subTest(kind.__name__), self.assertRaises(kind) as caught:
                hopscope.export(model.eval(), self.inputs, self.folder / "made")
            self.assertTrue(caught.exception.message)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_package_and_run_py_read_the_sample_of_every_format(self):
        made = hopscope.export(Plain(), self.inputs, self.folder / "made")
        spec = importlib.util.spec_from_file_location("run", made.folder / "run.py")
        run = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(run)
        wanted = torch.tensor([[1.5, -2, 3.25], [0, 0.001, 7]])
        for file in sorted((ROOT / "tests/graph/formats").iterdir()):
            word = f"x={file}" if file.suffix in run.ARRAYS else str(file)
            self.assertTrue(torch.equal(run.read_data([word])["x"], wanted), file.name)
            self.assertTrue(torch.equal(torch.tensor(inputs_of(word).values["x"]), wanted), file.name)

    def test_failures_are_exceptions_with_a_sentence(self):
        model = Plain()
        made = hopscope.export(model, self.inputs, self.folder / "made")
        with self.assertRaisesRegex(hopscope.InputError, "exists already"):
            hopscope.export(model, self.inputs, self.folder / "made")
        runner = hopscope.load(made.folder)
        with self.assertRaisesRegex(hopscope.InputError, "the model needs 'edge_index'"):
            runner.inference(x=self.inputs["x"])
        with self.assertRaisesRegex(hopscope.InputError, "in dimension 1, not"):
            runner.inference(x=self.inputs["x"][:, :2], edge_index=self.inputs["edge_index"])
        with self.assertRaisesRegex(hopscope.InputError, "is not an exported folder"):
            hopscope.load(self.folder)
        shutil.copytree(made.folder, self.folder / "damaged")
        (self.folder / "damaged" / "schema.json").write_text("{")
        with self.assertRaisesRegex(hopscope.InputError, "damaged"):
            hopscope.load(self.folder / "damaged")
        shutil.copy(made.folder / "schema.json", self.folder / "damaged")
        whole = (made.folder / "run.py").read_text()
        for text in ("import (", "raise ValueError(1)", "1 / 0", "", whole[: len(whole) // 2], whole.replace("class Runner", "class R")):
            (self.folder / "damaged" / "run.py").write_text(text)
            with self.subTest(beginning=text[:20]), self.assertRaisesRegex(hopscope.InputError, "run.py is damaged"):
                hopscope.load(self.folder / "damaged")


if __name__ == "__main__":
    unittest.main()
