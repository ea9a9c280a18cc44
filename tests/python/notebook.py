"""Runs a notebook cell by cell in this process, as Jupyter would, without Jupyter: notebook.py FILE [--write] stores what its cells
display."""
import ast
import json
import sys
from pathlib import Path

KINDS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def code_cells(document):
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def shown(value):
    """What a front end displays of a cell's last expression, by MIME type."""
    found = {kind: getattr(value, name)() for kind, name in KINDS.items() if hasattr(value, name)}
    return {**found, "text/plain": repr(value)}


def run(document, names):
    """Executes the cells with these global names, and returns what each displays, or None."""
    displays = []
    for number, cell in enumerate(code_cells(document), 1):
        tree = ast.parse("".join(cell["source"]), f"cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)  # noqa: S102
        value = None if last is None else eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)  # noqa: S307
        displays.append(None if value is None else shown(value))
    return displays


def main(path, *options):
    document = json.loads(Path(path).read_text())
    for number, (cell, display) in enumerate(zip(code_cells(document), run(document, {})), 1):
        cell["execution_count"] = number
        cell["outputs"] = [] if display is None else [
            {"data": {kind: text.splitlines(keepends=True) for kind, text in display.items()}, "execution_count": number,
             "metadata": {}, "output_type": "execute_result"}]
    if "--write" in options:
        Path(path).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
