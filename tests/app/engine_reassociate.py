"""--reassociate: products before sums and means. What runs give is judged by the untouched module in float64, and its error
by what rounding can make of it. HOPSCOPE_ENGINE and HOPSCOPE_BENCH name the programs, HOPSCOPE_ROOT the repository."""
import json
import unittest

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch_geometric import nn as pyg

import engine_models as models
from engine_commands import EngineTest, engine
from engine_process import bench
from reassociated import ReassociatedTest
from serve_case import ServeTest
from tiers import one_in

IN, OUT = 24, 5
NODES, EDGES, EMPTY = 400, 3000, 40  # the last ones have no edges to them; some edges occur more than once


def drawn(dtype=torch.float32):
    random = torch.Generator().manual_seed(1)
    edges = torch.stack([torch.randint(0, NODES, (EDGES,), generator=random),
                         torch.randint(0, NODES - EMPTY, (EDGES,), generator=random)])
    edges[:, 1:50] = edges[:, :1]
    return {"x": torch.randn(NODES, IN, generator=random, dtype=torch.float64).to(dtype), "edge_index": edges,
            "edge_weight": torch.randn(EDGES, generator=random, dtype=torch.float64).to(dtype)}


class Summed(nn.Module):
    """A sum, and nothing but the product behind it; `weighted`: by one number for each edge."""

    def __init__(self, weighted=False):
        super().__init__()
        self.linear, self.weighted = nn.Linear(IN, OUT), weighted

    def forward(self, x, edge_index, edge_weight):
        messages = x[edge_index[0]]
        if self.weighted:
            messages = messages * edge_weight.unsqueeze(1)
        return self.linear(torch.zeros_like(x).index_add_(0, edge_index[1], messages))


class Sparse(nn.Module):
    """The same as the product of a matrix of edges with a table."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(IN, OUT)

    def forward(self, x, edge_index, edge_weight):
        size = (x.size(0), x.size(0))
        return self.linear(torch.sparse.mm(torch.sparse_coo_tensor(edge_index.flip(0), edge_weight, size), x))


class Convolved(nn.Module):
    def __init__(self, convolution):
        super().__init__()
        self.convolution = convolution

    def forward(self, x, edge_index, edge_weight):
        return self.convolution(x, edge_index)


class Weighted(Convolved):
    def forward(self, x, edge_index, edge_weight):
        return self.convolution(x, edge_index, edge_weight)


# What is made of absolute weights and inputs bounds all sums of the original: they have no signs of their own.
KINDS = {
    "sage": lambda: Convolved(pyg.SAGEConv(IN, OUT)),
    "sage of sums": lambda: Convolved(pyg.SAGEConv(IN, OUT, aggr="sum")),
    "sage, no root": lambda: Convolved(pyg.SAGEConv(IN, OUT, root_weight=False)),
    "graph": lambda: Convolved(pyg.GraphConv(IN, OUT)),
    "graph, weights": lambda: Weighted(pyg.GraphConv(IN, OUT)),
    "graph, mean of weighted": lambda: Weighted(pyg.GraphConv(IN, OUT, aggr="mean")),
    "gin": lambda: Convolved(pyg.GINConv(nn.Linear(IN, OUT), train_eps=True)),
    "two hops": lambda: Convolved(pyg.SGConv(IN, OUT, K=2)),
    "sum": Summed,
    "sum of weighted": lambda: Summed(weighted=True),
    "sparse": Sparse,
}

# Whether they are scripted: some cannot be, and tracing bakes the size of the matrix.
WAYS = {"two hops": (False,), "sage, no root": (False,), "sparse": (True,)}


def module_of(kind, dtype):
    torch.manual_seed(3)
    return KINDS[kind]().to(dtype).eval()


def exact(module, data):
    """In float64, of the numbers that the module and the data have."""
    wide = {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in data.items()}
    with torch.no_grad():
        return module.double()(**wide).numpy()


def magnitude(module, data):
    """The same sums with all signs taken away."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.abs_()
    return exact(module, {name: tensor.abs() for name, tensor in data.items()})


