"""Every failure is an exception of its kind, with the engine's sentence and hint, and leaves no file and no process."""
import ast
import contextlib
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import hopscope
import torch
from hopscope import errors
from support import FEATURES, ROOT, SOON, Attention, Gcn, PackageTest, Plain, children, edges, graph, made

STAND_IN = str(Path(__file__).with_name("stand_in.py"))


class Slow(torch.nn.Module):
    """Minutes of one core: no library helps with products of integers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = torch.ones([6000, 6000], dtype=torch.int64)
        return x + torch.matmul(a, a).sum().float()


def inspects(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may have ended meanwhile
        return b"inspect" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def inspecting(parent):
    return [one for one in children(parent) if inspects(one)]


class Failures(PackageTest):
    def raised(self, kind, model, data, **options):
        """What is raised; nothing has been written."""
        out = self.folder / "out"
        with self.assertRaises(kind) as caught:
            hopscope.inference(model, data, out=out, scratch=self.scratch, **options)
        self.assertFalse(out.exists())
        return caught.exception

    def test_what_cannot_be_split_names_the_line(self):
        problem = self.raised(hopscope.Refused, made(Attention), graph())
        self.assertIn("support.py", f"{problem.message} {problem.where}")
        self.assertEqual(problem.exit_code, 4)

    def test_a_missing_argument_is_named_before_anything_starts(self):
        problem = self.raised(hopscope.InputError, made(Gcn), {"x": torch.zeros(3, 6)})
        self.assertIn("'edge_index'", problem.message)
        self.assertIn("edge_index", problem.hint)

    def test_nan_that_is_not_wanted_is_refused_with_a_hint(self):
        data = graph()
        data.x[3, 2] = float("nan")
        problem = self.raised(hopscope.InputError, made(Plain), data, nan="refuse")
        self.assertIn("NaN", problem.message)
        self.assertIn(problem.hint, str(problem))

    def test_too_little_memory_is_a_resource_error(self):
        problem = self.raised(hopscope.ResourceError, made(Plain), graph(), memory=100, verify=None)
        self.assertIsInstance(problem, MemoryError)

    def test_a_device_that_is_not_there_is_a_mistake_of_the_caller(self):
        self.raised(hopscope.UsageError, made(Plain), graph(), device="cuda:99")
        self.assertRaises(hopscope.UsageError, hopscope.inference, made(Plain), graph(), memory="lots")

    def test_a_difference_is_raised_with_the_result(self):
        model, data = made(Plain), graph()
        with mock.patch.dict(os.environ, STAND_IN_ENGINE=hopscope.engine().path, HOPSCOPE_ENGINE=STAND_IN):
            with self.assertRaises(hopscope.VerificationError) as caught:
                hopscope.inference(model, data, scratch=self.scratch)
            self.assertEqual(caught.exception.result.verdict, "different")
            self.same(caught.exception.result.output, model(data.x, data.edge_index))
            with self.assertRaises(hopscope.VerificationError) as caught:
                hopscope.verify(model, data, scratch=self.scratch)
            self.assertEqual(caught.exception.result.verdict, "different")

    def test_interrupting_ends_the_engine_and_leaves_nothing(self):
        def interrupt(what, _done, _total):
            if what.startswith("stage"):
                signal.raise_signal(signal.SIGINT)

        # Large enough, in batches of one node, that it is under way when it is interrupted.
        data = {"x": torch.randn(30_000, FEATURES), "edge_index": edges(30_000, 30_000, 60_000)}
        self.raised(KeyboardInterrupt, made(Plain), data, verify=None, batch=1, progress=interrupt)

    def test_an_engine_that_is_told_to_stop_or_dies_is_told_apart(self):
        saved = hopscope.save(made(Plain), graph(), self.folder / "plain.pt")
        kinds = {signal.SIGTERM: hopscope.Cancelled, signal.SIGKILL: hopscope.ResourceError,
                 signal.SIGSEGV: hopscope.EngineError}
        for number, kind in kinds.items():
            def end(what, _done, _total, number=number):
                if what.startswith("loading"):
                    for process in children():
                        os.kill(process, number)

            with self.subTest(number=number):
                self.raised(kind, saved, graph(), verify=None, progress=end)

    def test_a_program_that_is_killed_leaves_no_engine(self):
        slow = torch.jit.script(Slow())
        slow.save(self.folder / "slow.pt")
        program = f"import hopscope; hopscope.inspect({str(self.folder / 'slow.pt')!r})"
        package = str(Path(hopscope.__file__).parents[1])
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": package})
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                engines = self.awaited(lambda process=process: inspecting(process.pid), 60)
                process.send_signal(number)
                process.wait()
                self.awaited(lambda engines=engines: not any(Path(f"/proc/{one}").exists() for one in engines), SOON)

    def awaited(self, found, seconds):
        end = time.monotonic() + seconds
        while not (result := found()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return result

    def test_every_exit_code_has_its_exception_and_each_survives_pickling(self):
        known = {2: errors.UsageError, 3: errors.InputError, 4: errors.Refused, 5: errors.VerificationError,
                 6: errors.ResourceError, 7: errors.EngineError, 8: errors.Untrusted, 130: errors.Cancelled}
        kinds = {kind.exit_code: kind for kind in errors.HopscopeError.__subclasses__()}
        self.assertLessEqual(known.items(), kinds.items())  # more may follow
        for code, kind in {**kinds, 99: errors.EngineError}.items():
            problem = errors.error_from({"exit_code": code, "message": "It fails.", "hint": "Do not.", "where": "a.py:3"})
            self.assertIs(type(problem), kind)
            again = pickle.loads(pickle.dumps(problem))
            self.assertEqual((again.message, again.hint, again.where), ("It fails.", "Do not.", "a.py:3"))
            self.assertEqual(again.code, kind.name)
            self.assertEqual(str(again), "It fails.\nhint: Do not.")

    def test_every_failure_of_the_package_has_a_remedy(self):
        """Its message comes with a hint, wherever the package raises one itself."""
        kinds = {kind.__name__ for kind in errors.HopscopeError.__subclasses__()}
        found = []
        for path in Path(hopscope.__file__).parent.glob("*.py"):
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds:
                    found.append((f"{path.name}:{call.lineno}", len(call.args) + len(call.keywords)))
        self.assertGreater(len(found), 60)
        self.assertEqual([place for place, given in found if given < 2], [])

    def test_a_file_needs_an_agreement_and_a_module_none(self):
        model, data = made(Plain), graph()
        saved = hopscope.save(model, data, self.folder / "plain.pt")
        alone = mock.patch.dict(os.environ, HOPSCOPE_TRUST="", XDG_CONFIG_HOME=str(self.folder / "config"))
        with alone:
            for own in (model, saved):
                self.assertEqual(hopscope.inference(own, data).verdict, "equal")
                self.assertEqual(hopscope.run(own, data, self.folder / "resumed", resume=True).verdict, "equal")
                self.assertEqual(hopscope.verify(own, data).verdict, "equal")
                self.assertGreater(len(hopscope.plan(own, data).stages), 0)
            local = hopscope.run(model, data, self.folder / "local", cluster="local", workers=1)
            self.assertEqual(local.verdict, "equal")
            path = str(saved.path)
            for asks in (hopscope.inference, hopscope.plan, hopscope.verify):
                self.assertIn("hopscope.trust", str(self.refused(asks, path, data)))
            self.refused(hopscope.run, path, data, self.folder / "asked", resume=True)
            self.assertFalse(hopscope.inspect(path, data).splittable)
            hopscope.trust(path)
            self.assertEqual(hopscope.inference(path, data).verdict, "equal")
            self.assertTrue(hopscope.inspect(path, data).splittable)

    def refused(self, function, *arguments, **options):
        with self.assertRaises(hopscope.Untrusted) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.exit_code, 8)
        return caught.exception

    def test_what_is_no_data_is_refused(self):
        for data in (7, {"x": "features"}, self.folder / "missing.safetensors", self.folder / "nothing.txt"):
            with self.subTest(data=data):
                self.assertRaises(hopscope.InputError, hopscope.inference, made(Plain), data)

    def test_a_full_disk_is_a_resource_error(self):
        from hopscope import arrays

        if not Path("/dev/full").exists():
            self.skipTest("there is no /dev/full")
        with mock.patch.object(Path, "unlink"), self.assertRaises(hopscope.ResourceError):
            arrays.write({"x": torch.zeros(100_000)}, Path("/dev/full"))

    def test_a_model_that_has_no_room_is_a_resource_error_and_leaves_nothing(self):
        usual, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGXFSZ, handler)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, usual)
        model = made(Plain)
        model.register_buffer("large", torch.zeros(100_000))
        for limit, sentence in ((1000, "no room for [0-9,]+ bytes of inputs"), (100_000, "plain.pt: cannot be written")):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
            with self.assertRaisesRegex(hopscope.ResourceError, sentence):
                hopscope.save(model, graph(), self.scratch / "plain.pt")


if __name__ == "__main__":
    unittest.main()
