"""How carried arrays lie in memory: as they do when the loop begins, if a trip leaves them so, else unknown.

Whether ``a.ravel()`` is a view depends on it, and one recording stands for all trips. What is unknown is
refused where it matters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from funcgrad.api.python.blocks.cells import taken_apart
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything


def note_layouts(given: Mapping[str, object], entry: Mapping[str, object], unknown: Collection[str]) -> None:
    """Have the arrays that a trip is given lie as those do that the loop begins with."""
    for name, value in given.items():
        for inner, outer in array_pairs(value, entry.get(name)):
            known = name not in unknown and isinstance(outer, Tracer | np.ndarray)
            INSIDE.lie_like(inner, INSIDE.plain(outer) if known else None)


def changed_layouts(given: Mapping[str, object], values: Mapping[str, object]) -> set[str]:
    """The names of arrays that a trip leaves lying otherwise than they were given."""
    return {
        name
        for name, value in given.items()
        for inner, after in array_pairs(value, values.get(name))
        if not INSIDE.lie_alike(inner, after)
    }


def array_pairs(first: object, second: object) -> Iterator[tuple[Tracer, Anything]]:
    """Traced arrays with several axes in one value, each with what stands in its place in another."""
    ours, theirs = taken_apart(first).leaves, taken_apart(second).leaves
    if len(ours) != len(theirs):
        return
    for x, y in zip(ours, theirs, strict=True):
        if type(x) is Tracer and x.aval.ndim > 1:
            yield x, y
