"""How results lie in memory: as PyTorch's do, so that the same views can be taken of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import torch

F = torch.nn.functional


def turned() -> Any:
    """A tensor whose dimensions lie in another order than rows."""
    return torch.arange(24.0).view(4, 2, 3).permute(1, 2, 0) / 24


IN_ROWS = [
    lambda x: x.cumsum(0),
    lambda x: x.softmax(1),
    lambda x: x.log_softmax(0),
    lambda x: x.roll(1, 1),
    lambda x: x.sum(0),
    lambda x: x.mean(0),
    lambda x: x.var(0),
    lambda x: x.logsumexp(0),
    lambda x: x.masked_fill(x > 0.5, 0.0),
    lambda x: torch.cat([x, x]),
    lambda x: torch.stack([x, x]),
    lambda x: torch.hstack([x, x]),
    lambda x: F.layer_norm(x, (4,)),
    lambda x: F.rms_norm(x, (4,)),
    lambda x: F.batch_norm(x, None, None, training=True),
    lambda x: F.group_norm(x, 1),
    lambda x: F.avg_pool1d(x, 2),
    lambda x: F.max_pool1d(x, 2),
    lambda x: F.conv1d(x, torch.ones(2, 3, 2)),
    lambda x: x.clone(memory_format=torch.contiguous_format),
]
AS_THE_OPERAND = [
    lambda x: x.clone(),
    copy.deepcopy,
    torch.zeros_like,
    lambda x: torch.full_like(x, 2.0),
    torch.rand_like,
    torch.randn_like,
    lambda x: x.exp(),
    lambda x: x + x,
]


@pytest.mark.parametrize("function", IN_ROWS)
@pytest.mark.parametrize("history", [True, False])
def test_what_pytorch_lays_out_in_rows_can_be_viewed_flat(
    function: Callable[[Any], Any], history: bool
) -> None:
    out = function(turned().requires_grad_(history))
    assert out.is_contiguous()
    assert out.view(-1).tolist() == out.flatten().tolist()


@pytest.mark.parametrize("function", AS_THE_OPERAND)
def test_what_follows_its_operand_lies_as_it_does(function: Callable[[Any], Any]) -> None:
    x = turned()
    out = function(x)
    assert out.stride() == x.stride() == (3, 1, 6)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        out.view(-1)


def test_copies_of_expanded_and_strided_tensors() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert x.expand(4, 2, 3).clone().is_contiguous()
    assert x[:, ::2].clone().stride() == (2, 1)
    assert np.array_equal(x.t().clone(), x.t())


FILLED = [
    torch.rand_like,
    lambda x: x.clone().uniform_(),
    lambda x: x.clone().random_(1000),
    lambda x: x.clone().exponential_(),
    lambda x: torch.nn.init.uniform_(x.clone()),
    lambda x: F.dropout(x.clone().fill_(1.0)),
]


@pytest.mark.parametrize("fill", FILLED)
def test_random_numbers_are_filled_in_the_order_of_memory(fill: Callable[[Any], Any]) -> None:
    torch.manual_seed(0)
    found = fill(turned())
    torch.manual_seed(0)
    in_rows = fill(torch.zeros(4, 2, 3))
    assert np.array_equal(found, in_rows.permute(1, 2, 0))


def test_normal_numbers_of_a_transposed_tensor() -> None:
    """Drawn in pairs, as PyTorch does for what does not lie in rows."""
    torch.manual_seed(0)
    found = torch.zeros(8, 4).t().normal_()
    want = [1.5410, -1.0845, -0.7193, -0.8567, -0.5663, 0.3704, 0.1919, -0.0209]
    np.testing.assert_allclose(found[0], want, atol=5e-5)
