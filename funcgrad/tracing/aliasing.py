"""Views and in-place writes, as NumPy has them, by functional update underneath.

A tracer is a name for a value; writing into it gives the name a new value. A *view* remembers the tracer
it was taken from and a `Lens`: how to read the view out of the base, and how to put a changed view back.
Reading a view whose base has moved on reads it out again; writing into a view writes the base.
One mechanism serves tracers and the stateful Tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad.tracing.tracer import Tracer


class Lens(NamedTuple):
    """``get(base) -> part`` and ``put(base, part) -> base``, both functional."""

    get: Callable[[Any], Any]
    put: Callable[[Any, Any], Any]


class View:
    """What a view knows: its base, the lens, and which value of the base it has seen."""

    __slots__ = ("base", "lens", "seen")

    def __init__(self, base: Tracer, lens: Lens) -> None:
        self.base = base
        self.lens = lens
        self.seen = index_of(base)

    def current_index(self, part: Tracer) -> int:
        """The index of `part` after whatever was written into its base."""
        now = index_of(self.base)
        if now != self.seen or part._recorder is not self.base._recorder:
            fresh = self.lens.get(self.base.frozen())
            part._recorder, part._index = fresh._recorder, fresh._index
            self.seen = now
        return part._index


def index_of(x: Tracer) -> int:
    """The index of a tracer's present value in its recorder."""
    return x._index if x._view is None else x._view.current_index(x)


def view(base: Tracer, lens: Lens) -> Tracer:
    """The part of `base` that the lens reads, writable and kept up to date."""
    part: Tracer = lens.get(base.frozen())
    return Tracer(part._recorder, part._index, part.aval, View(base, lens))


def assign(x: Tracer, value: Tracer) -> None:
    """Give `x` a new value of the same aval, and its base, if it is a view, the changed part."""
    x._recorder, x._index = value._recorder, value._index
    if x._view is not None:
        base = x._view.base
        assign(base, x._view.lens.put(base.frozen(), value))
        x._view.seen = index_of(base)
