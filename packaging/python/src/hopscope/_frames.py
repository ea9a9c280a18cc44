"""Passes on frames of the protocol (docs/reference/protocol.md), byte for byte."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEADER, _MESSAGE = 4 << 10, 16 << 20  # bytes at most
_CHUNK = 1 << 18


@dataclass(frozen=True)
class Frame:
    """`raw`: all of its bytes. `body`: None if the bytes are not a frame; then no later bytes are a frame either."""

    raw: bytes
    body: bytes | None

    def message(self) -> dict[str, Any]:
        """Returns the message, or an empty dict if the body is not a JSON object."""
        try:
            found = json.loads(self.body or b"null")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def frames(source: int) -> Iterator[Frame]:
    """The frames from a file descriptor, until its end. It reads only bytes that have arrived."""
    held, broken = bytearray(), False
    while chunk := os.read(source, _CHUNK):
        held += chunk
        while not broken and (size := _extent(held)) is not None:
            header, end = size
            broken = end == 0
            if broken or len(held) < end:
                break
            yield Frame(bytes(held[:end]), bytes(held[header:end]))
            del held[:end]
        if broken and held:
            yield Frame(bytes(held), None)
            held.clear()
    if held:
        yield Frame(bytes(held), None)


def _extent(held: bytearray) -> tuple[int, int] | None:
    """Returns the start and the end of the body; (0, 0) if these bytes do not begin a frame, None if that is not known
    yet."""
    at = held.find(b"\r\n\r\n", 0, _HEADER)
    if at < 0:
        return (0, 0) if len(held) >= _HEADER else None
    lengths = [
        line.partition(b":")[2].strip()
        for line in bytes(held[:at]).split(b"\r\n")
        if line.partition(b":")[0].lower() == b"content-length"
    ]
    if len(lengths) != 1 or not lengths[0].isdigit() or int(lengths[0]) > _MESSAGE:
        return 0, 0
    return at + 4, at + 4 + int(lengths[0])


def framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Sink:
    """Sends whole frames, from any thread. Frames sent after the reader has gone are lost."""

    def __init__(self, target: int) -> None:
        self._target, self._sending, self._gone = target, threading.Lock(), False

    def close(self) -> None:
        """Stops sending; the owner closes the descriptor."""
        self._gone = True

    def send(self, raw: bytes) -> None:
        """Writes a frame to the pipe; waits for the reader while the pipe is full."""
        with self._sending:
            left = memoryview(raw)
            while left and not self._gone:
                try:
                    left = left[os.write(self._target, left) :]
                except OSError:
                    self._gone = True
