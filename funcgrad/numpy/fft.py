"""The names of `numpy.fft`: transforms over any axes, of any length, in every norm, and their frequencies.

``np.fft.rfft(t)`` of a traced array is answered here. Imported when it is first asked for.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from funcgrad.numpy.arrays.movement import roll
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import normalized_axis, stored
from funcgrad.numpy.reducing.axes import traced as as_traced
from funcgrad.ops.arrays.slicing import Pad, Slice
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.signal.fft import FFT, HermitianFFT, RealFFT
from funcgrad.source import user_stacklevel
from funcgrad.types import Array, ArrayLike, AxisLike, Device, DTypeLike, Number, ShapeLike

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Axes = tuple[int, ...]
Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None


# -- along one axis ----------------------------------------------------------------------------------------


@implements(np.fft.fft)
def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The discrete Fourier transform along an axis, cut or filled with zeros to length `n`.

    >>> print(fg.numpy.fft.fft(np.array([1.0, 2.0, 3.0, 4.0])))
    [10.+0.j -2.+2.j -2.+0.j -2.-2.j]
    >>> print(fg.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(np.array([1.0, 2.0, 3.0, 4.0])))
    [ 8. 16. 24. 32.]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.fft(a, n, axis, norm, out)
    return stored(along_axis(x, n, axis, norm, inverse=False), out, "np.fft.fft")


@implements(np.fft.ifft)
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The inverse of `fft`.

    >>> print(fg.numpy.fft.ifft(np.array([10.0, -2 + 2j, -2.0, -2 - 2j])).real)
    [1. 2. 3. 4.]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.ifft(a, n, axis, norm, out)
    return stored(along_axis(x, n, axis, norm, inverse=True), out, "np.fft.ifft")


@implements(np.fft.rfft)
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The first half, ``n // 2 + 1`` coefficients, of the transform of real numbers.

    >>> print(fg.numpy.fft.rfft(np.array([1.0, 2.0, 3.0, 4.0])))
    [10.+0.j -2.+2.j -2.+0.j]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.rfft(a, n, axis, norm, out)
    return stored(of_real(x, n, axis, norm, inverse=False), out, "np.fft.rfft")


@implements(np.fft.ihfft)
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The inverse of `hfft`: half of a spectrum from the real numbers it stands for.

    >>> print(fg.numpy.fft.ihfft(np.array([1.0, 2.0, 3.0, 4.0])) * 2)
    [ 5.+0.j -1.-1.j -1.-0.j]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.ihfft(a, n, axis, norm, out)
    return stored(of_real(x, n, axis, norm, inverse=True), out, "np.fft.ihfft")


@implements(np.fft.irfft)
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The `n` real numbers of which `a` is the first half of the spectrum; ``2 * (m - 1)`` if n is left out.

    The imaginary part of the first coefficient, and of the last for even n, has no meaning and no derivative.

    >>> print(fg.numpy.fft.irfft(np.array([10.0, -2 + 2j, -2.0])))
    [1. 2. 3. 4.]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.irfft(a, n, axis, norm, out)
    return stored(to_real(x, n, axis, norm, inverse=True), out, "np.fft.irfft")


@implements(np.fft.hfft)
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """The real spectrum, of length `n`, of a Hermitian signal of which `a` is the first half.

    >>> print(fg.numpy.fft.hfft(np.array([2.5, -0.5 - 0.5j, -0.5])))
    [1. 2. 3. 4.]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.hfft(a, n, axis, norm, out)
    return stored(to_real(x, n, axis, norm, inverse=False), out, "np.fft.hfft")


# -- over several axes -------------------------------------------------------------------------------------


@implements(np.fft.fftn)
def fftn(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = None, norm: Norm = None, out: Array = None
) -> Array:
    """The transform over several axes, cut or filled with zeros to lengths `s`; over all by default.

    >>> print(fg.numpy.fft.fftn(np.array([[1.0, 2.0], [3.0, 4.0]])).real)
    [[10. -2.]
     [-4.  0.]]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.fftn(a, s, axes, norm, out)
    return stored(over_axes(x, s, axes, norm, inverse=False), out, "np.fft.fftn")


@implements(np.fft.ifftn)
def ifftn(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = None, norm: Norm = None, out: Array = None
) -> Array:
    """The inverse of `fftn`.

    >>> print(fg.numpy.fft.ifftn(np.array([[10.0, -2.0], [-4.0, 0.0]])).real)
    [[1. 2.]
     [3. 4.]]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.ifftn(a, s, axes, norm, out)
    return stored(over_axes(x, s, axes, norm, inverse=True), out, "np.fft.ifftn")


