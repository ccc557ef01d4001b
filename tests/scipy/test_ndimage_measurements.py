"""Measurements of labelled regions in ``scipy.ndimage``: SciPy's values, and derivatives by the image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.testing import check_grads

IMAGE = np.random.default_rng(3).normal(size=(4, 5)) + 0.3
LABELS = np.arange(20).reshape(4, 5) % 4
NAMES = ["sum", "sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum", "median"]
ASKED: list[tuple[Any, ...]] = [
    (),
    (LABELS,),
    (LABELS, 2),
    (LABELS, [3, 1]),
    (LABELS, [[0, 1], [2, 3]]),
    (LABELS[0], [1, 2]),
]


@pytest.mark.parametrize("name", [*NAMES, "center_of_mass"])
def test_values_are_scipys_and_derivatives_those_of_differences(name: str) -> None:
    for asked in ASKED:
        if name == "center_of_mass" and len(asked) > 1 and np.ndim(asked[1]) > 1:
            continue

        def measured(x: Any, asked: tuple[Any, ...] = asked) -> Any:
            return np.array(getattr(scipy.ndimage, name)(x, *asked))

        np.testing.assert_allclose(fg.vjp(measured, IMAGE)[0], measured(IMAGE), rtol=1e-12)
        check_grads(measured, (IMAGE,), order=1, modes="rev")
    np.testing.assert_allclose(fg.jit(measured)(IMAGE), measured(IMAGE))


def test_regions_that_are_not_there() -> None:
    def f(x: Any) -> Any:
        return scipy.ndimage.sum(x, LABELS, [1, 9]) + scipy.ndimage.maximum(x, LABELS, [9, 1])

    np.testing.assert_allclose(fg.vjp(f, IMAGE)[0], f(IMAGE))
    for name, absent in (("sum", 0.0), ("mean", np.nan), ("variance", np.nan), ("median", np.nan)):
        alone = fg.vjp(lambda x, name=name: getattr(scipy.ndimage, name)(x, LABELS, 9) + x[0, 0], IMAGE)[0]
        np.testing.assert_allclose(alone, absent + IMAGE[0, 0])
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        fg.vjp(lambda x: scipy.ndimage.maximum(x, LABELS, 9), IMAGE)
    # SciPy's is that of another region.
    with pytest.raises(UnsupportedFunctionError, match="median of a region without elements"):
        fg.vjp(lambda x: scipy.ndimage.median(x, LABELS, [9, 1]), IMAGE)
    mean = fg.vjp(lambda x: scipy.ndimage.mean(x, LABELS, [9, 1]), IMAGE)[0]
    np.testing.assert_allclose(mean, [np.nan, IMAGE[LABELS == 1].mean()])
    with pytest.raises(UnsupportedFunctionError, match="traced labels"):
        fg.grad(lambda x: scipy.ndimage.sum(x, x > 0))(IMAGE)
