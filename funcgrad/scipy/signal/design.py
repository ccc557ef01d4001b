"""Filters made of their parameters: smooth in cut-off frequencies and ripples, which may be traced.

The poles of a prototype are moved by its frequencies, and by the bilinear transform, as SciPy does. The
number of poles is no parameter to differentiate by, and neither are the ripples of elliptic filters.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import cast, shape_of
from funcgrad.scipy.originals import raise_as_scipy
from funcgrad.scipy.signal.arguments import real_of, scipys, traced_signals
from funcgrad.scipy.signal.filters import unsupported
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays, Number, Option

__all__ = ["bessel", "bilinear", "butter", "cheby1", "cheby2", "ellip", "firwin", "freqz"]

BANDS = {
    "low": "lowpass", "lowpass": "lowpass", "lp": "lowpass", "l": "lowpass",
    "high": "highpass", "highpass": "highpass", "hp": "highpass", "h": "highpass",
    "band": "bandpass", "bandpass": "bandpass", "bp": "bandpass", "pass": "bandpass",
    "bandstop": "bandstop", "stop": "bandstop", "bs": "bandstop", "bands": "bandstop",
}  # fmt: skip

Poles = tuple[Any, Any, Any]
"""Zeros, poles and gain."""


def butter(
    N: int, Wn: ArrayLike, btype: str = "low", analog: bool = False, output: str = "ba", fs: Number = None
) -> Arrays:
    """A Butterworth filter, differentiable by its cut-off frequencies.

    >>> print(fg.jacobian(lambda w: fg.scipy.signal.butter(1, w)[0])(0.5).round(6))
    [0.785398 0.785398]
    """
    if not any_traced(Wn, fs):
        return scipys("butter")(N, Wn, btype, analog, output, fs)
    raise_as_scipy("signal", "butter", N, Wn, btype, analog, output, fs)
    return designed("butter", scipys("buttap")(N), Wn, btype, analog, output, fs)


def poles_on_ellipse(n: int, eps: Number) -> Array:
    """The poles of a Chebyshev filter of type I, and the inverse ones of type II."""
    mu = fnp.arcsinh(1.0 / eps) / n
    angle = np.pi * np.arange(-n + 1, n, 2) / (2 * n)
    return -fnp.sinh(mu) * np.cos(angle) - 1j * (fnp.cosh(mu) * np.sin(angle))


def cheby1(
    N: int,
    rp: ArrayLike,
    Wn: ArrayLike,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Number = None,
) -> Arrays:
    """A Chebyshev filter of type I, differentiable by ripple and cut-off frequencies.

    >>> fg.jacobian(lambda rp: fg.scipy.signal.cheby1(2, rp, 0.5)[1])(1.0).shape
    (3,)
    """
    if not any_traced(rp, Wn, fs):
        return scipys("cheby1")(N, rp, Wn, btype, analog, output, fs)
    raise_as_scipy("signal", "cheby1", N, rp, Wn, btype, analog, output, fs)
    eps = fnp.sqrt(10.0 ** (0.1 * rp) - 1.0)
    poles = poles_on_ellipse(N, eps)
    gain = np.real(fnp.prod(-poles))
    gain = gain / fnp.sqrt(1.0 + eps * eps) if N % 2 == 0 else gain
    return designed("cheby1", (np.zeros(0), poles, gain), Wn, btype, analog, output, fs)


def cheby2(
    N: int,
    rs: ArrayLike,
    Wn: ArrayLike,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Number = None,
) -> Arrays:
    """A Chebyshev filter of type II, differentiable by its attenuation and edge frequencies.

    >>> fg.jacobian(lambda rs: fg.scipy.signal.cheby2(2, rs, 0.5)[1])(20.0).shape
    (3,)
    """
    if not any_traced(rs, Wn, fs):
        return scipys("cheby2")(N, rs, Wn, btype, analog, output, fs)
    raise_as_scipy("signal", "cheby2", N, rs, Wn, btype, analog, output, fs)
    eps = 1.0 / fnp.sqrt(10.0 ** (0.1 * rs) - 1.0)
    m = np.concatenate([np.arange(-N + 1, 0, 2), np.arange(2, N, 2)]) if N % 2 else np.arange(-N + 1, N, 2)
    zeros = -np.conj(1j / np.sin(m * np.pi / (2.0 * N)))
    poles = 1.0 / poles_on_ellipse(N, eps)
    gain = np.real(fnp.prod(-poles) / np.prod(-zeros))
    return designed("cheby2", (zeros, poles, gain), Wn, btype, analog, output, fs)


def ellip(
    N: int,
    rp: ArrayLike,
    rs: ArrayLike,
    Wn: ArrayLike,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Number = None,
) -> Arrays:
    """An elliptic filter, differentiable by its cut-off frequencies.

    >>> fg.jacobian(lambda w: fg.scipy.signal.ellip(2, 1.0, 20.0, w)[1])(0.5).shape
    (3,)
    """
    if not any_traced(rp, rs, Wn, fs):
        return scipys("ellip")(N, rp, rs, Wn, btype, analog, output, fs)
    raise_as_scipy("signal", "ellip", N, rp, rs, Wn, btype, analog, output, fs)
    if any_traced(rp, rs):
        raise unsupported("ellip by its ripples", "Differentiate by cut-off frequencies, or use cheby1.")
    return designed("ellip", scipys("ellipap")(N, rp, rs), Wn, btype, analog, output, fs)


def bessel(
    N: int,
    Wn: ArrayLike,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    norm: str = "phase",
    fs: Number = None,
) -> Arrays:
    """A Bessel filter, differentiable by its cut-off frequencies.

    >>> fg.jacobian(lambda w: fg.scipy.signal.bessel(2, w)[1])(0.5).shape
    (3,)
    """
    if not any_traced(Wn, fs):
        return scipys("bessel")(N, Wn, btype, analog, output, norm, fs)
    raise_as_scipy("signal", "bessel", N, Wn, btype, analog, output, norm, fs)
    return designed("bessel", scipys("besselap")(N, norm=norm), Wn, btype, analog, output, fs)


def any_traced(*parameters: object) -> bool:
    """Whether a parameter is traced."""
    return any(x is not None and isinstance(asoperand(x), Tracer) for x in parameters)


def designed(
    name: str, prototype: Poles, Wn: ArrayLike, btype: str, analog: bool, output: str, fs: Number
) -> Arrays:
    """The filter of a prototype whose cut-off frequency is 1."""
    if btype.lower() not in BANDS:
        raise ValueError(f"'{btype}' is an invalid bandtype for filter.")
    if output not in ("ba", "zpk"):
        raise unsupported(f"{name} with output={output!r}", 'Use output="ba" or output="zpk".')
    band = BANDS[btype.lower()]
    wanted = fnp.atleast_1d(fnp.asarray(asoperand(Wn)) * 1.0)
    if fs is not None:
        if analog:
            raise ValueError("fs cannot be specified for an analog filter")
        wanted = 2.0 * wanted / fs
    count = 2 if band.startswith("band") else 1
    if shape_of(wanted) != (count,):
        wanted_words = "start and stop frequencies" if count == 2 else "a single critical frequency Wn"
        raise ValueError(f"Must specify {wanted_words} for {band} filter")
    warped = wanted if analog else 4.0 * fnp.tan(np.pi * wanted / 2.0)
    found = moved_to(prototype, band, warped)
    found = found if analog else bilinear_zpk(found, 2.0)
    return found if output == "zpk" else as_polynomials(found)


def moved_to(prototype: Poles, band: str, w: ArrayLike) -> Poles:
    """The analog filter of a band, from a prototype of cut-off frequency 1."""
    z, p, k = prototype
    degree = shape_of(p)[0] - shape_of(z)[0]
    if band == "lowpass":
        return w[0] * z, w[0] * p, k * w[0] ** degree
    gain = np.real(fnp.prod(-1.0 * z) / fnp.prod(-1.0 * p))
    if band == "highpass":
        z = w[0] / z if shape_of(z)[0] else z
        return joined(z, np.zeros(degree)), w[0] / p, k * gain
    width, centre = w[1] - w[0], fnp.sqrt(w[0] * w[1])
    if band == "bandpass":
        z, p = [split(0.5 * width * v, centre) if shape_of(v)[0] else v for v in (z, p)]
        return joined(z, np.zeros(degree)), p, k * width**degree
    z, p = [split(0.5 * width / v, centre) if shape_of(v)[0] else v for v in (z, p)]
    turning = np.concatenate([np.full(degree, 1j), np.full(degree, -1j)])
    return joined(z, centre * turning), p, k * gain


def split(v: ArrayLike, centre: ArrayLike) -> Array:
    """The two frequencies that each of a prototype's becomes."""
    v = v + 0j
    root = fnp.sqrt(v * v - centre * centre)
    return fnp.concatenate([v + root, v - root])


