"""Discrete cosine and sine transforms of types 1 to 4, composed of Fourier transforms.

Makhoul, A fast cosine transform in one and two dimensions (1980), for types 2 and 3; sine transforms are
cosine transforms of what is mirrored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.numpy.fft import fft, ifft, of_length, rfft
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.fft.fourier import scipys, traced_array
from funcgrad.types import Array, ArrayLike, AxisLike, Option, ShapeLike

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the inverse of every type."""


def signs(n: int) -> Array:
    """1, -1, 1, ..."""
    return 1.0 - 2.0 * (np.arange(n) % 2)


def cosine_1(x: ArrayLike) -> Array:
    n = x.shape[-1]
    if n < 2:
        raise ValueError("DCT-I is not defined for size < 2")
    return rfft(np.concatenate([x, x[..., n - 2 : 0 : -1]], axis=-1)).real


def cosine_2(x: ArrayLike) -> Array:
    n = x.shape[-1]
    folded = np.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], axis=-1)
    return 2.0 * (fft(folded) * np.exp(-0.5j * np.pi * np.arange(n) / n)).real


def cosine_3(x: ArrayLike) -> Array:
    n = x.shape[-1]
    mirrored = np.concatenate([0.0 * x[..., :1], x[..., :0:-1]], axis=-1)
    folded = n * ifft((x - 1j * mirrored) * np.exp(0.5j * np.pi * np.arange(n) / n)).real
    order = np.empty(n, np.int64)
    order[::2] = np.arange((n + 1) // 2)
    order[1::2] = np.arange(n - 1, (n + 1) // 2 - 1, -1)
    return folded[..., order]


def cosine_4(x: ArrayLike) -> Array:
    n = x.shape[-1]
    turn = np.exp(-0.5j * np.pi * np.arange(n) / n)
    found = fft(x * turn, 2 * n)[..., :n]
    return 2.0 * (found * turn * np.exp(-0.25j * np.pi / n)).real


def sine_1(x: ArrayLike) -> Array:
    n = x.shape[-1]
    zero = 0.0 * x[..., :1]
    odd = np.concatenate([zero, x, zero, -x[..., ::-1]], axis=-1)
    return -rfft(odd).imag[..., 1 : n + 1]


def sine_2(x: ArrayLike) -> Array:
    return cosine_2(x * signs(x.shape[-1]))[..., ::-1]


def sine_3(x: ArrayLike) -> Array:
    return cosine_3(x[..., ::-1]) * signs(x.shape[-1])


def sine_4(x: ArrayLike) -> Array:
    return cosine_4(x[..., ::-1]) * signs(x.shape[-1])


KERNELS: dict[tuple[str, int], Callable[[Any], Any]] = {
    ("dct", 1): cosine_1,
    ("dct", 2): cosine_2,
    ("dct", 3): cosine_3,
    ("dct", 4): cosine_4,
    ("dst", 1): sine_1,
    ("dst", 2): sine_2,
    ("dst", 3): sine_3,
    ("dst", 4): sine_4,
}

LONGER = {("dct", 1): -1, ("dst", 1): 1}
"""How much longer than the vector half the period is."""

ENDS = {("dct", 1): (0, -1), ("dct", 2): (0,), ("dct", 3): (0,), ("dst", 2): (-1,), ("dst", 3): (-1,)}
"""Elements that are scaled to make the matrix orthogonal."""


def scaled_ends(x: ArrayLike, key: tuple[str, int], factor: float) -> Array:
    """The vector with the elements that count half times a factor."""
    scale = np.ones(x.shape[-1])
    for place in ENDS.get(key, ()):
        scale[place] = factor
    return x * scale


def transformed(
    kind: str,
    x: ArrayLike,
    type: int,
    n: int | None,
    axis: int,
    norm: str | None,
    ortho: bool | None,
    inverse: bool,
) -> Array:
    """A cosine or sine transform along one axis; the inverse is one of another type, scaled otherwise."""
    if type not in INVERSE:
        raise ValueError("invalid type")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    if aval_of(x).dtype.kind == "c":
        parts = [transformed(kind, p, type, n, axis, norm, ortho, inverse) for p in (x.real, x.imag)]
        return parts[0] + 1j * parts[1]
    type = INVERSE[type] if inverse else type
    key = (kind, type)
    dtype = np.result_type(aval_of(x).dtype, np.float32)
    if n is not None:
        x = of_length(x, n, axis % aval_of(x).ndim)
    rows = np.moveaxis(cast(x, dtype), axis, -1)
    period = 2.0 * (rows.shape[-1] + LONGER.get(key, 0))
    ortho = norm == "ortho" if ortho is None else ortho
    if ortho and type in (1, 3):
        rows = scaled_ends(rows, key, np.sqrt(2.0))
    found = KERNELS[key](rows)
    if ortho and type in (1, 2):
        found = scaled_ends(found, key, np.sqrt(0.5))
    divided = "backward" if inverse else "forward"
    if norm == "ortho":
        found = found / np.sqrt(period)
    elif (norm or "backward") == divided:
        found = found / period
    return np.moveaxis(cast(found, dtype), -1, axis)


def along(
    name: str, x: ArrayLike, type: int, n: int | None, axis: int, norm: str | None, options: dict[str, Any]
) -> Array:
    """What the functions along one axis do."""
    value = traced_array(x)
    if value is None:
        return scipys(name)(x, type, n, axis, norm, **options)
    if n is not None and n < 1:
        raise ValueError(f"invalid number of data points ({n}) specified")
    inverse = name.startswith("i")
    return transformed(name[-3:], value, type, n, axis, norm, options["orthogonalize"], inverse)


def over(
    name: str,
    x: ArrayLike,
    type: int,
    s: ShapeLike,
    axes: AxisLike,
    norm: str | None,
    options: dict[str, Any],
) -> Array:
    """What the functions along several axes do."""
    value = traced_array(x)
    if value is None:
        return scipys(name)(x, type, s, axes, norm, **options)
    rank = aval_of(value).ndim
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(np.atleast_1d(s)), rank)
    axes = [axes] if isinstance(axes, int) else list(axes)
    sizes = [None] * len(axes) if s is None else list(np.atleast_1d(s))
    inverse = name.startswith("i")
    for size, axis in zip(sizes, axes, strict=True):
        value = transformed(name[-4:-1], value, type, size, axis, norm, options["orthogonalize"], inverse)
    return value


def of_one_axis(name: str) -> Callable[..., Any]:
    """A function along one axis."""

    def function(
        x: Array,
        type: int = 2,
        n: Option = None,
        axis: AxisLike = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        options = {"overwrite_x": overwrite_x, "workers": workers, "orthogonalize": orthogonalize}
        return along(name, x, type, n, axis, norm, options)

    return function


def of_several_axes(name: str) -> Callable[..., Any]:
    """A function along several axes."""

    def function(
        x: Array,
        type: int = 2,
        s: ShapeLike = None,
        axes: AxisLike = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        options = {"overwrite_x": overwrite_x, "workers": workers, "orthogonalize": orthogonalize}
        return over(name, x, type, s, axes, norm, options)

    return function


def defined(name: str, example: str) -> Callable[..., Any]:
    """One of the eight functions, under its name."""
    function = of_several_axes(name) if name.endswith("n") else of_one_axis(name)
    kind = "cosine" if "dct" in name else "sine"
    what = f"The {'inverse of the ' if name.startswith('i') else ''}discrete {kind} transform"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}, as `scipy.fft.{name}`, with derivatives.\n\n{example}"
    return function


def example(call: str, result: str) -> str:
    """An example, indented as in a docstring."""
    return f"    >>> print(fg.scipy.fft.{call}.round(6))\n    {result}\n    "


dct = defined("dct", example("dct(np.array([1.0, 2.0, 4.0]))", "[14.       -5.196152  1.      ]"))
idct = defined("idct", example("idct(np.array([12.0, 0.0, 0.0]))", "[2. 2. 2.]"))
dst = defined("dst", example("dst(np.array([1.0, 2.0, 1.0]), 1)", "[ 6.828427  0.       -1.171573]"))
idst = defined("idst", example("idst(np.array([4.0, 0.0]), 4)", "[0.765367 1.847759]"))
dctn = defined("dctn", example("dctn(np.ones((2, 2)))", "[[16.  0.]\n     [ 0.  0.]]"))
idctn = defined("idctn", example("idctn(np.array([[16.0, 0.0], [0.0, 0.0]]))", "[[1. 1.]\n     [1. 1.]]"))
dstn = defined("dstn", example("dstn(np.ones((1, 1)), 4)", "[[2.]]"))
idstn = defined("idstn", example("idstn(np.ones((1, 1)), 4)", "[[0.5]]"))
