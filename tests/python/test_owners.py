"""The driver of workers that keep their own rows, against workers that are only played: what it passes on, and what it says when
they are lost, refuse or differ."""
import json
import tempfile
import time
import unittest
from concurrent.futures import Future
from pathlib import Path
from unittest import mock

import hopscope
from hopscope import _replicas, _roster
from hopscope._owner import JOURNAL, Owner, remove
from hopscope._owners import Owners
from hopscope._version import __version__

STAGES = 3


class Peer:
    """Worker `number` of `place.size` (0 gathers). Each needs one parcel of each other one after each stage but the last."""

    def __init__(self, place, number):
        self.place, self.number, self.stage, self.done, self.got, self.ended = place, number, 1, set(), set(), False
        self.copies, self.host = {}, place.hosts.get(number, f"node-{number}")
        for worker, stage in place.copies.get(number, []):
            self.copies[worker, stage] = json.dumps([stage, worker])
            self.copies |= {(worker, stage, part): f"{worker}: own-{stage}-{part + 1}" for part in (0, 1)}

    def ask(self, what, *words):
        answer, said = Future(), self.place.fate(self, what, *words)
        if isinstance(said, Exception):
            answer.set_exception(said)
        elif said is not None or self.ended:
            answer.set_result({"host": self.host, **(said or {"lost": "it was ended"})})
        else:
            method = words[0].replace("/", "_") if what == "call" else what
            result = getattr(self, method)(*words[1 if what == "call" else 0:])
            file = {"file": result["file"]} if "file" in result else {}
            answer.set_result({"host": self.host, "version": __version__, "result": result, **file})
        return answer

    def open(self, params, begun):
        assert params["owner"] == {"index": self.number, "count": self.place.size} and bool(begun) == bool(self.number)
        return {"stage": 1, "stages": STAGES, "report": None, "notes": [], "copies": self.place.copies.get(self.number, [])}

    def stand(self):
        return {}

    def rows_wanted(self, params):
        stages = range(1, STAGES) if self.number else [STAGES]
        parcels = [{"value": 7, "stage": stage, "from": other, "rows": 5, "bytes": 20, "list": f"{stage}-{other}"}
                   for stage in stages for other in self.place.numbers if other != self.number]
        own = [{"value": 7, "stage": stage, "from": self.number, "rows": 8, "bytes": 32, "list": f"own-{stage}-{part}"}
               for stage in range(1, STAGES + 1) for part in (1, 2)]
        hears = [2] if self.number else list(range(1, STAGES + 1))
        return {"parcels": parcels, "hears": hears, "own": own if params.get("own") else []}

    def shard_list(self, params):
        assert params["stage"] == self.stage
        left = [] if self.stage in self.done else [{"loop": 1, "first": 0, "count": 10, "work": 1.0}]
        return {"shards": left, "done": 0 if left else 10, "total": 10}

    def shard_compute(self, params):
        assert params["stage"] == self.stage
        self.done.add(self.stage)
        return {"destinations": 10}

    def stage_end(self, params):
        assert params["stage"] == self.stage
        others = set(self.place.numbers) - {self.number}
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
        stage, number = json.loads(records)
        self.got.add(("records", stage, number))
        if number == self.number and {f"own-{stage}-1", f"own-{stage}-2"} <= self.got:
            self.done.add(stage)
        return {}

    def listing(self, parcel):
        return parcel["list"]

    def hand(self, _value, listing):
        stage = int(listing.split("-")[-2])
        assert stage in self.done
        return {"digest": listing, "file": f"{self.number}: {listing}"}

    def take(self, rows, parcel, digest):
        assert digest in (None, parcel["list"]) and rows == f"{parcel['from']}: {parcel['list']}"
        self.got.add(("rows", parcel["stage"], parcel["from"]) if digest else parcel["list"])
        return {"rows": 5, "bytes": 20}

    def keep(self, rows, worker, stage, number):
        assert worker != self.number
        self.copies[worker, stage, number] = rows
        return {"bytes": 32}

    def seal(self, worker, stage, records, _files):
        self.copies[worker, stage] = records
        return {}

    def kept(self, worker, stage):
        return {"records": self.copies[worker, stage], "files": {}, "sizes": [32, 32]}

    def back(self, worker, stage, number):
        return {"file": self.copies[worker, stage, number]}

    def draw(self, what, *words):
        return self.ask(what, *words), None

    def give(self, what, rows, *words):
        return self.ask(what, rows, *words)

    def end(self):
        self.ended = True


