"""Matrices whose elements are those of vectors in a pattern; and constant ones, which are SciPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.errors import ShapeError
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.arrays.copies import entered
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.scipy.linalg.arguments import scipys
from funcgrad.scipy.originals import at_hand
from funcgrad.types import Array, ArrayLike, DTypeLike

__all__ = [
    "circulant",
    "companion",
    "convolution_matrix",
    "dft",
    "fiedler",
    "hadamard",
    "hankel",
    "helmert",
    "hilbert",
    "invhilbert",
    "invpascal",
    "khatri_rao",
    "leslie",
    "pascal",
]


def constant(name: str, *args: object) -> Array:
    """A matrix of SciPy's, which a traced function may write into."""
    return entered(scipys(name)(*args))


def dft(n: int, scale: str | None = None) -> Array:
    """The matrix of the discrete Fourier transform.

    >>> print(fg.scipy.linalg.dft(2).real)
    [[ 1.  1.]
     [ 1. -1.]]
    """
    return constant("dft", n, scale)


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """The Hadamard matrix, of a size that is a power of two.

    >>> print(fg.scipy.linalg.hadamard(2))
    [[ 1  1]
     [ 1 -1]]
    """
    return constant("hadamard", n, dtype)


def helmert(n: int, full: bool = False) -> Array:
    """The Helmert matrix.

    >>> fg.scipy.linalg.helmert(3).shape
    (2, 3)
    """
    return constant("helmert", n, full)


def hilbert(n: int) -> Array:
    """The Hilbert matrix.

    >>> print(fg.scipy.linalg.hilbert(2)[0])
    [1.  0.5]
    """
    return constant("hilbert", n)


def invhilbert(n: int, exact: bool = False) -> Array:
    """The inverse of the Hilbert matrix.

    >>> print(fg.scipy.linalg.invhilbert(2)[0])
    [ 4. -6.]
    """
    return constant("invhilbert", n, exact)


def pascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """The Pascal matrix.

    >>> print(fg.scipy.linalg.pascal(2, exact=False)[1])
    [1. 2.]
    """
    return constant("pascal", n, kind, exact)


def invpascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """The inverse of the Pascal matrix.

    >>> print(fg.scipy.linalg.invpascal(2, exact=False)[0])
    [ 2. -1.]
    """
    return constant("invpascal", n, kind, exact)


# -- of vectors ---------------------------------------------------------------------------------------------


def vectors(name: str, *arguments: ArrayLike) -> list[Any] | None:
    """The arguments, which are vectors or stacks of them, or None where none is traced."""
    operands = traced(*arguments)
    if operands is not None and not all(shape_of(x) for x in operands):
        raise refused(f"{name} needs vectors")
    return operands


def length_of(x: ArrayLike) -> int:
    """The number of elements of each vector."""
    found: int = shape_of(x)[-1]
    return found


def side_by_side(*parts: ArrayLike) -> Array:
    """Vectors one after another, in stacks of one shape."""
    stack = np.broadcast_shapes(*[shape_of(x)[:-1] for x in parts])
    return np.concatenate([np.broadcast_to(x, (*stack, length_of(x))) for x in parts], axis=-1)


def circulant(c: ArrayLike) -> Array:
    """The circulant matrix with first column `c`.

    >>> print(fg.scipy.linalg.circulant([1, 2, 3])[0])
    [1 3 2]
    """
    operands = vectors("circulant", c)
    if operands is None:
        return scipys("circulant")(c)
    n = length_of(operands[0])
    return operands[0][..., (np.arange(n)[:, None] - np.arange(n)) % max(n, 1)]


def hankel(c: ArrayLike, r: ArrayLike = None) -> Array:
    """The Hankel matrix with first column `c` and last row `r` (zeros if it is not given).

    >>> print(fg.scipy.linalg.hankel([1, 2], [7, 8, 9]))
    [[1 2 8]
     [2 8 9]]
    """
    operands = vectors("hankel", c) if r is None else vectors("hankel", c, r)
    if operands is None:
        return scipys("hankel")(c, r)
    if max(len(shape_of(x)) for x in operands) > 1:
        raise ShapeError(
            "hankel takes vectors: SciPy flattens matrices, and will make a stack of them",
            source=here(),
            remedy="Give c.ravel(), or use fg.vmap(fg.scipy.linalg.hankel).",
        )
    column = operands[0]
    row = np.zeros_like(column) if r is None else operands[1]
    values = side_by_side(column, row[..., 1:])
    return values[..., np.arange(length_of(column))[:, None] + np.arange(length_of(row))]


