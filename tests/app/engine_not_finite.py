"""Results that are NaN or infinite are counted and explained, whatever is verified: in the report, on the terminal, for all samples
and all kinds of outputs. Counted again with numpy. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import os
import unittest
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import engine_models as models
from engine_commands import EngineTest

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SAMPLES = sorted(path for folder in ("karate", "digits") for path in (ROOT / "samples" / folder).glob("*.pt"))
NODE, ROWS, WIDTH = 17, 60, 4


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


class Sums(nn.Module):
    """The logarithm of the features, added up over neighbours; `kind` says what is returned of it."""

    def __init__(self, kind):
        super().__init__()
        self.log, self.lin, self.kind = Log(), nn.Linear(WIDTH, 3), kind

    def forward(self, x, edge_index):
        h = self.lin(torch.zeros_like(x).index_add(0, edge_index[1], self.log(x)[edge_index[0]]))
        kinds = {"tensor": lambda: h, "tuple": lambda: (x * 2, h), "dict": lambda: {"fine": x + 1, "bad": h},
                 "half": h.half, "double": h.double, "readout": lambda: (h.sum(0), h.mean(0)), "number": h.sum,
                 "edges": lambda: h[edge_index[0]] * h[edge_index[1]]}
        return kinds[self.kind]()


class Neighbours(nn.Module):
    """Mean, maximum and a softmax over neighbours, as PyG writes them."""

    def forward(self, x, edge_index):
        source, target = edge_index[0], edge_index[1]
        to = target.unsqueeze(1).expand(-1, WIDTH)
        count = torch.zeros(x.size(0)).index_add(0, target, torch.ones(target.size(0))).clamp(min=1).unsqueeze(1)
        mean = torch.zeros_like(x).index_add(0, target, x[source]) / count
        largest = torch.zeros_like(x).scatter_reduce(0, to, x[source], "amax", include_self=False)
        score = (x[source] - largest[target]).exp()
        total = torch.zeros_like(x).index_add(0, target, score)
        weighted = score / (total[target] + 1e-16) * x[source]
        return {"mean": mean, "max": largest, "softmax": torch.zeros_like(x).index_add(0, target, weighted)}


class NotFinite(EngineTest):
    def lost(self, folder):
        """Numbers that are not finite, by output."""
        counts = {}
        for output in json.loads((folder / "report.json").read_text())["outputs"]:
            found = int((~numpy.isfinite(numpy.load(folder / output["file"]))).sum())
            if found:
                counts[output["name"]] = found
        return counts

    def run_with(self, model, data, mode, *options):
        out = self.folder / f"{Path(model).stem}-{mode}-{len(options)}"
        done = self.done("run", model, "--data", data, "-o", out, "--verify", mode, "--device", "cpu", *options)
        report = json.loads((out / "report.json").read_text())
        self.valid("report", report)
        found = report["not_finite"]
        counts = {item["output"]: item["numbers"] for item in found["outputs"]} if found else {}
        self.assertEqual(counts, self.lost(out))
        return found, report, done.stdout

    def told(self, model, data, *options):
        """The same for all modes of verification, and what the terminal says."""
        found = {}
        for mode in ("none", "full"):
            found[mode], report, said = self.run_with(model, data, mode, *options)
            self.assertIsNotNone(found[mode])
            count = sum(item["numbers"] for item in found[mode]["outputs"])
            if mode == "none":
                self.assertIn(f"not finite: {count:,} of ", said)
            else:
                self.assertTrue(report["verify"]["reason"].startswith(f"{count:,} element"), report["verify"]["reason"])
            self.assertIn(found[mode]["origin"], said)
        self.assertEqual(found["none"], found["full"])
        return found["none"]

    def graph_of(self, sample):
        return load_file(str(sample.parent / "graph.safetensors"))

    def saved(self, arrays, name):
        path = self.folder / name
        save_file({key: numpy.ascontiguousarray(array) for key, array in arrays.items()}, str(path))
        return path

    def test_a_feature_that_is_not_finite_is_named_for_all_samples(self):
        for sample in SAMPLES:
            bad = numpy.nan if sample.stem in ("gcn", "sage") else numpy.inf
            with self.subTest(sample=sample.stem, bad=bad):
                arrays = self.graph_of(sample)
                arrays["x"][3, 1] = bad
                found = self.told(sample, self.saved(arrays, f"{sample.parent.stem}-{bad}.safetensors"))
                self.assertEqual(found["given"], ["x"])
                self.assertIn("x holds such numbers from the start", found["origin"])

    def test_a_weight_that_is_not_finite_is_named_for_all_samples(self):
        for sample in SAMPLES:
            with self.subTest(sample=sample.stem):
                module = torch.jit.load(str(sample))
                name, weight = next((n, p) for n, p in module.named_parameters() if n.endswith("weight"))
                with torch.no_grad():
                    weight.view(-1)[0] = numpy.nan
                model = self.folder / f"{sample.parent.stem}-{sample.name}"
                module.save(str(model))
                found, _, said = self.run_with(model, sample.parent / "graph.safetensors", "none")
                self.assertIn(name, found["given"])
                self.assertIn(found["origin"], said)

    def test_samples_as_they_are_have_nothing_to_tell(self):
        for sample in SAMPLES:
            with self.subTest(sample=sample.stem):
                found, _, said = self.run_with(sample, sample.parent / "graph.safetensors", "none")
                self.assertIsNone(found)
                self.assertNotIn("not finite", said)

    def made(self, kind):
        torch.manual_seed(3)
        path = self.folder / f"{kind}.pt"
        index = torch.randint(0, 30, (2, 90), generator=torch.Generator().manual_seed(1))
        models.save(Sums(kind).eval(), (torch.rand(30, WIDTH) + 0.1, index), path)
        generator = numpy.random.default_rng(4)
        x = generator.random((ROWS, WIDTH), numpy.float32) + 0.1
        x[NODE, 0] = -1
        edges = generator.integers(0, ROWS, (2, 240))
        edges[0, 0] = NODE
        return path, self.saved({"x": x, "edge_index": edges}, f"{kind}.safetensors")

    def test_the_operator_that_makes_them_is_named_whatever_the_output_is(self):
        for kind in ("tensor", "tuple", "dict", "half", "double", "readout", "number", "edges"):
            with self.subTest(kind=kind):
                model, data = self.made(kind)
                found = self.told(model, data)
                first = found["first"]
                self.assertEqual((first["kind"], first["module"]), ("aten::log", "log"))
                self.assertRegex(first["source"], r"engine_not_finite\.py:\d+")
                self.assertEqual((found["given"], found["on_sample"]), ([], False))
                for part in ("first made by aten::log in log", first["source"], f"node {NODE}"):
                    self.assertIn(part, found["origin"])

    def test_a_run_that_is_resumed_or_has_a_limit_tells_the_same(self):
        model, data = self.made("tensor")
        wanted = self.told(model, data)
        for options in (["--resume"], ["--batch", "7"], ["--memory", "8M"], ["--host-memory", "64M"], ["--quiet"]):
            with self.subTest(options=options):
                found, _, said = self.run_with(model, data, "none", *options)
                self.assertEqual((found["first"], found["outputs"]), (wanted["first"], wanted["outputs"]))
                self.assertIn("not finite:", said)

    def test_nodes_without_edges_have_zeros(self):
        """The last third of them: no mean of nothing, no maximum of nothing, no quotient of zeros."""
        model, index = self.folder / "neighbours.pt", torch.randint(0, 30, (2, 90))
        models.save(Neighbours(), (torch.randn(30, WIDTH), index), model)
        x, edges = torch.randn(ROWS, WIDTH) - 3, torch.randint(0, ROWS * 2 // 3, (2, 240))
        data = self.saved({"x": x.numpy(), "edge_index": edges.numpy()}, "isolated.safetensors")
        for options in ([], ["--batch", "7"]):
            self.assertIsNone(self.run_with(model, data, "full", *options)[0])
            for output, expected in Neighbours()(x, edges).items():
                found = numpy.load(self.folder / f"neighbours-full-{len(options)}/out.{output}.npy")
                numpy.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-6)
                self.assertFalse(found[ROWS * 2 // 3:].any())

    def test_an_infinity_that_the_model_replaces_is_none(self):
        class Replaces(Sums):
            def forward(self, x, edge_index):
                return super().forward(x.abs().pow(-0.5).masked_fill(x == 0, 0.0).abs() + 1, edge_index)

        path = self.folder / "replaces.pt"
        index = torch.randint(0, 30, (2, 90), generator=torch.Generator().manual_seed(1))
        models.save(Replaces("tensor").eval(), (torch.rand(30, WIDTH), index), path)
        data = self.saved({"x": numpy.zeros((ROWS, WIDTH), numpy.float32),
                           "edge_index": numpy.random.default_rng(4).integers(0, ROWS, (2, 240))}, "zeros.safetensors")
        self.assertIsNone(self.run_with(path, data, "full")[0])


if __name__ == "__main__":
    unittest.main()
