"""Hypergeometric functions and orthogonal polynomials, by their last argument: shifts of the parameters.

DLMF 13.3.15, 15.5.1, 16.3.1, 18.9.
"""

from __future__ import annotations

import numpy as np

from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.comparison import equal, greater
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.ops.specials.table import Evaluated, Special, define
from funcgrad.types import Array

PARAMETERS = ("the parameter a", "the parameter b", "the parameter c")


def hyp0f1_by_z(out: Array, v: Array, z: Array) -> Array:
    """``0F1(v + 1; z) / v``."""
    return hyp0f1(v + 1.0, z) / v


def hyp1f1_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """``a / b 1F1(a + 1; b + 1; x)``, 0 where a is 0, as the function is constant."""
    return strong_zero_mul(a / b, hyp1f1(a + 1.0, b + 1.0, x))


def hyp2f1_by_z(out: Array, a: Array, b: Array, c: Array, z: Array) -> Array:
    """``a b / c 2F1(a + 1, b + 1; c + 1; z)``, 0 where a or b is 0, also at the pole at 1."""
    return strong_zero_mul(a * b / c, hyp2f1(a + 1.0, b + 1.0, c + 1.0, z))


def hyperu_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """``-a U(a + 1, b + 1, x)``, 0 where a is 0, also at the pole at 0."""
    return strong_zero_mul(-a, tricomi(a + 1.0, b + 1.0, x))


def right_at_zero(a: Array, b: Array, x: Array) -> Array:
    """``U(a, b, x)``, right at 0 for polynomials, too, where SciPy says infinity if b > 1. DLMF 13.2.7."""
    found = HYPERU(a, b, x)
    ends = (x == 0.0) & (a <= 0.0) & (a == np.floor(a))
    if not np.any(ends):
        return found
    degree_there = np.where(ends, -a, 0.0)
    return np.where(ends, np.cos(np.pi * degree_there) * POCH(b, degree_there), found).astype(found.dtype)


HYPERU, POCH = LazyUfunc("scipy.special", "hyperu", 3), LazyUfunc("scipy.special", "poch", 2)

hyp0f1 = define("hyp0f1", "the parameter v", hyp0f1_by_z)
hyp1f1 = define("hyp1f1", *PARAMETERS[:2], hyp1f1_by_x)
hyp2f1 = define("hyp2f1", *PARAMETERS, hyp2f1_by_z)
hyperu = define("hyperu", *PARAMETERS[:2], hyperu_by_x, addressed=False)  # comparing it takes 0.3 s
tricomi = define("tricomi", *PARAMETERS[:2], hyperu_by_x, ufunc=Evaluated("tricomi", right_at_zero, HYPERU))


# -- orthogonal polynomials --------------------------------------------------------------------------------

DEGREE = "the degree"


def eval_jacobi_by_x(out: Array, n: Array, alpha: Array, beta: Array, x: Array) -> Array:
    """``(n + alpha + beta + 1) / 2`` times that of degree ``n - 1`` and parameters larger by 1."""
    return 0.5 * (degree(n, x) + (alpha + beta + 1.0)) * below(eval_jacobi, n, alpha + 1.0, beta + 1.0, x)


def eval_gegenbauer_by_x(out: Array, n: Array, alpha: Array, x: Array) -> Array:
    """``2 alpha`` times that of degree ``n - 1`` and parameter ``alpha + 1``."""
    return 2.0 * alpha * below(eval_gegenbauer, n, alpha + 1.0, x)


def eval_genlaguerre_by_x(out: Array, n: Array, alpha: Array, x: Array) -> Array:
    """Minus that of degree ``n - 1`` and parameter ``alpha + 1``."""
    return -below(eval_genlaguerre, n, alpha + 1.0, x)


def eval_legendre_by_x(out: Array, n: Array, x: Array) -> Array:
    """``(n + 1) / 2`` times Jacobi's of degree ``n - 1`` and parameters 1."""
    return 0.5 * (degree(n, x) + 1.0) * below(eval_jacobi, n, 1.0, 1.0, x)


def eval_laguerre_by_x(out: Array, n: Array, x: Array) -> Array:
    """Minus the generalised one of degree ``n - 1`` and parameter 1."""
    return -below(eval_genlaguerre, n, 1.0, x)


def eval_chebyt_by_x(out: Array, n: Array, x: Array) -> Array:
    """``n`` times that of the second kind of degree ``n - 1``."""
    return degree(n, x) * below(eval_chebyu, n, x)


def eval_chebyu_by_x(out: Array, n: Array, x: Array) -> Array:
    """Twice Gegenbauer's of degree ``n - 1`` and parameter 2."""
    return 2.0 * below(eval_gegenbauer, n, 2.0, x)


def eval_hermite_by_x(out: Array, n: Array, x: Array) -> Array:
    """``2 n`` times that of degree ``n - 1``."""
    return 2.0 * degree(n, x) * eval_hermite(lower(n), x)


def eval_hermitenorm_by_x(out: Array, n: Array, x: Array) -> Array:
    """``n`` times that of degree ``n - 1``."""
    return degree(n, x) * eval_hermitenorm(lower(n), x)


def degree(n: Array, x: Array) -> Array:
    """The degree in the dtype of x."""
    return n.astype(aval(x).dtype)


def below(polynomial: Special, n: Array, *arguments: Array) -> Array:
    """The polynomial of the degree below, and 0 below 0: SciPy has there what is no polynomial, NaN at -1."""
    lowest = equal(n, 0)
    return where(lowest, 0.0, polynomial(where(lowest, 0, n - 1), *arguments))


def lower(n: Array) -> Array:
    """The degree below, and 0 below 0, where the factor is 0 and SciPy has no polynomial."""
    return where(greater(n, 0), n - 1, 0)


PARAMETER = "the parameter alpha"
eval_jacobi = define("eval_jacobi", DEGREE, PARAMETER, "the parameter beta", eval_jacobi_by_x)
eval_gegenbauer = define("eval_gegenbauer", DEGREE, PARAMETER, eval_gegenbauer_by_x)
eval_genlaguerre = define("eval_genlaguerre", DEGREE, PARAMETER, eval_genlaguerre_by_x)
eval_legendre = define("eval_legendre", DEGREE, eval_legendre_by_x)
eval_laguerre = define("eval_laguerre", DEGREE, eval_laguerre_by_x)
eval_chebyt = define("eval_chebyt", DEGREE, eval_chebyt_by_x)
eval_chebyu = define("eval_chebyu", DEGREE, eval_chebyu_by_x)
eval_hermite = define("eval_hermite", DEGREE, eval_hermite_by_x)
eval_hermitenorm = define("eval_hermitenorm", DEGREE, eval_hermitenorm_by_x)
