"""Eigenvalues and eigenvectors of general square matrices, always complex.

LAPACK gives vectors of length one whose largest component is real, which fixes them; the derivative is that
of LAPACK's own result. Where an eigenvalue is repeated and has all its vectors, they turn no more than they
must; where it lacks some (a defective matrix) no derivative exists, and what is found is huge or infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import broadcast, cast, reduce_sum, shape_of
from funcgrad.ops.elementwise.arithmetic import div, mul, sub
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.complexes import complex_dtype, imag, make_complex, real
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    check_matrices,
    conjugate,
    diagonal,
    product,
    refusals,
    scaled_columns,
)
from funcgrad.ops.linalg.spectra import InversesOfGaps
from funcgrad.ops.linalg.systems import solve
from funcgrad.ops.reducing.reductions import ArgMax
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, integers, normal
from funcgrad.types import Array


class InverseComplexGaps(InversesOfGaps):
    """``1 / (w[j] - w[i])`` for each pair of complex numbers in the last axis, 0 where they are equal."""

    name = "inverse_complex_gaps"
    kinds = "c"
    wanted = "complex"

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(integers(0, 3, 3), words="must be cast", error=DtypeError),)


class LargestFirst(OnStacks):
    """A mask of the first component of largest magnitude in each column."""

    name = "largest_of_columns"
    of_nothing = "0.0"

    def infer(self, *avals: Aval) -> Aval:
        check_matrices(self.name, avals[0])
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        (v,) = values
        size = np.abs(v)
        # LAPACK compares squares, and takes the first of equal ones; so does argmax.
        place = np.argmax(size * size, axis=-2) if v.size else np.zeros((*v.shape[:-2], v.shape[-1]), np.intp)
        rows = np.arange(v.shape[-2])
        return (rows[:, None] == place[..., None, :]).astype(v.dtype)

    def expansion(self, *inputs: Array) -> Array | None:
        (v,) = inputs
        shape = shape_of(v)
        if 0 in shape:
            return None
        size, n = absolute(v), len(shape)
        place = broadcast(ArgMax(n - 2).bind(mul(size, size)), shape, (*range(n - 2), n - 1))
        return cast(equal(broadcast(np.arange(shape[-2]), shape, (n - 2,)), place), v.aval.dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(3, 2), differentiable=False), Sample(normal(2, 0, 0), differentiable=False))

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False)


class Eig(OnStacks):
    """Complex eigenvalues, in LAPACK's order, and eigenvectors (columns) of square matrices."""

    name = "eig"
    exported = ("as_complex(np.linalg.eig({0}))",)
    cubic = 25.0
    in_double = True
    multiple = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        dtype = complex_dtype(a.dtype)
        return Aval(a.shape[:-1], dtype), Aval(a.shape, dtype)

    def evaluate(self, *values: Array) -> tuple[Array, Array]:
        (a,) = values
        dtype = complex_dtype(a.dtype)
        w, v = np.linalg.eig(a)
        return w.astype(dtype, copy=False), v.astype(dtype, copy=False)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        w, v = self.bind(*primals)
        inner = solve(v, product(cast(tangents[0], v.aval.dtype), v))
        v_dot = product(v, mul(InverseComplexGaps().bind(w), inner))
        return (w, v), (diagonal(inner), sub(v_dot, scaled_columns(v, self.stretch(v, v_dot))))

    @staticmethod
    def stretch(v: Array, v_dot: Array) -> Array:
        """The multiple of each vector to take off, so that its length and its real component stay so."""
        rows = (len(shape_of(v)) - 2,)
        length = real(reduce_sum(mul(conjugate(v), v_dot), rows))
        mask = LargestFirst().bind(v)
        component = real(reduce_sum(mul(mask, v), rows))
        phase = div(imag(reduce_sum(mul(mask, v_dot), rows)), component)
        return make_complex(length, phase)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(spread_out(*s)) for s in ((3, 3), (2, 2, 2))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


def spread_out(*shape: int) -> Draw:
    """Random matrices whose eigenvalues and vectors' largest components are well apart."""
    draw = normal(*shape)

    def draw_spread_out(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return (0.3 * draw(rng, dtype) + np.diag(2.0 * np.arange(shape[-1]))).astype(dtype)

    return draw_spread_out


class Eigvals(OnStacks):
    """The complex eigenvalues of square matrices."""

    name = "eigvals"
    exported = ("np.linalg.eigvals({0}) + 0j",)
    cubic = 10.0
    in_double = True

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return Aval(a.shape[:-1], complex_dtype(a.dtype))

    def evaluate(self, *values: Array) -> Array:
        (a,) = values
        return np.linalg.eigvals(a).astype(complex_dtype(a.dtype), copy=False)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        w, v = Eig().bind(*primals)
        return w, diagonal(solve(v, product(cast(tangents[0], v.aval.dtype), v)))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(spread_out(2, 3, 3)),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


eig = Eig()
eigvals = Eigvals()
