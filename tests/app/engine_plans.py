"""What every strategy's plan was predicted to move, and what it moved, on stacks whose widths make different cuts the
best. HOPSCOPE_ENGINE and HOPSCOPE_BENCH name the programs, HOPSCOPE_ROOT the repository."""
import hashlib
import json
import os
import sys
import unittest
from pathlib import Path

import jsonschema
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from engine_process import ENGINE, bench, own_folder, run
from strategies import RULES, STRATEGIES

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
sys.path.append(str(ROOT / "tests/placement"))

import make_stacks  # noqa: E402

STACKS = ("gcn", "sage", "jknet", "dense", "bottleneck", "expanding")


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.edge = nn.Linear(8, 8), nn.Linear(3, 8)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = self.inp(x)
        e = (h[edge_index[0]] * h[edge_index[1]] + self.edge(edge_attr)).sum(-1, keepdim=True)
        return torch.zeros_like(h).index_add(0, edge_index[1], e / e.norm() * h[edge_index[0]])


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = own_folder(cls)
        make_stacks.main(cls.folder, 24)
        cls.graph = cls.folder / "graph.safetensors"
        cls.engine("generate", "sbm", "--nodes", 2000, "--edges", 20000, "--features", 24, "--seed", 3, "-o", cls.graph)

    @staticmethod
    def engine(*words):
        done = run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300, check=True)
        return done.stdout

    @staticmethod
    def refused(code, *words):
        done = run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done.stderr

    def pins(self, pins, **more):
        file = self.folder / "pins.json"
        file.write_text(json.dumps({"pins": pins, **more}))
        return file

    def measured(self, name, *options):
        return {plan["name"]: plan for plan in self.plans(name, self.graph, *options)}

    def plans(self, name, graph, *options):
        done = bench("plans", self.folder / f"{name}.pt", "--data", graph, "--repeat", 1, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["plans"]

    def test_of_plans_that_are_nearly_as_fast_the_one_that_moves_fewer_bytes_is_taken(self):
        """Storing the scores saves calls, which is most of the time on a graph this small: recomputing them saves bytes."""
        index, model, graph = torch.randint(40, (2, 150)), self.folder / "scores.pt", self.folder / "small.safetensors"
        torch.jit.script(Scores()).save(str(model))
        save_file({"x": torch.randn(40, 8), "edge_index": index, "edge_attr": torch.randn(150, 3)}, str(graph))
        plan = json.loads(self.engine("plan", model, "--data", graph, "--json"))
        self.assertGreater(plan["gap"], 1e-4)
        self.assertLessEqual(plan["gap"], 0.02)
        least = json.loads(self.engine("plan", model, "--data", graph, "--objective", "bytes", "--json"))
        self.assertEqual(plan["bytes"], least["bytes"])

    def test_plans_move_what_was_predicted_and_the_optimum_moves_least(self):
        for name in STACKS:
            for batch in ("auto", 300):
                with self.subTest(model=name, batch=batch):
                    plans = self.measured(name, "--batch", batch)
                    self.assertEqual(set(plans), {"optimal, time", "optimal, bytes", *RULES})
                    for plan in plans.values():
                        self.assertEqual(plan["bytes"], plan["predicted_bytes"])
                        self.assertEqual(len(plan["seconds"]), len(plan["predicted_seconds"]))
                        for wanted, held in zip(plan["predicted_peak_memory"], plan["peak_memory"], strict=True):
                            # Where a batch is all of its frontier, products need no copies of rows for oneDNN.
                            self.assertGreaterEqual(wanted / held, 0.95)
                            self.assertLessEqual(wanted / held, 1.12)
                    moved = {key: sum(plan["bytes"].values()) for key, plan in plans.items()}
                    self.assertEqual(moved["optimal, bytes"], min(moved.values()))
                    seconds = {key: sum(plan["predicted_seconds"]) for key, plan in plans.items()}
                    # Predictions know of caches, strips and fresh memory, which the optimiser's account leaves out.
                    self.assertLessEqual(seconds["optimal, time"], min(seconds.values()) * 1.15)
                    self.assertLessEqual(plans["optimal, time"]["gap"], 1e-4)

    def test_plans_move_what_was_predicted_on_a_larger_graph_in_tiles_and_in_batches_that_memory_allows(self):
        """Loops that read frontiers have no tiles; columns of edges that are sorted are read in place."""
        graph, in_order = (self.folder / f"{name}.safetensors" for name in ("large", "sorted"))
        self.engine("generate", "sbm", "--nodes", 20000, "--edges", 300000, "--features", 24, "--seed", 3, "-o", graph)
        data = load_file(graph)
        data["edge_index"] = data["edge_index"][:, data["edge_index"][1].sort(stable=True).indices].contiguous()
        save_file(data, in_order)
        for name, edges, *options in (("bottleneck", graph), ("bottleneck", graph, "--memory", 20_000_000), ("sage", in_order)):
            for plan in self.plans(name, edges, *options):
                with self.subTest(model=name, plan=plan["name"], options=options):
                    self.assertEqual((plan["bytes"], plan["same_batches"]), (plan["predicted_bytes"], True))

    def test_the_narrow_layer_is_what_is_stored(self):
        plans = self.measured("bottleneck")
        stored = {key: plan["bytes"]["d2h"] for key, plan in plans.items()}
        self.assertLess(stored["optimal, bytes"], stored["depth"])
        self.assertLess(stored["optimal, bytes"], stored["source-rule"])

    def test_pins_stages_and_deadline_on_the_command_line(self):
        model = self.folder / "gcn.pt"
        asked = (model, "--data", self.graph)
        looked = json.loads(self.engine("inspect", *asked, "--json"))
        gathered = next(op["outputs"][0] for op in looked["ops"] if op["kind"] == "gather" and op["depth"] == 1)
        later = self.pins([["hop_stage", gathered, 2]], model_sha256=hashlib.sha256(model.read_bytes()).hexdigest())
        free, pinned = (json.loads(self.engine("plan", *asked, "--json", *more)) for more in ((), ("--pins", later)))
        self.assertEqual((len(free["stages"]), len(pinned["stages"])), (3, 4))
        self.assertEqual(pinned["pins"], [["hop_stage", gathered, 2]])
        self.assertGreaterEqual(pinned["cost"], free["cost"])
        for command, *more in (("run", "-o", self.folder / "out", "--verify", "full"), ("verify", "--verify", "full")):
            self.assertIn("equal", self.engine(command, *asked, "--pins", later, *more))
        self.assertIn("allow 4 stages", self.refused(4, "plan", *asked, "--pins", later, "--stages", 3))
        self.assertEqual(len(json.loads(self.engine("plan", *asked, "--json", "--pins", later, "--stages", 4))["stages"]), 4)
        self.assertIn("at least 3 stages", self.refused(4, "plan", *asked, "--stages", 2))
        self.assertEqual(json.loads(self.engine("plan", *asked, "--json", "--deadline", 0.01))["strategy"], "optimal")

    def test_pins_are_for_models_of_any_size(self):
        """The limit of 64 MiB is one of documents, not of the model file whose hash the pins name."""
        large = torch.jit.load(self.folder / "gcn.pt")
        large._c._register_attribute("table", torch._C.TensorType.get(), torch.zeros(17_000_000))
        model = self.folder / "large.pt"
        large.save(model)
        self.assertGreater(model.stat().st_size, 64 << 20)
        asked = (model, "--data", self.graph, "--json")
        gathered = next(op["outputs"][0] for op in json.loads(self.engine("inspect", *asked))["ops"] if op["kind"] == "gather")
        pins = self.pins([["hop_stage", gathered, 1]], model_sha256=hashlib.sha256(model.read_bytes()).hexdigest())
        self.assertEqual(json.loads(self.engine("plan", *asked, "--pins", pins))["pins"], [["hop_stage", gathered, 1]])
        wrong = self.pins([], model_sha256="00")
        self.assertIn("/model_sha256", self.refused(3, "plan", *asked[:3], "--pins", wrong))

    def test_wrong_pins_and_options_are_refused(self):
        asked = ("plan", self.folder / "gcn.pt", "--data", self.graph)
        self.assertIn("/model_sha256", self.refused(3, *asked, "--pins", self.pins([], model_sha256="00")))
        self.assertIn("/pins/0/0", self.refused(3, *asked, "--pins", self.pins([["nail", "v1"]])))
        self.assertIn("cannot be stored", self.refused(4, *asked, "--pins", self.pins([["checkpoint", "v0"]])))
        self.assertIn("no such file", self.refused(3, *asked, "--pins", self.folder / "none.json"))
        self.assertIn(f"{self.folder}: is a folder, not a file", self.refused(3, *asked, "--pins", self.folder))
        self.assertIn("/dev/null: is not a regular file", self.refused(3, *asked, "--pins", "/dev/null"))
        for says, *wrong in (("--stages: '0' is neither", "--stages", 0), ("--stages: 'x' is neither", "--stages", "x"),
                             ("--deadline: '0' is neither", "--deadline", 0),
                             ("apply to optimised plans only", "--strategy", "depth", "--stages", 3),
                             ("apply to optimised plans only", "--strategy", "depth", "--deadline", 1)):
            self.assertIn(says, self.refused(2, *asked, *wrong))
        self.assertIn("--pins excludes --plan", self.refused(2, "run", *asked[1:], "-o", self.folder / "out", "--plan",
                                                             "plan.json", "--pins", self.pins([])))

    def test_an_explanation_is_written_beside_the_plan(self):
        asked = ("plan", self.folder / "jknet.pt", "--data", self.graph)
        reasons = self.folder / "reasons.json"
        plain, explained = (self.engine(*asked, "--json", *more) for more in ((), ("--explain", reasons)))
        self.assertEqual(plain, explained)
        told = json.loads(reasons.read_text())
        self.assertEqual([other["strategy"] for other in told["against"]], list(RULES))
        self.assertEqual({d["value"] for d in told["decisions"] if d["kind"] == "stored"},
                         {c["value"] for c in json.loads(plain)["checkpoints"] if not c["output"]})
        self.assertIn("Decisions", self.engine(*asked, "--explain", reasons))

    def test_replayed_steps_give_the_plan_of_every_strategy(self):
        for model in sorted((ROOT / "samples/digits").glob("*.pt")):
            asked = ["plan", model, "--data", ROOT / "samples/digits/graph.safetensors"]
            file = self.folder / "steps.json"
            printed = self.engine(*asked, "--steps", file)
            told = json.loads(file.read_text())
            jsonschema.validate(told, json.loads((ROOT / "resources/schemas/steps-1.schema.json").read_text()))
            self.assertEqual([way["strategy"] for way in told["ways"]], [*RULES, "optimal"])
            self.assertEqual([f"Steps of {name}" in printed for name in STRATEGIES], [name != "local-search" for name in STRATEGIES])
            for way in told["ways"]:
                with self.subTest(model=model.name, strategy=way["strategy"]):
                    plan = json.loads(self.engine(*asked, "--strategy", way["strategy"], "--json"))
                    self.assertEqual(replayed(way["steps"]), outcome(plan))
                    self.assertLessEqual(told["colouring"]["cost"], plan["cost"])


def replayed(steps):
    """Stages by operator, and what is stored between them."""
    stages, stored = {}, set()
    for step in steps:
        for moved in step["moved"]:
            stages[moved["op"]] = moved["stages"]
        if step["kind"] == "store":
            stored.add(step["stored"])
    return {op: where for op, where in stages.items() if where}, stored


def outcome(plan):
    """The same, read from plan.json."""
    stages = {}
    for stage in plan["stages"]:
        for op in {step["op"] for step in stage["ops"]}:
            stages.setdefault(op, []).append(stage["index"])
        for op in stage["rowless"]:
            stages.setdefault(op, []).append(stage["index"])
    return stages, {c["value"] for c in plan["checkpoints"] if not c["output"]}


if __name__ == "__main__":
    unittest.main(verbosity=2)
