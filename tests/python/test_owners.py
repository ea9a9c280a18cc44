"""The driver of workers that keep their own rows, against workers that are only played: what it passes on, and what it says when
they are lost, refuse or differ."""
import json
import tempfile
import unittest
from concurrent.futures import Future
from pathlib import Path
from unittest import mock

import hopscope
from hopscope import _owners
from hopscope._owner import JOURNAL
from hopscope._owners import Owners
from hopscope._version import __version__

STAGES = 3


class Peer:
    """Worker `number` of two (0 gathers). Each needs one parcel of each other one after each stage but the last."""

    def __init__(self, place, number):
        self.place, self.number, self.stage, self.done, self.got, self.ended = place, number, 1, set(), set(), False

    def ask(self, what, *words):
        answer, said = Future(), self.place.fate(self, what, *words)
        if isinstance(said, Exception):
            answer.set_exception(said)
        elif said is not None or self.ended:
            answer.set_result({"host": f"node-{self.number}", **(said or {"lost": "it was ended"})})
        else:
            method = words[0].replace("/", "_") if what == "call" else what
            result = getattr(self, method)(*words[1 if what == "call" else 0:])
            answer.set_result({"host": f"node-{self.number}", "version": __version__, "result": result})
        return answer

    def open(self, params, begun):
        assert params["owner"] == {"index": self.number, "count": 2} and bool(begun) == bool(self.number)
        return {"stage": 1, "stages": STAGES, "report": None, "notes": []}

    def stand(self):
        return {}

    def rows_wanted(self, _params):
        stages = range(1, STAGES) if self.number else [STAGES]
        parcels = [{"value": 7, "stage": stage, "from": other, "rows": 5, "bytes": 20, "list": f"{stage}-{other}"}
                   for stage in stages for other in (1, 2) if other != self.number]
        return {"parcels": parcels, "hears": [2] if self.number else list(range(1, STAGES + 1))}

    def shard_list(self, params):
        assert params["stage"] == self.stage
        left = [] if self.stage in self.done else [{"loop": 1, "first": 0, "count": 10, "work": 1.0}]
        return {"shards": left, "done": 0, "total": 10}

    def shard_compute(self, params):
        assert params["stage"] == self.stage
        self.done.add(self.stage)
        return {"destinations": 10}

    def stage_end(self, params):
        assert params["stage"] == self.stage
        others = {other for other in (1, 2) if other != self.number}
        rows = self.stage < STAGES if self.number else self.stage == STAGES
        needed = {("rows", self.stage, other) for other in others if rows}
        if not self.number or self.stage == 2:
            needed |= {("records", self.stage, other) for other in others}
        assert needed <= self.got, needed - self.got
        self.stage += 1
        return {"notes": [], "report": {"outputs": []} if params.get("publish") else None}

    def records(self, stage):
        assert stage in self.done
        return {"records": json.dumps([stage, self.number]), "files": {}}

    def accept(self, records, _files):
        self.got.add(("records", *json.loads(records)))
        return {}

    def hand(self, parcel):
        assert parcel["stage"] in self.done and parcel["from"] == self.number
        return {"digest": parcel["list"]}

    def take(self, parcel, digest):
        assert digest == parcel["list"]
        self.got.add(("rows", parcel["stage"], parcel["from"]))
        return {"rows": 5, "bytes": 20}

    def send(self, parcel, _to):
        return self.ask("hand", parcel), "rows"

    def receive(self, parcel, digest, _rows):
        return self.ask("take", parcel, digest)

    def end(self):
        self.ended = True


class Place:
    size, threads = 2, 1

    def __init__(self, fate=lambda _peer, _what, *_words: None):
        self.fate = fate

    def peer(self, number):
        return Peer(self, number)

    def gatherer(self, output):
        (output / JOURNAL).mkdir(parents=True, exist_ok=True)
        for name in ("run", "plan"):
            (output / JOURNAL / f"{name}.json").write_text("{}")
        peer = Peer(self, 0)
        peer.open = lambda params, begun: Peer.open(peer, params, {})
        return peer


class Fate:
    """Says the same of whoever is asked for something that `which` names, so often."""

    def __init__(self, which, times, says):
        self.which, self.times, self.says = which, times, says

    def __call__(self, peer, what, *words):
        if self.times > 0 and self.which(peer, what, *words):
            self.times -= 1
            if isinstance(self.says, dict) and "lost" in self.says:
                peer.ended = True
            return self.says
        return None


GONE = {"lost": "the engine was killed"}


@mock.patch.multiple(_owners, _PAUSE=0.0, _TICK=0.01)
class Runs(unittest.TestCase):
    def drive(self, place, **request):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.told = []
        self.owners = Owners(place, {"output": str(Path(holder.name) / "out"), **request}, self.told.append, lambda *_: None)
        self.assertEqual(self.owners.run(), {"outputs": []})
        return self.owners.summary()

    def refused(self, kind, says, place, **request):
        with self.assertRaises(kind) as caught:
            self.drive(place, **request)
        self.assertIn(says, str(caught.exception))

    def test_everybody_gets_what_it_needs_and_the_results_are_gathered(self):
        summary = self.drive(Place())
        self.assertEqual([(worker["destinations"], worker["joined"]) for worker in summary["workers"]], [(30, 1), (30, 1)])
        halo = [{"stage": stage, "rows": 5, "bytes": 20} for stage in range(1, STAGES)]
        self.assertEqual([worker["halo"] for worker in summary["workers"]], [halo, halo])
        self.assertEqual((summary["gathered"], summary["lost"]), (40, 0))

    def test_whoever_is_lost_at_whatever_makes_its_rows_again(self):
        for what in ("open", "shard/list", "shard/compute", "stage/end", "hand", "take", "records", "accept", "rows/wanted"):
            for number in (0, 1, 2):
                with self.subTest(what=what, worker=number):
                    fate = Fate(lambda peer, *words, n=number, w=what: peer.number == n and w in words[:2], 1, GONE)
                    summary = self.drive(Place(fate))
                    asked = number or what in ("open", "stage/end", "take", "accept", "rows/wanted")
                    self.assertEqual(summary["lost"], 1 if asked else 0)
                    self.assertEqual(sum(event["event"] == "lost" for event in self.told), summary["lost"])

    def test_rows_that_are_lost_on_their_way_are_sent_again(self):
        fate = Fate(lambda _peer, what, *_: what == "take", 2, RuntimeError("the object is gone"))
        self.assertEqual(self.drive(Place(fate))["lost"], 0)
        self.assertEqual(fate.times, 0)

    def test_it_ends_where_nobody_finishes_anything(self):
        fate = Fate(lambda peer, what, *_: peer.number == 2 and what == "open", 10**6, GONE)
        self.refused(hopscope.EngineError, "without finishing anything, the last time worker 2", Place(fate))

    def test_what_a_worker_refuses_has_its_name(self):
        error = {"error": {"code": "input", "exit_code": 3, "message": "the model file has changed", "hint": "", "where": ""}}
        self.refused(hopscope.InputError, "worker 2 on node-2: the model file has changed",
                     Place(Fate(lambda peer, what, *_: peer.number == 2 and what == "open", 1, error)))

    def test_another_version_of_the_package(self):
        other = {"version": "0.0.9", "result": {"stage": 1, "stages": 3, "report": None, "notes": []}}
        self.refused(hopscope.EngineError, "worker 1 on node-1 has version 0.0.9 of this package",
                     Place(Fate(lambda peer, what, *_: peer.number == 1 and what == "open", 1, other)))


if __name__ == "__main__":
    unittest.main()