def companion(a: ArrayLike) -> Array:
    """The companion matrix of a polynomial, the highest coefficient first.

    >>> print(fg.scipy.linalg.companion([1.0, -3.0, 2.0]))
    [[ 3. -2.]
     [ 1.  0.]]
    """
    operands = vectors("companion", a)
    if operands is None:
        return scipys("companion")(a)
    [x] = operands
    n = length_of(x) - 1
    if n < 1:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    leading = at_hand(x)
    if leading is not None and np.any(leading[..., 0] == 0):
        raise ValueError("companion: the first coefficient must not be zero")
    first = -x[..., 1:] / x[..., :1]
    rest = np.broadcast_to(np.eye(n - 1, n, dtype=aval(first).dtype), (*shape_of(first)[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], rest], axis=-2)


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """The matrix whose product with a vector of `n` elements is its convolution with `a`.

    >>> print(fg.scipy.linalg.convolution_matrix([1.0, 2.0], 2))
    [[1. 0.]
     [2. 1.]
     [0. 2.]]
    """
    operands = vectors("convolution_matrix", a)
    if operands is None:
        return scipys("convolution_matrix")(a, n, mode)
    [x] = operands
    m = length_of(x)
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if not m:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    offset = np.arange(m + n - 1)[:, None] - np.arange(n)
    full = np.where((offset >= 0) & (offset < m), x[..., np.clip(offset, 0, m - 1)], 0)
    if mode == "full":
        return full
    cut = min(m, n) - 1
    first, last = (cut // 2, cut - cut // 2) if mode == "same" else (cut, cut)
    return full[..., first : m + n - 1 - last, :]


def fiedler(a: ArrayLike) -> Array:
    """The symmetric matrix of the distances between the elements of a vector.

    >>> print(fg.scipy.linalg.fiedler([1, 4]))
    [[0 3]
     [3 0]]
    """
    operands = vectors("fiedler", a)
    if operands is None:
        return scipys("fiedler")(a)
    [x] = operands
    return np.abs(x[..., :, None] - x[..., None, :])


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """The Leslie matrix of fecundities and survival rates.

    >>> print(fg.scipy.linalg.leslie([0.1, 2.0], [0.5]))
    [[0.1 2. ]
     [0.5 0. ]]
    """
    operands = vectors("leslie", f, s)
    if operands is None:
        return scipys("leslie")(f, s)
    first, below = operands
    n = length_of(first)
    if length_of(below) != n - 1:
        raise ValueError("The length of s must be one less than the length of f.")
    dtype = np.result_type(aval(first).dtype, aval(below).dtype)
    stack = np.broadcast_shapes(shape_of(first)[:-1], shape_of(below)[:-1])
    rest = below[..., :, None] * np.eye(n - 1, n, dtype=dtype)
    top = np.broadcast_to(first, (*stack, n))[..., None, :]
    return np.concatenate([top, np.broadcast_to(rest, (*stack, n - 1, n))], axis=-2)


def khatri_rao(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker products of the columns of two matrices, beside each other.

    >>> print(fg.scipy.linalg.khatri_rao(np.eye(2), np.array([[1.0, 2.0]])))
    [[1. 0.]
     [0. 2.]]
    """
    operands = traced(a, b)
    if operands is None:
        return scipys("khatri_rao")(a, b)
    first, second = operands
    if len(shape_of(first)) < 2 or len(shape_of(second)) < 2:
        raise ValueError("Both `a` and `b` must be 2-d.")
    if shape_of(first)[-1] != shape_of(second)[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    found = first[..., :, None, :] * second[..., None, :, :]
    shape = shape_of(found)
    return np.reshape(found, (*shape[:-3], shape[-3] * shape[-2], shape[-1]))
