"""Inputs that change while a run reads them: exit 3 with the name of the file, and no results. HOPSCOPE_ENGINE names the program,
HOPSCOPE_ROOT the repository."""
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file

from engine_commands import EngineTest, engine
from engine_process import ENGINE
from patience import until_it_hits
from serve_case import ServeTest


def overwritten(path):
    with open(path, "r+b") as file:
        file.seek(-64, os.SEEK_END)
        byte = file.read(1)
        file.seek(-64, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))


def replaced(path):
    """By another file, as programs save."""
    other = Path(f"{path}.new")
    shutil.copyfile(path, other)
    os.replace(other, path)


def appended(path):
    with open(path, "ab") as file:
        file.write(b"more")


def removed(path):
    os.unlink(path)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 3)


class Edited(EngineTest):
    large = ServeTest.large

    def setUp(self):
        super().setUp()
        document = self.large(20_000, 100_000)
        self.model, self.data = document["model"], document["data"][0]
        self.out = self.folder / "out"

    def held(self, words):
        """A run that stands still in its first stage, in small batches; none if it was too far already."""
        run = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        journal = self.out / ".hopscope-journal"
        while not any(journal.glob("*.npy*")) and run.poll() is None:
            time.sleep(0.001)
        run.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, run.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if journal.exists() and not any(journal.glob("out.npy*")):
            return run
        run.kill()
        _, said = run.communicate()
        self.assertIn(run.returncode, (0, -signal.SIGKILL), said)
        return shutil.rmtree(self.out)

    def edited(self, edit, path, *more, data=None):
        """The end of a run whose input is changed."""
        words = [ENGINE, "run", self.model, "--data", data or self.data, "-o", self.out, "--batch", "8", "--quiet", *more]
        run = until_it_hits(lambda: self.held(words))
        edit(path)
        run.send_signal(signal.SIGCONT)
        _, said = run.communicate(timeout=120)
        return run.returncode, said

    def refused_after(self, edit, path, *more, **options):
        code, said = self.edited(edit, path, *more, **options)
        self.assertEqual(code, 3, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn(str(path), said)
        if edit is not cut:
            self.assertIn("was removed while" if edit is removed else "changed while the run read it", said)
        self.assertEqual([*self.out.glob("out*"), *self.out.glob("report*")], [])
        shutil.rmtree(self.out, ignore_errors=True)

    def test_any_change_of_a_file_ends_the_run(self):
        kept = {path: Path(path).read_bytes() for path in (self.model, self.data)}
        for path in kept:
            for edit in (overwritten, replaced, appended, os.utime, removed):
                with self.subTest(file=Path(path).name, edit=edit.__name__):
                    self.refused_after(edit, path, "--verify", "none")
                Path(path).write_bytes(kept[path])
        self.refused_after(overwritten, self.data, "--verify", "full")

    def test_a_file_of_a_folder(self):
        folder = self.folder / "arrays"
        folder.mkdir()
        for name, array in load_file(self.data).items():
            numpy.save(folder / f"{name}.npy", array)
        self.refused_after(overwritten, folder / "x.npy", "--verify", "none", data=folder)

    def test_a_file_that_is_cut_is_named(self):
        kept = Path(self.data).read_bytes()
        self.refused_after(cut, self.data, "--verify", "none")
        Path(self.data).write_bytes(kept)

    def test_what_a_journal_holds_is_of_the_file_as_it_was(self):
        expected = engine("run", self.model, "--data", self.data, "-o", self.out, "--verify", "none", "--quiet", "--batch", "8")
        self.assertEqual(expected.returncode, 0, expected.stderr)
        expected = (self.out / "out.npy").read_bytes()
        shutil.rmtree(self.out)
        kept = Path(self.data).read_bytes()
        code, said = self.edited(overwritten, self.data, "--resume", "--verify", "none")
        self.assertEqual(code, 3, said)
        self.assertIn("changed while the run read it", said)
        other = engine("run", self.model, "--data", self.data, "-o", self.out, "--verify", "none", "--batch", "8", "--resume")
        if (self.out / ".hopscope-journal/chunks").exists():
            self.assertIn("something has changed: the data", other.stderr)
        Path(self.data).write_bytes(kept)
        again = engine("run", self.model, "--data", self.data, "-o", self.out, "--verify", "none", "--batch", "8", "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.out / "out.npy").read_bytes(), expected)


class Served(ServeTest):
    def test_a_run_on_data_that_has_changed_since_it_was_opened(self):
        client, files = self.client(), self.large(400, 4000)
        document = client.call("model/open", **files, writes=[str(self.folder / "out")])["document"]
        plan = self.plan(client, document)["plan"]
        overwritten(files["data"][0])
        ended = client.finished(self.start(client, document, plan, self.folder / "out")["run"])
        self.assertIn("changed while the run read it", ended["error"]["message"])
        self.assertEqual(ended["error"]["exit_code"], 3)
        self.assertIn("error", client.finished(self.start(client, document, plan)["run"]))
        # A folder that the process of the document may not write to: it is not opened again with other data.
        self.refused(-32003, "was changed or removed since the model was opened", self.start, client, document, plan,
                     self.folder / "other")
        self.assertFalse((self.folder / "other").exists())
        (self.folder / "there").mkdir()
        for _ in range(2):  # a refusal gives no rights
            self.refused(-32003, "was changed or removed since the model was opened", self.start, client, document, plan,
                     self.folder / "there")

    def test_data_that_is_cut_ends_the_engine_with_a_sentence(self):
        """Which the window shows as the engine's last words."""
        client, files = self.client(), self.large(40_000, 400_000)
        document = client.call("model/open", **files, writes=[str(self.folder / "out")])["document"]
        plan = self.plan(client, document)["plan"]
        os.truncate(files["data"][0], 4096)
        self.start(client, document, plan, self.folder / "out")
        self.assertEqual(client.process.wait(60), 3)
        client.readers[1].join(10)
        self.assertIn(f"{files['data'][0]} was cut short", client.errors.decode())


if __name__ == "__main__":
    unittest.main()
