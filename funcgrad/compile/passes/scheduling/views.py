"""Where elements lie: buffers, and views of them by strides.

Movement of elements (broadcast, permute, slice, flip, reshape) is done here on strides, as NumPy does it, and
costs nothing when the program runs. Knows nothing of loops and of text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.ops.arrays.movement import Flip
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import Broadcast, Permute, Reshape
from funcgrad.ops.linalg.matrices import MatrixDiagonal
from funcgrad.types import Anything


class Buffer:
    """A block of memory that a kernel is given: an input, a captured array, an output or scratch."""

    __slots__ = ("dtype", "first", "is_log", "is_total", "last", "name", "role", "shape", "size", "source")

    def __init__(
        self, name: str, dtype: np.dtype[Any], size: int, role: str, source: Anything = None
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.size = size
        """Number of elements."""
        self.shape: Shape = ()
        """The shape of the array that it holds, where it holds one."""
        self.is_log = False
        """Whether it has an element for each run of the body of a loop."""
        self.is_total = False
        """Whether it began with zeros, and is only added to: it holds no zero with a sign."""
        self.role = role
        """``input``, ``captured``, ``output``, ``scratch``, ``clock``, ``failure``, ``signals`` or
        ``tape``; of an ``index``, which is no memory, the k-th element is k."""
        self.source = source
        """The position of an input or output, or the captured array."""
        self.first: int = -1
        self.last: int = -1
        """The first and last place in the schedule where it is used."""

    @property
    def nbytes(self) -> int:
        """Bytes of the block."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"Buffer({self.name}: {self.dtype}[{self.size}] {self.role})"


@final
class View(NamedTuple):
    """Elements of a buffer: ``buffer[offset + sum(i * stride)]``, all counted in elements.

    ``base`` is what a loop around adds to the offset: pairs of a loop variable and a stride.
    """

    buffer: Buffer
    shape: Shape
    strides: tuple[int, ...]
    offset: int = 0
    base: tuple[tuple[str, int], ...] = ()

    @classmethod
    def whole(cls, buffer: Buffer, shape: Shape) -> View:
        """All of a buffer in row-major order."""
        return cls(buffer, shape, row_major(shape))

    @property
    def contiguous(self) -> bool:
        """Whether the elements follow one another in row-major order."""
        dense = row_major(self.shape)
        return self.strides == dense or all(
            n == 1 or stride == step for n, stride, step in zip(self.shape, self.strides, dense, strict=True)
        )

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return (
            not self.offset
            and not self.base
            and self.contiguous
            and math.prod(self.shape) == self.buffer.size
        )

    def broadcast(self, move: Broadcast) -> View:
        """As the primitive."""
        strides = [0] * len(move.shape)
        for n, stride, axis in zip(self.shape, self.strides, move.axes, strict=True):
            strides[axis] = stride if n == move.shape[axis] and n != 1 else 0
        return View(self.buffer, move.shape, tuple(strides), self.offset, self.base)

    def permute(self, move: Permute) -> View:
        """As the primitive."""
        shape, strides = self.shape, self.strides
        return View(
            self.buffer,
            tuple([shape[a] for a in move.order]),
            tuple([strides[a] for a in move.order]),
            self.offset,
            self.base,
        )

    def slice(self, move: Slice) -> View:
        """As the primitive."""
        offset, shape, strides = self.offset, [], []
        for entry, stride in zip(move.index, self.strides, strict=True):
            if isinstance(entry, tuple):
                start, size, step = entry
                offset += (start if size else 0) * stride
                shape.append(size)
                strides.append(stride * step)
            else:
                offset += entry * stride
        return View(self.buffer, tuple(shape), tuple(strides), offset, self.base)

    def flip(self, move: Flip) -> View:
        """As the primitive."""
        offset, strides = self.offset, list(self.strides)
        for axis in move.axes:
            if self.shape[axis]:
                offset += (self.shape[axis] - 1) * strides[axis]
                strides[axis] = -strides[axis]
        return self._replace(strides=tuple(strides), offset=offset)

    def reshape(self, move: Reshape) -> View | None:
        """As the primitive, where strides can say it; None where the elements must be copied."""
        strides = reshaped_strides(self.shape, self.strides, move.shape)
        return None if strides is None else View(self.buffer, move.shape, strides, self.offset, self.base)

    def diagonal(self, move: MatrixDiagonal) -> View:
        """As the primitive."""
        *strides, row, column = self.strides
        return self._replace(shape=self.shape[:-1], strides=(*strides, row + column))

    def at(self, variable: str, axis: int = 0) -> View:
        """The part at a loop variable's position along an axis."""
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        strides = (*self.strides[:axis], *self.strides[axis + 1 :])
        base = (*self.base, (variable, self.strides[axis]))
        return self._replace(shape=shape, strides=strides, base=base)


MOVES: dict[type, Callable[[View, Any], View | None]] = {
    Broadcast: View.broadcast,
    Permute: View.permute,
    Slice: View.slice,
    Flip: View.flip,
    Reshape: View.reshape,
    MatrixDiagonal: View.diagonal,
}
"""The primitives that only move elements, and what they do to a view."""


def moved(view: View, moves: Sequence[Any]) -> View | None:
    """The view after the movements, in their order; None where one needs a copy."""
    found: View | None = view
    for move in moves:
        if found is None:
            return None
        found = MOVES[type(move)](found, move)
    return found


@cache
def row_major(shape: Shape) -> tuple[int, ...]:
    """The strides of a contiguous array.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def reshaped_strides(old: Shape, strides: Sequence[int], new: Shape) -> tuple[int, ...] | None:
    """Strides of the same elements in another shape, or None.

    Axes of both shapes are matched in runs of equal size; within a run the old axes must be dense.

    >>> reshaped_strides((2, 3, 4), (12, 4, 1), (6, 4)), reshaped_strides((2, 3), (1, 2), (6,))
    ((4, 1), None)
    """
    if 0 in old:
        return row_major(new)
    axes = [(n, s) for n, s in zip(old, strides, strict=True) if n != 1]
    found: list[int] = []
    k = i = 0
    while i < len(new):
        if new[i] == 1:
            found.append(0)
            i += 1
            continue
        run_new, j = new[i], i + 1
        run_old, first = axes[k][0], k
        k += 1
        while run_old != run_new:
            if run_old < run_new:
                run_old *= axes[k][0]
                k += 1
            else:
                run_new *= new[j]
                j += 1
        while j < len(new) and new[j] == 1:
            j += 1
        for a, b in zip(axes[first : k - 1], axes[first + 1 : k], strict=True):
            if a[1] != b[0] * b[1]:
                return None
        step = axes[k - 1][1]
        inner: list[int] = []
        for n in reversed(new[i:j]):
            inner.append(step if n != 1 else 0)
            step *= n
        found.extend(reversed(inner))
        i = j
    return tuple(found)
