"""How a contraction of two arrays becomes one call of NumPy: which views to take of each, and of the result.

Owns the choice among ``@``, ``*`` and `np.vecdot`, and the same choice as a line of source. It prefers
views to copies: axes are merged where that is free for a contiguous array, and otherwise left to matmul's
own loop over stacks. Of the dtype only the kind matters: `np.vecdot` conjugates complex numbers, and the
method ``dot`` is quicker than ``@`` for small matrices of what BLAS knows, and slower for integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.ops.reducing.labelled import Axes, AxisPairs
from funcgrad.types import Array

View = tuple[str, Axes]
"""``("transpose", order)`` or ``("reshape", shape)``."""


class Plan(NamedTuple):
    """``result(left(x) operation right(y))``, the operands swapped where `swapped`."""

    operation: str
    left: tuple[View, ...]
    right: tuple[View, ...]
    result: tuple[View, ...]
    swapped: bool = False

    def run(self, x: Array, y: Array) -> Array:
        """The contraction of two arrays."""
        return self.finish(self.combine(*self.operands(x, y)))

    def operands(self, x: Array, y: Array) -> tuple[Any, Any]:
        """What stands left and right of the operation."""
        left, right = seen_as(x, self.left), seen_as(y, self.right)
        return (right, left) if self.swapped else (left, right)

    def combine(self, left: Array, right: Array) -> Array:
        """The operation itself."""
        if self.operation == "dot":
            return left.dot(right)
        if self.operation == "@":
            return left @ right
        return left * right if self.operation == "*" else np.vecdot(left, right)

    def finish(self, out: Array) -> Array:
        """The result in the order and shape of the contraction."""
        return seen_as(out, self.result)

    def operand_sources(self, x: str, y: str) -> tuple[str, str]:
        """`operands` as source."""
        left, right = x + views_source(self.left), y + views_source(self.right)
        return (right, left) if self.swapped else (left, right)

    def combine_source(self, left: str, right: str) -> str:
        """`combine` as source that reads well: ``@`` for ``dot``."""
        if self.operation == "vecdot":
            return f"np.vecdot({left}, {right})"
        return f"{left} {self.operation.replace('dot', '@')} {right}"

    def fast_combine_source(self, left: str, right: str) -> str:
        """`combine` as source that runs fastest."""
        return f"{left}.dot({right})" if self.operation == "dot" else self.combine_source(left, right)

    def finish_source(self, out: str) -> str:
        """`finish` as source."""
        return f"({out}){views_source(self.result)}" if self.result else out


def seen_as(x: Array, views: Sequence[View]) -> Array:
    """The array after these changes of order and shape."""
    for method, argument in views:
        x = getattr(x, method)(argument)
    return x


def views_source(views: Sequence[View]) -> str:
    """The method calls that `seen_as` makes."""
    return "".join(
        ".T" if view == ("transpose", (1, 0)) else f".{view[0]}({', '.join(map(str, view[1]))})"
        for view in views
    )


@lru_cache(maxsize=4096)
def plan(contracting: AxisPairs, batch: AxisPairs, x_shape: Shape, y_shape: Shape, kind: str) -> Plan:
    """The plan for operands of these shapes; the result's axes are batch, free of x, free of y."""
    x_free = free_axes(len(x_shape), contracting[0], batch[0])
    y_free = free_axes(len(y_shape), contracting[1], batch[1])
    if not contracting[0]:
        return product_plan(batch, x_free, y_free, x_shape, y_shape)
    contracting = paired_along_larger(contracting, x_shape, y_shape)
    if not x_free and not y_free and batch[0] and kind != "c":
        return Plan(
            "vecdot",
            arranged(x_shape, batch[0], (contracting[0],)),
            arranged(y_shape, batch[1], (contracting[1],)),
            (),
        )
    found = matmul_plan(contracting, batch, x_free, y_free, x_shape, y_shape)
    is_flat = all(final_rank(s, views) <= 2 for s, views in ((x_shape, found.left), (y_shape, found.right)))
    return found._replace(operation="dot") if is_flat and kind in "fc" else found


def final_rank(shape: Shape, views: Sequence[View]) -> int:
    """The rank of an array of this shape after the views."""
    return len(views[-1][1]) if views else len(shape)


def product_plan(batch: AxisPairs, x_free: Axes, y_free: Axes, x_shape: Shape, y_shape: Shape) -> Plan:
    """Nothing is summed: a product of operands that broadcast against each other."""
    # A scalar broadcasts as it is, and without batch axes so does y.
    x_blanks = len(y_free) if x_shape else 0
    y_blanks = len(x_free) if batch[0] else 0
    left = arranged(x_shape, batch[0] + x_free, blanks=x_blanks)
    return Plan("*", left, inner_ones(y_shape, batch[1], y_blanks, y_free), ())


def inner_ones(shape: Shape, batch: Axes, blanks: int, free: Axes) -> tuple[View, ...]:
    """Batch axes, then ones, then free axes."""
    views = arranged(shape, batch + free)
    if not blanks:
        return views
    return (*views, ("reshape", sizes(shape, batch) + (1,) * blanks + sizes(shape, free)))


