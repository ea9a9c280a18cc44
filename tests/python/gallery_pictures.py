"""The pictures of docs/gallery, drawn from the names that a recipe leaves."""
import math
from html import escape

import hopscope._words
import numpy

TEXT, QUIET, FILL, LINE = "#1f2328", "#59636e", "#1f6fb2", "#d5dfe9"
COLOURS = ("#1f6fb2", "#c98a1b", "#4b9a68", "#bc4c00")


def svg(width, height, marks):
    """A light picture that is legible on any page."""
    frame = f'<rect width="{width}" height="{height}" rx="10" fill="#ffffff" stroke="{LINE}"/>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="13">{frame}{"".join(marks)}</svg>')


def text(x, y, words, colour=TEXT, anchor="start", weight="normal"):
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{escape(str(words))}</text>'


def rectangle(x, y, width, height, colour):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="2" fill="{colour}"/>'


def circle(x, y, radius, colour, stroke="none"):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" stroke="{stroke}"/>'


def bars(title, rows):
    """`rows`: [(label, length, words at its end)]"""
    left = 34 + 7.4 * max(len(str(label)) for label, _, _ in rows)
    longest = max(length for _, length, _ in rows) or 1
    marks = [text(20, 28, title, QUIET)]
    for place, (label, length, words) in enumerate(rows):
        y = 44 + 28 * place
        width = max(length / longest * 340, 1)
        marks += [text(20, y + 14, label), rectangle(left, y, width, 18, FILL), text(left + width + 8, y + 14, words)]
    return svg(round(left + 340 + 160), 56 + 28 * len(rows), marks)


def split(names):
    return names["split"]._repr_svg_()


def peaks(names):
    """Those of runs, and sizes to compare with."""
    rows = [(label, peak, hopscope._words.size(peak)) for label, peak in names["peaks"].items()]
    return bars("memory", rows)


def reach(names):
    fields, nodes = names["fields"], names["data"].num_nodes
    rows = [(f"{hops} hops", count, f"{count:,} of {nodes:,}") for hops, count in enumerate(fields)]
    return bars("nodes that the output of node 17 depends on", rows)


def club(names):
    """The members at the places of a spring layout, coloured by faction."""
    places = numpy.array(list(names["networkx"].spring_layout(names["club"], seed=7).values()))
    places = (places - places.min(0)) / (places.max(0) - places.min(0))
    at = {node: (30 + 540 * x, 30 + 320 * y) for node, (x, y) in zip(names["club"], places)}
    marks = [f'<line x1="{at[a][0]:.1f}" y1="{at[a][1]:.1f}" x2="{at[b][0]:.1f}" y2="{at[b][1]:.1f}" stroke="#b6bec8"/>'
             for a, b in names["club"].edges]
    for node, (x, y) in at.items():
        marks += [circle(x, y, 11, COLOURS[int(names["factions"][node])]), text(x, y + 4, node, "#ffffff", "middle")]
    return svg(600, 380, marks)


def scatters(names):
    """Two principal components of each layer, coloured by community."""
    marks = []
    for place, (title, rows) in enumerate(names["layers"].items()):
        left = 20 + 260 * place
        marks += [text(left + 120, 28, title, QUIET, "middle")]
        marks += [circle(left + 120 + 105 * x, 160 + 105 * y, 2.2, COLOURS[int(colour)])
                  for (x, y), colour in zip(flattened(rows), names["community"])]
    return svg(40 + 260 * len(names["layers"]), 290, marks)


def flattened(rows):
    """[N, 2] within -1 and 1."""
    centred = numpy.asarray(rows, dtype=float) - numpy.mean(rows, axis=0)
    _, _, directions = numpy.linalg.svd(centred, full_matrices=False)
    directions *= numpy.sign(directions[numpy.arange(len(directions)), numpy.abs(directions).argmax(1)])[:, None]
    flat = centred @ directions[:2].T
    return flat / numpy.abs(flat).max(0)


def cells(names):
    """A grid of nodes for each layer; those with NaN are marked."""
    side, marks = names["side"], []
    for place, (title, bad) in enumerate(names["bad"].items()):
        left = 24 + 190 * place
        marks.append(text(left + 80, 28, title, QUIET, "middle"))
        marks += [rectangle(left + 16 * (node % side), 42 + 16 * (node // side), 14, 14, COLOURS[3] if bad[node] else "#e3eaf1")
                  for node in range(side * side)]
    return svg(40 + 190 * len(names["bad"]), 58 + 16 * side, marks)


def growth(names):
    """The largest difference in the output of each module, on a logarithmic scale."""
    known = {value.id: value.name for value in hopscope.inspect(names["saved"], names["data"]).values}
    rows = [(known[item["value"]], item["max_abs"]) for item in names["found"].growth]
    rows = [(name, most) for name, most in rows if name.split()[-1] == "out" or ("output" in name and "aggr_module" not in name)]
    return bars("largest difference in the outputs of modules, on a logarithmic scale", [
        (name, max(math.log10(most) + 8, 0) if most else 0, f"{most:.0e}" if most else "0") for name, most in rows])


def files(names):
    sizes = {path.name: path.stat().st_size for path in sorted(names["exported"].folder.iterdir()) if path.is_file()}
    return bars("files of the exported folder", [(name, size, hopscope._words.size(size)) for name, size in sizes.items()])


PICTURES = {
    "graphsage": split, "gat": peaks, "heterogeneous": split, "jumping-knowledge": split, "appnp": reach, "edge-tables": club,
    "custom-layer": split, "memory-limit": peaks, "embeddings": scatters, "find-nan": cells, "compare-weights": growth, "export": files,
}
