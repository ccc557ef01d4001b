"""`associative_scan`: all partial combinations of a sequence, in logarithmically many steps.

Composed of slices and calls of the user's function; there is no primitive of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.control_flow.control_types import as_operand
from funcgrad.errors import ShapeError, TreeError
from funcgrad.ops.arrays.movement import concatenate, flip, stack, take_span
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import aval
from funcgrad.types import Array

T = TypeVar("T")
Leaves = list[Any]
Combine = Callable[[Leaves, Leaves], Leaves]


def associative_scan(fn: Callable[[Any, Any], Any], elems: T, reverse: bool = False, axis: int = 0) -> T:
    """The combinations ``fn(fn(e0, e1), e2) ...`` of the elements along `axis`, up to each of them.

    `fn` must be associative. It is called on many elements at once: on slices of the pytree `elems`, whose
    elements lie along `axis`, and returns as many. With `reverse` combinations start from the end.

    Raises TreeError if `fn` returns another structure, ShapeError for leaves of different lengths.

    >>> print(fg.associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0])))
    [ 1.  2.  6. 24.]
    """
    leaves, treedef = tree.flatten(elems)
    values = [as_operand(x, "associative_scan", "an element") for x in leaves]
    if not values:
        return elems
    place = checked_axis([aval(x).shape for x in values], axis)

    def combine(first: Leaves, second: Leaves) -> Leaves:
        result = fn(tree.unflatten(treedef, first), tree.unflatten(treedef, second))
        found, seen = tree.flatten(result)
        if seen != treedef:
            raise TreeError(
                "fn of associative_scan must return the structure of its arguments: "
                f"{tree.explain_mismatch(treedef, seen)}",
                source=here(),
            )
        return found

    if reverse:
        values = [flip(x, (place,)) for x in values]
    scanned = partial_combinations(combine, values, place)
    if reverse:
        scanned = [flip(x, (place,)) for x in scanned]
    combinations: T = tree.unflatten(treedef, scanned)
    return combinations


def checked_axis(shapes: list[tuple[int, ...]], axis: int) -> int:
    """`axis`, counted from the start; raises ShapeError unless all shapes agree there."""
    for shape in shapes:
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(f"associative_scan: axis {axis} is not an axis of shape {shape}", source=here())
    places = {(axis % len(shape), shape[axis]) for shape in shapes}
    if len(places) > 1:
        found = ", ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"associative_scan needs elements of one length along axis {axis}: {found}", source=here()
        )
    return places.pop()[0]


def partial_combinations(combine: Combine, values: Leaves, axis: int) -> Leaves:
    """All partial combinations: those of pairs are every second one, and one step gives the others."""
    length = aval(values[0]).shape[axis]
    if length < 2:
        return values
    pairs = combine(every_second(values, axis, 0, length // 2), every_second(values, axis, 1, length // 2))
    odd = partial_combinations(combine, pairs, axis)
    later = every_second(values, axis, 2, (length - 1) // 2)
    before = [take_span(x, axis, 0, (length - 1) // 2) for x in odd]
    even = [take_span(x, axis, 0, 1) for x in values]
    if length > 2:
        even = [concatenate([x, y], axis) for x, y in zip(even, combine(before, later), strict=True)]
    return [interleaved(x, y, axis) for x, y in zip(even, odd, strict=True)]


def every_second(values: Leaves, axis: int, start: int, size: int) -> Leaves:
    """Every second element along `axis`, `size` of them from `start` on."""
    return [take_span(x, axis, start, size, 2) for x in values]


def interleaved(even: Array, odd: Array, axis: int) -> Array:
    """The elements of both in turn; `even` may have one more."""
    shape = aval(odd).shape
    count = shape[axis]
    paired = stack([take_span(even, axis, 0, count), odd], axis + 1)
    merged = reshape(paired, (*shape[:axis], 2 * count, *shape[axis + 1 :]))
    if aval(even).shape[axis] == count:
        return merged
    return concatenate([merged, take_span(even, axis, count, 1)], axis)
