"""Functions of numbers in a loop that stays a loop: none of them hands the loop back to NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import funcgrad as fg
from funcgrad.compile.passes.rewriting.doubled_factors import factors_doubled

Step = Callable[[Any, Any], Any]

V = np.linspace(0.2, 1.1, 6)
TABLE = np.linspace(-5.0, 5.0, 11)

OF_COUNTERS: dict[str, Step] = {
    "clip": lambda k, c: c * TABLE[np.clip(k - 1, 0, 5)] * 0.3,
    "power of two": lambda k, c: c / (2**k) + V,
    "alternating sign": lambda k, c: V - 0.5 * c * (-1) ** k,
    "gcd": lambda k, c: 0.2 * c * np.gcd(k, 4) + V,
    "lcm": lambda k, c: c / np.lcm(k + 1, 6) + V,
    "fmod": lambda k, c: c * np.fmod(k - 20, 3) * 0.3 + V,
    "bitwise_count": lambda k, c: c * np.bitwise_count(k) * 0.2 + V,
    "isfinite": lambda k, c: np.where(np.isfinite(k), 0.5 * c, c) + V,
    "ldexp": lambda k, c: np.ldexp(c, -k) + V,
    "factorial": lambda k, c: c / sp.factorial(k) + V,
    "Bessel function": lambda k, c: sp.jv(0.5 * k, c + 1.0) + V,
    "binomial": lambda k, c: 1e-12 * c * sp.binom(40, k) + V,
}
OF_ARRAYS: dict[str, Step] = {
    "sinc": lambda _, c: np.sinc(c) + 0.1 * V,
    "heaviside": lambda _, c: 0.5 * c * np.heaviside(c - 0.4, 0.5) + V,
    "modf": lambda _, c: np.modf(0.3 * c + 1.0)[0] + V,
    "booleans": lambda _, c: 0.5 * c * np.maximum(c > 0.5, c < 0.2) + V,
    "sort": lambda _, c: 0.5 * np.sort(c) + V[::-1],
    "median": lambda _, c: 0.5 * (c - np.median(c)) + V,
    "quantile": lambda _, c: 0.5 * c / (1.0 + np.quantile(c, 0.4)) + V,
    "gamma": lambda _, c: 0.5 * sp.gamma(1.0 + c) + 0.1 * V,
    "elliptic integral": lambda _, c: sp.ellipk(0.3 * c) - V,
    "hypergeometric function": lambda _, c: sp.hyp2f1(1.0, 2.0, 3.0, 0.2 * c) - V,
    "exponential integral": lambda _, c: sp.expi(0.5 + 0.1 * c) + V,
    "Bessel K": lambda _, c: sp.kv(1.0, 0.5 + c) * 0.3 + V,
    "Pochhammer's symbol": lambda _, c: sp.poch(1.0 + 0.1 * c, 2.0) * 0.1 + V,
}


def looped(step: Step) -> Callable[[Any], Any]:
    """So many trips that they stay a loop."""

    def loss(c: Any) -> Any:
        for k in range(40):
            c = step(k, c)
        return np.sum(c * V)

    return loss


@pytest.mark.at_length
@pytest.mark.parametrize("name", [*OF_COUNTERS, *OF_ARRAYS])
def test_values_and_gradients_are_native(name: str) -> None:
    loss = looped((OF_COUNTERS | OF_ARRAYS)[name])
    both = fg.jit(fg.value_and_grad(loss))
    made = both.specialized(V)
    assert [reason.words for reason in made.executable.reasons] == []
    assert len(made.program.equations) < 200
    value, gradient = both(V)
    np.testing.assert_allclose(value, loss(V), rtol=1e-9)
    along, step = np.cos(np.arange(6.0)), 1e-6
    quotient = (loss(V + step * along) - loss(V - step * along)) / (2.0 * step)
    np.testing.assert_allclose(np.sum(gradient * along), quotient, rtol=2e-5, atol=1e-7)


def test_negative_powers_of_integers_raise_as_in_numpy() -> None:
    powers = fg.jit(lambda n: np.array([2, -3, 5]) ** n)
    np.testing.assert_array_equal(powers(np.array([3, 3, 0])), [8, -27, 1])
    with pytest.raises(ValueError, match="negative integer powers"):
        powers(np.array([3, -1, 0]))


def test_powers_of_integers_wrap_as_in_numpy() -> None:
    base, exponent = np.array([3, -7, 2, 10], np.int64), np.array([41, 25, 63, 30])
    found = fg.jit(lambda x, n: x**n)(base, exponent)
    np.testing.assert_array_equal(found, base**exponent)


def test_a_series_as_it_is_written() -> None:
    def sine(x: Any) -> Any:
        total = 0.0
        for k in range(35):
            total = total + (-1) ** k * x ** (2 * k + 1) / math.gamma(2 * k + 2)
        return total

    np.testing.assert_allclose(fg.jit(fg.grad(sine))(0.7), np.cos(0.7), rtol=1e-12)


def test_of_a_doubled_number_and_a_squared_one_the_squared_one_is_doubled() -> None:
    program = fg.make_program(lambda t, x, y: ((t + t) * x, x * (t - y), x * x, (t + t) * y, y * 2.0))(
        *[np.float64(k) for k in (1.5, 2.5, 3.5)]
    )
    assert factors_doubled(program) is program, "what is doubled is read twice"
    program = fg.make_program(lambda t, x: (x * (t + t), x * x, t * x))(np.float64(1.5), np.float64(2.5))
    changed = factors_doubled(program)
    assert [e.primitive.name for e in changed.equations] == ["add", "mul", "mul", "mul"]
    assert changed.equations[0].inputs == (program.inputs[1],) * 2
    numbers = np.array([0.1, -3e-308, 5e-324, 1.3e154, -0.0, np.pi, np.inf, np.nan])
    with np.errstate(all="ignore"):
        for t in numbers:
            for x in numbers:
                np.testing.assert_array_equal(changed.evaluate(t, x), program.evaluate(t, x))


def test_a_product_of_a_doubled_number_with_what_is_not_squared_stays() -> None:
    numbers = [np.float64(k) for k in (1.5, 2.5, 3.5)]
    program = fg.make_program(lambda t, x, y: ((t + t) * x, y * y))(*numbers)
    assert factors_doubled(program).equations == program.equations
