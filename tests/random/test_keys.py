"""Keys and random words: the generator bit for bit, and keys that are traced, batched and carried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ops.random import philox
from funcgrad.ops.random.random_words import FOLDS, SPLITS, generator

MOST = (1 << 64) - 1
BEFORE = np.full(4, MOST, np.uint64)


def test_words_are_those_of_numpys_philox() -> None:
    for seed in (0, 7, MOST, 1 << 64, -1, 123456789 << 40):
        # NumPy counts before it makes a block, and so starts from the number before 0.
        numpys = np.random.Philox(key=np.array([seed & MOST, (seed >> 64) & MOST], np.uint64), counter=BEFORE)
        np.testing.assert_array_equal(fg.random.bits(fg.random.key(seed), (11,)), numpys.random_raw(11))


def test_published_vector() -> None:
    """That of the Random123 library for philox4x64 with ten rounds, of a counter and a key of zeros."""
    zero = philox.words(np.zeros((1, 2), np.uint64), np.zeros(1, np.uint64), 0, 4)
    assert [f"{w:016x}" for w in zero[0].tolist()] == [
        "16554d9eca36314c",
        "db20fe9d672d0fdc",
        "d7e772cee186176b",
        "7e68b68aec7ba23b",
    ]


@pytest.mark.parametrize("stream", [0, SPLITS, FOLDS])
def test_many_keys_at_once_are_the_keys_one_by_one(stream: int, rng: np.random.Generator) -> None:
    keys = rng.integers(0, MOST, (9, 2), dtype=np.uint64, endpoint=True)
    starts = rng.integers(0, MOST, 9, dtype=np.uint64, endpoint=True)
    starts[:3] = [0, MOST, MOST - 1]
    found = philox.words(keys, starts, stream, 13)
    for row, key, start in zip(found, keys, starts, strict=True):
        np.testing.assert_array_equal(row, generator(key, int(start), stream).random_raw(13))


def test_samples_keys_and_folds_share_no_words() -> None:
    key = fg.random.key(3)
    drawn = set(fg.random.bits(key, (400,)).tolist())
    children = set(np.ravel(fg.random.split(key, 100)).tolist())
    folded = {int(w) for k in range(100) for w in fg.random.fold_in(key, k)}
    assert len(drawn | children | folded) == 800


def test_splitting() -> None:
    key = fg.random.key(5)
    first, second = fg.random.split(key)
    np.testing.assert_array_equal(fg.random.split(key, 5)[:2], [first, second])
    assert fg.random.split(key, (2, 3)).shape == (2, 3, 2)
    assert len({tuple(k) for k in fg.random.split(key, 50).tolist()}) == 50


def test_seeds() -> None:
    np.testing.assert_array_equal(fg.random.key(-1), [MOST, MOST])
    np.testing.assert_array_equal(fg.random.key(1 << 70), [0, 64])
    for seed in (np.int32(-5), np.uint8(200), np.int64(-(2**62))):
        np.testing.assert_array_equal(fg.random.key(seed), fg.random.key(int(seed)))
        traced = fg.make_program(fg.random.key)(seed).evaluate(seed)[0]
        np.testing.assert_array_equal(traced, fg.random.key(int(seed)))


def test_folding_takes_traced_numbers() -> None:
    key = fg.random.key(1)
    steps = np.arange(4)
    found = fg.vmap(lambda k: fg.random.fold_in(key, k))(steps)
    np.testing.assert_array_equal(found, [fg.random.fold_in(key, k) for k in range(4)])
    np.testing.assert_array_equal(fg.random.fold_in(key, -1), fg.random.fold_in(key, np.int64(-1)))


def test_keys_go_through_loops() -> None:
    def step(key: Any, _: Any) -> tuple[Any, Any]:
        key, own = fg.random.split(key)
        return key, fg.random.normal(own, (2,))

    _, found = fg.scan(step, fg.random.key(0), None, length=5)
    key, wanted = fg.random.key(0), []
    for _ in range(5):
        key, row = step(key, None)
        wanted.append(row)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_bits_of_every_width(dtype: Any) -> None:
    found = fg.random.bits(fg.random.key(0), (2000,), dtype)
    assert found.dtype == dtype
    width = 8 * np.dtype(dtype).itemsize
    ones = sum(bin(int(x)).count("1") for x in found)
    assert abs(ones - 1000 * width) < 5 * np.sqrt(500 * width)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fg.random.normal(np.zeros(2)), "array of two uint64"),
        (lambda: fg.random.normal(fg.random.split(fg.random.key(0))), "fg.vmap"),
        (lambda: fg.random.key(np.arange(3)), "one integer"),
        (lambda: fg.random.key(1.5), "one integer"),
        (lambda: fg.random.fold_in(fg.random.key(0), 1.5), "takes an integer"),
        (lambda: fg.random.fold_in(fg.random.key(0), np.arange(2)), "one integer"),
        (lambda: fg.random.bits(fg.random.key(0), (2,), np.int64), "unsigned"),
        (lambda: fg.random.normal(fg.random.key(0), (-1,)), "negative"),
        (lambda: fg.random.normal(fg.random.key(0), (), int), "real numbers"),
        (lambda: fg.random.uniform(fg.random.key(0), (2,), minval=np.zeros(3)), "do not broadcast"),
    ],
)
def test_refusals(call: Any, words: str) -> None:
    with pytest.raises((ShapeError, DtypeError), match=words):
        call()
