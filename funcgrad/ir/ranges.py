"""Ranges of whole numbers, and what follows from them by arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Range = tuple[int, int]
"""The least and the greatest value."""


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
