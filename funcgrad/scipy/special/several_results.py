"""Functions that are no ufuncs of one result: several results, options, or fixed parameters."""

from __future__ import annotations

import math
import operator

import numpy as np

from funcgrad.numpy import logaddexp
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, untraced
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise import bivariate, elementary
from funcgrad.ops.elementwise.comparison import equal, greater_equal, less, less_equal
from funcgrad.ops.elementwise.logic import logical_and, logical_not
from funcgrad.ops.elementwise.rounding import rint
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Sinc, gammaln
from funcgrad.ops.specials import zeta as zetas
from funcgrad.ops.specials.table import Special
from funcgrad.scipy.special.defining import composed, scipys
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays, Number, UfuncOption

__all__ = [
    "airy",
    "cbrt",
    "comb",
    "diric",
    "exp2",
    "expm1",
    "factorial",
    "fresnel",
    "lambertw",
    "log1p",
    "multigammaln",
    "perm",
    "shichi",
    "sici",
    "sinc",
    "softplus",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "zeta",
]


def results(
    name: str, parts: tuple[str, ...], x: Operand, out: tuple[Array, ...], options: dict[str, UfuncOption]
) -> Arrays:
    """SciPy's results, or those of the table where x is traced, which are written to nothing."""
    operand = asoperand(x)
    if untraced(operand):
        return scipys(name)(operand, *out, **options)
    if out or any(value is not None for value in options.values()):
        raise unsupported(f"scipy.special.{name} with {', '.join(options) or 'out'}")
    return tuple([Special(f"{name}_{part}")(operand) for part in parts])


@implements(scipys("sici"))
def sici(x: Operand, /, *out: Array, **options: UfuncOption) -> Arrays:
    """The sine and the cosine integral, ``(Si, Ci)``.

    >>> print(*np.round(fg.scipy.special.sici(1.0), 12))
    0.946083070367 0.337403922901
    """
    return results("sici", ("si", "ci"), x, out, options)


@implements(scipys("shichi"))
def shichi(x: Operand, /, *out: Array, **options: UfuncOption) -> Arrays:
    """The hyperbolic sine and cosine integral, ``(Shi, Chi)``.

    >>> print(*np.round(fg.scipy.special.shichi(1.0), 12))
    1.057250875376 0.83786694098
    """
    return results("shichi", ("shi", "chi"), x, out, options)


@implements(scipys("fresnel"))
def fresnel(z: Operand, /, *out: Array, **options: UfuncOption) -> Arrays:
    """Fresnel's integrals, ``(S, C)``.

    >>> print(*np.round(fg.scipy.special.fresnel(1.0), 12))
    0.43825914739 0.779893400377
    """
    return results("fresnel", ("s", "c"), z, out, options)


@implements(scipys("airy"))
def airy(z: Operand, /, *out: Array, **options: UfuncOption) -> Arrays:
    """Airy's functions and their derivatives, ``(Ai, Ai', Bi, Bi')``.

    >>> print(*[value.round(6) for value in fg.scipy.special.airy(1.0)])
    0.135292 -0.159147 1.207424 0.932436
    """
    return results("airy", ("ai", "aip", "bi", "bip"), z, out, options)


# -- functions with options --------------------------------------------------------------------------------


@implements(LazyUfunc("scipy.special._ufuncs", "_lambertw", 3))
def lambertw(z: Operand, k: ArrayLike = 0, tol: Number = 1e-8) -> Arrays:
    """Lambert's W, the complex w with ``w exp(w) = z``, on the branch k.

    >>> print(fg.scipy.special.lambertw(np.e))
    (1+0j)
    """
    operands = [asoperand(x) for x in (z, k, tol)]
    return LazyUfunc("scipy.special", "lambertw")(*operands) if untraced(*operands) else LAMBERTW(*operands)


LAMBERTW = Special("lambertw")


def zeta(x: Operand, q: Operand | None = None, out: Array = None) -> Array:
    """Riemann's zeta function, or Hurwitz's, the sum of ``(q + k)**-x`` over k from 0.

    >>> print(fg.scipy.special.zeta([2.0, 4.0]), fg.scipy.special.zeta(2.0, 2.0))
    [1.64493407 1.08232323] 0.6449340668482266
    >>> print(*np.round(fg.grad(fg.scipy.special.zeta, argnums=(0, 1))(2.0, 1.0), 12))
    -0.937548254316 -2.404113806319
    """
    operands = [asoperand(v) for v in ((x,) if q is None else (x, q))]
    if untraced(*operands, out):
        return LazyUfunc("scipy.special", "zeta")(x, q, out)
    return riemann_zeta(x, out=out) if q is None else hurwitz_zeta(x, q, out=out)


