"""The picture of a split: a band per stage with the model's modules, and the stored values between stages.
All text of a model is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import documents

BOX, GAP, CUT = (150, 34), 14, (170, 40)
BAND = BOX[0] + 36
STEP = BAND + CUT[0] + 40
TOP = 46
SHOWN = 26  # characters of a name


@dataclass
class Box:
    """A module of a stage: `title` and `detail`, two short lines; `key` is what links name."""

    key: str
    title: str
    detail: str


@dataclass
class Stored:
    """A value between bands: from a box to others, `column` bands from the left."""

    title: str
    detail: str
    column: int
    source: str
    targets: list[str]
    output: bool = False


@dataclass
class Picture:
    """Bands from left to right, each with its boxes from top to bottom."""

    titles: list[str]
    boxes: list[list[Box]]
    stored: list[Stored]
    links: list[tuple[str, str]] = field(default_factory=list)  # within a band


def inspection(found: documents.Inspection) -> str:
    """Operators by their modules: "convs.0.lin" and what else is in "convs.0" are one box."""
    homes: dict[str, str] = {}
    counts: dict[tuple[int, str], list[str]] = {}
    for op in found.document["ops"]:
        if op["stage"] is not None and op["kind"] not in ("input", "output"):
            counts.setdefault((op["stage"], _module(op["module"])), []).append(op["name"])
            homes.update({value: _key(op["stage"], _module(op["module"])) for value in op["outputs"]})
    bands = [[Box(_key(*at), at[1], _operators(names)) for at, names in counts.items() if at[0] == stage.index]
             for stage in found.stages]  # fmt: skip
    readers, links = _readers(found, homes)
    stored = [_stored(cut, homes.get(cut.value, ""), readers.get(cut.value, [])) for cut in found.cuts]
    titles = [_title(stage) for stage in found.stages]
    return draw(Picture(titles, bands, stored, links))


def plan(made: documents.Plan) -> str:
    """A box per stage; a stage that reads a value that an earlier one stores is linked with it."""
    bands = [[Box(_key(stage.index, ""), f"{stage.operators} operators", f"for all {', '.join(stage.destinations)}")]
             for stage in made.stages]  # fmt: skip
    stored = []
    for cut in made.cuts:
        targets = [_key(stage.index, "") for stage in made.stages if cut.name in stage.reads]
        stored.append(_stored(cut, _key(cut.stage, ""), targets))
    return draw(Picture([_title(stage) for stage in made.stages], bands, stored))


def _title(stage: documents.Stage) -> str:
    return f"stage {stage.index} · {', '.join(stage.destinations)}"


def _key(stage: int, module: str) -> str:
    return f"{stage} {module}"


def _module(name: str) -> str:
    """ "convs.0" of "convs.0.lin", "conv1" of "conv1.lin"."""
    first, _, rest = name.partition(".")
    second = rest.partition(".")[0]
    return (f"{first}.{second}" if second.isdigit() else first) or "model"


def _operators(names: Sequence[str]) -> str:
    return names[0].removeprefix("aten::") if len(names) == 1 else f"{len(names)} operators"


def _readers(found: documents.Inspection, homes: dict[str, str]) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Which boxes read a value, and which boxes of a stage are linked."""
    readers: dict[str, list[str]] = {}
    links: dict[tuple[str, str], None] = {}
    for op in found.document["ops"]:
        if op["stage"] is None or op["kind"] in ("input", "output"):
            continue
        here = _key(op["stage"], _module(op["module"]))
        for value in op["inputs"]:
            readers.setdefault(value, []).append(here)
            home = homes.get(value, here)
            if home != here and home.split(" ")[0] == here.split(" ")[0]:
                links[home, here] = None
    return readers, list(links)


def _stored(cut: documents.Cut, source: str, readers: Iterable[str]) -> Stored:
    from ._html import size

    shape = " x ".join(str(extent).strip("|") for extent in cut.shape)
    amount = f", {size(cut.written)}" if cut.written is not None else ""
    later = [key for key in dict.fromkeys(readers) if int(key.split(" ")[0]) > cut.stage]
    return Stored(cut.name, shape + amount, cut.stage - 1, source, later, cut.output)


