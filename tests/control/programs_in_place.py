"""Nested loops that write their array in place: what reverse mode must undo."""

import numpy as np

SIZE = 7


def start():
    """A matrix that can be eliminated without pivots."""
    rng = np.random.default_rng(3)
    r = rng.random((SIZE, SIZE))
    return r @ r.T + SIZE * np.eye(SIZE)


def cholesky(a):
    """The factor by three loops, with a branch."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            if i == j:
                a[i, j] = np.sqrt(s)
            else:
                a[i, j] = s / a[j, j]
    t = 0.0
    for i in range(n):
        t += np.log(a[i, i]) + a[i, 0] * a[n - 1, i]
    return t


def elimination(a):
    """LU by elements, in place."""
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(np.sin(a))


def product_in_place(a):
    """A triangular product, over itself."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            t = 0.0
            for k in range(j, n):
                t += a[i, k] * a[k, j]
            a[i, j] = np.tanh(0.1 * t)
    return np.sum(a * a)


def two_swapped(a):
    """Two arrays that change places, each written in place."""
    u, v = a.copy(), a * 0.5
    n = u.shape[0]
    for _ in range(6):
        for i in range(1, n - 1):
            for j in range(1, i + 1):
                v[i, j] = 0.3 * u[i - 1, j] * u[i, j - 1] / (1.0 + u[i, j] ** 2) + 0.5 * v[i, j]
        u, v = v, u
    return np.sum(u * v)


def rows_written(a):
    """Whole rows and slices, overwritten."""
    a = a.copy()
    n = a.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            w = a[i, k] / a[k, k]
            a[i] = a[i] - w * a[k]
            a[:, 2] = np.sin(a[:, 2]) * w + a[:, 2]
    return np.sum(np.cos(a))


def with_breaks(a):
    """Loops that are left early, and passed over."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i, n):
            if a[i, j] > 7.5:
                continue
            a[j, i] = a[i, j] * a[j, j] / (1.0 + a[i, i])
            if a[j, i] > 3.0:
                break
            a[i, j] += np.sin(a[j, i])
    return np.sum(a * a)


def maxima(a):
    """A dynamic programme, with a maximum of three and a table that is overwritten by each sweep."""
    b = a.copy()
    n = a.shape[0]
    for s in range(3):
        for i in range(1, n):
            for j in range(1, n):
                b[i, j] = (
                    a[i, j] * 0.1
                    + max(b[i - 1, j] * 0.5, b[i, j - 1] * 0.7, b[i - 1, j - 1] ** 2 * 0.01)
                    + 0.1 * s
                )
    return b[n - 1, n - 1] + np.sum(b[n - 1])


def pivoted(a):
    """Elimination with rows exchanged by the largest element."""
    a = a.copy()
    n = a.shape[0]
    for k in range(n - 1):
        p = k
        for i in range(k + 1, n):
            if np.abs(a[i, k]) > np.abs(a[p, k]):
                p = i
        for j in range(n):
            t = a[k, j]
            a[k, j] = a[p, j]
            a[p, j] = t
        for i in range(k + 1, n):
            w = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= w * a[k, j]
    s = 0.0
    for i in range(n):
        s += np.log(np.abs(a[i, i]))
    return s


def constants_read(a):
    """Constants that are read inside, and have derivatives of their own."""
    b = np.zeros_like(a)
    n = a.shape[0]
    for t in range(4):
        for i in range(n):
            for j in range(n):
                b[i, j] = np.tanh(b[i, j] * a[j, i] + a[t, j] * b[j, i])
                b[j, i] += 0.1 * a[i, j]
    return np.sum(b)


def inverse(a):
    """Gauss and Jordan's, with a loop in a branch, over two arrays."""
    n = a.shape[0]
    a, b = a.copy(), np.eye(n) * a[0, 0]
    for k in range(n):
        p = a[k, k]
        for j in range(n):
            a[k, j] /= p
            b[k, j] /= p
        for i in range(n):
            if i != k:
                f = a[i, k]
                for j in range(n):
                    a[i, j] -= f * a[k, j]
                    b[i, j] -= f * b[k, j]
    return np.sum(b * b)


def reflections(a):
    """Householder's reflections, with a vector that is overwritten for each column."""
    a = a.copy()
    n = a.shape[0]
    v = np.zeros(n)
    for k in range(n):
        norm = 0.0
        for i in range(k, n):
            norm += a[i, k] * a[i, k]
        norm = np.sqrt(norm)
        alpha = -norm if a[k, k] > 0 else norm
        vv = 0.0
        for i in range(k, n):
            v[i] = a[i, k]
            if i == k:
                v[i] -= alpha
            vv += v[i] * v[i]
        for j in range(k, n):
            d = 0.0
            for i in range(k, n):
                d += v[i] * a[i, j]
            d = 2.0 * d / vv
            for i in range(k, n):
                a[i, j] -= d * v[i]
    s = 0.0
    for i in range(n):
        s += np.log(np.abs(a[i, i]))
    return s + a[0, n - 1]


def rotations(a):
    """Two sweeps of Jacobi's rotations, which pass over what is small."""
    a = a.copy()
    n = a.shape[0]
    for _ in range(2):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if np.abs(a[p, q]) > 1e-12:
                    theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                    root = np.sqrt(theta * theta + 1.0)
                    t = 1.0 / (theta + root) if theta >= 0 else -1.0 / (root - theta)
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(n):
                        x, y = a[k, p], a[k, q]
                        a[k, p] = c * x - s * y
                        a[k, q] = s * x + c * y
                    for k in range(n):
                        x, y = a[p, k], a[q, k]
                        a[p, k] = c * x - s * y
                        a[q, k] = s * x + c * y
    s = 0.0
    for i in range(n):
        s += np.sin(a[i, i])
    return s


PROGRAMS = [
    inverse,
    reflections,
    rotations,
    cholesky,
    elimination,
    product_in_place,
    two_swapped,
    rows_written,
    with_breaks,
    maxima,
    pivoted,
    constants_read,
]
