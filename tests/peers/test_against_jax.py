"""The same functions in funcgrad and in jax: values, gradients, second derivatives, batches, structures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lawbook.functions import ENTRIES, Entry

import funcgrad as fg

pytestmark = pytest.mark.peers("jax")

each_entry = pytest.mark.parametrize("entry", [e for e in ENTRIES if "jax" not in e.avoids], ids=repr)


def assert_equal_trees(ours: Any, theirs: Any, rtol: float = 1e-10) -> None:
    """Two results of one structure, whatever the array classes."""
    import jax

    our_leaves, their_leaves = fg.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(our_leaves) == len(their_leaves)
    for x, y in zip(our_leaves, map(np.asarray, their_leaves), strict=True):
        assert np.shape(x) == y.shape
        scale = float(np.abs(y).max(initial=0.0))
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * max(1.0, scale))


def derivatives(jax: Any, loss: Any, numbers: tuple[int, ...]) -> Any:
    """Value, gradients and the second derivative by the first argument, compiled: operation by operation
    jax would compile each of them."""

    def compute(tangent: Any, *args: Any) -> Any:
        x, *rest = args
        slope = jax.grad(loss)
        second = jax.jvp(lambda x: slope(x, *rest), (x,), (tangent,))[1]
        return jax.value_and_grad(loss, numbers)(*args), second

    return jax.jit(compute)


@each_entry
def test_value_gradient_and_second_derivative(entry: Entry) -> None:
    import jax
    import jax.numpy as jnp

    x, *rest = entry.args
    tangent = np.cos(np.arange(float(np.size(x)))).reshape(np.shape(x))[()]
    numbers = tuple(range(len(entry.args)))
    theirs, their_second = derivatives(jax, entry.loss(jnp), numbers)(tangent, *entry.args)
    for module in (np, fg.numpy):
        loss = entry.loss(module)
        assert_equal_trees(fg.value_and_grad(loss, numbers)(*entry.args), theirs)
        second = fg.jvp(lambda x: fg.grad(loss)(x, *rest), (x,), (tangent,))[1]  # noqa: B023 - called now
        assert_equal_trees(second, their_second, 1e-9)


@each_entry
def test_batch_of_gradients(entry: Entry) -> None:
    import jax
    import jax.numpy as jnp

    batches = [np.stack([x, 0.9 * x, x * 1.1]) for x in entry.args]
    ours = fg.vmap(fg.grad(entry.loss(np)))(*batches)
    assert_equal_trees(ours, jax.jit(jax.vmap(jax.grad(entry.loss(jnp))))(*batches))


# -- awkward points on which the conventions agree -------------------------------------------------

AWKWARD = {
    "sqrt_at_zero": (lambda np, x: np.sqrt(x), 0.0),
    "square_of_sqrt_under_where": (
        lambda np, x: np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), 0.0),
        0.0,
    ),
    "maximum_of_itself": (lambda np, x: np.maximum(x, x), 1.0),
    "maximum_tie": (lambda np, x: np.maximum(x, 1.0), 1.0),
    "minimum_tie": (lambda np, x: np.minimum(x, 1.0), 1.0),
    "max_of_ties": (lambda np, x: np.max(x), [1.0, 2.0, 2.0, 0.0]),
    "min_of_ties": (lambda np, x: np.min(x), [1.0, 0.0, 2.0, 0.0]),
    "sort_of_ties": (lambda np, x: np.sum(np.sort(x) * np.array([1.0, 2.0, 3.0])), [1.0, 1.0, 0.0]),
    "power_zero": (lambda np, x: x**0, 0.0),
    "power_one": (lambda np, x: x**1, 0.0),
    "power_two": (lambda np, x: x**2, 0.0),
    "power_of_traced_exponent": (lambda np, x: 2.0**x, 0.0),
    "zero_to_the_power": (lambda np, x: np.power(0.0, x), 2.0),
    "negative_base": (lambda np, x: x**3, -2.0),
    "tanh_far_out": (lambda np, x: np.tanh(x), 400.0),
    "exp_overflow_under_where": (
        lambda np, x: np.where(x < 1.0, np.exp(np.where(x < 1.0, x, 0.0)), 1.0),
        1000.0,
    ),
    "logaddexp_far_out": (lambda np, x: np.logaddexp(x, 0.0), 800.0),
    "logaddexp_of_minus_infinity": (lambda np, x: np.logaddexp(x, -np.inf), 0.0),
    "hypot_on_axis": (lambda np, x: np.hypot(x, 0.0), 3.0),
    "arctan2_on_axis": (lambda np, x: np.arctan2(x, -1.0), 0.0),
    "sign_at_zero": (lambda np, x: np.sign(x), 0.0),
    "floor_at_integer": (lambda np, x: np.floor(x) + x, 2.0),
    "sinc_at_zero": (lambda np, x: np.sinc(x), 0.0),
    "prod_with_a_zero": (lambda np, x: np.prod(x), [2.0, 0.0, 3.0]),
    "prod_with_two_zeros": (lambda np, x: np.prod(x), [2.0, 0.0, 0.0]),
    "cumprod_with_a_zero": (lambda np, x: np.sum(np.cumprod(x)), [2.0, 0.0, 3.0]),
    "empty_sum": (lambda np, x: np.sum(x[:0]) + x[0], [2.0]),
    "repeated_indices": (lambda np, x: np.sum(x[np.array([0, 0, 1])] ** 2), [2.0, 3.0]),
    "mean_of_one": (lambda np, x: np.mean(x), [3.0]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_point(name: str) -> None:
    import jax
    import jax.numpy as jnp

    f, at = AWKWARD[name]
    x = np.asarray(at)[()]
    ours = fg.value_and_grad(lambda x: f(np, x))(x)
    theirs = jax.value_and_grad(lambda x: f(jnp, x))(jnp.asarray(x))
    assert_equal_trees(ours, theirs)


# -- complex numbers -------------------------------------------------------------------------------

Z = np.array([1.0 + 2.0j, -0.5 + 0.1j, 0.3 - 1.0j])

REAL_LOSSES = {
    "abs": lambda np, z: np.sum(np.abs(z)),
    "square": lambda np, z: np.sum(np.real(z) ** 2 * np.imag(z)),
    "conjugate": lambda np, z: np.real(np.sum(z * np.conj(z) * z)),
    "exp": lambda np, z: np.imag(np.sum(np.exp(z) * np.sin(z))),
    "power": lambda np, z: np.real(np.sum(z**3 + z**0.5)),
    "angle": lambda np, z: np.sum(np.angle(z)),
    "mixed": lambda np, z: np.abs(np.sum(z / (1.0 + np.abs(z)))),
    "matmul": lambda np, z: np.real(np.sum(np.outer(z, np.conj(z)) @ z)),
    "log": lambda np, z: np.real(np.sum(np.log(z) * np.sqrt(z))),
    "var": lambda np, z: np.var(z),
}


@pytest.mark.parametrize("name", REAL_LOSSES)
def test_gradient_of_a_real_loss_of_complex_numbers(name: str) -> None:
    import jax
    import jax.numpy as jnp

    f = REAL_LOSSES[name]
    ours = fg.grad(lambda z: f(np, z))(Z)
    theirs = jax.grad(lambda z: f(jnp, z))(jnp.asarray(Z))
    assert_equal_trees(ours, theirs)


@pytest.mark.parametrize(
    "name", ["exp", "sin", "tanh", "log", "sqrt", "arctan", "conj", "abs", "real", "imag", "square"]
)
def test_pushforward_and_pullback_of_complex_functions(name: str) -> None:
    import jax
    import jax.numpy as jnp

    f, g = getattr(np, name), getattr(jnp, name)
    t = np.array([0.5 - 1.0j, 1.0 + 0.0j, 2.0j])
    z, jt = jnp.asarray(Z), jnp.asarray(t)
    assert_equal_trees(fg.jvp(f, (Z,), (t,)), jax.jvp(g, (z,), (jt,)))
    bar = t if np.iscomplexobj(f(Z)) else t.real
    assert_equal_trees(fg.vjp(f, Z)[1](bar), jax.vjp(g, z)[1](jnp.asarray(bar)))


# -- structures ------------------------------------------------------------------------------------


def nested(np: Any, p: Any, x: Any) -> Any:
    return {"y": np.tanh(p["w"] @ x + p["b"]), "z": (np.sum(x), [p["b"] * 2.0])}


P = {"w": np.arange(6.0).reshape(2, 3) / 10.0, "b": np.array([0.1, -0.2])}
V = np.array([1.0, -1.0, 0.5])


@pytest.mark.parametrize("transform", ["jacfwd", "jacrev"])
def test_jacobian_of_structures(transform: str) -> None:
    import jax
    import jax.numpy as jnp

    ours = getattr(fg, transform)(lambda p, x: nested(np, p, x), argnums=(0, 1))(P, V)
    theirs = getattr(jax, transform)(lambda p, x: nested(jnp, p, x), argnums=(0, 1))(
        jax.tree.map(jnp.asarray, P), jnp.asarray(V)
    )
    assert_equal_trees(ours, theirs)


def test_hessian_of_structures() -> None:
    import jax
    import jax.numpy as jnp

    def loss(np: Any) -> Any:
        return lambda p: np.sum(nested(np, p, V)["y"] ** 2)

    assert_equal_trees(fg.hessian(loss(np))(P), jax.hessian(loss(jnp))(jax.tree.map(jnp.asarray, P)))


def test_linearize_and_linear_transpose() -> None:
    import jax
    import jax.numpy as jnp

    out, push = fg.linearize(lambda x: nested(np, P, x), V)
    their_out, their_push = jax.linearize(lambda x: nested(jnp, P, x), jnp.asarray(V))
    assert_equal_trees(out, their_out)
    assert_equal_trees(push(V), their_push(jnp.asarray(V)))
    ours = fg.linear_transpose(lambda x: P["w"] @ x, V)(P["b"])
    theirs = jax.linear_transpose(lambda x: jnp.asarray(P["w"]) @ x, jnp.asarray(V))(jnp.asarray(P["b"]))
    assert_equal_trees(ours, theirs)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (1, 0), (-1, -1)])
def test_vmap_axes(axes: Any) -> None:
    import jax
    import jax.numpy as jnp

    x, y = np.arange(9.0).reshape(3, 3), np.linspace(-1.0, 1.0, 9).reshape(3, 3)

    def f(np: Any) -> Any:
        return lambda x, y: (np.outer(x, y), np.sum(x) * y)

    ours = fg.vmap(f(np), in_axes=axes, out_axes=(1, -1))
    theirs = jax.vmap(f(jnp), in_axes=axes, out_axes=(1, -1))
    assert_equal_trees(
        ours(x[0] if axes[0] is None else x, y),
        theirs(jnp.asarray(x[0] if axes[0] is None else x), jnp.asarray(y)),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
def test_dtypes_of_results(dtype: Any) -> None:
    import jax
    import jax.numpy as jnp

    x = np.ones(3).astype(dtype)

    def loss(np: Any) -> Any:
        return lambda x: np.sum(np.abs(x * 2.0 + 1) ** 2)

    (ours, our_bar), (theirs, their_bar) = (
        fg.value_and_grad(loss(np))(x),
        jax.value_and_grad(loss(jnp))(jnp.asarray(x)),
    )
    assert (ours.dtype, our_bar.dtype) == (np.asarray(theirs).dtype, np.asarray(their_bar).dtype)
