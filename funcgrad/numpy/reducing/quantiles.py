"""Order statistics: median, quantiles and percentiles, and the same without what is NaN.

The array is sorted once; a quantile lies at a position between its elements, at which the definitions of
Hyndman and Fan (Sample Quantiles in Statistical Packages, The American Statistician 50(4), 1996) differ,
and is interpolated. Derivatives go to the elements it lies between, and to the level of the quantile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from funcgrad.errors import DtypeError, IndexingError
from funcgrad.ir.avals import Shape
from funcgrad.ir.steps import as_source
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import Axes, existing_axes, refused, stored, traced
from funcgrad.numpy.reducing.weighted import weighted_quantile
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import take_axis
from funcgrad.ops.arrays.sorting import Sort, TakeAlongAxis
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, permute, reduce_sum, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, sub
from funcgrad.ops.elementwise.comparison import equal, greater_equal, isnan
from funcgrad.ops.elementwise.logic import logical_and, logical_not
from funcgrad.ops.elementwise.rounding import ceil, floor, remainder, rint
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.reducing.extremes import clip, maximum
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike, Number

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

# -- positions ----------------------------------------------------------------------------------------------

Position = Callable[[Any, Any], Any]


def between(alpha: float, beta: float) -> Position:
    """The position of a quantile with Hyndman and Fan's two parameters, from 0."""

    def position(n: Array, q: Array) -> Array:
        return n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0

    return position


def from_first_to_last(n: Number, q: ArrayLike) -> Array:
    """The position on a scale from the first element to the last."""
    return (n - 1) * q


def below(n: Number, q: ArrayLike) -> Array:
    """The element at or before the position."""
    return floor(from_first_to_last(n, q))


def above(n: Number, q: ArrayLike) -> Array:
    """The element at or after the position."""
    return ceil(from_first_to_last(n, q))


def nearest(n: Number, q: ArrayLike) -> Array:
    """The element nearest to the position, the even one of two."""
    return rint(from_first_to_last(n, q))


def halfway(n: Number, q: ArrayLike) -> Array:
    """Between the elements around the position."""
    return 0.5 * (below(n, q) + above(n, q))


def by_steps(n: Number, q: ArrayLike) -> Array:
    """The position on the scale of the empirical distribution function."""
    return n * q - 1


def inverted(n: Number, q: ArrayLike) -> Array:
    """The first element at which the empirical distribution function reaches the level."""
    return ceil(by_steps(n, q))


def closest(n: Number, q: ArrayLike) -> Array:
    """The element whose rank is closest, the one of even rank of two."""
    position = by_steps(n, q) - 0.5
    down = floor(position)
    stays = logical_and(equal(position, down), equal(remainder(down, 2.0), 1.0))
    return where(stays, down, down + 1.0)


class Method(NamedTuple):
    """Where a quantile lies, and how it is made of the two elements around that."""

    position: Position
    weight: Callable[[Any], Any] | None
    """From the distance to the element before, the share of the element after; None where that is all."""


def as_it_is(distance: ArrayLike) -> Array:
    """Linear interpolation."""
    return distance


def half_between(distance: ArrayLike) -> Array:
    """The middle of two elements, or the one element."""
    return where(equal(distance, 0.0), 0.0, 0.5)


def next_or_half(distance: ArrayLike) -> Array:
    """The element after, or the middle where the position is an element."""
    return where(equal(distance, 0.0), 0.5, 1.0)


METHODS = {
    "inverted_cdf": Method(inverted, None),
    "averaged_inverted_cdf": Method(by_steps, next_or_half),
    "closest_observation": Method(closest, None),
    "interpolated_inverted_cdf": Method(between(0.0, 1.0), as_it_is),
    "hazen": Method(between(0.5, 0.5), as_it_is),
    "weibull": Method(between(0.0, 0.0), as_it_is),
    "linear": Method(from_first_to_last, as_it_is),
    "median_unbiased": Method(between(1 / 3, 1 / 3), as_it_is),
    "normal_unbiased": Method(between(3 / 8, 3 / 8), as_it_is),
    "lower": Method(below, None),
    "higher": Method(above, None),
    "midpoint": Method(halfway, half_between),
    "nearest": Method(nearest, None),
}

# -- the quantile of a sorted array -------------------------------------------------------------------------


def sorted_over(x: ArrayLike, axes: Axes) -> Array:
    """`x` sorted over `axes` together, which become the first axis."""
    shape = shape_of(x)
    rest = [a for a in range(len(shape)) if a not in axes]
    size = math.prod([shape[a] for a in axes])
    flat = reshape(permute(x, (*axes, *rest)), (size, *[shape[a] for a in rest]))
    return Sort(0).bind(flat)


