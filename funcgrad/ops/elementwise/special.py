"""Special functions: the logistic function, the error functions, their inverses, and sinc."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import ComposedUfunc, LazyUfunc
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.elementwise.elementary import EVERYWHERE, IN_UNIT_INTERVAL, exp
from funcgrad.ops.families import Unary, aval
from funcgrad.ops.rows import unary
from funcgrad.tracing.primitive import Native
from funcgrad.tracing.samples import Sample, edge, normal, positive, uniform
from funcgrad.types import Array


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))`` with NumPy alone, for inexact dtypes.

    It underflows to 0 only where the result is below the smallest normal number; in half precision, whose
    subnormal numbers matter, it is computed in single precision.

    >>> print(sigmoid(np.array([-1000.0, 0.0, 1000.0])))
    [0.  0.5 1. ]
    """
    x = np.asarray(x)[()]
    if x.dtype == np.float16:
        return sigmoid(x.astype(np.float32)).astype(np.float16)
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def logistic_source(names: Sequence[str], avals: Sequence[Aval]) -> str | None:
    """The logistic function as NumPy source, where its precision is enough."""
    return None if avals[0].dtype == np.float16 else f"1 / (1 + np.exp(-{names[0]}))"


@unary(
    ComposedUfunc("logistic", sigmoid, np.exp),
    native="logistic({0})",
    cost=15,
    samples=EVERYWHERE,
    expression=logistic_source,
)
def logistic(x: Array, out: Array) -> Array:
    """``1 / (1 + exp(-x))``, which SciPy calls expit."""
    return out * (1.0 - out)


@unary(
    LazyUfunc("scipy.special", "logit"),
    native="logit({0})",
    cost=15,
    kinds="f",
    samples=(
        Sample(uniform(0.2, 0.8, 3, 2)),
        Sample(uniform(0.2, 0.8)),
        Sample(edge(0.0, 0.5, 1.0, 2.0, np.nan), differentiable=False),
    ),
)
def logit(x: Array, out: Array) -> Array:
    """``log(x / (1 - x))``, the inverse of the logistic function."""
    return 1.0 / strong_product(x, 1.0 - x)


@unary(LazyUfunc("scipy.special", "erf"), native="erf({0})", cost=15, samples=EVERYWHERE)
def erf(x: Array, out: Array) -> Array:
    """The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t*t)`` from 0 to x."""
    return exp(-(x * x)) * (2.0 / math.sqrt(math.pi))


@unary(LazyUfunc("scipy.special", "erfc"), native="erfc({0})", cost=15, samples=EVERYWHERE)
def erfc(x: Array, out: Array) -> Array:
    """``1 - erf(x)``, accurate for large x."""
    return exp(-(x * x)) * (-2.0 / math.sqrt(math.pi))


@unary(
    LazyUfunc("scipy.special", "erfinv"), native="erfinv({0})", cost=15, kinds="f", samples=IN_UNIT_INTERVAL
)
def erfinv(x: Array, out: Array) -> Array:
    """The inverse of the error function."""
    return exp(out * out) * (math.sqrt(math.pi) / 2.0)


@unary(
    LazyUfunc("scipy.special", "gammaln"),
    native="gammaln({0})",
    cost=40,
    kinds="f",
    samples=(
        Sample(positive(3, 2)),
        Sample(uniform(-2.8, -2.2)),
        Sample(edge(0.0, 1.0, -1.0, np.inf), differentiable=False),
    ),
)
def gammaln(x: Array, out: Array) -> Array:
    """The logarithm of the absolute value of the gamma function."""
    return Polygamma(0)(x)


class Polygamma(Unary):
    """The derivative of order ``n + 1`` of `gammaln`."""

    name = "polygamma"
    cost = 40
    parameters = ("n",)
    ufunc = LazyUfunc("scipy.special", "psi")
    kinds = "f"
    n: int

    def native_form(self) -> Native:
        return "" if self.n else "digamma({0})"

    def infer(self, *avals: Aval) -> Aval:
        if self.n and avals[0].dtype.kind == "c":
            raise DtypeError(f"polygamma of order {self.n} of {avals[0]}: SciPy has it of real numbers only")
        return super().infer(*avals)

    def on_arrays(self, *args: Array) -> Array:
        (dtype,) = self.operand_dtypes(tuple([aval(x) for x in args]))
        return self.evaluate(np.asarray(args[0], dtype)[()])

    def evaluate(self, *values: Array) -> Array:
        x, n = values[0], self.n
        if n == 0:
            return self.ufunc(x)
        # DLMF 5.15.1: the n-th derivative of psi is (-1)**(n+1) n! zeta(n+1, x).
        sign = -1.0 if n % 2 == 0 else 1.0
        return ZETA(x.dtype.type(n + 1), x) * x.dtype.type(sign * math.factorial(n))

    def expansion(self, *inputs: Array) -> Array | None:
        """In kernels, of orders 1 and 2: of higher ones the reflection is too long."""
        (x,) = inputs
        return polygamma_of_doubles(self.n, x) if self.n in (1, 2) and aval(x).dtype == np.float64 else None

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def derivative(self, x: Array, out: Array) -> Array:
        return Polygamma(self.n + 1)(x)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2), params={"n": 0}),
            Sample(positive(), params={"n": 1}),
            Sample(positive(3), params={"n": 2}),
        )


