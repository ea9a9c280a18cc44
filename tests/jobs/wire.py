"""The player's end of the connection: frames in and out."""
import json
import re
import sys
import threading
from pathlib import Path

FAILURES = (Path(__file__).parents[2] / "packaging/python/src/hopscope/_failures.py").read_text()
CODES = {int(code): name for code, name in re.findall(r'exit_code = (\d+)\n    name = "(\w+)"', FAILURES)}
write_lock = threading.Lock()


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        exit_code = 130 if code == -32800 else -32000 - code if -32100 < code < -32000 else 2
        data = data or {"code": CODES[exit_code], "message": message, "hint": "", "where": "", "exit_code": exit_code}
        self.error = {"code": code, "message": message, "data": data}


def put(raw):
    with write_lock:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()


def framed(message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def send(**message):
    put(framed(message))


def say(text):
    """For tests that count or measure."""
    send(method="log", params={"level": "info", "message": text})


def receive():
    length = None
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return None if length is None else json.loads(sys.stdin.buffer.read(length))  # None: the window is gone
