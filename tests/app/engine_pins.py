"""Random pins of all kinds on real models: every answer is a plan that keeps them, judged by the plan's own steps, reads and
stores, or a refusal that names conflicting pins and can be fixed. HOPSCOPE_ENGINE names the program,
HOPSCOPE_ROOT the repository."""
import json
import random
import re
import sys
import unittest

from serve_case import DIGITS, KARATE, ROOT, ServeTest
from serve_client import Refused
from strategies import RULES
from tiers import one_in, sized

sys.path.append(str(ROOT / "tests/placement"))

import make_stacks  # noqa: E402

SEEDS = 8  # for each model
PHRASES = {"checkpoint": "(?<!never )store '{0}'", "no_checkpoint": "never store '{0}'",
           "cut": "read '{0}' from a store for '{1}'", "hop_stage": r"run the gathers for '{0}' in stage {1}\b",
           "no_recompute": "compute '{0}' only once"}


class Model:
    """What an inspect document says about values and operators."""

    def __init__(self, inspect):
        self.ops = {op["id"]: op for op in inspect["ops"]}
        self.values = {value["id"]: value for value in inspect["values"]}
        self.maker = {value: op["id"] for op in inspect["ops"] for value in op["outputs"] if op["kind"] != "input"}
        self.results = {op["inputs"][0] for op in inspect["ops"] if op["kind"] == "output"}
        self.rows = [v for v in self.maker if any(self.values[v]["row_spaces"]) and not self.values[v]["structure_only"]]

    def phrase(self, pin):
        """How a refusal speaks of a pin, as a regular expression."""
        return PHRASES[pin[0]].format(*(re.escape(self.values[v]["label"]) if v in self.values else v for v in pin[1:]))

    def operands(self, value):
        return [u for u in self.ops[self.maker[value]]["inputs"] if u in self.values]

    def on_edges(self, value):
        return "edge_index" in self.values[value]["row_spaces"]

    def from_neighbours(self, op):
        """Whether a gather takes rows of other nodes: then it is deeper than what it gathers."""
        before = [self.ops[self.maker[u]]["depth"] for u in op["inputs"] if u in self.maker]
        return op["kind"] == "gather" and op["depth"] > max(before, default=0)

    def gathers(self, value):
        found, seen, rest = set(), set(), [value]
        while rest:
            op = self.maker.get(rest.pop())
            if op is None or op in seen:
                continue
            seen.add(op)
            if self.from_neighbours(self.ops[op]):
                found.add(op)
            elif self.ops[op]["kind"] != "gather":
                rest += [u for u in self.ops[op]["inputs"] if u in self.values and self.on_edges(u)]
        return found

    def random_pin(self, choice, stages):
        kind = choice.choice(list(PHRASES))
        if kind == "cut":
            value = choice.choice([v for v in self.rows if any(u in self.rows for u in self.operands(v))])
            return [kind, choice.choice([u for u in self.operands(value) if u in self.rows]), value]
        if kind == "hop_stage":
            hops = [v for v in self.rows if self.ops[self.maker[v]]["kind"] in ("gather", "aggregate") and self.gathers(v)]
            return [kind, choice.choice(hops), choice.randint(1, stages + 1)]
        return [kind, choice.choice(self.rows if kind != "no_checkpoint" else
                                    [v for v in self.rows if v not in self.results])]


