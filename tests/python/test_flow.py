"""The layered flow of an export against what eager PyTorch and plain loops compute."""
import tempfile
import unittest
from pathlib import Path

import hopscope
import torch
from support import FEATURES, Gcn, Hetero, Plain, edges, made, shop


class Flow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        torch.manual_seed(4)
        cls.inputs = {"x": torch.randn(90, FEATURES), "edge_index": edges(90, 90, 400, seed=4)}
        cls.runners = {kind: hopscope.export(made(kind), cls.inputs, cls.folder / kind.__name__).load()
                       for kind in (Gcn, Plain)}

    def flow(self, kind):
        flow = self.runners[kind].flow(**self.inputs)
        self.addCleanup(flow.close)
        return flow

    def test_layers_one_after_the_other_give_the_models_output(self):
        flow = self.flow(Gcn)
        self.assertGreaterEqual(len(flow.layers), 2)
        self.assertEqual([layer.size for layer in flow.layers], [90] * len(flow.layers))
        for layer in flow.layers:
            self.assertLessEqual(set(layer.reads), set(flow.names))
            layer.run()
        with torch.no_grad():
            torch.testing.assert_close(flow.outputs()["out"], made(Gcn)(**self.inputs), atol=1e-5, rtol=1e-5)
        self.assertIn(f"{len(flow.layers)} layers", flow._repr_html_())

    def test_blocks_compute_the_rows_that_the_layer_stores(self):
        flow = self.flow(Gcn)
        for layer in flow.layers:
            parts = [block.compute() for block in layer.blocks(size=23)]
            layer.run()
            self.assertEqual(len(parts), 4)
            for name in layer.stores:
                torch.testing.assert_close(torch.cat([part[name] for part in parts]), flow[name], atol=1e-6, rtol=1e-6)

    def test_blocks_are_the_batches_of_the_runner(self):
        with hopscope.load(self.folder / Gcn.__name__, batch=40).flow(**self.inputs) as flow:
            for layer in flow.layers:
                found = [(block.first, block.last) for block in layer.blocks()]
                self.assertEqual(found, [(0, 40), (40, 80), (80, 90)])
                self.assertEqual(len(list(layer.blocks(size=50))), 2)

    def test_a_block_knows_its_rows_in_the_whole_graph(self):
        flow, (source, target) = self.flow(Plain), self.inputs["edge_index"]
        layer = next(layer for layer in flow.layers if layer.relations)
        seen = []
        for block in layer.blocks(size=20):
            into = block.edges()
            self.assertEqual(block.nodes.ids.tolist(), list(range(block.first, block.last)))
            self.assertTrue(torch.equal(into.source.ids, source[into.ids]))
            self.assertTrue(torch.equal(into.target.ids, target[into.ids]))
            self.assertTrue(torch.equal(block.nodes.ids[into.places], into.target.ids))
            self.assertEqual(sorted(into.ids.tolist()), [e for e in range(400) if block.first <= target[e] < block.last])
            members = set(block.nodes.ids.tolist()) | set(into.source.ids.tolist())
            self.assertEqual(set(block.frontier().ids.tolist()), members)
            self.assertTrue(torch.equal(into.source["x"], self.inputs["x"][into.source.ids]))
            seen += into.ids.tolist()
        self.assertEqual(sorted(seen), list(range(400)))

    def test_edges_of_a_derived_table_are_traced_to_those_that_were_given(self):
        flow, (source, target) = self.flow(Gcn), self.inputs["edge_index"]
        layer = next(layer for layer in flow.layers if layer.relations)
        given, loops = [], []
        for block in layer.blocks(size=50):
            into = block.edges()
            parents = into.parents()
            places, rows = parents["edge_index"]
            self.assertTrue(torch.equal(into.source.ids[places], source[rows]))
            self.assertTrue(torch.equal(into.target.ids[places], target[rows]))
            given += rows.tolist()
            places, rows = parents["node"]
            self.assertTrue(torch.equal(into.source.ids[places], rows))
            loops += rows.tolist()
        self.assertEqual(sorted(given), [e for e in range(400) if source[e] != target[e]])
        self.assertEqual(sorted(loops), list(range(90)))

    def test_functions_of_your_own_have_the_rows_of_earlier_layers_at_hand(self):
        flow, (source, target) = self.flow(Plain), self.inputs["edge_index"]
        layer = next(layer for layer in flow.layers if layer.relations)
        x = self.inputs["x"]
        for reduce, wanted in (("sum", "sum"), ("mean", "mean"), ("max", "amax"), ("min", "amin"), (self.added, "sum")):
            found = layer.propagate(lambda e: e.source["x"] - e.target["x"], reduce, into="first", size=17)
            index = target.view(-1, 1).expand(-1, FEATURES)
            first = torch.zeros_like(x).scatter_reduce(0, index, x[source] - x[target], wanted, include_self=False)
            torch.testing.assert_close(found, first)
        second = layer.propagate(lambda e: e.source["first"], apply=lambda nodes, sums: sums + nodes["x"], into="second")
        torch.testing.assert_close(second, torch.zeros_like(x).index_add(0, target, first[source]) + x)
        self.assertTrue(torch.equal(flow["second"], second))

    @staticmethod
    def added(messages, places, count):
        return messages.new_zeros(count, messages.size(1)).index_add(0, places, messages)

    def test_types_are_tables_of_their_own(self):
        data = shop()
        inputs = {"x_dict": dict(data.x_dict), "edge_index_dict": dict(data.edge_index_dict)}
        made_of = hopscope.export(made(Hetero), data, self.folder / "hetero")
        with made_of.load().flow(**inputs) as flow:
            self.assertEqual({layer.destination for layer in flow.layers}, {"user", "item"})
            found = flow.run()
        with torch.no_grad():
            wanted = made(Hetero)(**inputs)
        for name, rows in wanted.items():
            torch.testing.assert_close(found[f"out.{name}"], rows, atol=1e-5, rtol=1e-5)

    def test_what_the_flow_does_not_have_has_a_sentence(self):
        flow = self.flow(Gcn)
        layer = flow.layers[-1]
        with self.assertRaisesRegex(hopscope.InputError, "no 'nothing' at this layer\nhint: it has .*x"):
            flow["nothing"]
        with self.assertRaisesRegex(hopscope.InputError, "no 'out' at this layer"):
            flow["out"]
        with self.assertRaisesRegex(hopscope.InputError, "has rows of"):
            next(layer.blocks()).edges()["x"]
        weight = next(iter(flow._run.weights))
        with self.assertRaisesRegex(hopscope.InputError, f"'{weight}' has no rows\nhint: flow\\['{weight}'\\] is the whole value"):
            next(layer.blocks()).nodes[weight]
        with self.assertRaisesRegex(hopscope.InputError, "'middle' is not a reduction"):
            layer.propagate(lambda e: e.source["x"], "middle", into="h")
        with self.assertRaisesRegex(hopscope.InputError, "the model needs 'edge_index'"):
            self.runners[Gcn].flow(x=self.inputs["x"])


if __name__ == "__main__":
    unittest.main()
