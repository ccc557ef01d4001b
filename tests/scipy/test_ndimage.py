"""The functions of ``fg.scipy.ndimage``, all by one table, against SciPy's own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.testing import check_grads

RNG = np.random.default_rng(7)
LINE, IMAGE, BLOCK = RNG.normal(size=9), RNG.normal(size=(6, 7)), RNG.normal(size=(3, 4, 5))
W1, W2 = RNG.normal(size=4), RNG.normal(size=(2, 3))
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
ALL_MODES = (*MODES, "grid-constant", "grid-wrap", "grid-mirror")
NEAR = RNG.uniform(0.1, 4.9, size=(2, 5)) + 1e-3
FAR = RNG.uniform(-17.0, 21.0, size=(2, 8))
MATRIX = np.array([[0.9, 0.2], [-0.1, 1.1]])

Case = tuple[Callable[..., Any], tuple[Any, ...]]

CASES: dict[str, Case] = {
    **{
        f"correlate1d {mode}": (lambda n, x, w, m=mode: n.correlate1d(x, w, 0, mode=m, cval=0.7), (IMAGE, W1))
        for mode in ALL_MODES
    },
    "correlate1d origin": (lambda n, x, w: n.correlate1d(x, w, origin=-2), (IMAGE, W1)),
    "convolve1d": (lambda n, x, w: n.convolve1d(x, w, origin=1), (IMAGE, W1)),
    "long weights": (lambda n, x, w: n.correlate1d(x, w, mode="reflect"), (LINE[:3], LINE)),
    **{
        f"correlate {mode}": (lambda n, x, w, m=mode: n.correlate(x, w, mode=m, cval=0.7), (IMAGE, W2))
        for mode in MODES
    },
    "correlate origin": (lambda n, x, w: n.correlate(x, w, origin=[0, -1]), (IMAGE, W2)),
    "convolve": (lambda n, x, w: n.convolve(x, w, mode="wrap"), (IMAGE, W2)),
    "convolve block": (lambda n, x, w: n.convolve(x, w[None]), (BLOCK, W2)),
    **{
        f"gaussian {mode}": (lambda n, x, s, m=mode: n.gaussian_filter(x, s, mode=m), (IMAGE, np.array(0.9)))
        for mode in MODES
    },
    "gaussian widths": (lambda n, x, s: n.gaussian_filter(x, s, order=[1, 2]), (IMAGE, np.array([0.9, 1.3]))),
    "gaussian1d": (lambda n, x, s: n.gaussian_filter1d(x, s, 0, 3), (IMAGE, np.array(1.1))),
    "gaussian radius": (lambda n, x, s: n.gaussian_filter1d(x, s, radius=2), (LINE, np.array(1.1))),
    "uniform": (lambda n, x: n.uniform_filter(x, [3, 2], mode="nearest"), (IMAGE,)),
    "uniform1d": (lambda n, x: n.uniform_filter1d(x, 4, 0, origin=1), (IMAGE,)),
    "sobel": (lambda n, x: n.sobel(x, 0), (BLOCK,)),
    "prewitt": (lambda n, x: n.prewitt(x, mode="mirror"), (IMAGE,)),
    "laplace": (lambda n, x: n.laplace(x, mode="constant", cval=0.5), (BLOCK,)),
    "gaussian laplace": (lambda n, x, s: n.gaussian_laplace(x, s), (IMAGE, np.array(0.8))),
    **{
        f"spline {order} {mode}": (lambda n, x, o=order, m=mode: n.spline_filter(x, o, mode=m), (IMAGE,))
        for order in (2, 3, 4, 5)
        for mode in ("mirror", "reflect", "grid-wrap")
    },
    "spline1d": (lambda n, x: n.spline_filter1d(x, 3, 0), (IMAGE,)),
    **{
        f"map {order} {mode}": (
            lambda n, x, c, o=order, m=mode: n.map_coordinates(x, c, order=o, mode=m, cval=0.7),
            (IMAGE, NEAR),
        )
        for order in range(6)
        for mode in ALL_MODES
    },
    **{
        f"map far {mode}": (
            lambda n, x, c, m=mode: n.map_coordinates(x, c, order=3, mode=m, cval=0.7),
            (IMAGE, FAR),
        )
        for mode in ALL_MODES
    },
    "map unfiltered": (lambda n, x, c: n.map_coordinates(x, c, prefilter=False), (IMAGE, NEAR)),
    "map line": (lambda n, x, c: n.map_coordinates(x, c, order=2), (LINE, NEAR[:1])),
    **{
        f"affine {mode}": (
            lambda n, x, m, o, k=mode: n.affine_transform(x, m, o, mode=k),
            (IMAGE, MATRIX, np.array([0.317, -0.637])),
        )
        for mode in ALL_MODES
    },
    "affine homogeneous": (
        lambda n, x, m: n.affine_transform(x, m, output_shape=(4, 5), order=1),
        (IMAGE, np.concatenate([MATRIX, [[0.33], [0.21]]], 1)),
    ),
    "affine diagonal": (
        lambda n, x, m, o: n.affine_transform(x, m, o, order=2),
        (IMAGE, np.array([0.83, 1.12]), np.array([0.317, -0.637])),
    ),
    **{
        f"zoom {order} {mode}": (
            lambda n, x, o=order, m=mode: n.zoom(x, [1.7, 0.6], order=o, mode=m),
            (IMAGE,),
        )
        for order, mode in ((3, "constant"), (1, "nearest"), (2, "mirror"), (5, "reflect"), (0, "constant"))
    },
    "zoom grid": (lambda n, x: n.zoom(x, 2, mode="grid-wrap", grid_mode=True), (IMAGE,)),
    "zoom nothing": (lambda n, x: n.zoom(x, 1.0), (IMAGE,)),
    **{
        f"shift {mode}": (
            lambda n, x, s, m=mode: n.shift(x, s, mode=m, cval=0.4),
            (IMAGE, np.array([0.7, -1.6])),
        )
        for mode in ALL_MODES
    },
    "shift block": (lambda n, x, s: n.shift(x, s, order=1), (BLOCK, np.array(0.3))),
    "rotate": (lambda n, x, a: n.rotate(x, a), (IMAGE, np.array(17.0))),
    "rotate kept": (lambda n, x, a: n.rotate(x, a, reshape=False, mode="nearest"), (IMAGE, np.array(-40.0))),
    "rotate block": (
        lambda n, x, a: n.rotate(x, a, axes=(0, 2), reshape=False, order=1),
        (BLOCK, np.array(20.0)),
    ),
}


SIZED_BY_VALUES = ("gaussian", "rotate")
NOT_COMPILED = {name for name in CASES if name.startswith(SIZED_BY_VALUES)} | {
    # What a mode does comes before what an order does: each of either is compiled with one of the other. Of
    # places beyond the edges, made by a matrix or by an offset, so are the modes that differ from each other.
    *(f"map {order} {mode}" for order in range(6) for mode in ALL_MODES if order != 3 and mode != "mirror"),
    *(f"{kind} {m}" for kind in ("map far", "affine", "shift") for m in ("reflect", "nearest", "mirror")),
    *(f"{kind} {m}" for kind in ("affine", "shift") for m in ("grid-wrap", "grid-mirror", "grid-constant")),
    *(f"spline {order} {mode}" for order in (2, 4) for mode in ("mirror", "grid-wrap")),
}


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:It is recommended:UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_images(name: str) -> None:
    call, arrays = CASES[name]
    every = tuple(range(len(arrays)))

    def ours(*arrays: Any) -> Any:
        return call(fg.scipy.ndimage, *arrays)

    def weighed(found: Any) -> Any:
        return np.sum(np.cos(found) * np.linspace(0.5, 1.5, found.size).reshape(found.shape))

    def total(*arrays: Any) -> Any:
        return weighed(ours(*arrays))

    expected = call(scipy.ndimage, *arrays)
    recorded = fg.jvp(ours, arrays, arrays)[0]
    assert recorded.shape == expected.shape
    np.testing.assert_allclose(recorded, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(ours(*arrays), expected)
    slopes = fg.grad(total, argnums=every)(*arrays)
    directions = [RNG.normal(size=np.shape(x)) for x in arrays]
    h = 1e-6

    def along(t: float) -> float:
        moved = [x + t * d for x, d in zip(arrays, directions, strict=True)]
        return float(weighed(call(scipy.ndimage, *moved)))

    slope = sum(float(np.sum(s * d)) for s, d in zip(slopes, directions, strict=True))
    np.testing.assert_allclose(slope, (along(h) - along(-h)) / (2 * h), rtol=1e-5, atol=1e-5)
    if name not in NOT_COMPILED:
        for compiled, slope in zip(fg.jit(fg.grad(total, argnums=every))(*arrays), slopes, strict=True):
            np.testing.assert_allclose(compiled, slope, rtol=1e-8, atol=1e-9)
    check_grads(total, arrays, order=1 if name == "map 0" else 2)
    batch = np.stack([arrays[0], 1.1 * arrays[0]])
    together = fg.vmap(lambda x: ours(x, *arrays[1:]))(batch)
    np.testing.assert_allclose(together, [ours(x, *arrays[1:]) for x in batch], rtol=1e-8, atol=1e-9)


def test_single_precision_stays() -> None:
    x = IMAGE.astype(np.float32)
    for call in (
        lambda n, x: n.gaussian_filter(x, 0.8),
        lambda n, x: n.zoom(x, 1.5),
        lambda n, x: n.sobel(x),
        lambda n, x: n.map_coordinates(x, NEAR),
    ):
        expected = call(scipy.ndimage, x)
        found = fg.jit(lambda x, c=call: c(fg.scipy.ndimage, x))(x)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_refusals_name_the_way() -> None:
    weights = np.arange(42.0).reshape(6, 7)
    ours = fg.grad(lambda x: (fg.scipy.ndimage.sobel(x) * weights).sum())(IMAGE)
    np.testing.assert_allclose(fg.grad(lambda x: (scipy.ndimage.sobel(x) * weights).sum())(IMAGE), ours)
    np.testing.assert_allclose(fg.vjp(scipy.ndimage.sobel, IMAGE)[1](weights)[0], ours)
    with pytest.raises(UnsupportedFunctionError, match="output="):
        fg.grad(lambda x: fg.scipy.ndimage.sobel(x, output=np.zeros((6, 7))).sum())(IMAGE)
    with pytest.raises(UnsupportedFunctionError, match="traced factor"):
        fg.grad(lambda z: fg.scipy.ndimage.zoom(IMAGE, z).sum())(1.5)
    with pytest.raises(RuntimeError, match="boundary mode"):
        fg.grad(lambda x: fg.scipy.ndimage.sobel(x, mode="other").sum())(IMAGE)
    with pytest.raises(RuntimeError, match="order"):
        fg.grad(lambda x: fg.scipy.ndimage.map_coordinates(x, NEAR, order=6).sum())(IMAGE)


@pytest.mark.parametrize("name", CASES)
def test_each_argument_may_be_traced_alone_and_without_values(name: str) -> None:
    function, args = CASES[name]
    expected = function(scipy.ndimage, *args)
    for k, arg in enumerate(args):
        if k and name.startswith(SIZED_BY_VALUES):
            continue  # the width says how long the weights are, and the angle how large the result is

        def of_one(x: Any, k: int = k) -> Any:
            return function(fg.scipy.ndimage, *args[:k], x, *args[k + 1 :])

        for found in fg.vmap(of_one)(np.stack([arg, arg])):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_width_of_a_gaussian_may_be_traced_without_a_value() -> None:
    """Its window needs a size then; a Gaussian that is a point leaves the image."""

    def f(s: Any) -> Any:
        return np.sum(fg.scipy.ndimage.gaussian_filter(np.eye(5), s, radius=2) ** 2)

    np.testing.assert_allclose(fg.jit(fg.grad(f))(0.8), fg.grad(f)(0.8))
    np.testing.assert_allclose(fg.vmap(f)(np.array([0.0, 0.8])), [5.0, f(0.8)])
    with pytest.raises(fg.errors.ConcretizationError, match="Give radius="):
        fg.jit(lambda s: fg.scipy.ndimage.gaussian_filter(np.eye(5), s))(0.8)
