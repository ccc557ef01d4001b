"""`scan`, `fori_loop` with fixed bounds, and `map`: values, derivatives and batches against Python loops."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads, check_vmap
from funcgrad.transforms.control import backward, forward
from funcgrad.transforms.control.backward import Bars


def python_scan(f: Any, init: Any, xs: Any, length: int | None = None, reverse: bool = False) -> Any:
    """What `scan` means, unrolled."""
    leaves = fg.tree.leaves(xs)
    trips = list(range(len(leaves[0]) if leaves else length or 0))
    carry, ys = init, {}
    for k in reversed(trips) if reverse else trips:
        carry, ys[k] = f(carry, fg.tree.map(lambda x, k=k: x[k], xs))
    stacked = fg.tree.map(lambda *rows: fg.numpy.stack(rows), *[ys[k] for k in trips])
    return carry, stacked


RNG = np.random.default_rng(0)
W, XS, H = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=3)


def rnn(loop: Any, reverse: bool = False) -> Any:
    """A small recurrent network, by `scan` or unrolled."""

    def loss(w: Any, h: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = np.tanh(w @ h + x)
            return h, np.sin(h) * x

        h, ys = loop(step, h, xs, reverse=reverse)
        weights = np.arange(1.0, 6.0)[:, None]
        return np.sum(h**2) + np.sum(ys * weights)

    return loss


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_equal_those_of_the_unrolled_loop(reverse: bool) -> None:
    ours = fg.value_and_grad(rnn(lax.scan, reverse), (0, 1, 2))(W, H, XS)
    unrolled = fg.value_and_grad(rnn(python_scan, reverse), (0, 1, 2))(W, H, XS)
    for x, y in zip(fg.tree.leaves(ours), fg.tree.leaves(unrolled), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives_of_every_mode(reverse: bool) -> None:
    check_grads(rnn(lax.scan, reverse), (W, H, XS), order=2)


def test_third_order_of_a_scalar_recurrence() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (np.sin(c) * x, c), x, None, length=3)[0]

    check_grads(f, (0.7,), order=3)


def test_hessian_both_ways() -> None:
    def f(h: Any) -> Any:
        return rnn(lax.scan)(W, h, XS)

    def unrolled(h: Any) -> Any:
        return rnn(python_scan)(W, h, XS)

    expected = fg.hessian(unrolled)(H)
    np.testing.assert_allclose(fg.hessian(f)(H), expected, rtol=1e-10)
    np.testing.assert_allclose(fg.jacfwd(fg.jacfwd(f))(H), expected, rtol=1e-10)
    np.testing.assert_allclose(fg.jacrev(fg.jacrev(f))(H), expected, rtol=1e-10)
    np.testing.assert_allclose(fg.jacrev(fg.jacfwd(f))(H), expected, rtol=1e-10)


@pytest.mark.parametrize("in_axes", [(None, 0, None), (0, None, None), (None, None, 0), (0, 0, 0)])
def test_vmap_over_any_part(in_axes: tuple[int | None, ...]) -> None:
    args = [RNG.normal(size=(4, *x.shape)) if a == 0 else x for x, a in zip((W, H, XS), in_axes, strict=True)]
    for f in (rnn(lax.scan), fg.grad(rnn(lax.scan), (0, 1, 2))):
        batched = fg.vmap(f, in_axes=in_axes)(*args)
        singles = [f(*[x[k] if a == 0 else x for x, a in zip(args, in_axes, strict=True)]) for k in range(4)]
        for leaf, *rows in zip(
            fg.tree.leaves(batched), *[fg.tree.leaves(one) for one in singles], strict=True
        ):
            np.testing.assert_allclose(leaf, np.stack(rows), rtol=1e-10)


def test_gradient_of_vmap() -> None:
    hs = RNG.normal(size=(4, 3))

    def batched_loss(w: Any) -> Any:
        return np.sum(fg.vmap(rnn(lax.scan), in_axes=(None, 0, None))(w, hs, XS))

    def looped_loss(w: Any) -> Any:
        return sum(rnn(python_scan)(w, h, XS) for h in hs)

    np.testing.assert_allclose(fg.grad(batched_loss)(W), fg.grad(looped_loss)(W), rtol=1e-10)


def test_vmap_with_other_axes() -> None:
    def f(xs: Any) -> Any:
        return lax.scan(lambda c, x: (c + x, c * x), 1.0, xs)

    xs = RNG.normal(size=(5, 3))
    carry, ys = fg.vmap(f, in_axes=1, out_axes=(0, 1))(xs)
    expected = [f(xs[:, k]) for k in range(3)]
    np.testing.assert_allclose(carry, [c for c, _ in expected])
    np.testing.assert_allclose(ys, np.stack([y for _, y in expected], axis=1))


# -- forms -------------------------------------------------------------------------------------------------


def test_pytrees_everywhere() -> None:
    def f(carry: Any, x: Any) -> Any:
        (a, d) = carry
        y = {"s": a + x["u"], "t": (d["k"] * x["v"][0],)}
        return (y["s"] * 0.5, {"k": d["k"] + 1.0}), y

    init = (np.ones(2), {"k": np.float64(2.0)})
    xs = {"u": np.arange(6.0).reshape(3, 2), "v": [np.array([1.0, 2.0, 3.0])]}
    carry, ys = lax.scan(f, init, xs)
    expected_carry, expected_ys = python_scan(f, init, xs)
    for x, y in zip(fg.tree.leaves((carry, ys)), fg.tree.leaves((expected_carry, expected_ys)), strict=True):
        np.testing.assert_allclose(x, y)
    assert fg.tree.structure(ys) == fg.tree.structure(expected_ys)


def test_no_carry_and_no_ys() -> None:
    carry, ys = lax.scan(lambda c, x: (None, x * 2.0), None, np.arange(3.0))
    assert carry is None
    np.testing.assert_array_equal(ys, [0.0, 2.0, 4.0])
    carry, ys = lax.scan(lambda c, x: ((), x), (), np.arange(3.0))
    assert carry == ()
    carry, ys = lax.scan(lambda c, x: (c + x, None), 0.0, np.arange(3.0))
    assert (carry, ys) == (3.0, None)
    carry, ys = lax.scan(lambda c, x: (c * 2, None), 1, None, length=5)
    assert (carry, ys) == (32, None)
    carry, ys = lax.scan(lambda c, x: ((), ()), (), None, length=5)
    assert (carry, ys) == ((), ())


@pytest.mark.parametrize("xs", [np.zeros((0, 2)), None])
def test_no_trips(xs: Any) -> None:
    def f(c: Any, x: Any) -> Any:
        return c * 2.0, c + (0.0 if x is None else x)

    init = np.array([1.0, 2.0])
    carry, ys = lax.scan(f, init, xs, length=0)
    np.testing.assert_array_equal(carry, init)
    assert carry is not init
    assert ys.shape == (0, 2)
    np.testing.assert_array_equal(
        fg.grad(lambda init: np.sum(lax.scan(f, init, xs, length=0)[0]))(init), [1.0, 1.0]
    )


def test_integers_and_booleans_beside_reals() -> None:
    def f(carry: Any, x: Any) -> Any:
        n, a, flag = carry
        a = a * x + n
        return (n + 1, a, np.logical_not(flag)), (n, a, flag)

    def loss(a: Any, xs: Any) -> Any:
        (n, a, _), (ns, ys, _) = lax.scan(f, (0, a, True), xs)
        return a * n + np.sum(ys * ns)

    (n, _, flag), (ns, _, flags) = lax.scan(f, (0, 1.0, True), np.arange(1.0, 4.0))
    assert (n, flag) == (3, False)
    np.testing.assert_array_equal(ns, [0, 1, 2])
    np.testing.assert_array_equal(flags, [True, False, True])
    assert ns.dtype == np.int64
    check_grads(loss, (0.5, np.array([0.3, -1.2, 2.0])), order=2)
    check_vmap(loss, (np.array([0.5, 0.7]), np.array([[0.3, -1.2, 2.0], [1.0, 2.0, 3.0]])))


def test_integer_xs() -> None:
    table = np.array([0.3, -0.8, 1.4])

    def f(table: Any) -> Any:
        return lax.scan(
            lambda c, i: (c + fg.numpy.take(table, i) ** 2, fg.numpy.take(table, i)),
            0.0,
            np.array([2, 0, 2, 1]),
        )[0]

    check_grads(f, (table,), order=2)
    np.testing.assert_allclose(fg.grad(f)(table), [0.6, -1.6, 5.6])


def test_python_scalars_take_the_dtype_that_the_body_makes() -> None:
    xs = np.ones(3, np.float32)
    carry, ys = lax.scan(lambda c, x: (c + x, c), 0, xs)
    assert (carry.dtype, ys.dtype) == (np.float32, np.float32)
    carry, _ = lax.scan(lambda c, x: (c + 0.5, None), 0, None, length=2)
    assert carry == 1.0
    carry, _ = lax.scan(lambda c, x: (0.0, None), np.float32(1.0), None, length=2)
    assert carry.dtype == np.float32
    # A Python number that is carried stays one: after the loop it still gives way to float32.
    out = fg.eval_shape(lambda x: lax.fori_loop(0, 3, lambda i, n: n + 1, 0) * x, np.float32(1.0))
    assert out.dtype == np.float32


def test_float32_and_complex_gradients_keep_their_dtype() -> None:
    for dtype in (np.float32, np.complex64, np.complex128):
        x = np.array([0.5, -0.3], dtype)

        def f(x: Any) -> Any:
            return np.sum(np.abs(lax.scan(lambda c, _: (c * x + c, None), x, None, length=3)[0]) ** 2)

        assert fg.grad(f)(x).dtype == dtype
    check_grads(
        lambda z: lax.scan(lambda c, w: (c * w + z, c * z), z, np.array([1.0 + 1.0j, 0.5j])),
        (0.3 - 0.7j,),
        order=2,
    )


def test_closed_over_values_have_derivatives() -> None:
    def f(a: Any, b: Any) -> Any:
        scale = np.exp(a)

        def step(c: Any, x: Any) -> Any:
            return c * scale + x * b, c * a

        c, ys = lax.scan(step, b, np.array([1.0, 2.0, 3.0]))
        return c + np.sum(ys)

    check_grads(f, (0.2, -0.4), order=2)


def test_results_are_the_callers_own() -> None:
    init, xs = np.ones(2), np.arange(6.0).reshape(3, 2)
    carry, ys = lax.scan(lambda c, x: (c, x), init, xs)
    carry[:] = 7.0
    ys[:] = 7.0
    np.testing.assert_array_equal(init, [1.0, 1.0])
    np.testing.assert_array_equal(xs, np.arange(6.0).reshape(3, 2))
    (a, b), _ = lax.scan(lambda c, x: ((x, x), None), (init, init), xs)
    a[:] = 7.0
    np.testing.assert_array_equal(b, [4.0, 5.0])


def test_writes_inside_a_body_are_functional() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            buffer = fg.numpy.zeros(2)
            buffer[0] = c * row[0]
            buffer[1] += row[1]
            return c + buffer[0], buffer

        c, ys = lax.scan(step, 1.0, x)
        return c + np.sum(ys**2)

    check_grads(f, (np.array([[0.5, 1.0], [-0.3, 2.0]]),), order=2)


# -- what a backward pass keeps ----------------------------------------------------------------------------


def scans_of(program: fg.Program) -> list[Any]:
    return [equation for equation in program if equation.primitive.name == "scan"]


def test_what_does_not_change_is_not_stacked() -> None:
    """Residuals that depend on neither carry nor xs are computed once; xs are not copied."""

    def f(w: Any, h: Any) -> Any:
        return np.sum(lax.scan(lambda h, x: (np.exp(w) @ h * x, None), h, np.ones(7))[0])

    forward, backward = scans_of(fg.make_program(fg.grad(f, (0, 1)))(W, H))
    stacked = [v.aval.shape for v in forward.outputs[1:]]
    assert stacked == [(7, 3)], "the carry alone: neither exp(w) nor the xs"
    assert any(atom.aval.shape == (3, 3) for atom in backward.inputs)


def test_a_linear_loop_keeps_nothing() -> None:
    def f(h: Any) -> Any:
        return np.sum(lax.scan(lambda h, _: (W @ h, None), h, None, length=4)[0])

    scans = scans_of(fg.make_program(fg.grad(f))(H))
    assert len(scans) == 1
    assert scans[0].primitive.reverse
    np.testing.assert_allclose(fg.grad(f)(H), np.ones(3) @ np.linalg.matrix_power(W, 4))


def test_forward_mode_keeps_nothing() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (np.sin(c) * x, None), x, None, length=100)[0]

    (scan,) = scans_of(fg.make_program(lambda x: fg.jvp(f, (x,), (1.0,)))(0.5))
    assert [v.aval.shape for v in scan.outputs] == [(), ()]


def test_the_zeros_of_a_selection_after_a_scan_stay_zero() -> None:
    def f(x: Any) -> Any:
        c, ys = lax.scan(lambda c, _: (np.sqrt(c), np.sqrt(c)), x, None, length=2)
        return np.sum(np.where(x > 0.0, c, 0.0)) + np.sum(np.where(x > 0.0, ys[1], 0.0))

    np.testing.assert_array_equal(fg.grad(f)(0.0), 0.0)
    np.testing.assert_allclose(fg.grad(f)(16.0), 2 * 0.25 * 16.0**-0.75)


def test_selections_inside_a_body_leak_no_nan() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            safe = np.where(x > 0.0, np.sqrt(x), 0.0)
            return c + safe, safe * c

        c, ys = lax.scan(step, 0.0, x)
        return c + np.sum(ys)

    grads = fg.grad(f)(np.array([0.0, 4.0, -1.0, 1.0]))
    assert np.all(np.isfinite(grads))
    assert grads[0] == grads[2] == 0.0


def test_the_fingerprint_does_not_depend_on_values() -> None:
    from funcgrad.api.calling.calls import CACHE

    def f(x: Any, step_size: float) -> Any:
        return lax.scan(lambda c, _: (c - step_size * np.sin(c), None), x, None, length=5)[0]

    fg.grad(f)(0.5, 0.1)
    before = CACHE.misses
    fg.grad(f)(0.7, 0.2)
    assert CACHE.misses == before


# -- fori_loop and map -------------------------------------------------------------------------------------


def test_fori_loop_with_fixed_bounds_is_a_scan() -> None:
    def f(x: Any) -> Any:
        return lax.fori_loop(1, 5, lambda i, y: y * x + i, x)

    y = 0.7
    for i in range(1, 5):
        y = y * 0.7 + i
    np.testing.assert_allclose(f(0.7), y)
    check_grads(f, (0.7,), order=3)
    assert [e.primitive.name for e in fg.make_program(f)(0.7)] == ["scan"]
    check_vmap(f, (np.array([0.7, 0.1]),))


def test_fori_loop_without_trips() -> None:
    assert lax.fori_loop(3, 3, lambda i, y: y * 2.0, 1.5) == 1.5
    assert lax.fori_loop(3, -3, lambda i, y: y * 2.0, 1.5) == 1.5
    assert fg.grad(lambda x: lax.fori_loop(3, -3, lambda i, y: y * 2.0, x))(1.5) == 1.0


def test_fori_loop_indexes_arrays() -> None:
    table = np.array([0.3, -0.8, 1.4, 0.2])

    def f(table: Any) -> Any:
        return lax.fori_loop(0, 4, lambda i, total: total + fg.numpy.take(table, i) * (i + 1.0), 0.0)

    np.testing.assert_allclose(fg.grad(f)(table), [1.0, 2.0, 3.0, 4.0])


def test_fori_loop_counts_in_the_dtype_of_its_bounds() -> None:
    assert lax.fori_loop(np.int8(0), np.int8(3), lambda i, n: n + i, np.int8(0)).dtype == np.int8
    assert lax.fori_loop(0, 3, lambda i, x: x + i, np.float32(0.0)).dtype == np.float32
    assert lax.fori_loop(np.array(0), np.array(3), lambda i, n: n + i, 0) == 3


@pytest.mark.parametrize("batch_size", [None, 0, 1, 2, 3, 7, 10])
def test_map(batch_size: int | None) -> None:
    def f(p: Any) -> Any:
        return {"s": np.sum(p["x"]) * p["y"], "x": np.sin(p["x"])}

    xs = {"x": RNG.normal(size=(7, 2)), "y": np.arange(7.0)}
    out = lax.map(f, xs, batch_size=batch_size)
    np.testing.assert_allclose(out["s"], xs["x"].sum(axis=1) * xs["y"])
    np.testing.assert_allclose(out["x"], np.sin(xs["x"]))
    check_grads(lambda x: lax.map(f, {"x": x, "y": xs["y"]}, batch_size=batch_size)["s"], (xs["x"],), order=1)


def test_map_in_batches_of_less_than_nothing() -> None:
    with pytest.raises(ValueError, match="batch_size counts rows"):
        lax.map(np.sin, np.ones(3), batch_size=-1)


def test_map_of_nothing() -> None:
    assert lax.map(np.sin, np.zeros((0, 2))).shape == (0, 2)
    assert lax.map(np.sin, np.zeros((0, 2)), batch_size=3).shape == (0, 2)


def multiplied(p: Any, c: Any) -> Any:
    return np.sin(c[1]) * p, c[0] * p, c[2] + np.sum(c[1])


def rounded(p: Any, c: Any) -> Any:
    return np.sin(c[0]) * p, np.floor(c[0]), c[2] + np.sum(c[1])


def selected(p: Any, c: Any) -> Any:
    return np.where(c[1] > 0, c[1], p), np.where(c[0] > 0, c[1], 0.0) * p, c[2] + np.sum(c[0])


@pytest.mark.parametrize(("trip", "passes"), [(multiplied, (1, 1)), (rounded, (2, 1)), (selected, (1, 3))])
def test_what_derivatives_reach_trip_by_trip_is_foreseen_but_for_zeros(
    trip: Any, passes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bodies are differentiated and transposed once, and become what they become part by part."""

    def f(p: Any) -> Any:
        start = np.array([0.3, -0.2]), np.array([0.1, 0.7]), np.float64(0.5)
        return lax.fori_loop(0, 4, lambda _, c: trip(p, c), start)[2]

    x = np.array([0.4, 1.3])
    check_grads(f, (x,), order=2)
    (scan,) = [e.primitive for e in fg.make_program(f)(x).equations if e.primitive.name == "scan"]
    active = scan.step.parts(
        [False] * scan.n_carry + [v.aval.shape == (2,) for v in scan.body.inputs[scan.n_carry :]]
    )
    counted = Counter[str]()

    def made() -> tuple[Any, Any]:
        linear = forward.linear_step(scan.step, active)
        n = len(linear.linear.carry_avals)
        flags = linear.linear.parts([k < n for k in range(len(linear.linear.program.inputs))])
        return linear, backward.transposed_step(linear.linear, flags, Bars((None,) * (n - 1) + (False,), ()))

    for kind in (forward.StepTangents, backward.StepTranspose):
        monkeypatch.setattr(kind, "__init__", counting(kind.__init__, kind.__name__, counted))
    foreseen = made()
    assert (counted["StepTangents"], counted["StepTranspose"]) == passes
    monkeypatch.setattr(forward, "reached_carry", lambda step, active: active.carry)
    monkeypatch.setattr(backward, "reached_marks", lambda step, linear, bars: bars.carry)
    assert foreseen == made()


def counting(function: Any, name: str, counted: Counter[str]) -> Any:
    """The function, which counts its calls."""

    def called(*args: Any) -> Any:
        counted[name] += 1
        return function(*args)

    return called


def test_empty_arrays_change_places_with_others() -> None:
    """Nothing is written into them: their memory is named where they change places alone."""

    def step(carry: Any, x: Any) -> Any:
        one, other = carry
        return (np.concatenate([other, other]), one * x), x

    run = fg.jit(lambda carry, xs: lax.scan(step, carry, xs))
    (one, other), ys = run((np.zeros(0), np.zeros(0)), np.arange(3.0))
    assert one.shape == other.shape == (0,)
    np.testing.assert_array_equal(ys, np.arange(3.0))
