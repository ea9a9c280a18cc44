"""`hopscope-scale serve`: an engine for the window whose runs are distributed across workers. Everything else passes to
a `hopscope-engine serve` on this machine and back, frame by frame, unchanged."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from ._frames import Frame, Sink, framed, frames
from ._process import kill, start
from ._serve_home import Home
from ._served_run import ServedRun, Workers
from .errors import HopscopeError, UsageError, document_of

_INVALID, _FAILED = -32602, -32000
_PATIENCE = 20.0  # seconds for the engine to remove its files

Message = dict[str, Any]


def serve(workers: Workers) -> int:
    """Serves until the client or the engine ends, and returns the exit code."""
    if workers.local and not workers.count:
        raise UsageError("the address 'local' needs a number of workers", "set it with --workers")
    source, target = _connection()
    home = Home(workers.folder or tempfile.gettempdir())
    try:
        return _Serving(workers, home, source, target).run()
    finally:
        home.close()


def _connection() -> tuple[int, int]:
    """The former standard input and output. From now on, output of this process goes to standard error."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, target


class _Serving:
    def __init__(self, workers: Workers, home: Home, source: int, target: int) -> None:
        self._workers, self._home, self._source = workers, home, source
        self._client = Sink(target)
        self._process = start(["serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._engine, self._said = Sink(self._process.stdin.fileno()), self._process.stdout.fileno()
        self._greeted = False
        self._asked: dict[Any, tuple[str, Message]] = {}  # requests under way whose answers matter here
        self._documents: dict[Any, Message] = {}  # by number: what model/open was asked for
        self._run: ServedRun | None = None
        self._runs = 0
        self._over, self._ending = threading.Event(), False
        self._beginning = threading.Lock()  # no run begins once the end has come
        self._own: dict[str, Callable[[Message], bool]] = {
            "model/close": self._close_model,
            "run/start": self._start_run,
            **dict.fromkeys(("run/pause", "run/resume", "run/step", "run/breakpoints", "run/cancel"), self._control),
        }

    def run(self) -> int:
        readers = [
            threading.Thread(target=self._read, args=words, daemon=True)
            for words in ((self._source, self._client_said), (self._said, self._engine_said))
        ]
        try:
            for reader in readers:
                reader.start()
            self._over.wait()
        finally:
            self._end()
        readers[1].join(1)
        return self._exit_code()

    def _read(self, source: int, said: Callable[[Frame], None]) -> None:
        try:
            for frame in frames(source):
                said(frame)
        finally:
            self._over.set()

    def _end(self) -> None:
        """Closes the input of the engine, which then ends, as the workers do."""
        assert self._process.stdin is not None
        with self._beginning:
            self._ending, run = True, self._run
        if run is not None:
            run.cancel()
        self._engine.close()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if run is not None:
            run.end()
        try:
            self._process.wait(_PATIENCE)
        except BaseException:
            kill(self._process)
            raise

    def _exit_code(self) -> int:
        code = self._process.returncode
        if code < 0:
            print(f"error: the engine was killed (signal {-code})", file=sys.stderr)
            return 7
        return code

    # ---- what passes

    def _client_said(self, frame: Frame) -> None:
        message = frame.message()
        method = str(message.get("method"))
        params = message.get("params")
        request = type(message.get("id")) is int and isinstance(params, dict)
        if request and self._greeted and method in self._own and self._own[method](message):
            return
        if request and method in ("initialize", "model/open"):
            self._asked[message["id"]] = method, message["params"]
        self._engine.send(frame.raw)

    def _engine_said(self, frame: Frame) -> None:
        message = frame.message() if self._asked else {}
        method, params = self._asked.pop(message.get("id"), ("", {})) if "method" not in message else ("", {})
        result = message.get("result")
        if method == "model/open" and isinstance(result, dict):
            self._documents[result["document"]] = params
        if method == "initialize" and isinstance(result, dict):
            self._greeted = True
            return self._client.send(framed({"id": message["id"], "result": self._greeting(result)}))
        return self._client.send(frame.raw)

    def _greeting(self, result: Message) -> Message:
        """Adapts the engine's greeting: workers compute on CPUs, and their runs cannot be paused."""
        devices = [device for device in result["devices"] if device["id"] == "cpu"]
        workers = {"address": self._workers.address, "count": self._workers.count or None}
        return {**result, "devices": devices, "missing": [], "workers": workers, "pauses": False}

    # ---- requests that are answered here; each returns whether it was

    def _answer(self, message: Message, result: Any = None) -> bool:
        self._client.send(framed({"id": message["id"], "result": result}))
        return True

    def _refuse(self, message: Message, problem: HopscopeError, code: int | None = None) -> bool:
        data = document_of(problem)
        error = {"code": code or _FAILED - problem.exit_code, "message": problem.message, "data": data}
        self._client.send(framed({"id": message["id"], "error": error}))
        return True

    def _invalid(self, message: Message, sentence: str) -> bool:
        return self._refuse(
            message, UsageError(sentence, "docs/reference/protocol.md describes the requests"), _INVALID
        )

    def _close_model(self, message: Message) -> bool:
        document = message["params"].get("document")
        run = self._run
        if run is not None and run.document == document:
            if not run.finished:
                return self._invalid(message, "the model is running; cancel the run first")
            self._forget()
        self._documents.pop(document, None)
        return False

    def _forget(self) -> None:
        if self._run is not None:
            self._run.end()
        self._run = None

    def _start_run(self, message: Message) -> bool:
        asked = message["params"]
        document = asked.get("document")
        opened = self._documents.get(document) if isinstance(document, int) else None
        if opened is None or not opened.get("data"):
            return False  # the engine explains the error
        if not isinstance(asked.get("plan"), dict):
            return self._invalid(message, "params: field /plan must be a plan")
        if not isinstance(asked.get("output") or "", str):
            return self._invalid(message, "params: field /output must be a string")
        if self._run is not None and not self._run.finished:
            return self._invalid(message, "another run is in progress")
        self._forget()
        self._runs += 1
        try:
            made = ServedRun(self._runs, opened, asked, self._workers, self._home.path)
        except HopscopeError as problem:
            return self._refuse(message, problem)
        self._answer(message, {"run": made.number, "folder": made.folder})
        with self._beginning:
            if not self._ending:
                self._run = made
                made.begin(self._notify, lambda *step: self._tell_progress(message["id"], *step))
        return True

    def _control(self, message: Message) -> bool:
        run = self._run
        if run is None or run.finished or message["params"].get("run") != run.number:
            return self._invalid(message, "no such run is in progress")
        if message["method"] != "run/cancel":
            return self._refuse(
                message,
                UsageError("a run of several workers cannot be paused", "stop it; an output folder keeps what is done"),
            )
        run.cancel()
        return self._answer(message)

    def _notify(self, method: str, params: Message) -> None:
        self._client.send(framed({"method": method, "params": params}))

    def _tell_progress(self, request: int, what: str, done: int, total: int) -> None:
        self._notify("$/progress", {"request": request, "what": what, "done": done, "total": total})
