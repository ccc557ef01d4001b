"""Philox4x64-10 with NumPy alone, for many keys at once: each of NumPy's own generators has one key.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.types import Array

MULTIPLIERS = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
STEPS = np.array([0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B], np.uint64)
"""The golden ratio and the square root of 3 less 1, of which the round keys are multiples."""

ROUNDS = 10
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def words(keys: Array, start: Array, stream: int, count: int) -> Array:
    """The first `count` words that each key makes of the counters from `start` on, the highest word `stream`.

    >>> numpys = np.random.Philox(key=[1, 2], counter=0)  # which counts before it makes a block
    >>> ours = words(np.array([[1, 2]], np.uint64), np.ones(1, np.uint64), 0, 6)
    >>> bool(np.all(ours == numpys.random_raw(6)))
    True
    """
    blocks = -(-count // 4)
    low = start[:, None] + np.arange(blocks, dtype=np.uint64)
    carry = (low < start[:, None]).astype(np.uint64)
    counter = [low, carry, np.zeros_like(low), np.full_like(low, stream)]
    key = keys.astype(np.uint64)
    for _ in range(ROUNDS):
        counter = mixed(counter, key[:, :1], key[:, 1:])
        key = key + STEPS
    return np.stack(counter, axis=-1).reshape(len(keys), 4 * blocks)[:, :count]


def mixed(counter: list[Any], first: Array, second: Array) -> list[Any]:
    """One round."""
    high, low = product(MULTIPLIERS[0], counter[0])
    other_high, other_low = product(MULTIPLIERS[1], counter[2])
    return [other_high ^ counter[1] ^ first, other_low, high ^ counter[3] ^ second, low]


def product(x: np.uint64, y: Array) -> tuple[Any, Any]:
    """The higher and the lower half of a product of words, by halves."""
    x_high, x_low = x >> HALF, x & LOW
    y_high, y_low = y >> HALF, y & LOW
    middle = x_high * y_low + ((x_low * y_low) >> HALF)
    other = x_low * y_high + (middle & LOW)
    return x_high * y_high + (middle >> HALF) + (other >> HALF), x * y
