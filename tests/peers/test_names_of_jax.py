"""Names that programs for JAX expect, with JAX's values and gradients beside ours."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

X = np.random.default_rng(0).normal(size=(4, 5))
Q = np.random.default_rng(1).normal(size=(2, 6, 4, 3))
K = np.random.default_rng(2).normal(size=(2, 5, 2, 3))
ALL = K[:, :, [0, 0, 1, 1]]
IDS = np.array([0, 2, 2, 5])
Case = Callable[[Any, Any], Any]


def count(m: Any, x: Any) -> Any:
    """Integers that depend on `x`."""
    return m.numpy.argsort(x[0])


def parts_of_unique(m: Any, x: Any) -> Any:
    values, index, inverse, counts = m.numpy.unique(
        m.numpy.maximum(x, 0.0), True, True, True, size=14, fill_value=1.0
    )
    return values * (index + 2 * counts) + m.numpy.sum(inverse * x)


def either(m: Any, identity: Any = None) -> Any:
    return m.numpy.frompyfunc(lambda a, b: m.numpy.where(a < b, a * b, a + 0.5 * b), 2, 1, identity=identity)


def bytes_of(m: Any, x: Any) -> Any:
    return m.numpy.packbits(x > 0.0, axis=1)


ENDS = np.array([0, 7, -1, -6])
PLACES, PAIRS, ROWS = (
    np.array([[0], [2], [0]]),
    np.array([[2, 3], [0, 1], [1, 0]]),
    np.array([[4], [0], [1], [1]]),
)


def filled(part: Any) -> Any:
    """Elements, and a number where there are none."""
    return part.get(mode="fill", fill_value=1.0)


def of_rows(m: Any) -> Any:
    """Updates of whole rows."""
    return m.lax.ScatterDimensionNumbers((1,), (0,), (0,))


def of_windows(m: Any) -> Any:
    """Updates of windows of both axes."""
    return m.lax.ScatterDimensionNumbers((1, 2), (), (0, 1))


def cube_root(m: Any, y: Any) -> Any:
    """By Newton's method, differentiated by the equation."""

    def steps(f: Any, start: Any) -> Any:
        return m.lax.fori_loop(0, 30, lambda _, t: t - f(t) / (3.0 * t**2), start)

    return m.lax.custom_root(
        lambda t: t**3 - y, m.numpy.ones_like(y), steps, lambda g, b: b / g(m.numpy.ones_like(b))
    )


def solved(m: Any, a: Any, b: Any) -> Any:
    """The solution of equations, differentiated by them."""
    a = a + 4.0 * np.eye(4)
    turned = lambda f, y: m.numpy.linalg.solve(a.T, y)  # noqa: E731 - beside the other
    return m.lax.custom_linear_solve(lambda x: a @ x, b, lambda f, y: m.numpy.linalg.solve(a, y), turned)


