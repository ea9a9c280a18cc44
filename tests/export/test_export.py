"""`hopscope-engine export` as a user starts it: what is in the folder, that it runs with torch and numpy alone and gives what
the eager model gives, and what is refused. HOPSCOPE_ZOO: the generated models; HOPSCOPE_CORA: trained ones, or empty."""
import copy
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.torch import load_file, save_file

import bare
from exported import ENGINE, ROOT, arrays, cases, complaints, difference, differences, engine, graphs_of, one_in, runner

sys.path.insert(0, str(ROOT / "packaging/python/src"))
import hopscope
from hopscope._forms import outputs_of

ZOO = Path(os.environ["HOPSCOPE_ZOO"])
RERUN = os.environ["HOPSCOPE_RERUN"]  # the stages from C++
CORA = os.environ.get("HOPSCOPE_CORA", "")
KARATE = ROOT / "samples/karate"

# Of every kind: attention, edges with features, several reductions, degrees, recurrences, types, relations, pooling.
MODELS = {
    "convolutions": ["gcn_2", "gcn_weighted_2", "sage_max_project_2", "gat_edges_2", "gatv2_2", "gine_2", "transformer_2",
                     "pna_std_1", "cheb_2", "gated_graph_1", "edge_conv_2", "rgcn_bases_2", "mf_1", "film_typed_1", "appnp_1",
                     "dir_gat_1", "point_transformer_1"],
    "scripted": ["tag_1_scripted", "gcn2_2_scripted"],
    "structures": ["jumping_concat", "jumping_max", "norm_graph_twice", "norm_standard_deviation", "softmax_over_nodes",
                   "pool_mean_max_min", "scalar_output", "virtual_node", "edge_output", "edge_states", "both_directions",
                   "loops_removed_and_added", "edges_sorted_in_the_model"],
    "further": ["sage_median_traced", "sage_quantile_traced", "sage_lstm"],
    "typed": ["two_types", "two_types_only_source", "tuple_scripted"],
    "programs": ["program_2", "program_16", "program_39"],
}
FILES = ["README.md", "plan.json", "prologue.py", "run.py", "schema.json", "stage_1.py", "stage_2.py", "stages.pt",
         "weights.safetensors"]


class Chaotic(torch.nn.Module):
    """The last bits of what it computes on edges decide about its output."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        messages = torch.exp(x[edge_index[0]]) * torch.sigmoid(x[edge_index[1]])
        return torch.sin(torch.zeros_like(x).index_add(0, edge_index[1], messages) * 1e8)


class Wide(torch.nn.Module):
    """Its weights take more than everything else of an export."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(200, 200)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        rows = self.linear(x)
        return torch.zeros_like(rows).index_add(0, edge_index[1], rows[edge_index[0]])