class Place:
    threads = 1

    def __init__(self, fate=lambda _peer, _what, *_words: None, size=2, hosts=()):
        self.fate, self.copies, self.size, self.hosts = fate, {}, size, dict(hosts)
        self.numbers = range(1, size + 1)

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


@mock.patch.multiple(_roster, _PAUSE=0.0, _TICK=0.01)
@mock.patch.multiple(_replicas, _PAUSE=0.0)
class Runs(unittest.TestCase):
    def drive(self, place, replicas=1, **request):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.told = []
        self.owners = Owners(place, {"output": str(Path(holder.name) / "out"), **request}, self.told.append, lambda *_: None,
                             replicas)
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

    def events(self, kind):
        return [event for event in self.told if event["event"] == kind]

    def until(self, condition):
        end = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), end, "it takes too long")
            time.sleep(0.005)

    def test_each_has_a_copy_of_what_the_other_one_has_finished(self):
        summary = self.drive(Place(), replicas=2)
        copies = [{"stage": stage, "rows": 16, "bytes": 64} for stage in range(1, STAGES)]
        self.assertEqual([worker["copies"] for worker in summary["workers"]], [copies, copies])
        self.assertEqual(sorted((e["stage"], e["worker"], e["from"]) for e in self.events("copied")),
                         [(stage, worker, 3 - worker) for stage in range(1, STAGES) for worker in (1, 2)])
        self.drive(Place())
        self.assertEqual(self.events("copied"), [])

    def test_copies_are_one_stage_behind_at_most(self):
        def fate(_peer, what, *_words):
            time.sleep(0.05 * (what == "seal"))

        self.drive(Place(fate), replicas=2)
        for number in (1, 2):
            told = [(e["event"], e["stage"]) for e in self.told if e["event"] == "finished" and e["worker"] == number
                    or e["event"] == "copied" and e["from"] == number]
            for stage in range(1, STAGES):
                self.assertLess(told.index(("copied", stage)), told.index(("finished", stage + 1)))

    def test_copies_are_kept_on_another_host_if_there_is_one(self):
        for hosts, keepers in (("aab", {1: 3, 2: 3, 3: 1}), ("aaa", {1: 2, 2: 3, 3: 1}), ("abb", {1: 2, 2: 1, 3: 1})):
            with self.subTest(hosts=hosts):
                self.drive(Place(size=3, hosts=zip((1, 2, 3), hosts)), replicas=2)
                self.assertEqual({e["from"]: e["worker"] for e in self.events("copied")}, keepers)

    def test_who_replaces_a_lost_worker_gets_back_what_was_copied(self):
        def fate(peer, what, *words):
            """Worker 2 is lost in its last stage, when everything is copied; worker 1 has not finished by then."""
            if what == "call" and words[0] == "shard/compute" and words[1]["stage"] == STAGES and not self.events("lost"):
                self.until(lambda: len(self.events("copied")) >= 4)
                if peer.number == 2:
                    peer.ended = True
                    return GONE
                self.until(lambda: self.events("lost"))
            return None

        summary = self.drive(Place(fate), replicas=2)
        self.assertEqual([worker["destinations"] for worker in summary["workers"]], [30, 30])
        self.assertEqual([(e["worker"], e["stage"], e["from"], e["destinations"]) for e in self.events("restored")],
                         [(2, stage, 1, 10) for stage in range(1, STAGES)])
        copied = sorted((e["worker"], e["from"], e["stage"]) for e in self.events("copied"))
        kept = [(2, 1, stage) for stage in range(1, STAGES)]
        self.assertEqual(copied, sorted([(1, 2, 1), (1, 2, 2), *kept, *kept]))  # what it had kept is copied again

    def test_whoever_is_lost_while_rows_are_copied(self):
        for what in ("records", "hand", "keep", "seal", "kept", "back", "take", "accept"):
            for number in (1, 2):
                with self.subTest(what=what, worker=number):
                    first = Fate(lambda peer, *words, n=number, w=what: peer.number == n and w in words[:2], 1, GONE)
                    second = Fate(lambda peer, *words: peer.number == 2 and words[0] == "call"
                                  and words[1] == "shard/compute" and words[2]["stage"] == STAGES, 1, GONE)
                    summary = self.drive(Place(lambda *words, a=first, b=second: a(*words) or b(*words)), replicas=2)
                    self.assertEqual(summary["lost"], 2 - first.times - second.times)

    def test_copies_in_folders_that_were_left_are_known(self):
        place = Place()
        place.copies = {1: [[2, 1], [2, 2]]}
        self.drive(place, replicas=2)
        self.assertEqual([(e["from"], e["stage"]) for e in self.events("copied")], [(1, 1), (1, 2)])
        self.assertLessEqual({(e["worker"], e["from"]) for e in self.events("restored")}, {(2, 1)})

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


