"""Plain Python loops: value and gradient beside the same text by Numba, adjoints by hand, and jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.compiled import OBJECTIVE, funcgrad_jitted_gradient, funcgrad_jitted_objective
from benchmarks.contenders import mapped
from benchmarks.model import Builder, Call, Contender, Versus, Workload
from benchmarks.problems import plain_loops as problems

NUMBA, BY_HAND, JAX = "numba", "numba.adjoint", "jax.lax"

Function = Callable[..., Any]


def numba_call(function: Function) -> Builder:
    """The function compiled by Numba."""

    def build(numba: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(numba.njit(function), *inputs)

    return build


def jax_call(function: Function) -> Builder:
    """Value and gradient by jax of a function that is handed jax itself."""

    def build(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        found = jax.jit(jax.value_and_grad(partial(function, jax)))
        arrays = mapped(jax.numpy.asarray, inputs)
        return lambda: jax.block_until_ready(found(*arrays))

    return build


def looped(
    name: str,
    title: str,
    function: Function,
    inputs: Callable[..., tuple[Any, ...]],
    lax: Function | None,
    ratio: float,
    by_hand: Function | None = None,
) -> Workload:
    """A workload: `ratio` is to be reached against jax; at most 3.5 objectives, 4 of Numba's, one adjoint."""

    def given(_: Any, *args: Any) -> Any:
        return function(*args)

    contenders = [
        Contender("funcgrad", "funcgrad", funcgrad_jitted_gradient(given, True)),
        Contender(OBJECTIVE, "funcgrad", funcgrad_jitted_objective(given, True), compared=False),
        Contender(NUMBA, "numba", numba_call(function), compared=False),
    ]
    targets = [Versus((OBJECTIVE,), 1 / 3.5), Versus((NUMBA,), 1 / 4, "Numba's objective")]
    if by_hand is not None:
        contenders.append(Contender(BY_HAND, "numba", numba_call(by_hand)))
        targets.append(Versus((BY_HAND,), 1.0))
    if lax is not None:
        contenders.append(Contender(JAX, "jax", jax_call(lax)))
        targets.append(Versus((JAX,), ratio))
    return Workload(
        name=f"loop-{name}",
        title=title,
        contenders=tuple(contenders),
        targets=tuple(targets),
        inputs=inputs,
        rtol=1e-8,
        in_quick=False,
    )


def one_array(_: Any, *shape: int) -> tuple[Any, ...]:
    """Random numbers."""
    return (problems.numbers(*shape),)


def array_of(*shape: int) -> Callable[..., tuple[Any, ...]]:
    """Inputs of one array."""

    def inputs(np: Any) -> tuple[Any, ...]:
        return one_array(np, *shape)

    return inputs


def in_place(n: int, name: str, ratio: float) -> Workload:
    """The recurrence for one length."""
    return looped(
        f"recurrence-{name}",
        f"in-place recurrence, n = {n}",
        problems.in_place,
        array_of(n),
        problems.in_place_lax if n <= 10_000 else None,
        ratio,
        problems.in_place_adjoint,
    )


def newton() -> Workload:
    """A loop to convergence for each of many numbers; jax takes forward mode, the only one that it has."""

    def together(_: Any, *args: Any) -> Any:
        return problems.cube_roots_together(*args)

    def jax_tangents(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        found = jax.jit(partial(problems.cube_roots_lax, jax))
        arrays = mapped(jax.numpy.asarray, inputs)
        return lambda: jax.block_until_ready(found(*arrays))

    return Workload(
        name="loop-newton",
        title="cube roots by Newton's method, 10,000 numbers by vmap",
        contenders=(
            Contender("funcgrad", "funcgrad", funcgrad_jitted_gradient(together, True)),
            Contender(OBJECTIVE, "funcgrad", funcgrad_jitted_objective(together, True), compared=False),
            Contender(NUMBA, "numba", numba_call(problems.cube_roots), compared=False),
            Contender(JAX, "jax", jax_tangents),
        ),
        targets=(Versus((NUMBA,), 1 / 4, "Numba's objective"), Versus((JAX,), 3.0)),
        inputs=problems.cube_roots_inputs,
        rtol=1e-8,
        in_quick=False,
    )


WORKLOADS = (
    newton(),
    in_place(1_000, "1e3", 2.0),
    in_place(10_000, "1e4", 10.0),
    in_place(100_000, "1e5", 10.0),
    looped(
        "sor",
        "successive over-relaxation on 200², 20 sweeps",
        problems.relaxed,
        array_of(200, 200),
        None,
        10.0,
        problems.relaxed_adjoint,
    ),
    looped(
        "cholesky",
        "Cholesky's factor by three loops, 300²",
        problems.cholesky,
        problems.cholesky_inputs,
        None,
        10.0,
    ),
    looped("soft-dtw", "soft dynamic time warping, 300²", problems.soft_dtw, array_of(301, 301), None, 10.0),
    looped(
        "knapsack",
        "a smooth knapsack, 100 things and 1,000 capacities",
        problems.knapsack,
        problems.knapsack_inputs,
        None,
        10.0,
    ),
    looped(
        "rows",
        "ten products by a sparse matrix of 500 rows, element by element",
        problems.compressed_rows,
        problems.compressed_rows_inputs,
        None,
        10.0,
    ),
    looped(
        "hmm",
        "forward algorithm, 1,000 steps of 16 states",
        problems.hidden_markov,
        problems.hidden_markov_inputs,
        problems.hidden_markov_lax,
        2.0,
    ),
    looped(
        "thomas",
        "Thomas' algorithm, n = 10⁵",
        problems.tridiagonal,
        problems.tridiagonal_inputs,
        problems.tridiagonal_lax,
        2.0,
    ),
    looped(
        "kalman",
        "Kalman's filter, 1,000 steps of 4×4",
        problems.filtered,
        problems.filtered_inputs,
        problems.filtered_lax,
        2.0,
    ),
    looped(
        "lorenz",
        "Lorenz' equations, 10,000 steps",
        problems.attractor,
        problems.attractor_inputs,
        problems.attractor_lax,
        2.0,
    ),
    looped(
        "bodies",
        "energy of the pairs of 500 bodies",
        problems.attraction,
        array_of(500, 3),
        problems.attraction_lax,
        2.0,
    ),
)
