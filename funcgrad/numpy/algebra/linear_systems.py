"""What `numpy.linalg` solves: systems of linear equations, inverses, determinants, least squares.

Imported when first asked for. Matrices stand in the last two axes, and all functions take stacks of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.numpy.algebra import products
from funcgrad.numpy.algebra.awaited import factorable
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.reducing.axes import refused, refused_matrix
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, permute, reduce_sum, reshape, shape_of
from funcgrad.ops.elementwise.comparison import greater
from funcgrad.ops.elementwise.complexes import real_dtype
from funcgrad.ops.linalg import determinants, singular, systems
from funcgrad.ops.linalg.matrices import from_triangle
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike, Number, ShapeLike

SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


# -- arguments -----------------------------------------------------------------------------------------------


def traced_matrices(name: str, *arguments: ArrayLike) -> list[Any] | None:
    """The arguments in one inexact dtype, or None where none is traced; the first has matrices."""
    operands = traced(*arguments)
    if operands is None:
        return None
    dtype = aval(operands[0]).dtype if aval(operands[0]).inexact else np.dtype(np.float64)
    found = [cast(x, dtype) for x in operands]
    if aval(found[0]).ndim < 2:
        raise refused_matrix(f"{name} of {aval(found[0])}: needs matrices in the last two axes")
    return found


def require_square(name: str, x: ArrayLike) -> None:
    """Raise unless the matrices are square."""
    if aval(x).shape[-1] != aval(x).shape[-2]:
        raise refused_matrix(f"{name} of {aval(x)}: the matrices in the last two axes must be square")


def static_float(name: str, value: ArrayLike) -> float:
    """A tolerance as a number; raises where it is traced."""
    if isinstance(value, Tracer):
        raise unsupported(f"{name} with a traced tolerance")
    return float(operator.index(value) if isinstance(value, int) else value)


def precision_of(x: ArrayLike) -> float:
    """The relative distance of numbers of this dtype."""
    return float(np.finfo(aval(x).dtype).eps)


# -- systems -------------------------------------------------------------------------------------------------


@implements(np.linalg.solve)
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """``x`` with ``a @ x == b``. `b` is a vector, or has right-hand sides in its columns.

    A matrix is factored once for the value and all derivatives. Raises LinAlgError if it is singular.

    >>> a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 5.0])
    >>> print(fg.numpy.linalg.solve(a, b))
    [0.8 1.4]
    >>> print(fg.grad(lambda b: np.sum(np.linalg.solve(a, b)))(b))
    [0.4 0.2]
    """
    operands = traced_matrices("solve", a, b)
    if operands is None:
        return np.linalg.solve(a, b)
    matrices, sides = operands
    require_square("solve", matrices)
    return on_columns("solve", systems.solve, factorable("solve", matrices), sides)


def on_columns(name: str, solver: Callable[..., Any], a: ArrayLike, b: ArrayLike) -> Array:
    """``solver(a, b)`` for stacks that broadcast, where `b` may be a vector.

    Many right-hand sides of one matrix become columns beside each other.
    """
    if not aval(b).ndim or aval(b).shape[-1 if aval(b).ndim == 1 else -2] != aval(a).shape[-2]:
        raise refused(f"{name} of {aval(a)} and {aval(b)}: the right-hand sides do not fit the matrices")
    if aval(b).ndim == 1:
        found = on_columns(name, solver, a, reshape(b, (*shape_of(b), 1)))
        return reshape(found, shape_of(found)[:-1])
    if aval(a).ndim == 2 and aval(b).ndim > 2:
        *stack, n, k = shape_of(b)
        count = math.prod(stack)
        together = systems.columns_together(reshape(b, (count, n, k)))
        apart = systems.columns_apart(solver(a, together), count)
        return reshape(apart, (*stack, *shape_of(apart)[1:]))
    try:
        stack_shape = np.broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    except ValueError:
        raise refused(f"{name} of {aval(a)} and {aval(b)}: the stacks do not broadcast") from None
    return solver(
        broadcast_to(a, (*stack_shape, *shape_of(a)[-2:])), broadcast_to(b, (*stack_shape, *shape_of(b)[-2:]))
    )


@implements(np.linalg.inv)
def inv(a: ArrayLike) -> Array:
    """The inverse. Raises LinAlgError for a singular matrix; `solve` is quicker where it is only applied.

    >>> print(fg.numpy.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    >>> print(fg.grad(lambda a: np.trace(np.linalg.inv(a)))(np.diag([2.0, 4.0])).diagonal())
    [-0.25   -0.0625]
    """
    operands = traced_matrices("inv", a)
    return np.linalg.inv(a) if operands is None else systems.inv.bind(factorable("inv", operands[0]))


@implements(np.linalg.tensorsolve)
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: AxisLike = None) -> Array:
    """``x`` with ``tensordot(a, x, x.ndim) == b``.

    >>> print(fg.numpy.linalg.tensorsolve(2.0 * np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2))))
    [[0.5 0.5]
     [0.5 0.5]]
    """
    operands = traced(a, b)
    if operands is None:
        return np.linalg.tensorsolve(a, b, axes)
    x, y = operands
    ndim = aval(x).ndim
    if axes is not None:
        last = [operator.index(k) % ndim for k in axes]
        x = permute(x, (*[k for k in range(ndim) if k not in last], *last))
    shape = shape_of(x)[aval(y).ndim :]
    size = math.prod(shape)
    if aval(x).size != size**2 or aval(y).size != size:
        raise refused(f"tensorsolve of {aval(a)} and {aval(b)}: prod(a.shape[b.ndim:]) must be the size of b")
    return reshape(solve(reshape(x, (size, size)), reshape(y, (size,))), shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse for ``tensordot(., ., ind)``.

    >>> print(fg.numpy.linalg.tensorinv(2.0 * np.eye(4).reshape(4, 2, 2), ind=1).shape)
    (2, 2, 4)
    """
    operands = traced(a)
    if operands is None:
        return np.linalg.tensorinv(a, ind)
    (x,) = operands
    ind = operator.index(ind)
    shape = shape_of(x)
    rows, columns = shape[:ind], shape[ind:]
    if ind < 1 or math.prod(rows) != math.prod(columns):
        raise refused(f"tensorinv of {aval(x)} with ind={ind}: both groups of axes must have one size")
    found = inv(reshape(x, (math.prod(rows), math.prod(columns))))
    return reshape(found, columns + rows)


