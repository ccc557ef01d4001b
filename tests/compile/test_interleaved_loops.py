"""Loops of many functions take two vectors a turn and share what they can, and compute what they did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.engines.build import FASTMATH, NUMBERS, assembly, translate
from funcgrad.compile.engines.linked_functions import modules_called_by

INTERLEAVED = ", !llvm.loop"


def loop(*lines: str, over: str = "range(n[1], n[2])") -> str:
    """A kernel of one loop."""
    head = [
        "def run(p, n):",
        "    x = as_f64(p[0])",
        "    y = as_f64(p[1])",
        "    z = as_f64(p[2])",
        f"    for i in {over}:",
    ]
    return "\n".join([*head, *[f"        {line}" for line in lines]])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("a = tanh(sin(x[i]))", "y[i] = log(exp(a) + 0.5)"), 1),
        (("y[i] = exp(tanh(x[i]))",), 0),  # turns overlap by themselves
        ([f"y[i + {k}] = exp(x[i + {k}])" for k in range(9)], 0),  # none waits for another
        (("if x[i] > 0.0:", "    y[i] = log(exp(tanh(sin(x[i]))) + 0.5)"), 0),
    ],
)
def test_loops_whose_functions_wait_for_one_another_are_marked(lines: Sequence[str], expected: int) -> None:
    text = translate(loop(*lines), ["run"], frozenset(), NUMBERS)
    assert text.count(INTERLEAVED) == expected


def test_loops_over_arrays_that_may_be_one_vector_long_are_not_marked() -> None:
    text = translate(
        loop("y[i] = log(exp(tanh(sin(x[i]))))", over="range(n[0])"), ["run"], frozenset(), NUMBERS
    )
    assert INTERLEAVED not in text


def test_the_error_function_shares_its_exponential_with_its_derivative() -> None:
    def instructions(*lines: str) -> int:
        modules = list(modules_called_by(translate(loop(*lines), ["run"], FASTMATH, NUMBERS)))
        return len(assembly(loop(*lines), ["run"], FASTMATH, NUMBERS, modules).splitlines())

    value, slope = "y[i] = erf(x[i])", "z[i] = exp(-(x[i] * x[i]))"
    assert instructions(value, slope) < instructions(value) + instructions(slope) / 2


def chain(x: Any) -> Any:
    for k in range(2):
        x = np.log(np.exp(np.tanh(np.sin(x) * (1.0 + k))) + 0.5)
    return np.sum(x)


def test_their_ends_are_what_they_were(rng: np.random.Generator) -> None:
    together = fg.jit(fg.grad(chain))
    for size in (7, 4000, 4013, 4999):
        x = rng.normal(size=size)
        np.testing.assert_allclose(together(x), fg.grad(chain)(x), rtol=1e-13)
