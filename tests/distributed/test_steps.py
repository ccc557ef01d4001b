"""A step is the function over all rows: every transform, on every engine, in the same bits."""

from __future__ import annotations

import concurrent.futures
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines_for_tests import dask_client
from scipy.optimize import minimize

import funcgrad as fg

W = np.array([0.3, -0.2, 0.7, 0.1])
V = np.array([1.0, 2.0, -0.5, 0.25])


def close(found: Any, expected: Any) -> None:
    assert fg.tree.structure(found) == fg.tree.structure(expected)
    for one, other in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_value_and_gradient(engine: Any, rows: Any, loss: Any) -> None:
    f = fg.value_and_grad(loss)
    step = fg.distribute(f, engine)
    for shards in (1, 3, 20):
        data = step.scatter(*rows, shards=shards)
        assert len(data) == shards
        value, grad = step(W, data)
        close((value, grad), f(W, *rows))
        grad += 1.0  # the caller's own
        close(step(W, data), f(W, *rows))
    close(step(W, step.scatter(*rows)), f(W, *rows))


def test_arrays_as_they_are_are_split(engine: Any, rows: Any, loss: Any) -> None:
    step = fg.distribute(fg.grad(loss), engine)
    close(step(W, *rows), fg.grad(loss)(W, *rows))
    X, y = rows
    close(step(W, step.scatter(X, shards=3), y), fg.grad(loss)(W, *rows))


def test_same_bits_on_every_engine(engine: Any, rows: Any, loss: Any) -> None:
    with ThreadPoolExecutor(3) as pool:
        step = fg.distribute(fg.value_and_grad(loss), pool)
        expected = step(W, step.scatter(*rows, shards=70))
    step = fg.distribute(fg.value_and_grad(loss), engine)
    data = step.scatter(*rows, shards=70)
    for _ in range(3):
        value, grad = step(W, data)
        assert value == expected[0]
        np.testing.assert_array_equal(grad, expected[1])


def test_every_transform(engine: Any, rows: Any, loss: Any) -> None:
    def jvp(w: Any, v: Any, X: Any, y: Any) -> Any:
        return fg.jvp(lambda w: loss(w, X, y), (w,), (v,))

    def vjp(w: Any, v: Any, X: Any, y: Any) -> Any:
        _, pullback = fg.vjp(lambda w: w * loss(w, X, y), w)
        return pullback(v)

    def hvp(w: Any, v: Any, X: Any, y: Any) -> Any:
        return fg.hvp(lambda w: loss(w, X, y), (w,), (v,))

    for function in (jvp, vjp, hvp, fg.jit(hvp)):
        step = fg.distribute(function, engine, shared=2)
        close(step(W, V, step.scatter(*rows, shards=3)), function(W, V, *rows))
    for function in (loss, fg.jit(loss), fg.hessian(loss), fg.jit(fg.hessian(loss)), fg.jacfwd(loss)):
        step = fg.distribute(function, engine)
        close(step(W, step.scatter(*rows, shards=3)), function(W, *rows))


def test_data_serves_every_step_on_the_engine(engine: Any, rows: Any, loss: Any) -> None:
    data = fg.distribute(loss, engine).scatter(*rows, shards=3)
    close(fg.distribute(fg.grad(loss), engine)(W, data), fg.grad(loss)(W, *rows))


def test_pytrees_and_keyword_arguments(engine: Any, rows: Any) -> None:
    def loss(params: Any, batch: Any, *, penalty: Any, mode: str = "squares", extra: Any = None) -> Any:
        z = batch["X"] @ params["w"] + params["b"][0]
        off = z - batch["y"] if mode == "squares" else z
        more = 0.0 if extra is None else np.sum(extra)
        return np.sum(off**2) + penalty * len(batch["y"]) + more

    X, y = rows
    params = {"w": W, "b": [np.float64(0.5)]}
    f = fg.value_and_grad(loss)
    step = fg.distribute(f, engine)
    data = step.scatter({"X": X, "y": y}, shards=3)
    close(step(params, data, penalty=0.1), f(params, {"X": X, "y": y}, penalty=0.1))
    found = step(params, data, penalty=2, mode="none", extra=step.scatter(y, shards=3))
    close(found, f(params, {"X": X, "y": y}, penalty=2, mode="none", extra=y))


