"""How results appear: short lines at a prompt, tables and pictures in light and dark notebooks, messages in the log, and nothing printed."""
import ast
import contextlib
import dataclasses
import io
import logging
import sys
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import hopscope
from hopscope import _reading, _svg, debug
from support import PackageTest, Plain, graph, made
from test_documents import KARATE, Outline

SVG = "{http://www.w3.org/2000/svg}"
PROGRAMS = {"_process.py", "_serving.py", "scale.py"}  # they print what their command line asks for


def luminance(color):
    """As WCAG defines it."""
    parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def frame(drawn, text):
    """The last rectangle before a text that contains its position; None if it lies on the page."""
    found = None
    for item in drawn[:drawn.index(text)]:
        if item.tag == f"{SVG}rect":
            x, y, width, height = (float(item.get(name)) for name in ("x", "y", "width", "height"))
            if x <= float(text.get("x")) <= x + width and y <= float(text.get("y")) <= y + height:
                found = item
    return found


def picture_of(name):
    """A stage whose module, stored value and node type have a name."""
    box, stored = _svg.Box("1", name, name), _svg.Stored(name, name, 0, "1", [])
    return list(ElementTree.fromstring(_svg.draw(_svg.Picture([name], [[box]], [stored]))).iter())


class Counted(unittest.TestCase):
    """Numbers and their nouns, without an engine."""

    def test_one_thing_is_not_many(self):
        place = debug.Place("op1", "v1", "log", "aten::log", "", "a.py:1", 0)
        made, harmless = (debug.Maker(place, 1, 0, reaches, []) for reaches in (True, False))
        many = debug.NonFinite([made, harmless, harmless], [], [], {})
        for item, words in ((debug.Divergence("a", "b", 9, place, "values", 1, 1, 0, 0, [], [], {}), "1 of 1 row)"),
                            (debug.Divergence("a", "b", 1, None, "", 0, 0, 0, 0, [], [], {}), "no difference in 1 value)"),
                            (debug.NonFinite([made], [], [], {}), "1 operator makes NaN or infinities, which reach an output)"),
                            (debug.NonFinite([harmless], [], [], {}), "1 operator makes NaN or infinities, which reach no output)"),
                            (many, "3 operators make NaN or infinities, 1 of them reaches an output)"),
                            (debug.Hits([], 1, {}), "1 result, 0 described)"),
                            (debug.Watched([4], {}, {}, [{}], {}), "0 values, 1 aggregation at 1 node)"),
                            (debug.LoopMemory("node", 1, 1, 1, 0, [{}], []), "1 destination, 1 step)"),
                            (hopscope.NotFinite(1, {"out": 1}, None, None, [], "x"), "1 number in out is NaN or infinite: x)"),
                            (hopscope.NotFinite(1200, {"out": 1200}, None, None, [], "x"), "1,200 numbers in out are NaN or infinite: x)"),
                            (hopscope.Stage(1, ["node"], 1, [], []), "(1: 1 operator; reads nothing; stores nothing)")):
            self.assertIn(words, repr(item))

    def test_stages_count_the_operators_of_the_model_once(self):
        rows = {"class": "B(node)", "loop": "node"}
        loop = {"destination": "node", "reads": [], "writes": [], "reductions": [{"op": "op3", "class": "B(node)"}]}
        planned = {"index": 1, "ops": [{"op": "op1", **rows}, {"op": "op2", **rows}, {"op": "op1", **rows, "class": "F(node)"}],
                   "loops": [loop], "rowless": ["op4"]}
        kinds = {"input.x": "input", "op1": "rowwise", "op2": "gather", "op3": "reduce", "op4": "rowwise", "output.out": "output"}
        ops = [{"id": op, "kind": kind, "stage": None if kind == "input" else 1} for op, kind in kinds.items()]
        inspected = {"index": 1, "destinations": ["node"], "inputs": [], "outputs": []}
        self.assertEqual(_reading._planned_stage(planned, {}), _reading._inspected_stage(inspected, ops, {}))
        self.assertEqual(_reading._planned_stage(planned, {}).operators, 4)

    def test_unknown_extents_are_question_marks(self):
        value = hopscope.Value("v3", "h", "op", "float32", ["|node|", None], None)
        self.assertEqual(repr(value), "Value(v3: h, [node, ?] float32)")


