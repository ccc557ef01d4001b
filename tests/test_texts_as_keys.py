"""A memo that is keyed by the text of a traced value takes no value for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

TEXTS: dict[str, Callable[[Any], object]] = {
    "format": lambda v: f"{v}",
    "digits": lambda v: f"{v:.6f}",
    "repr": repr,
    "percent": lambda v: "%s" % v,  # noqa: UP031 - as people write it
    "in a tuple": lambda v: (f"{v!r}", 1),
    "of an array": lambda v: repr(np.stack([v, 2.0 * v])),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_memo_by_text(name: str) -> None:
    def f(x: Any) -> Any:
        memo: dict[object, Any] = {}

        def square(v: Any) -> Any:
            key = TEXTS[name](v)
            if key not in memo:
                memo[key] = v * v
            return memo[key]

        return square(x[0]) + square(x[1]) * x[2] + square(x[0])

    x = np.array([0.73, 1.31, 2.17])
    expected = [4 * x[0], 2 * x[1] * x[2], x[1] ** 2]
    slope = fg.grad(f)
    for found in (slope(x), fg.jit(slope)(x), fg.vmap(slope)(x[None])[0], fg.jit(fg.vmap(slope))(x[None])[0]):
        np.testing.assert_allclose(found, expected)


def test_text_of_what_is_written_into_is_text_of_what_it_holds_now() -> None:
    seen: list[str] = []

    def f(x: Any) -> Any:
        y = x * 2.0
        seen.append(repr(y))
        y[0] = x[1]
        seen.append(repr(y))
        seen.append(repr(y[:2]))
        return y.sum()

    fg.jit(f)(np.ones(3))
    assert len(set(seen[-3:])) == 3
