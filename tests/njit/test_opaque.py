"""Functions of Numba's with a derivative of the user's: called as they are, by address in native loops."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import types
from numba.typed import Dict

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError

X = np.array([1.0, 2.0, 3.0])


class Kept(NamedTuple):
    x: Any
    y: Any


@fg.custom_vjp
@numba.njit
def looked_up(x, y):
    table = Dict.empty(key_type=types.int64, value_type=types.float64)
    for i in range(x.size):
        table[i] = math.sin(x[i]) * y
    total = 0.0
    for i in range(x.size):
        total += table[i]
    return total


@numba.njit
def looked_up_fwd(x, y):
    table = Dict.empty(key_type=types.int64, value_type=types.float64)
    table[0] = 0.0
    for i in range(x.size):
        table[0] += math.sin(x[i])
    return table[0] * y, (x, y)


@numba.njit
def looked_up_bwd(kept, bar):
    x, y = kept
    slope = np.empty_like(x)
    table = Dict.empty(key_type=types.int64, value_type=types.float64)
    table[0] = 0.0
    for i in range(x.size):
        slope[i] = bar * math.cos(x[i]) * y
        table[0] += math.sin(x[i]) * bar
    return slope, table[0]


looked_up.defvjp(looked_up_fwd, looked_up_bwd)


@fg.custom_vjp
@numba.njit
def normalised(x):
    for i in range(x.size):
        x[i] = x[i] / x[-1]
    return x * 2.0


@numba.njit
def normalised_fwd(x):
    return 2.0 * x / x[-1], Kept(x, x[-1])


@numba.njit
def normalised_bwd(kept, bar):
    found = 2.0 * bar / kept.y
    found[-1] -= 2.0 * np.sum(bar * kept.x) / kept.y**2
    return (found,)


normalised.defvjp(normalised_fwd, normalised_bwd)


@fg.custom_jvp
@numba.njit
def soft(x):
    table = Dict.empty(key_type=types.int64, value_type=types.float64)
    table[0] = math.log1p(math.exp(x))
    return table[0]


@soft.defjvp
@numba.njit
def soft_jvp(primals, tangents):
    (x,) = primals
    (t,) = tangents
    return math.log1p(math.exp(x)), t / (1.0 + math.exp(-x))


def summed(x: Any) -> Any:
    total = 0.0
    for k in range(50):
        total = total + looked_up(x * (0.02 * k), 1.5 + k)
    return total


def test_values_and_gradients_are_those_of_the_rules() -> None:
    assert looked_up(X, 2.0) == looked_up.function(X, 2.0)
    by_x, by_y = fg.grad(looked_up, (0, 1))(X, 2.0)
    np.testing.assert_allclose(by_x, 2.0 * np.cos(X))
    np.testing.assert_allclose(by_y, np.sin(X).sum())
    value, slope = fg.jit(fg.value_and_grad(lambda x: looked_up(x * x, x[0]) ** 2))(X)
    expected = fg.value_and_grad(lambda x: (np.sin(x * x).sum() * x[0]) ** 2)(X)
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(slope, expected[1])


def test_they_stay_native_in_compiled_loops() -> None:
    expected = sum(np.sin(X * (0.02 * k)).sum() * (1.5 + k) for k in range(50))
    np.testing.assert_allclose(fg.jit(summed)(X), expected)
    slope = sum(0.02 * k * np.cos(X * (0.02 * k)) * (1.5 + k) for k in range(50))
    found = fg.jit(fg.grad(summed))
    np.testing.assert_allclose(found(X), slope)
    report = fg.explain(fg.grad(summed))(X)
    assert report.reasons == ()
    assert len(report.kernels) == 1
    assert found.kernel_source(X).count("call_pointers(") == 2


def test_arguments_that_are_written_into_are_copies() -> None:
    x = X.copy()
    jitted = fg.jit(lambda x: normalised(x).sum() + x.sum())
    np.testing.assert_allclose(jitted(x), 2 * X.sum() / X[-1] + X.sum())
    np.testing.assert_allclose(x, X)
    np.testing.assert_allclose(fg.grad(lambda x: normalised(x)[0])(X), [2 / 3, 0, -2 / 9])
    np.testing.assert_allclose(fg.jit(fg.jacrev(normalised))(X)[0], [2 / 3, 0, -2 / 9])


def test_batches_are_native_loops() -> None:
    xs = np.random.default_rng(0).normal(size=(5, 3))
    mapped = fg.vmap(looked_up, in_axes=(0, None))
    np.testing.assert_allclose(mapped(xs, 1.0), np.sin(xs).sum(axis=1))
    slopes = fg.vmap(fg.grad(looked_up), in_axes=(0, None))
    np.testing.assert_allclose(fg.jit(slopes)(xs, 2.0), 2.0 * np.cos(xs))
    assert fg.explain(slopes)(xs, 2.0).reasons == ()


def test_a_rule_of_tangents_is_traced() -> None:
    np.testing.assert_allclose(fg.grad(soft)(0.3), 1 / (1 + math.exp(-0.3)))
    np.testing.assert_allclose(fg.jit(fg.grad(soft))(0.3), 1 / (1 + math.exp(-0.3)))
    np.testing.assert_allclose(fg.vmap(fg.grad(soft))(X), 1 / (1 + np.exp(-X)))


def test_what_raises_for_ones_is_named() -> None:
    @numba.njit
    def picky(x):
        if x == 1.0:
            raise ValueError("not one")
        return x

    custom = fg.custom_vjp(picky)
    custom.defvjp(lambda x: (x, None), lambda _, bar: (bar,))
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="raised ValueError: not one"):
        fg.jit(lambda x: custom(x) * 2.0)(3.0)


def test_second_derivatives_of_what_is_only_called_are_refused() -> None:
    with pytest.raises(fg.errors.NotDifferentiableError, match="looked_up"):
        fg.hessian(looked_up)(X, 2.0)


@numba.njit
def softsign_of_numbers(x):
    return x / (1.0 + abs(x))


@numba.njit
def mixed_numbers(x, y):
    return math.exp(-x * x) * y


def test_an_operation_may_give_an_njit_function_as_its_native_form() -> None:
    from funcgrad.extend import Sample, normal, unary

    @unary(lambda x: x / (1.0 + np.abs(x)), native=softsign_of_numbers, samples=[Sample(normal(3))])
    def softsign_by_numba(x, out):
        """x / (1 + |x|)."""
        return (1.0 - abs(out)) ** 2

    jitted = fg.jit(fg.grad(lambda x: np.sum(np.sin(softsign_by_numba(x)))))
    out = X / (1 + X)
    np.testing.assert_allclose(jitted(X), np.cos(out) * (1 - out) ** 2, rtol=1e-14)
    assert "call_number(softsign_by_numba_address" in jitted.kernel_source(X)
    assert fg.explain(lambda x: softsign_by_numba(x) + 1.0)(X).reasons == ()
    single = fg.jit(softsign_by_numba)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, out, rtol=1e-6)

    @fg.jit
    def looped(x):
        for _ in range(100):
            x = softsign_by_numba(x) * 1.5
        return x

    expected = X
    for _ in range(100):
        expected = 1.5 * expected / (1 + np.abs(expected))
    np.testing.assert_allclose(looped(X), expected)
    many = np.linspace(-2, 2, 300_000)
    np.testing.assert_allclose(fg.jit(softsign_by_numba)(many), many / (1 + np.abs(many)))


def test_an_operation_of_two_numbers_likewise() -> None:
    from funcgrad.extend import Binary, Sample, normal

    class Mixed(Binary):
        """exp(-x²) y."""

        name = "mixed_by_numba"
        native = mixed_numbers

        def evaluate(self, x, y):
            return np.exp(-x * x) * y

        def partial(self, i, primals, out):
            x, _ = primals
            return -2.0 * x * out if i == 0 else np.exp(-x * x)

        @classmethod
        def samples(cls):
            return (Sample(normal(3), normal(3)),)

    mixed = Mixed()
    found = fg.jit(fg.grad(lambda x: np.sum(mixed(x, X))))(X)
    np.testing.assert_allclose(found, -2 * X * np.exp(-X * X) * X, rtol=1e-13)
    assert "call_number(" in fg.jit(lambda x: mixed(x, X)).kernel_source(X)


@numba.njit
def held(x):
    table = Dict.empty(key_type=types.int64, value_type=types.float64)
    table[0] = x
    return table[0]


@numba.njit
def product(x, y):
    return held(x * x * y)


@numba.njit
def product_jvp(primals, tangents):
    (x, y), (t, u) = primals, tangents
    return product(x, y), held(2.0 * x * y * t + x * x * u)


with_rule = fg.custom_jvp(product)
with_rule.defjvp(product_jvp)


@numba.njit
def of_products(x):
    return math.sin(product(x, 3.0)) + product(2.0, x)


def test_a_forward_rule_that_is_called_has_a_gradient_by_numbers() -> None:
    assert fg.grad(with_rule, (0, 1))(2.0, 3.0) == (12.0, 4.0)
    assert fg.jit(fg.grad(with_rule, (0, 1)))(2.0, 3.0) == (12.0, 4.0)
    assert fg.jvp(with_rule, (2.0, 3.0), (1.0, 1.0)) == (12.0, 16.0)


def test_code_of_numbas_calls_the_function_and_has_the_derivative_of_its_rule() -> None:
    slope = 6.0 * 0.7 * math.cos(3.0 * 0.7**2) + 4.0
    for f in (of_products, lambda x: 1.0 * of_products(x), fg.jit(of_products)):
        np.testing.assert_allclose(f(0.7), of_products(0.7))
        np.testing.assert_allclose(fg.grad(f)(0.7), slope)


def test_a_forward_rule_that_is_called_with_arrays_has_no_gradient() -> None:
    @fg.custom_jvp
    @numba.njit
    def first(x):
        return held(x[0])

    @first.defjvp
    @numba.njit
    def first_jvp(primals, tangents):
        return held(primals[0][0]), held(tangents[0][0])

    assert fg.jvp(first, (X,), (X,))[1] == X[0]
    with pytest.raises(
        NotDifferentiableError, match=r"first_jvp is called with the tangents(.|\n)*custom_vjp"
    ):
        fg.grad(first)(X)
