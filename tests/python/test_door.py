"""Whatever inputs a file takes, the package takes as well: each shape of docs/guides/data.md gives the same verdict through a
traced file and through Python, without roles and on graphs of all sizes."""
from typing import Optional

import hopscope
import torch
from support import PackageTest
from torch import nn
from torch_geometric.nn import GAE, GCNConv, DeepGCNLayer, HeteroConv, MaxAggregation, MedianAggregation, RGCNConv, SAGEConv

NODES, EDGES, WIDTH = 300, 1500, 6


class Sums(nn.Module):
    """Sums over edges, whose ends `ends` makes of the inputs, and `after`, which takes the sums as `h`."""

    def __init__(self, ends, after=lambda h, **_: h):
        super().__init__()
        self.linear, self.ends, self.after = nn.Linear(WIDTH, 3), ends, after


def module(*names, ends=lambda edge_index, **_: edge_index, after=lambda h, **_: h, features=lambda x, **_: x):
    """A model with these arguments."""
    lines = [f"def forward(self, {', '.join(names)}):", f"    given = dict({', '.join(f'{name}={name}' for name in names)})",
             "    return self.compute(given)"]
    space = {}
    exec("\n".join(lines), space)  # arguments are known by their names

    def compute(self, given):
        x = features(**given)
        source, target = ends(**given)
        h = self.linear(torch.zeros_like(x).index_add(x.dim() - 2, target, x.index_select(x.dim() - 2, source)))
        return after(h=h, **given)

    return type("Model", (Sums,), {"forward": space["forward"], "compute": compute})(ends).eval()


def graph(nodes=NODES, edges=EDGES):
    torch.manual_seed(nodes)
    return {"x": torch.randn(nodes, WIDTH), "edge_index": torch.randint(0, nodes, (2, edges))}


def offsets(counts):
    return torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])


def written_out(rowptr, col):
    return col, torch.repeat_interleave(torch.arange(rowptr.size(0) - 1), rowptr[1:] - rowptr[:-1])


def pooled(h, batch, u, **_):
    return torch.zeros(u.size(0), h.size(1)).index_add(0, batch, h) + u[:, :3]


def shapes():
    """(name, model, data) of each shape."""
    data = graph()
    x, index = data["x"], data["edge_index"]
    source, target = index
    count, edges = x.size(0), index.size(1)
    graphs = 9
    batch = torch.arange(count) * graphs // count
    yield "a global row", module("x", "edge_index", "u", after=lambda h, u, **_: h + u[:, :3]), {**data, "u": torch.randn(1, 4)}
    yield "a vector", module("x", "edge_index", "bias", after=lambda h, bias, **_: h * bias[0] + bias[1:]), {**data, "bias": torch.randn(4)}
    yield "rows of graphs", module("x", "edge_index", "batch", "u", after=pooled), {**data, "batch": batch, "u": torch.randn(graphs, 4)}
    yield "rows of their graph", module("x", "edge_index", "batch", "u", after=lambda h, batch, u, **_: h + u[batch][:, :3]), {
        **data, "batch": batch, "u": torch.randn(graphs, 4)}
    yield "two vectors", module("x", "src", "dst", ends=lambda src, dst, **_: (src, dst)), {"x": x, "src": source, "dst": target}
    yield "rows of edges", module("x", "edges", ends=lambda edges, **_: (edges[:, 0], edges[:, 1])), {"x": x, "edges": index.t().contiguous()}
    yield "compressed rows", module("x", "rowptr", "col", ends=lambda rowptr, col, **_: written_out(rowptr, col)), {
        "x": x, "rowptr": offsets(torch.bincount(target, minlength=count)), "col": source[target.argsort()]}
    yield "a table of neighbours", Neighbours(), {"x": x, "nbr": torch.randint(0, count, (count, 4))}
    yield "nodes by number", module("x", "edge_index", "seeds", after=lambda h, seeds, **_: h[seeds]), {**data, "seeds": torch.randperm(count)[:40]}
    yield "pairs", module("x", "edge_index", "pairs", after=lambda h, pairs, **_: (h[pairs[:, 0]] * h[pairs[:, 1]]).sum(1)), {
        **data, "pairs": torch.randint(0, count, (70, 2))}
    both = torch.cat([index, index.flip(0)], 1)
    yield "reverse edges", module("x", "edge_index", "rev", after=lambda h, edge_index, rev, **_: h[edge_index[0]] - h[edge_index[0]][rev]), {
        "x": x, "edge_index": both, "rev": torch.cat([torch.arange(edges, 2 * edges), torch.arange(edges)])}
    yield "several batches", module("x", "edge_index"), {"x": torch.randn(4, count, WIDTH), "edge_index": index}
    yield "weights of edges", module("x", "edge_index", "edge_weight", after=lambda h, edge_weight, edge_index, **_: h * torch.zeros(
        h.size(0)).index_add(0, edge_index[1], edge_weight).unsqueeze(1)), {**data, "edge_weight": torch.rand(edges)}
    for layout in ("coo", "csr"):
        matrix = torch.sparse_coo_tensor(index.flip(0), torch.rand(edges), (count, count)).coalesce()
        yield f"an adjacency as {layout}", Matrix(), {"x": x, "adj": matrix if layout == "coo" else matrix.to_sparse_csr()}
    yield "a dict", Dict(), {"xs": {"a": x, "b": torch.randn(50, WIDTH)}, "edge_index": torch.stack([source, target % 50])}
    yield "a tuple", SAGEConv((WIDTH, WIDTH), 3), {"x": (x, torch.randn(50, WIDTH)), "edge_index": torch.stack([source, target % 50])}


