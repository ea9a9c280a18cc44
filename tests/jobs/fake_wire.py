"""The made-up engine's end of the connection: frames in and out."""
import json
import sys
import threading

write_lock = threading.Lock()


def put(raw):
    with write_lock:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()


def send(**message):
    put(framed(message))


def framed(message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def receive():
    length = None
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if length is None:
        return None  # the window is gone
    return json.loads(sys.stdin.buffer.read(length))
