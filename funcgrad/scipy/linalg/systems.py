"""Systems of linear equations by a matrix, its triangular factors or its structure; inverses and norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.numpy.algebra import linear_systems, norms
from funcgrad.numpy.algebra.awaited import asked_if_awaited, factorable
from funcgrad.numpy.algebra.linear_systems import on_columns, require_square, traced_matrices
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.sorting import ArgSort
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.linalg.lu import PivotOrder, rows_taken
from funcgrad.ops.linalg.matrices import adjoint, conjugate, flipped, lower_part, upper_part
from funcgrad.ops.linalg.sylvester import SolveSylvester
from funcgrad.ops.linalg.systems import solve as solve_stacks
from funcgrad.ops.linalg.triangular import TriangularSolve
from funcgrad.scipy.linalg.arguments import checks_finite, in_doubles, refuse, scipys, way_of
from funcgrad.scipy.originals import at_hand
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike, NormOrder, Number, Option

__all__ = [
    "cho_solve",
    "det",
    "inv",
    "lu_solve",
    "norm",
    "pinv",
    "solve",
    "solve_sylvester",
    "solve_triangular",
]

STRUCTURES = {
    "symmetric": "sym",
    "sym": "sym",
    "hermitian": "her",
    "her": "her",
    "positive definite": "pos",
    "pos": "pos",
}
"""Structures of which SciPy reads one triangle."""

RECOGNISED = frozenset(
    {
        *STRUCTURES,
        *(None, "gen", "general", "diagonal", "tridiagonal", "banded"),
        *("upper triangular", "lower triangular"),
    }
)
"""What SciPy takes for `assume_a`."""


def assumed(a: ArrayLike, assume_a: Option, lower: bool) -> Array:
    """The matrix that SciPy takes `a` for."""
    if assume_a not in RECOGNISED:
        raise ValueError(f"assume_a={assume_a!r} is not a recognized matrix structure")
    kind = STRUCTURES.get(assume_a)
    if assume_a in ("upper triangular", "lower triangular"):
        return (upper_part if assume_a.startswith("u") else lower_part)(a)
    if assume_a in ("diagonal", "tridiagonal"):
        width = 0 if assume_a == "diagonal" else 1
        return upper_part(lower_part(a, width), -width)
    if kind is None:
        return a
    if kind == "pos":
        a = asked_if_awaited("cholesky", a) if lower else adjoint(asked_if_awaited("cholesky", adjoint(a)))
    known = at_hand(a) if kind == "pos" else None
    if known is not None:
        scipys("cholesky")(known, lower=lower)  # It raises where the matrix is not positive definite.
    rest = lower_part(a, -1) if lower else upper_part(a, 1)
    diagonal = lower_part(upper_part(a))
    if kind == "sym":
        return add(add(rest, diagonal), flipped(rest))
    return add(add(rest, np.real(diagonal)), adjoint(rest))


def divides(matrix: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether a system of these shapes is one of a single element and right-hand sides of any shape."""
    return not matrix or (matrix == (1, 1) and right[:1] != (1,))


@checks_finite
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: object = None,
    transposed: bool = False,
) -> Array:
    """``x`` with ``a @ x == b``, for a vector or matrix `b`; see `fg.numpy.linalg.solve`.

    A number, or a matrix of one element, divides every element of `b`.

    >>> print(fg.scipy.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])))
    [1.  0.5]
    """
    given = traced(a, b)
    if given is not None and divides(*map(shape_of, given)):
        x, y = given
        row = solve(fnp.reshape(x, (1, 1)), fnp.reshape(y, (1, -1)), assume_a=assume_a)
        return fnp.reshape(row, shape_of(y) or (1,))
    operands = traced_matrices("solve", a, b)
    if operands is None:
        return scipys("solve")(
            a, b, lower, assume_a=assume_a, transposed=transposed, check_finite=check_finite
        )
    x, y = operands
    require_square("solve", x)
    x = factorable("solve", assumed(x, assume_a, lower))
    return on_columns("solve", solve_stacks, flipped(x) if transposed else x, y)


@checks_finite
def inv(
    a: ArrayLike,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    assume_a: object = None,
    lower: bool = False,
) -> Array:
    """The inverse; see `fg.numpy.linalg.inv`.

    >>> print(fg.scipy.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    operands = traced_matrices("inv", a)
    if operands is None:
        return scipys("inv")(a, check_finite=check_finite, assume_a=assume_a, lower=lower)
    return linear_systems.inv(assumed(operands[0], assume_a, lower))


@checks_finite
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant; see `fg.numpy.linalg.det`.

    >>> print(fg.scipy.linalg.det(np.diag([2.0, 4.0])))
    8.0
    """
    operands = traced_matrices("det", a)
    if operands is None:
        return scipys("det")(a, check_finite=check_finite)
    return linear_systems.det(in_doubles(operands[0]))


