"""Records answers of the engine for the window's tests (recordings.py), or says which of the recorded ones are stale.

    record.py [FILE...]             asks the engine all that is recorded; 1 if an answer differs but for times and the like
    record.py --update [FILE...]    writes the answers that differ instead
    record.py --around COMMAND      runs it twice: the first time it records what its players (player.py) are asked and do not know

HOPSCOPE_ENGINE names the engine (by default that of build/dev), HOPSCOPE_ENGINE_FAKE the one with two GPUs that are not there, which records
what is in the folder `gpu`; what is in `workers` is recorded by three workers. The models (recorded_models.py) need PyTorch."""
import contextlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
for variable, program in (("HOPSCOPE_ENGINE", "hopscope-engine"), ("HOPSCOPE_ENGINE_FAKE", "hopscope-engine-fake")):
    os.environ.setdefault(variable, str(ROOT / "build/dev/bin" / program))
sys.path.insert(0, str(HERE.parent / "app"))
import jsonschema  # noqa: E402
from recorded_models import make_graph, make_model  # noqa: E402
from recordings import FOLDER, HOME, OPENING, Book, book_of, canonical, digest, plain, rounded  # noqa: E402
from engine_process import always_the_program  # noqa: E402
from serve_client import Client, Refused  # noqa: E402

PLANNING = {"plan/make", "plan/explain", "plan/steps", "plan/repairs", "plan/load", "plan/memory"}
# Members that the machine or the clock decide.
VARYING = {"seconds", "time", "start", "hashes", "phases", "overlap", "core_seconds", "prologue_seconds", "rates", "walls", "size", "bound_seconds", "scale", "shard"}


def own(value):
    """Without lines of other people's code."""
    if isinstance(value, list):
        return [own(member) for member in value]
    if not isinstance(value, dict):
        return value
    others = "text" in value and "torch" in str(value.get("file"))
    return {name: "" if others and name == "text" else own(member) for name, member in value.items()}


