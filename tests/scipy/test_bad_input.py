"""Bad input raises what SciPy raises, of the same kind, where something is traced as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

import funcgrad as fg

V = np.array([0.35, 0.7, 1.3, 1.9, 2.4, 3.1])
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.3], [0.5, 0.3, 5.0]])
R = np.arange(12.0).reshape(3, 4) + 1.0
I = np.arange(36.0).reshape(6, 6)  # noqa: E741 - an image

CASES: tuple[tuple[str, int, tuple[Any, ...], dict[str, Any]], ...] = (
    ("signal.lfilter", 2, (V, [], V), {}),
    ("signal.lfilter", 2, ([1.0], [0.0, 1.0], V), {}),
    ("signal.convolve", 0, (V, M), {}),
    ("signal.savgol_filter", 0, (V, 9, 2), {}),
    ("signal.butter", 1, (2, 1.5), {}),
    ("signal.butter", 1, (2, -0.1), {}),
    ("signal.butter", 1, (2, 0.3), {"output": "bad"}),
    ("signal.cheby1", 1, (2, -1.0, 0.3), {}),
    ("signal.firwin", 1, (5, 1.3), {}),
    ("ndimage.sobel", 0, (I, 3), {}),
    ("ndimage.gaussian_filter1d", 0, (I, 1.0, 2), {}),
    ("ndimage.map_coordinates", 0, (I, np.ones((2, 4))), {"order": 6}),
    ("linalg.solve_toeplitz", 0, (V, V[:3]), {}),
    ("interpolate.CubicSpline", 0, (V[::-1], V), {}),
    ("interpolate.make_interp_spline", 0, (V[::-1], V), {}),
    ("interpolate.UnivariateSpline", 0, (V[::-1], V), {"s": 0}),
    ("interpolate.griddata", 1, (I[:, :2], V, I[:2, :2]), {"method": "bad"}),
    ("spatial.distance.cdist", 0, (M, M), {"metric": "bad"}),
    ("spatial.distance.squareform", 0, (R,), {}),
    ("fft.dct", 0, (V,), {"type": 7}),
    ("stats.zscore", 0, (V,), {"nan_policy": "bad"}),
    ("stats.gaussian_kde", 0, (V[:1],), {}),
    ("stats.wishart.logpdf", 0, (M, 1.0, M), {}),
    ("integrate.simpson", 0, (V,), {"x": V[:3]}),
)


def called(package: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    for part in name.split("."):
        package = getattr(package, part)
    return package(*args, **options)


@pytest.mark.parametrize("case", CASES, ids=[f"{k} {case[0]}" for k, case in enumerate(CASES)])
def test_errors_are_of_scipys_kind(case: Any) -> None:
    name, place, args, options = case
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - its kind is what is compared
        called(scipy, name, args, options)

    def f(x: Any) -> Any:
        called(fg.scipy, name, (*args[:place], x, *args[place + 1 :]), options)
        return np.sum(x)

    with pytest.raises(type(theirs.value)):
        fg.grad(f)(np.asarray(args[place]))
