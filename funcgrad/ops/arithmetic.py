"""Arithmetic: add, subtract, multiply, divide, negate, powers, and the strong-zero product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.families import Binary, Unary, added, broadcast_to, scaled, summed_to
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.samples import Sample, booleans, edge, integers, normal, positive


class Neg(Unary):
    """Negation."""

    name = "neg"
    ufunc = np.negative
    symbol = "-"
    keeps_weak = True

    def derivative(self, x: Any, out: Any) -> Any:
        return -1

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        return (neg(cotangent),)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), self.bind(tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3, 2)), Sample(normal()), Sample(integers(-3, 3, 4), differentiable=False)


class Add(Binary):
    """Addition."""

    name = "add"
    ufunc = np.add
    symbol = "+"
    keeps_weak = True

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        total = added(*tangents) if out.aval.inexact else None
        return out, None if total is None else broadcast_to(total, out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        return tuple(summed_to(cotangent, x.aval) if isinstance(x, Linear) else None for x in inputs)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(booleans(3), booleans(3), differentiable=False),
        )


class Sub(Binary):
    """Subtraction."""

    name = "sub"
    ufunc = np.subtract
    symbol = "-"
    keeps_weak = True

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        x_dot, y_dot = tangents
        if not out.aval.inexact:
            return out, None
        if x_dot is None:
            return out, broadcast_to(neg(y_dot), out.aval.shape)
        return out, broadcast_to(x_dot if y_dot is None else self(x_dot, y_dot), out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        x, y = inputs
        x_bar = summed_to(cotangent, x.aval) if isinstance(x, Linear) else None
        y_bar = neg(summed_to(cotangent, y.aval)) if isinstance(y, Linear) else None
        return x_bar, y_bar

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3, 2), normal(3, 2)), Sample(normal(), normal(3))


class Mul(Binary):
    """Multiplication."""

    name = "mul"
    ufunc = np.multiply
    symbol = "*"
    keeps_weak = True

    def partial(self, i: int, primals: Sequence[Any], out: Any) -> Any:
        return primals[1 - i]

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return summed_to(product_of_cotangent(cotangent, y), x.aval), None
        return None, summed_to(product_of_cotangent(cotangent, x), y.aval)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(integers(-3, 3, 4), integers(-3, 3, 4), differentiable=False),
        )


class StrongZeroMul(Binary):
    """``x * y``, but exactly 0 where ``x`` is 0, whatever ``y`` is.

    A cotangent that a selection (`where`, a slice, a maximum) set to zero must stay zero when the rule
    of an earlier operation multiplies it by an infinite or undefined derivative.
    """

    name = "strong_zero_mul"
    ufunc = np.multiply

    def evaluate(self, *values: Any) -> Any:
        x, y = values
        return np.where(x == 0, x.dtype.type(0), x * y)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x, y = names
        zero = "0.0" if avals[0].dtype == np.float64 else f"np.{avals[0].dtype.name}(0)"
        return f"np.where({x} == 0, {zero}, {x} * {y})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        x_dot, y_dot = tangents
        total = added(
            None if x_dot is None else self(x_dot, y),
            None if y_dot is None else self(x, y_dot),
        )
        out = self.bind(x, y)
        return out, broadcast_to(total, out.aval.shape)

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return summed_to(self(cotangent, y), x.aval), None
        return None, summed_to(self(x, cotangent), y.aval)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(0.0, 0.0, 0.0, 1.0), edge(np.inf, np.nan, -np.inf, 2.0), differentiable=False),
        )


class Div(Binary):
    """True division."""

    name = "div"
    ufunc = np.true_divide
    symbol = "/"
    keeps_weak = True

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        out = self.bind(x, y)
        x_dot, y_dot = tangents
        first = None if x_dot is None else self(x_dot, y)
        second = None if y_dot is None else neg(mul(y_dot, self(out, y)))
        return out, broadcast_to(added(first, second), out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (True, False)

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        x, y = inputs
        if is_selected(cotangent):
            return summed_to(strong_zero_mul(cotangent, self(1.0, y)), x.aval), None
        return summed_to(self(cotangent, y), x.aval), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), positive(3, 2)),
            Sample(normal(), positive(3)),
            Sample(edge(1.0, 0.0, -1.0), edge(0.0, 0.0, np.inf), differentiable=False),
        )


class IntegerPow(Unary):
    """``x ** n`` for a fixed integer n; defined, with its derivatives, for negative and zero x."""

    name = "integer_pow"
    parameters = ("n",)
    ufunc = np.square
    keeps_weak = True
    n: int

    def on_arrays(self, *args: Any) -> Any:
        return np.power(args[0], self.n)

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        return (avals[0].dtype,)

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def evaluate(self, *values: Any) -> Any:
        return np.square(values[0]) if self.n == 2 else np.power(values[0], self.n)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"{names[0]} ** {self.n}"

    def derivative(self, x: Any, out: Any) -> Any:
        if self.n == 0:
            return None
        if self.n == 1:
            return 1
        return mul(x if self.n == 2 else IntegerPow(self.n - 1)(x), float(self.n))

    def simplify(self, inputs: Sequence[Any]) -> Any:
        return inputs[0] if self.n == 1 else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"n": 2}),
            Sample(normal(3), params={"n": 3}),
            Sample(positive(3), params={"n": -2}),
            Sample(normal(3), params={"n": 0}),
            Sample(normal(), params={"n": 1}),
        )


class Pow(Binary):
    """``x ** y`` for an exponent that is an array or a traced value.

    Derivatives at the edge: by x, 0 where y is 0; by y, 0 where x is 0 and y is not negative.
    """

    name = "pow"
    ufunc = np.power
    symbol = "**"
    keeps_weak = True
    kinds: ClassVar[str] = "fc"

    def partial(self, i: int, primals: Sequence[Any], out: Any) -> Any:
        from funcgrad.ops.comparison import equal
        from funcgrad.ops.elementary import log
        from funcgrad.ops.selection import where

        x, y = primals
        if i == 0:
            at_zero = equal(y, 0.0)
            return where(at_zero, 0.0, mul(y, self(x, where(at_zero, 1.0, sub(y, 1.0)))))
        at_zero = equal(x, 0.0)
        return where(at_zero, where(equal(out, 0.0), 0.0, mul(out, log(x))), mul(out, log(where(at_zero, 1.0, x))))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2), normal(3, 2)),
            Sample(positive(3), normal()),
            Sample(positive(), normal(3)),
            Sample(edge(0.0, 0.0, 2.0, -1.0), edge(0.0, 2.0, 0.0, 0.5), differentiable=False),
        )


def is_selected(cotangent: Any) -> bool:
    """Whether a selection may have set elements of this cotangent to zero."""
    selected = cotangent._recorder.selected
    return selected is not None and cotangent._index in selected


def product_of_cotangent(cotangent: Any, factor: Any) -> Any:
    """``cotangent * factor`` that keeps the zeros of a selection."""
    if is_selected(cotangent):
        return strong_zero_mul(cotangent, factor)
    return scaled(cotangent, factor)


add = Add()
sub = Sub()
mul = Mul()
div = Div()
neg = Neg()
pow = Pow()
strong_zero_mul = StrongZeroMul()


def integer_pow(x: Any, n: int) -> Any:
    """``x ** n`` for a Python integer n."""
    return IntegerPow(n)(x)


