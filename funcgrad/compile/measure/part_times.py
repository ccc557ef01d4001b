"""How long a call takes, and each of its parts: kernels, and equations that are left to NumPy.

The kernels are those that run, without readings of the clock inside; `timed_kernels` looks
into them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.segments import Reason, Segment, segments_of
from funcgrad.compile.runtime.executable import executable_of_kernel
from funcgrad.ir.program import Equation, Program

BLOCK = 2e-4
"""Seconds that are measured at once: shorter calls are repeated."""
ENOUGH = 0.1
"""Seconds after which the best so far is believed, once a second call has been measured."""
PATIENCE = 5.0
"""Seconds of a first call after which there is no second: it may be several times too slow, in new memory."""
REPEATS = 7


class PartTime(NamedTuple):
    """The time of a kernel, or of the `equation` that is left to NumPy."""

    equation: Equation | None
    seconds: float


def part_times(program: Program, values: Sequence[Any]) -> tuple[list[PartTime], list[Reason]]:
    """The times of the parts in the order in which they run, and why equations were left to NumPy."""
    segments, reasons = segments_of(program)
    env: dict[Any, Any] = {**dict(program.captured), **dict(zip(program.inputs, values, strict=True))}
    found = []
    for segment in segments:
        run = function_of(segment)
        given = [env[v] for v in segment.program.inputs]
        env.update(zip(segment.defines, run(*given), strict=True))
        equation = None if segment.native else segment.program.equations[0]
        found.append(PartTime(equation, seconds_of(run, *given)))
    return found, reasons


def function_of(segment: Segment) -> Callable[..., Sequence[Any]]:
    """What runs a part."""
    if not segment.native:
        return segment.evaluate
    return executable_of_kernel(make_kernel(segment.program), segment.program).run


def seconds_of(run: Callable[..., Any], *args: object) -> float:
    """How long a call takes: the best of a few, and of two if it takes long.

    >>> 0 < seconds_of(sum, [1, 2, 3]) < 0.1
    True
    """
    start = perf_counter()
    run(*args)
    once = perf_counter() - start
    times = max(1, min(10_000, int(BLOCK / max(once, 1e-8))))
    best = once
    for turn in range(REPEATS):
        if perf_counter() - start > (ENOUGH if turn else PATIENCE):
            break
        before = perf_counter()
        for _ in range(times):
            run(*args)
        best = min(best, (perf_counter() - before) / times)
    return best
