"""Trees in flat buffers, and sums of buffers that do not depend on what arrives first."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad as fg
from funcgrad.distributed.packing import header_of, pack, pack_into, packed_size, unpack
from funcgrad.distributed.sums import FAN, Part, ShardTime, Sums, merged

DTYPES = ("f8", "f4", "f2", "c16", "c8", "i8", "i4", "u1", "?")
LEAVES = st.one_of(
    st.builds(
        lambda dtype, shape: np.arange(int(np.prod(shape))).astype(dtype).reshape(shape),
        st.sampled_from(DTYPES),
        st.lists(st.integers(0, 3), max_size=3),
    ),
    st.floats(allow_nan=False),
    st.integers(),
    st.booleans(),
    st.complex_numbers(allow_nan=False),
    st.text(max_size=3),
    st.builds(np.float32, st.integers(0, 9)),
)
TREES = st.recursive(
    LEAVES | st.none(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner),
    ),
    max_leaves=6,
)


@given(TREES)
def test_trees_come_back_as_they_were(pytree: Any) -> None:
    flat = pack(pytree)
    assert flat.nbytes == packed_size(pytree)
    for travelled in (flat, pickle.loads(pickle.dumps(flat)), np.frombuffer(flat.tobytes(), np.uint8)):
        found = unpack(travelled)
        assert fg.tree.structure(found) == fg.tree.structure(pytree)
        for one, other in zip(fg.tree.leaves(found), fg.tree.leaves(pytree), strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


def test_views_are_aligned_and_cannot_be_written_to() -> None:
    flat = pack((np.ones(3, np.float32), np.ones(2), np.ones(1, np.int8)))
    odd = np.empty(flat.nbytes + 1, np.uint8)[1:]
    pack_into(odd, (np.ones(3, np.float32), np.ones(2), np.ones(1, np.int8)))
    for array in unpack(odd):
        assert array.flags.aligned
        assert not array.flags.writeable
        assert (array == 1).all()
    assert header_of(flat) == header_of(odd)


def part(k: int, value: float) -> Part:
    return Part(pack((np.float64(value), np.full(3, value))), (), 1, (ShardTime(k, 0.0, "here"),))


@pytest.mark.parametrize("count", [1, 2, FAN, FAN + 1, 70, 600])
def test_sums_do_not_depend_on_the_order_of_arrival(count: int, rng: np.random.Generator) -> None:
    values = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, count)
    totals = []
    for _ in range(4):
        sums = Sums(count, "sum")
        for k in rng.permutation(count).tolist():
            assert sums.whole is None
            sums.add(k, part(k, values[k]))
        assert sums.whole is not None
        assert [time.shard for time in sums.whole.times] == list(range(count))
        assert sums.whole.rows == count
        totals.append(unpack(sums.whole.summed)[0])  # type: ignore[arg-type]
    assert len(set(totals)) == 1
    np.testing.assert_allclose(totals[0], values.sum(), rtol=1e-9)


def test_sums_hold_little_while_they_wait() -> None:
    sums = Sums(10_000, "sum")
    most = 0
    for k in range(10_000):
        sums.add(k, part(k, 1.0))
        most = max(most, sum(len(members) for members in sums._waiting.values()))
    assert most <= 5 * FAN
    assert sums.whole is not None
    assert unpack(sums.whole.summed)[0] == 10_000  # type: ignore[arg-type]


def test_different_results_are_no_sum() -> None:
    other = Part(pack((np.float64(1.0), np.ones(4))), (), 1, (ShardTime(7, 0.0, "there"),))
    failure = merged([part(6, 1.0), other], "sum").failure
    assert failure is not None
    assert "shards 6 and 7 return results that cannot be summed" in str(failure.error())
    assert "(float64[], float64[3]) and (float64[], float64[4])" in str(failure.error())
