"""inspect, plan, verify and devices as objects; their tables for pandas and notebooks."""
import importlib.util
import json
import unittest
from html.parser import HTMLParser

import hopscope
from hopscope import _words
from support import ROOT, Attention, Gcn, PackageTest, graph, made

KARATE = ROOT / "samples/karate/gcn.pt", ROOT / "samples/karate/graph.safetensors"
HAS_PANDAS = importlib.util.find_spec("pandas") is not None
VOID = {"br", "hr"}


class Outline(HTMLParser):
    """The tags that are open, and the texts."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


class Documents(PackageTest):
    def shown(self, document, *words):
        """It is whole HTML with these words."""
        outline = Outline()
        outline.feed(document._repr_html_())
        self.assertEqual(outline.open, [])
        for word in words:
            self.assertTrue(any(word in text for text in outline.texts), word)

    def framed(self, document, columns, rows):
        if HAS_PANDAS:
            frame = document.to_pandas()
            self.assertLessEqual(set(columns), set(frame.columns))
            self.assertEqual(len(frame), rows)

    def measured(self, report):
        """Operators with their times, stage by stage."""
        for stage in report.stages:
            self.assertTrue(stage.operators)
            self.assertEqual({operator.stage for operator in stage.operators}, {stage.index})
            self.assertLessEqual(sum(operator.seconds for operator in stage.operators), stage.seconds)
        if HAS_PANDAS:
            frame = report.operators.to_pandas()
            self.assertEqual(len(frame), sum(len(stage.operators) for stage in report.stages))
            self.assertTrue((frame.bytes > 0).any())

    def test_inspecting_a_file_tells_depth_stages_and_cuts(self):
        found = hopscope.inspect(*KARATE)
        self.assertEqual((found.depth, len(found.stages), found.splittable), (2, 2, True))
        self.assertEqual(found.roles, {"edge_index": "index:node>node", "x": "node:node"})
        outputs = [cut.output for cut in found.cuts]
        self.assertEqual(outputs.count(True), 1)
        self.assertTrue(any(operator.line.endswith(".py:31") or ":" in operator.line for operator in found.operators))
        self.shown(found, "depth 2", "cut", "output", " B")
        self.framed(found, ["id", "depth", "line"], len(found.operators))

    def test_inspecting_a_model_that_cannot_be_split_says_why(self):
        found = hopscope.inspect(made(Attention), graph(), scratch=self.scratch)
        self.assertFalse(found.splittable)
        self.assertTrue(any(lint.blocking for lint in found.lints))
        self.shown(found, "cannot be split")

    def test_a_plan_is_what_the_engine_writes_and_can_be_saved_and_used(self):
        plan = hopscope.plan(*KARATE, device="cpu")
        self.assertEqual((plan.strategy, plan.device, plan.gap), ("optimal", "cpu", 0))
        self.assertEqual(sum(cut.written for cut in plan.cuts), plan.bytes["d2h"])
        self.shown(plan, "optimal plan", "proven optimal")
        self.assertEqual(plan.stages[0].reads, ["x"])
        found = hopscope.inspect(*KARATE)
        made = hopscope.inference(*KARATE, verify=None, scratch=self.scratch).plan
        label = {value["id"]: value["label"] for value in found.document["values"]}
        for stage in (*plan.stages, *found.stages, *made.stages):
            self.assertNotRegex(str(stage), r"'v\d+'")
            self.assertTrue(stage.stores)
            self.assertLessEqual({*stage.reads, *stage.stores}, set(label.values()) - {""})
        for cut in (*plan.cuts, *found.cuts, *made.cuts):
            self.assertEqual(cut.name, label[cut.value])
        # An arrow from the stage that stores a value to each that reads it, by the ids of the document.
        read = {(cut.value, stage["index"]) for cut in made.cuts for stage in made.document["stages"]
                for loop in stage["loops"] if cut.value in [access["value"] for access in loop["reads"]]}
        targets = [(cut.value, stage.index) for cut in made.cuts for stage in made.stages if cut.name in stage.reads]
        self.assertEqual((set(targets), len(targets)), (read, len(read)))
        self.framed(plan, ["value", "stage", "written"], len(plan.cuts))
        path = plan.save(self.folder / "plan.json")
        self.assertEqual(json.loads(path.read_text()), plan.document)
        kept = next(cut.value for cut in plan.cuts if not cut.output)
        pinned = hopscope.plan(*KARATE, device="cpu", pins=[("checkpoint", kept)])
        self.assertEqual(pinned.document["pins"], [["checkpoint", kept]])
        result = hopscope.inference(*KARATE, plan=path, verify=None, scratch=self.scratch)
        self.assertEqual(result.plan.document["stages"], plan.document["stages"])
        self.shown(result, "Result", "not verified")
        self.shown(result.report, "peak memory")
        self.framed(result, ["index", "compute", "written"], len(plan.stages))
        self.measured(result.report)

    def test_verifying_compares_all_rows(self):
        found = hopscope.verify(*KARATE, full=True)
        self.assertEqual((found.verdict, found.method, found.rows), ("equal", "full", 34))
        self.assertLess(found.max_abs, 1e-5)
        self.shown(found, "equal")
        self.framed(found, ["name", "max_abs"], 1)

    def test_devices_are_listed_with_the_cpu_first(self):
        found = hopscope.devices()
        self.assertEqual(found.devices[0].id, "cpu")
        self.assertGreater(found.devices[0].memory, 1 << 28)
        self.shown(found, "cpu")
        self.framed(found, ["id", "memory"], len(found.devices))

    def test_a_saved_model_shows_what_was_done(self):
        saved = hopscope.save(made(Gcn), graph(), self.folder / "gcn.pt")
        self.shown(saved, "trace", "arguments: x, edge_index")

    def test_sizes_and_times_are_written_for_people(self):
        sizes = {None: "?", 0: "0 B", 1023: "1,023 B", 1536: "1.5 KiB", 230016: "225 KiB", 5 << 40: "5.0 TiB"}
        self.assertEqual({size: _words.size(size) for size in sizes}, sizes)
        times = {2e-5: "20 µs", 0.0125: "12 ms", 3.25: "3.2 s", 90: "1.5 min"}
        self.assertEqual({time: _words.duration(time) for time in times}, times)

if __name__ == "__main__":
    unittest.main()
