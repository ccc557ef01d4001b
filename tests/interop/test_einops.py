"""einops, opt_einsum and ``np.einsum_path`` on traced arrays and on the facade's tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import opt_einsum
import pytest

import funcgrad as fg
import funcgrad.torch as torch
from funcgrad.testing import check_grads

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rearrange": lambda x: einops.rearrange(x, "a b c -> c (a b)"),
    "rearrange a list": lambda x: einops.rearrange([x, 2.0 * x], "k a b c -> a k b c"),
    "split an axis": lambda x: einops.rearrange(x, "a b (c d) -> d a b c", d=2),
    "reduce by mean": lambda x: einops.reduce(x, "a b c -> a c", "mean"),
    "reduce by sum": lambda x: einops.reduce(x, "a b c -> b", "sum"),
    "reduce by max": lambda x: einops.reduce(x, "a b c -> a", "max"),
    "reduce by min": lambda x: einops.reduce(x, "a b c -> c 1", "min"),
    "reduce by prod": lambda x: einops.reduce(x, "a b c -> a c", "prod"),
    "pool": lambda x: einops.reduce(x, "a b (c d) -> a b c", "max", d=2),
    "repeat": lambda x: einops.repeat(x, "a b c -> a (b k) c", k=3),
    "repeat along a new axis": lambda x: einops.repeat(x, "a b c -> k a b c", k=2),
    "einsum": lambda x: einops.einsum(x, x, "a b c, a d c -> b d"),
    "pack": lambda x: einops.pack([x, x[:, 0]], "a * c")[0],
    "parse_shape": lambda x: x * einops.parse_shape(x, "a _ c")["c"],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_einops_is_differentiated(name: str, rng: np.random.Generator) -> None:
    x, f = rng.normal(size=(2, 3, 4)), FUNCTIONS[name]
    check_grads(f, (x,), order=2)
    np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-12)
    batch = np.stack([x, 1.0 - x])
    np.testing.assert_allclose(fg.vmap(f)(batch), np.stack([f(x), f(1.0 - x)]), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_einops_on_tensors(name: str, rng: np.random.Generator) -> None:
    value, f = rng.normal(size=(2, 3, 4)), FUNCTIONS[name]
    x = torch.tensor(value, requires_grad=True)
    out = f(x)
    np.testing.assert_allclose(out.detach().numpy(), f(value), rtol=1e-12)
    (out**2).sum().backward()
    expected = fg.grad(lambda x: np.sum(f(x) ** 2))(value)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_unpack_gives_back_what_was_packed(rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, 5))

    def loss(x: Any) -> Any:
        packed, shapes = einops.pack([x, x[:, :1]], "a *")
        first, second = einops.unpack(packed, shapes, "a *")
        return np.sum(first**2) + np.sum(second)

    expected = 2.0 * x
    expected[:, 0] += 1.0
    np.testing.assert_allclose(fg.grad(loss)(x), expected)


@pytest.mark.parametrize("optimize", ["auto", "greedy", "optimal", "branch-2"])
def test_opt_einsum_contracts_tracers(optimize: str, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4))

    def contracted(x: Any) -> Any:
        return opt_einsum.contract("abc,abd,bd->ac", x, x, x[0], optimize=optimize)

    check_grads(contracted, (x,), order=2)
    np.testing.assert_allclose(fg.jit(contracted)(x), contracted(x), rtol=1e-12)


def test_expressions_of_opt_einsum(rng: np.random.Generator) -> None:
    b, c = rng.normal(size=(4, 5)), rng.normal(size=(5, 2))
    chain = opt_einsum.contract_expression("ab,bc,cd->ad", (3, 4), (4, 5), (5, 2))
    with_constants = opt_einsum.contract_expression("ab,bc,cd->ad", (3, 4), b, c, constants=[1, 2])
    a = rng.normal(size=(3, 4))
    check_grads(lambda a: chain(a, b, c), (a,), order=2)
    gradient = fg.grad(lambda a: np.sum(with_constants(a) ** 2))(a)
    np.testing.assert_allclose(gradient, 2.0 * (a @ b @ c) @ (b @ c).T, rtol=1e-12)


def test_paths_of_einsum_path_are_taken(rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4))
    path, _ = np.einsum_path("abc,abd,bd->ac", x, x, x[0], optimize="optimal")

    def contracted(x: Any) -> Any:
        inner, _ = np.einsum_path("abc,abd,bd->ac", x, x, x[0], optimize="optimal")
        assert inner == path
        return np.einsum("abc,abd,bd->ac", x, x, x[0], optimize=path)

    check_grads(contracted, (x,), order=1)
