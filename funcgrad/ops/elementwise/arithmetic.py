"""Arithmetic: add, subtract, multiply, divide, negate, integer powers, and the strong-zero product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.program import Literal
from funcgrad.ops.elementwise.selection import MANY, chosen
from funcgrad.ops.families import Binary, Unary, added, aval, broadcast_to, scaled, summed_to, ufunc_dtypes
from funcgrad.ops.native import by_kind, infix, of_any_kind
from funcgrad.tracing.primitive import Flags, Linear, Native
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, edge, integers, normal, positive
from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom


class Neg(Unary):
    """Negation."""

    name = "neg"
    ufunc = np.negative
    native = by_kind(fc="-{0}", iu="{result}(-{0})")
    symbol = "-"
    keeps_weak = True

    def derivative(self, x: Array, out: Array) -> Array:
        return -1

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
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
    native = infix("+", "|")
    symbol = "+"
    keeps_weak = True

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        total = added(*tangents) if out.aval.inexact else None
        return out, None if total is None else broadcast_to(total, out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return tuple(summed_to(cotangent, x.aval) if isinstance(x, Linear) else None for x in inputs)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(booleans(3), booleans(3), differentiable=False),
        )


class AddInAnyOrder(Add):
    """A step of a sum of which no one asks in which order its terms are added."""

    name = "add_in_any_order"
    native = by_kind(f="plus({0}, {1})", c="{0} + {1}", iu="{result}({0} + {1})", b="{0} | {1}")


class Sub(Binary):
    """Subtraction."""

    name = "sub"
    ufunc = np.subtract
    native = infix("-")
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

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
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
    native = infix("*", "&")
    symbol = "*"
    keeps_weak = True

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return primals[1 - i]

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return summed_to(product_of_cotangent(cotangent, y), x.aval), None
        return None, summed_to(product_of_cotangent(cotangent, x), y.aval)

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return beside_one(inputs)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(integers(-3, 3, 4), integers(-3, 3, 4), differentiable=False),
        )


class StrongZeroMul(Binary):
    """``x * y``, but 0 where ``x`` is 0, whatever ``y`` is.

    A cotangent that a selection (`where`, a slice, a maximum) set to zero must stay zero when the rule
    of an earlier operation multiplies it by an infinite or undefined derivative. Its own transpose writes
    such zeros too, which is what keeps higher derivatives finite.
    """

    name = "strong_zero_mul"
    ufunc = np.multiply
    native = of_any_kind("select({0} == 0, {0}, {0} * {1})")
    selects = True

    def evaluate(self, *values: Array) -> Array:
        x, y = values
        if type(x) is not np.ndarray and type(y) is not np.ndarray:
            return x * y if x else x
        if np.size(x) < MANY:
            return np.where(x, x * y, x)
        return chosen(np.not_equal(x, 0), x * y, x.dtype.type(0))

    def on_arrays(self, *args: Array) -> Array:
        dtype = np.result_type(*args)
        return self.evaluate(*[np.asarray(x, dtype) for x in args])[()]

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x, y = names
        return f"np.where({x}, {x} * {y}, {x})"

    def scalar_expression(self, x: str, y: str) -> str:
        """The same of two scalars, which NumPy would make an array of."""
        return f"{x} * {y} if {x} else {x}"

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        x, y = names
        if not avals[0].shape and not avals[1].shape and x.isidentifier() and y.isidentifier():
            return self.scalar_expression(x, y)
        return self.expression(names, avals) if avals[0].size < MANY else None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        x_dot, y_dot = tangents
        total = added(None if x_dot is None else self(x_dot, y), None if y_dot is None else self(x, y_dot))
        out = self.bind(x, y)
        return out, broadcast_to(total, out.aval.shape)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return summed_to(self(cotangent, y), x.aval), None
        # Where a selection made the cotangent, zeros on either side are strong.
        product = strong_product(x, cotangent) if is_selected(cotangent) else self(x, cotangent)
        return None, summed_to(product, y.aval)

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return beside_one(inputs)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(normal(), normal(3)),
            Sample(edge(0.0, 0.0, 0.0, 1.0), edge(np.inf, np.nan, -np.inf, 2.0), differentiable=False),
        )


class StrongProduct(StrongZeroMul):
    """``x * y``, but 0 where either is 0, and so are its derivatives in directions that do not exist."""

    name = "strong_product"
    native = of_any_kind("select({0} == 0, {0}, select({1} == 0, {1}, {0} * {1}))")

    def evaluate(self, *values: Array) -> Array:
        x, y = values
        if type(x) is not np.ndarray and type(y) is not np.ndarray:
            return (x * y if y else y) if x else x
        # A zero keeps its sign, as in the native form.
        return np.where(x, np.where(y, x * y, y), x)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x, y = names
        return f"np.where({x}, np.where({y}, {x} * {y}, {y}), {x})"

    def scalar_expression(self, x: str, y: str) -> str:
        return f"({x} * {y} if {y} else {y}) if {x} else {x}"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return summed_to(self(cotangent, y), x.aval), None
        return None, summed_to(self(x, cotangent), y.aval)


class Div(Binary):
    """True division."""

    name = "div"
    ufunc = np.true_divide
    native = by_kind(f="{0} / {1}", c="quotient({0}, {1})")
    cost = 4
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

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if is_selected(cotangent):
            return summed_to(strong_zero_mul(cotangent, self(1.0, y)), x.aval), None
        return summed_to(self(cotangent, y), x.aval), None

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if is_literal_one(inputs[1]) else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), positive(3, 2)),
            Sample(normal(), positive(3)),
            Sample(edge(1.0, 0.0, -1.0), edge(0.0, 0.0, np.inf), differentiable=False),
        )


class Reciprocal(Unary):
    """``1 / x``; rounded towards zero for integers, as NumPy's."""

    name = "reciprocal"
    exported = ("np.reciprocal({0})",)
    ufunc = np.reciprocal
    native = by_kind(
        f="{operand}(1.0) / {0}",
        # The signs of zeros are NumPy's: those of the parts of 1 / x, and not of a quotient of 1 + 0j.
        c="select({0} == {operand}(0.0), {operand}(complex(NAN, NAN)), "
        "-quotient({operand}(complex(-1.0, -0.0)), {0}))",
    )
    cost = 4

    def derivative(self, x: Array, out: Array) -> Array:
        return neg(mul(out, out))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2)),
            Sample(positive()),
            Sample(edge(np.inf, -np.inf, -2.0), differentiable=False),
            Sample(integers(1, 5, 4), differentiable=False),
        )


