"""`hopscope-scale run` gives the bits of one process whichever worker or driver is killed, or stands still, at any time."""
import json
import os
import random
import shutil
import signal
import time
import unittest

from scale_support import PATIENCE, SOON, ScaleTest, kill, records, right, until_it_hits


class Kills(ScaleTest):
    def kill_some(self, process, draw):
        """Kills workers as soon as something is noted, and then at random moments, six at most, until the command
        has come through. Whether workers were lost."""
        end = time.monotonic() + PATIENCE
        self.until(lambda: process.poll() is not None or (records(self.out) and any(kill(pid) for pid in self.engines()[:1])))
        kills = 1
        while process.poll() is None and kills < 6 and time.monotonic() < end:
            time.sleep(draw.uniform(0.1, 0.6))
            found = self.engines()
            kills += bool(found) and kill(draw.choice(found))
        said, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error + said)
        lost = json.loads(said)["scale"]["lost"]
        self.assertEqual("was lost" in error, lost > 0)
        return lost

    def test_workers_are_killed_at_random(self):
        case = self.case("slow")
        draw = random.Random(5)

        def killed():
            lost = self.kill_some(self.start(self.words(case), "--workers", 2, "--json"), draw)
            right(case, self.out)
            return lost or shutil.rmtree(self.out)

        until_it_hits(killed)
        self.assertTrue(all(event["message"] for event in self.events("lost")))

    def test_the_driver_is_killed_and_started_again(self):
        case = self.case("slow")
        for _ in range(2):
            until_it_hits(lambda: self.interrupted(self.words(case), lambda process: process.kill(), "--workers", 2)).communicate()
            self.until(lambda: not self.engines(), SOON)  # they exit without the driver
        noted = {(stage, loop, first) for stage, loop, first, _ in records(self.out)}
        self.assertTrue(noted)
        self.run_scale(case, "--workers", 2)
        self.assertGreater(self.events("stage")[-1]["total"], 0)

    def test_a_worker_that_stands_still_holds_nobody_up_but_at_the_end(self):
        """Its shards are begun elsewhere. It keeps its lock on the folder, so that results appear when it goes on."""
        case = self.case("slow")
        process = self.start(self.words(case), "--workers", 2)
        self.until(lambda: len(records(self.out)) > 1)
        frozen = self.engines()[0]
        os.kill(frozen, signal.SIGSTOP)
        try:
            self.until(lambda: len(self.events("stage")) == 3)
            self.assertIsNone(process.poll())
        finally:
            os.kill(frozen, signal.SIGCONT)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error)
        right(case, self.out)


if __name__ == "__main__":
    unittest.main()