class ExportTest(unittest.TestCase):
    @classmethod
    def python(cls):
        """Of an environment with torch and numpy alone, which all tests share."""
        if not hasattr(ExportTest, "environment"):
            ExportTest.environment = tempfile.TemporaryDirectory()
            unittest.addModuleCleanup(ExportTest.environment.cleanup)
            bare.environment(ExportTest.environment.name)
        return Path(ExportTest.environment.name) / "bin/python"

    @classmethod
    def forks(cls):
        """Of one process of that environment, for runs that are not about how a process begins."""
        if not hasattr(ExportTest, "begun"):
            ExportTest.begun = bare.Forks(cls.python())
            unittest.addModuleCleanup(ExportTest.begun.end)
        return ExportTest.begun

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.scratch = Path(holder.name)
        self.folder = self.scratch / "exported"

    def export(self, model, data, *options, folder=None):
        made = engine("export", model, "--data", data, "-o", folder or self.folder, *options, "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr + made.stdout)
        return folder or self.folder

    def refused(self, code, says, *words):
        """One sentence, and nothing is left."""
        before = sorted(self.scratch.iterdir())
        made = engine("export", *words, "--quiet")
        self.assertEqual(made.returncode, code, made.stderr + made.stdout)
        self.assertIn(says, made.stderr)
        self.assertEqual(sorted(self.scratch.iterdir()), before)

    def ran(self, *words, alone=False):
        """`alone`: as a user starts it."""
        command = self.folder / "run.py", *words, "-o", self.scratch / "out"
        code, said = bare.run(self.python(), *command) if alone else self.forks().run(*command)
        self.assertEqual(code, 0, said)
        return self.scratch / "out"

    def not_run(self, *attempts):
        """(exit code, sentence, words, and another exported folder if any) of runs that are refused in one line and write nothing."""
        for code, says, words, *other in attempts:
            with self.subTest(says):
                ended, said = self.forks().run((*other, self.folder)[0] / "run.py", *words, "-o", self.scratch / "out")
                self.assertEqual((ended, len(said.strip().splitlines())), (code, 1), said)
                self.assertIn(says, said)
        self.assertFalse((self.scratch / "out").exists())

    def rerun(self, *runs):
        """What the stages of (folder, data, output file) end with in C++: "0", or a code and a sentence."""
        words = [str(word) for run in runs for word in run]
        made = subprocess.run([RERUN, *words], capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        outcomes = made.stdout.splitlines()
        self.assertEqual(len(outcomes), len(runs), made.stdout)
        return outcomes

    def agrees_from_the_package(self, folder, data, expected):
        found = outputs_of(hopscope.load(folder).inference(**load_file(data)))
        self.assertEqual(differences(found, load_file(expected), 1e-5), [])


def places(value, here=()):
    """The keys that lead to each member of a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*here, key)
        yield from places(member, (*here, key))


class Everywhere(ExportTest):
    """What an export computes is what the eager model computed, wherever it runs."""

    def test_models_of_every_kind(self):
        listed = {name: {case["name"]: case for case in cases(ZOO / f"{name}.list")} for name in MODELS}
        # On graphs with isolated nodes, self-loops and duplicate edges.
        self.agree([listed[group][name] for group, names in MODELS.items() for name in one_in(8, names)], (7, None))

    def test_samples(self):
        names = [file.name.split(".")[0] for file in sorted((ROOT / "samples/digits").glob("*.pt"))]
        listed = [self.case(ROOT / "samples/digits", name, name) for name in one_in(2, names)]
        self.agree([*listed, self.case(KARATE, "gcn", "gcn")], (100, None))

    @unittest.skipUnless(CORA, "there are no models of Cora on this machine")
    def test_models_of_cora(self):
        models = [file.stem for file in sorted(Path(CORA, "cora_models").glob("*.pt"))]
        self.assertGreaterEqual(len(models), 9)
        listed = [self.case(Path(CORA, "cora_models"), name, name.split("_")[0]) for name in one_in(8, models)]
        self.agree([{**case, "data0": f"{CORA}/cora.safetensors"} for case in listed], (1000, None))

    def case(self, folder, model, expected):
        return {"name": f"{folder.name}_{model}", "model": folder / f"{model}.pt", "data0": folder / "graph.safetensors",
                "expected0": folder / f"{expected}.expected.safetensors"}

    def agree(self, listed, batches):
        runs = []
        for case in listed:
            with self.subTest(case["name"]):
                folder = self.scratch / case["name"]
                roles = [word for role in case.get("roles", "").split(";") if role for word in ("--role", role)]
                self.export(case["model"], case["data0"], *roles, folder=folder)
                graphs = [(str(data), expected) for data, expected in graphs_of(case)]
                self.assertEqual(complaints(folder, graphs, self.scratch / f"{case['name']}-runs", batches), [])
                for data, expected in graphs:
                    self.agrees_from_the_package(folder, data, expected)
                    runs.append((folder, data, self.scratch / f"{case['name']}-{len(runs)}", expected))
        self.agree_in_a_bare_environment(runs)
        self.agree_from_cpp(runs)
        self.linted(self.scratch)

    def agree_from_cpp(self, runs):
        outcomes = self.rerun(*((folder, data, f"{out}.cpp") for folder, data, out, _ in runs))
        for outcome, (folder, _, out, expected) in zip(outcomes, runs):
            with self.subTest(folder.name):
                self.assertEqual(outcome, "0")
                self.assertEqual(differences(load_file(f"{out}.cpp"), load_file(expected), 1e-5), [])

    def agree_in_a_bare_environment(self, runs):
        for folder, data, out, expected in runs:
            with self.subTest(folder.name):
                ended, said = self.forks().run(folder / "run.py", "--data", data, "-o", out, "--quiet")
                self.assertEqual(ended, 0, said)
                self.assertEqual(differences(arrays(out), load_file(expected), 1e-5), [])

    def linted(self, folder):
        checked = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", str(folder)],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_wrong_weight_is_noticed(self):
        case = {case["name"]: case for case in cases(ZOO / "convolutions.list")}["gcn_2"]
        folder = self.export(case["model"], case["data0"])
        weights = load_file(folder / "weights.safetensors")
        weights[min(weights)] += 0.01
        save_file(weights, folder / "weights.safetensors")
        schema = json.loads((folder / "schema.json").read_text())
        del schema["hashes"]["weights"]  # by which run.py would notice
        (folder / "schema.json").write_text(json.dumps(schema))
        found = complaints(folder, graphs_of(case), self.scratch)
        self.assertTrue(found)
        self.assertTrue(all("python" in problem for problem in found), found)


class Alone(ExportTest):
    def test_batches_and_torchscript_give_the_same(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        expected = load_file(KARATE / "gcn.expected.safetensors")["out"]
        for options in ([], ["--batch", "5"], ["--script", "--quiet"]):
            out = self.ran("--data", KARATE / "graph.safetensors", *options, alone=not options)
            self.assertEqual(difference(torch.from_numpy(numpy.load(out / "out.npy")), expected, 1e-5), "")
            self.assertEqual([file.name for file in out.iterdir()], ["out.npy"])

    def test_outputs_are_named_as_the_engine_names_them(self):
        case = {case["name"]: case for case in cases(ZOO / "typed.list")}["two_types"]
        self.export(case["model"], case["data0"])
        out = self.ran("--data", case["data0"])
        engine("run", case["model"], "--data", case["data0"], "-o", self.scratch / "engine", "--quiet")
        theirs = sorted(file.name for file in (self.scratch / "engine").iterdir() if file.name != "report.json")
        self.assertEqual(sorted(file.name for file in out.iterdir()), theirs)
        for name in theirs:
            a, b = numpy.load(out / name), numpy.load(self.scratch / "engine" / name)
            self.assertEqual(difference(torch.from_numpy(a), torch.from_numpy(b), 1e-5), "")


class Folder(ExportTest):
    def test_it_holds_what_the_documentation_lists_and_its_schema_is_valid(self):
        case = {case["name"]: case for case in cases(ZOO / "convolutions.list")}["gcn_2"]
        self.export(case["model"], case["data0"])
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), FILES)
        document = json.loads((self.folder / "schema.json").read_text())
        jsonschema.validate(document, json.loads((ROOT / "resources/schemas/schema-1.schema.json").read_text()))
        self.assertEqual(set(document["hashes"]), {"model", "data", "roles", "plan", "weights"})
        self.assertTrue(document["tool"].startswith("hopscope "))
        self.assertEqual(document["verification"]["verdict"], "equal")
        made = {table["name"]: table["made"] for table in document["code"]["tables"]}
        self.assertTrue(any("for which" in text for text in made.values()), made)

    def test_the_same_inputs_make_the_same_bytes(self):
        for name in ("first", "second"):
            self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors", folder=self.scratch / name)
        equal, different, odd = filecmp.cmpfiles(self.scratch / "first", self.scratch / "second", FILES, shallow=False)
        self.assertEqual((sorted(equal), different, odd), (FILES, [], []))

    def test_torchscript_needs_nothing_but_torch(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        module = torch.jit.load(str(self.folder / "stages.pt"))
        methods = set(json.loads(json.dumps([loop["method"] for loop in self.schema()["code"]["loops"]])))
        self.assertEqual(set(module._c._method_names()), methods | {"prologue"})
        self.assertEqual(sum(1 for _ in module.buffers()), len(self.schema()["code"]["weights"]))

    def schema(self):
        return json.loads((self.folder / "schema.json").read_text())


class Again(ExportTest):
    def test_an_export_holds_until_the_model_changes(self):
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        self.export(model, data)
        made = engine("verify", model, "--data", data, "--schema", self.folder, "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(json.loads(made.stdout)["verdict"], "equal")
        tensors = load_file(data)
        save_file({**tensors, "x": tensors["x"] * 2}, self.scratch / "other.safetensors")
        made = engine("verify", model, "--data", self.scratch / "other.safetensors", "--schema", self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("differ from the data of the export", made.stderr)
        module = torch.jit.load(model)
        with torch.no_grad():
            next(module.parameters()).mul_(1.5)
        module.save(str(self.scratch / "changed.pt"))
        made = engine("verify", self.scratch / "changed.pt", "--data", data, "--schema", self.folder)
        self.assertEqual(made.returncode, 3, made.stderr)
        self.assertIn("the model has changed", made.stderr)

    def test_stages_that_compute_something_else_do_not_hold(self):
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        self.export(model, data)
        stages = torch.jit.load(str(self.folder / "stages.pt"))
        with torch.no_grad():
            next(stages.buffers()).add_(1)
        stages.save(str(self.folder / "stages.pt"))
        made = engine("verify", model, "--data", data, "--schema", self.folder)
        self.assertEqual(made.returncode, 3, made.stderr)
        self.assertIn("has changed since the export: the exported code computes a different out on a sample", made.stderr)

    def test_a_schema_that_was_changed_has_a_sentence_wherever_it_was(self):
        """Each text, number and list of what describes the code, made another one."""
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        self.export(model, data)
        path = self.folder / "schema.json"
        whole = json.loads(path.read_text())
        for place in one_in(12, list(places(whole["code"]))):
            for value in ("F(node)", -7, []):
                changed = copy.deepcopy(whole)
                inner = changed["code"]
                for key in place[:-1]:
                    inner = inner[key]
                if type(inner[place[-1]]) is not type(value):
                    continue
                inner[place[-1]] = value
                path.write_text(json.dumps(changed))
                made = engine("verify", model, "--data", data, "--schema", self.folder)
                with self.subTest(place=place, value=value):
                    self.assertIn(made.returncode, (0, 3), made.stderr)
                    self.assertNotIn("bug", made.stderr)

    def test_diff_says_what_two_exports_do_differently(self):
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        self.export(model, data, folder=self.scratch / "a")
        self.export(model, data, "--strategy", "depth", folder=self.scratch / "b")
        made = engine("diff", self.scratch / "a", self.scratch / "a", "--json")
        self.assertEqual((made.returncode, json.loads(made.stdout)), (0, {"differences": []}))
        made = engine("diff", self.scratch / "a", self.scratch / "b")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("strategy: optimal there, depth here", made.stdout)
        torch.jit.load(model).save(str(self.scratch / "again.pt"))
        self.export(self.scratch / "again.pt", data, folder=self.scratch / "c")
        made = engine("diff", self.scratch / "a", self.scratch / "c")
        self.assertEqual(made.stdout, "the model files differ\n")
        made = engine("diff", self.scratch / "a", self.scratch / "none")
        self.assertEqual(made.returncode, 3, made.stderr)


class Refusals(ExportTest):
    def test_what_cannot_be_exported_has_a_sentence_and_leaves_nothing(self):
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        (self.scratch / "there").mkdir()
        self.refused(3, "exists already", model, "--data", data, "-o", self.scratch / "there")
        self.refused(3, "", self.scratch / "none.pt", "--data", data, "-o", self.folder)
        self.refused(3, "cannot be created", model, "--data", data, "-o", "/proc/nowhere/exported")
        refused = next(case for case in cases(ZOO / "refused.list") if case["expect"] == "refuse")
        self.refused(4, "", refused["model"], "--data", refused["data0"], "-o", self.folder)

    def test_a_plan_of_another_model_is_refused(self):
        model, data = str(KARATE / "gcn.pt"), str(KARATE / "graph.safetensors")
        other = next(case for case in cases(ZOO / "convolutions.list") if case["name"] == "gat_1")
        engine("plan", other["model"], "--data", other["data0"], "-o", self.scratch / "plan.json")
        self.refused(3, "", model, "--data", data, "--plan", self.scratch / "plan.json", "-o", self.folder)

    def test_a_split_that_is_not_verified_is_not_exported(self):
        torch.jit.script(Chaotic()).save(str(self.scratch / "chaotic.pt"))
        torch.manual_seed(2)
        save_file({"x": torch.randn(200, 5), "edge_index": torch.randint(0, 200, (2, 4000))},
                  self.scratch / "graph.safetensors")
        self.refused(5, "only verified splits are exported", self.scratch / "chaotic.pt", "--data",
                     self.scratch / "graph.safetensors", "-o", self.folder)

    def test_a_full_disk_has_a_sentence_and_leaves_nothing(self):
        """Whichever file it is that there is no room for: the disk ends a byte before the end of each."""
        model, data = self.scratch / "wide.pt", self.scratch / "graph.safetensors"
        torch.jit.script(Wide().eval()).save(str(model))
        save_file({"x": torch.zeros(10, 200), "edge_index": torch.randint(0, 10, (2, 30))}, data)
        whole = self.export(model, data, folder=self.scratch / "whole")
        sizes = {file.name: file.stat().st_size for file in whole.iterdir()}
        self.assertEqual(max(sizes, key=sizes.get), "stages.pt")
        there, named = set(self.scratch.iterdir()), set()
        for size in sizes.values():
            words = [ENGINE, "export", str(model), "--data", str(data), "-o", str(self.folder), "--quiet"]
            limited = f"trap '' XFSZ; exec prlimit --fsize={size - 1} {' '.join(words)}"
            made = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(made.returncode, 6, made.stderr)
            self.assertRegex(made.stderr, "cannot (be written|write)")
            self.assertEqual(set(self.scratch.iterdir()), there)
            named |= {name for name in sizes if name in made.stderr}
        self.assertLessEqual({"stages.pt", "weights.safetensors", "run.py"}, named)

    def test_data_that_do_not_fit_have_a_sentence_each(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        data = load_file(KARATE / "graph.safetensors")
        edges = data["edge_index"]
        outside = edges.clone()
        outside[1, 0] = data["x"].size(0)
        wrong = {
            "the model needs 'edge_index'": {"x": data["x"]},
            "in dimension 1, not": {"x": data["x"][:, :3].contiguous(), "edge_index": edges},
            "is float64, but the model takes float32": {"x": data["x"].double(), "edge_index": edges},
            "dimensional, not 2-dimensional": {"x": data["x"], "edge_index": edges[0].contiguous()},
            "the graph does not fit this export": {"x": data["x"], "edge_index": outside},
        }
        attempts = [(3, says, ["--data", file]) for says, file in self.written(wrong)]
        attempts.append((3, "there is no such file", ["--data", self.scratch / "none.safetensors"]))
        if not torch.cuda.is_available():
            attempts.append((2, "no CUDA device", ["--data", KARATE / "graph.safetensors", "--device", "cuda"]))
        self.not_run(*attempts)
        code, says, words = attempts[0]
        ended, said = bare.run(self.python(), self.folder / "run.py", *words, "-o", self.scratch / "out")
        self.assertEqual((ended, len(said.splitlines())), (code, 1), said)
        self.assertIn(says, said)

    def test_files_of_any_other_form_have_a_sentence_each(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        entry, edges = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, KARATE / "graph.safetensors"
        headers = {b"[1]": "is not a .safetensors file", b"{torn": "is not a .safetensors file", b"[" * 100_000: "is not a .safetensors file"}
        for changed, says in ((3, "dtype"), ({}, "dtype"), ({**entry, "dtype": "F8"}, "dtype F8"), ({**entry, "dtype": 3}, "dtype 3"),
                              *(({**entry, "shape": shape}, "no shape") for shape in ([-2, 2], [2.0, 2], "ab", None, [True, 4])),
                              ({**entry, "shape": [2 ** 62, 4]}, "does not match"), ({**entry, "data_offsets": [16, 0]}, "does not match"),
                              *(({**entry, "data_offsets": place}, "no shape or no place") for place in ([0], 3, ["a", "b"], [-16, 0])),
                              ({**entry, "data_offsets": [56, 72]}, "beyond the end")):
            headers[json.dumps({"x": changed}).encode()] = says
        headers[json.dumps({"x": entry, "y": entry}).encode()] = "overlaps another tensor"
        attempts = []
        for number, (header, says) in enumerate(headers.items()):
            file = self.scratch / f"odd{number}.safetensors"
            file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
            attempts.append((3, says, ["--data", file]))
        arrays = {"texts": numpy.array(["a"]), "times": numpy.zeros(3, "M8[D]"), "records": numpy.zeros(3, [("a", "f4")])}
        for name, array in arrays.items():
            numpy.save(self.scratch / f"{name}.npy", array)
            attempts.append((3, "contains no numbers", ["--data", f"x={self.scratch / name}.npy"]))
        for name, content in {"empty": b"", "cut": b"\x93NUMPY", "torn": b"\x93NUMPY\1\0\x10\0{torn            "}.items():
            (self.scratch / f"{name}.npy").write_bytes(content)
            attempts.append((3, "is not a .npy file", ["--data", f"x={self.scratch / name}.npy"]))
        pipes = self.scratch / "pipes"
        pipes.mkdir()
        os.mkfifo(pipes / "x.npy")
        attempts.append((3, "is not a file", ["--data", pipes]))
        attempts += [(2, f"unknown device '{name}'", ["--data", edges, "--device", name]) for name in ("abacus", "meta", "cuda:x")]
        attempts += [(2, "unknown option '--dta'; did you mean '--data'? see run.py --help", ["--dta", edges, "--help"]),
                     (2, "unknown option '-x'; see run.py --help", ["--help", "-x", "--data", edges])]
        self.not_run(*attempts)

    def with_part(self, name, change):
        """A copy of the export with another file of that name."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch)) / "exported"
        shutil.copytree(self.folder, folder)
        change(folder / name)
        return folder

    def test_parts_of_an_export_that_are_damaged_have_a_sentence_each(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        data, attempts = ["--data", KARATE / "graph.safetensors"], []
        for name, says, *words in (("schema.json", "schema.json: is damaged"), ("weights.safetensors", "weights.safetensors: is damaged"),
                                   ("stages.pt", "stages.pt: is damaged", "--script")):
            brackets, none = (self.with_part(name, change) for change in (lambda part: part.write_bytes(b"[" * 2000), Path.unlink))
            attempts += [(3, says, [*data, *words], brackets),
                         (3, f"{name}: is missing; export the model again", [*data, *words], none)]
        whole = (self.folder / "weights.safetensors").read_bytes()
        other = self.with_part("weights.safetensors", lambda part: part.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1])))
        self.not_run(*attempts, (3, "weights.safetensors: is damaged, or of another export", data, other))

    def written(self, wrong):
        """A file for each dictionary of tensors, with its sentence."""
        for number, (says, tensors) in enumerate(wrong.items()):
            file = self.scratch / f"wrong{number}.safetensors"
            save_file(tensors, file)
            yield says, file

    def test_data_that_do_not_fit_have_the_same_sentences_from_cpp(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        data = load_file(KARATE / "graph.safetensors")
        edges, outside = data["edge_index"], data["edge_index"].clone()
        outside[1, 0] = data["x"].size(0)
        wrong = {
            "the model needs 'edge_index', and the data has x": {"x": data["x"]},
            "'x' has size 3 in dimension 1, not": {"x": data["x"][:, :3].contiguous(), "edge_index": edges},
            "'x' is float64, but the model takes float32": {"x": data["x"].double(), "edge_index": edges},
            "'edge_index' is 1-dimensional, not 2-dimensional": {"x": data["x"], "edge_index": edges[0].contiguous()},
            "the graph does not fit this export": {"x": data["x"], "edge_index": outside},
        }
        files = list(self.written(wrong))
        outcomes = self.rerun(*((self.folder, file, self.scratch / "out.safetensors") for _, file in files))
        for outcome, (says, _) in zip(outcomes, files):
            with self.subTest(says):
                self.assertTrue(outcome.startswith("3 "), outcome)
                self.assertIn(says, outcome)
        self.assertFalse((self.scratch / "out.safetensors").exists())

    def test_edges_that_are_not_sorted_are_refused_where_their_order_counts(self):
        case = {case["name"]: case for case in cases(ZOO / "further.list")}["sage_lstm"]
        self.export(case["model"], case["data0"])
        data = load_file(case["data0"])
        wrong, says = self.scratch / "unsorted.safetensors", "the edges are not sorted by the node that they belong to"
        save_file({**data, "edge_index": data["edge_index"].flip(1).contiguous()}, wrong)
        self.not_run((3, says, ["--data", wrong]))
        with self.assertRaisesRegex(hopscope.InputError, says):
            hopscope.load(self.folder).inference(**load_file(wrong))
        outcome, = self.rerun((self.folder, wrong, self.scratch / "out.safetensors"))
        self.assertTrue(outcome.startswith("3 "), outcome)
        self.assertIn(says, outcome)
        self.agrees_from_the_package(self.folder, case["data0"], case["expected0"])

    def test_another_graph_runs(self):
        self.export(KARATE / "gcn.pt", KARATE / "graph.safetensors")
        data = load_file(KARATE / "graph.safetensors")
        inputs = {"x": data["x"][:7], "edge_index": torch.tensor([[0, 1, 2, 6, 6], [1, 2, 2, 0, 0]])}
        expected = torch.jit.load(str(KARATE / "gcn.pt"))(**inputs)
        found = runner(self.folder).load(self.folder).inference(**inputs)
        self.assertEqual(difference(found, expected.detach(), 1e-5), "")


if __name__ == "__main__":
    unittest.main()
