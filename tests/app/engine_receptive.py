"""Receptive fields against a breadth-first search in Python that knows nothing of operators: random nodes of each of
three graphs, one of them with two node types and three relations. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the
repository."""
import json
import os
import random
import time
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import engine_models as models
from engine_process import ENGINE, own_folder, run
from serve_case import DIGITS, ServeTest
from tiers import sized

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SCHEMA = json.loads((ROOT / "resources/schemas/receptive-field-1.schema.json").read_text())
NODES = sized(50, 200)
VALIDATED = 10  # of each graph: that takes longer than an answer


class Gcn(nn.Module):
    """Self-loops of the data are dropped, and one is added to each node."""

    def __init__(self, inputs, hidden, outputs, layers):
        super().__init__()
        widths = [inputs] + [hidden] * (layers - 1) + [outputs]
        self.lins = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))

    def forward(self, x, edge_index):
        kept = edge_index[:, edge_index[0] != edge_index[1]]
        loop = torch.arange(x.size(0)).unsqueeze(0).repeat(2, 1)
        edges = torch.cat([kept, loop], 1)
        degree = torch.zeros(x.size(0)).index_add(0, edges[1], torch.ones(edges.size(1)))
        weight = degree.pow(-0.5)[edges[0]] * degree.pow(-0.5)[edges[1]]
        for lin in self.lins:
            h = lin(x)
            x = torch.zeros_like(h).index_add(0, edges[1], h[edges[0]] * weight.unsqueeze(1)).relu()
        return x


class Shops(nn.Module):
    """Two rounds: items from the users that bought them and from similar items, users from their items."""

    def __init__(self, width=4):
        super().__init__()
        self.buys, self.like, self.back = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, user, item, buys, bought, like):
        def into(source, edges, rows: int):
            return torch.zeros(rows, source.size(1)).index_add(0, edges[1], source[edges[0]])

        items = item + into(self.buys(user), buys, item.size(0)) + into(self.like(item), like, item.size(0))
        users = user + into(self.back(item), bought, user.size(0))
        return (users + into(items.relu(), bought, user.size(0))).relu()


def shops(folder, users, items, buys, bought, like):
    """Shops and random rows and edges (their numbers) as files: what `model/open` takes, and the arrays."""
    generator = numpy.random.default_rng(5)
    draw = lambda a, b, n: numpy.stack([generator.integers(0, a, n), generator.integers(0, b, n)])
    data = {"user": generator.random((users, 4), numpy.float32), "item": generator.random((items, 4), numpy.float32),
            "buys": draw(users, items, buys), "bought": draw(items, users, bought), "like": draw(items, items, like)}
    models.save(Shops(), tuple(torch.from_numpy(array) for array in data.values()), folder / "model.pt")
    save_file(data, str(folder / "graph.safetensors"))
    return {"model": str(folder / "model.pt"), "data": [str(folder / "graph.safetensors")],
            "roles": ["buys=index:user>item", "bought=index:item>user", "like=index:item>item"]}, data


def neighbours(edges, rows):
    """For each destination, its edges: (edge, source)."""
    lists = [[] for _ in range(rows)]
    for edge, (source, target) in enumerate(edges.T.tolist()):
        lists[target].append((edge, source))
    return lists


def layers_of(node, into, depth, own_loop, keeps_own):
    """Of a stack of equal layers on one type: the nodes of each depth, and the edges into them."""
    nodes, levels = {node}, []
    for _ in range(depth):
        edges = {edge for n in nodes for edge, source in into[n] if not (own_loop and source == n)}
        loops = set(nodes) if own_loop else set()
        levels.append((nodes, edges, loops))
        nodes = {source for n in nodes for _, source in into[n]} | (nodes if keeps_own or own_loop else set())
    return [*levels, (nodes, set(), set())]


def reads(field):
    """(round, depth of the values, table) -> rows, where there are any."""
    return {(read["depth"], read["from"], read["table"]): read["rows"] for read in field["reads"] if read["rows"]}


