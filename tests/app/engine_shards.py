"""Runs that several processes compute together: the same bits as one process, whoever is killed when. HOPSCOPE_ENGINE names
the program, HOPSCOPE_ROOT the repository.

    engine_shards.py --kills 200 [--shards 3] [--nodes 1000000] [--seed 1]

kills shards so often, over samples and generated graphs, instead of testing, and prints what came out.
"""
import hashlib
import json
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

import engine_models as models
import engine_process
from engine_commands import ENGINE, EngineTest, engine, names
from engine_resume import DIGITS, JOURNAL, cases, everything, interrupt_after, main
from patience import SOON, until_it_hits
from tiers import sized

PATIENCE = 300
NODES = 60_000


class EdgesToo(nn.Module):
    """An output on edges, one on nodes that only structure decides about, and one on nodes."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, outputs), nn.Linear(outputs, outputs)

    def forward(self, x, edge_index):
        h = torch.relu(self.first(models.mean(x, edge_index)))
        degree = torch.zeros(x.size(0)).index_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        g = self.second(models.mean(h, edge_index))
        return {"nodes": g, "edges": (g[edge_index[0]] * h[edge_index[1]]).sum(1), "degree": degree}


def digests(folder):
    """Of all results, but for the report."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(Path(folder).iterdir()) if p.is_file() and p.name != "report.json"}


