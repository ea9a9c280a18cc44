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

from scale_support import PATIENCE, ScaleTest, kill, records, right

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
        for name, workers in (("sage", 4), ("frontier", 2), ("normed", 3), ("shop", 2)):
            with self.subTest(model=name, workers=workers):
                case = self.case(name)
                plan = self.folder / f"{name}.json"
                predicted = self.predicted(case, plan, workers)
                report = self.run_scale(case, "--workers", workers, "--plan", plan)
                self.assertEqual([in_of(worker["halo"]) for worker in report["scale"]["workers"]],
                                 [in_of(worker["stages"], "halo_") for worker in predicted["workers"]])
                stored = sum(stage["output_bytes"] for worker in predicted["workers"] for stage in worker["stages"])
                self.assertEqual(report["scale"]["gathered"], stored)
                told = sum(event["bytes"] for event in self.events("rows"))
                self.assertEqual(told, stored + sum(s["halo_bytes"] for w in predicted["workers"] for s in w["stages"]))
                shutil.rmtree(self.out)
                (self.folder / "events").unlink()

    def predicted(self, case, plan, workers):
        words = self.words(case)
        words = words[:words.index("--verify")] + words[words.index("--verify") + 2:]
        said = checked(engine("plan", *words, "--threads", 1, "--device", "cpu", "-o", plan, "--workers", workers, "--json"))
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
