"""Reads pictures back: boxes with their words and places, lines with their points, and what is forbidden."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"fg-title": 12.5, "fg-small": 10.5}


class ReadBox(NamedTuple):
    kind: str
    words: str
    tooltip: str
    x: float
    y: float
    width: float
    height: float
    depth: int
    cluster: bool


class ReadLine(NamedTuple):
    kind: str
    tooltip: str
    points: tuple[tuple[float, float], ...]


class ReadPicture(NamedTuple):
    boxes: list[ReadBox]
    lines: list[ReadLine]
    width: float
    height: float
    style: str


def read_picture(text: str) -> ReadPicture:
    """The parts of a picture; fails where it is not well-formed, or reaches outside of itself."""
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    require_self_contained(root)
    *_, width, height = map(float, root.attrib["viewBox"].split())
    found = ReadPicture([], [], width, height, root.findtext(f"{SVG}style") or "")
    for child in root:
        walk(child, (0.0, 0.0), 0, found)
    return found


def require_self_contained(root: ET.Element) -> None:
    for element in root.iter():
        assert element.tag.startswith(SVG)
        assert element.tag.removeprefix(SVG) in {
            "svg",
            "g",
            "path",
            "rect",
            "text",
            "tspan",
            "title",
            "style",
        }
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert "href" not in key
            assert "http" not in value
    style = root.findtext(f"{SVG}style") or ""
    assert not re.search(r"http|url\(|@import", style)


def walk(element: ET.Element, at: tuple[float, float], depth: int, found: ReadPicture) -> None:
    if element.tag != f"{SVG}g":
        return
    moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        at = at[0] + float(moved[1]), at[1] + float(moved[2])
    classes = element.get("class", "").split()
    if classes[:1] == ["fg-node"]:
        found.boxes.append(box_of(element, classes, at, depth))
        depth += 1
    elif classes[:1] == ["fg-link"]:
        *_, path, _ = [p for p in element if p.tag == f"{SVG}path"]
        hit = [p for p in element if p.get("class") == "fg-hit"]
        points = numbers_of((hit or [path])[0].attrib["d"])
        found.lines.append(ReadLine(classes[1][3:], tooltip_of(element), tuple(moved_by(at, points))))
    for child in element:
        walk(child, at, depth, found)


def moved_by(at: tuple[float, float], points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x + at[0], y + at[1]) for x, y in points]


def numbers_of(path: str) -> list[tuple[float, float]]:
    """The points that a path of M, L and C runs through."""
    points = []
    for command, text in re.findall(r"([MLC])([^MLC]*)", path):
        values = list(map(float, text.split()))
        points.append((values[-2], values[-1]))
        assert len(values) == (6 if command == "C" else 2)
    return points


def tooltip_of(element: ET.Element) -> str:
    return element.findtext(f"{SVG}title") or ""


def box_of(element: ET.Element, classes: list[str], at: tuple[float, float], depth: int) -> ReadBox:
    outline = next(child for child in element if child.get("class") == "fg-shape")
    if outline.tag == f"{SVG}rect":
        x, y, width, height = (float(outline.attrib[key]) for key in ("x", "y", "width", "height"))
    else:
        start = re.match(r"M([-\d.]+) ([-\d.]+)", outline.attrib["d"])
        assert start is not None
        x, y = float(start[1]), float(start[2])
        width = -float(re.findall(r"h(-[\d.]+)z", outline.attrib["d"])[0])
        fold = re.findall(r"l[\d.]+ ([\d.]+)v([\d.]+)", outline.attrib["d"])[0]
        height = float(fold[0]) + float(fold[1])
    texts = [child for child in element if child.tag == f"{SVG}text"]
    for text in texts:
        require_inside(text, x, y, width, height)
    words = "\n".join(["".join(text.itertext()) for text in texts])
    kind = classes[1][3:]
    return ReadBox(
        kind, words, tooltip_of(element), x + at[0], y + at[1], width, height, depth, "fg-cluster" in classes
    )


def require_inside(text: ET.Element, x: float, y: float, width: float, height: float) -> None:
    """A line of text fits its box, in a font whose characters are 0.602 of its size wide."""
    size = SIZES[text.attrib["class"]]
    room = 0.602 * size * len("".join(text.itertext()))
    left = float(text.attrib["x"]) - (room / 2 if text.get("text-anchor") == "middle" else 0.0)
    baseline = float(text.attrib["y"])
    assert x + 2 <= left
    assert left + room <= x + width - 2
    assert y + 2 <= baseline - 0.75 * size
    assert baseline + 0.2 * size <= y + height


def require_readable(picture: ReadPicture, sideways: bool = False) -> None:
    """No two boxes of one diagram overlap, all are inside the picture, and lines run one way."""
    for k, a in enumerate(picture.boxes):
        assert a.x >= 0
        assert a.y >= 0
        assert a.x + a.width <= picture.width
        assert a.y + a.height <= picture.height
        for b in picture.boxes[:k]:
            across = a.x < b.x + b.width and b.x < a.x + a.width
            if across and a.y < b.y + b.height and b.y < a.y + a.height:
                inner, outer = (a, b) if a.depth > b.depth else (b, a)
                assert inner.depth > outer.depth, (a, b)
                assert outer.cluster
    along = 0 if sideways else 1
    for line in picture.lines:
        steps = [point[along] for point in line.points]
        assert steps == sorted(steps)
        assert steps[0] < steps[-1]


def ends_of(picture: ReadPicture, line: ReadLine) -> tuple[ReadBox, ReadBox]:
    """The boxes that a line leaves and reaches (drawings that run down)."""
    (x0, y0), (x1, y1) = line.points[0], line.points[-1]
    from_ = [b for b in picture.boxes if b.x < x0 < b.x + b.width and abs(b.y + b.height - y0) < 1]
    to = [b for b in picture.boxes if b.x < x1 < b.x + b.width and 0 <= b.y - y1 < 8]
    return from_[0], to[0]
