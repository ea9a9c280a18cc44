"""hopscope.debug against eager PyTorch: faults that were planted are found, and rows are those of the model."""
import hopscope
import numpy
import torch
from hopscope import debug
from support import Gcn, PackageTest, graph, made


class Debugging(PackageTest):
    def setUp(self):
        super().setUp()
        self.model, self.data = made(Gcn), graph()
        self.saved = hopscope.save(self.model, self.data, self.folder / "gcn.pt")

    def asked(self, function, *more, **options):
        return function(self.saved, self.data, *more, scratch=self.scratch, **options)

    def hidden(self):
        with torch.no_grad():
            return self.model.first(self.data.x, self.data.edge_index)

    def whole(self, found, words):
        self.assertIn(words, repr(found))
        self.assertIn("<b>", found._repr_html_())

    def test_a_sound_split_has_no_divergence(self):
        found = self.asked(debug.compare, batch=7)
        self.assertIsNone(found.place)
        self.assertGreater(found.compared, 3)
        self.whole(found, "no difference")
        plan = self.asked(hopscope.plan, device="cpu")
        self.assertIsNone(self.asked(debug.compare, plan=plan).place)

    def test_a_wrong_weight_is_found_in_its_layer(self):
        other = made(Gcn)
        with torch.no_grad():
            other.second.lin.weight[0, 0] += 1
        after = hopscope.save(other, self.data, self.folder / "after.pt")
        found = self.asked(debug.compare, against=after.path)
        self.assertEqual(found.place.module, "second.lin")
        with torch.no_grad():
            before = self.model.second.lin(self.hidden().relu())
            changed = other.second.lin(self.hidden().relu())
        rows = ((before - changed).abs() > 1e-5 + 1e-4 * changed.abs()).any(1)
        self.assertEqual(found.differing, int(rows.sum()))
        for row in found.shown:
            self.assertTrue(rows[row.row])
        self.whole(found, "diverge at")
        for ignored in ({"batch": 7}, {"plan": "plan.json"}):
            with self.assertRaisesRegex(hopscope.UsageError, "on whole tensors, without plan and batch"):
                self.asked(debug.compare, against=after, **ignored)

    def test_what_makes_infinities_is_named(self):
        class Inverse(torch.nn.Module):
            def forward(self, x, edge_index):
                return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]).reciprocal()

        x, index = torch.ones(6, 2), torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
        found = debug.non_finite(Inverse(), {"x": x, "edge_index": index}, scratch=self.scratch)
        maker, = found.makers
        self.assertEqual((maker.place.kind, maker.infinite, maker.reaches_output), ("aten::reciprocal", 2, True))
        self.assertEqual({row.row for row in maker.shown}, {5})
        self.whole(found, "1 operator makes")

    def test_results_are_seen_batch_by_batch(self):
        found = self.asked(debug.breakpoints, "first", batch=30)
        self.assertGreater(found.seen, 2)
        self.whole(found, "described")
        self.assertEqual(self.asked(debug.breakpoints, "first", when="isnan").seen, 0)

    def test_rows_are_those_of_the_model(self):
        shown = self.asked(debug.tensor, "first output")
        self.same(torch.from_numpy(shown.numbers), self.hidden())
        self.assertIsNone(shown.rows)
        some = self.asked(debug.tensor, "first output", nodes=[5, 2])
        numpy.testing.assert_array_equal(some.rows, [2, 5])
        numpy.testing.assert_allclose(some.numbers, shown.numbers[[2, 5]], atol=1e-6)
        self.assertEqual(self.asked(debug.tensor, "first output", rows=(3, 9)).numbers.shape[0], 6)
        self.assertAlmostEqual(shown.statistics["max"], float(self.hidden().max()), places=5)
        watched = self.asked(debug.watch, shown.place.op, nodes=[5, 2], messages="first")
        numpy.testing.assert_allclose(watched.values[shown.place.name], shown.numbers[[5, 2]], atol=1e-6)
        self.assertTrue(watched.aggregations)
        self.whole(watched, "2 nodes")

    def test_what_a_stage_holds_adds_up(self):
        found = self.asked(debug.memory, 1, batch=30)
        loop, = found.loops
        for at, step in enumerate(loop.steps):
            held = [item["bytes"] for item in loop.held if item["from"] <= at < item["to"]]
            self.assertEqual(step["bytes"], sum(held))
        most = max(step["bytes"] for step in loop.steps)
        self.assertEqual(loop.steps[loop.peak_step]["bytes"], most)
        self.assertLessEqual(most + found.outside, found.peak_memory)
        self.whole(found, "stage 1")

    def test_mistakes_have_a_sentence(self):
        with self.assertRaisesRegex(hopscope.UsageError, "names no operator"):
            self.asked(debug.breakpoints, "sheep")
        with self.assertRaisesRegex(hopscope.UsageError, "nothing to watch"):
            self.asked(debug.watch, nodes=1)
        with self.assertRaisesRegex(hopscope.UsageError, "no stage 9"):
            self.asked(debug.memory, 9)