class Reassociation(ReassociatedTest):
    def three_layers(self):
        data = drawn()
        del data["edge_weight"]
        torch.manual_seed(4)
        return self.files(pyg.GraphSAGE(IN, 32, 3, OUT).eval(), data)

    # A sum of d products of sums of IN numbers and the same the other way round have one bound, which Higham's book gives:
    # (d + IN) roundings of the sum of absolute values; some more for factors, the mean, the bias and the root.
    def test_results_are_as_near_to_exact_ones_as_rounding_allows(self):
        units = {torch.float32: 2**-24, torch.float64: 2**-53}
        for kind, dtype, script in one_in(2, [(kind, dtype, script) for kind in KINDS for dtype in units
                                              for script in WAYS.get(kind, (False, True))]):
            with self.subTest(kind=kind, dtype=dtype, script=script):
                data = drawn(dtype)
                words = self.files(module_of(kind, dtype), data, script)
                report, made = self.ran(words, "--reassociate", "--verify", "full")
                self.assertEqual(report["verify"]["verdict"], "equal")
                self.assertEqual([(place["in"], place["out"]) for place in report["reassociated"]["places"]], [(IN, OUT)])
                reference = exact(module_of(kind, dtype), data)
                degree = numpy.bincount(data["edge_index"][1], minlength=NODES).max()
                hops = 2 if kind == "two hops" else 1
                terms = 2 * (hops * (degree + 4) + IN + 8)  # twice: in float64 the reference rounds, too
                bound = terms * units[dtype] * magnitude(module_of(kind, dtype), data)
                self.assertTrue((abs(made - reference) <= bound).all(), (abs(made - reference) / bound).max())

    def test_it_takes_another_order_of_sums(self):
        words = self.files(module_of("sum", torch.float32), drawn())
        _, plain = self.ran(words, "--verify", "none")
        _, moved = self.ran(words, "--reassociate", "--verify", "none", out="moved")
        self.assertTrue((plain != moved).any())

    def test_nodes_without_edges_have_the_bias_and_nothing_else(self):
        for kind in ("sum", "sum of weighted", "sage, no root"):
            with self.subTest(kind=kind):
                module = module_of(kind, torch.float32)
                bias = dict(module.named_parameters())[
                    "convolution.lin_l.bias" if "sage" in kind else "linear.bias"].detach().numpy()
                _, made = self.ran(self.files(module, drawn()), "--reassociate", "--verify", "full")
                numpy.testing.assert_array_equal(made[-EMPTY:], numpy.broadcast_to(bias, (EMPTY, OUT)))

    def test_the_narrow_types_are_verified_with_their_own_tolerance(self):
        for dtype in (torch.float16, torch.bfloat16):
            with self.subTest(dtype=dtype):
                words = self.files(module_of("sum of weighted", dtype), drawn(dtype))
                report = self.document("run", *words, "-o", self.folder / "out", "--reassociate", "--verify", "full")
                self.assertEqual(report["verify"]["verdict"], "equal", report["verify"])
                self.assertEqual(len(report["reassociated"]["places"]), 1)

    def test_the_report_says_what_was_moved_beside_the_measured_error(self):
        report, made = self.ran(self.three_layers(), "--reassociate", "--verify", "full")
        moved, verify = report["reassociated"], report["verify"]
        (place,) = moved["places"]
        self.assertEqual((place["module"], place["in"], place["out"]), ("convs.2.lin_l", 32, OUT))
        self.assertIn("aten::linear in convs.2.lin_l", place["place"])
        (output,) = verify["outputs"]
        self.assertEqual((moved["max_abs"], moved["max_rel"]), (output["max_abs"], output["max_rel"]))
        self.assertLess(0, moved["max_abs"])
        model = torch.jit.load(str(self.folder / "model.pt"))
        data = drawn()
        with torch.no_grad():
            forward = model(data["x"], data["edge_index"]).numpy()
        self.assertAlmostEqual(moved["max_abs"], float(abs(made - forward).max()), delta=1e-6)
        self.assertTrue(any("5 instead of 32 columns" in note for note in report["notes"]))
        self.assertIn("--reassociate", verify["reason"])
        self.assertEqual(verify["tolerance"], {"absolute": 1e-5, "relative": 1e-4, "scale": 1e-6})
        report, _ = self.ran(self.three_layers(), "--reassociate", "--verify", "none")
        self.assertEqual((report["reassociated"]["max_abs"], report["reassociated"]["max_rel"]), (None, None))

    def test_plan_prediction_and_account_follow(self):
        words = self.three_layers()
        plans = {more: self.document("plan", *words, "--objective", "bytes", "--strategy", "depth", *more)
                 for more in ((), ("--reassociate",))}
        for plan in plans.values():
            self.valid("plan", plan)
        self.assertNotIn("reassociate", plans[()])
        self.assertTrue(plans["--reassociate",]["reassociate"])
        report, _ = self.ran(words, "--reassociate", "--verify", "full", "--strategy", "optimal")
        for stage in report["stages"]:
            for direction in ("d2h", "h2d"):
                self.assertEqual(stage["bytes"][direction], stage["predicted"]["bytes"][direction])
        sums = [row for stage in report["stages"] for row in stage["operators"] if "sum aggregation" in row["label"]]
        self.assertEqual(len(sums), 3)
        self.assertTrue(all(row["fused"] for row in sums))
        self.assertTrue(report["verify"]["checkpoints"])
        self.assertEqual([row["different"] for row in report["verify"]["checkpoints"]],
                         [0] * len(report["verify"]["checkpoints"]))

    def test_narrow_rows_are_stored_instead_of_wide_ones(self):
        words = self.files(module_of("two hops", torch.float32), drawn())
        plain, moved = (self.ran(words, "--verify", "none", "--strategy", "depth", *more)[0]
                        for more in ((), ("--reassociate",)))
        written = [sum(stage["bytes"]["d2h"] for stage in report["stages"]) for report in (plain, moved)]
        self.assertEqual(written, [NODES * 4 * (IN + OUT), NODES * 4 * (OUT + OUT)])

    def test_without_it_nothing_is_said_and_where_nothing_can_be_moved_a_note_says_so(self):
        words = self.three_layers()
        report, _ = self.ran(words)
        self.assertNotIn("reassociated", report)
        self.assertFalse(any("reassociate" in note for note in report["notes"]))
        data = drawn()
        del data["edge_weight"]
        words = self.files(pyg.GraphSAGE(IN, IN, 2, IN).eval(), data, name="wide")
        _, plain = self.ran(words)
        report, made = self.ran(words, "--reassociate")
        self.assertEqual(report["reassociated"]["places"], [])
        self.assertTrue(any(note.startswith("nothing to reassociate") for note in report["notes"]))
        numpy.testing.assert_array_equal(made, plain)

    def test_a_plan_runs_only_as_it_was_made(self):
        words = self.three_layers()
        for name, more in (("plain", ()), ("moved", ("--reassociate",))):
            self.done("plan", *words, "-o", self.folder / f"{name}.json", *more)
        out = ("-o", self.folder / "out")
        plain, moved = (("--plan", str(self.folder / f"{name}.json")) for name in ("plain", "moved"))
        self.refused(3, "was made without --reassociate", "run", *words, *out, *plain, "--reassociate")
        for command in (("run", *words, *out), ("export", *words, *out), ("verify", *words)):
            self.refused(3, "was made with --reassociate", *command, *moved)
        self.assertFalse((self.folder / "out").exists())
        report, _ = self.ran(words, "--reassociate", *moved)
        self.assertEqual(len(report["reassociated"]["places"]), 1)
        self.assertEqual(self.document("verify", *words, "--reassociate", *moved)["verdict"], "equal")
        self.refused(2, "unknown option '--reassociate'", "export", *words, *out, "--reassociate")

    def test_processes_of_one_run_must_agree_on_it(self):
        words = [*self.three_layers(), "--batch", "100"]
        out = self.folder / "shared"
        begun = engine("run", *words, "-o", out, "--shard", "1/2", "--wait", "0.2", "--verify", "none", "--reassociate")
        self.assertNotEqual(begun.returncode, 0)
        other = engine("run", *words, "-o", out, "--shard", "2/2", "--verify", "none")
        self.assertEqual(other.returncode, 3, other.stderr)
        self.assertIn("--reassociate (was yes, is no)", other.stderr)
        for turn in range(8):  # each goes on until it needs what the other one computes
            result = engine("run", *words, "-o", out, "--shard", f"{turn % 2 + 1}/2", "--wait", "0.2", "--verify", "none",
                            "--reassociate")
            self.assertIn(result.returncode, (0, 6), result.stderr)
            if (out / "report.json").exists():
                break
        self.assertEqual(len(json.loads((out / "report.json").read_text())["reassociated"]["places"]), 1)
        _, alone = self.ran(words, "--verify", "none", "--reassociate", "--reorder", "none")
        numpy.testing.assert_array_equal(numpy.load(out / "out.npy"), alone)

    def test_bench_plans_measures_it(self):
        compared = bench("plans", *self.three_layers(), "--reassociate", "--repeat", "1")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertTrue(json.loads(compared.stdout)["plans"])