@checks_finite
def pinv(
    a: ArrayLike,
    *,
    atol: Number = None,
    rtol: Number = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Arrays:
    """The pseudo-inverse; see `fg.numpy.linalg.pinv`.

    >>> print(fg.scipy.linalg.pinv(np.array([[2.0], [0.0]])))
    [[0.5 0. ]]
    """
    operands = traced_matrices("pinv", a)
    if operands is None:
        return scipys("pinv")(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)
    refuse("pinv", {"atol": atol, "return_rank": return_rank})
    return linear_systems.pinv(operands[0], rtol=rtol)


@checks_finite
def norm(
    a: ArrayLike,
    ord: NormOrder = None,
    axis: AxisLike = None,
    keepdims: bool = False,
    check_finite: bool = True,
) -> Array:
    """The norm of a vector or matrix; see `fg.numpy.linalg.norm`.

    That of a whole vector neither overflows nor vanishes where its elements do not, as SciPy's does not.

    >>> print(fg.scipy.linalg.norm(np.array([3.0, 4.0])))
    5.0
    """
    operands = traced(a)
    if operands is None:
        return scipys("norm")(a, ord, axis, keepdims, check_finite=check_finite)
    seen = aval(operands[0])
    if seen.ndim == 1 and seen.size and ord in (None, 2) and axis is None and not keepdims:
        unit = magnitude(operands[0])
        return fnp.multiply(unit, norms.norm(fnp.divide(operands[0], unit), ord))
    return norms.norm(a, ord, axis, keepdims)


def magnitude(x: Array) -> Array:
    """The power of two next to the largest element, which scales without rounding; 1 where there is none."""
    largest = stop_gradient(fnp.max(fnp.maximum(abs(fnp.real(x)), abs(fnp.imag(x)))))
    usual = fnp.logical_and(largest > 0, fnp.isfinite(largest))
    return fnp.exp2(fnp.floor(fnp.log2(fnp.where(usual, largest, 1))))


@checks_finite
def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: object = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``a @ x == b`` (or with the transpose, or the adjoint, of `a`) for a triangular matrix.

    The other triangle of `a` is not read.

    >>> print(fg.scipy.linalg.solve_triangular(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([3.0, 4.0])))
    [1. 1.]
    """
    operands = traced_matrices("solve_triangular", a, b)
    if operands is None:
        return scipys("solve_triangular")(a, b, trans, lower, unit_diagonal, check_finite=check_finite)
    x, y = operands
    require_square("solve_triangular", x)
    way = way_of(trans)
    solver = TriangularSolve(bool(lower), way != "N", bool(unit_diagonal)).bind
    return on_columns("solve_triangular", solver, conjugate(x) if way == "C" else x, y)


@checks_finite
def cho_solve(
    c_and_lower: tuple[Any, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """``x`` with ``a @ x == b``, from what `cho_factor` made of `a`.

    >>> factor = fg.scipy.linalg.cho_factor(np.diag([4.0, 2.0]))
    >>> print(fg.scipy.linalg.cho_solve(factor, np.array([4.0, 4.0])).round(12))
    [1. 2.]
    """
    c, lower = c_and_lower
    operands = traced_matrices("cho_solve", c, b)
    if operands is None:
        return scipys("cho_solve")((c, lower), b, check_finite=check_finite)
    first, second = ("N", "C") if lower else ("C", "N")
    x = solve_triangular(operands[0], operands[1], first, lower)
    return solve_triangular(operands[0], x, second, lower)


@checks_finite
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: ArrayLike,
    trans: Option = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``a @ x == b`` (or the transpose or adjoint of `a`), from what `lu_factor` made of `a`.

    >>> factors = fg.scipy.linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 0.0]]))
    >>> print(fg.scipy.linalg.lu_solve(factors, np.array([2.0, 4.0])))
    [1. 1.]
    """
    lu, pivots = lu_and_piv
    operands = traced_matrices("lu_solve", lu, b)
    if operands is None:
        return scipys("lu_solve")((lu, pivots), b, trans, check_finite=check_finite)
    packed, y = operands
    require_square("lu_solve", packed)
    way = way_of(trans)

    def solved(factors: Array, sides: Array) -> Array:
        return by_factors(factors, PivotOrder(shape_of(factors)[-1]).bind(pivots), sides, way)

    if aval(packed).ndim > 2 and aval(y).ndim != aval(packed).ndim:
        raise refused(
            f"lu_solve of {aval(packed)} and {aval(y)}: the right-hand sides do not fit the matrices"
        )
    return on_columns("lu_solve", solved, packed, y)


def by_factors(factors: ArrayLike, order: object, b: ArrayLike, way: str) -> Array:
    """The solution from both triangular factors and the order of the rows."""
    if way == "N":
        first = TriangularSolve(True, False, True).bind(factors, rows_taken(b, order))
        return TriangularSolve(False, False, False).bind(factors, first)
    factors = conjugate(factors) if way == "C" else factors
    first = TriangularSolve(False, True, False).bind(factors, b)
    second = TriangularSolve(True, True, True).bind(factors, first)
    return rows_taken(second, ArgSort(aval(order).ndim - 1).bind(order))


def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Array:
    """``x`` with ``a @ x + x @ b == q``.

    >>> print(fg.scipy.linalg.solve_sylvester(np.eye(2), np.eye(2), np.ones((2, 2))))
    [[0.5 0.5]
     [0.5 0.5]]
    """
    operands = traced_matrices("solve_sylvester", a, b, q)
    if operands is None:
        return scipys("solve_sylvester")(a, b, q)
    return SolveSylvester().bind(*operands)
