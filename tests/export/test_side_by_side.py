"""Chunks of exported loops that take two elements a turn: what may, what must not, and the same results."""

from __future__ import annotations

from math import cos, exp, log, sin, tanh
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.export.side_by_side import side_by_side

CHAIN = ["a = exp(sin(tanh(x[i])))", "b = log(sin(a))", "y[i] = b", "total = plus(total, a)"]


def function(body: list[str]) -> list[str]:
    """A function whose chunk has this body."""
    return [
        "def run(x, y, first, last):",
        "    total = 0.0",
        "    c = 2.0",
        "    for i in range(0 if first < 0 else first, last):",
        *[f"        {line}" for line in body],
        "    return total",
    ]


def called(lines: list[str], sources: list[str], n: int) -> tuple[float, np.ndarray]:
    """What the function makes of its last `n` of 12 elements, by Python."""
    scope: dict[str, Any] = {"plus": lambda total, x: total + x}
    scope |= {"cos": cos, "exp": exp, "log": log, "sin": sin, "tanh": tanh}
    exec("\n".join([*[s.partition("\n")[2] for s in sources], *lines]), scope)
    y = np.linspace(3.0, 4.0, 12)
    return scope["run"](np.linspace(0.5, 1.0, 12), y, 12 - n, 12), y


@pytest.mark.parametrize(
    "body",
    [
        CHAIN,
        [*CHAIN[:2], "y[i] = y[i] * b + c", "d = y[i] * a", "total = plus(total, d)"],
        ["y[i] = log(exp(cos(exp(tanh(sin(tanh(x[i])))))))"],
    ],
)
def test_two_elements_a_turn_make_the_same(body: list[str]) -> None:
    plain = function(body)
    lines, sources = side_by_side(plain)
    assert len(sources) == 1
    for n in (0, 1, 2, 5, 12):
        (total, y), (expected, z) = called(lines, sources, n), called(plain, [], n)
        assert total == pytest.approx(expected)
        np.testing.assert_array_equal(y, z)


def test_long_loops_that_are_not_divided() -> None:
    head = "    for i in range(0 if first < 0 else first, last):"
    plain = [x.replace(head, "    for i in range(last):  # in any order") for x in function(CHAIN)]
    lines, sources = side_by_side(plain)
    assert "    half = last // 2" in lines
    (total, y), (expected, z) = called(lines, sources, 7), called(plain, [], 7)
    assert total == pytest.approx(expected)
    np.testing.assert_array_equal(y, z)
    lines, sources = side_by_side([*plain[:4], "        y[i] = exp(x[i])", plain[-1]])
    assert (lines[3], sources) == ("    for i in range(last):", [])


@pytest.mark.parametrize(
    "body",
    [
        # No chain that waits for itself.
        ["y[i] = exp(x[i])"],
        # Elements of other turns, or an array that a function is given.
        [*CHAIN[:2], "y[0] = b"],
        [*CHAIN[:2], "y[i] = b + y[i - 1]"],
        [*CHAIN[:2], "y[i] = b + part(y, 1)"],
        # What a turn leaves to the next, by another name than a sum's.
        [*CHAIN[:2], "total = total * b"],
        [*CHAIN[:2], "d = b * c", "y[i] = d", "c = plus(c, d)"],
        ["a = exp(sin(tanh(x[i])))", "b = log(sin(a)) * total", "total = plus(total, b)"],
        ["b = log(sin(exp(sin(tanh(c)))))", "c = x[i] + b", "y[i] = b"],
        ["a = exp(sin(tanh(x[i])))", "a = log(sin(a))", "y[i] = a"],
        # What is added is no name of the turn's.
        [*CHAIN[:3], "total = plus(total, c)"],
        [*CHAIN[:3], "total = plus(total, a * b)"],
        # Names that the second element has, or the loop of pairs, and statements of other kinds.
        [*CHAIN[:3], "a_j = 1.0"],
        [*CHAIN[:3], "half = 1.0"],
        [*CHAIN[:2], "if b > 0.0:", "    y[i] = b"],
        [*CHAIN[:2], "y[i] += b"],
    ],
)
def test_other_loops_stay_as_they_are(body: list[str]) -> None:
    lines = function(body)
    assert side_by_side(lines) == (lines, [])


def loss(x: np.ndarray) -> Any:
    """A chain of functions, summed."""
    for _ in range(2):
        x = np.log(np.exp(np.tanh(np.sin(x))) + 0.5)
    return np.sum(x)


@pytest.mark.parametrize(("parallel", "half"), [(True, "(last - first)"), (False, "n")])
def test_an_exported_chain_takes_two_elements_a_turn(
    monkeypatch: pytest.MonkeyPatch, parallel: bool, half: str
) -> None:
    numba = pytest.importorskip("numba")
    slopes = fg.value_and_grad(loss)
    text = fg.export(slopes, parallel=parallel)(np.linspace(0.0, 2.0, 50_000)).text
    assert f"    half = {half} // 2\n" in text
    assert "a, a_j = sin(" in text
    # Python runs the same text, and no compiler is waited for.
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    scope: dict[str, Any] = {}
    exec(text, scope)
    for n in (1, 31, 50):
        x = np.linspace(-1.0, 2.0, n)
        value, slope = scope["slopes" if "def slopes(" in text else "loss"](x)
        expected, expected_slope = slopes(x)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        np.testing.assert_allclose(slope, expected_slope, rtol=1e-12)
