"""Filters of images: weighted sums of windows, along one axis or several, with SciPy's modes at the edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.calling.arguments import here
from funcgrad.errors import ConcretizationError
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.movement import flip
from funcgrad.ops.arrays.structure import aval, cast, reshape, shape_of
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.ops.signal.windowed_sums import WindowedSums
from funcgrad.scipy.ndimage.arguments import axes_of, for_each, image, is_traced, padded, scipys, with_weights
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike, Number, Option, ShapeLike

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "laplace",
    "prewitt",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]

NARROW = 1e-15
"""A Gaussian that is not wider leaves an array as it is."""


def along(x: ArrayLike, weights: ArrayLike, axis: int, mode: str, cval: Number, origin: int) -> Array:
    """The correlation with weights along an axis."""
    size = shape_of(weights)[0]
    if len(shape_of(weights)) != 1 or size < 1:
        raise RuntimeError("no filter weights given")
    before = size // 2 + origin
    if before < 0 or before >= size:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
        )
    widths = [(0, 0)] * len(shape_of(x))
    widths[axis] = (before, size - 1 - before)
    dtype = np.result_type(aval(x).dtype, aval(weights).dtype)
    return WindowedSums(axis).bind(cast(padded(x, widths, mode, cval), dtype), cast(weights, dtype))


def correlate1d(
    input: ArrayLike,
    weights: ArrayLike,
    axis: int = -1,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    origin: int = 0,
) -> Array:
    """The correlation of an array with weights along an axis.

    >>> x = np.array([1.0, 2.0, 4.0])
    >>> print(fg.grad(lambda w: fg.scipy.ndimage.correlate1d(x, w)[1])(np.ones(3)))
    [1. 2. 4.]
    """
    if not is_traced(input, weights):
        return scipys("correlate1d")(input, weights, axis, output, mode, cval, origin)
    x, dtype = image("correlate1d", input, output)
    w = np.conjugate(asoperand(weights)) if aval(asoperand(weights)).dtype.kind == "c" else asoperand(weights)
    found = along(x, w, normalized_axis(axis, len(shape_of(x))), mode, cval, origin)
    return cast(found, with_weights(dtype, w))


def convolve1d(
    input: ArrayLike,
    weights: ArrayLike,
    axis: int = -1,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    origin: int = 0,
) -> Array:
    """The convolution of an array with weights along an axis.

    >>> x = np.array([1.0, 2.0, 4.0])
    >>> print(fg.grad(lambda w: fg.scipy.ndimage.convolve1d(x, w)[1])(np.ones(3)))
    [4. 2. 1.]
    """
    if not is_traced(input, weights):
        return scipys("convolve1d")(input, weights, axis, output, mode, cval, origin)
    x, dtype = image("convolve1d", input, output)
    w = flip(asoperand(weights), (0,))
    moved = -origin - (0 if shape_of(w)[0] & 1 else 1)
    found = along(x, w, normalized_axis(axis, len(shape_of(x))), mode, cval, moved)
    return cast(found, with_weights(dtype, w))


def correlate(
    input: ArrayLike,
    weights: ArrayLike,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The correlation of an array with weights of as many axes.

    >>> x = np.arange(6.0).reshape(2, 3)
    >>> print(fg.grad(lambda w: fg.scipy.ndimage.correlate(x, w)[1, 1])(np.ones((1, 3))))
    [[3. 4. 5.]]
    """
    options = {} if axes is None else {"axes": axes}
    if not is_traced(input, weights):
        return scipys("correlate")(input, weights, output, mode, cval, origin, **options)
    x, dtype = image("correlate", input, output)
    w = asoperand(weights)
    w = np.conjugate(w) if aval(w).dtype.kind == "c" else w
    return cast(over_axes(x, w, mode, cval, origin, axes, False), with_weights(dtype, w))


