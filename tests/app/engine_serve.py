"""`hopscope-engine serve` as a window uses it: models, plans with pins, figures, rows."""
import itertools
import json
import unittest

import numpy
import torch
from safetensors.numpy import load_file
from safetensors.torch import save_file

import engine_models as models
from engine_process import engine
from serve_case import DIGITS, KARATE, SAMPLES, ServeTest
from strategies import RULES, STRATEGIES


class Sessions(ServeTest):
    def test_a_whole_session(self):
        client = self.client()
        self.assertEqual(client.greeting["protocol"]["major"], 1)
        self.assertEqual(client.greeting["process_id"], client.process.pid)
        self.assertEqual(client.greeting["devices"][0]["id"], "cpu")
        opened = client.call("model/open", **KARATE)
        printed = engine("inspect", KARATE["model"], "--data", KARATE["data"][0], "--json")
        self.assertEqual(opened["inspect"], json.loads(printed.stdout))
        made = self.plan(client, opened["document"])
        run = self.start(client, opened["document"], made["plan"], self.folder / "out", "full")
        end = client.finished(run["run"])
        self.assertEqual(end["report"]["verify"]["verdict"], "equal")
        self.assertEqual(end["report"], json.loads((self.folder / "out/report.json").read_text()))
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), ["out.npy", "report.json"])
        expected = load_file(SAMPLES / "karate/gcn.expected.safetensors")["out"]
        numpy.testing.assert_allclose(numpy.load(self.folder / "out/out.npy"), expected, atol=1e-5)
        self.assertEqual(client.call("model/close", document=opened["document"]), None)
        self.assertEqual(client.leave(), 0)
        self.assertEqual(self.leavings(), [])

    def test_states_and_events_come_in_order(self):
        client, document = self.opened()
        run = self.start(client, document, self.plan(client, document)["plan"], verify="sample", batch=8)["run"]
        client.finished(run)
        states = [state for i, state in enumerate(client.states(run)) if client.states(run)[i - 1:i] != [state]]
        order = ["preparing", "running", "verifying", "finished"]
        self.assertEqual(states, [state for state in order if state in states])
        self.assertEqual(states[-1], "finished")
        events = client.events(run)
        kinds = [event["type"] for event in events if event["type"] != "phase"]
        batches = ["batch"] * 5
        self.assertEqual(kinds, ["prologue", "stage", *batches, "stage_end", "stage", *batches, "stage_end"])
        done = [event["done"] for event in events if event["type"] == "batch" and event["stage"] == 1]
        self.assertEqual(done, [8, 16, 24, 32, 34])
        times = [event["time"] for event in events if "time" in event]
        self.assertEqual(times, sorted(times))
        self.assertEqual(client.told[-1]["method"], "run/finished")

    def test_a_model_that_cannot_be_split_opens_with_its_reason(self):
        x, edge_index = models.graph(40, 150, 6)
        models.save(models.GlobalAttention(), (x, edge_index), self.folder / "attention.pt")
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        client = self.client()
        opened = client.call("model/open", model=str(self.folder / "attention.pt"),
                             data=[str(self.folder / "graph.safetensors")], roles=[])
        self.assertFalse(opened["inspect"]["splittable"])
        self.assertTrue([lint for lint in opened["inspect"]["lints"] if lint["blocking"]])
        self.refused(-32004, "a dense product of rows by rows", self.plan, client, opened["document"])

        # All operators are there, also those behind the one in the way, and the reason is at this one.
        names = {op["id"]: op["name"] for op in opened["inspect"]["ops"]}
        reason = next(lint for lint in opened["inspect"]["lints"] if lint["blocking"])
        self.assertEqual("aten::matmul", names[reason["op"]].split(".")[0])
        self.assertTrue(reason["hint"])
        self.assertIn("aten::softmax.int", names.values())
        self.assertEqual("output.out", opened["inspect"]["ops"][-1]["id"])
        self.assertFalse(opened["inspect"]["from_code"])

    def code_of(self, opened):
        self.assertTrue(opened["from_code"])
        self.assertFalse(opened["splittable"])
        return {op["id"]: op for op in opened["ops"]}

    def test_a_model_that_cannot_be_walked_is_drawn_from_its_code(self):
        x, edge_index = models.graph(40, 150, 6)
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        torch.jit.script(models.Noise().eval()).save(str(self.folder / "noise.pt"))
        client = self.client()
        opened = client.call("model/open", model=str(self.folder / "noise.pt"),
                             data=[str(self.folder / "graph.safetensors")], roles=[])
        ops = self.code_of(opened["inspect"])
        reason = next(lint for lint in opened["inspect"]["lints"] if lint["blocking"])
        self.assertIn("draws random numbers", reason["message"])
        random = ops[reason["op"]]
        self.assertEqual(("aten::rand_like", "blur", "Blur"), (random["name"], random["module"], random["module_type"]))
        self.assertIn("rand_like", random["source"]["text"])
        self.assertEqual({"node": 40, "edge_index": 150}, opened["inspect"]["sizes"])
        names = [op["name"] for op in ops.values()]
        self.assertIn("aten::linear", names)
        self.assertIn("aten::relu", names)
        self.assertNotIn("aten::mul.Scalar", names)  # of training only
        # What it reads comes from the linear module, and what it makes goes on.
        made = {value: op["name"] for op in ops.values() for value in op["outputs"]}
        self.assertEqual(["aten::linear"], [made[value] for value in random["inputs"]])
        self.assertTrue([op for op in ops.values() if random["outputs"][0] in op["inputs"]])
        values = {value["id"]: value for value in opened["inspect"]["values"]}
        self.assertIsNone(values[random["outputs"][0]]["dtype"])
        self.assertIsNone(values[random["outputs"][0]]["bytes"])
        source = client.call("model/source", document=opened["document"], op=reason["op"])
        self.assertIn("rand_like", source["text"])
        self.refused(-32004, "draws random numbers", self.plan, client, opened["document"])

    def test_what_is_no_graph_network_opens_without_data(self):
        image = torch.zeros(1, 3, 32, 32)
        for name, model in [("traced", torch.jit.trace(models.Pictures().eval(), image, check_trace=False)),
                            ("scripted", torch.jit.script(models.Pictures().eval()))]:
            with self.subTest(name):
                model.save(str(self.folder / f"{name}.pt"))
                opened = self.client().call("model/open", model=str(self.folder / f"{name}.pt"), data=[], roles=[])
                self.assertEqual(opened["inspect"]["traced"], name == "traced")
                ops = self.code_of(opened["inspect"])
                modules = {op["module"] for op in ops.values()}
                self.assertTrue({"layers.0", "layers.4"} <= modules, modules)
                self.assertTrue([lint["hint"] for lint in opened["inspect"]["lints"] if lint["blocking"]][0])

    def test_a_model_without_data_has_plans_without_figures(self):
        client = self.client()
        opened = client.call("model/open", model=KARATE["model"], data=[], roles=[])
        made = self.plan(client, opened["document"])
        self.assertIsNone(made["predicted"])
        self.assertIsNone(made["plan"]["bytes"])
        self.refused(-32002, "there is no data to run on", self.start, client, opened["document"], made["plan"])

    def test_a_plan_is_loaded_as_it_was_made(self):
        client, document = self.opened(DIGITS["gat"])
        made = self.plan(client, document, batch=100)
        loaded = client.call("plan/load", document=document, text=json.dumps(made["plan"]))
        self.assertEqual(loaded, made)
        broken = {**made["plan"], "prologue": ["op9999"]}
        error = self.refused(-32003, "/prologue/0 names no operator", client.call, "plan/load", document=document,
                             text=json.dumps(broken))
        self.assertIn("/prologue/0", error["data"]["where"])
        other = client.call("model/open", **KARATE)["document"]
        self.refused(-32003, "made for a different model", client.call, "plan/load", document=other,
                     text=json.dumps(made["plan"]))

    def test_the_source_around_an_operator_is_labelled(self):
        client = self.client()
        opened = client.call("model/open", **KARATE)
        for op in [op for op in opened["inspect"]["ops"] if op["source"]][:12]:
            source = client.call("model/source", document=opened["document"], op=op["id"])
            self.assertIn(source["label"], ("embedded", "local", "torchscript", "none"))
            lines = source["text"].split("\n")
            shown = lines[source["line"] - source["first_line"]]
            if source["label"] in ("embedded", "local"):
                self.assertEqual(source["line"], op["source"]["line"])
                self.assertIn(op["source"]["text"], shown)
            if source["label"] == "torchscript":
                self.assertIn(op["name"].split("::")[1].split(".")[0], shown)
            self.assertTrue(shown.strip())
            if op["name"].startswith("aten::"):
                self.assertTrue(source["schema"].startswith(op["name"].split(".")[0]), source["schema"])
                self.assertIn(" -> Tensor", source["schema"])
        module = next(op["module"] for op in opened["inspect"]["ops"] if op["module"])
        self.assertTrue(client.call("model/source", document=opened["document"], module=module)["text"])
        self.refused(-32602, "no such operator, or no such module", client.call, "model/source",
                     document=opened["document"], op="op9999")

    def test_a_scripted_model_carries_its_source(self):
        torch.jit.script(models.Pair()).save(str(self.folder / "pair.pt"))
        client = self.client()
        opened = client.call("model/open", model=str(self.folder / "pair.pt"), data=[], roles=[])
        labels = set()
        for op in [op for op in opened["inspect"]["ops"] if op["source"]]:
            source = client.call("model/source", document=opened["document"], op=op["id"])
            labels.add(source["label"])
            shown = source["text"].split("\n")[source["line"] - source["first_line"]]
            self.assertEqual(shown.strip(), op["source"]["text"])
        self.assertIn("embedded", labels)

    def test_folders_are_listed_with_folders_first(self):
        (self.folder / "b").mkdir()
        (self.folder / "a.txt").write_text("four")
        listed = self.client().call("fs/list", path=str(self.folder))
        self.assertEqual([entry["name"] for entry in listed["entries"]], ["b", "tmp", "a.txt"])
        self.assertEqual(listed["entries"][2], {"name": "a.txt", "directory": False, "size": 4})
        self.assertEqual(listed["parent"], str(self.folder.parent))
        self.refused(-32003, "missing: No such file", self.client().call, "fs/list", path=str(self.folder / "missing"))


