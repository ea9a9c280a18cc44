"""`inference(cluster=...)` with workers of this machine. What becomes of workers that are killed: scale_local.py and scale_ray.py."""
import contextlib
import io
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

    def test_options_that_went_are_unknown(self):
        for words in (["--layout", "owners"], ["--replicas", "2"], ["--scratch", str(self.folder)]):
            with (self.subTest(words=words), contextlib.redirect_stderr(io.StringIO()) as said,
                  self.assertRaises(SystemExit) as ended):
                scale.main(["run", "model.pt", "--data", "graph.safetensors", "-o", "out", *words])
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(f"unrecognized arguments: {words[0]}", said.getvalue())

    def test_what_it_needs_is_said(self):
        model, data, out = made(Gcn), graph(), self.folder / "out"
        for says, options in (("needs a folder", {"cluster": "local", "workers": 2}),
                              ("compute on CPUs", {"cluster": "local", "workers": 2, "out": out, "device": "cuda"}),
                              ("need a number of them", {"cluster": "local", "out": out})):
            with self.subTest(says=says), self.assertRaises(hopscope.UsageError) as caught:
                hopscope.inference(model, data, **options)
            self.assertIn(says, str(caught.exception))
        with mock.patch.dict(sys.modules, ray=None), self.assertRaises(hopscope.UsageError) as caught:
            hopscope.inference(model, data, cluster="auto", out=out)
        self.assertIn("needs Ray, which is not installed here", str(caught.exception))
        self.assertFalse(out.exists())
