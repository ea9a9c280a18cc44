"""The picture of a split. It has a band per stage with the model's modules, and the stored values between stages.
All text of a model is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil

BOX, CUT = 34, 40  # heights of a box and of a stored value
GAP, TOP = 14, 46
MARGIN = 12  # between a text and the sides of its frame
SIZE = 12  # of the texts


@dataclass
class Box:
    """A module of a stage: `title` and `detail`, two short lines; links refer to `key`."""

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


@dataclass
class Widths:
    """The widths of all boxes and of all stored values of a picture, wide enough for most names."""

    box: int
    cut: int

    @property
    def band(self) -> int:
        return self.box + 36

    @property
    def step(self) -> int:
        return self.band + self.cut + 40


def draw(picture: Picture) -> str:
    """Returns an SVG that needs no style sheet."""
    widths = _widths(picture)
    places, height = _places(picture, widths)
    width = widths.step * len(picture.titles) + 20
    parts = [_band(column, title, height, widths) for column, title in enumerate(picture.titles)]
    parts += [
        _line(*_bottom(places[a], widths), *_top(places[b], widths))
        for a, b in picture.links
        if a in places and b in places
    ]
    seen: dict[int, int] = {}
    for value in picture.stored:
        row = seen[value.column] = seen.get(value.column, -1) + 1
        x = 20 + widths.step * value.column + widths.band + 20
        parts += _cut(value, (x, TOP + row * (CUT + GAP)), places, widths)
    parts += [_box(box, places[box.key], widths) for boxes in picture.boxes for box in boxes]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="{SIZE}">{"".join(parts)}</svg>'
    )


Place = tuple[float, float]


def _places(picture: Picture, widths: Widths) -> tuple[dict[str, Place], int]:
    places = {
        box.key: (20.0 + widths.step * column + (widths.band - widths.box) / 2, float(TOP + row * (BOX + GAP)))
        for column, boxes in enumerate(picture.boxes)
        for row, box in enumerate(boxes)
    }
    cuts = [sum(value.column == column for value in picture.stored) for column in range(len(picture.titles))]
    rows = max([len(boxes) * (BOX + GAP) for boxes in picture.boxes] + [n * (CUT + GAP) for n in cuts] + [0])
    return places, TOP + rows + 10


def _widths(picture: Picture) -> Widths:
    boxes = [box for column in picture.boxes for box in column]
    band = max((_length(title, bold=True) for title in picture.titles), default=0) - 36
    return Widths(_wide(150, 250, boxes, band), _wide(170, 270, picture.stored))


def _wide(least: int, most: int, framed: Sequence[Box | Stored], other: float = 0) -> int:
    """As wide as the longest text of a picture, within limits."""
    titles = [_length(each.title, bold=True) for each in framed]
    details = [_length(each.detail, bold=False) for each in framed]
    return min(max(least, ceil(max([*titles, *details, other])) + 2 * MARGIN), most)


def _length(text: str, bold: bool) -> float:
    """Rather more than a text takes in a common font; the true width depends on the fonts of the reader."""
    return sum(map(_units, text)) * SIZE * (1 if bold else 0.92)


def _units(letter: str) -> float:
    """Returns the width of a bold letter as a share of the size of the font."""
    if letter in " .,:;|!'\"ijlftrI()[]{}-/":
        return 0.45
    if letter in "mwMW@%…—" or letter > "\u2e80":
        return 1.1
    return 0.78 if letter.isupper() else 0.7


def _fitted(text: str, room: float, bold: bool) -> str:
    """Returns the text, shortened in its middle: the ends of names tell them apart."""
    short, kept = text, len(text)
    while kept > 1 and _length(short, bold) > room:
        kept -= 1
        short = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
    return short


def _bottom(place: Place, widths: Widths) -> Place:
    return place[0] + widths.box / 2, place[1] + BOX


def _top(place: Place, widths: Widths) -> Place:
    return place[0] + widths.box / 2, place[1]


def _text(place: Place, room: float, text: str, color: str, weight: str = "normal") -> str:
    x, y = place
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="{color}" font-weight="{weight}">'
        f"<title>{escape(text)}</title>{escape(_fitted(text, room, weight == 'bold'))}</text>"
    )


def _rectangle(place: Place, size: tuple[int, int], radius: int, fill: str, stroke: str) -> str:
    x, y = place
    extent = f'width="{size[0]}" height="{size[1]}" rx="{radius}"'
    return f'<rect x="{x:g}" y="{y:g}" {extent} fill="{fill}" stroke="{stroke}"/>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#8a94a0" stroke-width="1.5"/>'


def _band(column: int, title: str, height: int, widths: Widths) -> str:
    x = 20 + widths.step * column
    frame = _rectangle((x, 8), (widths.band, height - 14), 10, "#eef3f8", "#d5dfe9")
    return frame + _text((x + widths.band / 2, 28), widths.band - 2 * MARGIN, title, "#3a4653", "bold")


def _box(box: Box, place: Place, widths: Widths) -> str:
    x, y = place
    middle, room = x + widths.box / 2, widths.box - 2 * MARGIN
    return (
        _rectangle(place, (widths.box, BOX), 6, "#ffffff", "#8a94a0")
        + _text((middle, y + 15), room, box.title, "#1d2731", "bold")
        + _text((middle, y + 28), room, box.detail, "#5c6874")
    )


def _cut(value: Stored, place: Place, places: dict[str, Place], widths: Widths) -> list[str]:
    """Returns the value with the lines from where it is computed and to where it is read."""
    x, y = place
    fill, stroke = ("#e6f4ea", "#4b9a68") if value.output else ("#fdf1de", "#c98a1b")
    parts = []
    if value.source in places:
        left, middle = _left(places[value.source])
        parts.append(_line(left + widths.box, middle, x, y + CUT / 2))
    parts += [_line(x + widths.cut, y + CUT / 2, *_left(places[key])) for key in value.targets if key in places]
    center, room = x + widths.cut / 2, widths.cut - 2 * MARGIN
    parts.append(_rectangle(place, (widths.cut, CUT), 18, fill, stroke))
    parts.append(_text((center, y + 17), room, value.title, "#1d2731", "bold"))
    parts.append(_text((center, y + 31), room, value.detail, "#5c6874"))
    return parts


def _left(place: Place) -> Place:
    return place[0], place[1] + BOX / 2
