"""Convolution and pooling by their definitions, in every transform."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ShapeError
from funcgrad.ops.signal.convolution_plan import Geometry, best_run, computed, plan
from funcgrad.ops.signal.pooling import WindowArgMax


def by_definition(x: Any, w: Any, strides: Any, padding: Any, e: Any, d: Any, groups: int) -> Any:
    """Channels first: four loops over what the words say."""
    n, c = x.shape[:2]
    sizes = x.shape[2:]
    full = np.zeros((n, c, *[(s - 1) * k + 1 + sum(p) for s, k, p in zip(sizes, e, padding, strict=True)]))
    inner = tuple([slice(p[0], p[0] + (s - 1) * k + 1, k) for s, k, p in zip(sizes, e, padding, strict=True)])
    full[(slice(None), slice(None), *inner)] = x
    o, per_group = w.shape[:2]
    counts = [
        (t - ((k - 1) * step + 1)) // s + 1
        for t, k, s, step in zip(full.shape[2:], w.shape[2:], strides, d, strict=True)
    ]
    out = np.zeros((n, o, *counts))
    for j, p in product(range(o), product(*[range(t) for t in counts])):
        g = j // (o // groups)
        for c_in, k in product(range(per_group), product(*[range(t) for t in w.shape[2:]])):
            at = tuple([a * s + b * step for a, s, b, step in zip(p, strides, k, d, strict=True)])
            out[(slice(None), j, *p)] += full[(slice(None), g * per_group + c_in, *at)] * w[(j, c_in, *k)]
    return out


CASES = {
    "line": ((2, 3, 9), (4, 3, 3), (1,), ((0, 0),), (1,), (1,), 1),
    "strided": ((2, 2, 9), (3, 2, 2), (3,), ((1, 2),), (1,), (2,), 1),
    "image": ((2, 3, 6, 8), (4, 3, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 1),
    "image_strided": ((1, 2, 7, 5), (2, 2, 3, 2), (2, 3), ((1, 0), (0, 2)), (1, 1), (1, 2), 1),
    "groups": ((2, 4, 5, 6), (6, 2, 3, 2), (1, 2), ((1, 1), (0, 0)), (1, 1), (1, 1), 2),
    "depthwise": ((2, 3, 5, 6), (3, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 3),
    "dilated_input": ((1, 2, 4, 3), (2, 2, 3, 3), (1, 1), ((2, 2), (1, 1)), (2, 3), (1, 1), 1),
    "volume": ((1, 2, 4, 3, 6), (2, 2, 2, 2, 3), (1, 1, 1), ((0, 1), (1, 0), (1, 1)), (1,) * 3, (1,) * 3, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_conv_is_its_definition(name: str, rng: np.random.Generator) -> None:
    shape, kernel, strides, padding, e, d, groups = CASES[name]
    x, w = rng.normal(size=shape), rng.normal(size=kernel)
    options = {
        "strides": strides,
        "padding": padding,
        "input_dilation": e,
        "kernel_dilation": d,
        "groups": groups,
    }
    expected = by_definition(x, w, strides, padding, e, d, groups)
    np.testing.assert_allclose(fg.nn.conv(x, w, channels_last=False, **options), expected, atol=1e-12)
    last = fg.nn.conv(np.moveaxis(x, 1, -1), np.moveaxis(w, (1, 0), (-2, -1)), **options)
    np.testing.assert_allclose(last, np.moveaxis(expected, 1, -1), atol=1e-12)
    fg.testing.check_grads(lambda x, w: fg.nn.conv(x, w, channels_last=False, **options), (x, w))


def test_vmap_of_conv_is_a_loop(rng: np.random.Generator) -> None:
    x, w = rng.normal(size=(3, 2, 6, 5, 2)), rng.normal(size=(3, 2, 3, 2, 4))

    def layer(x: Any, w: Any) -> Any:
        return np.sum(np.tanh(fg.nn.conv(x, w, padding="same")))

    for axes in ((0, 0), (0, None), (None, 0)):
        args = [v if a == 0 else v[0] for v, a in zip((x, w), axes, strict=True)]
        found = fg.vmap(fg.grad(layer, (0, 1)), in_axes=axes)(*args)
        for k in range(3):
            single = fg.grad(layer, (0, 1))(*[v[k] if a == 0 else v for v, a in zip(args, axes, strict=True)])
            for a, b in zip(found, single, strict=True):
                np.testing.assert_allclose(a[k], b, atol=1e-12)


@pytest.mark.parametrize("run", [1, 2, 4, 8])
def test_runs_of_every_length_give_the_same(run: int, rng: np.random.Generator) -> None:
    x, w = rng.normal(size=(1, 3, 2, 4, 10)), rng.normal(size=(1, 3, 2, 3, 3))
    geometry = Geometry((1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1))
    p = plan(geometry, (4, 10), (3, 3), (3, 2, 3))
    np.testing.assert_allclose(
        computed(p._replace(run=run), x, w), computed(p._replace(run=1), x, w), atol=1e-12
    )
    c = rng.normal(size=(1, 3, 2, 2, 8))
    p = plan(geometry, (4, 10), (2, 8), (3, 2, 3))
    assert p.backward
    np.testing.assert_allclose(
        computed(p._replace(run=run), x, c), computed(p._replace(run=1), x, c), atol=1e-12
    )


def test_runs_divide_what_they_cut() -> None:
    assert best_run(28, 3, 8, 8) in (2, 4)
    assert best_run(28, 3, 256, 256) == 1
    assert best_run(29, 3, 8, 8) == 1


def test_infinities_stay_in_their_windows() -> None:
    x = np.zeros((1, 8, 1), np.float32)
    x[0, 2] = np.inf
    out = fg.nn.conv(x, np.ones((3, 1, 8), np.float32))[0, :, 0]
    assert out.tolist() == [np.inf, np.inf, np.inf, 0, 0, 0]


def test_no_nan_from_what_a_selection_left_out() -> None:
    x = np.array([1.0, np.inf, 2.0, 3.0, 4.0]).reshape(1, 5, 1)

    def loss(w: Any) -> Any:
        out = fg.nn.conv(x, w)
        return np.sum(np.where(np.isfinite(out), out, 0.0))

    assert fg.grad(loss)(np.ones((2, 1, 1)))[:, 0, 0].tolist() == [5.0, 7.0]


def test_conv_transpose_is_the_transpose(rng: np.random.Generator) -> None:
    z, w = rng.normal(size=(2, 8, 7, 4)), rng.normal(size=(3, 2, 2, 6))
    options: dict[str, Any] = {
        "strides": (2, 3),
        "padding": [(1, 0), 1],
        "kernel_dilation": (1, 2),
        "groups": 2,
    }
    out, pullback = fg.vjp(lambda z: fg.nn.conv(z, w, **options), z)
    x = rng.normal(size=out.shape)
    (expected,) = pullback(x)
    less = [
        m - n for m, n in zip(z.shape[1:3], fg.nn.conv_transpose(x, w, **options).shape[1:3], strict=True)
    ]
    found = fg.nn.conv_transpose(x, w, output_padding=[(0, n) for n in less], **options)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_same_padding_keeps_sizes() -> None:
    for n, k, s, d in product((5, 8), (1, 2, 3, 4), (1, 2, 3), (1, 2)):
        if (k - 1) * d + 1 <= n:
            out = fg.nn.conv(np.ones((1, n, 1)), np.ones((k, 1, 1)), s, "same", kernel_dilation=d)
            assert out.shape == (1, -(-n // s), 1)


def test_results_keep_single_precision() -> None:
    x, w = np.ones((1, 4, 1), np.float32), np.ones((3, 1, 1), np.float32)
    assert fg.nn.conv(x, w).dtype == np.float32
    assert fg.nn.conv(x, w.astype(np.float64)).dtype == np.float64


@pytest.mark.parametrize(
    ("x", "w", "options", "words"),
    [
        ((2, 5, 3), (3, 2, 4), {}, "do not fit"),
        ((2, 5, 3), (3, 4), {}, "equally many axes"),
        ((2, 5, 3), (3, 3, 4), {"groups": 2}, "do not fit"),
        ((2, 5, 3), (3, 3, 4), {"strides": 0}, "at least 1"),
        ((2, 5, 3), (3, 3, 4), {"strides": (1, 2)}, "entries for 1 spatial axes"),
        ((2, 5, 3), (3, 3, 4), {"padding": "full"}, "'same', 'valid' or numbers"),
        ((2, 5, 3), (3, 3, 4), {"padding": [1, 1]}, "entries for 1 spatial axes"),
    ],
)
def test_what_does_not_fit_is_refused(x: Any, w: Any, options: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        fg.nn.conv(np.ones(x), np.ones(w), **options)


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("groups", [1, 2])
def test_compiled_layers(channels_last: bool, groups: int, rng: np.random.Generator) -> None:
    """Large enough for runs and for threads; the groups have strides that need copies."""
    x, w = rng.normal(size=(8, 16, 20, 8)), rng.normal(size=(3, 3, 8 // groups, 6))
    if not channels_last:
        x, w = np.moveaxis(x, -1, 1).copy(), np.moveaxis(w, (-1, -2), (0, 1)).copy()

    def loss(args: Any) -> Any:
        out = fg.nn.conv(*args, padding=[1, (0, 2)], groups=groups, channels_last=channels_last)
        return np.mean(fg.nn.relu(out) ** 2)

    step = fg.value_and_grad(loss)
    value, slopes = step((x, w))
    for _ in range(2):
        found, found_slopes = fg.jit(step)((x, w))
        np.testing.assert_allclose(found, value, rtol=1e-12)
        for a, b in zip(found_slopes, slopes, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_compiled_infinities_stay_in_their_windows() -> None:
    x = np.zeros((1, 8, 1), np.float32)
    x[0, 2] = np.inf
    out = fg.jit(lambda x: fg.nn.conv(x, np.ones((3, 1, 8), np.float32)))(x)[0, :, 0]
    assert out.tolist() == [np.inf, np.inf, np.inf, 0, 0, 0]


# -- pooling --------------------------------------------------------------------------------------------


def pooled(x: Any, window: Any, strides: Any, padding: Any, fill: float, reduce: Any) -> Any:
    """Channels last: a loop over windows."""
    full = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=fill)
    counts = [(t - k) // s + 1 for t, k, s in zip(full.shape[1:-1], window, strides, strict=True)]
    out = np.zeros((x.shape[0], *counts, x.shape[-1]))
    for p in product(*[range(t) for t in counts]):
        part = tuple([slice(a * s, a * s + k) for a, s, k in zip(p, strides, window, strict=True)])
        out[(slice(None), *p)] = reduce(full[(slice(None), *part)], axis=tuple(range(1, x.ndim - 1)))
    return out


POOLS = {
    "side_by_side": ((6, 4), (2, 2), (2, 2), ((0, 0), (0, 0))),
    "overlapping": ((7, 5), (3, 2), (2, 1), ((1, 1), (0, 1))),
    "with_rest": ((7, 5), (2, 3), (2, 3), ((0, 0), (0, 0))),
    "whole": ((4, 3), (4, 3), (1, 1), ((0, 0), (0, 0))),
    "with_gaps": ((8, 7), (2, 2), (3, 4), ((0, 0), (1, 0))),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("channels_last", [True, False])
def test_pools_are_their_definitions(name: str, channels_last: bool, rng: np.random.Generator) -> None:
    sizes, window, strides, padding = POOLS[name]
    x = rng.permutation(2 * 3 * int(np.prod(sizes))).reshape(2, *sizes, 3).astype(np.float64)
    given = x if channels_last else np.moveaxis(x, -1, 1)
    for function, fill, reduce in ((fg.nn.max_pool, -np.inf, np.max), (fg.nn.avg_pool, 0.0, np.mean)):
        out = function(given, window, strides, padding, channels_last=channels_last)
        out = out if channels_last else np.moveaxis(out, 1, -1)
        np.testing.assert_allclose(out, pooled(x, window, strides, padding, fill, reduce))
        fg.testing.check_grads(
            lambda x, f=function: f(x, window, strides, padding, channels_last=channels_last), (given,)
        )


def test_max_pool_of_equal_elements_has_the_first() -> None:
    x = np.zeros((1, 4, 1))
    np.testing.assert_array_equal(
        fg.grad(lambda x: np.sum(fg.nn.max_pool(x, 3, 1)))(x)[0, :, 0], [1.0, 1.0, 0.0, 0.0]
    )


def test_max_pool_of_integers_and_nan() -> None:
    assert fg.nn.max_pool(np.array([3, 1, 2, 5]).reshape(1, 4, 1), 2).dtype == np.int64
    out = fg.nn.max_pool(np.array([1.0, np.nan, 2.0, -np.inf, -np.inf, -np.inf]).reshape(1, 6, 1), 2)
    np.testing.assert_array_equal(out[0, :, 0], [np.nan, 2.0, -np.inf])


def test_compiled_positions_of_maxima_are_the_first_of_the_largest(rng: np.random.Generator) -> None:
    """Windows compared along one axis after the other: ties, NaN and padding beside infinities, in one go."""
    cases = [
        ((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1), 0),
        ((3, 2), (2, 1), ((1, 1), (1, 0)), (1, 1), 0),
        ((2, 3), (1, 2), ((1, 0), (2, 1)), (2, 1), 1),
        ((4, 1), (3, 3), ((0, 0), (0, 0)), (1, 2), 1),
    ]
    pools = [WindowArgMax(*case) for case in cases]
    for dtype in (np.float32, np.float64, np.int32):
        x = rng.integers(-2, 3, (2, 7, 6, 5)).astype(dtype)
        if x.dtype.kind == "f":
            for value, share in ((np.nan, 0.1), (-np.inf, 0.4), (-0.0, 0.1)):
                x[rng.random(x.shape) < share] = value
        found = fg.jit(lambda x: [pool.bind(x) for pool in pools])(x)
        for pool, out in zip(pools, found, strict=True):
            expected = pool.evaluate(x)
            assert out.dtype == expected.dtype
            np.testing.assert_array_equal(out, expected)


def test_window_in_the_padding_is_refused() -> None:
    with pytest.raises(ShapeError, match="padding alone"):
        fg.nn.max_pool(np.ones((1, 4, 1)), 2, 1, 3)


def test_avg_pool_counts_padding_or_not() -> None:
    x = np.ones((1, 5, 1))
    assert fg.nn.avg_pool(x, 3, 1, 1)[0, 0, 0] == pytest.approx(2 / 3)
    assert fg.nn.avg_pool(x, 3, 1, 1, count_padding=False)[0, 0, 0] == 1.0
