"""The overhead of a step beyond the shards' work: 10,000 parameters, two shards on two workers."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as fg

PARAMETERS = 10_000
ROWS, ROWS_ON_DASK = 20, 600
"""Of each shard: half a millisecond of work, which seldom meets with other processes. Dask is given more:
its client sends no more than one batch of messages in ten milliseconds."""
CALLS = 200
TARGETS = {"threads": 0.2, "process pool": 5.0, "loky": 5.0, "Dask": 15.0, "MPI": 0.3}
"""Milliseconds."""


def loss(w: Any, X: Any) -> Any:
    """A sum of squares over rows as long as the parameters."""
    return np.sum((X @ w - 1.0) ** 2)


def rows(count: int) -> Any:
    """The rows of a shard."""
    return np.random.default_rng(0).normal(size=(count, PARAMETERS))


def of_calls(step: Any, data: Any, calls: int) -> dict[str, Any]:
    """What the calls took beyond the busiest worker, in milliseconds, and the bytes that went either way."""
    w = np.zeros(PARAMETERS)
    for _ in range(3):
        step(w, data)
    over = []
    for _ in range(calls):
        step(w, data)
        over.append(step.report().calls[-1].overhead * 1e3)
    last = step.report().calls[-1]
    return {
        "best": min(over),
        "median": statistics.median(over),
        "shard": last.computing * 1e3,
        "bytes out": last.bytes_out,
        "bytes back": last.bytes_back,
    }


@contextmanager
def threads() -> Iterator[Any]:
    """Two threads."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield pool


@contextmanager
def processes(workers: int = 2) -> Iterator[Any]:
    """Two processes of the standard library, or so many."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield pool


@contextmanager
def loky() -> Iterator[Any]:
    """Two processes of joblib's loky."""
    from joblib.externals.loky import ProcessPoolExecutor  # noqa: PLC0415 - optional

    pool = ProcessPoolExecutor(2)
    yield pool
    pool.shutdown()


@contextmanager
def dask(workers: int = 2) -> Iterator[Any]:
    """A local cluster of processes with a thread each."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - optional

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


ENGINES: dict[str, Callable[[], Any]] = {
    "threads": threads,
    "process pool": processes,
    "loky": loky,
    "Dask": dask,
}


def mpi() -> dict[str, Any]:
    """As `of_calls`, on two ranks: this module is their program."""
    mpiexec = Path(sys.executable).with_name("mpiexec")
    command = [str(mpiexec), "-n", "2", sys.executable, "-m", "benchmarks.distributed.overhead"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured() -> dict[str, dict[str, Any]]:
    """All engines; one that is not installed is left out by name."""
    found = {}
    for name, make in ENGINES.items():
        try:
            with make() as engine:
                step = fg.distribute(fg.value_and_grad(loss), engine)
                counts = [ROWS_ON_DASK if name == "Dask" else ROWS] * 2
                found[name] = of_calls(step, step.scatter(loader=rows, shards=counts), CALLS)
        except ImportError as error:
            found[name] = {"missing": str(error)}
    try:
        found["MPI"] = mpi()
    except (OSError, subprocess.CalledProcessError) as error:
        found["MPI"] = {"missing": str(error)}
    return found


def rank_program() -> None:
    """What each of two ranks runs. They begin together, so that none waits for the other's last work."""
    from mpi4py import MPI  # noqa: PLC0415 - optional

    comm = MPI.COMM_WORLD
    step = fg.distribute(fg.value_and_grad(loss), comm)
    data = step.scatter(loader=rows, shards=[ROWS, ROWS])
    w = np.zeros(PARAMETERS)
    over = []
    for n in range(CALLS + 3):
        comm.Barrier()
        step(w, data)
        call = step.report().calls[-1]
        busiest, total = comm.allreduce(call.computing, MPI.MAX), comm.allreduce(call.total, MPI.MAX)
        if n >= 3:
            over.append(max(total - busiest, 0.0) * 1e3)
    if comm.rank == 0:
        numbers = {
            "best": min(over),
            "median": statistics.median(over),
            "shard": busiest * 1e3,
            "bytes out": call.bytes_out,
            "bytes back": call.bytes_back,
        }
        sys.stdout.write(json.dumps(numbers))


if __name__ == "__main__":
    rank_program()
