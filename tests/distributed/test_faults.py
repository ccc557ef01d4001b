"""What may go wrong on the way: workers that die, clusters that close, calls that are given up."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines_for_tests import dask_client, spawning
from scipy.optimize import minimize

import funcgrad as fg

W = np.array([0.3, -0.2, 0.7, 0.1])


def slow(seconds: float, X: Any, y: Any) -> Callable[[int], Any]:
    """A loader of two shards that takes its time."""

    def load(k: int) -> Any:
        time.sleep(seconds)
        return X[k::2], y[k::2]

    return load


def unfinished(client: Any) -> list[str]:
    """What a cluster still has to do."""
    waiting = ("waiting", "queued", "no-worker", "processing")
    return client.run_on_scheduler(
        lambda dask_scheduler: [str(key) for key, ts in dask_scheduler.tasks.items() if ts.state in waiting]
    )


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


# -- Dask ----------------------------------------------------------------------------------------------


def test_a_worker_killed_during_a_fit_costs_time_and_not_the_fit(
    rows: Any, loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = pytest.importorskip("funcgrad.distributed.engines.dask", reason="dask is not installed")
    monkeypatch.setattr(engine, "_SMALL", 0)  # parameters of a few kB and more may die with a worker
    f = fg.value_and_grad(loss)
    with dask_client() as client:
        step = fg.distribute(f, client)
        data = step.scatter(loader=slow(0.01, *rows), shards=2)
        lazy = step.scatter(loader=slow(0.05, *rows), shards=2, keep=False)
        step(W, data)
        calls = []

        def counted(w: Any) -> Any:
            calls.append(w)
            if len(calls) == 4:  # while the next step runs
                victim = next(iter(client.run(os.getpid).values()))
                threading.Timer(0.02, os.kill, (victim, signal.SIGKILL)).start()
            value, grad = step(w, data)
            again, _ = step(w, lazy)
            assert again == value
            return value, grad

        found = minimize(counted, np.zeros(4), jac=True, method="L-BFGS-B")
        expected = minimize(f, np.zeros(4), args=rows, jac=True, method="L-BFGS-B")
        assert len(calls) > 5
        np.testing.assert_allclose(found.x, expected.x, rtol=1e-5)


def test_short_neighbours_on_one_worker_are_one_task_with_the_same_bits(
    rows: Any, loss: Any, dask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from funcgrad.distributed.engines.dask_runs import Runs

    divided = []
    of = Runs.of
    monkeypatch.setattr(Runs, "of", lambda self, call: divided.append(of(self, call)) or divided[-1])
    for count, least in ((8, 2), (20, 5)):
        step = fg.distribute(fg.value_and_grad(loss), dask)
        data = step.scatter(*rows, shards=count)
        value, grad = step(W, data)
        step(W, data)  # the first call compiled, which takes longer than a run may
        again, same = step(W, data)
        one_by_one, _, together = divided[-3:]
        assert one_by_one == [[k] for k in range(count)]
        assert least <= len(together) < count
        assert sorted(k for run in together for k in run) == list(range(count))
        assert value == again
        np.testing.assert_array_equal(grad, same)
        assert {shard.shard for shard in step.report().calls[-1].shards} == set(range(count))


def test_made_shards_are_divided_evenly_and_a_step_is_one_batch_of_messages(dask: Any) -> None:
    """Where a shard is made every step computes it, and the client waits ten milliseconds between batches."""

    def asked_for(dask_scheduler: Any) -> Any:
        tasks = [ts for key, ts in dask_scheduler.tasks.items() if key[0] == name]
        return [
            (*ts.worker_restrictions, ts.loose_restrictions) for ts in sorted(tasks, key=lambda ts: ts.key)
        ]

    step = fg.distribute(lambda w, x: np.sum(w * x), dask)
    data = step.scatter(loader=np.ones, shards=[10] * 7)
    name = data.handles[0].key[0]
    for _ in range(3):
        assert step(2.0, data) == 140.0
    first, second = sorted(dask.nthreads())
    assert dask.run_on_scheduler(asked_for) == [(first, True)] * 4 + [(second, True)] * 3
    before = dask.scheduler_comm.batch_count
    for _ in range(8):
        step(2.0, data)
    assert dask.scheduler_comm.batch_count - before <= 8 + 4  # and a few heartbeats


def test_a_shard_of_a_run_that_raises_is_named_and_a_lost_run_is_made_again(rows: Any) -> None:
    def picky(w: Any, X: Any, y: Any) -> Any:
        if np.shape(w) == (2,):
            raise ValueError("two numbers")
        return np.sum(X @ w - y)

    X, y = rows
    with dask_client() as client:
        step = fg.distribute(picky, client)
        data = step.scatter(loader=lambda k: (X[k::6], y[k::6]), shards=6)
        expected = [step(W, data), step(W, data)]
        with pytest.raises(fg.errors.ShardError, match="shard 0 of 6 raised ValueError: two numbers"):
            step(W[:2], data)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert step(W, data) == expected[0] == expected[1]


def test_lost_data_is_named_and_collections_are_made_again(rows: Any, loss: Any) -> None:
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = rows
    with dask_client() as client:
        step = fg.distribute(loss, client)
        data = step.scatter(X, y, shards=4)
        dX, dy = array.from_array(X, chunks=300).persist(), array.from_array(y, chunks=300).persist()
        expected = step(W, data)
        np.testing.assert_allclose(step(W, dX, dy), expected, rtol=1e-12)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        with pytest.raises(fg.errors.LostDataError, match=r"lost with the worker that had it: shard . of 4"):
            step(W, data)
        np.testing.assert_allclose(step(W, dX, dy), expected, rtol=1e-12)


def test_a_cluster_closed_halfway_is_an_error_and_no_hang(rows: Any, loss: Any) -> None:
    with dask_client() as client:
        step = fg.distribute(loss, client)
        lazy = step.scatter(loader=slow(1.0, *rows), shards=2, keep=False)
        data = step.scatter(*rows)
        closer = threading.Timer(0.3, client.cluster.close)
        closer.start()
        with pytest.raises(fg.errors.DistributedError, match="client of the Dask cluster is"):
            step(W, lazy)
        closer.join()
        with pytest.raises(fg.errors.DistributedError, match="client of the Dask cluster is"):
            step(W, data)
        with pytest.raises(fg.errors.DistributedError, match="client of the Dask cluster is"):
            step.scatter(*rows)


def test_data_that_cannot_be_made_is_an_error_of_its_shard(rows: Any, loss: Any, dask: Any) -> None:
    delayed = pytest.importorskip("dask", reason="dask is not installed").delayed

    def read(k: int) -> Any:
        if k == 1:
            raise FileNotFoundError(f"there is no file {k}")
        return rows

    step = fg.distribute(loss, dask)
    with pytest.raises(fg.errors.ShardError, match="data of shard 1 of 2 could not be made: FileNotFound"):
        step(W, [delayed(read)(k) for k in range(2)])
    with pytest.raises(fg.errors.ShardError, match="data of shard 1 of 2 could not be made: FileNotFound"):
        step(W, step.scatter(loader=read, shards=2))
    with pytest.raises(fg.errors.ShardError, match="shard 1 of 2 raised FileNotFoundError"):
        step(W, step.scatter(loader=read, shards=2, keep=False))


def test_an_interrupted_step_leaves_no_task_on_dask(rows: Any, loss: Any, dask: Any) -> None:
    step = fg.distribute(loss, dask)
    lazy = step.scatter(loader=slow(0.5, *rows), shards=12, keep=False)
    interrupt(0.3)
    with pytest.raises(KeyboardInterrupt):
        step(W, lazy)
    assert eventually(lambda: not unfinished(dask), 3.0), unfinished(dask)
    data = step.scatter(*rows)
    np.testing.assert_allclose(step(W, data), loss(W, *rows))


def test_a_shard_that_raises_leaves_no_task_on_dask(rows: Any, dask: Any) -> None:
    def strict(w: Any, X: Any, y: Any) -> Any:
        raise ValueError("never")

    step = fg.distribute(strict, dask)
    with pytest.raises(fg.errors.ShardError, match="shard 0 of 30"):
        step(W, step.scatter(*rows, shards=30))
    assert eventually(lambda: not unfinished(dask), 3.0), unfinished(dask)


def test_asynchronous_clients_are_refused() -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

    class Asynchronous(distributed.Client):
        asynchronous = True

        def __init__(self) -> None:
            pass

        def __del__(self) -> None:
            pass

    with pytest.raises(fg.errors.UnsupportedFunctionError, match="asynchronous"):
        fg.distribute(np.sum, Asynchronous())


# -- pools ---------------------------------------------------------------------------------------------


def interrupt(seconds: float) -> None:
    """Press Ctrl-C after so many seconds."""
    threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,)).start()


def test_a_worker_of_a_pool_that_dies_is_an_error(rows: Any, loss: Any) -> None:
    with spawning() as pool:
        step = fg.distribute(loss, pool)
        data = step.scatter(*rows)
        step(W, data)
        os.kill(next(iter(pool._processes)), signal.SIGKILL)
        assert eventually(lambda: bool(pool._broken))
        with pytest.raises(fg.errors.DistributedError, match="has died, and the pool with it"):
            step(W, data)


def test_an_interrupted_step_leaves_no_task_in_a_pool(rows: Any, loss: Any, tmp_path: Path) -> None:
    def load(k: int) -> Any:
        (tmp_path / str(k)).touch()
        time.sleep(0.2)
        return rows[0][k::40], rows[1][k::40]

    with spawning() as pool:
        step = fg.distribute(loss, pool)
        data = step.scatter(*rows)
        step(W, data)
        lazy = step.scatter(loader=load, shards=40, keep=False)
        interrupt(0.5)
        with pytest.raises(KeyboardInterrupt):
            step(W, lazy)
        begun = len(list(tmp_path.iterdir()))
        assert 0 < begun < 20
        np.testing.assert_allclose(step(W, data), loss(W, *rows))
        assert len(list(tmp_path.iterdir())) == begun


def test_an_interrupted_step_leaves_no_thread_at_work(rows: Any, loss: Any) -> None:
    begun = []

    def load(k: int) -> Any:
        begun.append(k)
        time.sleep(0.2)
        return rows[0][k::40], rows[1][k::40]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        step = fg.distribute(loss, pool)
        interrupt(0.5)
        with pytest.raises(KeyboardInterrupt):
            step(W, step.scatter(loader=load, shards=40, keep=False))
        count = len(begun)
        assert 0 < count < 20
        time.sleep(0.3)
        assert len(begun) == count


def test_the_first_shard_that_raises_ends_the_step(rows: Any) -> None:
    seen = []

    def strict(w: Any, X: Any, y: Any) -> Any:
        seen.append(X.shape)
        time.sleep(0.05)
        raise ValueError("never")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        step = fg.distribute(strict, pool)
        with pytest.raises(fg.errors.ShardError, match="shard 0 of 100"):
            step(W, step.scatter(*rows, shards=100))
    assert len(seen) < 10


class Uncancellable(concurrent.futures.Future):  # type: ignore[type-arg]
    """A future as Parsl's are."""

    def cancel(self) -> bool:
        raise NotImplementedError("Cancel not implemented")


