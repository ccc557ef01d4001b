"""Shorter lines in a drawing whose boxes stand already: each moves to the middle of what it is connected to.

Bends that stand straight below one another move together, so long lines stay straight; nothing moves past, or
nearer than allowed to, its neighbours in a row. No move makes the lines longer in all, so it comes to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

SWEEPS = 12
LEAST = 0.5
"""Moves of less than half a pixel are none."""


def tightened(
    rows: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    middles: Sequence[float],
    boxes: int,
    distance: Callable[[int, int], float],
) -> list[float]:
    """The middles after such moves; `distance` is the least one of two neighbours in a row.

    >>> def far(a, b):
    ...     return 10.0
    >>> tightened([[0], [1], [2]], [[1], [2], []], [0.0, 50.0, 20.0], 3, far)
    [50.0, 50.0, 50.0]
    """
    x = list(middles)
    blocks = straight_lines(below, x, boxes)
    owner = {v: n for n, block in enumerate(blocks) for v in block}
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    for row in rows:
        for a, b in pairwise(row):
            right[a], left[b] = b, a
    ends: list[list[int]] = [[] for _ in blocks]
    for v, targets in enumerate(below):
        for w in targets:
            if owner[v] != owner[w]:
                ends[owner[v]].append(w)
                ends[owner[w]].append(v)
    order = list(dict.fromkeys([owner[v] for row in rows for v in row]))
    for sweep in range(SWEEPS):
        moved = False
        for n in order if sweep % 2 == 0 else reversed(order):
            step = wanted_step(x[blocks[n][0]], [x[v] for v in ends[n]])
            step = allowed_step(step, blocks[n], x, (left, right), distance)
            if abs(step) > LEAST:
                moved = True
                for v in blocks[n]:
                    x[v] += step
        if not moved:
            break
    return x


def straight_lines(below: Sequence[Sequence[int]], x: Sequence[float], boxes: int) -> list[list[int]]:
    """Every box alone, and bends together that one line joins straight downwards."""
    head = list(range(len(below)))
    for v in range(boxes, len(below)):
        for w in below[v]:
            if w >= boxes and abs(x[v] - x[w]) < LEAST:
                head[w] = head[v]
    found: dict[int, list[int]] = {}
    for v, first in enumerate(head):
        found.setdefault(first, []).append(v)
    return list(found.values())


def wanted_step(place: float, ends: Sequence[float]) -> float:
    """How far to go to the middle of these ends; nowhere, if the place is between the middle two.

    >>> wanted_step(3.0, [5.0, 9.0]), wanted_step(3.0, [2.0, 9.0])
    (2.0, 0.0)
    """
    if not ends:
        return 0.0
    ranked = sorted(ends)
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return min(max(place, low), high) - place


def allowed_step(
    step: float,
    block: Sequence[int],
    x: Sequence[float],
    beside: tuple[dict[int, int], dict[int, int]],
    distance: Callable[[int, int], float],
) -> float:
    """As much of the step as the neighbours leave room for."""
    left, right = beside
    for v in block if step else ():
        if step > 0 and v in right:
            step = max(min(step, x[right[v]] - distance(v, right[v]) - x[v]), 0.0)
        elif step < 0 and v in left:
            step = min(max(step, x[left[v]] + distance(left[v], v) - x[v]), 0.0)
    return step
