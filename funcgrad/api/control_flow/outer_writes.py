"""Arrays of a trace that a function differentiated inside of it writes: what it leaves goes out too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import cast
from funcgrad.tracing.aliasing import assign, moved_back
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer


class OuterWrites:
    """The arrays of outer traces that a trace has written.

    They are asked for what the trace leaves in them while it is open, and made what they were when it ends.
    """

    __slots__ = ("_moved", "arrays")

    def __init__(self) -> None:
        self._moved: list[tuple[Tracer, Recorder, int, Aval]] | None = None
        self.arrays: list[Tracer] = []

    def left(self) -> list[Tracer]:
        """What the trace, which is about to end, leaves in them."""
        recorder = active_recorder()
        assert recorder is not None, "a trace is open"
        self._moved = recorder.moved
        if not self._moved:
            return self.arrays
        found = {id(x): x for x, owner, *_ in self._moved if not owner.closed and x._recorder is recorder}
        bases = [x for x in found.values() if x._alias is None or x._alias.base is None]
        self.arrays = bases
        return [x.frozen() for x in bases]

    def put_back(self) -> None:
        """Have them stand for what they were, now that the trace has ended."""
        if self._moved:
            moved_back(self._moved)

    def write(self, values: Sequence[Any]) -> None:
        """Write into them what the transformed Program has left for them."""
        for x, value in zip(self.arrays, values, strict=True):
            assign(x, cast(asoperand(value), x.aval.dtype))
