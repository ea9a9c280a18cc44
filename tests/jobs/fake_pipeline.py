"""When a made-up GPU's batches are in which phase: each phase is a lane that takes one batch at a time, a few batches are under
way at once, and a batch goes through all lanes in order. So lanes overlap as they do on a GPU."""

LANES = ("block", "gather", "h2d", "compute", "d2h", "write")
MILLISECONDS = (1.5, 3, 4, 6, 2, 2.5)  # a batch's, in each lane
SLOTS = 5
COPIES = ("h2d", "d2h")


class Pipeline:
    def __init__(self, begin):
        self.free = [begin] * len(LANES)  # when each lane is
        self.ends = []  # of the batches so far
        self.spans = {lane: [] for lane in LANES}

    def batch(self, number):
        """[(lane, start, seconds)] of the next batch, which is a little larger or smaller than others."""
        now = self.ends[-SLOTS] if len(self.ends) >= SLOTS else 0
        phases = []
        for at, lane in enumerate(LANES):
            start = max(now, self.free[at])
            seconds = MILLISECONDS[at] / 1000 * (1 + .15 * (number % 3 - 1))
            now = self.free[at] = start + seconds
            self.spans[lane].append((start, now))
            phases.append((lane, start, seconds))
        self.ends.append(now)
        return phases

    def overlap(self):
        """The time in which it copied and computed, as a share of the shorter of the two."""
        copies = union([span for lane in COPIES for span in self.spans[lane]])
        computing = union(self.spans["compute"])
        both = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in copies for b in computing)
        return both / min(sum(end - begin for begin, end in spans) for spans in (copies, computing))


def union(spans):
    apart = []
    for begin, end in sorted(spans):
        if apart and begin <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((begin, end))
    return apart
