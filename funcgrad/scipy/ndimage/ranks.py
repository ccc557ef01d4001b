"""Filters by the order of the elements in a window: extremes, medians, ranks, and grey morphology.

The derivative goes to the element that is taken. What has no traced argument SciPy answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.arrays.views import sliding_window_view
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import cast, reshape, shape_of
from funcgrad.scipy.ndimage.arguments import axes_of, for_each, image, is_traced, padded, scipys
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, AxisLike, Number, Option, ShapeLike

__all__ = [
    "black_tophat",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "rank_filter",
    "white_tophat",
]

Reduction = Callable[..., Any]


class Window:
    """Which elements around each one are looked at: sizes by axis, and a mask where not all of them are."""

    def __init__(
        self, ndim: int, size: ShapeLike | None, footprint: ArrayLike, origin: ArrayLike, axes: AxisLike
    ) -> None:
        self.axes = axes_of(axes, ndim)
        count = len(self.axes)
        self.mask: Any = None if footprint is None else np.asarray(footprint, bool)
        if self.mask is None and size is None:
            raise RuntimeError("no footprint or filter size provided")
        if self.mask is not None and (self.mask.ndim != count or not self.mask.any()):
            raise RuntimeError("footprint array has incorrect shape or no element that is set")
        given: Any = for_each(size, count) if self.mask is None else self.mask.shape
        self.sizes: list[int] = [int(n) for n in given]
        self.origins: list[int] = [int(n) for n in for_each(origin, count)]
        for n, start in zip(self.sizes, self.origins, strict=True):
            if n < 1 or not 0 <= n // 2 + start < n:
                raise ValueError(f"invalid origin {start} of a window of {n}")
        if self.mask is not None and self.mask.all():
            self.mask = None

    @property
    def count(self) -> int:
        """How many elements are looked at."""
        return math.prod(self.sizes) if self.mask is None else int(self.mask.sum())

    def continued(self, x: ArrayLike, mode: Option, cval: Number) -> Array:
        """The array as far as windows reach."""
        modes = for_each(mode, len(self.axes))
        for axis, n, start, how in zip(self.axes, self.sizes, self.origins, modes, strict=True):
            widths = [(0, 0)] * len(shape_of(x))
            widths[axis] = (n // 2 + start, n - 1 - n // 2 - start)
            x = padded(x, widths, how, cval)
        return x

    def elements(self, x: ArrayLike, mode: Option, cval: Number) -> Array:
        """The elements that are looked at, along a new last axis."""
        whole = self.continued(x, mode, cval)
        seen = sliding_window_view(whole, tuple(self.sizes), tuple(self.axes))
        flat = reshape(fnp.asarray(seen), (*shape_of(x), math.prod(self.sizes)))
        return flat if self.mask is None else flat[..., np.flatnonzero(self.mask)]

    def extreme(self, reduction: Reduction, x: ArrayLike, mode: Option, cval: Number) -> Array:
        """The largest or smallest element: axis by axis where all are looked at."""
        if self.mask is not None:
            return reduction(self.elements(x, mode, cval), axis=-1)
        found = self.continued(x, mode, cval)
        for axis, n in zip(self.axes, self.sizes, strict=True):
            found = reduction(sliding_window_view(found, n, axis), axis=-1)
        return found


def extreme_filter(name: str, reduction: Reduction, slope: str) -> Callable[..., Any]:
    """``maximum_filter`` or ``minimum_filter``."""

    def filtered(
        input: ArrayLike,
        size: ShapeLike | None = None,
        footprint: ArrayLike = None,
        output: object = None,
        mode: Option = "reflect",
        cval: Number = 0.0,
        origin: ArrayLike = 0,
        *,
        axes: AxisLike = None,
    ) -> Array:
        options = {} if axes is None else {"axes": axes}
        if not is_traced(input):
            return scipys(name)(input, size, footprint, output, mode, cval, origin, **options)
        x, dtype = image(name, input, output)
        window = Window(len(shape_of(x)), size, footprint, origin, axes)
        return cast(window.extreme(reduction, x, mode, cval), dtype)

    return named(filtered, name, f"The {name[:7]} of the window around every element.", slope)


def extreme_filter1d(name: str, reduction: Reduction, slope: str) -> Callable[..., Any]:
    """``maximum_filter1d`` or ``minimum_filter1d``."""

    def filtered(
        input: ArrayLike,
        size: int,
        axis: int = -1,
        output: object = None,
        mode: str = "reflect",
        cval: Number = 0.0,
        origin: int = 0,
    ) -> Array:
        if not is_traced(input):
            return scipys(name)(input, size, axis, output, mode, cval, origin)
        x, dtype = image(name, input, output)
        ndim = len(shape_of(x))
        window = Window(ndim, size, None, origin, (normalized_axis(axis, ndim),))
        return cast(window.extreme(reduction, x, mode, cval), dtype)

    return named(filtered, name, f"The {name[:7]} of the window around every element along an axis.", slope)


def named(function: Callable[..., Any], name: str, text: str, slope: str) -> Callable[..., Any]:
    """The function under its name, with what it does and the slope of the third of five results."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{text}

    >>> x = np.array([3.0, 1.0, 2.0, 7.0, 5.0])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.{name}(x, 3)[2])(x))
    {slope}
    """
    return function


maximum_filter = extreme_filter("maximum_filter", np.max, "[0. 0. 0. 1. 0.]")
minimum_filter = extreme_filter("minimum_filter", np.min, "[0. 1. 0. 0. 0.]")
maximum_filter1d = extreme_filter1d("maximum_filter1d", np.max, "[0. 0. 0. 1. 0.]")
minimum_filter1d = extreme_filter1d("minimum_filter1d", np.min, "[0. 1. 0. 0. 0.]")


def rank_filter(
    input: ArrayLike,
    rank: int,
    size: ShapeLike | None = None,
    footprint: ArrayLike = None,
    output: object = None,
    mode: Option = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The element of a rank in the window around every element; -1 is the largest.

    >>> x = np.array([3.0, 1.0, 2.0])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.rank_filter(x, 1, size=3)[1])(x))
    [0. 0. 1.]
    """
    return of_rank(
        "rank_filter", input, (rank,), lambda _: rank, size, footprint, output, mode, cval, origin, axes
    )


