"""Horizontal places for boxes whose layers and order are known.

U. Brandes and B. Köpf, "Fast and simple horizontal coordinate assignment" (2001): boxes are aligned with the
median of their neighbours, from each of the four corners, and stand in the middle of the four results. Long
lines come out straight. Blocks are compacted by longest paths over the graph of blocks, which avoids the
flaw in the paper's own compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from funcgrad.display.drawing.tightening import tightened

Rows = Sequence[Sequence[int]]
Neighbours = Sequence[Sequence[int]]


def placed(
    rows: Rows, below: Neighbours, widths: Sequence[float], boxes: int, apart: float, beside: float
) -> list[float]:
    """The middle of every box and bend, none left of zero.

    Numbers up to `boxes` are boxes, the others bends. Boxes of a row stand `apart`, lines `beside` what is
    next to them.

    >>> placed([[0], [1, 2]], [[1, 2], [], []], [10.0, 10.0, 10.0], 3, 4.0, 2.0)
    [12.0, 5.0, 19.0]
    """
    if not widths:
        return []
    above: list[list[int]] = [[] for _ in below]
    for v, targets in enumerate(below):
        for w in targets:
            above[w].append(v)

    def distance(a: int, b: int) -> float:
        return (widths[a] + widths[b]) / 2 + (apart if a < boxes and b < boxes else beside)

    crossed = crossing_lines(rows, above, boxes)
    results = []
    for neighbours, upwards in ((above, False), (below, True)):
        for mirrored in (False, True):
            turned = [list(reversed(row)) if mirrored else list(row) for row in rows]
            if upwards:
                turned.reverse()
            roots = aligned(turned, neighbours, crossed, boxes)
            found = compacted(turned, roots, distance)
            results.append([-x for x in found] if mirrored else found)
    middles = tightened(rows, below, balanced(results, widths), boxes, distance)
    first = min([x - width / 2 for x, width in zip(middles, widths, strict=True)])
    return [x - first for x in middles]


def crossing_lines(rows: Rows, above: Neighbours, boxes: int) -> set[tuple[int, int]]:
    """Lines that cross one between two bends: the latter shall be straight."""
    found: set[tuple[int, int]] = set()
    for upper, lower in pairwise(rows):
        place = {v: n for n, v in enumerate(upper)}
        left = scanned = 0
        for n, v in enumerate(lower):
            inner = next((u for u in above[v] if u >= boxes), None) if v >= boxes else None
            if inner is None and n < len(lower) - 1:
                continue
            right = len(upper) - 1 if inner is None else place[inner]
            for w in lower[scanned : n + 1]:
                for u in above[w]:
                    outside = place[u] < left or place[u] > right
                    if outside and not (w >= boxes and u >= boxes):
                        found.add((u, w))
            scanned, left = n + 1, right
    return found


def aligned(rows: Rows, neighbours: Neighbours, crossed: set[tuple[int, int]], boxes: int) -> list[int]:
    """The root of the block that each stands in: blocks are straight down, and do not cross."""
    root = list(range(len(neighbours)))
    taken = [False] * len(neighbours)
    for before, row in pairwise(rows):
        place = {v: n for n, v in enumerate(before)}
        last = -1
        for v in row:
            known = sorted([u for u in neighbours[v] if u in place], key=lambda u: place[u])
            if v >= boxes and any(u >= boxes for u in known):
                known = [u for u in known if u >= boxes]  # A line that branches goes on straight.
            if not known:
                continue
            for n in sorted({(len(known) - 1) // 2, len(known) // 2}):
                u = known[n]
                conflict = (u, v) in crossed or (v, u) in crossed
                if not conflict and not taken[u] and last < place[u]:
                    root[v] = root[u]
                    taken[u] = True
                    last = place[u]
                    break
    return root


def compacted(rows: Rows, root: Sequence[int], distance: Callable[[int, int], float]) -> list[float]:
    """Blocks as far left as they can stand, then back to the right as far as nothing else moves."""
    after: dict[int, dict[int, float]] = {}
    before: dict[int, dict[int, float]] = {}
    for row in rows:
        for a, b in pairwise(row):
            left, right = root[a], root[b]
            least = max(distance(a, b), after.setdefault(left, {}).get(right, 0.0))
            after[left][right] = before.setdefault(right, {})[left] = least
    blocks = list(dict.fromkeys(root[v] for row in rows for v in row))
    order = from_left(blocks, before, after)
    x = dict.fromkeys(blocks, 0.0)
    for b in order:
        x[b] = max([x[a] + d for a, d in before.get(b, {}).items()], default=0.0)
    for a in reversed(order):
        limit = min([x[b] - d for b, d in after.get(a, {}).items()], default=x[a])
        x[a] = max(x[a], limit)
    return [x[block] for block in root]


def from_left(
    blocks: Sequence[int], before: dict[int, dict[int, float]], after: dict[int, dict[int, float]]
) -> list[int]:
    """The blocks so that each follows those to its left."""
    missing = {b: len(before.get(b, ())) for b in blocks}
    order = [b for b in blocks if not missing[b]]
    for a in order:
        for b in after.get(a, ()):
            missing[b] -= 1
            if not missing[b]:
                order.append(b)
    return order


def balanced(results: Sequence[list[float]], widths: Sequence[float]) -> list[float]:
    """The middle of the four results, which are first moved to the edges of the narrowest of them."""
    spans = [
        (
            min(x - w / 2 for x, w in zip(found, widths, strict=True)),
            max(x + w / 2 for x, w in zip(found, widths, strict=True)),
        )
        for found in results
    ]
    left, right = min(spans, key=lambda span: span[1] - span[0])
    shifts = [
        right - span[1] if n % 2 else left - span[0] for n, span in enumerate(spans)
    ]  # every second one was packed from the right
    middles = []
    for places in zip(*results, strict=True):
        ranked = sorted([x + shift for x, shift in zip(places, shifts, strict=True)])
        middles.append((ranked[1] + ranked[2]) / 2)
    return middles
