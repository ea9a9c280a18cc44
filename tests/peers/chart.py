"""The chart of README.md, in a light and a dark version, from docs/dev/benchmarks/figures.json: seconds and memory of PyG's layer-wise loop,
DGL on the whole graph, and the engine, on the graph with most of them. `figures.py` writes both files.
"""

MODELS = {"sage": "SAGE", "gcn": "GCN", "gat": "GAT"}
BARS = {"loop": "PyG, layer-wise loop", "dgl": "DGL, whole graph", "engine": "Hopscope"}
THEMES = {"light": {"text": "#1f2328", "quiet": "#59636e", "loop": "#b6bec8", "dgl": "#7d8894", "engine": "#1f6fb2", "wrong": "#bc4c00"},
          "dark": {"text": "#f0f6fc", "quiet": "#9198a1", "loop": "#4b535d", "dgl": "#7d8894", "engine": "#5aa9e6", "wrong": "#f0883e"}}
WIDTH, PANEL, LABEL, LINE, BAR, GAP = 860, 250, 66, 20, 14, 12
WRONG = 1e-3  # of the largest output


def bars_of(run):
    """Those that were measured for every model."""
    return [name for name in BARS if all("seconds" in rows.get(name, {}) for rows in run["models"].values())]


def run_of(document):
    """The first run with most bars."""
    return max(document["runs"], key=lambda run: len(bars_of(run)))


def text(x, y, words, colour, more=""):
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{more}>{words}</text>'


def bar(x, y, width, colour):
    return f'<rect x="{x:g}" y="{y:g}" width="{max(width, 1):.1f}" height="{BAR}" rx="2" fill="{colour}"/>'


def legend(run, theme):
    parts, x = [], LABEL
    for name in bars_of(run):
        words = BARS[name]
        parts += [bar(x, 8, BAR, theme[name]), text(x + BAR + 6, 20, words, theme["text"])]
        x += BAR + 6 + 7 * len(words) + 24
    return parts


def panel(run, left, title, value, written, theme):
    """One column of bars, on an axis of its own."""
    rows = run["models"]
    largest = max(value(row[name]) for row in rows.values() for name in bars_of(run))
    parts, y = [text(left, 48, title, theme["quiet"])], 60
    for row in rows.values():
        for name in bars_of(run):
            width = value(row[name]) / largest * PANEL
            parts += [bar(left, y, width, theme[name]), text(left + width + 6, y + 11, written(value(row[name])), theme["text"])]
            if title.startswith("seconds") and (row[name]["error"] or 0) > WRONG:
                parts.append(text(left + width + 48, y + 11, "wrong", theme["wrong"], ' font-weight="600"'))
            y += LINE
        y += GAP
    return parts


def drawn(document, theme):
    run = run_of(document)
    height = 60 + len(run["models"]) * (len(bars_of(run)) * LINE + GAP) + 4
    parts = legend(run, theme)
    for place, name in enumerate(run["models"]):
        y = 60 + place * (len(bars_of(run)) * LINE + GAP) + LINE + 11
        parts.append(text(0, y, MODELS[name], theme["text"], ' font-weight="600"'))
    parts += panel(run, LABEL, "seconds for all nodes", lambda row: row["seconds"], "{:.2g} s".format, theme)
    parts += panel(run, LABEL + PANEL + 140, "memory of the process", lambda row: row["peak"] / 1e9, "{:.2g} GB".format, theme)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="Inter, Helvetica, Arial, sans-serif" '
            f'font-size="13">\n' + "\n".join(parts) + "\n</svg>\n")


def charts(document):
    """{name of the file: its contents}"""
    return {f"peers-{name}.svg": drawn(document, theme) for name, theme in THEMES.items()}