def test_auxiliary_results_come_back_shard_by_shard(engine: Any, rows: Any) -> None:
    def loss(w: Any, X: Any, y: Any) -> Any:
        z = X @ w
        return np.sum((z - y) ** 2), {"z": z}

    bare = fg.value_and_grad(lambda w, X, y: loss(w, X, y)[0])
    for f in (fg.value_and_grad(loss, has_aux=True), fg.jit(fg.value_and_grad(loss, 0, True))):
        step = fg.distribute(f, engine)
        (value, aux), grad = step(W, step.scatter(*rows, shards=11))
        close((value, grad), bare(W, *rows))
        close(np.concatenate([part["z"] for part in aux]), rows[0] @ W)
    step = fg.distribute(fg.grad(loss, has_aux=True), engine)
    grad, aux = step(W, step.scatter(*rows, shards=2))
    close(grad, bare(W, *rows)[1])
    assert [part["z"].shape for part in aux] == [(502,), (501,)]
    step = fg.distribute(loss, engine, has_aux=True)
    value, aux = step(W, step.scatter(*rows, shards=2))
    close(value, bare(W, *rows)[0])
    assert len(aux) == 2


def test_means_are_weighted_by_rows(engine: Any, rows: Any) -> None:
    def loss(w: Any, X: Any, y: Any) -> Any:
        return np.mean((X @ w - y) ** 2)

    f = fg.value_and_grad(loss)
    step = fg.distribute(f, engine, reduce="mean")
    close(step(W, step.scatter(*rows, shards=4)), f(W, *rows))
    X, y = rows
    close(step(W, step.scatter(X[:2], y[:2], shards=3)), f(W, X[:2], y[:2]))  # one shard has no rows


def test_reductions_of_ones_own(engine: Any, rows: Any) -> None:
    step = fg.distribute(lambda w, X, y: (np.max(X, axis=0), np.max(y)), engine, reduce=np.maximum)
    data = step.scatter(*rows, shards=11)
    close(step(W, data), (rows[0].max(axis=0), rows[1].max()))
    both = fg.distribute(
        lambda w, X, y: {"low": np.min(X), "high": np.max(X)},
        engine,
        reduce=lambda a, b: {"low": np.minimum(a["low"], b["low"]), "high": np.maximum(a["high"], b["high"])},
    )
    close(both(W, data), {"high": rows[0].max(), "low": rows[0].min()})


def test_vmap_is_gathered(engine: Any, rng: np.random.Generator) -> None:
    def solve(a: Any, x: Any) -> Any:
        return fg.fori_loop(0, 5, lambda _, x: x - 0.1 * (x - a), x), np.sum(x)

    starts = rng.normal(size=(7, 3))
    f = fg.vmap(solve, in_axes=(None, 0))
    step = fg.distribute(f, engine)
    close(step(2.0, starts), f(2.0, starts))
    close(step(2.0, step.scatter(starts, shards=3)), f(2.0, starts))
    f = fg.jit(fg.vmap(fg.grad(lambda x: np.sum(np.sin(x))), out_axes=1))
    close(fg.distribute(f, engine)(starts), f(starts))
    summed = fg.distribute(lambda x: np.sum(fg.vmap(np.sum)(x)), engine, shared=0)
    close(summed(starts), starts.sum())


def test_integers_and_single_precision(engine: Any) -> None:
    step = fg.distribute(lambda w, x: (np.sum(x), w * np.sum(x > 0), x[0] > 0), engine)
    x = np.arange(10, dtype=np.int32)
    total, positive, firsts = step(np.float32(2.0), step.scatter(x, shards=3))
    assert (total, positive, firsts) == (45, 18.0, 2)
    assert total.dtype == np.int64
    step = fg.distribute(lambda w, x: w * np.sum(x), engine)
    found = step(np.ones(2, np.float32), step.scatter(np.ones(4, np.float32), shards=2))
    assert found.dtype == np.float32