def test_futures_that_cannot_be_cancelled_are_waited_for(rows: Any) -> None:
    futures = []

    def strict(w: Any, X: Any, y: Any) -> Any:
        time.sleep(0.05)
        raise ValueError("never")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:

        class Parsl:
            num_workers = 4

            def submit(self, function: Callable[..., Any], *args: Any) -> Any:
                future = Uncancellable()
                futures.append(future)
                pool.submit(lambda: future.set_result(function(*args)))
                return future

        with pytest.raises(fg.errors.ShardError, match="shard 0 of 4 "):
            fg.distribute(strict, Parsl())(W, *rows)
        assert [future.done() for future in futures] == [True] * len(futures)
        assert len(futures) >= 4


def test_an_executor_that_cancels_is_an_error(rows: Any, loss: Any) -> None:
    pool = concurrent.futures.ThreadPoolExecutor(1)
    step = fg.distribute(loss, pool)
    lazy = step.scatter(loader=slow(0.3, *rows), shards=2, keep=False)
    threading.Timer(0.1, pool.shutdown, kwargs={"wait": False, "cancel_futures": True}).start()
    with pytest.raises(fg.errors.DistributedError, match="cancelled a task"):
        step(W, lazy)


def another_version() -> None:
    """What a worker does first that has another version installed."""
    sys.modules["funcgrad"].__version__ = "0.0.9"  # type: ignore[attr-defined]