def draw(picture: Picture) -> str:
    """An SVG that needs no style sheet."""
    places, height = _places(picture)
    width = STEP * len(picture.titles) + 20
    parts = [_band(column, title, height) for column, title in enumerate(picture.titles)]
    parts += [_line(*_bottom(places[a]), *_top(places[b])) for a, b in picture.links if a in places and b in places]
    seen: dict[int, int] = {}
    for value in picture.stored:
        row = seen[value.column] = seen.get(value.column, -1) + 1
        parts += _cut(value, (20 + STEP * value.column + BAND + 20, TOP + row * (CUT[1] + GAP)), places)
    parts += [_box(box, places[box.key]) for boxes in picture.boxes for box in boxes]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12">{"".join(parts)}</svg>'
    )


Place = tuple[float, float]


def _places(picture: Picture) -> tuple[dict[str, Place], int]:
    places = {
        box.key: (20.0 + STEP * column + (BAND - BOX[0]) / 2, float(TOP + row * (BOX[1] + GAP)))
        for column, boxes in enumerate(picture.boxes)
        for row, box in enumerate(boxes)
    }
    cuts = [sum(value.column == column for value in picture.stored) for column in range(len(picture.titles))]
    rows = max([len(boxes) * (BOX[1] + GAP) for boxes in picture.boxes] + [n * (CUT[1] + GAP) for n in cuts] + [0])
    return places, TOP + rows + 10


def _bottom(place: Place) -> Place:
    return place[0] + BOX[0] / 2, place[1] + BOX[1]


def _top(place: Place) -> Place:
    return place[0] + BOX[0] / 2, place[1]


def _text(x: float, y: float, text: str, color: str, weight: str = "normal") -> str:
    short = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="{color}" font-weight="{weight}">'
        f"<title>{escape(text)}</title>{escape(short)}</text>"
    )


def _rectangle(place: Place, size: tuple[int, int], radius: int, fill: str, stroke: str) -> str:
    x, y = place
    extent = f'width="{size[0]}" height="{size[1]}" rx="{radius}"'
    return f'<rect x="{x:g}" y="{y:g}" {extent} fill="{fill}" stroke="{stroke}"/>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#8a94a0" stroke-width="1.5"/>'


def _band(column: int, title: str, height: int) -> str:
    x = 20 + STEP * column
    frame = _rectangle((x, 8), (BAND, height - 14), 10, "#eef3f8", "#d5dfe9")
    return frame + _text(x + BAND / 2, 28, title, "#3a4653", "bold")


def _box(box: Box, place: Place) -> str:
    x, y = place
    middle = x + BOX[0] / 2
    return (
        _rectangle(place, BOX, 6, "#ffffff", "#8a94a0")
        + _text(middle, y + 15, box.title, "#1d2731", "bold")
        + _text(middle, y + 28, box.detail, "#5c6874")
    )


def _cut(value: Stored, place: Place, places: dict[str, Place]) -> list[str]:
    """The value with the lines from where it is computed and to where it is read."""
    x, y = place
    fill, stroke = ("#e6f4ea", "#4b9a68") if value.output else ("#fdf1de", "#c98a1b")
    parts = []
    if value.source in places:
        left, middle = _left(places[value.source])
        parts.append(_line(left + BOX[0], middle, x, y + CUT[1] / 2))
    parts += [_line(x + CUT[0], y + CUT[1] / 2, *_left(places[key])) for key in value.targets if key in places]
    center = x + CUT[0] / 2
    parts.append(_rectangle(place, CUT, 18, fill, stroke))
    parts.append(_text(center, y + 17, value.title, "#1d2731", "bold"))
    parts.append(_text(center, y + 31, value.detail, "#5c6874"))
    return parts


def _left(place: Place) -> Place:
    return place[0], place[1] + BOX[1] / 2
