"""Advanced indexing: reading and writing elements at positions that are themselves arrays.

Both operations take integer index arrays for a tuple of ``axes`` of the array; the index arrays broadcast
against each other, their common shape comes first in what is read, and the axes they do not name follow.
Negative positions count from the end, and positions out of bounds raise IndexError, as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, IndexingError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import (
    aval,
    broadcast,
    broadcast_to,
    permute,
    primitive_called,
    reshape,
    shape_of,
    zeros_beside,
)
from funcgrad.ops.arrays.windows import numbers_below
from funcgrad.ops.families import broadcast_shapes, summed_to
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, distinct, fixed, integers, normal, positive
from funcgrad.types import Array

MODES = ("set", "add", "mul", "min", "max")


class Indexed(Primitive):
    """What reading and writing share: the indexed axes, and the shape that the index arrays select."""

    axes: tuple[int, ...]
    kinds: ClassVar[str] = "fc"

    def selected_shape(self, x: Aval, indices: Sequence[Aval]) -> Shape:
        """The shape of the elements at the positions; raises for indices that do not fit `x`."""
        axes = self.axes
        if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes) or len(indices) != len(axes):
            raise IndexingError(f"{len(indices)} index arrays for axes {axes} do not fit {x}")
        for index in indices:
            if index.dtype.kind not in "iu":
                raise DtypeError(f"arrays used as indices must be integers, got {index}")
        return broadcast_shapes("index arrays", indices) + self.kept_shape(x.shape)

    def kept_shape(self, shape: Shape) -> Shape:
        """The axes that no index array names."""
        return tuple([n for a, n in enumerate(shape) if a not in self.axes])

    def axes_first(self, x: Array) -> Array:
        """`x` with the indexed axes first, in their order."""
        if self.axes == tuple(range(len(self.axes))):
            return x
        return x.transpose((*self.axes, *(a for a in range(x.ndim) if a not in self.axes)))


class Gather(Indexed):
    """The elements of the first input at positions given by the others."""

    name = "gather"
    parameters = ("axes",)
    selects = True

    def infer(self, *avals: Aval) -> Aval:
        return avals[0].with_shape(self.selected_shape(avals[0], avals[1:])).strong

    def evaluate(self, *values: Array) -> Array:
        x, *indices = values
        out = self.axes_first(x)[tuple(indices)]
        # Index arrays of rank 0 are integers to NumPy, and what they read is a view.
        return out.copy() if out.base is not None and all(index.ndim == 0 for index in indices) else out

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if self.axes != tuple(range(len(self.axes))) or all(not index.shape for index in avals[1:]):
            return None
        return f"{names[0]}[{', '.join(names[1:])}]"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, *indices = primals
        return self.bind(x, *indices), self.bind(tangents[0], *indices)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, *indices = inputs
        zeros = zeros_beside(cotangent, x.aval.shape)
        return (self.transpose_into(zeros, cotangent, *inputs), *[None] * len(indices))

    def transpose_into(self, total: Array, cotangent: Array, *inputs: Array) -> Array:
        """The cotangent of the array added to what has reached it before."""
        one_place = index_rank(inputs[1:]) == 0
        return Scatter("add", self.axes, one_place).bind(total, cotangent, *inputs[1:])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, *indices = inputs
        if any(batched[1:]):
            indices = batched_indices(size, indices, batched[1:])
            axes = tuple([a + 1 if batched[0] else a for a in self.axes])
            if not batched[0]:
                return Gather(axes).bind(x, *indices), True
            return Gather((0, *axes)).bind(x, batch_positions(size, indices), *indices), True
        out = Gather(tuple([a + 1 for a in self.axes])).bind(x, *indices)
        return batch_axis_first(out, index_rank(indices)), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), integers(-5, 5, 4), params={"axes": (0,)}),
            Sample(normal(4, 3), integers(0, 3, 2), params={"axes": (1,)}),
            Sample(normal(4, 3, 2), integers(0, 4, 3, 1), integers(-2, 2, 5), params={"axes": (0, 2)}),
            Sample(normal(4, 3), integers(0, 4), params={"axes": (0,)}),
            Sample(normal(4, 3), integers(0, 4), integers(0, 3), params={"axes": (0, 1)}),
            Sample(normal(3), fixed(np.zeros(0, np.int64)), params={"axes": (0,)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        first, second = {"axes": (0,)}, {"axes": (1,)}
        return (
            ErrorSample(normal(3), normal(2), params=first, words="must be integers", error=DtypeError),
            ErrorSample(normal(3), integers(0, 3, 2), params=second, words="do not fit", error=IndexingError),
        )


class Scatter(Indexed):
    """``x`` with updates combined into the elements at given positions.

    ``mode`` says how: ``set`` (of repeated positions the last wins), ``add``, ``mul``, ``min`` or ``max``
    (repetitions all count). The updates have the shape that a gather there has, or are a scalar.
    ``unique`` promises that no position is repeated.

    Where minimum or maximum is reached several times, derivatives are split evenly, as by a reduction.
    """

    name = "scatter"
    parameters = ("mode", "axes", "unique")
    selects = True
    overwrites = True
    mode: str
    unique: bool

    def infer(self, *avals: Aval) -> Aval:
        x, updates, *indices = avals
        shape = self.selected_shape(x, indices)
        if self.mode not in MODES:
            raise IndexingError(f"scatter has no mode {self.mode!r}: it has {', '.join(MODES)}")
        if updates.shape and updates.shape != shape:
            raise ShapeError(f"scatter of {updates} into {x}: the positions have shape {shape}")
        if updates.dtype != x.dtype:
            raise DtypeError(f"scatter of {updates} must be cast to the dtype of {x} first")
        return x.strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(inputs[1].size)

    def evaluate(self, *values: Array) -> Array:
        return self.evaluate_over(values[0].copy(), *values[1:])

    def evaluate_over(self, *values: Array) -> Array:
        """As `evaluate`, in the memory of the first value."""
        x, updates, *indices = values
        out = self.axes_first(x)
        if self.mode == "set" or self.unique:
            set_unique(out, updates, tuple(indices), self.mode)
        elif x.flags.c_contiguous:
            flat = np.reshape(updates, -1) if np.ndim(updates) else updates
            UFUNCS[self.mode].at(x.reshape(-1), self.flat_positions(x.shape, indices), flat)
        else:
            UFUNCS[self.mode].at(out, tuple(indices), updates)
        return x

    def flat_positions(self, shape: Shape, indices: Sequence[Any]) -> Array:
        """The positions in the row-major array: ``ufunc.at`` is many times faster in one dimension."""
        strides = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
        selected = np.broadcast(*indices) if len(indices) > 1 else indices[0]
        kept = [a for a in range(len(shape)) if a not in self.axes]
        flat: Any = np.zeros((1,) * (selected.ndim + len(kept)), np.intp)
        for axis, index in zip(self.axes, indices, strict=True):
            n = shape[axis]
            inside = (index >= -n) & (index < n)
            if not np.all(inside):
                wrong = np.extract(~inside, index)[0]
                raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")
            # Of few bits, an index could not hold what is added to it.
            wide = index.astype(np.intp, copy=False)
            position = np.where(wide < 0, wide + n, wide)
            flat = flat + position.reshape(position.shape + (1,) * len(kept)) * strides[axis]
        for k, axis in enumerate(kept):
            flat = flat + (np.arange(shape[axis]) * strides[axis]).reshape((-1,) + (1,) * (len(kept) - k - 1))
        return flat.reshape(-1)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        x, updates, *indices = primals
        x_dot, updates_dot = tangents[:2]
        zero = out.aval.dtype.type(0)
        if self.mode in ("set", "add"):
            if x_dot is None:
                x_dot = broadcast_to(zero, out.aval.shape)
            return out, self.bind(x_dot, zero if updates_dot is None else updates_dot, *indices)
        gather = Gather(self.axes)
        if self.unique:
            return out, self._tangent_of_elements(x, updates, indices, x_dot, updates_dot)
        if aval(updates).ndim == 0:
            selected = self.selected_shape(out.aval, [aval(index) for index in indices])
            updates = broadcast_to(updates, selected)
            updates_dot = None if updates_dot is None else broadcast_to(updates_dot, selected)
        add = Scatter("add", self.axes, self.unique)
        if self.mode == "mul":
            return out, self._product_tangent(x, updates, indices, x_dot, updates_dot)
        mul, equal = primitive_called("mul"), primitive_called("equal")
        cast = primitive_called("cast", out.aval.dtype)
        chosen = cast.bind(equal(x, out))
        winners = cast.bind(equal(updates, gather.bind(out, *indices)))
        count = add.bind(chosen, winners, *indices)
        x_part = broadcast_to(zero, out.aval.shape) if x_dot is None else mul(chosen, x_dot)
        updates_part = zero if updates_dot is None else mul(winners, updates_dot)
        return out, primitive_called("div")(add.bind(x_part, updates_part, *indices), count)

    def _tangent_of_elements(
        self, x: Array, updates: Array, indices: Sequence[Any], x_dot: Array, updates_dot: Array
    ) -> Array:
        """The tangent where every position occurs once: only the elements there are touched."""
        mul, where, equal = (primitive_called(name) for name in ("mul", "where", "equal"))
        gather, dtype = Gather(self.axes), aval(x).dtype
        old = gather.bind(x, *indices)
        updates = broadcast_to(updates, shape_of(old))
        if self.mode == "mul":
            x_share, updates_share = updates, old
        else:
            chosen = primitive_called("maximum" if self.mode == "max" else "minimum")(old, updates)
            tie = where(equal(old, updates), dtype.type(0.5), dtype.type(1))
            x_share = where(equal(chosen, old), tie, dtype.type(0))
            updates_share = where(equal(chosen, updates), tie, dtype.type(0))
        parts = []
        if x_dot is not None:
            parts.append(mul(gather.bind(x_dot, *indices), x_share))
        if updates_dot is not None:
            parts.append(mul(broadcast_to(updates_dot, shape_of(old)), updates_share))
        moved = parts[0] if len(parts) == 1 else primitive_called("add")(*parts)
        base = broadcast_to(dtype.type(0), shape_of(x)) if x_dot is None else x_dot
        return Scatter("set", self.axes, unique=True).bind(base, moved, *indices)

    def _product_tangent(
        self, x: Array, updates: Array, indices: Sequence[Any], x_dot: Array, updates_dot: Array
    ) -> Array:
        """The tangent of a product: for every factor, its tangent times all other factors there.

        The product of the others is what division by the factor leaves, unless a factor is zero: then
        zeros are counted, and left out of the product. What they make of it is zero, but it is written as
        their product, the elementary symmetric polynomial, so that it has derivatives, up to the second.
        """
        mul, div, where = primitive_called("mul"), primitive_called("div"), primitive_called("where")
        sub = primitive_called("sub")
        equal, cast = primitive_called("equal"), primitive_called("cast", aval(updates).dtype)
        dtype = aval(x).dtype
        zero, one = dtype.type(0), dtype.type(1)
        ones = broadcast_to(one, shape_of(x))
        total = None if x_dot is None else mul(x_dot, self.bind(ones, updates, *indices))
        if updates_dot is None:
            return total
        gather, add = Gather(self.axes), Scatter("add", self.axes, self.unique)
        is_zero = equal(updates, zero)
        zeros = gather.bind(add.bind(broadcast_to(zero, shape_of(x)), cast.bind(is_zero), *indices), *indices)
        nonzero = where(is_zero, one, updates)
        product = gather.bind(self.bind(x, nonzero, *indices), *indices)
        void, half = where(is_zero, updates, zero), dtype.type(0.5)
        first, squares = (
            gather.bind(add.bind(broadcast_to(zero, shape_of(x)), part, *indices), *indices)
            for part in (void, mul(void, void))
        )
        rest, rest_squares = sub(first, void), sub(squares, mul(void, void))
        beside = div(product, nonzero)
        others = broadcast_to(zero, shape_of(updates))
        for count, (of_zero, of_others) in enumerate(
            [
                (zero, beside),
                (product, mul(beside, first)),
                (mul(product, rest), mul(beside, mul(sub(mul(first, first), squares), half))),
                (mul(product, mul(sub(mul(rest, rest), rest_squares), half)), zero),
            ]
        ):
            others = where(equal(zeros, dtype.type(count)), where(is_zero, of_zero, of_others), others)
        base = broadcast_to(zero, shape_of(x)) if total is None else total
        return add.bind(base, mul(updates_dot, others), *indices)

    def linear_in(self, flags: Flags) -> bool:
        return self.mode in ("set", "add") and flags[0] and flags[1] and not any(flags[2:])

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, updates, *indices = inputs
        x_bar = updates_bar = None
        if isinstance(updates, Linear):
            selected = Gather(self.axes).bind(cotangent, *indices)
            if self.mode == "set" and not self.unique:
                winners = self.winners(cotangent.aval.shape, indices)
                selected = primitive_called("where")(winners, selected, 0.0)
            updates_bar = summed_to(selected, updates.aval)
        if isinstance(x, Linear):
            x_bar = cotangent
            if self.mode == "set":
                x_bar = self.bind(cotangent, cotangent.aval.dtype.type(0), *indices)
        return x_bar, updates_bar, *[None] * len(indices)

    def winners(self, shape: Shape, indices: Sequence[Any]) -> Array:
        """Whether each update is the last one for its position."""
        selected = self.selected_shape(Aval(shape, np.dtype(np.intp)), [aval(index) for index in indices])
        number = np.arange(math.prod(selected)).reshape(selected)
        last = self.bind(broadcast_to(np.intp(0), shape), number, *indices)
        return primitive_called("equal")(Gather(self.axes).bind(last, *indices), number)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, updates, *indices = inputs
        selected = self._example_shape(inputs, batched)
        if not batched[0]:
            x = broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
        axes = tuple([a + 1 for a in self.axes])
        if batched[1]:
            updates = broadcast(updates, (size, *selected), (0, *range(1, aval(updates).ndim)))
        elif shape_of(updates):
            updates = broadcast_to(updates, (size, *selected))
        if any(batched[2:]):
            indices = batched_indices(size, indices, batched[2:])
            indices = [batch_positions(size, indices), *indices]
            return Scatter(self.mode, (0, *axes), self.unique).bind(x, updates, *indices), True
        rank = index_rank(indices)
        if shape_of(updates):
            updates = permute(updates, (*range(1, rank + 1), 0, *range(rank + 1, aval(updates).ndim)))
        return Scatter(self.mode, axes, self.unique).bind(x, updates, *indices), True

    def _example_shape(self, inputs: Sequence[Any], batched: Flags) -> Shape:
        """The shape of the positions in one example."""
        shapes = [shape_of(x)[1:] if flag else shape_of(x) for x, flag in zip(inputs, batched, strict=True)]
        return np.broadcast_shapes(*shapes[2:]) + self.kept_shape(shapes[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        def params(mode: str, *axes: int, unique: bool = False) -> dict[str, Any]:
            return {"mode": mode, "axes": axes, "unique": unique}

        repeated = fixed(np.array([0, 3, 0, -1]))
        return (
            Sample(normal(4), normal(4), repeated, params=params("add", 0)),
            Sample(normal(4), normal(4), repeated, params=params("set", 0)),
            Sample(normal(5), normal(), fixed(np.array([1, 3])), params=params("set", 0, unique=True)),
            Sample(normal(4), normal(), repeated, params=params("add", 0)),
            Sample(positive(4), positive(4), repeated, params=params("mul", 0)),
            Sample(distinct(4), positive(4), repeated, params=params("max", 0), differentiable=False),
            Sample(positive(4), positive(4), repeated, params=params("max", 0)),
            Sample(positive(4), positive(4), repeated, params=params("min", 0)),
            Sample(normal(5), normal(2), fixed(np.array([1, 3])), params=params("mul", 0, unique=True)),
            Sample(distinct(5), normal(2), fixed(np.array([1, 3])), params=params("max", 0, unique=True)),
            Sample(distinct(5, 3), normal(3), integers(0, 3), params=params("min", 0, unique=True)),
            Sample(normal(3, 4), normal(4, 3), repeated, params=params("add", 1)),
            Sample(
                normal(4, 3, 2),
                normal(3, 5, 3),
                integers(0, 4, 3, 1),
                integers(-2, 2, 5),
                params=params("set", 0, 2),
            ),
            Sample(normal(3, 2), normal(2), integers(0, 3), params=params("add", 0)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        add = {"mode": "add", "axes": (0,), "unique": False}
        return (
            ErrorSample(
                normal(3), normal(3), integers(0, 3, 2), params=add, words="shape (2,)", error=ShapeError
            ),
            ErrorSample(
                normal(3), normal(2), normal(2), params=add, words="must be integers", error=DtypeError
            ),
        )


UFUNCS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def set_unique(out: Array, updates: Array, indices: tuple[Any, ...], mode: str) -> None:
    """Write where no position is repeated, or where the last write wins."""
    out[indices] = updates if mode == "set" else UFUNCS[mode](out[indices], updates)


def index_rank(indices: Sequence[Any]) -> int:
    """The number of axes that the index arrays have together."""
    return max([len(shape_of(index)) for index in indices])


def batch_axis_first(x: Array, axis: int) -> Array:
    """`x` with the batch axis moved from `axis` to the front."""
    return permute(x, (axis, *[a for a in range(len(shape_of(x))) if a != axis]))


def batched_indices(size: int, indices: Sequence[Any], batched: Flags) -> list[Any]:
    """The index arrays at one rank, those that have the batch axis with it in front."""
    rank = max([len(shape_of(x)) - flag for x, flag in zip(indices, batched, strict=True)])

    def aligned(x: Array) -> Array:
        shape = shape_of(x)
        return reshape(x, (size, *[1] * (rank - len(shape) + 1), *shape[1:]))

    return [aligned(x) if flag else x for x, flag in zip(indices, batched, strict=True)]


def batch_positions(size: int, indices: Sequence[Any]) -> Array:
    """The position along the batch axis, to go with index arrays that have it."""
    return numbers_below(size).reshape((size,) + (1,) * (index_rank(indices) - 1))


class Chosen(Primitive):
    """Positions among so many choices; those out of range raise ValueError, and so do negative ones."""

    name = "chosen"
    parameters = ("count",)
    count: int

    def infer(self, *avals: Aval) -> Aval:
        if avals[0].dtype.kind not in "iu":
            raise DtypeError(f"choices are named by integers, got {avals[0]}")
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        if not np.all((values[0] >= 0) & (values[0] < self.count)):
            raise ValueError("invalid entry in choice array")
        return values[0].copy()

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(*inputs), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(integers(0, 3, 4), params={"count": 3}, differentiable=False),
            Sample(integers(0, 3), params={"count": 3}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), words="named by integers", error=DtypeError, params={"count": 3}),)
