"""For tests of what happens at a moment or within a time, whether the machine is fast, slow or busy with other tests."""
SOON = 30  # seconds in which a process that is asked to end has ended on any machine; it would otherwise go on for minutes, or for good
ATTEMPTS = 50


def until_it_hits(attempt):
    """Calls `attempt` until its result is true, and returns it. It interrupts a run, and may come too late for that."""
    for _ in range(ATTEMPTS):
        if found := attempt():
            return found
    raise AssertionError(f"{ATTEMPTS} times all was over before it was reached")
