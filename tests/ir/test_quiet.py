"""Evaluation in silence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from funcgrad.ir.evaluate.quiet import numpys_variable, quietly, quietly_by, quietly_by_numpy


def divided(x: float, y: float) -> tuple[np.float64]:
    return (np.float64(x) / y,)


@pytest.mark.parametrize("call", [quietly, quietly_by_numpy, quietly_by(None)])
def test_nothing_is_said_inside_and_what_was_asked_for_holds_again_outside(call: object) -> None:
    assert callable(call)
    with np.errstate(divide="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(divided, (1.0, 0.0)) == (np.inf,)
        assert np.geterr()["divide"] == "raise"
        with pytest.raises(FloatingPointError):
            divided(1.0, 0.0)


def test_what_was_asked_for_holds_again_after_an_error() -> None:
    before = np.geterr()
    with pytest.raises(ZeroDivisionError):
        quietly(lambda: (1 // 0,), ())
    assert np.geterr() == before


def test_this_numpy_is_known() -> None:
    """Where it is not, the documented way is taken, which is slower."""
    assert numpys_variable() is not None
