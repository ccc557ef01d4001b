"""`scipy.signal.convolve` with autograd's choice of axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.types import Array, ArrayLike


def convolve(
    A: ArrayLike,
    B: ArrayLike,
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] = ((), ()),
    mode: str = "full",
) -> Array:
    """The convolution of `A` and `B` over pairs of axes, summed over the pairs of axes in `dot_axes`.

    The axes of the result are the others of `A`, the others of `B`, and then those convolved over.
    `mode` is ``"full"``, ``"valid"`` or ``"same"``; raises ValueError for another one.

    >>> print(convolve(np.ones(3), np.array([1.0, 2.0])))
    [1. 3. 3. 2.]
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"mode is {mode!r}; there are 'full', 'valid' and 'same'")
    a, b = fnp.asarray(A), fnp.asarray(B)
    if axes is None:
        axes = (range(a.ndim), range(b.ndim))
    over = [(p % a.ndim, q % b.ndim) for p, q in zip(*axes, strict=True)]
    dots = [(p % a.ndim, q % b.ndim) for p, q in zip(*dot_axes, strict=True)]
    a_rest = [p for p in range(a.ndim) if p not in [x for x, _ in over + dots]]
    b_rest = [q for q in range(b.ndim) if q not in [y for _, y in over + dots]]
    a = fnp.transpose(a, [*a_rest, *[p for p, _ in dots], *[p for p, _ in over]])
    b = fnp.transpose(b, [*b_rest, *[q for _, q in dots], *[q for _, q in over]])
    n, sizes = len(over), b.shape[b.ndim - len(over) :]
    if mode == "valid" and any(x < y for x, y in zip(a.shape[a.ndim - n :], sizes, strict=True)):
        raise ValueError("for mode 'valid' A must be at least as long as B in every axis")
    pads = [(0, 0)] * (a.ndim - n) + [_around(mode, size) for size in sizes]
    padded = fnp.pad(a, pads)
    for k in reversed(range(n)):
        axis, size = a.ndim - n + k, sizes[k]
        starts = np.arange(padded.shape[axis] - size + 1)
        padded = fnp.take(padded, starts[:, None] + np.arange(size), axis=axis)
    flipped = fnp.flip(b, tuple(range(b.ndim - n, b.ndim)))
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of_a, of_b, of_dots, of_places, of_window = (
        "".join(next(letters) for _ in group) for group in (a_rest, b_rest, dots, over, over)
    )
    pairs = "".join([x + y for x, y in zip(of_places, of_window, strict=True)])
    return fnp.einsum(
        f"{of_a}{of_dots}{pairs},{of_b}{of_dots}{of_window}->{of_a}{of_b}{of_places}", padded, flipped
    )


def _around(mode: str, size: int) -> tuple[int, int]:
    """The zeros before and after an axis."""
    if mode == "same":
        return size // 2, (size - 1) // 2
    return (size - 1, size - 1) if mode == "full" else (0, 0)


__all__ = ["convolve"]
