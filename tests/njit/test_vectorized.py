"""``numba.vectorize`` and ``guvectorize`` under transforms."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import funcgrad as fg

X = np.random.default_rng(3).normal(size=(4, 3))


@numba.vectorize
def softplus(x, a):
    if x > 0:
        return x + math.log1p(math.exp(-a * x)) / a
    return math.log1p(math.exp(a * x)) / a


@numba.vectorize(["float64(float64, float64)"], nopython=True)
def weighted(x, y):
    return x * y * y


@numba.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def filtered(x, a, out):
    held = x[0]
    for i in range(x.shape[0]):
        held = a * held + (1 - a) * x[i]
        out[i] = held


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def product(x, y, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i] ** 2
    out[0] = total


@numba.guvectorize("(n),()->(n)")
def untyped(x, a, out):
    for i in range(x.shape[0]):
        out[i] = a * x[i] ** 2


@numba.njit
def calling(x):
    return np.sum(softplus(x, 2.0) * x)


def test_elements_are_those_of_the_ufunc() -> None:
    np.testing.assert_allclose(fg.jit(softplus)(X, 1.3), softplus(X, 1.3), rtol=1e-14)
    np.testing.assert_allclose(fg.jit(weighted)(X, X[0]), weighted(X, X[0]), rtol=1e-14)


def test_slopes_of_elements() -> None:
    found = fg.grad(lambda x: softplus(x, 1.3).sum())(X)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-1.3 * X)), rtol=1e-12)
    np.testing.assert_allclose(fg.vmap(fg.grad(weighted, 1))(X[0], X[1]), 2 * X[0] * X[1], rtol=1e-14)
    np.testing.assert_allclose(fg.grad(weighted)(2.0, 3.0), 9.0)


def test_a_smaller_operand_gets_a_sum() -> None:
    found = fg.grad(lambda y: weighted(X, y).sum())(X[0])
    np.testing.assert_allclose(found, 2 * X.sum(axis=0) * X[0], rtol=1e-12)


def test_core_dimensions() -> None:
    np.testing.assert_allclose(fg.jit(filtered)(X, 0.3), filtered(X, 0.3), rtol=1e-13)
    np.testing.assert_allclose(fg.jit(product)(X, X[0]), product(X, X[0]), rtol=1e-13)
    found = fg.grad(lambda y: product(X, y).sum())(X[1])
    np.testing.assert_allclose(found, 2 * X.sum(axis=0) * X[1], rtol=1e-12)
    slopes = fg.jacfwd(lambda a: filtered(X, a))(0.3)
    quotient = (filtered(X, 0.3 + 1e-6) - filtered(X, 0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes, quotient, rtol=1e-6, atol=1e-9)


def test_every_example_has_its_own_scalar() -> None:
    scales = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(fg.jit(filtered)(X, scales), filtered(X, scales), rtol=1e-13)


def test_outputs_that_are_given_are_written() -> None:
    def written(x):
        out = np.zeros_like(x)
        untyped(x, 3.0, out)
        return out.sum()

    np.testing.assert_allclose(fg.grad(written)(X), 6.0 * X, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(written)(X), 3.0 * np.sum(X**2), rtol=1e-12)


def test_they_may_be_called_by_njit_functions() -> None:
    step = 1e-6 * np.eye(3)[0]
    quotient = (calling(X[0] + step) - calling(X[0] - step)) / 2e-6
    np.testing.assert_allclose(fg.grad(calling)(X[0])[0], quotient, rtol=1e-7)


def test_sizes_that_differ_are_named() -> None:
    with pytest.raises(fg.errors.ShapeError, match="product: n is"):
        fg.jit(product)(X, X[:, 0])


def test_one_without_its_python_function_is_refused() -> None:
    parallel = numba.vectorize(["float64(float64)"], target="parallel")(lambda x: x * x)
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="with a target is traced without it"):
        fg.grad(parallel)(1.5)
