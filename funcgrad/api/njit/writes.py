"""Arguments that a function of Numba's writes into: the caller's arrays change, as by its machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.api.arguments import here
from funcgrad.errors import TracerAssignmentError
from funcgrad.tracing.aliasing import assign
from funcgrad.tracing.recorder import active_recorder, captured
from funcgrad.tracing.tracer import Tracer

__all__ = ["CapturedArguments", "Changes", "give_back"]


class Changes:
    """Which of some tracers are written into while a function is recorded."""

    __slots__ = ("_before", "_tracers", "_which")

    def __init__(self) -> None:
        self._tracers: Sequence[Tracer] = ()
        self._before: list[tuple[int, int]] = []
        self._which: Sequence[int] = ()

    def watch(self, tracers: Sequence[Tracer], which: Sequence[int] | None = None) -> None:
        """Watch these from now on, or those of these numbers."""
        self._tracers = tracers
        self._before = [(x._index, id(x._recorder)) for x in tracers]
        self._which = range(len(tracers)) if which is None else which

    @property
    def written(self) -> tuple[int, ...]:
        """The numbers of those that stand for another value now."""
        now = [(x._index, id(x._recorder)) for x in self._tracers]
        return tuple([k for k in self._which if self._before[k] != now[k]])

    def left(self, name: str) -> list[Tracer]:
        """What has been left in them; raises TracerAssignmentError where a transform keeps it for itself."""
        found = [self._tracers[k] for k in self.written]
        if any(x._recorder.closed for x in found):
            raise TracerAssignmentError(
                f"{name} writes into an argument, and what it leaves there stays in its transform",
                source=here(),
                remedy="Make the array inside of the function, with np.empty or np.zeros.",
            )
        return found


def give_back(function: Any, leaves: Sequence[Any], written: Sequence[int], values: Sequence[Any]) -> None:
    """Write what a function has left in its arguments into the caller's arrays."""
    name = getattr(function, "__name__", "the function")
    for k in written:
        refuse_shared(name, leaves, k)
    for k, value in zip(written, values, strict=True):
        leaf = leaves[k]
        if type(leaf) is Tracer:
            assign(leaf, value)
        elif type(value) is Tracer:
            raise outside_array(name)
        else:
            np.copyto(leaf, value)


def outside_array(name: str) -> TracerAssignmentError:
    """The error for a traced value that would be left in an array of NumPy's."""
    return TracerAssignmentError(
        f"{name} would write a traced value into a NumPy array of its caller's, which cannot hold it",
        source=here(),
        remedy="Make the array inside of the function that is transformed, with np.empty or "
        "np.zeros, or give it to that function as an argument.",
    )


class CapturedArguments:
    """NumPy's arrays among arguments, as constants of the open trace, which are read at traced places."""

    __slots__ = ("_changes", "_made")

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Tracer]] = {}
        self._changes = Changes()

    def of(self, x: Any) -> Any:
        """The argument, or what stands for it; one array is one traced array."""
        if type(x) is tuple:
            return tuple([self.of(item) for item in x])
        if type(x) is not np.ndarray:
            return x
        made = self._made.get(id(x))
        if made is None:
            traced = captured(x, active_recorder())
            if type(traced) is not Tracer:
                return traced
            made = self._made[id(x)] = x, traced
        return made[1]

    def watch(self) -> None:
        """Watch them from now on."""
        self._changes.watch([x for _, x in self._made.values()])

    def refuse_written(self, name: str) -> None:
        """Raise where one of them has been written into."""
        if self._changes.written:
            raise outside_array(name)


def refuse_shared(name: str, leaves: Sequence[Any], written: int) -> None:
    """Raise where an argument that is written into shares its memory with another."""
    x = leaves[written]
    for k, y in enumerate(leaves):
        if k != written and shares(x, y):
            raise TracerAssignmentError(
                f"{name} writes into an argument that shares its memory with another",
                source=here(),
                remedy="Give it a copy of one of them.",
            )


def shares(x: Any, y: Any) -> bool:
    """Whether two arguments share memory."""
    if type(x) is Tracer and type(y) is Tracer:
        return root_of(x) is root_of(y)
    return (
        isinstance(x, np.ndarray)
        and isinstance(y, np.ndarray)
        and np.may_share_memory(x, y)
        and bool(np.shares_memory(x, y))
    )


def root_of(x: Tracer) -> Tracer:
    """The traced array that `x` is a view of, or `x`."""
    while x._alias is not None and x._alias.base is not None:
        x = x._alias.base
    return x
