"""Measurements of labelled regions: sums, means, spreads, extremes and centres of mass, by the values.

Labels are known; which element a region has does not move with its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ops.arrays.structure import reshape, shape_of
from funcgrad.scipy.ndimage.arguments import is_traced, refused, scipys
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays

__all__ = [
    "center_of_mass",
    "maximum",
    "mean",
    "median",
    "minimum",
    "standard_deviation",
    "sum",
    "sum_labels",
    "variance",
]

Measure = Callable[[Any], Any]


class Regions:
    """The places of the elements of each region that is asked for, in the flattened array."""

    def __init__(self, name: str, x: ArrayLike, labels: ArrayLike, index: ArrayLike) -> None:
        if is_traced(labels, index):
            raise refused(
                f"{name} with traced labels", "Say with np.asarray(fg.stop_gradient(labels)) which is where."
            )
        shape = shape_of(x)
        self.shape: tuple[int, ...] | None = None
        if labels is None:
            self.places = [np.arange(int(np.prod(shape)))]
            return
        known = np.broadcast_to(np.asarray(labels), shape).ravel()
        if index is None:
            self.places = [np.flatnonzero(known > 0)]
            return
        wanted = np.asarray(index)
        self.shape = wanted.shape or None
        self.places = [np.flatnonzero(known == label) for label in wanted.ravel()]

    @property
    def are_there(self) -> bool:
        """Whether each region has an element."""
        return all(places.size for places in self.places)

    def measured(self, x: Array, measure: Measure, absent: float) -> Array:
        """A measure of each region; `absent` where none of its elements is there, as SciPy has it."""
        flat = reshape(x, (int(np.prod(shape_of(x))),))
        found = [
            measure(flat[places]) if places.size else np.sum(flat[:0]) + absent for places in self.places
        ]
        if self.shape is None:
            return found[0]
        return reshape(np.stack(found), self.shape) if found else np.zeros(self.shape)

    def require_present(self, name: str) -> None:
        """Refuse regions without elements where SciPy has an error, or whatever element stands there."""
        if self.are_there:
            return
        if name in ("maximum", "minimum") and self.shape is None:
            raise ShapeError(
                f"zero-size array to reduction operation {name} which has no identity",
                source=Source(*user_location()),
                remedy="The region that is asked for has no element.",
            )
        if name == "median" and self.shape is not None:
            raise refused(f"{name} of a region without elements", "Ask for those that np.unique(labels) has.")


def measurement(
    name: str, text: str, slope: str, measure: Measure, absent: float = 0.0
) -> Callable[..., Any]:
    """A function of the elements of regions."""

    def measured(input: ArrayLike, labels: ArrayLike = None, index: ArrayLike = None) -> Array:
        if not is_traced(input):
            return scipys(name)(input, labels, index)
        x = asoperand(input)
        regions = Regions(name, x, labels, index)
        regions.require_present(name)
        return regions.measured(x, measure, absent)

    measured.__name__ = measured.__qualname__ = name
    measured.__doc__ = f"""{text}

    >>> x, labels = np.array([1.0, 3.0, 8.0, 2.0]), np.array([1, 1, 1, 2])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.{name}(x, labels, [1, 2])[0])(x).round(3))
    {slope}
    """
    return measured


sum_labels = measurement("sum_labels", "The sum of the elements of regions.", "[1. 1. 1. 0.]", np.sum)
sum = measurement("sum", "The sum of the elements of regions.", "[1. 1. 1. 0.]", np.sum)
mean = measurement("mean", "The mean of regions.", "[0.333 0.333 0.333 0.   ]", np.mean, np.nan)
variance = measurement(
    "variance", "The variance of regions.", "[-2.    -0.667  2.667  0.   ]", np.var, np.nan
)
standard_deviation = measurement(
    "standard_deviation",
    "The standard deviation of regions.",
    "[-0.34  -0.113  0.453  0.   ]",
    np.std,
    np.nan,
)
maximum = measurement("maximum", "The largest element of regions.", "[0. 0. 1. 0.]", np.max)
minimum = measurement("minimum", "The smallest element of regions.", "[1. 0. 0. 0.]", np.min)
median = measurement("median", "The median of regions.", "[0. 1. 0. 0.]", np.median, np.nan)


def center_of_mass(input: ArrayLike, labels: ArrayLike = None, index: ArrayLike = None) -> Arrays:
    """The mean position of regions, weighted with the values: a tuple, or a list of tuples for an index.

    >>> x = np.array([1.0, 1.0, 2.0])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.center_of_mass(x)[0])(x))
    [-0.3125 -0.0625  0.1875]
    """
    if not is_traced(input):
        return scipys("center_of_mass")(input, labels, index)
    x = asoperand(input)
    regions = Regions("center_of_mass", x, labels, index)
    whole = regions.measured(x, np.sum, 0.0)
    grids = np.ogrid[tuple([slice(0, n) for n in shape_of(x)])]
    found = [regions.measured(x * grid.astype(float), np.sum, 0.0) / whole for grid in grids]
    if regions.shape is None:
        return tuple(found)
    return [tuple([position[k] for position in found]) for k in range(regions.shape[0])]
