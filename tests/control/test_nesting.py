"""Control flow inside control flow, and together with the other transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads, check_vmap

RNG = np.random.default_rng(2)


def test_scan_in_scan() -> None:
    def f(x: Any, ys: Any) -> Any:
        def outer(c: Any, row: Any) -> Any:
            d, inner = lax.scan(lambda d, y: (np.sin(d) * y + x, d * c), c, row)
            return d, np.sum(inner)

        c, totals = lax.scan(outer, x, ys)
        return c + np.sum(totals**2)

    ys = RNG.normal(size=(3, 2))
    check_grads(f, (0.4, ys), order=2)
    check_vmap(f, (RNG.normal(size=4), RNG.normal(size=(4, 3, 2))))


def implicit_step(h: Any, p: Any) -> Any:
    """The solution y of ``y + 0.1 p y**3 = h``, by Newton's method."""

    def off(y: Any) -> Any:
        return np.abs(y + 0.1 * p * y**3 - h) > 1e-12

    def newton(y: Any) -> Any:
        return y - (y + 0.1 * p * y**3 - h) / (1.0 + 0.3 * p * y**2)

    return lax.while_loop(off, newton, h)


def test_while_in_scan() -> None:
    """Each trip of the scan has a loop of its own length."""

    def f(p: Any, h: Any) -> Any:
        return lax.scan(lambda h, _: (implicit_step(h, p), h), h, None, length=5)

    def loss(p: Any, h: Any) -> Any:
        h, hs = f(p, h)
        return h + np.sum(hs**2)

    check_grads(loss, (0.8, 2.0), order=2)
    check_vmap(loss, (np.array([0.1, 0.8, 3.0]), np.array([2.0, -1.0, 0.5])))


def test_while_in_while() -> None:
    def f(p: Any) -> Any:
        def body(state: Any) -> Any:
            n, h = state
            return n + 1, implicit_step(h, p) * 1.2

        return lax.while_loop(lambda s: s[0] < 3, body, (0, p + 1.0))[1]

    check_grads(f, (0.8,), order=2)
    check_vmap(f, (np.array([0.1, 0.8, 3.0]),))
    batched = fg.vmap(fg.hessian(f))(np.array([0.1, 0.8]))
    np.testing.assert_allclose(batched, [fg.hessian(f)(0.1), fg.hessian(f)(0.8)], rtol=1e-8)


def test_scan_in_while() -> None:
    def f(x: Any) -> Any:
        def body(state: Any) -> Any:
            n, h = state
            h, ys = lax.scan(lambda c, y: (np.tanh(c * y) + x, c), h, np.array([0.5, 1.5]))
            return n + 1, h + np.sum(ys)

        return lax.while_loop(lambda s: s[0] < 3, body, (0, x))[1]

    check_grads(f, (0.3,), order=3)
    check_vmap(f, (np.array([0.3, -0.2]),))


def test_cond_in_scan() -> None:
    def f(x: Any, ys: Any) -> Any:
        def step(c: Any, y: Any) -> Any:
            c = lax.cond(y > 0.0, lambda c: np.sin(c) * x, lambda c: c * y, c)
            return c, lax.switch(1, [np.exp, np.cos], c)

        c, out = lax.scan(step, x, ys)
        return c + np.sum(out)

    ys = np.array([0.5, -0.3, 1.2, -2.0])
    check_grads(f, (0.7, ys), order=2)
    check_vmap(f, (np.array([0.7, 0.1]), np.stack([ys, -ys])))


def test_cond_in_while_with_batched_everything() -> None:
    def f(x: Any) -> Any:
        def body(x: Any) -> Any:
            return lax.cond(x > 2.0, lambda x: x * 1.5, lambda x: x + np.exp(-x), x)

        return lax.while_loop(lambda x: x < 10.0, body, x)

    check_grads(f, (0.3,), order=2)
    check_vmap(f, (np.array([0.3, 9.0, 20.0, 2.5]),))
    check_vmap(fg.grad(f), (np.array([0.3, 9.0, 20.0, 2.5]),))


def test_loops_in_cond() -> None:
    def f(x: Any) -> Any:
        return lax.cond(
            x > 0.0,
            lambda x: lax.scan(lambda c, _: (np.sin(c) * x, None), x, None, length=3)[0],
            lambda x: lax.while_loop(lambda c: c > -10.0, lambda c: c * (2.0 - x), x),
            x,
        )

    check_grads(f, (0.7,), order=2)
    check_grads(f, (-0.7,), order=2)


def test_grad_inside_a_body() -> None:
    """Gradient descent by `scan`, and the derivative of its result by its settings."""

    def loss(w: Any, a: Any) -> Any:
        return np.sum((np.tanh(w) - a) ** 2)

    def descended(rate: Any, a: Any) -> Any:
        def step(w: Any, _: None) -> Any:
            return w - rate * fg.grad(loss)(w, a), None

        return loss(lax.scan(step, np.zeros(2), None, length=4)[0], a)

    check_grads(descended, (0.3, np.array([0.2, 0.6])), order=2)