def median_filter(
    input: ArrayLike,
    size: ShapeLike | None = None,
    footprint: ArrayLike = None,
    output: object = None,
    mode: Option = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The middle one of the elements in the window around every element, the upper of two.

    >>> x = np.array([3.0, 1.0, 2.0])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.median_filter(x, 3)[1])(x))
    [0. 0. 1.]
    """
    return of_rank("median_filter", input, (), middle, size, footprint, output, mode, cval, origin, axes)


def middle(count: int) -> int:
    """The rank of the median."""
    return count // 2


def percentile_filter(
    input: ArrayLike,
    percentile: float,
    size: ShapeLike | None = None,
    footprint: ArrayLike = None,
    output: object = None,
    mode: Option = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The element in the window around every element that so many per cent are below; -20 is 80.

    >>> x = np.array([3.0, 1.0, 2.0])
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.percentile_filter(x, 40, 3)[1])(x))
    [0. 0. 1.]
    """
    share = percentile + 100.0 if percentile < 0.0 else percentile
    if not 0.0 <= share <= 100.0:
        raise RuntimeError("invalid percentile")

    def rank(count: int) -> int:
        return count - 1 if share == 100.0 else int(float(count) * share / 100.0)

    given = (percentile,)
    return of_rank("percentile_filter", input, given, rank, size, footprint, output, mode, cval, origin, axes)


def of_rank(
    name: str,
    input: ArrayLike,
    given: tuple[float, ...],
    rank_among: Callable[[int], int],
    size: ShapeLike | None,
    footprint: ArrayLike,
    output: object,
    mode: Option,
    cval: Number,
    origin: ArrayLike,
    axes: AxisLike,
) -> Array:
    """The elements of a rank, which depends on how many there are in a window."""
    if not is_traced(input):
        options = {} if axes is None else {"axes": axes}
        return scipys(name)(input, *given, size, footprint, output, mode, cval, origin, **options)
    x, dtype = image(name, input, output)
    window = Window(len(shape_of(x)), size, footprint, origin, axes)
    rank = rank_among(window.count)
    rank += window.count if rank < 0 else 0
    if not 0 <= rank < window.count:
        raise RuntimeError("rank not within filter footprint size")
    if 0 < rank < window.count - 1:
        require_settled(name, window, shape_of(x))
    if rank in (0, window.count - 1):
        found = window.extreme(np.min if rank == 0 else np.max, x, mode, cval)
    else:
        found = np.sort(window.elements(x, mode, cval), axis=-1)[..., rank]
    return cast(found, dtype)


