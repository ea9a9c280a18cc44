"""Folders that somebody else has prepared: whatever links and lists lie in them, nothing outside is read as a journal, written or
removed. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import os
import unittest
from pathlib import Path

from safetensors.numpy import save_file

import engine_models as models
from engine_commands import ENGINE, KARATE, EngineTest, engine, names
from engine_resume import JOURNAL, generated, lines, xxh3

LINK = "is a link or of another kind than expected"
OUTSIDE = "names a file outside of the folder"


class Prepared(EngineTest):
    def setUp(self):
        super().setUp()
        self.out, self.victim = self.folder / "out", self.folder / "victim"
        (self.victim / "sub").mkdir(parents=True)
        for name in ("file", "sub/other"):
            (self.victim / name).write_text("precious")
        self.journal = self.out / JOURNAL
        self.journal.mkdir(parents=True)

    def untouched(self):
        found = {str(path.relative_to(self.victim)): path.read_text() for path in self.victim.rglob("*") if path.is_file()}
        self.assertEqual(found, {"file": "precious", "sub/other": "precious"})
        self.assertEqual(self.times, self.times_of())

    def times_of(self):
        return {str(path): path.stat().st_mtime_ns for path in [self.victim, *self.victim.rglob("*")]}

    def refuses(self, says, *more, command=("run", *KARATE)):
        """The same twice: what is refused stays as it was."""
        self.times = self.times_of()
        for _ in range(2):
            done = engine(*command, "-o", self.out, "--quiet", *more)
            self.untouched()
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(says, done.stderr)

    def passes(self, *more):
        self.times = self.times_of()
        done = engine("run", *KARATE, "-o", self.out, "--quiet", *more)
        self.untouched()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(names(self.out), ["out.npy", "report.json"])

    def test_a_list_of_results_that_leads_elsewhere(self):
        (self.journal / "payload").write_text("evil")
        for move in ("payload ../victim/file", f"payload {self.victim}/file", "../../victim/file stolen",
                     f"{self.victim}/file stolen", "payload ..", ". stolen"):
            (self.journal / "moves").write_text(f"payload innocent.txt\n{move}\n")
            for more in ((), ("--resume",)):
                with self.subTest(move=move, more=more):
                    self.refuses(OUTSIDE, *more)
                    self.assertEqual(names(self.out), [JOURNAL])

    def test_a_list_of_results_with_links(self):
        (self.journal / "payload").symlink_to(self.victim / "file")
        (self.journal / "moves").write_text("payload out.npy\n")
        self.refuses(LINK)
        (self.journal / "payload").unlink()
        os.link(self.victim / "file", self.journal / "payload")
        self.refuses("has another name elsewhere")
        (self.journal / "payload").unlink()
        (self.journal / "moves").unlink()
        (self.journal / "moves").symlink_to(self.victim / "file")
        self.refuses(LINK)

    def test_a_journal_that_is_a_link(self):
        """An innocent one too, to a folder on a faster disk."""
        self.journal.rmdir()
        for target in (self.victim, "../victim", self.victim / "file", self.folder / "nowhere"):
            self.journal.symlink_to(target)
            for more in ((), ("--resume",), ("--shard", "1/2")):
                with self.subTest(target=target, more=more):
                    self.refuses(LINK, *more)
                    self.assertTrue(self.journal.is_symlink())
            self.journal.unlink()

    def test_locks_that_are_links(self):
        for name, more in (("lock", ()), ("lock", ("--resume",)), ("lock", ("--shard", "1/1"))):
            for target in ("../../victim/file", self.folder / "nowhere"):
                with self.subTest(name=name, more=more, target=target):
                    (self.journal / name).symlink_to(target)
                    self.refuses(LINK, *more)
                    self.assertFalse((self.folder / "nowhere").exists())
                    (self.journal / name).unlink()
        os.link(self.victim / "file", self.journal / "lock")
        self.refuses("has another name elsewhere")

    def test_other_locks_that_are_links_go(self):
        for name in ("lock-1", "begin", "publish", "made"):
            (self.journal / name).symlink_to(self.victim / "file")
        self.passes("--shard", "1/1")

    def test_leavings_that_are_links_go_and_their_targets_stay(self):
        (self.journal / "folder").symlink_to(self.victim)
        (self.journal / "deep/deeper").mkdir(parents=True)
        (self.journal / "deep/deeper/link").symlink_to(self.victim)
        (self.journal / "work-1").symlink_to(self.victim)
        (self.journal / "v5.npy.part").symlink_to(self.victim / "file")
        self.passes()

    def test_a_journal_to_go_on_with_has_no_links(self):
        """A record with the right digest makes it one."""
        record = b'{"settled":0}'
        for name in ("run.json", "plan.json", "out.npy.part", "totals-1-1-64.safetensors", "work-1", "check", "begin"):
            target = self.victim if name in ("work-1", "check") else self.victim / "file"
            for chunks, more in (("chunks", ("--resume",)), ("chunks-1", ("--shard", "1/1"))):
                (self.journal / chunks).write_bytes(xxh3(record) + b" " + record + b"\n")
                (self.journal / name).symlink_to(target)
                with self.subTest(name=name, chunks=chunks):
                    self.refuses(LINK, *more)
                    self.assertTrue((self.journal / name).is_symlink())
                (self.journal / name).unlink()
                (self.journal / chunks).unlink()

    def test_records_that_are_a_link(self):
        (self.journal / "chunks").symlink_to(self.victim / "file")
        self.refuses(LINK, "--resume")
        self.assertEqual(lines(self.out), [b"precious"])

    def test_temporary_files_are_new(self):
        """Whoever knows the number of the next process lays a link where it will write first."""
        plan = self.folder / "p.json"
        started = os.fork()
        if not started:
            own = Path(f"{plan}.partial.{os.getpid()}")
            own.symlink_to(self.victim / "file")
            os.execv(ENGINE, [ENGINE, "plan", *KARATE, "-o", str(plan), "--quiet", "--json"])
        self.times = self.times_of()
        self.assertEqual(os.waitpid(started, 0)[1], 0)
        self.untouched()
        self.assertIn('"hopscope-plan"', plan.read_text())

    def test_entries_of_a_cache_that_are_links(self):
        """A run with the edges that the cache holds; each entry leads elsewhere now."""
        save_file(generated(2_000, 40, width=6), str(self.folder / "graph.safetensors"))
        models.save(models.Sage(6, 8, 4, 2), models.graph(40, 150, 6), self.folder / "model.pt")
        words = [self.folder / "model.pt", "--data", self.folder / "graph.safetensors"]
        cache = self.folder / "cache"
        self.done("run", *words, "-o", self.folder / "first", "--cache", cache)
        entries = sorted(cache.iterdir())
        self.assertTrue(entries)
        for number, entry in enumerate(entries):
            moved = self.victim.parent / f"elsewhere-{number}"
            entry.rename(moved)
            os.utime(moved, (1, 1))
            entry.symlink_to(moved)
        self.done("run", *words, "-o", self.folder / "second", "--cache", cache)
        self.assertEqual([entry.is_symlink() for entry in entries], [False] * len(entries))
        self.assertEqual({(self.folder / f"elsewhere-{n}").stat().st_mtime for n in range(len(entries))}, {1})


if __name__ == "__main__":
    unittest.main()
