"""Very long chains of operations become several loops: one body of all would take a compiler for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.scheduling import nests

FULL = 100


@pytest.fixture(autouse=True)
def short_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nests, "FULL", FULL)
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")  # what was made of a Program otherwise is not this


def chain(x: Any) -> Any:
    for k in range(2 * FULL):
        x = x * (1.0 - 1e-4 * k) + 0.01
    return x


def test_no_loop_takes_more_than_it_can(rng: np.random.Generator) -> None:
    x = rng.normal(size=50)
    steps = make_kernel(fg.make_program(chain)(x)).steps
    bodies = [step.weight for step in steps if isinstance(step, nests.Nest) and step.shape]
    assert len(bodies) == 4
    assert max(bodies) <= FULL + 10
    assert sum(bodies) >= 4 * FULL - 1  # the first product is with one


def test_values_pass_from_loop_to_loop(rng: np.random.Generator) -> None:
    x = rng.normal(size=50)
    np.testing.assert_allclose(fg.jit(chain)(x), chain(x), rtol=1e-11)
    expected = fg.grad(lambda x: np.sum(np.sin(chain(x))))(x)
    found = fg.jit(fg.grad(lambda x: np.sum(np.sin(chain(x)))))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_straight_line_code_is_not_divided() -> None:
    (nest,) = make_kernel(fg.make_program(chain)(0.25)).steps
    assert isinstance(nest, nests.Nest)
    assert np.isclose(fg.jit(chain)(0.25), chain(0.25), rtol=1e-11)
