"""What Numba's code means, where Python or NumPy would mean something else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import types
from numba.extending import overload, register_jitable

import funcgrad as fg

X = np.array([1.0, -2.0, 3.0])
TABLE = np.arange(4.0)


@numba.njit
def summed_squares(x):
    s = 0.0
    for i in range(x.size):
        s += x[i] * x[i]
    return s


@numba.njit
def of_bytes(image, w):
    s = 0.0
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            s += (image[i, j] * 2 - 300) * w[j]
    return s


@numba.njit
def of_short_integers(index, w):
    s = 0.0
    for k in index:
        s += k * k * w[0]
    return s


@numba.njit
def from_table(x):
    s = 0.0
    for i in range(4):
        s += TABLE[i] * x**i
    return s


@numba.njit
def fills(x, out):
    for i in range(x.size):
        out[i] = x[i] ** 2
    return out.sum()


@numba.njit
def scales_in_place(x, k):
    x *= k
    x[0] = k
    return x.sum()


@numba.njit
def defaults(x, n=3, *, k=2.0):
    return x * n * k


@numba.njit
def of_tuple(p, x):
    a, n = p
    return a * n * x[0]


@numba.njit
def enumerated(x):
    s = 0.0
    for index, v in np.ndenumerate(x):
        s += v * v * index[0]
    for i, j in np.ndindex(x.shape):
        s += x[i, j]
    return s


@numba.njit
def draws_from_a_congruence(x, seed, n):
    s = 0.0
    for _ in range(n):
        seed = seed * 6364136223846793005 + 1442695040888963407
        s += x * ((seed >> 33) / 2147483648.0)
    return s


@numba.njit
def sized(x, n):
    y = np.zeros(n)
    for i in range(n):
        y[i] = x * i
    return y


@numba.njit
def checked(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x[0] ** 2


def test_numbers_of_32_bits_are_summed_in_64() -> None:
    x = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    np.testing.assert_allclose(fg.jit(summed_squares)(x), summed_squares(x), rtol=1e-7)
    assert fg.grad(summed_squares)(x).dtype == np.float32


def test_small_integers_do_not_overflow() -> None:
    image = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    w = np.arange(4.0)
    assert fg.jit(of_bytes)(image, w) == of_bytes(image, w)
    np.testing.assert_allclose(fg.grad(of_bytes, 1)(image, w), (image * 2.0 - 300).sum(axis=0))
    index = np.array([70000, 80000], np.int32)
    assert fg.jit(of_short_integers)(index, np.ones(1)) == of_short_integers(index, np.ones(1))


def test_whole_numbers_wrap() -> None:
    assert fg.jit(draws_from_a_congruence)(1.5, 12345, 50) == draws_from_a_congruence(1.5, 12345, 50)
    assert fg.jit(draws_from_a_congruence)(1.5, 12345, 3) == draws_from_a_congruence(1.5, 12345, 3)


def test_tables_are_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    before = from_table(2.0), fg.grad(from_table)(2.0)
    kept = TABLE.copy()
    TABLE[3] = 100.0
    try:
        assert (from_table(2.0), fg.grad(from_table)(2.0)) == before
        assert fg.jit(from_table)(2.0) == before[0]
    finally:
        TABLE[:] = kept


def test_what_is_written_into_arguments_is_seen() -> None:
    out = np.zeros(3)
    np.testing.assert_allclose(fg.grad(fills)(X, out), 2 * X)
    np.testing.assert_allclose(out, X**2)
    out[:] = 0
    assert fg.jit(fills)(X, out) == 14.0
    np.testing.assert_allclose(out, X**2)
    x = X.copy()
    value, slope = fg.value_and_grad(scales_in_place, 1)(x, 2.0)
    expected = X.copy()
    assert value == scales_in_place(expected, 2.0)
    np.testing.assert_allclose(x, expected)
    assert slope == X[1] + X[2] + 1


def test_what_is_written_inside_of_a_traced_function_is_traced() -> None:
    def calling(x):
        out = np.zeros(3)
        fills(x, out)
        return (out * x).sum()

    np.testing.assert_allclose(fg.grad(calling)(X), 3 * X**2)
    np.testing.assert_allclose(fg.jit(fg.grad(calling))(X), 3 * X**2)


@pytest.mark.parametrize("make", [fg.grad, lambda f: fg.jit(fg.grad(f))], ids=["grad", "jit(grad)"])
def test_a_traced_value_in_an_outside_array_is_refused(make: Any) -> None:
    outside = np.zeros(3)
    with pytest.raises(fg.errors.TracerAssignmentError, match="fills would write a traced value"):
        make(lambda x: fills(x, outside))(X)
    assert not outside.any()


def test_arguments_that_share_memory_are_refused_where_one_is_written() -> None:
    x = X.copy()
    with pytest.raises(fg.errors.TracerAssignmentError, match="shares its memory"):
        fg.jit(fills)(x, x)


def test_a_transform_that_keeps_what_is_written_is_refused() -> None:
    with pytest.raises(fg.errors.TracerAssignmentError, match="stays in its transform"):
        fg.hessian(fills)(X, np.zeros(3))


def test_defaults_keywords_and_tuples() -> None:
    assert fg.grad(defaults)(1.5) == 6.0
    assert fg.grad(defaults)(1.5, 4, k=3.0) == 12.0
    assert fg.grad(lambda x: defaults(x, k=1.0))(1.5) == 3.0
    np.testing.assert_allclose(fg.grad(of_tuple, 1)((1.5, 3), X), [4.5, 0, 0])


def test_indices_and_elements() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert fg.jit(enumerated)(x) == enumerated(x)
    np.testing.assert_allclose(fg.grad(enumerated)(x), 2 * x * [[0], [1]] + 1)


def test_sizes_are_whole_numbers_as_they_are() -> None:
    np.testing.assert_allclose(fg.jacfwd(sized)(2.0, 4), np.arange(4.0))
    np.testing.assert_allclose(fg.jit(sized)(2.0, 5), 2 * np.arange(5.0))
    np.testing.assert_allclose(fg.vmap(sized, in_axes=(0, None))(X, 2), X[:, None] * [0, 1])


def test_exceptions_are_those_of_the_machine_code() -> None:
    np.testing.assert_allclose(fg.grad(checked)(X), [2, 0, 0])
    with pytest.raises(ValueError, match="negative"):
        fg.grad(checked)(-X)
    with pytest.raises(ValueError, match="negative"):
        fg.jit(checked)(-X)


def test_hessians_and_directions() -> None:
    np.testing.assert_allclose(fg.hessian(summed_squares)(X), 2 * np.eye(3))
    value, slope = fg.jvp(summed_squares, (X,), (np.ones(3),))
    assert (value, slope) == (14.0, 4.0)
    np.testing.assert_allclose(fg.vjp(summed_squares, X)[1](1.0)[0], 2 * X)
    np.testing.assert_allclose(fg.hvp(summed_squares, (X,), (X,)), 2 * X)


def test_untraced_arguments_run_machine_code() -> None:
    seen = []

    def calling(x):
        table = sized(2.0, 3)
        seen.append(type(table).__name__)
        table[0] = x
        return (table * x).sum()

    assert fg.grad(calling)(3.0) == 6.0 + 6.0
    assert fg.jit(fg.grad(calling))(3.0) == 6.0 + 6.0


class State(NamedTuple):
    place: Any
    speed: Any
    stiffness: Any


@numba.njit
def stepped(s, dt):
    return State(s.place + dt * s.speed, s.speed - dt * s.stiffness * s.place, s.stiffness)


@numba.njit
def last_energy(s, dt):
    for _ in range(30):
        s = stepped(s, dt)
    return np.sum(s.place**2) + s.stiffness * s.speed[0]


@numba.njit
def pushes(s):
    s.place[0] += s.speed[1]


def pushed(x):
    y = 2.0 * x
    pushes(State(y, x, 1.0))
    return np.sum(y * y)


def test_named_tuples_are_arguments_and_results() -> None:
    state = State(X.copy(), 0.5 * X, 1.5)
    for f in (last_energy, lambda s, dt: 1.0 * last_energy(s, dt)):
        value, found = fg.value_and_grad(f)(state, 0.01)
        np.testing.assert_allclose(value, last_energy(state, 0.01))
        assert type(found) is State
        h = 1e-6
        up, down = (last_energy(state._replace(stiffness=1.5 + d), 0.01) for d in (h, -h))
        np.testing.assert_allclose(found.stiffness, (up - down) / (2 * h), rtol=1e-6)
        up, down = (last_energy(state._replace(place=X + d * np.eye(3)[1]), 0.01) for d in (h, -h))
        np.testing.assert_allclose(found.place[1], (up - down) / (2 * h), rtol=1e-6)
    # y[0] is 2 x[0] + x[1].
    np.testing.assert_allclose(fg.grad(pushed)(X), [0.0, -16.0, 24.0])


def chosen_by_type(x):
    """Nothing: what Numba compiles is said below."""


@overload(chosen_by_type)
def of_type(x):
    if isinstance(x, types.Array):
        return lambda x: x.sum()
    return lambda x: x * x * x


@register_jitable
def cubed(x):
    return x**3


@numba.cfunc("float64(float64)")
def callback(x):
    return 3.0 * x * x


@numba.njit
def with_overloads(x):
    return chosen_by_type(x) * chosen_by_type(x[0]) + cubed(x[1]) + callback(x[2])


def test_overloads_and_callbacks_are_what_numba_compiles() -> None:
    value, found = fg.value_and_grad(with_overloads)(X)
    np.testing.assert_allclose(value, with_overloads(X))
    np.testing.assert_allclose(found, [1.0 + 3.0 * X.sum(), 1.0 + 12.0, 1.0 + 18.0])


def untyped(x):
    """Nothing, and an overload that takes no numbers."""


@overload(untyped)
def of_arrays_alone(x):
    return (lambda x: x.sum()) if isinstance(x, types.Array) else None


@numba.njit
def not_of_numbers(x):
    return untyped(x[0])


def test_an_overload_that_gives_nothing_is_refused() -> None:
    with pytest.raises(
        fg.errors.UnsupportedFunctionError, match="untyped has an overload of Numba's, which gives"
    ):
        fg.grad(not_of_numbers)(X)


@numba.njit
def parts_of_itself(x):
    y = np.outer(x, x)
    y[:-1] += y[1:]
    y[0] += y[1]
    y[1:] = y[1:] - y[:-1]
    y[:, 1:] += y[:, :-1] * 1.0
    y += y
    return np.sum(y * y)


def test_parts_that_are_read_first_may_change_the_array() -> None:
    value, found = fg.value_and_grad(parts_of_itself)(X)
    np.testing.assert_allclose(value, parts_of_itself(X))
    h = 1e-6
    wanted = [(parts_of_itself(X + d) - parts_of_itself(X - d)) / (2 * h) for d in h * np.eye(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
