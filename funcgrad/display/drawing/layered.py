"""A layered drawing of a directed acyclic graph: where its boxes stand and how its lines run.

Sugiyama's method in its usual steps: layers, bends where a line passes a layer, an order within each layer
with few crossings, and coordinates. Every line points down, no two boxes overlap, no line passes through a
box, and the same graph gets the same drawing. Knows boxes by their sizes and nothing of what they mean;
`ordering` and `placing` do the two steps that are algorithms of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from funcgrad.display.drawing.ordering import few_crossings
from funcgrad.display.drawing.placing import placed


class Edge(NamedTuple):
    """A line from one box to another. Lines that carry one value of their source share their bends."""

    source: int
    target: int
    value: int = 0


class Box(NamedTuple):
    """Where a box stands: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.x + self.width / 2


Point = tuple[float, float]


class Drawing(NamedTuple):
    """Boxes in the order they were given, and for each edge the points it runs through, downwards.

    Between the points, a line is straight where both have the same x, and otherwise leaves and arrives
    vertically. Edges that share bends have the same points up to where they part.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances of a drawing, in pixels."""

    boxes: float = 22.0
    """Between boxes of one layer."""
    lines: float = 12.0
    """Between lines, and between a line and a box."""
    layers: float = 30.0
    """Between layers, at least."""
    most: float = 64.0
    """Between layers, where lines run far to the side."""
    ports: float = 16.0
    """Between the ends of lines at one box."""


def layered(
    sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], spacing: Spacing | None = None
) -> Drawing:
    """Place boxes of these sizes (width, height) so that all edges point down.

    Raises ValueError for edges that run in a circle.

    >>> drawing = layered([(40, 20), (40, 20), (40, 20)], [Edge(0, 1), Edge(0, 2)])
    >>> [(round(box.x), round(box.y)) for box in drawing.boxes]
    [(31, 0), (0, 50), (62, 50)]
    """
    spacing = spacing or Spacing()
    graph = Bends(len(sizes), edges, layers_of(len(sizes), edges))
    order = few_crossings(graph.rows(), graph.below)
    widths = [width for width, _ in sizes] + [0.0] * (len(graph.layer) - len(sizes))
    middles = placed(order, graph.below, widths, len(sizes), spacing.boxes, spacing.lines)
    return Finished(sizes, edges, graph, order, middles, spacing).drawing()


# -- layers ---------------------------------------------------------------------------------------------


def layers_of(count: int, edges: Iterable[Edge]) -> list[int]:
    """A layer for each box, below those of all boxes that it has lines from, with short lines.

    Starts from the longest paths, then moves boxes to where they shorten more lines than they lengthen.
    """
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    values: list[set[int]] = [set() for _ in range(count)]
    for source, target, value in edges:
        above[target].append(source)
        below[source].append(target)
        values[source].add(value)
    order = topological(above, below)
    layer = [0] * count
    for v in order:
        layer[v] = max([layer[u] + 1 for u in above[v]], default=0)
    for _ in range(8):
        if not (_sunk(order, layer, above, below, values) | _risen(order, layer, above, below)):
            break
    first = min(layer, default=0)
    return [k - first for k in layer]


def topological(above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> list[int]:
    """The boxes in an order in which lines point forwards; ValueError where there is none."""
    missing = [len(sources) for sources in above]
    order = [v for v, n in enumerate(missing) if not n]
    for v in order:
        for w in below[v]:
            missing[w] -= 1
            if not missing[w]:
                order.append(w)
    if len(order) < len(above):
        raise ValueError("the edges run in a circle: there are no layers in which all of them point down")
    return order


def _sunk(
    order: Sequence[int],
    layer: list[int],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    values: Sequence[set[int]],
) -> bool:
    """Move boxes down to what uses them, where that lengthens no more lines than it shortens."""
    moved = False
    for v in reversed(order):
        if not below[v]:
            continue
        lowest = min([layer[w] for w in below[v]]) - 1
        lengthened = sum(max(layer[w] for w in below[u]) <= layer[v] for u in set(above[v]))
        if lowest > layer[v] and lengthened <= len(values[v]):
            layer[v] = lowest
            moved = True
    return moved


def _risen(
    order: Sequence[int], layer: list[int], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]
) -> bool:
    """Move boxes up to what they use, where more lines end there than start."""
    moved = False
    for v in order:
        if above[v] and len(set(above[v])) > len(below[v]):
            highest = max([layer[u] for u in above[v]]) + 1
            if highest < layer[v]:
                layer[v] = highest
                moved = True
    return moved


def edges_to_cut(count: int, edges: Sequence[Edge], bends: int) -> set[int]:
    """The numbers of the longest edges, so many that the others need no more than this many bends.

    A drawing of thousands of boxes in one column needs more lines past them than anybody can follow, or
    wait for; such lines are better named at both of their ends.
    """
    layer = layers_of(count, edges)
    spans = [layer[target] - layer[source] for source, target, _ in edges]
    longest = max(spans, default=0)
    while longest > 1 and _bends_with(edges, spans, longest) > bends:
        longest = longest * 3 // 4
    return {k for k, span in enumerate(spans) if span > longest}


def _bends_with(edges: Sequence[Edge], spans: Sequence[int], longest: int) -> int:
    reach: dict[tuple[int, int], int] = {}
    for (source, _, value), span in zip(edges, spans, strict=True):
        if span <= longest:
            reach[source, value] = max(reach.get((source, value), 1), span)
    return sum(reach.values()) - len(reach)


# -- bends ----------------------------------------------------------------------------------------------