class Ranks:
    """The elements of a sorted array by their rank, all of them or those that are numbers."""

    def __init__(self, ordered: Array, *, skip_nan: bool) -> None:
        self.ordered = ordered
        self.rest: Shape = shape_of(ordered)[1:]
        self.count: Any = shape_of(ordered)[0]
        self.skips = skip_nan and aval(ordered).inexact
        if self.skips:
            numbers = cast(logical_not(isnan(ordered)), np.intp)
            self.count = cast(reduce_sum(numbers, (0,)), np.float64)

    def take(self, ranks: ArrayLike) -> Array:
        """The elements at whole numbers; below the first it is the first, above the last the last."""
        last = maximum(self.count - 1, 0) if self.skips else self.count - 1
        index = cast(clip(ranks, 0, last), np.intp)
        if not self.skips:
            return Gather((0,)).bind(self.ordered, index)
        # NaN stands last, so where there is no number at all, this takes a NaN.
        levels = shape_of(index)[: len(shape_of(index)) - len(self.rest)]
        rows = reshape(index, (math.prod(levels), *self.rest))
        return reshape(TakeAlongAxis(0, False).bind(self.ordered, rows), (*levels, *self.rest))

    def level(self, q: ArrayLike) -> Array:
        """The level in a shape that goes with the count."""
        return reshape(q, (*shape_of(q), *[1] * len(self.rest))) if self.skips and shape_of(q) else q

    def beside(self, weight: ArrayLike) -> Array:
        """A weight in a shape that goes with the elements taken."""
        if self.skips or not shape_of(weight):
            return weight
        return reshape(weight, (*shape_of(weight), *[1] * len(self.rest)))

    def nan_if_any(self, found: ArrayLike) -> Array:
        """The result, NaN where an element that counts is NaN."""
        if self.skips or not aval(self.ordered).inexact:
            return found
        last = take_axis(self.ordered, 0, self.count - 1)
        return where(isnan(last), last, found)


def quantile_of(
    x: ArrayLike, q: ArrayLike, axis: AxisLike, method: str, keepdims: bool, *, skip_nan: bool
) -> Array:
    """The quantiles of a traced array, those of several levels along new first axes."""
    if method not in METHODS:
        raise refused(f"{method!r} is not a valid method. Use one of: {', '.join(METHODS)}")
    shape = shape_of(x)
    axes = existing_axes(axis, len(shape))
    if 0 in [shape[a] for a in axes]:
        raise IndexingError(f"no quantile of no elements: {aval(x)}", source=as_source(user_location()))
    ranks = Ranks(sorted_over(x, axes), skip_nan=skip_nan)
    rule = METHODS[method]
    position = rule.position(ranks.count, ranks.level(q))
    if rule.weight is None or (method == "linear" and aval(position).dtype.kind in "iu"):
        found = ranks.take(position)
    else:
        down = floor(position)
        weight = rule.weight(sub(position, down))
        if type(q) in (int, float):
            weight = float(weight) if not ranks.skips else cast(weight, weak_dtype(x))
        elif not aval(q).weak:
            weight = cast(weight, aval(q).dtype if aval(q).inexact else np.float64)
        found = interpolated(ranks.take(down), ranks.take(add(down, 1)), ranks.beside(weight))
    found = ranks.nan_if_any(found)
    if keepdims:
        kept = tuple([1 if a in axes else n for a, n in enumerate(shape)])
        found = reshape(found, (*shape_of(q), *kept))
    return found


def weak_dtype(x: ArrayLike) -> np.dtype[Any]:
    """The dtype that a Python float has beside `x`."""
    return aval(x).dtype if aval(x).inexact else np.dtype(np.float64)


def interpolated(a: ArrayLike, b: ArrayLike, weight: ArrayLike) -> Array:
    """Between `a` and `b`, reckoned from the nearer end so that both ends are met exactly."""
    distance = sub(b, a)
    if type(weight) is float:
        return sub(b, mul(distance, 1.0 - weight)) if weight >= 0.5 else add(a, mul(distance, weight))
    from_b = sub(b, mul(distance, sub(1.0, weight)))
    return where(greater_equal(weight, 0.5), from_b, add(a, mul(distance, weight)))


def checked_level(q: ArrayLike, most: int) -> Array:
    """A level between 0 and `most`, 1 or 100, as a fraction; raises where it is known to be out of range."""
    level = asoperand(q)
    if len(shape_of(level)) > 2:
        raise refused("q must be a scalar or 1d")
    if type(level) is not Tracer and not np.all((np.asarray(level) >= 0) & (np.asarray(level) <= most)):
        raise refused(f"{'Quantiles' if most == 1 else 'Percentiles'} must be in the range [0, {most}]")
    if most == 1:
        return level
    return level / 100.0 if type(level) in (int, float) else div(level, 100.0)


def checked_sample(x: ArrayLike) -> None:
    """Raise for complex numbers, which have no quantiles."""
    if aval(x).dtype.kind == "c":
        raise DtypeError("a must be an array of real numbers", source=as_source(user_location()))


# -- public functions ---------------------------------------------------------------------------------------


