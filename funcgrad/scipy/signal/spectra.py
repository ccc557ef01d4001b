"""Spectra of windows of a signal: short-time transforms and back, periodograms, densities, coherence."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.structure import aval, cast, reshape, shape_of
from funcgrad.scipy.signal.arguments import last, real_of, scipys, traced_signals
from funcgrad.scipy.signal.filters import extension
from funcgrad.scipy.signal.smoothing import detrended
from funcgrad.source import user_stacklevel
from funcgrad.types import Array, ArrayLike, Number, Option

__all__ = ["coherence", "csd", "istft", "periodogram", "spectrogram", "stft", "welch"]


class Segments(NamedTuple):
    """How a signal is cut into windows."""

    window: Any
    size: int
    step: int
    points: int
    """Points of the transforms, at least `size`."""


def segments_for(
    window: Option, nperseg: int | None, noverlap: int | None, nfft: int | None, x: ArrayLike, n: int
) -> Segments:
    """The windows asked for, in the precision of the signal; raises ValueError where they do not fit."""
    if isinstance(window, str | tuple):
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg < 1:
            raise ValueError("nperseg must be a positive integer")
        if nperseg > n:
            warnings.warn(
                f"nperseg = {nperseg:d} is greater than input length = {n:d}, using nperseg = {n:d}",
                stacklevel=user_stacklevel(),
            )
            nperseg = n
        window = scipys("get_window")(window, nperseg)
    elif len(shape_of(window)) != 1:
        raise ValueError("window must be 1-D")
    size = shape_of(window)[0]
    if nperseg is not None and int(nperseg) != size:
        raise ValueError("value specified for nperseg is different from length of window")
    points = size if nfft is None else int(nfft)
    if points < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = size // 2 if noverlap is None else int(noverlap)
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    precise = aval(window).dtype.kind == "c"
    return Segments(window if precise else cast(window, real_of(x)), size, size - overlap, points)


def windows_of(x: ArrayLike, cut: Segments) -> Array:
    """The windows of a signal, along a new last axis but one."""
    starts = np.arange(0, shape_of(x)[-1] - cut.size + 1, cut.step)
    return x[..., starts[:, None] + np.arange(cut.size)]


def transforms(x: ArrayLike, cut: Segments, detrend: Option, onesided: bool) -> Array:
    """The transforms of the windows of a signal."""
    parts = windows_of(x, cut)
    if callable(detrend):
        parts = detrend(parts)
    elif detrend:
        parts = detrended(parts, detrend, 0)
    transform = fnp.fft.rfft if onesided else fnp.fft.fft
    return transform(parts * cut.window, cut.points)


def scale_of(scaling: str, fs: Number, window: Option) -> Array:
    """What squares of transforms are multiplied by."""
    if scaling == "density":
        return 1.0 / (fs * fnp.sum(window * window))
    if scaling == "spectrum":
        return 1.0 / fnp.sum(window) ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def frequencies(points: int, fs: Number, onesided: bool) -> Array:
    """The frequencies of a transform."""
    return (np.fft.rfftfreq if onesided else np.fft.fftfreq)(points, 1 / fs)


def both_sides(power: ArrayLike, points: int, onesided: bool) -> Array:
    """A one-sided spectrum with what stands for the other side."""
    if not onesided:
        return power
    count = shape_of(power)[-1]
    factors = np.full(count, 2.0, real_of(power))
    factors[0] = 1.0
    if points % 2 == 0:
        factors[-1] = 1.0
    return power * factors


def equally_long(x: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
    """Two signals, the shorter one continued by zeros."""
    np.broadcast_shapes(shape_of(x)[:-1], shape_of(y)[:-1])
    if len(shape_of(x)) != len(shape_of(y)) and shape_of(x)[-1] != shape_of(y)[-1]:
        raise ValueError(f"signals of shapes {shape_of(x)} and {shape_of(y)} differ in length and dimensions")
    n = max(shape_of(x)[-1], shape_of(y)[-1])
    return tuple(
        fnp.concatenate([v, np.zeros((*shape_of(v)[:-1], n - shape_of(v)[-1]), aval(v).dtype)], -1)
        if shape_of(v)[-1] < n
        else v
        for v in (x, y)
    )


def stft(
    x: ArrayLike,
    fs: Number = 1.0,
    window: object = "hann",
    nperseg: Number = 256,
    noverlap: Number = None,
    nfft: Number = None,
    detrend: object = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the transforms of the windows of a signal.

    >>> x = np.sin(np.arange(16.0))
    >>> power = lambda x: (abs(fg.scipy.signal.stft(x, nperseg=8)[2]) ** 2).sum()
    >>> print(fg.grad(power)(x).round(3)[:3])
    [0.057 0.386 0.228]
    """
    operands = traced_signals(x, None if isinstance(window, str | tuple) else window)
    if operands is None:
        given = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded)
        return scipys("stft")(x, *given, axis, scaling)  # type: ignore[no-any-return]
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    scaling = "density" if scaling == "psd" else scaling
    return short_time(
        operands,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        boundary,
        padded,
        axis,
        scaling,
    )