class Shown(PackageTest):
    def setUp(self):
        super().setUp()
        self.found = hopscope.inspect(*KARATE)
        self.result = hopscope.inference(*KARATE, device="cpu", scratch=self.scratch)

    def tables(self):
        found, report, plan = self.found, self.result.report, self.result.plan
        return [found.stages, found.cuts, found.operators, found.values, found.lints, plan.stages, plan.cuts, report.stages, report.operators,
                report.verification.outputs, hopscope.devices().devices]

    def test_results_are_one_short_line(self):
        whole = [self.found, self.result, self.result.report, self.result.plan, self.result.verification, hopscope.devices()]
        for item in [*whole, *(item for table in self.tables() for item in table)]:
            self.assertRegex(repr(item), rf"\A{type(item).__name__}\(.*\)\Z")
            self.assertLess(len(repr(item)), 400 if isinstance(item, hopscope.Lint) else 160, repr(item))
        for item, line in ((self.found, r"\(GCN: depth 2, 2 stages, \d+ operators\)"),
                           (self.result.plan, r"\(optimal plan for cpu, cost .*; 2 stages\)"),
                           (self.result.report, r"\(optimal plan, .* on cpu; peak memory .*; 2 stages; equal\)"),
                           (self.result.verification, r"\(equal: 34 rows compared, largest difference \S+\)")):
            self.assertRegex(repr(item), line)

    def test_long_lists_of_names_are_shortened(self):
        names = [f"value {number}" for number in range(30)]
        stage = hopscope.Stage(1, ["node"], 7, names, [])
        self.assertEqual(repr(stage), "Stage(1: 7 operators; reads value 0, value 1, value 2, value 3, ... 26 more; stores nothing)")
        many = dataclasses.replace(self.result, outputs=dict.fromkeys(names, self.result.output))
        self.assertLess(len(repr(many)), 200)

    def test_tables_are_lists_that_print_a_line_per_entry_and_show_in_notebooks(self):
        for table in self.tables():
            self.assertIsInstance(table, list)
            lines = repr(table).splitlines()
            self.assertLessEqual(len(lines), 23)
            self.assertEqual(len(lines), 2 + min(len(table), 20) + (len(table) > 20) if table else 1)
            outline = Outline()
            outline.feed(table._repr_html_())
            self.assertEqual(outline.open, [])
            self.assertEqual(table._repr_html_().count("<tr>"), len(table) + 1 if table else 0)
        self.assertIn(self.found.operators[3].name, self.found.operators._repr_html_())
        self.assertGreater(len(self.found.operators), 20)
        self.assertIn(f"... {len(self.found.operators) - 20} more", repr(self.found.operators))

    def test_texts_of_a_model_are_escaped(self):
        device = {"id": "cpu", "name": "<script>x</script>", "memory": 5, "driver": "&"}
        devices = _reading.devices({"devices": [device], "missing": ["<b>"]})
        for text in (devices._repr_html_(), devices.devices._repr_html_()):
            self.assertNotIn("<script>", text)
            self.assertIn("&lt;script&gt;", text)
        named = dataclasses.replace(self.result.plan.cuts[0], name="<b>&")
        plan = dataclasses.replace(self.result.plan, cuts=hopscope.Table([named]))
        self.assertIn("&lt;b&gt;&amp;", plan._repr_svg_())
        self.assertNotIn("<b>&", plan._repr_svg_() + plan._repr_html_())

    def test_pictures_are_legible_on_light_and_dark_pages(self):
        for item in (self.found, self.result.plan):
            drawn = list(ElementTree.fromstring(item._repr_svg_()).iter())
            texts = [part for part in drawn if part.tag == f"{SVG}text"]
            self.assertGreater(len(texts), 5)
            for text in texts:
                self.assertGreater(contrast(text.get("fill"), frame(drawn, text).get("fill")), 4.5, text.get("fill"))
            for line in (part for part in drawn if part.tag == f"{SVG}line"):
                for page in ("#ffffff", "#111111"):
                    self.assertGreater(contrast(line.get("stroke"), page), 3)

    def test_names_of_any_length_stay_inside_of_their_frames(self):
        wide = {"n": 8.6, "i": 4.2, "W": 13.3, ".": 4.6}  # pixels of a bold letter in DejaVu Sans, one of the widest fonts
        for letter, pixels in wide.items():
            for length in (1, 12, 18, 30, 80):
                name = letter * (length - 1) + "7"
                drawn = picture_of(name)
                texts = [part for part in drawn if part.tag == f"{SVG}text"]
                self.assertEqual([text[0].text for text in texts], [name] * 5)
                for text in texts:
                    shown = text[0].tail
                    self.assertTrue(shown == name or "…" in shown and shown[-1] == "7", shown)
                    self.assertLess(len(shown) * pixels, float(frame(drawn, text).get("width")), shown)
                if length <= 18 and letter != "W":
                    self.assertEqual({text[0].tail for text in texts}, {name})

    def test_tables_take_the_colors_of_the_notebook(self):
        for item in (self.result, self.result.report, self.result.verification, *self.tables()):
            for word in ("style", "color", "bgcolor"):
                self.assertNotIn(f"{word}=", item._repr_html_())