CASES: dict[str, tuple[Case, Any]] = {
    "select": (lambda m, x: m.lax.select(x > 0.0, x, 2.0 * x), X),
    "clamp": (lambda m, x: m.lax.clamp(-0.5, x, 0.5), X),
    "rsqrt": (lambda m, x: m.lax.rsqrt(x**2 + 1.0), X),
    "top_k": (lambda m, x: m.lax.top_k(x, 3)[0], X),
    "dynamic_slice": (lambda m, x: m.lax.dynamic_slice(x, (2, 3), (2, 3)), X),
    "before the beginning": (lambda m, x: m.lax.dynamic_slice(x, (-1, -9), (2, 3)), X),
    "dynamic_slice_in_dim": (lambda m, x: m.lax.dynamic_slice_in_dim(x, 1, 2, axis=1), X),
    "dynamic_index_in_dim": (lambda m, x: m.lax.dynamic_index_in_dim(x, 1, 1, keepdims=False), X),
    "dynamic_update_slice": (lambda m, x: m.lax.dynamic_update_slice(x, x[:2, :2] ** 2, (3, 1)), X),
    "dynamic_update_index": (lambda m, x: m.lax.dynamic_update_index_in_dim(x, x[0] ** 2, 2, 0), X),
    "slice": (lambda m, x: m.lax.slice(x, (0, 1), (4, 5), (2, 3)), X),
    "slice_in_dim": (lambda m, x: m.lax.slice_in_dim(x, 1, 4, 2, axis=1), X),
    "broadcast_in_dim": (lambda m, x: m.lax.broadcast_in_dim(x, (4, 2, 5), (0, 2)), X),
    "rev": (lambda m, x: m.lax.rev(x, (1,)), X),
    "cumsum": (lambda m, x: m.lax.cumsum(x, axis=1, reverse=True), X),
    "cumprod": (lambda m, x: m.lax.cumprod(x, axis=0), X),
    "cummax": (lambda m, x: m.lax.cummax(x, axis=1), X),
    "cummin": (lambda m, x: m.lax.cummin(x, axis=1, reverse=True), X),
    "concatenate": (lambda m, x: m.lax.concatenate([x, x**2], 1), X),
    "expand_dims": (lambda m, x: m.lax.expand_dims(x, (0, 2)), X),
    "tree_map": (lambda m, x: m.tree_util.tree_map(lambda y: y**2, {"a": x})["a"], X),
    "tree_reduce": (lambda m, x: m.tree_util.tree_reduce(lambda a, b: a + b, [x, x**2]), X),
    "dot_product_attention": (lambda m, q: m.nn.dot_product_attention(q, ALL, ALL), Q),
    "of groups": (lambda m, q: m.nn.dot_product_attention(q, K, K, scale=0.3), Q),
    "causal": (lambda m, q: m.nn.dot_product_attention(q, q, q, is_causal=True), Q),
    "nonzero": (lambda m, x: x[m.numpy.nonzero(x > 0.3, size=9, fill_value=(1, 2))], X),
    "cut off": (lambda m, x: x[m.numpy.where(x > 0.0, size=2)], X),
    "flatnonzero": (lambda m, x: m.numpy.ravel(x)[m.numpy.flatnonzero(x < 0.0, size=18, fill_value=-1)], X),
    "argwhere": (lambda m, x: x[0] * m.numpy.argwhere(x > 0, size=15, fill_value=7).sum(), X),
    "unique": (lambda m, x: m.numpy.unique(m.numpy.maximum(x, 0.0), size=18), X),
    "unique filled": (lambda m, x: m.numpy.unique(m.numpy.maximum(x, 0.0), size=18, fill_value=9.0), X),
    "all of unique": (parts_of_unique, X),
    "without values": (lambda m, x: m.numpy.unique(x[:0], size=2, fill_value=3.0), X),
    "union1d": (lambda m, x: m.numpy.union1d(x[0], x[:2], size=12), X),
    "intersect1d": (lambda m, x: m.numpy.intersect1d(x[:2], x[1:], size=6), X),
    "setdiff1d": (lambda m, x: m.numpy.setdiff1d(x[:2], x[1:], size=6), X),
    "setxor1d": (lambda m, x: m.numpy.setxor1d(x[:2], x[1:], size=17), X),
    "none in common": (lambda m, x: m.numpy.intersect1d(x[:1], x[1:], size=2), X),
    "extract": (lambda m, x: m.numpy.extract(x > 0.0, x, size=14, fill_value=2.0), X),
    "compress": (lambda m, x: m.numpy.compress(x[:, 0] > 0.0, x, axis=0, size=3, fill_value=2.0), X),
    "repeat": (lambda m, x: m.numpy.repeat(x, count(m, x) % 3, axis=1, total_repeat_length=8), X),
    "bincount": (lambda m, x: m.numpy.bincount(count(m, x) - 1, weights=x[1], length=3), X),
    "roll": (lambda m, x: m.numpy.roll(x, count(m, x)[0] - 3), X),
    "roll of axes": (lambda m, x: m.numpy.roll(x, count(m, x)[:2], (0, 1)), X),
    "eye": (lambda m, x: x * m.numpy.eye(4, 5, k=count(m, x)[0] - 2), X),
    "tri": (lambda m, x: x * m.numpy.tri(4, 5, k=-count(m, x)[1]), X),
    "frompyfunc": (lambda m, x: either(m)(x, x[0]), X),
    "of numbers": (lambda m, x: m.numpy.frompyfunc(lambda a, b: (a, a - b), 2, 2)(x[0, 0], x[1, 1])[1], X),
    "reduced": (lambda m, x: either(m).reduce(x, axis=1, keepdims=True), X),
    "reduced whole": (lambda m, x: either(m, 2.0).reduce(x, axis=None), X),
    "accumulated": (lambda m, x: either(m).accumulate(x, axis=1), X),
    "outer": (lambda m, x: either(m).outer(x[:2], x[0]), X),
    "packbits": (lambda m, x: x[0] * m.numpy.packbits(x > 0.0, axis=1).sum(), X),
    "unpackbits": (
        lambda m, x: x[0, :2] * m.numpy.unpackbits(bytes_of(m, x), axis=1, count=2, bitorder="little")[0],
        X,
    ),
    "gather": (
        lambda m, x: m.lax.gather(x, PLACES, m.lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 5)),
        X,
    ),
    "gather moved": (
        lambda m, x: m.lax.gather(
            x, PAIRS, m.lax.GatherDimensionNumbers((0, 2), (), (0, 1)), (2, 3), mode="clip"
        ),
        X,
    ),
    "gather filled": (
        lambda m, x: m.lax.gather(
            x, PAIRS, m.lax.GatherDimensionNumbers((), (0, 1), (0, 1)), (1, 1), mode="fill", fill_value=-3.0
        ),
        X,
    ),
    "gather by rows": (
        lambda m, x: m.lax.gather(x, ROWS, m.lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,)), (1, 1)),
        X,
    ),
    "scatter": (lambda m, x: m.lax.scatter(x, PAIRS, x[:3, :2, None], of_windows(m)), X),
    "scatter_add": (lambda m, x: m.lax.scatter_add(x, PLACES, x[1:], of_rows(m)), X),
    "scatter_sub": (lambda m, x: m.lax.scatter_sub(x, PLACES, x[1:], of_rows(m), mode="clip"), X),
    "scatter_mul": (
        lambda m, x: m.lax.scatter_mul(x, PLACES[1:], x[1:3], of_rows(m), unique_indices=True),
        X,
    ),
    "scatter_max": (lambda m, x: m.lax.scatter_max(x, PLACES, x[1:], of_rows(m)), X),
    "custom_root": (lambda m, x: cube_root(m, x[0] ** 2 + 1.0), X),
    "custom_root twice": (lambda m, x: m.grad(lambda y: cube_root(m, y**2 + 1.0).sum())(x[0]), X),
    "custom_linear_solve": (lambda m, x: solved(m, x[:, :4], x[:, 4]), X),
    "custom_linear_solve twice": (
        lambda m, x: m.jacrev(lambda s: solved(m, s * x[:, :4], s**2 * x[:, 4]))(0.5),
        X,
    ),
    "at dropped": (lambda m, x: m.jit(lambda x: x.at[ENDS].set(x[:, 1:2], mode="drop"))(x), X),
    "at added": (lambda m, x: m.jit(lambda x: x.at[:, ENDS].add(x[:, :4], mode="drop"))(x), X),
    "at pairs": (
        lambda m, x: m.jit(lambda x: x.at[ENDS, ENDS[::-1]].mul(2.0, mode="drop", unique_indices=True))(x),
        X,
    ),
    "at clipped": (lambda m, x: m.jit(lambda x: x.at[9, ENDS].get(mode="clip"))(x), X),
    "at filled": (lambda m, x: m.jit(lambda x: filled(x.at[1:9, ENDS[:, None]]))(x), X),
    "at parted": (lambda m, x: m.jit(lambda x: filled(x[None].at[0, :, ENDS]))(x), X),
    "take filled": (lambda m, x: m.numpy.take(x, ENDS[:, None], axis=0, mode="fill", fill_value=-1.0), X),
    "unrolled": (lambda m, x: m.lax.scan(lambda c, a: (c * a + 1.0, c), x[0], x, unroll=2)[1], X),
}  # fmt: skip


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_jaxs(name: str) -> None:
    import jax

    function, at = CASES[name]
    with jax.enable_x64(True):
        expected = np.asarray(function(jax, jax.numpy.asarray(at)))
        weights = np.random.default_rng(3).normal(size=expected.shape)
        slope = np.asarray(jax.grad(lambda x: (function(jax, x) * weights).sum())(jax.numpy.asarray(at)))
    np.testing.assert_allclose(function(fg, at), expected, rtol=1e-6, atol=1e-7)
    for way in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        found = way(lambda x: np.sum(function(fg, x) * weights))(at)
        np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-6)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", ["segment_sum", "segment_prod", "segment_max", "segment_min"])
