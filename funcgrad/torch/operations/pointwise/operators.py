"""The operators of tensors, and the functions PyTorch has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.dtypes import TYPE_NAMES, without_its_dtype
from funcgrad.torch.core.inplace import in_place
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE, quiet
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import (
    F32,
    F64,
    Binary,
    numbers_of,
    operator_method,
    result_dtype,
    tensor_beside,
)
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Array, DTypeLike, Number


def _refuse_bool_sub(a: Array, b: Array, dtype: np.dtype[Any]) -> None:
    if dtype.kind != "b":
        kinds = [getattr(getattr(x, "_value", x), "dtype", None) for x in (a, b)]
        if any(k is not None and k.kind == "b" for k in kinds) and all(
            (k is not None and k.kind == "b") or isinstance(x, bool)
            for k, x in zip(kinds, (a, b), strict=True)
        ):
            raise RuntimeError(_BOOL_SUB)
        if any(k is not None and k.kind == "b" for k in kinds) or any(isinstance(x, bool) for x in (a, b)):
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                "invert a mask, use the `~` or `logical_not()` operator instead."
            )
        return
    raise RuntimeError(_BOOL_SUB)


_BOOL_SUB = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
    "operator instead."
)


def refusing(kernel: str) -> Callable[[Operand, Operand, DTypeLike], None]:
    """Raises NotImplementedError, in PyTorch's words, for operands of booleans and of complex numbers."""

    def check(a: Operand, b: Operand, dtype: DTypeLike) -> None:
        if dtype.kind in "bc":
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{TYPE_NAMES[dtype.name]}'")

    return check


def _refuse_bool_power(a: Operand, b: Operand, dtype: DTypeLike) -> None:
    if dtype.kind == "b" and isinstance(b, Tensor):
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")


def _reversed_sub(a: Array, b: Array) -> Array:
    return np.subtract(b, a)


ADD = Binary("AddBackward0", np.add)
SUB = Binary("SubBackward0", np.subtract, checked=_refuse_bool_sub)
MUL = Binary("MulBackward0", np.multiply)
DIV = Binary("DivBackward0", np.true_divide, result="float")
RSUB = Binary("RsubBackward1", _reversed_sub, checked=_refuse_bool_sub)
_RSUB_TENSOR = Binary("RsubBackward0", _reversed_sub, checked=_refuse_bool_sub)

_OPERATORS = {
    "__add__": ADD,
    "__radd__": ADD,
    "__sub__": SUB,
    "__mul__": MUL,
    "__rmul__": MUL,
    "__truediv__": DIV,
    "__rsub__": RSUB,
}
for _name, _binary in _OPERATORS.items():
    setattr(Tensor, _name, operator_method(_binary, _name))

_add = Tensor.__add__
_sub = Tensor.__sub__
_mul = Tensor.__mul__
_div = Tensor.__truediv__


def _called(method: Callable[..., Any], name: str, x: Array, y: Array) -> Operand:
    if not isinstance(x, Tensor):
        if not numbers_of(x):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
        x = tensor_beside(x, y)
    found = method(x, y)
    if found is NotImplemented:
        raise TypeError(f"{name}(): argument 'other' (position 1) must be Tensor, not {type(y).__name__}")
    return found


def _scaled(other: Operand, alpha: Operand, like: Operand) -> Operand:
    if alpha == 1 and not isinstance(alpha, bool):
        return other
    if isinstance(alpha, float) and result_dtype(like, other).kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return other * alpha


@operation(inplace=True)
def add(input: Operand, other: Operand, *, alpha: Number = 1) -> Operand:
    """``input + alpha * other``."""
    return _called(_add, "add", input, _scaled(other, alpha, input))


@operation("sub", "subtract", inplace=True)
def sub(input: Operand, other: Operand, *, alpha: Number = 1) -> Operand:
    """``input - alpha * other``."""
    return _called(_sub, "sub", input, _scaled(other, alpha, input))


@operation("mul", "multiply", inplace=True)
def mul(input: Operand, other: Operand) -> Operand:
    """``input * other``."""
    return _called(_mul, "mul", input, other)


