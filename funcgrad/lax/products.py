"""Products and convolutions with `jax.lax`'s arguments; `precision` is taken and means nothing here."""

from __future__ import annotations

import enum
import math
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.lax.elementwise import NUMBERS, checked
from funcgrad.nn.convolution import conv as nn_conv
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, Array, ArrayLike, DTypeLike

__all__ = [
    "ConvDimensionNumbers",
    "Precision",
    "batch_matmul",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_with_general_padding",
    "dot",
    "dot_general",
    "ragged_dot",
]


class Precision(enum.Enum):
    """How exact products are to be on an accelerator: here all are as exact as their dtype.

    >>> fg.lax.dot(np.eye(2), np.ones(2), precision=fg.lax.Precision.HIGHEST).tolist()
    [1.0, 1.0]
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def dot(
    lhs: ArrayLike, rhs: ArrayLike, *, precision: object = None, preferred_element_type: DTypeLike = None
) -> Array:
    """The product of vectors and matrices.

    >>> print(fg.lax.dot(np.eye(2), np.array([1.0, 2.0])))
    [1. 2.]
    """
    x, y = asoperand(lhs), asoperand(rhs)
    if len(shape_of(x)) not in (1, 2) or len(shape_of(y)) not in (1, 2):
        raise TypeError(f"dot: shapes {shape_of(x)} and {shape_of(y)} are not of vectors or matrices")
    axes = (((len(shape_of(x)) - 1,), (0,)), ((), ()))
    return dot_general(x, y, axes, precision, preferred_element_type)


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: object = None) -> Array:
    """Products of the matrices in the last two axes; the axes before them are equal.

    >>> fg.lax.batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    x, y = checked("batch_matmul", (lhs, rhs), NUMBERS)
    before = tuple(range(len(shape_of(x)) - 2))
    rank = len(before)
    return dot_general(x, y, (((rank + 1,), (rank,)), (before, before)))


def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Sequence[Any],
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The sum of products over pairs of axes; pairs of batch axes come first in the result.

    `dimension_numbers` is ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.

    >>> fg.lax.dot_general(np.ones((5, 2, 3)), np.ones((3, 5, 4)), (((2,), (0,)), ((0,), (1,)))).shape
    (5, 2, 4)
    """
    x, y = asoperand(lhs), asoperand(rhs)
    checked("dot_general", (fnp.ravel(x), fnp.ravel(y)), NUMBERS)
    (sum_x, sum_y), (batch_x, batch_y) = dimension_numbers
    names = iter(string.ascii_letters)
    of_x, of_y = [""] * len(shape_of(x)), [""] * len(shape_of(y))
    for pairs in ((batch_x, batch_y), (sum_x, sum_y)):
        for i, j in zip(*pairs, strict=True):
            if shape_of(x)[i] != shape_of(y)[j]:
                raise TypeError(
                    f"dot_general: axis {i} of {shape_of(x)} does not fit axis {j} of {shape_of(y)}"
                )
            of_x[i] = of_y[j] = next(names)
    batch = "".join([of_x[i] for i in batch_x])
    for letters in (of_x, of_y):
        letters[:] = [letter or next(names) for letter in letters]
    free = "".join([c for k, c in enumerate(of_x) if k not in (*batch_x, *sum_x)])
    free += "".join([c for k, c in enumerate(of_y) if k not in (*batch_y, *sum_y)])
    out = fnp.einsum(f"{''.join(of_x)},{''.join(of_y)}->{batch}{free}", x, y)
    return out if preferred_element_type is None else fnp.astype(out, preferred_element_type)


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """Rows (m, k) times the matrix of their group, of (groups, k, n); groups are rows one after another.

    Rows after the last group are 0.

    >>> x, w = np.ones((3, 2)), np.array([1.0, 10.0])[:, None, None] * np.ones((2, 2, 1))
    >>> print(fg.lax.ragged_dot(x, w, np.array([1, 2]))[:, 0])
    [ 2. 20. 20.]
    """
    x, matrices = checked("ragged_dot", (fnp.expand_dims(asoperand(lhs), 0), rhs), NUMBERS)
    ends = fnp.cumsum(asoperand(group_sizes))
    starts = ends - asoperand(group_sizes)
    rows = np.arange(shape_of(x)[1])
    inside = (rows >= starts[:, None]) & (rows < ends[:, None])
    out = fnp.einsum("gmk,gkn->mn", fnp.where(inside[..., None], x, 0), matrices)
    return out if preferred_element_type is None else fnp.astype(out, preferred_element_type)


# -- convolutions --------------------------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """Where the axes stand: (examples, channels, *sizes), (channels out, channels, *window), the result.

    >>> fg.lax.ConvDimensionNumbers((0, 1, 2), (0, 1, 2), (0, 1, 2)).lhs_spec
    (0, 1, 2)
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Anything
) -> ConvDimensionNumbers:
    """Where the axes stand, from letters such as ``("NHWC", "HWIO", "NHWC")``, or None for channels first.

    >>> fg.lax.conv_dimension_numbers((1, 8, 3), (2, 3, 4), ("NHC", "HIO", "NHC"))
    ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(len(lhs_shape)))] * 3)
    lhs, rhs, out = dimension_numbers
    window = [c for c in rhs if c not in "OI"]
    if len(lhs) != len(lhs_shape) or len(rhs) != len(rhs_shape):
        raise TypeError(f"the letters {dimension_numbers} do not fit shapes {lhs_shape} and {rhs_shape}")
    specs = []
    for letters, firsts in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if sorted(letters) != sorted([*firsts, *window]):
            raise TypeError(f"{letters!r} are not the letters {firsts} and {''.join(window)}")
        specs.append(tuple([letters.index(c) for c in (*firsts, *window)]))
    return ConvDimensionNumbers(*specs)


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: object = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The convolution of examples with a window; the axes stand where `dimension_numbers` says.

    >>> x, w = np.ones((1, 8, 8, 3)), np.ones((3, 3, 3, 5))
    >>> fg.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).shape
    (1, 4, 4, 5)
    """
    if batch_group_count != 1:
        raise NotImplementedError("fg.lax.conv_general_dilated: batch_group_count must be 1; write a loop")
    x, window = checked("conv_general_dilated", (lhs, rhs), NUMBERS)
    lhs_spec, rhs_spec, out_spec = conv_dimension_numbers(shape_of(x), shape_of(window), dimension_numbers)
    out = nn_conv(
        fnp.transpose(x, tuple(lhs_spec)),
        fnp.transpose(window, tuple(rhs_spec)),
        tuple(window_strides),
        padding if isinstance(padding, str) else [tuple(p) for p in padding],
        input_dilation=1 if lhs_dilation is None else tuple(lhs_dilation),
        kernel_dilation=1 if rhs_dilation is None else tuple(rhs_dilation),
        groups=feature_group_count,
        channels_last=False,
    )
    out = fnp.transpose(out, tuple(np.argsort(out_spec).tolist()))
    return out if preferred_element_type is None else fnp.astype(out, preferred_element_type)


