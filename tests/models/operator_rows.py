"""Fails if the table of operators holds a name that no row of operators.py runs or that the random programs of
row_programs.py leave out, if a row tests none of its names, or if an operator jumps and the table does not say so.

Usage: operator_rows.py LIST_OPERATORS
"""
import subprocess
import sys

import zoo  # noqa: F401 (imports PyTorch Geometric)

import operator_jumps
import operators
import row_programs


def listed(*arguments):
    return subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=True).stdout.split()


def unsaid_jumps():
    found = {name for name, body in operators.bodies.items() if operator_jumps.jumps(body)}
    said = set(listed("jumps"))
    problems = [f"{name} jumps: its line in the table does not say so" for name in sorted(found - said)]
    return problems if found & said else ["no jump was found at all"]


def main():
    table = listed()
    covered = {entry.covers for entry in operators.group.entries}
    problems = [f"{name} has no row in operators.py" for name in table if name not in covered]
    problems += [f"the row of {name} tests no operator of the table" for name in sorted(covered - set(table))]
    drawn = {name for seed in range(1, row_programs.COUNT + 1) for name in row_programs.steps_of(seed)}
    problems += [f"no program of row_programs.py holds {name}" for name in sorted(set(table) - drawn)]
    sys.exit("\n".join(problems + unsaid_jumps()) or 0)


if __name__ == "__main__":
    main()
