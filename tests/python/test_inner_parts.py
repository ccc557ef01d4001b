"""The inner part of a row or column that a loop's counter says, ``p[1:-1, j]``: trips touch that line."""

import numpy as np
import pytest

import funcgrad as fg


def sweep_over_columns(p):
    p = p.copy()
    for j in range(1, p.shape[1] - 1):
        p[1:-1, j] = np.sin(p[1:-1, j - 1]) * p[:-2, j] + 0.5 * p[2:, j + 1]
    return np.sum(p**2)


def sweep_over_rows(p):
    p = p.copy()
    for i in range(1, p.shape[0]):
        p[i, 1:-1] += 0.25 * (p[i - 1, :-2] * p[i - 1, 2:] - p[i, 1:-1])
        p[i, ::2] *= 0.5
        p[i, -2::-3] = p[i - 1, -2::-3] * p[i, 0]
    return np.sum(np.cos(p))


def numbers_into_parts(p):
    p = p * 1.0
    for i in range(p.shape[0]):
        p[i, 1:4] = p[i, 0]
        p[2:, i] = 0.125
    return np.sum(p**3)


def three_axes(p):
    q = np.stack([p, p * p, np.sin(p)], axis=1)
    for i in range(q.shape[0]):
        q[i, 0, 1:-1] = q[i, 1, 1:-1] * q[i, 2, 2:]
        q[i, 1:, 1] = q[i, :2, 2]
        q[1:3, 1, i] = q[1:3, 0, i] + q[i, 2, 0]
    return np.sum(q**2)


def with_new_axes(p):
    p = p.copy()
    for i in range(p.shape[0]):
        p[i, None, 1:-1] = p[None, i, 2:] * p[i, :-2]
        part = p[1:-1, i]
        part *= 1.5
        part[0] = p[0, i]
    return np.sum(p**2)


FUNCTIONS = [sweep_over_columns, sweep_over_rows, numbers_into_parts, three_axes, with_new_axes]


def differences(f, x, h=1e-6):
    """The gradient by central differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        found[place] = (f(up) - f(down)) / (2 * h)
    return found


def sizes(program):
    """The sizes of all values that a loop's trips make, but for what they carry."""
    found = []
    for e in program.equations:
        for value in e.primitive.params.values():
            for body in value if isinstance(value, tuple) else (value,):
                if type(body) is type(program):
                    whole = {v.aval.shape for v in body.inputs}
                    made = [v.aval for inner in body.equations for v in inner.outputs]
                    found += [a.size for a in made if a.shape not in whole]
                    found += sizes(body)
    return found


@pytest.fixture
def p():
    return np.random.default_rng(4).random((12, 12)) + 0.2


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.at_length
def test_derivatives(f, p):
    """Values as Python's, gradients as differences, and every other transform as these."""
    compiled = fg.jit(f)
    assert sizes(compiled.program(p)), "the loop is one"
    np.testing.assert_allclose(compiled(p), f(p), rtol=1e-12)
    expected = differences(f, p)
    np.testing.assert_allclose(fg.grad(f)(p), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(p), expected, rtol=1e-6, atol=1e-7)
    v = np.random.default_rng(5).random(p.shape)
    _, tangent = fg.jit(lambda p: fg.jvp(f, (p,), (v,)))(p)
    np.testing.assert_allclose(tangent, np.sum(expected * v), rtol=1e-6)
    h = 1e-5
    second = (fg.grad(f)(p + h * v) - fg.grad(f)(p - h * v)) / (2 * h)
    np.testing.assert_allclose(fg.jit(lambda p: fg.hvp(f, (p,), (v,)))(p), second, rtol=1e-4, atol=1e-5)
    ps = np.stack([p, p + 0.1, 2 * p])
    several = fg.jit(fg.vmap(fg.grad(f)))(ps)
    np.testing.assert_allclose(several, np.stack([fg.grad(f)(p) for p in ps]), rtol=1e-9)


@pytest.mark.parametrize("f", [sweep_over_columns, sweep_over_rows], ids=lambda f: f.__name__)
def test_a_trip_makes_nothing_larger_than_a_line(f):
    p = np.random.default_rng(4).random((40, 50))
    for g in (f, fg.grad(f)):
        found = sizes(fg.jit(g).program(p))
        assert found
        assert max(found) <= 50


def test_a_short_part_of_a_long_line_stays_a_part():
    """Where the line is longer than the rows that the part crosses, these are what is touched."""

    def f(p):
        p = p.copy()
        for i in range(3):
            p[i, :2] = p[i, 2:4] * 2.0
        return np.sum(p**2)

    def g(p):
        p = p.copy()
        for k in range(30):
            p[:2, k % 3] = p[1:3, k % 3] * 0.9
        return np.sum(p**2)

    p = np.random.default_rng(4).random((1000, 3))
    np.testing.assert_allclose(fg.jit(fg.grad(g))(p), fg.grad(g)(p), rtol=1e-10)
    assert max(sizes(fg.jit(g).program(p))) <= 6
    p = p[:4].repeat(2, axis=1)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(p), differences(f, p), rtol=1e-6)


def test_a_line_beyond_the_array_is_an_error():
    def f(p, n):
        p = p.copy()
        for j in range(n):
            p[1:-1, j] = p[1:-1, j] * 2.0
        return np.sum(p)

    p = np.ones((4, 5))
    assert fg.jit(f)(p, 5) == f(p, 5)
    with pytest.raises(IndexError, match="5"):
        fg.jit(f)(p, 6)
