"""Operations on matrices that Numba has not, as functions of Python: their source is copied into modules.

They are written for Numba and run without it, for real matrices; `library` says the rules.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import numpy as np


def identity_like(a):
    """The matrix of ones on its diagonal that is as large as another."""
    found = np.zeros(a.shape, a.dtype)
    for i in range(a.shape[0]):
        found[i, i] = 1.0
    return found


def largest_column(a):
    """The largest sum of magnitudes of a column."""
    largest = 0.0
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += abs(a[i, j])
        if not total <= largest:
            largest = total
    return largest


def exponential(a):
    """The exponential of a matrix: Padé's approximant of degree 13, scaled and squared (Higham, 2005)."""
    size = largest_column(a)
    squarings = 0
    if size > 5.371920351148152:
        squarings = math.ceil(math.log2(size / 5.371920351148152))
    x = np.ascontiguousarray(a) / 2.0**squarings
    one = identity_like(x)
    x2 = np.dot(x, x)
    x4 = np.dot(x2, x2)
    x6 = np.dot(x4, x2)
    inner = np.dot(x6, x6 + 16380.0 * x4 + 40840800.0 * x2)
    odd = inner + 33522128640.0 * x6 + 10559470521600.0 * x4 + 1187353796428800.0 * x2
    odd = np.dot(x, odd + 32382376266240000.0 * one)
    inner = np.dot(x6, 182.0 * x6 + 960960.0 * x4 + 1323241920.0 * x2)
    even = inner + 670442572800.0 * x6 + 129060195264000.0 * x4 + 7771770303897600.0 * x2
    even = even + 64764752532480000.0 * one
    found = np.ascontiguousarray(np.linalg.solve(even - odd, even + odd))
    for _ in range(squarings):
        found = np.dot(found, found)
    return found


def expm(a):
    """The exponential of a matrix."""
    return exponential(a.astype(np.float64))


def sinm(a):
    """The sine of a matrix."""
    return np.ascontiguousarray(exponential(a * 1j).imag)


def cosm(a):
    """The cosine of a matrix."""
    return np.ascontiguousarray(exponential(a * 1j).real)


def tanm(a):
    """The tangent of a matrix."""
    return np.linalg.solve(cosm(a), sinm(a))


def sinhm(a):
    """The hyperbolic sine of a matrix."""
    return 0.5 * (expm(a) - expm(-a))


def coshm(a):
    """The hyperbolic cosine of a matrix."""
    return 0.5 * (expm(a) + expm(-a))


def tanhm(a):
    """The hyperbolic tangent of a matrix."""
    return np.linalg.solve(coshm(a), sinhm(a))


def reflected(t, v, first, rows):
    """Reflect the rows, or the columns, of a matrix from `first` on in the plane across a unit vector."""
    n, m = t.shape
    if rows:
        for j in range(m):
            dot = 0.0 * t[0, 0]
            for i in range(v.size):
                dot += np.conj(v[i]) * t[first + i, j]
            for i in range(v.size):
                t[first + i, j] -= 2.0 * v[i] * dot
    else:
        for i in range(n):
            dot = 0.0 * t[0, 0]
            for j in range(v.size):
                dot += t[i, first + j] * v[j]
            for j in range(v.size):
                t[i, first + j] -= 2.0 * dot * np.conj(v[j])


def unit_below(t, row, column):
    """The unit vector that reflects a column into one with zeros below a row, and whether there is one.

    (Numba takes long for expressions of arrays.)
    """
    v = np.empty(t.shape[0] - row, t.dtype)
    squares = 0.0
    for i in range(v.size):
        v[i] = t[row + i, column]
        squares += v[i].real ** 2 + v[i].imag ** 2
    size, first = math.sqrt(squares), abs(v[0])
    if not size > 0.0:
        return v, False
    turn = v[0] * (1.0 / first) if first > 0.0 else 1.0 + 0.0j
    v[0] += turn * size
    length = math.sqrt(2.0 * size * (size + first))
    for i in range(v.size):
        v[i] *= 1.0 / length
    return v, True


def hessenberg(t, z):
    """Make zeros below the first diagonal under the main one, by reflections that `z` gathers."""
    n = t.shape[0]
    for k in range(n - 2):
        v, wanted = unit_below(t, k + 1, k)
        if wanted:
            reflected(t, v, k + 1, True)
            reflected(t, v, k + 1, False)
            reflected(z, v, k + 1, False)
            for i in range(k + 2, n):
                t[i, k] = 0.0


