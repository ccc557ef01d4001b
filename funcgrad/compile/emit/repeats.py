"""Which neighbouring statements recur together in a text, whatever their names.

The most frequent pair of neighbours is joined first, everywhere, then the next one (N. J. Larsson,
A. Moffat, "Off-line dictionary-based compression", 2000), as long as a group stays of moderate size. Names
are compared by the places where they recur, never by their spelling.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from funcgrad.compile.emit.statement_tree import Statement

LARGEST_GROUP = 120
"""Lines beyond which no group grows."""

SHORTEST_GROUP = 6
"""Lines without a loop that are worth a call, where they run once."""

MOST_ARGUMENTS = 56
"""Names that a group may share with what is around it: each costs an instruction or two at every call."""


EACH_CALL = 3
"""Lines that a call, with all its arguments, is as much work for LLVM as."""


@dataclass(slots=True)
class Group:
    """Statements `first` to `last` of a block, joined; `names` are theirs in order."""

    kind: int
    names: tuple[str, ...]
    public: frozenset[str]
    """Those that it may share with what is around it."""
    block: int
    first: int
    last: int
    lines: int
    loops: bool


def joined(left: Group, right: Group, kind: int) -> Group:
    """Two neighbours as one group."""
    names = tuple(dict.fromkeys((*left.names, *right.names)))
    lines, loops, public = left.lines + right.lines, left.loops or right.loops, left.public | right.public
    return Group(kind, names, public, left.block, left.first, right.last, lines, loops)


def lines_for(group: Group, count: int) -> int:
    """The lines of text that so many groups of a kind need: as they stand, or as a function and calls."""
    if group.loops or group.lines >= SHORTEST_GROUP:
        return min(group.lines * count, group.lines + EACH_CALL * count)
    return group.lines * count


class Chain:
    """Blocks of statements on the way to groups; `totals` says how often names stand in the functions."""

    def __init__(self, blocks: Sequence[Sequence[Statement]], totals: Sequence[Counter[str]]) -> None:
        self._kinds: dict[object, int] = {}
        self._counts: Counter[int] = Counter()
        """How many groups there are of each kind."""
        self.groups: list[Group | None] = []
        for b, (block, total) in enumerate(zip(blocks, totals, strict=True)):
            self.groups += [self._single(b, k, statement, total) for k, statement in enumerate(block)]
            self.groups.append(None)
        count = len(self.groups)
        self._after = [k + 1 if k + 1 < count and self.groups[k + 1] else -1 for k in range(count)]
        self._before = [k - 1 if k and self.groups[k - 1] else -1 for k in range(count)]
        self._places: dict[object, dict[int, None]] = {}
        self._key_at: list[object] = [None] * count
        self._heap: list[tuple[int, int, int, object]] = []
        for k, group in enumerate(self.groups):
            if group is not None:
                self._counts[group.kind] += 1
                self._note(k)

    def _single(self, b: int, k: int, statement: Statement, total: Counter[str]) -> Group:
        public = statement.public(total)
        stays = statement.stays or statement.length > LARGEST_GROUP or len(public) > MOST_ARGUMENTS
        # What stays has a number that nothing else has, and is too long to be joined.
        kind = self._number((b, k) if stays else statement.template)
        lines = LARGEST_GROUP + 1 if stays else statement.length
        return Group(kind, statement.names, public, b, k, k, lines, statement.loops)

    def _number(self, key: object) -> int:
        return self._kinds.setdefault(key, len(self._kinds))

    def _key(self, k: int) -> object:
        """What pairs of the same text share; None where `k` and its follower are not to be joined."""
        following = self._after[k]
        if following < 0:
            return None
        left, right = self.groups[k], self.groups[following]
        assert left is not None
        assert right is not None
        if left.lines + right.lines > LARGEST_GROUP or len(left.public | right.public) > MOST_ARGUMENTS:
            return None
        places = {name: place for place, name in enumerate(left.names)}
        pattern = tuple([places.setdefault(name, len(places)) for name in right.names])
        return left.kind, right.kind, pattern

    def _note(self, k: int) -> None:
        """Remember the pair that begins at `k`."""
        self._forget(k)
        key = self._key_at[k] = self._key(k)
        if key is None:
            return
        places = self._places.setdefault(key, {})
        places[k] = None
        if len(places) > 1:
            self._push(key)

    def _push(self, key: object) -> None:
        places = self._places[key]
        # The number of the key decides between equals, so that a text has one division only.
        heapq.heappush(self._heap, (-len(places), min(places), self._number(key), key))

    def _forget(self, k: int) -> None:
        """The pair that began at `k` is no more."""
        key = self._key_at[k]
        if key is not None:
            self._places[key].pop(k, None)
            self._key_at[k] = None

    def join(self) -> None:
        """Join the most frequent pairs until none recurs."""
        while self._heap:
            count, _, kind, key = heapq.heappop(self._heap)
            places = self._places[key]
            if len(places) < 2:
                continue
            if len(places) != -count:
                self._push(key)
                continue
            if self._growth(places) > 0:
                continue
            for k in sorted(places):
                if self._key_at[k] == key:
                    self._join_at(k, kind)

    def _growth(self, places: Iterable[int]) -> int:
        """The lines by which the text grows where pairs of groups at these places become one group each.

        Groups that recur elsewhere, too, are written for those as well: two steps of a loop are no better
        joined than one by one, where each is long enough to be called.
        """
        firsts, last = [], -1
        for k in sorted(places):
            if k != last:  # in a row of equal groups each is part of one pair only
                firsts.append(k)
                last = self._after[k]
        left, right = self.groups[firsts[0]], self.groups[self._after[firsts[0]]]
        assert left is not None
        assert right is not None
        parts = {left.kind: left, right.kind: right}
        taken = Counter({left.kind: len(firsts)}) + Counter({right.kind: len(firsts)})
        growth = lines_for(joined(left, right, -1), len(firsts))
        for kind, group in parts.items():
            count = self._counts[kind]
            growth += lines_for(group, count - taken[kind]) - lines_for(group, count)
        return growth

    def _join_at(self, k: int, kind: int) -> None:
        """Join the group at `k` and the one that follows it."""
        following = self._after[k]
        left, right = self.groups[k], self.groups[following]
        assert left is not None
        assert right is not None
        self._forget(following)
        self._counts.subtract((left.kind, right.kind))
        self._counts[kind] += 1
        self.groups[k] = joined(left, right, kind)
        self.groups[following] = None
        self._after[k] = self._after[following]
        if self._after[k] >= 0:
            self._before[self._after[k]] = k
        self._note(k)
        if self._before[k] >= 0:
            self._note(self._before[k])

    def recurring(self) -> Iterator[list[Group]]:
        """Groups of the same kind, where there are several."""
        found: dict[int, list[Group]] = {}
        for group in self.groups:
            if group is not None and group.lines <= LARGEST_GROUP:
                found.setdefault(group.kind, []).append(group)
        yield from [same for same in found.values() if len(same) > 1]