class IntegerPow(Unary):
    """``x ** n`` for a fixed integer n; defined, with its derivatives, for negative and zero x."""

    name = "integer_pow"
    parameters = ("n",)
    ufunc = np.power
    keeps_weak = True
    n: int

    def native_form(self) -> Native:
        """Repeated products, written out where there are few."""
        size = abs(self.n)
        if size == 0:
            return {"fciu": "{operand}(1)"}
        if size > 4:
            return f"power({{0}}, {self.n})"
        product = "({0} * {0}) * ({0} * {0})" if size == 4 else " * ".join(["{0}"] * size)
        whole = {"iu": f"{{result}}({product})"}
        if self.n > 0:
            return whole | {"fc": product}
        return whole | {"f": f"{{operand}}(1) / ({product})", "c": f"quotient({{operand}}(1), {product})"}

    def on_arrays(self, *args: Array) -> Array:
        return np.power(args[0], self.n)

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        return (ufunc_dtypes(self.name, np.power, (avals[0], aval_of(self.n)))[-1],)

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if not x.inexact:
            if self.n < 0:
                raise NegativePowerError(
                    f"{x} ** {self.n}: integers to negative integer powers are not integers",
                    remedy="Convert the base first: x.astype(float), or write 1.0 / x ** n.",
                )
            if self.operand_dtypes(avals) != (x.dtype,):
                raise DtypeError(f"{x} ** {self.n}: booleans must be cast to integers first")
            np.power(np.ones((), x.dtype), self.n)  # refuses exponents that the dtype does not hold
        return x

    def evaluate(self, *values: Array) -> Array:
        return values[0] ** self.n  # the operator squares and inverts without a power

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"{names[0]} ** {self.n}"

    def derivative(self, x: Array, out: Array) -> Array | None:
        if self.n == 0:
            return None
        if self.n == 1:
            return 1
        return mul(x if self.n == 2 else integer_pow(x, self.n - 1), float(self.n))

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if self.n == 1 else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"n": 2}),
            Sample(normal(3), params={"n": 3}),
            Sample(positive(3), params={"n": -2}),
            Sample(normal(3), params={"n": 0}),
            Sample(normal(), params={"n": 1}),
            Sample(edge(0.0, -0.0, -2.0, np.inf), params={"n": -1}, differentiable=False),
            Sample(integers(-3, 3, 4), params={"n": 3}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(
                integers(1, 3, 4), params={"n": -1}, words="negative integer powers", error=NegativePowerError
            ),
        )


class NegativePowerError(DtypeError, ValueError):
    """Raised for integers to negative integer powers; NumPy raises a ValueError."""


def is_literal_one(atom: object) -> bool:
    """Whether an input of an equation is the number 1."""
    return type(atom) is Literal and atom.value == 1


def beside_one(inputs: Sequence[Any]) -> Array | None:
    """The factor beside the constant 1, if there is one: it is the product."""
    x, y = inputs
    if is_literal_one(y):
        return x
    return y if is_literal_one(x) else None


def is_selected(cotangent: Array) -> bool:
    """Whether a selection may have set elements of this cotangent to zero."""
    selected = cotangent._recorder.selected
    return selected is not None and cotangent._index in selected


def product_of_cotangent(cotangent: Array, factor: Array) -> Array:
    """``cotangent * factor`` that keeps the zeros of a selection."""
    if is_selected(cotangent):
        return strong_zero_mul(cotangent, factor)
    return scaled(cotangent, factor)


add = Add()
add_in_any_order = AddInAnyOrder()
sub = Sub()
mul = Mul()
div = Div()
neg = Neg()
reciprocal = Reciprocal()
strong_zero_mul = StrongZeroMul()
strong_product = StrongProduct()


def integer_pow(x: Array, n: int) -> Array:
    """``x ** n`` for a Python integer n."""
    return reciprocal(x) if n == -1 and aval(x).inexact else IntegerPow(n)(x)
