"""`associative_scan` against accumulation in Python."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.errors import ShapeError, TreeError
from funcgrad.testing import check_grads, check_vmap

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_products_of_matrices(length: int, reverse: bool) -> None:
    """A combination that does not commute, so that the order shows."""
    matrices = RNG.normal(size=(length, 2, 2))
    out = lax.associative_scan(fg.numpy.matmul, matrices, reverse=reverse)
    order = matrices[::-1] if reverse else matrices
    expected = list(accumulate(order, np.matmul))
    if reverse:
        expected.reverse()
    np.testing.assert_allclose(out, np.reshape(expected, (length, 2, 2)))


@pytest.mark.parametrize("axis", [0, 1, -1, -3])
def test_any_axis(axis: int) -> None:
    x = RNG.normal(size=(3, 5, 4))
    np.testing.assert_allclose(lax.associative_scan(np.add, x, axis=axis), np.cumsum(x, axis=axis))


def test_pytrees_and_derivatives() -> None:
    def affine(first: Any, second: Any) -> Any:
        return {"a": first["a"] * second["a"], "b": first["b"] * second["a"] + second["b"]}

    def f(a: Any, b: Any) -> Any:
        return lax.associative_scan(affine, {"a": a, "b": b})["b"]

    a, b = RNG.normal(size=7), RNG.normal(size=7)
    expected = lax.scan(lambda h, ab: (h * ab[0] + ab[1], h * ab[0] + ab[1]), 0.0, (a, b))[1]
    np.testing.assert_allclose(f(a, b), expected)
    check_grads(f, (a, b), order=2)
    check_vmap(f, (RNG.normal(size=(3, 7)), RNG.normal(size=(3, 7))))


def test_the_number_of_steps_is_logarithmic() -> None:
    program = fg.make_program(lambda x: lax.associative_scan(np.multiply, x))(np.ones(1024))
    assert sum(equation.primitive.name == "mul" for equation in program) <= 2 * 10


def test_refusals() -> None:
    with pytest.raises(ShapeError, match="one length along axis 0"):
        lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones(4)))
    with pytest.raises(ShapeError, match="axis 1 is not an axis"):
        lax.associative_scan(np.add, np.ones(3), axis=1)
    with pytest.raises(TreeError, match="must return the structure of its arguments"):
        lax.associative_scan(lambda a, b: (a, b), np.ones(3))


def test_nothing_to_scan() -> None:
    assert lax.associative_scan(lambda a, b: a, ()) == ()