class Figures(ServeTest):
    def test_predicted_bytes_are_those_that_a_run_reports(self):
        client = self.client()
        for name, opened in {"karate": KARATE, **DIGITS}.items():
            document = client.call("model/open", **opened)["document"]
            for strategy, batch in [("optimal", None), ("optimal", 7), ("local-search", 20), *zip(RULES, itertools.cycle((7, 5000)))]:
                with self.subTest(model=name, strategy=strategy, batch=batch):
                    made = self.plan(client, document, strategy=strategy, batch=batch)
                    self.check(client, document, made, batch)
            client.call("model/close", document=document)

    def check(self, client, document, made, batch):
        run = self.start(client, document, made["plan"], batch=batch)["run"]
        report = client.finished(run)["report"]
        predicted = made["predicted"]
        for wanted, stage in zip(predicted["stages"], report["stages"], strict=True):
            self.assertEqual((wanted["written"], wanted["read"], wanted["structure"]),
                             (stage["bytes"]["d2h"], stage["bytes"]["h2d"], stage["bytes"]["structure"]))
            self.assertEqual(wanted["frontier_rows"], stage["frontier_rows"])
            self.assertEqual(wanted["destinations"], stage["destinations"])
            self.assertEqual(wanted["read"], sum(read["bytes"] for read in wanted["reads"]))
        self.assertEqual(predicted["batches"], sum(stage["batches"] for stage in report["stages"]))
        self.assertEqual(made["plan"]["bytes"], {key: predicted[key] for key in ("d2h", "h2d", "structure")})
        stored = [checkpoint["bytes_written"] for checkpoint in made["plan"]["checkpoints"]]
        self.assertEqual(predicted["stores"], sum(stored))
        self.assertEqual(predicted["d2h"], sum(stored))

    def test_memory_is_predicted_within_a_third(self):
        client = self.client()
        for name in ("gcn", "sage", "jknet", "residual"):
            document = client.call("model/open", **DIGITS[name])["document"]
            made = self.plan(client, document)
            run = self.start(client, document, made["plan"], batch=10**9)["run"]
            for wanted, stage in zip(made["predicted"]["stages"], client.finished(run)["report"]["stages"]):
                self.assertAlmostEqual(wanted["peak_memory"] / stage["peak_memory"], 1, delta=1 / 3)

    def test_a_memory_limit_lowers_the_batch(self):
        client, document = self.opened(self.large())
        free = self.plan(client, document)["predicted"]
        held = self.plan(client, document, memory=2_000_000)["predicted"]
        self.assertLess(held["batch"], free["batch"])
        self.assertGreater(held["h2d"], free["h2d"])
        self.assertLess(held["stages"][0]["peak_memory"], free["stages"][0]["peak_memory"])


