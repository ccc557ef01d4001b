"""Between which bounds integers lie, as far as can be known before a kernel runs.

An index that is known to lie within an array needs no check. Knows nothing of memory and of text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.types import Array

Range = tuple[int, int]
"""The least and the greatest value."""

MOVEMENTS = frozenset({"broadcast", "reshape", "permute", "slice", "flip", "gather", "stop_gradient"})
"""Operations whose results are elements of their first input."""


class Ranges:
    """The ranges of the integers of one Program."""

    def __init__(self) -> None:
        self._known: dict[Var, Range] = {}

    def of(self, atom: Atom) -> Range | None:
        """The range of a variable or a number, if it is known."""
        if isinstance(atom, Var):
            return self._known.get(atom)
        return (int(atom.value), int(atom.value)) if atom.aval.dtype.kind in "iu" else None

    def note(self, v: Var, found: Range | None) -> None:
        """Say what is known of a variable."""
        if found is not None and v.aval.dtype.kind in "iu":
            limits = np.iinfo(v.aval.dtype)
            if limits.min <= found[0] <= found[1] <= limits.max:
                self._known[v] = found

    def follow(self, equation: Equation) -> None:
        """Note what follows from an equation."""
        name, inputs = equation.primitive.name, equation.inputs
        out = equation.outputs[0]
        if equation.primitive.multiple or out.aval.dtype.kind not in "iu":
            return
        if name in MOVEMENTS or name == "cast":
            self.note(out, self.of(inputs[0]))
        elif name == "where":
            self.note(out, joined([self.of(a) for a in inputs[1:]]))
        elif name in RULES:
            operands = [self.of(a) for a in inputs]
            if all(x is not None for x in operands):
                self.note(out, RULES[name](*operands))

    def of_array(self, array: Array) -> Range | None:
        """The range of the elements of an array that is known."""
        if not stays_as_it_is(array) or array.dtype.kind not in "iu" or not array.size:
            return None
        return int(array.min()), int(array.max())


def stays_as_it_is(array: object) -> bool:
    """Whether nobody can change the elements of a captured array, which are read at every call."""
    return isinstance(array, np.ndarray) and not writeable_memory(array)


def joined(ranges: Sequence[Range | None]) -> Range | None:
    """What any of the values may be."""
    known = [x for x in ranges if x is not None]
    if len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def sum_range(x: Range, y: Range) -> Range:
    """``x + y``."""
    return x[0] + y[0], x[1] + y[1]


def difference_range(x: Range, y: Range) -> Range:
    """``x - y``."""
    return x[0] - y[1], x[1] - y[0]


def product_range(x: Range, y: Range) -> Range:
    """``x * y``."""
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def negative_range(x: Range) -> Range:
    """``-x``."""
    return -x[1], -x[0]


def maximum_range(x: Range, y: Range) -> Range:
    """``maximum(x, y)``."""
    return max(x[0], y[0]), max(x[1], y[1])


def minimum_range(x: Range, y: Range) -> Range:
    """``minimum(x, y)``."""
    return min(x[0], y[0]), min(x[1], y[1])


def remainder_range(x: Range, y: Range) -> Range | None:
    """``x % y``, for a positive divisor."""
    return (0, y[1] - 1) if y[0] > 0 else None


def quotient_range(x: Range, y: Range) -> Range | None:
    """``x // y``, for a positive divisor."""
    return (min(x[0] // d for d in y), max(x[1] // d for d in y)) if y[0] > 0 else None


RULES: Mapping[str, Callable[..., Range | None]] = {
    "add": sum_range,
    "sub": difference_range,
    "mul": product_range,
    "neg": negative_range,
    "maximum": maximum_range,
    "minimum": minimum_range,
    "remainder": remainder_range,
    "mod": remainder_range,
    "floor_divide": quotient_range,
}


def growth_of(body: Program, place: int) -> int | None:
    """What every trip adds to a part of the carry, if that is one number."""
    v, atom = body.inputs[place], body.outputs[place]
    if v.aval.shape or v.aval.dtype.kind not in "iu":
        return None
    if atom is v:
        return 0
    for equation in body.equations:
        if equation.outputs[0] is atom and equation.primitive.name == "add":
            others = [x for x in equation.inputs if x is not v]
            if len(others) == 1 and isinstance(others[0], Literal):
                return int(others[0].value)
    return None


def range_of_counter(start: Range | None, growth: int | None, trips: int) -> Range | None:
    """What a counter is in the trips of a loop."""
    if start is None or growth is None:
        return None
    reach = growth * max(trips - 1, 0)
    return start[0] + min(reach, 0), start[1] + max(reach, 0)


def bound_by(cond: Program, place: int, ranges: Callable[[int], Range | None]) -> int | None:
    """The greatest value of a part of the carry for which a loop goes on; `ranges`: of its consts."""
    v, decides = cond.inputs[place], cond.outputs[0]
    for equation in cond.equations:
        if equation.outputs[0] is decides and equation.primitive.name in ("less", "less_equal"):
            left, right = equation.inputs
            if left is not v:
                return None
            if isinstance(right, Literal):
                stop: Range | None = (int(right.value), int(right.value))
            else:
                stop = ranges(cond.inputs.index(right)) if right in cond.inputs else None
            if stop is not None and right.aval.dtype.kind in "iu":
                return stop[1] - int(equation.primitive.name == "less")
    return None
