"""Runs with a journal: killed at any moment, they go on with the same bits; under other conditions they do not. HOPSCOPE_ENGINE
names the program, HOPSCOPE_ROOT the repository.

    engine_resume.py --kills 200 [--group-kills 20] [--nodes 1000000] [--seed 1]

kills runs so often, over samples and generated graphs, instead of testing, and prints what came out.
"""
import argparse
import ctypes
import ctypes.util
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import engine_models as models
import engine_process
from engine_commands import ENGINE, ROOT, EngineTest, engine, names
from patience import until_it_hits
from tiers import sized

WIDTH = 64
engine_process.journals_of_forks()
JOURNAL = ".hopscope-journal"
DIGITS = ROOT / "samples/digits"


class Normed(nn.Module):
    """Two passes over all nodes between the layers: reductions that a resumed run has to continue."""

    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)

    def forward(self, x, edge_index):
        h = torch.relu(self.first(models.mean(x, edge_index)))
        h = (h - h.mean(0, keepdim=True)) / (h.var(0, keepdim=True) + 1e-5).sqrt()
        return self.second(models.mean(h, edge_index))


class Frontier(nn.Module):
    """Numbers along the edges of all nodes, which an operator without a fused kernel reduces: batches with a frontier."""

    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)

    def forward(self, x, edge_index):
        h = torch.relu(self.first(x))
        h = torch.tanh(models.mean(torch.cumsum(h, 1), edge_index))
        return self.second(models.mean(torch.softmax(h, 1), edge_index))


def generated(nodes, degree, seed=3, width=WIDTH):
    draw = numpy.random.default_rng(seed)
    return {"x": draw.standard_normal((nodes, width), dtype=numpy.float32),
            "edge_index": draw.integers(0, nodes, (2, nodes * degree))}


def digest(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(Path(folder).glob("out*"))}


def lines(folder):
    try:
        return (Path(folder) / JOURNAL / "chunks").read_bytes().splitlines(keepends=True)
    except OSError:
        return []