def test_workers_with_another_version_are_refused(rows: Any, loss: Any, dask: Any) -> None:
    step = fg.distribute(loss, dask)
    data = step.scatter(*rows)
    step(W, data)
    version = fg.__version__

    def pretend(name: str) -> None:
        import sys

        sys.modules["funcgrad"].__version__ = name  # type: ignore[attr-defined]

    dask.run(pretend, "0.0.9")
    try:
        with pytest.raises(
            fg.errors.WorkerVersionError,
            match=rf"has funcgrad 0\.0\.9, and this process has funcgrad {version}",
        ):
            step(W, data)
    finally:
        dask.run(pretend, version)


def test_a_function_whose_module_workers_lack_is_named(rows: Any, tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text(
        "import numpy as np\ndef loss(w, X, y):\n    return np.sum(X @ w)\n"
    )
    with spawning() as pool:
        pool.submit(int).result()  # its processes have their paths
        sys.path.insert(0, str(tmp_path))
        try:
            import only_here  # type: ignore[import-not-found]

            step = fg.distribute(only_here.loss, pool)
            with pytest.raises(fg.errors.DistributedError, match="cannot read the function") as caught:
                step(W, *rows)
        finally:
            sys.path.remove(str(tmp_path))
            sys.modules.pop("only_here", None)
    assert "register_pickle_by_value(only_here)" in str(caught.value)


def test_without_cloudpickle_a_closure_is_refused_and_a_function_of_a_module_travels(
    rows: Any, loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with spawning(1) as pool:
        with pytest.raises(fg.errors.MissingExtraError, match="or what it closes over, cannot be sent"):
            fg.distribute(loss, pool)(W, *rows)
        step = fg.distribute(np.dot, pool)
        np.testing.assert_allclose(step(1.0, rows[1]), rows[1])


def test_files_of_shared_memory_go(rows: Any, loss: Any) -> None:
    with spawning() as pool:
        step = fg.distribute(loss, pool)
        data = step.scatter(*rows)
        step(W, data)
        path = Path(data.handles[0].path)
        folder = path.parent
        assert path.exists()
        assert folder.stat().st_mode & 0o777 == 0o700
        del data
        assert not path.exists()
        del step
    assert not folder.exists()


def test_threads_of_kernels_are_limited_and_set_free_again(rows: Any, loss: Any) -> None:
    from funcgrad.compile.runtime.addresses.blas import blas_threads
    from funcgrad.compile.runtime.threads import set_threads, threads

    before = threads(), blas_threads()
    seen = []

    def look(w: Any, X: Any) -> Any:
        seen.append((threads(), blas_threads()))
        return np.sum(X)

    try:
        set_threads(3)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for limit in (1, 2, None):
                step = fg.distribute(look, pool, threads=limit, jit=False)
                step(W, rows[0])
        assert {one for one, _ in seen[:2]} == {1}
        assert {one for one, _ in seen[2:4]} == {2}
        assert {one for one, _ in seen[4:]} == {3}
        assert threads() == 3
    finally:
        set_threads(before[0])
    assert blas_threads() == before[1]