@implements(np.median)
def median(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median over `axis`: the middle element, or the mean of the two in the middle.

    >>> print(fg.grad(fg.numpy.median)(np.array([5.0, 1.0, 2.0, 9.0])))
    [0.5 0.  0.5 0. ]
    """
    x = traced(a, out)
    if x is None:
        return np.median(a, axis, out, overwrite_input, keepdims)
    shape = shape_of(x)
    axes = existing_axes(axis, len(shape))
    ranks = Ranks(sorted_over(x, axes), skip_nan=False)
    found = ranks.nan_if_any(middle(ranks)) if ranks.count else nan_of(ranks)
    if keepdims:
        found = reshape(found, tuple([1 if a in axes else n for a, n in enumerate(shape)]))
    return stored(found, out, "np.median")


def middle(ranks: Ranks) -> Array:
    """The element in the middle, or the mean of the two there."""
    half, is_odd = divmod(ranks.count, 2)
    dtype = aval(ranks.ordered).dtype
    upper = cast(take_axis(ranks.ordered, 0, half), dtype if dtype.kind in "fc" else np.float64)
    if is_odd:
        return upper
    lower = cast(take_axis(ranks.ordered, 0, half - 1), aval(upper).dtype)
    return div(add(lower, upper), 2.0)


def nan_of(ranks: Ranks) -> Array:
    """What is said of no elements."""
    dtype = aval(ranks.ordered).dtype
    return broadcast_to(np.array(np.nan, dtype if dtype.kind in "fc" else np.float64), ranks.rest)


@implements(np.nanmedian)
def nanmedian(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median over `axis` of what is not NaN; NaN of nothing.

    >>> print(fg.numpy.nanmedian(np.array([3.0, np.nan, 1.0, 9.0])))
    3.0
    """
    x = traced(a, out)
    if x is None:
        return np.nanmedian(a, axis, out, overwrite_input, keepdims)
    seen = aval(x)
    axes = existing_axes(axis, seen.ndim)
    if not seen.inexact or 0 in [seen.shape[k] for k in axes]:
        return median(x, axis, out, overwrite_input, keepdims)
    # The mean of the two in the middle, as NumPy: between equal infinities there is nothing to interpolate.
    around = [quantile_of(x, 0.5, axis, method, keepdims, skip_nan=True) for method in ("lower", "higher")]
    return stored(div(add(*around), 2.0), out, "np.nanmedian")


class AtLevels(Protocol):
    """NumPy's functions of quantiles have one signature."""

    def __call__(
        self,
        a: ArrayLike,
        q: ArrayLike,
        axis: AxisLike = None,
        out: Array = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: ArrayLike = None,
    ) -> Array: ...


def at_levels(numpys: Callable[..., Any], most: int, says: str, *, skip_nan: bool = False) -> AtLevels:
    """What stands in for NumPy's function of levels between 0 and `most`; `says` is its docstring."""
    name = numpys.__name__

    def quantiles(
        a: ArrayLike,
        q: ArrayLike,
        axis: AxisLike = None,
        out: Array = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: ArrayLike = None,
    ) -> Array:
        x = traced(a, q, out, weights)
        if x is None:
            return numpys(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)
        checked_sample(x)
        level = checked_level(q, most)
        if weights is None:
            found = quantile_of(x, level, axis, method, keepdims, skip_nan=skip_nan)
        else:
            found = weighted_quantile(x, level, axis, method, keepdims, weights, skip_nan=skip_nan)
        return stored(found, out, f"np.{name}")

    quantiles.__name__ = quantiles.__qualname__ = name
    quantiles.__doc__ = says
    return implements(numpys)(quantiles)


quantile = at_levels(
    np.quantile,
    1,
    """The quantiles of levels `q` between 0 and 1 over `axis`.

    >>> print(fg.grad(lambda x: fg.numpy.quantile(x, 0.25))(np.array([3.0, 1.0, 2.0])))
    [0.  0.5 0.5]
    """,
)

percentile = at_levels(
    np.percentile,
    100,
    """The quantiles of levels `q` between 0 and 100 over `axis`.

    >>> print(fg.numpy.percentile(np.array([3.0, 1.0, 2.0]), 25))
    1.5
    """,
)

nanquantile = at_levels(
    np.nanquantile,
    1,
    """The quantiles of levels `q` between 0 and 1 over `axis`, of what is not NaN; NaN of nothing.

    >>> print(fg.numpy.nanquantile(np.array([3.0, np.nan, 1.0, 2.0]), 0.5))
    2.0
    """,
    skip_nan=True,
)

nanpercentile = at_levels(
    np.nanpercentile,
    100,
    """The quantiles of levels `q` between 0 and 100 over `axis`, of what is not NaN; NaN of nothing.

    >>> print(fg.numpy.nanpercentile(np.array([3.0, np.nan, 1.0, 2.0]), 50))
    2.0
    """,
    skip_nan=True,
)