@pytest.mark.parametrize("count", [None, 4, 7])
def test_segments_are_jaxs(name: str, count: int | None) -> None:
    import jax

    ours = getattr(fg, name)
    for ids in (IDS, np.array([3, 0, 0, -1])):
        with jax.enable_x64(True):
            theirs = lambda x, ids=ids: getattr(jax.ops, name)(x, ids, count)  # noqa: E731 - as ours
            expected = np.asarray(theirs(jax.numpy.asarray(X)))
            weights = np.random.default_rng(3).normal(size=expected.shape)
            weights[~np.isfinite(expected)] = 0.0
            if name == "segment_prod":  # JAX has no gradient of it
                fg.testing.check_grads(lambda x, ids=ids: ours(x, ids, count), (X,))
                slope = None
            else:
                pullback = jax.vjp(theirs, jax.numpy.asarray(X))[1]
                slope = np.asarray(pullback(jax.numpy.asarray(weights))[0])
        np.testing.assert_allclose(ours(X, ids, count), expected)
        found, back = fg.vjp(lambda x, ids=ids: ours(x, ids, count), X)
        np.testing.assert_allclose(found, expected)
        if slope is not None:
            np.testing.assert_allclose(back(weights)[0], slope, rtol=1e-10, atol=1e-12)


def test_positions_may_be_traced() -> None:
    update = fg.jit(lambda x, i: fg.lax.dynamic_update_slice(x, np.ones((1, 2)), (i, i)))
    for i in range(-2, 6):
        start = i + 4 if i < 0 else i
        expected = X.copy()
        row, column = np.clip(start, 0, 3), np.clip(i + 5 if i < 0 else i, 0, 3)
        expected[row, column : column + 2] = 1.0
        np.testing.assert_array_equal(update(X, i), expected)