class Kept:
    """Whether a plan keeps pins."""

    def __init__(self, model, plan):
        self.model, self.plan = model, plan
        self.stored = {c["value"]: c for c in plan["checkpoints"]}
        self.steps = [(stage["index"], step["loop"], step["op"], step["class"])
                      for stage in plan["stages"] for step in stage["ops"]]
        self.steps += [(stage["index"], loop["destination"], step["op"], step["class"])
                       for stage in plan["stages"] for loop in stage["loops"] for step in loop["reductions"]]
        self.reads = {(stage["index"], loop["destination"], read["value"], read["class"])
                      for stage in plan["stages"] for loop in stage["loops"] for read in loop["reads"]}

    def checkpoint(self, value):
        later = any(v == value and stage > self.stored[value]["stage"] for stage, _, v, _ in self.reads
                    if value in self.stored)
        return value in self.stored and (later or value in self.model.results)

    def no_checkpoint(self, value):
        return value not in self.stored

    def cut(self, value, consumer):
        for stage, loop, op, rows in self.steps:
            if op != self.model.maker[consumer]:
                continue
            classes = {read[3] for read in self.reads if read[:3] == (stage, loop, value)}
            if not classes or (rows.startswith("F") and rows not in classes):
                return False
        return True

    def hop_stage(self, value, stage):
        return all(at == stage for at, _, op, _ in self.steps if op in self.model.gathers(value))

    def no_recompute(self, value):
        return sum(op == self.model.maker[value] for _, _, op, _ in self.steps) <= 1

    def broken(self, pins):
        last = {}
        for i, pin in enumerate(pins):
            last[(pin[0] in ("checkpoint", "no_checkpoint") or pin[0], pin[1])] = i
        counting = [pin for i, pin in enumerate(pins) if pin[0] in ("cut", "no_recompute") or i in last.values()]
        return [pin for pin in counting if not getattr(self, pin[0])(*pin[1:])]


class RandomPins(ServeTest):
    def setUp(self):
        super().setUp()
        make_stacks.main(self.folder, 64)
        stacks = {name: {**DIGITS["gcn"], "model": str(self.folder / f"{name}.pt")} for name in ("dense", "expanding")}
        self.models = {"karate": KARATE, **DIGITS, **stacks}

    def answer(self, document, pins, **more):
        try:
            return self.connection.call("plan/make", document=document, strategy="optimal", objective="time", pins=pins,
                                        device="cpu", memory=None, batch=None, **more), None
        except Refused as refused:
            self.assertEqual(refused.code, -32004)
            return None, refused.error

    def test_pins_are_kept_or_refused_with_the_conflict_and_fixes(self):
        self.connection = self.client()
        made = refused = 0
        for name, model in self.models.items():
            opened = self.connection.call("model/open", **model)
            look, document = Model(opened["inspect"]), opened["document"]
            stages = len(self.answer(document, [])[0]["plan"]["stages"])
            for seed in one_in(8, range(SEEDS)):
                choice = random.Random(f"{name} {seed}")
                pins = [look.random_pin(choice, stages) for _ in range(choice.randint(1, 4))]
                with self.subTest(model=name, seed=seed, pins=json.dumps(pins)):
                    answer, error = self.answer(document, pins)
                    made, refused = made + (error is None), refused + (error is not None)
                    if error is None:
                        self.kept(look, document, pins, answer)
                    else:
                        self.check_repairs(look, document, pins, error)
        print(f"{made} plans, {refused} refusals")
        self.assertGreater(made, sized(3, 30))
        self.assertGreater(refused, sized(1, 10))

    def kept(self, look, document, pins, answer):
        self.assertEqual(Kept(look, answer["plan"]).broken(pins), [])
        fewer = pins[:-1]
        near, error = self.answer(document, fewer, near=True)
        if error is None:
            self.assertEqual(Kept(look, near["plan"]).broken(fewer), [])
            self.assertGreaterEqual(near["plan"]["cost"], self.answer(document, fewer)[0]["plan"]["cost"] * (1 - 1e-6))
        # What is written can be read, and run.
        loaded = self.connection.call("plan/load", document=document, text=json.dumps(answer["plan"]))
        self.assertEqual(loaded["plan"]["stages"], answer["plan"]["stages"])

    def check_repairs(self, look, document, pins, error):
        named = [pin for pin in pins if re.search(look.phrase(pin), error["message"])]
        if "no legal plan" in error["message"]:
            self.assertTrue(named, error["message"])
            self.assertIsNotNone(self.answer(document, named)[1], error["message"])
        asked = {"document": document, "strategy": "optimal", "objective": "time", "pins": pins, "device": "cpu",
                 "memory": None, "batch": None}
        for repair in self.connection.call("plan/repairs", **asked)["repairs"]:
            left = list(pins)
            left.remove(repair["drop"])
            answer, again = self.answer(document, left)
            self.assertIsNone(again)
            self.assertEqual(Kept(look, answer["plan"]).broken(left), [])
            self.assertAlmostEqual(answer["plan"]["cost"] / repair["cost"], 1)


