"""The names of `numpy.linalg`: here products, powers, norms, diagonals and traces.

The others, which need a factorisation, are in modules that are imported when they are first asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.later import Later
from funcgrad.numpy.algebra import contraction, products
from funcgrad.numpy.algebra.norms import matrix_norm, norm, vector_norm
from funcgrad.numpy.algebra.operands import promoted, sizes_differ, stored
from funcgrad.numpy.arrays import views
from funcgrad.numpy.arrays.creation import eye
from funcgrad.numpy.dispatch import LATER, implements
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.structure import aval, broadcast
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, AxisLike, DTypeLike, Number

linear_systems = Later("funcgrad.numpy.algebra.linear_systems")

HOMES = {
    **dict.fromkeys(
        ("cholesky", "cond", "eig", "eigh", "eigvals", "eigvalsh", "matrix_rank", "qr", "svd", "svdvals"),
        "funcgrad.numpy.algebra.decompositions",
    ),
    **dict.fromkeys(
        ("det", "inv", "lstsq", "pinv", "slogdet", "solve", "tensorinv", "tensorsolve"),
        "funcgrad.numpy.algebra.linear_systems",
    ),
}
"""The module of each name that is imported later."""

LATER.update({getattr(np.linalg, name): module for name, module in HOMES.items()})

__all__ = [  # noqa: F822 - `__getattr__` below finds the others
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

LinAlgError = np.linalg.LinAlgError


def __getattr__(name: str) -> Anything:
    """A name of `numpy.linalg` that is imported now."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, those imported later among them."""
    return sorted(__all__)


# -- other names for what NumPy has elsewhere too ------------------------------------------------------------


@implements(np.linalg.matmul)
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Matrix product, as `numpy.matmul`.

    >>> print(fg.numpy.linalg.matmul(np.eye(2), np.array([1.0, 2.0])))
    [1. 2.]
    """
    return products.matmul(x1, x2)


@implements(np.linalg.vecdot)
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Dot products along `axis`, the first operand conjugated, as `numpy.vecdot`.

    >>> print(fg.numpy.linalg.vecdot(np.eye(2), np.array([1.0, 2.0])))
    [1. 2.]
    """
    return products.vecdot(x1, x2, axis=axis)


@implements(np.linalg.tensordot)
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: AxisLike = 2) -> Array:
    """The sum over pairs of axes, as `numpy.tensordot`.

    >>> print(fg.numpy.linalg.tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=1))
    [[3. 3.]
     [3. 3.]]
    """
    return contraction.tensordot(x1, x2, axes)


