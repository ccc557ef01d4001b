"""Gradients of functions of Numba's, as they stand, beside the functions themselves on as many threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.model import Builder, Call, Contender, Versus, Workload

OBJECTIVE, BY_HAND = "numba", "numba.gradient"


def problem(name: str) -> Any:
    """One of the problems; they need Numba as soon as they are imported."""
    return getattr(import_module("benchmarks.problems.njit_functions"), name)


def gradient_of(name: str) -> Builder:
    """The gradient without a word of jit: such functions are compiled at once."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.grad(problem(name)), *inputs)

    return build


def numba_call(name: str) -> Builder:
    """A function as Numba compiles it."""

    def build(numba: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(problem(name), *inputs)

    return build


def inputs_of(name: str) -> Callable[[Any], tuple[Any, ...]]:
    """The arguments of a problem."""

    def inputs(np: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = problem(f"{name}_inputs")(np)
        return found

    return inputs


def of_njit(name: str, title: str, objective: str, by_hand: str = "") -> Workload:
    """A workload: the gradient may take 3.5 times as long as the function."""
    contenders = [
        Contender("funcgrad", "funcgrad", gradient_of(objective)),
        Contender(OBJECTIVE, "numba", numba_call(objective), compared=False),
    ]
    if by_hand:
        contenders.append(Contender(BY_HAND, "numba", numba_call(by_hand)))
    return Workload(
        name=f"njit-{name}",
        title=title,
        contenders=tuple(contenders),
        targets=(Versus((OBJECTIVE,), 1 / 3.5, "the njit function"),),
        inputs=inputs_of(objective),
        rtol=1e-8,
        in_quick=False,
    )


WORKLOADS = (
    of_njit(
        "pairs", "gradient of an njit pair loop with prange, 1,000 bodies", "pairs", by_hand="pairs_by_hand"
    ),
    of_njit("sor", "gradient of an njit SOR sweep, 100², 20 sweeps", "relaxed"),
    of_njit("paths", "gradient of an njit path simulator, 2,000 × 100 given normals", "paths"),
)
