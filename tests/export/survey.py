"""Exports all models of lists of the zoo and says what is wrong: LIST... [--only NAME]. Not a test: prints one line per model
that is refused or differs."""
import argparse
import tempfile
import traceback
from pathlib import Path

from exported import cases, complaints, engine, graphs_of


def judge(case, roles=()):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "exported"
        words = [word for role in case.get("roles", "").split(";") if role for word in ("--role", role)]
        made = engine("export", case["model"], "--data", case["data0"], *words, "-o", folder, "--quiet")
        if made.returncode:
            return f"exit {made.returncode}: {made.stderr.strip().splitlines()[-1][:600]}"
        try:
            return "; ".join(complaints(folder, graphs_of(case), scratch))
        except Exception as problem:
            return f"{type(problem).__name__}: {str(problem)[:500]} {traceback.format_exc().splitlines()[-4:-1]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lists", nargs="+")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    good = bad = 0
    for path in options.lists:
        for case in cases(path):
            if case.get("expect", "ok") != "ok" or options.only not in case["name"]:
                continue
            problem = judge(case)
            good, bad = good + (not problem), bad + bool(problem)
            if problem:
                print(f"{case['name']}: {problem}", flush=True)
    print(f"{good} models agree, {bad} do not")


if __name__ == "__main__":
    main()