@implements(np.fft.rfftn)
def rfftn(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = None, norm: Norm = None, out: Array = None
) -> Array:
    """The transform of real numbers over several axes, of which the last keeps only the first half.

    >>> print(fg.numpy.fft.rfftn(np.array([[1.0, 2.0], [3.0, 4.0]])).real)
    [[10. -2.]
     [-4.  0.]]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.rfftn(a, s, axes, norm, out)
    sizes, where = sizes_and_axes(x, s, axes)
    half = of_real(x, sizes[-1], where[-1], norm, inverse=False)
    return stored(over_axes(half, sizes[:-1], where[:-1], norm, inverse=False), out, "np.fft.rfftn")


@implements(np.fft.irfftn)
def irfftn(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = None, norm: Norm = None, out: Array = None
) -> Array:
    """The inverse of `rfftn`.

    >>> print(fg.numpy.fft.irfftn(np.array([[10.0, -2.0], [-4.0, 0.0]])))
    [[1. 2.]
     [3. 4.]]
    """
    x = as_traced(a, out)
    if x is None:
        return np.fft.irfftn(a, s, axes, norm, out)
    sizes, where = sizes_and_axes(x, s, axes)
    last = None if s is None else sizes[-1]
    spectrum = over_axes(x, sizes[:-1], where[:-1], norm, inverse=True)
    return stored(to_real(spectrum, last, where[-1], norm, inverse=True), out, "np.fft.irfftn")


@implements(np.fft.fft2)
def fft2(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = (-2, -1), norm: Norm = None, out: Array = None
) -> Array:
    """`fftn` over two axes, the last two by default.

    >>> print(fg.numpy.fft.fft2(np.array([[1.0, 2.0], [3.0, 4.0]])).real)
    [[10. -2.]
     [-4.  0.]]
    """
    return fftn(a, s, axes, norm, out)


@implements(np.fft.ifft2)
def ifft2(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = (-2, -1), norm: Norm = None, out: Array = None
) -> Array:
    """`ifftn` over two axes, the last two by default.

    >>> print(fg.numpy.fft.ifft2(np.array([[10.0, -2.0], [-4.0, 0.0]])).real)
    [[1. 2.]
     [3. 4.]]
    """
    return ifftn(a, s, axes, norm, out)


@implements(np.fft.rfft2)
def rfft2(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = (-2, -1), norm: Norm = None, out: Array = None
) -> Array:
    """`rfftn` over two axes, the last two by default.

    >>> print(fg.numpy.fft.rfft2(np.array([[1.0, 2.0], [3.0, 4.0]])).real)
    [[10. -2.]
     [-4.  0.]]
    """
    return rfftn(a, s, axes, norm, out)


@implements(np.fft.irfft2)
def irfft2(
    a: ArrayLike, s: ShapeLike = None, axes: AxisLike = (-2, -1), norm: Norm = None, out: Array = None
) -> Array:
    """`irfftn` over two axes, the last two by default.

    >>> print(fg.numpy.fft.irfft2(np.array([[10.0, -2.0], [-4.0, 0.0]])))
    [[1. 2.]
     [3. 4.]]
    """
    return irfftn(a, s, axes, norm, out)


# -- frequencies and order ---------------------------------------------------------------------------------


def fftfreq(n: int, d: Number = 1.0, *, dtype: DTypeLike = None, device: Device = None) -> Array:
    """The frequencies of the `n` coefficients of `fft`, for samples at distance `d`, which may be traced.

    >>> print(fg.numpy.fft.fftfreq(4, 0.5))
    [ 0.   0.5 -1.  -0.5]
    """
    return in_dtype(np.fft.fftfreq(n, d, device=device), dtype)


def rfftfreq(n: int, d: Number = 1.0, *, dtype: DTypeLike = None, device: Device = None) -> Array:
    """The frequencies of the ``n // 2 + 1`` coefficients of `rfft`.

    >>> print(fg.numpy.fft.rfftfreq(4, 0.5))
    [0.  0.5 1. ]
    """
    return in_dtype(np.fft.rfftfreq(n, d, device=device), dtype)


def in_dtype(x: ArrayLike, dtype: DTypeLike) -> Array:
    """`x` in `dtype`, which the Array API standard lets one ask for; as it is where that is None."""
    return x if dtype is None else x.astype(dtype)


@implements(np.fft.fftshift)
def fftshift(x: ArrayLike, axes: AxisLike = None) -> Array:
    """The coefficients with frequency zero moved to the middle.

    >>> print(fg.numpy.fft.fftshift(np.array([0.0, 1.0, -2.0, -1.0])))
    [-2. -1.  0.  1.]
    """
    return shifted(x, axes, [n // 2 for n in np.shape(x)])


@implements(np.fft.ifftshift)
def ifftshift(x: ArrayLike, axes: AxisLike = None) -> Array:
    """The inverse of `fftshift`.

    >>> print(fg.numpy.fft.ifftshift(np.array([-2.0, -1.0, 0.0, 1.0])))
    [ 0.  1. -2. -1.]
    """
    return shifted(x, axes, [-(n // 2) for n in np.shape(x)])


def shifted(x: ArrayLike, axes: AxisLike, amounts: Sequence[int]) -> Array:
    """`x` rolled by the amounts of the axes, of all of them where they are None."""
    numbers = range(len(amounts)) if axes is None else np.atleast_1d(axes).tolist()
    if not amounts:
        return roll(x, 0, ())
    return roll(x, [amounts[a] for a in numbers], list(numbers))


# -- what all share ----------------------------------------------------------------------------------------


def along_axis(x: ArrayLike, n: Number, axis: AxisLike, norm: object, *, inverse: bool) -> Array:
    """The complex transform along one axis."""
    k = normalized_axis(axis, len(shape_of(x)))
    fitted = of_length(floating(x), points(shape_of(x)[k] if n is None else n), k)
    return FFT((k,), inverse, norm_of(norm)).bind(fitted)


def of_real(x: ArrayLike, n: Number, axis: AxisLike, norm: object, *, inverse: bool) -> Array:
    """Half of the spectrum of real numbers along one axis."""
    if aval(x).dtype.kind == "c":
        raise TypeError(
            "this transform takes real numbers, and was given complex ones; take the real part first"
        )
    k = normalized_axis(axis, len(shape_of(x)))
    fitted = of_length(floating(x), points(shape_of(x)[k] if n is None else n), k)
    return RealFFT(k, inverse, False, norm_of(norm)).bind(fitted)


def to_real(x: ArrayLike, n: Number, axis: AxisLike, norm: object, *, inverse: bool) -> Array:
    """Real numbers from half of their spectrum along one axis."""
    k = normalized_axis(axis, len(shape_of(x)))
    size = points(2 * (shape_of(x)[k] - 1) if n is None else n)
    spectrum = floating(x)
    if aval(spectrum).dtype.kind != "c":
        spectrum = cast(spectrum, np.result_type(aval(spectrum).dtype, np.complex64))
    fitted = of_length(spectrum, size // 2 + 1, k)
    found = HermitianFFT(size, k, inverse, True, norm_of(norm)).bind(fitted)
    return cast(found, np.float16) if aval(x).dtype == np.float16 else found


def over_axes(x: ArrayLike, s: ShapeLike, axes: AxisLike, norm: object, *, inverse: bool) -> Array:
    """The complex transform over several axes; over an axis that is named twice it is taken twice."""
    sizes, where = sizes_and_axes(x, s, axes)
    if len(set(where)) != len(where):
        for n, k in list(zip(sizes, where, strict=True))[::-1]:
            x = along_axis(x, n, k, norm, inverse=inverse)
        return x
    x = floating(x)
    for n, k in zip(sizes, where, strict=True):
        x = of_length(x, points(n), k)
    return FFT(where, inverse, norm_of(norm)).bind(x) if where else x


def sizes_and_axes(x: ArrayLike, s: ShapeLike, axes: AxisLike) -> tuple[list[int], Axes]:
    """The lengths, -1 for as it is, and the axes, as numbers from 0."""
    shape = shape_of(x)
    if axes is None:
        if s is not None:
            warnings.warn(
                "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0).",
                DeprecationWarning,
                stacklevel=user_stacklevel(),
            )
        axes = range(-len(shape if s is None else s), 0)
    where = tuple([normalized_axis(a, len(shape)) for a in axes])
    sizes = [shape[a] for a in where] if s is None else [operator.index(n) for n in s]
    if len(sizes) != len(where):
        raise ValueError("Shape and axes have different lengths.")
    return [shape[a] if n == -1 else n for n, a in zip(sizes, where, strict=True)], where


def points(n: Number) -> int:
    """The number of points; raises ValueError, as NumPy does, where there is none."""
    number = operator.index(n)
    if number < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return number


def norm_of(norm: object) -> str:
    """The norm by its name; raises ValueError for one that NumPy does not know."""
    if norm is None:
        return "backward"
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return str(norm)


def of_length(x: ArrayLike, n: int, axis: int) -> Array:
    """`x` cut, or filled with zeros, to length `n` along an axis."""
    shape = shape_of(x)
    if shape[axis] == n:
        return x
    index = tuple([(0, min(n, m) if a == axis else m, 1) for a, m in enumerate(shape)])
    if n < shape[axis]:
        return Slice(index).bind(x)
    return Pad((*shape[:axis], n, *shape[axis + 1 :]), index).bind(x)


def floating(x: ArrayLike) -> Array:
    """`x` in the precision in which NumPy transforms it: half becomes single, integers double."""
    dtype = aval(x).dtype
    wide = np.result_type(dtype, np.float32) if dtype.kind in "fc" else np.dtype(np.float64)
    return cast(x, wide)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
