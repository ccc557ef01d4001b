"""Whole Jacobians, compiled, beside the peers' and beside what somebody would write by hand."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.contenders import bound, mapped, waited_for
from benchmarks.model import Call, Contender, Versus, Workload

N = 1000


def banded(np: Any, x: Any) -> Any:
    """A discrete boundary value problem: each element depends on three neighbours."""
    inner = 2 * x[1:-1] ** 2 - x[:-2] - x[2:] * np.sin(x[1:-1])
    return np.concatenate([x[:1] - 1, inner, 2 * x[-1:]])


def positions(np: Any) -> tuple[Any, ...]:
    """Numbers between 0 and 1."""
    return (np.linspace(0.0, 1.0, N),)


def funcgrad_jacobian(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Forward mode, compiled as a whole."""
    return partial(fg.jit(fg.jacfwd(bound(banded, np))), *inputs)


def jax_jacobian(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The same."""
    return waited_for(jax, jax.jit(jax.jacfwd(bound(banded, jax.numpy))), inputs, False)


def torch_jacobian(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Reverse mode, which torch compiles of the two."""
    torch._dynamo.reset()
    compiled = torch.compile(torch.func.jacrev(bound(banded, torch)))
    return partial(compiled, *mapped(torch.from_numpy, inputs))


def by_hand(numba: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The three diagonals in a loop of Numba's, in a new array of zeros."""
    return partial(import_module("benchmarks.problems.njit_functions").banded_by_hand, *inputs)


WORKLOADS = (
    Workload(
        name="jit-jacobian-banded",
        title="Jacobian of a function with three diagonals, n = 1,000",
        contenders=(
            Contender("funcgrad", "funcgrad", funcgrad_jacobian),
            Contender("jax.jit", "jax", jax_jacobian),
            Contender("torch.compile", "torch", torch_jacobian),
            Contender("numba.gradient", "numba", by_hand),
        ),
        targets=(
            Versus(("jax.jit", "torch.compile"), 1.3, "the best peer"),
            Versus(("numba.gradient",), 0.7, "hand-written Numba"),
        ),
        inputs=positions,
        in_quick=False,
    ),
)
