"""Order: sort, the positions that sort, search in what is sorted, and elements taken along an axis.

Orders are stable and put NaN last, complex numbers by real part and then imaginary part. Its derivative
takes the tangents to where the elements go, so equal elements keep theirs in the order they came.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, FuncgradError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays import searching
from funcgrad.ops.arrays.structure import aval, lines_text, shape_of, zeros_beside
from funcgrad.ops.reducing.cumulative import check_axis, full_size
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, distinct, edge, fixed, integers, normal
from funcgrad.types import Array

LONG = 256
"""From this many numbers on, sorting takes longer than to look whether some are equal."""


class Ordering(Primitive):
    """An operation that puts the elements along one axis in order."""

    parameters = ("axis",)
    kinds: ClassVar[str] = "fc"
    axis: int

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        x = inputs[0]
        return x.size * math.log2(max(x.shape[self.axis] if x.ndim else x.size, 2))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return type(self)(self.axis + 1).bind(inputs[0]), True

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axis": 1}, words="has no axis 1", error=ShapeError),)


class Sort(Ordering):
    """The elements along an axis in ascending order."""

    name = "sort"

    def infer(self, *avals: Aval) -> Aval:
        check_axis(self.name, avals[0], self.axis)
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        # Equal values are the same whichever comes first, and NumPy's unstable sort is much faster.
        return np.sort(values[0], axis=self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.sort({names[0]}, axis={self.axis})"

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        return (("sorted_lines", lines_text(out.shape, self.axis)),)

    def expansion(self, *inputs: Array) -> Array | None:
        """In kernels: the elements at the positions that sort them."""
        (x,) = inputs
        dtype = aval(x).dtype
        if dtype.kind == "c" or dtype.char in "egG":
            return None
        return TakeAlongAxis(self.axis, True).bind(x, ArgSort(self.axis).bind(x))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        order = ArgSort(self.axis).bind(primals[0])
        take = TakeAlongAxis(self.axis, True)
        return take.bind(primals[0], order), take.bind(tangents[0], order)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(5), params={"axis": 0}),
            Sample(distinct(3, 4), params={"axis": 0}),
            Sample(distinct(2, 3, 2), params={"axis": 1}),
            Sample(distinct(0, 2), params={"axis": 0}),
            Sample(edge(1.0, np.nan, -np.inf, 1.0), params={"axis": 0}, differentiable=False),
            Sample(integers(0, 3, 6), params={"axis": 0}, differentiable=False),
            Sample(booleans(4), params={"axis": 0}, differentiable=False),
        )


class ArgSort(Ordering):
    """The positions that sort the elements along an axis; equal elements in the order they come."""

    name = "argsort"

    def infer(self, *avals: Aval) -> Aval:
        check_axis(self.name, avals[0], self.axis)
        return Aval(avals[0].shape, np.dtype(np.intp))

    def evaluate(self, *values: Array) -> Array:
        return stable_order(values[0], self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.argsort({names[0]}, axis={self.axis}, kind='stable')"

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(5), params={"axis": 0}, differentiable=False),
            Sample(distinct(3, 4), params={"axis": 1}, differentiable=False),
            Sample(edge(1.0, np.nan, -np.inf, 1.0), params={"axis": 0}, differentiable=False),
            Sample(integers(0, 3, 6), params={"axis": 0}, differentiable=False),
        )


def stable_order(x: Array, axis: int) -> Array:
    """``np.argsort(x, axis, kind="stable")``.

    Of floating-point numbers that are all different there is one order, and NumPy finds it several times
    faster where it need not be stable.
    """
    if x.dtype.kind == "f" and x.shape[axis] > LONG:
        order = np.argsort(x, axis=axis)
        ascending = np.moveaxis(np.take_along_axis(x, order, axis), axis, 0)
        if np.all(ascending[:-1] < ascending[1:]):
            return order
    return np.argsort(x, axis=axis, kind="stable")


class SearchSorted(Primitive):
    """Where values belong in sorted rows: before equal elements (``left``) or after them (``right``).

    The last axis of the first input runs along the rows; its other axes are the first ones of the values.
    """

    name = "searchsorted"
    parameters = ("side",)
    side: Any

    def infer(self, *avals: Aval) -> Aval:
        rows, values = avals
        if not rows.ndim or rows.shape[:-1] != values.shape[: rows.ndim - 1]:
            raise ShapeError(f"searchsorted of {values} in {rows}: sorted rows and their values must match")
        if rows.dtype != values.dtype:
            raise DtypeError(f"searchsorted of {values} in {rows}: both must be cast to one dtype first")
        if self.side not in ("left", "right"):
            raise SearchSideError(f"search side must be 'left' or 'right' (got {self.side!r})")
        return Aval(values.shape, np.dtype(np.intp))

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        table, sought = inputs
        return sought.size * math.log2(max(table.shape[-1] if table.ndim else 1, 2))

    def evaluate(self, *values: Array) -> Array:
        rows, wanted = values
        if rows.ndim == 1:
            return searching.searchsorted(rows, wanted, self.side)
        count = math.prod(rows.shape[:-1])
        tables = rows.reshape((count, rows.shape[-1]))
        parts = np.reshape(wanted, (count, math.prod(wanted.shape[rows.ndim - 1 :])))
        out = np.empty(parts.shape, np.intp)
        for k in range(count):
            out[k] = searching.searchsorted(tables[k], parts[k], self.side)
        return out.reshape(wanted.shape)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        return f"np.searchsorted({names[0]}, {names[1]}, {self.side!r})" if avals[0].ndim == 1 else None

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        return None if avals[1].size >= searching.LONG else self.expression(names, avals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        rows, values = inputs
        if not batched[0] and len(shape_of(rows)) == 1:
            return self.bind(rows, values), True
        return self.bind(*full_size(size, inputs, batched)), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        table = edge(-1.0, 0.0, 0.0, 0.5, 2.0)
        left, right = {"side": "left"}, {"side": "right"}
        return (
            Sample(table, normal(2, 3), params=left, differentiable=False),
            Sample(table, edge(0.0, np.nan, -np.inf, 2.0), params=right, differentiable=False),
            Sample(table, normal(), params=left, differentiable=False),
            Sample(
                fixed(np.array([[0.0, 1.0], [1.0, 2.0]])),
                fixed(np.array([[0.5], [0.5]])),
                params=left,
                differentiable=False,
            ),
            Sample(edge(), normal(2), params=left, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        left = {"side": "left"}
        return (
            ErrorSample(normal(), normal(2), params=left, words="must match", error=ShapeError),
            ErrorSample(normal(3), integers(0, 2, 2), params=left, words="one dtype", error=DtypeError),
            ErrorSample(
                normal(3), normal(2), params={"side": "up"}, words="search side", error=SearchSideError
            ),
        )


class SearchSideError(FuncgradError, ValueError):
    """Raised when the side of `searchsorted` is neither ``left`` nor ``right``."""


class AlongAxis(Primitive):
    """What taking and adding elements along an axis share.

    The integer array of positions has the shape of the array except along ``axis``. ``unique`` promises that
    no position is repeated; then adding needs no care.
    """

    parameters = ("axis", "unique")
    kinds: ClassVar[str] = "fc"
    selects = True
    axis: int
    unique: bool

    def check_positions(self, x: Aval, index: Aval) -> None:
        """Raise unless the positions go with `x`."""
        check_axis(self.name, x, self.axis)
        if index.dtype.kind not in "iu":
            raise DtypeError(f"{self.name}: positions must be integers, got {index}")
        if index.ndim != x.ndim or without(index.shape, self.axis) != without(x.shape, self.axis):
            raise ShapeError(f"{self.name}: positions {index} do not fit {x} along axis {self.axis}")

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return type(self)(self.axis + 1, self.unique).bind(*full_size(size, inputs, batched)), True


class TakeAlongAxis(AlongAxis):
    """For every position along an axis, the element there."""

    name = "take_along_axis"

    def infer(self, *avals: Aval) -> Aval:
        x, index = avals
        self.check_positions(x, index)
        return x.with_shape(index.shape).strong

    def evaluate(self, *values: Array) -> Array:
        x, index = values
        return x[index] if x.ndim == 1 else np.take_along_axis(x, index, self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        if avals[0].ndim == 1:
            return f"{names[0]}[{names[1]}]"
        return f"np.take_along_axis({names[0]}, {names[1]}, {self.axis})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, index = primals
        return self.bind(x, index), self.bind(tangents[0], index)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        zeros = zeros_beside(cotangent, inputs[0].aval.shape)
        return self.transpose_into(zeros, cotangent, *inputs), None

    def transpose_into(self, total: Array, cotangent: Array, *inputs: Array) -> Array:
        """The cotangent of the array added to what has reached it before."""
        return AddAlongAxis(self.axis, self.unique).bind(total, cotangent, inputs[1])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        first, second = {"axis": 0, "unique": False}, {"axis": 1, "unique": False}
        return (
            Sample(normal(4), fixed(np.array([2, 0, 3, 1])), params={"axis": 0, "unique": True}),
            Sample(normal(4), integers(-4, 4, 6), params=first),
            Sample(normal(3, 4), integers(0, 4, 3, 2), params=second),
            Sample(normal(2, 3, 2), integers(0, 3, 2, 5, 2), params=second),
            Sample(normal(3, 2), integers(0, 3, 0, 2), params=first),
            Sample(integers(0, 9, 4), integers(0, 4, 3), params=first, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 1, "unique": False}
        return (
            ErrorSample(
                normal(3, 4), integers(0, 4, 2, 4), params=params, words="do not fit", error=ShapeError
            ),
            ErrorSample(
                normal(3, 4), normal(3, 4), params=params, words="must be integers", error=DtypeError
            ),
        )


class AddAlongAxis(AlongAxis):
    """The first input with the second added at positions along an axis; repetitions all count."""

    name = "add_along_axis"
    overwrites = True

    def infer(self, *avals: Aval) -> Aval:
        x, part, index = avals
        self.check_positions(x, index)
        if part.shape != index.shape:
            raise ShapeError(f"{self.name}: {part} and positions {index} differ in shape")
        if part.dtype != x.dtype:
            raise DtypeError(f"{self.name}: {part} must be cast to the dtype of {x} first")
        return x.strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(inputs[1].size)

    def evaluate(self, *values: Array) -> Array:
        return self.evaluate_over(values[0].copy(), *values[1:])

    def evaluate_over(self, *values: Array) -> Array:
        """As `evaluate`, in the memory of the first value."""
        x, part, index = values
        where = tuple(
            [
                index if a == self.axis else np.arange(n).reshape((-1,) + (1,) * (x.ndim - a - 1))
                for a, n in enumerate(x.shape)
            ]
        )
        if self.unique:
            x[where] += part
        elif x.ndim > 1 and x.flags.c_contiguous:
            # `ufunc.at` is many times faster in one dimension.
            # Of few bits, an index could not hold what is added to it.
            index = index.astype(np.intp, copy=False)
            where = (
                *where[: self.axis],
                np.where(index < 0, index + x.shape[self.axis], index),
                *where[self.axis + 1 :],
            )
            np.add.at(x.reshape(-1), np.ravel_multi_index(where, x.shape).reshape(-1), part.reshape(-1))
        else:
            np.add.at(x, where, part)
        return x

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, part, index = primals
        x_dot, part_dot = tangents[:2]
        out = self.bind(x, part, index)
        if part_dot is None:
            return out, x_dot
        if x_dot is None:
            x_dot = zeros_beside(part_dot, out.aval.shape)
        return out, self.bind(x_dot, part_dot, index)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (True, True, False)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, part, index = inputs
        part_bar = (
            TakeAlongAxis(self.axis, self.unique).bind(cotangent, index) if isinstance(part, Linear) else None
        )
        return (cotangent if isinstance(x, Linear) else None), part_bar, None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        first, second = {"axis": 0, "unique": False}, {"axis": 1, "unique": False}
        permutation = fixed(np.array([2, 0, 3, 1]))
        return (
            Sample(normal(4), normal(4), permutation, params={"axis": 0, "unique": True}),
            Sample(normal(4), normal(6), integers(-4, 4, 6), params=first),
            Sample(normal(3, 4), normal(3, 2), integers(-4, 4, 3, 2), params=second),
            Sample(normal(2, 3, 2), normal(2, 5, 2), integers(0, 3, 2, 5, 2), params=second),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 0, "unique": False}
        index = integers(0, 3, 2)
        return (
            ErrorSample(
                normal(3), normal(3), index, params=params, words="differ in shape", error=ShapeError
            ),
            ErrorSample(normal(3), integers(0, 3, 2), index, params=params, words="cast", error=DtypeError),
        )


def without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape without one axis."""
    return shape[:axis] + shape[axis + 1 :]
