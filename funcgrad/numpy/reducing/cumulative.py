"""What runs along an axis: cumulative sums, products and extremes, differences, and the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.arrays.views import moveaxis
from funcgrad.numpy.dispatch import implements, implements_method, unsupported
from funcgrad.numpy.reducing.axes import (
    is_given,
    normalized_axes,
    normalized_axis,
    refused,
    stored,
    strong,
    traced,
    with_kept_axes,
)
from funcgrad.numpy.reducing.reductions import WIDE
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import aval, broadcast, cast, reduce_sum, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, sub
from funcgrad.ops.elementwise.comparison import not_equal
from funcgrad.ops.reducing import cumulative as ops
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import install
from funcgrad.types import AnyPrimitive, Array, ArrayLike, AxisLike, DTypeLike, Number, UfuncLike

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "trapezoid"]

# -- cumulative operations ----------------------------------------------------------------------------------


def accumulated(primitive: AnyPrimitive, x: ArrayLike, axis: AxisLike, dtype: DTypeLike) -> Array:
    """A cumulative operation along one axis, or along the flattened array."""
    seen = aval(x)
    if dtype is None and primitive in (ops.CumSum, ops.CumProd):
        dtype = WIDE.get(seen.dtype.kind)
    if dtype is not None and np.dtype(dtype) == np.bool_:
        # The sum of booleans is "any", their product "all".
        extreme = ops.CumMax if primitive is ops.CumSum else ops.CumMin
        return cast(accumulated(extreme, cast(cast(x, np.bool_), np.int8), axis, None), np.bool_)
    if dtype is not None:
        x = cast(x, dtype)
    if axis is None or not seen.ndim:
        if axis is not None:
            normalized_axis(axis, 1)
        return primitive(0, False).bind(reshape(x, (seen.size,)))
    return primitive(normalized_axis(axis, seen.ndim), False).bind(x)


@implements(np.cumsum)
def cumsum(a: ArrayLike, axis: AxisLike = None, dtype: DTypeLike = None, out: Array = None) -> Array:
    """The sum of the elements so far along `axis`, by default of the flattened array.

    >>> print(fg.jacobian(fg.numpy.cumsum)(np.ones(3)))
    [[1. 0. 0.]
     [1. 1. 0.]
     [1. 1. 1.]]
    """
    x = traced(a, out)
    if x is None:
        return np.cumsum(a, axis, dtype, out)
    return stored(accumulated(ops.CumSum, x, axis, dtype), out, "np.cumsum")


@implements(np.cumprod)
def cumprod(a: ArrayLike, axis: AxisLike = None, dtype: DTypeLike = None, out: Array = None) -> Array:
    """The product of the elements so far along `axis`; derivatives are right where there are zeros.

    >>> print(fg.jacobian(fg.numpy.cumprod)(np.array([2.0, 0.0, 3.0])))
    [[1. 0. 0.]
     [0. 2. 0.]
     [0. 6. 0.]]
    """
    x = traced(a, out)
    if x is None:
        return np.cumprod(a, axis, dtype, out)
    return stored(accumulated(ops.CumProd, x, axis, dtype), out, "np.cumprod")


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    include_initial: bool = False,
) -> Array:
    """The sum of the elements so far along `axis`, from the empty sum if `include_initial` is set.

    >>> print(fg.numpy.cumulative_sum(np.array([1.0, 2.0, 3.0]), include_initial=True))
    [0. 1. 3. 6.]
    """
    return with_initial(ops.CumSum, x, axis, dtype, out, 0 if include_initial else None)


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    include_initial: bool = False,
) -> Array:
    """The product of the elements so far along `axis`, from the empty product if `include_initial` is set.

    >>> print(fg.numpy.cumulative_prod(np.array([1.0, 2.0, 3.0]), include_initial=True))
    [1. 1. 2. 6.]
    """
    return with_initial(ops.CumProd, x, axis, dtype, out, 1 if include_initial else None)


if hasattr(np, "cumulative_sum"):
    # NumPy 2.1 brought the two.
    implements(np.cumulative_sum)(cumulative_sum)
    implements(np.cumulative_prod)(cumulative_prod)


def with_initial(
    primitive: AnyPrimitive, x: ArrayLike, axis: AxisLike, dtype: DTypeLike, out: Array, initial: int | None
) -> Array:
    """A cumulative operation as the array API standard has it: along a named axis, after a first value."""
    x = asoperand(x)
    shape = shape_of(x) or (1,)
    if axis is None and len(shape) > 1:
        raise refused("For arrays which have more than one dimension ``axis`` argument is required.")
    axis = normalized_axis(axis or 0, len(shape))
    found = accumulated(primitive, reshape(x, shape), axis, dtype)
    if initial is not None:
        first = broadcast(aval(found).dtype.type(initial), (*shape[:axis], 1, *shape[axis + 1 :]), ())
        found = concatenate([first, found], axis)
    if isinstance(out, np.ndarray) and isinstance(found, np.ndarray):
        out[...] = found
        return out
    return stored(found, out, f"np.{primitive.name}")


def accumulates(primitive: AnyPrimitive) -> None:
    """Answer ``ufunc.accumulate`` of tracers, which runs along the first axis unless told otherwise."""
    ufunc = primitive.ufunc

    def accumulate(array: Array, axis: AxisLike = 0, dtype: DTypeLike = None, out: Array = None) -> Array:
        x = traced(array, out)
        if not shape_of(x):
            raise DtypeError("cannot accumulate on a scalar", source=as_source(user_location()))
        return stored(accumulated(primitive, x, axis, dtype), out, f"np.{ufunc.__name__}.accumulate")

    implements_method(ufunc, "accumulate")(accumulate)


for _primitive in (ops.CumSum, ops.CumProd, ops.CumMax, ops.CumMin):
    accumulates(_primitive)


def accumulates_in_order(ufunc: UfuncLike) -> None:
    """The same for a ufunc that has no cumulative operation: from each element to the next, as NumPy does."""

    def accumulate(array: Array, axis: AxisLike = 0, dtype: DTypeLike = None, out: Array = None) -> Array:
        x = strong(traced(array, out))
        if not shape_of(x):
            raise DtypeError("cannot accumulate on a scalar", source=as_source(user_location()))
        rows = rows_for(ufunc, x, axis, dtype)
        if len(rows):
            rows = concatenate([rows[:1], in_order(ufunc, rows[0], rows[1:])[1]], 0)
        return stored(moveaxis(rows, 0, axis), out, f"np.{ufunc.__name__}.accumulate")

    implements_method(ufunc, "accumulate")(accumulate)


def rows_for(ufunc: UfuncLike, x: Array, axis: AxisLike, dtype: DTypeLike) -> Array:
    """The elements along an axis as rows, in the dtype that the ufunc gives of two of them."""
    return moveaxis(cast(x, aval(ufunc(x[..., :0], x[..., :0])).dtype if dtype is None else dtype), axis, 0)


def in_order(ufunc: UfuncLike, first: Array, rows: Array) -> tuple[Array, Array]:
    """What a ufunc makes of the rows, one after the other, and of those so far at every one of them."""
    from funcgrad.api.control_flow.loops import scan  # noqa: PLC0415 - it stands on this module

    def step(last: Array, row: Array) -> tuple[Array, Array]:
        found = ufunc(last, row)
        return found, found

    found: tuple[Array, Array] = scan(step, first, rows)
    return found


def reduces_in_order(ufunc: UfuncLike) -> None:
    """Answer ``ufunc.reduce`` of tracers for a ufunc that has no reduction, from the first element on."""
    name = f"np.{ufunc.__name__}.reduce"

    def reduce(
        array: Array,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Array = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
    ) -> Array:
        if where is not True:
            raise unsupported(f"{name} with where=")
        x = strong(traced(array, out, initial))
        axes = normalized_axes(axis, len(shape_of(x)))
        if len(axes) > 1 and ufunc.identity is None:
            raise refused(f"{name} depends on the order of elements, so it takes one axis")
        found = x if axes or initial is None else ufunc(initial, x)
        for a in axes[::-1]:
            # What is given to begin with counts once: in the last loop, which has no other axis to go.
            start = ufunc.identity if initial is None or a != axes[0] else initial
            rows = rows_for(ufunc, found, a, dtype)
            if start is None and not len(rows):
                raise refused(
                    f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
                )
            if start is None:
                found = in_order(ufunc, rows[0], rows[1:])[0]
            else:
                found = in_order(ufunc, broadcast(cast(start, rows.dtype), rows.shape[1:], ()), rows)[0]
        return stored(with_kept_axes(found, shape_of(x), axes) if keepdims else found, out, name)

    implements_method(ufunc, "reduce")(reduce)


for _ufunc in (np.subtract, np.divide, np.power, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.fmin):
    accumulates_in_order(_ufunc)
# Not np.power: NumPy 2.4 takes one of the exponents for all of them.
for _ufunc in (np.subtract, np.divide, np.hypot, np.logaddexp2):
    reduces_in_order(_ufunc)


# -- differences and integrals ------------------------------------------------------------------------------


@implements(np.diff)
def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike = None, append: ArrayLike = None
) -> Array:
    """The differences of neighbours along `axis`, taken `n` times.

    >>> print(fg.numpy.diff(np.array([1.0, 4.0, 9.0])), fg.numpy.diff(np.array([1.0, 4.0, 9.0]), n=2))
    [3. 5.] [2.]
    """
    # NumPy tells None from no value here, but None is no array either.
    ends = {name: x for name, x in (("prepend", prepend), ("append", append)) if is_given(x)}
    x = traced(a, *ends.values())
    if x is None:
        return np.diff(a, n, axis, **ends)
    if n < 0:
        raise refused(f"order must be non-negative but got {n}")
    if n == 0:
        return strong(x)
    if not shape_of(x):
        raise refused("diff requires input that is at least one dimensional")
    axis = normalized_axis(axis, len(shape_of(x)))
    x = extended(x, axis, ends)
    for _ in range(min(n, shape_of(x)[axis])):
        size = shape_of(x)[axis] - 1
        later, earlier = take_span(x, axis, 1, size), take_span(x, axis, 0, size)
        x = not_equal(later, earlier) if aval(x).dtype.kind == "b" else sub(later, earlier)
    return x


def extended(x: ArrayLike, axis: int, ends: dict[str, Any]) -> Array:
    """`x` between what `diff` is told to prepend and append; numbers stand for slices of one element."""
    if not ends:
        return x
    parts: dict[str, Any] = {"prepend": None, "x": x, "append": None}
    for name, end in ends.items():
        part = asoperand(end)
        shape = shape_of(x)
        parts[name] = part if shape_of(part) else broadcast(part, (*shape[:axis], 1, *shape[axis + 1 :]), ())
    present = [part for part in parts.values() if part is not None]
    dtype = np.result_type(*[aval(part).dtype for part in present])
    return concatenate([cast(part, dtype) for part in present], axis)


@implements(*[getattr(np, name) for name in ("trapezoid", "trapz") if name in np.__all__])
def trapezoid(y: ArrayLike, x: ArrayLike = None, dx: Number = 1.0, axis: int = -1) -> Array:
    """The integral of `y` along `axis` by the trapezoidal rule, with sample points `x` or spacing `dx`.

    >>> print(fg.numpy.trapezoid(np.array([1.0, 2.0, 4.0]), x=np.array([0.0, 1.0, 3.0])))
    7.5
    """
    heights = traced(y, x, dx)
    if heights is None:
        return np.trapezoid(y, x, dx, axis)
    ndim = len(shape_of(heights))
    own_axis, axis = axis, normalized_axis(axis, ndim)
    widths = asoperand(dx)
    if x is not None:
        points = asoperand(x)
        if len(shape_of(points)) == 1:
            widths = diff(points)
            widths = reshape(widths, (*[1] * axis, shape_of(widths)[0], *[1] * (ndim - axis - 1)))
        else:
            # As NumPy: points of fewer axes count theirs for themselves, and broadcast from the right.
            widths = diff(points, axis=own_axis)
    size = max(shape_of(heights)[axis] - 1, 0)
    pairs = add(take_span(heights, axis, 1, size), take_span(heights, axis, 0, size))
    return reduce_sum(div(mul(widths, pairs), 2.0), (axis,))


install({"cumsum": cumsum, "cumprod": cumprod})
