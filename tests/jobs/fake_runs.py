"""Runs of the made-up engine, of one process or of several workers."""
import threading
import time

from fake_model import NODES
from fake_pipeline import Pipeline
from fake_wire import send
from fake_workers import Workers


class Run(threading.Thread):
    """A run of a few dozen batches; `step` allows one more batch or stage while it is paused."""

    def __init__(self, number, model, paused, pace, gpu, breakpoints):
        super().__init__(daemon=True)
        self.breakpoints, self.fine, self.stopped = breakpoints, False, None  # None: it cannot be stopped at operators
        self.gpu, self.pipeline = gpu, None
        self.number, self.model, self.pace = number, model, pace
        self.paused, self.allowed, self.cancelled, self.over = paused, 0, False, False
        self.clock = 0.0

    def events(self, state, *events):
        send(method="run/events", params={"run": self.number, "state": state, "events": list(events)})

    def wait(self):
        time.sleep(self.pace)
        self.hold()
        self.allowed = max(0, self.allowed - 1)

    def hold(self):
        """Until it may go on: what begins paused has computed nothing."""
        if self.paused and self.allowed == 0 and not self.fine:
            self.events("paused")
        while self.paused and self.allowed == 0 and not self.fine and not self.cancelled:
            time.sleep(.002)

    def run(self):
        self.events("preparing")
        self.hold()
        if not self.cancelled:
            self.begin()
        self.overlaps = []
        for stage in self.model.stage_ops:
            if self.cancelled or not self.stage(stage):
                break
        self.over = True
        self.events("finished")
        if self.cancelled:
            error = {"code": "cancelled", "message": "cancelled", "hint": "", "where": "", "exit_code": 130}
            return send(method="run/finished", params={"run": self.number, "error": error})
        send(method="run/finished", params={"run": self.number, "folder": "results", "report": self.model.report(self.overlaps)})

    def begin(self):
        self.events("running", {"type": "prologue", "seconds": .01})

    def stage(self, index):
        count = len(self.model.stage_ops)
        self.events("running", {"type": "stage", "index": index, "count": count, "destinations": NODES, "time": self.clock})
        begin, self.pipeline = self.clock, Pipeline(self.clock) if self.gpu else None
        for batch in range(10):
            self.wait()
            if self.cancelled or not self.operators(index, batch):
                return False
            self.batch(index, batch)
        overlap = self.pipeline.overlap() if self.gpu else None
        self.overlaps += [overlap] if self.gpu else []
        self.events("running", {"type": "stage_end", "index": index, "seconds": self.clock - begin, "overlap": overlap,
                                "time": self.clock})
        return True

    def operators(self, stage, batch):
        """Stops behind those with breakpoints, or behind the first one when somebody steps."""
        for op in self.model.stage_ops[stage] if self.breakpoints is not None else []:
            hit = any(self.holds(point, op, stage, batch) for point in self.breakpoints)
            if not hit and not self.fine:
                continue
            self.fine, self.paused, self.stopped = False, True, (op, stage, batch)
            self.events("paused", {"type": "stop", "op": op, "value": next(o for o in self.model.ops if o["id"] == op)["outputs"][0],
                                   "stage": stage, "batch": batch + 1, "breakpoint": hit, "time": self.clock})
            while self.paused and self.allowed == 0 and not self.fine and not self.cancelled:
                time.sleep(.002)
            self.stopped = None
            if self.cancelled:
                return False
            self.events("running")
        return True

    @staticmethod
    def holds(point, op, stage, batch):
        node = point.get("node")
        return point["place"] in (op, f"stage {stage}") and not point.get("not_finite") and not point.get("outside") and (
            node is None or node // (NODES // 10) == batch)

    def batch(self, stage, batch):
        phases = self.pipeline.batch(batch) if self.gpu else [("compute", self.clock, .015)]
        self.clock = phases[-1][1] + phases[-1][2] if self.gpu else self.clock + .02
        self.events("running",
                    *({"type": "phase", "stage": stage, "batch": batch, "phase": phase, "start": start, "seconds": seconds}
                      for phase, start, seconds in phases),
                    {"type": "batch", "stage": stage, "loop": "node", "batch": batch, "destinations": NODES // 10,
                     "edges": 8000, "frontier": 4000, "done": NODES // 10 * (batch + 1), "total": NODES,
                     "memory": 1 << 20, "peak_memory": 2 << 20, "reserved_memory": 5 << 19 if self.gpu else None,
                     "time": self.clock})


class DealtRun(Run):
    """A run of several workers, which cannot be paused."""

    def __init__(self, number, model, pace, workers, until):
        super().__init__(number, model, False, pace, False, None)
        self.workers, self.until = Workers(workers, NODES), until

    def begin(self):
        self.events("preparing", *self.workers.joined())

    def stage(self, index):
        events, over = self.workers.stage(index, len(self.model.stage_ops), self.clock)
        for at, event in enumerate(events):
            while index == 2 and self.until is not None and at >= self.until and not self.cancelled:
                time.sleep(.002)
            time.sleep(self.pace / 4)
            if self.cancelled:
                return False
            self.events("running", event)
        self.clock = over
        return True