class Engine:
    """A process of the engine in a folder of its own, with the models that it is asked for."""

    def __init__(self, command, place):
        self.folder, self.place, self.documents, self.plans = place / "home", place, {}, {}
        (self.folder / "models").mkdir(parents=True)
        (self.folder / "notes.txt").write_text("no model")
        make_model(self.folder / "chain3.pt")
        self.client = Client(command=command, cwd=self.folder, env={
            **os.environ, "HOME": str(place), "TMPDIR": str(place), "XDG_CACHE_HOME": str(place / "cache"), "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT / "packaging/python/src")})

    def clean(self, value):
        """Without this machine's paths."""
        text = json.dumps(value).replace(str(self.folder), HOME).replace(str(self.place), HOME).replace(f"{ROOT}/", "")
        text = text.replace(f'"{socket.gethostname()}"', '"node-a"')
        return rounded(own(json.loads(re.sub(r'[^" ]*/site-packages/', "site-packages/", text))))

    def document(self, opening, method):
        """One for plans: what others leave in memory counts in predictions."""
        name = digest([opening, method in PLANNING])
        if name not in self.documents:
            self.documents[name] = self.client.call("model/open", **self.given("model/open", opening))["document"]
        return self.documents[name]

    def given(self, method, params):
        """Files that are there, and the agreement to run them."""
        params = {name: self.file(member) if name in ("model", "against") else member for name, member in params.items()}
        if "data" in params:
            params["data"] = [self.file(file) for file in params["data"]]
        return params | ({"trusted": True} if method in ("model/open", "export/write", "export/check", "debug/against") else {})

    def file(self, name):
        if name.startswith("samples/"):
            return str(ROOT / name)
        if not (self.folder / name).exists():
            make_model(self.folder / name) if name.endswith(".pt") else make_graph(self.folder / name)
        return name

    def ask(self, variant, opening, asked):
        """The exchange."""
        method, params = asked
        try:
            return {"ask": asked} | self.exchange(book_of(variant, opening), opening, method, dict(params))
        except Refused as refused:
            return {"ask": asked, "refused": self.clean(refused.error)}

    def exchange(self, book, opening, method, params):
        if method == "initialize":
            return {"answer": self.greeting()}
        if method == "model/open":
            answer = self.client.call(method, **self.given(method, opening))
            self.documents.setdefault(digest([opening, True]), answer["document"])
            return {"answer": self.clean(answer) | {"document": 0}}
        document = {} if opening is None or "model" in params else {"document": self.document(opening, method)}
        if method.startswith("export/") and "folder" in params:
            self.export(method, params["folder"])
        if method == "machine/rates":
            return {"answer": self.rates(params)}
        if method == "debug/stopped":
            return {"answer": self.clean(self.stopped(book, opening, params)) | {"tensor": 0}}
        real = self.real(book, opening, method, params)
        if method == "run/start":
            return self.run(document | real)
        answer = self.clean(self.client.call(method, **document, **self.given(method, real)))
        return {"answer": answer | {"tensor": 0} if "tensor" in (answer or ()) else answer}

    def greeting(self):
        said = self.clean(self.client.greeting)
        said["devices"][0] |= {"name": "CPU", "memory": 1 << 34}
        return said | {"process_id": 0, "threads": 2, "confinement": "confined"}

    def export(self, method, name):
        """What has to be in a folder whose name says it."""
        folder = self.place / name
        shutil.rmtree(folder, ignore_errors=True)
        if name == "taken":
            folder.mkdir()
        elif method != "export/write" and name != "none":
            model = {"model": "chain4.pt" if name == "changed" else "chain3.pt", "data": ["other.safetensors"]}
            plan = self.client.call("plan/make", document=self.document(model, "plan/make"))["plan"]
            self.client.call("export/write", **self.given("export/write", model), plan=plan, folder=str(folder))

    def rates(self, params):
        """The devices are measured once they have been asked for as they are."""
        device, measured = params.get("device"), params["measured"]
        self.client.call("machine/measure" if measured else "machine/forget", device=device)
        answer = self.clean(self.client.call("machine/rates", device=device))
        self.client.call("machine/forget", device=device)
        return answer

    def real(self, book, opening, method, params):
        """Plans and tensors in place of references."""
        if "plan" in params:
            params["plan"] = self.plan(book, opening, params["plan"])
        if method == "plan/load":
            params["text"] = json.dumps(self.plan(book, opening, params["text"]))
        if "tensor" in params:
            params["tensor"] = self.tensor(book, opening, params["tensor"])
        for name in ("folder", "file", "output"):
            if name in params:
                params[name] = str(self.place / params[name])
        return params

    def plan(self, book, opening, name):
        if (opening["model"], name) not in self.plans:
            method, params = book.entries[name[1:]]["ask"]
            self.plans[opening["model"], name] = self.client.call(
                method, document=self.document(opening, method), **self.real(book, opening, method, dict(params)))["plan"]
        return self.plans[opening["model"], name]

    def tensor(self, book, opening, name):
        """The engine keeps the last few."""
        method, params = book.entries[name[1:]]["ask"]
        if method == "debug/stopped":
            return self.stopped(book, opening, dict(params))["tensor"]
        return self.client.call(method, document=self.document(opening, method), **self.real(book, opening, method, dict(params)))["tensor"]

    def stopped(self, book, opening, params):
        """Runs to where it is to stop."""
        start = self.real(book, opening, "run/start", dict(book.entries[params["of"][1:]]["ask"][1]))
        run = self.begin({"document": self.document(opening, "run/start"), **start}, [{"place": params["op"]}])
        seen = 0
        while True:
            event = self.next_stop(seen)
            seen += 1
            if (event["stage"], event["batch"]) == (params["stage"], params["batch"]):
                break
            self.client.call("run/resume", run=run)
        shown = self.client.call("debug/stopped", document=self.document(opening, "run/start"), run=run)
        self.client.call("run/cancel", run=run)
        self.client.finished(run)
        return shown

    def begin(self, params, breakpoints):
        self.client.told.clear()
        params = params | {"breakpoints": breakpoints} if params.pop("breakpoints", False) else params
        return self.client.call("run/start", paused=False, **params)["run"]

    def until(self, wanted, seen=0):
        """The event of the run after so many like it; None: it has ended."""
        while True:
            found = [event for message in self.client.told if message["method"] == "run/events"
                     for event in message["params"]["events"] if wanted(event)]
            if len(found) > seen:
                return found[seen]
            if any(message["method"] == "run/finished" for message in self.client.told):
                return None
            self.client.take()

    def next_stop(self, seen):
        return self.until(lambda event: event["type"] == "stop", seen)

    def dealt(self, params):
        """A run of several workers, one of which is killed while it has a shard: it begins alone, so that it is seen in time."""
        for _ in range(20):
            run = self.begin(params, [])
            while len(workers := self.workers()) < 3:
                time.sleep(.01)
            first, second, third = workers
            self.to(signal.SIGSTOP, first, third)
            self.until(lambda event: event.get("what") == "joined")
            self.to(signal.SIGSTOP, second)
            time.sleep(.3)
            self.to(signal.SIGKILL, second)
            self.to(signal.SIGCONT, first, third)
            finished = self.client.finished(run)
            shards = [event for event in self.client.events(run) if event["type"] == "shard"]
            if any(shard["outcome"] == "lost" for shard in shards) and len({shard["worker"] for shard in shards if shard["stage"] == 2}) > 1:
                return finished
        raise RuntimeError("no worker was killed while it had a shard, or the others did not share stage 2")

    @staticmethod
    def to(number, *workers):
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, number)

    def workers(self):
        """The processes of the workers, in the order in which they were started."""
        threads = Path(f"/proc/{self.client.process.pid}/task").glob("*/children")
        children = [int(child) for thread in threads for child in thread.read_text().split()]
        return sorted(child for child in children if b"\0worker" in self.command(child))

    @staticmethod
    def command(process):
        with contextlib.suppress(OSError):  # it has ended
            return Path(f"/proc/{process}/cmdline").read_bytes()
        return b""

    def stopping(self, params):
        """With breakpoints it is stopped wherever it can be."""
        stops, stages = params.get("breakpoints"), len(params["plan"]["stages"])
        run = self.begin(params, [{"place": f"stage {stage + 1}"} for stage in range(stages)])
        seen = 0
        while stops and self.next_stop(seen):
            seen += 1
            self.client.call("run/resume", run=run)
        return self.client.finished(run)

    def run(self, params):
        finished = dict(self.dealt(params) if "workers" in self.client.greeting else self.stopping(params))
        run = finished.pop("run")
        states = list(dict.fromkeys(self.client.states(run)))
        ends = [state for state in states if state in ("verifying", "finished")]
        return {"answer": {"folder": "results"}, "events": self.clean(self.client.events(run)), "ends": ends,
                "finished": self.clean(finished) | ({"folder": "results"} if "folder" in finished else {})}


def commands():
    # The virtual clock of the GPUs that are not there ticks only if something takes time.
    os.environ["HOPSCOPE_FAKE_FAULT"] = "copies:20000000"
    scale = [sys.executable, "-m", "hopscope.scale", "serve", "--address", "local", "--workers", "3"]
    return {"cpu": [os.environ["HOPSCOPE_ENGINE"], "serve"], "gpu": [os.environ["HOPSCOPE_ENGINE_FAKE"], "serve"], "workers": scale}


class Engines(contextlib.ExitStack):
    """One for each folder of recordings."""

    def __init__(self):
        super().__init__()
        self.all = {}

    def of(self, variant, opening):
        """Where there is no document, an engine of its own, whose folder holds what is in the lists of files."""
        name = variant, opening is None
        if name not in self.all:
            self.all[name] = Engine(commands()[variant], Path(self.enter_context(tempfile.TemporaryDirectory())))
            self.callback(self.all[name].client.stop)
        return self.all[name]


def listen(engines, path):
    """Records what players send to this socket, and adds it to the files."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            connection, _ = server.accept()
            with connection, connection.makefile("rw") as stream, contextlib.suppress(BrokenPipeError):
                variant, opening, asked = json.loads(stream.readline())
                opening = opening and {name: member for name, member in plain(opening).items() if name in OPENING}
                entry = engines.of(variant, opening).ask(variant, opening, asked)
                book = book_of(variant, opening)
                book.add(entry)
                book.write()
                print(json.dumps(entry), file=stream, flush=True)


def told(events, finished):
    """What the clock does not decide about the events of a run: of each kind the members and their types, or the members alone if several
    workers shared it, whose figures are chance as well."""
    if any(event["type"] == "worker" for event in events):
        return {"events": {event["type"]: sorted(event) for event in events}, "finished": sorted(finished)}
    return {"events": sorted({canonical([event["type"], {name: type(member).__name__ for name, member in event.items() if member is not None}])
                              for event in events})}


def differences(old, new, where):
    """Sentences. Numbers that are no integers may differ a little, and what is VARYING as it likes."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return [f"{where}: the members {sorted(old.keys() ^ new.keys())} are in one of them"]
        return [found for name in old if name not in VARYING for found in differences(old[name], new[name], f"{where}/{name}")]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where}: {len(old)} elements, now {len(new)}"]
        return [found for at, (a, b) in enumerate(zip(old, new)) for found in differences(a, b, f"{where}/{at}")]
    if isinstance(old, str) and isinstance(new, str):
        old, new = (re.sub(r"[0-9.]+ (ms|s|min)\b", "some time", text) for text in (old, new))
    if all(isinstance(text, str) and text.startswith("{") for text in (old, new)):
        return differences(json.loads(old), json.loads(new), where)
    measured = isinstance(old, float) or where.endswith("memory")
    same = math.isclose(old, new, rel_tol=1e-3, abs_tol=1024 if "memory" in where else 1e-9) if measured and None not in (old, new) else old == new
    return [] if same else [f"{where}: {old!r}, now {new!r}"]


