"""Edges where a formula once differed from SciPy: tails, falling grids, structures of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.stats

import funcgrad as fg

QUANTILES = np.array([0.0, 1e-300, 1e-16, 0.2, 0.5, 0.9, 1.0 - 1e-16, 1.0, -0.1, np.nan])


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("poisson", (3.5,)),
        ("poisson", (-1.0,)),
        ("binom", (5.0, 0.3)),
        ("binom", (5.5, 0.3)),
        ("nbinom", (3.5, 0.3)),
    ],
)
def test_quantiles_of_counts_are_native_and_scipys(name: str, shapes: tuple[float, ...], method: str) -> None:
    def found(q: Any, *shapes: Any) -> Any:
        return getattr(getattr(fg.scipy.stats, name), method)(q, *shapes, loc=1)

    wanted = getattr(getattr(scipy.stats, name), method)(QUANTILES, *shapes, loc=1)
    np.testing.assert_array_equal(fg.jit(found)(QUANTILES, *shapes), wanted)
    np.testing.assert_array_equal(fg.jvp(lambda *s: found(QUANTILES, *s), shapes, shapes)[0], wanted)
    assert "left to NumPy" not in str(fg.explain(found)(QUANTILES, *shapes))


def test_cauchy_keeps_its_digits_in_both_tails() -> None:
    ours, theirs = fg.scipy.stats.cauchy, scipy.stats.cauchy
    far = np.array([-1e300, 1e300])
    np.testing.assert_allclose(fg.jit(ours.logpdf)(far), theirs.logpdf(far))
    q = QUANTILES[1:7]
    for method in ("ppf", "isf"):
        np.testing.assert_allclose(
            fg.jit(getattr(ours, method))(q), getattr(theirs, method)(q), rtol=1e-14, atol=1e-15
        )


def test_a_density_vanishes_at_infinity() -> None:
    assert fg.jit(fg.scipy.stats.betaprime.pdf)(np.inf, 2.0, 3.0) == 0.0


@pytest.mark.parametrize("structure", ["diagonal", "tridiagonal"])
def test_a_structure_says_which_elements_are_read(structure: str) -> None:
    a = np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3)
    found = fg.jit(lambda a: fg.scipy.linalg.solve(a, np.ones(3), assume_a=structure))(a)
    np.testing.assert_allclose(found, scipy.linalg.solve(a, np.ones(3), assume_a=structure))


def test_points_of_a_grid_may_fall() -> None:
    x, y, at = np.array([3.0, 2.0, 0.0]), np.array([0.0, 1.0]), np.array([[1.3, 0.4]])
    values = np.array([[1.0, 2.0], [5.0, 3.0], [0.0, 7.0]])
    wanted = scipy.interpolate.RegularGridInterpolator((x, y), values)(at)
    found = fg.jit(lambda v: fg.scipy.interpolate.RegularGridInterpolator((x, y), v)(at))(values)
    np.testing.assert_allclose(found, wanted)


def test_quad_reports_what_scipy_does_and_refuses_without_values() -> None:
    reports = []

    def area(a: Any) -> Any:
        value, _, report = fg.scipy.integrate.quad(lambda t: np.exp(-a * t), 0.0, 2.0, full_output=True)
        reports.append(report)
        return value

    fg.grad(area)(1.0)
    wanted = scipy.integrate.quad(lambda t: np.exp(-t), 0.0, 2.0, full_output=True)[2]
    assert (reports[0]["neval"], reports[0]["last"]) == (wanted["neval"], wanted["last"])
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="full_output=True needs values"):
        fg.jit(area)(1.0)
