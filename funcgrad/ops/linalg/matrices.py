"""Parts of matrices and the short words that the rules of linear algebra are written in.

Matrices stand in the last two axes; all axes before them count the matrices of a stack. Owns three linear
primitives (a triangle, a diagonal, a matrix with a given diagonal), products, adjoints, and the base class
of primitives that take stacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops import contraction
from funcgrad.ops.arrays.structure import (
    LinearUnary,
    aval,
    broadcast,
    cast,
    permute,
    real_products,
    reshape,
    shape_of,
)
from funcgrad.ops.elementwise.arithmetic import add, mul, sub
from funcgrad.ops.elementwise.complexes import conj
from funcgrad.tracing.guarded import evaluated_if_guarded
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array, Arrays

# -- the base class ------------------------------------------------------------------------------------------


class MatrixShapeError(ShapeError, np.linalg.LinAlgError):
    """Raised when an array does not hold matrices, or not square ones: NumPy and SciPy raise LinAlgError."""


class OnStacks(Primitive):
    """A primitive whose inputs all have the axes of one stack first, and so have its results."""

    kinds: ClassVar[str] = "fc"
    cubic: ClassVar[float] = 0.0
    """Operations over ``m n min(m, n)``, by LAPACK's algorithm."""
    in_double: ClassVar[bool] = False
    """Whether NumPy computes it in double precision whatever it is given."""
    of_vectors: ClassVar[bool] = False
    """Whether its operands are numbers along the last axis, and no matrices."""

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        *batch, m, n = (1, 1, *inputs[0].shape)
        return self.cubic * math.prod(batch) * m * n * min(m, n) * real_products(outputs[0])

    def bind(self, *inputs: Array) -> Array:
        """As of every primitive; where the user waits for a LinAlgError, it is raised now."""
        return evaluated_if_guarded(super().bind(*inputs))

    def expansion(self, *inputs: Array) -> Arrays:
        """In kernels as in NumPy: single precision is computed in double where the row says so."""
        dtypes = [aval(x).dtype for x in inputs]
        if not self.in_double or all(d == np.result_type(d, np.float64) for d in dtypes):
            return None
        wide = [cast(x, np.result_type(d, np.float64)) for x, d in zip(inputs, dtypes, strict=True)]
        found = self.bind(*wide)
        wanted: Any = self.inferred(tuple([aval(x) for x in inputs]))
        if not self.multiple:
            return cast(found, wanted.dtype)
        return tuple([cast(x, a.dtype) for x, a in zip(found, wanted, strict=True)])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        stacked = [
            x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
            for x, flag in zip(inputs, batched, strict=True)
        ]
        return self.bind(*stacked), True


class LinearOnMatrices(OnStacks, LinearUnary):
    """A linear operation on the last axes; none of them fails."""

    def bind(self, *inputs: Array) -> Array:
        """As of every primitive."""
        return Primitive.bind(self, *inputs)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(*inputs), True


def check_matrices(name: str, x: Aval, *, square: bool = False) -> None:
    """Raise unless `x` has matrices of inexact numbers in its last two axes."""
    if x.ndim < 2:
        raise MatrixShapeError(f"{name} of {x}: needs matrices in the last two axes")
    if square and x.shape[-1] != x.shape[-2]:
        raise MatrixShapeError(f"{name} of {x}: the matrices in the last two axes must be square")
    if not x.inexact or x.dtype == np.float16:
        raise DtypeError(f"{name} of {x}: must be cast to single or double precision first")


def refusals(*, square: bool = True, params: dict[str, Any] | None = None) -> tuple[ErrorSample, ...]:
    """What every operation on matrices refuses."""
    found = [ErrorSample(normal(3), words="needs matrices", error=ShapeError, params=params)]
    if square:
        found.append(ErrorSample(normal(2, 3), words="must be square", error=ShapeError, params=params))
    return tuple(found)


def lower_text(operand: str, upper: bool) -> str:
    """The text, in exported modules, of a matrix of whose transpose the lower triangle counts if `upper`."""
    return f"np.ascontiguousarray({operand}.T)" if upper else operand


# -- parts of matrices ---------------------------------------------------------------------------------------


class Triangle(LinearOnMatrices):
    """The lower (or upper) triangle of each matrix, zero beyond the k-th diagonal."""

    name = "triangle"
    parameters: ClassVar[tuple[str, ...]] = ("lower", "k")
    lower: bool
    k: int

    def infer(self, *avals: Aval) -> Aval:
        if avals[0].ndim < 2:
            raise MatrixShapeError(f"{self.name} of {avals[0]}: needs matrices in the last two axes")
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        return (np.tril if self.lower else np.triu)(values[0], self.k)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.{'tril' if self.lower else 'triu'}({names[0]}{f', {self.k}' if self.k else ''})"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (self.bind(cotangent),)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(2, 3, 4), params={"lower": False, "k": 1}),
            Sample(normal(4, 3), params={"lower": True, "k": -1}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False, params={"lower": True, "k": 0})


