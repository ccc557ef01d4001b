"""logsumexp, softmax and log_softmax: SciPy's results, and derivatives at infinities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special
from lawbook.agreement import assert_agrees

import funcgrad as fg
from funcgrad.scipy import special
from funcgrad.testing import check_grads

INF, NAN = math.inf, math.nan
POINTS: tuple[Any, ...] = (
    [1.0, 2.0],
    [-INF, -INF],
    [-INF, 1.0],
    [INF, 1.0],
    [INF, INF],
    [NAN, 1.0],
    [1000.0, 1000.5],
    [-1e4, -1e4 - 1],
    [0.0, -40.0],
    [[1.0, 2.0], [3.0, 4.0]],
    [1 + 2j, 3 - 1j, 2 + 9j],
    [1, 2, 3],
)


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_logsumexp_is_scipys(point: Any, axis: Any) -> None:
    x = np.array(point)
    for options in ({"axis": axis}, {"axis": axis, "keepdims": True}, {"axis": axis, "return_sign": True}):
        assert_agrees(
            lambda t, options=options: scipy.special.logsumexp(t, **options),
            x,
            ours=lambda t, options=options: special.logsumexp(t, **options),
            what=f"{options}",
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("b", [2.0, [1.0, 0.5, 0.0], [1.0, -0.5, 2.0], [-1.0, -2.0, 0.5]], ids=str)
def test_weighted_logsumexp_is_scipys(b: Any, dtype: Any) -> None:
    x = np.array([[1.0, 2.0, 0.5], [-3.0, -1.0, 4.0]], dtype)
    b = b if isinstance(b, float) else np.array(b, dtype)
    for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"axis": 1, "return_sign": True}):
        assert_agrees(
            lambda t, options=options: scipy.special.logsumexp(t, b=b, **options),
            x,
            ours=lambda t, options=options: special.logsumexp(t, b=b, **options),
            what=f"{options}",
        )


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("point", [p for p in POINTS[:-2] if INF not in p], ids=str)
def test_softmax_is_scipys(name: str, point: Any) -> None:
    for x in (np.array(point), np.array(point, np.float32)):
        for axis in (None, 0, -1):
            assert_agrees(
                lambda t, axis=axis: getattr(scipy.special, name)(t, axis=axis),
                x,
                ours=lambda t, axis=axis: getattr(special, name)(t, axis=axis),
                what=f"{name} of {x} over {axis}",
            )


def test_without_a_trace_scipy_answers() -> None:
    for name in ("logsumexp", "softmax", "log_softmax"):
        x = [[1, 2], [3, 4]]
        np.testing.assert_array_equal(
            getattr(special, name)(x, axis=1), getattr(scipy.special, name)(x, axis=1)
        )


def test_numpy_spells_it_logaddexp_reduce() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert_agrees(np.logaddexp.reduce, x)
    np.testing.assert_allclose(fg.grad(np.logaddexp.reduce)(x[0]), scipy.special.softmax(x[0]))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_derivatives(axis: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4))
    weights = rng.standard_normal((3, 4))
    check_grads(lambda t: special.logsumexp(t, axis=axis), (x,), order=3)
    check_grads(lambda t: special.softmax(t, axis=axis), (x,), order=3)
    check_grads(lambda t: special.log_softmax(t, axis=axis), (x,), order=3)
    check_grads(lambda t, b: special.logsumexp(t, axis=axis, b=b), (x, weights**2))
    check_grads(lambda t, b: special.logsumexp(t, axis=axis, b=b, return_sign=True)[0], (x, weights))
    check_grads(lambda t: special.logsumexp(t, axis=axis), (x + 1j * weights,))


@pytest.mark.parametrize(
    ("x", "gradient"),
    [
        ([-INF, -INF], [0.0, 0.0]),
        ([-INF], [0.0]),
        ([], []),
        ([-INF, 1.0, -INF], [0.0, 1.0, 0.0]),
        ([INF, 1.0, -INF], [1.0, 0.0, 0.0]),
        ([INF, 1.0, INF], [0.5, 0.0, 0.5]),
        ([1e300, 1e300], [0.5, 0.5]),
    ],
)
def test_gradient_at_infinities(x: Any, gradient: Any) -> None:
    f = special.logsumexp
    np.testing.assert_array_equal(fg.grad(f)(np.array(x)), gradient)
    if not np.any(np.isposinf(x)):
        np.testing.assert_array_equal(fg.grad(lambda t: f(t, b=1.0))(np.array(x)), gradient)
    second = fg.hessian(f)(np.array(x))
    assert np.all(np.isfinite(second))


def test_an_element_without_weight_leaks_nothing() -> None:
    """The logarithm of zero has no finite derivative, and adds nothing to the sum."""
    gradient = fg.grad(lambda t: special.logsumexp(np.log(t)))(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0.0, 0.5])
    weighted = fg.grad(lambda t: special.logsumexp(np.log(t), b=np.array([0.0, 1.0])))(np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(weighted, [0.0, 0.5])


def test_small_terms_beside_a_large_one_are_not_lost() -> None:
    x = np.array([0.0, -40.0])
    assert fg.make_program(special.logsumexp)(x)(x)[0] == pytest.approx(
        math.log1p(math.exp(-40.0)), rel=1e-15
    )


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_vmap_is_a_loop(name: str, rng: np.random.Generator) -> None:
    f = getattr(special, name)
    x = rng.standard_normal((3, 4))
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x])
    assert f"{name}" in str(fg.make_program(f)(x[0])), "one equation, not ten"
