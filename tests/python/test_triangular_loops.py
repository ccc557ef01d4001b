"""Slices whose length follows the counter of a loop, ``a[i, :j] @ a[j, :j]``: jitted as in Python."""

import numpy as np
import pytest

import funcgrad as fg
from tests.at_length import ran


def spread(x):
    return np.outer(x, np.cos(x)) + len(x) * np.eye(len(x))


def cholesky(x):
    a = spread(x)
    a = a @ a.T
    for i in range(len(x)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return np.sum(np.tril(a) ** 2)


def outer_products(x):
    a = spread(x)
    n = len(x)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(a**2)


def substitution(x):
    a = spread(x)
    y = np.zeros_like(x)
    z = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = (x[i] - a[i, :i] @ y[:i]) / a[i, i]
    for i in range(len(x) - 1, -1, -1):
        z[i] = (y[i] - a[i, i + 1 :] @ z[i + 1 :]) / a[i, i]
    return np.sum(z * np.arange(1, len(x) + 1))


def durbin(x):
    r = x / 8
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y**2)


def symmetric_updates(x):
    c = spread(x)
    for i in range(len(x)):
        c[i, : i + 1] *= 1.2
        for k in range(len(x)):
            c[i, : i + 1] += 0.3 * x[k] * c[: i + 1, k] * np.sin(x[: i + 1])
    return np.sum(c**2)


def covariances(x):
    data = spread(x)
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        out[i:, i] = out[i, i:] = data[:, i] @ data[:, i:] / 3.0
    return np.sum(out**2)


def running_extremes(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[:i].max() * np.min(x[i - 1 :]) + np.mean(x[:i]) + np.prod(x[:i])
    return total


def division_by_what_is_not_in_the_part(x):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = x[i]
        total += np.sum(x[: i + 1] / y[: i + 1]) + np.sum(np.log(y[: i + 1]))
    return total


def column_sums(x):
    a = spread(x)
    total = 0.0
    for i in range(1, len(x)):
        total += np.sum(a[:i].sum(axis=0) ** 2) + np.sum((a[:, :i] @ x[:i]) ** 2) + x[:i] @ a[:i] @ x
    return total


def names_of_parts(x):
    y = x.copy()
    for i in range(1, len(x)):
        part = y[:i]
        y[0] = y[0] * 0.9 + 0.1
        part += x[i]
        y[i] = np.sum(part) * 0.1 + part.sum() * 0.2
    return np.sum(y**2)


def copies_of_parts(x):
    y = x.copy()
    for i in range(1, len(x)):
        part = y[:i].copy()
        y[0] = 0.5 * y[0]
        part += 1.0
        y[:i] = 0.3 * part
    return np.sum(y**2)


def shifted_parts(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[:i] = y[1 : i + 1] * 0.7
        y[i:] = y[i]
    return np.sum(y * x)


def lengths_that_may_differ(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[i] * np.sum(x[:i] * x[:1])
    return total


def elements_of_parts(x):
    total = 0.0
    for i in range(1, len(x)):
        part = x[:i]
        total += part[0] * part[-1] * len(part)
    return total


def written_elements_of_parts(x):
    y = x.copy()
    for i in range(1, len(x)):
        part = y[:i]
        part[0] = x[i]
        part[:] = part * 1.1
    return np.sum(y**2)


def negative_bounds(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[: i - 3]) ** 2 + np.sum(x[i - 2 :])
    return total


def kept_after_the_loop(x):
    part = x
    for i in range(1, len(x) - 1):
        part = x[:i] * 2.0
    return np.sum(part)


def asked_what_it_is(x):
    total = 0.0
    for i in range(1, len(x)):
        part = x[:i]
        if isinstance(part, np.ndarray) and hasattr(part, "shape") and not hasattr(part, "items"):
            total += np.sum(part) ** 2
        if part.size > 3:
            total += 1.0
    return total


def handlers(x):
    total = 0.0
    for i in range(1, len(x)):
        try:
            total += np.median(x[:i]) * x[i]
        except (TypeError, ValueError):
            total += 100.0
    return total


def means_of_nothing(x):
    total = 0.0
    for i in range(1, len(x)):
        total += np.sum(x[:i]) * x[i] + (np.mean(x[: i - 1]) if i > 1 else 0.0)
    return total


def parts_within_inner_loops(x):
    y = x.copy()
    for i in range(1, len(x)):
        part = y[:i]
        for k in range(3):
            y[k] = y[k] * 0.9 + 0.01 * np.sum(part)
        y[i] = y[i] + np.sum(part)
    return np.sum(y**2)


def branches(x):
    y = x.copy()
    for i in range(1, len(x)):
        if x[i] > 0.6:
            y[:i] *= 0.5
        elif y[0] > 0.2:
            y[i:] = y[i:] + np.sum(y[:i])
        y[i] += y[:i] @ x[:i]
    return np.sum(y**2)


def norms_of_parts(x):
    a = spread(x)
    total = 0.0
    for k in range(len(x)):
        a[k:, k] = a[k:, k] / np.linalg.norm(a[k:, k]) + 0.1 * np.linalg.norm(a[k, : k + 1], 2)
        total += np.linalg.norm(a[k:, k:]) + np.sum(np.linalg.norm(a[: k + 1], axis=1))
    return total + np.sum(a**2)


PROGRAMS = [
    cholesky,
    norms_of_parts,
    outer_products,
    substitution,
    durbin,
    symmetric_updates,
    covariances,
    running_extremes,
    division_by_what_is_not_in_the_part,
    column_sums,
    names_of_parts,
    copies_of_parts,
    shifted_parts,
    lengths_that_may_differ,
    elements_of_parts,
    written_elements_of_parts,
    negative_bounds,
    kept_after_the_loop,
    asked_what_it_is,
    handlers,
    means_of_nothing,
    parts_within_inner_loops,
    branches,
]


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients_are_those_of_python(f, rng):
    x = rng.uniform(0.3, 1.0, 9)
    expected = fg.grad(f)(x)
    step = 1e-6 * rng.normal(size=x.shape)
    np.testing.assert_allclose(
        np.sum(expected * step), (f(x + step) - f(x - step)) / 2, rtol=1e-5, atol=1e-12
    )
    np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-11)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), expected, rtol=1e-9, atol=1e-11)
    some = f in PROGRAMS[::4]
    np.testing.assert_allclose(ran(fg.jacfwd(f), some)(x), expected, rtol=1e-9, atol=1e-11)
    two = np.stack([x, x[::-1]])
    np.testing.assert_allclose(
        ran(fg.vmap(fg.grad(f)), some)(two), [expected, fg.grad(f)(two[1])], rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("f", PROGRAMS[:10], ids=lambda f: f.__name__)
def test_loops_stay_loops(f):
    shown = str(fg.explain(fg.jit(f))(np.linspace(0.3, 1.0, 24)))
    assert "unrolled" not in shown
    assert "a loop of" in shown


def test_second_derivatives_are_those_of_python(rng):
    x, v = rng.uniform(0.3, 1.0, (2, 6))
    for f in (cholesky, substitution, outer_products):
        np.testing.assert_allclose(
            ran(fg.hessian(f), f is substitution)(x) @ v, fg.hessian(f)(x) @ v, rtol=1e-8, atol=1e-9
        )
