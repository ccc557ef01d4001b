"""Complex numbers: their parts, their conjugate, and how to make one from two real numbers.

These operations are linear over the real numbers only. A transpose pairs a cotangent with a tangent by the
real part of their product, without conjugation; that is JAX's convention, and it fixes every rule here:
the transpose of `real` is ``c -> c + 0i``, of `imag` ``c -> -ic``, of `conj` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ops.elementwise.arithmetic import neg
from funcgrad.ops.families import (
    Binary,
    Unary,
    broadcast_shapes,
    broadcast_to,
    listed,
    summed_to,
    ufunc_dtypes,
)
from funcgrad.ops.native import by_kind, of_any_kind
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.samples import ErrorSample, Sample, edge, fixed, integers, normal
from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom


class Part(Unary):
    """A real number out of a complex one."""

    aliases = True
    kinds = "c"

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        return (avals[0].dtype,)

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if x.dtype.kind != "c":
            raise DtypeError(f"{self.name} of {x}: the operand must be complex")
        return Aval(x.shape, real_dtype(x.dtype))

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"{names[0]}.{self.name}"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), self.bind(tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2)),
            Sample(normal()),
            Sample(fixed(np.array([complex(np.inf, 1.0), complex(np.nan, np.inf)])), differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(integers(0, 3, 2), words="must be complex", error=DtypeError),)


class Real(Part):
    """The real part."""

    name = "real"
    ufunc = staticmethod(np.real)
    native = by_kind(c="{0}.real")
    cost = 0

    def evaluate(self, *values: Array) -> Array:
        return values[0].real

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (make_complex(cotangent, zero_of(cotangent)),)


class Imag(Part):
    """The imaginary part."""

    name = "imag"
    ufunc = staticmethod(np.imag)
    native = by_kind(c="{0}.imag")
    cost = 0

    def evaluate(self, *values: Array) -> Array:
        return values[0].imag

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (make_complex(zero_of(cotangent), neg(cotangent)),)


class Conj(Unary):
    """The complex conjugate; real numbers are their own."""

    name = "conj"
    ufunc = np.conjugate
    native = by_kind(c="conjugate({0})")
    cost = 0

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), self.bind(tangents[0])

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (self(cotangent),)

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if inputs[0].aval.dtype.kind != "c" else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3, 2)), Sample(normal()), Sample(integers(-3, 3, 4), differentiable=False)


class MakeComplex(Binary):
    """The complex number with the given real and imaginary parts, infinite ones included."""

    name = "complex"
    ufunc = np.arctan2  # for its promotion
    native = of_any_kind("{result}(complex({0}, {1}))")
    cost = 0
    kinds = "f"

    def on_arrays(self, *args: Array) -> Array:
        dtypes = self.operand_dtypes(tuple([aval_of(x) for x in args]))
        return self.evaluate(*[np.asarray(x, dtype) for x, dtype in zip(args, dtypes, strict=True)])[()]

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        found = ufunc_dtypes(self.name, np.arctan2, avals)[-1]
        common = np.dtype(np.float32) if found == np.float16 else found
        return common, common

    def infer(self, *avals: Aval) -> Aval:
        re, im = avals
        if re.dtype != im.dtype or re.dtype.kind != "f" or re.dtype == np.float16:
            raise DtypeError(f"{self.name} of {listed(avals)}: the parts must be real and of one precision")
        return Aval(broadcast_shapes(self.name, avals), complex_dtype(re.dtype))

    def evaluate(self, *values: Array) -> Array:
        re, im = values
        out = np.empty(np.broadcast_shapes(re.shape, im.shape), complex_dtype(re.dtype))
        out.real = re
        out.imag = im
        return out

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        re_dot, im_dot = tangents
        dot = self(
            zero_of(im_dot) if re_dot is None else re_dot, zero_of(re_dot) if im_dot is None else im_dot
        )
        return out, broadcast_to(dot, out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        re, im = inputs
        re_bar = summed_to(real(cotangent), re.aval) if isinstance(re, Linear) else None
        im_bar = neg(summed_to(imag(cotangent), im.aval)) if isinstance(im, Linear) else None
        return re_bar, im_bar

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(), normal(3)),
            Sample(edge(np.inf, 0.0), edge(0.0, -np.inf), differentiable=False),
        )


def zero_of(x: Array) -> Array:
    """A scalar zero of the dtype of a tracer."""
    return x.aval.dtype.type(0)


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of a complex dtype.

    >>> real_dtype(np.dtype(np.complex64))
    dtype('float32')
    """
    return np.zeros((), dtype).real.dtype


def complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype whose parts have the given one.

    >>> complex_dtype(np.dtype(np.float64))
    dtype('complex128')
    """
    return np.result_type(dtype, np.complex64)


real = Real()
imag = Imag()
conj = Conj()
make_complex = MakeComplex()
