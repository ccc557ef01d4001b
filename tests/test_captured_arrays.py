"""Arrays that a traced function closes over: reused buffers stay right, the caller's arrays stay theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def test_a_small_buffer_may_be_reused() -> None:
    def loss(x: Any) -> Any:
        buffer = np.empty(3)
        total = 0.0
        for k in range(4):
            buffer[:] = k
            total = total + (x * buffer).sum()
        return total

    np.testing.assert_array_equal(fg.grad(loss)(np.ones(3)), np.full(3, 6.0))


def test_writing_into_a_large_captured_array_is_refused_not_wrong() -> None:
    large = np.ones(100_000)

    def loss(x: Any) -> Any:
        product = x * large
        large[0] = 7.0
        return product.sum()

    with pytest.raises(ValueError, match="read-only"):
        fg.grad(loss)(np.ones(100_000))
    assert large.flags.writeable
    assert large[0] == 1.0


@pytest.mark.parametrize("order", ["view first", "base first"])
def test_views_and_bases_become_writeable_again(order: str) -> None:
    base = np.ones(200_000)
    view = base[:100_000]
    first, second = (view, base[100_000:]) if order == "view first" else (base, view)

    def inner(y: Any) -> Any:
        return (y * second).sum()

    def loss(x: Any) -> Any:
        return (x * first).sum() + fg.grad(inner)(np.ones(second.shape)).sum()

    fg.grad(loss)(np.ones(first.shape))
    assert all(array.flags.writeable for array in (base, view, first, second))


def test_a_changed_capture_is_read_again() -> None:
    weights = np.ones(3)

    def loss(x: Any) -> Any:
        return (x * weights).sum()

    gradient = fg.grad(loss)
    np.testing.assert_array_equal(gradient(np.ones(3)), np.ones(3))
    weights *= 5.0
    np.testing.assert_array_equal(gradient(np.ones(3)), np.full(3, 5.0))


def test_inputs_are_never_modified_nor_returned() -> None:
    x = np.arange(3.0)
    value, (x_bar,) = fg.vjp(np.copy, x)[0], fg.vjp(lambda v: v, x)[1](x)
    assert not np.shares_memory(value, x)
    assert not np.shares_memory(x_bar, x)
    np.testing.assert_array_equal(x, np.arange(3.0))
