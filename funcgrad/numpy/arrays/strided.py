"""Arrays seen by their memory: `strides`, `as_strided`, and `view` as numbers of another kind.

How a traced array lies is worked out as for `reshape` (`memory`); where nobody knows, these refuse.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Shape
from funcgrad.numpy.arrays.joining import stack
from funcgrad.numpy.arrays.memory import UNKNOWN, layout_of, picture_of
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.picking.indexing import getitem
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.structure import reshape, shape_of
from funcgrad.ops.elementwise.complexes import imag, make_complex, real
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import view
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Option, ShapeLike


def strides_of(x: Tracer) -> tuple[int, ...]:
    """The bytes between neighbours along every axis, as NumPy's array would have them.

    Raises UnsupportedFunctionError where it is not known. Arguments of `jit` and `vmap` lie in rows.
    """
    layout = layout_of(x)
    if layout is UNKNOWN:
        raise UnsupportedFunctionError(
            f"this asks how a traced {x.aval} lies in memory, which is not known here",
            source=Source(*user_location()),
            remedy="Ask a copy, x.copy(), which lies row by row.",
        )
    return tuple([step * x.itemsize for step in picture_of(layout, x.aval.shape).strides])


def offsets(shape: Shape, steps: Sequence[int]) -> Array:
    """How far every element lies from the first, in numbers of elements."""
    found = np.zeros(shape, np.int64)
    for axis, (size, step) in enumerate(zip(shape, steps, strict=True)):
        found += (np.arange(size) * step).reshape((size,) + (1,) * (len(shape) - axis - 1))
    return found


class Strided:
    """How the elements at given positions hang on an array: read-only where one is seen twice."""

    __slots__ = ("_places", "_steps", "_writeable")

    def __init__(self, places: Array, steps: tuple[int, ...], writeable: bool) -> None:
        self._places, self._steps, self._writeable = places, steps, writeable

    def evaluate(self, layout: ArrayLike) -> Array:
        """The picture of how these elements lie."""
        return np.lib.stride_tricks.as_strided(layout, self._places.shape, self._steps)

    def get(self, base: ArrayLike) -> Array:
        """The elements."""
        return Gather((0,)).bind(reshape(base, (math.prod(shape_of(base)),)), self._places)

    def put(self, base: ArrayLike, part: ArrayLike) -> Array:
        """The base with other elements; raises where one of them is seen more than once."""
        if not self._writeable:
            raise ValueError("assignment destination is read-only")
        if np.unique(self._places).size < self._places.size:
            raise UnsupportedFunctionError(
                "what np.lib.stride_tricks.as_strided shows more than once cannot be written by way of it",
                source=Source(*user_location()),
                remedy="Write into the array itself, or ask for strides that meet every element once.",
            )
        flat = Scatter("set", (0,), False).bind(
            reshape(base, (math.prod(shape_of(base)),)), part, self._places
        )
        return reshape(flat, shape_of(base))


def as_strided(
    x: ArrayLike,
    shape: ShapeLike | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> Array:
    """The elements that a step of so many bytes along every axis meets: a view.

    Raises UnsupportedFunctionError for what is no element of `x`, which NumPy would read all the same.

    >>> def pairs(x):
    ...     return as_strided(x, (2, 2), x.strides * 2)
    >>> print(fg.grad(lambda x: np.sum(np.prod(pairs(x), axis=1)))(np.array([1.0, 2.0, 5.0])))
    [2. 6. 2.]
    """
    seen = as_array(x)
    if type(seen) is not Tracer:
        return np.lib.stride_tricks.as_strided(seen, shape, strides, subok, writeable)
    own = strides_of(seen)
    sizes: Any = seen.aval.shape if shape is None else shape
    sizes = tuple([operator.index(n) for n in sizes])
    asked: Any = own if strides is None else strides
    asked = tuple([operator.index(n) for n in asked])
    if len(sizes) != len(asked) or any(n < 0 for n in sizes):
        raise ValueError(f"shape {sizes} and strides {asked} do not describe an array")
    if any(step % seen.itemsize for step in asked):
        raise UnsupportedFunctionError(
            f"np.lib.stride_tricks.as_strided by steps of {asked} bytes meets parts of elements",
            source=Source(*user_location()),
            remedy=f"Elements of a traced {seen.aval} take {seen.itemsize} bytes: give multiples of that.",
        )
    steps = tuple([step // seen.itemsize for step in asked])
    places = places_among(seen, offsets(sizes, steps), tuple([n // seen.itemsize for n in own]))
    return view(seen, Strided(places, steps, writeable))


def places_among(x: Tracer, wanted: Array, own: tuple[int, ...]) -> Array:
    """Which elements of `x`, counted row by row, lie so far from its first one."""
    there = offsets(x.aval.shape, own).ravel()
    order = np.argsort(there, kind="stable")
    found = np.searchsorted(there[order], wanted)
    if wanted.size and (not there.size or np.any(there[order[np.minimum(found, there.size - 1)]] != wanted)):
        raise UnsupportedFunctionError(
            f"np.lib.stride_tricks.as_strided reaches memory that is no part of a traced {x.aval}",
            source=Source(*user_location()),
            remedy="Give it the array that this is a part of, and take strides from x.strides.",
        )
    places: Array = order[found] if there.size else found
    return places


# -- the same memory as other numbers ---------------------------------------------------------------------


class Pairs:
    """Complex numbers seen as their two parts, one beside the other along the last axis."""

    @staticmethod
    def get(base: ArrayLike) -> Array:
        """The parts of the base."""
        *outer, n = shape_of(base)
        return reshape(stack([real(base), imag(base)], -1), (*outer, 2 * n))

    @staticmethod
    def put(base: ArrayLike, part: ArrayLike) -> Array:
        """The base with other parts."""
        return Numbers.get(part)


class Numbers:
    """Parts that lie one beside the other along the last axis, seen as complex numbers."""

    @staticmethod
    def get(base: ArrayLike) -> Array:
        """The complex numbers of the base."""
        *outer, n = shape_of(base)
        both = reshape(base, (*outer, n // 2, 2))
        return make_complex(getitem(both, (..., 0)), getitem(both, (..., 1)))

    @staticmethod
    def put(base: ArrayLike, part: ArrayLike) -> Array:
        """The base with other numbers."""
        return Pairs.get(part)


def seen_as(x: Tracer, dtype: Option = None, type: Option = None) -> Array:
    """``x.view(dtype)``: the same kind of numbers, or the parts of complex numbers as real ones and back.

    >>> print(fg.grad(lambda x: np.abs(np.prod(x.view(complex))))(np.array([3.0, 4.0])))
    [0.6 0.8]
    """
    if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype
    if type not in (None, np.ndarray):
        raise unsupported("ndarray.view with another type")
    wanted, own = np.dtype(x.dtype if dtype is None else dtype), x.dtype
    if wanted == own:
        return getitem(x, ...)
    if {wanted.kind, own.kind} != {"c", "f"} or wanted.type(0).real.dtype != own.type(0).real.dtype:
        raise unsupported("ndarray.view with another dtype")
    if not x.aval.ndim:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    if x.aval.shape[-1] != 1 and strides_of(x)[-1] != x.itemsize:
        raise ValueError(
            "To change to a dtype of a different size, the last axis must be contiguous: copy it first"
        )
    if wanted.kind == "c" and x.aval.shape[-1] % 2:
        raise ValueError(f"the last axis of a traced {x.aval} does not hold whole complex numbers")
    return view(x, Pairs() if wanted.kind == "f" else Numbers())
