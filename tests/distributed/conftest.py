"""Engines of every kind, the real ones, each made once for a module; a package that is missing skips by name."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.tree import Tree


class Elsewhere:
    """An executor of nobody's class, whose workers share nothing with this process but messages."""

    def __init__(self, pool: concurrent.futures.Executor) -> None:
        self._pool = pool
        self.num_workers = 2

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        return self._pool.submit(function, *args)


def spawning(workers: int = 2) -> concurrent.futures.ProcessPoolExecutor:
    return concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def dask_client(**options: Any) -> Iterator[Any]:
    """A client of a cluster of two processes of its own, on loopback."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs=50,
        **options,
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    with spawning() as pool:
        yield pool


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    with dask_client() as client:
        yield client


@pytest.fixture(scope="module", params=["threads", "processes", "loky", "executor", "dask", "dask executor"])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Every engine but a communicator, in turn."""
    if request.param == "threads":
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "loky":
        loky = pytest.importorskip("joblib.externals.loky", reason="joblib is not installed")
        pool = loky.ProcessPoolExecutor(2)
        yield pool
        pool.shutdown()
    elif request.param == "executor":
        yield Elsewhere(request.getfixturevalue("processes"))
    elif request.param == "dask executor":
        yield request.getfixturevalue("dask").get_executor()
    else:
        yield request.getfixturevalue(request.param)


@pytest.fixture
def rows(rng: np.random.Generator) -> tuple[Any, Any]:
    """Rows to fit, which do not divide evenly."""
    return rng.normal(size=(1003, 4)), np.sign(rng.normal(size=1003))


@pytest.fixture
def loss() -> Callable[..., Any]:
    """A function that travels as it is: workers cannot import it."""

    def logistic(w: Any, X: Any, y: Any) -> Any:
        return np.sum(np.logaddexp(0.0, -y * (X @ w)))

    return logistic


def close(found: Tree, expected: Tree) -> None:
    """Assert that trees hold equal numbers, up to the order of summation."""
    assert fg.tree.structure(found) == fg.tree.structure(expected)
    for one, other in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
