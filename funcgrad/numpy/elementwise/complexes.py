"""Complex numbers: parts, conjugates, angles, and questions about what is complex."""

from __future__ import annotations

import math

import numpy as np

from funcgrad.numpy.dispatch import FUNCTIONS, implements
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, loop_dtypes, own, untraced
from funcgrad.ops.arrays.structure import aval, broadcast, cast
from funcgrad.ops.elementwise import arithmetic, bivariate, comparison, complexes, magnitude
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, UfuncOption

__all__ = [
    "angle",
    "conj",
    "conjugate",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
    "real_if_close",
]


@implements(np.real)
def real(val: Operand) -> Array:
    """The real part; real numbers as they are.

    >>> print(fg.numpy.real([1.0 + 2.0j]))
    [1.]
    """
    x = asoperand(val)
    if untraced(x):
        return np.real(x)
    if aval(x).dtype.kind != "c":
        return x
    return getattr(x, "real") if aval(x).shape else complexes.real(x)  # noqa: B009


@implements(np.imag)
def imag(val: Operand) -> Array:
    """The imaginary part; 0 for real numbers.

    >>> print(fg.numpy.imag([1.0 + 2.0j]))
    [2.]
    """
    x = asoperand(val)
    if untraced(x):
        return np.imag(x)
    if aval(x).dtype.kind != "c":
        return traced_zeros(x)
    return getattr(x, "imag") if aval(x).shape else complexes.imag(x)  # noqa: B009


def traced_zeros(x: Tracer) -> Tracer:
    """Zeros of the shape and dtype of a traced value, traced too."""
    zero = Tracer(x._recorder, x._recorder.literal(0, x.aval.dtype, weak=False), aval(x.aval.dtype.type(0)))
    zeros: Tracer = broadcast(zero, x.aval.shape, ())
    return zeros


@elementwise(np.conjugate)
def conjugate(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The complex conjugate; real numbers as they are.

    >>> print(fg.numpy.conjugate([1.0 + 2.0j]))
    [1.-2.j]
    """
    if aval(x).dtype.kind == "c":
        return complexes.conj(x)
    return own(cast(x, loop_dtypes(np.conjugate, x)[0]))


@implements(np.angle)
def angle(z: Operand, deg: bool = False) -> Array:
    """The angle of a complex number in radians, or degrees; its derivative at 0 is 0.

    >>> print(fg.numpy.angle([1.0, 1.0j]), fg.numpy.angle(1.0 + 1.0j, deg=True))
    [0.         1.57079633] 45.0
    """
    value = asoperand(z)
    if untraced(value):
        return np.angle(value, deg)
    if aval(value).dtype.kind == "c":
        radians = bivariate.arctan2(complexes.imag(value), complexes.real(value))
    else:
        radians = bivariate.arctan2(0, value)
    return arithmetic.mul(radians, 180.0 / math.pi) if deg else radians


@implements(np.isreal)
def isreal(x: Operand) -> Array:
    """Whether the imaginary part of each element is 0.

    >>> print(fg.numpy.isreal([1.0 + 2.0j, 3.0]))
    [False  True]
    """
    return comparison.equal(imag(x), 0)


@implements(np.iscomplex)
def iscomplex(x: Operand) -> Array:
    """Whether the imaginary part of each element is not 0.

    >>> print(fg.numpy.iscomplex([1.0 + 2.0j, 3.0]))
    [ True False]
    """
    return comparison.not_equal(imag(x), 0)


@implements(np.isrealobj)
def isrealobj(x: Operand) -> bool:
    """Whether the dtype is not complex.

    >>> print(fg.numpy.isrealobj([1.0 + 0.0j]))
    False
    """
    return not iscomplexobj(x)


@implements(np.iscomplexobj)
def iscomplexobj(x: Operand) -> bool:
    """Whether the dtype is complex.

    >>> print(fg.numpy.iscomplexobj([1.0 + 0.0j]))
    True
    """
    return bool(aval(asoperand(x)).dtype.kind == "c")


@implements(np.real_if_close)
def real_if_close(a: Operand, tol: float = 100) -> Array:
    """The real part where all imaginary parts are within `tol` machine epsilons of 0, else ``a``.

    Traced, it needs the values, as a branch does.

    >>> print(fg.numpy.real_if_close([1.0 + 1e-16j]))
    [1.]
    """
    z = asoperand(a)
    if untraced(z):
        return np.real_if_close(z, tol)
    if aval(z).dtype.kind != "c":
        return z
    part = imag(z)
    bound = np.finfo(aval(part).dtype).eps * tol if tol > 1 else tol
    small = FUNCTIONS[np.all](comparison.less(magnitude.absolute(part), bound))
    return real(z) if small else z


conj = conjugate


def _conjugate_method(self: Tracer) -> Array:
    return conjugate(self) if self.aval.dtype.kind == "c" else self  # as NumPy's: the very array


install({"conj": _conjugate_method, "conjugate": _conjugate_method})
