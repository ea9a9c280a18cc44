"""Exported programs as torch 2.9, 2.11 and 2.14 wrote them (formats 8.14, 8.17 and 8.20): they open, run in batches of 7 and of all nodes,
and agree with the modules' own numbers on two graphs. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import copy
import json
import unittest
import zipfile
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file

import exported_models as models
from engine_process import ENGINE, own_folder, run

DATA = Path(__file__).parent / "data/exported"
ROLES = {"sums": [], "attends": ["--role", "edge_index=index:user>item"]}  # both tables have as many rows
FORMATS = {"2.9.1": 14, "2.11.0": 17, "2.14.1": 20}


def archive(contents, module, path):
    """The .pt2 file, with the weights of the module."""
    weights = {name: value.numpy().tobytes() for name, value in module.state_dict().items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for name, content in contents.items():
            file.writestr(f"{path.stem}/{name}", json.dumps(content) if name.endswith(".json") else content)
        for name, entry in contents["data/weights/model_weights_config.json"]["config"].items():
            file.writestr(f"{path.stem}/data/weights/{entry['path_name']}", weights[name])
    return path


def named(arguments):
    """Inputs by the names that files of data have for them."""
    first, edge_index = arguments
    return {"edge_index": edge_index, **({"x": first} if torch.is_tensor(first) else {f"x_dict.{key}": x for key, x in first.items()})}


class ExportedPrograms(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def engine(self, *words):
        return run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)

    def written(self, name, version, change=None):
        contents = json.loads((DATA / f"{name}-torch-{version}.json").read_text())
        if change:
            change(contents["models/model.json"])
        return archive(contents, models.weights_of(models.MODELS[name]()), self.folder / f"{name}.pt2")

    def check_runs(self, name, path, module):
        for size, seed in ((61, 5), (200, 6)):
            arguments = models.inputs(name, size, seed)
            data = self.folder / f"{size}.safetensors"
            save_file({key: value.contiguous() for key, value in named(arguments).items()}, str(data))
            with torch.no_grad():
                wanted = module(*arguments)
            for batch in (7, size):
                out = self.folder / f"out-{size}-{batch}"
                done = self.engine("run", path, "--data", data, "-o", out, "--batch", batch, "--verify", "full", "--device", "cpu",
                                   *ROLES[name])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("verified: equal", done.stdout)
                results = {"out": wanted} if torch.is_tensor(wanted) else {f"out.{key}": value for key, value in wanted.items()}
                for key, value in results.items():
                    numpy.testing.assert_allclose(numpy.load(out / f"{key}.npy"), value, atol=1e-5, rtol=1e-4)

    def test_programs_of_each_format_give_the_numbers_of_their_modules(self):
        self.assertEqual(len(list(DATA.iterdir())), len(FORMATS) * len(models.MODELS))
        for version, minor in FORMATS.items():
            for name in models.MODELS:
                with self.subTest(version=version, name=name):
                    found = {}
                    path = self.written(name, version, lambda program: found.update(program))
                    self.assertEqual(found["schema_version"], {"major": 8, "minor": minor})
                    self.assertTrue(found["torch_version"].startswith(version))
                    self.check_runs(name, path, models.weights_of(models.MODELS[name]()))

    def test_parts_without_gradients_keep_their_modules_and_lines(self):
        """torch.export makes a graph of its own of what torch.no_grad covers."""
        data = self.folder / "data.safetensors"
        save_file(named(models.inputs("attends", 40, 2)), str(data))
        for version in FORMATS:
            path = self.written("attends", version)
            document = json.loads(self.engine("inspect", path, "--data", data, *ROLES["attends"], "--json").stdout)
            operator = next(each for each in document["ops"] if each["name"] == "aten::ne.Tensor")
            self.assertEqual((operator["source"]["file"], operator["source"]["text"]),
                             ("exported_models.py", "kept = edge_index[:, edge_index[0] != edge_index[1]]"))

    def test_graphs_within_graphs_must_fit(self):
        def wrap(program):
            return next(node for node in program["graph_module"]["graph"]["nodes"] if "wrap_with" in node["target"])

        def inner(program):
            return wrap(program)["inputs"][1]["arg"]["as_graph"]["graph"]

        def autocast(enabled):
            def change(program):
                node = wrap(program)
                graph, *operands = node["inputs"][1:]
                given = [{"as_string": "cpu"}, {"as_none": True}, {"as_bool": enabled}, {"as_bool": True}]
                node["inputs"] = [*({"name": "", "kind": 1, "arg": value} for value in given), graph, *operands]
                node["target"] = "torch.ops.higher_order.wrap_with_autocast"
            return change

        arguments = models.inputs("attends", 40, 2)
        data = self.folder / "data.safetensors"
        save_file(named(arguments), str(data))
        for change, code, words in (
                (lambda program: inner(program)["inputs"].clear(), 3, "the graph takes 0 values, and gets 1"),
                (lambda program: inner(program)["outputs"].append(copy.deepcopy(inner(program)["outputs"][0])), 3,
                 "the graph has 2 results, not 1"),
                (lambda program: wrap(program)["inputs"].__delitem__(1), 3, "the graph of wrap_with_set_grad_enabled is missing"),
                (lambda program: wrap(program).update(target="torch.ops.higher_order.cond"), 4, "the higher-order operator cond"),
                (lambda program: wrap(program).update(target="torch.ops.aten.relu.late"), 4,
                 "the operator aten::relu.late is not part of the LibTorch that Hopscope uses ("),
                (lambda program: wrap(program).update(target="torch.ops.evil.tanh.default"), 4,
                 "the operator evil::tanh is not part of PyTorch"),
                (autocast(True), 4, "the higher-order operator wrap_with_autocast"), (autocast(False), 0, "")):
            done = self.engine("inspect", self.written("attends", "2.14.1", change), "--data", data)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)

    def test_fixed_sizes_are_told_without_data_and_refused_for_others(self):
        def fix(program):
            values = program["graph_module"]["graph"]["tensor_values"]
            for spec in program["graph_module"]["signature"]["input_specs"]:
                for dim, size in enumerate(values[spec["user_input"]["arg"]["as_tensor"]["name"]]["sizes"] if "user_input" in spec else ()):
                    if "as_expr" in size:
                        size.clear()
                        size["as_int"] = (20, 50)[dim]

        data = self.folder / "data.safetensors"
        for name, first in (("sums", "x.size(0) == 20"), ("attends", "x_dict.")):
            path = self.written(name, "2.14.1", fix)
            document = json.loads(self.engine("inspect", path, *ROLES[name], "--json").stdout)
            lint, = (each for each in document["lints"] if each["code"] == "size-guard")
            self.assertIn(first, lint["message"])
            self.assertIn("edge_index.size(1) == 50", lint["message"])
            self.assertIn("dynamic_shapes", lint["hint"])
            self.assertTrue(document["splittable"])
            save_file(named(models.inputs(name, 61, 5)), str(data))
            done = self.engine("run", path, "--data", data, "-o", self.folder / "out", *ROLES[name])
            self.assertEqual(done.returncode, 3)
            self.assertIn("was fixed at", done.stderr)

    def test_another_major_version_is_refused_in_words(self):
        path = self.written("sums", "2.14.1", lambda program: program["schema_version"].update(major=9))
        done = self.engine("inspect", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("has version 9.20 of torch.export's format, but Hopscope reads only version 8.x", done.stderr)


if __name__ == "__main__":
    unittest.main()
