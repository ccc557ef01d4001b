"""Calls of compiled gradients whose arguments and results are structures, beside the same leaves one by one.

A call may take 0.3 µs and 20 ns a leaf longer than the flat one: that is what its structure may cost.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.compiled import funcgrad_jitted_gradient
from benchmarks.contenders import Function, jax_jitted_gradient, leaves_of
from benchmarks.model import OURS, Beyond, Call, Contender, Target, Within, Workload
from benchmarks.problems.models import small_leaves, sum_of_squares

FLAT = "funcgrad.flat"

EACH_CALL, EACH_LEAF = 0.3e-6, 20e-9


def of_leaves(np: Any, structure: Any) -> Any:
    """Touches every leaf."""
    return sum_of_squares(np, leaves_of(structure))


def flat_gradient(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Value and gradient by as many arguments as there are leaves."""
    leaves = leaves_of(inputs)
    flat = fg.value_and_grad(lambda *leaves: sum_of_squares(np, leaves), argnums=tuple(range(len(leaves))))
    return partial(fg.jit(flat), *leaves)


def structured(name: str, title: str, made: Function, leaves: int, *targets: Target) -> Workload:
    """Value and gradient of what touches every leaf of `made(leaves)`."""

    def inputs(np: Any) -> tuple[Any, ...]:
        return (made(*small_leaves(np, leaves)),)

    return Workload(
        name=f"call-{name}",
        title=f"squares of {title}",
        contenders=(
            Contender(OURS, "funcgrad", funcgrad_jitted_gradient(of_leaves, True)),
            Contender(FLAT, "funcgrad", flat_gradient),
            Contender("jax.jit", "jax", jax_jitted_gradient(of_leaves, True)),
        ),
        targets=targets,
        inputs=inputs,
        information=frozenset({FLAT}),
        in_quick=False,
    )


def beyond_flat(leaves: int) -> Target:
    """What a structure of so many leaves may cost."""
    return Beyond(FLAT, EACH_CALL + leaves * EACH_LEAF)


def numbers(leaves: list[Any]) -> dict[str, float]:
    """The first elements under names, as Python's numbers."""
    return {name: float(x[0]) for name, x in zip("ab", leaves, strict=True)}


def dictionary(leaves: list[Any]) -> dict[str, Any]:
    """The leaves under names in order."""
    return {f"leaf{k:03d}": x for k, x in enumerate(leaves)}


def layers(leaves: list[Any]) -> list[dict[str, Any]]:
    """Two leaves a layer."""
    return [{"b": b, "w": w} for b, w in zip(leaves[::2], leaves[1::2], strict=True)]


WORKLOADS = (
    structured("numbers", "two numbers in a dictionary", numbers, 2, beyond_flat(2), Within(0.6e-6)),
    structured("list", "100 arrays in a list", list, 100, beyond_flat(100), Within(6e-6)),
    structured("dictionary", "100 arrays in a dictionary", dictionary, 100, beyond_flat(100), Within(6e-6)),
    structured("layers", "50 layers, dictionaries of two arrays, in a list", layers, 100),
)
