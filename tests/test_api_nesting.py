"""Transforms inside transforms: high orders, captured outer values, and no confused perturbations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from funcgrad import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_program,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.errors import EscapedTracerError

Derivative = Callable[[Callable[..., Any]], Callable[[Any], Any]]


def by_grad(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return grad(f)


def by_jvp(f: Callable[..., Any]) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        return jvp(f, (x,), (1.0,))[1]

    return derivative


def by_vjp(f: Callable[..., Any]) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        return vjp(f, x)[1](1.0)[0]

    return derivative


def by_linearize(f: Callable[..., Any]) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        return linearize(f, x)[1](1.0)

    return derivative


def by_jacfwd(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return jacfwd(f)


def by_jacrev(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return jacrev(f)


def by_vmap(f: Callable[..., Any]) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        return vmap(grad(f))(np.stack([x, x]))[1]

    return derivative


WAYS: list[Derivative] = [by_grad, by_jvp, by_vjp, by_linearize, by_jacfwd, by_jacrev, by_vmap]
PAIRS = list(itertools.product(WAYS, repeat=2))
pairs = pytest.mark.parametrize(
    ("outer", "inner"), PAIRS, ids=[f"{a.__name__}-{b.__name__}" for a, b in PAIRS]
)


# -- high orders -------------------------------------------------------------------------------


def tanh_derivative(x: float, order: int) -> float:
    """As a polynomial in t = tanh(x), whose own derivative is 1 - t^2."""
    polynomial = Polynomial([0.0, 1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() * Polynomial([1.0, 0.0, -1.0])
    return float(polynomial(np.tanh(x)))


FIVE = list(itertools.product([by_grad, by_jvp], repeat=5))


@pytest.mark.parametrize("ways", FIVE, ids=["-".join(way.__name__[3:] for way in ways) for ways in FIVE])
def test_fifth_derivative_of_tanh(ways: tuple[Derivative, ...]) -> None:
    f: Callable[[Any], Any] = np.tanh
    for order, way in enumerate(ways, start=1):
        f = way(f)
        np.testing.assert_allclose(f(0.7), tanh_derivative(0.7, order), rtol=1e-10)


@pairs
def test_second_derivative(outer: Derivative, inner: Derivative) -> None:
    f = outer(inner(lambda x: np.sin(x) * x**2))
    x = 0.8
    expected = -np.sin(x) * x**2 + 4.0 * x * np.cos(x) + 2.0 * np.sin(x)
    np.testing.assert_allclose(f(x), expected, rtol=1e-12)


def test_tenth_derivative_of_a_polynomial() -> None:
    f: Callable[[Any], Any] = lambda x: x**10  # noqa: E731 - replaced in the loop
    for _ in range(10):
        f = grad(f)
    assert f(1.5) == 3628800.0


def test_third_derivative_by_other_arguments() -> None:
    def f(x: Any, y: Any) -> Any:
        return x**3 * y**2

    assert grad(grad(grad(f, 0), 1), 0)(2.0, 3.0) == 6.0 * 2.0 * 2.0 * 3.0


# -- captured values ---------------------------------------------------------------------------


@pairs
def test_inner_derivative_of_a_sum(outer: Derivative, inner: Derivative) -> None:
    """d/dx (x * d/dy (x + y)) is 1; confusing the two perturbations gives 2."""
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@pairs
def test_inner_derivative_of_a_product(outer: Derivative, inner: Derivative) -> None:
    """d/dx (x * d/dy (x * y)) at any y is 2 x."""
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


@pairs
def test_inner_derivative_at_the_outer_point(outer: Derivative, inner: Derivative) -> None:
    """d/dx (x * (d/dy (x * y^2) at y = x)) = d/dx (2 x^3) = 6 x^2."""
    np.testing.assert_allclose(outer(lambda x: x * inner(lambda y: x * y**2)(x))(2.0), 24.0)


@pairs
def test_inner_function_ignores_its_argument(outer: Derivative, inner: Derivative) -> None:
    assert outer(lambda x: inner(lambda y: x)(1.0) + x)(2.0) == 1.0


@pairs
def test_function_returned_from_a_derivative(outer: Derivative, inner: Derivative) -> None:
    """The example of Manzyuk et al.: a differentiated curried shift keeps no perturbation."""

    def shift(x: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        return lambda f: lambda y: f(x + y)

    def shifted_slope(f: Callable[[Any], Any], y: Any) -> Any:
        return outer(lambda x: shift(x)(f)(y))(0.0)

    np.testing.assert_allclose(shifted_slope(inner(np.exp), 1.0), np.exp(1.0))


def test_three_levels_with_captures_of_each() -> None:
    def f(x: Any) -> Any:
        def g(y: Any) -> Any:
            return grad(lambda z: x * y**2 * z**3)(y) * x

        return grad(g)(x) * x

    # grad over z at y: 3 x y^4; times x: 3 x^2 y^4; by y at x: 12 x^5; times x: 12 x^6; slope 72 x^5.
    np.testing.assert_allclose(grad(f)(1.5), 72.0 * 1.5**5)


def test_value_and_grad_inside_grad() -> None:
    def f(x: Any) -> Any:
        value, slope = value_and_grad(lambda y: np.sin(y) * x)(x)
        return value * slope

    x = 0.6
    expected = grad(lambda x: np.sin(x) * x * np.cos(x) * x)(x)
    np.testing.assert_allclose(grad(f)(x), expected)


def test_jvp_along_an_outer_value() -> None:
    def f(x: Any) -> Any:
        return jvp(np.sin, (x,), (x**2,))[1]

    x = 0.9
    np.testing.assert_allclose(grad(f)(x), -np.sin(x) * x**2 + 2.0 * x * np.cos(x))


def test_pullback_of_an_outer_cotangent() -> None:
    def f(x: Any) -> Any:
        _, pullback = vjp(lambda y: y**3, 2.0)
        return pullback(x)[0] * x

    assert grad(f)(5.0) == 2 * 12.0 * 5.0


def test_pullback_made_outside_used_inside() -> None:
    _, pullback = vjp(lambda y: y**3, 2.0)
    assert grad(lambda x: pullback(x)[0])(1.0) == 12.0
    np.testing.assert_array_equal(vmap(lambda b: pullback(b)[0])(np.arange(3.0)), 12.0 * np.arange(3.0))


def test_linear_map_made_outside_used_inside() -> None:
    _, push = linearize(np.sin, 0.0)
    assert grad(push)(1.0) == 1.0


def test_outer_arrays_inside_an_inner_gradient() -> None:
    W = np.arange(6.0).reshape(2, 3)

    def f(x: Any) -> Any:
        return np.sum(grad(lambda y: np.sum((W @ y) ** 2 * np.sum(x)))(x))

    x = np.array([1.0, -1.0, 0.5])
    expected = np.sum(2.0 * W.T @ W @ x) + np.sum(x) * np.sum(2.0 * W.T @ W, axis=0)
    np.testing.assert_allclose(grad(f)(x), expected)


# -- vmap among derivatives --------------------------------------------------------------------


def test_vmap_of_grad_that_captures_the_example() -> None:
    xs = np.array([1.0, 2.0, 3.0])
    found = vmap(lambda x: grad(lambda y: x * y**2)(x))(xs)
    np.testing.assert_allclose(found, 2.0 * xs**2)


def test_grad_of_vmap() -> None:
    x = np.array([1.0, 2.0, 3.0])
    found = grad(lambda w: np.sum(vmap(lambda xi: np.sin(w * xi))(x)))(0.5)
    np.testing.assert_allclose(found, np.sum(x * np.cos(0.5 * x)))


def test_grad_of_vmap_of_grad() -> None:
    x = np.array([0.1, 0.2])
    found = grad(lambda x: np.sum(vmap(grad(np.sin))(x)))(x)
    np.testing.assert_allclose(found, -np.sin(x))


def test_vmap_of_vmap_of_grad_of_grad() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(vmap(vmap(grad(grad(np.sin))))(x), -np.sin(x))


def test_hessian_by_vmapped_hvp() -> None:
    x = np.array([0.3, -0.7])

    def f(x: Any) -> Any:
        return np.sum(np.exp(x)) * np.sum(x**2)

    found = vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(np.eye(2))
    np.testing.assert_allclose(found, hessian(f)(x))


def test_vmapped_hessian() -> None:
    xs = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = vmap(hessian(lambda x: x[0] ** 2 * x[1]))(xs)
    for x, h in zip(xs, found, strict=True):
        np.testing.assert_allclose(h, [[2.0 * x[1], 2.0 * x[0]], [2.0 * x[0], 0.0]])


def test_per_example_gradients() -> None:
    X, y, w = np.eye(3), np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.5, 0.5])

    def loss(w: Any, x: Any, y: Any) -> Any:
        return (np.dot(w, x) - y) ** 2

    found = vmap(grad(loss), in_axes=(None, 0, 0))(w, X, y)
    np.testing.assert_allclose(found, 2.0 * (X @ w - y)[:, None] * X)


def test_program_of_a_gradient_of_a_gradient() -> None:
    program = make_program(grad(grad(lambda x: np.sin(x) * x)))(0.5)
    (value,) = program(0.5)
    np.testing.assert_allclose(value, 2.0 * np.cos(0.5) - 0.5 * np.sin(0.5))


def test_checkpoint_inside_every_derivative() -> None:
    f = checkpoint(lambda x: np.sin(np.sin(x)))
    for way in WAYS:
        np.testing.assert_allclose(way(f)(0.5), np.cos(np.sin(0.5)) * np.cos(0.5))


# -- tracers where they do not belong ----------------------------------------------------------


def test_inner_tracer_kept_by_the_outer_function() -> None:
    def f(x: Any) -> Any:
        kept = []
        grad(lambda y: kept.append(y * 2.0) or y * x)(1.0)
        return kept[0] * x

    with pytest.raises(EscapedTracerError):
        grad(f)(1.0)


def test_tracer_used_after_its_trace() -> None:
    kept: list[Any] = []
    grad(lambda x: kept.append(x * 2.0) or x)(1.0)
    with pytest.raises(EscapedTracerError):
        kept[0] + 1.0
    with pytest.raises(EscapedTracerError):
        np.sin(kept[0])
    with pytest.raises(EscapedTracerError):
        grad(lambda x: x * kept[0])(1.0)
    assert "escaped" in repr(kept[0])


def test_tracer_of_vmap_used_after_its_trace() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(np.ones(2))
    with pytest.raises(EscapedTracerError):
        kept[0] * 2.0


def test_tracer_returned_by_side_effect_and_given_to_another_trace() -> None:
    kept: list[Any] = []
    vjp(lambda x: kept.append(x) or x * 2.0, 1.0)
    with pytest.raises(EscapedTracerError):
        vjp(lambda x: x * kept[0], 1.0)
