"""A host whose disk is full or broken, which loses power, is suspended or has its clock set: a run stops with a sentence or goes on,
and --resume gives the bytes of an undisturbed run. HOPSCOPE_BAD_HOST names the library that makes the host so (bad_host.cpp),
HOPSCOPE_ENGINE the program, HOPSCOPE_ROOT the repository."""
import errno
import itertools
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest

from engine_commands import ENGINE, ROOT, EngineTest, names
from engine_process import always_the_program
from engine_resume import JOURNAL, digest
from patience import SOON
from tiers import one_in, sized

always_the_program()
LIBRARY = os.environ["HOPSCOPE_BAD_HOST"]
SEED = int(os.environ.get("HOPSCOPE_SEED", "20261128"))
KINDS = ("write", "sync", "room", "rename")
# Full, broken, above the quota, read-only, and a share that has gone.
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.ESTALE)
SHORT, PAGE = 0, 4096
MODEL = [ROOT / "samples/digits/gat.pt", "--data", ROOT / "samples/digits/graph.safetensors", "--verify", "none"]
FEW, MANY = ["--batch", "1000"], ["--batch", "20"]  # chunks


SLOW = "10:20"  # milliseconds of a write and of a sync; with many chunks a run takes seconds


class BadHost(EngineTest):
    def setUp(self):
        super().setUp()
        self.out, self.synced, self.counts = self.folder / "out", self.folder / "synced", self.folder / "counts"
        self.dice = random.Random(f"{SEED} {self.id()}")

    def start(self, options, **host):
        """A run on such a host."""
        self.counts.write_bytes(bytes(40))
        host = {f"BAD_HOST_{name.upper()}": str(value) for name, value in host.items()}
        words = [ENGINE, "run", *MODEL, *options, "-o", self.out, "--resume", "--quiet"]
        return subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "LD_PRELOAD": LIBRARY, "BAD_HOST_FOLDER": str(self.out),
                                     "BAD_HOST_COUNTS": str(self.counts), **host})

    def ended(self, options, **host):
        process = self.start(options, **host)
        said = process.communicate(timeout=120)[1]
        return process.returncode, said

    def calls(self):
        return dict(zip(KINDS, struct.unpack("5q", self.counts.read_bytes())))

    def failed(self):
        """Whether the call that was to fail has been made."""
        return struct.unpack("5q", self.counts.read_bytes())[-1] == 1

    def whole(self, options):
        """The digests of an undisturbed run's results, and the number of its calls by their kind."""
        self.assertEqual(self.ended(options), (0, ""))
        expected, calls = digest(self.out), self.calls()
        shutil.rmtree(self.out)
        return expected, calls

    def goes_on(self, options, expected):
        code, said = self.ended(options)
        self.assertEqual(code, 0, said)
        self.assertEqual(digest(self.out), expected)
        self.assertEqual(names(self.out), ["out.npy", "report.json"])
        report = json.loads((self.out / "report.json").read_text())
        shutil.rmtree(self.out)
        return report

    def stops(self, kind, nth, reason, **more):
        """Or the run does without that call, but never without a sync. A folder that is closed to us is a wrong argument, whenever
        that shows."""
        code, said = self.ended(FEW, fault=f"{kind}:{nth}:{reason}", **more)
        if kind == "sync" and self.failed():
            self.assertNotEqual(code, 0)
        if code:
            self.assertEqual(code, 6, said)
            self.assertEqual(len(said.splitlines()), 1, said)
            self.assertIn(os.strerror(reason), said)
        return code

    def test_any_call_that_fails_stops_a_run_which_goes_on_later(self):
        """Each write, sync, reservation and renaming in turn, for once or from then on, with each reason in turn."""
        expected, calls = self.whole(FEW)
        reasons, stopped = itertools.cycle(ERRORS), []
        for kind, count in calls.items():
            self.assertGreater(count, 1)
            for nth in one_in(5, range(1, count + 1)):
                reason, more = next(reasons), {"stays": 1} if nth % 2 else {}
                with self.subTest(kind=kind, nth=nth, reason=os.strerror(reason), more=more):
                    stopped.append(self.stops(kind, nth, reason, **more) != 0)
                    self.goes_on(FEW, expected)
                shutil.rmtree(self.out, ignore_errors=True)
        self.assertGreater(stopped.count(True), len(stopped) // 2)

    def test_a_write_that_is_cut_short_is_gone_on_with_or_stops_the_run(self):
        expected, calls = self.whole(FEW)
        for nth in one_in(4, range(1, calls["write"] + 1)):
            with self.subTest(nth=nth):
                code, said = self.ended(FEW, fault=f"write:{nth}:{SHORT}")
                if code:
                    self.assertEqual((code, len(said.splitlines())), (6, 1), said)
                self.goes_on(FEW, expected)

    # ---- power

    def kill_after(self, syncs):
        """And a random moment later."""
        process = self.start([*MANY, "--no-sandbox"], synced=self.synced, delay=SLOW)
        self.wait_for_syncs(process, syncs)
        time.sleep(self.dice.uniform(0, 1))
        process.kill()
        process.communicate()

    def wait_for_syncs(self, process, syncs):
        while process.poll() is None and self.calls()["sync"] < syncs:
            time.sleep(0.005)

    def lose_power(self):
        """A page that was written after the last sync of its file may be lost, and so may the end of the records."""
        lost = 0
        for path in (self.out / JOURNAL).iterdir():
            copy, now = self.synced / str(path.stat().st_ino), path.read_bytes()
            safe = copy.read_bytes() if copy.exists() else b""
            if path.name == "chunks":
                path.write_bytes(now[:self.dice.randint(len(safe), len(now))])
            elif path.suffix == ".part":
                safe = safe.ljust(len(now), b"\0")
                pages = [(now[at:at + PAGE], safe[at:at + PAGE]) for at in range(0, len(now), PAGE)]
                lost += sum(new != old for new, old in pages)
                path.write_bytes(b"".join(self.dice.choice(page) for page in pages))
        return lost

    def test_after_a_loss_of_power_a_run_goes_on_with_the_records_that_were_synced(self):
        expected, _ = self.whole(MANY)
        lost = taken = 0
        usual = sized((5, 8, 11), range(3, 20))
        for number, syncs in enumerate((*usual, *(4, 5, 6) * 10)):
            if number >= len(usual) and lost and taken:  # on a busy host a run may be killed when all of it is on the disk
                break
            with self.subTest(seed=SEED, syncs=syncs):
                shutil.rmtree(self.synced, ignore_errors=True)
                self.synced.mkdir()
                self.kill_after(syncs)
                if (self.out / JOURNAL).exists():
                    lost += self.lose_power()
                resumed = self.goes_on(MANY, expected)["resumed"]
                taken += resumed["chunks"] if resumed else 0
        self.assertGreater(lost, 0)
        self.assertGreater(taken, 0)

    def test_documents_of_a_journal_that_never_reached_the_disk(self):
        """Their folder may know them or not."""
        expected, _ = self.whole(MANY)
        for gone in (["chunks"], ["run.json", "chunks"], ["plan.json", "run.json", "chunks"]):
            with self.subTest(gone=gone):
                self.synced.mkdir(exist_ok=True)
                self.kill_after(5)
                for name in gone:
                    (self.out / JOURNAL / name).unlink(missing_ok=True)
                self.goes_on(MANY, expected)

    # ---- time

    def test_a_run_is_cancelled_while_the_disk_syncs(self):
        expected, calls = self.whole(MANY)
        self.assertGreater(calls["write"] / 2, 2 * SOON)  # seconds of a run that is not cancelled
        for _ in range(sized(2, 20)):
            process = self.start(MANY, delay="500:1000")
            self.wait_for_syncs(process, 3)
            moment = self.dice.uniform(0, 1)
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=SOON)[1]
            with self.subTest(seed=SEED, moment=moment):
                self.assertEqual((process.returncode, "--resume continues" in said), (130, True), said)
                self.goes_on(MANY, expected)

    def test_a_host_that_is_suspended_and_sets_its_clock(self):
        expected, _ = self.whole(MANY)
        began, process = time.monotonic(), self.start(MANY, clock=100_000, delay=SLOW)
        self.wait_for_syncs(process, 3)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=120)[1]
        elapsed = time.monotonic() - began
        self.assertEqual((process.returncode, said), (0, ""))
        self.assertEqual(digest(self.out), expected)
        seconds = [stage["seconds"] for stage in json.loads((self.out / "report.json").read_text())["stages"]]
        self.assertGreater(min(seconds), 0)
        self.assertLess(sum(seconds), elapsed)


if __name__ == "__main__":
    unittest.main()
