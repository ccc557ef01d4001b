"""Numbers beside tensors are as exact as the tensors, and NumPy's have no dtype of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import torch

D = np.array([3.0, 0.7, -1.3])

REFLECTED: list[tuple[str, Callable[[Any], Any]]] = [
    ("remainder", lambda x: 0.3 % x),
    ("floor", lambda x: 0.3 // x),
    ("sub", lambda x: torch.sub(0.3, x) if isinstance(x, torch.Tensor) else 0.3 - x),
    ("mul", lambda x: torch.mul(0.3, x) if isinstance(x, torch.Tensor) else 0.3 * x),
    ("div", lambda x: torch.div(0.3, x) if isinstance(x, torch.Tensor) else 0.3 / x),
    ("numpy's", lambda x: np.float64(0.3) % x),
    ("power", lambda x: torch.float_power(abs(x), 0.3) if isinstance(x, torch.Tensor) else abs(x) ** 0.3),
]


@pytest.mark.parametrize(("name", "function"), REFLECTED, ids=[name for name, _ in REFLECTED])
def test_a_number_is_not_rounded_to_single_precision(name: str, function: Callable[[Any], Any]) -> None:
    found = function(torch.tensor(D))
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), function(D), rtol=1e-15)


def test_elements_are_found_among_numbers_of_their_dtype() -> None:
    x = torch.tensor(D)
    assert torch.isin(x, 0.7).tolist() == [False, True, False]
    assert bool(torch.isin(0.7, x))


def test_scalars_of_numpy_keep_the_history() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    weight = np.random.default_rng(0).beta(1.0, 1.0)
    loss = weight * x.sum() + (1 - weight) * x.prod()
    assert loss.dtype == torch.float32
    loss.backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [weight + 2 * (1 - weight), 1.0], rtol=1e-6)


def test_division_rounded_down_is_that_of_python() -> None:
    for a, b in ((3.0, 0.1), (1.0, 0.1), (0.7, 0.1), (-3.0, 0.7), (3.0, -0.3)):
        assert (torch.tensor(a, dtype=torch.float64) // b).item() == a // b
        found = torch.div(torch.tensor([a] * 5, dtype=torch.float64), b, rounding_mode="floor")
        assert found.tolist() == [a // b] * 5


@pytest.mark.parametrize("make", [torch.FloatTensor, torch.LongTensor, torch.Tensor, torch.ones(1).new])
def test_old_constructors_take_sizes(make: Callable[[Any], Any]) -> None:
    assert make(torch.ones(2, 3).size()).shape == torch.Size([2, 3])
