"""`hopscope-engine worker` without a shared folder, as a program uses it that passes rows from one worker to another.
HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import resource
import shutil
import signal
import unittest
from pathlib import Path

import numpy
from safetensors.numpy import load_file

import engine_models as models
from engine_commands import engine
from engine_resume import JOURNAL
from engine_shards import Reference, checked, right, samples_and_outputs
from engine_worker import PATIENCE, WorkerTest, asked, compute, shards_of
from serve_client import Refused
from tiers import one_in


class OwnersTest(WorkerTest):
    def owner(self, case, index, count, begun=None, options=None, **more):
        """A worker with the answer to worker/open; `begun`: the client with whose run it goes on."""
        client = self.worker(**(options or {}))
        folder = self.out if index == 0 else self.folder / f"owner-{index}"
        if begun is not None:
            more["begun"] = {name: (begun.folder / JOURNAL / f"{name}.json").read_text() for name in ("run", "plan")}
        client.folder = folder
        params = asked(case.words)
        if "memory" in params:
            params["memory"] = 256 << 20  # as the words have it
        place = client.call("worker/open", **params, output=str(folder), owner={"index": index, "count": count},
                            writes=[str(self.folder)], **more)
        return client, place

    def end(self, crew):
        for client in crew:
            client.stop()
            shutil.rmtree(client.folder)

    def crew(self, case, count):
        """Who gathers, and the owners; with the number of stages."""
        first, place = self.owner(case, 0, count)
        return [first] + [self.owner(case, p, count, first)[0] for p in range(1, count + 1)], place["stages"]


def finish(client, stage):
    requests = [compute(client, stage, shard) for shard in shards_of(client, stage, 4)]
    return sum(client.answer(request, PATIENCE)["destinations"] for request in requests)


def hear(client, crew, stage, wanted):
    """Records and rows that a worker needs of others before it leaves a stage."""
    for other in crew[1:] if stage in wanted["hears"] else ():
        if other is not client:
            told = other.call("records/export", stage=stage)
            for name in told["files"]:
                (client.folder / JOURNAL / name).write_bytes((other.folder / JOURNAL / name).read_bytes())
            client.call("records/import", records=told["records"])
    for parcel in wanted["parcels"]:
        if parcel["stage"] == stage:
            pass_on(crew[parcel["from"]], client, parcel)


def pass_on(source, client, parcel):
    file = str(client.folder / "rows")
    sent = source.call("rows/export", value=parcel["value"], list=parcel["list"], file=file)
    taken = client.call("rows/import", value=parcel["value"], list=parcel["list"], file=file, digest=sent["digest"])
    assert (sent["rows"], sent["bytes"]) == (taken["rows"], taken["bytes"]) == (parcel["rows"], parcel["bytes"])
    Path(file).unlink()


def together(crew, stages):
    """The report; how many destinations each has computed."""
    wanted = [client.call("rows/wanted") for client in crew]
    done = [0] * len(crew)
    for stage in range(1, stages + 1):
        for at, client in enumerate(crew[1:], 1):
            done[at] += finish(client, stage)
        for client, needed in zip(crew, wanted):
            if client is crew[0] or stage < stages:
                hear(client, crew, stage, needed)
                place = client.call("stage/end", stage=stage, publish=client is crew[0] and stage == stages)
                if client is crew[0]:
                    last = place
    return last["report"], done


def runs_in(file):
    return numpy.fromfile(file, numpy.int64).reshape(-1, 2)


class Runs(OwnersTest):
    def test_owners_give_the_bits_of_a_run(self):
        for name, count in (("sage", 1), ("sage", 3), ("normed", 2), ("frontier", 2), ("batches", 2)):
            with self.subTest(model=name, owners=count):
                case = self.case(name)
                crew, stages = self.crew(case, count)
                report, done = together(crew, stages)
                right(case, self.out)
                self.valid("report", report)
                self.assertEqual(sum(done), case.destinations)
                self.assertEqual(sum(stage["destinations"] for stage in report["stages"]), case.destinations)
                self.end(crew)

    def test_samples_and_outputs_of_all_kinds(self):
        for name, words in samples_and_outputs(self, one_in(3, ("gat", "gcn", "jknet"))):
            with self.subTest(model=name):
                case = Reference(name, words, self.folder, "--threads", "1")
                crew, stages = self.crew(case, 3)
                together(crew, stages)
                right(case, self.out)
                self.end(crew)

    def test_wanted_rows_are_the_sources_of_own_edges_that_others_have(self):
        case = self.case("sage")
        crew, stages = self.crew(case, 3)
        ends = load_file(str(case.words[2]))["edge_index"]
        parts = {}  # by stage: where the part of each begins and ends
        for stage in range(1, stages + 1):
            parts[stage] = [part_of(shards_of(client, stage, 1)) for client in crew[1:]]
            for client in crew[1:]:
                finish(client, stage)
            if stage < stages:
                for client in crew[1:]:
                    hear(client, crew, stage, client.call("rows/wanted"))
                    client.call("stage/end", stage=stage)
        for at, client in enumerate(crew[1:]):
            for stage in range(1, stages):
                wanted, rows = [p for p in client.call("rows/wanted")["parcels"] if p["stage"] == stage], set()
                for parcel in wanted:
                    first, end = parts[stage][parcel["from"] - 1]
                    listed = [row for begin, count in runs_in(parcel["list"]) for row in range(begin, begin + count)]
                    self.assertEqual(parcel["rows"], len(listed))
                    self.assertTrue(all(first <= row < end for row in listed))
                    rows.update(listed)
                first, end = parts[stage + 1][at]
                mine = (ends[1] >= first) & (ends[1] < end)
                own = set(range(*parts[stage][at]))
                self.assertEqual(rows, (set(ends[0][mine].tolist()) | set(range(first, end))) - own)

    def test_stores_take_room_for_own_rows_and_those_of_others_that_are_read(self):
        case = self.case("sage")
        crew, _ = self.crew(case, 3)
        finish(crew[1], 1)
        store, = (crew[1].folder / JOURNAL).glob("*.npy.part")
        whole = store.stat().st_size
        self.assertGreater(whole, 60_000 * 4 * 96)
        self.assertLess(store.stat().st_blocks * 512, whole / 2)

    def test_a_folder_that_is_not_to_be_kept_goes_with_its_worker(self):
        case = self.case("sage")
        first, _ = self.owner(case, 0, 1)
        for keep in (True, False):
            client, _ = self.owner(case, 1, 1, first, keep=keep)
            finish(client, 1)
            self.assertEqual(client.leave(), 0)
            self.assertEqual(client.folder.exists(), keep)


def part_of(shards):
    return min(s["first"] for s in shards), max(s["first"] + s["count"] for s in shards)


class Copies(OwnersTest):
    """What a worker has finished is handed to another process that takes its place, with an empty folder."""

    def finished(self, run):
        """The crew after stage 1, and the rows, records and files that worker 2 has of it."""
        self.run = run
        crew, stages = self.crew(self.run, 2)
        wanted = [client.call("rows/wanted", own=True) for client in crew]
        self.assertEqual(wanted[0]["own"], [])
        for client in crew[1:]:
            finish(client, 1)
        owner, files = crew[2], []
        for parcel in self.of_stage(wanted[2]["own"], 1):
            files.append(self.folder / f"copy-{len(files)}")
            sent = owner.call("rows/export", value=parcel["value"], list=parcel["list"], file=str(files[-1]))
            self.assertEqual((sent["rows"], sent["bytes"]), (parcel["rows"], parcel["bytes"]))
        told = owner.call("records/export", stage=1)
        told["contents"] = {name: (owner.folder / JOURNAL / name).read_bytes() for name in told["files"]}
        return crew, stages, files, told

    def of_stage(self, parcels, stage):
        return [parcel for parcel in parcels if parcel["stage"] == stage]

    def replaced(self, crew, files, told):
        """Worker 2 is lost with its folder; who takes its place is given these."""
        crew[2].stop()
        shutil.rmtree(crew[2].folder)
        crew[2], _ = self.owner(self.run, 2, 2, crew[0])
        own = self.of_stage(crew[2].call("rows/wanted", own=True)["own"], 1)
        self.assertEqual(len(own), len(files))
        for parcel, file in zip(own, files):
            crew[2].call("rows/import", value=parcel["value"], list=parcel["list"], file=str(file), own=True)
        for name, content in told["contents"].items():
            (crew[2].folder / JOURNAL / name).write_bytes(content)
        crew[2].call("records/import", records=told["records"])
        return crew[2].call("shard/list", stage=1, parts=4)

    def test_rows_and_records_that_are_handed_back_are_not_computed_again(self):
        for name in ("sage", "normed", "frontier"):
            with self.subTest(model=name):
                crew, stages, files, told = self.finished(self.case(name))
                left = self.replaced(crew, files, told)
                self.assertEqual((left["shards"], left["done"]), ([], left["total"]))
                self.assertGreater(left["done"], 0)
                _, done = together(crew, stages)
                right(self.run, self.out)
                stage = json.loads((self.out / "report.json").read_text())["stages"][0]["destinations"]
                self.assertEqual(sum(done), self.run.destinations - stage)
                self.end(crew)
                shutil.rmtree(self.out, ignore_errors=True)

    def test_samples_and_outputs_of_all_kinds(self):
        for name, words in samples_and_outputs(self, one_in(3, ("gat", "gcn", "jknet"))):
            with self.subTest(model=name):
                crew, stages, files, told = self.finished(Reference(name, words, self.folder, "--threads", "1"))
                left = self.replaced(crew, files, told)
                self.assertEqual((left["shards"], left["done"]), ([], left["total"]))
                together(crew, stages)
                right(self.run, self.out)
                self.end(crew)

    def test_what_is_damaged_is_computed_again(self):
        for what in ("rows", "contributions"):
            with self.subTest(damaged=what):
                crew, stages, files, told = self.finished(self.case("normed"))
                if what == "rows":
                    content = bytearray(files[0].read_bytes())
                    content[17] ^= 1
                    files[0].write_bytes(content)
                else:
                    name = min(told["contents"])
                    told["contents"][name] = told["contents"][name][:-1] + b"?"
                left = self.replaced(crew, files, told)
                self.assertLess(left["done"], left["total"])
                again = sum(shard["count"] for shard in left["shards"])
                self.assertEqual(again, left["total"] - left["done"])
                together(crew, stages)
                right(self.run, self.out)
                self.end(crew)
                shutil.rmtree(self.out, ignore_errors=True)

    def test_a_copy_of_another_size_is_refused(self):
        crew, _, files, told = self.finished(self.case("sage"))
        files[0].write_bytes(files[0].read_bytes()[:-4])
        self.refuses(-32003, "these are not the rows that were handed over", self.replaced, crew, files, told)


class Plans(OwnersTest):
    def test_what_each_worker_will_do_is_told(self):
        words, plan = self.made["sage"], self.folder / "plan.json"
        said = checked(engine("plan", *words, "--workers", 3, "--network", 1, "-o", plan, "--json")).stdout
        self.assertNotIn("workers", json.loads(plan.read_text()))
        document = json.loads(said)
        self.valid("plan", document)
        workers = document["workers"]
        self.assertEqual((workers["network"], len(workers["workers"])), (1e9, 3))
        for stage in range(3):
            of = [worker["stages"][stage] for worker in workers["workers"]]
            self.assertEqual(sum(part["destinations"] for part in of), 60_000)
            self.assertEqual(sum(part["edges"] for part in of), 480_000)
            self.assertEqual(sum(part["stored_bytes"] for part in of), 60_000 * 4 * (96, 96, 32)[stage])
            ranges = [part["ranges"][0] for part in of]
            self.assertEqual([r["first"] for r in ranges[1:]], [r["first"] + r["count"] for r in ranges[:-1]])
            for part in of:
                self.assertAlmostEqual(part["halo_seconds"], part["halo_bytes"] / 1e9)
        self.assertEqual(sum(worker["stages"][2]["output_bytes"] for worker in workers["workers"]), 60_000 * 4 * 32)
        slowest = sum(max(worker["stages"][s]["seconds"] for worker in workers["workers"])
                      + max(worker["stages"][s]["halo_seconds"] for worker in workers["workers"]) for s in range(3))
        self.assertAlmostEqual(workers["seconds"], slowest + workers["gather_seconds"])
        self.assertIn("3 workers are predicted to take", workers["verdict"])

    def test_copies_are_counted_where_they_are_asked_for(self):
        words, plans = self.made["sage"], []
        for replicas in (1, 2):
            said = checked(engine("plan", *words, "--workers", 3, "--network", 0.01, "--replicas", replicas, "--json")).stdout
            self.valid("plan", json.loads(said))
            plans.append(json.loads(said)["workers"])
        alone, copied = plans
        self.assertEqual((alone["replicas"], copied["replicas"]), (1, 2))
        self.assertEqual({stage["copy_bytes"] for worker in alone["workers"] for stage in worker["stages"]}, {0})
        slowest = copied["gather_seconds"]
        for stage in range(3):
            of = [worker["stages"][stage] for worker in copied["workers"]]
            kept = [of[at - 1] for at in range(3)]  # worker 1 has the copies of worker 3
            last = stage == 2
            self.assertEqual([part["copy_bytes"] for part in of], [0 if last else part["stored_bytes"] for part in kept])
            self.assertEqual([part["copy_rows"] for part in of], [0 if last else part["destinations"] for part in kept])
            for part in of:
                self.assertAlmostEqual(part["copy_seconds"], part["copy_bytes"] / 1e7)
            before = [worker["stages"][stage - 1]["copy_seconds"] for worker in copied["workers"]] if stage else [0]
            slowest += max(max(before), *(part["seconds"] for part in of)) + max(part["halo_seconds"] for part in of)
        self.assertAlmostEqual(copied["seconds"], slowest)
        self.assertGreater(copied["seconds"], alone["seconds"])
        said = checked(engine("plan", *words, "--workers", 3, "--replicas", 2)).stdout
        self.assertIn("copies in", said)

    def test_a_slow_network_makes_one_machine_the_faster_one(self):
        words = self.made["sage"]
        said = checked(engine("plan", *words, "--workers", 2, "--network", 0.001)).stdout
        self.assertIn("for the stages at 0.001 GB/s, one machine", said)
        self.assertIn(": one machine is predicted to be faster", said)
        self.assertIn("rows of others", said)
        said = checked(engine("plan", *words, "--workers", 1)).stdout
        self.assertIn("1 worker is predicted to take", said)

    def test_what_cannot_be_predicted(self):
        words = self.made["sage"]
        self.refused(2, "--network", "plan", *words, "--network", 1)
        self.refused(2, "--workers", "plan", *words, "--workers", 0)
        self.refused(2, "one worker has no other one", "plan", *words, "--workers", 1, "--replicas", 2)


class Refusals(OwnersTest):
    def test_what_is_missing_or_damaged_is_refused(self):
        case = self.case("sage")
        crew, _ = self.crew(case, 2)
        _, one, two = crew
        parcel = next(p for p in one.call("rows/wanted")["parcels"] if p["stage"] == 1)
        names = {"value": parcel["value"], "list": parcel["list"], "file": str(self.folder / "rows")}
        self.refuses(-32602, "value", one.call, "rows/export", list="x", file="y")
        finish(two, 1)
        digest = two.call("rows/export", **names)["digest"]
        rows = numpy.fromfile(names["file"], numpy.uint8)
        rows[17] ^= 1
        rows.tofile(names["file"])
        finish(one, 1)
        self.refuses(-32003, "these are not the rows that were handed over", one.call, "rows/import", **names, digest=digest)
        for stage, says in ((1, "rows of other workers are missing"),):
            again, _ = self.owner(case, 1, 2, crew[0])
            finish(again, 1)
            self.refuses(-32002, says, again.call, "stage/end", stage=stage)
        again, _ = self.owner(case, 2, 2, crew[0])
        own = {"value": parcel["value"], "list": str(self.folder / "own"), "file": names["file"]}
        numpy.array([[0, 1]]).tofile(own["list"])  # the first row is that of the other one
        self.refuses(-32002, "have not been computed here", again.call, "rows/export", **own)
        again, _ = self.owner(case, 2, 2, crew[0])
        numpy.array([[5, 1], [5, 1]]).tofile(own["list"])
        self.refuses(-32003, "do not ascend", again.call, "rows/export", **own)

    def test_a_disk_that_has_no_room(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (12_000_000, 12_000_000))

        case = self.case("sage")
        first, _ = self.owner(case, 0, 1)
        with self.assertRaises(Refused) as caught:
            finish(self.owner(case, 1, 1, first, {"preexec_fn": limit})[0], 1)
        self.assertEqual(caught.exception.code, -32006)
        self.assertRegex(str(caught.exception), "cannot write .*owner-1.*: File too large")

    def test_records_of_others_are_needed_for_reductions(self):
        crew, _ = self.crew(self.case("normed"), 2)
        wanted = crew[1].call("rows/wanted")
        self.assertEqual(wanted["hears"], [1])
        finish(crew[1], 1)
        told = crew[1].call("records/export", stage=1)["records"]
        self.refuses(-32602, "damaged", crew[2].call, "records/import", records=told.replace("0", "1", 1))
        self.refuses(-32002, "records of other workers are missing", crew[1].call, "stage/end", stage=1)

    def test_what_makes_no_sense(self):
        case = self.case("sage")
        for owner in ({"index": 3, "count": 2}, {"index": -1, "count": 2}, {"index": 0, "count": 0}, {"index": 1}):
            self.refuses(-32602, "owner", self.worker().call, "worker/open", **asked(case.words), output=str(self.out), owner=owner)
        client, _ = self.open(case)
        self.refuses(-32002, "only by workers that share no folder", client.call, "rows/wanted")

    def test_a_run_that_others_have_begun_otherwise(self):
        case = self.case("sage")
        first, _ = self.owner(case, 0, 2)
        other = self.case("normed")
        with self.assertRaises(Refused) as caught:
            self.owner(other, 1, 2, first)
        self.assertIn("has changed: the model file", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