class Xxh3(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3(text):
    """The digest that stands before a record."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Xxh3, [ctypes.c_char_p, ctypes.c_size_t]
    found = library.XXH3_128bits(text, len(text))
    return b"%016x%016x" % (found.high, found.low)


def start(words):
    return engine_process.start([ENGINE, "run", *map(str, words), "--resume", "--quiet"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)


def limit_files(process, most):
    """Files of the process and its children may have so many bytes from now on, as on a full disk."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (process.pid, *map(int, children)):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def interrupt_after(words, out, chunks, number=signal.SIGKILL):
    """Sends a signal to a run as soon as so many chunks are noted. Returns its exit code and messages."""
    def attempt():
        process = start([*words, "-o", out])
        while process.poll() is None and len(lines(out)) < chunks:
            time.sleep(0.001)
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        if process.returncode and len(lines(out)) >= chunks:
            return process.returncode, error
        assert (out / "report.json").exists(), error
        return shutil.rmtree(out)

    return until_it_hits(attempt)


def go_on(words, out, *more):
    result = engine("run", *words, "-o", out, "--resume", "--json", *more)
    if result.returncode:
        raise AssertionError(result.stderr + result.stdout)
    return json.loads(result.stdout)


class Case:
    """A model with its data, and what an undisturbed run gives."""

    def __init__(self, name, words, folder):
        self.name, self.words = name, [*words, "--verify", "none"]
        out = Path(folder) / f"{name}-whole"
        began = time.monotonic()
        report = go_on(self.words, out)
        self.seconds = time.monotonic() - began
        assert report["resumed"] is None and names(out) == ["out.npy", "report.json"]
        self.expected = digest(out)
        self.destinations = sum(stage["destinations"] for stage in report["stages"])
        shutil.rmtree(out)


def torture(case, out, draw, group=False):
    """One run, killed at a random moment again and again until it comes through. The number of kills, chunks taken over."""
    kills = 0
    while True:
        process = start([*case.words, "-o", out])
        patience = draw.uniform(0, case.seconds * 1.1) if kills < sized(4, 12) else None
        try:
            _, error = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, error
    report = json.loads((out / "report.json").read_text())
    resumed = report["resumed"] or {"chunks": 0, "damaged": 0}
    assert resumed["damaged"] == 0, f"{case.name}: {resumed}"
    assert digest(out) == case.expected, f"{case.name}: other bits after {kills} kills"
    assert names(out) == ["out.npy", "report.json"], names(out)
    assert sum(stage["destinations"] for stage in report["stages"]) == case.destinations
    shutil.rmtree(out)
    return kills, resumed["chunks"]


def cases(folder, nodes, degree):
    graph = generated(nodes, degree)
    small = models.graph(50, 200, WIDTH)
    folder = Path(folder)
    save_file(graph, str(folder / "graph.safetensors"))
    made = []
    for name, module in (("sage", models.Sage(WIDTH, 96, 32, 3)), ("normed", Normed(WIDTH, 96, 32)),
                         ("frontier", Frontier(WIDTH, 96, 32))):
        models.save(module, small, folder / f"{name}.pt")
        made.append((name, [folder / f"{name}.pt", "--data", folder / "graph.safetensors"]))
    made.append(("batches", [*made[-1][1], "--memory", "256Mi"]))  # loops without tiles in several batches
    return made


class Resume(EngineTest):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.shared = engine_process.own_folder(cls)
        cls.made = dict(cases(cls.shared, 60_000, 8))
        cls.known = {}

    def case(self, name):
        if name not in self.known:
            self.known[name] = Case(name, self.made[name], self.shared)
        return self.known[name]

    def killed(self, name, chunks):
        case, out = self.case(name), self.folder / "out"
        code, error = interrupt_after(case.words, out, chunks)
        self.assertEqual(code, -signal.SIGKILL, error)
        return case, out

    def finished(self, case, out):
        self.assertEqual(digest(out), case.expected)
        self.assertEqual(names(out), ["out.npy", "report.json"])

    def test_a_killed_run_goes_on_with_the_same_bits(self):
        for name, chunks in (("sage", 5), ("sage", 60), ("normed", 3), ("normed", 12), ("frontier", 1), ("batches", 5)):
            with self.subTest(model=name, chunks=chunks):
                case, out = self.killed(name, chunks)
                noted = len(lines(out))
                report = go_on(case.words, out)
                self.valid("report", report)
                self.finished(case, out)
                self.assertEqual(report["resumed"]["chunks"], noted)
                self.assertEqual(report["resumed"]["damaged"], 0)
                self.assertEqual(sum(s["destinations"] for s in report["stages"]), case.destinations)
                self.assertTrue(any(note.startswith("resumed: ") for note in report["notes"]))
                shutil.rmtree(out)

    def test_a_killed_run_goes_on_with_less_memory(self):
        """As after the kernel has killed it for want of memory: SIGKILL, and a smaller limit."""
        case, out = self.killed("batches", 5)
        less = [{"256Mi": "64Mi"}.get(word, word) for word in case.words]
        self.assertNotEqual(less, case.words)
        report = go_on(less, out, "--host-memory", "1Gi")
        self.assertGreaterEqual(report["resumed"]["chunks"], 5)
        self.finished(case, out)

    def test_random_kills(self):
        draw = random.Random(7)
        for name in ("sage", "normed"):
            torture(self.case(name), self.folder / "out", draw)
        sample = Case("digits", [DIGITS / "gat.pt", "--data", DIGITS / "graph.safetensors"], self.folder)
        torture(sample, self.folder / "out", draw)

    def test_tiles_give_the_bits_of_a_run_without_a_journal(self):
        case = self.case("sage")
        self.done("run", *case.words, "-o", self.folder / "out", "--threads", "1")
        self.assertEqual(digest(self.folder / "out"), case.expected)

    def test_the_journal_says_what_it_needs(self):
        _, out = self.killed("normed", 10)
        document = json.loads((out / JOURNAL / "run.json").read_text())
        self.valid("journal", document)
        self.assertEqual({cut["stage"] for cut in document["cuts"]}, set(range(1, len(document["cuts"]) + 1)))

    def test_damaged_rows_are_computed_again(self):
        case, out = self.killed("sage", 40)
        last = json.loads(lines(out)[-1][33:])  # the first chunk of its stage is noted, too
        store = out / JOURNAL / f"{last['rows'][0]['value']}.npy.part"
        with open(store if store.exists() else out / JOURNAL / "out.npy.part", "r+b") as file:
            file.seek(4096)
            byte = file.read(1)
            file.seek(4096)
            file.write(bytes([byte[0] ^ 1]))
        report = go_on(case.words, out)
        self.assertEqual(report["resumed"]["damaged"], 1)
        self.finished(case, out)

    def test_records_of_rows_that_no_table_has_are_computed_again(self):
        """With the right digest, as nobody but a forger writes them."""
        far = 2 ** 63 - 1
        case, out = self.killed("sage", 10)
        records = lines(out)
        for number, changed in enumerate(({"first": 400_000}, {"count": 400_000}, {"first": far}, {"count": far}, {"tile": far},
                                          {"first": far, "count": far})):
            copy = self.folder / f"forged{number}"
            shutil.copytree(out, copy)
            text = json.dumps(json.loads(records[-1][33:]) | changed).encode()
            (copy / JOURNAL / "chunks").write_bytes(b"".join(records) + xxh3(text) + b" " + text + b"\n")
            with self.subTest(changed=changed):
                go_on(case.words, copy)
                self.finished(case, copy)

    def test_rows_that_are_gone_are_computed_again(self):
        for name, chunks in (("sage", 60), ("normed", 12)):
            case, out = self.killed(name, chunks)
            for store in (out / JOURNAL).glob("*.part"):
                store.unlink()
            go_on(case.words, out)
            self.finished(case, out)
            shutil.rmtree(out)

    def test_a_torn_record_and_a_damaged_one_are_dropped(self):
        case, out = self.killed("normed", 10)
        records = lines(out)
        records[5] = records[5].replace(b'"count"', b'"tnuoc"')
        (out / JOURNAL / "chunks").write_bytes(b"".join(records) + records[3][:50])
        report = go_on(case.words, out)
        self.assertLess(report["resumed"]["chunks"], len(records))
        self.finished(case, out)

    def test_other_conditions_are_refused_by_name(self):
        case, out = self.killed("sage", 20)
        model, _, data, *rest = case.words
        other = self.folder / "other.pt"
        models.save(models.Sage(WIDTH, 96, 32, 3), models.graph(50, 200, WIDTH), other)
        moved = self.folder / "moved.safetensors"
        tensors = load_file(str(data))
        tensors["x"][5, 3] += 1
        save_file(tensors, str(moved))
        for says, words in (("the model file", [other, "--data", data, *rest]),
                            ("the data", [model, "--data", moved, *rest]),
                            ("--batch (was auto, is 5000)", [*case.words, "--batch", "5000"]),
                            ("--strategy (was optimal, is depth)", [*case.words, "--strategy", "depth"]),
                            ("--store (was exact, is bfloat16)", [*case.words, "--store", "bfloat16"]),
                            ("--fuse", [*case.words, "--fuse", "none"])):
            with self.subTest(says=says):
                result = engine("run", *words, "-o", out, "--resume")
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("something has changed: " + says, result.stderr)
        self.refused(3, "holds a run that was not finished", "run", *case.words, "-o", out)
        go_on(case.words, out)
        self.finished(case, out)

    def test_a_cancelled_run_keeps_what_is_finished(self):
        case, out = self.case("sage"), self.folder / "out"
        _, error = interrupt_after(case.words, out, 20, signal.SIGINT)
        self.assertIn(b"--resume continues from there", error)
        self.assertGreaterEqual(go_on(case.words, out)["resumed"]["chunks"], 20)
        self.finished(case, out)

    def test_a_full_disk_stops_the_run_which_goes_on_later(self):
        words, _ = self.save(models.Sage(6, 32, 96, 2), nodes=60_000, edges=400_000)
        case, out = Case("widening", words, self.folder), self.folder / "out"

        process = start([*case.words, "-o", out])
        limit_files(process, 12_000_000)  # between the bytes of the first stage's store and those of the output
        _, error = process.communicate()
        self.assertEqual(process.returncode, 6, error)
        self.assertIn(b"File too large", error)
        noted = len(lines(out))
        self.assertGreater(noted, 0)
        self.assertEqual(go_on(case.words, out)["resumed"]["chunks"], noted)
        self.finished(case, out)

    def test_a_run_without_chunks_leaves_nothing(self):
        out = self.folder / "out"
        result = engine("run", *self.made["sage"], "-o", out, "--resume", "--role", "x=sheep")
        self.assertNotEqual(result.returncode, 0)
        self.assertFalse(out.exists())


def everything(folder, nodes):
    """The cases, and samples: names and words."""
    words = cases(folder, nodes, 10)
    words += [(f"digits-{m}", [DIGITS / f"{m}.pt", "--data", DIGITS / "graph.safetensors"])
              for m in ("sage", "gcn", "gat")]
    words.append(("karate", [ROOT / "samples/karate/gcn.pt", "--data", ROOT / "samples/karate/graph.safetensors"]))
    return words


def tally(options):
    torch.manual_seed(1)
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        made = [Case(name, w, folder) for name, w in everything(folder, options.nodes)]
        for group, wanted in ((False, options.kills), (True, options.group_kills)):
            kills = runs = chunks = 0
            while kills < wanted:
                case = made[runs % len(made)]
                more, taken = torture(case, folder / "out", draw, group)
                kills, runs, chunks = kills + more, runs + 1, chunks + taken
                print(f"{'group ' if group else ''}{case.name}: {more} kills, {taken} chunks taken over", flush=True)
            print(f"{kills} kills{' of process groups' if group else ''} in {runs} runs: all hashes equal, {chunks} chunks "
                  f"taken over, none damaged, nothing left behind", flush=True)


def main(tally, **options):
    """The tests, or with --kills the tally; `options`: further ones that it takes, with their defaults."""
    if not any(word.startswith("--kills") for word in sys.argv):
        unittest.main()
    parser = argparse.ArgumentParser()
    for name, default in {"kills": 200, **options, "nodes": 1_000_000, "seed": 1}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=default)
    tally(parser.parse_args())


if __name__ == "__main__":
    main(tally, group_kills=20)
