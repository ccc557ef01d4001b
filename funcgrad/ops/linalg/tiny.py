"""Matrices of up to three rows by the thousand: inverses, determinants and cofactors in closed form.

LAPACK spends most of its time on calls where matrices are tiny. Here elements of one place lie together,
for a block of matrices that fits the cache, so that every step is one vector operation over the block.
Closed forms lose accuracy where a matrix is near singular or badly scaled; those matrices are handed to
LAPACK, so that results are as accurate as its own. Plain NumPy values throughout; nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

LARGEST = 3
"""The largest size that has a closed form here."""

BLOCK = 4096
"""Matrices in a block: some hundred kilobytes."""

WELL_CONDITIONED = 1 / 256
"""Where ``|det|`` is above this share of the cube (square) of the largest element, closed forms are accurate.

A relative error of an inverse is then at most a few hundred units in the last place, where LAPACK's is
the same but for a factor ``s1 / s2`` of singular values.
"""


def blocks(count: int) -> Iterator[slice]:
    """The slices of a stack of so many matrices."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def places_first(x: Any) -> Any:
    """Matrices ``(count, n, m)`` as ``(n * m, count)``, contiguous along the stack."""
    return np.ascontiguousarray(x.reshape(len(x), -1).T)


def stack_first(store: Any, lead: tuple[int, ...]) -> Any:
    """``(n, m, count)`` as ``(*lead, n, m)``, a view whose elements of one place still lie together."""
    return store.transpose(2, 0, 1).reshape(*lead, *store.shape[:2])


def cofactors_into(s: Any, out: Any) -> None:
    """The cofactors of the matrices in `s`, places first, into `out` of the same shape."""
    n = len(s)
    if n == 1:
        out[...] = 1
    elif n == 4:
        out[0], out[3] = s[3], s[0]
        np.negative(s[2], out=out[1])
        np.negative(s[1], out=out[2])
    else:
        t = np.empty_like(s[0])
        for k, (a, b, c, d) in enumerate(MINORS):
            np.multiply(s[a], s[b], out=out[k])
            np.multiply(s[c], s[d], out=t)
            np.subtract(out[k], t, out=out[k])


MINORS = (
    (4, 8, 5, 7),
    (5, 6, 3, 8),
    (3, 7, 4, 6),
    (2, 7, 1, 8),
    (0, 8, 2, 6),
    (1, 6, 0, 7),
    (1, 5, 2, 4),
    (2, 3, 0, 5),
    (0, 4, 1, 3),
)
"""The places of the cofactors of a 3x3 matrix: ``s[a] * s[b] - s[c] * s[d]`` with the sign in their order."""


def determinants_of(s: Any, cofactors: Any, n: int) -> Any:
    """The expansions along the first row."""
    found = s[0] * cofactors[0]
    for k in range(1, n):
        found += s[k] * cofactors[k]
    return found


def doubtful(s: Any, det: Any, n: int) -> Any:
    """The indices of matrices that are near singular or badly scaled."""
    if n == 1:
        return np.flatnonzero(det == 0)
    largest = np.abs(s).max(axis=0)
    return np.flatnonzero(np.abs(det) < WELL_CONDITIONED * largest**n)


def inverses(a: Any) -> Any:
    """The inverses of stacks; raises LinAlgError for a singular matrix, as NumPy does."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    store = np.empty((n, n, len(flat)), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            out = np.empty_like(s)
            cofactors_into(s, out)
            det = determinants_of(s, out, n)
            bad = doubtful(s, det, n)
            out *= np.reciprocal(det, out=det)
            if len(bad):
                out[:, bad] = np.linalg.inv(flat[part][bad]).transpose(2, 1, 0).reshape(n * n, -1)
            store[..., part] = out.reshape(n, n, -1).transpose(1, 0, 2)
    return stack_first(store, a.shape[:-2])


def determinants(a: Any) -> Any:
    """The determinants of stacks."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    found = np.empty(len(flat), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            out = np.empty_like(s)
            cofactors_into(s, out)
            found[part] = checked_determinants(s, out, flat[part])
    return found.reshape(a.shape[:-2])[()]


def checked_determinants(s: Any, cofactors: Any, matrices: Any) -> Any:
    """Determinants from cofactors, LAPACK's where they are doubtful."""
    n = matrices.shape[-1]
    det = determinants_of(s, cofactors, n)
    bad = doubtful(s, det, n)
    if len(bad):
        det[bad] = np.linalg.det(matrices[bad])
    return det


def determinants_with_cofactors(a: Any) -> tuple[Any, Any]:
    """The determinants and the matrices of their derivatives."""
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    found = np.empty(len(flat), a.dtype)
    store = np.empty((n, n, len(flat)), a.dtype)
    with np.errstate(all="ignore"):
        for part in blocks(len(flat)):
            s = places_first(flat[part])
            out = np.empty_like(s)
            cofactors_into(s, out)
            found[part] = checked_determinants(s, out, flat[part])
            store[..., part] = out.reshape(n, n, -1)
    return found.reshape(a.shape[:-2])[()], stack_first(store, a.shape[:-2])


def products(f: Any, b: Any) -> Any:
    """``f @ b`` for stacks of tiny `f`, quick where the elements of one place lie together."""
    n, k = b.shape[-2:]
    lead = b.shape[:-2]
    flat_f, flat_b = f.reshape(-1, n, n), b.reshape(-1, n, k)
    if k > LARGEST:
        return f @ b
    store = np.empty((n, k, len(flat_b)), np.result_type(f, b))
    with np.errstate(all="ignore"):
        for part in blocks(len(flat_b)):
            s = places_first(flat_f[part]).reshape(n, n, -1)
            c = places_first(flat_b[part]).reshape(n, k, -1)
            t = np.empty_like(c[0])
            for i in range(n):
                out = store[i, :, part]
                np.multiply(s[i, 0], c[0], out=out)
                for j in range(1, n):
                    np.multiply(s[i, j], c[j], out=t)
                    out += t
    return stack_first(store, lead)