class Receptive(ServeTest):
    def fields(self, request, nodes, rows, seed=7):
        client, document = self.opened(request)
        drawn = random.Random(seed).sample(range(rows), min(nodes, rows))
        for number, node in enumerate(drawn):
            field = client.call("model/receptiveField", document=document, node=node, average=False)
            if number < VALIDATED:
                jsonschema.Draft202012Validator(SCHEMA).validate(field)
            self.assertEqual((field["node"], field["nodes"]), (node, rows))
            self.assertEqual(field["explosion"]["means"], [])
            yield node, field

    def compare(self, field, levels, depth, edge_count):
        """`levels` as layers_of() makes them."""
        self.assertEqual([level["depth"] for level in field["levels"]], list(range(depth, -1, -1)))
        for found, (nodes, edges, loops) in zip(field["levels"], levels, strict=True):
            where = (field["node"], found["depth"])
            rows, = found["rows"]
            self.assertEqual((rows["rows"], rows["of"]), (len(nodes), field["nodes"]), where)
            self.assertIn(rows["ids"], ([], sorted(nodes)), where)
            if found["depth"] == 0:
                self.assertEqual(found["edges"], [])
                continue
            along, = found["edges"]
            self.assertEqual((along["edges"], along["of"]), (len(edges) + len(loops), edge_count), where)
            for parent in along["parents"]:
                wanted = edges if parent["table"] == "edge_index" else loops
                self.assertEqual(parent["ids"], sorted(wanted), (where, parent["table"]))

    def stack(self, module, edges, rows, features):
        x = torch.randn(rows, features)
        index = torch.from_numpy(edges)
        models.save(module, (x, index), self.folder / "model.pt")
        save_file({"x": x.numpy(), "edge_index": edges}, str(self.folder / "graph.safetensors"))
        return {"model": str(self.folder / "model.pt"), "data": [str(self.folder / "graph.safetensors")], "roles": []}

    def test_a_stack_with_self_loops_on_the_digits_has_the_neighbourhoods_of_a_search(self):
        edges = load_file(DIGITS["gcn"]["data"][0])["edge_index"]
        rows = int(edges.max()) + 1
        edges = numpy.concatenate([edges, numpy.repeat(numpy.arange(0, rows, 3)[None], 2, 0)], 1)  # some loops
        into = neighbours(edges, rows)
        count = int((edges[0] != edges[1]).sum()) + rows
        request = self.stack(Gcn(8, 8, 3, 3), edges, rows, 8)
        for node, field in self.fields(request, NODES, rows):
            self.compare(field, layers_of(node, into, 3, True, False), 3, count)
            rows = len({source for _, source in into[node]} | {node})
            self.assertEqual(reads(field), {(depth, depth - 1, "node"): rows for depth in (3, 2, 1)}, node)

    def test_a_stack_on_a_skewed_graph_with_duplicates_and_isolated_nodes_has_them_too(self):
        rows, generator = 5000, numpy.random.default_rng(3)
        source = (generator.random(30000) ** 3 * rows).astype(numpy.int64)
        target = (generator.random(30000) ** 2 * rows * 0.9).astype(numpy.int64)
        edges = numpy.stack([source, target])
        edges = numpy.concatenate([edges, edges[:, :500]], 1)
        into = neighbours(edges, rows)
        request = self.stack(models.Sage(8, 8, 4), edges, rows, 8)
        for node, field in self.fields(request, NODES, rows):
            self.compare(field, layers_of(node, into, 2, False, True), 2, edges.shape[1])
            block = field["blocks"][0]
            sources = {source for _, source in into[node]}
            self.assertEqual((block["edges"], block["sources"]), (len(into[node]), len(sources)))
            self.assertEqual(reads(field), {(depth, depth - 1, "node"): len(sources | {node}) for depth in (2, 1)}, node)

    def test_attention_reads_the_row_of_the_destination_too(self):
        """Rows of edges that follow from their destinations alone are no values that pass: their destinations are."""
        edges = load_file(DIGITS["gat"]["data"][0])["edge_index"]
        rows = int(edges.max()) + 1
        into = neighbours(edges, rows)
        for node, field in self.fields(DIGITS["gat"], NODES, rows):
            self.compare(field, layers_of(node, into, 2, False, True), 2, edges.shape[1])
            read = len({source for _, source in into[node]} | {node})
            self.assertEqual(reads(field), {(2, 1, "node"): read, (1, 0, "node"): read}, node)

    def test_node_types_and_relations_are_followed_as_the_model_uses_them(self):
        users, items = 400, 300
        request, data = shops(self.folder, users, items, buys=900, bought=700, like=600)
        buys, bought, like = data["buys"], data["bought"], data["like"]
        by_buys, by_bought, by_like = neighbours(buys, items), neighbours(bought, users), neighbours(like, items)
        for node, field in self.fields(request, NODES, users):
            self.check_shops(node, field, by_buys, by_bought, by_like)

    def check_shops(self, node, field, by_buys, by_bought, by_like):
        two, one, none = ({"rows": {r["table"]: set(r["ids"]) for r in level["rows"]},
                           "edges": {e["table"]: set(e["parents"][0]["ids"]) for e in level["edges"] if e["edges"]}}
                          for level in field["levels"])
        middle = {source for _, source in by_bought[node]}
        bought = {edge for edge, _ in by_bought[node]}
        self.assertEqual(two["rows"], {"user": {node}})
        self.assertEqual(two["edges"], {"bought": bought} if bought else {}, node)
        self.assertEqual(one["rows"]["item"], middle, node)
        self.assertEqual(one["rows"]["user"], {node}, node)
        gathered = {(depth, depth - 1, "item"): len(middle) for depth in (2, 1)} if middle else {}
        self.assertEqual(reads(field), {(2, 1, "user"): 1, (1, 0, "user"): 1, **gathered}, node)
        wanted = {"buys": {e for i in middle for e, _ in by_buys[i]}, "like": {e for i in middle for e, _ in by_like[i]},
                  "bought": bought}
        self.assertEqual(one["edges"], {name: edges for name, edges in wanted.items() if edges}, node)
        self.assertEqual(none["rows"].get("user", set()), {node} | {s for i in middle for _, s in by_buys[i]}, node)
        items = middle | {s for i in middle for _, s in by_like[i]} | middle
        self.assertEqual(none["rows"].get("item", set()), items, node)


class OnTheCommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)
        self.asked = [DIGITS["sage"]["model"], "--data", DIGITS["sage"]["data"][0]]

    def engine(self, *words, code=0):
        done = run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def document(self, *words):
        return json.loads(self.engine("receptive-field", *self.asked, *words, "--json"))

    def test_the_average_over_all_nodes_is_that_of_all_fields(self):
        field = self.document("--node", 5)
        edges = load_file(self.asked[2])["edge_index"]
        into = neighbours(edges, field["nodes"])
        depth = field["depth"]
        sums = numpy.zeros((depth + 1, 2))
        for node in range(field["nodes"]):
            for level, (nodes, along, _) in enumerate(layers_of(node, into, depth, False, True)):
                sums[level] += len(nodes), len(along)
        self.assertEqual(field["explosion"]["method"], "exact")
        self.assertEqual(field["explosion"]["nodes"], field["nodes"])
        for mean in field["explosion"]["means"]:
            wanted = sums[depth - mean["depth"]][int(mean["edges"])] / field["nodes"]
            self.assertAlmostEqual(mean["mean"], wanted, places=9)
            of = edges.shape[1] if mean["edges"] else field["nodes"]
            self.assertAlmostEqual(mean["repeated"], wanted * field["nodes"] / of, places=9)
            self.assertEqual(mean["error"], 0)
        inputs, = (m for m in field["explosion"]["means"] if m["depth"] == 0 and not m["edges"])
        self.assertEqual(inputs["own_bytes"], field["nodes"] * 64 * 4)

    def test_ids_are_written_to_a_file(self):
        field = self.document("--node", 5, "--ids", self.folder / "ids.safetensors")
        ids = load_file(self.folder / "ids.safetensors")
        for level in field["levels"]:
            for rows in level["rows"]:
                self.assertEqual(ids[f"depth{level['depth']}.{rows['table']}"].tolist(), rows["ids"])

    def test_the_node_is_drawn_with_the_seed(self):
        drawn = [self.document("--random", "--seed", seed)["node"] for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_mistakes_are_refused(self):
        for says, *words in (("node has no row 1797", "--node", 1797), ("no output has rows of 'sheep'", "--type", "sheep"),
                             ("--node excludes --random", "--node", 1, "--random")):
            with self.subTest(words=words):
                self.assertIn(says, self.engine("receptive-field", *self.asked, *words, code=2))

    def test_the_table_names_depths_and_repetition(self):
        printed = self.engine("receptive-field", *self.asked, "--node", 5)
        for words in ("Receptive field of node 5", "Layer-wise", "exact: all 1,797 nodes", "repeated"):
            self.assertIn(words, printed)

    def test_a_large_graph_answers_from_a_sample(self):
        graph = self.folder / "large.safetensors"
        self.engine("generate", "rmat", "--nodes", 200000, "--edges", 2000000, "--features", 64, "--seed", 3, "-o", graph)
        began = time.monotonic()
        field = json.loads(self.engine("receptive-field", self.asked[0], "--data", graph, "--node", 77, "--json"))
        self.assertLess(field["seconds"], time.monotonic() - began)
        self.assertEqual(field["explosion"]["method"], "sampled")
        self.assertGreaterEqual(field["explosion"]["nodes"], 4)
        self.assertTrue(any(mean["error"] > 0 for mean in field["explosion"]["means"]))


if __name__ == "__main__":
    unittest.main()
