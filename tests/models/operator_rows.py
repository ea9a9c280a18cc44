"""Fails if the table of operators holds a name that no row of operators.py runs, or a row tests none of its names.

Usage: operator_rows.py LIST_OPERATORS
"""
import subprocess
import sys

import operators


def main():
    table = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.split()
    covered = {entry.covers for entry in operators.group.entries}
    problems = [f"{name} has no row in operators.py" for name in table if name not in covered]
    problems += [f"the row of {name} tests no operator of the table" for name in sorted(covered - set(table))]
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
