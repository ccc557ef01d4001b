"""A model of what a step costs, and a simulation of it with thousands of shards.

Every step sends parameters to W workers, has n shards computed, and puts n results together. The model counts
messages and bytes: ``latency`` seconds a message, ``bandwidth`` bytes a second, ``task`` seconds of the
scheduler (or of the driver, for pools) for each task, one after the other, ``fixed`` seconds for a step.
Shards take what they take, times a lognormal factor; the step waits for the last.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

FAN = 8


@dataclass(frozen=True, slots=True)
class Costs:
    """What an engine costs."""

    fixed: float
    task: float
    latency: float
    bandwidth: float


NETWORK = Costs(fixed=15e-3, task=1e-3, latency=1e-3, bandwidth=1.2e9)
"""Ten gigabits a second between machines, and a scheduler of a thousand tasks a second."""
MPI = Costs(fixed=20e-6, task=0.0, latency=5e-6, bandwidth=1.2e9)


def durations(n: int, seconds: float, spread: float, rng: np.random.Generator) -> np.ndarray:
    """What each shard takes: `seconds` in the middle, with a spread (the logarithm's) of stragglers."""
    return seconds * np.exp(spread * rng.normal(size=n))


def list_scheduled(ready: np.ndarray, took: np.ndarray, workers: int) -> np.ndarray:
    """When each task ends, given to the worker that is free first."""
    free = [0.0] * workers
    ends = np.empty(len(took))
    for k, (begin, seconds) in enumerate(zip(ready, took, strict=True)):
        ends[k] = max(begin, heapq.heappop(free)) + seconds
        heapq.heappush(free, ends[k])
    return ends


def broadcast(costs: Costs, workers: int, nbytes: int) -> float:
    """Parameters to all workers: those that have them hand them on to two more."""
    return math.ceil(math.log(2 * workers + 1, 3)) * (costs.latency + nbytes / costs.bandwidth)


def scheduled(costs: Costs, workers: int, nbytes: int, took: np.ndarray) -> np.ndarray:
    """When the results of shards are there: a scheduler hands out one task after the other."""
    begin = costs.fixed + broadcast(costs, workers, nbytes)
    ready = begin + costs.task * np.arange(1, len(took) + 1)
    return list_scheduled(ready, took + costs.latency, workers)


def tree_step(costs: Costs, workers: int, nbytes: int, took: np.ndarray) -> float:
    """A step whose sums are made on workers in a tree, up to eight that the driver sums."""
    ends = scheduled(costs, workers, nbytes, took)
    while len(ends) > FAN:
        groups = [ends[k : k + FAN] for k in range(0, len(ends), FAN)]
        sums = np.array([g.max() + 2 * costs.latency + len(g) * nbytes / costs.bandwidth for g in groups])
        ready = np.sort(sums)
        # The scheduler hands out these tasks too.
        ends = np.maximum.accumulate(ready) + costs.task
    return float(ends.max() + costs.latency + len(ends) * nbytes / costs.bandwidth)


def driver_step(costs: Costs, workers: int, nbytes: int, took: np.ndarray) -> float:
    """A step whose results all go to the driver, through its one connection."""
    free = 0.0
    for end in np.sort(scheduled(costs, workers, nbytes, took)):
        free = max(free, end) + nbytes / costs.bandwidth
    return float(free + costs.latency)


def mpi_step(costs: Costs, workers: int, nbytes: int, took: np.ndarray) -> float:
    """A step of W ranks, each with its share of neighbouring shards, and one Allreduce."""
    share = [part.sum() for part in np.array_split(took, workers)]
    rounds = math.ceil(math.log2(max(workers, 2)))
    sent = rounds * (costs.latency + nbytes / costs.bandwidth)
    return costs.fixed + sent + max(share) + 2 * rounds * costs.latency + 2 * nbytes / costs.bandwidth


def simulated() -> list[dict[str, float]]:
    """Steps from 10 to 10,000 shards of half a second, four to a worker, with stragglers of 20 %."""
    rng = np.random.default_rng(0)
    found = []
    for nbytes in (80_000, 8_000_000):
        for n in (10, 100, 1000, 10_000):
            workers = max(n // 4, 1)
            took = durations(n, 0.5, 0.2, rng)
            found.append(
                {
                    "shards": n,
                    "workers": workers,
                    "bytes": nbytes,
                    "work": float(took.sum() / workers),
                    "driver": driver_step(NETWORK, workers, nbytes, took),
                    "tree": tree_step(NETWORK, workers, nbytes, took),
                    "mpi": mpi_step(MPI, workers, nbytes, took),
                }
            )
    return found
