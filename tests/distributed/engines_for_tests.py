"""Engines that the tests make: pools of new processes, a Dask cluster, an executor of no known class."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


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
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        silence_logs=50,
        **options,
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def mpiexec() -> str:
    """The launcher beside this Python, or on the path; skips where it or mpi4py is missing."""
    if find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("mpiexec is not installed")
    return found
