"""A pool of mpi4py.futures, as a script of its own: started by the tests under mpiexec, never collected."""

from __future__ import annotations

import sys

import numpy as np
from mpi4py.futures import MPIPoolExecutor

import funcgrad as fg

if __name__ == "__main__":
    x = np.arange(10.0)
    with MPIPoolExecutor() as pool:
        step = fg.distribute(fg.value_and_grad(lambda w, x: np.sum((x * w) ** 2)), pool)
        data = step.scatter(x, shards=3)
        for _ in range(2):
            value, slope = step(2.0, data)
            assert (value, slope) == (4.0 * np.sum(x**2), 4.0 * np.sum(x**2))
    sys.stdout.write("the pool is done\n")
