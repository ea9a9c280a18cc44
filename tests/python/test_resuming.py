"""Runs that end half-way, and calls that go on with them."""
import os
import shutil
import signal
import threading
import time
import unittest

import hopscope
import torch
from support import FEATURES, PackageTest, Plain, TakesData, children, edges, graph, made, until_it_hits

NODES = 30_000


class Resuming(PackageTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(4)
        # In batches of eight nodes it takes long enough for several chunks.
        self.data = {"x": torch.randn(NODES, FEATURES), "edge_index": edges(NODES, NODES, 60_000)}
        self.out = self.folder / "out"

    def run_to(self, out, model=None, **options):
        options = {"batch": 8, "verify": None, **options}
        return hopscope.run(model or made(Plain), self.data, out, resume=True, scratch=self.scratch, **options)

    def killed(self, model=None):
        """Kills the engine as soon as it has noted that something is finished."""
        until_it_hits(lambda: self.was_killed(model) or shutil.rmtree(self.out))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), [".hopscope-journal", ".hopscope-python"])

    def was_killed(self, model):
        chunks, over = self.out / ".hopscope-journal/chunks", threading.Event()

        def kill():
            while not over.is_set() and not (chunks.is_file() and chunks.stat().st_size > 0):
                time.sleep(0.005)
            for process in children():
                os.kill(process, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            self.run_to(self.out, model)
        except hopscope.ResourceError:
            return chunks.exists()
        finally:
            over.set()
            killer.join()
        return False

    def test_a_call_goes_on_with_what_a_killed_engine_has_finished_to_the_same_bytes(self):
        self.killed()
        result = self.run_to(self.out)
        self.assertGreater(result.report.document["resumed"]["chunks"], 0)
        self.same(result.output, made(Plain)(**self.data))
        undisturbed = self.run_to(self.folder / "undisturbed")
        self.assertIsNone(undisturbed.report.document["resumed"])
        self.assertEqual(*((folder / "out.npy").read_bytes() for folder in (self.out, self.folder / "undisturbed")))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["out.npy", "report.json"])
        self.assertEqual(result.plan.document["stages"], undisturbed.plan.document["stages"])

    def test_something_else_does_not_go_on_with_it(self):
        self.killed()
        other = made(Plain)
        with torch.no_grad():
            other.linear.bias += 1
        with self.assertRaisesRegex(hopscope.InputError, "an unfinished run of a different model"):
            self.run_to(self.out, other)
        with self.assertRaisesRegex(hopscope.InputError, "an unfinished run with a different 'strategy'"):
            self.run_to(self.out, strategy="depth")
        with self.assertRaisesRegex(hopscope.InputError, "a run that was not finished"):
            hopscope.run(made(Plain), self.data, self.out, scratch=self.scratch)
        self.data["x"][0] = 7
        with self.assertRaisesRegex(hopscope.InputError, "the data"):
            self.run_to(self.out)
        self.assertTrue((self.out / ".hopscope-python/begun.json").is_file())

    def test_a_scripted_model_is_told_from_another_one(self):
        scripted, other = (torch.jit.script(made(Plain)) for _ in range(2))
        with torch.no_grad():
            other.linear.bias += 1
        self.killed(scripted)
        with self.assertRaisesRegex(hopscope.InputError, "an unfinished run of a different model"):
            self.run_to(self.out, other)
        result = self.run_to(self.out, scripted)
        self.assertGreater(result.report.document["resumed"]["chunks"], 0)
        self.same(result.output, made(Plain)(**self.data))

    def test_without_an_interruption_it_gives_what_any_run_gives(self):
        model, data = made(TakesData), graph()
        plan = hopscope.plan(model, data, strategy="depth", device="cpu", scratch=self.scratch)
        result = hopscope.inference(model, data, out=self.out, resume=True, plan=plan, verify="full", scratch=self.scratch)
        self.same(result.output, model(data))
        self.assertEqual((result.verdict, result.plan.strategy, result.folder), ("equal", "depth", self.out))
        file = hopscope.save(model, data, self.folder / "model.pt")
        again = hopscope.run(file.path, {"x": data.x.numpy(), "edge_index": data.edge_index.numpy()}, self.out, resume=True,
                             scratch=self.scratch)
        self.same(torch.from_numpy(again.output), model(data))

    def test_what_cannot_be_resumed_is_refused_and_leaves_nothing(self):
        model, data = made(Plain), graph()
        self.assertRaisesRegex(hopscope.UsageError, "needs a folder", hopscope.inference, model, data, resume=True)
        with self.assertRaisesRegex(hopscope.UsageError, "progress"):
            hopscope.run(model, data, self.out, resume=True, progress=True)
        with self.assertRaises(hopscope.HopscopeError):
            hopscope.run(model, data, self.out, resume=True, nan="perhaps", scratch=self.scratch)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
