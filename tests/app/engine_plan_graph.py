"""plan/graph against numpy, which reads the edges from the data, and against runs: the frontiers of batches that follow from
its edges have as many rows as the executor counts. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import os
import random
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import engine_models as models
from engine_receptive import Gcn, shops
from serve_case import DIGITS, KARATE, ServeTest

SCHEMA = json.loads((Path(os.environ["HOPSCOPE_ROOT"]) / "resources/schemas/graph-part-1.schema.json").read_text())


class PlanGraph(ServeTest):
    def part(self, client, document, plan, **more):
        part = client.call("plan/graph", document=document, plan=plan, **more)
        jsonschema.Draft202012Validator(SCHEMA).validate(part)
        return part

    def counted(self, part, plan, batch):
        """Frontier rows by stage: of each batch its own nodes, where their type is gathered, and where its edges come from."""
        rows = {table["table"]: table["rows"] for table in part["tables"]}
        sums = []
        for stage in plan["stages"]:
            sums.append(0)
            for loop in stage["loops"]:
                for first in range(0, rows[loop["destination"]], batch):
                    own = set(range(first, min(first + batch, rows[loop["destination"]])))
                    for kind in {source["type"] for source in loop["frontier"]}:
                        found = set(own) if kind == loop["destination"] else set()
                        for source in loop["frontier"]:
                            if source["type"] != kind:
                                continue
                            relation, = (r for r in part["relations"] if (r["table"], r["owner"], r["key"]) ==
                                         (source["space"], source["owner"], source["key"]))
                            found |= {a for a, b in zip(relation["from_ids"], relation["to_ids"], strict=True) if b in own}
                        sums[-1] += len(found)
        return sums

    def compare_with_run(self, client, document, batch):
        plan = self.plan(client, document, strategy="optimal", batch=batch)["plan"]
        part = self.part(client, document, plan)
        self.assertTrue(part["complete"])
        started = self.start(client, document, plan, batch=batch)
        report = client.finished(started["run"])["report"]
        self.assertEqual(self.counted(part, plan, batch), [stage["frontier_rows"] for stage in report["stages"]])
        return part

    def test_frontiers_of_a_small_graph_are_those_of_runs(self):
        client, document = self.opened(KARATE)
        for batch in (1, 5, 12, 34):
            part = self.compare_with_run(client, document, batch)
        edges = load_file(KARATE["data"][0])["edge_index"]
        wanted = sorted(map(tuple, edges.T.tolist()))
        relation, = part["relations"]
        self.assertEqual(sorted(zip(relation["from_ids"], relation["to_ids"], strict=True)), wanted)
        self.assertEqual((part["table"], part["node"]), ("", None))

    def test_node_types_and_relations_are_those_of_runs(self):
        request, data = shops(self.folder, 40, 30, buys=90, bought=70, like=60)
        client, document = self.opened(request)
        for batch in (7, 100):
            part = self.compare_with_run(client, document, batch)
        found = {relation["label"]: sorted(zip(relation["from_ids"], relation["to_ids"], strict=True))
                 for relation in part["relations"]}
        for name in ("buys", "bought", "like"):
            self.assertEqual(found[name], sorted(map(tuple, data[name].T.tolist())), name)

    def test_the_surroundings_of_a_node_are_whole_and_bounded(self):
        client, document = self.opened(DIGITS["sage"])
        plan = self.plan(client, document)["plan"]
        edges = load_file(DIGITS["sage"]["data"][0])["edge_index"]
        for node in random.Random(3).sample(range(1797), 20):
            part = self.part(client, document, plan, node=node)
            table, = part["tables"]
            self.assertEqual((part["complete"], part["table"], part["node"]), (False, "node", node))
            self.assertLessEqual(len(table["ids"]), 60)
            self.assertIn(node, table["whole"])
            self.assertLessEqual(set(table["whole"]), set(table["ids"]))
            relation, = part["relations"]
            wanted = sorted((a, b) for a, b in edges.T.tolist() if b in set(table["whole"]))
            self.assertEqual(sorted(zip(relation["from_ids"], relation["to_ids"], strict=True)), wanted, node)
            self.assertLessEqual({a for a, _ in wanted}, set(table["ids"]))
            self.assertEqual((relation["of"], table["rows"]), (edges.shape[1], 1797))

    def test_the_node_is_drawn_with_the_seed(self):
        client, document = self.opened(DIGITS["gcn"])
        plan = self.plan(client, document)["plan"]
        drawn = [self.part(client, document, plan, seed=seed)["node"] for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_what_cannot_be_drawn_is_refused(self):
        edges = numpy.stack([numpy.arange(1, 300), numpy.zeros(299, numpy.int64)])
        models.save(Gcn(4, 4, 2, 2), (torch.randn(300, 4), torch.from_numpy(edges)), self.folder / "model.pt")
        save_file({"x": numpy.random.default_rng(1).random((300, 4), numpy.float32), "edge_index": edges},
                  str(self.folder / "graph.safetensors"))
        client, document = self.opened({"model": str(self.folder / "model.pt"), "roles": [],
                                        "data": [str(self.folder / "graph.safetensors")]})
        plan = self.plan(client, document)["plan"]
        self.refused(-32004, "gathers more than can be drawn", client.call, "plan/graph", document=document, plan=plan, node=0)
        self.refused(-32002, "node has no row 300", client.call, "plan/graph", document=document, plan=plan, node=300)
        self.assertEqual(self.part(client, document, plan, node=7)["tables"][0]["whole"], [7])


class OfOperators(ServeTest):
    def test_the_predicted_time_of_operators_is_part_of_that_of_their_stage(self):
        for name in ("jknet", "gat"):
            client = self.client()
            document = client.call("model/open", **DIGITS[name])["document"]
            for strategy in ("depth", "optimal"):
                made = self.plan(client, document, strategy=strategy)
                for stage, predicted in zip(made["plan"]["stages"], made["predicted"]["stages"], strict=True):
                    seconds = {each["op"]: each["seconds"] for each in predicted["operators"]}
                    self.assertEqual(set(seconds), {step["op"] for step in stage["ops"]}, (name, strategy))
                    self.assertGreater(min(seconds.values()), -1e-15)
                    self.assertGreater(sum(seconds.values()), 0.2 * predicted["seconds"])
                    self.assertLessEqual(sum(seconds.values()), predicted["seconds"] * (1 + 1e-9))

    def test_literal_arguments_have_the_names_of_the_schema(self):
        class Literals(nn.Module):
            def forward(self, x, edge_index):
                h = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]], alpha=1.5)
                h = nn.functional.leaky_relu(h, negative_slope=0.3).to(torch.float64)
                return h.clamp(max=9.5).sum(1, keepdim=True).to(torch.float16)

        x, edge_index = models.graph(30, 90, 8)
        models.save(Literals(), (x, edge_index), self.folder / "model.pt")
        client = self.client()
        inspected = client.call("model/open", model=str(self.folder / "model.pt"), data=[], roles=[])["inspect"]
        found = {}
        for op in inspected["ops"]:
            found.setdefault(op["name"].split("::")[-1].split(".")[0], []).append(
                {each["name"]: each["value"] for each in op["arguments"]})
        self.assertEqual((found["index_add"][0]["dim"], found["index_add"][0]["alpha"]), (0, 1.5))
        self.assertEqual(found["leaky_relu"][0]["negative_slope"], 0.3)
        self.assertEqual((found["sum"][0]["dim"], found["sum"][0]["keepdim"]), ([1], True))
        self.assertEqual((found["clamp"][0]["min"], found["clamp"][0]["max"]), (None, 9.5))
        casts = [each["dtype"] for name in ("to", "_to_copy") for each in found.get(name, [])]
        self.assertEqual(casts, ["float64", "float16"])


if __name__ == "__main__":
    unittest.main()
