"""`hopscope-engine worker` as a program uses it that deals out the shards of a run. HOPSCOPE_ENGINE names the program,
HOPSCOPE_ROOT the repository."""
import random
import shutil
import signal
import time
import unittest
from collections import Counter

import engine_models as models
import engine_process
from engine_commands import ENGINE, engine
from engine_resume import WIDTH, limit_files
from engine_shards import NODES, Reference, SharedCases, checked, computed_twice, records, right
from patience import SOON, until_it_hits
from serve_client import Client, Refused

PATIENCE = 300


def asked(words):
    """The words of a command as the parameters of worker/open."""
    words, params = [str(word) for word in words], {"data": [], "roles": []}
    params["model"] = words.pop(0)
    while words:
        option, value = words.pop(0).removeprefix("--"), words.pop(0)
        if option in ("data", "role"):
            params["data" if option == "data" else "roles"].append(value)
        else:
            params[option] = int(value) if value.isdigit() else value
    return params


class WorkerTest(SharedCases):
    def worker(self):
        client = Client(command=(ENGINE, "worker"))
        self.addCleanup(client.stop)
        return client

    def open(self, case, out=None, client=None, **more):
        client = client or self.worker()
        return client, client.call("worker/open", **asked(case.words), output=str(out or self.out), **more)

    def until_noted(self):
        end = time.monotonic() + PATIENCE
        while not records(self.out):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def interrupted(self, case, interrupt):
        """A worker in the middle of the first stage, behind interrupt(worker, number of its request)."""
        def attempt():
            client, _ = self.open(case)
            request = compute(client, 1, shards_of(client, 1, 1)[0])
            self.until_noted()
            interrupt(client, request)
            if sum(count for *_, count in records(self.out)) < NODES:
                return client
            client.stop()
            return shutil.rmtree(self.out)

        return until_it_hits(attempt)

    def refuses(self, code, says, call, *words, **params):
        with self.assertRaises(Refused) as caught:
            call(*words, **params)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(says, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))


def shards_of(client, stage, parts=8):
    return client.call("shard/list", stage=stage, parts=parts)["shards"]


def compute(client, stage, shard):
    return client.ask("shard/compute", stage=stage, loop=shard["loop"], first=shard["first"], count=shard["count"])


def together(clients, stages, deal=lambda shards, clients: [(s, clients[i % len(clients)]) for i, s in enumerate(shards)]):
    """Runs stages side by side to their end; how many destinations each client has computed, and the report."""
    done = [0] * len(clients)
    for stage in range(1, stages + 1):
        dealt = [(client, compute(client, stage, shard)) for shard, client in deal(shards_of(clients[0], stage), clients)]
        for client, request in dealt:
            done[clients.index(client)] += client.answer(request, PATIENCE)["destinations"]
        last = stage == stages
        left = [(c, c.ask("stage/end", stage=stage, publish=last and c is clients[0])) for c in clients]
        answers = [client.answer(request, PATIENCE) for client, request in left]
    return done, answers