class Said(PackageTest):
    def test_notes_and_results_are_logged(self):
        model, data = made(Plain), graph()
        with self.assertLogs("hopscope", logging.DEBUG) as caught:
            result = hopscope.inference(model, data, scratch=self.scratch)
            plan = hopscope.plan(model, data, scratch=self.scratch)
        self.assertEqual({record.name for record in caught.records}, {"hopscope"})
        said = {(record.levelname, record.getMessage()) for record in caught.records}
        self.assertLessEqual({("INFO", repr(result)), ("INFO", repr(plan)), ("INFO", "note: 'y' is not an argument of the model: ignored")}, said)
        self.assertTrue(any(level == "DEBUG" and text.startswith(f"starting {hopscope.engine().path} serve") for level, text in said), said)
        self.assertFalse(any(level == "WARNING" for level, _ in said), said)

    def test_results_that_are_not_finite_are_a_warning(self):
        data = graph()
        data.x[3, 2] = float("nan")
        with self.assertLogs("hopscope", logging.WARNING) as caught:
            hopscope.inference(made(Plain), data, verify=None, scratch=self.scratch)
        self.assertRegex(caught.output[0], "WARNING:hopscope:.* numbers in out are NaN or infinite")

    def test_one_number_that_is_not_finite_is_told_as_one(self):
        lost = hopscope.NotFinite(1, {"out": 1}, first=None, stage=None, given=[], origin="made by aten::log")
        self.assertEqual(str(lost), "1 number in out is NaN or infinite: made by aten::log")

    def test_nothing_is_printed_and_no_bar_is_shown_unasked(self):
        out, err = io.StringIO(), io.StringIO()
        err.isatty = lambda: True
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            hopscope.inference(made(Plain), graph(), scratch=self.scratch)
        self.assertEqual((out.getvalue(), err.getvalue()), ("", ""))
        self.assertTrue(any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("hopscope").handlers))

    def test_a_bar_is_shown_on_request_or_needs_tqdm(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            hopscope.inference(made(Plain), graph(), scratch=self.scratch, progress=True)
        self.assertIn("stage 1 of 1", err.getvalue())
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), self.assertRaisesRegex(hopscope.UsageError, "needs tqdm") as caught:
            hopscope.inference(made(Plain), graph(), scratch=self.scratch, progress=True)
        self.assertIn("pip install tqdm", caught.exception.hint)

    def test_only_programs_print(self):
        for path in Path(hopscope.__file__).parent.glob("*.py"):
            calls = [call.func.id for call in ast.walk(ast.parse(path.read_text())) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)]
            if path.name not in PROGRAMS:
                self.assertNotIn("print", calls, path.name)
