"""Engines of every kind, the real ones, made once for a module; a missing package skips by name."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from engines_for_tests import Elsewhere, dask_client, spawning


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
