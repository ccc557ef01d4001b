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


def only_the_negative(p: Any) -> Any:
    """As many elements as the values say."""
    r = np.exp(-p[0] * X) * p[1] - Y
    return np.sum(r[r < 0] ** 2)


def zero_elsewhere(p: Any) -> Any:
    """All elements, with zeros for those that are not meant."""
    r = np.exp(-p[0] * X) * p[1] - Y
    return np.sum(np.where(r < 0, r, 0.0) ** 2)


def draws_of_an_outer_generator(p: Any) -> Any:
    """Numbers that would be those of the first call for ever."""
    return p[0] * misfit(p) + 0.0 * OUTER.normal()


def drawn_inside(p: Any) -> Any:
    """A generator that is made at every call."""
    return p[0] * misfit(p) + 0.0 * np.random.default_rng(3).normal()


def halved(f: Function, a: Any, b: Any, depth: int) -> Any:
    """A rectangle, or two that are better."""
    m = (a + b) / 2.0
    once, twice = (b - a) * f(m), (b - a) / 2.0 * (f((a + m) / 2.0) + f((m + b) / 2.0))
    if depth == 0 or abs(once - twice) < 1e-3:
        return twice
    return halved(f, a, m, depth - 1) + halved(f, m, b, depth - 1)


def adaptive(p: Any) -> Any:
    """An integral by recursion where the values ask for it."""
    return halved(lambda x: p[1] * np.exp(p[0] * x), 0.0, 1.0, 12)


def over_a_stack(p: Any) -> Any:
    """The same with a fixed depth: an interval counts at the first level at which it is good enough."""
    total, edges, alive = 0.0, np.array([0.0, 1.0]), np.ones(1)
    for _ in range(5):
        a, b = edges[:-1], edges[1:]
        m = (a + b) / 2.0
        f = lambda x: p[1] * np.exp(p[0] * x)  # noqa: E731 - as it is written
        once, twice = (b - a) * f(m), (b - a) / 2.0 * (f((a + m) / 2.0) + f((m + b) / 2.0))
        good = np.abs(once - twice) < 1e-3
        total = total + np.sum(np.where(good, alive * twice, 0.0))
        alive = np.repeat(np.where(good, 0.0, alive), 2)
        edges = np.linspace(0.0, 1.0, 2 * len(a) + 1)
    return total


CASES = [
    Case("float", returned_as_float, misfit, "Leave out float()", as_it_is),
    Case("item", item_of_a_matrix, element_of_a_matrix, "Leave out .item()", as_it_is),
    Case("item, compiled", item_of_a_matrix, element_of_a_matrix, "Leave out .item()", fg.jit),
    Case("column of a frame", new_column, array_beside_the_frame, "take the values of frames", as_it_is),
    Case("boolean index, compiled", only_the_negative, zero_elsewhere, "Use fg.numpy.where(mask", fg.jit),
    Case("draws, compiled", draws_of_an_outer_generator, drawn_inside, "make the generator inside", fg.jit),
    Case("recursion, compiled", adaptive, over_a_stack, "recursion as a loop over a stack", fg.jit),
]
"""All of them."""
