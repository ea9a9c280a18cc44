"""When made-up workers compute which shard: they take the next one as soon as they are free, the first worker is the slowest,
and the second one is killed in stage 2, where another begins in its place."""

SHARDS = 12
SECONDS = .05  # of a shard
HOSTS = ("node-a", "node-b")


class Workers:
    def __init__(self, count, nodes):
        self.count, self.rows, self.nodes = count, nodes // SHARDS, nodes // SHARDS * SHARDS
        self.free = {number: .4 + .03 * number for number in range(1, count + 1)}  # when each has joined

    def host(self, number):
        return HOSTS[(number - 1) % len(HOSTS)]

    def worker(self, number, what, time, message=None):
        return {"type": "worker", "worker": number, "what": what, "host": self.host(number), "message": message, "time": time}

    def joined(self):
        starting = [self.worker(number, "starting", 0.) for number in self.free]
        return starting + [self.worker(number, "joined", time) for number, time in self.free.items()]

    def stage(self, index, count, begin):
        """All events of a stage in the order of their times, and when it is over."""
        begin = max(begin, min(self.free.values()))
        self.free = {number: max(time, begin) for number, time in self.free.items()}
        events = [{"type": "stage", "index": index, "count": count, "destinations": self.nodes, "time": begin, "done": 0,
                   "shards": SHARDS}]
        waiting = [(shard, 1) for shard in range(1, SHARDS + 1)]
        kills = index == 2 and self.count > 1
        while waiting:
            number = min(self.free, key=lambda n: (self.free[n], n))
            (shard, attempt), start = waiting.pop(0), self.free[number]
            seconds = SECONDS * (1 + .1 * (shard % 3)) * (1.6 if number == 1 else 1)
            named = {"type": "shard", "worker": number, "stage": index, "shard": shard, "loop": 1, "work": 18. * self.rows,
                     "first": (shard - 1) * self.rows, "count": self.rows, "attempt": attempt, "begin": start}
            nothing = {"destinations": None, "written": None, "read": None, "done": None}
            events.append({**named, **nothing, "outcome": "begun", "end": None, "time": start})
            if kills and number == 2:
                kills, end = False, start + seconds / 2
                events += [{**named, **nothing, "outcome": "lost", "end": end, "time": end},
                           self.worker(2, "lost", end, "the engine was killed, as the system does when memory runs out"),
                           self.worker(2, "starting", end + .02), self.worker(2, "joined", end + .12)]
                waiting.append((shard, attempt + 1))
                self.free[2] = end + .12
                continue
            self.free[number] = end = start + seconds
            events.append({**named, "outcome": "computed", "end": end, "destinations": self.rows, "written": 64 * self.rows,
                           "read": 256 * self.rows, "time": end})
        over = max(event["end"] for event in events if event.get("end"))
        events.sort(key=lambda event: event["time"])
        for done, event in enumerate([event for event in events if event.get("outcome") == "computed"], 1):
            event["done"] = done * self.rows
        events += [{"type": "barrier", "stage": index, "time": over},
                   {"type": "stage_end", "index": index, "seconds": over - begin, "overlap": None, "time": over}]
        if index == count:
            events += [self.worker(number, "done", over) for number in self.free if number > 1]
        for number in self.free:
            self.free[number] = over + .03
            if index < count:
                events.append({"type": "read_back", "worker": number, "stage": index, "begin": over, "end": over + .02,
                               "bytes": 42 * self.nodes})
        return events, over
