"""Seeds one fault after the other into the sources and shows which tier of tests notices it:

    mutants.py [FOLDER] [--tier quick|default|full] [--only TEXT]... [--jobs N] [--markdown FILE]
    mutants.py --check                 only whether each fault still fits the sources; itself a test

All faults (mutants/*.txt; seeded_faults.py says how they are written) go into one copy of the sources, FOLDER/tree,
each behind a switch that an environment variable turns on, so that one build serves all. FOLDER is build/mutants if
none is given. Nothing is written into the checkout.

The tiers are labels of CTest: "quick" are entries with the label quick, "default" those and the ones with neither
label, "full" all. Each entry first runs alone and without a fault, which tells how long it takes and which switches
it reaches. Then each fault is turned on for the entries that reach its switch until one prints that it fails, or takes
more than three times as long and another 30 seconds: first the one that noticed it before, as docs/dev/mutants.md says, then
those that look at its module, the fastest first. An entry that does not reach a switch cannot notice what is behind it, so
it need not be run. Entries that prepare files for others run once, without a fault.

What is known is kept in FOLDER/state.json, as long as no source changes: a run that was interrupted goes on; its table calls
what it has not tried yet undecided. Exits
with 1 if the tier "default" notices fewer than 95 % of what any tier notices, if a fault survives that its file does
not call equivalent, or if an entry fails without a fault.
"""
import argparse
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from seeded_faults import ROOT, Copy, Misfit, check, faults

READS_SOURCES = re.compile(r"house_|mutants_fit")
TIERS = ("quick", "default", "full")
TABLE = ROOT / "docs/dev/mutants.md"
ENOUGH = 0.95
PASSES = "passes"
# The lines that report a failed test: of doctest, Qt, unittest, and the runner of models.
FAILED = re.compile(r": ERROR: |^FAIL!  : |\.\.\. (FAIL|ERROR)$|^\S+ +[A-Z]{4,} ")
# Where a fault in a module is most likely to be noticed: entries that begin with one of these words.
LOOK_FIRST = {"analysis": ("models",), "debugger": ("engine_watched",), "device": ("engine_fake",),
              "forecast": ("executor", "engine_watched"), "jobs": ("workbench", "engine_client"), "kernels": ("executor",),
              "models": ("workers", "window_workers", "run_panels"), "operators": ("models", "operator_rows"),
              "pipeline": ("engine_watched",), "placement": ("optimiser", "engine_placed"),
              "schema": ("engine_refuses", "export")}


# ---- entries of CTest


@dataclass
class Entry:
    name: str
    tier: str
    serial: bool
    prepares: bool


def tier_of(labels):
    return next((tier for tier in ("quick", "full") if tier in labels), "default")


def entries(build):
    """All that may notice a fault; those that prepare files for others come first."""
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True)
    found = []
    for test in json.loads(listed.stdout)["tests"]:
        known = {p["name"]: p["value"] for p in test.get("properties", [])}
        if not READS_SOURCES.match(test["name"]) and not known.get("DISABLED"):
            found.append(Entry(test["name"], tier_of(known.get("LABELS", [])), known.get("RUN_SERIAL", False),
                               "FIXTURES_SETUP" in known))
    return sorted(found, key=lambda entry: not entry.prepares)


class Stopped(Exception):
    pass


