"""`hopscope-bench place` as a user starts it, on the acceptance cases. HOPSCOPE_BENCH names the program, HOPSCOPE_ROOT the
repository."""
import json
import os
import unittest
from pathlib import Path

from engine_process import bench, own_folder

CASES = Path(os.environ["HOPSCOPE_ROOT"]) / "tests/optimiser/placement_cases.json"
DOCUMENT = json.loads(CASES.read_text())
ALL = DOCUMENT["cases"] + DOCUMENT["random_cases"]
BY_ID = {case["id"]: case for case in ALL}


def place(*arguments):
    return bench("place", *arguments)


class Place(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def document(self, *arguments, code=0):
        result = place(*arguments)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return json.loads(result.stdout)

    def refused(self, code, *arguments):
        result = place(*arguments)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertEqual(result.stdout, "")
        lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        return lines[0]

    def written(self, case, name="instance.json"):
        path = self.folder / name
        path.write_text(json.dumps(case))
        return path

    def test_every_case_has_its_optimum_its_stores_and_its_min_cut_relaxation(self):
        results = self.document(CASES, "--min-cut")["results"]
        self.assertEqual([result["id"] for result in results], [case["id"] for case in ALL])
        for result in results:
            with self.subTest(case=result["id"]):
                case = BY_ID[result["id"]]
                expect = case["expect"]
                self.assertEqual(result["status"], "optimal")
                self.assertAlmostEqual(result["cost"], expect["cost"], delta=1e-6 * expect["cost"])
                self.assertAlmostEqual(result["lower_bound"], expect["cost"], delta=1e-5 * expect["cost"])
                if expect.get("written_set_unique"):
                    self.assertEqual(sorted(result["written"]), sorted(expect["written"]))
                written = [v for stage in result["plan"] for v in stage["write"]]
                self.assertEqual(sorted(written), sorted(result["written"]))
                if "literal_colouring" in case:
                    self.assertAlmostEqual(result["literal_colouring"]["cost"], case["literal_colouring"]["cost"])

    def test_the_strategies_give_the_baselines(self):
        for strategy, key in (("depth", "depth_cut"), ("source-rule", "seed_t")):
            for result in self.document(CASES, "--strategy", strategy)["results"]:
                with self.subTest(case=result["id"], strategy=strategy):
                    self.assertAlmostEqual(result["cost"], BY_ID[result["id"]]["baselines"][key])
                    self.assertEqual(result["status"], "feasible")

    def test_local_search_is_legal_and_near(self):
        for result in self.document(CASES, "--strategy", "local-search")["results"]:
            with self.subTest(case=result["id"]):
                cost = BY_ID[result["id"]]["expect"]["cost"]
                self.assertGreaterEqual(result["cost"], cost * (1 - 1e-9))
                self.assertLessEqual(result["lower_bound"], cost * (1 + 1e-9))

    def test_one_case_is_one_object_and_a_file_may_be_one_case(self):
        by_id = self.document(CASES, "--case", "gat_diamond")
        alone = self.document(self.written(BY_ID["gat_diamond"]))
        self.assertEqual(by_id, alone)
        self.assertEqual(by_id["cost"], 58)
        for key in ("status", "cost", "lower_bound", "written", "plan"):
            self.assertIn(key, by_id)

    def test_pins_without_a_plan_end_with_4_and_the_ways_out(self):
        case = dict(BY_ID["gcn2_plain"], pins=[["checkpoint", "conv0"], ["no_checkpoint", "relu"],
                                               ["no_checkpoint", "conv0"]])
        document = self.document(self.written(case), code=4)
        self.assertEqual(document["status"], "infeasible")
        self.assertIsNone(document["cost"])
        self.assertTrue(document["conflict"]["pins"])
        self.assertTrue(document["conflict"]["repairs"])

    def test_mistakes_end_with_2(self):
        for says, *words in (("is required",), ("unknown strategy 'best'", CASES, "--strategy", "best"),
                             ("--deadline: Value -1", CASES, "--deadline", "-1"),
                             ("was not expected: more", CASES, "more"), ("--deadline: Value 0", CASES, "--deadline", "0")):
            with self.subTest(words=words):
                self.assertIn(says, self.refused(2, *words))

    def test_what_is_no_instance_ends_with_3_and_names_the_place(self):
        good = BY_ID["gcn2_plain"]
        nodes = good["nodes"]
        for case, word in (({"format": "other", "cases": []}, "/format"), (dict(good, nodes=7), "/nodes"),
                           (dict(good, surprise=1), "/surprise"), (dict(good, outputs=["nobody"]), "nobody"),
                           (dict(good, nodes=[*nodes, nodes[1]]), "conv0"),
                           (dict(good, pins=[["checkpoint"]]), "/pins/0"),
                           (dict(good, nodes=[nodes[0], dict(nodes[1], w=-1), *nodes[2:]]), "conv0")):
            with self.subTest(word=word):
                self.assertIn(word, self.refused(3, self.written(case)))
        self.assertIn("no such file", self.refused(3, self.folder / "missing.json"))
        self.assertIn("nothing", self.refused(3, CASES, "--case", "nothing"))


if __name__ == "__main__":
    unittest.main()
