"""What the engine says stays readable, whatever the model does: text that it prints, keys that nobody takes, long names, thousands of
operators, methods without forward, long lists. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import shutil
import unittest
from typing import Dict

import numpy
import torch
from safetensors.numpy import save_file
from torch import nn

import engine_models as models
from engine_commands import EngineTest, engine
from tiers import sized

MOST = 4_000_000


class Prints(nn.Module):
    """In forward, and while it is loaded."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for i in range(20_000):
            print("line", i, x.size(0))
        return self.lin(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]))


class PrintsOnLoad(nn.Module):
    def __init__(self):
        super().__init__()
        self.training = False

    @torch.jit.export
    def __getstate__(self) -> bool:
        return self.training

    @torch.jit.export
    def __setstate__(self, state: bool):
        for i in range(20_000):
            print("loading", i)
        self.training = state

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 3)

    @torch.jit.export
    def encode(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.lin(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])).relu()

    @torch.jit.export
    def decode(self, z: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return (z[edge_index[0]] * z[edge_index[1]]).sum(1).sigmoid()


class Outputs(nn.Module):
    """One output for each of many keys."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> Dict[str, torch.Tensor]:
        h = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        found: Dict[str, torch.Tensor] = {}
        for i in range(self.count):
            found["a key with a rather long name " + str(i)] = h + i
        return found


class Deep(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for _ in range(self.layers):
            x = torch.tanh(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]) * 0.5 + x)
        return x


class Listed(nn.Module):
    """A list of constants in its code."""

    def __init__(self, count):
        super().__init__()
        self.weights = [float(i % 7) for i in range(count)]

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]) * self.weights[3]


class Readable(EngineTest):
    def scripted(self, module, name="model.pt"):
        x, edge_index = models.graph(40, 150, 6)
        torch.jit.script(module.eval()).save(str(self.folder / name))
        save_file({"x": x.numpy(), "edge_index": edge_index.numpy()}, str(self.folder / "graph.safetensors"))
        return [str(self.folder / name), "--data", str(self.folder / "graph.safetensors")]

    def test_what_a_model_prints_is_counted_and_left_out(self):
        for mode in ("none", "full"):
            words = self.scripted(Prints())
            result = self.done("run", *words, "-o", self.folder / mode, "--verify", mode, "--json")
            report = json.loads(result.stdout)
            note, = (note for note in report["notes"] if "prints" in note)
            self.assertRegex(note, r"^output that forward prints is left out: 20,000 calls on the sample, the first of print \(.*engine_readable\.py:\d+")
            self.assertLess(len(result.stderr), 2_000)
            self.assertNotIn("line 1", result.stderr)
            if mode == "full":
                self.assertEqual(report["verify"]["verdict"], "equal")

    def test_what_a_model_prints_while_it_is_loaded_is_left_out(self):
        words = self.scripted(PrintsOnLoad())
        result = engine("inspect", *words, "--json")
        self.assertNotIn("loading", result.stdout + result.stderr.replace("loading the model", ""))
        json.loads(result.stdout)

    def test_notes_are_as_many_as_people_read(self):
        words = self.scripted(Deep(1))
        arrays = {f"extra_{i}": numpy.zeros(1, numpy.float32) for i in range(3_000)}
        save_file(arrays, str(self.folder / "extra.safetensors"))
        words += ["--data", str(self.folder / "extra.safetensors")]
        result = self.done("run", *words, "-o", self.folder / "out", "--verify", "none", "-v")
        notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
        self.assertEqual(notes[0], "note: 'extra_0' is not an argument of the model: ignored")
        self.assertEqual((len(notes), notes[-1]), (201, "note: further notes are not shown here"))
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(sum("is not an argument" in note for note in report["notes"]), 3_000)

    def test_data_that_are_no_arguments_are_noted_by_inspect_and_elsewhere_only_if_asked_for(self):
        words = self.scripted(Deep(1))
        save_file({"labels": numpy.zeros(1, numpy.float32)}, str(self.folder / "labels.safetensors"))
        words += ["--data", str(self.folder / "labels.safetensors")]
        note = "'labels' is not an argument of the model: ignored"
        for command, noted in (("inspect", True), ("plan", False), ("run", False), ("verify", False), ("debug", False)):
            out = ["-o", str(self.folder / "out")] if command == "run" else []
            with self.subTest(command=command):
                for more, expected in (([], noted), (["-v"], True), (["-q"], False)):
                    if out:
                        shutil.rmtree(self.folder / "out", ignore_errors=True)
                    said = self.done(command, *words, *out, *more).stderr
                    self.assertEqual(said.count(f"note: {note}\n"), int(expected), said)
        self.assertIn(note, json.loads((self.folder / "out/report.json").read_text())["notes"])
        self.refused(2, "--quiet excludes --verbose", "inspect", *words, "-q", "-v")

    def test_reports_of_large_models_are_small(self):
        for module in (Deep(sized(60, 1500)), Outputs(sized(200, 6000))):
            with self.subTest(module=type(module).__name__):
                words = self.scripted(module)
                out = self.folder / type(module).__name__
                self.done("run", *words, "-o", out, "--verify", "full", "--strategy", "depth")
                text = (out / "report.json").read_text()
                self.assertLess(len(text), MOST)
                self.valid("report", json.loads(text))

    def test_a_model_without_forward_is_drawn_and_its_methods_are_named(self):
        words = self.scripted(Autoencoder())
        says = "the model Autoencoder has no forward method; methods: decode, encode"
        self.refused(4, says, "run", *words, "-o", self.folder / "out")
        document = self.document("inspect", *words)
        self.valid("inspect", document)
        self.assertTrue(any(says in lint["message"] for lint in document["lints"] if lint["blocking"]))
        kinds = {op["name"] for op in document["ops"]}
        self.assertLessEqual({"aten::linear", "aten::relu", "aten::sigmoid"}, kinds)

    def test_a_long_list_of_constants_takes_no_more_than_in_proportion(self):
        seconds = [self.done("inspect", *self.scripted(Listed(count)), "--json").seconds for count in (3_000, 60_000)]
        self.assertLess(seconds[1], 5 + 5 * seconds[0])


if __name__ == "__main__":
    unittest.main()