def joined(a: ArrayLike, b: ArrayLike) -> Array:
    """Both one after the other."""
    return fnp.concatenate([a, b])


def bilinear_zpk(analog: Poles, fs: float) -> Poles:
    """The digital filter of an analog one."""
    z, p, k = analog
    degree = shape_of(p)[0] - shape_of(z)[0]
    twice = 2.0 * fs
    gain = k * np.real(fnp.prod(twice - z) / fnp.prod(twice - p))
    return joined((twice + z) / (twice - z), -np.ones(degree)), (twice + p) / (twice - p), gain


def as_polynomials(found: Poles) -> tuple[Any, Any]:
    """Numerator and denominator of a filter whose zeros and poles are real or come in pairs."""
    z, p, k = found
    return k * np.real(polynomial(z)), np.real(polynomial(p))


def polynomial(roots: ArrayLike) -> Array:
    """The coefficients of the polynomial with these roots, the highest power first."""
    found = np.ones(1, complex)
    for n in range(shape_of(roots)[0]):
        found = fnp.concatenate([found, np.zeros(1)]) - roots[n] * fnp.concatenate([np.zeros(1), found])
    return found


def bilinear(b: ArrayLike, a: ArrayLike, fs: Number = 1.0) -> tuple[Any, Any]:
    """The digital filter of an analog one, by ``s = 2 fs (z - 1) / (z + 1)``.

    >>> b, a = fg.jit(fg.scipy.signal.bilinear)(np.array([1.0]), np.array([1.0, 1.0]))
    >>> print(b.round(6), a.round(6))
    [0.333333 0.333333] [ 1.       -0.333333]
    """
    operands = traced_signals(b, a, fs)
    if operands is None:
        return scipys("bilinear")(b, a, fs)  # type: ignore[no-any-return]
    b, a, rate = operands
    b, a = fnp.atleast_1d(b), fnp.atleast_1d(a)
    for name, v in (("b", b), ("a", a)):
        if len(shape_of(v)) != 1:
            raise ValueError(f"Parameter {name} is not a 1d array since {name}.shape={shape_of(v)}")
    order = max(shape_of(a)[0], shape_of(b)[0]) - 1
    top, bottom = [transformed(v, order, rate) for v in (b, a)]
    return top / bottom[0], bottom / bottom[0]


