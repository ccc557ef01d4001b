"""Contractions whose axes are named by labels, as in ``einsum``.

Owns the step from labels to sums, a contraction or product, and a permutation. A label stands for one axis
of each operand at most, and for one size: repeated labels and axes that broadcast are dealt with above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from funcgrad.ir.avals import Shape
from funcgrad.ops.arithmetic import mul
from funcgrad.ops.contraction import dot
from funcgrad.ops.matmul_plan import Axes, AxisPairs
from funcgrad.ops.structure import broadcast, permute, reduce_sum, shape_of

Labels = tuple[str, ...]


class Recipe(NamedTuple):
    """What to do with two labelled operands."""

    is_product: bool
    """Whether nothing is summed and one operand has all axes of the other: a product, element by element."""
    x_summed: Axes
    y_summed: Axes
    """Axes that only one operand has and the result has not, summed first."""
    contracting: AxisPairs
    batch_axes: AxisPairs
    swapped: bool
    """Whether the operands are exchanged, which saves a permutation."""
    order: Axes | None
    """The permutation of the contraction's axes to those of the result, if there is one."""


@lru_cache(maxsize=4096)
def recipe(x_labels: Labels, y_labels: Labels, out_labels: Labels) -> Recipe:
    """How operands with these labels give the result with those."""
    x_left = [a for a in x_labels if a in y_labels or a in out_labels]
    y_left = [a for a in y_labels if a in x_labels or a in out_labels]
    batch = [a for a in out_labels if a in x_left and a in y_left]
    contracted = [a for a in x_left if a in y_left and a not in out_labels]
    x_free = [a for a in x_left if a not in y_left]
    y_free = [a for a in y_left if a not in x_left]
    is_swapped = batch + x_free + y_free != list(out_labels) == batch + y_free + x_free
    first, second = (y_left, x_left) if is_swapped else (x_left, y_left)
    found = batch + (y_free + x_free if is_swapped else x_free + y_free)
    x_summed = tuple([k for k, a in enumerate(x_labels) if a not in x_left])
    y_summed = tuple([k for k, a in enumerate(y_labels) if a not in y_left])
    return Recipe(
        not (contracted or x_summed or y_summed or (x_free and y_free)),
        x_summed,
        y_summed,
        (positions(contracted, first), positions(contracted, second)),
        (positions(batch, first), positions(batch, second)),
        is_swapped,
        None if found == list(out_labels) else positions(list(out_labels), found),
    )


def positions(labels: list[str], among: list[str]) -> Axes:
    """Where each label stands among others."""
    return tuple([among.index(a) for a in labels])


def contract(x: Any, x_labels: Labels, y: Any, y_labels: Labels, out_labels: Labels) -> Any:
    """The sum of products of two operands of one dtype, with the axes of `out_labels` left."""
    r = recipe(x_labels, y_labels, out_labels)
    if r.is_product:
        sizes = dict(zip(x_labels, shape_of(x), strict=True)) | dict(zip(y_labels, shape_of(y), strict=True))
        shape = tuple([sizes[a] for a in out_labels])
        return mul(spread(x, x_labels, out_labels, shape), spread(y, y_labels, out_labels, shape))
    x, y = reduce_sum(x, r.x_summed), reduce_sum(y, r.y_summed)
    out = dot(y, x, r.contracting, r.batch_axes) if r.swapped else dot(x, y, r.contracting, r.batch_axes)
    return out if r.order is None else permute(out, r.order)


def spread(x: Any, labels: Labels, out_labels: Labels, shape: Shape) -> Any:
    """The operand with its axes in the order of the result's, repeated along those it lacks."""
    if not labels:
        return x
    axes = [out_labels.index(a) for a in labels]
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast(permute(x, order), shape, tuple(sorted(axes)))


def labels_left(x_labels: Labels, y_labels: Labels, kept: frozenset[str]) -> Labels:
    """The labels of a contraction that keeps those in `kept`, in the order that costs nothing."""
    x_left = [a for a in x_labels if a in kept]
    shared = [a for a in x_left if a in y_labels]
    x_free = [a for a in x_left if a not in y_labels]
    y_free = [a for a in y_labels if a in kept and a not in x_labels]
    return (*shared, *x_free, *y_free)
