"""Slices whose bounds follow the counter of a loop, ``x[i - 1 : i + 2]``: loops stay loops, views views."""

import numpy as np
import pytest

import funcgrad as fg

TABLE = np.linspace(0.5, 2.0, 80)


def moving_sum(x):
    total = 0.0
    for i in range(2, len(x) - 2):
        total += np.sum(x[i - 2 : i + 3]) ** 2 * x[i]
    return total


def convolution(x):
    k = 3
    image = np.outer(x, np.cos(x))
    out = np.empty((len(x) - k + 1, len(x) - k + 1))
    weights = image[:k, :k]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + k, j : j + k] * weights)
    return np.sum(out**2)


def pooling(x):
    image = np.outer(x, np.sin(3 * x))
    out = np.zeros((len(x) // 2, len(x) // 2))
    for i, j in np.ndindex(*out.shape):
        out[i, j] = np.max(image[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return np.sum(out**3)


def channels(x):
    images = np.stack([np.outer(x, x), np.outer(np.sin(x), x)], axis=-1)[np.newaxis]
    weights = np.arange(1.0, 9.0).reshape(2, 2, 2)
    out = np.empty((1, len(x) - 1, len(x) - 1, 2))
    for i in range(len(x) - 1):
        for j in range(len(x) - 1):
            part = images[:, i : i + 2, j : j + 2, :, np.newaxis]
            out[:, i, j, :] = np.sum(part * weights[..., np.newaxis], axis=(1, 2, 3))
    return np.sum(out**2)


def writes_into_windows(x):
    x = x.copy()
    for i in range(2, len(x) - 3):
        x[i - 2 : i] = x[i : i + 2] * np.sin(x[i - 1 : i + 1])
        x[i : i + 3] *= 1.1
    return np.sum(x**2)


def keeps_a_view(x):
    x = x.copy()
    for i in range(len(x) - 2):
        part = x[i : i + 3]
        part[0] += 2.0 * part[1]
        x[i + 1] = part[0] * part[2]
        part *= 0.5
        x[i] += part[1]
    return np.sum(x**2)


def overlapping_windows(x):
    x = x.copy()
    for i in range(len(x) - 3):
        x[i : i + 3] = x[i + 1 : i + 4]
        x[i + 1 : i + 4] += x[i : i + 3]
    return np.sum(np.sin(x))


def rows_and_columns(x):
    a = np.outer(x, np.cos(x))
    total = 0.0
    for i in range(1, len(x) - 1):
        total += np.sum(a[i, i - 1 : i + 2] * a[i - 1 : i + 2, i]) + a[3, i : i + 1][0]
        a[i - 1 : i + 1, 2:4] = a[2:4, i - 1 : i + 1].T
    return total + np.sum(a)


def steps(x):
    total = 0.0
    for i in range(6, len(x) - 6):
        total += np.sum(x[i : i + 6 : 2] * x[i : i - 3 : -1])
    return total


def backwards_and_within(x):
    total = 0.0
    for i in range(len(x) - 3, -1, -1):
        for j in range(i):
            total += np.sum(x[j : j + 2]) * x[i]
    return total


def tables(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += x[i] * np.sum(TABLE[i + 1 : i + 4]) + np.sum(TABLE[2 * i : 2 * i + 2])
    return total


def cut_off_at_the_ends(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i : i + 3]) ** 2 + np.sum(x[i - 2 : i]) ** 2
    return total


def carried_places(x):
    total, k = 0.0, 1
    for i in range(len(x) - 3):
        total += np.sum(x[k : k + 2]) * x[i]
        k = (k + 3) % (len(x) - 2)
    return total


PROGRAMS = [
    moving_sum,
    convolution,
    pooling,
    channels,
    writes_into_windows,
    keeps_a_view,
    overlapping_windows,
    rows_and_columns,
    steps,
    backwards_and_within,
    tables,
    cut_off_at_the_ends,
    carried_places,
]


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients_are_those_of_python(f, rng):
    x = rng.uniform(0.2, 1.0, 15)
    expected = fg.grad(f)(x)
    step = 1e-6 * rng.normal(size=x.shape)
    np.testing.assert_allclose(np.sum(expected * step), (f(x + step) - f(x - step)) / 2, rtol=1e-5)
    np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), expected, rtol=1e-10, atol=1e-12)
    two = np.stack([x, x[::-1]])
    np.testing.assert_allclose(
        fg.jit(fg.vmap(fg.grad(f)))(two), [expected, fg.grad(f)(two[1])], rtol=1e-10, atol=1e-12
    )
    forward = fg.jit(fg.jacfwd(f))(x)
    np.testing.assert_allclose(forward, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS[:-2], ids=lambda f: f.__name__)
def test_loops_stay_loops(f):
    shown = str(fg.explain(fg.jit(f))(np.linspace(0.3, 1.0, 32)))
    assert "unrolled" not in shown
    assert "a loop of" in shown


def test_bounds_of_which_nothing_is_known_are_left_to_values():
    f = fg.jit(lambda x, i: np.sum(x[i : i + 2]))
    x = np.arange(6.0)
    assert [f(x, i) for i in (0, 3, 5, -1, -2, 9)] == [np.sum(x[i : i + 2]) for i in (0, 3, 5, -1, -2, 9)]
