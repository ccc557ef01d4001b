"""Dask's collections as data: their partitions are the shards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

W = np.array([0.3, -0.2, 0.7, 0.1])
dask_module = pytest.importorskip("dask", reason="dask is not installed")
pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture
def step(dask: Any, loss: Any) -> Any:
    return fg.distribute(fg.value_and_grad(loss), dask)


def close(found: Any, expected: Any) -> None:
    for one, other in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_arrays(step: Any, rows: Any, loss: Any) -> None:
    import dask.array as da

    X, y = rows
    expected = fg.value_and_grad(loss)(W, X, y)
    for chunks in (200, (300, 2)):
        dX = da.from_array(X, chunks=chunks)
        for dy in (da.from_array(y, chunks=250), da.from_array(y, chunks=dX.chunks[0])):
            close(step(W, dX, dy), expected)
    close(step(W, dX + 0.0, 1.0 * dy), expected)
    held = dX.persist(), dy.persist()
    close(step(W, *held), expected)
    close(step(W, X=held[0], y=held[1]), expected)
    assert len(step.report().calls[-1].shards) == dX.numblocks[0]
    dX[dX < 10.0] = 0.0  # the same object has another graph
    close(step(W, dX, dy)[1], np.zeros(4))


def test_chunks_of_unknown_rows(step: Any, rows: Any, loss: Any, dask: Any) -> None:
    import dask.array as da

    X, y = rows
    dX, dy = da.from_array(X, chunks=(200, 4)), da.from_array(y, chunks=200)
    close(step(W, dX[dy > 0], dy[dy > 0]), fg.value_and_grad(loss)(W, X[y > 0], y[y > 0]))
    mean = fg.distribute(lambda w, X: np.mean(X @ w), dask, reduce="mean")
    close(mean(W, dX[dy > 0]), np.mean(X[y > 0] @ W))


def test_views_have_the_bits_of_arrays(step: Any, loss: Any, rng: np.random.Generator) -> None:
    import dask.array as da

    table = rng.normal(size=(20_000, 5))
    whole = da.from_array(table, chunks=(5_000, 5))
    value, grad = step(W, whole[:, :-1], whole[:, -1])
    data = step.scatter(table[:, :-1], table[:, -1], shards=4)
    again, other = step(W, data)
    assert value == again
    np.testing.assert_array_equal(grad, other)
    views = step.scatter(loader=lambda k: (table[k::4, :-1], table[k::4, -1]), shards=4, keep=False)
    copies = step.scatter(loader=lambda k: (table[k::4, :-1].copy(), table[k::4, -1].copy()), shards=4)
    np.testing.assert_array_equal(step(W, views)[1], step(W, copies)[1])


def test_pytrees_of_arrays(rows: Any, loss: Any, dask: Any) -> None:
    import dask.array as da

    X, y = rows
    step = fg.distribute(lambda w, batch: loss(w, batch["X"], batch["y"]), dask)
    close(step(W, {"X": da.from_array(X, chunks=200), "y": da.from_array(y, chunks=200)}), loss(W, X, y))


def test_dataframes(step: Any, rows: Any, loss: Any) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import dask.dataframe as dd

    X, y = rows
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    series = dd.from_pandas(pd.Series(y), npartitions=3)
    expected = fg.value_and_grad(loss)(W, X, y)
    close(step(W, frame, series), expected)
    close(step(W, frame * 1.0, series), expected)
    words = dd.from_pandas(pd.DataFrame({"a": y, "b": ["word"] * len(y)}), npartitions=3)
    with pytest.raises(fg.errors.ShardError, match=r"columns are a \(float64\), b"):
        step(W, words, series)


def test_bags(rows: Any, loss: Any, dask: Any) -> None:
    import dask.bag as db

    X, y = rows
    bag = db.from_sequence([{"x": a, "y": b} for a, b in zip(X, y, strict=True)], npartitions=3)
    step = fg.distribute(fg.value_and_grad(lambda w, d: loss(w, d["x"], d["y"])), dask)
    close(step(W, bag), fg.value_and_grad(loss)(W, X, y))
    close(step(W, bag.map(lambda d: d)), fg.value_and_grad(loss)(W, X, y))


def test_delayed_values(step: Any, rows: Any, loss: Any) -> None:
    X, y = rows
    expected = fg.value_and_grad(loss)(W, X, y)
    pairs = [dask_module.delayed(lambda k: (X[k::3], y[k::3]))(k) for k in range(3)]
    close(step(W, pairs), expected)
    close(step(W, dask_module.delayed((X, y))), expected)
    xs = [dask_module.delayed(X[k::3]) for k in range(3)]
    ys = [dask_module.delayed(y[k::3]) for k in range(3)]
    close(step(W, xs, ys), expected)


def test_what_does_not_fit_is_refused(step: Any, rows: Any) -> None:
    import dask.array as da

    X, y = rows
    dX = da.from_array(X, chunks=200)
    with pytest.raises(fg.errors.ArgnumsError, match="some data of the step is in Dask's collections"):
        step(W, dX, y)
    with pytest.raises(fg.errors.ArgnumsError, match="have as many rows"):
        step(W, dX, da.from_array(y[:-1], chunks=200))
    with pytest.raises(fg.errors.ArgnumsError, match="the same number of partitions"):
        step(W, dX, [dask_module.delayed(y)])
