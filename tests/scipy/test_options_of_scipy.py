"""Options that SciPy's functions take, plain and traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.special

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError

X = np.array([0.3, 1.7, 2.0 * np.pi, -4.0])


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_take_the_namespace_of_arrays(name: str) -> None:
    ours, theirs = getattr(fg.scipy.fft, name), getattr(scipy.fft, name)
    np.testing.assert_array_equal(ours(5, 0.3, xp=np), theirs(5, 0.3, xp=np))
    with pytest.raises(ValueError, match="device"):
        ours(5, 0.3, device="cpu")
    value, slope = fg.jvp(lambda d: ours(5, d, xp=np), (0.3,), (1.0,))
    np.testing.assert_allclose(value, theirs(5, 0.3))
    np.testing.assert_allclose(slope, -theirs(5, 0.3) / 0.3)
    with pytest.raises(UnsupportedFunctionError, match="device="):
        fg.grad(lambda d: np.sum(ours(5, d, device="cpu")))(0.3)


@pytest.mark.parametrize("name", ["airy", "sici", "shichi", "fresnel"])
def test_results_are_written_where_they_are_told(name: str) -> None:
    ours, theirs = getattr(fg.scipy.special, name), getattr(scipy.special, name)
    out = tuple([np.empty(4) for _ in theirs(1.0)])
    found = ours(X, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    np.testing.assert_array_equal(out, theirs(X))
    np.testing.assert_array_equal(ours(X, *[np.empty(4) for _ in out]), theirs(X))
    with pytest.raises(UnsupportedFunctionError, match="with out"):
        fg.jit(lambda x: ours(x, out=out))(X)


@pytest.mark.parametrize("n", [1, 4, 5, [1, 4, 5, 6], [[3], [8]], 0, 2.5, [2, -1, 0, 3]], ids=str)
def test_dirichlets_kernels_of_several_sizes(n: Any) -> None:
    wanted = scipy.special.diric(X, n)
    found, slope = fg.jvp(lambda x: fg.scipy.special.diric(x, n), (X,), (np.ones(4),))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(lambda x: fg.scipy.special.diric(x, n))(X), wanted, rtol=1e-12)
    nearby = [scipy.special.diric(X + h, n) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(slope, (nearby[0] - nearby[1]) / 2e-5, rtol=1e-6, atol=1e-8)


def test_the_options_of_softplus() -> None:
    out = np.zeros(4)
    assert fg.scipy.special.softplus(X, out=out, where=X > 0.0) is out
    np.testing.assert_array_equal(out, np.where(X > 0.0, scipy.special.softplus(X), 0.0))
    found = fg.jit(lambda x: fg.scipy.special.softplus(x, dtype=np.float32))(X)
    np.testing.assert_allclose(found, scipy.special.softplus(X), rtol=1e-6)
    assert found.dtype == np.float32