def convolve(
    input: ArrayLike,
    weights: ArrayLike,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The convolution of an array with weights of as many axes.

    >>> x = np.arange(6.0).reshape(2, 3)
    >>> print(fg.grad(lambda w: fg.scipy.ndimage.convolve(x, w)[1, 1])(np.ones((1, 3))))
    [[5. 4. 3.]]
    """
    options = {} if axes is None else {"axes": axes}
    if not is_traced(input, weights):
        return scipys("convolve")(input, weights, output, mode, cval, origin, **options)
    x, dtype = image("convolve", input, output)
    w = asoperand(weights)
    return cast(over_axes(x, w, mode, cval, origin, axes, True), with_weights(dtype, w))


def over_axes(
    x: ArrayLike, w: ArrayLike, mode: str, cval: Number, origin: ArrayLike, axes: AxisLike, turned: bool
) -> Array:
    """Sums of products of weights and windows over some axes."""
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    ndim = len(shape_of(x))
    over = axes_of(axes, ndim)
    if len(shape_of(w)) != len(over):
        raise RuntimeError(f"weights.ndim ({len(shape_of(w))}) must match len(axes) ({len(over)})")
    origins = for_each(origin, len(over))
    if turned:
        w = flip(w, tuple(range(len(over))))
        origins = [-o - (0 if n & 1 else 1) for o, n in zip(origins, shape_of(w), strict=True)]
    sizes, widths = [1] * ndim, [(0, 0)] * ndim
    for axis, n, o in zip(over, shape_of(w), origins, strict=True):
        before = n // 2 + o
        if before < 0 or before >= n:
            raise ValueError(
                "Invalid origin; origin must satisfy "
                "-(weights.shape[k] // 2) <= origin[k] <= (weights.shape[k]-1) // 2"
            )
        sizes[axis], widths[axis] = n, (before, n - 1 - before)
    order = np.argsort(over)
    kernel = reshape(fnp.transpose(w, tuple(int(k) for k in order)), (1, 1, 1, *sizes))
    dtype = np.result_type(aval(x).dtype, aval(w).dtype)
    wide = cast(padded(x, widths, mode, cval), dtype)
    ones, none = (1,) * ndim, ((0, 0),) * ndim
    found = Convolution(ones, none, ones, ones).bind(
        reshape(wide, (1, 1, 1, *shape_of(wide))), cast(kernel, dtype)
    )
    return reshape(found, shape_of(x))


def gaussian_kernel(sigma: ArrayLike, order: int, radius: int) -> Array:
    """The weights of a Gaussian or its derivative, as SciPy computes them, turned round."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-radius, radius + 1.0)
    bell = fnp.exp(-0.5 / (sigma * sigma) * x**2)
    bell = bell / fnp.sum(bell)
    # The polynomial before the Gaussian: q' + q p' with p' = -x / sigma**2.
    powers: list[Any] = [1.0, *[0.0] * order]
    for _ in range(order):
        slopes = [(k + 1) * powers[k + 1] for k in range(order)] + [0.0]
        raised = [0.0, *[-powers[k] / (sigma * sigma) for k in range(order)]]
        powers = [a + b for a, b in zip(slopes, raised, strict=True)]
    q = sum(c * x**k for k, c in enumerate(powers))
    return (q * bell)[::-1]


def gaussian_filter1d(
    input: ArrayLike,
    sigma: ArrayLike,
    axis: int = -1,
    order: int = 0,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Array:
    """An array smoothed by a Gaussian along an axis, or a derivative of that; differentiable by sigma too.

    >>> x = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> print(fg.grad(lambda s: fg.scipy.ndimage.gaussian_filter1d(x, s)[2])(1.0).round(4))
    -0.3989
    """
    if not is_traced(input, sigma):
        options = {} if radius is None else {"radius": radius}
        return scipys("gaussian_filter1d")(input, sigma, axis, order, output, mode, cval, truncate, **options)
    x, dtype = image("gaussian_filter1d", input, output)
    return cast(
        smoothed(x, sigma, normalized_axis(axis, len(shape_of(x))), order, mode, cval, truncate, radius),
        dtype,
    )


def smoothed(
    x: ArrayLike,
    sigma: ArrayLike,
    axis: int,
    order: int,
    mode: str,
    cval: Number,
    truncate: float,
    radius: int | None,
) -> Array:
    """The array smoothed along an axis."""
    if radius is None and is_unknown(sigma):
        raise ConcretizationError(
            "the window of a Gaussian filter is as large as its sigma, which is traced and has no value here",
            source=here(),
            remedy="Give radius=, the half of a window that is large enough.",
        )
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    if reach < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    return along(x, gaussian_kernel(sigma, order, reach), axis, mode, cval, 0)


def is_unknown(x: object) -> bool:
    """Whether it is traced without a value, as under `jit` and `vmap`."""
    return isinstance(x, Tracer) and not x.has_value()


def gaussian_filter(
    input: ArrayLike,
    sigma: ArrayLike,
    order: object = 0,
    output: object = None,
    mode: object = "reflect",
    cval: Number = 0.0,
    truncate: float = 4.0,
    *,
    radius: ArrayLike = None,
    axes: AxisLike = None,
) -> Array:
    """An array smoothed by a Gaussian along its axes; differentiable by sigma too.

    >>> x = np.eye(3)
    >>> print(fg.grad(lambda x: fg.scipy.ndimage.gaussian_filter(x, 1.0)[1, 1])(x).round(3))
    [[0.088 0.121 0.088]
     [0.121 0.166 0.121]
     [0.088 0.121 0.088]]
    """
    if not is_traced(input, sigma):
        given = {"radius": radius, "axes": axes}
        options = {name: value for name, value in given.items() if value is not None}
        return scipys("gaussian_filter")(input, sigma, order, output, mode, cval, truncate, **options)
    x, dtype = image("gaussian_filter", input, output)
    over = axes_of(axes, len(shape_of(x)))
    each = [for_each(value, len(over)) for value in (sigma, order, mode, radius)]
    for axis, width, derivative, kind, reach in zip(over, *each, strict=True):
        unknown = is_unknown(width)
        wide = width > NARROW
        if unknown or wide:
            safe = fnp.where(wide, width, 1.0) if unknown else width
            found = smoothed(x, safe, axis, derivative, kind, cval, truncate, reach)
            found = found if dtype.itemsize >= 8 else cast(cast(found, dtype), np.float64)
            x = fnp.where(wide, found, x) if unknown else found
    return cast(x, dtype)


def uniform_filter1d(
    input: ArrayLike,
    size: int,
    axis: int = -1,
    output: object = None,
    mode: str = "reflect",
    cval: Number = 0.0,
    origin: int = 0,
) -> Array:
    """The means of windows along an axis.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.uniform_filter1d(x, 3)[0])(np.ones(4)).round(3))
    [0.667 0.333 0.    0.   ]
    """
    if not is_traced(input):
        return scipys("uniform_filter1d")(input, size, axis, output, mode, cval, origin)
    x, dtype = image("uniform_filter1d", input, output)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return cast(
        along(x, np.full(size, 1.0 / size), normalized_axis(axis, len(shape_of(x))), mode, cval, origin),
        dtype,
    )


def uniform_filter(
    input: ArrayLike,
    size: ShapeLike = 3,
    output: object = None,
    mode: object = "reflect",
    cval: Number = 0.0,
    origin: ArrayLike = 0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The means of windows over all axes.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.uniform_filter(x)[1, 1])(np.ones((3, 3))).round(3)[0])
    [0.111 0.111 0.111]
    """
    options = {} if axes is None else {"axes": axes}
    if not is_traced(input):
        return scipys("uniform_filter")(input, size, output, mode, cval, origin, **options)
    x, dtype = image("uniform_filter", input, output)
    over = axes_of(axes, len(shape_of(x)))
    each = [for_each(value, len(over)) for value in (size, mode, origin)]
    for axis, n, kind, o in zip(over, *each, strict=True):
        if n > 1:
            x = along(x, np.full(int(n), 1.0 / n), axis, kind, cval, o)
    return cast(x, dtype)


def edges(x: ArrayLike, axis: int, across: list[float], modes: list[Any], cval: Number) -> Array:
    """Differences along an axis, smoothed along the others."""
    x = along(x, np.array([-1.0, 0.0, 1.0]), axis, modes[axis], cval, 0)
    for other in range(len(shape_of(x))):
        if other != axis:
            x = along(x, np.array(across), other, modes[other], cval, 0)
    return x


def sobel(
    input: ArrayLike, axis: int = -1, output: object = None, mode: object = "reflect", cval: Number = 0.0
) -> Array:
    """Sobel's differences along an axis.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.sobel(x)[1, 1])(np.ones((3, 3))))
    [[-1.  0.  1.]
     [-2.  0.  2.]
     [-1.  0.  1.]]
    """
    if not is_traced(input):
        return scipys("sobel")(input, axis, output, mode, cval)
    x, dtype = image("sobel", input, output)
    ndim = len(shape_of(x))
    return cast(edges(x, normalized_axis(axis, ndim), [1.0, 2.0, 1.0], for_each(mode, ndim), cval), dtype)


def prewitt(
    input: ArrayLike, axis: int = -1, output: object = None, mode: object = "reflect", cval: Number = 0.0
) -> Array:
    """Prewitt's differences along an axis.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.prewitt(x)[1, 1])(np.ones((3, 3)))[0])
    [-1.  0.  1.]
    """
    if not is_traced(input):
        return scipys("prewitt")(input, axis, output, mode, cval)
    x, dtype = image("prewitt", input, output)
    ndim = len(shape_of(x))
    return cast(edges(x, normalized_axis(axis, ndim), [1.0, 1.0, 1.0], for_each(mode, ndim), cval), dtype)


def laplace(
    input: ArrayLike,
    output: object = None,
    mode: object = "reflect",
    cval: Number = 0.0,
    *,
    axes: AxisLike = None,
) -> Array:
    """The sum of second differences along the axes.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.laplace(x)[1, 1])(np.ones((3, 3)))[1])
    [ 1. -4.  1.]
    """
    if not is_traced(input):
        options = {} if axes is None else {"axes": axes}
        return scipys("laplace")(input, output, mode, cval, **options)
    x, dtype = image("laplace", input, output)
    over = axes_of(axes, len(shape_of(x)))
    modes = for_each(mode, len(over))
    second = np.array([1.0, -2.0, 1.0])
    parts = [along(x, second, axis, kind, cval, 0) for axis, kind in zip(over, modes, strict=True)]
    return cast(sum(parts[1:], parts[0]) if parts else x, dtype)


def gaussian_laplace(
    input: ArrayLike,
    sigma: ArrayLike,
    output: DTypeLike = None,
    mode: Option = "reflect",
    cval: Number = 0.0,
    *,
    axes: AxisLike = None,
    **kwargs: Option,
) -> Array:
    """The sum of second derivatives of a smoothed array.

    >>> print(fg.grad(lambda s: fg.scipy.ndimage.gaussian_laplace(np.eye(5), s)[2, 2])(1.0).round(3))
    0.95
    """
    if not is_traced(input, sigma):
        options = kwargs if axes is None else kwargs | {"axes": axes}
        return scipys("gaussian_laplace")(input, sigma, output, mode, cval, **options)
    x, dtype = image("gaussian_laplace", input, output)
    over = axes_of(axes, len(shape_of(x)))
    parts = derivatives_along(x, 2, over, over, sigma, mode, cval, kwargs)
    return cast(sum(parts[1:], parts[0]) if parts else x, dtype)


def gaussian_gradient_magnitude(
    input: ArrayLike,
    sigma: ArrayLike,
    output: DTypeLike = None,
    mode: Option = "reflect",
    cval: Number = 0.0,
    *,
    axes: AxisLike = None,
    **kwargs: Option,
) -> Array:
    """The length of the gradient of a smoothed array; where that is zero its derivative is zero.

    >>> slope = fg.grad(lambda s: fg.scipy.ndimage.gaussian_gradient_magnitude(np.eye(5), s)[1, 2])
    >>> print(slope(1.0).round(3))
    -0.38
    """
    if not is_traced(input, sigma):
        options = kwargs if axes is None else kwargs | {"axes": axes}
        return scipys("gaussian_gradient_magnitude")(input, sigma, output, mode, cval, **options)
    x, dtype = image("gaussian_gradient_magnitude", input, output)
    ndim = len(shape_of(x))
    # As SciPy: all axes are smoothed, whichever the derivatives are along.
    parts = derivatives_along(x, 1, axes_of(axes, ndim), range(ndim), sigma, mode, cval, kwargs)
    return cast(np.linalg.norm(np.stack(parts), axis=0) if parts else x, dtype)


def derivatives_along(
    x: Array,
    order: int,
    axes: Sequence[int],
    smoothed: Sequence[int],
    sigma: ArrayLike,
    mode: Option,
    cval: Number,
    options: dict[str, Option],
) -> list[Any]:
    """The derivatives along each of the axes of an array that is smoothed over some."""
    found = []
    for axis, kind in zip(axes, for_each(mode, len(axes)), strict=True):
        orders = [order if other == axis else 0 for other in smoothed]
        found.append(gaussian_filter(x, sigma, orders, None, kind, cval, axes=tuple(smoothed), **options))
    return found
