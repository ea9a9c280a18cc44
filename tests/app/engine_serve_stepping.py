"""Runs that stop behind operators, by the window's protocol: where breakpoints and their conditions say, with the numbers of eager
PyTorch at hand, step by step, and to the same results in the end. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the
repository."""
import base64
import time
import unittest

import numpy

from engine_tensor import BATCH, NODES, Opened


class Stepping(Opened):
    def begin(self, breakpoints, **more):
        """Its number."""
        return self.start(self.engine, self.document, self.made, batch=BATCH, breakpoints=breakpoints, **more)["run"]

    def stops(self, run):
        return [event for event in self.engine.events(run) if event["type"] == "stop"]

    def stop(self, run, number):
        while len(self.stops(run)) < number:
            self.engine.take()
        return self.stops(run)[number - 1]

    def ended(self, run):
        finished = self.engine.finished(run)
        self.assertIn("report", finished, finished)
        return finished["report"]

    def result(self, run):
        """The summary, the numbers and the row numbers of where it stands."""
        found = self.engine.call("debug/stopped", document=self.document, run=run)
        rows = self.engine.call("debug/rows", document=self.document, tensor=found["tensor"], begin=0, end=found["count"])
        numbers = numpy.frombuffer(base64.b64decode(rows["rows"]), numpy.float32).reshape(found["count"], -1)
        return found, numbers, [name["row"] for name in rows["names"]]

    def step(self, run, unit):
        self.engine.call("run/step", run=run, unit=unit)

    def test_a_breakpoint_stops_each_batch_with_its_result(self):
        relu = self.op("aten::relu")
        run = self.begin([{"place": relu}], verify="full")
        batches = -(-NODES // BATCH)
        for number in range(1, batches + 1):
            stop = self.stop(run, number)
            self.assertEqual((stop["op"], stop["batch"], stop["breakpoint"]), (relu, number, True))
            found, numbers, rows = self.result(run)
            self.assertEqual(rows, list(range((number - 1) * BATCH, min(NODES, number * BATCH))))
            numpy.testing.assert_allclose(numbers, self.eager["hidden"][rows], atol=1e-5)
            self.assertAlmostEqual(found["mean"], numbers.astype(numpy.float64).mean(), places=9)
            self.engine.call("run/resume", run=run)
        report = self.ended(run)
        self.assertEqual((report["verify"]["verdict"], len(self.stops(run))), ("equal", batches))
        self.refused(-32602, "not stopped", self.engine.call, "debug/stopped", document=self.document, run=run)

    def test_operators_are_stepped_through_in_order(self):
        run = self.begin([], paused=True)
        self.engine.until_state(run, "paused")
        seen = []
        for number in range(1, 8):
            self.step(run, "operator")
            stop = self.stop(run, number)
            self.assertFalse(stop["breakpoint"])
            seen.append(stop["op"])
            self.assertEqual(self.engine.call("debug/stopped", document=self.document, run=run)["op"], stop["op"])
        order = list(dict.fromkeys(seen))
        self.assertEqual(order, [op["id"] for op in self.ops if op["id"] in order])
        self.assertGreaterEqual(len(order), 4)
        self.assertEqual(seen, (order * 2)[:7])
        self.step(run, "batch")
        while sum(event["type"] == "batch" for event in self.engine.events(run)) < 1:
            self.engine.take()
        self.engine.until_state(run, "paused")
        self.refused(-32602, "not stopped", self.engine.call, "debug/stopped", document=self.document, run=run)
        self.step(run, "stage")
        while not any(event["type"] == "stage_end" for event in self.engine.events(run)):
            self.engine.take()
        self.engine.until_state(run, "paused")
        self.engine.call("run/resume", run=run)
        self.ended(run)
        self.assertEqual(len(self.stops(run)), 7)

    def test_conditions_choose_where_to_stop(self):
        relu = self.op("aten::relu")
        run = self.begin([{"place": relu, "node": 333}])
        stop = self.stop(run, 1)
        self.assertEqual(stop["batch"], 333 // BATCH + 1)
        self.engine.call("run/resume", run=run)
        self.ended(run)
        self.assertEqual(len(self.stops(run)), 1)
        for condition in ({"not_finite": True}, {"outside": [-1, 1e9]}):
            run = self.begin([{"place": relu, **condition}])
            self.ended(run)
            self.assertEqual(self.stops(run), [])
        most = float(self.eager["hidden"].max())
        row = int((self.eager["hidden"] == most).any(1).nonzero()[0, 0])
        run = self.begin([{"place": relu, "outside": [0, most * .9999]}])
        self.assertEqual(self.stop(run, 1)["batch"], row // BATCH + 1)
        self.engine.call("run/cancel", run=run)
        self.engine.finished(run)

    def test_a_stage_stops_at_its_first_operator(self):
        stages = len(self.made["stages"])
        run = self.begin([{"place": f"stage {stages}"}])
        stop = self.stop(run, 1)
        self.assertEqual((stop["stage"], stop["batch"]), (stages, 1))
        self.engine.call("run/breakpoints", run=run, breakpoints=[])
        self.engine.call("run/resume", run=run)
        self.ended(run)
        self.assertEqual(len(self.stops(run)), 1)

    def test_breakpoints_change_while_a_run_stands(self):
        relu, first = self.op("aten::relu"), self.op("aten::linear")
        run = self.begin([{"place": first}])
        self.assertEqual(self.stop(run, 1)["op"], first)
        self.engine.call("run/breakpoints", run=run, breakpoints=[{"place": relu}])
        self.engine.call("run/resume", run=run)
        self.assertEqual(self.stop(run, 2)["op"], relu)
        self.refused(-32002, "names no operator", self.engine.call, "run/breakpoints", run=run, breakpoints=[{"place": "sheep"}])
        self.engine.call("run/cancel", run=run)
        self.assertEqual(self.engine.finished(run)["error"]["code"], "cancelled")

    def test_no_time_includes_where_it_stands(self):
        began = time.monotonic()
        run = self.begin([{"place": self.op("aten::relu"), "node": 3}])
        self.stop(run, 1)
        time.sleep(3)
        self.engine.call("run/resume", run=run)
        report = self.ended(run)
        rest = time.monotonic() - began - 3
        self.assertLess(report["seconds"], rest)
        self.assertLess(sum(sum(stage["phases"].values()) for stage in report["stages"]), rest)
        times = [event["time"] for event in self.engine.events(run) if "time" in event]
        self.assertLess(max(times), rest)
        phases = [event["seconds"] for event in self.engine.events(run) if event["type"] == "phase"]
        self.assertLess(max(phases), rest)
        self.assertTrue(any("paused" in note for note in report["notes"]))

    def test_without_breakpoints_nothing_is_seen_and_operators_are_fused(self):
        plain = self.start(self.engine, self.document, self.made, batch=BATCH, paused=True)["run"]
        self.engine.until_state(plain, "paused")
        for method, params in (("run/breakpoints", {"breakpoints": []}), ("run/step", {"unit": "operator"})):
            self.refused(-32002, "without breakpoints", self.engine.call, method, run=plain, **params)
        self.engine.call("run/resume", run=plain)
        fused = [op for stage in self.ended(plain)["stages"] for op in stage["operators"] if op["fused"]]
        self.assertTrue(fused)
        seen = self.begin([])
        self.assertFalse([op for stage in self.ended(seen)["stages"] for op in stage["operators"] if op["fused"]])

    def test_what_makes_no_sense_is_refused(self):
        run = self.begin([{"place": "sheep"}])
        self.assertIn("names no operator", self.engine.finished(run)["error"]["message"])
        self.refused(-32602, "two numbers", self.begin, [{"place": "op1", "outside": [1]}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
