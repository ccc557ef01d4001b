"""Matrices of which only products are known, and systems with them.

The product is recorded, so what it closes over has derivatives; its transpose follows from it. The value is
that of the iteration that was asked for; derivatives are solutions of systems with the same products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.derivatives.differentiate import linear_transpose
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.sparse.systems import iterated
from funcgrad.scipy.derived import applied, composed
from funcgrad.scipy.recorded import known
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.linear_call import LinearCall
from funcgrad.transforms.solved.krylov import Krylov, solution_program, with_transpose
from funcgrad.transforms.solved.method import Programs
from funcgrad.types import Array, ArrayLike, DTypeLike

FLOAT = np.dtype(np.float64)


class LinearOperator:
    """A square matrix given by its products with vectors, which may depend on traced values.

    >>> scale = np.array([2.0, 4.0])
    >>> def total(scale):
    ...     A = fg.scipy.sparse.linalg.LinearOperator((2, 2), lambda x: scale * x)
    ...     return fg.scipy.sparse.linalg.cg(A, np.ones(2), rtol=1e-12)[0].sum()
    >>> print(fg.grad(total)(scale).round(6))
    [-0.25   -0.0625]
    """

    def __init__(
        self,
        shape: tuple[int, int],
        matvec: Callable[[Any], Any],
        rmatvec: Callable[[Any], Any] | None = None,
        matmat: Callable[[Any], Any] | None = None,
        dtype: DTypeLike = None,
        rmatmat: Callable[[Any], Any] | None = None,
    ) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = FLOAT if dtype is None else np.dtype(dtype)
        self._product = matvec
        self._transposed = rmatvec
        self._products = matmat

    def matvec(self, x: ArrayLike) -> Array:
        """The product with a vector."""
        shape = shape_of(asoperand(x))
        found = self._product(x[:, 0] if len(shape) == 2 else x)
        return fnp.reshape(found, (self.shape[0], 1)) if len(shape) == 2 else found

    def rmatvec(self, x: ArrayLike) -> Array:
        """The product of the transposed matrix with a vector."""
        if self._transposed is not None:
            return self._transposed(x)
        return linear_transpose(self._product, np.zeros(self.shape[1], self.dtype))(x)[0]

    def matmat(self, x: ArrayLike) -> Array:
        """The product with a matrix."""
        if self._products is not None:
            return self._products(x)
        return fnp.stack([self._product(x[:, k]) for k in range(shape_of(x)[1])], 1)

    def dot(self, x: ArrayLike) -> Array:
        """The product with a vector or a matrix."""
        return self.matvec(x) if len(shape_of(asoperand(x))) == 1 else self.matmat(x)

    __matmul__ = dot
    __call__ = dot


@dataclass(frozen=True)
class Iteration(Krylov):
    """A method of SciPy's with its options."""

    method: str
    options: tuple[tuple[str, Any], ...]

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        *point, right = values
        product, size = programs[0], len(right)

        def matvec(v: Array) -> Array:
            return product.evaluate(*point, np.asarray(v).reshape(size))[0]

        library = import_module("scipy.sparse.linalg")
        operator = library.LinearOperator((size, size), matvec=matvec, dtype=right.dtype)
        return (iterated(self.method, operator, right, self.options),)


def solution_by_products(
    method: str, matvec: Callable[..., Any], b: ArrayLike, options: dict[str, Any]
) -> Array | None:
    """The solution of a system by a method of SciPy's; None where nothing is traced."""
    right = cast(asoperand(b), FLOAT)
    product = known(matvec, [Aval(shape_of(right), FLOAT)], method, "matvec")
    if recorder_of([right, *product.constants]) is None:
        return None

    def of_constants_first(*inputs: Array) -> list[Any]:
        *constants, v = inputs
        return [cast(applied(product.program, [v, *constants])[0], FLOAT)]

    avals = [*[aval(x).strong for x in product.constants], Aval(shape_of(right), FLOAT)]
    pair = with_transpose(composed(of_constants_first, avals, "product"))
    forward = solution_program(Iteration(method, method, tuple(sorted(options.items()))), pair)
    backward = solution_program(Krylov(method), (pair[1], pair[0]))
    return LinearCall(forward, backward, len(product.constants)).bind(*product.constants, right)[0]
