"""Convolutions and correlations over any number of axes, as sums of products or by Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.movement import flip
from funcgrad.ops.arrays.structure import aval, reshape, shape_of
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.scipy.signal.arguments import scipys, traced_signals
from funcgrad.types import Array, ArrayLike, AxisLike

MODES = ("full", "valid", "same")


def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Array:
    """The convolution of two arrays of as many axes.

    >>> print(fg.grad(lambda x: fg.scipy.signal.convolve(x, [1.0, 2.0])[1])(np.array([3.0, 4.0])))
    [2. 1.]
    """
    operands = traced_signals(in1, in2)
    if operands is None:
        return scipys("convolve")(in1, in2, mode, method)
    x, y = operands
    ndim = len(shape_of(x))
    if ndim != len(shape_of(y)):
        raise ValueError("volume and kernel should have the same dimensionality")
    if not ndim:
        return x * y
    axes = tuple(range(ndim))
    if swapped(mode, shape_of(x), shape_of(y), axes):
        x, y = y, x
    if method == "auto":
        stand_ins = [np.broadcast_to(aval(v).dtype.type(0), shape_of(v)) for v in (x, y)]
        method = scipys("choose_conv_method")(*stand_ins, mode=mode)
    if method == "fft":
        return part(by_transforms(x, y, axes), shape_of(x), shape_of(y), mode, axes)
    if method != "direct":
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    return part(direct(x, y), shape_of(x), shape_of(y), mode, axes)


def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Array:
    """The cross-correlation of two arrays of as many axes, the second conjugated.

    >>> print(fg.grad(lambda x: fg.scipy.signal.correlate(x, [1.0, 2.0])[1])(np.array([3.0, 4.0])))
    [1. 2.]
    """
    operands = traced_signals(in1, in2)
    if operands is None:
        return scipys("correlate")(in1, in2, mode, method)
    x, y = operands
    if len(shape_of(x)) != len(shape_of(y)):
        raise ValueError("in1 and in2 should have the same dimensionality")
    turned = flip(np.conjugate(y), tuple(range(len(shape_of(y)))))
    if mode == "valid" and swapped(mode, shape_of(x), shape_of(y), range(len(shape_of(x)))):
        # The longer one stands still: the sums in the opposite order, conjugated.
        turned_x = flip(np.conjugate(x), tuple(range(len(shape_of(x)))))
        found = convolve(y, turned_x, mode, method)
        return np.conjugate(flip(found, tuple(range(len(shape_of(found))))))
    return convolve(x, turned, mode, method)


def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: AxisLike = None) -> Array:
    """The convolution by Fourier transforms, over all axes or some.

    >>> print(fg.scipy.signal.fftconvolve(np.array([3.0, 4.0]), [1.0, 2.0]).round(6))
    [ 3. 10.  8.]
    """
    operands = traced_signals(in1, in2)
    if operands is None:
        return scipys("fftconvolve")(in1, in2, mode, axes)
    x, y = operands
    ndim = len(shape_of(x))
    if ndim != len(shape_of(y)):
        raise ValueError("in1 and in2 should have the same dimensionality")
    if not ndim:
        return x * y
    over = range(ndim) if axes is None else [a % ndim for a in np.atleast_1d(axes)]
    over = [a for a in over if shape_of(x)[a] != 1 and shape_of(y)[a] != 1]
    if swapped(mode, shape_of(x), shape_of(y), over):
        x, y = y, x
    return part(by_transforms(x, y, over), shape_of(x), shape_of(y), mode, over)


def oaconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: AxisLike = None) -> Array:
    """The same as `fftconvolve`: adding overlaps is how SciPy computes it for arrays of unlike sizes.

    >>> print(fg.scipy.signal.oaconvolve(np.array([3.0, 4.0]), [1.0, 2.0]).round(6))
    [ 3. 10.  8.]
    """
    if traced_signals(in1, in2) is None:
        return scipys("oaconvolve")(in1, in2, mode, axes)
    return fftconvolve(in1, in2, mode, axes)


def swapped(mode: str, first: Sequence[int], second: Sequence[int], axes: Sequence[int]) -> bool:
    """Whether the second array is the larger, where only whole overlaps are asked for."""
    if mode not in MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    if mode != "valid":
        return False
    fits = all(first[a] >= second[a] for a in axes)
    if not fits and not all(second[a] >= first[a] for a in axes):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    return not fits


def direct(x: ArrayLike, y: ArrayLike) -> Array:
    """All sums of products; the smaller array is the kernel."""
    if aval(y).size > aval(x).size:
        x, y = y, x
    sizes = shape_of(y)
    kernel = reshape(flip(y, tuple(range(len(sizes)))), (1, 1, 1, *sizes))
    ones = (1,) * len(sizes)
    padding = tuple([(n - 1, n - 1) for n in sizes])
    found = Convolution(ones, padding, ones, ones).bind(reshape(x, (1, 1, 1, *shape_of(x))), kernel)
    return reshape(found, shape_of(found)[3:])


def by_transforms(x: ArrayLike, y: ArrayLike, axes: Sequence[int]) -> Array:
    """The product of Fourier transforms over these axes, transformed back."""
    if not axes:
        return x * y
    sizes = [shape_of(x)[a] + shape_of(y)[a] - 1 for a in axes]
    fast = [np_fast_length(n) for n in sizes]
    complex_valued = "c" in (aval(x).dtype.kind, aval(y).dtype.kind)
    there, home = (fnp.fft.fftn, fnp.fft.ifftn) if complex_valued else (fnp.fft.rfftn, fnp.fft.irfftn)
    found = home(there(x, fast, tuple(axes)) * there(y, fast, tuple(axes)), fast, tuple(axes))
    return found[windows(len(shape_of(found)), axes, [(0, n) for n in sizes])]


def np_fast_length(n: int) -> int:
    """The length from n on that transforms are fast for."""
    found = max(n, 1)
    while True:
        rest = found
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return found
        found += 1


def windows(ndim: int, axes: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    """An index of spans along some axes."""
    found = [slice(None)] * ndim
    for axis, (start, stop) in zip(axes, spans, strict=True):
        found[axis] = slice(start, stop)
    return tuple(found)


def part(
    full: ArrayLike, first: Sequence[int], second: Sequence[int], mode: str, axes: Sequence[int]
) -> Array:
    """Of all sums, those that the mode is about."""
    if mode == "full":
        return full
    if mode == "same":
        axes = range(len(first))
        before = [(size - wanted) // 2 for size, wanted in zip(shape_of(full), first, strict=True)]
        spans = [(start, start + n) for start, n in zip(before, first, strict=True)]
    else:
        spans = [(second[a] - 1, first[a]) for a in axes]
    return full[windows(len(shape_of(full)), axes, spans)]
