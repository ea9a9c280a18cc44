"""The bytes that a plan is predicted to move are those that its run counts, to the byte: plans of every strategy, in batches that
are chosen, of a given size, and within little memory. HOPSCOPE_BENCH names hopscope-bench, HOPSCOPE_ROOT the repository,
HOPSCOPE_ZOO generated models; HOPSCOPE_TIER=full takes all of them."""
import itertools
import json
import unittest

from engine_limits import samples, zoo
from engine_process import bench
from strategies import RULES
from tiers import sized

ZOO_MODELS = sized(9, 100_000)
LONG = sized({"row_program_56"}, set())  # the proof of its optimum takes seconds; `models` compares its bytes as well
LITTLE = (0.3, 0.5, 0.75, 1, 1.5, 2)  # times what is held at most without a limit: the first one that all plans fit into


class Moved(unittest.TestCase):
    def plans(self, model, data, *options):
        """Nothing where a limit of memory is not enough."""
        done = bench("plans", model, "--data", data, "--repeat", 1, "--device", "cpu", *options)
        self.assertIn(done.returncode, (0, 6), done.stderr)
        return json.loads(done.stdout)["plans"] if done.returncode == 0 else None

    def within_little_memory(self, model, data, free):
        held = max(peak for plan in free for peak in plan["peak_memory"])
        tried = (self.plans(model, data, "--memory", int(held * factor) + 1) for factor in LITTLE)
        return next((plans for plans in tried if plans), [])

    def check(self, name, plans):
        for plan in plans:
            with self.subTest(model=name, plan=plan["name"]):
                self.assertEqual(plan["predicted_bytes"], plan["bytes"])

    def test_predicted_bytes_are_those_that_are_moved(self):
        halved = little = 0
        for name, model, data in itertools.chain(samples(), (case for case in zoo(ZOO_MODELS) if case[0] not in LONG)):
            free, sevens = (self.plans(model, data, "--batch", batch) for batch in ("auto", 7))
            self.assertEqual([plan["name"] for plan in free], ["optimal, time", "optimal, bytes", *RULES])
            self.check(name, free)
            self.check(f"{name} in batches of 7", sevens)
            limited = self.within_little_memory(model, data, free)
            self.check(f"{name} in little memory", [plan for plan in limited if plan["same_batches"]])
            little += len(limited)
            halved += sum(not plan["same_batches"] for plan in limited)
        print(f"{little} plans in little memory; {halved} had a batch that did not fit, and was halved")
        self.assertLess(halved, little / 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
