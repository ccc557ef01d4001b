"""`where` on arrays large enough to be chosen from without branches."""

from __future__ import annotations

import numpy as np
import pytest

from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.selection import MANY, chosen

DTYPES = ("f4", "f8", "c8", "c16", "f2", "i4", "u1", "b1")


@pytest.mark.parametrize("dtype", DTYPES)
def test_chosen_is_numpys_where(dtype: str, rng: np.random.Generator) -> None:
    x, y = (rng.normal(size=(2, 50, MANY // 40)) * 5).astype(dtype)
    mask = rng.normal(size=x.shape) > 0
    if x.dtype.kind in "fc":
        x[0, 0], x[1, 1], y[2] = np.nan, -np.inf, np.nan
    one, zero = x.dtype.type(1), x.dtype.type(0)
    cases = [
        (mask, x, y),
        (mask, x, zero),
        (mask, x, one),
        (mask, zero, y),
        (mask.T, x.T, y.T),
        (mask[::-1], x[:, ::-1], y),
        (np.bool_(True), x, y),
    ]
    for condition, a, b in cases:
        out = chosen(condition, a, b)
        np.testing.assert_array_equal(out, np.where(condition, a, b))
        assert out.dtype == x.dtype


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_strong_zeros_of_large_arrays(dtype: str, rng: np.random.Generator) -> None:
    x = rng.normal(size=MANY).astype(dtype) * (rng.normal(size=MANY) > 0)
    y = rng.normal(size=MANY).astype(dtype)
    y[::3] = np.inf
    with np.errstate(invalid="ignore"):
        expected = np.where(x, x * y, 0)
        np.testing.assert_array_equal(strong_zero_mul.evaluate(x.astype(dtype), y), expected)
