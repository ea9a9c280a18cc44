"""Runs many random programs: each comes out equal to eager PyTorch, or is refused with a sentence that names the place.

Usage: random_programs.py TEST_MODELS FOLDER [--group wide_programs] [--first SEED] [--programs COUNT] [--step COUNT] [--engine ENGINE]
The programs are written in steps of --step and removed again; FOLDER/GROUP.txt has the results of all steps, and those of an earlier
call stay. --engine also runs one program of each 25 by the command line, fully verified. Prints how many are equal and refused, a table
of refusals, and of each that failed what it is made of; fails if a number is wrong, a program crashes or hangs, or a sentence is bad."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import coverage

HERE = os.path.dirname(os.path.abspath(__file__))
LIGHTLY = os.path.join(HERE, "..", "support", "lightly.py")
VERIFIED = 25  # one program of so many is run by the command line, too


def write_programs(arguments, first, count, folder):
    subprocess.run([sys.executable, LIGHTLY, os.path.join(HERE, "zoo.py"), folder, "--group", arguments.group, "--first", str(first), "--programs",
                    str(count)], check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/{arguments.group}.list") as file:
        return [dict(field.split("=", 1) for field in line.strip().split("\t")) for line in file]


def verified(arguments, program, folder):
    """The result of the command line with full verification, as a line of test_models."""
    command = [arguments.engine, "run", program["model"], "--data", program["data0"], "--verify", "full", "--batch", "7", "--json",
               "-o", f"{folder}/{program['name']}", "--trust"]
    for role in filter(None, program.get("roles", "").split(";")):
        command += ["--role", role]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    verdict = {0: "equal", 4: "refused", 3: "refused"}.get(done.returncode, "WRONG")
    message = done.stdout if done.returncode == 0 else done.stderr
    return f"{program['name']}_verified {verdict} 0.00 s  exit code {done.returncode}: {last_line(message)}"


def last_line(text):
    try:
        return json.loads(text.strip().splitlines()[-1])["message"]
    except (ValueError, KeyError, IndexError, TypeError):
        return " ".join(text.split())[-300:]


def run_step(arguments, first, count):
    folder = os.path.join(arguments.folder, f"step{first}")
    programs = write_programs(arguments, first, count, folder)
    text = subprocess.run([arguments.test_models, f"{folder}/{arguments.group}.list", "--configurations", "2", "-j", "1"],
                          capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if coverage.ROW.match(line)]
    if arguments.engine:
        lines += [verified(arguments, program, folder) for program in programs[::VERIFIED]]
    with open(os.path.join(arguments.folder, f"{arguments.group}.txt"), "a") as file:
        file.writelines(line + "\n" for line in lines)
    shutil.rmtree(folder)
    if len([line for line in lines if "_verified " not in line]) != count:
        sys.exit(f"{count} programs from {first} on gave {len(lines)} results")
    return lines


def kind_of(detail):
    """A refusal's sentence without names, numbers and places."""
    text = re.sub(r" \(\S+\.py:[^)]*\)| in [\w.]+(?= )", "", coverage.sentence(detail))
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "..", text))[:150]


def report(results, arguments):
    counts = Counter(r.verdict for r in results)
    print(f"{len(results)} programs: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common()))
    refusals = Counter(("forced " if not r.miss else "") + kind_of(r.detail) for r in results if r.verdict == "refused")
    for kind, number in refusals.most_common(40):
        print(f"{number:6}  {kind}")
    bad = [r for r in results if r.wrong]
    for r in bad:
        seed = int(re.search(r"\d+", r.name)[0])
        print(f"{r.name}: {r.verdict}: {r.detail[:600]}")
        if arguments.group == "wide_programs":
            import wide_programs
            print(f"    {wide_programs.described(seed)}")
        print(f"    again: zoo.py OUT --group {arguments.group} --first {seed} --programs 1")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test_models")
    parser.add_argument("folder")
    parser.add_argument("--group", default="wide_programs")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--step", type=int, default=250)
    parser.add_argument("--engine", default="")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    lines, end = [], arguments.first + arguments.programs
    for first in range(arguments.first, end, arguments.step):
        lines += run_step(arguments, first, min(arguments.step, end - first))
    return report(coverage.results_of(arguments.group, "\n".join(lines)), arguments)


if __name__ == "__main__":
    sys.exit(main())