def transformed(v: ArrayLike, order: int, fs: Number) -> Array:
    """The polynomial in 1/z that a polynomial in s becomes, times ``(1 + 1/z)**order``."""
    degree = shape_of(v)[0] - 1
    weights = np.zeros((order + 1, degree + 1))
    for i in range(degree + 1):
        for k in range(i + 1):
            for m in range(order - i + 1):
                weights[k + m, i] += comb(i, k) * comb(order - i, m) * (-1) ** k
    rising = v[::-1] * (2.0 * fs) ** np.arange(degree + 1)
    return weights @ rising


def freqz(
    b: ArrayLike,
    a: ArrayLike = 1,
    worN: Option = 512,
    whole: bool = False,
    plot: Callable[..., Any] | None = None,
    fs: Number = 2 * np.pi,
    include_nyquist: bool = False,
) -> tuple[Any, Any]:
    """Frequencies, and the response of a filter at them.

    >>> gain = lambda b: np.abs(fg.scipy.signal.freqz(b, worN=2)[1])
    >>> print(fg.jacobian(gain)(np.array([1.0, 1.0])).round(6))
    [[1.       1.      ]
     [0.707107 0.707107]]
    """
    frequencies = worN if not isinstance(worN, int | np.integer | None) else None
    operands = traced_signals(b, a, frequencies)
    if operands is None:
        return scipys("freqz")(b, a, worN, whole, plot, fs, include_nyquist)  # type: ignore[no-any-return]
    b, a, w = operands
    if w is None:
        count = 512 if worN is None else int(worN)
        end = 2 * np.pi if whole else np.pi
        w = np.linspace(0, end, count, endpoint=bool(include_nyquist and not whole))
    else:
        w = 2.0 * np.pi * fnp.real(w) / fs
    return w * (fs / (2.0 * np.pi)), response(b, w) / response(a, w)