class Sessions(WorkerTest):
    def test_one_worker_gives_the_bits_of_a_run(self):
        for name in ("sage", "normed", "frontier"):
            with self.subTest(model=name):
                case = self.case(name)
                client, place = self.open(case)
                self.assertEqual((place["stage"], place["report"]), (1, None))
                done, (last,) = together([client], place["stages"])
                self.assertEqual(done, [case.destinations])
                self.assertEqual(last["stage"], None)
                self.valid("report", last["report"])
                self.assertEqual(last["report"]["shard"]["count"], 1)
                right(case, self.out)
                self.assertEqual(client.leave(), 0)
                shutil.rmtree(self.out)

    def test_several_workers_share_the_shards_of_each_stage(self):
        for name, count in (("sage", 3), ("normed", 2), ("frontier", 2)):
            with self.subTest(model=name):
                case = self.case(name)
                clients = [self.worker() for _ in range(count)]
                opened = [c.ask("worker/open", **asked(case.words), output=str(self.out)) for c in clients]
                places = [c.answer(o, PATIENCE) for c, o in zip(clients, opened)]
                done, answers = together(clients, places[0]["stages"])
                right(case, self.out)
                self.assertEqual(sum(done), case.destinations)
                self.assertTrue(all(done))
                self.assertEqual([a["report"] is None for a in answers], [False] + [True] * (count - 1))
                self.assertEqual(answers[0]["report"]["shard"]["count"], count)
                self.assertEqual(sum(s["destinations"] for s in answers[0]["report"]["stages"]), case.destinations)
                shutil.rmtree(self.out)

    def test_shards_are_of_about_equal_work_and_cover_what_is_left(self):
        client, _ = self.open(self.case("sage"))
        left = client.call("shard/list", stage=1, parts=6)
        shards = sorted(left["shards"], key=lambda s: s["first"])
        self.assertEqual((left["done"], left["total"]), (0, NODES))
        self.assertEqual(len(shards), 6)
        self.assertEqual([s["first"] + s["count"] for s in shards[:-1]], [s["first"] for s in shards[1:]])
        self.assertEqual((shards[0]["first"], shards[-1]["first"] + shards[-1]["count"]), (0, NODES))
        self.assertEqual(sum(s["work"] for s in shards), 8 * NODES + 8 * NODES)
        self.assertLess(max(s["work"] for s in shards), 1.5 * min(s["work"] for s in shards))
        client.answer(compute(client, 1, shards[3]), PATIENCE)
        again = client.call("shard/list", stage=1, parts=6)
        self.assertEqual(again["done"], shards[3]["count"])
        self.assertNotIn(shards[3]["first"], [s["first"] for s in again["shards"]])
        self.assertEqual(client.answer(compute(client, 1, shards[3]), PATIENCE)["destinations"], 0)

    def test_a_shard_that_two_compute_at_once_has_the_same_bits(self):
        case = self.case("normed")
        (one, place), (two, _) = self.open(case), self.open(case)

        def twice(shards, clients):  # every second one, by both
            return [(s, c) for i, s in enumerate(shards) for c in (clients if i % 2 else clients[:1])]

        together([one, two], place["stages"], twice)
        right(case, self.out)

    def test_progress_of_a_shard_is_told(self):
        client, _ = self.open(self.case("sage"))
        whole, = shards_of(client, 1, 1)
        request = compute(client, 1, whole)
        client.answer(request, PATIENCE)
        told = [m["params"] for m in client.told if m["method"] == "$/progress" and m["params"]["request"] == request]
        self.assertTrue(told)
        self.assertTrue(all(t["what"] == "stage 1 of 3" and t["total"] == NODES for t in told), told)

    def test_a_run_that_was_finished_is_found(self):
        case = self.case("sage")
        client, place = self.open(case)
        together([client], place["stages"])
        late, place = self.open(case)
        self.assertEqual(place["stage"], None)
        self.assertTrue(place["report"]["shard"]["complete"])
        self.assertIn("this run had already finished", place["notes"])
        self.refuses(-32602, "no run is open", late.call, "shard/list", stage=1, parts=2)
        right(case, self.out)


class Interruptions(WorkerTest):
    def slow(self):
        """In many small batches, so that a test can interrupt it."""
        return Reference("slow", self.made["sage"], self.shared, "--threads", "1", "--batch", "100")

    def test_what_a_killed_worker_has_noted_is_not_computed_again(self):
        """The first stage goes on after each of three kills: the worker had one of four shards. In others it may end before the third."""
        draw, case = random.Random(3), self.case("normed")
        client, place = self.open(case)
        kills = Counter()
        while place["report"] is None:
            stage = place["stage"]
            try:
                for shard in shards_of(client, stage, 4):
                    request = compute(client, stage, shard)
                    if kills[stage] < 3:
                        time.sleep(draw.uniform(0, case.seconds / 6))
                        client.process.kill()
                        client.process.wait()
                        kills[stage] += 1
                    client.answer(request, PATIENCE)
                place = client.call("stage/end", stage=stage, publish=stage == place["stages"])
            except (EOFError, BrokenPipeError):
                client.process.wait()
                client, place = self.open(case)
            self.assertEqual(computed_twice(records(self.out)), 0)
        self.assertEqual((kills[1], len(kills)), (3, place["stages"]))
        right(case, self.out)

    def test_all_is_computed_but_nothing_has_appeared(self):
        for finish in ("worker", "shard"):
            with self.subTest(finish=finish):
                case = self.case("normed")
                client, place = self.open(case)
                for stage in range(1, place["stages"] + 1):
                    for shard in shards_of(client, stage, 2):
                        client.answer(compute(client, stage, shard), PATIENCE)
                    if stage < place["stages"]:
                        client.call("stage/end", stage=stage)
                client.process.kill()
                client.process.wait()
                if finish == "shard":
                    checked(engine("run", *case.words, "-o", self.out, "--shard", "1/1"))
                else:
                    client, place = self.open(case)
                    self.assertEqual(together([client], place["stages"])[0], [0])
                right(case, self.out)
                shutil.rmtree(self.out)

    def test_the_end_of_the_input_ends_it_at_once_and_shards_go_on(self):
        def ends(client, *_):
            client.process.stdin.close()
            self.assertEqual(client.process.wait(SOON), 0)

        case = self.slow()
        self.interrupted(case, ends)
        client, _ = self.open(case)
        client.answer(compute(client, 1, shards_of(client, 1, 2)[0]), PATIENCE)
        ends(client)
        checked(engine("run", *case.words, "-o", self.out, "--shard", "1/1"))
        right(case, self.out)

    def test_a_worker_goes_on_with_what_shards_have_left(self):
        case = self.case("normed")
        process = engine_process.start([ENGINE, "run", *case.words, "-o", self.out, "--shard", "2/2", "--quiet"])
        self.until_noted()
        process.kill()
        process.wait()
        client, place = self.open(case)
        self.assertGreater(client.call("shard/list", stage=1, parts=2)["done"], 0)
        together([client], place["stages"])
        right(case, self.out)

    def test_a_cancelled_shard_ends_in_the_middle_and_the_worker_opens_the_run_again(self):
        codes = []

        def cancelled(client, request):
            client.tell("$/cancelRequest", id=request)
            try:
                client.answer(request, SOON)
                codes.append(0)
            except Refused as refused:
                codes.append(refused.code)

        case = self.slow()
        client = self.interrupted(case, cancelled)
        self.assertEqual(codes[-1], -32800)
        self.refuses(-32602, "no run is open", client.call, "shard/list", stage=1, parts=2)
        _, place = self.open(case, client=client)
        together([client], place["stages"])
        right(case, self.out)

    def test_signals_end_it_and_a_run_without_records_leaves_nothing(self):
        client, _ = self.open(self.case("sage"))
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(PATIENCE), 130)
        self.assertFalse(self.out.exists())

    def test_a_full_disk_is_one_sentence_and_another_worker_goes_on(self):
        words, _ = self.save(models.Sage(6, 32, 96, 2), nodes=NODES, edges=400_000)
        case = Reference("widening", words, self.folder, "--threads", "1")

        client = self.worker()
        limit_files(client.process, 12_000_000)
        _, place = self.open(case, client=client)
        self.refuses(-32006, "File too large", together, [client], place["stages"])
        noted = len(records(self.out))
        self.assertGreater(noted, 0)
        client, place = self.open(case)
        together([client], place["stages"])
        right(case, self.out)


