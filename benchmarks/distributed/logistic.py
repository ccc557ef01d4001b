"""Logistic regression, 10⁷ × 20 in 8 shards on Dask: one worker, two, and dask-glm's own gradient on two.

The same on process pools of one and two workers, which cost next to nothing beside the shards, says what two
processes gain on this machine whatever the engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad as fg
from benchmarks.distributed.overhead import dask, processes

FEATURES, SHARDS = 20, 8
ROUNDS = 7


def loss(w: Any, X: Any, y: Any) -> Any:
    """The negative log-likelihood, as dask-glm writes it."""
    z = X @ w
    return np.sum(np.logaddexp(0.0, z)) - y @ z


def rows(k: int, count: int) -> Any:
    """The rows of a shard: nobody sends them."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(count, FEATURES))
    return X, (X[:, 0] + rng.normal(size=count) > 0).astype(float)


def loader(count: int) -> Callable[[int], Any]:
    """What makes shards of so many rows."""
    return lambda k: rows(k, count)


def best(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each, in seconds; they take turns."""
    found = {name: float("inf") for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            found[name] = min(found[name], time.perf_counter() - begin)
    return found


def glm_call(client: Any, w: Any, count: int) -> Callable[[], Any] | None:
    """Value and gradient as dask-glm's L-BFGS asks for them; None where it is not installed."""
    try:
        import dask as dask_module  # noqa: PLC0415 - optional
        import dask.array as da  # noqa: PLC0415 - optional
        from dask_glm.families import Logistic  # noqa: PLC0415 - optional
        from dask_glm.utils import scatter_array  # noqa: PLC0415 - optional
    except ImportError:
        return None
    parts = [dask_module.delayed(rows, nout=2)(k, count) for k in range(SHARDS)]
    X = da.concatenate([da.from_delayed(x, (count, FEATURES), float) for x, _ in parts])
    y = da.concatenate([da.from_delayed(y, (count,), float) for _, y in parts])
    X, y = client.persist([X, y])

    def call() -> Any:
        with dask_module.config.set(fuse_ave_width=0):
            beta = scatter_array(w, client)
            return dask_module.compute(
                Logistic.pointwise_loss(beta, X, y), Logistic.pointwise_gradient(beta, X, y)
            )

    return call


def stepping(engine: Any, count: int, values: list[Any]) -> tuple[Any, Callable[[], Any]]:
    """A step on an engine, and a call of it; its result joins the `values`."""
    step = fg.distribute(fg.value_and_grad(loss), engine)
    data = step.scatter(loader=loader(count), shards=SHARDS)
    w = np.full(FEATURES, 0.1)
    values.append(step(w, data))
    return step, lambda: step(w, data)


def row_of(step: Any) -> dict[str, float]:
    """Where the time of the best call went, in seconds."""
    call = min(step.report().calls, key=lambda call: call.total)
    return {"seconds": call.total, "shards": call.computing, "beside": call.overhead}


def in_turns(engines: dict[str, Any], count: int, values: list[Any], **others: Any) -> dict[str, Any]:
    """The rows of some engines, and of other calls that take turns with them."""
    steps = {name: stepping(engine, count, values) for name, engine in engines.items()}
    found = best({name: call for name, (_, call) in steps.items()} | others, ROUNDS)
    return {name: row_of(steps[name][0]) if name in steps else {"seconds": t} for name, t in found.items()}


def measured(total: int = 10_000_000) -> dict[str, dict[str, float]]:
    """Seconds of value and gradient, of the busiest worker's shards in it, and of what came beside them."""
    count = total // SHARDS
    values: list[Any] = []
    with dask(1) as one, dask(2) as two:
        glm = glm_call(two, np.full(FEATURES, 0.1), count)
        others = {} if glm is None else {"dask-glm": glm}
        values += [call() for call in others.values()]
        found = in_turns({"one worker": one, "two workers": two}, count, values, **others)
    with processes(1) as one, processes(2) as two:
        found |= in_turns({"pool of one": one, "pool of two": two}, count, values)
    for value, gradient in values:
        np.testing.assert_allclose(float(value), values[-1][0], rtol=1e-9)
        np.testing.assert_allclose(np.asarray(gradient), values[-1][1], rtol=1e-7)
    return found