def stale(old, new):
    """What is different in an exchange that was recorded again."""
    if "events" in old and "events" in new:
        old, new = (entry | told(entry["events"], entry["finished"]) for entry in (old, new))
    return differences(old, new, f"{old['ask'][0]} {canonical(old['ask'][1])[:200]}")


def invalid(value):
    """Sentences about documents that are not those of their schemas."""
    if not isinstance(value, (dict, list)):
        return []
    found = [sentence for member in (value.values() if isinstance(value, dict) else value) for sentence in invalid(member)]
    if isinstance(value, dict) and str(value.get("format")).startswith("hopscope-"):
        schema = json.loads((ROOT / f"resources/schemas/{value['format'].removeprefix('hopscope-')}-1.schema.json").read_text())
        found += [error.message[:200] for error in jsonschema.Draft202012Validator(schema).iter_errors(value)]
    return found


def again(engines, files, update):
    """Asks all that is in these files; whether the answers are the recorded ones."""
    found = []
    for file in files:
        book = Book(file)
        opening = next((asked[1] for asked in (entry["ask"] for entry in book.entries.values()) if asked[0] == "model/open"), None)
        for name, entry in book.entries.items():
            made = engines.of(file.parent.name, opening).ask(file.parent.name, opening, entry["ask"])
            sentences = stale(entry, made) + invalid(made)
            found += [f"{file.parent.name}/{file.name}: {sentence}" for sentence in sentences]
            book.entries[name] = made if sentences else entry
        if update:
            book.write()
    print("\n".join(found[:100]) or "All recorded answers are those of the engine.")
    return update or not found


def around(engines, words):
    """Runs a command twice: what it asks of players the first time is recorded, and played the second time."""
    with tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=listen, args=(engines, f"{folder}/socket"), daemon=True).start()
        subprocess.run(words, env=os.environ | {"HOPSCOPE_RECORDER": f"{folder}/socket"}, stdout=subprocess.DEVNULL, check=False)
    return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    always_the_program()
    with Engines() as all_engines:
        if sys.argv[1:2] == ["--around"]:
            sys.exit(around(all_engines, sys.argv[2:]))
        to_update = "--update" in sys.argv
        named = [Path(file) for file in sys.argv[1:] if file != "--update"]
        sys.exit(not again(all_engines, named or sorted(FOLDER.glob("*/*.gz")), to_update))
