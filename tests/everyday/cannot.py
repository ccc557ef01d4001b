"""What cannot run as it is written: the lines, the error, and the remedy that the error names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import funcgrad as fg

X = np.linspace(0.0, 1.0, 12)
Y = np.exp(-2.0 * X)
OUTER = np.random.default_rng(0)
START = np.array([1.5, 0.7])
Function = Callable[[Any], Any]


class Case(NamedTuple):
    """Something that cannot run as it is written."""

    name: str
    as_written: Function
    remedy: Function
    says: str
    """A part of the error."""
    way: Callable[[Function], Function]
    start: Any = START


def as_it_is(f: Function) -> Function:
    """Un-jitted."""
    return f


def misfit(p: Any) -> Any:
    """The squares of residuals."""
    return np.sum((np.exp(-p[0] * X) * p[1] - Y) ** 2)


def returned_as_float(p: Any) -> Any:
    """``float()`` of the result."""
    return float(misfit(p))


def item_of_a_matrix(p: Any) -> Any:
    """``.item()`` of what a product of matrices has left."""
    r = (np.exp(-p[0] * X) * p[1] - Y).reshape(-1, 1)
    return (r.T @ r).item()


def element_of_a_matrix(p: Any) -> Any:
    """The element, instead of its value."""
    r = (np.exp(-p[0] * X) * p[1] - Y).reshape(-1, 1)
    return (r.T @ r)[0, 0]


def new_column(p: Any) -> Any:
    """A column of a data frame that depends on parameters."""
    df = pd.DataFrame({"x": X, "y": Y})
    df["predicted"] = np.exp(-p[0] * df["x"].to_numpy()) * p[1]
    return ((df["y"] - df["predicted"]) ** 2).sum()


def array_beside_the_frame(p: Any) -> Any:
    """The same column beside the frame."""
    df = pd.DataFrame({"x": X, "y": Y})
    predicted = np.exp(-p[0] * df["x"].to_numpy()) * p[1]
    return ((df["y"].to_numpy() - predicted) ** 2).sum()


def draws_of_an_outer_generator(p: Any) -> Any:
    """Numbers that would be those of the first call for ever."""
    return p[0] * misfit(p) + 0.0 * OUTER.normal()


def drawn_inside(p: Any) -> Any:
    """A generator that is made at every call."""
    return p[0] * misfit(p) + 0.0 * np.random.default_rng(3).normal()


CASES = [
    Case("float", returned_as_float, misfit, "Leave out float()", as_it_is),
    Case("item", item_of_a_matrix, element_of_a_matrix, "Leave out .item()", as_it_is),
    Case("item, compiled", item_of_a_matrix, element_of_a_matrix, "Leave out .item()", fg.jit),
    Case("column of a frame", new_column, array_beside_the_frame, "take the values of frames", as_it_is),
    Case("draws, compiled", draws_of_an_outer_generator, drawn_inside, "make the generator inside", fg.jit),
]
"""All of them."""
