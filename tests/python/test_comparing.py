"""hopscope.compare against eager PyTorch: equal files, a changed weight, and ONNX files."""
import sys
from unittest import mock

import hopscope
import numpy
import onnx_file
import torch
from support import EDGES, FEATURES, NODES, Gcn, PackageTest, Plain, graph, made


class Comparing(PackageTest):
    def setUp(self):
        super().setUp()
        self.model, self.data = made(Gcn), graph()
        self.saved = hopscope.save(self.model, self.data, self.folder / "gcn.pt")

    def compare(self, first, second, data=None):
        return hopscope.compare(first, second, self.data if data is None else data, scratch=self.scratch)

    def parted(self, model, other):
        return hopscope.debug.compare(model, self.data, against=other)

    def forward(self, model, data=None):
        data = self.data if data is None else data
        with torch.no_grad():
            return model.eval()(data.x, data.edge_index).numpy()

    def test_a_program_and_a_trace_of_one_model_are_equal(self):
        exported = hopscope.export_program(self.model, self.data, self.folder / "gcn.pt2")
        for first, second in ((exported, self.saved), (self.saved, exported), (self.model, exported.path)):
            found = self.compare(first, second)
            self.assertEqual((found.verdict, found.where), ("equal", None))
            output, = found.outputs
            self.assertEqual((output.name, output.rows, output.different, output.row), ("out", NODES, 0, None))
        self.assertIn("Comparison(equal", repr(found))
        self.assertIn("<b>", found._repr_html_())
        self.assertEqual(list(found.to_pandas()["rows"]), [NODES])

    def test_a_changed_weight_is_found_in_its_module(self):
        other = made(Gcn)
        with torch.no_grad():
            other.second.lin.weight[0, 0] += 1
        found = self.compare(self.saved, other)
        self.assertEqual((found.verdict, found.where.place.module), ("different", "second.lin"))
        a, b = self.forward(self.model), self.forward(other)
        wrong = numpy.argwhere(abs(a - b) > 1e-5 + 1e-4 * abs(b))
        output, = found.outputs
        self.assertEqual(((output.row, output.element), output.different), (tuple(wrong[0]), len(wrong)))
        self.assertAlmostEqual(output.first, float(a[tuple(wrong[0])]), places=5)
        self.assertAlmostEqual(output.second, float(b[tuple(wrong[0])]), places=5)
        self.assertIn("the files diverge at aten::linear in second.lin", found.reason)
        self.assertIn("first at", found._repr_html_())

    def test_a_file_of_unknown_origin_is_not_trusted_with_the_caller_s_own(self):
        path = self.folder / "of_others.pt"
        path.write_bytes(self.saved.path.read_bytes())
        with mock.patch.dict("os.environ", HOPSCOPE_TRUST="", XDG_CONFIG_HOME=str(self.folder / "config")):
            for own in (self.saved, self.model):
                for first, second in ((own, path), (path, own)):
                    with self.assertRaisesRegex(hopscope.Untrusted, f"^{path} holds code"):
                        self.compare(first, second)
            for first, second in ((self.saved, path), (self.model, path), (path, self.saved)):
                with self.assertRaisesRegex(hopscope.Untrusted, f"^{path} holds code"):
                    self.parted(first, second)
            self.assertEqual(self.compare(self.saved, self.model).verdict, "equal")
            self.assertIsNone(self.parted(self.model, self.saved).place)
            hopscope.trust(path)
            for first, second in ((self.model, path), (path, self.model), (path, self.saved)):
                self.assertEqual(self.compare(first, second).verdict, "equal")
            for first, second in ((self.model, path), (path, self.saved)):
                self.assertIsNone(self.parted(first, second).place)

    def test_other_outputs_are_refused(self):
        with self.assertRaisesRegex(hopscope.InputError, r"the output 'out' is float32 \[90, 3\] in .*, but float32 \[90, 4\]"):
            numpy.save(self.folder / "out.npy", numpy.zeros((NODES, 4), "float32"))
            self.compare(self.saved, self.folder / "out.npy")

    def test_an_onnx_file_is_computed_by_onnxruntime(self):
        model = made(Plain)
        same = self.compare(model, onnx_file.plain(model, self.folder / "same.onnx"))
        self.assertEqual((same.verdict, same.outputs[0].rows, same.document["second_by"]), ("equal", NODES, "file"))
        found = self.compare(model, onnx_file.plain(model, self.folder / "other.onnx", bias=0.5))
        self.assertEqual((found.verdict, found.where, found.outputs[0].different), ("different", None, NODES * 3))
        self.assertEqual((found.outputs[0].row, found.outputs[0].element), (0, 0))
        self.assertAlmostEqual(found.outputs[0].second - found.outputs[0].first, 0.5, places=5)
        x, index = self.data.x, self.data.edge_index
        self.assertEqual(index.shape, (2, EDGES))
        self.assertEqual(self.compare(model, self.folder / "same.onnx", {"x": x, "edge_index": index}).verdict, "equal")
        saved = hopscope.save(model, self.data, self.folder / "plain.pt")
        self.assertEqual(self.compare(saved, self.folder / "same.onnx", (x, index)).verdict, "equal")

    def test_what_onnx_files_lack_is_said(self):
        model, path = made(Plain), self.folder / "plain.onnx"
        with self.assertRaisesRegex(hopscope.InputError, "no such file"):
            self.compare(model, path)
        path.write_bytes(b"no model")
        with self.assertRaisesRegex(hopscope.InputError, "plain.onnx: onnxruntime: "):
            self.compare(model, path)
        nodes = [onnx_file.node("Identity", ["features"], "out")]
        path.write_bytes(onnx_file.model(nodes, {}, [("features", "float32", ("n", FEATURES))], [("out", "float32", ("n", FEATURES))]))
        with self.assertRaisesRegex(hopscope.InputError, "takes 'features', which the data lack"):
            self.compare(model, path)
        nodes = [onnx_file.node("Identity", ["x"], "one"), onnx_file.node("Identity", ["x"], "two")]
        forms = [(name, "float32", ("n", FEATURES)) for name in ("one", "two")]
        path.write_bytes(onnx_file.model(nodes, {}, [("x", *forms[0][1:])], forms))
        with self.assertRaisesRegex(hopscope.InputError, "yields 2 outputs, and the model 1: out"):
            self.compare(model, path)
        with mock.patch.dict(sys.modules, onnxruntime=None), self.assertRaisesRegex(hopscope.UsageError, "not installed"):
            self.compare(model, path)
