"""The Python reference (docs/reference/python.md), made of the docstrings of the package: `reference.py` prints the page, and
`reference.py --write` writes it. Sentences before its first mark are written by hand."""
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/python.md"
MARK = "<!-- from the docstrings, by tests/python/reference.py -->\n"
SECTIONS = {
    "Running": ["inference", "run", "Inference", "Report", "StageRun", "OperatorRun", "NotFinite"],
    "Models": ["save", "export_program", "inspect", "trust", "Saved", "Inspection", "Operator", "Value", "Lint"],
    "Plans": ["plan", "Plan", "Stage", "Cut"],
    "Verification": ["verify", "compare", "Verification", "Compared", "Comparison", "ComparedOutput"],
    "Exported folders": ["export", "load", "Export", "Exported", "LayeredFlow", "Layer", "Block", "Nodes", "Edges"],
    "Debugging": ["debug.compare", "debug.non_finite", "debug.breakpoints", "debug.watch", "debug.tensor", "debug.memory",
                  "debug.Divergence", "debug.NonFinite", "debug.Maker", "debug.Hits", "debug.Watched", "debug.Tensor", "debug.StageMemory",
                  "debug.LoopMemory", "debug.Place", "debug.Row"],
    "Window, devices and tables": ["open", "devices", "engine", "Window", "Devices", "Device", "Engine", "Table"],
    "Failures": ["HopscopeError"],
}
HEADING = re.compile(r"^(Args|Attributes|Returns|Raises|Example):\n", re.MULTILINE)
ENTRY = re.compile(r"^(?! )(?:(\*{0,2}[\w.]+)(?: \((.*?)\))?|([^\n]*?)): (.*(?:\n +.*)*)", re.MULTILINE)
WIDTH = 110


def found(name):
    """An object of the package by its name."""
    import hopscope

    item = hopscope
    for part in name.split("."):
        item = getattr(item, part)
    return item


def parts(item):
    """The sections of a docstring: "" is the text before the first one, entries are (name, type, text), an example is text."""
    text, *sections = HEADING.split(inspect.getdoc(item) or "")
    made = {"": text.strip()}
    for name, body in zip(sections[::2], sections[1::2]):
        body = inspect.cleandoc("\n" + body)
        made[name] = body if name == "Example" else entries(body)
    return made


def entries(body):
    return [(one[1] or one[3], one[2] or "", " ".join(one[4].split())) for one in ENTRY.finditer(body)]


def own_parameters(item):
    """Those that are not settings, which have a page of their own."""
    from hopscope._contract import SETTINGS

    taken = inspect.signature(item).parameters
    settings = {setting.name for setting in SETTINGS} if {"device", "strategy"} <= set(taken) else set()
    return [parameter for name, parameter in taken.items() if name not in settings], bool(settings)


def signature(name, item):
    """The call without types: the table below it has them."""
    listed, with_settings = own_parameters(item)
    if name == "run":
        listed, with_settings = listed[:3], True
    words, keyword = [], False
    for parameter in listed:
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            words.append("*")
            keyword = True
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        words.append({parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name + default)
    if with_settings:
        words.append("**options" if name == "run" else "**settings")
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= WIDTH else f"{name}(\n    {folded(words)}\n)"


def folded(words):
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f"{word}, "
    return "\n    ".join(line.rstrip() for line in lines).rstrip(",")


def linked(text):
    """Paths of pages are links."""
    return re.sub(r"docs/reference/([\w-]+\.md)", r"[\1](\1)", re.sub(r"docs/(?!reference)(\w+/)([\w-]+\.md)", r"[\2](../\1\2)", text))


def kind(text):
    return f"`{text.replace(' | ', ' or ')}`" if text else ""


def table(head, rows):
    cells = [" | ".join(cell.replace("|", r"\|") for cell in row) for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {row} |" for row in cells)]) + "\n"


def arguments(item, listed):
    from hopscope._contract import SETTINGS

    settings = {setting.name for setting in SETTINGS} if own_parameters(item)[1] else set()
    rows = [(f"`{name}`", kind(of), text) for name, of, text in listed if name not in settings]
    if settings and len(rows) < len(listed):
        rows.append(("`**settings`", "", "The [settings](settings.md) that the function takes."))
    return table(("argument", "type", "meaning"), rows)


def function(name):
    item = found(name)
    said = parts(item)
    lines = [f"### hopscope.{name}", f"```python\n{signature(name.rpartition('.')[2], item)}\n```\n", said[""] + "\n"]
    if "Args" in said:
        lines.append(arguments(item, said["Args"]))
    lines += [f"Returns {kind(of)}: {text}\n" for of, _, text in said.get("Returns", ())]
    if "Raises" in said:
        lines.append("Raises:\n\n" + "\n".join(f"- `{of}`: {text}" for of, _, text in said["Raises"]) + "\n")
    return "\n".join(lines + example(said))


def example(said):
    return [f"```python\n{said['Example']}\n\n```\n"] if "Example" in said else []


def members(item):
    """Public methods and properties that the class defines, with their docstrings."""
    for name, member in vars(item).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            yield name, member


def member(name, item):
    said = parts(item)
    if isinstance(item, property):
        return f"- `{name}`: {' '.join(said[''].split())}"
    text = [f"- `{signature(name, item)}`: {' '.join(said[''].split())}"]
    text += [f"`{given}`: {meaning}" for given, _, meaning in said.get("Args", ())]
    text += [f"Returns {kind(of)}: {meaning}" for of, _, meaning in said.get("Returns", ())]
    text += [f"Raises `{of}`: {meaning}" for of, _, meaning in said.get("Raises", ())]
    return " ".join(text)


def fields_of(item):
    """The attributes of a class and of those that it derives from."""
    listed = {}
    for one in reversed(item.__mro__):
        if one.__module__.startswith("hopscope"):
            listed.update({name: (name, of, text) for name, of, text in parts(one).get("Attributes", ())} if one.__doc__ else {})
    return list(listed.values())


def described(name):
    item = found(name)
    said = parts(item)
    lines = [f"### {name}", said[""] + "\n"]
    listed = fields_of(item)
    if listed:
        lines.append(table(("attribute", "type", "meaning"), [(f"`{one}`", kind(of), text) for one, of, text in listed]))
    listed = [member(one, made) for one, made in members(item)]
    if listed:
        lines.append("\n".join(listed) + "\n")
    return "\n".join(lines + example(said))


def page():
    """The whole page."""
    text = PAGE.read_text().partition(MARK)[0] + MARK
    for title, names in SECTIONS.items():
        text += f"## {title}\n" + "\n".join(described(name) if inspect.isclass(found(name)) else function(name) for name in names) + "\n"
    head, mark, made = text.rpartition(MARK)
    return head + mark + linked(made).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "packaging/python/src"))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page())
    else:
        print(page(), end="")