@elementwise(LazyUfunc("scipy.special._ufuncs", "_riemann_zeta"), zetas.riemann)
def riemann_zeta(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """What SciPy's `zeta` calls with one argument."""


@elementwise(LazyUfunc("scipy.special._ufuncs", "_zeta", 2), zetas.hurwitz)
def hurwitz_zeta(x: Operand, q: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """What SciPy's `zeta` calls with two arguments."""


def comb(N: Operand, k: Operand, *, exact: bool = False, repetition: bool = False) -> Arrays:
    """The number of ways to choose k of N things: `binom`, and 0 where k is negative or larger than N.

    >>> print(fg.scipy.special.comb(5, [2, 6]))
    [10.  0.]
    """
    n, m = asoperand(N), asoperand(k)
    if untraced(n, m):
        return LazyUfunc("scipy.special", "comb")(n, m, exact=exact, repetition=repetition)
    if exact:
        raise unsupported("scipy.special.comb with exact=True")
    if repetition:
        nothing = logical_and(equal(m, 0), greater_equal(n, 0))
        n = where(nothing, 0.0, n + m - 1)
    inside = logical_and(logical_and(less_equal(m, n), greater_equal(n, 0)), greater_equal(m, 0))
    return where(inside, Special("binom")(n, m), 0.0)


def multigammaln(a: Operand, d: int) -> Array:
    """The logarithm of the gamma function of d dimensions.

    >>> print(fg.scipy.special.multigammaln([2.0, 3.0], 2))
    [0.45158271 1.55019499]
    """
    x = asoperand(a)
    if untraced(x):
        return LazyUfunc("scipy.special", "multigammaln")(x, d)
    x = cast(x, np.float64)  # as SciPy's, whatever the precision
    if operator.index(d) < 1:
        raise refused("multigammaln: d must be a positive integer, the dimension")
    total = d * (d - 1) * 0.25 * math.log(math.pi)
    for j in range(d):
        total = gammaln(x - 0.5 * j) + total
    return total


def spherical(name: str, n: Operand, z: Operand, derivative: bool) -> Array:
    """A spherical Bessel function of the table, or its derivative."""
    order, x = asoperand(n), asoperand(z)
    if untraced(order, x):
        return LazyUfunc("scipy.special", name)(order, x, derivative)
    if aval(order).dtype.kind not in "iu":
        raise refused(f"{name}: the order must be an integer")
    function = Special(name)
    order = np.asarray(order) if isinstance(order, int) else order
    if not derivative:
        return function(order, x)
    return function.partial(1, (order, x), x)


def spherical_jn(n: Operand, z: Operand, derivative: bool = False) -> Array:
    """The spherical Bessel function of the first kind of integer order n, or its derivative.

    >>> print(fg.scipy.special.spherical_jn(1, [0.0, 1.0]))
    [0.         0.30116868]
    """
    return spherical("spherical_jn", n, z, derivative)


def spherical_yn(n: Operand, z: Operand, derivative: bool = False) -> Array:
    """The spherical Bessel function of the second kind of integer order n, or its derivative.

    >>> print(fg.scipy.special.spherical_yn(1, [1.0, 2.0]))
    [-1.38177329 -0.350612  ]
    """
    return spherical("spherical_yn", n, z, derivative)


def spherical_in(n: Operand, z: Operand, derivative: bool = False) -> Array:
    """The modified spherical Bessel function of the first kind of integer order n, or its derivative.

    >>> print(fg.scipy.special.spherical_in(1, [0.0, 1.0]))
    [0.         0.36787944]
    """
    return spherical("spherical_in", n, z, derivative)


def spherical_kn(n: Operand, z: Operand, derivative: bool = False) -> Array:
    """The modified spherical Bessel function of the second kind of integer order n, or its derivative.

    >>> print(fg.scipy.special.spherical_kn(1, [1.0, 2.0]))
    [1.15572735 0.15943812]
    """
    return spherical("spherical_kn", n, z, derivative)


# -- other names for NumPy's -------------------------------------------------------------------------------


def sinc(x: Operand) -> Array:
    """``sin(pi x) / (pi x)``, and 1 at 0, as `numpy.sinc`.

    >>> print(fg.scipy.special.sinc([0.0, 0.5]))
    [1.         0.63661977]
    """
    value = asoperand(x)
    return np.sinc(value) if untraced(value) else Sinc(0)(value)


def softplus(x: Operand, /, **options: UfuncOption) -> Array:
    """``log(1 + exp(x))`` without overflow.

    >>> print(fg.scipy.special.softplus([0.0, 1000.0]))
    [6.93147181e-01 1.00000000e+03]
    """
    return logaddexp(0.0, x, **options) if options else bivariate.logaddexp(0.0, asoperand(x))


@composed("cbrt")
def cbrt(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cube root of a real number, negative ones included.

    >>> print(fg.scipy.special.cbrt([-8.0, 27.0]))
    [-2.  3.]
    """
    return elementary.cbrt(x)


@composed("exp2")
def exp2(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Two to the power x.

    >>> print(fg.scipy.special.exp2([0.0, 3.0]))
    [1. 8.]
    """
    return elementary.exp2(x)


@composed("expm1")
def expm1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(x) - 1``, accurate near 0.

    >>> print(fg.scipy.special.expm1(1e-20))
    1e-20
    """
    return elementary.expm1(x)


@composed("log1p")
def log1p(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``log(1 + x)``, accurate near 0.

    >>> print(fg.scipy.special.log1p(1e-20))
    1e-20
    """
    return elementary.log1p(x)


# -- counting, and sums of cosines -------------------------------------------------------------------------


def factorial(n: Operand, exact: bool = False, extend: str = "zero") -> Arrays:
    """``gamma(n + 1)``, and 0 for negative n.

    >>> print(fg.scipy.special.factorial([3.0, 4.5]))
    [ 6.         52.34277778]
    """
    x = asoperand(n)
    if untraced(x):
        return LazyUfunc("scipy.special", "factorial")(x, exact=exact, extend=extend)
    if exact:
        raise unsupported("scipy.special.factorial with exact=True")
    if extend == "complex":
        return Special("gamma")(x + 1.0)
    if extend != "zero":
        raise ValueError("argument `extend` must be either 'zero' or 'complex', received: " + repr(extend))
    if aval(x).ndim and aval(x).dtype.kind == "f":
        x = cast(x, np.float64)  # as SciPy's: a number keeps its precision, and an array does not
    there = logical_not(less(x, 0))
    return where(there, Special("gamma")(where(there, x, 1.0) + 1.0), 0.0)


def perm(N: Operand, k: Operand, exact: bool = False) -> Arrays:
    """The number of ways to choose k of N things in order, and 0 where that makes no sense.

    >>> print(fg.scipy.special.perm(5, [2, 6]))
    [20.  0.]
    """
    n, m = asoperand(N), asoperand(k)
    if untraced(n, m):
        return LazyUfunc("scipy.special", "perm")(n, m, exact=exact)
    if exact:
        raise unsupported("scipy.special.perm with exact=True")
    inside = logical_and(logical_and(less_equal(m, n), greater_equal(n, 0)), greater_equal(m, 0))
    return where(inside, Special("poch")(n - m + 1.0, m), 0.0)


def diric(x: Operand, n: ArrayLike) -> Array:
    """Dirichlet's kernel, ``sin(n x / 2) / (n sin(x / 2))``, with its limits at the multiples of ``2 pi``.

    Where `n` is no positive integer it is NaN.

    >>> print(fg.scipy.special.diric([0.0, np.pi], 3))
    [ 1.         -0.33333333]
    """
    value, size = asoperand(x), asoperand(n)
    if untraced(value, size):
        return LazyUfunc("scipy.special", "diric")(value, size)
    if isinstance(size, Tracer):
        raise unsupported("scipy.special.diric with a traced n")
    whole_size = np.asarray(size)
    is_size = (whole_size > 0) & (whole_size == np.floor(whole_size))
    count = np.where(is_size, whole_size, 1)[()]
    turns = value / (2.0 * math.pi)
    whole = rint(turns)
    rest = turns - whole
    kernel = Sinc(0)(count * rest) / Sinc(0)(rest)
    signed = kernel * np.where(count % 2 == 1, 1.0, 1.0 - 2.0 * (whole % 2.0))
    return signed if np.all(is_size) else signed * np.where(is_size, 1.0, math.nan)