def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: object = None,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The elements under a window in each of its places, channel after channel, as channels.

    >>> x = np.arange(4.0).reshape(1, 1, 4)
    >>> print(fg.lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")[0])
    [[0. 1. 2.]
     [1. 2. 3.]]
    """
    x = asoperand(lhs)
    rank = (1,) * len(shape_of(x))
    specs = conv_dimension_numbers(shape_of(x), rank, dimension_numbers)
    channels, count = shape_of(x)[specs.lhs_spec[1]], math.prod(filter_shape)
    window = np.tile(np.eye(count).reshape(count, 1, *filter_shape), (channels, *rank[1:]))
    window = window.transpose(np.argsort(specs.rhs_spec)).astype(aval(x).dtype)
    return conv_general_dilated(
        x,
        window,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        specs,
        channels,
        preferred_element_type=preferred_element_type,
    )


def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The convolution of (examples, channels, *sizes) with (channels out, channels, *window).

    >>> fg.lax.conv(np.ones((1, 3, 8, 8)), np.ones((5, 3, 3, 3)), (1, 1), "VALID").shape
    (1, 5, 6, 6)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """`conv` with dilations, and padding in pairs.

    >>> x, w = np.ones((1, 3, 8)), np.ones((5, 3, 3))
    >>> fg.lax.conv_with_general_padding(x, w, (1,), [(1, 1)], None, (2,)).shape
    (1, 5, 6)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        preferred_element_type=preferred_element_type,
    )


def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: object = None,
    transpose_kernel: bool = False,
    precision: object = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The convolution with fractional strides, channels last unless `dimension_numbers` says otherwise.

    >>> fg.lax.conv_transpose(np.ones((1, 4, 4, 3)), np.ones((3, 3, 3, 5)), (2, 2), "SAME").shape
    (1, 8, 8, 5)
    """
    x, window = checked("conv_transpose", (lhs, rhs), NUMBERS)
    ndim = len(shape_of(x)) - 2
    if dimension_numbers is None:
        letters = "HWD"[:ndim]
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    places = conv_dimension_numbers(shape_of(x), shape_of(window), dimension_numbers)
    reach = (1,) * ndim if rhs_dilation is None else tuple(rhs_dilation)
    if isinstance(padding, str):
        sizes = [(shape_of(window)[a] - 1) * r + 1 for a, r in zip(places.rhs_spec[2:], reach, strict=True)]
        padding = [fractional(k, s, padding) for k, s in zip(sizes, strides, strict=True)]
    if transpose_kernel:
        window = fnp.flip(fnp.swapaxes(window, *places.rhs_spec[:2]), tuple(places.rhs_spec[2:]))
    return conv_general_dilated(
        x,
        window,
        (1,) * ndim,
        padding,
        tuple(strides),
        reach,
        places,
        preferred_element_type=preferred_element_type,
    )


def fractional(size: int, stride: int, padding: str) -> tuple[int, int]:
    """The padding of a transposed convolution for which that of the convolution has this name."""
    if padding == "SAME":
        both = size + stride - 2
        first = size - 1 if stride > size - 1 else -(-both // 2)
    elif padding == "VALID":
        both = size + stride - 2 + max(size - stride, 0)
        first = size - 1
    else:
        raise ValueError(f"padding must be 'SAME', 'VALID' or pairs, and is {padding!r}")
    return first, both - first
