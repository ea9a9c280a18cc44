"""`hopscope-scale run --layout owners` with workers of this machine: the bits of one process, whoever is killed when, and
nothing left of the workers."""
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path

import torch
from safetensors.numpy import save_file
from torch import nn

from scale_support import JOURNAL, PATIENCE, ScaleTest, kill, records, right

import engine_models as models
from engine_commands import engine
from engine_shards import checked


class Shop(nn.Module):
    """Two types of nodes; a table on edges, which is a result as well, that the next layer reads."""

    def __init__(self, width):
        super().__init__()
        self.item, self.user, self.last = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 8)

    def forward(self, x_user, x_item, buys):
        items = torch.zeros(x_item.size(0), x_user.size(1)).index_add(0, buys[1], x_user[buys[0]])
        items = torch.relu(self.item(items) + x_item)
        users = torch.zeros(x_user.size(0), x_user.size(1)).index_add(0, buys[0], items[buys[1]])
        users = torch.relu(self.user(users) + x_user)
        score = torch.sigmoid((users[buys[0]] * items[buys[1]]).sum(1, keepdim=True))
        found = torch.zeros(x_item.size(0), x_user.size(1)).index_add(0, buys[1], users[buys[0]] * score)
        return {"items": self.last(found), "scores": score}


def shop(users, items, edges, width=16):
    draw = torch.Generator().manual_seed(3)
    ends = [torch.randint(count, (edges,), generator=draw) for count in (users, items)]
    return {"x_user": torch.rand(users, width, generator=draw), "x_item": torch.rand(items, width, generator=draw),
            "buys": torch.stack(ends)}