class MatrixDiagonal(LinearOnMatrices):
    """The diagonal of each square matrix."""

    name = "matrix_diagonal"

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise ShapeError(f"{self.name} of {x}: needs square matrices in the last two axes")
        return Aval(x.shape[:-1], x.dtype)

    def evaluate(self, *values: Array) -> Array:
        return np.diagonal(values[0], axis1=-2, axis2=-1).copy()

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (DiagonalMatrix().bind(cotangent),)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(2, 1, 2, 2)),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(2, 3), words="needs square matrices", error=ShapeError),)


class DiagonalMatrix(LinearOnMatrices):
    """The square matrices with these diagonals, zero elsewhere."""

    name = "diagonal_matrix"

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if not x.ndim:
            raise ShapeError(f"{self.name} of {x}: needs diagonals in the last axis")
        return Aval((*x.shape, x.shape[-1]), x.dtype)

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        out = np.zeros((*x.shape, x.shape[-1]), x.dtype)
        n = np.arange(x.shape[-1])
        out[..., n, n] = x
        return out

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (MatrixDiagonal().bind(cotangent),)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(2, 3)),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(), words="needs diagonals", error=ShapeError),)


def lower_part(x: Array, k: int = 0) -> Array:
    """The lower triangle."""
    return Triangle(True, k).bind(x)


def upper_part(x: Array, k: int = 0) -> Array:
    """The upper triangle."""
    return Triangle(False, k).bind(x)


def diagonal(x: Array) -> Array:
    """The diagonal of each square matrix."""
    return MatrixDiagonal().bind(x)


def diagonal_matrix(x: Array) -> Array:
    """The matrix with this diagonal."""
    return DiagonalMatrix().bind(x)


# -- words for rules -----------------------------------------------------------------------------------------


def is_complex(x: Array) -> bool:
    """Whether a tracer or array is complex."""
    return aval(x).dtype.kind == "c"


def conjugate(x: Array) -> Array:
    """The complex conjugate; `x` itself where it is real."""
    return conj(x) if is_complex(x) else x


def flipped(x: Array) -> Array:
    """Each matrix transposed."""
    n = aval(x).ndim
    return permute(x, (*range(n - 2), n - 1, n - 2))


def adjoint(x: Array) -> Array:
    """Each matrix transposed and conjugated."""
    return flipped(conjugate(x))


def product(*factors: Array) -> Array:
    """The product of stacks of matrices, from the left."""
    found = factors[0]
    for x in factors[1:]:
        n = aval(x).ndim
        stack = tuple(range(n - 2))
        found = contraction.dot(found, x, ((n - 1,), (n - 2,)), (stack, stack))
    return found


def applied(x: Array, columns: Array) -> Array:
    """``x @ columns``, with a single column as the vector it is: the transpose is an outer product then."""
    shape = shape_of(columns)
    if shape[-1] != 1:
        return product(x, columns)
    stack = tuple(range(len(shape) - 2))
    vector = reshape(columns, shape[:-1])
    found = contraction.dot(x, vector, ((len(shape) - 1,), (len(shape) - 2,)), (stack, stack))
    return reshape(found, (*shape_of(found), 1))


def paired(x: Array, y: Array, axes: int = 2) -> Array:
    """The sum over the last axes of the products of elements."""
    n = aval(x).ndim
    last, stack = tuple(range(n - axes, n)), tuple(range(n - axes))
    return contraction.dot(x, y, (last, last), (stack, stack))


def hermitian_part(x: Array) -> Array:
    """``(x + x^H) / 2``."""
    return mul(add(x, adjoint(x)), 0.5)


def from_triangle(x: Array, upper: bool = False) -> Array:
    """The Hermitian matrix of which `x` has one triangle; the other one does not matter."""
    part = upper_part(x) if upper else lower_part(x)
    n = shape_of(x)[-1]
    halves = (1.0 - 0.5 * np.eye(n)).astype(aval(x).dtype)
    ndim = len(shape_of(x))
    return mul(add(part, adjoint(part)), broadcast(halves, shape_of(x), (ndim - 2, ndim - 1)))


def skew_part(x: Array) -> Array:
    """``(x - x^H) / 2``."""
    return mul(sub(x, adjoint(x)), 0.5)


def scaled_columns(x: Array, s: Array) -> Array:
    """``x @ diag(s)``."""
    shape = shape_of(x)
    n = len(shape)
    return mul(x, broadcast(s, shape, (*range(n - 2), n - 1)))


def scaled_rows(s: Array, x: Array) -> Array:
    """``diag(s) @ x``."""
    shape = shape_of(x)
    return mul(broadcast(s, shape, tuple(range(len(shape) - 1))), x)


def identity_like(x: Array) -> Array:
    """The identity matrix, in the shape and dtype of square matrices."""
    shape = shape_of(x)
    n = len(shape)
    return broadcast(np.eye(shape[-1], dtype=aval(x).dtype), shape, (n - 2, n - 1))


def matrix_by_matrix(function: Callable[..., Any], *stacks: Array) -> Arrays:
    """A function of matrices for each of the stacks, where NumPy and LAPACK have no loop of their own."""
    lead: Shape = stacks[0].shape[:-2]
    if not lead:
        return function(*stacks)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in stacks]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    if isinstance(results[0], tuple):
        return tuple(
            [np.stack(found).reshape(*lead, *found[0].shape) for found in zip(*results, strict=True)]
        )
    return np.stack(results).reshape(*lead, *results[0].shape)
