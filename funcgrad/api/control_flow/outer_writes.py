"""Arrays of a trace that a function differentiated inside of it writes: what it leaves goes out too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ops.arrays.structure import cast
from funcgrad.tracing.aliasing import assign, moved_back
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer

__all__ = ["OuterWrites"]


class OuterWrites:
    """The arrays of outer traces that a trace has written.

    Within the ``with`` the function is traced; they stand for what they were when it ends.
    """

    __slots__ = ("_recorder", "arrays")

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self.arrays: list[Tracer] = []

    def __enter__(self) -> OuterWrites:
        return self

    def left(self) -> list[Tracer]:
        """What the trace, which is about to end, leaves in them."""
        self._recorder = recorder = active_recorder()
        assert recorder is not None, "a trace is open"
        if not recorder.moved:
            return self.arrays
        found = {id(x): x for x, owner, *_ in recorder.moved if not owner.closed and x._recorder is recorder}
        bases = [x for x in found.values() if x._alias is None or x._alias.base is None]
        self.arrays = bases
        return [x.frozen() for x in bases]

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None:
            moved_back(self._recorder.moved)

    def write(self, values: Sequence[Any]) -> None:
        """Write into them what the transformed Program has left for them."""
        for x, value in zip(self.arrays, values, strict=True):
            assign(x, cast(asoperand(value), x.aval.dtype))
