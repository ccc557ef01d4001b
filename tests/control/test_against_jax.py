"""The same loops in funcgrad and in jax: values, gradients, second derivatives, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

pytestmark = pytest.mark.peers("jax")

RNG = np.random.default_rng(3)
W, H, XS = RNG.normal(size=(3, 3)), RNG.normal(size=3), RNG.normal(size=(4, 3))


def recurrent(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = np.tanh(w @ h + x)
            return h, h * x

        h, ys = lib.lax.scan(step, h, XS, reverse=True)
        return np.sum(h) + np.sum(ys**2)

    return f


def counted(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        return np.sum(lib.lax.fori_loop(1, 4, lambda i, h: np.sin(w @ h) * i, h))

    return f


def chosen(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        h = lib.lax.cond(np.sum(h) > 0.0, lambda h: w @ h, np.exp, h)
        return np.sum(lib.lax.switch(5, [np.sin, lambda h: h**2 * w[0, 0]], h))

    return f


def mapped(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        return np.sum(lib.lax.map(lambda row: np.tanh(row @ h) * row, w) ** 2)

    return f


def combined(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        return np.sum(lib.lax.associative_scan(lambda a, b: a * b + a, w, axis=1) * h)

    return f


def looped(lib: Any, np: Any) -> Any:
    def f(w: Any, h: Any) -> Any:
        def body(state: Any) -> Any:
            n, h = state
            return n + 1, np.tanh(w @ h) + 0.1

        return np.sum(lib.lax.while_loop(lambda s: (s[0] < 7) & (np.sum(s[1]) < 2.0), body, (0, h))[1])

    return f


def ours(make: Any) -> Any:
    return make(fg, np)


def theirs(make: Any) -> Any:
    import jax
    import jax.numpy as jnp

    f = make(jax, jnp)
    return lambda w, h: f(jnp.asarray(w), jnp.asarray(h))


def assert_same(x: Any, y: Any) -> None:
    for a, b in zip(fg.tree.leaves(x), map(np.asarray, fg.tree.leaves(y)), strict=True):
        assert np.shape(a) == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


everything = pytest.mark.parametrize(
    "make", [recurrent, counted, chosen, mapped, combined, looped], ids=lambda make: make.__name__
)
reversible = pytest.mark.parametrize(
    "make", [recurrent, counted, chosen, mapped, combined], ids=lambda make: make.__name__
)


@everything
def test_values_and_forward_mode(make: Any) -> None:
    import jax

    assert_same(ours(make)(W, H), theirs(make)(W, H))
    tangents = (RNG.normal(size=(3, 3)), RNG.normal(size=3))
    assert_same(fg.jvp(ours(make), (W, H), tangents), jax.jvp(theirs(make), (W, H), tangents))


@reversible
def test_reverse_mode(make: Any) -> None:
    import jax

    assert_same(fg.grad(ours(make), (0, 1))(W, H), jax.grad(theirs(make), (0, 1))(W, H))
    assert_same(fg.hessian(ours(make), 1)(W, H), jax.hessian(theirs(make), 1)(W, H))


@everything
def test_vmap(make: Any) -> None:
    import jax

    hs = RNG.normal(size=(3, 3))
    assert_same(fg.vmap(ours(make), (None, 0))(W, hs), jax.vmap(theirs(make), (None, 0))(W, hs))


@reversible
def test_vmap_of_reverse_mode(make: Any) -> None:
    import jax

    hs = RNG.normal(size=(3, 3))
    assert_same(
        fg.vmap(fg.grad(ours(make), (0, 1)), (None, 0))(W, hs),
        jax.vmap(jax.grad(theirs(make), (0, 1)), (None, 0))(W, hs),
    )


def test_reverse_mode_of_while_loop_where_jax_has_only_forward_mode() -> None:
    import jax

    assert_same(fg.jacrev(ours(looped), (0, 1))(W, H), jax.jacfwd(theirs(looped), (0, 1))(W, H))
    assert_same(fg.hessian(ours(looped), 1)(W, H), jax.jacfwd(jax.jacfwd(theirs(looped), 1), 1)(W, H))


def test_dtypes_of_python_numbers() -> None:
    """A Python number as the initial carry takes the dtype that the body makes of it, as in jax."""
    import jax

    for lib in (fg, jax):
        carry, ys = lib.lax.scan(lambda c, x: (c + x, c), 0, np.ones(3, np.float32))
        assert (carry.dtype, ys.dtype) == (np.float32, np.float32)
        assert lib.lax.fori_loop(0, 3, lambda i, x: x * 2, np.float32(1)).dtype == np.float32
        assert lib.lax.while_loop(lambda x: x < 3, lambda x: x + np.float32(1), 0).dtype == np.float32