class Refusals(WorkerTest):
    def test_workers_that_differ_are_refused_by_what_differs(self):
        case = self.case("sage")
        first, _ = self.open(case)
        model, _, data, *_ = case.words
        other = self.folder / "other.pt"
        models.save(models.Sage(WIDTH, 96, 32, 3), models.graph(50, 200, WIDTH), other)
        same = asked(case.words)
        for says, params in (("the model file", same | {"model": str(other)}),
                             ("--threads (was 1, is 2)", same | {"threads": 2}),
                             ("--batch (was auto, is 5000)", same | {"batch": 5000}),
                             ("--strategy (was optimal, is depth)", same | {"strategy": "depth"})):
            with self.subTest(says=says):
                self.refuses(-32003, "this worker cannot join the run that others have started, because something "
                             f"has changed: {says}", self.worker().call, "worker/open", **params, output=str(self.out))
        together([first], 3)
        right(case, self.out)

    def test_what_is_in_the_way_is_refused(self):
        case, file = self.case("sage"), self.folder / "file"
        file.write_text("")
        same = asked(case.words)
        client = self.worker()
        self.refuses(-32003, "is a file, not a folder", client.call, "worker/open", **same, output=str(file))
        self.refuses(-32003, "cannot read missing.pt", client.call, "worker/open", **same | {"model": "missing.pt"}, output=str(self.out))
        self.assertFalse(self.out.exists())
        self.refuses(-32602, "output", client.call, "worker/open", **same)
        self.refuses(-32602, "threads", client.call, "worker/open", **same | {"threads": -1}, output=str(self.out))
        self.refuses(-32601, "unknown method run/start", client.call, "run/start")
        self.refuses(-32602, "no run is open", client.call, "stage/end", stage=1)
        self.open(case, client=client)
        self.refuses(-32602, "a run is open already", client.call, "worker/open", **same, output=str(self.out))
        self.refuses(-32602, "the run is at stage 1", client.call, "shard/list", stage=2, parts=2)
        self.refuses(-32602, "parts", client.call, "shard/list", stage=1, parts=0)
        self.refused(3, "locked by the workers of another run", "run", *case.words, "-o", self.out)
        self.refused(3, "locked by the workers of another run", "run", *case.words, "-o", self.out, "--shard", "1/2")
        self.refuses(-32002, "are not a range of whole tiles", client.call, "shard/compute", stage=1, loop=1, first=1, count=5)

    def test_workers_wait_no_longer_than_they_are_told(self):
        case = self.case("sage")
        (one, _), (two, _) = self.open(case), self.open(case, wait=0.5)
        two.answer(compute(two, 1, shards_of(two, 1, 2)[0]), PATIENCE)
        self.refuses(-32006, "stage 1: waiting for", two.call, "stage/end", stage=1)

    def test_too_little_memory_is_one_sentence(self):
        client = self.worker()
        with self.assertRaises(Refused) as caught:
            client.call("worker/open", **asked(self.case("sage").words), memory=1 << 14, output=str(self.out))
        self.assertIn(caught.exception.code, (-32004, -32006))
        self.assertNotIn("\n", str(caught.exception))

    def test_a_memory_limit_that_suffices_changes_no_bits(self):
        case = self.case("sage")
        client, place = self.open(case, memory=1 << 30)
        together([client], place["stages"])
        right(case, self.out)


if __name__ == "__main__":
    unittest.main()
