"""Reductions other than the sum: product, extremes, where the extremes are, all and any.

They take the axes as distinct numbers that are not negative, which disappear from the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import cast, permute, reduce_sum, reduced_shape, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul
from funcgrad.ops.elementwise.comparison import equal, isnan
from funcgrad.ops.elementwise.logic import logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Reduction
from funcgrad.ops.reducing.cumulative import CumProd, check_axis
from funcgrad.ops.reducing.folds import ALL, ANY, FMAX, FMIN, MAX, MIN, PROD
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, distinct, edge, integers, normal
from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom


class UfuncReduction(Reduction):
    """What a ufunc's ``reduce`` computes, in the dtype of the input."""

    ufunc: ClassVar[Any] = None

    def infer(self, *avals: Aval) -> Aval:
        return Aval(reduced_shape(avals[0], self.axes), avals[0].dtype)

    def evaluate(self, *values: Array) -> Array:
        return self.ufunc.reduce(values[0], axis=self.axes, dtype=values[0].dtype)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x = avals[0]
        dtype = f", dtype={x.dtype.name!r}" if x.dtype.kind in "iu" else ""
        axis = None if len(self.axes) == x.ndim else self.axes[0] if len(self.axes) == 1 else self.axes
        return f"np.{self.ufunc.__name__}.reduce({names[0]}, axis={axis}{dtype})"

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return None if self.axes or inputs[0].aval.weak else inputs[0]

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axes": (1,)}, words="axes", error=ShapeError),)


class ReduceProd(UfuncReduction):
    """Product over axes, with derivatives that are right where there are zeros.

    Booleans are refused: cast them first.
    """

    name = "reduce_prod"
    ufunc = np.multiply
    fold = PROD

    def infer(self, *avals: Aval) -> Aval:
        if avals[0].dtype.kind == "b":
            raise DtypeError(f"reduce_prod of {avals[0]}: cast booleans to integers first")
        return super().infer(*avals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        return self.bind(x), reduce_sum(mul(ProductOfOthers(self.axes).bind(x), x_dot), self.axes)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 4), params={"axes": (0,)}),
            Sample(normal(2, 3), params={"axes": (0, 1)}),
            Sample(normal(2, 3, 2), params={"axes": (0, 2)}),
            Sample(normal(0, 3), params={"axes": (0,)}),
            Sample(normal(), params={"axes": ()}),
            Sample(edge(2.0, 0.0, -3.0, 0.5), params={"axes": (0,)}),
            Sample(edge(2.0, 0.0, -3.0, 0.0), params={"axes": (0,)}),
            Sample(integers(-3, 3, 5, dtype=np.int8), params={"axes": (0,)}, differentiable=False),
        )


