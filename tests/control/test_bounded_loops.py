"""Loops whose bounds an outer loop decides: gradients, and that what they keep is as long as their trips."""

import numpy as np
import pytest

import funcgrad as fg


def triangle(u):
    u = u.copy()
    n = len(u)
    for i in range(1, n - 1):
        for j in range(i, n - 1):
            u[i, j] = np.sin(u[i - 1, j] + 0.5 * u[i + 1, j] * u[i, j - 1] + u[i, j + 1])
    return np.sum(u**2)


def red_and_black(u):
    u = u.copy()
    n = len(u)
    for _ in range(4):
        for color in (0, 1):
            for i in range(1, n - 1):
                for j in range(1 + (i + color) % 2, n - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] ** 2)
    return np.sum(u * u)


def counted_from_the_end(u):
    u = u.copy()
    n = len(u)
    for i in range(n):
        for j in range(-i, i):
            u[i, j] = np.cos(u[i, j - 1]) * u[j, i]
    return np.sum(u**2)


def without_trips(u):
    u = u.copy()
    n = len(u)
    for i in range(n):
        for j in range(i, 2):
            u[i, j] = u[i, j] ** 3 + u[j, i] * u[i, 0]
    return np.sum(u**2)


def rows(u):
    u = u.copy()
    n = len(u)
    for i in range(n):
        for k in range(i):
            u[i] = u[i] - np.tanh(u[i, k]) * u[k]
    return np.sum(u**3)


def three_deep(u):
    lower = np.zeros_like(u)
    a = u @ u.T + len(u) * np.eye(len(u))
    for i in range(len(u)):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return np.sum(lower**2) + lower[2, 1]


def with_branches(u):
    u = u.copy()
    n = len(u)
    for i in range(n):
        total = 0.0
        for j in range(i, n):
            if u[i, j] > 0.2:
                total += u[i, j] ** 2
                u[i, j] = total
            elif u[i, j] < -1.0:
                break
            u[j, i] *= 0.9
    return np.sum(u**2)


def cholesky_in_place(u):
    a = u @ u.T + len(u) * np.eye(len(u))
    for i in range(len(u)):
        for j in range(i):
            s = 0.0
            for k in range(j):
                s += a[i, k] * a[j, k]
            a[i, j] = (a[i, j] - s) / a[j, j]
        s = 0.0
        for k in range(i):
            s += a[i, k] ** 2
        a[i, i] = np.sqrt(a[i, i] - s)
    return np.sum(np.tril(a) ** 3)


def elimination(u):
    a = u + 3 * len(u) * np.eye(len(u))
    for k in range(len(u)):
        for i in range(k + 1, len(u)):
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(u)):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a**2)


def product_in_place(u):
    u = u.copy()
    n = len(u)
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += u[i, k] * u[k, j]
            u[i, j] = np.sin(s)
    return np.sum(u)


PROGRAMS = [triangle, red_and_black, counted_from_the_end, without_trips, rows, three_deep, with_branches]
PROGRAMS += [cholesky_in_place, elimination, product_in_place]


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_python(f, rng):
    for n in (5, 9):
        u = rng.normal(size=(n, n))
        expected = fg.grad(f)(u)
        step = 1e-6 * rng.normal(size=u.shape)
        quotient = (f(u + step) - f(u - step)) / 2
        np.testing.assert_allclose(np.sum(expected * step), quotient, rtol=1e-5, atol=1e-11)
        np.testing.assert_allclose(fg.jit(fg.grad(f))(u), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [triangle, counted_from_the_end, rows, with_branches, cholesky_in_place, product_in_place],
    ids=lambda f: f.__name__,
)
@pytest.mark.at_length
def test_second_derivatives_and_batches(f, rng):
    u, v = rng.normal(size=(2, 5, 5))

    def along(u):
        return np.sum(fg.grad(f)(u) * v)

    def forward_over_reverse(u, v):
        return fg.jvp(fg.grad(f), (u,), (v,))[1]

    np.testing.assert_allclose(fg.jit(fg.grad(along))(u), fg.grad(along)(u), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(fg.jit(forward_over_reverse)(u, v), fg.grad(along)(u), rtol=1e-9, atol=1e-10)
    both = fg.jit(fg.vmap(fg.grad(f)))(np.stack([u, v]))
    np.testing.assert_allclose(both, [fg.grad(f)(u), fg.grad(f)(v)], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", [triangle, red_and_black], ids=lambda f: f.__name__)
def test_no_trip_keeps_the_array_in_the_carry(f):
    n = 50
    program = fg.make_program(fg.grad(fg.jit(f)))(np.ones((n, n)))
    largest = max(v.aval.size for e in program.equations for v in e.outputs)
    assert largest <= 4 * 2 * n * 2 * n  # sweeps, colours, rows, and room for the trips
    assert "while_sweeps" in str(program)


def every_size(program):
    """The sizes of all values, those within loops as well."""
    for equation in program.equations:
        yield from (v.aval.size for v in equation.outputs)
        for parameter in equation.primitive.params.values():
            for held in parameter if isinstance(parameter, tuple) else (parameter,):
                body = held[0] if isinstance(held, tuple) and held else held
                if hasattr(body, "equations"):
                    yield from every_size(body)


def test_a_loop_that_reads_what_is_changed_around_it_keeps_elements():
    n = 30
    program = fg.make_program(fg.grad(fg.jit(product_in_place)))(np.ones((n, n)))
    assert max(every_size(program)) <= 2 * n**3  # before: an array for each of n * n trips


def test_a_loop_that_nobody_bounds_is_gone_through_again():
    def f(x):
        total = 0.0
        for i in range(5):
            t = x[i]
            while t > 0.1:
                t = 0.5 * np.sin(t)
            total += t**2
        return total

    x = np.array([0.3, -1.0, 2.0, 0.05, 1.0])
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), fg.grad(f)(x), rtol=1e-12)