class Requests(ServeTest):
    def test_a_rule_says_that_it_does_not_keep_to_the_other_kinds(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["gcn"])
        look = Model(opened["inspect"])
        gathered = next(v for v in look.rows if look.gathers(v))
        for strategy in RULES:
            error = self.refused(-32004, "rules do not support this pin", self.plan, client, opened["document"],
                                 [["hop_stage", gathered, 2]], strategy)
            self.assertIn("optimal", error["data"]["hint"])

    def test_more_stages_are_offered_where_they_are_the_way_out(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["gcn"])
        look = Model(opened["inspect"])
        first = next(v for v in look.rows if look.gathers(v))
        asked = {"document": opened["document"], "strategy": "optimal", "pins": [["hop_stage", first, 2]], "device": "cpu",
                 "memory": None, "batch": None}
        self.refused(-32004, "no legal plan of at most 2 stages respects every pin", client.call, "plan/make", stages=2,
                     **asked)
        repairs = client.call("plan/repairs", stages=2, **asked)["repairs"]
        self.assertEqual([repair.get("stages") for repair in repairs], [3, None])
        plan = client.call("plan/make", stages=3, **asked)["plan"]
        self.assertEqual(len(plan["stages"]), 3)
        self.assertAlmostEqual(plan["cost"] / repairs[0]["cost"], 1)

    def test_an_explanation_adds_up(self):
        client = self.client()
        for name in ("gat", "jknet", "residual"):
            with self.subTest(model=name):
                document = client.call("model/open", **DIGITS[name])["document"]
                asked = {"document": document, "strategy": "optimal", "objective": "time", "pins": [], "device": "cpu",
                         "memory": None, "batch": None}
                free = client.call("plan/make", **asked)["plan"]
                told = client.call("plan/explain", **asked)
                self.assertAlmostEqual(told["cost"] / free["cost"], 1)
                self.assertEqual({d["value"] for d in told["decisions"] if d["kind"] == "stored"},
                                 {c["value"] for c in free["checkpoints"] if not c["output"]})
                for decision in told["decisions"]:
                    self.otherwise(client, asked, free, decision)
                for other in told["against"]:
                    self.rule(client, asked, other)

    def otherwise(self, client, asked, free, decision):
        opposite = {"stored": "no_checkpoint", "recomputed": "no_recompute"}.get(decision["kind"])
        if opposite is None:
            return
        self.assertGreaterEqual(decision["saves"], 0)
        plan = client.call("plan/make", **{**asked, "pins": [[opposite, decision["value"]]]})["plan"]
        self.assertGreaterEqual(decision["alternative"], plan["cost"] * (1 - 1e-6))
        self.assertAlmostEqual((decision["alternative"] - plan["cost"]) / plan["cost"], 0, places=3)

    def rule(self, client, asked, other):
        made = client.call("plan/make", **{**asked, "strategy": other["strategy"]})
        self.assertAlmostEqual(other["cost"] / made["plan"]["cost"], 1)
        self.assertEqual(other["bytes"], made["plan"]["bytes"])
        self.assertAlmostEqual(other["seconds"] / made["predicted"]["seconds"], 1)
        stored = {c["value"]: (c["bytes_written"], c["bytes_read"]) for c in made["plan"]["checkpoints"]}
        for entry in other["values"]:
            if entry["value"] in stored:
                self.assertEqual((entry["written"]["other"], entry["read"]["other"]), stored[entry["value"]])
            else:
                self.assertEqual(entry["written"]["other"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