# -- determinants --------------------------------------------------------------------------------------------


@implements(np.linalg.det)
def det(a: ArrayLike) -> Array:
    """The determinant. Its derivatives are right at every matrix, also at singular ones.

    >>> print(fg.numpy.linalg.det(np.array([[2.0, 0.0], [0.0, 4.0]])).round(12))
    8.0
    >>> print(fg.grad(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])))
    [[ 4. -2.]
     [-2.  1.]]
    """
    operands = traced_matrices("det", a)
    return np.linalg.det(a) if operands is None else determinants.det.bind(operands[0])


@implements(np.linalg.slogdet)
def slogdet(a: ArrayLike) -> Arrays:
    """The sign (of a complex matrix, the phase) of the determinant, and the logarithm of its magnitude.

    Its derivative raises LinAlgError at a singular matrix, where there is none.

    >>> sign, log = fg.numpy.linalg.slogdet(np.array([[2.0, 0.0], [0.0, -1.0]]))
    >>> print(sign, log)
    -1.0 0.6931471805599453
    """
    operands = traced_matrices("slogdet", a)
    if operands is None:
        return np.linalg.slogdet(a)
    return SlogdetResult(*determinants.slogdet.bind(operands[0]))


# -- least squares -------------------------------------------------------------------------------------------


@implements(np.linalg.pinv)
def pinv(
    a: ArrayLike, rcond: ArrayLike = None, hermitian: bool = False, *, rtol: Number = np._NoValue
) -> Array:
    """The pseudo-inverse. Its derivative is right for changes that keep the rank, also if that is not full.

    >>> print(fg.numpy.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]])))
    [[0.5 0. ]
     [0.  0. ]]
    """
    operands = traced_matrices("pinv", a)
    if operands is None:
        return np.linalg.pinv(a, rcond, hermitian, rtol=rtol)
    x = from_triangle(operands[0]) if hermitian else operands[0]
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else rtol
    if rcond is None:
        rcond = max(shape_of(x)[-2:]) * precision_of(x)
    return singular.Pinv(static_float("np.linalg.pinv", rcond)).bind(x)


@implements(np.linalg.lstsq)
def lstsq(a: ArrayLike, b: ArrayLike, rcond: ArrayLike = None) -> Arrays:
    """The shortest ``x`` that makes ``b - a @ x`` shortest, with residuals, rank and singular values.

    Of more equations than unknowns the residuals are given whatever the rank, because the shape of a
    traced result cannot depend on values; of others there are none.

    >>> a, b = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> x, _, rank, _ = fg.numpy.linalg.lstsq(a, b)
    >>> print(x.round(12), rank)
    [1. 2.] 2
    """
    operands = traced_matrices("lstsq", a, b)
    if operands is None:
        return np.linalg.lstsq(a, b, rcond)
    x, y = operands
    m, n = shape_of(x)[-2:]
    if aval(x).ndim != 2 or aval(y).ndim not in (1, 2) or shape_of(y)[0] != m:
        raise refused(f"lstsq of {aval(x)} and {aval(y)}: needs a matrix, and as many rows on the right")
    if rcond is None:
        rcond = precision_of(x) * max(m, n)
    cut = max(static_float("np.linalg.lstsq", rcond), 0.0)
    found = products.matmul(singular.Pinv(cut).bind(x), y)
    s = singular.svdvals.bind(x)
    return found, residuals_of(x, y, found), cast(rank_of(s, cut), np.int32), s


def residuals_of(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The sums of squares that are left, for each column; none without more equations than unknowns."""
    m, n = shape_of(a)
    if m <= n:
        return np.zeros(0, real_dtype(aval(a).dtype))
    rest = b - products.matmul(a, x)
    squares = (rest * rest.conj()).real
    return reduce_sum(squares, (0,)) if aval(b).ndim == 2 else reshape(reduce_sum(squares, (0,)), (1,))


def rank_of(s: ShapeLike, relative: float) -> Array:
    """How many singular values in the last axis are above this share of the largest."""
    shape: Shape = shape_of(s)
    if not shape[-1]:
        return np.zeros(shape[:-1], np.intp)[()]
    last = len(shape) - 1
    largest = ReduceMax((last,)).bind(s)
    bound = broadcast_to(reshape(largest * aval(s).dtype.type(relative), (*shape[:-1], 1)), shape)
    return reduce_sum(cast(greater(s, bound), np.intp), (last,))