class PlainModels(EngineTest):
    def test_a_mean_that_divides_by_a_clamped_count(self):
        words, inputs = self.save(models.Sage(24, 24, 5), nodes=300, edges=2000, features=24)
        report = self.document("run", *words, "-o", self.folder / "out", "--reassociate", "--verify", "full")
        self.assertEqual([place["module"] for place in report["reassociated"]["places"]], ["neighbours.1"])
        self.assertEqual(report["verify"]["verdict"], "equal")
        model = torch.jit.load(str(self.folder / "model.pt"))
        with torch.no_grad():
            forward = model(*inputs).numpy()
        numpy.testing.assert_allclose(numpy.load(self.folder / "out/out.npy"), forward, rtol=1e-4, atol=1e-5)


class Served(ServeTest):
    def test_a_document_has_it_from_its_opening_on_and_is_not_exported(self):
        torch.manual_seed(5)
        inputs = models.graph(300, 2000, 24)
        models.save(models.Sage(24, 24, 5), inputs, self.folder / "model.pt")
        save_file(dict(zip(("x", "edge_index"), inputs)), str(self.folder / "graph.safetensors"))
        files = {"model": str(self.folder / "model.pt"), "data": [str(self.folder / "graph.safetensors")], "roles": []}
        client = self.client()
        plain, moved = (client.call("model/open", **files, reassociate=asked)["document"] for asked in (False, True))
        plan = self.plan(client, moved)["plan"]
        self.assertTrue(plan["reassociate"])
        self.refused(-32003, "was made with --reassociate", self.start, client, plain, plan)
        self.refused(-32003, "was made without --reassociate", self.start, client, moved, self.plan(client, plain)["plan"])
        self.refused(-32002, "cannot be exported", client.call, "export/preview", document=moved, plan=plan)
        self.refused(-32003, "was made with --reassociate", client.call, "export/write", **files, plan=plan, device="cpu",
                     memory=None, batch=None, folder=str(self.folder / "exported"))
        report = client.finished(self.start(client, moved, plan, verify="full")["run"])["report"]
        self.assertEqual([place["module"] for place in report["reassociated"]["places"]], ["neighbours.1"])
        self.assertEqual(report["verify"]["verdict"], "equal")


if __name__ == "__main__":
    unittest.main()
