"""pandas and xarray objects: values are taken with a word about the labels, and nothing in silence."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import funcgrad as fg
from funcgrad.errors import LabelsDroppedWarning, UnsupportedFunctionError

FRAME = pd.DataFrame({"u": [1.0, 2.0, 3.0], "v": [4.0, 5.0, 6.0]})
LABELLED = {
    "Series": FRAME["u"],
    "DataFrame": FRAME,
    "DataArray": xr.DataArray(np.arange(3.0), dims="time", name="height"),
}


@pytest.fixture(params=LABELLED)
def labelled(request: Any) -> Any:
    return LABELLED[request.param]


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "grad": fg.grad,
    "jit": fg.jit,
    "jit of grad": lambda f: fg.jit(fg.grad(f)),
    "vmap": fg.vmap,
    "jacobian": fg.jacobian,
    "vjp": lambda f: lambda x: fg.vjp(f, x)[1](1.0)[0],
    "make_program": lambda f: lambda x: fg.make_program(f)(x)(np.asarray(x))[0],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_values_of_arguments_are_taken_with_a_word(labelled: Any, name: str) -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    transformed = TRANSFORMS[name](loss)
    with pytest.warns(LabelsDroppedWarning, match=rf"labels of a {type(labelled).__name__} are dropped"):
        found = transformed(labelled)
    assert not hasattr(found, "to_numpy")
    np.testing.assert_allclose(found, transformed(labelled.to_numpy()), rtol=1e-12)
    # A second call of a compiled function goes another way.
    with pytest.warns(LabelsDroppedWarning):
        transformed(labelled)


def test_labelled_leaves_of_pytrees(labelled: Any) -> None:
    with pytest.warns(LabelsDroppedWarning):
        found = fg.grad(lambda tree: np.sum(tree["x"] ** 2))({"x": labelled})
    np.testing.assert_allclose(found["x"], 2.0 * labelled.to_numpy())


def test_operands_from_outside(labelled: Any) -> None:
    expected = 2.0 * np.sum(labelled.to_numpy())
    keeps = isinstance(labelled, xr.DataArray)  # its own operators compute with tracers
    for function in (lambda w: np.sum(w * labelled), lambda w: np.sum(w + labelled) + w * 0.0):
        with contextlib.nullcontext() if keeps else pytest.warns(LabelsDroppedWarning):
            found = fg.grad(function)(2.0)
        assert found in (expected / 2.0, labelled.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsDroppedWarning)
        assert fg.grad(lambda w: np.sum((labelled * w) ** 2))(2.0) == 4.0 * np.sum(labelled.to_numpy() ** 2)


def test_values_taken_by_the_user_give_no_warning(labelled: Any) -> None:
    found = fg.grad(lambda w: np.sum(labelled.to_numpy() * w))(2.0)
    assert found == np.sum(labelled.to_numpy())


@pytest.mark.parametrize(
    "function",
    [
        lambda w: np.sum(FRAME @ w),
        lambda w: FRAME["u"].dot(np.ones(3) * w[0]),
        lambda w: np.sum(pd.Series(w)),
        lambda w: np.sum(FRAME.mul(w)),
    ],
    ids=["matmul", "dot", "Series", "mul"],
)
def test_what_pandas_would_do_to_values_alone_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"pandas takes the value.*\n.*\n.*lambda w"):
        fg.grad(function)(np.ones(2))


@pytest.mark.filterwarnings("ignore::funcgrad.errors.LabelsDroppedWarning")
def test_pandas_on_the_right_keeps_the_gradient() -> None:
    gradient = fg.grad(lambda w: np.sum(w @ FRAME.T))(np.ones(2))
    np.testing.assert_allclose(gradient, [6.0, 15.0])


def test_xarray_computes_with_tracers() -> None:
    heights = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("place", "time"))

    def loss(w: Any) -> Any:
        scaled = (w * (heights * w)) * heights
        assert scaled.dims == heights.dims
        return scaled.mean("time").sum()

    assert np.isclose(fg.grad(loss)(2.0), 2.0 * 2.0 * np.sum(heights.to_numpy() ** 2) / 3.0)
    found = fg.grad(lambda w: np.sum(xr.apply_ufunc(np.exp, w)))(np.ones(3))
    np.testing.assert_allclose(found, np.exp(np.ones(3)))


def test_frames_that_are_not_numbers_are_refused_by_name() -> None:
    names = pd.DataFrame({"name": ["ada", "emmy"], "born": [1815.0, 1882.0]})
    with pytest.warns(LabelsDroppedWarning), pytest.raises(fg.errors.NotDifferentiableError, match="object"):
        fg.grad(np.sum)(names)