class OwnersTest(ScaleTest):
    """Workers have their folders in `scratch`, which is that for temporary files unless a test names it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        models.save(Shop(16), tuple(shop(40, 30, 200).values()), cls.shared / "shop.pt")
        save_file({name: value.numpy() for name, value in shop(20_000, 9_000, 90_000).items()},
                  str(cls.shared / "shop.safetensors"))
        cls.made["shop"] = [cls.shared / "shop.pt", "--data", cls.shared / "shop.safetensors",
                            "--role", "buys=index:user>item", "--batch", "1500"]
        cls.made["orders"] = cls.made["shop"][:-2]  # the same, for whoever has a batch of its own

    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    def start(self, words, *more, environment=None):
        environment = environment or self.environment(TMPDIR=str(self.scratch))
        return super().start(words, "--layout", "owners", *more, environment=environment)

    def left(self):
        """The folders of workers."""
        return sorted(self.scratch.glob("hopscope-*-*"))

    def noted(self):
        """What workers have noted."""
        return [record for folder in self.left() for record in records(folder)]

    def workers(self):
        """Engines, without the processes in which they look at files that could crash them."""
        found = self.engines()
        return [pid for pid in found if parent_of(pid) not in (*found, None)]

    def come_through(self, process, case):
        said, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, error + said)
        right(case, self.out)
        self.assertEqual(self.left(), [])
        return said, error


class Workers(OwnersTest):
    def test_any_number_of_workers_gives_the_bits_of_one_process(self):
        for name, workers in (("sage", 1), ("sage", 2), ("sage", 4), ("normed", 2), ("frontier", 3), ("shop", 3)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                report = self.run_scale(case, "--workers", workers)
                scale = report["scale"]
                self.assertEqual((scale["layout"], scale["lost"], len(scale["workers"])), ("owners", 0, workers))
                self.assertEqual(sum(worker["destinations"] for worker in scale["workers"]), case.destinations)
                self.assertEqual(sum(stage["destinations"] for stage in report["stages"]), case.destinations)
                self.assertEqual(any(worker["halo"] for worker in scale["workers"]), workers > 1)
                self.assertEqual(self.left(), [])
                shutil.rmtree(self.out)

    def test_what_comes_in_is_what_was_predicted_to_the_byte(self):
        for name, workers, replicas in (("sage", 4, 2), ("frontier", 2, 1), ("normed", 3, 2), ("shop", 2, 2)):
            with self.subTest(model=name, workers=workers, replicas=replicas):
                case = self.case(name)
                plan = self.folder / f"{name}.json"
                predicted = self.predicted(case, plan, workers, "--replicas", replicas)
                report = self.run_scale(case, "--workers", workers, "--plan", plan, "--replicas", replicas)
                self.assertEqual([in_of(worker["halo"]) for worker in report["scale"]["workers"]],
                                 [in_of(worker["stages"], "halo_") for worker in predicted["workers"]])
                self.copies_are_as_predicted(case, report["scale"]["workers"], predicted["workers"], replicas)
                stored = sum(stage["output_bytes"] for worker in predicted["workers"] for stage in worker["stages"])
                self.assertEqual(report["scale"]["gathered"], stored)
                told = sum(event["bytes"] for event in self.events("rows"))
                self.assertEqual(told, stored + sum(s["halo_bytes"] for w in predicted["workers"] for s in w["stages"]))
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def copies_are_as_predicted(self, case, workers, predicted, replicas):
        """Also by what they are copies of: all stores but those of the last stage."""
        copies = [in_of(worker.get("copies", ())) for worker in workers]
        self.assertEqual(copies, [in_of(worker["stages"], "copy_") for worker in predicted])
        stored = sum(stage["stored_bytes"] for worker in predicted for stage in worker["stages"][:-1])
        self.assertEqual(sum(size for stages in copies for _, size in stages.values()), stored * (replicas - 1))
        self.assertGreater(stored, 0)
        self.assertEqual(sum(event["bytes"] for event in self.events("copied")), stored * (replicas - 1))

    def predicted(self, case, plan, workers, *more):
        words = self.words(case)
        words = words[:words.index("--verify")] + words[words.index("--verify") + 2:]
        said = checked(engine("plan", *words, "--threads", 1, "--device", "cpu", "-o", plan, "--workers", workers,
                              *more, "--json"))
        return json.loads(said.stdout)["workers"]

    def test_a_worker_stays_within_its_limit(self):
        self.stays_within_its_limit()


class Interruptions(OwnersTest):
    def test_workers_are_killed_at_random(self):
        for name in ("slow", "slow normed"):
            with self.subTest(model=name):
                case = self.case(name)
                process = self.start(self.words(case), "--workers", 2, "--json")
                self.kill_some(process, random.Random(5), self.workers, self.noted)
                right(case, self.out)
                self.assertEqual(self.left(), [])
                shutil.rmtree(self.out)

    def test_what_a_killed_worker_had_noted_is_not_computed_again(self):
        case = self.case("slow")
        process = self.start(self.words(case), "--workers", 2, "--json")
        self.until(lambda: len(self.noted()) > 30)
        found = self.workers()
        kill(found[-1])  # the process that gathers begins first
        self.come_through(process, case)
        computed = sum(event["destinations"] for event in self.events("shard"))
        self.assertLessEqual(computed, case.destinations * 1.05)

    def test_a_worker_whose_folder_is_gone_makes_its_rows_again(self):
        case = self.case("slow")
        process = self.start(self.words(case), "--workers", 3, "--json")
        self.until(lambda: any(event["stage"] == 2 for event in self.events("shard")))
        gone = draw_folder(self.left())
        pid, = [pid for pid in self.workers() if str(gone) in opened_by(pid)]
        os.kill(pid, signal.SIGSTOP)  # it would write on
        shutil.rmtree(gone)
        kill(pid)
        said, _ = self.come_through(process, case)
        scale = json.loads(said)["scale"]
        self.assertEqual(scale["lost"], 1)
        self.assertGreater(sum(event["destinations"] for event in self.events("shard")), case.destinations)
        number = int(gone.name.rpartition("-")[2])
        again = {event["stage"] for event in self.events("shard") if event["worker"] == number}
        self.assertEqual(again, {1, 2, 3})

    def test_the_command_is_killed_and_nothing_is_left_unless_its_folder_was_named(self):
        case = self.case("slow")
        for named in (False, True):
            process = self.start(self.words(case), "--workers", 2, *(["--scratch", self.scratch] if named else []))
            self.until(lambda: len(self.left()) == 2 and all(len(records(folder)) > 3 for folder in self.left()))
            process.kill()
            process.communicate()
            self.until(lambda: not self.engines(), 5)  # they end by themselves
            self.assertEqual(len(self.left()), 2 if named else 0)
        noted = sum(count for *_, count in self.noted())
        self.assertGreater(noted, 0)
        (self.folder / "events").unlink()
        self.run_scale(case, "--workers", 2, "--scratch", self.scratch)
        self.assertLessEqual(sum(event["destinations"] for event in self.events("shard")), case.destinations - noted)
        self.assertEqual(self.left(), [])

    def test_an_interrupted_command_ends_within_a_second(self):
        case = self.case("slow")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(self.words(case), "--workers", 2)
            self.until(self.noted)
            began = time.monotonic()
            process.send_signal(number)
            _, error = process.communicate(timeout=PATIENCE)
            self.assertLess(time.monotonic() - began, 3)  # one, where nothing else runs
            self.assertEqual(process.returncode, 130, error)
            self.assertEqual((self.engines(), self.left()), ([], []))
        self.run_scale(case, "--workers", 2)


class Replicas(OwnersTest):
    """Workers are lost with their folders."""

    workers_of_run = 3

    def begin(self, name, *more):
        self.case_of_run = self.case(name)
        return self.start(self.words(self.case_of_run), "--workers", self.workers_of_run, "--replicas", 2, "--json", *more)

    def folder_of(self, number):
        folder, = self.scratch.glob(f"hopscope-*-{number}")
        return folder

    def copied(self, number):
        """The stages of a worker of which there have been copies."""
        return {event["stage"] for event in self.events("copied") if event["from"] == number}

    def stop(self, number):
        """It would write on."""
        folder = str(self.folder_of(number))
        pid, = [pid for pid in self.workers() if f"{folder}/" in opened_by(pid)]
        os.kill(pid, signal.SIGSTOP)
        return pid, folder

    def lose(self, *numbers):
        """Workers with their folders, at once."""
        stopped = [self.stop(number) for number in numbers]
        for _, folder in stopped:  # others may still put rows there
            self.until(lambda at=folder: shutil.rmtree(at, ignore_errors=True) or not Path(at).exists(), 5)
        for pid, _ in stopped:
            self.assertTrue(kill(pid))

    def computed(self, stages, workers=None):
        return sum(event["destinations"] for event in self.events("shard")
                   if event["stage"] in stages and event["worker"] in (workers or range(1, self.workers_of_run + 1)))

    def of_stages(self, report, stages):
        return sum(stage["destinations"] for stage in report["stages"] if stage["index"] in stages)

    def restored(self, number):
        return {event["stage"]: event["destinations"] for event in self.events("restored") if event["worker"] == number}

    def test_finished_stages_of_a_lost_worker_are_not_computed_again(self):
        for name, finished in (("slow", 1), ("slow", 2), ("slow normed", 1), ("slow orders", 2)):
            with self.subTest(model=name, stages=finished):
                process, stages = self.begin(name), range(1, finished + 1)
                self.until(lambda: set(stages) <= self.copied(2))
                self.lose(2)
                said, _ = self.come_through(process, self.case_of_run)
                report = json.loads(said)
                self.assertEqual(report["scale"]["lost"], 1)
                self.assertEqual(self.computed(stages), self.of_stages(report, stages))
                all_of_it = sum(event["destinations"] for event in self.events("shard"))
                self.assertLessEqual(all_of_it, self.case_of_run.destinations * 1.05)
                self.assertLessEqual(set(stages), set(self.restored(2)))
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def test_damaged_copies_are_computed_again(self):
        for what, files in (("rows", "rows-*"), ("records", "sealed.json"), ("size", "rows-0")):
            with self.subTest(damaged=what):
                process = self.begin("slow")
                self.until(lambda: 1 in self.copied(2))
                self.stop(2)
                copy = self.folder_of(3) / JOURNAL / "copies/2/1"
                for file in sorted(copy.glob(files)):
                    damage(file, what)
                self.lose(2)
                said, _ = self.come_through(process, self.case_of_run)
                report = json.loads(said)
                again = self.computed({1}) - self.of_stages(report, {1})
                mine = self.of_stages(report, {1}) / self.workers_of_run
                self.assertGreater(again, 0)
                self.assertLess(again, mine * (0.5 if what == "rows" else 1.5))  # one chunk of the worker's part, or all
                self.assertEqual(self.restored(2)[1] > 0, what == "rows")
                notes = {event["message"] for event in self.events("note")}
                self.assertEqual(any("handed back were damaged" in note for note in notes), what == "rows")
                self.assertGreaterEqual(sum(e["from"] == 2 and e["stage"] == 1 for e in self.events("copied")), 2)
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def test_owner_and_keeper_are_lost_together(self):
        process = self.begin("slow")
        self.until(lambda: {1, 2} <= self.copied(2))
        self.lose(2, 3)
        said, _ = self.come_through(process, self.case_of_run)
        self.assertEqual(json.loads(said)["scale"]["lost"], 2)
        self.assertFalse(self.restored(2).get(1))  # worker 3 had the copy: nothing comes back, if it is asked at all
        self.assertGreater(self.computed({1}, {2}), self.computed({1}, {1}) * 1.5)
        self.assertIn(1, self.restored(3))

    def test_a_copy_is_made_again_when_its_keeper_is_lost(self):
        process = self.begin("slow")
        self.until(lambda: 1 in self.copied(2) and 1 in self.copied(3))
        self.lose(3)
        self.until(lambda: sum(e["from"] == 2 and e["stage"] == 1 for e in self.events("copied")) == 2)
        self.lose(2)
        said, _ = self.come_through(process, self.case_of_run)
        self.assertEqual(json.loads(said)["scale"]["lost"], 2)
        self.assertEqual(self.computed({1}), self.of_stages(json.loads(said), {1}))

    def test_workers_are_lost_with_their_folders_at_random(self):
        for name, seed in (("slow", 1), ("slow normed", 2), ("slow orders", 3)):
            with self.subTest(model=name):
                draw, process, lost = random.Random(seed), self.begin(name), 0
                self.until(lambda: len(self.left()) == self.workers_of_run and self.noted())
                while process.poll() is None and lost < 5:
                    with contextlib.suppress(ValueError, OSError):  # it is not there yet, or any more
                        self.lose(draw.randrange(1, self.workers_of_run + 1))
                        lost += 1
                    time.sleep(draw.uniform(0.1, 1.0))
                said, _ = self.come_through(process, self.case_of_run)
                self.assertGreaterEqual(json.loads(said)["scale"]["lost"], 1)
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def test_folders_that_were_named_keep_their_copies(self):
        process = self.begin("slow", "--scratch", self.scratch)
        self.until(lambda: all(1 in self.copied(number) for number in range(1, self.workers_of_run + 1)))
        process.kill()
        process.communicate()
        self.until(lambda: not self.engines(), 5)
        copies = sorted(str(path.parent.relative_to(self.scratch)) for path in self.scratch.glob("*/*/copies/*/1/sealed.json"))
        self.assertEqual(len(copies), self.workers_of_run)
        (self.folder / "events").unlink()
        said, _ = self.come_through(self.begin("slow", "--scratch", self.scratch), self.case_of_run)
        self.assertEqual([event for event in self.events("copied") if event["stage"] == 1], [])

    def test_one_worker_cannot_keep_a_copy(self):
        words = self.words(self.case("sage"))
        self.refused(2, "no other one that could keep a copy", words, "--workers", 1, "--replicas", 2)
        process = ScaleTest.start(self, words, "--workers", 2, "--replicas", 2)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 2)
        self.assertIn("2 for workers that keep their own rows", error)


def damage(file, what):
    content = bytearray(file.read_bytes())
    if what == "size":
        content = content[:-4]
    else:
        content[len(content) // 2] ^= 1
    file.write_bytes(content)


# Passes requests on, but for the model of worker 2.
OTHER_MODEL = """
import json, subprocess, sys, threading
engine = subprocess.Popen(["{program}", *sys.argv[1:]], stdin=subprocess.PIPE)
while header := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
    if message["params"].get("owner", {{}}).get("index") == 2:
        message["params"]["model"] = "{other}"
    body = json.dumps(message).encode()
    engine.stdin.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    engine.stdin.flush()
