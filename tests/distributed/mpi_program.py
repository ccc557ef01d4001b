"""What every rank of a communicator runs: started by the tests under mpiexec, never collected."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy.optimize import minimize

import funcgrad as fg

COMM = MPI.COMM_WORLD
W = np.array([0.3, -0.2, 0.7, 0.1])


def loss(w: Any, X: Any, y: Any) -> Any:
    return np.sum(np.logaddexp(0.0, -y * (X @ w)))


def close(found: Any, expected: Any) -> None:
    assert fg.tree.structure(found) == fg.tree.structure(expected)
    for one, other in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def raised(kind: type[Exception], words: str, call: Any, *args: Any) -> None:
    try:
        call(*args)
    except kind as error:
        assert words in str(error), str(error)  # noqa: PT017 - there is no pytest here
    else:
        raise AssertionError(f"rank {COMM.rank} saw no {kind.__name__}")


def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(1003, 4)), np.sign(rng.normal(size=1003))


def mine(*arrays: Any) -> tuple[Any, ...]:
    """What rank 0 scatters; the others give nothing."""
    return arrays if COMM.rank == 0 else ()


def sums(X: Any, y: Any) -> None:
    f = fg.value_and_grad(loss)
    expected = f(W, X, y)
    step = fg.distribute(f, COMM)
    for shards in (1, 2, 5, 40):  # the first leaves a rank without any
        data = step.scatter(*mine(X, y), shards=shards)
        found = step(W, data)
        close(found, expected)
        again = step(W + COMM.rank, data)  # the parameters of rank 0 are everybody's
        assert again[0] == found[0]
        np.testing.assert_array_equal(again[1], found[1])
        assert len({value.tobytes() for value in COMM.allgather(found[1])}) == 1
    local = halves(step, X, y)
    assert local.rows == ((0, 400), (400, 1003))
    close(step(W, local), expected)
    close(step(W, step.scatter(loader=lambda k: (X[k::4], y[k::4]), shards=4)), expected)
    fit = minimize(step, np.zeros(4), args=(local,), jac=True, method="L-BFGS-B")
    np.testing.assert_allclose(
        fit.x, minimize(f, np.zeros(4), args=(X, y), jac=True, method="L-BFGS-B").x, rtol=1e-5
    )


def halves(step: Any, X: Any, y: Any) -> Any:
    """Data that every rank has already."""
    half = slice(0, 400) if COMM.rank == 0 else slice(400, None)
    return step.scatter(X[half], y[half], local=True)


def reductions(X: Any, y: Any) -> None:
    local = halves(fg.distribute(loss, COMM), X, y)
    mean = fg.distribute(fg.value_and_grad(lambda w, X, y: np.mean((X @ w - y) ** 2)), COMM, reduce="mean")
    close(mean(W, local), fg.value_and_grad(lambda w: np.mean((X @ w - y) ** 2))(W))
    sines = fg.distribute(fg.vmap(np.sin), COMM)
    close(sines(sines.scatter(*mine(X))), np.sin(X))
    most = fg.distribute(lambda w, X, y: np.max(X, axis=0), COMM, reduce=np.maximum)
    close(most(W, local), X.max(axis=0))
    beside = fg.distribute(lambda w, X, y: (np.sum(X @ w), X @ w), COMM, has_aux=True)
    _, aux = beside(W, local)
    close(np.concatenate(aux), X @ W)
    kinds = fg.distribute(
        lambda w, X, y: (np.sum(y > 0), np.sum(X).astype("f4"), np.sum(X) * (1 + 2j)), COMM, jit=False
    )
    count, single, both = kinds(W, local)
    assert count == np.sum(y > 0)
    np.testing.assert_allclose(single, X.sum(), rtol=1e-5)
    np.testing.assert_allclose(both, X.sum() * (1 + 2j))


def faults(X: Any, y: Any) -> None:
    step = fg.distribute(fg.value_and_grad(loss), COMM)
    local = halves(step, X, y)
    expected = fg.value_and_grad(loss)(W, X, y)

    def strict(w: Any, X: Any, y: Any) -> Any:
        if X.shape[0] == 603:
            raise ValueError("too many rows")
        return np.sum(X @ w)

    raised(fg.errors.ShardError, "shard 1 of 2 (rows 400 to 1002) raised ValueError: too many rows",
           fg.distribute(strict, COMM), W, local)  # fmt: skip
    raised(fg.errors.ArgnumsError, "whose rows are they", step, W, X, y)
    raised(fg.errors.DistributedError, "with different arguments", step, W[: COMM.rank + 3], local)
    raised(fg.errors.ShapeError, "must have as many", step.scatter, X, y[COMM.rank :][:1000])
    close(step(W, local), expected)  # and the ranks are in step with each other still

    def interrupted(w: Any, X: Any, y: Any) -> Any:
        if COMM.rank == 1:
            raise KeyboardInterrupt
        return np.sum(X @ w)

    try:
        fg.distribute(interrupted, COMM)(W, local)
    except KeyboardInterrupt:
        assert COMM.rank == 1
    except fg.errors.DistributedError as error:
        assert COMM.rank == 0
        assert "rank 1 was interrupted" in str(error)  # noqa: PT017 - there is no pytest here
    assert len(step.report().calls[-1].shards) == 1


if __name__ == "__main__":
    data = rows()
    sums(*data)
    reductions(*data)
    faults(*data)
    sys.stdout.write(f"rank {COMM.rank} is done\n")
