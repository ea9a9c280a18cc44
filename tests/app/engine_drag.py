"""A store that is dragged through a model of 10,000 operators: how much less the engine works for an answer than for a plan
from nothing, and that the answers are what another engine, which has seen nothing but the plan, makes of it.
HOPSCOPE_ENGINE names the program, HOPSCOPE_LARGE the folder of make_large.py; --repeats N: more answers, as a benchmark."""
import json
import os
import random
import statistics
import sys
import time
import unittest

from serve_client import Client, Refused

LARGE = os.environ["HOPSCOPE_LARGE"]
GOAL = 100  # milliseconds of work on a quiet machine: the median answer
SHARE = 0.08  # of the work for a plan from nothing: the median answer, on any machine
LONGEST = 0.25  # likewise
NEAR = 40  # operators before and behind a store that it is dragged over
repeats = int(sys.argv.pop(sys.argv.index("--repeats") + 1)) if "--repeats" in sys.argv else 6
sys.argv = [argument for argument in sys.argv if argument != "--repeats"]


def family(pid):
    """The process and all that descend from it."""
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return [pid, *(member for child in children.read().split() for member in family(int(child)))]


class Work:
    """Milliseconds that the engine has worked, in all of its processes."""

    def __init__(self, process):
        self.clocks = [(~pid << 3) | 2 for pid in family(process.pid)]  # as clock_getcpuclockid says

    def now(self):
        return sum(time.clock_gettime(clock) for clock in self.clocks) * 1000


class Drag(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = Client()
        cls.addClassCleanup(cls.client.stop)
        cls.document, cls.operators = cls.opened(cls.client)
        work = Work(cls.client.process)
        first, cls.whole = cls.optimum(work)
        cls.stores = [c["value"] for c in first["plan"]["checkpoints"] if not c["output"]]

    @classmethod
    def optimum(cls, work):
        """With a bound, that is to say not a rule's plan for want of time; and the milliseconds of work that it took."""
        before = work.now()
        for deadline in (4, 10, 30, 90):
            first = cls.plan(cls.client, cls.document, [], deadline=deadline)
            if first["plan"]["lower_bound"] is not None:
                return first, work.now() - before
        raise AssertionError("no optimum in time")

    @staticmethod
    def opened(client):
        answer = client.answer(client.ask("model/open", model=f"{LARGE}/large.pt", data=[f"{LARGE}/large"]), 300)
        return answer["document"], answer["inspect"]["ops"]

    @staticmethod
    def plan(client, document, pins, **more):
        return client.answer(client.ask("plan/make", document=document, strategy="optimal", objective="time", pins=pins,
                                        device="cpu", memory=None, batch=None, stages=None, **more), 300)

    def places(self, store, choice):
        """Results near the store, in the order in which a hand might pass over them."""
        results = [operator["outputs"][0] for operator in self.operators if operator["outputs"]]
        at = results.index(store)
        places = [v for v in results[max(0, at - NEAR):at + NEAR] if v != store]
        choice.shuffle(places)
        return places

    def dragged(self):
        """Each answer with the milliseconds that it took; what is refused is an answer, too."""
        choice, work, told, given = random.Random(3), Work(self.client.process), [], 0
        for store in choice.sample(self.stores, 4):
            for place in self.places(store, choice)[:repeats]:
                before, answer = work.now(), None
                try:
                    answer = self.plan(self.client, self.document, [["no_checkpoint", store], ["checkpoint", place]],
                                       near=True, deadline=3)
                except Refused as refused:
                    given += "deadline" in str(refused)
                told.append((work.now() - before, place, answer))
        self.assertLessEqual(given, len(told) // 12, "answers that were given up")
        return told

    def test_answers_are_quick_and_what_another_engine_says(self):
        self.assertGreater(len(self.operators), 10_000)
        told = self.dragged()
        spent = sorted(milliseconds for milliseconds, place, answer in told)
        median, late = statistics.median(spent), spent[int(0.95 * (len(spent) - 1))]
        print(f"{len(spent)} answers, milliseconds of work: median {median:.0f} (goal {GOAL}), p95 {late:.0f}, "
              f"longest {spent[-1]:.0f}; a plan from nothing {self.whole:.0f}", file=sys.stderr)
        answers = [(place, answer) for milliseconds, place, answer in told if answer]
        self.assertGreater(len(answers), len(told) // 2)
        self.compare(random.Random(5).sample(answers, 4))
        self.assertLessEqual(median, SHARE * self.whole)
        self.assertLessEqual(spent[-1], LONGEST * self.whole)

    def compare(self, answers):
        other = Client()
        self.addCleanup(other.stop)
        document, _ = self.opened(other)
        for place, answer in answers:
            with self.subTest(place):
                self.assertIn(place, [c["value"] for c in answer["plan"]["checkpoints"]])
                loaded = other.answer(other.ask("plan/load", document=document, text=json.dumps(answer["plan"])), 300)
                for stages in (answer["predicted"]["stages"], loaded["predicted"]["stages"]):
                    for stage in stages:
                        stage.pop("peak_memory")  # with what else the process holds
                self.assertEqual(loaded["predicted"]["stages"], answer["predicted"]["stages"])
                for member in ("seconds", "batch", "batches", "stores", "d2h", "h2d", "structure"):
                    self.assertEqual(loaded["predicted"][member], answer["predicted"][member], member)


if __name__ == "__main__":
    unittest.main()
