"""Logistic regression, 10⁷ × 20 in 8 shards on Dask: one worker, two, and dask-glm's own gradient on two."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad as fg
from benchmarks.distributed.overhead import dask

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


def measured(total: int = 10_000_000) -> dict[str, Any]:
    """Seconds of value and gradient."""
    count = total // SHARDS
    w = np.full(FEATURES, 0.1)
    calls: dict[str, Callable[[], Any]] = {}
    values = {}
    with dask(1) as one, dask(2) as two:
        for name, client in (("one worker", one), ("two workers", two)):
            step = fg.distribute(fg.value_and_grad(loss), client)
            data = step.scatter(loader=loader(count), shards=SHARDS)
            calls[name] = lambda step=step, data=data: step(w, data)  # type: ignore[misc]
            values[name] = step(w, data)
        glm = glm_call(two, w, count)
        if glm is not None:
            calls["dask-glm"] = glm
            values["dask-glm"] = glm()
        for value, gradient in values.values():
            np.testing.assert_allclose(float(value), values["one worker"][0], rtol=1e-9)
            np.testing.assert_allclose(np.asarray(gradient), values["one worker"][1], rtol=1e-7)
        return dict(best(calls, ROUNDS))
