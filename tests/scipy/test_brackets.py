"""Brackets that are narrowed together: in native code as by NumPy, with SciPy's numbers and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import funcgrad as fg
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.errors import NotDifferentiableError, UnsupportedFunctionError
from funcgrad.scipy.optimize import brentq

A = np.linspace(1.0, 5.0, 1500)


def off(x: Any, a: Any) -> Any:
    """A function with one root between 0 and 10."""
    return x**3 - a * np.cos(x)


def root(a: Any) -> Any:
    """The root for a parameter."""
    return brentq(lambda x: off(x, a), 0.0, 10.0)


def test_compiled_roots_are_scipys_and_their_loop_is_native() -> None:
    both = fg.jit(fg.vmap(fg.value_and_grad(root)))
    found, slopes = both(A)
    expected = np.array([scipy.optimize.brentq(off, 0.0, 10.0, args=(a,)) for a in A])
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-12)
    np.testing.assert_allclose(
        slopes, np.cos(expected) / (3.0 * expected**2 + A * np.sin(expected)), rtol=1e-9
    )
    assert "parallel(lanes" in both.kernel_source(A)
    executable = both.specialized(A).executable
    assert (len(executable.kernels), executable.reasons) == (1, [])


@pytest.mark.parametrize("f", [lambda x: x**3, np.cbrt], ids=["flat", "upright"])
def test_one_root_of_many_without_a_slope_is_an_error(f: Any) -> None:
    slopes = fg.vmap(fg.grad(lambda a: brentq(lambda x: f(x) - a, -1.0, 1.0)))
    compiled = fg.jit(slopes)
    np.testing.assert_allclose(compiled(np.array([0.5, -0.3, 0.2])), slopes(np.array([0.5, -0.3, 0.2])))
    with pytest.raises(NotDifferentiableError, match="Jacobian of the equations behind brentq is singular"):
        compiled(np.array([0.5, 0.0, 0.2]))


def test_the_slope_of_what_is_no_root_is_an_error() -> None:
    compiled = fg.jit(fg.vmap(fg.grad(lambda a: narrowed(a, 0.0, 3, False)[0])))
    with pytest.raises(NotDifferentiableError, match="brentq has not found a solution"):
        compiled(A[:3])


def test_any_number_of_threads_finds_the_same() -> None:
    both = fg.jit(fg.vmap(fg.value_and_grad(root)))
    before = threads()
    try:
        set_threads(1)
        alone = both(A)
        set_threads(3)
        for one, three in zip(alone, both(A), strict=True):
            np.testing.assert_array_equal(one, three)
    finally:
        set_threads(before)


def narrowed(a: Any, low: Any, maxiter: int, disp: bool) -> Any:
    """The root and whether the search converged, with what it may take."""
    x, told = brentq(lambda x: off(x, a), low, 10.0, maxiter=maxiter, full_output=True, disp=disp)
    return x, told.converged, told.iterations, told.function_calls


def test_a_search_that_is_cut_short_ends_where_scipys_does() -> None:
    def found(a: Any) -> Any:
        return narrowed(a, 0.0, 5, False)

    batch = fg.vmap(found)(A[:3])
    compiled = fg.jit(fg.vmap(found))(A[:3])
    for k, a in enumerate(A[:3]):
        x, told = scipy.optimize.brentq(off, 0.0, 10.0, args=(a,), maxiter=5, full_output=True, disp=False)
        for got in (batch, compiled):
            np.testing.assert_allclose(got[0][k], x, rtol=1e-12)
            assert [g[k] for g in got[1:]] == [told.converged, told.iterations, told.function_calls]


@pytest.mark.parametrize(
    ("low", "maxiter", "error", "words"),
    [
        (9.0, 100, ValueError, "must have different signs"),
        (np.nan, 100, ValueError, "The function value at x is NaN"),
        (0.0, 3, RuntimeError, "Failed to converge after 3 iterations"),
    ],
)
def test_one_bracket_of_many_that_fails_is_an_error(low: float, maxiter: int, error: Any, words: str) -> None:
    lows = np.where(np.arange(3) == 1, low, 0.0)

    def found(a: Any, low: Any) -> Any:
        return narrowed(a, low, maxiter, True)[0]

    for batched in (fg.vmap(found), fg.jit(fg.vmap(found))):
        with pytest.raises(error, match=words):
            batched(A[:3], lows)


def broken(x: Any, a: Any) -> Any:
    """Not a number around its root."""
    return np.where(abs(x - a) < 0.1, np.nan, x - a)


def test_a_value_inside_that_is_not_a_number_is_an_error() -> None:
    found = fg.vmap(lambda a: brentq(lambda x: broken(x, a), -1.0, 2.0))
    for search in (found, fg.jit(found)):
        with pytest.raises(ValueError, match="The function value at x is NaN"):
            search(np.array([0.31, 0.52]))


def test_steps_are_counted_as_scipy_counts_them() -> None:
    batch = fg.vmap(lambda low: narrowed(2.0, low, 100, True))
    lows = np.array([0.0, 0.5, scipy.optimize.brentq(off, 0.0, 10.0, args=(2.0,))])
    for search in (batch, fg.jit(batch)):
        found = search(lows)
        for k, low in enumerate(lows):
            _, told = scipy.optimize.brentq(off, low, 10.0, args=(2.0,), full_output=True)
            assert [x[k] for x in found[2:]] == [told.iterations, told.function_calls]


@pytest.mark.parametrize("options", [{"xtol": 0.0}, {"rtol": 1e-20}, {"maxiter": -1}])
def test_limits_that_scipy_refuses_are_refused_for_batches(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        fg.vmap(lambda a: brentq(lambda x: off(x, a), 0.0, 10.0, **options))(A[:3])


def test_a_traced_limit_is_named_with_what_to_do() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"(?s)no traced xtol.*static_argnames"):
        fg.jit(lambda a, t: brentq(lambda x: off(x, a), 0.0, 10.0, xtol=t))(2.0, 1e-9)


def test_a_function_without_a_native_form_is_left_to_numpy() -> None:
    def inner(a: Any) -> Any:
        return brentq(lambda x: x - fg.scipy.integrate.quad(lambda t: t + a, 0.0, 1.0)[0], 0.0, 10.0)

    np.testing.assert_allclose(fg.jit(fg.vmap(inner))(A[:3]), A[:3] + 0.5, rtol=1e-9)