class Bends:
    """The graph with a bend in every layer that a line passes; lines of one value share theirs."""

    def __init__(self, count: int, edges: Sequence[Edge], layer: Sequence[int]) -> None:
        self.layer = list(layer)
        self.below: list[list[int]] = [[] for _ in range(count)]
        self.chains: list[list[int]] = []
        """For each edge, the boxes and bends it runs through."""
        trunks: dict[tuple[int, int], list[int]] = {}
        for source, target, value in edges:
            trunk = trunks.setdefault((source, value), [source])
            span = layer[target] - layer[source]
            while len(trunk) < span:
                trunk.append(self._bend(trunk[-1]))
            last = trunk[span - 1]
            if target not in self.below[last]:
                self.below[last].append(target)
            self.chains.append([*trunk[:span], target])

    def _bend(self, from_: int) -> int:
        bend = len(self.layer)
        self.layer.append(self.layer[from_] + 1)
        self.below.append([])
        self.below[from_].append(bend)
        return bend

    def rows(self) -> list[list[int]]:
        """Boxes and bends by layer, as they were made."""
        rows: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for v, k in enumerate(self.layer):
            rows[k].append(v)
        return rows


# -- coordinates ----------------------------------------------------------------------------------------


class Finished:
    """The last step: heights of layers, ends of lines at boxes, and the points between."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[Edge],
        graph: Bends,
        order: Sequence[Sequence[int]],
        middles: Sequence[float],
        spacing: Spacing,
    ) -> None:
        self.sizes, self.edges, self.graph = sizes, edges, graph
        self.order, self.middles, self.spacing = order, middles, spacing

    def drawing(self) -> Drawing:
        """The finished drawing, its upper left corner at the origin."""
        sizes, middles = self.sizes, self.middles
        starts, ends = self.starts(), self.ends()
        tops, bottoms = self.bands(starts, ends)
        boxes = []
        for v, (width, height) in enumerate(sizes):
            k = self.graph.layer[v]
            y = tops[k] + (bottoms[k] - tops[k] - height) / 2
            boxes.append(Box(middles[v] - width / 2, y, width, height))
        routes = [
            self.route(chain, boxes, (start, end), tops, bottoms)
            for chain, start, end in zip(self.graph.chains, starts, ends, strict=True)
        ]
        xs = [0.0] if not boxes else [box.x + box.width for box in boxes]
        xs += [x for route in routes for x, _ in route]
        return Drawing(max(xs), bottoms[-1] if bottoms else 0.0, tuple(boxes), tuple(routes))

    def starts(self) -> list[float]:
        """Where each edge leaves its source: one place for each value."""
        reached: dict[int, dict[int, list[float]]] = {}
        for (source, _, value), chain in zip(self.edges, self.graph.chains, strict=True):
            reached.setdefault(source, {}).setdefault(value, []).append(self.middles[chain[1]])
        places: dict[tuple[int, int], float] = {}
        for source, by_value in reached.items():
            order = sorted(by_value, key=lambda value: (sum(by_value[value]) / len(by_value[value]), value))
            for value, x in zip(order, self.ports(source, len(order)), strict=True):
                places[source, value] = x
        return [places[edge.source, edge.value] for edge in self.edges]

    def ends(self) -> list[float]:
        """Where each edge arrives at its target: side by side, in the order they come from."""
        arriving: dict[int, dict[tuple[int, int], float]] = {}
        for edge, chain in zip(self.edges, self.graph.chains, strict=True):
            arriving.setdefault(edge.target, {})[edge.source, edge.value] = self.middles[chain[-2]]
        places: dict[tuple[int, tuple[int, int]], float] = {}
        for target, from_ in arriving.items():
            order = sorted(from_, key=lambda origin: (from_[origin], origin))
            for origin, x in zip(order, self.ports(target, len(order)), strict=True):
                places[target, origin] = x
        return [places[edge.target, (edge.source, edge.value)] for edge in self.edges]

    def ports(self, box: int, count: int) -> list[float]:
        """Places on the edge of a box, around its middle."""
        room = max(self.sizes[box][0] - 16.0, 0.0)
        step = min(self.spacing.ports, room / max(count - 1, 1))
        first = self.middles[box] - step * (count - 1) / 2
        return [first + step * k for k in range(count)]

    def bands(self, starts: Sequence[float], ends: Sequence[float]) -> tuple[list[float], list[float]]:
        """The top and bottom of each layer; further apart where lines between run far to the side."""
        drift = [0.0] * len(self.order)
        for chain, start, end in zip(self.graph.chains, starts, ends, strict=True):
            xs = [start, *[self.middles[v] for v in chain[1:-1]], end]
            first = self.graph.layer[chain[0]]
            for k, (x0, x1) in enumerate(pairwise(xs)):
                drift[first + k] = max(drift[first + k], abs(x1 - x0))
        tops, bottoms, y = [], [], 0.0
        for k, row in enumerate(self.order):
            tops.append(y)
            y += max([self.sizes[v][1] for v in row if v < len(self.sizes)], default=0.0)
            bottoms.append(y)
            y += min(max(self.spacing.layers, drift[k] / 7), self.spacing.most)
        return tops, bottoms

    def route(
        self,
        chain: Sequence[int],
        boxes: Sequence[Box],
        ports: tuple[float, float],
        tops: Sequence[float],
        bottoms: Sequence[float],
    ) -> tuple[Point, ...]:
        """The points of one edge: bends pass their layer vertically."""
        source, target = boxes[chain[0]], boxes[chain[-1]]
        points = [(ports[0], source.y + source.height)]
        for v in chain[:-1]:
            k, x = self.graph.layer[v], points[0][0] if v == chain[0] else self.middles[v]
            points += [(x, tops[k]), (x, bottoms[k])] if v != chain[0] else [(x, bottoms[k])]
        points += [(ports[1], tops[self.graph.layer[chain[-1]]]), (ports[1], target.y)]
        return tuple(points)
