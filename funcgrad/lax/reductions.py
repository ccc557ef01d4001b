"""What `jax.lax` makes of many elements: reductions, windows, positions and orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.lax import elementwise
from funcgrad.lax.elementwise import ALL, NUMBERS, WHOLE, checked
from funcgrad.lax.shapes import pad
from funcgrad.nn.pooling import max_pool
from funcgrad.nn.windows import pairs
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.signal.convolution_plan import dilated
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, DTypeLike, ShapeLike

__all__ = ["argmax", "argmin", "reduce", "reduce_window", "sort", "sort_key_val"]


def reduce(
    operands: ArrayLike, init_values: ArrayLike, computation: Callable[..., Any], dimensions: Sequence[int]
) -> Arrays:
    """The elements along dimensions made one by a function of two, which may be grouped as it suits.

    `init_values` is what changes nothing when it is one of the two. Arrays may come in a tuple, with a
    function of two tuples.

    >>> print(fg.lax.reduce(np.arange(6.0).reshape(2, 3), 0.0, fg.lax.add, (1,)))
    [ 3. 12.]
    """
    several = isinstance(operands, list | tuple)
    arrays = [asoperand(x) for x in (operands if several else [operands])]
    starts = [asoperand(s) for s in (init_values if several else [init_values])]
    axes, kept = divided_axes(len(shape_of(arrays[0])), dimensions)
    rest = tuple([shape_of(arrays[0])[axis] for axis in kept])
    parts = [fnp.reshape(fnp.transpose(x, (*axes, *kept)), (-1, *rest)) for x in arrays]
    starts = [
        fnp.broadcast_to(fnp.astype(s, aval(x).dtype), rest) for s, x in zip(starts, arrays, strict=True)
    ]

    def joined(xs: list[Any], ys: list[Any]) -> list[Any]:
        return list(computation(tuple(xs), tuple(ys))) if several else [computation(xs[0], ys[0])]

    while (count := shape_of(parts[0])[0]) > 1:
        half = count // 2
        made = joined([x[:half] for x in parts], [x[half : 2 * half] for x in parts])
        if count % 2:
            made = [fnp.concatenate([a, x[-1:]]) for a, x in zip(made, parts, strict=True)]
        parts = made
    found = joined(starts, [x[0] for x in parts]) if shape_of(parts[0])[0] else starts
    return tuple(found) if several else found[0]


def divided_axes(rank: int, dimensions: Sequence[int]) -> tuple[list[int], list[int]]:
    """The dimensions that are reduced, and those that stay."""
    axes = [axis + rank if axis < 0 else axis for axis in dimensions]
    if len(set(axes)) < len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise ValueError(f"the dimensions {tuple(dimensions)} are not of an array of {rank} axes, each once")
    return axes, [axis for axis in range(rank) if axis not in axes]


def of_bits(truth: Callable[..., Any], word: Callable[..., Any], neutral: int) -> Callable[..., Any]:
    """A reduction of truth values by one function, and of the bits of integers by another."""

    def reduced(x: Array, axis: tuple[int, ...]) -> Array:
        dtype = aval(x).dtype
        return truth(x, axis=axis) if dtype.kind == "b" else reduce(x, neutral, word, axis)

    return reduced


def odd(x: Array, axis: tuple[int, ...]) -> Array:
    """Whether an odd number of truth values holds."""
    return fnp.sum(x, axis=axis) % 2 == 1


_ROWS: dict[str, tuple[Callable[..., Any], str, str, str]] = {
    "reduce_and": (of_bits(fnp.all, fnp.bitwise_and, -1), WHOLE, "Whether all hold", "False"),
    "reduce_max": (fnp.max, ALL, "The largest element", "True"),
    "reduce_min": (fnp.min, ALL, "The smallest element", "False"),
    "reduce_or": (of_bits(fnp.any, fnp.bitwise_or, 0), WHOLE, "Whether any holds", "True"),
    "reduce_prod": (fnp.prod, NUMBERS, "The product", "0"),
    "reduce_sum": (fnp.sum, NUMBERS, "The sum", "2"),
    "reduce_xor": (of_bits(odd, fnp.bitwise_xor, 0), WHOLE, "Whether an odd number holds", "True"),
}


def reduction(
    name: str, function: Callable[..., Any], kinds: str, what: str, printed: str
) -> Callable[..., Any]:
    """The reduction of this name, over the axes that it is told."""

    def reduced(operand: ArrayLike, axes: Sequence[int]) -> Array:
        (x,) = checked(name, (operand,), kinds)
        divided_axes(len(shape_of(x)), axes)
        return fnp.astype(function(x, axis=tuple(axes)), aval(x).dtype)

    example = "np.array([2, 0]) > 0" if kinds != NUMBERS else "np.array([2, 0])"
    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = (
        f"{what} along axes.\n\n    >>> print(fg.lax.{name}({example}, (0,)))\n    {printed}\n    "
    )
    return reduced


for _name, _row in _ROWS.items():
    globals()[_name] = reduction(_name, *_row)
__all__ += list(_ROWS)


def reduce_window(
    operand: ArrayLike,
    init_value: ArrayLike,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Array:
    """The elements of every window made one by a function of two, which may be grouped as it suits.

    Around and between the elements stands `init_value`. Of several largest elements the first has the
    derivative of ``fg.lax.max``, as in JAX.

    >>> print(fg.lax.reduce_window(np.arange(4.0), 0.0, fg.lax.add, (2,)))
    [1. 3. 5.]
    """
    x = asoperand(operand)
    rank = len(shape_of(x))
    ones = (1,) * rank
    window, steps = tuple(window_dimensions), tuple(window_strides or ones)
    spread, reach = tuple(base_dilation or ones), tuple(window_dilation or ones)
    sizes = tuple([dilated(n, e) for n, e in zip(shape_of(x), spread, strict=True)])
    around = pairs(list(padding) if not isinstance(padding, str) else padding, sizes, window, steps, reach)
    x = pad(x, init_value, [(low, high, e - 1) for (low, high), e in zip(around, spread, strict=True)])
    if computation is getattr(elementwise, "max") and aval(x).dtype.kind == "f":  # noqa: B009 - made by a table
        return largest(x, window, steps, reach)
    for axis in range(rank):
        x = along(x, axis, computation, window[axis], steps[axis], reach[axis])
    return x


def largest(x: Array, window: ShapeLike, steps: ArrayLike, reach: ArrayLike) -> Array:
    """The largest elements of windows."""
    wide = [k for k, (n, s) in enumerate(zip(window, steps, strict=True)) if (n, s) != (1, 1)]
    others = [k for k in range(len(window)) if k not in wide]
    if not wide:
        return x
    order = (*others, *wide)
    moved = fnp.transpose(x, order)
    sizes = shape_of(moved)
    flat = fnp.reshape(moved, (-1, 1, *sizes[len(others) :]))
    chosen = [tuple([given[k] for k in wide]) for given in (window, steps, reach)]
    found = max_pool(flat, chosen[0], chosen[1], dilation=chosen[2], channels_last=False)
    found = fnp.reshape(found, (*sizes[: len(others)], *shape_of(found)[2:]))
    return fnp.transpose(found, tuple(np.argsort(order).tolist()))


def along(x: Array, axis: int, computation: Callable[..., Any], size: int, step: int, reach: int) -> Array:
    """Windows along one axis; all first elements are joined with all second ones, and so on."""
    first = shape_of(x)[axis] - (size - 1) * reach
    parts = []
    for k in range(size):
        index: list[Any] = [np.s_[:]] * len(shape_of(x))
        index[axis] = np.s_[k * reach : k * reach + first : step]
        parts.append(x[tuple(index)])
    out = parts[0]
    for part in parts[1:]:
        out = computation(out, part)
    return out


# -- positions and orders ------------------------------------------------------------------------------------


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Where the largest element stands, the first of several.

    >>> print(fg.lax.argmax(np.array([1.0, 3.0, 2.0]), 0, np.int32))
    1
    """
    return fnp.astype(fnp.argmax(asoperand(operand), axis=axis), index_dtype)


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Where the smallest element stands, the first of several.

    >>> print(fg.lax.argmin(np.array([1.0, 3.0, 0.5]), 0, np.int32))
    2
    """
    return fnp.astype(fnp.argmin(asoperand(operand), axis=axis), index_dtype)


def sort(operand: ArrayLike, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Arrays:
    """The elements in rising order; of several arrays, all in the order of the first `num_keys`.

    >>> print(fg.lax.sort(np.array([3, 1, 2])))
    [1 2 3]
    """
    if not isinstance(operand, list | tuple):
        return fnp.sort(asoperand(operand), axis=dimension)
    arrays = [asoperand(x) for x in operand]
    for key in range(num_keys - 1, -1, -1):
        order = fnp.argsort(arrays[key], axis=dimension, stable=True)
        arrays = [fnp.take_along_axis(x, order, axis=dimension) for x in arrays]
    return tuple(arrays)


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """Keys in rising order, and values in the order of their keys.

    >>> print(fg.lax.sort_key_val(np.array([3, 1, 2]), np.array([0.3, 0.1, 0.2])))
    (array([1, 2, 3]), array([0.1, 0.2, 0.3]))
    """
    first, second = sort((keys, values), dimension, is_stable)
    return first, second
