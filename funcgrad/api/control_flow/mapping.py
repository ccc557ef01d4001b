"""`map`: a function of every row, one after the other or in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad import tree
from funcgrad.api.batch import vmap
from funcgrad.api.control_flow.control_types import as_operand
from funcgrad.api.control_flow.loops import common_length, scanned
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.types import Array, Tree

Function = Callable[..., Any]


def map(f: Function, xs: Tree, *, batch_size: int | None = None) -> Tree:
    """``f`` of every row of `xs`, one after the other, and the results stacked: a `scan` without carry.

    With `batch_size` that many rows are taken at once, by `vmap`; 0 is as None.

    >>> print(fg.lax.map(lambda x: x**2, np.array([1.0, 2.0, 3.0])))
    [1. 4. 9.]
    """
    if batch_size is not None and batch_size < 0:
        raise ValueError(f"map: batch_size counts rows, and it is {batch_size}")
    if batch_size:
        return map_in_batches(f, xs, batch_size)

    row_function = recordable_by_default(f)

    def body(_: None, x: Tree) -> Tree:
        return None, row_function(x)

    body.__name__ = getattr(f, "__name__", "body")
    return scanned("map", body, None, xs, None)[1]


def map_in_batches(f: Function, xs: Tree, batch_size: int) -> Tree:
    """`map` with `batch_size` rows at a time, and the rest in one batch."""
    leaves, treedef = tree.flatten(xs)
    rows = [as_operand(x, "map", "xs") for x in leaves]
    total = common_length("map", [aval_of_any(x) for x in rows], treedef, None)
    count = total // batch_size
    whole = count * batch_size
    parts = []
    if count:
        batches = [
            reshape(take_span(x, 0, 0, whole), (count, batch_size, *aval_of_any(x).shape[1:])) for x in rows
        ]
        stacked = map(vmap(f), tree.unflatten(treedef, batches))
        parts.append(tree.map(_merged, stacked))
    if whole < total or not parts:
        rest = [take_span(x, 0, whole, total - whole) for x in rows]
        parts.append(vmap(f)(tree.unflatten(treedef, rest)))
    return tree.map(_concatenated, *parts)


def _merged(x: Array) -> Array:
    count, size, *rest = aval_of_any(x).shape
    return reshape(x, (count * size, *rest))


def _concatenated(*parts: Array) -> Array:
    return concatenate(parts, 0)