def coincidences():
    """(name, model, data) where sizes happen to be equal, so that the code alone tells what an input is."""
    data = graph(NODES, NODES)
    gather = "the sum over edges with a factor"
    yield gather + " for each edge, as many as nodes", module("x", "edge_index", "gate", after=lambda h, edge_index, gate, **_: torch.zeros_like(
        h).index_add(0, edge_index[1], h[edge_index[0]] * gate.unsqueeze(1))), {**data, "gate": torch.rand(NODES)}
    yield gather + " for each node, as many as edges", module("x", "edge_index", "edge_bias", after=lambda h, edge_bias, **_: h + edge_bias), {
        **data, "edge_bias": torch.rand(NODES, 3)}
    first, second = (graph(NODES, EDGES)["edge_index"].roll(by, 1) for by in (0, 7))
    yield "two relations of equal size", module(
        "x", "ei_a", "ei_b", "p", "q", ends=lambda ei_a, **_: ei_a,
        after=lambda h, ei_a, ei_b, p, q, **_: torch.zeros_like(h).index_add(0, ei_a[1], h[ei_a[0]] * p).index_add(0, ei_b[1], h[ei_b[0]] * q)), {
            "x": data["x"], "ei_a": first, "ei_b": second, "p": torch.rand(EDGES, 1), "q": torch.rand(EDGES, 1)}
    yield "keys of a dict that name no types", Cites(), {
        "xs": {"p": data["x"], "q": torch.randn(90, WIDTH)},
        "es": {"cites": torch.randint(0, 80, (2, EDGES)), "back": torch.randint(0, 90, (2, EDGES))}}


class Cites(nn.Module):
    def forward(self, xs: dict[str, torch.Tensor], es: dict[str, torch.Tensor]):
        h = torch.zeros_like(xs["q"]).index_add(0, es["cites"][1], xs["p"][es["cites"][0]])
        return h.index_add(0, es["back"][1], xs["q"][es["back"][0]])


class Neighbours(nn.Module):
    def forward(self, x, nbr):
        return x - x[nbr].mean(1)


class Matrix(nn.Module):
    def forward(self, x, adj):
        return adj @ x


class Defaulted(nn.Module):
    """Script for which None is not the same as the default of an argument that may be None."""

    def forward(self, x, edge_index, factor: Optional[float] = 3.0, shift: Optional[float] = None):
        if factor is not None:
            x = x * factor
        if shift is not None:
            x = x + shift
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(NODES, WIDTH))

    def forward(self, x, edge_index):
        h = x + self.rows
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])


class Dict(nn.Module):
    def forward(self, xs: dict[str, torch.Tensor], edge_index):
        return torch.zeros_like(xs["b"]).index_add(0, edge_index[1], xs["a"][edge_index[0]])


