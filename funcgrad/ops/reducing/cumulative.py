"""Operations that run along one axis: cumulative sum, product and extremes, and linear recurrences.

Each runs from the first element to the last, or with ``reverse`` from the last to the first. A linear
recurrence is what the derivatives of all of them come down to; it needs no division, so they are right
where elements are zero, and it is closed under differentiation, so they are right to every order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.slicing import Pad
from funcgrad.ops.arrays.structure import LinearUnary, aval, broadcast, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import div, is_selected, mul
from funcgrad.ops.elementwise.comparison import equal, isnan
from funcgrad.ops.elementwise.logic import logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import added
from funcgrad.ops.reducing.folds import IN_ORDER, MAX, MIN, PROD
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, distinct, edge, integers, normal
from funcgrad.types import Array

FEW_COLUMNS = 16
"""Up to this many columns, a recurrence is faster number by number than row by row."""

MANY_COLUMNS = 128
LONG = 512
BLOCK = 64
"""A recurrence of more than `LONG` terms is solved in blocks of this many, unless its rows are long."""

SMALLEST, SMALL, LARGE = 1e-15, 1e-290, 1e290
"""Products between the latter two are exact to rounding; one below cannot be missed in steps of the first."""


class Cumulative(Primitive):
    """One result for every element, of the elements up to it."""

    parameters = ("axis", "reverse")
    kinds: ClassVar[str] = "fc"
    ufunc: ClassVar[Any] = None
    axis: int
    reverse: bool

    def infer(self, *avals: Aval) -> Aval:
        x = avals[0]
        check_axis(self.name, x, self.axis)
        if x.dtype.kind == "b" and self.ufunc in (np.add, np.multiply):
            raise DtypeError(f"{self.name} of {x}: cast booleans to integers first")
        return x.strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(self.cost * inputs[0].size)

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        if not self.reverse:
            return self.ufunc.accumulate(x, axis=self.axis, dtype=x.dtype)
        return np.flip(self.ufunc.accumulate(np.flip(x, self.axis), axis=self.axis, dtype=x.dtype), self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        dtype = f", dtype={avals[0].dtype.name!r}" if avals[0].dtype.kind in "iu" else ""
        x = f"np.flip({names[0]}, {self.axis})" if self.reverse else names[0]
        text = f"np.{self.ufunc.__name__}.accumulate({x}, axis={self.axis}{dtype})"
        return f"np.flip({text}, {self.axis})" if self.reverse else text

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return type(self)(self.axis + 1, self.reverse).bind(inputs[0]), True

    def before(self, x: Array) -> Array:
        """All elements but the last that the operation comes to."""
        n = shape_of(x)[self.axis]
        return take_span(x, self.axis, 1 if self.reverse else 0, n - 1)

    def after(self, x: Array) -> Array:
        """All elements but the first."""
        n = shape_of(x)[self.axis]
        return take_span(x, self.axis, 0 if self.reverse else 1, n - 1)

    def delayed(self, x: Array) -> Array:
        """For each element the one before, and zero for the first."""
        n = shape_of(x)[self.axis]
        return self.placed_after(self.before(x), shape_of(x)) if n else x

    def placed_after(self, x: Array, shape: Shape) -> Array:
        """An array that is one shorter, at all elements but the first."""
        spans = [(0, n, 1) for n in shape]
        spans[self.axis] = (0 if self.reverse else 1, shape[self.axis] - 1, 1)
        return Pad(shape, tuple(spans)).bind(x)

    def recurrence(self, factors: Array, terms: Array) -> Array:
        """The linear recurrence that runs the same way."""
        return LinearRecurrence(self.axis, self.reverse, False).bind(factors, terms)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(5), params={"axis": 0, "reverse": False}),
            Sample(distinct(3, 4), params={"axis": 0, "reverse": True}),
            Sample(distinct(2, 3, 2), params={"axis": 1, "reverse": False}),
            Sample(distinct(4), params={"axis": 0, "reverse": True}),
            Sample(distinct(1), params={"axis": 0, "reverse": False}),
            Sample(distinct(0, 2), params={"axis": 0, "reverse": False}),
            Sample(
                edge(1.0, np.nan, 2.0, np.inf), params={"axis": 0, "reverse": False}, differentiable=False
            ),
            Sample(integers(-3, 3, 5), params={"axis": 0, "reverse": True}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 1, "reverse": False}
        return (ErrorSample(normal(3), params=params, words="has no axis 1", error=ShapeError),)


class CumSum(Cumulative, LinearUnary):
    """The sum of the elements so far. Booleans are refused: cast them first."""

    name = "cumsum"
    ufunc = np.add
    fold = IN_ORDER

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (CumSum(self.axis, not self.reverse).bind(cotangent),)


class CumProd(Cumulative):
    """The product of the elements so far; its derivatives are right where elements are zero."""

    name = "cumprod"
    ufunc = np.multiply
    fold = PROD

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        # (P x)' = P' x + P x', where P is the product of what came before x.
        x, x_dot = primals[0], tangents[0]
        out = self.bind(x)
        if shape_of(x)[self.axis] < 2:
            return out, x_dot
        return out, self.recurrence(self.after(x), mul(x_dot, self.exclusive(out)))

    def exclusive(self, out: Array) -> Array:
        """The products of what came before each element, from those that include it."""
        shape = shape_of(out)
        if not shape[self.axis]:
            return out
        one = broadcast(aval(out).dtype.type(1), (*shape[: self.axis], 1, *shape[self.axis + 1 :]), ())
        parts = [one, self.before(out)]
        return concatenate(parts[::-1] if self.reverse else parts, self.axis)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        zeros = edge(2.0, 0.0, -1.5, 0.0, 0.5)
        return (*super().samples(), Sample(zeros, params={"axis": 0, "reverse": False}))


class CumulativeExtreme(Cumulative):
    """The extreme of the elements so far, NaN from the first NaN on.

    Elements that reach it together share the derivative evenly.
    """

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        out = self.bind(x)
        dtype = out.aval.dtype
        if dtype.kind not in "fc" or shape_of(x)[self.axis] < 2:
            return out, x_dot if dtype.kind in "fc" else None
        # The sum of the tangents of the elements that reach the present extreme, over their number.
        reaches = logical_or(equal(x, out), isnan(x))
        stays = cast(logical_or(equal(self.after(out), self.before(out)), isnan(self.before(out))), dtype)
        total = self.recurrence(stays, where(reaches, x_dot, dtype.type(0)))
        return out, div(total, self.recurrence(stays, cast(reaches, dtype)))


class CumMax(CumulativeExtreme):
    """The largest of the elements so far."""

    name = "cummax"
    ufunc = np.maximum
    fold = MAX


class CumMin(CumulativeExtreme):
    """The smallest of the elements so far."""

    name = "cummin"
    ufunc = np.minimum
    fold = MIN


class LinearRecurrence(Primitive):
    """``y[0] = b[0]``, ``y[k] = a[k-1] * y[k-1] + b[k]`` along an axis, or the same from the last on.

    The factors ``a`` stand between the elements, so there is one fewer of them, and the transpose is the
    same recurrence run the other way. With ``strong`` a ``y`` that is zero stays zero whatever its factor is:
    see `funcgrad.ops.elementwise.arithmetic.StrongZeroMul`.
    """

    name = "linear_recurrence"
    parameters = ("axis", "reverse", "strong")
    kinds: ClassVar[str] = "fc"
    axis: int
    reverse: bool
    strong: bool

    def infer(self, *avals: Aval) -> Aval:
        factors, terms = avals
        check_axis(self.name, terms, self.axis)
        if factors.shape != self.factors_shape(terms.shape):
            raise ShapeError(f"{self.name} of {factors} and {terms}: one factor stands between two terms")
        if factors.dtype != terms.dtype or not terms.inexact:
            raise DtypeError(f"{self.name} of {factors} and {terms}: both must be floats of one dtype")
        return terms.strong

    def factors_shape(self, shape: Shape) -> Shape:
        """The shape of the factors that go with terms of a shape."""
        return (*shape[: self.axis], max(shape[self.axis] - 1, 0), *shape[self.axis + 1 :])

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 2.0 * outputs[0].size

    def evaluate(self, *values: Array) -> Array:
        factors, terms = [np.moveaxis(x, self.axis, 0) for x in values]
        if self.reverse:
            factors, terms = factors[::-1], terms[::-1]
        found = solved(factors, terms, self.strong)
        return np.moveaxis(found[::-1] if self.reverse else found, 0, self.axis)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        factors, terms = primals
        factors_dot, terms_dot = tangents
        out = self.bind(factors, terms)
        if factors_dot is not None and shape_of(factors)[self.axis]:
            steps = CumSum(self.axis, self.reverse)
            moved = mul(factors_dot, steps.before(out))
            terms_dot = added(terms_dot, steps.placed_after(moved, shape_of(terms)))
        return out, None if terms_dot is None else self.bind(factors, terms_dot)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        factors, terms = inputs
        if not isinstance(terms, Linear):
            raise TypeError(f"{self.name} is linear in its terms only")
        strong = self.strong or is_selected(cotangent)
        return None, LinearRecurrence(self.axis, not self.reverse, strong).bind(factors, cotangent)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return LinearRecurrence(self.axis + 1, self.reverse, self.strong).bind(
            *full_size(size, inputs, batched)
        ), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(4), normal(5), params={"axis": 0, "reverse": False, "strong": False}),
            Sample(normal(3), normal(4), params={"axis": 0, "reverse": True, "strong": False}),
            Sample(normal(2, 2), normal(2, 3), params={"axis": 1, "reverse": True, "strong": False}),
            Sample(normal(2, 20), normal(3, 20), params={"axis": 0, "reverse": False, "strong": False}),
            Sample(normal(0, 2), normal(1, 2), params={"axis": 0, "reverse": False, "strong": False}),
            Sample(normal(4), normal(5), params={"axis": 0, "reverse": False, "strong": True}),
            Sample(normal(2, 20), normal(3, 20), params={"axis": 0, "reverse": True, "strong": True}),
            Sample(
                edge(np.nan, np.inf, 2.0),
                edge(0.0, 0.0, 1.0, 3.0),
                params={"axis": 0, "reverse": False, "strong": True},
                differentiable=False,
            ),
            Sample(normal(0), normal(0), params={"axis": 0, "reverse": False, "strong": False}),
            Sample(edge(2.0, 0.0, 3.0), normal(4), params={"axis": 0, "reverse": False, "strong": False}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 0, "reverse": False, "strong": False}
        return (
            ErrorSample(normal(3), normal(3), params=params, words="between two terms", error=ShapeError),
            ErrorSample(integers(0, 3, 2), normal(3), params=params, words="of one dtype", error=DtypeError),
        )


def solved(factors: Array, terms: Array, strong: bool) -> Array:
    """The recurrence along the first axis, in the fastest way that is exact enough."""
    count, columns = len(terms), terms[:1].size
    if count > LONG and columns <= MANY_COLUMNS:
        found = solved_by_blocks(factors, terms)
        if found is not None:
            return found
    if count > 1 and columns <= FEW_COLUMNS:
        return solved_by_columns(factors, terms, strong)
    return solved_by_rows(factors, terms, strong)


def solved_by_blocks(factors: Array, terms: Array) -> Array | None:
    """The recurrence, solved in all blocks at once and then from block to block.

    None where a product of the factors of a block leaves the range in which it is as good as exact, while
    what it multiplies might bring it back; or where a factor is infinite or NaN.
    """
    count, columns = len(terms), terms[:1].size
    blocks = -(-count // BLOCK)
    wide = np.result_type(terms.dtype, np.float64)
    padded: list[Any] = [np.ones((blocks * BLOCK, columns), wide), np.zeros((blocks * BLOCK, columns), wide)]
    padded[0][0] = 0.0
    padded[0][1:count] = factors.reshape(count - 1, columns)
    padded[1][:count] = terms.reshape(count, columns)
    product, out = [x.reshape(blocks, BLOCK, columns).transpose(1, 0, 2).copy() for x in padded]
    sizes = np.abs(padded[0])
    with np.errstate(all="ignore"):
        if not np.all((sizes > SMALLEST) | (sizes == 0.0)):
            return None
        for k in range(1, BLOCK):
            out[k] += product[k] * out[k - 1]
            product[k] *= product[k - 1]
        sizes = np.abs(product)
        if not np.all(((sizes > SMALL) | (sizes == 0.0)) & (sizes < LARGE)):
            return None
        totals = solved_by_columns(product[-1, 1:], out[-1], False)
        out[:, 1:] += product[:, 1:] * totals[:-1]
    found = out.transpose(1, 0, 2).reshape(blocks * BLOCK, columns)[:count]
    return found.reshape(terms.shape).astype(terms.dtype)


def solved_by_rows(factors: Array, terms: Array, strong: bool) -> Array:
    """The recurrence along the first axis, for all other axes at once."""
    out = np.array(terms)
    for k in range(1, len(out)):
        before, factor = out[k - 1], factors[k - 1]
        out[k] += np.where(before, before * factor, before) if strong else factor * before
    return out


def solved_by_columns(factors: Array, terms: Array, strong: bool) -> Array:
    """The recurrence along the first axis, number by number, of at least two terms."""
    out = np.empty(terms.shape, terms.dtype)
    columns = out.reshape(len(out), -1)
    sides = factors.reshape(len(factors), -1), terms.reshape(len(terms), -1)
    step = strong_step if strong else plain_step
    for j in range(columns.shape[1]):
        a, b = [side[:, j].tolist() for side in sides]
        columns[:, j] = list(accumulate(zip(a, b[1:], strict=True), step, initial=b[0]))
    return out


def plain_step(before: Array, pair: tuple[Any, Any]) -> Array:
    """One step of a linear recurrence."""
    factor, term = pair
    return factor * before + term


def strong_step(before: Array, pair: tuple[Any, Any]) -> Array:
    """One step of a linear recurrence that keeps zeros."""
    factor, term = pair
    return factor * before + term if before else term


def check_axis(name: str, x: Aval, axis: int) -> None:
    """Raise ShapeError unless `x` has the axis."""
    if not 0 <= axis < x.ndim:
        raise ShapeError(f"{name}: {x} has no axis {axis}")


def full_size(size: int, inputs: Sequence[Any], batched: Flags) -> list[Any]:
    """The inputs, all with the batch axis."""
    return [
        x if flag else broadcast(x, (size, *aval(x).shape), tuple(range(1, aval(x).ndim + 1)))
        for x, flag in zip(inputs, batched, strict=True)
    ]