class ProductOfOthers(Reduction):
    """For every element, the product of all other elements along ``axes``: the derivative of a product.

    It multiplies what stands before by what stands after and never divides, so zeros do no harm.
    """

    name = "product_of_others"

    def infer(self, *avals: Aval) -> Aval:
        reduced_shape(avals[0], self.axes)
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        order = axes_last(x.ndim, self.axes)
        moved = x.transpose(order)
        flat = moved.reshape((*moved.shape[: x.ndim - len(self.axes)], reduced_size(x.shape, self.axes)))
        out = np.ones_like(flat)
        np.multiply.accumulate(flat[..., :-1], axis=-1, out=out[..., 1:])
        after = np.multiply.accumulate(flat[..., :0:-1], axis=-1)
        out[..., :-1] *= after[..., ::-1]
        return out.reshape(moved.shape).transpose(np.argsort(order))

    def expansion(self, *inputs: Array) -> Array | None:
        """The same along one axis, the last."""
        (x,) = inputs
        if len(self.axes) == 1:
            return None
        flat = self.flattened(x)
        return self.unflattened(ProductOfOthers((len(shape_of(flat)) - 1,)).bind(flat), x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        flat, flat_dot = self.flattened(x), self.flattened(x_dot)
        axis = len(shape_of(flat)) - 1
        sides = []
        for runs in (CumProd(axis, False), CumProd(axis, True)):
            product, product_dot = runs.jvp((flat,), (flat_dot,))
            sides.append((runs.exclusive(product), runs.delayed(product_dot)))
        (before, before_dot), (after, after_dot) = sides
        dot = add(mul(before_dot, after), mul(before, after_dot))
        return self.bind(x), self.unflattened(dot, x)

    def flattened(self, x: Array) -> Array:
        """`x` with `axes` as a single last axis."""
        shape = shape_of(x)
        kept = [n for a, n in enumerate(shape) if a not in self.axes]
        moved = permute(x, axes_last(len(shape), self.axes))
        return reshape(moved, (*kept, reduced_size(shape, self.axes)))

    def unflattened(self, flat: Array, like: Array) -> Array:
        """What is `flattened`, in the shape of `like` again."""
        shape = shape_of(like)
        order = axes_last(len(shape), self.axes)
        inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
        return permute(reshape(flat, tuple([shape[a] for a in order])), inverse)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(4), params={"axes": (0,)}),
            Sample(normal(2, 3), params={"axes": (0,)}),
            Sample(normal(2, 3, 2), params={"axes": (0, 2)}),
            Sample(normal(1), params={"axes": (0,)}),
            Sample(normal(0, 2), params={"axes": (0,)}),
            Sample(normal(), params={"axes": ()}),
            Sample(edge(2.0, 0.0, -3.0, 0.0), params={"axes": (0,)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axes": (1,)}, words="axes", error=ShapeError),)


class ReduceExtreme(UfuncReduction):
    """An extreme over axes.

    Elements that reach it together share the derivative evenly; the others contribute exactly nothing.
    """

    def infer(self, *avals: Aval) -> Aval:
        x = avals[0]
        out = super().infer(x)
        if any(x.shape[a] == 0 for a in self.axes):
            raise ShapeError(
                f"zero-size array to reduction operation {self.ufunc.__name__} which has no identity: {x}",
                remedy="Give initial=, the result for no elements, or leave empty arrays out.",
            )
        return out

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        out = self.bind(x)
        dtype = out.aval.dtype
        if x_dot is None or dtype.kind not in "fc":
            return out, None
        reaches = self.reaching(x, out)
        total = reduce_sum(where(reaches, x_dot, dtype.type(0)), self.axes)
        return out, div(total, self.count(reduce_sum(cast(reaches, dtype), self.axes)))

    def reaching(self, x: Array, out: Array) -> Array:
        """Which elements reach the extreme. Where that is NaN, the elements that are NaN do."""
        return logical_or(equal(x, self.keepdims(out, x)), isnan(x))

    def count(self, reaching: Array) -> Array:
        """What the sum of their tangents is divided by."""
        return reaching

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(5), params={"axes": (0,)}),
            Sample(distinct(3, 4), params={"axes": (1,)}),
            Sample(distinct(2, 3, 2), params={"axes": (0, 2)}),
            Sample(distinct(), params={"axes": ()}),
            Sample(distinct(3, 0), params={"axes": (0,)}),
            Sample(edge(1.0, np.nan, np.inf), params={"axes": (0,)}, differentiable=False),
            Sample(integers(-5, 5, 4), params={"axes": (0,)}, differentiable=False),
            Sample(booleans(4), params={"axes": (0,)}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        empty = ErrorSample(normal(0, 2), params={"axes": (0,)}, words="zero-size array", error=ShapeError)
        return (*super().error_samples(), empty)


class ReduceMax(ReduceExtreme):
    """The largest element over axes, NaN if any is; equal ones share the derivative evenly."""

    name = "reduce_max"
    ufunc = np.maximum
    fold = MAX


class ReduceMin(ReduceExtreme):
    """The smallest element over axes, NaN if any is; equal ones share the derivative evenly."""

    name = "reduce_min"
    ufunc = np.minimum
    fold = MIN


class ReduceExtremeNumber(ReduceExtreme):
    """An extreme over axes of what is not NaN; of nothing else NaN, without a derivative."""

    def reaching(self, x: Array, out: Array) -> Array:
        return equal(x, self.keepdims(out, x))

    def count(self, reaching: Array) -> Array:
        return where(equal(reaching, 0.0), 1.0, reaching)


class ReduceFmax(ReduceExtremeNumber):
    """The largest element over axes that is not NaN; equal ones share the derivative evenly."""

    name = "reduce_fmax"
    ufunc = np.fmax
    fold = FMAX


class ReduceFmin(ReduceExtremeNumber):
    """The smallest element over axes that is not NaN; equal ones share the derivative evenly."""

    name = "reduce_fmin"
    ufunc = np.fmin
    fold = FMIN


class ReduceLogical(UfuncReduction):
    """A reduction of booleans."""

    kinds = ""

    def infer(self, *avals: Aval) -> Aval:
        if avals[0].dtype.kind != "b":
            raise DtypeError(f"{self.name} of {avals[0]}: cast to booleans first")
        return super().infer(*avals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 4), params={"axes": (0,)}, differentiable=False),
            Sample(booleans(2, 3), params={"axes": (0, 1)}, differentiable=False),
            Sample(booleans(0, 3), params={"axes": (0,)}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axes": (0,)}, words="cast to booleans", error=DtypeError),)


class ReduceAny(ReduceLogical):
    """Whether any element over axes is true."""

    name = "reduce_any"
    ufunc = np.logical_or
    fold = ANY


class ReduceAll(ReduceLogical):
    """Whether all elements over axes are true."""

    name = "reduce_all"
    ufunc = np.logical_and
    fold = ALL


class ArgExtreme(Primitive):
    """The position of the first extreme along one axis, or of the first NaN if there is one."""

    parameters = ("axis",)
    function: ClassVar[Any] = None
    better: ClassVar[str] = ""
    """The comparison, in words of kernels, by which an element takes the place of the best one before it."""
    axis: int

    def infer(self, *avals: Aval) -> Aval:
        x = avals[0]
        check_axis(self.name, x, self.axis)
        if x.shape[self.axis] == 0:
            raise ShapeError(f"attempt to get {self.name} of an empty sequence: {x} along axis {self.axis}")
        return Aval(reduced_shape(x, (self.axis,)), np.dtype(np.intp))

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(self.cost * inputs[0].size)

    def evaluate(self, *values: Array) -> Array:
        return self.function(values[0], axis=self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.{self.name}({names[0]}, axis={self.axis})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return type(self)(self.axis + 1).bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(5), params={"axis": 0}, differentiable=False),
            Sample(distinct(3, 4), params={"axis": 1}, differentiable=False),
            Sample(edge(1.0, np.nan, np.inf, np.nan), params={"axis": 0}, differentiable=False),
            Sample(integers(0, 2, 6), params={"axis": 0}, differentiable=False),
            Sample(booleans(4, 3), params={"axis": 0}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(0), params={"axis": 0}, words="empty sequence", error=ShapeError),
            ErrorSample(normal(3), params={"axis": 1}, words="has no axis 1", error=ShapeError),
        )


class ArgMax(ArgExtreme):
    """The position of the largest element along an axis, the first of equal ones, or of the first NaN."""

    name = "argmax"
    function = staticmethod(np.argmax)
    better = ">"


class ArgMin(ArgExtreme):
    """The position of the smallest element along an axis, the first of equal ones, or of the first NaN."""

    name = "argmin"
    function = staticmethod(np.argmin)
    better = "<"


def axes_last(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The order of axes that puts `axes` at the end."""
    return (*[a for a in range(ndim) if a not in axes], *axes)


def reduced_size(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """The number of elements that become one."""
    return math.prod([shape[a] for a in axes])
