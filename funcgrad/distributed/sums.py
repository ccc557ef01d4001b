"""Results of shards put together: in a fixed order, whatever arrives first, so that the bits are the same.

Shards are summed in groups of eight neighbours, from left to right, then the sums in groups of eight, and so
on. All engines keep to this order but MPI, whose own ``Allreduce`` joins what the ranks have summed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.distributed.failures import Failure
from funcgrad.distributed.packing import Flat, header_of, layout_of, pack, unpack
from funcgrad.types import Tree

FAN = 8
"""How many neighbours are summed at once."""

Reduce = str | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class ShardTime:
    """How long a shard took, and where."""

    shard: int
    seconds: float
    where: str


@dataclass(frozen=True, slots=True)
class Part:
    """What came of one shard, or of some neighbours."""

    summed: Flat | None = None
    """Results put together; None where they are kept apart, or something went wrong."""
    apart: tuple[Flat, ...] = ()
    """What is handed back shard by shard."""
    rows: int = 0
    times: tuple[ShardTime, ...] = ()
    failure: Failure | None = None
    merging: float = field(default=0.0)
    """Seconds that workers took to put results together."""

    def later(self, seconds: float) -> Part:
        """The same, after so many seconds more of putting together."""
        return replace(self, merging=self.merging + seconds)

    @property
    def nbytes(self) -> int:
        """The bytes that it takes to send it, but for a few words."""
        return sum(flat.nbytes for flat in self.apart) + (0 if self.summed is None else self.summed.nbytes)


def groups(count: int) -> list[range]:
    """The neighbours that are put together, of so many.

    >>> groups(10)
    [range(0, 8), range(8, 10)]
    """
    return [range(start, min(start + FAN, count)) for start in range(0, count, FAN)]


def merged(parts: Sequence[Part], reduce: Reduce) -> Part:
    """Neighbours as one, in their order; the failure of the first where there are any."""
    for part in parts:
        if part.failure is not None:
            return part
    if len(parts) == 1:
        return parts[0]
    times = tuple([time for part in parts for time in part.times])
    whole = Part(
        apart=tuple([flat for part in parts for flat in part.apart]),
        rows=sum([part.rows for part in parts]),
        times=times,
        merging=sum([part.merging for part in parts]),
    )
    flats = [part.summed for part in parts if part.summed is not None]
    if len(flats) < len(parts):
        return whole
    failure = mismatch(parts) if isinstance(reduce, str) else None
    if failure is not None:
        return replace(whole, failure=failure)
    return replace(whole, summed=total(flats) if isinstance(reduce, str) else folded(flats, reduce))


def mismatch(parts: Sequence[Part]) -> Failure | None:
    """What is wrong where shards return results that cannot be added."""
    first = parts[0]
    for other in parts[1:]:
        if first.summed is None or other.summed is None or _alike(first.summed, other.summed):
            continue
        one, two = first.times[0].shard, other.times[0].shard
        return Failure(
            "worker",
            two,
            other.times[0].where,
            f"shards {one} and {two} return results that cannot be summed: "
            f"{described(first.summed)} and {described(other.summed)}",
            "What is summed must have one structure, whatever the length of the shard. fg.vmap of a function "
            "of one row is gathered, and has_aux hands back what belongs to a shard.",
        )
    return None


def _alike(one: Flat, other: Flat) -> bool:
    return one.nbytes == other.nbytes and header_of(one) == header_of(other)


def described(flat: Flat) -> str:
    """The kind of tree in a buffer, in a few words."""
    layout = layout_of(flat)
    leaves = [f"{np.dtype(s.dtype).name}[{','.join(map(str, s.shape))}]" for s in layout.specs]
    return str(tree.unflatten(layout.treedef, leaves)).replace("'", "")


def total(flats: Sequence[Flat]) -> Flat:
    """The sum of two buffers or more with equal headers, from left to right."""
    layout = layout_of(flats[0])
    whole = np.empty_like(flats[0])
    whole[: len(layout.head)] = layout.head
    for dtype, start, stop in layout.segments:
        first, second, *others = [flat[start:stop].view(dtype) for flat in flats]
        sums = np.add(first, second, out=whole[start:stop].view(dtype))
        for other in others:
            sums += other
    return whole


def folded(flats: Sequence[Flat], reduce: Callable[..., Any]) -> Flat:
    """The results put together by the user's function, from left to right."""

    def together(one: Tree, other: Tree) -> Tree:
        return tree.map(reduce, one, other) if isinstance(reduce, np.ufunc) else reduce(one, other)

    return pack(functools.reduce(together, [unpack(flat) for flat in flats]))


class Sums:
    """Puts parts together as they arrive, in an order that does not depend on when they do.

    No more parts are held than wait for a neighbour.
    """

    def __init__(self, count: int, reduce: Reduce) -> None:
        self._counts = [count]
        while self._counts[-1] > 1:
            self._counts.append(len(groups(self._counts[-1])))
        self._reduce = reduce
        self._waiting: dict[tuple[int, int], dict[int, Part]] = {}
        self.whole: Part | None = None
        """All of it, when it is there."""

    def add(self, index: int, part: Part) -> None:
        """Another part has arrived."""
        for level, count in enumerate(self._counts):
            if count == 1:
                self.whole = part
                return
            group = index // FAN
            members = self._waiting.setdefault((level, group), {})
            members[index] = part
            if len(members) < min(FAN, count - group * FAN):
                return
            del self._waiting[level, group]
            part = merged([members[n] for n in sorted(members)], self._reduce)
            index = group
