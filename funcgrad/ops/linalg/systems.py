"""Systems of linear equations, and inverses.

A matrix is factored once (`lu_factors`), and solved with again and again (`solve_factored`): in the value,
in every tangent and cotangent, and in their derivatives. The factors are no function that anybody
differentiates: derivatives flow through the matrix, which `solve_factored` takes beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import permute, real_products, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import neg, sub
from funcgrad.ops.linalg import tiny
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    applied,
    check_matrices,
    flipped,
    lower_text,
    product,
    refusals,
)
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, normal
from funcgrad.types import AnyPrimitive, Array, Arrays

MANY = 32
"""From this many tiny matrices on, closed forms are faster than LAPACK."""

LARGE = 64
"""From this size on, it pays to keep the factors: below, factoring again costs less than Python does."""


def well_conditioned(*shape: int) -> Draw:
    """Random square matrices whose diagonal keeps them far from singular ones."""
    draw = normal(*shape)

    def draw_well_conditioned(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return (draw(rng, dtype) + 3.0 * np.eye(shape[-1])).astype(dtype)

    return draw_well_conditioned


def way_to_solve(shape: Shape) -> str:
    """How systems with matrices of this shape are solved: ``inverse``, ``direct`` or ``factors``."""
    n, count = shape[-1], prod(shape[:-2])
    if 0 < n <= tiny.LARGEST:
        return "inverse"
    return "factors" if n >= LARGE and count else "direct"


def inverted(a: Array) -> Array:
    """The inverses, in closed form where there are many."""
    n = a.shape[-1]
    is_many = 0 < n <= tiny.LARGEST and a.size >= MANY * n * n
    return tiny.inverses(a) if is_many else np.linalg.inv(a)


def applied_inverse(a: Array, inverse: Array, b: Array) -> Array:
    """``a^-1 @ b`` from the inverse, refined once, so that it is as good as a solution by factors."""
    n = a.shape[-1]
    times = tiny.products if a.size >= MANY * n * n else np.matmul
    x = times(inverse, b)
    with np.errstate(invalid="ignore", over="ignore"):
        return x + times(inverse, b - times(a, x))


class LuFactors(OnStacks):
    """What makes solving with a matrix cheap: its factors and pivots, or its inverse if it is tiny.

    Private to the rules of linear algebra, and without a derivative; see the module.
    """

    name = "lu_factors"
    exported = ("{0}", "0")
    cubic = 2 / 3
    multiple = True
    aliases = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices("solve", a, square=True)
        return Aval(a.shape, a.dtype), Aval(a.shape[:-1], np.dtype(np.int32))

    def evaluate(self, *values: Array) -> Arrays:
        (a,) = values
        way = way_to_solve(a.shape)
        if way == "factors":
            return factored(a)
        unused = np.broadcast_to(np.int32(0), a.shape[:-1])
        return inverted(a) if way == "inverse" else a, unused

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), (None, None)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        shapes = ((3, 3), (2, 5, 5), (MANY, 2, 2), (LARGE, LARGE))
        return tuple([Sample(well_conditioned(*s), differentiable=False) for s in shapes])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


def factored(a: Array) -> tuple[Any, Any]:
    """LAPACK's factors and pivots; raises LinAlgError for a singular matrix."""
    lapack: Any = import_module("scipy.linalg.lapack")
    (getrf,) = lapack.get_lapack_funcs(("getrf",), dtype=a.dtype)
    n = a.shape[-1]
    factors = np.empty(a.shape, a.dtype)
    pivots = np.empty(a.shape[:-1], np.int32)
    for x, f, p in zip(a.reshape(-1, n, n), factors.reshape(-1, n, n), pivots.reshape(-1, n), strict=True):
        # The factors of the transpose in Fortran's order are those of the matrix in C's, and no copy is made.
        lu, p[:], info = getrf(x.T)
        f[...] = lu.T
        if info > 0:
            raise np.linalg.LinAlgError("Singular matrix")
    return factors, pivots