def test_loaders(engine: Any, rows: Any, loss: Any) -> None:
    X, y = rows

    def load(span: tuple[int, int]) -> Any:
        return X[slice(*span)], y[slice(*span)]

    step = fg.distribute(fg.value_and_grad(loss), engine)
    for keep in (True, False):
        data = step.scatter(loader=load, shards=[(0, 400), (400, 1003)], keep=keep)
        for _ in range(2):
            close(step(W, data), fg.value_and_grad(loss)(W, X, y))
    numbers = step.scatter(loader=lambda k: (X[k::3], y[k::3]), shards=3)
    close(step(W, numbers), fg.value_and_grad(loss)(W, X, y))


def test_shards_are_ordinary_arrays(engine: Any, rows: Any) -> None:
    def kinds(w: Any, x: Any) -> Any:
        assert type(x) is np.ndarray
        assert x.flags.c_contiguous
        assert x.flags.aligned
        assert x.dtype.isnative
        return np.sum(x) * w

    step = fg.distribute(kinds, engine, jit=False)
    frozen = np.frombuffer(b"\0" + rows[1].tobytes(), offset=1, dtype=float)
    for x in (rows[1], frozen, rows[0][:, 1], np.asfortranarray(rows[0])):
        close(step(2.0, step.scatter(x, shards=2)), 2.0 * x.sum())


def test_an_exception_names_the_shard_the_rows_and_the_line(engine: Any, rows: Any) -> None:
    def strict(w: Any, X: Any, y: Any) -> Any:
        if X.shape[0] == 334:
            raise ValueError("three hundred and thirty-four rows are too many")
        return np.sum(X @ w)

    step = fg.distribute(fg.grad(strict), engine)
    with pytest.raises(fg.errors.ShardError, match="rows are too many") as caught:
        step(W, step.scatter(*rows, shards=3))
    error = caught.value
    assert str(error).startswith("shard 1 of 3 (rows 335 to 668) raised ValueError")
    assert (error.shard, error.rows) == (1, (335, 669))
    assert error.source is not None
    assert "raise ValueError" in error.source.text
    assert isinstance(error.__cause__, ValueError)
    close(step(W, step.scatter(*rows, shards=2)), np.sum(rows[0], axis=0))  # the engine still works


def test_errors_of_tracing_keep_their_line_and_advice(engine: Any, rows: Any) -> None:
    def branches(w: Any, X: Any, y: Any) -> Any:
        return np.linalg.norm(X @ w, "no such norm")

    step = fg.distribute(branches, engine)
    with pytest.raises(fg.errors.ShardError, match=r"shard 0 of 2 \(rows 0 to 501\)") as caught:
        step(W, step.scatter(*rows, shards=2))
    assert caught.value.source is not None
    assert "no such norm" in caught.value.source.text


def test_results_that_cannot_be_summed_are_named(engine: Any, rows: Any) -> None:
    step = fg.distribute(lambda w, X, y: X @ w, engine)
    with pytest.raises(fg.errors.DistributedError, match="shards 0 and 1 return results that cannot be sum"):
        step(W, step.scatter(*rows, shards=2))


def test_report_says_where_time_went(engine: Any, rows: Any, loss: Any) -> None:
    step = fg.distribute(fg.value_and_grad(loss), engine)
    assert "not called yet" in str(step.report())
    data = step.scatter(*rows, shards=3)
    step(W, data)
    step(W, data)
    report = step.report()
    call = report.calls[-1]
    assert len(report.calls) == 2
    assert [shard.shard for shard in call.shards] == [0, 1, 2]
    assert 0.0 < call.computing <= call.total
    assert 0.0 <= call.sending <= call.total
    assert call.bytes_out < 1000
    assert call.bytes_back < 3 * 1000
    assert report.too_small
    assert "under 100 ms" in str(report)


