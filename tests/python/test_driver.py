"""The driver of a run on many machines against workers that are only played: what it does when they are lost, refuse or differ."""
import threading
import unittest
from concurrent.futures import Future
from unittest import mock

import hopscope
from hopscope import _driver
from hopscope._driver import Driver
from hopscope._version import __version__

STAGES, SHARDS = 3, 8


class Folder:
    """What the workers of a run have in common: which shards of which stage are finished."""

    def __init__(self):
        self.finished = {stage: [] for stage in range(1, STAGES + 1)}
        self.published = 0

    def left(self, stage):
        return [n for n in range(SHARDS) if n not in self.finished[stage]]


class Member:
    """A worker that answers at once. `fate(member, method)`: another answer, an exception, or None."""

    def __init__(self, folder, number, fate):
        self.folder, self.number, self.fate, self.stage, self.ended = folder, number, fate, 0, False

    def call(self, method, params):
        answer = Future()
        said = self.fate(self, method)
        if isinstance(said, Exception):
            answer.set_exception(said)
        else:
            here = {"host": f"node-{self.number}", "version": __version__}
            answer.set_result({**here, **(said or {"result": getattr(self, method.replace("/", "_"))(params)})})
        return answer

    def end(self):
        self.ended = True

    def place(self, report=None):
        return {"stage": self.stage, "stages": STAGES, "report": report, "notes": [], "folder": [1, 2, 3]}

    def worker_open(self, params):
        self.stage = 1
        return self.place()

    def shard_list(self, params):
        assert params["stage"] == self.stage and params["parts"] > 0
        left = self.folder.left(self.stage)
        return {"shards": [{"loop": 1, "first": 10 * n, "count": 10, "work": 10.0 + n} for n in left],
                "done": 10 * (SHARDS - len(left)), "total": 10 * SHARDS}

    def shard_compute(self, params):
        assert params["stage"] == self.stage
        shard = params["first"] // 10
        fresh = shard not in self.folder.finished[self.stage]
        self.folder.finished[self.stage].append(shard)
        return {"destinations": 10 if fresh else 0, "written": 40, "read": 80}

    def stage_end(self, params):
        assert params["stage"] == self.stage and not self.folder.left(self.stage), "a stage is left before it is finished"
        self.stage = self.stage + 1 if self.stage < STAGES else None
        if not params.get("publish"):
            return {**self.place(), "read_back": 160}
        self.folder.published += 1
        return {**self.place({"outputs": []}), "read_back": 160}


class Crew:
    threads = 2

    def __init__(self, size, fate=lambda _member, _method: None):
        self.size, self.fate, self.folder, self.members = size, fate, Folder(), []

    def member(self, number):
        self.members.append(Member(self.folder, number, self.fate))
        return self.members[-1]


class Lost:
    """Loses whoever is asked for something that `which` names, so often."""

    def __init__(self, which, times, how):
        self.which, self.times, self.how = which, times, how

    def __call__(self, member, method):
        if self.times > 0 and self.which(member, method):
            self.times -= 1
            return self.how
        return None


GONE = {"lost": "the engine was killed"}


