"""Very long chains of operations become several loops: one body of all would take a compiler for ever."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.compile.kernel import make_kernel
from funcgrad.compile.nests import FULL, Nest


def chain(x: Any) -> Any:
    for k in range(FULL):
        x = x * (1.0 + 1e-4 * k) + 0.5
    return x


def test_no_loop_takes_more_than_it_can(rng: np.random.Generator) -> None:
    x = rng.normal(size=50)
    nests = [step for step in make_kernel(fg.make_program(chain)(x)).steps if isinstance(step, Nest)]
    bodies = [step.weight for step in nests if step.shape]
    assert len(bodies) > 1
    assert max(bodies) <= FULL + 10
    assert sum(bodies) >= 2 * FULL - 1  # the first product is with one


def test_values_pass_from_loop_to_loop(rng: np.random.Generator) -> None:
    x = rng.normal(size=50)
    np.testing.assert_allclose(fg.jit(chain)(x), chain(x), rtol=1e-12)
    expected = fg.grad(lambda x: np.sum(chain(x)))(x)
    np.testing.assert_allclose(fg.jit(fg.grad(lambda x: np.sum(chain(x))))(x), expected, rtol=1e-12)


def test_straight_line_code_is_not_divided() -> None:
    assert np.isclose(fg.jit(chain)(0.25), chain(0.25), rtol=1e-12)
