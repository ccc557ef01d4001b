"""The most common special functions: logistic, error and gamma functions, entropy.

Their operations are those of `funcgrad.ops.elementwise.special`: importing them leaves the table of all
others out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, untraced
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.elementwise import special
from funcgrad.ops.elementwise.arithmetic import mul, neg, strong_zero_mul
from funcgrad.ops.elementwise.bivariate import logaddexp
from funcgrad.ops.elementwise.comparison import equal, less
from funcgrad.ops.elementwise.elementary import log
from funcgrad.ops.elementwise.selection import where
from funcgrad.scipy.special.defining import composed, scipys
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, UfuncOption

# The table of all special functions, which those of this module do without.
gammas = Later("funcgrad.ops.specials.gamma")
zetas = Later("funcgrad.ops.specials.zeta")

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "gammaln",
    "log_expit",
    "logit",
    "ndtr",
    "polygamma",
    "psi",
]


@composed("expit")
def expit(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logistic function ``1 / (1 + exp(-x))``.

    >>> print(fg.scipy.special.expit([0.0, 1000.0, -1000.0]))
    [0.5 1.  0. ]
    """
    return special.logistic(x)


@composed("log_expit")
def log_expit(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm of the logistic function, without underflow.

    >>> print(fg.scipy.special.log_expit([0.0, -1000.0]))
    [-6.93147181e-01 -1.00000000e+03]
    """
    return neg(logaddexp(0.0, neg(x)))


@elementwise(scipys("logit"), special.logit)
def logit(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``log(x / (1 - x))``, the inverse of the logistic function.

    >>> print(fg.scipy.special.logit([0.5, 0.75]))
    [0.         1.09861229]
    """


@elementwise(scipys("erf"), special.erf)
def erf(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The error function.

    >>> print(fg.scipy.special.erf([0.0, 1.0]))
    [0.         0.84270079]
    """


@elementwise(scipys("erfc"), special.erfc)
def erfc(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - erf(x)``, accurate for large x.

    >>> print(fg.scipy.special.erfc([0.0, 10.0]))
    [1.00000000e+00 2.08848758e-45]
    """


@elementwise(scipys("erfinv"), special.erfinv)
def erfinv(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of the error function.

    >>> print(fg.scipy.special.erfinv([0.0, 0.5]))
    [0.         0.47693628]
    """


@composed("ndtr")
def ndtr(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cumulative distribution function of the standard normal distribution.

    >>> print(fg.scipy.special.ndtr([0.0, -10.0]))
    [5.00000000e-01 7.61985302e-24]
    """
    return mul(special.erfc(mul(x, -math.sqrt(0.5))), 0.5)


@composed("entr")
def entr(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The entropy term ``-x * log(x)``: 0 for 0, minus infinity for negative x.

    >>> print(fg.scipy.special.entr([0.5, -1.0]))
    [0.34657359       -inf]
    """
    return where(less(x, 0.0), -math.inf, neg(strong_zero_mul(x, log(x))))


@elementwise(scipys("gammaln"), special.gammaln)
def gammaln(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm of the absolute value of the gamma function.

    >>> print(fg.scipy.special.gammaln([1.0, 5.0]))
    [0.         3.17805383]
    """


@elementwise(scipys("psi"), special.Polygamma(0))
def digamma(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The derivative of `gammaln`.

    >>> print(fg.scipy.special.digamma([1.0, 5.0]))
    [-0.57721566  1.50611767]
    """


def polygamma(n: ArrayLike, x: Operand) -> Array:
    """The derivative of order ``n + 1`` of `gammaln`, for whole numbers n: one, or an array of them.

    Whole numbers of floating point are known to be such only where they are no traced values. Raises
    NotDifferentiableError for a traced order of floating point, and ValueError for orders that are no whole
    numbers, where `x` is traced.

    >>> print(fg.scipy.special.polygamma(1, [1.0, 5.0]))
    [1.64493407 0.22132296]
    >>> print(fg.vmap(fg.scipy.special.polygamma)(np.array([0, 1]), np.ones(2)))
    [-0.57721566  1.64493407]
    """
    operand = asoperand(x)
    if isinstance(n, Tracer):
        if n.dtype.kind not in "iub":
            raise NotDifferentiableError(
                "polygamma has no derivative by its first argument, the order",
                source=as_source(user_location()),
                remedy="Give the order as an integer, or as an array of them; "
                "fg.scipy.special.zeta is differentiable by both.",
            )
        return _polygamma_of_traced_order(n, operand)
    orders = np.asarray(n)
    whole = orders.astype(np.int64)
    if untraced(operand) and (orders.ndim or whole != orders or whole < 0):
        return LazyUfunc("scipy.special", "polygamma")(orders, operand)
    if np.any(whole != orders) or np.any(whole < 0):
        raise refused("polygamma: orders must be whole numbers, and not negative")
    if not whole.ndim:
        return special.Polygamma(int(whole))(operand)
    shape = np.broadcast_shapes(whole.shape, shape_of(operand))
    wanted = np.broadcast_to(whole, shape)
    full = np.broadcast_to(cast(operand, np.float64) if not aval(operand).inexact else operand, shape)
    found: Any = 0.0
    for order in np.unique(whole).tolist():
        found = where(np.equal(wanted, order), special.Polygamma(order)(full), found)
    return found


def _polygamma_of_traced_order(n: Array, x: Operand) -> Array:
    """DLMF 5.15.1: ``(-1)**(n+1) n! zeta(n+1, x)`` from order 1 on. It has a derivative by x alone."""
    at = cast(x, np.float64) if not aval(x).inexact else x
    order = cast(n, aval(at).dtype)
    from_one = where(less(order, 1.0), 1.0, order)
    sign = where(equal(n % 2, 0), -1.0, 1.0)
    higher = sign * gammas.gamma(from_one + 1.0) * zetas.hurwitz(from_one + 1.0, at)
    return where(less(order, 1.0), special.Polygamma(0)(at), higher)


psi = digamma
