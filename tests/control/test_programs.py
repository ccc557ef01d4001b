"""Loops as people write them: an oscillator integrated and fitted, an equation solved, a filter run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads

STEPS, DT = 1000, 0.02


def rk4_step(state: Any, mu: Any) -> Any:
    """One step of the Van der Pol oscillator by the classical Runge-Kutta method."""

    def slope(x: Any, v: Any) -> Any:
        return v, mu * (1.0 - x * x) * v - x

    x, v = state
    a = slope(x, v)
    b = slope(x + DT / 2 * a[0], v + DT / 2 * a[1])
    c = slope(x + DT / 2 * b[0], v + DT / 2 * b[1])
    d = slope(x + DT * c[0], v + DT * c[1])
    return tuple(
        [s + DT / 6 * (p + 2.0 * q + 2.0 * r + t) for s, p, q, r, t in zip(state, a, b, c, d, strict=True)]
    )


def by_scan(mu: Any, x: Any) -> Any:
    def step(state: Any, _: None) -> Any:
        state = rk4_step(state, mu)
        return state, state[0]

    return lax.scan(step, (x, 0.0), None, length=STEPS)


def by_while(mu: Any, x: Any) -> Any:
    def step(carry: Any) -> Any:
        k, state = carry
        return k + 1, rk4_step(state, mu)

    return lax.while_loop(lambda carry: carry[0] < STEPS, step, (0, (x, 0.0)))[1]


def by_python(mu: Any, x: Any) -> Any:
    state = (x, 0.0)
    for _ in range(STEPS):
        state = rk4_step(state, mu)
    return state


def test_van_der_pol_over_a_thousand_steps() -> None:
    def end(solve: Any) -> Any:
        def loss(mu: Any, x: Any) -> Any:
            state = solve(mu, x)
            return state[0] ** 2 + state[1]

        return fg.value_and_grad(loss, (0, 1))

    expected = end(by_python)(1.5, 0.8)
    for solve in (lambda mu, x: by_scan(mu, x)[0], by_while):
        found = end(solve)(1.5, 0.8)
        for a, b in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


def test_van_der_pol_fitted_to_a_trajectory() -> None:
    """Gauss-Newton steps on both parameters, with derivatives along the whole trajectory."""
    measured = by_scan(1.5, 0.8)[1]

    def residuals(p: Any) -> Any:
        return by_scan(p[0], p[1])[1] - measured

    p = np.array([1.4, 0.82])
    for _ in range(6):
        jacobian = fg.jacfwd(residuals)(p)
        p = p - np.linalg.lstsq(jacobian, residuals(p), rcond=None)[0]
    np.testing.assert_allclose(p, [1.5, 0.8], rtol=1e-8)
    gradient = fg.grad(lambda p: np.sum(residuals(p) ** 2))
    np.testing.assert_allclose(gradient(p), [0.0, 0.0], atol=1e-6)


def test_implicit_newton_with_a_matrix() -> None:
    """The solution of ``y + a tanh(b y) = c``, whose derivatives the implicit function theorem gives."""
    b = np.array([[0.5, 0.3], [-0.2, 0.8]])

    def equation(y: Any, a: Any, c: Any) -> Any:
        return y + a * np.tanh(b @ y) - c

    def solve(a: Any, c: Any) -> Any:
        def off(y: Any) -> Any:
            return np.sum(equation(y, a, c) ** 2) > 1e-26

        def newton(y: Any) -> Any:
            slopes = np.eye(2) + a[:, None] * (1.0 - np.tanh(b @ y) ** 2)[:, None] * b
            (p, q), (r, s) = slopes
            first, second = equation(y, a, c)
            inverse = fg.numpy.stack([s * first - q * second, p * second - r * first])
            return y - inverse / (p * s - q * r)

        return lax.while_loop(off, newton, c)

    a, c = np.array([0.7, 0.4]), np.array([1.0, -0.5])
    y = solve(a, c)
    np.testing.assert_allclose(equation(y, a, c), [0.0, 0.0], atol=1e-12)
    by_y = fg.jacrev(equation)(y, a, c)
    expected = -np.linalg.solve(by_y, fg.jacrev(equation, 1)(y, a, c))
    np.testing.assert_allclose(fg.jacrev(solve)(a, c), expected, rtol=1e-8)
    np.testing.assert_allclose(fg.jacfwd(solve)(a, c), expected, rtol=1e-8)
    check_grads(solve, (a, c), order=2)


def test_kalman_filter() -> None:
    """The likelihood of a local level model, by `scan`, and its gradient by both variances."""
    data = np.random.default_rng(5).normal(size=50).cumsum()

    def negative_log_likelihood(log_variances: Any) -> Any:
        level, noise = np.exp(log_variances[0]), np.exp(log_variances[1])

        def step(state: Any, y: Any) -> Any:
            mean, variance = state
            predicted = variance + level
            total = predicted + noise
            gain = predicted / total
            error = y - mean
            return (mean + gain * error, (1.0 - gain) * predicted), np.log(total) + error**2 / total

        _, terms = lax.scan(step, (0.0, 10.0), data)
        return 0.5 * np.sum(terms)

    check_grads(negative_log_likelihood, (np.array([0.1, -0.3]),), order=2)


def test_viterbi_has_integers_and_reals() -> None:
    """The best path through states: a forward scan of scores and a backward scan of choices."""
    rng = np.random.default_rng(6)
    scores, moves = rng.normal(size=(8, 3)), rng.normal(size=(3, 3))

    def best(scores: Any, moves: Any) -> Any:
        def forward(best: Any, row: Any) -> Any:
            through = best[:, None] + moves
            return np.max(through, axis=0) + row, np.argmax(through, axis=0)

        final, choices = lax.scan(forward, scores[0], scores[1:])
        last = np.argmax(final)
        _, path = lax.scan(lambda s, row: (row[s], s), last, choices, reverse=True)
        return np.max(final), path

    value, path = best(scores, moves)
    gradient = fg.grad(lambda scores: best(scores, moves)[0])(scores)
    whole = gradient.argmax(axis=1)
    np.testing.assert_array_equal(
        gradient, np.eye(3)[whole], "the score of each state on the best path counts once"
    )
    np.testing.assert_array_equal(path, whole[1:])
    along = sum(moves[a, b] for a, b in pairwise(whole))
    np.testing.assert_allclose(value, np.sum(gradient * scores) + along)
