"""A client of `hopscope-engine serve` for tests: frames, requests, and what the engine tells on its own. Requests that the
engine accepts, and their answers, are held to the published schema."""
import json
import queue
import subprocess
import threading
from pathlib import Path

import jsonschema

from engine_process import ENGINE, start


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


REQUESTS = json.loads((Path(__file__).parents[2] / "resources/schemas/requests-1.schema.json").read_text())
EXCHANGES = jsonschema.Draft202012Validator(REQUESTS)


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.error = error["code"], error


class Client:
    def __init__(self, initialize=True, command=(ENGINE, "serve"), **options):
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.next_id, self.asked, self.answers, self.told, self.errors = 0, {}, {}, [], b""
        self.arrived = queue.Queue()
        self.readers = [threading.Thread(target=self.read_messages, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()
        self.greeting = self.call("initialize", client={"name": "test", "version": "0"},
                                  protocol={"major": 1, "minor": 0}) if initialize else None

    def read_messages(self):
        """Anything that is no frame of a JSON message ends in the queue as an exception."""
        out = self.process.stdout
        try:
            while header := out.readline():
                name, length = header.split(b":")
                assert name == b"Content-Length" and out.readline() == b"\r\n", header
                self.arrived.put(json.loads(out.read(int(length))))
        except Exception as error:  # handed to the test's own thread
            self.arrived.put(error)
        self.arrived.put(None)

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, raw):
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def ask(self, method, **params):
        """Sends a request; its id."""
        self.next_id += 1
        self.asked[self.next_id] = method, params
        self.send(frame({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))
        return self.next_id

    def tell(self, method, **params):
        self.send(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def take(self, timeout=300):
        """One message: an answer is filed under its id, anything else in the order in which it came."""
        message = self.arrived.get(timeout=timeout)
        if isinstance(message, Exception):
            raise message
        if message is None:
            self.arrived.put(None)
            raise EOFError(f"the engine is gone: {self.process.wait(60)}")
        if "method" in message:
            self.told.append(message)
        else:
            self.answers.setdefault(message["id"], []).append(message)
        return message

    def answer(self, wanted, timeout=300):
        while wanted not in self.answers:
            self.take(timeout)
        message = self.answers[wanted][0]
        if "error" in message:
            raise Refused(message["error"])
        method, params = self.asked.get(wanted, ("", {}))
        if method in REQUESTS["properties"]:
            EXCHANGES.validate({method: {"params": params, "result": message["result"]}})
        return message["result"]

    def call(self, method, **params):
        return self.answer(self.ask(method, **params))

    def finished(self, run, timeout=300):
        """The parameters of run/finished; every run/events before it is in `events`."""
        while True:
            for message in self.told:
                if message["method"] == "run/finished" and message["params"]["run"] == run:
                    return message["params"]
            self.take(timeout)

    def events(self, run):
        return [event for message in self.told if message["method"] == "run/events" and message["params"]["run"] == run
                for event in message["params"]["events"]]

    def states(self, run):
        return [message["params"]["state"] for message in self.told
                if message["method"] == "run/events" and message["params"]["run"] == run]

    def until_state(self, run, state, timeout=300):
        while state not in self.states(run)[-1:]:
            self.take(timeout)

    def leave(self):
        """Says goodbye; the exit code."""
        self.call("shutdown")
        self.tell("exit")
        code = self.process.wait(60)
        self.readers[1].join(60)
        return code

    def stop(self):
        self.process.kill()
        self.process.wait(60)
        for reader in self.readers:
            reader.join(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
