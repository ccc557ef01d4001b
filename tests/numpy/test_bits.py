"""`packbits` and `unpackbits` of traced arrays are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("bitorder", ["big", "little"])
def test_packed_and_unpacked(axis: Any, bitorder: str, rng: np.random.Generator) -> None:
    x = rng.integers(0, 3, (3, 11))
    packed = np.packbits(x, axis, bitorder)
    np.testing.assert_array_equal(fg.jit(lambda x: np.packbits(x, axis, bitorder))(x), packed)
    for count in (None, 2, -3, 40):
        expected = np.unpackbits(packed, axis, count, bitorder)
        found = fg.jit(lambda p, count=count: np.unpackbits(p, axis, count, bitorder))(packed)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_errors_are_numpys() -> None:
    for f, x in ((np.packbits, np.ones(3)), (np.unpackbits, np.ones(3))):
        for way in (f, fg.jit(f)):
            with pytest.raises(TypeError, match="Expected an input array of"):
                way(x)
    with pytest.raises(ValueError, match="bitorder"):
        fg.jit(lambda x: np.packbits(x, bitorder="both"))(np.ones(3, int))