engine.stdin.close()
sys.exit(engine.wait())
"""


class Refusals(OwnersTest):
    def test_a_folder_that_is_missing(self):
        words = self.words(self.case("sage"))
        here = os.uname().nodename
        self.refused(2, "nowhere: workers cannot have a folder there: there is no such folder", words, "--workers", 2, "--scratch", self.folder / "nowhere")
        self.refused(3, "no such file", [words[0], "--data", self.folder / "no.safetensors"], "--workers", 2)
        self.assertFalse(self.out.exists())
        self.assertEqual(self.left(), [], here)

    def test_another_model_at_one_worker(self):
        """Played by an engine that begins workers 2 with another file."""
        words, other = self.words(self.case("sage")), self.made["normed"][0]
        program = self.folder / "engine"
        program.write_text(f"#!{sys.executable}\n" + OTHER_MODEL.format(program=str(self.program), other=str(other)))
        program.chmod(0o755)
        environment = self.environment(TMPDIR=str(self.scratch), HOPSCOPE_ENGINE=str(program))
        self.refused(3, "worker 2 on ", words, "--workers", 2, environment=environment)
        self.assertEqual(self.left(), [])

    def test_a_folder_for_workers_without_owners(self):
        process = ScaleTest.start(self, self.words(self.case("sage")), "--workers", 1, "--scratch", self.scratch)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 2)
        self.assertIn("--layout owners makes them do that", error)


def draw_folder(folders):
    return random.Random(4).choice(folders)


def opened_by(pid):
    """The files that a process has open."""
    found = ""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += f"{file.readlink()}\n"
    return found


def parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def in_of(stages, prefix=""):
    """What came in, by stage: rows and bytes."""
    return {stage["stage"]: (stage[prefix + "rows"], stage[prefix + "bytes"]) for stage in stages if stage[prefix + "rows"]}


if __name__ == "__main__":
    unittest.main()
