"""Hostile files (hostile_models.py), one after the other, through every command, `serve`, the Python package and the window, before
and after the user has agreed to them: nothing is written, connected or left behind, each is named in a sentence, and the
engine of `serve` goes on. HOPSCOPE_WINDOW names the window's program, if there is one; HOPSCOPE_TIER=full takes all files."""
import contextlib
import os
import re
import resource
import signal
import subprocess
import time
import unittest
import uuid
from pathlib import Path

from safetensors.torch import save_file
import torch

import hostile_models as hostile
from engine_process import ENGINE, always_the_program
from serve_case import ROOT, ServeTest
from serve_client import Client, Refused
from tiers import one_in

always_the_program()
SOON = 5.0  # seconds for each, on a machine of its own
SLACK = 3  # on a busy one
MOMENT = 1.5  # what does not end by itself is told to after this time
MOST = 1600  # MiB of a process: a GiB for forward, and LibTorch itself
FRONT = 1000  # MiB of the engine that talks to the client
COMMANDS = ("inspect", "plan", "run", "verify", "export")
CODES = (0, 3, 4, 6)
WINDOW = os.environ.get("HOPSCOPE_WINDOW", "")
CALLS = Path(__file__).with_name("hostile_calls.py")
NAMES = re.compile(r"\w+::\w+|forward|__\w+__|stranger\.pt")


def marked(mark):
    """The processes that have inherited the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def connected(pid):
    """Sockets of a process that lead out of it to others: all but pairs without a name."""
    tables = ("tcp", "tcp6", "udp", "udp6", "udplite", "raw", "packet", "netlink")
    known = set()
    for table in tables:
        with contextlib.suppress(OSError):
            known.update(re.findall(r"\b\d{4,}\b", Path(f"/proc/{pid}/net/{table}").read_text()))
    with contextlib.suppress(OSError):
        ends = [os.readlink(end) for end in Path(f"/proc/{pid}/fd").iterdir()]
        return [end for end in ends if end.startswith("socket:[") and end[8:-1] in known]
    return []


class Strangers(ServeTest):
    def setUp(self):
        super().setUp()
        for name in ("work", "own", "out", "models"):
            (self.folder / name).mkdir()
        self.mark = f"HOPSCOPE_MARK={uuid.uuid4()}"
        self.data = self.folder / "models/graph.safetensors"
        torch.manual_seed(1)
        save_file({"x": torch.randn(hostile.NODES, hostile.WIDTH),
                   "edge_index": torch.randint(0, hostile.NODES, (2, hostile.EDGES))}, str(self.data))
        own = {f"XDG_{name}_HOME": str(self.folder / "own") for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.environment = {**os.environ, **own, "HOME": str(self.folder / "work"), "TMPDIR": str(self.folder / "tmp"),
                            "XDG_RUNTIME_DIR": str(self.folder / "own"), "QT_QPA_PLATFORM": "offscreen",
                            "OMP_NUM_THREADS": "1", **dict([self.mark.split("=")])}
        self.before = None

    def each(self, count):
        """(stranger, path) of those that this tier takes; whatever it does is looked for behind it."""
        chosen = set(one_in(count, [one.name for one in hostile.strangers()]))
        for stranger in hostile.strangers():
            if stranger.name not in chosen:
                continue
            path = self.folder / "models" / stranger.file_name
            stranger.make(str(path))
            self.before = self.files()
            with self.subTest(stranger=stranger.name):
                yield stranger, path
            path.unlink()

    def files(self):
        """What is none of the engine's business."""
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns)
                for name in ("work", "models") for path in (self.folder / name).rglob("*")}

    def check_traces(self, where):
        self.assertEqual(self.files(), self.before, where)
        self.assertEqual(list(self.folder.rglob(f"*{hostile.MARK}*")), [], where)

    def check_gone(self, where, seconds=2.0):
        """And nothing is left of it."""
        ends = time.monotonic() + seconds * SLACK
        while left := marked(self.mark):
            self.assertLess(time.monotonic(), ends, f"{where}: processes {left} are left")
            time.sleep(0.02)
        self.assertEqual(self.leavings(), [], where)
        self.check_traces(where)

    def start(self, words, agreed=True):
        environment = {**self.environment, "HOPSCOPE_TRUST": "/" if agreed else ""}
        with open(self.folder / "own/said", "wb") as said:
            return subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                    start_new_session=True, cwd=self.folder / "work", env=environment)

    def ended(self, process, endless, where):
        """Its exit code, and what it has said."""
        began = time.monotonic()
        if endless:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(MOMENT)
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        took = time.monotonic() - began
        self.assertLess(took, SLACK * (1 if endless else SOON), where)
        return code, (self.folder / "own/said").read_text(errors="strict")

    def check_sentence(self, text, path, where):
        """One, which names the file or what is in it, and does nothing to a terminal."""
        self.assertTrue(all(c.isprintable() for c in text.replace("\n", "")), f"{where}: {text[:500]!r}")
        self.assertLess(len(text), 4000, where)
        self.assertNotRegex(text, "bug in|Traceback|terminate called|please report", where)
        self.assertTrue(NAMES.search(text) or path.name in text, f"{where}: {text!r}")

    def check_refusal(self, code, said, path, where, codes):
        self.assertIn(code, codes, f"{where}: {said[:500]}")
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), int(code != 0), f"{where}: {said[:2000]}")
        for sentence in errors:
            self.check_sentence(sentence, path, where)

    def command(self, command, stranger, path, agreed):
        where = f"{stranger.name}: {command}{'' if agreed else ', not agreed'}"
        words = [ENGINE, command, f"{path.parent}/{path.name}", "--data", self.data]
        if command in ("run", "export"):
            words += ["-o", self.folder / "out/here", *(("--verify", "full") if command == "run" else ())]
        endless = agreed and command in stranger.endless
        code, said = self.ended(self.start(words, agreed), endless, where)
        self.check_refusal(code, said, path, where, (130,) if code == 130 and endless else CODES if agreed else (*CODES, 8))
        self.assertEqual((self.folder / "out/here").exists(), code == 0 and command in ("run", "export"), where)
        subprocess.run(["rm", "-r", "-f", self.folder / "out/here"], check=True)
        self.check_gone(where)

    def test_commands(self):
        for stranger, path in self.each(6):
            for command in COMMANDS:
                self.command(command, stranger, path, True)
            for command in ("inspect", "run"):
                self.command(command, stranger, path, False)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, MOST << 10)


if __name__ == "__main__":
    unittest.main()
