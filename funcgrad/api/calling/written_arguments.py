"""Arguments that a function writes into: the caller's arrays change, as by a call of the function itself.

What a transform differentiates is not among them: a derivative is taken at a copy of the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.errors import TracerAssignmentError
from funcgrad.tracing.aliasing import assign
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike


class Changes:
    """Which of some tracers are written into while a function is recorded."""

    __slots__ = ("_before", "_tracers")

    def __init__(self) -> None:
        self._tracers: Sequence[Tracer] = ()
        self._before: list[tuple[int, int]] = []

    def watch(self, tracers: Sequence[Tracer]) -> None:
        """Watch these from now on."""
        self._tracers = tracers
        self._before = [(x._index, id(x._recorder)) for x in tracers]

    @property
    def written(self) -> tuple[int, ...]:
        """The numbers of those that stand for another value now."""
        pairs = enumerate(zip(self._before, self._tracers, strict=True))
        return tuple([k for k, (before, x) in pairs if before != (x._index, id(x._recorder))])

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


def give_back(
    name: str,
    leaves: Sequence[Any],
    written: Sequence[int],
    values: Sequence[Any],
    closed_over: Iterable[Any] = (),
) -> None:
    """Write what a function has left in its arguments into the caller's arrays.

    Raises TracerAssignmentError where one of these shares its memory with another, or with an array that the
    function closes over: the function would have seen the write there.
    """
    refuse_shared(name, [*leaves, *closed_over], frozenset(written))
    for k, value in zip(written, values, strict=True):
        leaf = leaves[k]
        write(name, leaf, value)


def write(name: str, leaf: Array, value: ArrayLike) -> None:
    """Write a value into an argument, traced or not."""
    if type(leaf) is Tracer:
        assign(leaf, value)
    elif type(value) is Tracer:
        raise outside_array(name)
    elif isinstance(leaf, np.ndarray):
        np.copyto(leaf, value)
    else:
        raise TypeError(f"'{type(leaf).__name__}' object does not support item assignment")


def outside_array(name: str) -> TracerAssignmentError:
    """The error for a traced value that would be left in an array of NumPy's."""
    return TracerAssignmentError(
        f"{name} would write a traced value into a NumPy array of its caller's, which cannot hold it",
        source=here(),
        remedy="Make the array inside of the function that is transformed, with np.empty or "
        "np.zeros, or give it to that function as an argument.",
    )


def refuse_shared(name: str, arrays: Sequence[Any], written: Set[int]) -> None:
    """Raise where one of the arrays that are written into shares its memory with another."""
    roots: dict[int, int] = {}
    spans = []
    for k, x in enumerate(arrays):
        if type(x) is Tracer:
            other = roots.setdefault(id(root_of(x)), k)
            if other != k and (k in written or other in written):
                raise shared_memory(name)
        elif isinstance(x, np.ndarray) and x.size:
            spans.append((*np.lib.array_utils.byte_bounds(x), k))
    reaching: list[tuple[int, int, int]] = []
    for span in sorted(spans):
        # Few arrays begin where another has not ended, so that this is linear but for the sorting.
        reaching = [other for other in reaching if other[1] > span[0]]
        for *_, other in reaching:
            k = span[2]
            if (k in written or other in written) and np.shares_memory(arrays[k], arrays[other]):
                raise shared_memory(name)
        reaching.append(span)


def shared_memory(name: str) -> TracerAssignmentError:
    """The error for memory that is written through one argument, and read through another or by a name."""
    return TracerAssignmentError(
        f"{name} writes into an argument that shares its memory with another array",
        source=here(),
        remedy="Give it a copy of one of them.",
    )


def root_of(x: Tracer) -> Tracer:
    """The traced array that `x` is a view of, or `x`."""
    while x._alias is not None and x._alias.base is not None:
        x = x._alias.base
    return x