def require_settled(name: str, window: Window, shape: tuple[int, ...]) -> None:
    """Refuse what SciPy's filter of one axis does otherwise than its filter of several, and than it says.

    SciPy 1.17 looks at all elements of a footprint, and beyond the ends of an array that is shorter than the
    window it finds others than the mode names.
    """
    if len(shape) == 1 and (window.mask is not None or window.sizes[0] > shape[0]):
        which = "gaps in its footprint" if window.mask is not None else "a window longer than the array"
        raise UnsupportedFunctionError(
            f"{name} of one axis with {which}, where SciPy's own result is not the documented one",
            source=Source(*user_location()),
            remedy="Give it a second axis: x[None] with a window of one row is filtered as documented.",
        )


# -- grey morphology --------------------------------------------------------------------------------------


def grey(
    input: Array,
    size: ShapeLike | None,
    footprint: ArrayLike,
    structure: ArrayLike,
    mode: Option,
    cval: Number,
    origin: ArrayLike,
    axes: AxisLike,
    *,
    dilates: bool,
) -> Array:
    """The largest element plus the structure, mirrored, or the smallest minus the structure."""
    raised = None if structure is None else asoperand(structure)
    if raised is not None and footprint is None:
        footprint = np.ones(shape_of(raised), bool)
    count = len(axes_of(axes, len(shape_of(input))))
    origins = for_each(origin, count)
    if dilates:
        footprint = None if footprint is None else np.flip(np.asarray(footprint))
        raised = None if raised is None else np.flip(raised)
        sizes: Sequence[Any] = for_each(size, count) if footprint is None else shape_of(footprint)
        origins = [-start - (n % 2 == 0) for start, n in zip(origins, sizes, strict=True)]
    window = Window(len(shape_of(input)), size, footprint, origins, axes)
    reduction = np.max if dilates else np.min
    if raised is None:
        return window.extreme(reduction, input, mode, cval)
    there = np.ravel(raised)
    there = there if window.mask is None else there[np.flatnonzero(window.mask)]
    elements = window.elements(input, mode, cval)
    return reduction(elements + there if dilates else elements - there, axis=-1)


def morphology(name: str, text: str, slope: str, combine: Callable[..., Any]) -> Callable[..., Any]:
    """A function of grey morphology; `combine` is given the image, its dilation and its erosion."""

    def transformed(
        input: ArrayLike,
        size: ShapeLike | None = None,
        footprint: ArrayLike = None,
        structure: ArrayLike = None,
        output: object = None,
        mode: Option = "reflect",
        cval: Number = 0.0,
        origin: ArrayLike = 0,
        *,
        axes: AxisLike = None,
    ) -> Array:
        options = {} if axes is None else {"axes": axes}
        if not is_traced(input, structure):
            original = scipys(name)
            return original(input, size, footprint, structure, output, mode, cval, origin, **options)
        x, dtype = image(name, input, output)
        settings = size, footprint, structure, mode, cval, origin, axes

        def dilated(y: Array) -> Array:
            return grey(y, *settings, dilates=True)

        def eroded(y: Array) -> Array:
            return grey(y, *settings, dilates=False)

        return cast(combine(x, dilated, eroded), dtype)

    return named(transformed, name, text, slope)


grey_dilation = morphology(
    "grey_dilation", "The largest element of the mirrored window.", "[0. 0. 0. 1. 0.]", lambda x, d, e: d(x)
)
grey_erosion = morphology(
    "grey_erosion", "The smallest element of the window.", "[0. 1. 0. 0. 0.]", lambda x, d, e: e(x)
)
grey_opening = morphology(
    "grey_opening", "The dilation of the erosion.", "[0. 0. 1. 0. 0.]", lambda x, d, e: d(e(x))
)
grey_closing = morphology(
    "grey_closing", "The erosion of the dilation.", "[1. 0. 0. 0. 0.]", lambda x, d, e: e(d(x))
)
white_tophat = morphology(
    "white_tophat", "What the opening takes away.", "[0. 0. 0. 0. 0.]", lambda x, d, e: x - d(e(x))
)
black_tophat = morphology(
    "black_tophat", "What the closing adds.", "[ 1.  0. -1.  0.  0.]", lambda x, d, e: e(d(x)) - x
)
morphological_gradient = morphology(
    "morphological_gradient",
    "The dilation less the erosion.",
    "[ 0. -1.  0.  1.  0.]",
    lambda x, d, e: d(x) - e(x),
)
morphological_laplace = morphology(
    "morphological_laplace",
    "The dilation and the erosion, less the image twice.",
    "[ 0.  1. -2.  1.  0.]",
    lambda x, d, e: d(x) + e(x) - 2.0 * x,
)
