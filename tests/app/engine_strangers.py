"""Hostile files (hostile_models.py), one after the other, through every command, `serve`, the Python package and the window, before
and after the user has agreed to them: nothing is written, connected or left behind, each is named in a sentence, and the
engine of `serve` goes on. HOPSCOPE_WINDOW names the window's program, if there is one; HOPSCOPE_TIER=full takes all files."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from safetensors.torch import save_file
import torch

import hostile_models as hostile
from engine_process import ENGINE
from patience import SOON
from serve_case import ROOT
from serve_client import Refused
from tiers import one_in
from watched_case import WatchedCase, marked

os.environ["OMP_NUM_THREADS"] = "1"
MOMENT = 1.5  # what does not end by itself is told to after this time
MOST = 1600  # MiB of a process: a GiB for forward, and LibTorch itself
FRONT = 1000  # MiB of the engine that talks to the client
COMMANDS = ("inspect", "plan", "run", "verify", "export")
CODES = (0, 3, 4, 6)
WINDOW = os.environ.get("HOPSCOPE_WINDOW", "")
CALLS = Path(__file__).with_name("hostile_calls.py")
NAMES = re.compile(r"\w+::\w+|forward|__\w+__|stranger\.pt")


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


class Strangers(WatchedCase):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "models/graph.safetensors"
        torch.manual_seed(1)
        save_file({"x": torch.randn(hostile.NODES, hostile.WIDTH),
                   "edge_index": torch.randint(0, hostile.NODES, (2, hostile.EDGES))}, str(self.data))
        self.before = None

    def each(self, count, check):
        """check(stranger, path) of those that this tier takes, and all that the checks look for behind it."""
        chosen = set(one_in(count, [one.name for one in hostile.strangers()]))
        for stranger in hostile.strangers():
            if stranger.name in chosen:
                path = self.folder / "models" / stranger.file_name
                stranger.make(str(path))
                self.before = self.files()
                with self.subTest(stranger=stranger.name):
                    check(stranger, path)
                path.unlink()
                self.empty()

    def files(self):
        """What is none of the engine's business."""
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns)
                for name in ("work", "models") for path in (self.folder / name).rglob("*")}

    def check_traces(self, where):
        self.assertEqual(self.files(), self.before, where)
        self.assertEqual(list(self.folder.rglob(f"*{hostile.MARK}*")), [], where)

    def check_gone(self, where):
        super().check_gone(where)
        self.check_traces(where)

    def ended(self, process, endless, where, seconds=SOON, number=signal.SIGTERM):
        """Its exit code, and what it has said."""
        if endless:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(MOMENT)
            process.send_signal(number)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.fail(f"{where} goes on")
        return code, self.said()

    def check_sentence(self, text, path, where):
        """One, which names the file or what is in it, and does nothing to a terminal."""
        self.assertTrue(all(c.isprintable() for c in text.replace("\n", "")), f"{where}: {text[:500]!r}")
        self.assertLess(len(text), 4000, where)
        self.assertNotRegex(text, "bug in|Traceback|terminate called|please report", where)
        name = "".join(c if c.isprintable() else " " for c in path.name)
        self.assertTrue(NAMES.search(text) or name in text, f"{where}: {text!r}")

    def check_refusal(self, code, said, path, where, codes):
        self.assertIn(code, codes, f"{where}: {said[:500]}")
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), int(code not in (0, 130)), f"{where}: {said[:2000]}")
        for sentence in errors:
            self.check_sentence(sentence, path, where)

    def command(self, command, stranger, path, agreed):
        where = f"{stranger.name}: {command}{'' if agreed else ', not agreed'}"
        words = [ENGINE, command, f"{path.parent}/{path.name}", "--data", self.data]
        if command in ("run", "export"):
            words += ["-o", self.folder / "out/here", *(("--verify", "full") if command == "run" else ())]
        endless = agreed and command in stranger.endless
        process = self.start(words, HOPSCOPE_TRUST="/" if agreed else "")
        code, said = self.ended(process, endless, where)
        self.assertLess(process.kibibytes, MOST << 10, where)
        self.check_refusal(code, said, path, where, (130,) if code == 130 and endless else CODES if agreed else (*CODES, 8))
        self.assertEqual((self.folder / "out/here").exists(), code == 0 and command in ("run", "export"), where)
        self.check_gone(where)
        self.empty()

    def commands(self, stranger, path):
        every = [(stranger.name, command, True) for command in COMMANDS] + [(stranger.name, "inspect", False), (stranger.name, "run", False)]
        for _, command, agreed in one_in(2, every):
            self.command(command, stranger, path, agreed)

    def test_commands(self):
        self.each(16, self.commands)

    # serve -------------------------------------------------------------------------------------------------------------------
    def asked(self, client, method, endless, path, where, **parameters):
        """The answer of a request, or nothing where it is refused in words. What does not end by itself is cancelled."""
        number = client.ask(method, **parameters)
        with contextlib.suppress(Refused):
            return self.answered(client, number, endless, where)
        error = client.answers[number][0]["error"]
        self.assertIn(error["code"], (-32003, -32004, -32006, -32800 if endless else -32004), f"{where}: {error}")
        if error["code"] != -32800:
            self.check_sentence(f"{error['data']['where']}: {error['message']}", path, where)
        return None

    def answered(self, client, number, endless, where):
        if endless:
            time.sleep(MOMENT)
            client.tell("$/cancelRequest", id=number)
        end = time.monotonic() + SOON
        try:
            return client.answer(number, SOON)
        finally:
            self.assertLess(time.monotonic(), end, where)

    def run_of(self, client, document, plan, endless, path, where):
        run = self.asked(client, "run/start", False, path, where, document=document, plan=plan, device="cpu", memory=None, batch=None,
                         output=str(self.folder / "out/here"), verify="full", nan="propagate", paused=False)
        if not run:
            return
        if endless:
            time.sleep(MOMENT)
            with contextlib.suppress(Refused):  # it has ended by itself
                client.call("run/cancel", run=run["run"])
        limit = time.monotonic() + SOON
        end = client.finished(run["run"], SOON)
        self.assertLess(time.monotonic(), limit, where)
        if end.get("error") and not endless:
            self.check_sentence(end["error"]["message"], path, where)

    def conversation(self, client, stranger, path, trusted):
        """The requests of the window and the package to the engine."""
        files = {"model": str(path), "data": [str(self.data)], "roles": []}
        name = f"{stranger.name}: serve{'' if trusted else ', not agreed'}"
        opened = self.asked(client, "model/open", trusted and "inspect" in stranger.endless, path, name, **files, trusted=trusted,
                            writes=[str(self.folder / "out/here")])
        if not opened:
            return
        document = opened["document"]
        if trusted and opened["inspect"]["splittable"]:
            planned = self.asked(client, "plan/make", False, path, name, document=document, strategy="depth", pins=[], device="cpu",
                                 memory=None, batch=None, objective=None)
            if planned:
                self.run_of(client, document, planned["plan"], "run" in stranger.endless, path, f"{name}: run")
                self.asked(client, "export/write", "export" in stranger.endless, path, f"{name}: export", **files, plan=planned["plan"],
                           device="cpu", memory=None, batch=None, folder=str(self.folder / "out/exported"), trusted=True)
        self.assertIsNone(client.call("model/close", document=document))

    def check_front(self, client, where):
        """It is the same process, small, and has no connections; nor has any other of it."""
        pid = client.process.pid
        self.assertIsNone(client.process.poll(), where)
        most = re.search(r"^VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        self.assertLess(int(most[1]), FRONT << 10, where)
        self.assertEqual([end for process in marked() for end in connected(process)], [], where)
        self.check_traces(where)

    def conversations(self, client, stranger, path):
        for trusted in (False, True):
            self.conversation(client, stranger, path, trusted)
            self.check_front(client, f"{stranger.name}: serve")

    def test_serve_goes_on(self):
        self.environment["HOPSCOPE_TRUST"] = ""
        client = self.served()
        pid = client.greeting["process_id"]
        self.each(16, lambda stranger, path: self.conversations(client, stranger, path))
        self.assertEqual(pid, client.process.pid)
        harmless = self.folder / "models/harmless.pt"
        hostile.written("h = h.relu()").save(str(harmless))
        opened = client.call("model/open", model=str(harmless), data=[str(self.data)], roles=[], trusted=True)
        self.assertIn("plan", self.plan(client, opened["document"]))
        self.assertEqual(client.leave(), 0)
        self.before = self.files()
        self.check_gone("after goodbye")

    # the Python package and the window -----------------------------------------------------------------------------------------
    def calls(self, stranger, path):
        process = self.start([sys.executable, "-B", "-W", "ignore", CALLS, path, self.data, self.folder / "out/here"])
        code, said = self.ended(process, bool(stranger.endless), stranger.name, 5 * SOON, signal.SIGINT)
        self.assertIn(code, (0, -signal.SIGINT) if stranger.endless else (0,), f"{stranger.name}: {said}")
        for line in (self.folder / "own/printed").read_text().splitlines():
            call, code, sentence, seconds = json.loads(line)
            where = f"{stranger.name}: hopscope.{call}"
            self.assertIn(code, CODES, f"{where}: {sentence}")
            self.assertLess(seconds, SOON, where)
            if code:
                self.check_sentence(sentence, path, where)
        self.check_gone(f"{stranger.name}: Python")

    def test_the_python_package(self):
        self.environment["PYTHONPATH"] = str(ROOT / "packaging/python/src")
        self.each(60, self.calls)

    def window(self, stranger, path):
        where = f"{stranger.name}: window"
        process = self.start([WINDOW, f"{path.parent}/{path.name}", "--data", self.data, "--run", "--screenshot",
                              self.folder / "out/picture.png"])
        code, said = self.ended(process, bool(stranger.endless), where)
        stopped = (-signal.SIGTERM, 128 + signal.SIGTERM) if stranger.endless else ()  # before it handles signals, and after
        self.assertIn(code, (0, 3, 4, *stopped), f"{where}: {said}")
        told = [line.removeprefix("hopscope: ") for line in said.splitlines() if line.startswith("hopscope: ")]
        for sentence in told:
            self.check_sentence(sentence, path, where)
        self.assertEqual(len(told), int(code in (3, 4)), f"{where}: {said}")
        self.check_gone(where)

    @unittest.skipUnless(WINDOW, "the window is not built")
    def test_the_window(self):
        self.each(40, self.window)


if __name__ == "__main__":
    unittest.main()
