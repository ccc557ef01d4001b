"""Indices that are sums of counters: checked only where they may be out of bounds, and then refused."""

import numpy as np
import pytest

import funcgrad as fg

N = 9


def triangle(a):
    """Below and right of the diagonal."""
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= 0.01 * a[i, k] * a[k, j]
    return a


def beyond(a):
    """One too far, by the sum of the two."""
    s = 0.0
    for k in range(a.shape[0]):
        for j in range(k + 1, a.shape[0] + 1):
            s += a[k, j] * 0.5
    return s


def another_sum(a):
    """A counter with another beginning than its bound's."""
    s = 0.0
    n = a.shape[0]
    for k in range(n):
        for j in range(n - k):
            s += a[k, j + k + 1]
    return s


def before(a):
    """Negative indices count from the end."""
    s = 0.0
    n = a.shape[0]
    for k in range(n):
        for j in range(k - 3, k):
            s += a[k, j] * (j + 1)
    return s


def strides(a):
    """Every third, from a beginning that changes."""
    s = 0.0
    n = a.shape[0]
    for k in range(n):
        for j in range(k, n, 3):
            s += a[k, j] * a[j, k]
        for j in range(n - 1, k, -2):
            s += np.sin(a[k, j])
    return s


@pytest.mark.parametrize("f", [triangle, before, strides], ids=lambda f: f.__name__)
def test_sums_within_bounds(f):
    a = np.random.default_rng(0).random((N, N))
    np.testing.assert_allclose(fg.jit(f)(a), f(a), rtol=1e-12)

    def total(x):
        return np.sum(np.asarray(f(x)) ** 2)

    np.testing.assert_allclose(fg.jit(fg.grad(total))(a), fg.grad(total)(a), rtol=1e-10)


@pytest.mark.parametrize("f", [beyond, another_sum], ids=lambda f: f.__name__)
def test_sums_beyond_bounds(f):
    a = np.random.default_rng(0).random((N, N))
    with pytest.raises(IndexError):
        f(a)
    with pytest.raises(IndexError):
        fg.jit(f)(a)
    with pytest.raises(IndexError):
        fg.jit(fg.grad(f))(a)


def test_what_is_within_bounds_is_not_checked():
    a = np.random.default_rng(0).random((N, N))
    assert "failed" not in fg.jit(triangle).kernel_source(a)
    assert "failed" in fg.jit(beyond).kernel_source(a)
