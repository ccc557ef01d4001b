"""The Schur decomposition, where it is triangular.

A real matrix with complex eigenvalues has a real form with 2x2 blocks on the diagonal, whose derivative is
refused when it is asked for; its complex form has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import NotDifferentiableError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.elementwise.arithmetic import add, neg, sub
from funcgrad.ops.families import added
from funcgrad.ops.linalg.general import spread_out
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    flipped,
    matrix_by_matrix,
    product,
    refusals,
    scaled_columns,
    upper_part,
)
from funcgrad.ops.linalg.spectra import broadcast_last, inverses_of_gaps
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import AnyPrimitive, Array, Arrays


class Schur(OnStacks):
    """Upper triangular ``t`` and unitary ``z`` with ``z @ t @ z^H == a``, of the dtype of ``a``."""

    name = "schur"
    not_exported = "neither NumPy nor Numba has a Schur form of real matrices"
    cubic = 25.0
    multiple = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return a.strong, a.strong

    def evaluate(self, *values: Array) -> tuple[Array, Array]:
        (a,) = values
        if not a.size:
            return np.zeros_like(a), np.zeros_like(a)
        scipy: Any = import_module("scipy.linalg")
        t, z = matrix_by_matrix(scipy.schur, a)
        return t.astype(a.dtype, copy=False), z.astype(a.dtype, copy=False)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        t, z = self.bind(*primals)
        inner = product(adjoint(z), tangents[0], z)
        below = SchurTurn(False).bind(t, inner)
        turn = sub(below, adjoint(below))
        t_dot = upper_part(add(inner, sub(product(t, turn), product(turn, t))))
        return (t, z), (t_dot, product(z, turn))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(spread_out(*s), through=without_phases) for s in ((3, 3), (2, 2, 2))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


def without_phases(primitive: AnyPrimitive, a: Array) -> Arrays:
    """What the phases of the columns of `z` do not matter to."""
    t, z = primitive.bind(a)
    weights = broadcast_last(np.cos(np.arange(float(a.shape[-1]))), z)
    spaces = product(scaled_columns(z, weights), adjoint(z))
    return spaces, product(z, t, adjoint(scaled_columns(z, weights)))


class SchurTurn(OnStacks):
    """The strictly lower ``x`` for which ``x @ t - t @ x`` and a matrix have one strictly lower triangle.

    ``t`` is upper triangular; ``transposed`` solves the transposed system. Elements that only the
    difference of equal eigenvalues could fix are zero. Raises NotDifferentiableError where ``t`` has blocks
    on its diagonal.
    """

    name = "schur_turn"
    not_exported = "neither NumPy nor Numba has a Schur form of real matrices"
    cubic = 25.0
    parameters: ClassVar[tuple[str, ...]] = ("transposed",)
    transposed: bool

    def infer(self, *avals: Aval) -> Aval:
        t, e = avals
        check_matrices(self.name, t, square=True)
        if t.shape != e.shape or t.dtype != e.dtype:
            raise ShapeError(f"{self.name} of {t} and {e}: the matrices differ in shape or dtype")
        return t.strong

    def evaluate(self, *values: Array) -> Array:
        t, e = values
        if np.any(np.diagonal(t, -1, -2, -1)):
            raise NotDifferentiableError(
                "schur of a real matrix with complex eigenvalues has no derivative here",
                remedy='Ask for the complex form: schur(a, output="complex").',
            )
        inverse = inverses_of_gaps(np.diagonal(t, axis1=-2, axis2=-1))
        return (solved_upwards if self.transposed else solved_downwards)(t, e, inverse)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (t, _), (t_dot, e_dot) = primals, tangents
        x = self.bind(*primals)
        total = e_dot
        if t_dot is not None:
            part = upper_part(t_dot)
            if self.transposed:
                part = flipped(part)
            total = added(total, neg(sub(product(x, part), product(part, x))))
        return x, self.bind(t, total)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return None, SchurTurn(not self.transposed).bind(inputs[0], cotangent)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple(
            [
                Sample(spread_out(*s), normal(*s), params={"transposed": flag}, through=of_upper)
                for s, flag in (((3, 3), False), ((2, 4, 4), True))
            ]
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"transposed": False}
        return (
            ErrorSample(normal(3, 3), normal(2, 2), params=params, words="differ in shape", error=ShapeError),
            ErrorSample(
                normal(3, 3), normal(3, 3), params=params, words="output=", error=NotDifferentiableError
            ),
        )


def of_upper(primitive: AnyPrimitive, t: Array, e: Array) -> Array:
    """The primitive with the upper triangle of a matrix."""
    return primitive.bind(upper_part(t), e)


def solved_downwards(t: Array, e: Array, inverse: Array) -> Array:
    """Column by column from the left, each from its lowest element up."""
    n = t.shape[-1]
    x = np.zeros_like(e)
    for j in range(n):
        for i in range(n - 1, j, -1):
            known = np.sum(x[..., i, :j] * t[..., :j, j], axis=-1)
            known = known - np.sum(t[..., i, i + 1 :] * x[..., i + 1 :, j], axis=-1)
            x[..., i, j] = (e[..., i, j] - known) * inverse[..., i, j]
    return x


def solved_upwards(t: Array, e: Array, inverse: Array) -> Array:
    """Diagonal by diagonal, from the first below the main one."""
    n = t.shape[-1]
    x = np.zeros_like(e)
    for gap in range(1, n):
        for j in range(n - gap):
            i = j + gap
            between = slice(j + 1, i)
            known = np.sum(x[..., i, between] * t[..., j, between], axis=-1)
            known = known - np.sum(t[..., between, i] * x[..., between, j], axis=-1)
            x[..., i, j] = (e[..., i, j] - known) * inverse[..., i, j]
    return x
