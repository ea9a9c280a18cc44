"""A client of `hopscope-engine serve` and `worker` (docs/reference/protocol.md): one request at a time, with the
notifications of the engine."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import IO, Any

from ._process import ended, kill, start, stop
from ._version import __version__
from .errors import Cancelled, EngineError, HopscopeError, error_from

Told = Callable[[str, dict[str, Any]], None]
_CANCELLED = -32800


class Starting:
    """Starts a client in a thread: loading LibTorch takes about as long as the preparation in Python. A context
    manager that owns the client; `client` waits for it, and raises the error if it could not start."""

    def __init__(self, told: Told) -> None:
        self._pool = ThreadPoolExecutor(1, "hopscope-start")
        self._client: Future[Client] = self._pool.submit(lambda: Client(told).__enter__())

    def client(self) -> Client:
        return self._client.result()

    def __enter__(self) -> Starting:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown()
        if self._client.exception() is None:
            self._client.result().__exit__(kind, value, at)


class Client:
    """Owns a process of the engine; a context manager. An exception cancels the request in progress: the
    engine removes its files and ends. `told` receives every notification (method, parameters). `gone`: whether
    the process has ended unexpectedly."""

    def __init__(self, told: Told, command: str = "serve") -> None:
        self._told, self._next, self.gone = told, 0, False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
        self._process = start([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)

    def __enter__(self) -> Client:
        try:
            protocol = {"major": 1, "minor": 0}
            self.call("initialize", client={"name": "hopscope for Python", "version": __version__}, protocol=protocol)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _value: BaseException | None, _at: TracebackType | None
    ) -> None:
        if kind is None:
            with contextlib.suppress(HopscopeError, OSError):
                self.call("shutdown")
        self._end()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request and returns its answer. Raises the engine's error."""
        self._next += 1
        wanted = self._next
        self._send({"jsonrpc": "2.0", "id": wanted, "method": method, "params": params})
        while True:
            message = self.read()
            # What cannot be read at all is answered without a number.
            if message.get("id") == wanted or ("error" in message and message.get("id") is None):
                break
        if "error" in message:
            raise _refusal(message["error"])
        result = message["result"]
        return result if isinstance(result, dict) else {}

    def read(self) -> dict[str, Any]:
        """Returns the next message that is not a notification; notifications are passed on."""
        length = self._length()
        assert self._process.stdout is not None
        body = self._process.stdout.read(length)
        if len(body) != length:
            raise self._gone()
        message: dict[str, Any] = json.loads(body)
        if "method" in message:
            self._told(message["method"], message.get("params", {}))
        return message

    def _length(self) -> int:
        assert self._process.stdout is not None
        length = 0
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise self._gone()
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if line == b"\r\n":
                return length

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None

    def _gone(self) -> HopscopeError:
        self.gone = True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._errors.seek(0)
        code = self._process.returncode
        if code == Cancelled.exit_code:
            return Cancelled("the engine was stopped by a signal", "repeat the call")
        if code is None:
            return EngineError("the engine ended its connection", _REPORT)
        return ended(code, self._errors.read())

    def hang_up(self) -> None:
        """Closes the engine's input, from any thread, so that the engine ends even during a request."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()

    def abandon(self, patience: float) -> None:
        """Ends the engine, from any thread, and kills it after this number of seconds."""
        self.hang_up()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            kill(self._process)

    def _end(self) -> None:
        """Ends the engine by closing its input; a run in progress leaves nothing behind. Reads the remaining output, so
        that the engine does not wait for a reader."""
        assert self._process.stdout is not None
        self.hang_up()
        reader = threading.Thread(target=_drain, args=(self._process.stdout,), daemon=True)
        reader.start()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                stop(self._process, 0)
        finally:
            reader.join(5)
            self._errors.close()


def _drain(stream: IO[bytes]) -> None:
    with contextlib.suppress(ValueError, OSError), stream:
        while stream.read(1 << 16):
            pass


# The hint for the engine's complaints about a member of a request, which does not mention Python.
_HELP = "help(hopscope.inference) describes each argument"
_REPORT = "please report this with the model"


def _refusal(error: dict[str, Any]) -> HopscopeError:
    if error.get("code") == _CANCELLED:
        return Cancelled(str(error.get("message", "cancelled")), "repeat the call")
    data = error.get("data")
    if isinstance(data, dict) and "exit_code" in data:
        hint = data.get("hint") or ("" if data["exit_code"] not in (2, 3) else _HELP)
        return error_from({**data, "hint": hint})
    return EngineError(str(error.get("message", "the engine refused a request")), _REPORT)
