"""Long transforms, split between threads, are the transforms of NumPy; what fails in a thread is raised."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ops.signal import fft as lines
from funcgrad.ops.signal import long_fft


@pytest.fixture
def long(monkeypatch):
    """Lines of 64 elements count as long, and there are four threads."""
    monkeypatch.setattr(long_fft, "LONG", 64)
    monkeypatch.setattr(long_fft, "thread_count", lambda: 4)
    monkeypatch.setattr(lines, "SMALL", 64)
    monkeypatch.setattr(lines, "SHARED", 64)


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("size", [64, 68, 192, 420, 1024])
@pytest.mark.parametrize("positive", [False, True])
def test_every_split_is_the_transform(long, rng, size, threads, positive):
    x = rng.normal(size=size)
    z = x + 1j * rng.normal(size=size)
    half = np.fft.rfft(x) + 0.5j  # irfft drops what is imaginary at the ends
    expected = {
        "real": np.fft.ihfft(x) * size if positive else np.fft.rfft(x),
        "complex": np.fft.ifft(z) * size if positive else np.fft.fft(z),
        "hermitian": np.fft.irfft(half) * size if positive else np.fft.hfft(half, size),
    }
    np.testing.assert_allclose(long_fft.real_fft(x, positive, threads), expected["real"], atol=1e-12)
    np.testing.assert_allclose(long_fft.fft(z, positive, threads), expected["complex"], atol=1e-12)
    found = long_fft.hermitian_fft(half, size, positive, threads)
    np.testing.assert_allclose(found, expected["hermitian"], atol=1e-10)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["rfft", "irfft", "hfft", "ihfft", "fft", "ifft"])
def test_functions_and_gradients_of_long_lines(long, rng, name, norm):
    function = getattr(np.fft, name)
    shape, axis = (2, 132, 2), 1
    x = rng.normal(size=shape)
    if name not in ("rfft", "ihfft"):
        x = x + 1j * rng.normal(size=shape)
    found = getattr(fg.numpy.fft, name)(x, axis=axis, norm=norm)
    np.testing.assert_allclose(found, function(x, axis=axis, norm=norm), atol=1e-12)
    direction = rng.normal(size=shape)

    def loss(t):
        return np.sum(np.abs(function(x + t * direction, axis=axis, norm=norm)) ** 2)

    slope = (loss(1e-4) - loss(-1e-4)) / 2e-4
    assert np.isclose(fg.grad(loss)(0.0), slope, rtol=1e-7)


def test_precision_is_kept(long, rng):
    x = rng.normal(size=256).astype(np.float32)
    assert fg.numpy.fft.rfft(x).dtype == np.complex64
    assert fg.numpy.fft.irfft(np.fft.rfft(x)).dtype == np.float32
    assert fg.numpy.fft.fft(x.astype(np.complex64)).dtype == np.complex64


def test_lengths_that_do_not_split_stay_whole(long):
    assert long_fft.splits(64)
    assert not long_fft.splits(66)
    assert not long_fft.splits(63)
    assert not long_fft.splits(2 * long_fft.MOST)


def test_an_exception_in_the_second_thread_is_raised():
    def fails():
        raise ZeroDivisionError("in the thread")

    with pytest.raises(ZeroDivisionError, match="in the thread"):
        long_fft.both(lambda: 1, fails)


def test_the_error_state_of_the_caller_holds_in_the_thread():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = long_fft.both(lambda: np.float64(1) / 0, lambda: np.float64(-1) / 0)
    assert (first, second) == (np.inf, -np.inf)