class Pins(ServeTest):
    def rows(self, opened):
        """Values that an operator makes on rows that follow from features."""
        return [value["id"] for value in opened["inspect"]["values"]
                if value["origin"] == "op" and not value["structure_only"] and any(value["row_spaces"])]

    def test_every_pinned_value_is_stored_and_the_results_stay_the_same(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["residual"])
        expected = load_file(SAMPLES / "digits/residual.expected.safetensors")["out"]
        for value in self.rows(opened):
            with self.subTest(value=value):
                made = self.plan(client, opened["document"], [["checkpoint", value]])
                self.assertIn(value, [checkpoint["value"] for checkpoint in made["plan"]["checkpoints"]])
                self.assertEqual(made["plan"]["pins"], [["checkpoint", value]])
                run = self.start(client, opened["document"], made["plan"], self.folder / value, batch=500)["run"]
                self.assertNotIn("error", client.finished(run))
                numpy.testing.assert_allclose(numpy.load(self.folder / value / "out.npy"), expected, atol=1e-4)

    def test_a_pinned_plan_is_verified_equal(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["gat"])
        chosen = self.rows(opened)
        pins = [["checkpoint", chosen[2]], ["checkpoint", chosen[-3]]]
        made = self.plan(client, opened["document"], pins)
        self.assertGreater(len(made["plan"]["stages"]), 2)
        run = self.start(client, opened["document"], made["plan"], verify="full")["run"]
        self.assertEqual(client.finished(run)["report"]["verify"]["verdict"], "equal")

    def test_what_cannot_be_pinned_is_refused_with_its_reason(self):
        client = self.client()
        opened = client.call("model/open", **KARATE)
        document = opened["document"]
        values = opened["inspect"]["values"]

        def first(wanted):
            return next(value["id"] for value in values if wanted(value))

        reasons = {first(lambda v: v["origin"] == "input"): "it is the input",
                   first(lambda v: v["origin"] == "parameter"): "it is the parameter",
                   first(lambda v: v["origin"] == "op" and v["structure_only"]): "graph structure only"}
        for value, reason in reasons.items():
            self.refused(-32004, reason, self.plan, client, document, [["checkpoint", value]])
        result = next(op["inputs"][0] for op in opened["inspect"]["ops"] if op["kind"] == "output")
        self.refused(-32004, "must be stored: it is the output 'out'", self.plan, client, document,
                     [["no_checkpoint", result]])

    def test_pins_that_leave_no_plan_are_named_with_value_and_source(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["sage"])
        document = opened["document"]
        kept = [c["value"] for c in self.plan(client, document)["plan"]["checkpoints"] if not c["output"]]
        self.assertTrue(kept)
        pins = [["no_checkpoint", value] for value in self.rows(opened) if value in self.inner(opened)]
        error = self.refused(-32004, "no legal plan respects every pin", self.plan, client, document, pins)
        self.assertRegex(error["message"], r"never store '[^']+' \(\w+\.py:\d+\)")
        self.assertTrue(error["data"]["hint"])

    def inner(self, opened):
        results = {op["inputs"][0] for op in opened["inspect"]["ops"] if op["kind"] == "output"}
        return set(self.rows(opened)) - results

    def test_pins_are_read_strictly(self):
        client, document = self.opened()
        for pins, says in (([["checkpoint"]], "must be [kind, value]"), ([["nail", "v1"]], "/pins/0/0"),
                           ([["checkpoint", "v9999"]], "/pins/0/1"), ([["checkpoint", 3]], "/pins/0/1"),
                           (["v1"], "/pins/0 must be"), ([[]], "must be [kind, value]")):
            self.refused(-32602, says, self.plan, client, document, pins)
        self.refused(-32602, "/pins must be an array", client.call, "plan/make", document=document, strategy="depth",
                     pins={}, device=None, memory=None, batch=None)


