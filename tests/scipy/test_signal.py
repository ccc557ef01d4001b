"""The functions of ``fg.scipy.signal``, all by one table, against SciPy's own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.testing import check_grads

RNG = np.random.default_rng(5)
X = RNG.normal(size=24)
LONG = RNG.normal(size=40)
ROWS = RNG.normal(size=(3, 24))
IMAGE, SMALL = RNG.normal(size=(5, 6)), RNG.normal(size=(2, 3))
K = RNG.normal(size=5)
B, A = np.array([0.3, 0.2, 0.1]), np.array([1.0, -0.5, 0.3])
SOS = scipy.signal.butter(4, 0.3, output="sos")
SPECTRUM = scipy.signal.stft(LONG, nperseg=8)[2]

Case = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function of a package and arrays, of which all are differentiated, and the arrays."""

CASES: dict[str, Case] = {
    **{
        f"convolve {mode} {method}": (lambda s, x, k, m=mode, w=method: s.convolve(x, k, m, w), (X, K))
        for mode in ("full", "same", "valid")
        for method in ("direct", "fft", "auto")
    },
    "convolve short first": (lambda s, x, k: s.convolve(k, x, "valid"), (X, K)),
    "convolve images": (lambda s, x, k: s.convolve(x, k, "same", "direct"), (IMAGE, SMALL)),
    **{
        f"correlate {mode} {method}": (lambda s, x, k, m=mode, w=method: s.correlate(x, k, m, w), (X, K))
        for mode in ("full", "same", "valid")
        for method in ("direct", "fft")
    },
    "correlate short first": (lambda s, x, k: s.correlate(k, x, "valid"), (X, K)),
    "correlate images": (lambda s, x, k: s.correlate(x, k, "valid"), (IMAGE, SMALL)),
    "fftconvolve": (lambda s, x, k: s.fftconvolve(x, k, "same"), (IMAGE, SMALL)),
    "fftconvolve one axis": (lambda s, x, k: s.fftconvolve(x, k[None], axes=1), (ROWS, K)),
    "oaconvolve": (lambda s, x, k: s.oaconvolve(x, k, "full"), (X, K)),
    "lfilter": (lambda s, b, a, x: s.lfilter(b, a, x), (B, A, X)),
    "lfilter not normalised": (lambda s, b, a, x: s.lfilter(b, 2.0 * a, x), (B, A, X)),
    "lfilter without poles": (lambda s, b, x: s.lfilter(b, [1.0], x), (B, X)),
    "lfilter of one pole": (lambda s, a, x: s.lfilter([1.0], a, x), (A[:2], X)),
    "lfilter axis": (lambda s, b, a, x: s.lfilter(b, a, x, axis=0), (B, A, ROWS)),
    "lfilter more poles": (lambda s, b, a, x: s.lfilter(b, a, x), (B[:2], A, X)),
    "lfilter zi": (lambda s, b, a, x, z: s.lfilter(b, a, x, zi=z)[0], (B, A, X, np.array([0.3, -0.2]))),
    "lfilter zf": (lambda s, b, a, x, z: s.lfilter(b, a, x, zi=z)[1], (B, A, X, np.array([0.3, -0.2]))),
    "lfilter short zf": (
        lambda s, b, a, x, z: s.lfilter(b, a, x, zi=z)[1],
        (K, A, X[:2], np.array([0.3, -0.2, 0.4, 0.1])),
    ),
    "lfilter_zi": (lambda s, b, a: s.lfilter_zi(b, a), (B, A)),
    "lfiltic": (lambda s, b, a, y, x: s.lfiltic(b, a, y, x), (B, A, X[:2], X[2:3])),
    "filtfilt": (lambda s, b, a, x: s.filtfilt(b, a, x), (B, A, X)),
    "filtfilt even": (lambda s, b, a, x: s.filtfilt(b, a, x, padtype="even", padlen=4), (B, A, X)),
    "filtfilt constant": (lambda s, b, a, x: s.filtfilt(b, a, x, padtype="constant"), (B, A, X)),
    "filtfilt without ends": (lambda s, b, a, x: s.filtfilt(b, a, x, padtype=None), (B, A, X)),
    "filtfilt axis": (lambda s, x: s.filtfilt(B, A, x, axis=0), (ROWS.T,)),
    "sosfilt": (
        lambda s, b, a, x: s.sosfilt(np.concatenate([b, np.ones((2, 1)), a], 1), x),
        (SOS[:, :3], SOS[:, 4:], X),
    ),
    "sosfilt zi": (lambda s, x: s.sosfilt(SOS, x, zi=scipy.signal.sosfilt_zi(SOS))[1], (X,)),
    "sosfilt axis": (
        lambda s, x: s.sosfilt(SOS, x, axis=0, zi=np.ones((2, 2, 3)))[0],
        (ROWS.T,),
    ),
    "sosfilt_zi": (lambda s, sos: s.sosfilt_zi(sos), (SOS,)),
    "sosfiltfilt": (lambda s, x: s.sosfiltfilt(SOS, x), (X,)),
    "hilbert": (lambda s, x: np.abs(s.hilbert(x)), (X,)),
    "hilbert odd": (lambda s, x: np.abs(s.hilbert(x, 21, axis=0)), (X,)),
    "detrend": (lambda s, x: s.detrend(x), (X,)),
    "detrend mean": (lambda s, x: s.detrend(x, type="constant", axis=0), (ROWS,)),
    "detrend pieces": (lambda s, x: s.detrend(x, bp=[7, 15]), (ROWS,)),
    **{
        f"savgol {mode}": (lambda s, x, m=mode: s.savgol_filter(x, 5, 2, mode=m), (ROWS,))
        for mode in ("interp", "mirror", "constant", "nearest", "wrap")
    },
    "savgol slope": (lambda s, x: s.savgol_filter(x, 7, 3, deriv=1, delta=0.5), (X,)),
    "medfilt": (lambda s, x: s.medfilt(x, 5), (X,)),
    "medfilt image": (lambda s, x: s.medfilt(x, [3, 1]), (IMAGE,)),
    "resample fewer": (lambda s, x: s.resample(x, 10), (X,)),
    "resample more": (lambda s, x: s.resample(x, 31), (X,)),
    "resample even": (lambda s, x: s.resample(x, 30, axis=1), (ROWS,)),
    "resample window": (lambda s, x: s.resample(x, 10, window="hann"), (X,)),
    "resample complex": (lambda s, x: np.abs(s.resample(x + 1j * x**2, 12)), (X,)),
    "resample complex more": (lambda s, x: np.abs(s.resample(x + 1j * x**2, 32)), (X,)),
    "decimate": (lambda s, x: s.decimate(x, 2), (LONG,)),
    "decimate delayed": (lambda s, x: s.decimate(x, 2, zero_phase=False), (LONG,)),
    "decimate fir": (lambda s, x: s.decimate(x, 3, n=12, ftype="fir"), (LONG,)),
    "decimate fir delayed": (lambda s, x: s.decimate(x, 3, n=12, ftype="fir", zero_phase=False), (LONG,)),
    "stft": (lambda s, x: np.abs(s.stft(x, nperseg=8)[2]) ** 2, (LONG,)),
    "stft options": (
        lambda s, x: (
            np.abs(s.stft(x, 2.0, "hamming", 8, 5, 12, "linear", False, "even", False, 0, "psd")[2]) ** 2
        ),
        (LONG,),
    ),
    "istft": (lambda s, x: s.istft(SPECTRUM * (1.0 + x[0]), nperseg=8)[1] * x[1], (X,)),
    "there and back": (
        lambda s, x: s.istft(s.stft(x, nperseg=10, noverlap=7)[2], nperseg=10, noverlap=7)[1],
        (X,),
    ),
    "welch": (lambda s, x: s.welch(x, nperseg=8)[1], (LONG,)),
    "welch odd": (lambda s, x: s.welch(x, 3.0, nperseg=9, scaling="spectrum", detrend="linear")[1], (LONG,)),
    "welch median": (lambda s, x: s.welch(x, nperseg=8, average="median")[1], (LONG,)),
    "welch axis": (lambda s, x: s.welch(x, nperseg=8, axis=0)[1], (ROWS.T,)),
    "periodogram": (lambda s, x: s.periodogram(x)[1], (X,)),
    "periodogram short": (lambda s, x: s.periodogram(x, nfft=16, window="hann")[1], (X,)),
    "csd": (lambda s, x, y: np.abs(s.csd(x, y, nperseg=8)[1]) ** 2, (LONG, X)),
    "coherence": (lambda s, x, y: s.coherence(x, y, nperseg=8)[1], (LONG, LONG[::-1] ** 2)),
    **{
        f"spectrogram {mode}": (lambda s, x, m=mode: s.spectrogram(x, nperseg=8, mode=m)[2], (LONG,))
        for mode in ("psd", "magnitude", "angle", "phase")
    },
    **{
        f"butter {band}": (lambda s, w, b=band: np.concatenate(s.butter(3, w, b)), (np.array(0.4),))
        for band in ("low", "high")
    },
    **{
        f"butter {band}": (lambda s, w, b=band: np.concatenate(s.butter(2, w, b)), (np.array([0.2, 0.5]),))
        for band in ("bandpass", "bandstop")
    },
    "butter analog": (lambda s, w: np.concatenate(s.butter(3, w, analog=True)), (np.array(0.4),)),
    "butter fs": (lambda s, w: np.concatenate(s.butter(3, w, fs=10.0)), (np.array(1.4),)),
    "cheby1": (lambda s, r, w: np.concatenate(s.cheby1(4, r, w)), (np.array(1.2), np.array(0.4))),
    "cheby1 odd": (lambda s, r, w: np.concatenate(s.cheby1(3, r, w, "high")), (np.array(1.2), np.array(0.4))),
    "cheby2": (lambda s, r, w: np.concatenate(s.cheby2(4, r, w)), (np.array(20.0), np.array(0.4))),
    "cheby2 odd": (lambda s, r, w: np.concatenate(s.cheby2(3, r, w)), (np.array(20.0), np.array(0.4))),
    "ellip": (lambda s, w: np.concatenate(s.ellip(3, 1.0, 20.0, w)), (np.array(0.4),)),
    "bessel": (lambda s, w: np.concatenate(s.bessel(3, w)), (np.array(0.4),)),
    "bilinear": (lambda s, b, a: np.concatenate(s.bilinear(b, a, 1.5)), (B[:2], A)),
    "freqz": (lambda s, b, a: np.abs(s.freqz(b, a, 8)[1]), (B, A)),
    "freqz at": (lambda s, b: np.abs(s.freqz(b, worN=[0.3, 0.9], fs=4.0)[1]), (B,)),
    "firwin": (lambda s, c: s.firwin(7, c), (np.array(0.4),)),
    "firwin high": (lambda s, c: s.firwin(7, c, pass_zero=False), (np.array(0.4),)),
    "firwin band": (lambda s, c: s.firwin(9, c, pass_zero="bandpass", scale=False), (np.array([0.2, 0.5]),)),
    "firwin stop": (lambda s, c: s.firwin(9, c, pass_zero=True, window="hann"), (np.array([0.2, 0.5]),)),
}


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_signals(name: str) -> None:
    call, arrays = CASES[name]
    every = tuple(range(len(arrays)))

    def ours(*arrays: Any) -> Any:
        return call(fg.scipy.signal, *arrays)

    def total(*arrays: Any) -> Any:
        found = ours(*arrays)
        return np.sum(np.cos(found) * np.linspace(0.5, 1.5, found.size).reshape(found.shape))

    expected = call(scipy.signal, *arrays)
    recorded = fg.jvp(ours, arrays, arrays)[0]
    assert recorded.shape == expected.shape
    np.testing.assert_allclose(recorded, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(ours(*arrays), expected)
    slopes = fg.grad(total, argnums=every)(*arrays)
    for compiled, slope in zip(fg.jit(fg.grad(total, argnums=every))(*arrays), slopes, strict=True):
        np.testing.assert_allclose(compiled, slope, rtol=1e-8, atol=1e-9)
    # Finite differences of SciPy's own values.
    directions = [RNG.normal(size=np.shape(x)) for x in arrays]
    h = 1e-5

    def along(t: float) -> float:
        found = call(scipy.signal, *[x + t * d for x, d in zip(arrays, directions, strict=True)])
        return float(np.sum(np.cos(found) * np.linspace(0.5, 1.5, found.size).reshape(found.shape)))

    slope = sum(float(np.sum(s * d)) for s, d in zip(slopes, directions, strict=True))
    np.testing.assert_allclose(slope, (along(h) - along(-h)) / (2 * h), rtol=2e-5, atol=1e-6)
    if "medfilt" not in name and "median" not in name:
        check_grads(total, arrays, order=2)
    if np.ndim(arrays[0]):
        batch = np.stack([arrays[0], 1.1 * arrays[0]])
        together = fg.vmap(lambda x: ours(x, *arrays[1:]))(batch)
        alone = [ours(x, *arrays[1:]) for x in batch]
        np.testing.assert_allclose(together, alone, rtol=1e-8, atol=1e-9)


def test_single_precision_stays() -> None:
    x = X.astype(np.float32)
    for call in (
        lambda s, x: s.lfilter(B.astype(np.float32), A.astype(np.float32), x),
        lambda s, x: s.convolve(x, K.astype(np.float32)),
        lambda s, x: s.savgol_filter(x, 5, 2),
        lambda s, x: s.medfilt(x),
    ):
        expected = call(scipy.signal, x)
        found = fg.jit(lambda x, c=call: c(fg.scipy.signal, x))(x)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_refusals_name_the_way() -> None:
    with pytest.raises(UnsupportedFunctionError, match="gust"):
        fg.grad(lambda x: fg.scipy.signal.filtfilt(B, A, x, method="gust").sum())(X)
    with pytest.raises(UnsupportedFunctionError, match="output='sos'"):
        fg.jacobian(lambda w: fg.scipy.signal.butter(2, w, output="sos"))(0.3)
    with pytest.raises(ValueError, match="padtype"):
        fg.grad(lambda x: fg.scipy.signal.filtfilt(B, A, x, padtype="other").sum())(X)


def test_plain_calls_are_answered() -> None:
    ours = fg.grad(lambda x: fg.scipy.signal.lfilter(B, A, x).sum())(X)
    np.testing.assert_allclose(fg.grad(lambda x: scipy.signal.lfilter(B, A, x).sum())(X), ours)
    ours = fg.jacobian(fg.scipy.signal.detrend)(X)
    np.testing.assert_allclose(fg.jacobian(scipy.signal.detrend)(X), ours)


def test_recursions_are_native() -> None:
    def total(x: Any) -> Any:
        return fg.scipy.signal.lfilter(B, A, x).sum()

    text = str(fg.explain(fg.grad(total))(X))
    assert "all_pole" in text
    assert "by NumPy:" not in text


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_planes_agree_with_scipys(name: str, mode: str, boundary: str, rng: np.random.Generator) -> None:
    theirs, ours = getattr(scipy.signal, name), getattr(fg.scipy.signal, name)
    for first in ((5, 6), (2, 3), (4, 4)):
        for second in ((3, 3), (2, 2), (4, 5), (1, 2)):
            for factor in (1.0, 1j):
                x = rng.normal(size=first) + factor * rng.normal(size=first)
                y = rng.normal(size=second) + factor * rng.normal(size=second)
                try:
                    expected = theirs(x, y, mode, boundary, 1.5)
                except ValueError:
                    with pytest.raises(ValueError, match="valid"):
                        fg.vjp(lambda x, y: ours(x, y, mode, boundary, 1.5), x, y)
                    continue
                found, _ = fg.vjp(lambda x, y: ours(x, y, mode, boundary, 1.5), x, y)
                np.testing.assert_allclose(found, expected, atol=1e-12)


def test_planes_have_gradients(rng: np.random.Generator) -> None:
    x, k = rng.normal(size=(4, 5)), rng.normal(size=(2, 3))
    for boundary in ("fill", "wrap", "symm"):
        fg.testing.check_grads(
            lambda x, k, b=boundary: fg.scipy.signal.convolve2d(x, k, mode="same", boundary=b), (x, k)
        )
        fg.testing.check_grads(
            lambda x, k, b=boundary: fg.scipy.signal.correlate2d(x, k, mode="full", boundary=b), (x, k)
        )
    with pytest.raises(ValueError, match="boundary"):
        fg.vjp(lambda x: fg.scipy.signal.convolve2d(x, k, boundary="there"), x)
