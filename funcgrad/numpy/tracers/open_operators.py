"""Operators of arrays of NumPy's constructors inside of a trace, given to `OpenArray`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from funcgrad.numpy.tracers.open_arrays import (
    OpenArray,
    become_traced,
    before_write,
    changes_in_block,
    has_traced,
    opened,
    plain,
    recorded_constant,
)
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike

__all__: list[str] = []


def operating(name: str) -> Callable[[Any, Any], Any]:
    """``x + y`` and its kin, with an open array on the left."""
    operation = getattr(operator, name)

    def operate(self: OpenArray, other: ArrayLike) -> Array:
        if type(other) is Tracer:
            return operation(recorded_constant(self), other)
        return opened(operation(self._recorder, plain(other)))

    return operate


def reflecting(name: str) -> Callable[[Any, Any], Any]:
    """``x + y`` and its kin, with an open array on the right."""
    operation = getattr(operator, name)

    def operate(self: OpenArray, other: ArrayLike) -> Array:
        if type(other) is Tracer:
            return operation(other, recorded_constant(self))
        return opened(operation(plain(other), self._recorder))

    return operate


def in_place(name: str) -> Callable[[Any, Any], Any]:
    """``x += y`` and its kin."""
    operation = getattr(operator, name)

    def operate(self: OpenArray, other: ArrayLike) -> Array:
        if has_traced((other,)) or changes_in_block(self):
            become_traced(self)
            return operation(self, other)
        before_write(self)
        operation(self._recorder, plain(other))
        return self

    return operate


def single(name: str) -> Callable[[Any], Any]:
    """``-x`` and its kin."""
    operation = getattr(operator, name)

    def operate(self: OpenArray) -> Array:
        return opened(operation(self._recorder))

    return operate


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")
for _name in (*_BINARY, "and_", "or_", "xor"):
    _plain_name = _name.rstrip("_")
    setattr(OpenArray, f"__{_plain_name}__", operating(_name))
    setattr(OpenArray, f"__r{_plain_name}__", reflecting(_name))
    setattr(OpenArray, f"__i{_plain_name}__", in_place(f"i{_plain_name}"))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(OpenArray, f"__{_name}__", operating(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(OpenArray, f"__{_name}__", single(_name))
