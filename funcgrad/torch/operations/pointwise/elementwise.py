"""Functions of one operand, element by element."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.scipy import special
from funcgrad.torch.core.apply import apply, make_node
from funcgrad.torch.core.backward.history import Node, Op, op
from funcgrad.torch.core.backward.plans import pointwise_mask
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES, SEQUENCE, SETTINGS, quiet
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import F32, F64
from funcgrad.torch.operations.reductions import named
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Number

__all__ = ["as_floating", "unary"]

_new = object.__new__


def as_floating(x: Tensor) -> Tensor:
    """A tensor of integers in the default dtype, any other as it is."""
    return x.to(SETTINGS.default_dtype) if x._value.dtype.kind in "iub" else x


def _remember(op: Op, t: Tensor, x: Tensor, a: Any) -> None:
    if not MODES.fast or x._inference:
        t._inference = MODES.inference
        if MODES.grad:
            t._node = make_node(op, (x,), (a,), (), (t._value,), (t._version_box,), 1)
            t._rg = True
        return
    mask = op.masks.get(1)
    if mask is None:
        mask = pointwise_mask(op, 1, (a,), t._value)
    node: Node = _new(op.node_class)
    node.edges = (x._node or x,)
    node.specs = (a.shape,)
    if mask == 1:
        box = x._version_box
        node.saved, node.checks = (a,), (box, box[0])
    elif mask == 2:
        node.saved, node.checks = (t._value,), (t._version_box, 0)
    elif mask:
        box = x._version_box
        node.saved, node.checks = (a, t._value), (box, box[0], t._version_box, 0)
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True


def unary(op: Op, name: str, floating: bool = True) -> Callable[[Any], Any]:
    """The function of one tensor; with `floating` integers are converted first."""
    function = op.function
    modes, enter, leave = MODES, quiet.enter, quiet.leave

    def elementwise(input: Any) -> Any:
        a = input._value
        dtype = a.dtype
        if dtype is F32 or dtype is F64:
            token = enter()
            value = function(a)
            leave(token)
            t = _new(Tensor)
            t._value = value
            t._version_box = [0]
            if input._rg:
                _remember(op, t, input, a)
            elif modes.inference:
                t._inference = True
            return t
        if floating and dtype.kind in "iub":
            input = as_floating(input)
        return apply(op, (input,))

    elementwise.__name__ = elementwise.__qualname__ = name
    return elementwise


def _rsqrt(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def _reciprocal(x: Any) -> Any:
    return 1.0 / x


def _sinc(x: Any) -> Any:
    return np.sinc(x)


def _sigmoid(x: Any) -> Any:
    return special.expit(x) if x.dtype.kind != "c" else 1.0 / (1.0 + np.exp(-x))


def _relu(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.maximum(x, x.dtype.type(0))
    # The gradient at 0 is 0, not half as for a maximum; NaN stays NaN.
    return np.where(x <= 0, np.zeros((), x.dtype), x)


def _square(x: Any) -> Any:
    return x * x


_FLOATING: dict[str, tuple[str, Any, bool]] = {
    "exp": ("ExpBackward0", np.exp, True),
    "exp2": ("Exp2Backward0", np.exp2, True),
    "expm1": ("Expm1Backward0", np.expm1, True),
    "log": ("LogBackward0", np.log, False),
    "log2": ("Log2Backward0", np.log2, False),
    "log10": ("Log10Backward0", np.log10, False),
    "log1p": ("Log1PBackward0", np.log1p, False),
    "sqrt": ("SqrtBackward0", np.sqrt, True),
    "sin": ("SinBackward0", np.sin, False),
    "cos": ("CosBackward0", np.cos, False),
    "tan": ("TanBackward0", np.tan, True),
    "asin": ("AsinBackward0", np.arcsin, False),
    "acos": ("AcosBackward0", np.arccos, False),
    "atan": ("AtanBackward0", np.arctan, False),
    "sinh": ("SinhBackward0", np.sinh, False),
    "cosh": ("CoshBackward0", np.cosh, False),
    "tanh": ("TanhBackward0", np.tanh, True),
    "asinh": ("AsinhBackward0", np.arcsinh, False),
    "acosh": ("AcoshBackward0", np.arccosh, False),
    "atanh": ("AtanhBackward0", np.arctanh, False),
    "sigmoid": ("SigmoidBackward0", _sigmoid, True),
    "erf": ("ErfBackward0", special.erf, False),
    "erfc": ("ErfcBackward0", special.erfc, False),
    "erfinv": ("ErfinvBackward0", special.erfinv, True),
    "lgamma": ("LgammaBackward0", special.gammaln, False),
    "digamma": ("DigammaBackward0", special.psi, False),
    "sinc": ("SincBackward0", _sinc, False),
    "deg2rad": ("Deg2RadBackward0", np.deg2rad, False),
    "rad2deg": ("Rad2DegBackward0", np.rad2deg, False),
}
_ALIASES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "special_expit": "sigmoid",
}

FUNCTIONS_OF_ONE: dict[str, Callable[[Any], Any]] = {}
for _name, (_title, _function, _keeps) in _FLOATING.items():
    _made = unary(Op(_title, _function, keeps_result=_keeps, input_names=("self",)), _name, True)
    FUNCTIONS_OF_ONE[_name] = operation(_name, inplace=True)(_made)
for _alias, _name in _ALIASES.items():
    operation(_alias, inplace=True)(FUNCTIONS_OF_ONE[_name])


def _rsqrt_input(out: Any) -> Any:
    return 1.0 / (out * out)


_square_of = unary(Op("PowBackward0", _square, input_names=("self",)), "square", False)


@operation(inplace=True)
def square(input: Tensor) -> Operand:
    """``input * input``; truth values count as integers."""
    return _square_of(input.long() if input._value.dtype.kind == "b" else input)


FUNCTIONS_OF_ONE["square"] = square

# As in PyTorch their results are kept, not their inputs.
_RSQRT = Op("RsqrtBackward0", _rsqrt, inverse=_rsqrt_input)
_RECIPROCAL = Op("ReciprocalBackward0", _reciprocal, inverse=_reciprocal)
FUNCTIONS_OF_ONE["rsqrt"] = operation("rsqrt", inplace=True)(unary(_RSQRT, "rsqrt"))
FUNCTIONS_OF_ONE["reciprocal"] = operation("reciprocal", inplace=True)(unary(_RECIPROCAL, "reciprocal"))
_RELU = Op("ReluBackward0", _relu, inverse=np.positive)
_relu_of = FUNCTIONS_OF_ONE["relu"] = unary(_RELU, "relu", False)


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


def _stepwise(name: str, title: str, function: Callable[[Any], Any]) -> None:
    made = Op(title, function, input_names=("self",))

    def rounded(input: Tensor) -> Any:
        if input._value.dtype.kind in "iu":
            return wrap(input._value.copy()) if not input._rg else input.clone()
        if input._value.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_vml_cpu\" not implemented for 'Bool'")
        return apply(made, (input,))

    rounded.__name__ = rounded.__qualname__ = name
    operation(name, inplace=True)(rounded)


_stepwise("floor", "FloorBackward0", np.floor)
_stepwise("ceil", "CeilBackward0", np.ceil)
_stepwise("trunc", "TruncBackward0", np.trunc)
operation("fix", inplace=True)(FUNCTIONS["trunc"])


@op("RoundBackward0")
def _round(x: Any, decimals: int) -> Any:
    return np.rint(x) if not decimals else np.rint(x * 10.0**decimals) / 10.0**decimals


@operation("round", inplace=True)
def rounded(input: Tensor, *, decimals: int = 0) -> Operand:
    """Round to the nearest integer (or number of decimals), halves to even."""
    if input._value.dtype.kind in "iu":
        return input.clone()
    return apply(_round, (input,), (decimals,))


@op("FracBackward0")
def _frac(x: Any) -> Any:
    return x - np.trunc(x)


@operation(inplace=True)
def frac(input: Tensor) -> Operand:
    """The part after the point, with the sign of the number."""
    return apply(_frac, (input,))


@op("AbsBackward0", input_names=("self",))
def _abs(x: Any) -> Any:
    return np.abs(x)


@operation("abs", "absolute", inplace=True)
def absolute(input: Tensor) -> Operand:
    """The absolute value."""
    return apply(_abs, (input,))


setattr(Tensor, "__abs__", absolute)  # noqa: B010 - given like every operation


@op("SignBackward0")
def _sign(x: Any) -> Any:
    return np.sign(x) if x.dtype.kind != "b" else x.copy()


@operation(inplace=True)
def sign(input: Tensor) -> Operand:
    """-1, 0 or 1."""
    return apply(_sign, (input,))


@op("SgnBackward0")
def _sgn(x: Any) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x) if x.dtype.kind != "b" else x.copy()
    size = np.abs(x)
    return x / np.where(size == 0, np.ones((), size.dtype), size)


@operation(inplace=True)
def sgn(input: Tensor) -> Operand:
    """The direction of a number: ``z / |z|``, 0 at 0."""
    return apply(_sgn, (input,))


@op("NanToNumBackward0")
def _nan_to_num(x: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@operation(inplace=True)
def nan_to_num(
    input: Tensor, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Operand:
    """Finite numbers in place of NaN and infinities."""
    return apply(_nan_to_num, (input,), (nan or 0.0, posinf, neginf))


@op("LogitBackward0")
def _logit(x: Any, eps: float | None) -> Any:
    if eps is not None:
        x = np.clip(x, eps, 1.0 - eps)
    return _log_odds(x)


@custom_jvp
def _log_odds(x: Any) -> Any:
    return np.log(x / (1.0 - x))


@_log_odds.defjvp
def _log_odds_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    # Infinite at the ends, as in PyTorch; NaN beyond them.
    slope = 1.0 / (x * (1.0 - x))
    return _log_odds(x), np.where((x < 0) | (x > 1), np.nan * slope, slope) * dx


@operation(inplace=True)
def logit(input: Tensor, eps: float | None = None) -> Operand:
    """``log(x / (1 - x))``."""
    return apply(_logit, (as_floating(input),), (eps,))


@op("PolygammaBackward0")
def _polygamma(x: Any, n: int) -> Any:
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
def _mantissa(x: Any, scale: Any) -> Any:
    return x * scale


def _special(name: str, title: str | None = None) -> None:
    def function(input: Tensor, *args: Any) -> Any:
        return getattr(import_module("funcgrad.torch.special"), title or name)(input, *args)

    function.__name__ = function.__qualname__ = name
    operation(name, inplace=True)(function)


_special("i0")
_special("igamma", "gammainc")
_special("igammac", "gammaincc")