class SolveFactored(OnStacks):
    """``x`` with ``a @ x == b`` (or ``a.T @ x == b``) from a matrix, its `lu_factors` and columns ``b``."""

    name = "solve_factored"
    parameters: ClassVar[tuple[str, ...]] = ("transposed",)
    transposed: bool

    def infer(self, *avals: Aval) -> Aval:
        a, factors, pivots, b = avals
        check_right_hand_sides("solve", a, b)
        if factors.shape != a.shape or pivots.shape != a.shape[:-1]:
            raise ShapeError(f"{self.name} of {a}: the factors {factors} and {pivots} are of another matrix")
        return Aval(b.shape, b.dtype)

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 2.0 * inputs[0].shape[-1] * outputs[0].size * real_products(outputs[0])

    def evaluate(self, *values: Array) -> Array:
        a, factors, pivots, b = values
        way = way_to_solve(a.shape)
        if way == "factors":
            return solved_by_factors(factors, pivots, b, self.transposed)
        if way == "inverse":
            return applied_inverse(self.turned(a), self.turned(factors), b)
        return np.linalg.solve(self.turned(a), b)

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        a, _, _, b = operands  # its factors have been left as they are
        return [f"np.linalg.solve({lower_text(a, self.transposed)}, {b})"]

    def turned(self, x: Array) -> Array:
        """The matrices that are solved with."""
        return np.swapaxes(x, -1, -2) if self.transposed else x

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, factors, pivots, b = primals
        a_dot, _, _, b_dot = tangents
        x = self.bind(a, factors, pivots, b)
        if a_dot is not None:
            change = applied(flipped(a_dot) if self.transposed else a_dot, x)
            b_dot = neg(change) if b_dot is None else sub(b_dot, change)
        return x, None if b_dot is None else self.bind(a, factors, pivots, b_dot)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, False, False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        a, factors, pivots, _ = inputs
        return None, None, None, SolveFactored(not self.transposed).bind(a, factors, pivots, cotangent)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        if any(batched[:3]):
            return super().batch(size, inputs, batched)
        *matrix, b = inputs
        return columns_apart(self.bind(*matrix, columns_together(b)), size), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        shapes = (((3, 3), (3, 2)), ((2, 4, 4), (2, 4, 1)), ((MANY, 2, 2), (MANY, 2, 1)))
        return tuple(
            [
                Sample(well_conditioned(*s), normal(*t), params={"transposed": k > 0}, through=solved)
                for k, (s, t) in enumerate(shapes)
            ]
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"transposed": False}
        return (
            ErrorSample(
                normal(3, 3),
                normal(3, 3),
                normal(3),
                normal(2, 1),
                params=params,
                words="do not fit",
                error=ShapeError,
            ),
        )


def solved(primitive: AnyPrimitive, a: Array, b: Array) -> Array:
    """A solution by factors that are the matrix's own."""
    return primitive.bind(a, *LuFactors().bind(a), b)


def solved_by_factors(factors: Array, pivots: Array, b: Array, transposed: bool) -> Array:
    """LAPACK's solutions, for a stack."""
    lapack: Any = import_module("scipy.linalg.lapack")
    (getrs,) = lapack.get_lapack_funcs(("getrs",), dtype=factors.dtype)
    out = np.empty(b.shape, b.dtype)
    if not out.size:
        return out
    n, k = b.shape[-2:]
    stacks = (factors.reshape(-1, n, n), pivots.reshape(-1, n), b.reshape(-1, n, k), out.reshape(-1, n, k))
    for f, p, x, y in zip(*stacks, strict=True):
        # As in `factored`: what Fortran sees is the transposed matrix.
        y[...] = getrs(f.T, p, x, trans=0 if transposed else 1)[0]
    return out


def check_right_hand_sides(name: str, a: Aval, b: Aval) -> None:
    """Raise unless `b` has, for each of the square matrices, a matrix of right-hand sides."""
    check_matrices(name, a, square=True)
    if b.ndim != a.ndim or b.shape[:-1] != a.shape[:-1]:
        raise ShapeError(f"{name} of {a} and {b}: the right-hand sides do not fit the matrices")
    if a.dtype != b.dtype:
        raise DtypeError(f"{name} of {a} and {b}: both must be cast to one dtype first")


def columns_together(b: Array) -> Array:
    """Right-hand sides ``(size, *stack, n, k)`` of one matrix as ``(*stack, n, size * k)``."""
    shape = shape_of(b)
    order = (*range(1, len(shape) - 1), 0, len(shape) - 1)
    return reshape(permute(b, order), (*shape[1:-1], shape[0] * shape[-1]))


def columns_apart(x: Array, size: int) -> Array:
    """The inverse of `columns_together`."""
    shape = shape_of(x)
    apart = reshape(x, (*shape[:-1], size, shape[-1] // size))
    last = len(shape)
    return permute(apart, (last - 1, *range(last - 1), last))


class Inv(OnStacks):
    """The inverse of each square matrix."""

    name = "inv"
    exported = ("np.linalg.inv({0})",)
    cubic = 2.0

    def infer(self, *avals: Aval) -> Aval:
        check_matrices(self.name, avals[0], square=True)
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        (a,) = values
        return inverted(a)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = self.bind(*primals)
        return x, neg(product(x, tangents[0], x))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        shapes = ((2, 4, 4), (MANY, 3, 3))
        return tuple([Sample(well_conditioned(*s)) for s in shapes])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


def solve(a: Array, b: Array) -> Array:
    """``x`` with ``a @ x == b`` for stacks of one shape; `b` has right-hand sides in its columns."""
    return SolveFactored(False).bind(a, *LuFactors().bind(a), b)


inv = Inv()
