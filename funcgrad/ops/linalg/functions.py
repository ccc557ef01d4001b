"""Functions of matrices: exponential, logarithm, square root, and their derivatives of every order.

The derivative of a matrix function along a direction is a block of the function of a larger matrix,

    f([[a, e], [0, a]]) = [[f(a), Df(a)[e]], [0, f(a)]],

and derivatives of higher order are blocks of yet larger ones (N. J. Higham and S. D. Relton, Higher order
Frechet derivatives of matrix functions, 2014). Nothing is assumed about eigenvalues, so repeated ones and
matrices that have no basis of eigenvectors are like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.families import added
from funcgrad.ops.linalg.exponential import exponential_along
from funcgrad.ops.linalg.matrices import OnStacks, check_matrices, flipped, matrix_by_matrix, refusals
from funcgrad.ops.linalg.systems import well_conditioned
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, fixed, normal
from funcgrad.types import Array

LARGEST = 128
"""Rows of a matrix, with those that its directions add, up to which kernels compute its exponential."""

NAMES = ("expm", "logm", "sqrtm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm")


class MatrixFunction(OnStacks):
    """``f(a)``, or with further inputs its derivative along each of them, in any order; ``f`` is SciPy's."""

    name = "matrix_function"
    cubic = 25.0
    parameters: ClassVar[tuple[str, ...]] = ("function",)
    function: str

    def infer(self, *avals: Aval) -> Aval:
        a, *directions = avals
        check_matrices(self.function, a, square=True)
        if any(e.shape != a.shape or e.dtype != a.dtype for e in directions):
            raise ShapeError(
                f"the derivative of {self.function} at {a}: a direction differs in shape or dtype"
            )
        return a.strong

    def evaluate(self, *values: Array) -> Array:
        a, *directions = values
        if not a.size:
            return np.zeros_like(a)
        n = a.shape[-1]
        total, factor = a, np.ones((*a.shape[:-2], 1, 1), a.real.dtype)
        for e in directions:
            # Directions as large as the matrix, so that neither hides the other's digits.
            share = scale_of(a, e)
            factor = factor / share
            total = doubled(total, e * share)
        found = matrix_by_matrix(self.of_matrix, total)[..., :n, total.shape[-1] - n :]
        return (found * factor if directions else found).astype(a.dtype, copy=False)

    def expansion(self, *inputs: Array) -> Array | None:
        a = aval(inputs[0])
        if self.function != "expm" or not 0 < a.shape[-1] << (len(inputs) - 1) <= LARGEST:
            return None
        wide = [cast(x, np.result_type(a.dtype, np.float64)) for x in inputs]
        return cast(exponential_along(*wide), a.dtype)

    def of_matrix(self, a: Array) -> Array:
        """The function of one matrix; raises DtypeError where that of a real matrix is not real."""
        scipy: Any = import_module("scipy.linalg")
        # SciPy's logarithm of matrices fails in single precision.
        found = self.called(
            getattr(scipy, self.function), a.astype(np.result_type(a, np.float64), copy=False)
        )
        if a.dtype.kind == "f" and found.dtype.kind == "c":
            if np.abs(found.imag).max() > np.sqrt(np.finfo(a.dtype).eps) * np.abs(found).max():
                raise DtypeError(
                    f"{self.function} of a real matrix with an eigenvalue below zero is complex",
                    remedy="Convert the matrix first: a.astype(complex).",
                )
            found = found.real
        return found

    def called(self, function: Callable[..., Any], a: Array) -> Array:
        """SciPy's function of a matrix."""
        return function(a)

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        a, *directions = operands
        total = a
        for e in directions:
            total = f"doubled_along({total}, {a}, {e})"
        found = self.exported_call(total)
        if directions:
            # The derivative is a block of the function of a larger matrix.
            scales = " * ".join([f"direction_scale({a}, {e})" for e in directions])
            found = f"corner({found}, {a}.shape[0]) / ({scales})"
        return [found]

    def exported_call(self, a: str) -> str:
        """The text of a call of the function, in exported modules."""
        return f"{self.function}({a})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        total = None
        for k, tangent in enumerate(tangents):
            if tangent is not None:
                moved = [*primals, tangent] if k == 0 else [*primals[:k], tangent, *primals[k + 1 :]]
                total = added(total, self.bind(*moved))
        return self.bind(*primals), total

    def linear_in(self, flags: Flags) -> bool:
        return sum(flags) == 1 and not flags[0]

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        # A term a^i e a^j pairs with c as e with a.T^i c a.T^j, and further directions likewise.
        (place,) = [k for k, x in enumerate(inputs) if isinstance(x, Linear)]
        others = [flipped(x) for k, x in enumerate(inputs) if k not in (0, place)]
        bar = self.bind(flipped(inputs[0]), cotangent, *others)
        return tuple([bar if k == place else None for k in range(len(inputs))])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        jordan = fixed(np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]))
        return (
            *[Sample(positive_spectrum(3, 3), params={"function": name}) for name in NAMES],
            *[Sample(positive_spectrum(2, 2), normal(2, 2), params={"function": name}) for name in NAMES],
            *[Sample(jordan, params={"function": name}) for name in NAMES],
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"function": "expm"}
        return (
            *refusals(params=params),
            ErrorSample(
                normal(3, 3), normal(2, 2), params=params, words="a direction differs", error=ShapeError
            ),
            ErrorSample(fixed(-np.eye(2)), params={"function": "logm"}, words="is complex", error=DtypeError),
        )


class MatrixPower(MatrixFunction):
    """A matrix to a power that is known: SciPy's value, of whole numbers by products."""

    name = "matrix_power"
    parameters: ClassVar[tuple[str, ...]] = ("power",)
    function = "fractional_matrix_power"
    power: float

    def called(self, function: Callable[..., Any], a: Array) -> Array:
        return function(a, int(self.power) if self.power.is_integer() else self.power)

    def exported_call(self, a: str) -> str:
        return f"power_of_matrix({a}, {self.power!r})"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        spectra = (positive_spectrum(3, 3), positive_spectrum(2, 2))
        return tuple([Sample(a, params={"power": t}) for a in spectra for t in (2.0, 0.3, -1.4)])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"power": 0.5}
        return (
            *refusals(params=params),
            ErrorSample(fixed(-np.eye(2)), params=params, words="is complex", error=DtypeError),
        )


def positive_spectrum(*shape: int) -> Draw:
    """Random matrices with eigenvalues near 3."""
    draw = well_conditioned(*shape)

    def draw_positive_spectrum(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return (0.4 * draw(rng, dtype)).astype(dtype)

    return draw_positive_spectrum


def scale_of(a: Array, e: Array) -> Array:
    """What makes a direction as large as the matrix."""
    norms = [np.abs(x).sum(axis=-2).max(axis=-1)[..., None, None] for x in (a, e)]
    return np.where(
        (norms[0] > 0) & (norms[1] > 0), norms[0] / np.where(norms[1] > 0, norms[1], 1), 1.0
    ).astype(a.real.dtype)


def doubled(x: Array, e: Array) -> Array:
    """``[[x, e], [0, x]]``, where `e` is repeated along the diagonal until it is as large as `x`."""
    size, n = x.shape[-1], e.shape[-1]
    out = np.zeros((*x.shape[:-2], 2 * size, 2 * size), np.result_type(x, e))
    out[..., :size, :size] = out[..., size:, size:] = x
    for start in range(0, size, n):
        out[..., start : start + n, size + start : size + start + n] = e
    return out
