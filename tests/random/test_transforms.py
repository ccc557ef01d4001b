"""The same numbers evaluated, recorded and batched; derivatives by parameters."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ops.random.gamma_path import path_slope
from funcgrad.testing import check_grads

R = fg.random
A = np.array([0.2, 1.0, 7.0])
DRAWS: dict[str, Any] = {
    "bits": lambda k: R.bits(k, (3,), np.uint16),
    "uniform": lambda k: R.uniform(k, (3,), np.float32, 1.0, 2.0),
    "normal": lambda k: R.normal(k, (5,)),
    "complex normal": lambda k: R.normal(k, (2,), complex),
    "half normal": lambda k: R.normal(k, (3, 3), np.float16),
    "one normal": R.normal,
    "long normal": lambda k: R.normal(k, (300,), np.float32),
    "exponential": R.exponential,
    "laplace": lambda k: R.laplace(k, (2,)),
    "logistic": lambda k: R.logistic(k, (2,)),
    "gumbel": lambda k: R.gumbel(k, (2,)),
    "cauchy": lambda k: R.cauchy(k, (2,)),
    "gamma": lambda k: R.gamma(k, A, (2, 3)),
    "beta": lambda k: R.beta(k, A, 2.0),
    "dirichlet": lambda k: R.dirichlet(k, A),
    "student_t": lambda k: R.student_t(k, A, dtype=np.float32),
    "poisson": lambda k: R.poisson(k, A * 5),
    "binomial": lambda k: R.binomial(k, 30, A / 8),
    "bernoulli": lambda k: R.bernoulli(k, A / 8),
    "rademacher": lambda k: R.rademacher(k, (4,)),
    "randint": lambda k: R.randint(k, (4,), 0, 10),
    "categorical": lambda k: R.categorical(k, A / 7, shape=(9,)),
    "permutation": lambda k: R.permutation(k, A),
    "choice": lambda k: R.choice(k, A, (4,)),
    "multivariate_normal": lambda k: R.multivariate_normal(k, A, np.diag(A)),
    "split": lambda k: R.split(k, 3),
    "fold_in": lambda k: R.fold_in(k, 3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers_in_every_way(name: str) -> None:
    draw = DRAWS[name]
    keys = R.split(R.key(11), 6)
    wanted = np.stack([draw(k) for k in keys])
    recorded = fg.make_program(draw)(keys[0])
    np.testing.assert_array_equal(recorded.evaluate(keys[0])[0], wanted[0])
    np.testing.assert_array_equal(draw(R.split(R.key(11), 6)[0]), wanted[0])
    compiled = fg.jit(draw)(keys[0])
    np.testing.assert_array_equal(compiled, wanted[0])
    assert compiled.dtype == wanted.dtype
    found = fg.vmap(draw)(keys)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    assert len({row.tobytes() for row in wanted}) > 1


def test_batched_parameters_share_the_key() -> None:
    key = R.key(4)
    for draw in (R.gamma, R.poisson, lambda k, a: R.uniform(k, (), maxval=a)):
        found = fg.vmap(lambda a, draw=draw: draw(key, a))(A)
        np.testing.assert_array_equal(found, [draw(key, a) for a in A])


SHAPES = [1e-3, 0.05, 0.5, 1.0, 3.0, 29.9, 30.0, 45.0, 1000.0]


@pytest.mark.parametrize("shape", SHAPES)
def test_implicit_derivative_of_gamma_samples(shape: float) -> None:
    """By mpmath, from -(dP/da)/(dP/dlog x), P being differentiated numerically with 40 digits."""
    samples = R.loggamma(R.key(0), shape, (4,))
    with mpmath.workdps(40):
        a, step = mpmath.mpf(shape), mpmath.mpf(shape) * mpmath.mpf(10) ** -13
        for at in samples:
            x = mpmath.exp(mpmath.mpf(float(at)))
            ends = (0, x) if x < a else (x, mpmath.inf)
            sign = 1 if x < a else -1
            above, below = (mpmath.gammainc(a + h, *ends, regularized=True) for h in (step, -step))
            density = mpmath.exp(a * mpmath.mpf(float(at)) - x - mpmath.loggamma(a))
            wanted = -sign * (above - below) / (2 * step) / density
            np.testing.assert_allclose(float(path_slope(shape, at)), float(wanted), rtol=1e-12)


def test_derivatives_of_gamma_samples_and_their_kin() -> None:
    key = R.key(3)
    logs = R.loggamma(key, A)
    slope = fg.grad(lambda a: np.sum(R.loggamma(key, a)))(A)
    np.testing.assert_allclose(slope, path_slope(A, logs))
    np.testing.assert_allclose(fg.grad(lambda a: np.sum(R.gamma(key, a)))(A), slope * np.exp(logs))
    first, second = R.split(key)
    x, y = R.gamma(first, A), R.gamma(second, 2.0, (3,))
    np.testing.assert_allclose(R.beta(key, A, 2.0), x / (x + y))
    by_a = fg.grad(lambda a: np.sum(R.beta(key, a, 2.0)))(A)
    np.testing.assert_allclose(by_a, y / (x + y) ** 2 * x * path_slope(A, np.log(x)))
    jacobian = fg.jacobian(lambda a: R.dirichlet(key, a))(A)
    np.testing.assert_allclose(np.sum(jacobian, axis=0), np.zeros(3), atol=1e-15)
    np.testing.assert_allclose(fg.jacfwd(lambda a: R.dirichlet(key, a))(A), jacobian)


@pytest.mark.parametrize("shape", [0.5, 4.0, 50.0])
def test_gradients_of_expectations(shape: float) -> None:
    """The mean of a gamma distribution of shape a is a, the mean of its square a (a + 1)."""

    def moments(a: Any) -> Any:
        x = R.gamma(R.key(0), a, (40_000,))
        return np.stack([np.mean(x), np.mean(x**2)])

    np.testing.assert_allclose(fg.jacobian(moments)(shape), [1.0, 2 * shape + 1], rtol=0.05)


@pytest.mark.parametrize("shape", [0.004, 0.3, 5.0, 80.0])
def test_second_derivatives_of_gamma_samples(shape: float) -> None:
    key, step = R.key(1), 1e-6 * shape
    at = float(R.loggamma(key, shape))

    def moved(by: float) -> float:
        # Where the sample goes when the shape moves by so much, by the midpoint rule.
        middle = at + by / 2 * path_slope(shape, at)
        return at + by * path_slope(shape + by / 2, middle)

    wanted = (path_slope(shape + step, moved(step)) - path_slope(shape - step, moved(-step))) / (2 * step)
    found = fg.grad(fg.grad(lambda a: R.loggamma(key, a)))(shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_location_and_scale_are_differentiated() -> None:
    key = R.key(9)
    check_grads(lambda low, high: R.uniform(key, (4,), minval=low, maxval=high), (0.5, 2.0))
    check_grads(lambda m, s: m + s * R.normal(key, (4,)), (0.5, 2.0))
    check_grads(lambda s, c: R.weibull_min(key, s, c, (4,)), (2.0, 1.5))
    for draw in (R.lognormal, R.pareto, R.rayleigh):
        check_grads(lambda a, draw=draw: draw(key, a, (4,)), (1.3,))
    cov = np.array([[2.0, 0.6], [0.6, 0.5]])
    check_grads(lambda m, c: R.multivariate_normal(key, m, (c + c.T) / 2, (3,)), (np.ones(2), cov))


def test_bounds_of_truncated_normal_samples_are_differentiated() -> None:
    key = R.key(9)
    for bounds in ((-1.0, 0.7), (3.0, 4.0), (-60.0, -59.5)):
        check_grads(lambda low, high: R.truncated_normal(key, low, high, (4,)), bounds)
    check_grads(lambda high: R.truncated_normal(key, -np.inf, high, (4,)), (0.5,))


@pytest.mark.peers("jax")
def test_gamma_derivatives_are_jaxs() -> None:
    import jax

    shapes = np.array([0.3, 2.0, 15.0])
    samples = R.gamma(R.key(0), shapes)
    theirs = jax.lax.random_gamma_grad(shapes, samples)
    np.testing.assert_allclose(fg.grad(lambda a: np.sum(R.gamma(R.key(0), a)))(shapes), theirs, rtol=1e-5)
