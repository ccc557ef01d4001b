"""What a compiled function would raise depends on values: a guard is tested on every call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def root(x: Any) -> Any:
    if x < 0:
        raise ValueError("no root")
    return np.sqrt(x)


def asserted(x: Any) -> Any:
    assert x > 0, "must be positive"
    return np.log(x)


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ArithmeticError(f"element {i}")
        total += np.sqrt(x[i])
    return total


def until(x: Any) -> Any:
    n = 0
    while x > 1:
        x = x / 2
        n += 1
        if n > 20:
            raise RuntimeError("too far")
    return x


@pytest.mark.parametrize("transform", [lambda f: f, fg.grad], ids=["value", "gradient"])
def test_what_raises_in_python_raises_compiled(transform: Any) -> None:
    for function, good, bad, error in (
        (root, 4.0, -1.0, ValueError),
        (asserted, 4.0, -1.0, AssertionError),
        (in_a_loop, np.arange(1.0, 31.0), np.arange(30.0, 0.0, -1.0) - 3.5, ArithmeticError),
        (until, 5.0, 1e9, RuntimeError),
    ):
        compiled = fg.jit(transform(function))
        plain = transform(function)
        for _ in range(3):
            np.testing.assert_allclose(compiled(good), plain(good), rtol=1e-12)
            with pytest.raises(error):
                compiled(bad)


def test_derivatives_of_compiled_functions_test_their_guards() -> None:
    compiled = fg.jit(root)
    assert fg.grad(compiled)(4.0) == 0.25
    with pytest.raises(ValueError, match="no root"):
        fg.grad(compiled)(-1.0)
    twice = fg.jit(lambda x: compiled(x) * 2)
    assert twice(4.0) == 4.0
    with pytest.raises(ValueError, match="no root"):
        twice(-4.0)


def test_under_vmap_one_example_that_fails_raises_what_it_raises() -> None:
    for way in (fg.vmap, lambda f: fg.jit(fg.vmap(f))):
        roots = way(root)
        np.testing.assert_allclose(roots(np.array([4.0, 9.0])), [2.0, 3.0])
        with pytest.raises(ValueError, match="no root"):
            roots(np.array([4.0, -9.0]))


def test_where_nothing_tests_it_the_error_says_so() -> None:
    with pytest.raises(fg.errors.TracedBranchError, match="under vmap"):
        fg.jit(fg.vmap(root)).program(np.ones(3))


def test_every_operand_before_an_element_guards_it() -> None:
    def neighbours(h: Any) -> Any:
        (n, m), s = h.shape, 0.0
        for i in range(n):
            for j in range(m):
                for a, b in ((i + 1, j), (i, j - 1), (i, j + 1), (i + 1, j + 1)):
                    if 0 <= a < n and 0 <= b < m and h[a, b] > 0.5:
                        s += h[i, j]
                if i + 1 >= n or j + 1 >= m or h[i + 1, j + 1] > 0.5:
                    s += h[i, j] ** 2
                s += h[i, j] if i + 1 < n and j > 0 and h[i + 1, j] > 0.2 else 0.0
        return s

    h = np.random.default_rng(0).uniform(0.1, 1.0, (4, 5))
    np.testing.assert_allclose(fg.jit(neighbours)(h), neighbours(h), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(neighbours))(h), fg.grad(neighbours)(h), rtol=1e-12)