class Door(PackageTest):
    def through_file(self, model, data, **options):
        """The verdict for a file that was traced on the data, or the exit code."""
        path = self.folder / "traced.pt"
        torch.jit.trace(model, example_kwarg_inputs=data, check_trace=False, strict=False).save(path)
        return self.verdict(path, data, **options)

    def verdict(self, model, data, **options):
        try:
            return hopscope.inference(model, data, verify="full", scratch=self.scratch, **options).verdict
        except hopscope.HopscopeError as problem:
            return f"{problem.exit_code}: {problem.message}"

    def equal(self, model, data, wanted, **options):
        """Through Python, verified and compared with eager."""
        result = hopscope.inference(model.eval(), data, verify="full", scratch=self.scratch, **options)
        self.assertEqual(result.verdict, "equal")
        self.same(result.output, wanted)
        return result

    def test_an_optional_argument_without_data_has_its_default(self):
        data, model = graph(), torch.jit.script(Defaulted())
        self.equal(model, data, model(**data))
        self.equal(model, data | {"factor": torch.tensor(0.5)}, model(**data, factor=0.5))

    def test_each_shape_of_inputs_has_one_verdict(self):
        for name, model, data in shapes():
            with self.subTest(name):
                model.eval()
                self.assertEqual((self.through_file(model, data), self.verdict(model, data)), ("equal", "equal"))

    def test_the_code_says_what_an_input_is_where_sizes_are_equal(self):
        for name, model, data in coincidences():
            with self.subTest(name):
                self.assertEqual((self.through_file(model, data), self.verdict(model, data)), ("equal", "equal"))

    def test_roles_in_all_words_are_taken(self):
        data = graph()
        ends = {"a": data["edge_index"][0], "b": data["edge_index"][1]}
        model = module("x", "a", "b", ends=lambda a, b, **_: (a, b))
        for roles in (["a=source", "b=destination"], {"a": "source:node>node", "b": "destination:node>node"}):
            self.assertEqual(self.verdict(model, {"x": data["x"], **ends}, roles=roles), "equal")
        with self.assertRaisesRegex(hopscope.UsageError, "x=sheep is not a role"):
            hopscope.inference(model, {"x": data["x"], **ends}, roles={"x": "sheep"}, scratch=self.scratch)

    def test_graphs_of_all_sizes_are_traced_as_they_are(self):
        for nodes, edges in ((1, 0), (1, 1), (2, 1), (3, 9), (4, 4), (8, 8), (127, 300), (128, 300)):
            with self.subTest(nodes=nodes, edges=edges):
                data, model = graph(nodes, edges), SAGEConv(WIDTH, 3)
                result = self.equal(model, data, model(**data))
                self.assertRegex(result.saved.notes[0], f"^traced with {min(nodes, 127)} nodes? .* no size is baked in")

    def test_a_model_that_takes_no_part_of_its_data_is_traced_on_all_of_it(self):
        data, model = graph(), Learned()
        roles = {"rows": "node:node"}
        self.assertEqual(self.through_file(model, data, roles=roles), "equal")
        result = self.equal(model, data, model(**data), roles=roles)
        self.assertRegex(str(result.saved), r"traced with 300 nodes and 1,500 edges, the data, alone: forward fails on a sample of 127 nodes")
        self.assertIn("it agrees with the model on the data", str(result.saved))
        large = {name: tensor.repeat(*([1, 400] if name == "edge_index" else [1, 1])) for name, tensor in data.items()}
        self.assertRegex(self.verdict(model, large), "4: forward fails on a sample of 127 nodes and .*RuntimeError")

    def test_roles_of_parameters_have_the_names_of_the_model(self):
        class Constant(Learned):
            def forward(self, x, edge_index, scale):
                return super().forward(x, edge_index) * scale

        data = {**graph(), "scale": 2}
        model = Constant()
        self.equal(model, data, model(**data), roles={"rows": "node:node"})

    def test_numbers_of_rows_are_taken_from_the_inputs(self):
        data, model = graph(), SAGEConv((WIDTH, WIDTH), 3)
        ends = {"x": (data["x"], torch.randn(50, WIDTH)), "edge_index": torch.stack([data["edge_index"][0], data["edge_index"][1] % 50])}
        for size in ((NODES, 50), (NODES, None)):
            self.equal(model, {**ends, "size": size}, model(**ends, size=size))
        counted = module("x", "edge_index", "num_nodes", after=lambda h, num_nodes, **_: h / num_nodes)
        self.equal(counted, {**data, "num_nodes": NODES}, counted(**data, num_nodes=NODES))
        with self.assertRaisesRegex(hopscope.Refused, r"no input has that many rows: 'num_nodes' \(77\)"):
            hopscope.inference(counted, {**data, "num_nodes": 77}, scratch=self.scratch)

    def test_numbers_of_graphs_are_kept_where_the_data_counts_them(self):
        batch = torch.sort(torch.arange(NODES) % 4)[0]
        model, data = MedianAggregation(), {"x": graph()["x"], "index": batch, "dim_size": 4}
        self.equal(model, data, model(**data))
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(batch).cumsum(0)])
        data = {"x": data["x"], "ptr": offsets, "dim_size": 4}
        self.equal(MaxAggregation(), data, MaxAggregation()(**data))

    def test_none_is_an_argument_where_it_was_given(self):
        data, model = graph(), SAGEConv((WIDTH, WIDTH), 3, root_weight=False)
        ends = {"x": (data["x"], None), "edge_index": data["edge_index"]}
        self.equal(model, {**ends, "size": (NODES, NODES)}, model(**ends, size=(NODES, NODES)))
        types = torch.randint(0, 4, (EDGES,))
        learned = RGCNConv(NODES, 3, num_relations=4)
        given = {"x": None, "edge_index": data["edge_index"], "edge_type": types}
        self.assertRegex(self.verdict(learned.eval(), given), "equal|^4: aten")

    def test_arguments_without_names_are_taken_in_their_order(self):
        data = graph()
        layer = DeepGCNLayer(GCNConv(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU(), block="plain")
        wanted = layer.eval()(data["x"], data["edge_index"])
        self.equal(layer, data, wanted)
        self.equal(layer, tuple(data.values()), wanted)
        coder = GAE(GCNConv(WIDTH, 3))
        self.equal(coder, data, coder(**data))
        relation = ("a", "to", "b")
        conv = HeteroConv({relation: SAGEConv((WIDTH, WIDTH), 3)})
        typed = {"x_dict": {"a": data["x"], "b": torch.randn(50, WIDTH)},
                 "edge_index_dict": {relation: torch.stack([data["edge_index"][0], data["edge_index"][1] % 50])}}
        self.equal(conv, typed, conv(*typed.values()))