def test_triangles_begin_at_traced_diagonals() -> None:
    for name in ("tril", "triu"):
        found = fg.vmap(fg.jit(lambda k, name=name: getattr(np, name)(X, k)))(np.arange(-3, 4))
        np.testing.assert_array_equal(found, [getattr(np, name)(X, k) for k in range(-3, 4)])


MOMENTS = {
    "glorot_uniform": 2.0 / 500.0,
    "glorot_normal": 2.0 / 500.0,
    "he_normal": 2.0 / 200.0,
    "he_uniform": 2.0 / 200.0,
    "lecun_normal": 1.0 / 200.0,
    "lecun_uniform": 1.0 / 200.0,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_initializers_have_the_variance_that_they_are_named_for(name: str) -> None:
    made = getattr(fg.nn.initializers, name)()(fg.random.key(0), (200, 300))
    assert abs(made.mean()) < 2e-3
    np.testing.assert_allclose(made.var(), MOMENTS[name], rtol=0.03)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (2, 2, 3)])
def test_orthogonal_matrices(shape: tuple[int, ...]) -> None:
    made = fg.nn.initializers.orthogonal(2.0)(fg.random.key(0), shape).reshape(-1, shape[-1])
    product = made @ made.T if made.shape[0] < made.shape[1] else made.T @ made
    np.testing.assert_allclose(product, 4.0 * np.eye(len(product)), atol=1e-12)


