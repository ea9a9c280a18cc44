"""An engine that plays recorded answers of the real one (recordings.py), or breaks the protocol where faults.py says how.

    player.py [--gpu] [--workers [--stand]] [--slow] [--major N] [--no-version] [--die-at-start]

With --gpu and --workers it plays what was recorded on a GPU and with several workers; with --stand such a run stands still before the last shard of stage 2 is ready.
It needs nothing but Python. What was not recorded is refused with -32603, or recorded now if HOPSCOPE_RECORDER names the
socket of a recorder (record.py)."""
import json
import os
import queue
import socket
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import faults  # noqa: E402
from played_runs import Run  # noqa: E402
from recordings import HOME, book_of, digest, short  # noqa: E402
from wire import Refused, framed, put, receive, say, send  # noqa: E402


def record(variant, opening, asked):
    """The exchange, from the recorder."""
    with socket.socket(socket.AF_UNIX) as recorder:
        recorder.connect(os.environ["HOPSCOPE_RECORDER"])
        with recorder.makefile("rw") as stream:
            print(json.dumps([variant, opening, asked]), file=stream, flush=True)
            return json.loads(stream.readline())


def placed(entry, params):
    """With files where the client has them."""
    for name in {"file", "folder"} & params.keys():
        entry = json.loads(json.dumps(entry).replace(f"{HOME}/{short(params[name])}", params[name]))
    return entry


class Player:
    def __init__(self, arguments):
        self.variant = "gpu" if "--gpu" in arguments else "workers" if "--workers" in arguments else "cpu"
        self.stand = "--stand" in arguments
        self.faults = faults.Faults(self, arguments)
        self.own, self.books, self.openings = book_of(self.variant), {}, {}  # by document
        self.runs, self.tensors = {}, {}
        self.messages, self.given_up = queue.Queue(), set()
        self.measured = False

    def recorded(self, document, method, params):
        """The exchange, and how others refer to it. Exports name a model instead of a document."""
        opening = self.openings.get(document, params if "model" in params else None)
        book = self.books.get(document) or (book_of(self.variant, opening) if opening else self.own)
        asked = book.question(method, params, self.tensors)
        entry = book.entries.get(digest(asked))
        if entry is None and "HOPSCOPE_RECORDER" in os.environ:
            entry = record(self.variant, opening, asked)
            book.add(entry)
        if entry is None:
            raise Refused(-32603, f"this was not recorded in {book.file.name}: {json.dumps(asked)}")
        entry = placed(entry, params)
        if "refused" in entry:
            raise Refused(entry["refused"]["code"], entry["refused"]["message"], entry["refused"]["data"])
        return entry, "@" + digest(asked)

    def answer(self, method, params):
        document = params.get("document")
        if document is not None and self.books.get(document) is None:
            raise Refused(-32602, "params: field /document is not the number of an open model")
        own = getattr(self, method.replace("/", "_"), None)
        if own is not None:
            return own(params)
        entry, name = self.recorded(document, method, params)
        answer = entry["answer"]
        if "tensor" in (answer or ()):
            answer["tensor"] = len(self.tensors) + 1
            self.tensors[answer["tensor"]] = name
        return answer

    def initialize(self, params):
        return self.recorded(None, "initialize", {})[0]["answer"] | {"process_id": os.getpid()}

    def model_open(self, params):
        number = len(self.books) + 1
        self.books[number], self.openings[number] = book_of(self.variant, params), params
        try:
            answer = self.recorded(number, "model/open", params)[0]["answer"]
        except Refused:
            self.books[number] = None
            raise
        return {"document": number, "inspect": answer["inspect"] | {"model": params["model"]}}

    def model_close(self, params):
        self.books[params["document"]] = None

    def machine_rates(self, params):
        return self.recorded(None, "machine/rates", {**params, "measured": self.measured})[0]["answer"]

    def machine_measure(self, params):
        self.measured = True
        return self.machine_rates(params)

    def machine_forget(self, params):
        self.measured = False
        return self.machine_rates(params)

    def run_start(self, params):
        entry, name = self.recorded(params["document"], "run/start", params)
        number = len(self.runs) + 1
        run = self.runs[number] = Run(number, entry, name, params, self.faults.pace, self.stand)
        before = self.runs.get(number - 1)
        self.after = lambda: (before and before.linger(), run.start())  # events come after the answer
        return entry["answer"] | {"run": number}

    def run_pause(self, params):
        self.live(params).pause()

    def run_resume(self, params):
        self.live(params).resume()

    def run_step(self, params):
        self.live(params).step(params["unit"])

    def run_breakpoints(self, params):
        self.live(params).change(params["breakpoints"])

    def run_cancel(self, params):
        self.live(params).cancel()

    def live(self, params):
        run = self.runs.get(params["run"])
        if run is None or run.over:
            raise Refused(-32602, "no such run is in progress")
        return run

    def debug_stopped(self, params):
        run = self.runs.get(params["run"])
        if run is None or run.stopped is None:
            raise Refused(-32602, "the run is not stopped at an operator")
        entry, name = self.recorded(params["document"], "debug/stopped", {"of": run.name, **run.stopped})
        number = len(self.tensors) + 1
        self.tensors[number] = name
        return entry["answer"] | {"tensor": number}

    def serve(self):
        threading.Thread(target=self.listen, daemon=True).start()
        while (message := self.messages.get()) is not None:
            self.respond(message["id"], message["method"], message["params"])

    def listen(self):
        """Cancelled requests are known at once."""
        while (message := receive()) is not None:
            if "id" in message:
                self.messages.put(message)
            elif message["method"] == "$/cancelRequest":
                self.given_up.add(message["params"]["id"])
                say(f"cancel {message['params']['id']}")
        self.messages.put(None)

    def respond(self, number, method, params):
        self.request, self.after = number, None
        try:
            result = self.faults.answer(method, params)
            answer = framed({"id": number, "result": result})
            if method.startswith(("model/open", "plan/")):
                say(method + (" near" if params.get("near") else ""))
            put(answer)
        except Refused as refused:
            send(id=number, error=refused.error)
        if self.after:
            self.after()


if __name__ == "__main__":
    Player(sys.argv[1:]).serve()
