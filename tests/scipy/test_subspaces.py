"""Spaces that matrices span, signs and powers of matrices, Hermitian bands: SciPy's values, and slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import funcgrad as fg

RNG = np.random.default_rng(6)
A = RNG.normal(size=(4, 4))
TALL, WIDE = RNG.normal(size=(5, 3)), RNG.normal(size=(2, 4))
OTHER = RNG.normal(size=(5, 2))
COMPLEX = A + 1j * RNG.normal(size=(4, 4))
BAND = np.array([[4.0, 5.0, 6.0, 7.0], [0.3 + 1j, 0.5 - 0.2j, 1.0 + 0.3j, 0.0]])
WHOLE = A @ A.T + 4.0 * np.eye(4)
SKEW = np.array([[0.3, 3e4, 3e4], [0.0, 0.3, 3e4], [0.0, 0.0, 0.4]])


def projector(basis: Any) -> Any:
    return basis @ np.conj(basis).T


CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "rq": (lambda m, a: m.rq(a), A),
    "rq economic": (lambda m, a: m.rq(a, mode="economic"), WIDE),
    "rq of one factor": (lambda m, a: m.rq(a, mode="r"), TALL),
    "rq complex": (lambda m, a: m.rq(a), COMPLEX),
    "orth": (lambda m, a: m.orth(a), TALL),
    "orth complex": (lambda m, a: projector(m.orth(a[:, :2])), COMPLEX),
    "null_space": (lambda m, a: projector(m.null_space(a)), WIDE),
    "null_space complex": (lambda m, a: projector(m.null_space(a[:2])), COMPLEX),
    "subspace_angles": (lambda m, a: m.subspace_angles(a, OTHER), TALL),
    "subspace_angles small": (lambda m, a: m.subspace_angles(OTHER, OTHER + 1e-3 * a[:, :2]), TALL),
    "subspace_angles complex": (lambda m, a: m.subspace_angles(a[:, :2], COMPLEX[:, 2:3]), COMPLEX),
    "signm": (lambda m, a: m.signm(a), A),
    "signm complex": (lambda m, a: m.signm(a), COMPLEX),
    "fractional_matrix_power": (lambda m, a: m.fractional_matrix_power(a, 0.3), WHOLE),
    "fractional_matrix_power down": (lambda m, a: m.fractional_matrix_power(a, -1.6), WHOLE),
    "fractional_matrix_power whole": (lambda m, a: m.fractional_matrix_power(a, 3), A),
    "fractional_matrix_power skew": (lambda m, a: m.fractional_matrix_power(a, 0.6), SKEW),
    "cholesky_banded": (lambda m, ab: m.cholesky_banded(ab, lower=True)[:, :3], BAND),
    "solveh_banded": (lambda m, ab: m.solveh_banded(ab, np.arange(4.0), lower=True), BAND),
    "solveh_banded upper": (lambda m, ab: m.solveh_banded(ab, np.arange(4.0)), np.roll(BAND[::-1], 1, 1)),
}
CASES["solveh_banded upper"] = (CASES["solveh_banded upper"][0], np.array([[0, *BAND[1, :3]], BAND[0]]))


def leaves(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    call, a = CASES[name]
    turn = np.random.default_rng(1)
    along = turn.normal(size=a.shape) + (1j * turn.normal(size=a.shape) if a.dtype.kind == "c" else 0.0)
    along = along * np.abs(a) if a is SKEW else along

    def ours(a: Any) -> Any:
        return leaves(call(fg.scipy.linalg, a))

    found, slopes = fg.jvp(ours, (a,), (along,))
    h = 1e-6
    after, before = [leaves(call(scipy.linalg, a + step * along)) for step in (h, -h)]
    for value, slope, wanted, up, down in zip(
        found, slopes, leaves(call(scipy.linalg, a)), after, before, strict=True
    ):
        assert value.dtype == wanted.dtype
        size = np.abs(wanted).max()
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-11 * size)
        difference = (up - down) / (2 * h)
        np.testing.assert_allclose(
            slope, difference, rtol=1e-5, atol=1e-7 * max(1.0, np.abs(difference).max())
        )
    if a.dtype.kind == "f":
        weights = [turn.normal(size=np.shape(x)) for x in found]

        def total(a: Any) -> Any:
            return sum(np.sum(w * x) for w, x in zip(weights, ours(a), strict=True))

        wanted = sum(np.sum(w * x) for w, x in zip(weights, slopes, strict=True))
        np.testing.assert_allclose(np.sum(fg.grad(total)(a) * along), wanted, rtol=1e-8)


@pytest.mark.parametrize("name", ["rq", "signm", "fractional_matrix_power", "cholesky_banded"])
def test_compiled_and_in_batches(name: str) -> None:
    call, a = CASES[name]

    def ours(a: Any) -> Any:
        return leaves(call(fg.scipy.linalg, a))[0]

    np.testing.assert_allclose(fg.jit(ours)(a), ours(a), rtol=1e-10, atol=1e-12)
    together = fg.vmap(ours)(np.stack([a, 1.1 * a]))
    np.testing.assert_allclose(together, [ours(a), ours(1.1 * a)], rtol=1e-9, atol=1e-12)


def test_a_traced_power_moves_the_matrix() -> None:
    found = fg.jvp(lambda t: fg.scipy.linalg.fractional_matrix_power(WHOLE, t), (0.3,), (1.0,))[1]
    powers = [scipy.linalg.fractional_matrix_power(WHOLE, 0.3 + h) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(found, (powers[0] - powers[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("name", ["orth", "null_space"])
def test_a_rank_that_any_step_would_raise_is_refused(name: str) -> None:
    function = getattr(fg.scipy.linalg, name)
    with pytest.raises(fg.errors.NotDifferentiableError, match="of rank 1"):
        fg.jvp(function, (np.ones((3, 2)),), (np.ones((3, 2)),))
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="decide a shape"):
        fg.jit(function)(TALL)


def test_a_sign_on_the_imaginary_axis_has_no_slope() -> None:
    def both(a: Any, along: Any) -> Any:
        return fg.jvp(fg.scipy.linalg.signm, (a,), (along,))

    for call in (both, fg.jit(both)):
        value, slope = call(np.diag([1.0, 0.0]), np.eye(2))
        np.testing.assert_array_equal(value, np.diag([1.0, 0.0]))
        assert np.isnan(slope).all()


def test_options_that_scipy_takes_away() -> None:
    with pytest.warns(DeprecationWarning, match="disp"):
        assert len(fg.scipy.linalg.sqrtm(WHOLE, disp=False)) == 2
    np.testing.assert_array_equal(
        fg.jit(lambda a: fg.scipy.linalg.logm(a, disp=True))(WHOLE), fg.jit(fg.scipy.linalg.logm)(WHOLE)
    )
    np.testing.assert_array_equal(
        fg.jit(lambda a: fg.scipy.linalg.sqrtm(a, blocksize=8))(WHOLE), fg.jit(fg.scipy.linalg.sqrtm)(WHOLE)
    )
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="disp=False"):
        fg.jit(lambda a: fg.scipy.linalg.logm(a, disp=False))(WHOLE)