def short_time(
    operands: list[Any],
    fs: Number,
    window: Option,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    detrend: Option,
    return_onesided: bool,
    boundary: str | None,
    padded: bool,
    axis: int,
    scaling: str,
    squares: bool = False,
) -> tuple[Any, Any, Any]:
    """Frequencies, times and scaled transforms, or their squares."""
    x = last(operands[0], axis)
    if boundary not in ("even", "odd", "constant", "zeros", None):
        raise ValueError(f"Unknown boundary option '{boundary}'")
    cut = segments_for(
        window if operands[1] is None else operands[1], nperseg, noverlap, nfft, x, shape_of(x)[-1]
    )
    x = extension(x, cut.size // 2, boundary)
    if padded:
        missing = (-(shape_of(x)[-1] - cut.size) % cut.step) % cut.size
        x = fnp.concatenate([x, np.zeros((*shape_of(x)[:-1], missing), aval(x).dtype)], -1)
    onesided = return_onesided and aval(x).dtype.kind != "c"
    found = transforms(x, cut, detrend, onesided)
    scale = scale_of(scaling, fs, cut.window)
    if squares:
        found = both_sides(np.real(np.conjugate(found) * found) * scale, cut.points, onesided)
    else:
        found = found * fnp.sqrt(scale)
    n = shape_of(x)[-1]
    time = np.arange(cut.size / 2, n - cut.size / 2 + 1, cut.step) / float(fs)
    if boundary is not None:
        time = time - (cut.size / 2) / fs
    return frequencies(cut.points, fs, onesided), time, np.moveaxis(found, -1, axis - 1 if axis < 0 else axis)


def istft(
    Zxx: ArrayLike,
    fs: Number = 1.0,
    window: Option = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Any, Any]:
    """Times, and the signal that has these transforms of its windows.

    >>> x = np.sin(np.arange(16.0))
    >>> def there_and_back(x):
    ...     _, _, z = fg.scipy.signal.stft(x, nperseg=8)
    ...     return fg.scipy.signal.istft(z)[1]
    >>> print(fg.jacobian(there_and_back)(x).round(6)[0, :3])
    [1. 0. 0.]
    """
    operands = traced_signals(Zxx, None if isinstance(window, str | tuple) else window)
    if operands is None:
        given = (fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling)
        return scipys("istft")(Zxx, *given)  # type: ignore[no-any-return]
    z, ndim = operands[0], len(shape_of(operands[0]))
    if ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis % ndim == time_axis % ndim:
        raise ValueError("Must specify differing time and frequency axes!")
    z = np.moveaxis(z, (freq_axis, time_axis), (-1, -2))
    usual = 2 * (shape_of(z)[-1] - 1) if input_onesided else shape_of(z)[-1]
    size = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = size if input_onesided and size == usual + 1 else usual
    cut = segments_for(window if operands[1] is None else operands[1], size, noverlap, nfft, z, size)
    parts = (fnp.fft.irfft if input_onesided else fnp.fft.ifft)(z, cut.points)[..., : cut.size]
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    gain = fnp.sum(cut.window) if scaling == "spectrum" else fnp.sqrt(fs * fnp.sum(cut.window**2))
    x = overlapped(parts * gain * cut.window, cut)
    weight = overlapped(fnp.broadcast_to(cut.window**2, shape_of(parts)[-2:]), cut)
    if boundary:
        inside = slice(cut.size // 2, shape_of(x)[-1] - cut.size // 2)
        x, weight = x[..., inside], weight[inside]
    x = x / fnp.where(weight > 1e-10, weight, 1.0)
    if ndim > 2 and time_axis % ndim != ndim - 1:
        x = np.moveaxis(x, -1, time_axis % ndim - (freq_axis % ndim < time_axis % ndim))
    return np.arange(shape_of(x)[0]) / float(fs), x


def overlapped(parts: ArrayLike, cut: Segments) -> Array:
    """Windows laid over one another and added, each a step behind the one before."""
    *outer, count, size = shape_of(parts)
    length = size + (count - 1) * cut.step
    places = (np.arange(count)[:, None] * cut.step + np.arange(size)).reshape(-1)
    rows = reshape(parts, (int(np.prod(outer, dtype=int)), count * size))
    zeros = np.zeros((shape_of(rows)[0], length), aval(parts).dtype)
    found = Scatter("add", (1,), False).bind(zeros, rows.T, places)
    return reshape(found, (*outer, length))


def csd(
    x: ArrayLike,
    y: ArrayLike,
    fs: Number = 1.0,
    window: object = "hann",
    nperseg: Number = None,
    noverlap: Number = None,
    nfft: Number = None,
    detrend: object = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies and the cross spectral density of two signals, averaged over windows.

    >>> x = np.sin(np.arange(16.0))
    >>> total = lambda x: np.abs(fg.scipy.signal.csd(x, x**2, nperseg=8)[1]).sum()
    >>> bool(np.isfinite(fg.grad(total)(x)).all())
    True
    """
    operands = traced_signals(x, y, None if isinstance(window, str | tuple) else window)
    if operands is None:
        given = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
        return scipys("csd")(x, y, *given)  # type: ignore[no-any-return]
    first, second = equally_long(last(operands[0], axis), last(operands[1], axis))
    window = window if operands[2] is None else operands[2]
    cut = segments_for(window, nperseg, noverlap, nfft, first, shape_of(first)[-1])
    onesided = return_onesided and "c" not in (aval(first).dtype.kind, aval(second).dtype.kind)
    left = transforms(first, cut, detrend, onesided)
    right = left if y is x else transforms(second, cut, detrend, onesided)
    power = np.conjugate(left) * right * scale_of(scaling, fs, cut.window)
    found = averaged(both_sides(power, cut.points, onesided), average)
    return frequencies(cut.points, fs, onesided), np.moveaxis(np.real(found) if y is x else found, -1, axis)


def averaged(power: ArrayLike, average: str) -> Array:
    """The mean, or the median without its bias, over windows."""
    if average == "mean":
        return fnp.mean(power, -2)
    if average != "median":
        raise ValueError(f"Parameter {average=} must be 'median' or 'mean'!")
    counts = 2.0 * np.arange(1.0, (shape_of(power)[-2] - 1) // 2 + 1)
    bias = 1.0 + float(np.sum(1.0 / (counts + 1.0) - 1.0 / counts))
    if aval(power).dtype.kind == "c":
        return (fnp.median(power.real, -2) + 1j * fnp.median(power.imag, -2)) / bias
    return fnp.median(power, -2) / bias


def welch(
    x: ArrayLike,
    fs: Number = 1.0,
    window: object = "hann",
    nperseg: Number = None,
    noverlap: Number = None,
    nfft: Number = None,
    detrend: object = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies and the power spectral density of a signal, averaged over windows.

    >>> x = np.sin(np.arange(16.0))
    >>> print(fg.grad(lambda x: fg.scipy.signal.welch(x, nperseg=8)[1].sum())(x).round(3)[:3])
    [0.305 0.334 0.678]
    """
    given = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    if traced_signals(x, None if isinstance(window, str | tuple) else window) is None:
        return scipys("welch")(x, *given)  # type: ignore[no-any-return]
    return csd(x, x, *given)


def periodogram(
    x: ArrayLike,
    fs: Number = 1.0,
    window: Option = "boxcar",
    nfft: int | None = None,
    detrend: Option = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Any, Any]:
    """Frequencies and the power spectral density of a signal as a whole.

    >>> print(fg.grad(lambda x: fg.scipy.signal.periodogram(x)[1][1])(np.array([1.0, 2.0, 4.0, 3.0])))
    [-3. -1.  3.  1.]
    """
    operands = traced_signals(x, None if isinstance(window, str | tuple | None) else window)
    if operands is None:
        return scipys("periodogram")(x, fs, window, nfft, detrend, return_onesided, scaling, axis)  # type: ignore[no-any-return]
    signal = last(operands[0], axis)
    window = ("boxcar" if window is None else window) if operands[1] is None else operands[1]
    n = shape_of(signal)[-1]
    if nfft is not None and nfft < n:
        signal, n, nfft = signal[..., :nfft], nfft, None
    f, p = welch(signal, fs, window, n, 0, nfft, detrend, return_onesided, scaling)
    return f, np.moveaxis(p, -1, axis)


def coherence(
    x: ArrayLike,
    y: ArrayLike,
    fs: Number = 1.0,
    window: object = "hann",
    nperseg: Number = None,
    noverlap: Number = None,
    nfft: Number = None,
    detrend: object = "constant",
    axis: int = -1,
) -> tuple[Any, Any]:
    """Frequencies and the coherence of two signals, between 0 and 1.

    >>> x = np.sin(np.arange(32.0) ** 2)
    >>> print(fg.jit(lambda x: fg.scipy.signal.coherence(x, 2.0 * x, nperseg=8)[1])(x).round(6))
    [1. 1. 1. 1. 1.]
    """
    given = (fs, window, nperseg, noverlap, nfft, detrend)
    if traced_signals(x, y, None if isinstance(window, str | tuple) else window) is None:
        return scipys("coherence")(x, y, *given, axis)  # type: ignore[no-any-return]
    f, first = welch(x, *given, axis=axis)
    _, second = welch(y, *given, axis=axis)
    _, both = csd(x, y, *given, axis=axis)
    return f, np.abs(both) ** 2 / first / second


def spectrogram(
    x: ArrayLike,
    fs: Number = 1.0,
    window: object = ("tukey", 0.25),
    nperseg: Number = None,
    noverlap: Number = None,
    nfft: Number = None,
    detrend: object = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the spectra of the windows of a signal.

    >>> x = np.sin(np.arange(16.0))
    >>> fg.jit(lambda x: fg.scipy.signal.spectrogram(x, nperseg=8)[2])(x).shape
    (5, 2)
    """
    operands = traced_signals(x, None if isinstance(window, str | tuple) else window)
    if operands is None:
        given = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, mode)
        return scipys("spectrogram")(x, *given)  # type: ignore[no-any-return]
    modes = ["psd", "complex", "magnitude", "angle", "phase"]
    if mode not in modes:
        raise ValueError(f"unknown value for mode {mode}, must be one of {modes}")
    n = shape_of(operands[0])[axis]
    cut = segments_for(window if operands[1] is None else operands[1], nperseg, None, nfft, operands[0], n)
    noverlap = cut.size // 8 if noverlap is None else noverlap
    options = (cut.size, noverlap, nfft, detrend, return_onesided, None, False, axis, scaling, mode == "psd")
    f, time, found = short_time([operands[0], None], fs, cut.window, *options)
    if mode == "magnitude":
        found = np.abs(found)
    elif mode in ("angle", "phase"):
        found = fnp.angle(found)
        found = fnp.unwrap(found, axis=axis - 1 if axis < 0 else axis) if mode == "phase" else found
    return f, time, found
