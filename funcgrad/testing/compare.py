"""Difference quotients, tolerances by precision, and the words for what differs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from funcgrad.testing.flat import FlatFunction, Leaves, is_inexact
from funcgrad.types import Array, ArrayLike

STEPS = {2: 2.0**-3, 4: 2.0**-6, 8: 2.0**-10}
"""Step of the difference quotient by bytes of a real number: near the fifth root of its precision."""

DERIVATIVE = {2: 5e-2, 4: 2e-3, 8: 1e-5}
"""Relative error allowed between a derivative and a difference quotient."""

ROUNDING = {2: 1e-2, 4: 1e-5, 8: 1e-10}
"""Relative error allowed between two ways to compute one value."""


class Tolerance(NamedTuple):
    """What the caller asked for; None where the precision of the values decides."""

    atol: float | None
    rtol: float | None
    eps: float | None = None

    def steps(self, leaves: Leaves) -> list[float]:
        """Step sizes for the difference quotient, most trusted first."""
        if self.eps is not None:
            return [self.eps]
        step = STEPS[coarsest(leaves)]
        return [step, step / 16.0, step * 8.0]

    def limit(self, leaves: Leaves, expected: ArrayLike, defaults: dict[int, float] = DERIVATIVE) -> Array:
        """The absolute error allowed: by default relative to the largest element, else NumPy's formula."""
        default = defaults[coarsest(leaves)]
        size = np.abs(np.asarray(expected))
        if self.atol is None and self.rtol is None:
            finite = size[np.isfinite(size)]
            return default * max(1.0, float(finite.max(initial=0.0)))
        atol = default if self.atol is None else self.atol
        rtol = default if self.rtol is None else self.rtol
        return atol + rtol * size


def coarsest(leaves: Leaves) -> int:
    """Bytes of the shortest real number among the leaves."""
    return min([8, *[np.asarray(x).real.dtype.itemsize for x in leaves if is_inexact(x)]])


def numerical_jvp(function: FlatFunction, leaves: Leaves, tangents: Leaves, step: float) -> list[Any]:
    """The derivative along `tangents` by the five-point rule (Abramowitz and Stegun, 25.3.6)."""

    def at(distance: float) -> list[Any]:
        moved = [as_before(x + distance * t, x) for x, t in zip(leaves, tangents, strict=True)]
        return [np.asarray(out) for out in function(*moved)]

    with np.errstate(all="ignore"):
        points = (at(-2.0 * step), at(-step), at(step), at(2.0 * step))
        return [(a - d + 8.0 * (c - b)) / (12.0 * step) for a, b, c, d in zip(*points, strict=True)]


def as_before(moved: ArrayLike, x: ArrayLike) -> Array:
    """A moved leaf in the dtype it had; a scalar stays a scalar."""
    return np.asarray(moved).astype(np.asarray(x).dtype)[()]


def pairing(covectors: Leaves, vectors: Leaves) -> float:
    """The sum of products without conjugation, its real part: what a transpose must keep."""
    total = 0.0
    for c, v in zip(covectors, vectors, strict=True):
        wide = np.complex128 if np.iscomplexobj(c) or np.iscomplexobj(v) else np.float64
        total += float(np.sum(np.multiply(c, v, dtype=wide)).real)
    return total


def random_like(rng: np.random.Generator, x: ArrayLike) -> Array:
    """A random array of the shape and dtype of `x`."""
    x = np.asarray(x)
    values = rng.standard_normal(x.shape)
    if x.dtype.kind == "c":
        values = values + 1j * rng.standard_normal(x.shape)
    return as_before(values, x)


def difference(seen: ArrayLike, wanted: ArrayLike, limit: ArrayLike, *, nan_agrees: bool = True) -> str:
    """Where two arrays first differ, in words; nothing where they agree."""
    seen, wanted = np.asarray(seen), np.asarray(wanted)
    if seen.shape != wanted.shape:
        return f": expected shape {wanted.shape}, got {seen.shape}"
    with np.errstate(all="ignore"):
        same = seen == wanted
        if seen.dtype.kind != "b":
            same |= np.abs(seen - wanted) <= limit
        if nan_agrees:
            same |= np.isnan(seen) & np.isnan(wanted)
    if np.all(same):
        return ""
    index = tuple([int(i) for i in np.argwhere(~same)[0]])
    return f"{element_name(index)}: expected {wanted[index]:g}, got {seen[index]:g}"


def element_name(index: tuple[int, ...]) -> str:
    """``, element [1, 2]`` for messages; nothing for a scalar."""
    return f", element {list(index)}" if index else ""