@operation()
def rsub(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """``other - alpha * input``."""
    if isinstance(other, Tensor):
        return _RSUB_TENSOR.promoted(_scaled(input, alpha, input), other)
    return RSUB.promoted(_scaled(input, alpha, input), other)


def _div_floor(a: Array, b: Array, dtype: DTypeLike) -> Array:
    # Not the quotient rounded down, which is 30 for 3.0 / 0.1: as Python's, PyTorch's comes from a remainder.
    return np.floor_divide(a.astype(dtype), b.astype(dtype))


def _div_trunc(a: Array, b: Array, dtype: DTypeLike) -> Array:
    return np.trunc(np.true_divide(a.astype(dtype), b.astype(dtype)))


_DIV_FLOOR = Op("DivBackward2", _div_floor)
_DIV_TRUNC = Op("DivBackward2", _div_trunc)


@operation("div", "divide", inplace=True)
def div(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Operand:
    """``input / other``, floored or truncated with `rounding_mode`."""
    if rounding_mode is None:
        return _called(_div, "div", input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    dtype = result_dtype(input, other)
    refusing(f"div_{rounding_mode}_cpu")(input, other, dtype)
    if dtype.kind in "iu":
        return _integer_division(tensor_beside(input, other), other, dtype, rounding_mode)
    chosen = _DIV_FLOOR if rounding_mode == "floor" else _DIV_TRUNC
    if not isinstance(other, Tensor):
        other = np.asarray(other, dtype)
    return apply(chosen, (tensor_beside(input, other), other), (dtype,))


FUNCTIONS["true_divide"] = _div
setattr(Tensor, "true_divide", _div)  # noqa: B010 - a name among many
setattr(Tensor, "true_divide_", in_place(_div, "true_divide_"))  # noqa: B010


def _integer_division(x: Tensor, y: Array, dtype: DTypeLike, mode: str) -> Operand:
    def divided(a: Array, b: Array, dtype: DTypeLike) -> Array:
        a, b = a.astype(dtype), b.astype(dtype)
        if (np.asarray(b) == 0).any():
            raise RuntimeError("ZeroDivisionError")
        if mode == "floor":
            return np.floor_divide(a, b)
        return np.sign(a) * np.sign(b) * np.floor_divide(np.abs(a), np.abs(b))

    return apply(
        Op("DivBackward2", divided), (x, y if isinstance(y, Tensor) else np.asarray(y, dtype)), (dtype,)
    )


@operation(inplace=True)
def floor_divide(input: Operand, other: Operand) -> Tensor:
    """``input // other``, rounded down; a backward pass that comes to it raises RuntimeError."""
    found = div(input, other, rounding_mode="floor")
    source = next((x for x in (input, other) if isinstance(x, Tensor) and x._rg), found)
    return underived(found, source, "floor_divide")


def _rtruediv(self: Tensor, other: Operand) -> Operand:
    if not numbers_of(other):
        return NotImplemented
    return self.reciprocal() * other


def _floordiv(self: Tensor, other: Operand) -> Operand:
    if not numbers_of(other):
        return NotImplemented
    return floor_divide(self, other)


def _rfloordiv(self: Tensor, other: Operand) -> Operand:
    return floor_divide(tensor_beside(other, self), self) if numbers_of(other) else NotImplemented


# -- powers -----------------------------------------------------------------------------------------------


def _power_number(x: Array, exponent: Operand) -> Array:
    return x**exponent


def _power(x: Array, y: Array) -> Array:
    if x.dtype.kind == "b":
        return np.logical_or(x, np.logical_not(y))
    if x.dtype.kind in "iu" and y.dtype.kind == "i":
        # Of whole numbers, negative powers of all but 1 and -1 are 0, as in PyTorch.
        low = np.where(abs(x) == 1, x ** (abs(y) % 2), 0)
        return np.where(y < 0, low, x ** np.maximum(y, 0))
    if x.dtype.kind == "c":
        # As in PyTorch: the exponential of 0 times the logarithm of 0.
        return np.where((x == 0) & (y == 0), complex(np.nan, np.nan), np.power(x, y))
    return np.power(x, y)


_POW_NUMBER = Op("PowBackward0", _power_number, input_names=("self",), param_names=("exponent",))
# The base is saved whatever the exponent, as PyTorch does.
_POW_NUMBER.masks[1] = 1
_POW_NODE = _POW_NUMBER.node_class
_new = object.__new__
POW = Binary("PowBackward1", _power, checked=_refuse_bool_power)
_POW_BASE = Binary("PowBackward2", _power, checked=_refuse_bool_power)


@operation("pow", inplace=True)
def power(input: Operand, exponent: Operand) -> Operand:
    """``input ** exponent``."""
    if isinstance(input, Tensor):
        found = _pow(input, exponent)
        if found is NotImplemented:
            raise TypeError(
                f"pow(): argument 'exponent' must be Tensor or Number, not {type(exponent).__name__}"
            )
        return found
    return _POW_BASE.promoted(input, exponent)


def _pow(self: Tensor, exponent: Operand) -> Operand:  # noqa: PLR0911 - a hot path, in one piece
    kind = type(exponent)
    if kind is int or kind is float:
        a = self._value
        dtype = a.dtype
        if dtype is F32 or dtype is F64:
            token = quiet.enter()
            value = a**exponent
            quiet.leave(token)
            t: Tensor = _new(Tensor)
            t._value = value
            t._version_box = [0]
            if self._rg:
                if MODES.fast and not self._inference:
                    node: Any = _new(_POW_NODE)
                    node.params = (exponent,)
                    node.edges = (self._node or self,)
                    node.specs = (a.shape,)
                    box = self._version_box
                    node.saved = (a,)
                    node.checks = (box, box[0])
                    node.seq = next(SEQUENCE)
                    t._node = node
                    t._rg = True
                else:
                    return apply(_POW_NUMBER, (self,), (exponent,))
            elif MODES.inference:
                t._inference = True
            return t
    exponent = without_its_dtype(exponent)
    if isinstance(exponent, float | int | complex):
        value = self._value
        kind = value.dtype.kind
        if kind in "iub":
            dtype = result_dtype(self, exponent)
            if dtype.kind in "iu" and not isinstance(exponent, complex) and exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
            if dtype.kind in "iub":
                return POW.promoted(self, exponent)
            return _pow(self.to(dtype), exponent)
        if kind == "f" and isinstance(exponent, complex):
            return POW.promoted(self, exponent)
        return apply(_POW_NUMBER, (self,), (exponent,))
    if not numbers_of(exponent):
        return NotImplemented
    return POW.promoted(self, exponent)


def _rpow(self: Tensor, base: Operand) -> Operand:
    if not numbers_of(base):
        return NotImplemented
    return _POW_BASE.promoted(base, self)


# -- remainders and the like ------------------------------------------------------------------------------

_of_remainder, _of_fmod = refusing("remainder_cpu"), refusing("fmod_cpu")
_REMAINDER = Binary("RemainderBackward1", np.remainder, checked=_of_remainder)
_REMAINDER_NUMBER = Binary("RemainderBackward0", np.remainder, checked=_of_remainder)
_FMOD = Binary("FmodBackward1", np.fmod, checked=_of_fmod)
_FMOD_NUMBER = Binary("FmodBackward0", np.fmod, checked=_of_fmod)


def _require_nonzero(other: Operand, dtype: DTypeLike) -> None:
    if dtype.kind in "iu" and (np.asarray(getattr(other, "_value", other)) == 0).any():
        raise RuntimeError("ZeroDivisionError")


@operation(inplace=True)
def remainder(input: Operand, other: Operand) -> Tensor:
    """The remainder of a division rounded down; its sign is that of `other`."""
    _require_nonzero(other, result_dtype(input, other))
    return (_REMAINDER if isinstance(other, Tensor) else _REMAINDER_NUMBER).promoted(input, other)


@operation(inplace=True)
def fmod(input: Operand, other: Operand) -> Tensor:
    """The remainder of a division rounded towards zero; its sign is that of `input`."""
    _require_nonzero(other, result_dtype(input, other))
    return (_FMOD if isinstance(other, Tensor) else _FMOD_NUMBER).promoted(input, other)


def _mod(self: Tensor, other: Operand) -> Operand:
    return FUNCTIONS["remainder"](self, other) if numbers_of(other) else NotImplemented


def _rmod(self: Tensor, other: Operand) -> Operand:
    return remainder(tensor_beside(other, self), self) if numbers_of(other) else NotImplemented


# -- signs and matrices -----------------------------------------------------------------------------------


@op("NegBackward0")
def _neg(x: Array) -> Array:
    return np.negative(x)


@operation("neg", "negative", inplace=True)
def neg(input: Tensor) -> Operand:
    """``-input``."""
    if input._value.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
            "mask, use the `~` or `logical_not()` operator instead."
        )
    return apply(_neg, (input,))


@operation()
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    if input._value.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _in_place_operator(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    write = in_place(method, name)

    def operator(self: Tensor, other: Operand) -> Operand:
        if not numbers_of(other):
            return NotImplemented
        return write(self, other)

    operator.__name__ = name
    return operator


_MORE = {
    "__pow__": _pow,
    "__rpow__": _rpow,
    "__rtruediv__": _rtruediv,
    "__floordiv__": _floordiv,
    "__rfloordiv__": _rfloordiv,
    "__mod__": _mod,
    "__rmod__": _rmod,
    "__neg__": neg,
    "__pos__": positive,
    "__iadd__": _in_place_operator(_add, "__iadd__"),
    "__isub__": _in_place_operator(_sub, "__isub__"),
    "__imul__": _in_place_operator(_mul, "__imul__"),
    "__itruediv__": _in_place_operator(_div, "__itruediv__"),
    "__ifloordiv__": _in_place_operator(floor_divide, "__ifloordiv__"),
    "__imod__": _in_place_operator(remainder, "__imod__"),
    "__ipow__": _in_place_operator(_pow, "__ipow__"),
}
for _name, _method in _MORE.items():
    setattr(Tensor, _name, _method)
