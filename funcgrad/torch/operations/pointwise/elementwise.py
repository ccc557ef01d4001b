"""Functions of one operand, element by element."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.scipy import special
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.rows import Row, as_floating, of_one, publish, unary
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.results import named
from funcgrad.types import Array, Arrays, Number

__all__: list[str] = []


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x) if isinstance(x, np.ndarray | np.generic) else _traced_rsqrt(x)


@custom_jvp
def _traced_rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


@_traced_rsqrt.defjvp
def _rsqrt_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x,), (dx,) = primals, tangents
    # By the result, which also says on which side of the branch cut a complex x is.
    out = _traced_rsqrt(x)
    return out, -0.5 * out * out * out * dx


def _reciprocal(x: Array) -> Array:
    return 1.0 / x


def _sinc(x: Array) -> Array:
    return np.sinc(x)


def _sigmoid(x: Array) -> Array:
    return special.expit(x) if x.dtype.kind != "c" else 1.0 / (1.0 + np.exp(-x))


def _relu(x: Array) -> Array:
    if isinstance(x, np.ndarray):
        return np.maximum(x, x.dtype.type(0))
    # The gradient at 0 is 0, not half as for a maximum; NaN stays NaN.
    return np.where(x <= 0, np.zeros((), x.dtype), x)


def _square(x: Array) -> Array:
    return x * x


_FLOATING = (
    Row("exp", "ExpBackward0", np.exp, "``e ** input``.", keeps_result=True),
    Row("exp2", "Exp2Backward0", np.exp2, "``2 ** input``.", keeps_result=True),
    Row("expm1", "Expm1Backward0", np.expm1, "``exp(input) - 1``, exact near 0.", keeps_result=True),
    Row("log", "LogBackward0", np.log, "The natural logarithm."),
    Row("log2", "Log2Backward0", np.log2, "The logarithm to base 2."),
    Row("log10", "Log10Backward0", np.log10, "The logarithm to base 10."),
    Row("log1p", "Log1PBackward0", np.log1p, "``log(1 + input)``, exact near 0."),
    Row("sqrt", "SqrtBackward0", np.sqrt, "The square root.", keeps_result=True),
    Row("sin", "SinBackward0", np.sin, "The sine."),
    Row("cos", "CosBackward0", np.cos, "The cosine."),
    Row("tan", "TanBackward0", np.tan, "The tangent.", keeps_result=True),
    Row("asin", "AsinBackward0", np.arcsin, "The arc sine.", also=("arcsin",)),
    Row("acos", "AcosBackward0", np.arccos, "The arc cosine.", also=("arccos",)),
    Row("atan", "AtanBackward0", np.arctan, "The arc tangent.", also=("arctan",)),
    Row("sinh", "SinhBackward0", np.sinh, "The hyperbolic sine."),
    Row("cosh", "CoshBackward0", np.cosh, "The hyperbolic cosine."),
    Row("tanh", "TanhBackward0", np.tanh, "The hyperbolic tangent.", keeps_result=True),
    Row("asinh", "AsinhBackward0", np.arcsinh, "The inverse of `sinh`.", also=("arcsinh",)),
    Row("acosh", "AcoshBackward0", np.arccosh, "The inverse of `cosh`.", also=("arccosh",)),
    Row("atanh", "AtanhBackward0", np.arctanh, "The inverse of `tanh`.", also=("arctanh",)),
    Row(
        "sigmoid",
        "SigmoidBackward0",
        _sigmoid,
        "``1 / (1 + exp(-input))``.",
        keeps_result=True,
        also=("special_expit",),
    ),
    Row("erf", "ErfBackward0", special.erf, "The error function."),
    Row("erfc", "ErfcBackward0", special.erfc, "One less the error function."),
    Row("erfinv", "ErfinvBackward0", special.erfinv, "The inverse of `erf`.", keeps_result=True),
    Row(
        "lgamma",
        "LgammaBackward0",
        special.gammaln,
        "The logarithm of the absolute value of the gamma function.",
    ),
    Row("digamma", "DigammaBackward0", special.psi, "The derivative of `lgamma`."),
    Row("sinc", "SincBackward0", _sinc, "``sin(pi * input) / (pi * input)``, 1 at 0."),
    Row("deg2rad", "Deg2RadBackward0", np.deg2rad, "Degrees in radians."),
    Row("rad2deg", "Rad2DegBackward0", np.rad2deg, "Radians in degrees."),
)

publish(of_one, _FLOATING)


_square_of = unary(Op("PowBackward0", _square, input_names=("self",)), "square", floating=False)


@operation(inplace=True)
def square(input: Tensor) -> Operand:
    """``input * input``; truth values count as integers."""
    return _square_of(input.long() if input._value.dtype.kind == "b" else input)


# As in PyTorch their results are kept, not their inputs.
_RSQRT = Op("RsqrtBackward0", _rsqrt, keeps_result=True)
_RECIPROCAL = Op("ReciprocalBackward0", _reciprocal, inverse=_reciprocal)
operation("rsqrt", inplace=True)(unary(_RSQRT, "rsqrt", "``1 / sqrt(input)``."))
operation("reciprocal", inplace=True)(unary(_RECIPROCAL, "reciprocal", "``1 / input``."))
_RELU = Op("ReluBackward0", _relu, inverse=np.positive)
_relu_of = unary(_RELU, "relu", floating=False)


@operation(inplace=True)
def relu(input: Tensor) -> Operand:
    """Zero in place of what is negative."""
    kind = input._value.dtype.kind
    if kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    return _relu_of(input)


# -- rounding and signs: integers stay what they are ------------------------------------------------------


def _stepwise(row: Row) -> Callable[[Tensor], Operand]:
    of_floating = of_one(row)

    def rounded(input: Tensor) -> Operand:
        if input._value.dtype.kind in "iu":
            return wrap(input._value.copy()) if not input._rg else input.clone()
        if input._value.dtype.kind == "b":
            raise NotImplementedError(f"\"{row.name}_vml_cpu\" not implemented for 'Bool'")
        return of_floating(input)

    rounded.__name__ = rounded.__qualname__ = row.name
    rounded.__doc__ = row.doc
    return rounded


publish(
    _stepwise,
    (
        Row("floor", "FloorBackward0", np.floor, "The greatest integer that is not greater."),
        Row("ceil", "CeilBackward0", np.ceil, "The least integer that is not less."),
        Row("trunc", "TruncBackward0", np.trunc, "The part before the point.", also=("fix",)),
    ),
)


@op("RoundBackward0")
def _round(x: Array) -> Array:
    return np.rint(x)


@op("RoundBackward1", param_names=("decimals",))
def _round_to(x: Array, decimals: int) -> Array:
    return np.rint(x * 10.0**decimals) / 10.0**decimals


@operation("round", inplace=True)
def rounded(input: Tensor, *, decimals: int = 0) -> Operand:
    """Round to the nearest integer (or number of decimals), halves to even."""
    if input._value.dtype.kind in "iu":
        return input.clone()
    return apply(_round_to, (input,), (decimals,)) if decimals else apply(_round, (input,))


def _frac(x: Array) -> Array:
    return x - np.trunc(x)


def _sign(x: Array) -> Array:
    if x.dtype.kind == "b":
        return x.copy()
    # Of NaN it is 0, as in PyTorch.
    return np.where(np.isnan(x), np.zeros((), x.dtype), np.sign(x)) if x.dtype.kind == "f" else np.sign(x)


def _sgn(x: Array) -> Array:
    if x.dtype.kind != "c":
        return _sign(x)
    size = np.abs(x)
    return np.where(size == 0, np.zeros((), x.dtype), x / np.where(size == 0, np.ones((), size.dtype), size))


@custom_jvp
def _size(x: Array) -> Array:
    return np.abs(x)


@_size.defjvp
def _size_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x,), (dx,) = primals, tangents
    return _size(x), _sign(x) * dx


def _abs(x: Array) -> Array:
    # The slope at NaN is 0, as in PyTorch.
    return np.abs(x) if isinstance(x, np.ndarray | np.generic) or x.dtype.kind != "f" else _size(x)


_SAME = (
    Row("abs", "AbsBackward0", _abs, "The absolute value.", also=("absolute",), result="same"),
    Row("frac", "FracBackward0", _frac, "The part after the point, signed.", result="same"),
    Row("sgn", "SgnBackward0", _sgn, "The direction of a number: ``z / |z|``, 0 at 0.", result="same"),
    Row("sign", "SignBackward0", _sign, "-1, 0 or 1.", result="same"),
)
setattr(Tensor, "__abs__", publish(of_one, _SAME)["abs"])  # noqa: B010 - given like every operation


@op("NanToNumBackward0")
def _nan_to_num(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@operation(inplace=True)
def nan_to_num(
    input: Tensor, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Operand:
    """Finite numbers in place of NaN and infinities."""
    return apply(_nan_to_num, (input,), (nan or 0.0, posinf, neginf))


@op("LogitBackward0")
def _logit(x: Array, eps: float | None) -> Array:
    if eps is not None:
        x = np.clip(x, eps, 1.0 - eps)
    return _log_odds(x)


@custom_jvp
def _log_odds(x: Array) -> Array:
    return np.log(x / (1.0 - x))


@_log_odds.defjvp
def _log_odds_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x,), (dx,) = primals, tangents
    # Infinite at the ends, as in PyTorch; NaN beyond them.
    slope = 1.0 / (x * (1.0 - x))
    return _log_odds(x), np.where((x < 0) | (x > 1), np.nan * slope, slope) * dx


@operation(inplace=True)
def logit(input: Tensor, eps: float | None = None) -> Operand:
    """``log(x / (1 - x))``."""
    return apply(_logit, (as_floating(input),), (eps,))


@op("PolygammaBackward0")
def _polygamma(x: Array, n: int) -> Array:
    return special.polygamma(n, x)


@operation(inplace=False)
def polygamma(n: Number, input: Operand) -> Operand:
    """The derivative of order `n` of digamma."""
    if isinstance(n, Tensor):
        n, input = input, n
    return apply(_polygamma, (as_floating(input),), (int(n),))


@operation(inplace=True)
def ldexp(input: Tensor, other: Tensor) -> Operand:
    """``input * 2 ** other``."""
    return input * FUNCTIONS["pow"](2.0, other)


@operation()
def frexp(input: Tensor) -> Operands:
    """The mantissa and the exponent of floating-point numbers."""
    exponent = np.asarray(np.frexp(input._value)[1])
    mantissa = apply(_mantissa, (input, np.ldexp(input._value.dtype.type(1), -exponent)))
    return named("frexp", "mantissa exponent")(mantissa, wrap(exponent))


@op("FrexpBackward0", visible=1)
def _mantissa(x: Array, scale: Array) -> Array:
    return x * scale


def _special(name: str, title: str | None = None) -> None:
    def function(input: Tensor, *args: Operand) -> Operand:
        return getattr(import_module("funcgrad.torch.special"), title or name)(input, *args)

    function.__name__ = function.__qualname__ = name
    operation(name, inplace=True)(function)


_special("i0")
_special("igamma", "gammainc")
_special("igammac", "gammaincc")
