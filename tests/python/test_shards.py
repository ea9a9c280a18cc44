"""The queue of shards: workers that are lost, late and come back."""
import random
import unittest

from hopscope._shards import Shard, Shards


def made(count, draw=None):
    draw = draw or random.Random(1)
    return [Shard(1, i * 100, 100, draw.choice([100.0, 150.0, 400.0])) for i in range(count)]


class Queue(unittest.TestCase):
    def test_the_largest_are_begun_first_and_all_are_finished_once(self):
        shards = made(40)
        queue, order = Shards.of(shards), []
        while not queue.done:
            for worker in (1, 2, 3):
                while (shard := queue.take(worker, 0.0)) is not None:
                    order.append(shard.work)
                    self.assertTrue(queue.attempts)
            for attempt in list(queue.attempts):
                self.assertTrue(queue.answered(attempt.worker, attempt.shard, 1.0))
        self.assertEqual(order, sorted(order, reverse=True))
        self.assertEqual((queue.finished, queue.again), (set(shards), 0))

    def test_a_worker_has_one_under_way_and_one_behind_it(self):
        queue = Shards.of(made(5))
        first, second = queue.take(1, 0.0), queue.take(1, 0.0)
        self.assertIsNone(queue.take(1, 0.0))
        self.assertEqual([attempt.begun for attempt in queue.attempts], [0.0, None])
        queue.answered(1, first, 4.0)
        self.assertEqual([(attempt.shard, attempt.begun) for attempt in queue.attempts], [(second, 4.0)])

    def test_what_a_lost_worker_had_goes_to_others(self):
        queue = Shards.of(made(3))
        had = [queue.take(1, 0.0), queue.take(1, 0.0)]
        self.assertEqual(sorted(queue.lost(1)), sorted(had))
        self.assertEqual((len(queue.waiting), queue.again, queue.done), (3, 2, False))
        while (shard := queue.take(2, 1.0)) is not None:
            queue.answered(2, shard, 2.0)
        self.assertTrue(queue.done)

    def test_a_late_shard_and_the_one_behind_it_are_begun_elsewhere_and_the_first_answer_counts(self):
        queue = Shards.of([Shard(1, i, 1, 10.0) for i in range(4)])
        late, behind = queue.take(1, 0.0), queue.take(1, 0.0)
        for _ in range(2):
            queue.answered(2, queue.take(2, 0.0), 1.0)
        self.assertEqual(queue.overdue(29.0), [])
        self.assertEqual([attempt.shard for attempt in queue.overdue(31.0)], [late])
        self.assertEqual(queue.overdue(31.5), [])  # it is said once
        self.assertIsNone(queue.take(1, 32.0))
        again = {queue.take(2, 32.0), queue.take(2, 32.0)}
        self.assertEqual(again, {late, behind})
        self.assertTrue(queue.answered(2, late, 33.0))
        self.assertTrue(queue.answered(2, behind, 34.0))
        self.assertTrue(queue.done)
        self.assertFalse(queue.answered(1, late, 50.0))
        self.assertFalse(queue.answered(1, behind, 51.0))
        self.assertEqual(queue.again, 2)

    def test_a_late_shard_that_comes_before_anybody_else_has_begun_it_does_not_wait_any_more(self):
        queue = Shards.of([Shard(1, 0, 1, 10.0)])
        late = queue.take(1, 0.0)
        queue.overdue(31.0)
        self.assertEqual(queue.waiting, [late])
        queue.answered(1, late, 32.0)
        self.assertEqual((queue.waiting, queue.done), ([], True))

    def test_the_limit_follows_from_what_others_took(self):
        queue = Shards.of([Shard(1, i, 1, 10.0) for i in range(5)])
        slow = queue.take(1, 0.0)
        for i in range(3):
            queue.answered(2, queue.take(2, 20.0 * i), 20.0 * (i + 1))  # 2 s per unit of work
        self.assertEqual(queue.overdue(59.0), [])
        self.assertEqual([attempt.shard for attempt in queue.overdue(61.0)], [slow])

    def test_idle_workers_begin_what_is_slow_elsewhere_once(self):
        queue = Shards.of([Shard(1, i, 1, 10.0) for i in range(3)])
        slow = queue.take(1, 0.0)
        for _ in range(2):
            queue.answered(2, queue.take(2, 0.0), 1.0)
        self.assertIsNone(queue.take(2, 1.4))
        self.assertEqual(queue.take(2, 1.6), slow)
        self.assertIsNone(queue.take(3, 1.6))
        self.assertIsNone(queue.take(2, 9.0))
        self.assertTrue(queue.answered(2, slow, 2.0))
        self.assertEqual((queue.done, queue.again), (True, 1))
        self.assertEqual(queue.lost(1), [])

    def test_nothing_to_do_is_done(self):
        self.assertTrue(Shards.of([]).done)

    def test_random_fates(self):
        for seed in range(300):
            draw = random.Random(seed)
            shards = made(draw.randrange(1, 30), draw)
            queue, now, workers = Shards.of(shards), 0.0, range(1, draw.randrange(2, 6))
            for _ in range(5000):
                if queue.done:
                    break
                now += draw.uniform(0, 3)
                worker = draw.choice(workers)
                own = [attempt for attempt in queue.attempts if attempt.worker == worker]
                fate = draw.random()
                if fate < 0.5:
                    queue.take(worker, now)
                elif fate < 0.9 and own:
                    queue.answered(worker, own[0].shard, now)
                elif fate < 0.95:
                    queue.lost(worker)
                else:
                    queue.overdue(now)
                held = [(attempt.worker, attempt.shard) for attempt in queue.attempts]
                self.assertEqual(len(held), len(set(held)), seed)
                known = queue.finished | set(queue.waiting) | {shard for _, shard in held}
                self.assertEqual(known, set(shards), seed)
                self.assertFalse(queue.finished & set(queue.waiting), seed)
            self.assertTrue(queue.done, seed)
            self.assertEqual(queue.finished, set(shards), seed)


if __name__ == "__main__":
    unittest.main()
