"""How NumPy computes a convolution: windows gathered into a matrix, and one product of matrices.

Owns the geometry (which element of the input meets which element of the kernel) and the evaluation. Knows
nothing of derivatives: `funcgrad.ops.signal.convolution` does.

With ``n`` for examples, ``c`` for channels in, ``o`` for channels out, ``p`` for positions of the result and
``k`` for positions of the kernel, the result is the sum over ``c`` and ``k`` of input ``[n, c, p + k]`` times
kernel ``[o, c, k]``. Gathering copies every element of the input once for every window it is in, and that is
what takes the time where channels are few. So along the last axis whichever of ``p`` and ``k`` is longer is
cut into runs of ``m``: one window of ``m + (length of the shorter) - 1`` elements then serves a run, and the
product does some multiplications by zero, or some that are left out of the sum, in return.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from funcgrad.ir.avals import Shape
from funcgrad.types import Array

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def dilated(n: int, step: int) -> int:
    """The length of `n` elements with ``step - 1`` zeros between neighbours."""
    return (n - 1) * step + 1 if n else 0


class Geometry(NamedTuple):
    """The parameters of a convolution, one entry for each spatial axis."""

    strides: Ints
    padding: Pairs
    input_dilation: Ints
    kernel_dilation: Ints

    def positions(self, sizes: Shape, kernel: Shape) -> Ints:
        """How many positions the kernel has in an input of these sizes."""
        return tuple(
            [
                count(dilated(n, e) + sum(pad), dilated(k, d), s)
                for n, k, s, pad, e, d in zip(sizes, kernel, *self, strict=True)
            ]
        )

    def total(self, sizes: Shape) -> Ints:
        """The sizes of the input with zeros between and around its elements."""
        return tuple(
            [
                dilated(n, e) + sum(pad)
                for n, pad, e in zip(sizes, self.padding, self.input_dilation, strict=True)
            ]
        )


def count(length: int, span: int, step: int) -> int:
    """How many windows of `span` begin at multiples of `step` in `length` elements."""
    return (length - span) // step + 1 if length >= span else 0


class Plan(NamedTuple):
    """What can be decided from shapes: see the module's docstring for the letters."""

    geometry: Geometry
    positions: Ints
    kernel: Ints
    run: int
    """The length ``m`` of the runs; 1 where nothing is cut."""
    backward: bool
    """Whether the kernel is longer than the result, as where a kernel's derivative is computed."""


@lru_cache(maxsize=1024)
def plan(geometry: Geometry, sizes: Shape, kernel: Shape, depths: tuple[int, int, int]) -> Plan:
    """The plan for an input of these spatial sizes; `depths` are examples, channels in and channels out."""
    positions = geometry.positions(sizes, kernel)
    backward = math.prod(kernel) > math.prod(positions)
    n, c, o = depths
    inner = n if backward else c
    longer, shorter = (kernel, positions) if backward else (positions, kernel)
    run = 1
    if kernel and geometry.strides[-1] == geometry.kernel_dilation[-1] == 1 and shorter[-1] > 1:
        run = best_run(longer[-1], shorter[-1], inner, o)
    return Plan(geometry, positions, kernel, run, backward)


GATHERED = 0.15
"""Nanoseconds to copy one number into a window."""
BEGUN = 7.0
"""Nanoseconds to begin copying one row of a window."""
MULTIPLIED = 0.015
"""Nanoseconds for one multiplication in a product of matrices: two cores with wide vectors."""


def best_run(longer: int, shorter: int, inner: int, o: int) -> int:
    """The length of runs that should take the least time, by the three measured constants above."""

    def cost(m: int) -> float:
        width = m + shorter - 1
        return (width * inner * GATHERED + BEGUN) / m + width * inner * o * MULTIPLIED

    return min([m for m in range(1, min(longer, 16) + 1) if longer % m == 0], key=cost)


def convolved(geometry: Geometry, x: Array, w: Array) -> Array:
    """The convolution of ``x[g, n, c, ...]`` with ``w[g, o, c, ...]``, as ``[g, n, o, ...]``."""
    g, n, c = x.shape[:3]
    o = w.shape[1]
    p = plan(geometry, x.shape[3:], w.shape[3:], (n, c, o))
    shape = (g, n, o, *p.positions)
    if not math.prod(shape) or not c or not math.prod(p.kernel):
        return np.zeros(shape, x.dtype)
    # Products of matrices report invalid operations that are in none of their results.
    with np.errstate(invalid="ignore"):
        out = computed(p, x, w)
        if p.run > 1 and not np.isfinite(np.add.reduce(out, axis=None)):
            # An infinity may have met the zeros of a run: without runs it meets what it should, and no more.
            out = computed(p._replace(run=1), x, w)
    return out


