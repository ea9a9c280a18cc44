"""Fails if the table of operators holds a name that no row of operators.py runs or that the random programs of
row_programs.py leave out, or if a row tests none of its names.

Usage: operator_rows.py LIST_OPERATORS
"""
import subprocess
import sys

import operators
import row_programs


def main():
    table = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.split()
    covered = {entry.covers for entry in operators.group.entries}
    problems = [f"{name} has no row in operators.py" for name in table if name not in covered]
    problems += [f"the row of {name} tests no operator of the table" for name in sorted(covered - set(table))]
    drawn = {name for seed in range(1, row_programs.COUNT + 1) for name in row_programs.steps_of(seed)}
    problems += [f"no program of row_programs.py holds {name}" for name in sorted(set(table) - drawn)]
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