def matmul_plan(
    contracting: AxisPairs, batch: AxisPairs, x_free: Axes, y_free: Axes, x_shape: Shape, y_shape: Shape
) -> Plan:
    """Matrices in the last two axes, batch axes and stacks of free axes before them."""
    x_stack = stack_axes(len(x_shape), batch[0], x_free, contracting[0])
    y_stack = stack_axes(len(y_shape), batch[1], y_free, contracting[1])
    if x_stack and y_stack:
        # One of the operands is copied then; better the smaller.
        x_stack, y_stack = ((), y_stack) if prod(x_shape) <= prod(y_shape) else (x_stack, ())
    x_rows, y_columns = x_free[len(x_stack) :], y_free[len(y_stack) :]
    is_batched = bool(batch[0])
    # A vector stays a vector where matmul takes one.
    x_groups = (x_rows, contracting[0]) if x_rows or is_batched else (contracting[0],)
    y_groups = (contracting[1], y_columns) if y_columns or is_batched else (contracting[1],)
    left = arranged(x_shape, batch[0] + x_stack, x_groups, len(y_stack) if is_batched else 0)
    right = arranged(y_shape, batch[1] + y_stack, y_groups, len(x_stack) if is_batched else 0)
    result = result_views(
        sizes(x_shape, batch[0]),
        sizes(x_shape, x_stack) + sizes(y_shape, y_stack),
        [sizes(x_shape, x_rows)] if len(x_groups) == 2 else [],
        [sizes(y_shape, y_columns)] if len(y_groups) == 2 else [],
        len(x_rows) if y_stack else 0,
    )
    if len(x_groups) == 1 and len(y_shape) == 2 and right == (("transpose", (1, 0)),):
        return Plan("@", left, (), result, swapped=True)
    return Plan("@", left, right, result)


def result_views(
    batch: Shape, stack: Shape, rows: list[Shape], columns: list[Shape], rows_before_stack: int
) -> tuple[View, ...]:
    """From batch, stack, merged rows and merged columns to the axes of the contraction's result."""
    merged = rows + columns
    views: list[View] = []
    if any(len(group) != 1 for group in merged):
        views.append(("reshape", batch + stack + tuple([n for group in merged for n in group])))
    if rows_before_stack:
        nb, ns, ndim = len(batch), len(stack), len(batch) + len(stack) + sum(map(len, merged))
        first_row, last_row = nb + ns, nb + ns + rows_before_stack
        order = (*range(nb), *range(first_row, last_row), *range(nb, first_row), *range(last_row, ndim))
        views.append(("transpose", order))
    return tuple(views)


def stack_axes(ndim: int, batch: Axes, free: Axes, contracting: Axes) -> Axes:
    """The free axes left to matmul's loop, because merging them with the others would copy the array."""
    if len(free) < 2 or len(contracting) > 1:
        return ()
    inner_orders = (batch + free + contracting, batch + contracting + free)
    return () if tuple(range(ndim)) in inner_orders else free[:-1]


def arranged(shape: Shape, lead: Axes, groups: tuple[Axes, ...] = (), blanks: int = 0) -> tuple[View, ...]:
    """Leading axes, then axes of size one, then each group of axes merged into one."""
    identity = tuple(range(len(shape)))
    straight = lead + tuple([a for group in groups for a in group])
    # Merging two groups is free in the order in which they lie; matmul takes the transpose of that too.
    is_flipped = (
        len(groups) == 2
        and straight != identity
        and max(map(len, groups)) > 1
        and (lead + groups[1] + groups[0] == identity or identity[-1] in groups[0])
    )
    inner = (groups[1], groups[0]) if is_flipped else groups
    order = lead + tuple([a for group in inner for a in group])
    merged = sizes(shape, lead) + (1,) * blanks + tuple([prod(sizes(shape, group)) for group in inner])
    views: list[View] = []
    if order != identity:
        views.append(("transpose", order))
    if merged != sizes(shape, order):
        views.append(("reshape", merged))
    if is_flipped:
        last = len(merged) - 1
        views.append(("transpose", (*range(last - 1), last, last - 1)))
    return tuple(views)


def paired_along_larger(contracting: AxisPairs, x_shape: Shape, y_shape: Shape) -> AxisPairs:
    """The pairs in the order of the larger operand's axes, so that merging them copies the smaller one."""
    larger = 0 if prod(x_shape) >= prod(y_shape) else 1
    return sorted_pairs(contracting, larger)


def sorted_pairs(pairs: AxisPairs, by: int) -> AxisPairs:
    """Pairs of axes in the order of the first operand's axes (``by=0``) or the second's."""
    found = sorted(zip(*pairs, strict=True), key=lambda pair: pair[by])
    return tuple([pair[0] for pair in found]), tuple([pair[1] for pair in found])


def free_axes(ndim: int, contracting: Axes, batch: Axes) -> Axes:
    """The axes that are neither contracted nor batch axes."""
    return tuple([a for a in range(ndim) if a not in contracting and a not in batch])


def sizes(shape: Shape, axes: Axes) -> Shape:
    """The sizes of these axes."""
    return tuple([shape[a] for a in axes])
