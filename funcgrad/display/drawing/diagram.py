"""Diagrams: boxes with words in them and lines between, placed by `layered` and drawn with `svg`.

A box is as large as its words, or as the diagram inside it. Knows nothing of Programs and histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from funcgrad.display.drawing.layered import Box, Edge, Spacing, layered
from funcgrad.display.drawing.svg import SIZES, arrow, clean, number, shape, text_width, words
from funcgrad.display.html import EMPTY, Markup, joined, tag

_LINE = {"fg-title": 16.0, "fg-small": 13.5}
"""Heights of lines of text."""
_PADDING = (9.0, 6.0)
_INSIDE = 10.0
"""Around a diagram in a box."""


class Row(NamedTuple):
    """A line of text in a box: pieces of (text, classes), its size, and whether it starts at the left."""

    parts: tuple[tuple[str, str], ...]
    size: str = "fg-small"
    left: bool = False

    @property
    def width(self) -> float:
        """An upper bound in pixels."""
        return text_width("".join([content for content, _ in self.parts]), SIZES[self.size])


def title(strong: str, rest: str = "") -> Row:
    """The first line of a box: a word, and more of less weight."""
    return Row(((strong, "fg-strong"), (rest, "fg-dim")) if rest else ((strong, "fg-strong"),), "fg-title")


def small(content: str, classes: str = "fg-dim", left: bool = False) -> Row:
    """A line of small text."""
    return Row(((content, classes),), "fg-small", left)


class Drawn(NamedTuple):
    """A diagram that was drawn: its elements and their size."""

    body: Markup
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Node:
    """A box: what it stands for (a kind of `svg`), its outline, words, and perhaps a diagram below them."""

    kind: str
    rows: tuple[Row, ...]
    tooltip: str = ""
    outline: str = "box"
    inside: Drawn | None = None

    def size(self) -> tuple[float, float]:
        """Width and height."""
        across, down = _PADDING
        if self.outline != "box":
            across += 4.0
        width = max([row.width for row in self.rows], default=0.0) + 2 * across
        height = sum([_LINE[row.size] for row in self.rows]) + 2 * down
        if self.inside is not None:
            width = max(width, self.inside.width + 2 * _INSIDE)
            height += self.inside.height + _INSIDE
        return width, height


class Link(NamedTuple):
    """A line between boxes, by their numbers. Lines of one value of a box start as one."""

    source: int
    target: int
    kind: str = "plain"
    tooltip: str = ""
    value: int = 0
    dashed: bool = False
    wide: bool = False


class Diagram(NamedTuple):
    """Boxes and lines."""

    nodes: Sequence[Node]
    links: Sequence[Link]


def drawn(diagram: Diagram, sideways: bool = False, spacing: Spacing | None = None) -> Drawn:
    """Place and draw a diagram that runs down, or to the right if it runs `sideways`.

    >>> drawn(Diagram([Node("leaf", (title("x"),)), Node("result", (title("y"),))], [Link(0, 1)])).height
    86.0
    """
    nodes, links = diagram
    sizes = [node.size() for node in nodes]
    turned = [(height, width) for width, height in sizes] if sideways else sizes
    edges = [Edge(link.source, link.target, link.value) for link in links]
    width, height, boxes, routes = layered(turned, edges, spacing)
    if sideways:
        width, height = height, width
        boxes = tuple([Box(y, x, h, w) for x, y, w, h in boxes])
        routes = tuple([tuple([(y, x) for x, y in route]) for route in routes])
    lines = _lines(links, routes, sideways)
    shapes = [_box(node, box) for node, box in zip(nodes, boxes, strict=True)]
    return Drawn(joined((*lines, *shapes)), width, height)


def side_by_side(parts: Iterable[Drawn], apart: float = 18.0) -> Drawn:
    """Several drawn diagrams in a row, their upper edges in one line."""
    bodies, x, height = [], 0.0, 0.0
    for part in parts:
        bodies.append(tag("g", part.body, transform=f"translate({number(x)} 0)"))
        x += part.width + apart
        height = max(height, part.height)
    return Drawn(joined(bodies), max(x - apart, 0.0), height)


def headed(part: Drawn, heading: str) -> Drawn:
    """A drawn diagram with a line of small text above it."""
    text = words(((heading, "fg-dim"),), 0.0, 10.0, "fg-small", "start")
    body = tag("g", part.body, transform="translate(0 18)")
    width = max(part.width, text_width(heading, SIZES["fg-small"]))
    return Drawn(joined((text, body)), width, part.height + 18.0)


Route = Sequence[tuple[float, float]]


def _lines(links: Sequence[Link], routes: Sequence[Route], sideways: bool) -> list[Markup]:
    """The lines; what several share is drawn once, since strokes on strokes look thick."""
    drawn_points: dict[tuple[int, int], set[tuple[float, float]]] = {}
    found = []
    for link, route in zip(links, routes, strict=True):
        known = drawn_points.setdefault((link.source, link.value), set())
        parting = 0
        while parting < len(route) - 2 and route[parting + 1] in known:
            parting += 1
        known.update(route)
        found.append(_line(link, route, parting, sideways))
    return found


def _line(link: Link, route: Route, parting: int, sideways: bool) -> Markup:
    whole, head = arrow(route, sideways)
    path = arrow(route[parting:], sideways)[0] if parting else whole
    return tag(
        "g",
        tag("title", clean(link.tooltip)) if link.tooltip else EMPTY,
        tag("path", class_="fg-hit", d=whole) if link.tooltip else EMPTY,
        tag("path", class_="fg-line", d=path),
        tag("path", class_="fg-head", d=head),
        class_=f"fg-link fg-{link.kind}{' fg-dashed' * link.dashed}{' fg-wide' * link.wide}",
    )


def _box(node: Node, box: Box) -> Markup:
    parts = [tag("title", clean(node.tooltip)) if node.tooltip else EMPTY]
    parts.append(shape(node.outline, *box))
    y = box.y + _PADDING[1]
    if node.inside is None:
        y += (box.height - node.size()[1]) / 2
    for row in node.rows:
        y += _LINE[row.size]
        x, anchor = (box.x + _PADDING[0], "start") if row.left else (box.middle, "middle")
        parts.append(words(row.parts, x, y - 4.0, row.size, anchor))
    if node.inside is not None:
        x = box.middle - node.inside.width / 2
        parts.append(
            tag("g", node.inside.body, transform=f"translate({number(x)} {number(y + _PADDING[1])})")
        )
    cluster = " fg-cluster" if node.inside is not None else ""
    return tag("g", *parts, class_=f"fg-node fg-{node.kind}{cluster}")
