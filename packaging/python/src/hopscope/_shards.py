"""The shards of a stage: those that wait, those in flight with their workers, and those to start a second time. A
worker is represented by its number."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

_PATIENCE = 30.0  # seconds that any shard may take
_LATE = (
    3.0  # times the usual duration: the shard is started elsewhere, and its worker gets no other one before it answers
)
_SLOW, _LEAST = 1.5, 1.0  # likewise, and seconds, where nothing else is left to do


@dataclass(frozen=True, order=True)
class Shard:
    """Destinations of a loop. `work`: edges, and 8 for each destination; `number`: in the list of its stage, from 1."""

    loop: int
    first: int
    count: int
    work: float
    number: int = field(default=0, compare=False)


@dataclass
class Attempt:
    """`begun`: when its computation had certainly begun; None while another shard of the same worker precedes it."""

    shard: Shard
    worker: int
    begun: float | None = None
    late: bool = False


@dataclass
class Shards:
    """`depth`: the number of shards that a worker holds at once, so that it never waits for the next one. `given`: the
    number of times that a shard was assigned."""

    waiting: list[Shard]
    depth: int = 2
    attempts: list[Attempt] = field(default_factory=list)
    finished: set[Shard] = field(default_factory=set)
    given: Counter[Shard] = field(default_factory=Counter)
    again: int = 0
    _rates: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, shards: Sequence[Shard]) -> Shards:
        return cls(sorted(shards, key=lambda shard: shard.work, reverse=True))

    @property
    def done(self) -> bool:
        return not self.waiting and all(attempt.shard in self.finished for attempt in self.attempts)

    def take(self, worker: int, now: float) -> Shard | None:
        """Returns the next shard for a worker, the largest first; if none waits, one that another worker computes
        slowly."""
        own = [attempt for attempt in self.attempts if attempt.worker == worker]
        if len(own) >= self.depth or any(self.is_late(attempt, now) for attempt in own):
            return None
        held = {attempt.shard for attempt in own}
        shard = next((item for item in self.waiting if item not in held), None)
        if shard is not None:
            self.waiting.remove(shard)
        elif not own:
            shard = self._slowest(worker, now)
        if shard is None:
            return None
        self.given[shard] += 1
        self.attempts.append(Attempt(shard, worker, None if own else now))
        return shard

    def answered(self, worker: int, shard: Shard, now: float) -> bool:
        """Records a finished attempt; returns whether it is the first of its shard to finish."""
        mine = next(item for item in self.attempts if item.worker == worker and item.shard == shard)
        self.attempts.remove(mine)
        if mine.begun is not None:
            self._rates.append((now - mine.begun) / max(shard.work, 1.0))
        following = next((item for item in self.attempts if item.worker == worker), None)
        if following is not None:
            following.begun = now
        first = shard not in self.finished
        self.finished.add(shard)
        if shard in self.waiting:
            self.waiting.remove(shard)
        return first

    def lost(self, worker: int) -> list[Shard]:
        """Handles the loss of a worker: shards that it alone had wait again."""
        gone = [item for item in self.attempts if item.worker == worker]
        self.attempts = [item for item in self.attempts if item.worker != worker]
        alone = [item.shard for item in gone if self._attempts_at(item.shard) == 0]
        return [shard for shard in alone if self._wait_again(shard)]

    def overdue(self, now: float) -> list[Attempt]:
        """Attempts that now take too long. Their shards, and those queued behind them, wait again for another
        worker."""
        late = [item for item in self.attempts if self.is_late(item, now) and not item.late]
        workers = {item.worker for item in late}
        for item in late:
            item.late = True
        for item in self.attempts:
            if item.worker in workers and item.shard not in self.finished and self._attempts_at(item.shard) == 1:
                self._wait_again(item.shard)
        return late

    def is_late(self, attempt: Attempt, now: float) -> bool:
        return attempt.begun is not None and now - attempt.begun > max(_PATIENCE, _LATE * self._usual(attempt.shard))

    def _slowest(self, worker: int, now: float) -> Shard | None:
        """Returns a shard that takes longer than usual and has one attempt only."""
        slow = [
            item
            for item in self.attempts
            if item.begun is not None
            and item.worker != worker
            and item.shard not in self.finished
            and self._attempts_at(item.shard) == 1
            and self._rates
            and now - item.begun > max(_LEAST, _SLOW * self._usual(item.shard))
        ]
        if not slow:
            return None
        self.again += 1
        return min(slow, key=lambda item: item.begun or 0.0).shard

    def _usual(self, shard: Shard) -> float:
        return statistics.median(self._rates) * shard.work if self._rates else 0.0

    def _attempts_at(self, shard: Shard) -> int:
        return sum(item.shard == shard for item in self.attempts)

    def _wait_again(self, shard: Shard) -> bool:
        if shard in self.finished or shard in self.waiting:
            return False
        self.again += 1
        self.waiting.append(shard)
        self.waiting.sort(key=lambda item: item.work, reverse=True)
        return True
