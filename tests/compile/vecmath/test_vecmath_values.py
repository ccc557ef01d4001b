"""Special values: zeros and their signs, infinities, NaN, denormal numbers, and where results overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad.compile.vecmath.registry import FUNCTIONS

DTYPES = (np.float64, np.float32)

# NumPy and SciPy are the reference for these, except where they are less exact.
SCIPY = {"logistic": "expit", "digamma": "psi"}


def evaluated(name: str, *values: Any) -> Any:
    """The function of NumPy or SciPy."""
    import scipy.special

    function = getattr(np, name, None) or getattr(scipy.special, SCIPY.get(name, name))
    with np.errstate(all="ignore"):
        wide = values if name == "nextafter" else [v.astype(np.float64) for v in values]
        return function(*wide).astype(values[0].dtype)


def specials(dtype: Any) -> Any:
    """Numbers at which functions have limits or change their form."""
    info = np.finfo(dtype)
    small = [info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny / 2, info.tiny, info.eps]
    plain = [0.0, 0.5, 1 - info.epsneg, 1.0, 1 + info.eps, 2.0, 8.0, 10.0, 1e3, 1e4, info.max, np.inf]
    sizes = np.array(small + plain, dtype)
    return np.concatenate([sizes, -sizes, np.array([np.nan], dtype)])


def disagree(got: Any, expected: Any) -> Any:
    """Where two arrays differ in kind, in sign (that of zero too), or by more than a few units."""
    with np.errstate(all="ignore"):
        close = np.abs(got - expected) <= 4 * np.spacing(np.abs(expected))
    alike = ((got == expected) | close) & (np.signbit(got) == np.signbit(expected))
    return ~(alike | (np.isnan(got) & np.isnan(expected)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n, (_, arity) in FUNCTIONS.items() if arity == 1])
def test_one_argument(name: str, dtype: Any, apply: Any) -> None:
    x = specials(dtype)
    # Where SciPy overflows too early, or loses digits or the sign of a zero.
    if name in ("gammaln", "digamma"):
        x = x[~((np.abs(x) < 1e-30) & (x != 0)) & (np.abs(np.abs(x) - 1) > 1e-5)]
    if name in ("ndtr", "log_ndtr"):
        x = x[~((np.abs(x) > 6) & (np.abs(x) < 40))]
    x = x[~((x == 0) & np.signbit(x))] if name == "erfinv" else x
    got, expected = apply(name, x), evaluated(name, x)
    wrong = disagree(got, expected)
    assert not wrong.any(), (x[wrong], got[wrong], expected[wrong])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", [n for n, (module, arity) in FUNCTIONS.items() if arity == 2 and module != "complexes"]
)
def test_two_arguments(name: str, dtype: Any, apply: Any) -> None:
    odd = np.array([-3.0, -2.5, 3.0, 2.0**24 - 1, 2.0**53], dtype)
    values = np.concatenate([specials(dtype), odd])
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    got, expected = apply(name, x, y), evaluated(name, x, y)
    if name.startswith("logadd"):
        # Where the terms cancel only the absolute error is small.
        keep = ~(np.abs(expected) < 0.1)
        x, y, got, expected = x[keep], y[keep], got[keep], expected[keep]
    wrong = disagree(got, expected)
    assert not wrong.any(), (x[wrong], y[wrong], got[wrong], expected[wrong])


def test_overflow_and_underflow_happen_where_they_should(apply: Any) -> None:
    edges = np.array([709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412])
    top, over, bottom, under = apply("exp", edges)
    assert (top > 1.797e308, over, bottom, under) == (True, np.inf, 5e-324, 0.0)
    assert np.isinf(apply("cosh", np.array([710.4758600739439, 710.475860073944]))).tolist() == [False, True]


def test_powers_of_two_and_of_ten_are_exact(apply: Any) -> None:
    n = np.arange(-1074.0, 1024.0)
    np.testing.assert_array_equal(apply("exp2", n), np.ldexp(1.0, n.astype(int)))
    np.testing.assert_array_equal(apply("log2", np.ldexp(1.0, n.astype(int))), n)
    ten = np.arange(0.0, 23.0)
    np.testing.assert_array_equal(apply("log10", 10.0**ten), ten)
    np.testing.assert_array_equal(apply("pow", np.full(23, 10.0), ten), [float(f"1e{int(t)}") for t in ten])
    np.testing.assert_array_equal(apply("cbrt", n**3), n)