def wilkinson_shift(a, b, c, d):
    """The eigenvalue of a matrix of two rows that is nearer to its last element."""
    half = 0.5 * (a - d)
    root = np.sqrt(half * half + b * c)
    if abs(half - root) > abs(half + root):
        root = -root
    return d - b * c / (half + root) if abs(half + root) > 0.0 else d


def qr_step(t, z, first, last, shift):
    """One step of the QR algorithm on some rows of a Hessenberg matrix, by rotations that `z` gathers."""
    n = t.shape[0]
    x, y = t[first, first] - shift, t[first + 1, first]
    for k in range(first, last):
        if k > first:
            x, y = t[k, k - 1], t[k + 1, k - 1]
        size = np.sqrt(x.real**2 + x.imag**2 + y.real**2 + y.imag**2)
        if size == 0.0:
            continue
        c, s = x * (1.0 / size), y * (1.0 / size)
        for j in range(max(k - 1, 0), n):
            up, down = t[k, j], t[k + 1, j]
            t[k, j] = np.conj(c) * up + np.conj(s) * down
            t[k + 1, j] = c * down - s * up
        for i in range(min(k + 3, last + 1)):
            left, right = t[i, k], t[i, k + 1]
            t[i, k] = c * left + s * right
            t[i, k + 1] = np.conj(c) * right - np.conj(s) * left
        for i in range(n):
            left, right = z[i, k], z[i, k + 1]
            z[i, k] = c * left + s * right
            z[i, k + 1] = np.conj(c) * right - np.conj(s) * left


def first_coupled(t, last):
    """The first row from which on all up to the `last` are coupled; what is as good as zero becomes it."""
    first = last
    while first > 0:
        near = abs(t[first, first]) + abs(t[first - 1, first - 1])
        if abs(t[first, first - 1]) <= 2.2e-16 * near:
            t[first, first - 1] = 0.0
            break
        first -= 1
    return first


def complex_schur(a):
    """A triangular matrix and a unitary one with ``z t z* = a``, by the shifted QR algorithm.

    Golub and Van Loan, Matrix Computations, chapter 7; raises LinAlgError where it does not converge.
    """
    n = a.shape[0]
    t = a.astype(np.complex128)
    z = identity_like(t)
    hessenberg(t, z)
    last, trips = n - 1, 0
    while last > 0:
        first = first_coupled(t, last)
        if first == last:
            last, trips = last - 1, 0
            continue
        trips += 1
        if trips > 300 or not np.isfinite(abs(t[last, last - 1])):
            raise np.linalg.LinAlgError("the eigenvalues of a matrix were not found")
        shift = wilkinson_shift(t[last - 1, last - 1], t[last - 1, last], t[last, last - 1], t[last, last])
        if trips % 10 == 0:
            shift = t[last, last] + abs(t[last, last - 1])
        qr_step(t, z, first, last, shift)
    for j in range(n):
        for i in range(j + 1, n):
            t[i, j] = 0.0
    return t, z


def triangular_root(t):
    """The square root of an upper triangular matrix (Björck and Hammarling, 1983)."""
    n = t.shape[0]
    r = np.zeros((n, n), np.complex128)
    for j in range(n):
        r[j, j] = np.sqrt(t[j, j])
        for i in range(j - 1, -1, -1):
            known = t[i, j]
            for k in range(i + 1, j):
                known -= r[i, k] * r[k, j]
            both = r[i, i] + r[j, j]
            r[i, j] = known / both if abs(both) > 0.0 else (0.0j if abs(known) == 0.0 else complex(np.nan))
    return r


def by_back_substitution(t, b):
    """The solution of an upper triangular system, row by row."""
    x = b.copy()
    for i in range(t.shape[0] - 1, -1, -1):
        for j in range(b.shape[1]):
            known = x[i, j]
            for k in range(i + 1, t.shape[0]):
                known -= t[i, k] * x[k, j]
            x[i, j] = known / t[i, i]
    return x


