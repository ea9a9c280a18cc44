"""For tests of what happens at a moment or within a time, whether the machine is fast, slow or busy with other tests."""
SOON = 30  # seconds in which what is told to end has ended everywhere; without being told it would go on for minutes, or for good
ATTEMPTS = 50


def until_it_hits(attempt):
    """What `attempt` gives, as soon as that is true. It waits for a moment of a run and may come too late: then another run begins."""
    for _ in range(ATTEMPTS):
        if found := attempt():
            return found
    raise AssertionError(f"{ATTEMPTS} times all was over before it was reached")