ZETA = LazyUfunc("scipy.special", "zeta", nin=2)

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""The numbers of even index, from the second."""


def polygamma_of_doubles(n: int, x: Array) -> Array:
    """The polygamma function of order 1 or 2: DLMF 5.15.5, 5.15.6 and 5.15.8.

    >>> print(polygamma_of_doubles(1, np.array([1.0, -0.5])) / np.pi**2)
    [0.16666667 0.90528473]
    """
    left = x < 0.0
    z = np.where(left, 1.0 - x, x)
    r = 1.0 / (z + 10.0)
    series = sum(
        b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * r ** (2 * k)
        for k, b in enumerate(BERNOULLI, 1)
    )
    far = (math.factorial(n - 1) + 0.5 * math.factorial(n) * r + series) * r**n
    found = far + math.factorial(n) * sum((z + k) ** -(n + 1.0) for k in range(10))
    angle = math.pi * (x - np.round(x))
    square = (math.pi / np.where(left, np.sin(angle), 1.0)) ** 2
    mirrored = square - found if n == 1 else 2.0 * math.pi * square * np.cos(angle) / np.sin(angle) + found
    pole = (x <= 0.0) & (x == np.floor(x))
    found = np.where(pole, math.inf, np.where(left, mirrored, found))
    return found if n == 1 else -found


def sinc_derivative(x: Array, order: int) -> Array:
    """The derivative of ``sin(pi x) / (pi x)`` of the given order, accurate for every x.

    With ``y = pi x`` and ``g(y) = sin(y) / y``, the k-th derivative of ``y g = sin y`` says that
    ``y g[k] + k g[k-1] = sin[k]``: a stable recursion far from 0. Near 0 it is the Taylor series of g.

    >>> print(sinc_derivative(np.array([0.0, 0.5]), 0), sinc_derivative(np.array([0.0]), 2) / np.pi**2)
    [1.         0.63661977] [-0.33333333]
    """
    x = np.asarray(x)
    if order == 0:
        return np.sinc(x)
    found = sinc_of_doubles(x.astype(np.result_type(x, np.float64)), order)
    return np.asarray(found).astype(x.dtype)[()]


def sinc_of_doubles(x: Array, order: int) -> Array:
    """The same of numbers of double precision, which may be traced.

    >>> print(sinc_of_doubles(np.array([0.0, 0.5]), 0))
    [1.         0.63661977]
    """
    if order == 0:
        y = np.pi * np.where(x == 0.0, 1e-20, x)
        return np.sin(y) / y
    y = np.pi * x
    near = np.abs(y) < order + 1
    inside, outside = _series(np.where(near, y, 0.0), order), _recursion(np.where(near, 1.0, y), order)
    found: Array = np.where(near, inside, outside)
    return np.pi**order * found


def _series(y: Array, k: int) -> Array:
    """The sum of ``(-1)**n y**(2n-k) / ((2n+1) (2n-k)!)`` over n, by Horner's rule in ``y*y``."""
    first = (k + 1) // 2
    terms = 20 + 2 * k
    total: Any = 0.0
    square = y * y
    for n in reversed(range(first, first + terms)):
        total = total * square + (-1) ** n / ((2 * n + 1) * math.factorial(2 * n - k))
    return total * y ** (2 * first - k)


def _recursion(y: Array, k: int) -> Array:
    """``g[j] = (sin(y + j pi/2) - j g[j-1]) / y`` from ``j = 1`` to k."""
    g = np.sin(y) / y
    for j in range(1, k + 1):
        g = (np.sin(y + j * (np.pi / 2)) - j * g) / y
    return g


class Sinc(Unary):
    """``sin(pi x) / (pi x)``, 1 at 0, differentiated ``order`` times; every derivative is right at 0."""

    name = "sinc"
    exported = ("sinc({0}, {p.order})",)
    parameters = ("order",)
    ufunc = np.sin  # for its promotion
    order: int

    def on_arrays(self, *args: Array) -> Array:
        (dtype,) = self.operand_dtypes(tuple([aval(x) for x in args]))
        return sinc_derivative(np.asarray(args[0], dtype), self.order)

    def evaluate(self, *values: Array) -> Array:
        return sinc_derivative(values[0], self.order)

    def expansion(self, *inputs: Array) -> Array | None:
        """In kernels, of doubles: what is evaluated in single precision is computed in double."""
        (x,) = inputs
        return sinc_of_doubles(x, self.order) if aval(x).dtype == np.float64 else None

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        return f"np.sinc({names[0]})" if self.order == 0 else None

    def derivative(self, x: Array, out: Array) -> Array:
        return Sinc(self.order + 1)(x)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"order": 0}),
            Sample(normal(), params={"order": 1}),
            Sample(normal(4), params={"order": 2}),
            Sample(edge(0.0, 1e-9, 1e-3, -5.0), params={"order": 0}),
            Sample(edge(0.0, 1e-9, 1e-3, -5.0), params={"order": 3}),
            Sample(edge(np.inf, np.nan), params={"order": 0}, differentiable=False),
        )
