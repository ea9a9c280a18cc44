"""Plays the events of recorded runs at a pace of its own, and pauses between them."""
import threading
import time

from wire import Refused, send

CANCELLED = {"code": "cancelled", "message": "cancelled", "hint": "", "where": "", "exit_code": 130}
ENDS = {"batch": ("batch",), "stage": ("stage_end",)}  # the events at which a step ends


def parts(events, each):
    """The events in groups that are sent at once: `each` alone, or up to the end of a batch, of a stage, or a stop."""
    group = []
    for event in events:
        group.append(event)
        if each or event["type"] in ("batch", "stage_end", "stop"):
            yield group
            group = []
    if group:
        yield group


class Run(threading.Thread):
    """`step` allows one more batch or stage while it is paused; with breakpoints it stops behind operators."""

    def __init__(self, number, entry, name, params, pace, stand):
        super().__init__(daemon=True)
        self.number, self.entry, self.name, self.pace = number, entry, name, pace
        self.breakpoints, self.paused, self.until = params.get("breakpoints"), bool(params.get("paused")), None
        self.stopped, self.cancelled, self.over = None, False, False
        self.dealt = any(event["type"] == "worker" for event in entry["events"])  # to several workers
        # Where it stands still: before the last shard of stage 2 is ready.
        shards = [event for event in entry["events"] if event.get("outcome") == "computed" and event["stage"] == 2]
        self.stand = shards[-1] if stand and shards else None
        self.first = {}  # the first row of each batch
        for event in entry["events"]:
            if event["type"] == "batch":
                self.first[event["stage"], event["batch"] + 1] = event["done"] - event["destinations"], event["done"]

    def run(self):
        self.events("preparing")
        self.hold()
        for group in parts(self.entry["events"], self.dealt):
            while group[0] is self.stand and not self.cancelled:
                time.sleep(.002)
            if self.cancelled or not self.play(group):
                break
        self.over = True
        for state in () if self.cancelled else self.entry["ends"]:
            self.events(state)
        end = {"error": CANCELLED} if self.cancelled else self.entry["finished"]
        send(method="run/finished", params={**end, "run": self.number})

    def events(self, state, *events):
        send(method="run/events", params={"run": self.number, "state": state, "events": list(events)})

    def linger(self):
        """What is left to say of it comes late."""
        late = next((event for event in reversed(self.entry["events"]) if event["type"] == "batch"), None)
        if late:
            self.events("running", late)

    def play(self, group):
        last = group[-1]
        if last["type"] == "stop":
            return self.stop(last, group[:-1])
        time.sleep(self.pace / 4 if self.dealt else self.pace)
        if self.cancelled:
            return False
        self.events("running", *group)
        if self.until and last["type"] in ENDS[self.until]:
            self.paused, self.until = True, None
        self.hold()
        return not self.cancelled

    def hold(self):
        if self.paused and not self.until and self.stopped is None:
            self.events("paused")
        while self.paused and not self.cancelled:
            time.sleep(.002)

    def stop(self, event, before):
        """At those with breakpoints, or at the next one if somebody steps."""
        hit = any(self.holds(point, event) for point in self.breakpoints)
        if before:
            self.events("running", *before)
        if not hit and self.until != "operator":
            return True
        self.paused, self.until = True, None
        self.stopped = {name: event[name] for name in ("op", "stage", "batch")}
        self.events("paused", event | {"breakpoint": hit})
        self.hold()
        self.stopped = None
        if not self.cancelled:
            self.events("running")
        return not self.cancelled

    def holds(self, point, event):
        node, (first, end) = point.get("node"), self.first[event["stage"], event["batch"]]
        if point["place"] not in (event["op"], f"stage {event['stage']}") or point.get("not_finite") or point.get("outside"):
            return False
        return node is None or first <= node < end

    def controlled(self):
        if self.dealt:
            raise Refused(-32002, "a run of several workers cannot be paused")

    def pause(self):
        self.controlled()
        self.paused = True

    def resume(self):
        self.controlled()
        self.until, self.paused = None, False

    def step(self, unit):
        self.controlled()
        if unit == "operator":
            self.stoppable()
        self.until, self.paused = unit, False

    def stoppable(self):
        if self.breakpoints is None:
            raise Refused(-32002, "this run was started without breakpoints")

    def change(self, breakpoints):
        self.stoppable()
        self.breakpoints = breakpoints

    def cancel(self):
        self.cancelled = True
