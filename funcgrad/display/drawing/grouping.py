"""Steps of a computation in groups, such that the groups still follow one another without a circle.

Two ways from keys to groups. `runs` starts a group whenever the work comes back to a key after work for
another, so a loop that was unrolled has a group for each trip. `loops` has one group for each key, and
one for all keys that the work goes to and fro between. Knows numbers of steps, and nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Before = Sequence[Sequence[int]]
"""For each step, the steps whose results it uses; they have smaller numbers."""

MENDED_UP_TO = 400
"""Runs of one key are joined where that makes no circle, unless there are more runs than this."""


def runs(keys: Sequence[Hashable], before: Before) -> list[int]:
    """The number of the group of each step, where a key that is left and entered again starts another.

    >>> runs(["f", "g", "f", "f"], [[], [0], [1], [2]])
    [0, 1, 2, 2]
    >>> runs(["f", "g", "f", "f"], [[], [0], [], [2]])
    [0, 1, 0, 0]
    """
    depth: list[int] = []
    for key, uses in zip(keys, before, strict=True):
        depth.append(max([depth[u] + (keys[u] != key) for u in uses], default=0))
    groups = numbered(list(zip(keys, depth, strict=True)))
    if max(groups, default=0) < MENDED_UP_TO:
        groups = _mended(groups, keys, before)
    return groups


def loops(keys: Sequence[Hashable], before: Before) -> list[int]:
    """The number of the group of each step, where keys that the work goes to and fro between are one group.

    >>> loops(["f", "g", "f", "h"], [[], [0], [1], [2]])
    [0, 0, 0, 1]
    """
    groups = numbered(keys)
    part = _strong_parts(_uses_of(groups, before))
    return numbered([part[g] for g in groups])


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """Each key as a number, counted as they first appear."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _uses_of(groups: Sequence[int], before: Before) -> list[list[int]]:
    """For each group, the other groups whose results it uses."""
    uses: list[dict[int, None]] = [{} for _ in range(max(groups, default=-1) + 1)]
    for group, steps in zip(groups, before, strict=True):
        for step in steps:
            if groups[step] != group:
                uses[group][groups[step]] = None
    return [list(found) for found in uses]


def _mended(groups: Sequence[int], keys: Sequence[Hashable], before: Before) -> list[int]:
    """Join groups of one key where nothing between them would have to run in the middle."""
    uses = [set(found) for found in _uses_of(groups, before)]
    latest: dict[Hashable, int] = {}
    joined = list(range(len(uses)))
    for group, key in dict.fromkeys(zip(groups, keys, strict=True)):
        earlier = latest.get(key)
        if earlier is None or _reaches(uses, group, earlier):
            latest[key] = group
            continue
        joined[group] = earlier
        uses[earlier] |= uses[group] - {earlier}
        uses[group] = set()
        for found in uses:
            if group in found:
                found.discard(group)
                found.add(earlier)
        uses[earlier].discard(earlier)
    return numbered([joined[g] for g in groups])


def _reaches(uses: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether joining two groups would make a circle: one uses the other by way of a third."""
    return _by_way_of_others(uses, start, end) or _by_way_of_others(uses, end, start)


def _by_way_of_others(uses: Sequence[set[int]], start: int, end: int) -> bool:
    stack = [g for g in uses[start] if g != end]
    seen = {start, *stack}
    while stack:
        for g in uses[stack.pop()]:
            if g == end:
                return True
            if g not in seen:
                seen.add(g)
                stack.append(g)
    return False


def _strong_parts(uses: Sequence[Sequence[int]]) -> list[int]:
    """The number of the strongly connected part of each group: R. Tarjan's algorithm, without recursion."""
    index = [-1] * len(uses)
    low = [0] * len(uses)
    part = [-1] * len(uses)
    stack: list[int] = []
    count = parts = 0
    for root in range(len(uses)):
        work = [(root, 0)] if index[root] < 0 else []
        while work:
            v, k = work.pop()
            if not k:
                index[v] = low[v] = count
                count += 1
                stack.append(v)
            elif part[uses[v][k - 1]] < 0:
                low[v] = min(low[v], low[uses[v][k - 1]])
            if k < len(uses[v]):
                work.append((v, k + 1))
                w = uses[v][k]
                if index[w] < 0:
                    work.append((w, 0))
                elif part[w] < 0:
                    low[v] = min(low[v], index[w])
            elif low[v] == index[v]:
                while part[v] < 0:
                    part[stack.pop()] = parts
                parts += 1
    return part