class Sides(unittest.TestCase):
    def test_what_has_ended_the_run_of_a_worker_is_what_it_says_from_then_on(self):
        """Several threads ask it, and any of them may be the first to hear."""
        owner = Owner(None, "hopscope-none")
        says = [{"error": {"message": "the disk is full"}}, {"error": {"message": "no run is open"}}]
        with mock.patch.object(owner, "_worker") as worker:
            worker.call.side_effect = says
            self.assertEqual([owner.call("x", {}), owner.stand()], [says[0], says[0]])

    def test_copies_that_come_late_do_not_bring_a_removed_folder_back(self):
        with tempfile.TemporaryDirectory() as scratch:
            owner, folder = Owner(scratch, "hopscope-run-1"), Path(scratch, "hopscope-run-1")
            (folder / JOURNAL).mkdir(parents=True)
            self.assertEqual(owner.keep(memoryview(b"rows"), 2, 1, 0)["result"], {"bytes": 4})
            self.assertEqual(owner.seal(2, 1, "records", {}), {"result": {}})
            self.assertEqual(owner.kept(2, 1)["result"]["sizes"], [4])
            remove(scratch, "hopscope-run")
            self.assertIn("is gone", owner.keep(memoryview(b"rows"), 2, 1, 0)["lost"])
            self.assertIn("is gone", owner.seal(2, 1, "records", {})["lost"])
            self.assertEqual(list(Path(scratch).iterdir()), [])

    def test_names_of_files_that_lead_elsewhere_are_refused(self):
        """Records and copies come from other machines."""
        with tempfile.TemporaryDirectory() as scratch:
            owner, victim = Owner(scratch, "hopscope-run-1"), Path(scratch, "victim")
            (Path(scratch, "hopscope-run-1") / JOURNAL).mkdir(parents=True)
            victim.write_text("precious")
            for name in ("../../victim", str(victim), "lock", "chunks-1", "parts-1.safetensors/../../../victim", "",
                         "parts-1-2.safetensors\n"):
                for said in (owner.accept("records", {name: b"evil"}), owner.seal(2, 1, "records", {name: b"evil"})):
                    with self.subTest(name=name):
                        self.assertIn("a worker sends a file with the name", said["error"]["message"])
                        self.assertEqual(said["error"]["exit_code"], 3)
            self.assertEqual(victim.read_text(), "precious")
            self.assertEqual(owner.seal(2, 1, "records", {"parts-1-0-0-64.safetensors": b"sum"}), {"result": {}})
            seal = Path(scratch, "hopscope-run-1", JOURNAL, "copies/2/1/sealed.json")
            seal.write_text(json.dumps({**json.loads(seal.read_text()), "files": ["../../../../../victim"]}))
            self.assertEqual(owner.kept(2, 1), {"result": {"sizes": None}})

    def test_a_link_where_the_folder_of_a_worker_should_be_is_refused(self):
        with tempfile.TemporaryDirectory() as scratch:
            victim = Path(scratch, "victim")
            victim.mkdir()
            Path(scratch, "hopscope-run-1").symlink_to(victim)
            said = Owner(scratch, "hopscope-run-1").open({}, {"run": "{}", "plan": "{}"})
            self.assertIn("is a link or a folder of another user", said["error"]["message"])
            self.assertEqual(list(victim.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
