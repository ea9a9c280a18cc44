"""Malformed inputs through the command line: [CASE]...; HOPSCOPE_ENGINE names the program.

Each case writes its files, runs the engine and checks the contract: the exit code, an error of one line that names what
is wrong, nothing left in the output folder; or, where the input is odd but sound, the right answer. Prints a row each.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

import malformed_data
import malformed_models
from workshop import CASES, Workshop

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from engine_process import ENGINE, run  # noqa: E402

PREPARING = threading.Lock()     # torch.jit and torch's random numbers are the process's own
MARKS = ("terminate called", "Traceback", "Segmentation", "core dumped", "Exception raised from", "what():")


def run_engine(bench, arguments):
    command = [ENGINE, "run", *arguments, "-o", bench.out, "--verify", "none", "--quiet"]
    command = [c for c in command if c is not None]
    try:
        return run(command, capture_output=True, text=True, timeout=300, errors="replace")
    except subprocess.TimeoutExpired:
        return None


def left_behind(bench):
    return sorted(os.listdir(bench.out)) if os.path.isdir(bench.out) else []


def check_failure(case, bench, done):
    lines = [line for line in done.stderr.split("\n") if line.strip()]
    if len(lines) != 1:
        return f"{len(lines)} lines on stderr: {done.stderr.strip()[:300]!r}"
    if any(mark in done.stderr for mark in MARKS):
        return f"an error that is not a sentence: {lines[0][:300]}"
    missing = [word for word in case.names if not any(w in lines[0] for w in word.split("|"))]
    if missing:
        return f"the error does not name {missing}: {lines[0][:300]}"
    if left_behind(bench) and not case.keeps_out:
        return f"left in the output folder: {left_behind(bench)}"
    return ""


def check_answer(bench):
    if bench.expected is None:
        return "the case names no answer"
    path = os.path.join(bench.out, "out.npy")
    if not os.path.exists(path):
        return "no out.npy"
    out, expected = np.load(path), bench.expected
    if out.shape != expected.shape:
        return f"out.npy is {out.shape}, not {expected.shape}"
    return "" if np.allclose(out, expected, 1e-4, 1e-5, equal_nan=True) else "a wrong answer"


def check(case):
    with tempfile.TemporaryDirectory(prefix="hopscope-malformed-") as folder:
        with PREPARING:
            bench = Workshop(folder)
            arguments = case.prepare(bench)
        done = run_engine(bench, arguments)
        if done is None:
            return "hangs", "", ""
        line = done.stderr.strip().replace(folder, "")
        if done.returncode != case.code:
            return f"exit {done.returncode}", f"not {case.code}", line
        problem = check_answer(bench) if done.returncode == 0 else check_failure(case, bench, done)
        return f"exit {done.returncode}", problem, line


def check_json_error():
    """With --json the error is one document on stdout."""
    with tempfile.TemporaryDirectory(prefix="hopscope-malformed-") as folder:
        bench = Workshop(folder)
        done = run_engine(bench, [bench.model(), "--data", bench.text_file("graph.safetensors"), "--json"])
        error = json.loads(done.stdout)["error"]
        missing = {"code", "message", "hint", "where"} - error.keys()
        return f"exit {done.returncode}", f"no {missing}" if missing or done.returncode != 3 else "", error["message"]


def guarded(function, *arguments):
    try:
        return function(*arguments)
    except Exception as problem:
        return "broken test", f"{type(problem).__name__}: {problem}", ""


def main(only):
    warnings.filterwarnings("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    cases = [c for c in CASES if not only or c.name in only]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda c: (c.name, *guarded(check, c)), cases))
    if not only:
        rows.append(("error as JSON", *guarded(check_json_error)))
    for name, ending, problem, line in rows:
        print(f"{name:48} {ending:9} {'FAILED ' + problem if problem else ''}  {line[:200]}")
    failed = [row[0] for row in rows if row[2] or row[1] == "hangs"]
    print(f"{len(rows)} cases, {len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
