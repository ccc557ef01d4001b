"""Awkward points and common layers in funcgrad and in torch, where the conventions agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad as fg

pytestmark = [
    pytest.mark.peers("torch"),
    # torch's own use of what it has deprecated is not ours to mend.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Pair(NamedTuple):
    """One function in both libraries, and where to compare them."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    args: Sequence[Any]


def torch_gradients(f: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, list[Any]]:
    import torch

    leaves = [torch.tensor(x, requires_grad=True) for x in args]
    value = f(torch, *leaves)
    value.backward()
    return value.detach().numpy(), [
        np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves
    ]


X = np.array([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]])
W = np.array([[1.0, 0.5], [-0.5, 2.0], [0.25, -1.0]])

PAIRS = {
    "abs_at_zero": Pair(
        lambda x: np.sum(np.abs(x)), lambda t, x: x.abs().sum(), [np.array([0.0, -1.0, 2.0])]
    ),
    "sqrt_at_zero": Pair(lambda x: np.sum(np.sqrt(x)), lambda t, x: x.sqrt().sum(), [np.array([0.0, 4.0])]),
    "norm_at_zero": Pair(np.linalg.norm, lambda t, x: t.linalg.norm(x), [np.zeros(3)]),
    "norm": Pair(np.linalg.norm, lambda t, x: t.linalg.norm(x), [X]),
    "maximum_ties": Pair(
        lambda x, y: np.sum(np.maximum(x, y)),
        lambda t, x, y: t.maximum(x, y).sum(),
        [np.ones(3), np.array([1.0, 0.0, 2.0])],
    ),
    "minimum_ties": Pair(
        lambda x, y: np.sum(np.minimum(x, y)),
        lambda t, x, y: t.minimum(x, y).sum(),
        [np.ones(3), np.array([1.0, 0.0, 2.0])],
    ),
    "max_ties": Pair(np.max, lambda t, x: x.amax(), [np.array([2.0, 1.0, 2.0, 2.0])]),
    "min_ties": Pair(np.min, lambda t, x: x.amin(), [np.array([2.0, 1.0, 1.0])]),
    "clip_at_bounds": Pair(
        lambda x: np.sum(np.clip(x, -1.0, 1.0)),
        lambda t, x: x.clamp(-1.0, 1.0).sum(),
        [np.array([-1.0, 1.0, 0.0, 3.0])],
    ),
    "power_zero": Pair(lambda x: np.sum(x**0), lambda t, x: (x**0).sum(), [np.array([0.0, -2.0])]),
    "power_by_exponent_at_zero": Pair(
        lambda x, y: np.sum(x**y), lambda t, x, y: (x**y).sum(), [np.array([0.0, 2.0]), np.array([2.0, 3.0])]
    ),
    "prod_with_zero": Pair(np.prod, lambda t, x: x.prod(), [np.array([2.0, 0.0, 3.0])]),
    "cumprod_with_zero": Pair(
        lambda x: np.sum(np.cumprod(x)), lambda t, x: x.cumprod(0).sum(), [np.array([2.0, 0.0, 3.0])]
    ),
    "logaddexp": Pair(
        lambda x, y: np.sum(np.logaddexp(x, y)),
        lambda t, x, y: t.logaddexp(x, y).sum(),
        [np.array([1000.0, 0.0]), np.zeros(2)],
    ),
    "sort_ties": Pair(
        lambda x: np.sum(np.sort(x) * np.arange(3.0)),
        lambda t, x: (x.sort(stable=True).values * t.arange(3.0, dtype=t.float64)).sum(),
        [np.array([1.0, 1.0, 0.0])],
    ),
    "repeated_indices": Pair(
        lambda x: np.sum(x[np.array([0, 0, 1])] ** 2),
        lambda t, x: (x[t.tensor([0, 0, 1])] ** 2).sum(),
        [np.array([2.0, 3.0])],
    ),
    "where_with_nan": Pair(
        lambda x: np.sum(np.where(x > 0.0, x, 0.0)),
        lambda t, x: t.where(x > 0.0, x, t.zeros_like(x)).sum(),
        [X],
    ),
    "linear_tanh": Pair(lambda x, w: np.sum(np.tanh(x @ w)), lambda t, x, w: (x @ w).tanh().sum(), [X, W]),
    "log_softmax": Pair(
        lambda x: np.sum((x - np.logaddexp.reduce(x, axis=1, keepdims=True))[:, 0]),
        lambda t, x: t.log_softmax(x, 1)[:, 0].sum(),
        [X],
    ),
    "variance": Pair(lambda x: np.var(x, ddof=1), lambda t, x: x.var(), [X]),
    "standard_deviation": Pair(
        lambda x: np.sum(np.std(x, axis=0)), lambda t, x: x.std(0, correction=0).sum(), [X]
    ),
    "mean_square": Pair(lambda x, w: np.mean((x @ w) ** 2), lambda t, x, w: ((x @ w) ** 2).mean(), [X, W]),
    "einsum": Pair(
        lambda x, w: np.sum(np.einsum("ij,jk->ki", x, w) ** 2),
        lambda t, x, w: (t.einsum("ij,jk->ki", x, w) ** 2).sum(),
        [X, W],
    ),
    "hypot": Pair(
        lambda x: np.sum(np.hypot(x, 2.0)), lambda t, x: t.hypot(x, t.full_like(x, 2.0)).sum(), [X]
    ),
    "arctan2": Pair(
        lambda x, y: np.sum(np.arctan2(x, y)),
        lambda t, x, y: t.atan2(x, y).sum(),
        [np.array([0.0, 1.0]), np.array([-1.0, 0.0])],
    ),
    "remainder": Pair(
        lambda x: np.sum(np.remainder(x, 0.7) * x), lambda t, x: (t.remainder(x, 0.7) * x).sum(), [X]
    ),
    "erf_like_gelu": Pair(
        lambda x: np.sum(0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))),
        lambda t, x: t.nn.functional.gelu(x, approximate="tanh").sum(),
        [X],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_value_and_gradient(name: str) -> None:
    pair = PAIRS[name]
    value, slopes = fg.value_and_grad(pair.ours, tuple(range(len(pair.args))))(*pair.args)
    their_value, their_slopes = torch_gradients(pair.theirs, pair.args)
    np.testing.assert_allclose(value, their_value, rtol=1e-12)
    for ours, theirs in zip(slopes, their_slopes, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_complex_gradient_is_the_conjugate_of_torchs() -> None:
    z = np.array([1.0 + 2.0j, -0.5 + 0.1j])
    ours = fg.grad(lambda z: np.sum(np.abs(z * z + 1.0)))(z)
    _, (theirs,) = torch_gradients(lambda t, z: (z * z + 1.0).abs().sum(), [z])
    np.testing.assert_allclose(ours, np.conj(theirs), rtol=1e-12)


def test_second_derivatives() -> None:
    import torch

    x = np.array([0.3, -0.7, 1.1])
    ours = fg.hessian(lambda x: np.sum(np.sin(x) * x[::-1] ** 2))(x)
    theirs = torch.func.hessian(lambda x: (x.sin() * x.flip(0) ** 2).sum())(torch.tensor(x)).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_per_example_gradients() -> None:
    import torch

    w = np.array([0.5, -0.5, 1.0])
    ours = fg.vmap(fg.grad(lambda w, x: np.sum(np.tanh(x * w))), in_axes=(None, 0))(w, X)
    theirs = torch.func.vmap(torch.func.grad(lambda w, x: (x * w).tanh().sum()), in_dims=(None, 0))(
        torch.tensor(w), torch.tensor(X)
    )
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-12)