class Optimum(ServeTest):
    def test_it_moves_no_more_than_the_rules(self):
        client = self.client()
        for name, opened in {"karate": KARATE, **DIGITS}.items():
            document = client.call("model/open", **opened)["document"]
            for batch in (None, 20):
                with self.subTest(model=name, batch=batch):
                    moved = {strategy: self.moved(client, document, strategy, batch)
                             for strategy in STRATEGIES}
                    self.assertEqual(min(moved.values()), moved["optimal"])

    def moved(self, client, document, strategy, batch):
        made = self.plan(client, document, strategy=strategy, batch=batch, objective="bytes")
        plan = made["plan"]
        self.assertEqual((plan["objective"], plan["unit"]), ("bytes", "bytes"))
        if strategy == "optimal":
            self.assertEqual((plan["strategy"], made["notes"]), ("optimal", []))
            self.assertLessEqual(plan["gap"], 1e-6)
            self.assertAlmostEqual(plan["lower_bound"] / plan["cost"], 1, places=5)
        return sum(plan["bytes"].values())

    def test_it_keeps_pins_and_costs_no_less_for_them(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["jknet"])
        document = opened["document"]
        free = self.plan(client, document, strategy="optimal")["plan"]
        stored = [c["value"] for c in free["checkpoints"] if not c["output"]]
        self.assertTrue(stored)
        for value in stored:
            with self.subTest(value=value):
                plan = self.plan(client, document, [["no_checkpoint", value]], strategy="optimal")["plan"]
                self.assertNotIn(value, [c["value"] for c in plan["checkpoints"]])
                self.assertGreaterEqual(plan["cost"], free["cost"] * (1 - 1e-9))
                run = self.start(client, document, plan, verify="full", batch=500)["run"]
                self.assertEqual(client.finished(run)["report"]["verify"]["verdict"], "equal")

    def test_pins_that_leave_no_plan_come_with_a_way_out(self):
        client = self.client()
        opened = client.call("model/open", **DIGITS["sage"])
        document = opened["document"]
        results = {op["inputs"][0] for op in opened["inspect"]["ops"] if op["kind"] == "output"}
        pins = [["no_checkpoint", value["id"]] for value in opened["inspect"]["values"]
                if value["origin"] == "op" and not value["structure_only"] and any(value["row_spaces"])
                and value["id"] not in results]
        error = self.refused(-32004, "no legal plan respects every pin", self.plan, client, document, pins,
                             strategy="optimal")
        self.assertIn("no legal plan", error["message"])
        self.assertIn("never store", error["message"])
        asked = {"document": document, "strategy": "optimal", "pins": pins, "device": "cpu", "memory": None, "batch": None}
        repairs = client.call("plan/repairs", **asked)["repairs"]
        self.assertTrue(repairs)
        for repair in repairs:
            left = [pin for pin in pins if pin != repair["drop"]]
            plan = self.plan(client, document, left, strategy="optimal")["plan"]
            self.assertAlmostEqual(plan["cost"] / repair["cost"], 1)
            self.assertEqual(plan["unit"], repair["unit"])

    def test_a_branch_of_the_whole_graph_is_followed_when_the_model_is_opened(self):
        client = self.client()
        x, edge_index = models.graph(800, 3000, 6)
        models.save(models.Branch(), (x, edge_index), self.folder / "branch.pt")
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        opened = client.call("model/open", model=str(self.folder / "branch.pt"),
                             data=[str(self.folder / "graph.safetensors")], roles=[])
        self.assertTrue(any("branch" in note for note in opened["inspect"]["notes"]))
        plan = self.plan(client, opened["document"], strategy="optimal")["plan"]
        run = self.start(client, opened["document"], plan, verify="full")["run"]
        self.assertEqual(client.finished(run)["report"]["verify"]["verdict"], "equal")


if __name__ == "__main__":
    unittest.main()
