"""Views, rows and attributes that loops write in place are written as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg


class Weights:
    def __init__(self, w: Any) -> None:
        self.w = w


def attribute_in_place(x: Any) -> Any:
    o = Weights(np.zeros(3))
    for i in range(len(x)):
        o.w += x[i]
        o.w[0] *= 0.5
    return o.w


def attribute_in_branches(x: Any) -> Any:
    o = Weights(np.zeros(3))
    for i in range(len(x)):
        if x[i] > 0:
            o.w += x[i]
        else:
            o.w = o.w * 0.5
    return o.w


def entry_of_a_dict(x: Any) -> Any:
    d = {"w": np.zeros(3)}
    for i in range(len(x)):
        d["w"] += x[i]
        d["w"][1] = 2.0
    return d["w"]


def two_names_of_an_array(x: Any) -> Any:
    y = np.zeros(3)
    z = y
    for i in range(len(x)):
        y += x[i]
    return z + y


def row_by_a_view(x: Any) -> Any:
    u = np.zeros((40, 3))
    for i in range(len(x)):
        row = u[i]
        row += x[i]
        u[i, 2] = 7.0
        row[1] = row[2] * 2
    return u[:40:7]


def rows_gone_through(x: Any) -> Any:
    u = np.zeros((40, 3))
    for row in u:
        row += x[:3]  # noqa: PLW2901 - in place is what is tested
        row[1] *= 2
    return u[:40:7]


FUNCTIONS = [
    attribute_in_place,
    attribute_in_branches,
    entry_of_a_dict,
    two_names_of_an_array,
    row_by_a_view,
    rows_gone_through,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("unroll", [0, 40, 10_000])
def test_what_is_written_is_what_python_writes(function: Callable[..., Any], unroll: int) -> None:
    x = np.random.default_rng(0).normal(size=40)
    np.testing.assert_allclose(fg.jit(function, unroll=unroll)(x), function(x), rtol=1e-12)
