"""Values and gradients at NaN, infinities and ties, as PyTorch 2.13 has them wherever its lanes agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import torch

NAN, INF = np.nan, np.inf
Case = tuple[Callable[..., Any], list[list[Any]], list[Any], list[list[Any]]]

CASES: dict[str, Case] = {
    "abs": (torch.abs, [[NAN, -2.0, 0.0]], [NAN, 2.0, 0.0], [[0.0, -1.0, 0.0]]),
    "l1": (
        lambda x, y: torch.nn.functional.l1_loss(x, y, reduction="none"),
        [[NAN, 1.0, INF], [1.0, 2.0, INF]],
        [NAN, 1.0, NAN],
        [[0.0, -1.0, 0.0], [-0.0, 1.0, -0.0]],
    ),
    "clamp": (
        lambda x, low: torch.clamp(x, min=low),
        [[NAN, 1.0, 0.0, 1.0], [0.0, NAN, 1.0, 0.0]],
        [NAN, NAN, 1.0, 1.0],
        [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]],
    ),
    "clamp_max": (
        torch.clamp_max,
        [[NAN, 1.0, 2.0], [0.0, NAN, 1.0]],
        [NAN, NAN, 1.0],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    "amax": (lambda x: torch.amax(x, 0), [[1.0, NAN, 2.0]], [NAN], [[NAN, NAN, NAN]]),
    "amin": (lambda x: torch.amin(x, 0), [[1.0, 1.0, 2.0]], [1.0], [[0.5, 0.5, 0.0]]),
    "aminmax": (lambda x: torch.aminmax(x, dim=0)[1], [[1.0, NAN, 2.0]], [NAN], [[NAN, NAN, NAN]]),
    "mode": (lambda x: torch.mode(x)[0], [[NAN, NAN, NAN]], [NAN], [[1.0, 0.0, 0.0]]),
    "mode among NaN": (lambda x: torch.mode(x)[0], [[1.0, 1.0, NAN, NAN, NAN]], [1.0], [[0, 1, 0, 0, 0]]),
    "xlog1py": (
        torch.special.xlog1py,
        [[0.0, 0.0, 2.0], [-1.0, -3.0, 1.0]],
        [0.0, 0.0, 2 * np.log(2)],
        [[0.0, 0.0, np.log(2)], [NAN, -0.0, 1.0]],
    ),
    "logcumsumexp": (
        lambda x: torch.logcumsumexp(x, 0),
        [[-INF, -INF, 1.0]],
        [-INF, -INF, 1.0],
        [[NAN, NAN, 1.0]],
    ),
    "rsqrt": (
        torch.rsqrt,
        [[complex(-1.0, 0.0), complex(-1.0, -0.0)]],
        [-1j, 1j],
        [[0.5j, -0.5j]],
    ),
    "acosh": (
        torch.acosh,
        [[complex(-2.0, 0.0), complex(-2.0, -0.0)]],
        [complex(1.3169578969248166, np.pi), complex(1.3169578969248166, -np.pi)],
        [[-(3.0**-0.5), -(3.0**-0.5)]],
    ),
    "sgn": (torch.sgn, [[0j, 2j]], [0.0, 1j], [[0.0, 0.5]]),
    "power": (torch.pow, [[0j, 2j], [0j, 0j]], [complex(NAN, NAN), 1.0], [[0.0, 0.0], [0.0, np.log(-2j)]]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_at_the_edges_are_pytorchs(name: str) -> None:
    function, inputs, wanted, slopes = CASES[name]
    dtype = torch.complex128 if isinstance(inputs[0][0], complex) else torch.float64
    leaves = [torch.tensor(x, dtype=dtype, requires_grad=True) for x in inputs]
    out = function(*leaves)
    np.testing.assert_allclose(np.atleast_1d(out.detach().numpy()), wanted, rtol=1e-12)
    total = out.sum()
    (total.real if total.is_complex() else total).backward()
    for leaf, slope in zip(leaves, slopes, strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), slope, rtol=1e-12, atol=1e-12)
