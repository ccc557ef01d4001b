"""Exported modules beside `fg.jit`, and a gradient called inside somebody else's Numba loop."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.contenders import Function, bound
from benchmarks.model import Builder, Call, Contender, Versus, Workload
from benchmarks.problems import PROBLEMS

JITTED = "funcgrad.jit"

BY_HAND = "numba.by hand"

CALLS = 1000
"""Calls of a gradient in one run of a loop of Numba's. A microsecond of difference is a nanosecond a call."""


def exported_gradient(function: Function) -> Builder:
    """The function of an exported module, on as many threads as the jitted one."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        made = fg.export(fg.value_and_grad(bound(function, np)), parallel=True)(*inputs)
        return partial(made.function, *inputs)

    return build


def jitted_gradient(function: Function) -> Builder:
    """The same compiled by `fg.jit`."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.jit(fg.value_and_grad(bound(function, np))), *inputs)

    return build


def exported(problem: str, title: str, rtol: float = 1e-6, **sizes: Any) -> Workload:
    """A problem exported, beside the problem jitted."""
    found = PROBLEMS[problem]
    return Workload(
        name=f"export-{problem}",
        title=f"exported: {title}",
        contenders=(
            Contender("funcgrad", "funcgrad", exported_gradient(found.function)),
            Contender(JITTED, "funcgrad", jitted_gradient(found.function)),
        ),
        targets=(Versus((JITTED,), 1 / 1.1),),
        inputs=partial(found.inputs, **sizes),
        rtol=rtol,
        in_quick=False,
    )


def slopes_in_a_loop(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """A loop of Numba's that calls `fg.njit_callable`."""
    import numba  # noqa: PLC0415 - a first call's time must not hold it

    slope = fg.njit_callable(fg.grad(lambda x: x**3 - 2.0 * x), 1.0)

    @numba.njit
    def walk(x):  # type: ignore[no-untyped-def]
        for _ in range(CALLS):
            x = x - 1e-3 * slope(x)
        return x

    return partial(walk, *inputs)


def slopes_by_hand(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The same loop with the derivative written into it."""
    import numba  # noqa: PLC0415 - a first call's time must not hold it

    @numba.njit
    def walk(x):  # type: ignore[no-untyped-def]
        for _ in range(CALLS):
            x = x - 1e-3 * (3.0 * x * x - 2.0)
        return x

    return partial(walk, *inputs)


def start(np: Any) -> tuple[Any, ...]:
    """Where the walk begins."""
    return (1.5,)


WORKLOADS = (
    exported("scalar", "scalar function of nine operations"),
    exported("rosenbrock", "Rosenbrock, n = 10⁵", n=100_000),
    exported("logistic", "logistic regression, 1,000 points in 20 dimensions"),
    exported("chain30", "30 operations on each of 10⁶ elements"),
    exported("recurrence", "a scan over 10,000 steps of a number"),
    Workload(
        name="njit-callable",
        title=f"{CALLS:,} calls of a gradient in a loop of Numba's",
        contenders=(
            Contender("funcgrad", "funcgrad", slopes_in_a_loop),
            Contender(BY_HAND, "funcgrad", slopes_by_hand),
        ),
        targets=(),
        inputs=start,
        in_quick=False,
    ),
)