@mock.patch.multiple(_driver, _GRACE=0.0, _PAUSE=0.0, _TICK=0.01)
class Runs(unittest.TestCase):
    def drive(self, crew, **request):
        self.told = []
        self.driver = Driver(crew, {"output": "/shared/out", **request}, self.told.append, lambda *_: None)
        report = self.driver.run()
        self.assertEqual(report, {"outputs": []})
        self.assertEqual(crew.folder.published, 1)
        for stage in range(1, STAGES + 1):
            self.assertEqual(crew.folder.left(stage), [])
        return self.driver.summary()

    def events(self, kind):
        return [event for event in self.told if event["event"] == kind]

    def test_all_shards_of_all_stages_are_computed_once_by_any_number_of_workers(self):
        for size in (1, 2, 5, 20):
            with self.subTest(size=size):
                crew = Crew(size)
                summary = self.drive(crew)
                self.assertEqual(sum(worker["destinations"] for worker in summary["workers"]), 10 * SHARDS * STAGES)
                self.assertTrue(all(len(done) == SHARDS for done in crew.folder.finished.values()))
                self.assertEqual((summary["lost"], summary["again"]), (0, 0))
                self.assertEqual([event["stage"] for event in self.events("stage")], [1, 2, 3])

    def test_workers_that_are_lost_at_any_request_are_replaced(self):
        for method in ("worker/open", "shard/list", "shard/compute", "stage/end"):
            for how in (GONE, RuntimeError("the actor died\nand more")):
                for number in (1, 2):
                    with self.subTest(method=method, how=how, number=number):
                        lost = Lost(lambda m, asked, n=number, w=method: m.number == n and asked == w, 3, how)
                        crew = Crew(2, lost)
                        summary = self.drive(crew)
                        self.assertEqual(summary["lost"] > 0, lost.times < 3)  # two requests may be lost at once
                        messages = {event["message"] for event in self.events("lost")}
                        self.assertLessEqual(messages, {"the engine was killed", "the actor died"})

    def test_the_one_that_publishes_is_lost(self):
        crew = Crew(3, Lost(lambda m, method: method == "stage/end" and m.stage == STAGES, 2, GONE))
        self.assertEqual(self.drive(crew)["lost"], 2)
        self.assertEqual([event["stage"] for event in self.events("barrier")], [1, 2, 3])
        self.assertEqual(len(self.events("retired")), 2)
        self.assertTrue(all(member.ended for member in crew.members[:-1]))

    def test_what_is_told_of_shards_adds_up(self):
        """Each begins before it ends, in the lane of its worker and with its number, and all of a stage before its barrier."""
        for size in (1, 3):
            self.drive(Crew(size))
            under_way, done = {}, set()
            for event in self.told:
                if event["event"] == "begun":
                    self.assertNotIn(event["worker"], under_way)
                    under_way[event["worker"]] = (event["stage"], event["number"])
                elif event["event"] == "shard":
                    self.assertEqual(under_way.pop(event["worker"]), (event["stage"], event["number"]))
                    self.assertEqual((event["attempt"], event["written"], event["read"]), (1, 40, 80))
                    done.add((event["stage"], event["number"]))
                elif event["event"] == "barrier":
                    self.assertEqual({number for stage, number in done if stage == event["stage"]}, set(range(1, SHARDS + 1)))
            self.assertEqual([event["stage"] for event in self.events("barrier")], [1, 2, 3])
            self.assertEqual(self.events("shard")[-1]["done"], 10 * SHARDS)
            self.assertEqual({event["worker"] for event in self.events("joined")}, set(range(1, size + 1)))
            self.assertEqual(len(self.events("left")), size * (STAGES - 1))

    def test_a_shard_that_is_given_out_again_says_so(self):
        lost = Lost(lambda m, method: method == "shard/compute" and m.number == 1, 1, GONE)
        self.drive(Crew(2, lost))
        self.assertEqual(max(event["attempt"] for event in self.events("begun")), 2)

    def test_it_is_stopped_from_another_thread(self):
        stop = threading.Event()
        crew = Crew(1)
        crew.member = lambda number: mock.Mock(call=lambda *_: Future())
        threading.Timer(0.2, stop.set).start()
        with self.assertRaises(hopscope.Cancelled):
            Driver(crew, {"output": "/shared/out"}, lambda _: None, lambda *_: None, stop).run()

    def test_a_run_goes_on_with_what_was_finished_before(self):
        crew = Crew(2)
        crew.folder.finished[1] = list(range(SHARDS))
        crew.folder.finished[2] = [0, 5]
        summary = self.drive(crew)
        self.assertEqual(sum(worker["destinations"] for worker in summary["workers"]), 10 * (2 * SHARDS - 2))
        self.assertEqual([event["done"] for event in self.events("stage")], [80, 20, 0])

    def test_results_that_are_there_are_the_end(self):
        crew = Crew(2, lambda m, method: {"result": {"stage": None, "stages": 0, "report": {"outputs": []}, "notes": ["x"],
                                                     "folder": []}})
        self.driver = Driver(crew, {"output": "out"}, lambda _: None, lambda *_: None)
        self.assertEqual(self.driver.run(), {"outputs": []})

    def raised(self, kind, says, crew, **request):
        driver = Driver(crew, {"output": "/shared/out", **request}, lambda _: None, lambda *_: None)
        with self.assertRaises(kind) as caught:
            driver.run()
        self.assertIn(says, str(caught.exception))
        self.assertEqual(crew.folder.published, 0)

    def test_what_a_worker_refuses_ends_the_run_with_its_name(self):
        refusal = {"error": {"message": "the model file", "exit_code": 3, "hint": "h", "where": "", "code": "input"}}
        for method in ("worker/open", "shard/list", "shard/compute", "stage/end"):
            crew = Crew(2, lambda m, asked, w=method: refusal if asked == w and m.number == 2 else None)
            crew.folder.finished[1] = list(range(SHARDS)) if method == "stage/end" else []
            if method == "shard/list":
                crew.fate = lambda m, asked: refusal if asked == "shard/list" else None
            with self.subTest(method=method):
                self.raised(hopscope.InputError, "on node-", crew)
        self.raised(hopscope.InputError, "worker 2 on node-2: the model file", Crew(
            2, lambda m, asked: refusal if asked == "worker/open" and m.number == 2 else None))

    def test_one_that_is_refused_when_it_comes_back_is_done_without(self):
        opened = []

        def fate(member, method):
            if method == "worker/open" and member.number == 2:
                opened.append(member)
                if len(opened) > 1:
                    return {"error": {"message": "something has changed", "exit_code": 3}}
            return GONE if method == "shard/compute" and member.number == 2 else None

        self.drive(Crew(2, fate))
        self.assertEqual([event["worker"] for event in self.events("refused")], [2])

    def test_another_folder_under_the_same_name_is_refused(self):
        def fate(member, method):
            if method != "worker/open" or member.number == 1:
                return None
            return {"result": {**member.place(), "stage": 1, "folder": [9, 9, 9]}}

        self.raised(hopscope.InputError, "worker 2 on node-2: /shared/out is a different folder there", Crew(2, fate))

    def test_another_version_is_refused(self):
        def fate(member, method):
            if method != "worker/open":
                return None
            return {"result": {**member.place(), "stage": 1}, "host": "b", "version": "9.9"}

        self.raised(hopscope.EngineError, "worker 1 on b has version 9.9 of this package", Crew(1, fate))

    def test_a_worker_that_is_lost_again_and_again_ends_the_run(self):
        crew = Crew(2, lambda _member, _method: GONE)
        self.raised(hopscope.EngineError, "lost 12 times without finishing anything, most recently worker", crew)

    def test_without_any_worker_it_ends_when_its_patience_does(self):
        crew = Crew(1)
        crew.member = lambda number: mock.Mock(call=lambda *_: Future())
        self.raised(hopscope.ResourceError, "no worker has started within 0 s", crew, wait=0.2)


if __name__ == "__main__":
    unittest.main()