def test_linear_maps_leave_jit_and_are_pickled() -> None:
    x = X[0]
    for transform, weights in ((fg.vjp, np.cos(x) * x), (fg.linearize, np.cos(x) * x)):
        out, linear = fg.jit(lambda x, transform=transform: transform(np.sin, x))(x)
        np.testing.assert_allclose(out, np.sin(x))
        for found in (linear, pickle.loads(pickle.dumps(linear)), fg.tree.map(lambda leaf: leaf, linear)):
            np.testing.assert_allclose(np.ravel(found(x)), weights)
    _, pullback = fg.vjp(np.sin, x)
    applied = fg.jit(lambda pullback, g: pullback(g)[0])
    np.testing.assert_allclose(applied(pullback, x), np.cos(x) * x)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("where", ["", "lax", "lax.linalg", "nn", "nn.initializers", "random"])
def test_every_name_of_jax_is_here_or_is_refused_with_what_to_write_instead(where: str) -> None:
    import importlib
    import types

    theirs = importlib.import_module(f"jax.{where}".rstrip("."))
    ours = importlib.import_module(f"funcgrad.{where}".rstrip("."))
    short = f"fg.{where}".rstrip(".")
    for name in dir(theirs):
        is_module = isinstance(getattr(theirs, name, None), types.ModuleType)
        if name.startswith("_") or is_module or hasattr(ours, name):
            continue
        with pytest.raises(AttributeError) as info:
            getattr(ours, name)
        assert str(info.value).startswith(f"{short} has no {name}: "), name


def test_names_that_are_misspelt_say_so() -> None:
    for module, name in ((fg, "gradd"), (fg.lax, "tahn"), (fg.random, "unifrom"), (fg.nn, "rellu")):
        with pytest.raises(AttributeError, match=r"has no attribute .* Did you mean"):
            getattr(module, name)


@pytest.mark.peers("jax")
def test_delta_orthogonal_windows() -> None:
    import jax

    for shape in ((3, 2, 4), (4, 3, 2, 2), (2, 3, 4, 3, 5)):
        window = fg.nn.initializers.delta_orthogonal(2.0)(fg.random.key(1), shape)
        theirs = np.asarray(jax.nn.initializers.delta_orthogonal(2.0)(jax.random.key(1), shape))
        np.testing.assert_array_equal(window == 0, theirs == 0)
        middle = window[tuple([(n - 1) // 2 for n in shape[:-2]])]
        np.testing.assert_allclose(middle @ middle.T, 4.0 * np.eye(shape[-2]), atol=1e-12)


def test_a_named_scope_changes_nothing_and_jit_tells_its_shapes() -> None:
    @fg.named_scope("whole")
    def f(x: Any) -> Any:
        with fg.named_scope("part"):
            return np.sin(x)[None]

    assert fg.jit(f).eval_shape(np.ones(3)).shape == (1, 3)
    np.testing.assert_allclose(fg.jit(fg.jacobian(f))(np.zeros(2))[0], np.eye(2))


def test_keys_are_their_data() -> None:
    key = fg.random.key(5)
    words = fg.random.key_data(key)
    for again in (fg.random.wrap_key_data(words, impl=fg.random.key_impl(key)), fg.random.clone(key)):
        np.testing.assert_array_equal(again, key)
    assert fg.random.key_dtype() == key.dtype
    with pytest.raises(ValueError, match="keys are pairs of uint64"):
        fg.random.key_data(np.ones(2))
    with pytest.raises(ValueError, match="one kind of keys"):
        fg.random.wrap_key_data(words, impl="rbg")
