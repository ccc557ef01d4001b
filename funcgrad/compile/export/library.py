"""What exported functions call, as functions of Python: their source is copied into the modules.

They are written for Numba and run without it. Nothing here may use a name that is not defined here, apart
from ``math`` and ``np``; what needs another decorator than others says so in `DECORATORS`.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import inspect
import math
import re
import sys
from functools import cache
from types import FunctionType

import numpy as np

from funcgrad.compile.export import fourier_functions, matrix_functions, special_series
from funcgrad.compile.export.mathematics import by_numpy, function_source, is_known
from funcgrad.later import Later

numba = Later("numba")

DECORATORS = {
    "plus": 'numba.njit(fastmath={"reassoc", "contract"})',
    "fma": 'numba.njit(fastmath={"contract"})',
}
"""Sums whose terms may be added in any order; a product and a sum that processors round once."""

NJIT = 'numba.njit(error_model="numpy")'
THREADED = 'numba.njit(error_model="numpy", parallel=True)'
INLINED = 'numba.njit(error_model="numpy", forceinline=True)'


def decorator(name: str) -> str:
    """The decorator of a function. A loop that calls mathematics is vectorised where that is part of it."""
    return DECORATORS.get(name, INLINED if is_known(name) else NJIT)


def plus(total, x):
    """A step of a sum whose terms may be added in any order, so that loops can be vectorised."""
    return total + x


def fma(a, b, c):
    """``a * b + c``, rounded once where the processor has an instruction for it."""
    return a * b + c


def select(condition, x, y):
    """One of two numbers that are both known."""
    return x if condition else y


def integer_power(x, n):
    """``x ** n`` of whole numbers, for n of at least 0, by squaring."""
    power = 1
    while n > 0:
        if n & 1:
            power *= x
        x *= x
        n >>= 1
    return power


def common_divisor(x, y):
    """The greatest common divisor of two whole numbers."""
    x, y = abs(x), abs(y)
    while y != 0:
        x, y = y, x % y
    return x


def bits_set(x):
    """How many bits of the absolute value are set."""
    x, count = abs(x), 0
    while x != 0:
        x, count = x & (x - 1), count + 1
    return count


def quotient(x, y):
    """``x / y`` of complex numbers, where division by zero divides each part, as in NumPy."""
    c, d = abs(y.real), abs(y.imag)
    if max(c, d) == 0.0:
        return complex(x.real / c, x.imag / c)
    if c >= d:
        ratio = y.imag / y.real
        scale = y.real + y.imag * ratio
        return complex((x.real + x.imag * ratio) / scale, (x.imag - x.real * ratio) / scale)
    ratio = y.real / y.imag
    scale = y.imag + y.real * ratio
    return complex((x.real * ratio + x.imag) / scale, (x.imag * ratio - x.real) / scale)


def bits_of(x):
    """The bits of a number, as an integer."""
    return np.float64(x).view(np.int64)


def float_of(bits):
    """The number that has these bits."""
    return np.int64(bits).view(np.float64)


def rounded_sum(x, y):
    """A sum that nothing is fused with."""
    return x + y


def rounded_difference(x, y):
    """A difference that nothing is fused with."""
    return x - y


def maximum(x, y):
    """The larger of two numbers; NaN where one is."""
    return x if (x > y) | np.isnan(x) else y


def minimum(x, y):
    """The smaller of two numbers; NaN where one is."""
    return x if (x < y) | np.isnan(x) else y


def fmax(x, y):
    """The larger of two numbers, of which one may be NaN."""
    return x if (x > y) | np.isnan(y) else y


def fmin(x, y):
    """The smaller of two numbers, of which one may be NaN."""
    return x if (x < y) | np.isnan(y) else y


def signbit(x):
    """Whether the sign is minus."""
    return math.copysign(1.0, x) < 0.0


def shift_left(x, count):
    """``x << count``, where a count that no word has shifts everything out."""
    return x << count if (count >= 0) & (count < 64) else x - x


def shift_right(x, count):
    """``x >> count``, where a count that no word has shifts everything out."""
    return x >> count if (count >= 0) & (count < 64) else x >> 63


def grown(tape, size):
    """A longer array that begins with the elements of another."""
    longer = np.empty(size, tape.dtype)
    longer[: tape.size] = tape
    return longer


def part(x, start):
    """What follows in a flat array from a place on."""
    return x[start:]


def threads_for(turns, least):
    """Ask for one thread where a loop has fewer turns than are worth sharing; returns how many there were."""
    threads = numba.get_num_threads()
    if turns < least:
        numba.set_num_threads(1)
    return threads


def shares_memory(x, y):
    """Whether the memory from the first to the last element of one array meets that of another."""
    start_x = end_x = x.ctypes.data
    for k in range(x.ndim):
        n, step = x.shape[k], x.strides[k]
        start_x, end_x = start_x + min((n - 1) * step, 0), end_x + max((n - 1) * step, 0)
    start_y = end_y = y.ctypes.data
    for k in range(y.ndim):
        n, step = y.shape[k], y.strides[k]
        start_y, end_y = start_y + min((n - 1) * step, 0), end_y + max((n - 1) * step, 0)
    return x.size > 0 and y.size > 0 and start_x < end_y + y.itemsize and start_y < end_x + x.itemsize


def rows_of(x, rows, columns, leading):
    """The matrix in a flat array whose rows begin `leading` elements apart."""
    if leading == columns:
        return x[: rows * columns].reshape((rows, columns))
    found = np.empty((rows, columns), x.dtype)
    for i in range(rows):
        for j in range(columns):
            found[i, j] = x[i * leading + j]
    return found


def every(x, count, step):
    """As many elements of a flat array, `step` apart."""
    return np.ascontiguousarray(x[: (count - 1) * step + 1 : step])


def product(a, b, out):
    """The product of two matrices, written to the beginning of a flat array."""
    np.dot(a, b, out[: a.shape[0] * b.shape[1]].reshape((a.shape[0], b.shape[1])))


def product_with_vector(a, x, out):
    """The product of a matrix and a vector, written to the beginning of a flat array."""
    np.dot(a, x, out[: a.shape[0]])


def heaviside(x, middle):
    """0 below zero, 1 above it, and another number at it."""
    if np.isnan(x):
        return x
    return middle if x == 0.0 else (0.0 if x < 0.0 else 1.0)


def fraction(x):
    """A number without its whole part, with its sign."""
    return math.copysign(0.0 if np.isinf(x) else x - np.trunc(x), x)


def sinc(x, order):
    """A derivative of ``sin(pi * x) / (pi * x)``: its Taylor series near 0, a recursion elsewhere."""
    y = math.pi * x
    if abs(y) < order + 1:
        found, first = 0.0, (order + 1) // 2
        for n in range(first + 19 + 2 * order, first - 1, -1):
            term = 1.0 / ((2 * n + 1) * math.gamma(2 * n - order + 1.0))
            found = found * (y * y) + (term if n % 2 == 0 else -term)
        found *= y ** (2 * first - order)
    else:
        found = np.sin(y) / y
        for j in range(1, order + 1):
            found = (np.sin(y + j * (math.pi / 2.0)) - j * found) / y
    return math.pi**order * found


def floor_divide(x, y):
    """The whole part of a quotient, rounded down, as NumPy has it."""
    if y == 0.0:
        return x / y
    rest = np.fmod(x, y) if abs(x) < np.inf else np.nan
    quotient = (x - rest) / y
    if rest != 0.0 and (y < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return math.copysign(0.0, x / y)
    whole = np.floor(quotient)
    return whole + 1.0 if quotient - whole > 0.5 else whole


def order_bits(x):
    """A number as unsigned bits that are ordered as numbers are: NaN last, zeros of both signs equal."""
    if np.isnan(x):
        return np.uint64(18446744073709551615)
    bits = bits_of(x + 0.0)
    return np.int64(bits ^ ((bits >> 63) | -9223372036854775808)).view(np.uint64)


def order_of_integers(x):
    """A whole number as unsigned bits that are ordered as numbers are."""
    return np.int64(np.int64(x) ^ -9223372036854775808).view(np.uint64)


def order_of_unsigned(x):
    """A whole number without a sign as 64 bits."""
    return np.uint64(x)


def high_product(x, y):
    """The upper half of the product of two words of 64 bits."""
    low, half = np.uint64(4294967295), np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle = x1 * y0 + ((x0 * y0) >> half)
    other = x0 * y1 + (middle & low)
    return x1 * y1 + (middle >> half) + (other >> half)


def philox_block(k0, k1, c0, c1, c3):
    """Four random words: Philox4x64 with ten rounds (Salmon, Moraes, Dror and Shaw, 2011)."""
    c2 = np.uint64(0)
    for _ in range(10):
        high0 = high_product(c0, np.uint64(15197193596820024467))
        low0 = c0 * np.uint64(15197193596820024467)
        high1 = high_product(c2, np.uint64(14581110107779764567))
        low1 = c2 * np.uint64(14581110107779764567)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 = k0 + np.uint64(11400714819323198485)
        k1 = k1 + np.uint64(13503953896175478587)
    return c0, c1, c2, c3


def philox(k0, k1, start, stream, out, count):
    """Write random words of 64 bits: those of a key, from a block on."""
    for b in range((count + 3) // 4):
        c0 = np.uint64(start) + np.uint64(b)
        c1 = np.uint64(1) if c0 < np.uint64(start) else np.uint64(0)
        words = philox_block(k0, k1, c0, c1, np.uint64(stream))
        for k in range(min(4, count - 4 * b)):
            out[4 * b + k] = words[k]


def philox_halves(k0, k1, start, stream, out, count):
    """Write random words of 64 bits as two of 32, the lower half first."""
    words = np.empty(count, np.uint64)
    philox(k0, k1, start, stream, words, count)
    for k in range(count):
        out[2 * k] = words[k] & np.uint64(4294967295)
        if 2 * k + 1 < out.size:
            out[2 * k + 1] = words[k] >> np.uint64(32)


def substituted(a, b, lower, unit):
    """The solution of a triangular system, row by row."""
    n, columns = b.shape
    x = b.copy()
    for step in range(n):
        i = step if lower else n - 1 - step
        for k in range(0 if lower else i + 1, i if lower else n):
            for j in range(columns):
                x[i, j] -= a[i, k] * x[k, j]
        if not unit:
            for j in range(columns):
                x[i, j] /= a[i, i]
    return x


def gradient_by_factor(factor, change):
    """The gradient by the lower triangle of a matrix, from that by its Cholesky factor."""
    inner = np.dot(factor.T, np.tril(change))
    across = np.ascontiguousarray(factor.T)
    turned = substituted(across, np.tril(inner) + np.tril(inner, -1).T, False, False)
    outer = np.tril(substituted(across, turned.T, False, False))
    for i in range(outer.shape[0]):
        outer[i, i] *= 0.5
    return outer


def put_vector(out, x):
    """Write one array into another."""
    if x.size != out.size:
        raise ValueError("a result has another size than its place")
    for i in range(out.size):
        out[i] = x[i]


def put_matrix(out, x):
    """Write one matrix into another."""
    if (x.shape[0] != out.shape[0]) | (x.shape[1] != out.shape[1]):
        raise ValueError("a result has another shape than its place")
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j]


def cofactors(a):
    """The cofactors of a matrix that has an inverse."""
    return np.linalg.det(a) * np.linalg.inv(a).T


def with_coupling(pair):
    """Eigenvalues and eigenvectors, and zeros for what couples equal eigenvalues."""
    return pair[0], pair[1], np.zeros_like(pair[1])


def svd_with_coupling(a, full):
    """Singular vectors and values, and zeros for what couples equal values."""
    u, s, vh = np.linalg.svd(a, full)
    return u, s, vh, np.zeros((s.size, s.size), a.dtype)


def sorted_lines(x, out, outer, n, inner):
    """The lines along the middle axis of a flat array of three, each sorted."""
    line = np.empty(n, x.dtype)
    for o in range(outer):
        for i in range(inner):
            for k in range(n):
                line[k] = x[(o * n + k) * inner + i]
            line.sort()
            for k in range(n):
                out[(o * n + k) * inner + i] = line[k]


def convolved_rows(x, y, out, rows, n, m):
    """Sums over all i and j of ``x[i] * y[j]`` at ``i + j``, row by row."""
    for r in range(rows):
        for k in range(n + m - 1):
            out[r * (n + m - 1) + k] = 0
        for j in range(m):
            for i in range(n):
                out[r * (n + m - 1) + i + j] += x[r * n + i] * y[r * m + j]


def correlated_rows(x, y, out, rows, n, m):
    """Sums over j of ``x[i + j] * y[j]``, row by row."""
    for r in range(rows):
        for i in range(n - m + 1):
            out[r * (n - m + 1) + i] = 0
        for j in range(m):
            for i in range(n - m + 1):
                out[r * (n - m + 1) + i] += x[r * n + i + j] * y[r * m + j]


def by_triangles(n, below, diagonal, above):
    """A square matrix of three numbers: below its diagonal, on it, and above."""
    found = np.full((n, n), above)
    for i in range(n):
        found[i, i] = diagonal
        for j in range(i):
            found[i, j] = below
    return found


def nothing_of(w):
    """What is as good as zero beside some numbers."""
    return np.max(np.abs(w)) * (4.0 * w.size * np.finfo(w.dtype).eps)


def inverse_gaps(w):
    """``1 / (w[j] - w[i])`` for pairs of numbers, 0 where they are as good as equal."""
    found = np.zeros((w.size, w.size), w.dtype)
    least = nothing_of(w)
    for i in range(w.size):
        for j in range(w.size):
            if abs(w[j] - w[i]) > least:
                found[i, j] = 1.0 / (w[j] - w[i])
    return found


def inverse_sums(w):
    """``1 / (w[j] + w[i])`` for pairs of numbers, 0 where both are as good as zero."""
    found = np.zeros((w.size, w.size), w.dtype)
    least = nothing_of(w)
    for i in range(w.size):
        for j in range(w.size):
            if abs(w[j] + w[i]) > least:
                found[i, j] = 1.0 / (w[j] + w[i])
    return found


def inverse_values(w):
    """``1 / w``, 0 where it is as good as zero."""
    found = np.zeros(w.size, w.dtype)
    least = nothing_of(w)
    for i in range(w.size):
        if abs(w[i]) > least:
            found[i] = 1.0 / w[i]
    return found


def repeated_pairs(w):
    """1 for each pair of different numbers that are as good as equal."""
    found = np.zeros((w.size, w.size), w.dtype)
    least = nothing_of(w)
    for i in range(w.size):
        for j in range(w.size):
            if i != j and abs(w[j] - w[i]) <= least:
                found[i, j] = 1.0
    return found


@cache
def functions(engine: str) -> dict[str, str]:
    """The source of every function of this library, by name; NumPy's own for `engine` "numpy"."""
    found = {}
    for module in (sys.modules[__name__], fourier_functions, matrix_functions, special_series):
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name not in _OURS:
                found[name] = inspect.getsource(value).rstrip()
    for name in [name for name in found if name.endswith(_BY_NUMPY)]:
        source = found.pop(name)
        if engine == "numpy":
            found[name.removesuffix(_BY_NUMPY)] = source.replace(f"{_BY_NUMPY}(", "(", 1)
    return found


def is_written_out(name: str) -> bool:
    """Whether modules can hold a function of this name."""
    return name in functions("numba") or is_known(name)


def by_numpy_inside(source: str) -> str:
    """The source of a function whose body calls NumPy's functions."""
    head, colon, body = source.partition(":\n")
    return head + colon + by_numpy(body)


_BY_NUMPY = "_by_numpy"
"""How functions are called that stand for others in modules without Numba."""

_OURS = ("decorator", "functions", "needed", "by_numpy_inside", "is_written_out")


def needed(text: str, engine: str = "numba") -> dict[str, str]:
    """The functions that a text calls and those that these call, each after what it calls itself.

    >>> list(needed("y = exp2(x)"))
    ['select', 'fma', 'bits_of', 'float_of', 'exp2']
    """
    found: dict[str, str] = {}

    def visit(caller: str) -> None:
        for name in dict.fromkeys(re.findall(r"(?<![\w.])([A-Za-z_]\w*)\(", caller)):
            if name in found or re.search(rf"\bdef {name}\(", caller):
                continue
            if is_written_out(name):
                source = functions(engine).get(name) or function_source(name)
                source = by_numpy_inside(source) if engine == "numpy" else source
                visit(source)
                found[name] = source

    visit(text)
    return found
