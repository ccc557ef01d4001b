"""Element-by-element functions, and the operators of a tracer."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.ops import arithmetic, bivariate, comparison, elementary
from funcgrad.ops.families import Pointwise, aval
from funcgrad.ops.selection import where as select
from funcgrad.tracing.tracer import Tracer, install

for _module in (arithmetic, comparison, elementary):
    for _primitive in list(vars(_module).values()):
        if isinstance(_primitive, Pointwise) and isinstance(_primitive.ufunc, np.ufunc) and not _primitive.parameters:
            implements(_primitive.ufunc)(_primitive)


@implements(np.power)
def power(x: Any, y: Any) -> Any:
    """``x ** y``; fixed integer exponents keep their derivative at 0 and for negative x."""
    exponent = fixed_exponent(y)
    if exponent is None or not isinstance(x, Tracer):
        return bivariate.pow(x, y)
    if exponent == 0.5:
        return elementary.sqrt(x)
    if exponent != int(exponent):
        return bivariate.pow(x, y)
    if isinstance(y, float) and not x.aval.inexact:
        x = arithmetic.add(x, 0.0)
    return arithmetic.IntegerPow(int(exponent))(x)


def fixed_exponent(y: Any) -> float | None:
    """A Python number as the exponent it is; None for anything else."""
    return y if type(y) in (int, float) and abs(y) < 1 << 20 else None


@implements(np.square)
def square(x: Any) -> Any:
    """``x * x``."""
    return arithmetic.IntegerPow(2)(x)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, else ``y``; the branch not taken leaks no NaN into gradients."""
    if x is None or y is None:
        raise NotImplementedError("where with one argument")
    if aval(condition).dtype.kind != "b":
        condition = comparison.not_equal(condition, 0)
    return select(condition, x, y)


def _forward(operation: Any) -> Any:
    def forward(self: Tracer, other: Any) -> Any:
        return operation(self, other)

    return forward


def _reflected(operation: Any) -> Any:
    def reflected(self: Tracer, other: Any) -> Any:
        return operation(other, self)

    return reflected


def _unary(operation: Any) -> Any:
    def unary(self: Tracer) -> Any:
        return operation(self)

    return unary


_BINARY = {
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "truediv": arithmetic.div,
    "pow": power,
}
_COMPARISONS = {
    "eq": comparison.equal,
    "ne": comparison.not_equal,
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
}

install({f"__{name}__": _forward(operation) for name, operation in (_BINARY | _COMPARISONS).items()})
install({f"__r{name}__": _reflected(operation) for name, operation in _BINARY.items()})
install({"__neg__": _unary(arithmetic.neg)})
