"""Python functions of values inside of what is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError, ShapeError

VECTOR = fg.ShapeDtypeStruct((3,), np.float64)


def rolled(x: Any) -> Any:
    return fg.pure_callback(lambda v: np.roll(v, 1), VECTOR, x)


def test_values_evaluated_and_compiled() -> None:
    x = np.arange(3.0)
    np.testing.assert_array_equal(rolled(x), [2.0, 0.0, 1.0])
    np.testing.assert_array_equal(fg.jit(lambda x: 2.0 * rolled(3.0 * x))(x), [12.0, 0.0, 6.0])


def test_trees_and_batches() -> None:
    def both(x: Any) -> Any:
        return fg.pure_callback(
            lambda d: {"s": d["x"].sum(), "n": d["x"].size},
            {"s": fg.ShapeDtypeStruct((), np.float64), "n": fg.ShapeDtypeStruct((), np.int64)},
            {"x": x},
        )

    found = fg.vmap(both)(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(found["s"], [3.0, 12.0])
    np.testing.assert_array_equal(found["n"], [3, 3])


def test_a_rule_of_ones_own() -> None:
    @fg.custom_jvp
    def f(x: Any) -> Any:
        return rolled(x)

    f.defjvp(lambda primals, tangents: (f(*primals), rolled_linear(*tangents)))

    def rolled_linear(t: Any) -> Any:
        return fg.numpy.roll(t, 1)

    np.testing.assert_allclose(fg.grad(lambda x: np.sum(f(x) * np.arange(3.0)))(np.ones(3)), [1.0, 2.0, 0.0])


def test_refusals() -> None:
    with pytest.raises(NotDifferentiableError, match="nothing is known of its derivative"):
        fg.grad(lambda x: np.sum(rolled(x)))(np.ones(3))
    with pytest.raises(ShapeError, match="returned f64\\[4\\] where f64\\[3\\] was announced"):
        fg.pure_callback(lambda x: np.ones(4), VECTOR, np.ones(3))
    with pytest.raises(NotImplementedError, match="expand_dims"):
        fg.pure_callback(np.sin, VECTOR, np.ones(3), vmap_method="expand_dims")