def from_one(x, factor, one):
    """A multiple of a matrix, with a number added on its diagonal. (Numba takes long for sums of arrays.)"""
    found = np.empty(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[i, j] = factor * x[i, j]
        found[i, i] += one
    return found


def triangular_logarithm(t):
    """The logarithm of an upper triangular matrix: square roots until it is near 1, then Padé's approximant.

    That is Gauss's rule for the integral of ``x / (1 + s x)`` (Dieci, Morini and Papini, 1996).
    """
    doublings = 0
    while largest_column(from_one(t, 1.0, -1.0)) > 0.25 and doublings < 100:
        t, doublings = triangular_root(t), doublings + 1
    x = from_one(t, 1.0, -1.0)
    nodes = np.array([0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363])
    weights = np.array([0.362683783378362, 0.31370664587788727, 0.22238103445337448, 0.10122853629037626])
    found = np.zeros(t.shape, np.complex128)
    for k in range(8):
        place = 0.5 + (0.5 if k % 2 else -0.5) * nodes[k // 2]
        part = by_back_substitution(from_one(x, place, 1.0), x)
        for i in range(t.shape[0]):
            for j in range(t.shape[1]):
                found[i, j] += part[i, j] * (0.5 * weights[k // 2])
    return from_one(found, 2.0**doublings, 0.0)


def turned_back(z, t):
    """``z t z*`` as a real matrix; raises ValueError where it is not real."""
    n = t.shape[0]
    turned, real = np.zeros((n, n), np.complex128), np.empty((n, n))
    for i in range(n):
        for k in range(n):
            for j in range(n):
                turned[i, j] += z[i, k] * t[k, j]
    largest, imaginary = 0.0, 0.0
    for i in range(n):
        for j in range(n):
            total = 0.0j
            for k in range(n):
                total += turned[i, k] * np.conj(z[j, k])
            real[i, j] = total.real
            largest, imaginary = max(largest, abs(total)), max(imaginary, abs(total.imag))
    if imaginary > 1.5e-8 * largest:
        raise ValueError("a function of a real matrix with an eigenvalue below zero is complex")
    return real


def sqrtm(a):
    """The square root of a matrix."""
    t, z = complex_schur(a)
    return turned_back(z, triangular_root(t))


def logm(a):
    """The logarithm of a matrix."""
    t, z = complex_schur(a)
    return turned_back(z, triangular_logarithm(t))


def power_of_matrix(a, power):
    """A matrix to a power: by products for a whole number, else by the logarithm."""
    if power == np.floor(power):
        x = np.ascontiguousarray(a).astype(np.float64)
        if power < 0:
            x[:] = np.linalg.inv(x)
        found, count = identity_like(x), int(abs(power))
        while count > 0:
            if count % 2 == 1:
                found[:] = np.dot(found, x)
            x[:] = np.dot(x, x)
            count //= 2
        return found
    t, z = complex_schur(a)
    return turned_back(z, exponential(triangular_logarithm(t) * power))


def direction_scale(a, e):
    """What makes a direction as large as the matrix."""
    size, other = largest_column(a), largest_column(e)
    return size / other if (size > 0.0) & (other > 0.0) else 1.0


def doubled_along(x, a, e):
    """``[[x, e], [0, x]]``, with `e` made as large as `a` and repeated until it is as large as `x`."""
    size, n = x.shape[0], e.shape[0]
    scale = direction_scale(a, e)
    found = np.zeros((2 * size, 2 * size))
    for i in range(size):
        for j in range(size):
            found[i, j] = x[i, j]
            found[size + i, size + j] = x[i, j]
    for start in range(0, size, n):
        for i in range(n):
            for j in range(n):
                found[start + i, size + start + j] = e[i, j] * scale
    return found


def corner(x, n):
    """The block of `n` rows and columns in the upper right corner."""
    return x[:n, x.shape[0] - n :].copy()


def as_complex(pair):
    """Eigenvalues and eigenvectors as complex numbers."""
    return pair[0] + 0j, pair[1] + 0j


# -- systems -------------------------------------------------------------------------------------------------


def lu_with_pivots(a):
    """The factors of a matrix in one, and the row that each row was exchanged with, as LAPACK has them."""
    x = a.copy()
    m, n = x.shape
    pivots = np.empty(min(m, n), np.int32)
    for k in range(min(m, n)):
        p = k
        for i in range(k + 1, m):
            if abs(x[i, k]) > abs(x[p, k]):
                p = i
        pivots[k] = p
        for j in range(n):
            x[k, j], x[p, j] = x[p, j], x[k, j]
        if x[k, k] != 0.0:
            for i in range(k + 1, m):
                x[i, k] /= x[k, k]
                for j in range(k + 1, n):
                    x[i, j] -= x[i, k] * x[k, j]
    return x, pivots


def order_of_pivots(pivots, rows):
    """The order of rows that exchanges leave."""
    order = np.arange(rows)
    for k in range(pivots.size):
        other = pivots[k]
        order[k], order[other] = order[other], order[k]
    return order


def row_of_largest(rows, k, lower):
    """The row that is to be exchanged with row k; raises LinAlgError where there is none."""
    p = k
    for i in range(k + 1, min(k + lower + 1, rows.shape[0])):
        if abs(rows[i, k - i + lower]) > abs(rows[p, k - p + lower]):
            p = i
    if rows[p, k - p + lower] == 0.0:
        raise np.linalg.LinAlgError("singular matrix")
    return p


def eliminated(rows, x, k, lower, end):
    """Take row k off those below it, in a banded matrix and on the right-hand side."""
    for i in range(k + 1, min(k + lower + 1, rows.shape[0])):
        share = rows[i, k - i + lower] / rows[k, lower]
        if share != 0.0:
            for j in range(k, end):
                rows[i, j - i + lower] -= share * rows[k, j - k + lower]
            for c in range(x.shape[1]):
                x[i, c] -= share * x[k, c]


def banded_solution(ab, b, lower, upper):
    """The solution of a system of which only the diagonals near the main one are given, by elimination."""
    n = b.shape[0]
    rows = np.zeros((n, 2 * lower + upper + 1))
    x = b.astype(np.float64)
    for j in range(n):
        for i in range(max(j - upper, 0), min(j + lower + 1, n)):
            rows[i, j - i + lower] = ab[upper + i - j, j]
    for k in range(n):
        end = min(k + lower + upper + 1, n)
        p = row_of_largest(rows, k, lower)
        if p != k:
            for j in range(k, end):
                up, down = rows[k, j - k + lower], rows[p, j - p + lower]
                rows[k, j - k + lower], rows[p, j - p + lower] = down, up
            for c in range(x.shape[1]):
                x[k, c], x[p, c] = x[p, c], x[k, c]
        eliminated(rows, x, k, lower, end)
    for k in range(n - 1, -1, -1):
        for c in range(x.shape[1]):
            known = x[k, c]
            for j in range(k + 1, min(k + lower + upper + 1, n)):
                known -= rows[k, j - k + lower] * x[j, c]
            x[k, c] = known / rows[k, lower]
    return x


def sylvester_solution(a, b, q):
    """The solution of ``a x + x b = q`` by triangular forms (Bartels and Stewart, 1972)."""
    r, u = complex_schur(a)
    s, v = complex_schur(b)
    x = np.dot(np.dot(np.ascontiguousarray(np.conj(u.T)), q.astype(np.complex128)), v)
    m, n = x.shape
    for j in range(n):
        for i in range(m - 1, -1, -1):
            known = x[i, j]
            for k in range(j):
                known -= x[i, k] * s[k, j]
            for k in range(i + 1, m):
                known -= r[i, k] * x[k, j]
            x[i, j] = known / (r[i, i] + s[j, j])
    found = np.dot(np.dot(u, x), np.ascontiguousarray(np.conj(v.T)))
    return np.ascontiguousarray(found.real)


def complete_qr(a):
    """An orthogonal matrix and a triangular one, by reflections with the signs that LAPACK gives."""
    m, n = a.shape
    r = a.astype(np.float64)
    q = np.zeros((m, m))
    for i in range(m):
        q[i, i] = 1.0
    for k in range(min(m - 1, n)):
        v = r[k:, k].copy()
        if np.any(v[1:] != 0.0):
            v[0] += math.copysign(np.sqrt(np.sum(v * v)), v[0])
            v /= np.sqrt(np.sum(v * v))
            reflected(r, v, k, True)
            reflected(q, v, k, False)
            r[k + 1 :, k] = 0.0
    return q, r


def polar_factor(a):
    """The nearest matrix with orthonormal columns."""
    u, _, vh = np.linalg.svd(a, False)
    return np.dot(np.ascontiguousarray(u), np.ascontiguousarray(vh))


def small_cofactors(a):
    """The cofactors of a matrix of two or three rows."""
    n = a.shape[0]
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if n == 2:
                found[i, j] = (1.0 if i == j else -1.0) * a[1 - i, 1 - j]
            else:
                p, q, r, s = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
                found[i, j] = a[p, r] * a[q, s] - a[p, s] * a[q, r]
    return found


def cofactors_along(a, e):
    """The derivative along a matrix of the cofactors of one that has an inverse."""
    n = a.shape[0]
    if n == 1:
        return np.zeros((1, 1))
    if n == 2:
        return small_cofactors(e)
    if n == 3:
        return small_cofactors(a + e) - small_cofactors(a) - small_cofactors(e)
    inverse = np.ascontiguousarray(np.linalg.inv(a))
    share = np.dot(inverse, np.ascontiguousarray(e))
    found = (np.trace(share) * inverse - np.dot(share, inverse)) * np.linalg.det(a)
    return np.ascontiguousarray(found.T)
