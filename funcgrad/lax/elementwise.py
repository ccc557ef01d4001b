"""Functions of single elements under `jax.lax`'s names: a table of NumPy's functions and what they take.

As in lax, nothing is promoted between kinds of numbers, and ranks are equal unless one operand is a number;
an axis of one element is repeated. Precisions of one kind meet as NumPy's do.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.random.gamma_path import gamma_path_slope
from funcgrad.scipy import special
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Option

FLOATS, NUMBERS, SIGNED, WHOLE, ALL = "fc", "iufc", "ifc", "biu", "biufc"
_WORDS = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "floating", "c": "complex"}


def checked(name: str, operands: tuple[Any, ...], kinds: str) -> list[Any]:
    """The operands as arrays; TypeError where their kinds or ranks are not what the function takes."""
    arrays = [asoperand(x) for x in operands]
    found = [aval(x).dtype.kind for x in arrays]
    for kind in found:
        if kind not in kinds:
            accepted = ", ".join([_WORDS[k] for k in kinds])
            raise TypeError(f"{name} does not accept {_WORDS.get(kind, kind)} values; it accepts {accepted}")
    if len(set(found)) > 1:
        words = ", ".join([str(aval(x).dtype) for x in arrays])
        raise TypeError(
            f"lax.{name} requires arguments to have the same dtypes, got {words}; "
            "fg.lax.convert_element_type changes one, fg.numpy promotes"
        )
    ranks = {len(shape_of(x)) for x in arrays} - {0}
    if len(ranks) > 1:
        raise TypeError(f"{name}: arrays must have the same number of dimensions, got {sorted(ranks)}")
    return arrays


def elementwise(
    count: int, name: str, function: Callable[..., Any], kinds: str, sentence: str, example: str
) -> Callable[..., Array]:
    """The function of this name; `example` is what it is called with, and what is printed then."""

    def applied(*operands: ArrayLike, **options: Option) -> Array:
        if len(operands) != count:
            raise TypeError(f"{name}() takes {count} arguments, and was given {len(operands)}")
        options.pop("accuracy", None)  # How exact XLA is to be: here there is one way.
        return function(*checked(name, operands, kinds), **options)

    given, printed = example.split(" -> ")
    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"{sentence}\n\n    >>> print(fg.lax.{name}({given}))\n    {printed}\n    "
    return applied


# -- what NumPy writes differently ---------------------------------------------------------------------------


def divided(x: Array, y: Array) -> Array:
    """The quotient; that of integers is cut off towards zero."""
    if aval(x).dtype.kind in "fc":
        return x / y
    return fnp.sign(x) * fnp.sign(y) * (fnp.abs(x) // fnp.abs(y))


def remainder(x: Array, y: Array) -> Array:
    """What is left of `x`, with its sign."""
    return x - y * divided(x, y) if aval(x).dtype.kind in "iu" else fnp.fmod(x, y)


def shifted_as_bits(x: Array, places: Array) -> Array:
    """Bits moved down, with zeros after them."""
    dtype = aval(x).dtype
    if dtype.kind == "u":
        return fnp.right_shift(x, places)
    bits = dtype.itemsize * 8
    mask = fnp.invert(fnp.left_shift(np.full((), -1, dtype), (bits - places) % bits))
    moved = fnp.bitwise_and(fnp.right_shift(x, places), mask)
    return fnp.where(places == 0, x, moved)


def bits_set(x: Array) -> Array:
    """How many bits are set; NumPy counts those of the size of a negative number."""
    dtype = aval(x).dtype
    return fnp.astype(fnp.bitwise_count(fnp.astype(x, np.dtype(f"u{dtype.itemsize}"))), dtype)


def conjugate(x: Array) -> Array:
    """The conjugate, which is complex also where the number is real."""
    return fnp.conj(x) if aval(x).dtype.kind == "c" else x + 0j


def joined(real: Array, imag: Array) -> Array:
    """The complex number of two parts."""
    return real + 1j * imag


def leading_zeros(x: Array) -> Array:
    """How many zeros stand before the first bit that is set."""
    dtype = aval(x).dtype
    size = dtype.itemsize * 8
    filled = fnp.astype(x, np.dtype(f"u{dtype.itemsize}"))
    for step in (1, 2, 4, 8, 16, 32):
        if step < size:
            filled = fnp.bitwise_or(filled, fnp.right_shift(filled, step))
    return fnp.astype(size - fnp.astype(fnp.bitwise_count(filled), np.int64), dtype)


def upper_half(x: Array, y: Array) -> Array:
    """The upper half of the bits of the product."""
    dtype = aval(x).dtype
    size = dtype.itemsize * 8
    if size < 64:
        wide = np.dtype(f"{dtype.kind}8")
        return fnp.astype(fnp.right_shift(fnp.astype(x, wide) * fnp.astype(y, wide), size), dtype)
    # Digits of 32 bits; of a negative number counts the rest below 2**64.
    a, b = fnp.astype(x, np.uint64), fnp.astype(y, np.uint64)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    low, crossed = (a & mask) * (b & mask), (a >> half) * (b & mask)
    middle = crossed + (low >> half)
    other = (a & mask) * (b >> half) + (middle & mask)
    high = fnp.astype((a >> half) * (b >> half) + (middle >> half) + (other >> half), dtype)
    return high if dtype.kind == "u" else high - fnp.where(x < 0, y, 0) - fnp.where(y < 0, x, 0)


def by_shape(a: Array, x: Array) -> Array:
    """The derivative of `igamma` by its first argument."""
    shape = np.broadcast_shapes(shape_of(a), shape_of(x))
    a, x = fnp.broadcast_to(a, shape), fnp.broadcast_to(x, shape)
    return jvp(lambda a: special.gammainc(a, x), (a,), (fnp.ones_like(a),))[1]


def gamma_sample_by_shape(a: Array, x: Array) -> Array:
    """How a sample `x` of the gamma distribution moves with its shape."""
    return x * gamma_path_slope(fnp.astype(a, np.float64), fnp.log(fnp.astype(x, np.float64)))


_OF_ONE: dict[str, tuple[Callable[..., Any], str, str, str]] = {
    "abs": (fnp.abs, SIGNED, "The size.", "-2.0 -> 2.0"),
    "acos": (fnp.arccos, FLOATS, "The inverse cosine.", "1.0 -> 0.0"),
    "acosh": (fnp.arccosh, FLOATS, "The inverse hyperbolic cosine.", "1.0 -> 0.0"),
    "asin": (fnp.arcsin, FLOATS, "The inverse sine.", "0.0 -> 0.0"),
    "asinh": (fnp.arcsinh, FLOATS, "The inverse hyperbolic sine.", "0.0 -> 0.0"),
    "atan": (fnp.arctan, FLOATS, "The inverse tangent.", "0.0 -> 0.0"),
    "atanh": (fnp.arctanh, FLOATS, "The inverse hyperbolic tangent.", "0.0 -> 0.0"),
    "bessel_i0e": (special.i0e, "f", "The scaled modified Bessel function of order 0.", "0.0 -> 1.0"),
    "bessel_i1e": (special.i1e, "f", "The scaled modified Bessel function of order 1.", "0.0 -> 0.0"),
    "bitwise_not": (fnp.invert, WHOLE, "The bits the other way round.", "5 -> -6"),
    "cbrt": (fnp.cbrt, "f", "The cube root.", "8.0 -> 2.0"),
    "ceil": (fnp.ceil, "f", "The next whole number above.", "1.5 -> 2.0"),
    "clz": (leading_zeros, "iu", leading_zeros.__doc__ or "", "np.int32(5) -> 29"),
    "conj": (conjugate, "fc", "The conjugate.", "1.0 + 2.0j -> (1-2j)"),
    "cos": (fnp.cos, FLOATS, "The cosine.", "0.0 -> 1.0"),
    "cosh": (fnp.cosh, FLOATS, "The hyperbolic cosine.", "0.0 -> 1.0"),
    "digamma": (special.digamma, "f", "The slope of `lgamma`.", "np.array([2.0]) -> [0.42278434]"),
    "erf": (special.erf, "f", "The error function.", "0.0 -> 0.0"),
    "erf_inv": (special.erfinv, "f", "The inverse of the error function.", "0.0 -> 0.0"),
    "erfc": (special.erfc, "f", "One minus the error function.", "0.0 -> 1.0"),
    "exp": (fnp.exp, FLOATS, "The exponential.", "0.0 -> 1.0"),
    "exp2": (fnp.exp2, FLOATS, "Two to the power.", "3.0 -> 8.0"),
    "expm1": (fnp.expm1, FLOATS, "The exponential minus one.", "0.0 -> 0.0"),
    "floor": (fnp.floor, "f", "The next whole number below.", "1.5 -> 1.0"),
    "imag": (fnp.imag, "c", "The imaginary part.", "1 + 2j -> 2.0"),
    "is_finite": (fnp.isfinite, "f", "Whether it is neither infinite nor NaN.", "np.inf -> False"),
    "lgamma": (special.gammaln, "f", "The logarithm of the gamma function.", "1.0 -> 0.0"),
    "log": (fnp.log, FLOATS, "The natural logarithm.", "1.0 -> 0.0"),
    "log1p": (fnp.log1p, FLOATS, "The logarithm of one plus.", "0.0 -> 0.0"),
    "logistic": (special.expit, "f", "The logistic function.", "0.0 -> 0.5"),
    "neg": (fnp.negative, NUMBERS, "The negative.", "1.0 -> -1.0"),
    "population_count": (bits_set, "iu", "How many bits are set.", "5 -> 2"),
    "real": (fnp.real, "c", "The real part.", "1 + 2j -> 1.0"),
    "reciprocal": (fnp.reciprocal, FLOATS, "One over it.", "4.0 -> 0.25"),
    "rsqrt": (lambda x: 1.0 / fnp.sqrt(x), FLOATS, "One over the square root.", "4.0 -> 0.5"),
    "sign": (fnp.sign, NUMBERS, "The sign.", "-2.0 -> -1.0"),
    "sin": (fnp.sin, FLOATS, "The sine.", "0.0 -> 0.0"),
    "sinh": (fnp.sinh, FLOATS, "The hyperbolic sine.", "0.0 -> 0.0"),
    "sqrt": (fnp.sqrt, FLOATS, "The square root.", "4.0 -> 2.0"),
    "square": (fnp.square, NUMBERS, "The square.", "3.0 -> 9.0"),
    "tan": (fnp.tan, FLOATS, "The tangent.", "0.0 -> 0.0"),
    "tanh": (fnp.tanh, FLOATS, "The hyperbolic tangent.", "0.0 -> 0.0"),
}
_OF_TWO: dict[str, tuple[Callable[..., Any], str, str, str]] = {
    "add": (fnp.add, NUMBERS, "The sum.", "1.0, 2.0 -> 3.0"),
    "atan2": (fnp.arctan2, "f", "The angle of the point (y, x), given as y and x.", "0.0, 1.0 -> 0.0"),
    "bitwise_and": (fnp.bitwise_and, WHOLE, "Bits that are set in both.", "5, 3 -> 1"),
    "bitwise_or": (fnp.bitwise_or, WHOLE, "Bits that are set in one or both.", "5, 3 -> 7"),
    "bitwise_xor": (fnp.bitwise_xor, WHOLE, "Bits that are set in one only.", "5, 3 -> 6"),
    "complex": (joined, "f", joined.__doc__ or "", "1.0, 2.0 -> (1+2j)"),
    "div": (divided, NUMBERS, divided.__doc__ or "", "-7, 2 -> -3"),
    "eq": (fnp.equal, ALL, "Whether they are equal.", "1.0, 1.0 -> True"),
    "ge": (fnp.greater_equal, ALL, "Whether the first is not less.", "1.0, 1.0 -> True"),
    "gt": (fnp.greater, ALL, "Whether the first is greater.", "1.0, 1.0 -> False"),
    "igamma": (special.gammainc, "f", "The lower incomplete gamma function.", "1.0, 0.0 -> 0.0"),
    "igamma_grad_a": (by_shape, "f", by_shape.__doc__ or "", "1.0, 0.0 -> 0.0"),
    "igammac": (special.gammaincc, "f", "The upper incomplete gamma function.", "1.0, 0.0 -> 1.0"),
    "le": (fnp.less_equal, ALL, "Whether the first is not greater.", "1.0, 1.0 -> True"),
    "lt": (fnp.less, ALL, "Whether the first is less.", "1.0, 1.0 -> False"),
    "max": (fnp.maximum, ALL, "The larger one.", "1.0, 2.0 -> 2.0"),
    "min": (fnp.minimum, ALL, "The smaller one.", "1.0, 2.0 -> 1.0"),
    "mul": (fnp.multiply, NUMBERS, "The product.", "2.0, 3.0 -> 6.0"),
    "mulhi": (upper_half, "iu", upper_half.__doc__ or "", "2**62, 8 -> 2"),
    "ne": (fnp.not_equal, ALL, "Whether they differ.", "1.0, 1.0 -> False"),
    "nextafter": (fnp.nextafter, "f", "The next number towards the second.", "0.0, 1.0 -> 5e-324"),
    "random_gamma_grad": (
        gamma_sample_by_shape,
        "f",
        gamma_sample_by_shape.__doc__ or "",
        "np.array([2.0]), np.array([1.0]) -> [0.75077869]",
    ),
    "rem": (remainder, "iuf", remainder.__doc__ or "", "-7, 2 -> -1"),
    "shift_left": (fnp.left_shift, "iu", "Bits moved up.", "5, 3 -> 40"),
    "shift_right_arithmetic": (fnp.right_shift, "iu", "Bits moved down; the sign stays.", "-5, 1 -> -3"),
    "shift_right_logical": (shifted_as_bits, "iu", shifted_as_bits.__doc__ or "", "5, 1 -> 2"),
    "sub": (fnp.subtract, NUMBERS, "The difference.", "3.0, 2.0 -> 1.0"),
    "zeta": (special.zeta, "f", "Hurwitz's zeta function.", "np.array([2.0]), 1.0 -> [1.64493407]"),
}
_OF_THREE: dict[str, tuple[Callable[..., Any], str, str, str]] = {
    "betainc": (special.betainc, "f", "The incomplete beta function.", "1.0, 1.0, 0.5 -> 0.5")
}

__all__ = ["RoundingMethod", "integer_pow", "polygamma", "pow", "round", *_OF_ONE, *_OF_TWO, *_OF_THREE]  # noqa: PLE0604 - the names are strings

for _count, _rows in enumerate((_OF_ONE, _OF_TWO, _OF_THREE), 1):
    for _name, _row in _rows.items():
        globals()[_name] = elementwise(_count, _name, *_row)


class RoundingMethod(enum.IntEnum):
    """Where `round` sends the middle between two whole numbers.

    >>> print(fg.lax.round(2.5, fg.lax.RoundingMethod.TO_NEAREST_EVEN))
    2.0
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """`x` to the power `y`, which may be an integer.

    >>> print(fg.lax.pow(np.array([2.0, 3.0]), 2))
    [4. 9.]
    """
    (base,) = checked("pow", (x,), FLOATS)
    kind = aval(asoperand(y)).dtype.kind
    exponent = asoperand(y) if kind in "iu" else checked("pow", (x, y), FLOATS)[1]
    return fnp.power(base, exponent)


def integer_pow(x: ArrayLike, y: int) -> Array:
    """`x` to the power of a number that is written out.

    >>> print(fg.lax.integer_pow(3, 2))
    9
    """
    (base,) = checked("integer_pow", (x,), NUMBERS)
    return fnp.power(base, y)


def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of order `m` of `digamma`; `m` is a whole number in floating point.

    >>> print(fg.lax.polygamma(1.0, np.array([2.0])))
    [0.64493407]
    """
    order, at = checked("polygamma", (m, x), "f")
    return special.polygamma(fnp.astype(order, np.int64), at)


def round(x: ArrayLike, rounding_method: int = 0) -> Array:
    """The nearest whole number; of two, the one farther from zero (method 0) or the even one (1).

    >>> print(fg.lax.round(np.array([0.5, 1.5])), fg.lax.round(0.5, 1))
    [1. 2.] 0.0
    """
    (number,) = checked("round", (x,), "f")
    if int(getattr(rounding_method, "value", rounding_method)):
        return fnp.rint(number)
    return fnp.sign(number) * fnp.floor(fnp.abs(number) + 0.5)
