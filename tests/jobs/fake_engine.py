"""An engine under the control of a test: it speaks the protocol of docs/reference/protocol.md, or breaks it on purpose.

    fake_engine.py [--major N] [--no-version] [--die-at-start] [--gpu] [--workers N [--stand E]]

Models are made up from their file's name: chain3.pt has three layers, chain3-hard.pt has plans whose gap closes slowly, chain3-skips.pt keeps every layer's result,
chain3-long8.pt has eight more row-wise operators in a module of every layer; names that begin with bad, die or slow do
that. With --gpu there is a cuda:0, on which batches overlap (fake_pipeline.py). With --workers runs are dealt out to so many
workers, one of which is lost (fake_workers.py); with --stand they stand still behind E events of stage 2. Besides the protocol's methods it knows `test/...`, see below.
"""

import json
import os
import queue
import re
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fake_findings  # noqa: E402
import fake_tensors  # noqa: E402
from fake_model import Model, NODES, verified  # noqa: E402
from fake_runs import DealtRun, Run  # noqa: E402
from fake_wire import framed, put, receive, send  # noqa: E402

FAILURES = (Path(__file__).parents[2] / "packaging/python/src/hopscope/_failures.py").read_text()
CODES = {int(code): name for code, name in re.findall(r'exit_code = (\d+)\n    name = "(\w+)"', FAILURES)}


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Documents(dict):
    def __missing__(self, number):
        raise Refused(-32002, f"there is no document {number}")