def test_short_neighbours_are_one_task_of_a_thread(
    rows: Any, loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("funcgrad.distributed.engines.futures._SHORT", 10.0)
    with ThreadPoolExecutor(2) as pool:
        submitted = []
        submit = pool.submit
        monkeypatch.setattr(pool, "submit", lambda *task: submitted.append(task) or submit(*task))
        step = fg.distribute(fg.value_and_grad(loss), pool)
        data = step.scatter(*rows, shards=5)
        value, grad = step(W, data)
        assert len(submitted) == 5
        again, same = step(W, data)
        assert len(submitted) == 6
        assert value == again
        np.testing.assert_array_equal(grad, same)
        assert [shard.shard for shard in step.report().calls[-1].shards] == [0, 1, 2, 3, 4]
        with pytest.raises(fg.errors.ShardError, match="shard 0"):
            step(W[:2], data)


def test_shards_that_are_too_small_are_said_once(
    rows: Any, loss: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    with ThreadPoolExecutor(2) as pool:
        step = fg.distribute(loss, pool)
        data = step.scatter(*rows, shards=2)
        for _ in range(4):
            step(W, data)
    assert capsys.readouterr().err.count("under 100 ms") == 1


def test_progress_counts_shards(
    engine: Any, rows: Any, loss: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    step = fg.distribute(loss, engine, progress="fitting")
    step(W, step.scatter(*rows, shards=4))
    said = capsys.readouterr().err
    assert "fitting" in said
    assert "4/4" in said


class LateCallbacks(concurrent.futures.Future[Any]):
    """A future that tells its callbacks when its result has long been used, as Dask's may."""

    def add_done_callback(self, fn: Any) -> None:
        LATE.append(lambda: fn(self))


class Late(ThreadPoolExecutor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        late = LateCallbacks()
        late.set_result(super().submit(fn, *args, **kwargs).result())
        return late


LATE: list[Any] = []


def test_progress_counts_a_shard_once_however_late_its_future_says_so(
    rows: Any, loss: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with Late(2) as engine:
        step = fg.distribute(loss, engine, progress="fitting")
        step(W, step.scatter(*rows, shards=4))
        said = capsys.readouterr().err
        for callback in LATE:
            callback()
    assert len(LATE) == 4
    assert "4/4" in said
    assert "5/4" not in said
    assert not capsys.readouterr().err


def test_an_optimiser_takes_a_step(engine: Any, rows: Any, loss: Any) -> None:
    f = fg.value_and_grad(loss)
    step = fg.distribute(f, engine)
    data = step.scatter(*rows, shards=2)
    found = minimize(step, np.zeros(4), args=(data,), jac=True, method="L-BFGS-B")
    expected = minimize(f, np.zeros(4), args=rows, jac=True, method="L-BFGS-B")
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-5)


def test_a_step_is_called_from_several_threads(engine: Any, rows: Any, loss: Any) -> None:
    step = fg.distribute(fg.value_and_grad(loss), engine)
    data = step.scatter(*rows, shards=3)
    points = [W * k for k in range(8)]
    expected = [step(w, data) for w in points]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda w: step(w, data), points))
    for one, other in zip(found, expected, strict=True):
        assert one[0] == other[0]
        np.testing.assert_array_equal(one[1], other[1])


def test_shards_of_other_lengths_compile_nothing_new(
    rows: Any, loss: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the disk keeps of an equal function under another name has another text, for lengths met there.
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path))

    def kernels() -> int:
        from funcgrad.compile.runtime.binaries import COUNTS

        return COUNTS.built + COUNTS.found

    with dask_client() as client:  # of its own: what others have left may be compiled meanwhile
        step = fg.distribute(fg.value_and_grad(loss), client)
        before: dict[str, int] = {}
        for _ in range(20):  # until both have had a shard: on a busy machine one may take the other's
            step(W, step.scatter(*rows, shards=2))
            before = client.run(kernels)
            if min(before.values()) > 0:
                break
        assert min(before.values()) > 0
        for shards in (3, 4, 5):
            close(step(W, step.scatter(*rows, shards=shards)), fg.value_and_grad(loss)(W, *rows))
        assert client.run(kernels) == before


def test_dashboards_name_the_function(dask: Any, rows: Any, loss: Any) -> None:
    step = fg.distribute(loss, dask)
    step(W, step.scatter(*rows, shards=20))
    names = dask.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"logistic", "sum-of-logistic"} <= set(names)


