"""`hopscope-bench` as a developer starts it: its refusals, and its measurements and proofs on a small graph. HOPSCOPE_BENCH names
the program, HOPSCOPE_ROOT the repository."""
import json
import os
import unittest
from pathlib import Path

from safetensors.torch import save_file

import engine_models as models
from engine_process import bench, own_folder

SAMPLES = Path(os.environ["HOPSCOPE_ROOT"]) / "samples"
KARATE = (SAMPLES / "karate/gcn.pt", "--data", SAMPLES / "karate/graph.safetensors")
SMALL = ("--nodes", 3000, "--edges", 30_000, "--features", 8, "--hidden", 12, "--outputs", 5, "--layers", 2)


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def refused(self, code, says, *words, **options):
        done = bench(*words, **options)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, f"^error: .*{says}.*\n$")

    def case(self, *words):
        done = bench("run", *SMALL, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["cases"][0]

    def test_mistakes_end_with_2(self):
        for says, *words in (("subcommand is required",), ("not expected|is required", "fly"), ("--data is required", "plans", KARATE[0]),
                             ("--repeat", "plans", *KARATE, "--repeat", 0), ("--memory", "run", "--memory", "none"),
                             ("--device", "plans", *KARATE, "--device"), ("--strategy", "run", "--strategy", "depth")):
            with self.subTest(words=words):
                self.refused(2, says, *words)

    def test_the_help_names_the_commands(self):
        done = bench("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("run", "plans", "place"):
            self.assertRegex(done.stdout, rf"\n  {name} ")
        self.assertNotIn("oracle", done.stdout)

    def test_a_model_is_measured_once_the_user_has_agreed_to_it(self):
        alone = {**os.environ, "HOPSCOPE_TRUST": "", "XDG_CONFIG_HOME": str(self.folder)}
        inputs, model, data = models.graph(40, 150, 8), self.folder / "model.pt", self.folder / "graph.safetensors"
        models.save(models.Sage(8, 8, 3), inputs, model)
        save_file(dict(zip(("x", "edge_index"), inputs)), str(data))
        self.refused(8, "not agreed to run", "plans", model, "--data", data, env=alone)
        done = bench("plans", model, "--data", data, "--repeat", 1, "--trust", env=alone)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_is_proved_and_its_files_are_found_again(self):
        case = self.case("--folder", self.folder)
        self.assertEqual((case["reference"]["verdict"], case["reference"]["rows"]), ("equal", 3000))
        self.assertEqual((case["verify"]["verdict"], case["device"]), ("equal", "cpu"))
        (graph,) = self.folder.glob("rmat-3000-30000-*.safetensors")
        self.assertEqual(sorted(path.suffix for path in self.folder.iterdir()), [".pt", ".safetensors", ".safetensors"])
        made = graph.stat().st_mtime_ns
        self.case("--folder", self.folder)
        self.assertEqual(graph.stat().st_mtime_ns, made)

    def test_checks_can_be_left_out(self):
        case = self.case("--targets", 0, "--no-reference", "--batch", 100)
        self.assertIsNone(case["verify"])
        self.assertIsNone(case["reference"])
        self.assertEqual({stage["largest_batch"] for stage in case["stages"]}, {100})


if __name__ == "__main__":
    unittest.main(verbosity=2)
