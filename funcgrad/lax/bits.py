"""The bits of numbers: read as another dtype, rounded off, counted and multiplied."""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.control_flow.callback import pure_callback
from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, DTypeLike

__all__ = ["bitcast_convert_type", "reduce_precision"]


def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The bits of numbers as numbers of another dtype; between sizes with a last axis of parts.

    The result does not move with `operand`: its derivative is 0. Under `fg.jit` NumPy reads the bits.

    >>> print(fg.lax.bitcast_convert_type(np.array([1.0, -0.0]), np.uint64))
    [4607182418800017408 9223372036854775808]
    >>> fg.lax.bitcast_convert_type(np.ones(3), np.uint32).shape
    (3, 2)
    """
    x = stop_gradient(asoperand(operand))
    old, new = aval(x).dtype, np.dtype(new_dtype)
    if "b" in (old.kind, new.kind) and old != new:
        raise TypeError(f"bitcast_convert_type: {old} cannot be read as {new}; compare with 0, or use astype")
    shape = shape_of(x)
    if old.itemsize > new.itemsize:
        shape = (*shape, old.itemsize // new.itemsize)
    elif old.itemsize < new.itemsize:
        if shape[-1:] != (new.itemsize // old.itemsize,):
            raise TypeError(
                f"bitcast_convert_type: {new} takes {new.itemsize // old.itemsize} numbers of {old} along "
                f"the last axis, got shape {shape}"
            )
        shape = shape[:-1]

    def read(values: Array) -> Array:
        return np.frombuffer(np.ascontiguousarray(values).tobytes(), new).reshape(shape)

    return pure_callback(read, Aval(shape, new), x)


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """Floating-point numbers rounded to fewer bits; those too large become infinite, those too small 0.

    Its derivative is that of `operand`: tangents pass as they are.

    >>> print(fg.lax.reduce_precision(np.array([1.0 / 3.0, 1e6]), 5, 10))  # of float16
    [0.33325195        inf]
    """
    x = asoperand(operand)
    if aval(x).dtype.kind != "f":
        raise TypeError(f"reduce_precision takes floating-point numbers, got {aval(x).dtype}")
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            f"reduce_precision: at least one bit of the exponent, got {exponent_bits} and {mantissa_bits}"
        )
    limits = np.finfo(aval(x).dtype)

    @custom_jvp
    def rounded(x: Array) -> Array:
        # Numbers below the normal ones are multiples of the smallest.
        exponent = fnp.maximum(fnp.frexp(x)[1], limits.minexp + 1)
        digits = min(mantissa_bits, limits.nmant) + 1
        near = fnp.ldexp(fnp.rint(fnp.ldexp(x, digits - exponent)), exponent - digits)
        # With a bias of b, normal numbers reach from 2**(1 - b) to below 2**(b + 1).
        bias = 2 ** (exponent_bits - 1) - 1
        if bias < limits.maxexp - 1:
            near = fnp.where(fnp.abs(near) < 2.0 ** (bias + 1), near, fnp.copysign(np.inf, x))
            near = fnp.where(fnp.abs(near) < 2.0 ** (1 - bias), fnp.copysign(0.0, x), near)
        return fnp.astype(fnp.where(fnp.isfinite(x), near, x), aval(x).dtype)

    @rounded.defjvp
    def as_it_is(primals: Arrays, tangents: Arrays) -> Arrays:
        return rounded(*primals), tangents[0]

    return rounded(x)
