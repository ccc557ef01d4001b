"""The search in buckets agrees with `np.searchsorted` everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad.ops.arrays import searching
from funcgrad.ops.arrays.searching import BLOCK, searchsorted

COUNT = BLOCK + 1000


def tables(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "normal": np.sort(rng.normal(size=1000)),
        "clustered": np.sort(np.concatenate([rng.normal(size=500) * 1e-9, [5.0, 1e6]])),
        "repeated": np.sort(rng.integers(0, 5, 300) * 1.0),
        "grid": np.linspace(-3.0, 3.0, 64),
        "huge": np.array([-1e308, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 1e308]),
        "tiny": np.arange(10) * 5e-324,
        "infinite": np.array([-np.inf, *range(8), np.inf]),
        "one value": np.full(9, 2.0),
        "nan": np.array([*range(9), np.nan]),
        "short": np.array([0.0, 1.0]),
    }


@pytest.mark.parametrize("name", tables(np.random.default_rng(0)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:overflow")
def test_positions_are_numpys(name: str, dtype: Any, rng: np.random.Generator) -> None:
    table = tables(rng)[name].astype(dtype)
    values = rng.normal(size=COUNT).astype(dtype)
    values[: BLOCK // 2] = rng.choice(table, BLOCK // 2)
    values[BLOCK : BLOCK + 6] = [np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38]
    for sample in (values, np.append(values, np.nan), values.reshape(2, -1), values[::-1]):
        for side in ("left", "right"):
            wanted = np.searchsorted(table, sample, side)  # type: ignore[call-overload]
            np.testing.assert_array_equal(searchsorted(table, sample, side), wanted)


def test_other_dtypes_and_few_values_are_numpys_own(rng: np.random.Generator, monkeypatch: Any) -> None:
    monkeypatch.setattr(searching, "Buckets", None)
    integers = np.arange(100)
    np.testing.assert_array_equal(searchsorted(integers, np.arange(COUNT), "left")[:100], integers)
    assert searchsorted(integers * 0.5, np.float64(3.2), "left") == 7
