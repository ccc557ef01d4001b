"""The order of boxes within their layers, so that few lines cross.

Sweeps down and up put each box at the median, or the mean, of what it is connected to in the layer before;
neighbours are swapped where that helps; the best order seen is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Rows = list[list[int]]
Neighbours = Sequence[Sequence[int]]

SWEEPS = 12
PATIENCE = 4
"""Sweeps without a better order after which there will be none."""
SWAPPED_UP_TO = 1500
"""Boxes and bends of a graph whose neighbours are swapped: beyond, nobody sees what it costs time to mend."""


def few_crossings(rows: Rows, below: Neighbours) -> Rows:
    """The rows, each in an order in which the lines between neighbouring rows cross seldom.

    >>> few_crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    [[0, 1], [3, 2]]
    """
    above: list[list[int]] = [[] for _ in below]
    for v, targets in enumerate(below):
        for w in targets:
            above[w].append(v)
    rows = first_order(rows, below, above)
    best, fewest, idle = [row[:] for row in rows], total(rows, below), 0
    swaps = len(below) <= SWAPPED_UP_TO
    for sweep in range(SWEEPS):
        if not fewest or idle == PATIENCE:
            break
        downwards = sweep % 2 == 0
        swept(rows, above if downwards else below, downwards)
        if swaps:
            swapped(rows, above, below)
        count = total(rows, below)
        idle += 1
        if count < fewest:
            best, fewest, idle = [row[:] for row in rows], count, 0
    return best


def first_order(rows: Rows, below: Neighbours, above: Neighbours) -> Rows:
    """An order to start from: as a walk meets the boxes, so that what belongs together stands together."""
    seen = [False] * len(below)
    found: Rows = [[] for _ in rows]
    layer = {v: k for k, row in enumerate(rows) for v in row}
    for row in rows:
        for start in row:
            stack = [start]
            while stack:
                v = stack.pop()
                if seen[v]:
                    continue
                seen[v] = True
                found[layer[v]].append(v)
                stack += [w for w in reversed(below[v]) if not seen[w]]
                stack += [u for u in reversed(above[v]) if not seen[u]]
    return found


def swept(rows: Rows, neighbours: Neighbours, downwards: bool) -> None:
    """Order each row by the one before, once through all of them."""
    order = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
    for k in order:
        before = {v: n for n, v in enumerate(rows[k - 1 if downwards else k + 1])}
        rows[k] = ordered(rows[k], before, neighbours)


def ordered(row: Sequence[int], before: dict[int, int], neighbours: Neighbours) -> list[int]:
    """The row by the middle of what each is connected to; what is not connected keeps its place."""
    keys: dict[int, float] = {}
    for v in row:
        places = sorted([before[u] for u in neighbours[v]])
        if places:
            keys[v] = middle(places)
    moving = iter(sorted(keys, key=lambda v: keys[v]))
    return [next(moving) if v in keys else v for v in row]


def middle(places: Sequence[int]) -> float:
    """The median of sorted places; of two medians, with their mean to break ties."""
    half = len(places) // 2
    median = places[half] if len(places) % 2 else (places[half - 1] + places[half]) / 2
    return median + 1e-3 * (sum(places) / len(places) - median)


def swapped(rows: Rows, above: Neighbours, below: Neighbours) -> None:
    """Swap neighbours in their rows where fewer lines cross then."""
    for k, row in enumerate(rows):
        up = {v: n for n, v in enumerate(rows[k - 1])} if k else {}
        down = {v: n for n, v in enumerate(rows[k + 1])} if k + 1 < len(rows) else {}
        ups = {v: sorted([up[u] for u in above[v]]) for v in row}
        downs = {v: sorted([down[w] for w in below[v]]) for v in row}
        improved, rounds = True, 0
        while improved and rounds < 4:
            improved, rounds = False, rounds + 1
            for n in range(len(row) - 1):
                a, b = row[n], row[n + 1]
                now = inversions(ups[a], ups[b]) + inversions(downs[a], downs[b])
                if now > inversions(ups[b], ups[a]) + inversions(downs[b], downs[a]):
                    row[n], row[n + 1] = b, a
                    improved = True


def inversions(left: Sequence[int], right: Sequence[int]) -> int:
    """How many lines of two neighbours cross, whose other ends are at these sorted places."""
    count = smaller = 0
    for place in left:
        while smaller < len(right) and right[smaller] < place:
            smaller += 1
        count += smaller
    return count


def total(rows: Rows, below: Neighbours) -> int:
    """How many pairs of lines cross."""
    return sum(crossings(a, b, below) for a, b in pairwise(rows))


def crossings(upper: Sequence[int], lower: Sequence[int], below: Neighbours) -> int:
    """How many lines between two rows cross, counted with a binary indexed tree.

    >>> crossings([0, 1], [2, 3], [[3], [2]])
    1
    """
    place = {v: n for n, v in enumerate(lower)}
    tree = [0] * (len(lower) + 1)
    count = seen = 0
    for v in upper:
        ends = sorted([place[w] for w in below[v]])
        for end in ends:
            k, further = end + 1, seen
            while k:
                further -= tree[k]
                k &= k - 1
            count += further
        for end in ends:
            k = end + 1
            while k <= len(lower):
                tree[k] += 1
                k += k & -k
        seen += len(ends)
    return count