def start(words, out, index, count, *more):
    return engine_process.start([ENGINE, "run", *map(str, words), "-o", out, "--shard", f"{index}/{count}", *map(str, more)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def together(words, out, count, *more):
    """The reports of all shards, which run side by side."""
    processes = [start(words, out, i + 1, count, "--json", "--quiet", *more) for i in range(count)]
    said = [p.communicate(timeout=PATIENCE) for p in processes]
    for process, (_, error) in zip(processes, said):
        assert process.returncode == 0, error
    return [json.loads(text) for text, _ in said]


def records(out):
    """What all shards have noted: (stage, loop, first, count)."""
    found = []
    for file in (Path(out) / JOURNAL).glob("chunks-*"):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        for line in text.splitlines(keepends=True):
            if line.endswith(b"\n") and (item := json.loads(line[33:])).get("stage"):
                found.append((item["stage"], item["loop"], item["first"], item["count"]))
    return found


def computed_twice(found):
    twice = 0
    found = sorted(found)
    for (*loop, first, count), (*other, later, _) in zip(found, found[1:]):
        twice += loop == other and later < first + count
    return twice


class Reference:
    """What a run of one process with a journal gives, all files of it."""

    def __init__(self, name, words, folder, *more):
        self.name, self.bare = name, [*map(str, words), *more]
        self.words = [*self.bare, "--verify", "none"]
        out = Path(folder) / f"{name}-alone"
        began = time.monotonic()
        report = json.loads(checked(engine("run", *self.words, "-o", out, "--resume", "--json")).stdout)
        self.seconds = time.monotonic() - began
        self.expected = digests(out)
        self.names = names(out)
        self.destinations = sum(stage["destinations"] for stage in report["stages"])
        shutil.rmtree(out)


def checked(result):
    assert result.returncode == 0, result.stderr + result.stdout
    return result


def right(case, out):
    assert digests(out) == case.expected, f"{case.name}: other bits"
    assert names(out) == case.names, names(out)


def torture(case, out, draw, count, most=12):
    """A run in shards that are killed at random moments and begun again, until all come through. The number of kills."""
    running, kills, said = {}, 0, {}
    while len(said) < count:
        for i in range(1, count + 1):
            if i not in said and i not in running:
                running[i] = start(case.words, out, i, count, "--quiet")
        if kills < most:
            time.sleep(draw.uniform(0, case.seconds))
            victim = running[draw.choice(sorted(running))]
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            kills += victim.returncode == -signal.SIGKILL
            assert computed_twice(records(out)) == 0, f"{case.name}: something that was noted was computed again"
        else:
            next(iter(running.values())).wait(timeout=PATIENCE)
        for i, process in list(running.items()):
            if process.poll() is None:
                continue
            _, error = running.pop(i).communicate()
            assert process.returncode in (0, -signal.SIGKILL), error
            if process.returncode == 0:
                said[i] = True
    right(case, out)
    shutil.rmtree(out)
    return kills


class SharedCases(EngineTest):
    """Models with their graphs, and what one process makes of them, for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.shared = engine_process.own_folder(cls)
        cls.made = dict(cases(cls.shared, NODES, 8))
        cls.known = {}

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def case(self, name):
        if name not in self.known:
            self.known[name] = Reference(name, self.made[name], self.shared, "--threads", "1")
        return self.known[name]


class Shards(SharedCases):
    def waits(self, process, index):
        """Returns when the process of a shard has nothing left to do in its first stage."""
        done, settled, end = 0, b"", time.monotonic() + PATIENCE
        file = self.out / JOURNAL / f"chunks-{index}"
        while done <= 30:
            text = file.read_bytes() if file.exists() else b""
            waiting = text and text.splitlines()[-1][33:].startswith(b'{"settled"') and text == settled
            done, settled = done + 1 if waiting else 0, text
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def until_it_waits(self, case, index=1, count=2):
        """A shard that is killed when it has nothing left to do in its first stage."""
        process = start(case.words, self.out, index, count, "--quiet")
        self.waits(process, index)
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def test_shards_give_the_bits_of_one_process(self):
        for name in ("sage", "normed", "frontier", "batches"):
            with self.subTest(model=name):
                case = self.case(name)
                reports = together(case.words, self.out, 3)
                right(case, self.out)
                for report in reports:
                    self.valid("report", report)
                shards = [report["shard"] for report in reports]
                self.assertEqual([s["index"] for s in shards], [1, 2, 3])
                self.assertEqual(sum(s["complete"] for s in shards), 1)
                self.assertEqual(sum(s["computed"] for s in shards), case.destinations)
                self.assertTrue(all(s["computed"] > 0 for s in shards))
                last = next(r for r in reports if r["shard"]["complete"])
                self.assertEqual(sum(stage["destinations"] for stage in last["stages"]), case.destinations)
                self.assertEqual(last["resumed"], None)
                shutil.rmtree(self.out)

    def test_samples_and_outputs_of_all_kinds(self):
        made = [(name, [DIGITS / f"{name}.pt", "--data", DIGITS / "graph.safetensors"]) for name in ("gat", "jknet")]
        for module, name in ((models.Several(), "several"), (EdgesToo(6, 8), "edges"), (models.OwnLoops(), "loops")):
            words, _ = self.save(module, nodes=500, edges=4000, name=f"{name}.pt")
            data = self.folder / f"{name}.safetensors"
            shutil.move(words[2], data)
            made.append((name, [words[0], "--data", data, "--batch", "90"]))
        for name, words in made:
            with self.subTest(model=name):
                case = Reference(name, words, self.folder, "--threads", "1")
                together(case.words, self.out, 2)
                right(case, self.out)
                shutil.rmtree(self.out)

    def test_the_verification_sees_what_all_have_computed(self):
        case = self.case("normed")
        reports = together([*case.bare, "--verify", "full"], self.out, 2)
        self.assertEqual([r["verify"]["verdict"] for r in reports if r["verify"]], ["equal"])

    def test_random_kills(self):
        draw = random.Random(11)
        for name in ("sage", "normed"):
            until_it_hits(lambda: torture(self.case(name), self.out, draw, 2, most=sized(3, 6)))

    def test_others_go_on_with_another_number_of_shards(self):
        case = self.case("normed")
        self.until_it_waits(case, 2, 3)
        noted = len(records(self.out))
        self.assertGreater(noted, 0)
        together(case.words, self.out, 2)
        right(case, self.out)

    def test_damaged_rows_of_another_shard_are_computed_again(self):
        for name in ("sage", "normed"):
            case = self.case(name)
            self.until_it_waits(case)
            first = json.loads((self.out / JOURNAL / "chunks-1").read_bytes().splitlines()[0][33:])
            store = self.out / JOURNAL / f"{first['rows'][0]['value']}.npy.part"
            with open(store, "r+b") as file:
                file.seek(4096)
                byte = file.read(1)
                file.seek(4096)
                file.write(bytes([byte[0] ^ 1]))
            if name == "normed":
                for parts in (self.out / JOURNAL).glob("parts-*"):
                    parts.unlink()
            reports = together(case.words, self.out, 2)
            right(case, self.out)
            damaged = sum(r["resumed"]["damaged"] for r in reports if r["resumed"])
            again = any("were computed again" in note for r in reports for note in r["notes"])
            self.assertTrue(damaged or again)
            shutil.rmtree(self.out)

    def test_a_shard_that_waits_says_for_whom_and_how_long(self):
        case = self.case("sage")
        result = engine("run", *case.words, "-o", self.out, "--shard", "1/2", "--wait", "1")
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertIn("stage 1: waiting for shard 2 of 2 (not running): not finished within 1", result.stderr)
        together(case.words, self.out, 2)
        right(case, self.out)

    def test_a_shard_that_waits_ends_at_once(self):
        case = self.case("sage")
        process = start(case.words, self.out, 1, 2)
        self.waits(process, 1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=SOON)
        self.assertEqual(process.returncode, 130, error)
        self.assertIn(b"the same command continues from there", error)

    def test_what_is_in_the_way_is_refused(self):
        case = self.case("sage")
        self.until_it_waits(case)
        self.refused(3, "holds a run in shards that was not finished", "run", *case.words, "-o", self.out)
        self.refused(3, "holds a run in shards that was not finished", "run", *case.words, "-o", self.out, "--resume")
        self.refused(3, "something has changed: --batch (was auto, is 5000)", "run", *case.words, "-o", self.out,
                     "--shard", "1/2", "--batch", "5000")
        waiting = start(case.words, self.out, 1, 2, "--quiet")
        while not any(f"pid {waiting.pid} on" in file.read_text() for file in (self.out / JOURNAL).glob("lock*")):
            self.assertIsNone(waiting.poll())
            time.sleep(0.01)
        self.refused(3, "shard 1 of 2 is running already: pid", "run", *case.words, "-o", self.out, "--shard", "1/2")
        self.refused(3, "locked by 2 shards", "run", *case.words, "-o", self.out, "--shard", "1/3")
        self.refused(3, "locked by 2 shards", "run", *case.words, "-o", self.out)
        waiting.send_signal(signal.SIGKILL)
        waiting.communicate()
        self.refused(2, "is not I/N", "run", *case.words, "-o", self.out, "--shard", "3/2")

    def test_a_run_without_shards_keeps_its_folder(self):
        case = self.case("sage")
        interrupt_after(case.words, self.out, 1)
        self.refused(3, "holds a run that was not finished", "run", *case.words, "-o", self.out, "--shard", "1/2")

    def test_a_shard_that_comes_too_late_finds_the_results(self):
        case = self.case("sage")
        together(case.words, self.out, 2)
        late = json.loads(checked(engine("run", *case.words, "-o", self.out, "--shard", "2/2", "--json")).stdout)
        self.assertTrue(late["shard"]["complete"])
        right(case, self.out)

    def test_a_model_that_is_refused_leaves_nothing(self):
        words, _ = self.save(models.GlobalAttention())
        for process in [start(words, self.out, i, 2, "--quiet") for i in (1, 2)]:
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 4)
        self.assertFalse(self.out.exists())


def tally(options):
    torch.manual_seed(1)
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        made = [Reference(name, w, folder, "--threads", "1") for name, w in everything(folder, options.nodes)]
        kills = runs = 0
        while kills < options.kills:
            case = made[runs % len(made)]
            more = torture(case, folder / "out", draw, options.shards)
            kills, runs = kills + more, runs + 1
            print(f"{case.name}: {more} kills", flush=True)
        print(f"{kills} kills of shards in {runs} runs of {options.shards} shards: all hashes equal, nothing that was noted "
              f"computed again, nothing left behind", flush=True)


if __name__ == "__main__":
    main(tally, shards=3)