class Runner:
    """Runs entries, none of them twice at the same time."""

    def __init__(self, build):
        self.build = build
        self.locks, self.running, self.stopped = {}, set(), False

    def run(self, name, limit, **environment):
        """How it ends within so many seconds, and after how many."""
        lock = self.locks.setdefault(name, threading.Lock())
        command = ["ctest", "-V", "-R", f"^{re.escape(name)}$", "-FA", ".*", "--no-tests=error"]
        with lock:
            if self.stopped:
                raise Stopped
            began = time.monotonic()
            process = subprocess.Popen(command, cwd=self.build, env={**os.environ, **environment}, text=True,
                                       errors="replace", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
            how = self.wait(process, limit)
            return how, time.monotonic() - began

    def wait(self, process, limit):
        self.running.add(process)
        late = threading.Timer(limit, self.end, [process])
        late.start()
        lines = (re.sub(r"^\d+: ", "", line.rstrip()) for line in process.stdout)
        failed = any(FAILED.search(line) for line in lines)
        if failed:
            self.end(process)
        code = process.wait()
        in_time = late.is_alive()
        late.cancel()
        how = "fails" if failed else "does not end" if not in_time else PASSES if code == 0 else "fails"
        self.end(process)
        self.running.discard(process)
        if self.stopped:
            raise Stopped
        return how

    @staticmethod
    def end(process):
        """What it has started ends with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        self.stopped = True
        for process in list(self.running):
            self.end(process)


# ---- what is known


class State:
    """Another fault leaves the results of those that stay, but its switch has to be reached again."""

    def __init__(self, path, sources, all_faults):
        self.path = path
        self.lock = threading.Lock()
        known = json.loads(path.read_text()) if path.exists() else {}
        table = {one.name: one.text for one in all_faults}
        same = known.get("sources") == sources
        before = known["table"] if same else {}
        self.known = {"sources": sources, "table": table, "entries": known["entries"] if before == table else {},
                      "faults": {name: known["faults"][name] if before.get(name) == text else self.untried()
                                 for name, text in table.items()}}

    @staticmethod
    def untried():
        return {"passed": [], "seconds": 0, "caught": None}

    def trace(self, name):
        return self.known["entries"].get(name)

    def result(self, name):
        return self.known["faults"][name]

    def enter_trace(self, name, found):
        with self.lock:
            self.known["entries"][name] = found
            self.save()

    def enter(self, result, tier, name, how, seconds):
        with self.lock:
            result["seconds"] += seconds
            if how == PASSES:
                result["passed"].append(name)
            else:
                result["caught"] = [tier, f"{name} {how}"]
            self.save()

    def save(self):
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.known))
        fresh.replace(self.path)


class Hunt:
    def __init__(self, copy, state, all_faults, jobs):
        self.runner, self.state = Runner(copy.build), state
        self.faults, self.jobs = all_faults, jobs
        self.noticed = noticed_before(TABLE)
        self.entries = entries(copy.build)

    def of_tier(self, tier):
        return [entry for entry in self.entries if entry.tier == tier]

    def each(self, work, items, jobs):
        """Beside each other; what is under way when the user interrupts is forgotten."""
        with ThreadPoolExecutor(max(jobs, 1)) as pool:
            waiting = [pool.submit(work, item) for item in items]
            try:
                for one in waiting:
                    one.result()
            except BaseException:
                self.runner.stop()
                pool.shutdown(cancel_futures=True)
                raise

    # ---- without a fault

    def trace(self, tier):
        new = [entry for entry in self.of_tier(tier) if not self.state.trace(entry.name)]
        self.each(self.trace_one, [entry for entry in new if entry.prepares], 1)
        for serial, jobs in ((False, self.jobs), (True, 1)):
            self.each(self.trace_one, [entry for entry in new if not entry.prepares and entry.serial == serial], jobs)

    def trace_one(self, entry):
        with tempfile.TemporaryDirectory(prefix="hopscope-mutants-") as folder:
            how, seconds = self.runner.run(entry.name, 3600, HOPSCOPE_MUTANT_TRACE=folder)
            reached = sorted(int(path.name) for path in Path(folder).iterdir())
        found = {"passed": how == PASSES, "seconds": seconds, "reached": reached}
        self.state.enter_trace(entry.name, found)
        print(f"{entry.name:40} {seconds:6.1f} s  {how}, reaches {len(reached)}", flush=True)

    def failing(self):
        return [entry.name for entry in self.entries if self.state.trace(entry.name)
                and not self.state.trace(entry.name)["passed"]]

    # ---- with one

    def able(self, one, tier, serial, nearest):
        """The entries of the tier that can notice the fault and have not been tried, the fastest first; `nearest`: only
        those that look at its module."""
        near = LOOK_FIRST.get(one.module, ()) + (one.module,)
        before = self.noticed.get(one.name)
        found = []
        for entry in self.of_tier(tier):
            known = self.state.trace(entry.name)
            reaches = known["passed"] and one.number in known["reached"]
            if reaches and entry.serial == serial and not entry.prepares:
                if entry.name.startswith(near) or entry.name == before or not nearest:
                    found.append((entry.name != before, known["seconds"], entry.name))
        tried = self.state.result(one.name)["passed"]
        return [name for *_, name in sorted(found) if name not in tried]

    def hunt(self, tier):
        for nearest, serial in itertools.product((True, False), (False, True)):
            open_ones = [one for one in self.faults if not one.equivalent and not self.caught(one)]
            self.each(lambda one, alone=serial, near=nearest: self.hunt_one(one, tier, alone, near), open_ones,
                      1 if serial else self.jobs)

    def undecided(self, one, tiers):
        """Some entry of the tiers has not been traced, or can notice the fault and has not been tried."""
        if one.equivalent or self.caught(one):
            return False
        of_tiers = [entry for tier in tiers for entry in self.of_tier(tier)]
        return not all(self.state.trace(entry.name) for entry in of_tiers) or any(
            self.able(one, tier, serial, False) for tier in tiers for serial in (False, True))

    def caught(self, one):
        return self.state.result(one.name)["caught"]

    def hunt_one(self, one, tier, serial, nearest):
        result = self.state.result(one.name)
        for name in self.able(one, tier, serial, nearest):
            limit = 3 * self.state.trace(name)["seconds"] + 30
            how, seconds = self.runner.run(name, limit, HOPSCOPE_MUTANT=str(one.number))
            self.state.enter(result, tier, name, how, seconds)
            if how != PASSES:
                print(f"{one.name}: {tier}, {name} {how}, after {result['seconds']:.0f} s", flush=True)
                return


# ---- what came out


def noticed_before(table):
    """The entry that noticed each fault, as a table says that an earlier run has written."""
    text = table.read_text() if table.exists() else ""
    return dict(re.findall(r"^\| \w+ \| ([^|]+) \| (?:quick|default|full) \| (\w+) .* \|$", text, re.MULTILINE))


def outcome(one, result, undecided):
    if one.equivalent:
        return "equivalent", one.equivalent
    if result["caught"]:
        return tuple(result["caught"])
    tried = len(result["passed"])
    said = f"{tried} entries pass" if tried else "no entry reaches it"
    return ("undecided", f"{tried} entries pass, others are to come") if undecided else ("SURVIVES", said)


def rows(all_faults, hunt, tiers):
    found = []
    for one in all_faults:
        result = hunt.state.result(one.name)
        how, where = outcome(one, result, hunt.undecided(one, tiers))
        found.append((one.module, one.name, how, where, f"{result['seconds']:.0f}"))
    return found


def summary(found):
    """Of each module: how many faults, and how many of them each tier notices."""
    kinds = (*TIERS, "SURVIVES", "equivalent", "undecided")
    modules = sorted({row[0] for row in found})
    counts = [(module, [row[2] for row in found if row[0] == module]) for module in modules]
    counts.append(("all", [row[2] for row in found]))
    return [("module", "faults", *kinds)] + [
        (module, str(len(hows)), *(str(hows.count(kind)) for kind in kinds)) for module, hows in counts]


def markdown(found):
    def table(lines):
        ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
        return "\n".join("| " + " | ".join(line) + " |" for line in ruled)

    return "\n".join(["# Seeded faults and the tests that notice them", "",
                      "`tests/mutants.py --markdown docs/dev/mutants.md` writes this page; its docstring explains the tiers. Faults that were",
                      "added after the last run are missing. Seconds are the time of all entries that were tried with the fault. Within a",
                      "tier, the next run begins with the entry that noticed the fault last.", "", table(summary(found)), "",
                      table([("module", "fault", "tier", "entry", "seconds"), *found]), ""])


def verdict(found, failing):
    hows = [row[2] for row in found]
    noticed = sum(hows.count(tier) for tier in TIERS)
    by_default = hows.count("quick") + hows.count("default")
    for line in summary(found):
        print(f"{line[0]:12}" + "".join(f"{cell:>11}" for cell in line[1:]))
    for row in found:
        if row[2] == "SURVIVES":
            print(f"SURVIVES: {row[0]}: {row[1]} ({row[3]})")
    for name in failing:
        print(f"{name} fails without a fault")
    return 1 if failing or "SURVIVES" in hows or by_default < ENOUGH * noticed else 0


def run(options, all_faults):
    copy = Copy(options.folder, all_faults)
    copy.make()
    state = State(options.folder / "state.json", copy.key(), all_faults)
    chosen = [one for one in all_faults if not options.only or any(text in one.name for text in options.only)]
    hunt = Hunt(copy, state, chosen, options.jobs)
    tiers = TIERS[:TIERS.index(options.tier) + 1]
    try:
        for tier in tiers:
            hunt.trace(tier)
            hunt.hunt(tier)
    finally:
        found = rows(chosen, hunt, tiers)
        if options.markdown:
            options.markdown.write_text(markdown(found))
    return verdict(found, hunt.failing())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=lambda text: Path(text).resolve(), default=ROOT / "build/mutants")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tier", choices=TIERS, default="full", help="stop after this one")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only faults whose sentence has this text")
    parser.add_argument("--jobs", type=int, default=1, help="faults that are tried beside each other")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    return parser.parse_args()


def main():
    options = arguments()
    all_faults = faults()
    try:
        if options.check:
            check(all_faults)
            return 0
        return run(options, all_faults)
    except Misfit as misfit:
        return str(misfit)
    except KeyboardInterrupt:
        return "interrupted; the same command goes on from here"


if __name__ == "__main__":
    sys.exit(main())