@implements(np.linalg.outer)
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of the elements of two vectors.

    >>> print(fg.numpy.linalg.outer(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    [[3. 4.]
     [6. 8.]]
    """
    x, y = asoperand(x1), asoperand(x2)
    if aval(x).ndim != 1 or aval(y).ndim != 1:
        raise refused(f"outer of {aval(x)} and {aval(y)}: needs two vectors", "numpy.outer takes any shapes.")
    return contraction.outer(x, y)


@implements(np.linalg.cross)
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements.

    >>> print(fg.numpy.linalg.cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])))
    [0. 0. 1.]
    """
    x, y = asoperand(x1), asoperand(x2)
    for v in (aval(x), aval(y)):
        if v.shape[normalized_axis(axis, v.ndim)] != 3:
            raise refused(
                f"cross of {aval(x)} and {aval(y)}: needs vectors of three elements along axis {axis}"
            )
    return contraction.cross(x, y, axis=axis)


@implements(np.linalg.trace)
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """The sums along a diagonal of the matrices in the last two axes.

    >>> print(fg.numpy.linalg.trace(np.ones((3, 2, 2))))
    [2. 2. 2.]
    """
    return contraction.trace(x, offset, -2, -1, dtype)


@implements(np.linalg.diagonal)
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """A diagonal of each matrix in the last two axes.

    >>> print(fg.numpy.linalg.diagonal(np.arange(4.0).reshape(2, 2)))
    [0. 3.]
    """
    return views.diagonal(x, offset, -2, -1)


@implements(np.linalg.matrix_transpose)
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The matrices in the last two axes, transposed.

    >>> print(fg.numpy.linalg.matrix_transpose(np.arange(4.0).reshape(2, 2)))
    [[0. 2.]
     [1. 3.]]
    """
    return views.matrix_transpose(x)


# -- products of several matrices ----------------------------------------------------------------------------


@implements(np.linalg.matrix_power)
def matrix_power(a: ArrayLike, n: Number) -> Array:
    """Square matrices to an integer power; a negative one is a power of the inverse.

    >>> print(fg.numpy.linalg.matrix_power(np.array([[1.0, 1.0], [0.0, 1.0]]), 5))
    [[1. 5.]
     [0. 1.]]
    """
    a = asoperand(a)
    if not isinstance(a, Tracer):
        return np.linalg.matrix_power(a, n)
    n = operator.index(n)
    ndim = a.aval.ndim
    if ndim < 2 or a.aval.shape[-2] != a.aval.shape[-1]:
        raise refused(f"matrix_power of {a.aval}: needs square matrices in the last two axes")
    size = a.aval.shape[-1]
    if n < 0:
        a, n = linear_systems.inv(a), -n
    if n == 0:
        return broadcast(eye(size, dtype=a.aval.dtype), a.aval.shape, (ndim - 2, ndim - 1))
    result, square = None, a
    while True:
        if n & 1:
            result = square if result is None else products.matmul(result, square)
        n >>= 1
        if not n:
            return result
        square = products.matmul(square, square)


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Array = None) -> Array:
    """The product of several matrices, in the order that costs the fewest multiplications.

    >>> print(fg.numpy.linalg.multi_dot([np.ones((2, 9)), np.ones((9, 9)), np.ones(9)]))
    [81. 81.]
    """
    operands = [asoperand(x) for x in arrays]
    if recorder_of(operands) is None:
        return stored(np.linalg.multi_dot(operands), out, "np.linalg.multi_dot")
    if len(operands) < 2:
        raise refused(f"multi_dot needs at least two arrays, and got {len(operands)}")
    avals = [aval(x) for x in operands]
    for k, a in enumerate(avals):
        if a.ndim != 2 and not (a.ndim == 1 and k in (0, len(avals) - 1)):
            raise refused(f"multi_dot: array {k} is {a}, and all but the first and last must be matrices")
    for a, b in pairwise(avals):
        if a.shape[-1] != b.shape[0]:
            raise sizes_differ("multi_dot", a, b, a.shape[-1], b.shape[0])
    rows = (avals[0].shape[0],) if avals[0].ndim == 2 else (1,)
    columns = (avals[-1].shape[1],) if avals[-1].ndim == 2 else (1,)
    sizes = (*rows, *[a.shape[-1] for a in avals[:-1]], *columns)
    split = cheapest_splits(sizes)
    return stored(chain(promoted(operands), split, 0, len(operands) - 1), out, "np.linalg.multi_dot")


def chain(operands: Sequence[Any], split: dict[tuple[int, int], int], first: int, last: int) -> Array:
    """The product of operands `first` to `last`."""
    if first == last:
        return operands[first]
    k = split[first, last]
    return products.matmul(chain(operands, split, first, k), chain(operands, split, k + 1, last))


def cheapest_splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to split each run of matrices; matrix ``k`` has ``sizes[k]`` rows and ``sizes[k + 1]`` columns.

    The textbook dynamic programme over runs of growing length (Cormen et al., Introduction to Algorithms).
    """
    n = len(sizes) - 1
    cost = {(k, k): 0 for k in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for first in range(n - length):
            last = first + length
            options = [
                (cost[first, k] + cost[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            ]
            cost[first, last], split[first, last] = min(options)
    return split
