"""`new_ref`: a place that holds an array and is written into, under `jit` too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.errors import TracerAssignmentError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.tracing.lists import asoperand, holds_tracer
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Index, Tree


class Ref:
    """A place that holds an array: read with ``ref[...]``, written with ``ref[...] = x`` or at any index.

    As an argument of a function under `jit` it holds afterwards what the function has left in it. It is no
    value that other transforms take or return: they follow what is written into one that is made inside.
    """

    __slots__ = ("_is_number", "held")

    def __init__(self, held: Array, is_number: bool) -> None:
        self.held = held
        """An array that can be written into: of one element for a number, which has no memory of its own."""
        self._is_number = is_number

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is held."""
        return () if self._is_number else self.held.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its dtype."""
        found: np.dtype[Any] = self.held.dtype
        return found

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def kind(self) -> Callable[[Any], Ref]:
        """What makes a place like this one for a traced array."""
        return place_of_number if self._is_number else place_of_array

    def __getitem__(self, index: Index) -> Array:
        """A copy of what stands at the index."""
        found = self.held[self._place(index)]
        if type(found) is Tracer:
            return found.frozen()
        return found.copy() if isinstance(found, np.ndarray) else found

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        if type(self.held) is not Tracer and holds_tracer([index, value]):
            raise TracerAssignmentError(
                "this assignment would leave a traced value in a place that was made outside of the trace",
                source=here(),
                remedy="Make it inside with fg.new_ref, or pass it to a function under fg.jit.",
            )
        self.held[self._place(index)] = value

    def _place(self, index: Index) -> Index:
        if not self._is_number:
            return index
        if index is not ... and index != ():
            raise IndexError("a place that holds a number has no elements: read and write ref[...]")
        return 0

    def __repr__(self) -> str:
        return f"Ref({self[...]!r})"


def place_of_number(held: object) -> Ref:
    """A place for an array of one element, which is a number."""
    return Ref(held, True)


def place_of_array(held: object) -> Ref:
    """A place for an array."""
    return Ref(held, False)


def new_ref(init_val: Tree) -> Ref:
    """A place that holds a copy of an array.

    >>> count = fg.new_ref(0.0)
    >>> @fg.jit
    ... def step(count, x):
    ...     count[...] += x
    ...     return 2.0 * count[...]
    >>> print(step(count, 1.5), step(count, 1.5), count[...])
    3.0 6.0 3.0
    >>> def product(xs):
    ...     held = fg.new_ref(1.0)
    ...     fg.fori_loop(0, 3, lambda i, _: held.__setitem__(..., held[...] * xs[i]), None)
    ...     return held[...]
    >>> print(fg.grad(product)(np.array([2.0, 3.0, 4.0])))
    [12.  8.  6.]
    """
    value = asoperand(init_val)
    is_number = not shape_of(value)
    if is_number:
        value = np.reshape(value, (1,))
    if type(value) is Tracer:
        return Ref(value.frozen(), is_number)
    recorder = active_recorder()
    held = np.array(value)
    if recorder is None:
        return Ref(held, is_number)
    index = recorder.index_of(held)
    return Ref(Tracer(recorder, index, recorder.avals[index]), is_number)


def freeze(ref: Ref) -> Array:
    """What a place holds at the end.

    >>> print(fg.freeze(fg.new_ref([1.0, 2.0])))
    [1. 2.]
    """
    return ref[...]
