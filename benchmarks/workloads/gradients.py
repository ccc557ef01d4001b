"""Un-jitted gradients, second call on, of functions as people write them."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.contenders import gradients, hessians
from benchmarks.model import Versus, Within, Workload
from benchmarks.problems import PROBLEMS

JITTED = frozenset({"jax.jit"})
"""Compiled: for information beside what is not."""


def four_operations(np: Any, x: Any) -> Any:
    """Multiply, add, tanh, sum."""
    return np.sum(np.tanh(x * 2.0 + 1.0))


def ten_numbers(np: Any) -> tuple[Any, ...]:
    """Ten numbers between -1 and 1."""
    return (np.linspace(-1.0, 1.0, 10),)


FOUR_OPERATIONS = Workload(
    name="four-operations",
    title="un-jitted gradient of four operations on 10 elements",
    contenders=gradients(four_operations),
    targets=(
        Within(10e-6),
        Versus(("torch",), 1.0),
        Versus(("autograd",), 2.0),
        Versus(("jax",), 20.0),
        Versus(("torch", "autograd", "jax"), 3.0, "the best peer"),
    ),
    inputs=ten_numbers,
    rounds=25,
    information=JITTED,
)


def unjitted(
    name: str, title: str, problem: str, *, rtol: float = 1e-6, in_quick: bool = True, **sizes: Any
) -> Workload:
    """Value and gradient of a problem as it stands."""
    found = PROBLEMS[problem]
    return Workload(
        name=name,
        title=f"un-jitted value and gradient of {title}",
        contenders=gradients(found.function, value=True),
        inputs=partial(found.inputs, **sizes),
        information=JITTED,
        rtol=rtol,
        in_quick=in_quick,
    )


ROSENBROCK = unjitted("rosenbrock-10", "Rosenbrock, n = 10", "rosenbrock")

LOGISTIC = unjitted("logistic", "logistic regression, 1000×20", "logistic")

MLP = unjitted("mlp", "a tanh MLP, 3 layers, batch 32, width 64, float32", "mlp", rtol=1e-4)

HESSIAN = Workload(
    name="hessian",
    title="un-jitted Hessian of Rosenbrock, n = 10",
    contenders=hessians(PROBLEMS["rosenbrock"].function),
    inputs=PROBLEMS["rosenbrock"].inputs,
    information=JITTED,
    in_quick=False,
)


def loop_of_reads(np: Any, x: Any) -> Any:
    """A Python loop over the elements, as nobody should write it and everybody does."""
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


LOOP = Workload(
    name="loop",
    title="un-jitted gradient of a Python loop with 1,000 pairs of `x[i]`",
    contenders=gradients(loop_of_reads, names=("funcgrad", "torch", "autograd")),
    inputs=partial(PROBLEMS["rosenbrock"].inputs, n=1000),
    left_out={"jax": "2 s a call without jit"},
    in_quick=False,
)

WORKLOADS = (
    FOUR_OPERATIONS,
    ROSENBROCK,
    unjitted("rosenbrock-1000", "Rosenbrock, n = 1,000", "rosenbrock", in_quick=False, n=1000),
    LOGISTIC,
    MLP,
    unjitted("pytree", "100 small arrays in a list", "pytree", in_quick=False),
    HESSIAN,
    LOOP,
)
