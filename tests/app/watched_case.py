"""Shared by the tests of hostile files and of sudden ends: commands that carry a mark, which all of their processes inherit, in folders of
their own, and what must not be left of them."""
import contextlib
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

import engine_process
from patience import SOON
from serve_case import ServeTest
from serve_client import Client

MARK = ("HOPSCOPE_MARK", str(uuid.uuid4()))
os.environ.update([MARK])  # forks inherit it from the process that they are forks of


def marked():
    """The processes that have inherited the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and "=".join(MARK).encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return [pid for pid in found if pid != engine_process.forking()]


class WatchedCase(ServeTest):
    """`work` is where commands are started and at home, `own` for the settings of programs, `out` for outputs, `models` for files."""

    def setUp(self):
        super().setUp()
        for name in ("work", "own", "out", "models"):
            (self.folder / name).mkdir(mode=0o700)
        own = {f"XDG_{kind}": str(self.folder / "own") for kind in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR")}
        self.environment = {**os.environ, **own, "HOME": str(self.folder / "work"), "TMPDIR": str(self.folder / "tmp"),
                            "QT_QPA_PLATFORM": "offscreen"}

    def start(self, words, **more):
        """A process; what it says lies in own/said and own/printed."""
        with open(self.folder / "own/said", "wb") as said, open(self.folder / "own/printed", "wb") as printed:
            return engine_process.start(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                        start_new_session=True, cwd=self.folder / "work", env={**self.environment, **more})

    def said(self):
        return (self.folder / "own/said").read_text()

    def served(self):
        client = Client(env=self.environment, start_new_session=True)
        self.addCleanup(client.stop)
        return client

    def check_gone(self, where):
        """No process is left, and nothing in the folder for temporary files."""
        end = time.monotonic() + SOON
        while left := marked():
            self.assertLess(time.monotonic(), end, f"{where}: processes {left} are left")
            time.sleep(0.02)
        self.assertEqual(self.leavings(), [], where)

    def empty(self):
        """The folder for outputs."""
        for path in (self.folder / "out").iterdir():
            subprocess.run(["rm", "-r", "-f", path], check=True)

    def tidy(self):
        """Leftovers of a failed check are removed as well."""
        for left in marked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        for path in (self.folder / "tmp").iterdir():
            subprocess.run(["rm", "-r", "-f", path], check=True)
        self.empty()
