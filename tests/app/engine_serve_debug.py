"""The debugger by the window's protocol: what is wrong with a model is found at its operator and rows, and questions that make no
sense are refused. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import os
import unittest
from pathlib import Path

import jsonschema
import torch
from safetensors.torch import load_file, save_file
from serve_case import KARATE, ROOT, ServeTest

SCHEMA = json.loads((ROOT / "resources/schemas/findings-1.schema.json").read_text())
WRONG = str(Path(os.environ["HOPSCOPE_ROOT"]) / "samples/lessons/gcn_blocks.pt")


class Debugging(ServeTest):
    def setUp(self):
        super().setUp()
        self.engine = self.client()
        self.document, self.plan_document = self.opened(KARATE)

    def opened(self, files):
        opened = self.engine.call("model/open", **files)
        self.ops = opened["inspect"]["ops"]
        return opened["document"], self.plan(self.engine, opened["document"])["plan"]

    def ask(self, method, **params):
        found = self.engine.call(f"debug/{method}", document=self.document, **params)
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
        return found

    def last(self, kind):
        return [op for op in self.ops if op["kind"] == kind][-1]

    def layer(self):
        """Edges, and what the first layer's messages are: by hand."""
        graph, weights = load_file(KARATE["data"][0]), torch.jit.load(KARATE["model"]).state_dict()
        source, target = graph["edge_index"]
        scale = (torch.bincount(target, minlength=34) + 1).rsqrt().unsqueeze(1)
        return source, target, (graph["x"] @ weights["conv1.lin.weight"].t()) * scale

    def test_degrees_that_are_counted_in_blocks_are_found_at_the_nodes_with_neighbours_in_others(self):
        source, target, _ = self.layer()
        across = torch.unique(target[source // 17 != target // 17]).tolist()
        found = self.ask("against", against=WRONG, roles=[])
        self.assertEqual((found["nodes"]["kind"], found["nodes"]["rows"]), ("aten::index_add", len(across)))
        self.assertEqual([row["row"] for row in found["nodes"]["shown"]], across)
        self.assertIsNone(self.ask("against", against=KARATE["model"])["divergence"])

    def test_the_staged_run_does_not_differ_and_tolerances_count(self):
        found = self.ask("staged", plan=self.plan_document, batch=5, absolute=1e-5, relative=1e-4)
        self.assertIsNone(found["divergence"])
        self.assertEqual((found["first"], found["second"]), ("staged", "unsplit"))
        loose = self.ask("against", against=WRONG, absolute=1e6, relative=0)
        self.assertTrue(loose["nodes"] is None or loose["nodes"]["rows"] == 0)

    def test_a_nan_of_the_data_is_named(self):
        graph = load_file(KARATE["data"][0])
        graph["x"][7, 3] = float("nan")
        save_file(graph, str(self.folder / "graph.safetensors"))
        self.document, plan = self.opened({**KARATE, "data": [str(self.folder / "graph.safetensors")]})
        found = self.ask("nan", plan=plan)
        self.assertEqual((found["inputs"], found["outputs"]), (["x"], ["out"]))

    def test_rows_and_messages_of_nodes_are_those_of_the_model(self):
        first = next(op for op in self.ops if op["kind"] == "aggregate" and op["depth"] == 1)
        source, target, rows = self.layer()
        node = 33
        found = self.ask("watch", plan=self.plan_document, batch=9, nodes=[node, 0], values=[first["id"]],
                         aggregations=[first["id"]])
        sums = torch.zeros(34, rows.size(1)).index_add(0, target, rows[source])
        for at, each in enumerate((node, 0)):
            torch.testing.assert_close(torch.tensor(found["watched"][0]["numbers"][at]), sums[each], atol=1e-5, rtol=1e-4)
        self.assertEqual(found["watched"][0]["file"], "")
        norms = rows[source[target == node]].norm(dim=1).sort(descending=True).values
        one = next(each for each in found["aggregations"] if each["node"] == node)
        self.assertEqual(one["messages"], norms.numel())
        torch.testing.assert_close(torch.tensor([each["first"] for each in one["contributions"]]), norms[:20], atol=1e-5,
                                   rtol=1e-4)
        self.assertEqual(self.leavings_of_rows(), [])

    def leavings_of_rows(self):
        return [path.name for path in self.folder.rglob("*.npy")]

    def test_a_breakpoint_counts_the_batch_of_its_node(self):
        relu = next(op for op in self.ops if op["name"] == "aten::relu")
        found = self.ask("watch", plan=self.plan_document, batch=10, breakpoints=[{"place": relu["id"], "node": 25}])
        hit, = found["hits"]
        self.assertLessEqual(hit["first_destination"], 25)
        self.assertGreater(hit["first_destination"] + hit["destinations"], 25)
        everywhere = self.ask("watch", plan=self.plan_document, batch=10, breakpoints=[{"place": relu["id"]}], hits=2)
        self.assertEqual((everywhere["seen"], len(everywhere["hits"])), (4, 2))
        finite = self.ask("watch", plan=self.plan_document, breakpoints=[{"place": relu["id"], "not_finite": True}])
        self.assertEqual(finite["seen"], 0)

    def test_what_makes_no_sense_is_refused(self):
        watch = {"document": self.document, "plan": self.plan_document}
        self.refused(-32002, "names no operator", self.engine.call, "debug/watch", **watch, nodes=[1], values=["op99999"])
        self.refused(-32003, "", self.engine.call, "debug/against", document=self.document, against="/no/such.pt")
        with self.assertRaises(Exception) as caught:
            self.engine.call("debug/against", document=self.document)
        self.assertEqual(caught.exception.code, -32602)


if __name__ == "__main__":
    unittest.main(verbosity=2)