def response(v: ArrayLike, w: ArrayLike) -> Array:
    """A polynomial in ``exp(-1j w)``."""
    v = fnp.atleast_1d(v)
    angles = cast(w[..., None] * np.arange(shape_of(v)[0]), real_of(v))
    return (fnp.cos(angles) @ v) - 1j * (fnp.sin(angles) @ v)


def firwin(
    numtaps: int,
    cutoff: ArrayLike,
    *,
    width: Number = None,
    window: Option = "hamming",
    pass_zero: Option = True,
    scale: bool = True,
    fs: Number = None,
) -> Array:
    """A filter without recursion by the window method, differentiable by its cut-off frequencies.

    >>> print(fg.jacobian(lambda c: fg.scipy.signal.firwin(3, c))(0.5).round(4))
    [-0.0839  0.1678 -0.0839]
    """
    given = {"width": width, "window": window, "pass_zero": pass_zero, "scale": scale, "fs": fs}
    if not any_traced(cutoff, fs):
        return scipys("firwin")(numtaps, cutoff, **given)
    raise_as_scipy("signal", "firwin", numtaps, cutoff, **given)
    edges = fnp.atleast_1d(fnp.asarray(asoperand(cutoff))) / (1.0 if fs is None else 0.5 * fs)
    kinds = {"lowpass": True, "highpass": False, "bandpass": False, "bandstop": True}
    passes = kinds[pass_zero] if isinstance(pass_zero, str) else bool(pass_zero)
    bounds: list[Any] = [*([0.0] if passes else []), *[edges[k] for k in range(shape_of(edges)[0])]]
    nyquist = len(bounds) % 2 == 1
    bounds = [*bounds, *([1.0] if nyquist else [])]
    if nyquist and numtaps % 2 == 0:
        raise ValueError(
            "A filter with an even number of coefficients must have zero response at the Nyquist frequency."
        )
    if width is not None:
        nyq = 1.0 if fs is None else 0.5 * fs
        window = ("kaiser", scipys("kaiser_beta")(scipys("kaiser_atten")(numtaps, float(width) / nyq)))
    taps = np.arange(numtaps) - 0.5 * (numtaps - 1)
    bands = list(zip(bounds[::2], bounds[1::2], strict=True))
    h = sum(right * fnp.sinc(right * taps) - left * fnp.sinc(left * taps) for left, right in bands)
    h = h * scipys("get_window")(window, numtaps, fftbins=False)
    if not scale:
        return h
    left, right = bands[0]
    centre = 0.0 if passes else 1.0 if nyquist and len(bands) == 1 else 0.5 * (left + right)
    return h / fnp.sum(h * fnp.cos(np.pi * taps * centre))
