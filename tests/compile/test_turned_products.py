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


PARTS = {
    "a row": (lambda p: p[3], "mul"),
    "rows": (lambda p: p[10:35], "dot"),
    "every other row": (lambda p: p[::2], "dot"),
    "rows backwards": (lambda p: p[20:5:-1], "dot"),
    "columns": (lambda p: p[:, 4:9], "dot"),
    "an element": (lambda p: p[2, 7], "mul"),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("by", [0, 1])
def test_zeros_around_a_part_are_not_multiplied(name: str, by: int, rng: np.random.Generator) -> None:
    """Gradients through a part of a product: the same values, beside infinities as well, and fewer terms."""
    part, kind = PARTS[name]
    x, y = rng.standard_normal((60, 50)), rng.standard_normal((50, 40))
    slope = fg.grad(lambda x, y: np.sum(np.sin(part(x @ y))), by)
    program = fg.make_program(slope)(x, y)
    strong = [e for e in expand(program).equations if e.primitive.name == "strong_zero_dot"]
    if by == 1 and "row" in name:
        assert len(strong) == (kind == "dot")
        assert all(e.inputs[0].aval.shape[0] < 60 for e in strong)
    np.testing.assert_allclose(fg.jit(slope)(x, y), program.evaluate(x, y)[0], rtol=1e-12, atol=1e-12)
    x[59], y[:, 39] = np.inf, np.nan
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(fg.jit(slope)(x, y), program.evaluate(x, y)[0], rtol=1e-12, atol=1e-12)


def test_outer_products_are_loops(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal(200), rng.standard_normal(150)
    program = fg.make_program(lambda x, y: np.tanh(np.outer(x, y)))(x, y)
    assert not [e for e in expand(program).equations if e.primitive.name == "dot_general"]
    np.testing.assert_allclose(fg.jit(lambda x, y: np.tanh(np.outer(x, y)))(x, y), program.evaluate(x, y)[0])