def computed(p: Plan, x: Array, w: Array) -> Array:
    """The convolution by a plan."""
    first, last = (2, 1) if p.backward else (1, 2)
    spatial = tuple(range(3, x.ndim))
    padded = with_zeros(p.geometry, x.transpose((0, first, *spatial, last)))
    windows = gathered(p, padded)
    return by_rows(p, windows, w) if p.backward else by_windows(p, windows, w)


def by_windows(p: Plan, windows: Array, w: Array) -> Array:
    """Windows times kernel: rows are examples and runs of positions."""
    g, o = w.shape[:2]
    matrix = banded(w.transpose((0, *range(3, w.ndim), 2, 1)), p.run)
    out = np.matmul(windows, matrix)
    n = out.size // (g * math.prod(p.positions) * o)
    out = out.reshape((g, n, *p.positions, o))
    return out.transpose((0, 1, out.ndim - 1, *range(2, out.ndim - 1)))


def by_rows(p: Plan, windows: Array, w: Array) -> Array:
    """The transpose of rows times kernel: rows are channels and runs of the kernel's positions.

    Products of a row's element ``u`` with element ``v`` of a run belong to position ``u - v``.
    """
    g, o = w.shape[:2]
    m = p.run
    matrix = w.transpose((0, 2, *range(3, w.ndim), 1)).reshape((g, -1, m * o))
    product = np.matmul(windows.transpose((0, 2, 1)), matrix)
    *rest, last = p.positions
    n = product.size // (g * math.prod(rest) * (last + m - 1) * m * o)
    product = product.reshape((g, math.prod(rest), last + m - 1, n, m, o))
    out = product[:, :, :last, :, 0]
    for v in range(1, m):
        out = out + product[:, :, v : v + last, :, v]
    out = out.reshape((g, *p.positions, n, o))
    ndim = out.ndim
    return out.transpose((0, ndim - 2, ndim - 1, *range(1, ndim - 2)))


def banded(kernel: Array, m: int) -> Array:
    """The matrix that takes a window to a run of `m` results, from ``kernel[g, ..., k, c, o]``."""
    g, o = kernel.shape[0], kernel.shape[-1]
    if m == 1:
        return kernel.reshape((g, -1, o))
    *lead, k, c, _ = kernel.shape
    out = np.zeros((*lead, k + m - 1, c, m, o), kernel.dtype)
    for v in range(m):
        out[..., v : v + k, :, v, :] = kernel
    return out.reshape((g, -1, m * o))


def with_zeros(geometry: Geometry, x: Array) -> Array:
    """``x[g, a, ..., b]`` with the zeros of padding and dilation among its spatial axes.

    Contiguous along the last axis, so that windows are copied in long rows.
    """
    sizes = x.shape[2:-1]
    total = geometry.total(sizes)
    if all(low <= 0 and high <= 0 for low, high in geometry.padding) and all(
        e == 1 or n <= 1 for n, e in zip(sizes, geometry.input_dilation, strict=True)
    ):
        inside = tuple(
            [slice(-low, n + high) for n, (low, high) in zip(sizes, geometry.padding, strict=True)]
        )
        part = x[(slice(None), slice(None), *inside)]
        return part if part.strides[-1] == part.itemsize else np.ascontiguousarray(part)
    out = np.zeros((*x.shape[:2], *total, x.shape[-1]), x.dtype)
    read, written = [], []
    for n, length, (low, _), e in zip(sizes, total, geometry.padding, geometry.input_dilation, strict=True):
        first = -(-max(0, -low) // e)
        stop = max(first, min(n, (length - 1 - low) // e + 1))
        read.append(slice(first, stop))
        written.append(
            slice(low + first * e, low + (stop - 1) * e + 1 if stop > first else low + first * e, e)
        )
    out[(slice(None), slice(None), *written)] = x[(slice(None), slice(None), *read)]
    return out


def gathered(p: Plan, x: Array) -> Array:
    """The windows of ``x[g, a, ..., b]`` as matrices, rows of windows for each `g`."""
    outer_steps, inner_steps = p.geometry.strides, p.geometry.kernel_dilation
    outer, inner = list(p.positions), list(p.kernel)
    if p.backward:
        outer, inner, outer_steps, inner_steps = inner, outer, inner_steps, outer_steps
    outer_strides = scaled(x.strides[2:-1], outer_steps)
    inner_strides = scaled(x.strides[2:-1], inner_steps)
    if p.run > 1:
        outer[-1] //= p.run
        outer_strides[-1] *= p.run
        inner[-1] += p.run - 1
    g, a, b = x.shape[0], x.shape[1], x.shape[-1]
    windows = as_strided(
        x,
        (g, a, *outer, *inner, b),
        (*x.strides[:2], *outer_strides, *inner_strides, x.strides[-1]),
        writeable=False,
    )
    return windows.reshape((g, a * math.prod(outer), math.prod(inner) * b))


def scaled(strides: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Strides in bytes for steps of several elements."""
    return [stride * step for stride, step in zip(strides, steps, strict=True)]
