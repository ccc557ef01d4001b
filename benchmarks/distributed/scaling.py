"""Steps on Dask with 1, 2, 4, 8 workers, beside the model: shards that sleep, so that cores matter less."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

import funcgrad as fg
from benchmarks.distributed.model import Costs, tree_step
from benchmarks.distributed.overhead import dask

CASES = ((8, 0.1, 10_000), (32, 0.05, 10_000), (8, 0.1, 1_000_000))
"""Shards, seconds of each, parameters."""


def loss(w: Any, x: Any) -> Any:
    """Next to nothing."""
    return np.sum(w) * np.sum(x)


def sleeper(seconds: float) -> Callable[[int], Any]:
    """A loader that takes so long."""

    def load(k: int) -> Any:
        time.sleep(seconds)
        return np.ones(3)

    return load


def timed(client: Any, shards: int, seconds: float, parameters: int, calls: int) -> float:
    """The median of some steps, in seconds."""
    step = fg.distribute(fg.value_and_grad(loss), client)
    data = step.scatter(loader=sleeper(seconds), shards=shards, keep=False)
    w = np.ones(parameters)
    for _ in range(calls + 1):
        step(w, data)
    return float(np.median([call.total for call in step.report().calls[1:]]))


def calibrated(client: Any) -> Costs:
    """What Dask costs here and now: steps without work, of one shard, of many, of many parameters."""
    one = timed(client, 1, 0.0, 100, 9)
    many = timed(client, 200, 0.0, 100, 3)
    large = timed(client, 1, 0.0, 1_000_000, 5)
    task = (many - one) / 200
    latency = task / 2
    # The parameters go to a worker, from it to another, and the result comes back.
    return Costs(one - task - 3 * latency, task, latency, 3 * 8e6 / max(large - one, 1e-3))


def measured(calls: int = 7) -> dict[str, Any]:
    """Measured and modelled seconds of a step, and the costs that the model is given."""
    found: list[dict[str, float]] = []
    with dask(2) as client:
        costs = calibrated(client)
    for workers in (1, 2, 4, 8):
        with dask(workers) as client:
            for shards, seconds, parameters in CASES:
                took = np.full(shards, seconds)
                found.append(
                    {
                        "workers": workers,
                        "shards": shards,
                        "seconds": seconds,
                        "parameters": parameters,
                        "measured": timed(client, shards, seconds, parameters, calls),
                        "model": tree_step(costs, workers, 8 * parameters, took),
                    }
                )
            if workers == 2:
                found += many_shards(client, costs)
    return {"costs": asdict(costs), "steps": found}


def many_shards(client: Any, costs: Costs) -> list[dict[str, float]]:
    """Many shards with no work: the scheduler's time for each."""
    return [
        {
            "workers": 2,
            "shards": shards,
            "seconds": 0.0,
            "parameters": 100,
            "measured": timed(client, shards, 0.0, 100, 2),
            "model": tree_step(costs, 2, 800, np.zeros(shards)),
        }
        for shards in (500, 1000)
    ]