def test_large_results_are_summed_on_the_workers(dask: Any, rng: np.random.Generator) -> None:
    w, X = rng.normal(size=50_000), rng.normal(size=(6, 50_000))
    f = fg.value_and_grad(lambda w, X: np.sum((X @ w) ** 2))
    step = fg.distribute(f, dask)
    value, grad = step(w, step.scatter(X, shards=6))
    expected = f(w, X)
    np.testing.assert_allclose(value, expected[0], rtol=1e-10)
    np.testing.assert_allclose(grad, expected[1], rtol=1e-8, atol=1e-8)
    call = step.report().calls[-1]
    assert call.bytes_out < 1.01 * w.nbytes
    assert call.bytes_back < 1.01 * w.nbytes  # one result, of six
    with ThreadPoolExecutor(1) as pool:
        local = fg.distribute(f, pool)
        np.testing.assert_array_equal(local(w, local.scatter(X, shards=6))[1], grad)


# -- what is refused -----------------------------------------------------------------------------------


def test_what_is_refused(rows: Any, loss: Any) -> None:
    with ThreadPoolExecutor(2) as pool, ThreadPoolExecutor(2) as other:
        step = fg.distribute(fg.grad(loss), pool)
        data = step.scatter(*rows, shards=2)
        with pytest.raises(fg.errors.UnsupportedFunctionError, match="Distribute the transform"):
            fg.jacobian(lambda w: step(w, data))(W)
        with pytest.raises(fg.errors.ArgnumsError, match="without data"):
            step(W)
        with pytest.raises(fg.errors.ArgnumsError, match="with 1 shared arguments"):
            step()
        with pytest.raises(fg.errors.ArgnumsError, match="same number of shards"):
            step(W, data, step.scatter(rows[1], shards=3))
        with pytest.raises(fg.errors.ArgnumsError, match="different rows: it has 1002 and 1003 of them"):
            step(W, rows[0], rows[1][1:])
        with pytest.raises(fg.errors.ArgnumsError, match="no shards"):
            step(W, step.scatter(loader=np.ones, shards=[]))
        with pytest.raises(fg.errors.DistributedError, match="was scattered on"):
            fg.distribute(loss, other)(W, data)
        with pytest.raises(fg.errors.ShapeError, match="of which all must have as many"):
            step.scatter(rows[0], rows[1][1:])
        with pytest.raises(fg.errors.ShapeError, match="no rows to split"):
            step.scatter(rows[0], 1.0)
        with pytest.raises(fg.errors.ArgnumsError, match="donate_argnums"):
            fg.distribute(fg.jit(loss, donate_argnums=1), pool)
        with pytest.raises(fg.errors.ArgnumsError, match="leading axis"):
            fg.distribute(fg.vmap(loss, in_axes=(None, 1, 0)), pool)
        with pytest.raises(ValueError, match="reduce is"):
            fg.distribute(loss, pool, reduce="product")  # type: ignore[arg-type]
        with pytest.raises(fg.errors.DtypeError, match="array of Python objects"):
            step(np.array([None, 1], dtype=object), data)
        with pytest.raises(TypeError, match="stays on the workers"):
            np.asarray(data)
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="cannot run on a str"):
        fg.distribute(loss, "a cluster")
    with pytest.raises(fg.errors.DistributedError, match="takes no work"):
        step(W, data)


def test_nothing_is_imported_before_it_is_used() -> None:
    code = """
        import sys, numpy as np, funcgrad as fg
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            assert fg.distribute(lambda w, x: w * np.sum(x), pool)(2.0, np.ones(3)) == 6.0
        print(*[name for name in ("dask", "distributed", "mpi4py", "cloudpickle") if name in sys.modules])
    """
    root = Path(fg.__file__).parents[1]
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == ""
