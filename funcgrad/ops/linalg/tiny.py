"""Matrices of up to three rows by the thousand: inverses, determinants and cofactors in closed form.

LAPACK spends most of its time on calls where matrices are tiny. Here elements of one place lie together,
for a block of matrices that fits the cache, so that every step is one vector operation over the block.
Closed forms lose accuracy where a matrix is near singular or badly scaled; those matrices are handed to
LAPACK, so that results are as accurate as its own. Plain NumPy values throughout; nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad.types import Array

LARGEST = 3
"""The largest size that has a closed form here."""

BLOCK = 8192
"""Matrices in a block: half a megabyte."""

WELL_CONDITIONED = 1 / 256
"""Where ``|det|`` is above this share of the cube (square) of the largest element, closed forms are accurate.

A relative error of an inverse is then at most a few hundred units in the last place, where LAPACK's is
the same but for a factor ``s1 / s2`` of singular values.
"""


def blocks(count: int) -> Iterator[slice]:
    """The slices of a stack of so many matrices."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def places_first(x: Array) -> Array:
    """Matrices ``(count, n, m)`` as ``(n, m, count)``, contiguous along the stack."""
    seen = x.transpose(1, 2, 0)
    if seen.strides[-1] == x.itemsize:
        return seen
    n, m = x.shape[1:]
    # NumPy transposes two axes much faster than three.
    return np.ascontiguousarray(x.reshape(-1, n * m).T).reshape(n, m, -1)


def stack_first(store: Array, lead: tuple[int, ...]) -> Array:
    """``(n, m, count)`` as ``(*lead, n, m)``, a view whose elements of one place still lie together."""
    return store.transpose(2, 0, 1).reshape(*lead, *store.shape[:2])


def cofactors_into(s: Array, out: Array, places: Sequence[tuple[int, int]], factor: Array = None) -> None:
    """The cofactors at these places of the matrices in `s`, places first, times a factor, into `out`."""
    n = len(s)
    t = np.empty_like(s[0, 0])
    for i, j in places:
        target = out[i, j]
        if n == 1:
            target[...] = 1
        elif n == 2:
            (np.positive if i == j else np.negative)(s[1 - i, 1 - j], out=target)
        else:
            # Cyclic rows and columns give the sign.
            up, down, left, right = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            np.multiply(s[up, left], s[down, right], out=target)
            np.multiply(s[up, right], s[down, left], out=t)
            np.subtract(target, t, out=target)
        if factor is not None:
            np.multiply(target, factor, out=target)


def places_of(n: int) -> list[tuple[int, int]]:
    """All places of a matrix, row by row."""
    return [(i, j) for i in range(n) for j in range(n)]


def first_row(s: Array) -> Array:
    """The cofactors of the first rows."""
    out = np.empty_like(s[:1])
    cofactors_into(s, out, places_of(len(s))[: len(s)])
    return out[0]


def determinants_of(s: Array, cofactors: Array) -> Array:
    """The expansions along the first row."""
    found = s[0, 0] * cofactors[0]
    for k in range(1, len(s)):
        found += s[0, k] * cofactors[k]
    return found


def doubtful(s: Array, det: Array) -> Array:
    """The indices of matrices that are near singular or badly scaled."""
    n = len(s)
    if n == 1:
        return np.flatnonzero(det == 0)
    bound = np.abs(s).reshape(n * n, -1).max(axis=0)
    size = bound.copy()
    for _ in range(1, n):
        size *= bound
    size *= WELL_CONDITIONED
    return np.flatnonzero(np.abs(det) < size)


def inverses(a: Array) -> Array:
    """The inverses of stacks; raises LinAlgError for a singular matrix, as NumPy does."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    store = np.empty((n, n, len(flat)), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            top = first_row(s)
            det = determinants_of(s, top)
            bad = doubtful(s, det)
            np.reciprocal(det, out=det)
            np.multiply(top, det, out=store[:, 0, part])
            cofactors_into(s, store[..., part].transpose(1, 0, 2), places_of(n)[n:], det)
            if len(bad):
                store[:, :, part.start + bad] = np.linalg.inv(flat[part][bad]).transpose(1, 2, 0)
    return stack_first(store, a.shape[:-2])


def determinants(a: Array) -> Array:
    """The determinants of stacks."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    found = np.empty(len(flat), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            found[part] = checked_determinants(s, first_row(s), flat[part])
    return found.reshape(a.shape[:-2])[()]


def checked_determinants(s: Array, cofactors: Array, matrices: Array) -> Array:
    """Determinants from the first rows' cofactors, LAPACK's where they are doubtful."""
    det = determinants_of(s, cofactors)
    bad = doubtful(s, det)
    if len(bad):
        det[bad] = np.linalg.det(matrices[bad])
    return det


def determinants_with_cofactors(a: Array) -> tuple[Any, Any]:
    """The determinants and the matrices of their derivatives."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    found = np.empty(len(flat), a.dtype)
    store = np.empty((n, n, len(flat)), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            cofactors_into(s, store[..., part], places_of(n))
            found[part] = checked_determinants(s, store[0, :, part], flat[part])
    return found.reshape(a.shape[:-2])[()], stack_first(store, a.shape[:-2])


def cofactors(a: Array) -> Array:
    """The matrices of cofactors."""
    n = a.shape[-1]
    s = places_first(a.reshape(-1, n, n))
    store = np.empty_like(s)
    with np.errstate(all="ignore"):
        cofactors_into(s, store, places_of(n))
    return stack_first(store, a.shape[:-2])


def products(f: Array, b: Array) -> Array:
    """``f @ b`` for stacks of tiny `f`, quick where the elements of one place lie together."""
    n, k = b.shape[-2:]
    lead = b.shape[:-2]
    if k > LARGEST:
        return f @ b
    flat_f, flat_b = f.reshape(-1, n, n), b.reshape(-1, n, k)
    store = np.empty((n, k, len(flat_b)), f.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat_b)):
            s, c = places_first(flat_f[part]), places_first(flat_b[part])
            t = np.empty_like(store[0, :, part])
            for i in range(n):
                out = store[i, :, part]
                np.multiply(s[i, 0], c[0], out=out)
                for j in range(1, n):
                    np.multiply(s[i, j], c[j], out=t)
                    np.add(out, t, out=out)
    return stack_first(store, lead)