def die():
    print("Traceback: everything is lost", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


class Engine:
    def __init__(self, arguments):
        self.workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 0
        self.stand = int(arguments[arguments.index("--stand") + 1]) if "--stand" in arguments else None
        self.major = int(arguments[arguments.index("--major") + 1]) if "--major" in arguments else 1
        self.gpus = [{"id": "cuda:0", "name": "NVIDIA H100 80GB HBM3", "memory": 80 << 30, "driver": "580.65.06, CUDA 13.0"}] if "--gpu" in arguments else []
        self.says_version = "--no-version" not in arguments
        self.documents, self.runs, self.tensors = Documents(), {}, {}
        self.messages, self.given_up = queue.Queue(), set()
        self.opened = 0  # documents so far: the number of a closed one is not given again
        self.measured = False

    def initialize(self, params):
        info = {"server": {"name": "fake", "version": "1"}, "process_id": os.getpid(), "threads": 2,
                "devices": [{"id": "cpu", "name": "CPU", "memory": 1 << 34, "driver": ""}] + self.gpus, "missing": [],
                "confinement": "confined"}
        if self.workers:
            info |= {"workers": {"address": "local", "count": self.workers}, "pauses": False}
        return info | ({"protocol": {"major": self.major, "minor": 1}} if self.says_version else {})

    def model_open(self, params):
        path = params["model"]
        name = Path(path).name
        if name.startswith("die"):
            die()
        if name.startswith("bad"):
            raise Refused(-32003, f"{name} is no TorchScript archive")
        if name.startswith("slow"):
            for done in range(4):
                send(method="$/progress", params={"request": self.request, "what": "reading", "done": done, "total": 4})
                time.sleep(.05)
        layers = re.search(r"\d+", name)
        self.opened += 1
        number = self.opened
        long = re.search(r"long(\d+)", name)
        self.documents[number] = Model(int(layers[0]) if layers else 3, "skips" in name, int(long[1]) if long else 0,
                                       "hard" in name)
        self.announced = True
        return {"document": number, "inspect": self.documents[number].inspect(path)}

    def model_close(self, params):
        del self.documents[params["document"]]

    def model_source(self, params):
        return {"label": "embedded", "file": "model.py", "line": 11, "first_line": 10,
                "text": "def forward(self, h):\n    h = self.lin(h)\n    return h\n",
                "schema": "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"}

    def model_receptiveField(self, params):
        """A ring: each node reads its two neighbours and itself, twice."""
        node, levels = params.get("node"), []
        node = 7919 * params.get("seed", 1) % NODES if node is None else node
        for depth in (2, 1, 0):
            ids = sorted((node + step) % NODES for step in range(depth - 2, 3 - depth))
            ends = [((to + step) % NODES, to) for to in ids for step in (-1, 0, 1)] if depth else []
            edges = {"table": "edge_index", "from": "node", "to": "node", "edges": len(ends), "of": 3 * NODES,
                     "parents": [{"table": "edge_index", "rows": len(ends), "ids": [3 * to for _, to in ends]}],
                     "from_ids": [source for source, _ in ends], "to_ids": [to for _, to in ends]}
            levels.append({"depth": depth, "edges": [edges] if ends else [],
                           "rows": [{"table": "node", "rows": len(ids), "of": NODES, "row_bytes": 64, "ids": ids}]})
        means = [{"depth": level["depth"], "table": "node", "edges": False, "mean": float(len(level["rows"][0]["ids"])),
                  "error": 0.0, "repeated": float(len(level["rows"][0]["ids"])), "bytes": 64.0 * NODES, "own_bytes": 64.0 * NODES}
                 for level in levels]
        return {"format": "hopscope-receptive-field", "version": "1.0", "table": "node", "node": node, "nodes": NODES, "depth": 2,
                "levels": levels, "notes": [], "seconds": 0.001,
                "blocks": [{"depth": depth, "table": "edge_index", "edges": 3, "sources": 3} for depth in (2, 1)],
                "reads": [{"depth": depth, "from": depth - 1, "table": "node", "rows": 3} for depth in (2, 1)],
                "explosion": {"method": "exact", "nodes": NODES, "seed": 1, "means": means if params["average"] else []}}

    def debug_staged(self, params):
        model = self.documents[params["document"]]
        self.tell_progress("comparing", len(model.stage_ops))
        return fake_findings.divergence(model, "staged", "unsplit", False)

    def debug_against(self, params):
        name = Path(params["against"]).name
        if name.startswith("bad") or not name.endswith(".pt"):
            raise Refused(-32003, f"{name} is no TorchScript archive")
        if name.startswith("slow"):
            self.tell_progress("comparing", 20, .05)
        return fake_findings.divergence(self.documents[params["document"]], "model.pt", name, not name.startswith("same"))

    def debug_nan(self, params):
        return fake_findings.not_finite(self.documents[params["document"]])

    def debug_watch(self, params):
        model, values, aggregations = self.documents[params["document"]], params.get("values", []), params.get("aggregations", [])
        for name in values + aggregations:
            if fake_findings.named(model, name) is None:
                raise Refused(-32002, f"'{name}' names no operator of the model")
        if params.get("nodes") == [4242]:
            self.tell_progress("computing", 20, .05)
        return fake_findings.watched(model, params.get("nodes", []), values, aggregations)

    def debug_tensor(self, params):
        model = self.documents[params["document"]]
        if fake_findings.named(model, params["value"]) is None and fake_tensors.leaf(model, params["value"]) is None:
            raise Refused(-32002, f"'{params['value']}' names no operator of the model")
        number = len(self.tensors) + 1
        self.tensors[number] = fake_tensors.Tensor(model, params["value"], params.get("nodes"), params.get("batch_of"))
        return self.tensors[number].document(number)

    def debug_stopped(self, params):
        run = self.runs.get(params["run"])
        if run is None or run.stopped is None:
            raise Refused(-32602, "the run is not stopped at an operator")
        op, stage, batch = run.stopped
        number = len(self.tensors) + 1
        self.tensors[number] = fake_tensors.Tensor(self.documents[params["document"]], op, None, batch * (NODES // 10))
        return self.tensors[number].document(number)

    def debug_rows(self, params):
        return self.seen(params).rows(params["begin"], params["end"])

    def debug_save(self, params):
        self.seen(params)
        return {"file": params["file"]}

    def seen(self, params):
        if params["tensor"] not in self.tensors:
            raise Refused(-32602, "params: field /tensor is not one of the last tensors of this model")
        return self.tensors[params["tensor"]]

    def tell_progress(self, what, total, pause=.001):
        for done in range(total):
            send(method="$/progress", params={"request": self.request, "what": what, "done": done, "total": total})
            time.sleep(pause)

    def fs_list(self, params):
        entries = [{"name": "models", "directory": True, "size": 0}, {"name": "chain3.pt", "directory": False, "size": 999},
                   {"name": "notes.txt", "directory": False, "size": 5}]
        return {"path": params["path"] or "/home/engine", "parent": "/home", "entries": entries}

    def plan_make(self, params):
        if params.get("near"):  # for those who count
            send(method="log", params={"level": "info", "message": "near"})
            if os.environ.get("FAKE_ENGINE_SLOW"):
                time.sleep(.3)
            if self.request in self.given_up:
                raise Refused(-32800, "cancelled")
        elif os.environ.get("FAKE_ENGINE_SLOW") and params["pins"]:
            time.sleep(1)
        try:
            if self.documents[params["document"]].hard and not params.get("near"):
                time.sleep(.1)
                send(method="log", params={"level": "info", "message": "search"})
            return self.documents[params["document"]].make_plan(
                **self.plan_arguments(params), near=params.get("near", False), deadline=params.get("deadline"))
        except ValueError as refusal:
            raise Refused(-32004, str(refusal)) from None

    def plan_arguments(self, params):
        return {key: params[key] for key in ("strategy", "pins", "device", "batch", "objective", "stages")}

    def plan_repairs(self, params):
        return self.documents[params["document"]].repairs(**self.plan_arguments(params))

    def plan_explain(self, params):
        send(method="log", params={"level": "info", "message": "explain"})
        return self.documents[params["document"]].explain(**self.plan_arguments(params))

    def plan_steps(self, params):
        return self.documents[params["document"]].steps(params["objective"])

    def plan_graph(self, params):
        node = params.get("node")
        if node is not None and not 0 <= node < NODES:
            raise Refused(-32002, f"node has no row {node}: it has {NODES} rows, from 0")
        return self.documents[params["document"]].graph_part(node, params.get("seed", 1))

    def plan_memory(self, params):
        model, stage = self.documents[params["document"]], params["stage"]
        if stage not in model.stage_ops:
            raise Refused(-32002, f"the plan has no stage {stage}; its last stage is {len(model.stage_ops)}")
        return model.stage_memory(stage)

    def machine_rates(self, params):
        rates = [{"key": "gather", "what": "gathering rows", "unit": "B/s", "value": 5.25e9 if self.measured else 4e9},
                 {"key": "flops", "what": "matrix products", "unit": "FLOP/s", "value": 52e9 if self.measured else 40e9}]
        return {"device": params["device"] or "cpu", "measured": self.measured, "runs": 3 if self.measured else 0, "rates": rates,
                "walls": [{"what": "writes to a store", "unit": "B/s", "all": 7e9, "one": 4e9}]}

    def machine_measure(self, params):
        for done in range(3):
            send(method="$/progress", params={"request": self.request, "what": "measuring", "done": done, "total": 3})
            time.sleep(.03)
        self.measured = True
        return self.machine_rates(params)

    def machine_forget(self, params):
        self.measured = False
        return self.machine_rates(params)

    def plan_load(self, params):
        plan = json.loads(params["text"])
        made = self.documents[params["document"]].make_plan(plan["strategy"], plan["pins"] or [], plan["device"], None)
        return made | {"plan": plan}

    def export_preview(self, params):
        self.documents[params["document"]]
        return {"files": [{"name": "README.md", "text": ""}, {"name": "stage_1.py", "text": "class Stage1(nn.Module):\n"}]}

    def export_write(self, params):
        if "taken" in params["folder"]:
            raise Refused(-32003, params["folder"] + ": exists already")
        for done in range(3):
            send(method="$/progress", params={"request": self.request, "what": "verifying", "done": done, "total": 3})
        return self.export_read(params) | {"notes": []}

    def export_read(self, params):
        if "none" in params["folder"]:
            raise Refused(-32003, params["folder"] + ": no such file")
        return {"folder": params["folder"], "tool": "hopscope 0.1.0", "strategy": "optimal", "stages": 2, "inputs": ["x"],
                "hashes": {"model": "0123456789abcdef"}, "verification": verified(2)}

    def export_check(self, params):
        if "scarce" in params["folder"]:
            raise Refused(-32006, "out of memory")
        if "changed" in params["folder"]:
            raise Refused(-32003, params["folder"] + ": the model has changed: the folder was exported from a different file")
        return {"verification": verified(2), "notes": ["these data differ from the data of the export"]}

    def run_start(self, params):
        number = len(self.runs) + 1
        pace = .05 if os.environ.get("FAKE_ENGINE_SLOW") else .003
        model = self.documents[params["document"]]
        if self.workers:
            self.runs[number] = DealtRun(number, model, pace, self.workers, self.stand)
        else:
            self.runs[number] = Run(number, model, params["paused"], pace, params["device"] == "cuda:0" and bool(self.gpus),
                                    params.get("breakpoints"))
        self.after = lambda: self.begin(number)  # events come after the answer
        return {"run": number, "folder": "results"}

    def begin(self, number):
        """What is left to say of the run before comes late."""
        if number > 1 and not self.workers:
            self.runs[number - 1].batch(1, 0)
        self.runs[number].start()

    def run_pause(self, params):
        self.live(params).paused = True

    def run_resume(self, params):
        self.live(params).paused = False

    def run_step(self, params):
        run = self.live(params)
        if params["unit"] == "operator":
            if run.breakpoints is None:
                raise Refused(-32002, "this run was started without breakpoints")
            run.fine = True
        else:
            run.allowed = 1 if params["unit"] == "batch" else 10

    def run_breakpoints(self, params):
        run = self.live(params)
        if run.breakpoints is None:
            raise Refused(-32002, "this run was started without breakpoints")
        run.breakpoints = params["breakpoints"]

    def run_cancel(self, params):
        self.live(params).cancelled = True

    def live(self, params):
        run = self.runs.get(params["run"])
        if run is None or run.over:
            raise Refused(-32602, "no such run is in progress")
        if self.workers and not self.cancels:
            raise Refused(-32002, "a run of several workers cannot be paused")
        return run

    # What only tests ask for.

    def test_echo(self, params):
        return params

    def test_slow(self, params):
        time.sleep(.2)
        return params

    def test_big(self, params):
        return {"numbers": list(range(params["count"]))}

    def test_die(self, params):
        die()

    def test_exit(self, params):
        print("".join(f"batch {number} is computed\n" for number in range(1000)) + "no more memory", file=sys.stderr, flush=True)
        os._exit(6)

    def test_die_in_answer(self, params):
        put(b'Content-Length: 1000\r\n\r\n{"jsonrpc": "2.0", "id": 1')
        die()

    def test_garbage(self, params):
        put(b"hello, this is not the protocol\r\n\r\n")

    def test_not_json(self, params):
        put(b"Content-Length: 5\r\n\r\n{oops")

    def test_oversize(self, params):
        put(b"Content-Length: 99999999999\r\n\r\n")

    def test_twice(self, params):
        send(id=self.request, result=1)
        return 2

    def test_strange_id(self, params):
        send(id=987654321, result="for nobody")
        return "for me"

    def test_refuse(self, params):
        raise Refused(-32004, "that cannot be")

    def serve(self):
        threading.Thread(target=self.listen, daemon=True).start()
        while (message := self.messages.get()) is not None:
            self.answer(message)

    def listen(self):
        """Cancelled requests are known at once."""
        while (message := receive()) is not None:
            if "id" in message:
                self.messages.put(message)
            elif message["method"] == "$/cancelRequest":
                self.given_up.add(message["params"]["id"])
                send(method="log", params={"level": "info", "message": f"cancel {message['params']['id']}"})
        self.messages.put(None)

    def answer(self, message):
        self.request, self.after, self.announced = message["id"], None, False
        self.cancels = message["method"] == "run/cancel"
        method = getattr(self, message["method"].replace("/", "_"), None)
        try:
            if method is None:
                raise Refused(-32601, f"no method {message['method']}")
            answer = framed({"id": self.request, "result": method(message["params"])})
            if self.announced:  # for those who measure: here it comes
                send(method="log", params={"level": "info", "message": "opened"})
            put(answer)
        except Refused as refusal:
            # What JSON-RPC itself knows is a mistake of the window: a wrong use, exit code 2.
            exit_code = 130 if refusal.code == -32800 else -32000 - refusal.code if refusal.code > -32100 else 2
            send(id=self.request, error={"code": refusal.code, "message": str(refusal),
                                         "data": {"code": CODES[exit_code], "message": str(refusal), "hint": "", "where": "",
                                                  "exit_code": exit_code}})
        if self.after:
            self.after()


if __name__ == "__main__":
    if "--die-at-start" in sys.argv:
        die()
    Engine(sys.argv[1:]).serve()
