"""Every workload, in the order of the table. A module declares a ``WORKLOADS`` tuple and is listed here."""

from __future__ import annotations

from benchmarks.model import Workload
from benchmarks.workloads import (
    batches,
    chains,
    cold,
    compiled,
    exports,
    functions,
    gradients,
    jacobians,
    layers,
    linalg,
    networks,
    njit_functions,
    plain_loops,
    sampling,
    scipy_functions,
    solvers,
    startup,
    structures,
    threads,
)

WORKLOADS: tuple[Workload, ...] = (
    *startup.WORKLOADS,
    *chains.WORKLOADS,
    *gradients.WORKLOADS,
    *compiled.WORKLOADS,
    *batches.WORKLOADS,
    *cold.WORKLOADS,
    *exports.WORKLOADS,
    *functions.WORKLOADS,
    *jacobians.WORKLOADS,
    *layers.WORKLOADS,
    *linalg.WORKLOADS,
    *networks.WORKLOADS,
    *njit_functions.WORKLOADS,
    *plain_loops.WORKLOADS,
    *sampling.WORKLOADS,
    *scipy_functions.WORKLOADS,
    *solvers.WORKLOADS,
    *structures.WORKLOADS,
    *threads.WORKLOADS,
)


def find(name: str) -> Workload:
    """The workload of that name; raises KeyError if there is none."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    raise KeyError(name)
