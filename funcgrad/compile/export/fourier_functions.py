"""Discrete Fourier transforms as functions of Python, which exported modules copy: Numba has none.

Written as `funcgrad.compile.export.library` is. A size is taken apart into small factors (Stockham's order of
the passes: nothing is permuted); one that has a large prime factor becomes a convolution with a chirp, whose
size is a power of two (Bluestein, 1970).
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np


def factors_of(n):
    """Fours, a two, and odd primes, whose product is a whole number."""
    found = np.empty(64, np.int64)
    count, p, left = 0, 4, n
    while left > 1:
        if left % p == 0:
            found[count] = p
            count, left = count + 1, left // p
        elif p == 4:
            p = 2
        elif p == 2:
            p = 3
        elif p * p > left:
            p = left
        else:
            p += 2
    return found[:count]


def roots_of_unity(n, sign):
    """``exp(sign * 2j * pi * k / n)`` for k below n."""
    roots = np.empty(n, np.complex128)
    for k in range(n):
        angle = 2.0 * math.pi * (k if 2 * k <= n else k - n) / n
        roots[k] = complex(math.cos(angle), sign * math.sin(angle))
    return roots


def transformed(x, y, roots, factors, sign):
    """The transform of the numbers in `x`, in `x` or in `y`, both of which it overwrites."""
    size, left, stride = roots.size, roots.size, 1
    turn = complex(0.0, sign)
    for p in factors:
        m = left // p
        for q in range(m):
            w1 = roots[q * stride]
            if p == 2:
                for r in range(q * stride, (q + 1) * stride):
                    a, b = x[r], x[r + m * stride]
                    y[r + q * stride] = a + b
                    y[r + (q + 1) * stride] = (a - b) * w1
            elif p == 4:
                w2, w3 = roots[2 * q * stride], roots[3 * q * stride]
                for r in range(q * stride, (q + 1) * stride):
                    a, b = x[r], x[r + m * stride]
                    c, d = x[r + 2 * m * stride], x[r + 3 * m * stride]
                    even, odd, other, turned = a + c, b + d, a - c, (b - d) * turn
                    to = r + 3 * q * stride
                    y[to] = even + odd
                    y[to + stride] = (other + turned) * w1
                    y[to + 2 * stride] = (even - odd) * w2
                    y[to + 3 * stride] = (other - turned) * w3
            else:
                for r in range(q * stride, (q + 1) * stride):
                    for t in range(p):
                        total = x[r]
                        for i in range(1, p):
                            total += x[r + i * m * stride] * roots[i * t % p * (size // p)]
                        y[r + ((p - 1) * q + t) * stride] = total * roots[q * t * stride]
        x, y = y, x
        left, stride = m, stride * p
    return x


def chirp_of(n, sign):
    """``exp(sign * 1j * pi * k**2 / n)`` for k below n."""
    roots = roots_of_unity(2 * n, sign)
    chirp = np.empty(n, np.complex128)
    for k in range(n):
        chirp[k] = roots[k * k % (2 * n)]
    return chirp


def spectrum_of(chirp, size, roots, factors, sign):
    """The transform of a conjugate chirp in both directions, over its size."""
    n = chirp.size
    x, y = np.zeros(size, np.complex128), np.empty(size, np.complex128)
    for k in range(n):
        x[k] = x[(size - k) % size] = np.conj(chirp[k]) / size
    return transformed(x, y, roots, factors, sign)


def convolved(x, y, chirp, spectrum, roots, factors, sign):
    """The transform of as many numbers in `x` as the chirp has, as `transformed` gives it."""
    n = chirp.size
    for k in range(n):
        x[k] *= chirp[k]
    for k in range(n, x.size):
        x[k] = 0.0
    found = transformed(x, y, roots, factors, sign)
    for k in range(x.size):
        x[k] = np.conj(found[k] * spectrum[k])
    found = transformed(x, y, roots, factors, sign)
    for k in range(n):
        found[k] = np.conj(found[k]) * chirp[k]
    return found


def fourier_lines(x, out, outer, n, inner, sign, factor):
    """The transforms along the middle axis of a flat array of three, times a factor; `out` may be `x`."""
    size, factors = n, factors_of(n)
    if n > 1 and np.max(factors) > 31:
        size = 1
        while size < 2 * n - 1:
            size *= 2
        factors = factors_of(size)
    roots = roots_of_unity(size, sign)
    chirp = chirp_of(n, sign) if size > n else roots
    spectrum = spectrum_of(chirp, size, roots, factors, sign) if size > n else roots
    line, work = np.empty(size, np.complex128), np.empty(size, np.complex128)
    for o in range(outer):
        for i in range(inner):
            for k in range(n):
                line[k] = x[(o * n + k) * inner + i]
            if size > n:
                found = convolved(line, work, chirp, spectrum, roots, factors, sign)
            else:
                found = transformed(line, work, roots, factors, sign)
            for k in range(n):
                out[(o * n + k) * inner + i] = found[k] * factor


def fourier_lines_by_numpy(x, out, outer, n, inner, sign, factor):
    """The transforms along the middle axis of a flat array of three, times a factor; `out` may be `x`."""
    lines = x[: outer * n * inner].reshape((outer, n, inner))
    found = np.fft.fft(lines, axis=1) if sign < 0 else np.fft.ifft(lines, axis=1, norm="forward")
    out[: found.size] = (found * factor).ravel()


def real_fourier_lines(x, out, outer, n, inner, sign, factor, doubled):
    """The first halves of the transforms of real numbers; their inner coefficients twice where `doubled`."""
    whole = np.empty(outer * n * inner, np.complex128)
    fourier_lines(x, whole, outer, n, inner, sign, factor)
    half = n // 2 + 1
    for o in range(outer):
        for k in range(half):
            times = 2.0 if doubled and 0 < k < (n + 1) // 2 else 1.0
            for i in range(inner):
                out[(o * half + k) * inner + i] = times * whole[(o * n + k) * inner + i]


def hermitian_fourier_lines(x, out, outer, n, inner, sign, factor, doubled):
    """The real numbers that have these halves of transforms; inner coefficients count once or twice."""
    whole = np.empty(outer * n * inner, np.complex128)
    half = n // 2 + 1
    for o in range(outer):
        for k in range(half):
            inside = 0 < k < (n + 1) // 2
            times = 0.5 if inside and not doubled else 1.0
            for i in range(inner):
                value = times * x[(o * half + k) * inner + i]
                whole[(o * n + k) * inner + i] = value if inside else complex(value.real, 0.0)
                if inside:
                    whole[(o * n + n - k) * inner + i] = np.conj(value)
    fourier_lines(whole, whole, outer, n, inner, sign, factor)
    for j in range(whole.size):
        out[j] = whole[j].real
