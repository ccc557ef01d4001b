"""What makes another signal of a signal: its envelope, its trend, smoothing, other rates."""

from __future__ import annotations

import operator
from itertools import pairwise

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import aval, reshape, shape_of
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.ops.signal.windowed_sums import WindowedSums
from funcgrad.scipy.reals import require_real
from funcgrad.scipy.signal.arguments import back, last, scipys, traced_signals
from funcgrad.scipy.signal.filters import sosfilt, sosfiltfilt, unsupported
from funcgrad.types import Array, ArrayLike, Arrays, Option

__all__ = ["decimate", "detrend", "hilbert", "medfilt", "resample", "savgol_filter"]


def hilbert(x: ArrayLike, N: int | None = None, axis: int = -1) -> Array:
    """The analytic signal: `x` with its Hilbert transform as imaginary part.

    >>> x = np.array([1.0, 2.0, 4.0, 3.0])
    >>> print(fg.grad(lambda x: np.abs(fg.scipy.signal.hilbert(x)).sum())(x).round(3))
    [0.371 0.514 1.516 1.18 ]
    """
    operands = traced_signals(x)
    if operands is None:
        return scipys("hilbert")(x, N, axis)
    (x,) = operands
    if aval(x).dtype.kind == "c":
        raise ValueError("x must be real.")
    x = last(x, axis)
    n = shape_of(x)[-1] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    factors = np.zeros(n, aval(x).dtype)
    factors[0] = 1.0
    factors[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        factors[n // 2] = 1.0
    return back(fnp.fft.ifft(fnp.fft.fft(x, n) * factors), axis)


def detrend(
    data: ArrayLike, axis: int = -1, type: str = "linear", bp: ArrayLike = 0, overwrite_data: bool = False
) -> Array:
    """A signal without its mean, or without the straight lines that fit its pieces best.

    >>> print(fg.jit(fg.scipy.signal.detrend)(np.array([1.0, 2.0, 4.0])).round(6))
    [ 0.166667 -0.333333  0.166667]
    """
    operands = traced_signals(data)
    if operands is None:
        return scipys("detrend")(data, axis, type, bp, overwrite_data)
    return back(detrended(last(operands[0], axis), type, bp), axis)


def detrended(x: ArrayLike, kind: str, bp: ArrayLike) -> Array:
    """A signal without its trend along the last axis."""
    if kind not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if kind in ("constant", "c"):
        return x - fnp.mean(x, -1, keepdims=True)
    n = shape_of(x)[-1]
    ends = np.unique(np.concatenate([[0], np.atleast_1d(bp), [n]]))
    if np.any(ends > n):
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for start, stop in pairwise(ends):
        count = int(stop - start)
        basis, _ = np.linalg.qr(np.stack([np.arange(1, count + 1) / count, np.ones(count)], 1))
        basis = basis.astype(aval(x).dtype)
        part = x[..., start:stop]
        parts.append(part - (part @ basis) @ basis.T)
    return fnp.concatenate(parts, -1)


PADDING = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap"}
"""How NumPy calls what filters of images do at their edges."""


def savgol_filter(
    x: ArrayLike,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Array:
    """A signal smoothed by polynomials that fit windows of it, or a derivative of those.

    >>> x = np.arange(7.0) ** 2
    >>> print(fg.grad(lambda x: fg.scipy.signal.savgol_filter(x, 5, 2)[3])(x).round(3))
    [ 0.    -0.086  0.343  0.486  0.343 -0.086  0.   ]
    """
    operands = traced_signals(x)
    if operands is None:
        return scipys("savgol_filter")(x, window_length, polyorder, deriv, delta, axis, mode, cval)
    if mode not in (*PADDING, "constant", "interp"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    x = last(operands[0], axis)
    weights = scipys("savgol_coeffs")(window_length, polyorder, deriv=deriv, delta=delta, use="dot")
    n, before = shape_of(x)[-1], (window_length - 1) // 2
    after = window_length - 1 - before
    if mode == "interp":
        if window_length > n:
            raise ValueError(
                "If mode is 'interp', window_length must be less than or equal to the size of x."
            )
        return back(with_fitted_ends(x, weights, window_length, polyorder, deriv, delta), axis)
    widths = [*[(0, 0)] * (len(shape_of(x)) - 1), (before, after)]
    if mode == "constant":
        padded = fnp.pad(x, widths, constant_values=cval)
    else:
        padded = fnp.pad(x, widths, PADDING[mode])
    return back(sliding(padded, weights), axis)


def with_fitted_ends(
    x: ArrayLike, weights: ArrayLike, size: int, order: int, deriv: int, delta: float
) -> Array:
    """The middle by weights, and half a window at each end by the polynomial of that end."""
    half, n = size // 2, shape_of(x)[-1]

    def at(position: int) -> Array:
        return scipys("savgol_coeffs")(size, order, deriv=deriv, delta=delta, pos=position, use="dot")

    rows = np.stack([at(k) for k in range(size)]).astype(aval(x).dtype)
    middle = sliding(x, weights)
    stop = n - half
    first = half - (size - 1) // 2  # an even window reaches one further to the right
    inner = middle[..., first : first + stop - half]
    return fnp.concatenate(
        [x[..., :size] @ rows[:half].T, inner, x[..., n - size :] @ rows[size - half :].T], -1
    )


def sliding(x: ArrayLike, weights: ArrayLike, step: int = 1) -> Array:
    """Weighted sums of the windows along the last axis."""
    shape = shape_of(x)
    kernel = np.asarray(weights, aval(x).dtype)
    if step == 1:
        return WindowedSums(len(shape) - 1).bind(x, kernel)
    rows = reshape(x, (1, int(np.prod(shape[:-1], dtype=int)), 1, shape[-1]))
    found = Convolution((step,), ((0, 0),), (1,), (1,)).bind(rows, kernel.reshape(1, 1, 1, -1))
    return reshape(found, (*shape[:-1], shape_of(found)[-1]))


def medfilt(volume: ArrayLike, kernel_size: ArrayLike = None) -> Array:
    """The median of every window of an array, with zeros around it; its derivative is that of the element.

    >>> print(fg.grad(lambda x: fg.scipy.signal.medfilt(x)[1])(np.array([5.0, 1.0, 2.0])))
    [0. 0. 1.]
    """
    operands = traced_signals(volume)
    if operands is None:
        return scipys("medfilt")(volume, kernel_size)
    x = fnp.atleast_1d(operands[0])
    require_real(x, "medfilt")
    ndim = len(shape_of(x))
    sizes = [int(k) for k in np.broadcast_to(3 if kernel_size is None else kernel_size, ndim)]
    if any(k % 2 != 1 for k in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    padded = fnp.pad(x, [(k // 2, k // 2) for k in sizes])
    places = np.ix_(*[np.arange(n) for n in shape_of(x)])
    offsets = np.stack(np.meshgrid(*[np.arange(k) for k in sizes], indexing="ij")).reshape(ndim, -1)
    index = tuple([p[..., None] + o for p, o in zip(places, offsets, strict=True)])
    return fnp.median(padded[index], -1)


def resample(
    x: ArrayLike, num: int, t: ArrayLike = None, axis: int = 0, window: object = None, domain: str = "time"
) -> Arrays:
    """A periodic signal with another number of samples, by its Fourier transform.

    >>> print(fg.jit(lambda x: fg.scipy.signal.resample(x, 2))(np.array([1.0, 2.0, 3.0, 2.0])))
    [1. 3.]
    """
    operands = traced_signals(x)
    if operands is None:
        return scipys("resample")(x, num, t, axis, window, domain)
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter {domain=} not in ('time', 'freq')!")
    x = last(operands[0], axis)
    n = shape_of(x)[-1]
    spectral = spectral_window(window, n)
    if domain == "time" and aval(x).dtype.kind != "c":
        found = of_real_signal(x, n, num, spectral)
    else:
        found = of_spectrum(fnp.fft.fft(x) if domain == "time" else x, n, num, spectral)
    found = back(found, axis)
    if t is None:
        return found
    return found, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


def spectral_window(window: object, n: int) -> Array | None:
    """The factors of a transform; None where there are none."""
    if window is None:
        return None
    if callable(window):
        return window(np.fft.fftfreq(n))
    if hasattr(window, "shape"):
        if window.shape != (n,):
            raise ValueError(
                f"{window.shape=} != ({n},), i.e., window length is not equal to number of frequency bins!"
            )
        return window
    return np.fft.fftshift(scipys("get_window")(window, n))


def of_real_signal(x: ArrayLike, n: int, num: int, window: Option) -> Array:
    """Of a real signal half of the transform is enough."""
    spectrum = fnp.fft.rfft(x)
    if window is not None:
        folded = np.array(window, aval(x).dtype)
        count = shape_of(spectrum)[-1]
        folded[1:count] = (
            (folded[1:count] + np.flip(window[-count + 1 :])) / 2 if count > 1 else folded[1:count]
        )
        spectrum = spectrum * folded[:count]
    m = min(num, n)
    kept = m // 2 + 1
    factors = np.ones(kept, aval(x).dtype)
    if m % 2 == 0 and num != n:
        factors[m // 2] = 2.0 if num < n else 0.5
    return fnp.fft.irfft(spectrum[..., :kept] * factors * (num / n), num)


def of_spectrum(spectrum: ArrayLike, n: int, num: int, window: object) -> Array:
    """The signal of a transform that is cut, or filled with zeros in its middle."""
    if window is not None:
        spectrum = spectrum * window
    m = min(num, n)
    low = m // 2 + 1
    high = m - low
    outer = shape_of(spectrum)[:-1]
    head, tail = spectrum[..., :low], spectrum[..., n - high :]
    if m % 2 == 0 and num != n:
        middle = head[..., m // 2 :]
        if num < n:
            head = fnp.concatenate(
                [head[..., : m // 2], middle + spectrum[..., n - m // 2 : n - m // 2 + 1]], -1
            )
        else:
            head = fnp.concatenate([head[..., : m // 2], middle / 2], -1)
            tail = fnp.concatenate([middle / 2, tail], -1)
    zeros = np.zeros((*outer, num - low - shape_of(tail)[-1]), aval(spectrum).dtype)
    return fnp.fft.ifft(fnp.concatenate([head, zeros, tail], -1) * (num / n), num)


def decimate(
    x: ArrayLike, q: int, n: int | None = None, ftype: object = "iir", axis: int = -1, zero_phase: bool = True
) -> Array:
    """Every q-th sample of a signal, behind a filter against aliases.

    >>> x = np.sin(0.1 * np.arange(64.0))
    >>> fg.grad(lambda x: fg.scipy.signal.decimate(x, 4).sum())(x).shape
    (64,)
    """
    operands = traced_signals(x)
    if operands is None:
        return scipys("decimate")(x, q, n, ftype, axis, zero_phase)
    x, q = last(operands[0], axis), operator.index(q)
    if ftype == "iir":
        sos = scipys("cheby1")(8 if n is None else operator.index(n), 0.05, 0.8 / q, output="sos")
        y = (sosfiltfilt if zero_phase else sosfilt)(sos.astype(aval(x).dtype), x)
        return back(y[..., ::q], axis)
    if ftype != "fir":
        if isinstance(ftype, str):
            raise ValueError("invalid ftype")
        raise unsupported("decimate with a system", 'Use ftype="iir" or ftype="fir".')
    taps = (20 * q if n is None else operator.index(n)) + 1
    b = scipys("firwin")(taps, 1.0 / q, window="hamming")
    begin = (taps - 1) // 2 if zero_phase else 0
    count = -(-shape_of(x)[-1] // q)
    behind = max((count - 1) * q + begin + 1 - shape_of(x)[-1], 0)
    padded = fnp.pad(x, [*[(0, 0)] * (len(shape_of(x)) - 1), (taps - 1 - begin, behind)])
    return back(sliding(padded, b[::-1], q)[..., :count], axis)
