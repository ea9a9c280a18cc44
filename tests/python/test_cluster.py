"""`inference(cluster=...)` with workers of this machine. What becomes of workers that are killed: scale_local.py and scale_ray.py."""
import contextlib
import io
import json
import sys
from unittest import mock

import hopscope
from hopscope import scale

from support import EdgeScores, Gcn, PackageTest, graph, made


class Clusters(PackageTest):
    def test_a_model_in_memory_is_run_by_several_workers(self):
        for kind in (Gcn, EdgeScores):
            with self.subTest(model=kind.__name__):
                model, data, told = made(kind), graph(), []
                out = self.folder / kind.__name__
                result = hopscope.run(model, data, out, cluster="local", workers=2,
                                      progress=lambda *step: told.append(step))
                self.same(result.output, model(data.x, data.edge_index))
                self.assertEqual(result.verdict, "equal")
                self.assertEqual([worker["worker"] for worker in result.report.document["scale"]["workers"]], [1, 2])
                self.assertTrue(any(what.startswith("stage 1 of") for what, _, _ in told))
                self.assertFalse([p for p in out.iterdir() if p.name.startswith(".")])
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"Gcn", "EdgeScores", "scratch"})

    def refused(self, says, *words):
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(scale.main([*words]), 2)
        self.assertIn(says, errors.getvalue())
        self.assertEqual(len(errors.getvalue().splitlines()), 1)
        return printed.getvalue()

    def test_options_that_went_are_unknown(self):
        for words in (["--layout", "owners"], ["--replicas", "2"], ["--scratch", str(self.folder)]):
            with self.subTest(words=words):
                self.refused(f"unknown option '{words[0]}'", "run", "model.pt", "--data", "graph.safetensors", "-o", "out", *words)

    def test_misspelt_commands_and_options_are_named_even_next_to_help(self):
        for says, *words in (("unknown command 'rnu'; did you mean 'run'? see `hopscope-scale --help`", "rnu", "--help"),
                             ("unknown option '--hlep'; did you mean '--help'? see `hopscope-scale --help`", "--hlep", "--help"),
                             ("unknown option '--wrkers'; did you mean '--workers'? see `hopscope-scale run --help`",
                              "run", "--wrkers", "3", "--help"),
                             ("unknown option '--addres'; did you mean '--address'?", "serve", "--help", "--addres=local"),
                             ("unknown option '-x'; see `hopscope-scale serve --help`", "serve", "-x"),
                             ("are required: --data, -o/--output; see `hopscope-scale run --help`", "run", "model.pt"),
                             ("--workers: '0' is not a positive integer", "run", "m", "--data", "d", "-o", "o", "--workers", "0"),
                             ("--wait: 'soon' is not a number of seconds", "run", "m", "--data", "d", "-o", "o", "--wait", "soon")):
            with self.subTest(words=words):
                self.assertEqual(self.refused(says, *words), "")
        error = json.loads(self.refused("unknown option '--memry'", "run", "--memry", "3", "--json"))["error"]
        self.assertEqual((error["message"], error["code"], error["exit_code"]), ("unknown option '--memry'", "usage", 2))
        for words in (["--help"], ["run", "--help"], ["run", "-oout", "--data=x", "-h"], ["serve", "--memory", "1Gi", "-h"],
                      ["run", "--help", "--", "--wrkers"]):
            with (self.subTest(words=words), contextlib.redirect_stdout(io.StringIO()) as printed,
                  self.assertRaises(SystemExit) as ended):
                scale.main(words)
            self.assertEqual(ended.exception.code, 0)
            self.assertIn("usage: hopscope-scale", printed.getvalue())

    def test_what_it_needs_is_said(self):
        model, data, out = made(Gcn), graph(), self.folder / "out"
        for says, options in (("needs a folder", {"cluster": "local", "workers": 2}),
                              ("needs a number of workers", {"cluster": "local", "out": out})):
            with self.subTest(says=says), self.assertRaises(hopscope.UsageError) as caught:
                hopscope.inference(model, data, **options)
            self.assertIn(says, str(caught.exception))
        with mock.patch.dict(sys.modules, ray=None), self.assertRaises(hopscope.UsageError) as caught:
            hopscope.inference(model, data, cluster="auto", out=out)
        self.assertIn("needs Ray, which is not installed here", str(caught.exception))
        self.assertFalse(out.exists())
