"""The loops of a nest: their order, and which axes one loop runs over together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from funcgrad.compile.passes.scheduling.nests import Nest, Reduce
from funcgrad.compile.passes.scheduling.views import View


class Loop(NamedTuple):
    """One loop of a nest: its number of turns, and the axes of the nest that it runs over, merged."""

    size: int
    axes: tuple[int, ...]


def loops_of(nest: Nest, *, separate: bool = False) -> list[Loop]:
    """The loops of a nest: large strides outside, and axes that follow one another merged.

    With `separate` the outermost axis stays a loop of its own.
    """
    return loops_over(nest, [view for view, _ in nest.views()], separate=separate)


def loops_over(nest: Nest, views: Sequence[View], *, separate: bool) -> list[Loop]:
    """As `loops_of`, for a nest whose views are known."""
    reductions = [set(s.axes) for s in nest.body if isinstance(s, Reduce)]
    order = loop_order(nest, views)
    loops: list[Loop] = []
    for axis in order:
        n = nest.shape[axis]
        if len(loops) > separate and follow(views, loops[-1].axes[-1], axis, n):
            last = loops[-1]
            if all((axis in reduced) == (last.axes[0] in reduced) for reduced in reductions):
                loops[-1] = Loop(last.size * n, (*last.axes, axis))
                continue
        loops.append(Loop(n, (axis,)))
    return loops


def follow(views: Sequence[View], outer: int, inner: int, n: int) -> bool:
    """Whether one step of the outer axis is `n` steps of the inner one in all views."""
    return all(view.strides[outer] == view.strides[inner] * n for view in views)


def loop_order(nest: Nest, views: Sequence[View]) -> list[int]:
    """The axes, those with large strides first."""
    axes = list(range(len(nest.shape)))
    if len(axes) < 2 or nest.ordered:
        return axes

    def reach(axis: int) -> int:
        return sum(abs(view.strides[axis]) for view in views)

    return sorted(axes, key=lambda axis: (-reach(axis), axis))
