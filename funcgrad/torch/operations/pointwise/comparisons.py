"""Comparisons, tests of elements, and logic: results have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import evaluated, result
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.dtypes import TYPE_NAMES
from funcgrad.torch.core.errors import broadcast_error
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import (
    F32,
    F64,
    number_as,
    numbers_of,
    operand,
    result_dtype,
    tensor_beside,
)
from funcgrad.torch.operations.registry import operation, published
from funcgrad.types import Anything, Array, DTypeLike


def compared(function: Callable[..., Any], x: Operand, y: Operand, cast: bool = True) -> Tensor:
    """A function of two operands whose result is not differentiable."""
    a, b = operand(x), operand(y)
    values = [t._value if isinstance(t, Tensor) else t for t in (a, b)]
    if cast:
        dtype = result_dtype(a, b)
        values = [
            (v.astype(dtype) if v.dtype != dtype else v) if hasattr(v, "dtype") else number_as(v, dtype)
            for v in values
        ]
    try:
        return result(evaluated(Op("NotDifferentiable", function), values, ()))
    except ValueError as error:
        raise broadcast_error(a, b, error) from None


_COMPARISONS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "eq": (np.equal, "__eq__", ()),
    "ne": (np.not_equal, "__ne__", ("not_equal",)),
    "lt": (np.less, "__lt__", ("less",)),
    "le": (np.less_equal, "__le__", ("less_equal",)),
    "gt": (np.greater, "__gt__", ("greater",)),
    "ge": (np.greater_equal, "__ge__", ("greater_equal",)),
}


def _is_complex(x: Operand) -> bool:
    return x._value.dtype.kind == "c" if isinstance(x, Tensor) else isinstance(x, complex)


def require_order(name: str, ordered: bool, *operands: Operand) -> None:
    """Raise NotImplementedError where complex numbers would have to have an order."""
    if ordered and any(_is_complex(x) for x in operands):
        kind = wrap(np.empty((), result_dtype(*operands))).type()[6:-6]
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind}'")


def _comparison(name: str, function: Anything, operator: str, aliases: tuple[str, ...]) -> None:
    ordered = name not in ("eq", "ne")

    def comparison(input: Tensor, other: Operand) -> Operand:
        require_order(name, ordered, input, other)
        return compared(function, input, other)

    def operating(self: Tensor, other: Operand) -> Operand:
        a, kind = self._value, type(other)
        dtype = a.dtype
        if dtype is F32 or dtype is F64:
            if kind is float or kind is int:
                return result(function(a, other))
            if kind is Tensor and other._value.dtype is dtype and other._value.shape == a.shape:
                return result(function(a, other._value))
        if not numbers_of(other):
            return NotImplemented
        require_order(name, ordered, self, other)
        return compared(function, self, other)

    comparison.__name__ = comparison.__qualname__ = name
    operation(name, *aliases, inplace=True)(comparison)
    operating.__name__ = operator
    setattr(Tensor, operator, operating)


for _name, (_function, _operator, _aliases) in _COMPARISONS.items():
    _comparison(_name, _function, _operator, _aliases)
# Defining __eq__ would otherwise make tensors unhashable.
setattr(Tensor, "__hash__", lambda self: id(self))  # noqa: B010, PLW0108


def _test(name: str, function: Callable[[Any], Any]) -> None:
    def tested(input: Tensor) -> Operand:
        return result(evaluated(Op("NotDifferentiable", function), (input._value,), ()))

    tested.__name__ = tested.__qualname__ = name
    operation(name)(tested)


def _isreal(x: Array) -> Array:
    return np.imag(x) == 0 if x.dtype.kind == "c" else np.ones(x.shape, bool)


def _signbit(x: Array) -> Array:
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


def _isposinf(x: Array) -> Array:
    return x == np.inf


def _isneginf(x: Array) -> Array:
    return x == -np.inf


def _logical_not(x: Array) -> Array:
    return np.logical_not(x)


_TESTS: dict[str, Callable[[Any], Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isposinf": _isposinf,
    "isneginf": _isneginf,
    "isreal": _isreal,
    "signbit": _signbit,
}
for _name, _tested in _TESTS.items():
    _test(_name, _tested)


@operation(inplace=True)
def logical_not(input: Tensor) -> Tensor:
    """Whether each element is zero."""
    return result(evaluated(Op("NotDifferentiable", _logical_not), (input._value,), ()))


def _logical(name: str, function: Anything) -> None:
    def logical(input: Tensor, other: Operand) -> Operand:
        return compared(function, input, other, cast=False)

    logical.__name__ = logical.__qualname__ = name
    operation(name, inplace=True)(logical)


_LOGICAL: tuple[tuple[str, Any], ...] = (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
)
for _name, _function in _LOGICAL:
    _logical(_name, _function)


# -- bits -------------------------------------------------------------------------------------------------


def _bitwise(name: str, function: Anything, operator: str, word: str) -> None:
    kinds = "iu" if operator.endswith("shift") else "iub"

    def bitwise(input: Operand, other: Operand) -> Operand:
        dtype = result_dtype(input, other)
        if dtype.kind not in kinds:
            raise NotImplementedError(f"\"{word}\" not implemented for '{_word(dtype)}'")
        return compared(function, input, other)

    def operating(self: Tensor, other: Operand) -> Operand:
        return bitwise(self, other) if numbers_of(other) else NotImplemented

    def reversed_operating(self: Tensor, other: Operand) -> Operand:
        return bitwise(tensor_beside(other, self), self) if numbers_of(other) else NotImplemented

    bitwise.__name__ = bitwise.__qualname__ = name
    operation(name, inplace=True)(bitwise)
    setattr(Tensor, f"__{operator}__", operating)
    setattr(Tensor, f"__r{operator}__", reversed_operating)
    setattr(Tensor, f"__i{operator}__", getattr(Tensor, f"{name}_"))


def _word(dtype: DTypeLike) -> str:
    return TYPE_NAMES[dtype.name]


_BITWISE: tuple[tuple[str, Any, str, str], ...] = (
    ("bitwise_and", np.bitwise_and, "and", "bitwise_and_cpu"),
    ("bitwise_or", np.bitwise_or, "or", "bitwise_or_cpu"),
    ("bitwise_xor", np.bitwise_xor, "xor", "bitwise_xor_cpu"),
    ("bitwise_left_shift", np.left_shift, "lshift", "lshift_cpu"),
    ("bitwise_right_shift", np.right_shift, "rshift", "rshift_cpu"),
)
for _name, _function, _operator, _kernel in _BITWISE:
    _bitwise(_name, _function, _operator, _kernel)


@operation("bitwise_not", inplace=True)
def bitwise_not(input: Tensor) -> Tensor:
    """Every bit inverted; of booleans, their negation."""
    if input._value.dtype.kind not in "iub":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return result(np.invert(input._value))


setattr(Tensor, "__invert__", bitwise_not)  # noqa: B010 - a name among many


# -- whole tensors ----------------------------------------------------------------------------------------


@operation()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether elements are nearly equal: ``|a - b| <= atol + rtol * |b|``."""
    if input._value.dtype != other._value.dtype:
        raise RuntimeError(f"{_word(input._value.dtype)} did not match {_word(other._value.dtype)}")

    for word, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"{word} must be greater than or equal to zero, but got {bound:g}")

    def near(a: Array, b: Array) -> Array:
        return np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)

    return compared(near, input, other, cast=False)


@operation()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are nearly equal."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@operation()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    a, b = input._value, other._value
    return a.shape == b.shape and bool((a == b).all())


@published()
def isin(
    elements: Operand, test_elements: Operand, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each element is among others."""
    a = tensor_beside(elements, test_elements)._value
    b = tensor_beside(test_elements, elements)._value
    return result(np.isin(a, b, assume_unique=assume_unique, invert=invert))


@operation(inplace=True)
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative numbers, 1 for positive ones, and `values` at zero; there is no derivative."""
    x, v = input._value, values._value
    if x.dtype != v.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    found = wrap(np.asarray(np.heaviside(x, v)).astype(x.dtype))
    return underived(found, input if input._rg else values, "heaviside")
