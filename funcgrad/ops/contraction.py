"""Contractions: sums of products over pairs of axes, of which every product of matrices is one.

Owns the primitive `dot_general`, its strong-zero form, and `dot`, which applies them. How NumPy computes
them is planned in `matmul_plan`; what ``matmul`` or ``einsum`` mean is said above, in `funcgrad.numpy`.
No complex conjugate is taken anywhere here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arithmetic import is_selected, mul, strong_zero_mul
from funcgrad.ops.families import added, scaled
from funcgrad.ops.matmul_plan import Axes, AxisPairs, Plan, free_axes, plan, sizes, sorted_pairs
from funcgrad.ops.structure import aval, broadcast, move_axis, permute, shape_of
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, fixed, integers, normal

Strong = Literal["cotangent", "other"] | None
"""Which operand of a contraction in the backward pass has zeros that count for nothing."""


class DotGeneral(Primitive):
    """Sum of products over ``contracting`` axes, for each element of the ``batch_axes``.

    Both parameters are a pair: axes of the first operand, and the axes of the second they go with. The
    result's axes are the batch axes, then the free axes of the first operand, then those of the second.
    """

    name = "dot_general"
    parameters: ClassVar[tuple[str, ...]] = ("contracting", "batch_axes")
    contracting: AxisPairs
    batch_axes: AxisPairs

    def free(self, x_ndim: int, y_ndim: int) -> AxisPairs:
        """The axes that are neither contracted nor batch axes."""
        (xc, yc), (xb, yb) = self.contracting, self.batch_axes
        return free_axes(x_ndim, xc, xb), free_axes(y_ndim, yc, yb)

    def like(self, contracting: AxisPairs, batch_axes: AxisPairs, strong: int = 0) -> DotGeneral:
        """The same kind of contraction along other axes; `strong` matters to the strong-zero form."""
        found: DotGeneral = DotGeneral(contracting, batch_axes)
        return found

    # -- values ------------------------------------------------------------------------------------------

    def infer(self, *avals: Aval) -> Aval:
        x, y = avals
        if x.dtype != y.dtype:
            raise DtypeError(f"{self.name} of {x} and {y}: operands must be cast to one dtype first")
        for axes, what in ((self.contracting, "contracted"), (self.batch_axes, "batch")):
            self._check(axes, x, y, what)
        xf, yf = self.free(x.ndim, y.ndim)
        shape = sizes(x.shape, self.batch_axes[0]) + sizes(x.shape, xf) + sizes(y.shape, yf)
        return Aval(shape, x.dtype)

    def _check(self, axes: AxisPairs, x: Aval, y: Aval, what: str) -> None:
        if len(axes[0]) != len(axes[1]):
            raise ShapeError(f"{self.name}: {what} axes {axes} are not pairs")
        for k, operand in enumerate((x, y)):
            used = self.contracting[k] + self.batch_axes[k]
            if len(set(used)) != len(used) or any(not 0 <= a < operand.ndim for a in used):
                raise ShapeError(f"{self.name} of {x} and {y}: {used} are not distinct axes of {operand}")
        for a, b in zip(*axes, strict=True):
            if x.shape[a] != y.shape[b]:
                raise ShapeError(
                    f"{self.name} of {x} and {y}: {what} axes {a} and {b} "
                    f"have sizes {x.shape[a]} and {y.shape[b]}"
                )

    def plan(self, x_shape: Shape, y_shape: Shape, dtype: np.dtype[Any]) -> Plan:
        """How NumPy computes it."""
        return plan(self.contracting, self.batch_axes, x_shape, y_shape, dtype.kind)

    def evaluate(self, *values: Any) -> Any:
        x, y = values
        return self.plan(x.shape, y.shape, x.dtype).run(x, y)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return p.finish_source(p.combine_source(*p.operand_sources(*names)))

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        """As `expression`, with what NumPy calls fastest."""
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return p.finish_source(p.fast_combine_source(*p.operand_sources(*names)))

    # -- derivatives -------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        x_dot, y_dot = tangents
        out = self.bind(x, y)
        if not out.aval.inexact:
            return out, None
        if x is y and x_dot is y_dot and self._is_symmetric(aval(x).ndim):
            return out, scaled(self.bind(x_dot, y), 2.0)
        first = None if x_dot is None else self.bind(x_dot, y)
        return out, added(first, None if y_dot is None else self.bind(x, y_dot))

    def _is_symmetric(self, ndim: int) -> bool:
        """Whether exchanging two operands of one shape changes nothing."""
        (xc, yc), (xb, yb) = self.contracting, self.batch_axes
        return xc == yc and xb == yb and self.free(ndim, ndim) == ((), ())

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        strong: Strong = "cotangent" if is_selected(cotangent) else None
        return self.bars(cotangent, inputs, (strong, strong))

    def bars(self, cotangent: Any, inputs: Sequence[Any], strong: tuple[Strong, Strong]) -> tuple[Any, Any]:
        """The cotangents of the operands, None for the one that is not linear."""
        x, y = inputs
        if isinstance(x, Linear):
            return self.bar(0, cotangent, x.aval.ndim, y, strong[0]), None
        return None, self.bar(1, cotangent, y.aval.ndim, x, strong[1])

    def bar(self, side: int, cotangent: Any, ndim: int, other: Any, strong: Strong) -> Any:
        """The cotangent of operand `side`, of rank `ndim`: `cotangent` contracted with the other operand."""
        other_ndim = aval(other).ndim
        frees = self.free(ndim, other_ndim) if side == 0 else self.free(other_ndim, ndim)
        free, other_free = frees[side], frees[1 - side]
        batch, other_batch = self.batch_axes[side], self.batch_axes[1 - side]
        bar_batch = tuple(range(len(batch)))
        bar_free = tuple(range(len(batch), len(batch) + len(free) + len(other_free)))
        summed = bar_free[len(free) :] if side == 0 else bar_free[: len(other_free)]
        # The other operand's contracted axes are free now, and come out in their own order.
        contracted = sorted_pairs((self.contracting[side], self.contracting[1 - side]), by=1)[0]
        if free and batch + contracted + free == tuple(range(ndim)):
            is_strong = None if strong is None else int(strong == "cotangent")
            return dot(other, cotangent, (other_free, summed), (other_batch, bar_batch), is_strong)
        is_strong = None if strong is None else int(strong == "other")
        found = dot(cotangent, other, (summed, other_free), (bar_batch, other_batch), is_strong)
        return permute(found, inverse(batch + free + contracted))

    # -- batching ----------------------------------------------------------------------------------------

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, y = inputs
        (xc, yc), (xb, yb) = self.contracting, self.batch_axes
        if all(batched):
            deeper = self.like((shifted(xc), shifted(yc)), ((0, *shifted(xb)), (0, *shifted(yb))))
            return deeper.bind(x, y), True
        if batched[0]:
            # The batch axis is a free axis of x, the first.
            out = self.like((shifted(xc), yc), (shifted(xb), yb)).bind(x, y)
            return move_axis(out, len(xb), 0), True
        xf, yf = self.free(aval(x).ndim, aval(y).ndim - 1)
        if not xb and not yf:
            # With the operands exchanged it comes out first: a matrix times many vectors is one matmul.
            return self.like((shifted(yc), xc), ((), ()), 1).bind(y, x), True
        out = self.like((xc, shifted(yc)), (xb, shifted(yb))).bind(x, y)
        return move_axis(out, len(xb) + len(xf), 0), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*x), normal(*y), params=params) for x, y, params in _SHAPES],
            Sample(integers(-3, 3, 2, 3), integers(-3, 3, 3), params=_spec((1,), (0,)), differentiable=False),
            Sample(booleans(2, 3), booleans(3, 2), params=_spec((1,), (0,)), differentiable=False),
            Sample(normal(3, 0), normal(0, 2), params=_spec((1,), (0,))),
            Sample(normal(0, 3), normal(3, 2), params=_spec((1,), (0,))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        matrix = _spec((1,), (0,))
        return (
            ErrorSample(normal(3, 4), normal(5, 6), params=matrix, words="sizes 4 and 5", error=ShapeError),
            ErrorSample(normal(3), normal(3), params=matrix, words="not distinct axes", error=ShapeError),
            ErrorSample(normal(3, 3), integers(0, 2, 3), params=matrix, words="one dtype", error=DtypeError),
        )


class StrongZeroDot(DotGeneral):
    """A contraction in which zeros of one operand count for nothing, even against infinity or NaN.

    ``strong`` says which operand, 0 or 1. It is the contraction of a cotangent that a selection (`where`,
    a slice, a maximum) set to zero in places: see `StrongZeroMul`. Where an element of the result is not
    finite by right, because something other than a zero met an infinity, it may be NaN for an infinity.
    """

    name = "strong_zero_dot"
    parameters = ("contracting", "batch_axes", "strong")
    strong: int

    def like(self, contracting: AxisPairs, batch_axes: AxisPairs, strong: int = 0) -> DotGeneral:
        found: DotGeneral = StrongZeroDot(contracting, batch_axes, self.strong ^ strong)
        return found

    def evaluate(self, *values: Any) -> Any:
        x, y = values
        p = self.plan(x.shape, y.shape, x.dtype)
        left, right = p.operands(x, y)
        out = p.combine(left, right)
        # A zero that met infinity or NaN leaves NaN behind, so finite numbers need no second look.
        if not np.isfinite(out).all():
            if self.strong ^ p.swapped:
                out = np.where(p.combine(~np.isfinite(left), right != 0), out, p.combine(finite(left), right))
            else:
                out = np.where(p.combine(left != 0, ~np.isfinite(right)), out, p.combine(left, finite(right)))
            out = out[()]
        return p.finish(out)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return self._source(p, p.combine_source, names, avals[0].dtype)

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return self._source(p, p.fast_combine_source, names, avals[0].dtype)

    def _source(
        self, p: Plan, combined: Callable[[str, str], str], names: Sequence[str], dtype: np.dtype[Any]
    ) -> str:
        left, right = p.operand_sources(*names)
        zero = "0.0" if dtype == np.float64 else f"np.{dtype.name}(0)"
        if self.strong ^ p.swapped:
            nonzero = combined(f"(~np.isfinite({left}))", f"({right} != 0)")
            cleaned = combined(f"np.where(np.isfinite({left}), {left}, {zero})", right)
        else:
            nonzero = combined(f"({left} != 0)", f"(~np.isfinite({right}))")
            cleaned = combined(left, f"np.where(np.isfinite({right}), {right}, {zero})")
        out = f"np.isfinite(_out := {combined(left, right)}).all()"
        return p.finish_source(f"_out if {out} else np.where({nonzero}, _out, {cleaned})[()]")

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        # The strong operand stays so, as the cotangent that flows and as the constant beside it.
        return self.bars(cotangent, inputs, ("other", "cotangent") if self.strong else ("cotangent", "other"))

    def _is_symmetric(self, ndim: int) -> bool:
        return False

    @classmethod
    def samples(cls) -> Sequence[Any]:
        holes = fixed(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
        bad = fixed(np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, np.inf]]))
        return (
            *[
                Sample(normal(*x), normal(*y), params=params | {"strong": k % 2})
                for k, (x, y, params) in enumerate(_SHAPES)
            ],
            Sample(holes, bad, params=_spec((1,), (0,)) | {"strong": 0}, differentiable=False),
            Sample(bad, holes, params=_spec((0,), (1,)) | {"strong": 1}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = _spec((1,), (0,)) | {"strong": 0}
        return (
            ErrorSample(normal(3, 4), normal(5, 6), params=params, words="sizes 4 and 5", error=ShapeError),
        )


def finite(x: Any) -> Any:
    """The array with zeros in place of infinities and NaN."""
    return np.where(np.isfinite(x), x, x.dtype.type(0))


def dot(x: Any, y: Any, contracting: AxisPairs, batch_axes: AxisPairs, strong: int | None = None) -> Any:
    """The contraction of two operands of one dtype; `strong` is the one whose zeros are strong, or None.

    Where nothing is summed and one operand has batch axes alone, it is a product, element by element.
    """
    x_shape, y_shape = shape_of(x), shape_of(y)
    if not contracting[0] and (len(batch_axes[0]) == len(x_shape) or len(batch_axes[1]) == len(y_shape)):
        return batch_product(x, y, batch_axes, strong)
    if len(contracting[0]) > 1:
        contracting = sorted_pairs(contracting, by=0)
    if strong is None:
        return DotGeneral(contracting, batch_axes).bind(x, y)
    return StrongZeroDot(contracting, batch_axes, strong).bind(x, y)


def batch_product(x: Any, y: Any, batch_axes: AxisPairs, strong: int | None) -> Any:
    """Elementwise product over the batch axes of operands of which one has no other axes."""
    xb, yb = batch_axes
    free = free_axes(aval(x).ndim, (), xb) if len(xb) < aval(x).ndim else free_axes(aval(y).ndim, (), yb)
    longer = x if len(xb) < aval(x).ndim else y
    longer_batch = xb if longer is x else yb
    shape = sizes(shape_of(longer), longer_batch + free)
    x, y = (placed(v, batch, shape) for v, batch in ((x, xb), (y, yb)))
    if strong is None:
        return mul(x, y)
    return strong_zero_mul(x, y) if strong == 0 else strong_zero_mul(y, x)


def placed(x: Any, batch: Axes, shape: Shape) -> Any:
    """The operand with its batch axes first, spread over the shape; scalars as they are."""
    ndim = aval(x).ndim
    if not ndim:
        return x
    order = batch + free_axes(ndim, (), batch)
    return broadcast(permute(x, order), shape, tuple(range(ndim)))


def shifted(axes: Axes) -> Axes:
    """The axes below a new first axis."""
    return tuple([a + 1 for a in axes])


def inverse(order: Axes) -> Axes:
    """The order that undoes `order`."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _spec(x: Axes, y: Axes, xb: Axes = (), yb: Axes = ()) -> dict[str, Any]:
    return {"contracting": (x, y), "batch_axes": (xb, yb)}


_SHAPES: tuple[tuple[Shape, Shape, dict[str, Any]], ...] = (
    ((3,), (3,), _spec((0,), (0,))),
    ((2, 3), (3,), _spec((1,), (0,))),
    ((3,), (2, 3), _spec((0,), (1,))),
    ((2, 3), (3, 4), _spec((1,), (0,))),
    ((3, 2), (4, 3), _spec((0,), (1,))),
    ((2,), (3,), _spec((), ())),
    ((5, 2, 3), (5, 3, 4), _spec((2,), (1,), (0,), (0,))),
    ((2, 5, 3), (3, 5), _spec((2,), (0,), (1,), (1,))),
    ((5, 3), (5, 3), _spec((1,), (1,), (0,), (0,))),
    ((2, 3), (4, 3, 2), _spec((1,), (1,))),
    ((2, 3, 4), (4, 2, 2), _spec((0, 2), (1, 0))),
)
