"""Reverse mode of nested loops that write in place: what they overwrite is kept, and put back."""

import numpy as np
import pytest

import funcgrad as fg
from tests.at_length import ran
from tests.control.programs_in_place import PROGRAMS, SIZE, cholesky, elimination, maxima, start


def differences(f, x, h=1e-6):
    """The gradient by central differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        found[place] = (f(up) - f(down)) / (2 * h)
    return found


def names(program):
    """The operations of a Program, those of what it holds among them."""
    found = []
    for e in program.equations:
        found.append(e.primitive.name)
        for value in e.primitive.params.values():
            for x in value if isinstance(value, tuple) else (value,):
                if type(x) is type(program):
                    found += names(x)
    return found


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    x = start()
    found = fg.jit(fg.grad(f))(x)
    np.testing.assert_allclose(found, fg.grad(f)(x), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_are_undone(f):
    undone = "room" in names(fg.jit(fg.grad(f)).program(start()))
    assert undone == (f is not maxima)


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    x, v = start(), np.random.default_rng(5).random((SIZE, SIZE))

    def along(x):
        return np.sum(fg.grad(f)(x) * v)

    found = fg.jit(fg.grad(along))(x)
    h = 1e-5
    expected = (fg.grad(f)(x + h * v) - fg.grad(f)(x - h * v)) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    tangent = ran(lambda x: fg.jvp(fg.grad(f), (x,), (v,))[1])(x)
    np.testing.assert_allclose(tangent, found, rtol=1e-8, atol=1e-9)


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_under_vmap(f):
    xs = np.stack([start(), start() * 1.1, start() + 0.2])
    expected = np.stack([fg.jit(fg.grad(f))(x) for x in xs])
    np.testing.assert_allclose(fg.jit(fg.vmap(fg.grad(f)))(xs), expected, rtol=1e-9, atol=1e-11)
    total = ran(fg.grad(lambda xs: np.sum(fg.vmap(f)(xs))))(xs)
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_linearized(f):
    x, v = start(), np.random.default_rng(5).random((SIZE, SIZE))
    g = fg.grad(f)(x)

    def along(x):
        _, forward = fg.linearize(f, x)
        return forward(v)

    np.testing.assert_allclose(fg.jit(along)(x), np.sum(g * v), rtol=1e-9)
    np.testing.assert_allclose(ran(lambda x: fg.jvp(f, (x,), (v,))[1])(x), np.sum(g * v), rtol=1e-9)


@pytest.mark.at_length
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_evaluated_by_numpy(f):
    program = fg.jit(fg.grad(f)).program(start())
    (found,) = program.evaluate(start())
    np.testing.assert_allclose(found, fg.jit(fg.grad(f))(start()), rtol=1e-9, atol=1e-11)


def test_what_is_kept_is_linear_in_what_is_overwritten():
    """No array of the carry is kept for each trip: the logs hold numbers."""
    program = fg.jit(fg.grad(cholesky)).program(start())
    rooms = [e.outputs[0].aval for e in program.equations if e.primitive.name == "room"]
    assert rooms
    assert all(len(a.shape) == 1 for a in rooms)
    scans = [e for e in program.equations if e.primitive.name == "scan"]
    assert not any(v.aval.ndim == 3 for e in scans for v in e.outputs)


def test_the_value_is_that_of_the_loop_alone():
    x = start()
    for f in (cholesky, elimination):
        value, _ = fg.jit(fg.value_and_grad(f))(x)
        assert value == fg.jit(f)(x)


def test_trips_beyond_the_room_are_an_index_error():
    """Room is made for as many trips as there are places to index; more of them leave the array anyway."""

    def f(a, m):
        a = a.copy()
        for k in range(5):
            for i in range(m):
                a[i] = a[i] * a[k] + np.sin(a[i])
        return np.sum(a)

    a = np.linspace(0.1, 0.9, 9)
    gradient = fg.jit(fg.grad(f))
    assert "room" in names(gradient.program(a, 7))
    np.testing.assert_allclose(gradient(a, 7), fg.grad(lambda a: f(a, 7))(a), rtol=1e-9)
    np.testing.assert_allclose(gradient(a, 0), np.ones(9))
    np.testing.assert_allclose(gradient(a, -3), np.ones(9))
    for m in (10, 19, 10_000_000):
        with pytest.raises(IndexError, match="9"):
            gradient(a, m)


def test_bounds_that_are_numbers_are_known_in_the_first_gradient():
    """The inner loops index nothing by their counters: how many trips they make follows from the bounds."""

    def f(a):
        a = a.copy()
        for k in range(6):
            for i in range(k, 6):
                for _ in range(i, 6):
                    a[k] = np.sin(a[k]) + 0.1 * a[i] * a[k]
        return np.sum(a)

    a = np.linspace(0.1, 0.9, 6)
    gradient = fg.jit(fg.grad(f))
    assert "room" in names(gradient.program(a))
    np.testing.assert_allclose(gradient(a), differences(f, a), rtol=1e-6)
