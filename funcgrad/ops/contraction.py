"""Contractions: sums of products over axes that two operands share, as in a product of matrices.

Owns the primitive `dot_general`, its strong-zero form, and the functions that apply them. How NumPy computes
them is planned in `matmul_plan`, what their subscripts say is read in `labelled`; what ``matmul`` or
``einsum`` mean is said above, in `funcgrad.numpy`. No complex conjugate is taken anywhere here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import (
    Broadcast,
    aval,
    broadcast,
    permute,
    real_products,
    reduce_sum,
    shape_of,
)
from funcgrad.ops.elementwise.arithmetic import is_selected, mul, strong_zero_mul
from funcgrad.ops.families import added, scaled
from funcgrad.ops.matmul_plan import Plan, plan
from funcgrad.ops.reducing.labelled import (
    AxisPairs,
    ContractionLabels,
    Labels,
    contraction_labels,
    labels_of_axes,
    recipe,
)
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, fixed, integers, normal
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array


class DotGeneral(Primitive):
    """Sum of products over the axes that two operands share and the result lacks.

    ``subscripts`` names the axes as `einsum` does: ``"bij,bjk->bik"``. The result has the shared axes that
    are kept, then the other axes of the first operand, then those of the second.
    """

    name = "dot_general"
    parameters: ClassVar[tuple[str, ...]] = ("subscripts",)
    subscripts: str

    @once
    def labels(self) -> ContractionLabels:
        """The subscripts, read."""
        return contraction_labels(self.subscripts)

    # -- values ------------------------------------------------------------------------------------------

    def infer(self, *avals: Aval) -> Aval:
        x, y = avals
        if x.dtype != y.dtype:
            raise DtypeError(f"{self.name} of {x} and {y}: operands must be cast to one dtype first")
        sizes: dict[str, int] = {}
        for operand, labels in ((x, self.labels.x), (y, self.labels.y)):
            if operand.ndim != len(labels):
                raise ShapeError(f"{self.name} of {x} and {y}: {self.subscripts!r} does not fit {operand}")
            for label, n in zip(labels, operand.shape, strict=True):
                if sizes.setdefault(label, n) != n:
                    raise ShapeError(
                        f"{self.name} of {x} and {y}: index {label!r} of {self.subscripts!r} "
                        f"has sizes {sizes[label]} and {n}"
                    )
        return Aval(tuple([sizes[a] for a in self.labels.out]), x.dtype)

    def plan(self, x_shape: Shape, y_shape: Shape, dtype: np.dtype[Any]) -> Plan:
        """How NumPy computes it."""
        return plan(self.labels.contracting, self.labels.batch, x_shape, y_shape, dtype.kind)

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        sizes: dict[str, int] = {}
        for x, names in zip(inputs, (self.labels.x, self.labels.y), strict=True):
            sizes.update(zip(names, x.shape, strict=True))
        return 2.0 * math.prod(sizes.values()) * real_products(outputs[0])

    def evaluate(self, *values: Array) -> Array:
        x, y = values
        return self.plan(x.shape, y.shape, x.dtype).run(x, y)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return p.finish_source(p.combine_source(*p.operand_sources(*names)))

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        """As `expression`, with what NumPy calls fastest."""
        p = self.plan(avals[0].shape, avals[1].shape, avals[0].dtype)
        return p.finish_source(p.fast_combine_source(*p.operand_sources(*names)))

    # -- rules -------------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        x_dot, y_dot = tangents
        out = self.bind(x, y)
        if not out.aval.inexact:
            return out, None
        if x is y and x_dot is y_dot and self.is_symmetric():
            return out, scaled(self.bind(x_dot, y), 2.0)
        first = None if x_dot is None else self.bind(x_dot, y)
        return out, added(first, None if y_dot is None else self.bind(x, y_dot))

    def is_symmetric(self) -> bool:
        """Whether exchanging the operands changes nothing."""
        return self.labels.x == self.labels.y

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        strong = 0 if is_selected(cotangent) else None
        return self.bars(cotangent, inputs, (strong, strong))

    def bars(self, cotangent: Array, inputs: Sequence[Any], strong: tuple[Any, Any]) -> tuple[Any, Any]:
        """The cotangents of the operands, None for the one that is not linear.

        Each is a contraction of `cotangent` with the other operand, of which one may have strong zeros.
        """
        x, y = inputs
        x_labels, y_labels, out_labels = self.labels[:3]
        if isinstance(x, Linear):
            return contract(cotangent, out_labels, y, y_labels, x_labels, strong[0]), None
        return None, contract(cotangent, out_labels, x, x_labels, y_labels, strong[1])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, y = inputs
        x_labels, y_labels = (
            (BATCH, *labels) if flag else labels
            for labels, flag in zip(self.labels[:2], batched, strict=True)
        )
        return self.along(x, x_labels, y, y_labels, (BATCH, *self.labels.out)), True

    def along(self, x: Array, x_labels: Labels, y: Array, y_labels: Labels, out_labels: Labels) -> Array:
        """The same kind of contraction along other axes."""
        return contract(x, x_labels, y, y_labels, out_labels)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*x), normal(*y), params={"subscripts": text}) for text, x, y in _SHAPES],
            Sample(integers(-3, 3, 2, 3), integers(-3, 3, 3), params=_MATVEC, differentiable=False),
            Sample(booleans(2, 3), booleans(3, 2), params=_MATMUL, differentiable=False),
            Sample(normal(3, 0), normal(0, 2), params=_MATMUL),
            Sample(normal(0, 3), normal(3, 2), params=_MATMUL),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(3, 4), normal(5, 6), params=_MATMUL, words="sizes 4 and 5", error=ShapeError),
            ErrorSample(normal(3), normal(3, 3), params=_MATMUL, words="does not fit", error=ShapeError),
            ErrorSample(normal(3, 3), integers(0, 2, 3), params=_MATVEC, words="one dtype", error=DtypeError),
            *[
                ErrorSample(
                    normal(3, 3),
                    normal(3, 3),
                    params={"subscripts": text},
                    words="no contraction",
                    error=ShapeError,
                )
                for text in ("ij,jk->ki", "ii,ij->j", "ij,jk->i", "ij,jk")
            ],
        )


class StrongZeroDot(DotGeneral):
    """A contraction in which zeros of one operand count for nothing, even against infinity or NaN.

    ``strong`` says which operand, 0 or 1. It is the contraction of a cotangent that a selection (`where`,
    a slice, a maximum) set to zero in places: see `StrongZeroMul`. Where an element of the result is not
    finite by right, because something other than a zero met an infinity, it may be NaN for an infinity.
    """

    name = "strong_zero_dot"
    parameters = ("subscripts", "strong")
    strong: int

    def evaluate(self, *values: Array) -> Array:
        x, y = values
        p = self.plan(x.shape, y.shape, x.dtype)
        left, right = p.operands(x, y)
        combine: Callable[[Any, Any], Any] = p.combine
        out = combine(left, right)
        # A zero that met infinity or NaN leaves NaN behind, so finite numbers need no second look.
        if not np.isfinite(out).all():
            if self.strong ^ p.swapped:
                out = np.where(combine(~np.isfinite(left), right != 0), out, combine(finite(left), right))
            else:
                out = np.where(combine(left != 0, ~np.isfinite(right)), out, combine(left, finite(right)))
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

    def is_symmetric(self) -> bool:
        return False

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        # The strong operand stays so, as the cotangent that flows and as the constant beside it.
        return self.bars(cotangent, inputs, (1, 0) if self.strong else (0, 1))

    def along(self, x: Array, x_labels: Labels, y: Array, y_labels: Labels, out_labels: Labels) -> Array:
        return contract(x, x_labels, y, y_labels, out_labels, self.strong)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        holes = fixed(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
        bad = fixed(np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, np.inf]]))
        return (
            *[
                Sample(normal(*x), normal(*y), params={"subscripts": text, "strong": k % 2})
                for k, (text, x, y) in enumerate(_SHAPES)
            ],
            Sample(holes, bad, params=_MATMUL | {"strong": 0}, differentiable=False),
            Sample(bad, holes, params={"subscripts": "ij,ki->jk", "strong": 1}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = _MATMUL | {"strong": 0}
        return (
            ErrorSample(normal(3, 4), normal(5, 6), params=params, words="sizes 4 and 5", error=ShapeError),
        )


def finite(x: Array) -> Array:
    """The array with zeros in place of infinities and NaN."""
    return np.where(np.isfinite(x), x, x.dtype.type(0))


def dot(x: Array, y: Array, contracting: AxisPairs, batch: AxisPairs = ((), ())) -> Array:
    """The sum over pairs of axes, for each element of pairs of batch axes, which come first in the result."""
    x_labels, y_labels, out_labels = labels_of_axes(contracting, batch, aval(x).ndim, aval(y).ndim)
    return contract(x, x_labels, y, y_labels, out_labels)


def contract(
    x: Array, x_labels: Labels, y: Array, y_labels: Labels, out_labels: Labels, strong: int | None = None
) -> Array:
    """The sum of products of two operands of one dtype, with the axes of `out_labels` left, in that order.

    A product of elements where nothing is summed and one operand has all axes of the other. `strong` is
    the operand whose zeros are strong, or None.
    """
    r = recipe(x_labels, y_labels, out_labels)
    x, y = reduce_sum(x, r.x_summed), reduce_sum(y, r.y_summed)
    if r.subscripts is None:
        sizes = dict(zip(r.x, shape_of(x), strict=True)) | dict(zip(r.y, shape_of(y), strict=True))
        shape = tuple([sizes[a] for a in out_labels])
        number = repeated_number(x)
        if number is not None and strong is None:
            return mul(number, spread(y, r.y, out_labels, shape))
        x, y = spread(x, r.x, out_labels, shape), spread(y, r.y, out_labels, shape)
        if strong is None:
            return mul(x, y)
        return strong_zero_mul(y, x) if strong else strong_zero_mul(x, y)
    if r.swapped:
        x, y = y, x
    if strong is None:
        out = DotGeneral(r.subscripts).bind(x, y)
    else:
        out = StrongZeroDot(r.subscripts, strong ^ r.swapped).bind(x, y)
    return out if r.order is None else permute(out, r.order)


def repeated_number(x: Array) -> Array | None:
    """The number that an array repeats, as the cotangent of a sum does; None if it was not made so."""
    if type(x) is not Tracer or x._view is not None:
        return None
    recorder = x._recorder
    step = recorder.steps[x._index]
    if type(step) is not tuple or not isinstance(step[0], Broadcast) or recorder.avals[step[1]].ndim:
        return None
    return Tracer(recorder, step[1], recorder.avals[step[1]])


def spread(x: Array, labels: Labels, out_labels: Labels, shape: Shape) -> Array:
    """The operand with its axes in the order of the result's, repeated along those it lacks."""
    if not labels:
        return x  # products take scalars as they are
    axes = [out_labels.index(a) for a in labels]
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast(permute(x, order), shape, tuple(sorted(axes)))


BATCH = "*"
"""The label of a batch axis, which no subscripts use."""

_MATMUL = {"subscripts": "ij,jk->ik"}
_MATVEC = {"subscripts": "ij,j->i"}
_SHAPES: tuple[tuple[str, Shape, Shape], ...] = (
    ("i,i->", (3,), (3,)),
    ("ij,j->i", (2, 3), (3,)),
    ("i,ji->j", (3,), (2, 3)),
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,ki->jk", (3, 2), (4, 3)),
    ("i,j->ij", (2,), (3,)),
    ("ijk,ikl->ijl", (5, 2, 3), (5, 3, 4)),
    ("ijk,kj->ji", (2, 5, 3), (3, 5)),
    ("ij,ij->i", (5, 3), (5, 3)),
    ("ij,kjl->ikl", (2, 3), (4, 3, 2)),
    ("ijk,kil->jl", (2, 3, 4), (4, 2, 2)),
)