def test_vmap_inside_a_body() -> None:
    def f(w: Any) -> Any:
        def step(h: Any, _: None) -> Any:
            return fg.vmap(lambda row, x: np.sin(row @ h) * x)(w, h), None

        return np.sum(lax.scan(step, np.ones(3), None, length=3)[0])

    check_grads(f, (RNG.normal(size=(3, 3)),), order=2)


def test_checkpointed_bodies() -> None:
    def plain(h: Any, x: Any) -> Any:
        h = np.tanh(np.sin(h) * x)
        return h, h**2

    def f(step: Any) -> Any:
        def loss(h: Any, xs: Any) -> Any:
            h, ys = lax.scan(step, h, xs)
            return np.sum(h) + np.sum(ys)

        return loss

    h, xs = RNG.normal(size=3), RNG.normal(size=(4, 3))
    check_grads(f(fg.checkpoint(plain)), (h, xs), order=2)
    expected = fg.grad(f(plain), (0, 1))(h, xs)
    found = fg.grad(f(fg.checkpoint(plain)), (0, 1))(h, xs)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)
    forward = fg.make_program(fg.grad(f(fg.checkpoint(plain))))(h, xs).equations[0]
    assert forward.primitive.name == "scan"
    assert len(forward.outputs) < len(fg.make_program(fg.grad(f(plain)))(h, xs).equations[0].outputs)


def test_a_checkpointed_loop() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (np.sin(c) * x, c), x, None, length=5)[0]

    def g(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, np.sin(s[1]) * x), (0, x))[1]

    for h in (f, g):
        check_grads(fg.checkpoint(h), (0.7,), order=2)


def test_custom_rules_inside_a_body() -> None:
    @fg.custom_vjp
    def doubled(x: Any) -> Any:
        return x * 2.0

    doubled.defvjp(lambda x: (x * 2.0, None), lambda _, bar: (bar * 3.0,))

    @fg.custom_jvp
    def tripled(x: Any) -> Any:
        return x * 3.0

    @tripled.defjvp
    def tripled_jvp(primals: Any, tangents: Any) -> Any:
        return tripled(primals[0]), tangents[0] * 4.0

    for function, slope in ((doubled, 3.0), (tripled, 4.0)):
        scanned = fg.grad(lambda x, f=function: lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0])
        looped = fg.grad(
            lambda x, f=function: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]
        )
        chosen = fg.grad(lambda x, f=function: lax.cond(True, f, lambda x: x, x))
        assert scanned(1.0) == looped(1.0) == slope**3
        assert chosen(1.0) == slope


def test_stop_gradient_inside_a_body() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (c * lax.stop_gradient(c) + x, None), x, None, length=3)[0]

    def unrolled(x: Any) -> Any:
        c = x
        for _ in range(3):
            c = c * lax.stop_gradient(c) + x
        return c

    np.testing.assert_allclose(fg.grad(f)(0.7), fg.grad(unrolled)(0.7))
    np.testing.assert_allclose(fg.jvp(f, (0.7,), (1.0,))[1], fg.grad(unrolled)(0.7))


def test_transposed_forward_mode() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, y: Any) -> Any:
            c = np.sin(c) * y
            return c, c * x

        c, ys = lax.scan(step, x, np.array([0.5, 1.5, -0.7]))
        return np.sin(c) + np.sum(ys * c)

    for push in (fg.linearize(f, 0.7)[1], lambda t: fg.jvp(f, (0.7,), (t,))[1]):
        np.testing.assert_allclose(fg.linear_transpose(push, 1.0)(2.0)[0], 2.0 * fg.grad(f)(0.7))


def test_perturbations_are_not_confused() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, _: None) -> Any:
            return c * fg.grad(lambda y: x * y**2)(c), None

        return lax.scan(step, x, None, length=2)[0]

    def unrolled(x: Any) -> Any:
        c = x
        for _ in range(2):
            c = c * 2.0 * x * c
        return c

    np.testing.assert_allclose(fg.grad(f)(0.7), fg.grad(unrolled)(0.7))
    np.testing.assert_allclose(fg.grad(fg.grad(f))(0.7), fg.grad(fg.grad(unrolled))(0.7))


def test_linearize_and_pullback_keep_their_point() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.sin(s[1]) * x), (0, x))[1]

    out, push = fg.linearize(f, 0.7)
    out_again, pull = fg.vjp(f, 0.7)
    assert out == out_again == f(0.7)
    for t in (1.0, -2.5):
        np.testing.assert_allclose(push(t), t * fg.grad(f)(0.7))
        np.testing.assert_allclose(pull(t)[0], t * fg.grad(f)(0.7))
