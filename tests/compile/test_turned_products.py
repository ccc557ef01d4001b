"""Products whose only reader turns them round are made as they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.rewriting.expand import expand


def both(x: Any, y: Any) -> Any:
    product = x.T @ y
    return product.T, product


def of_batch(x: Any, y: Any) -> Any:
    return np.transpose(np.stack([x, 2 * x]) @ np.stack([y.T, y.T]), (0, 2, 1))


def batch_moved(x: Any, y: Any) -> Any:
    return np.transpose(np.stack([x, 2 * x]) @ np.stack([y.T, y.T]), (1, 0, 2))


CASES = {
    "transposed": (lambda x, y: (x.T @ y).T, 0),
    "gradient of weights": (fg.grad(lambda x, y: np.sum(np.sin(y @ x.T))), 0),
    "of a batch": (of_batch, 0),
    "batch moved": (batch_moved, 1),
    "read twice": (both, 1),
    "with a vector": (lambda x, y: (x.T @ y[:, 0]).T, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_transposes_of_products_are_products(name: str, rng: np.random.Generator) -> None:
    """How many transposes of products are left, and the same values; `(60, 50)` is too large for loops."""
    function, left = CASES[name]
    x, y = rng.normal(size=(60, 50)), rng.normal(size=(60, 50))
    program = fg.make_program(function)(x, y)
    expanded = expand(program)
    made_by = {v: e for e in expanded.equations for v in e.outputs}
    turned = [
        e
        for e in expanded.equations
        if e.primitive.name == "permute"
        and e.inputs[0] in made_by
        and made_by[e.inputs[0]].primitive.name == "dot_general"
    ]
    assert len(turned) == left, expanded
    for found, wanted in zip(expanded(x, y), program(x, y), strict=True):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
