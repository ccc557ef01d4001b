"""Basic indexing: reading a regular part of an array, and writing one.

An *index* has one entry for every axis of the array: an int, and the axis disappears from the part, or
a span ``(start, size, step)`` with a step that is not 0. Entries are never negative except the step. The
four operations read a part, place it in zeros, replace it and add to it; they transpose into each other.
Knows nothing of what users write between brackets: `funcgrad.numpy.picking.indexing` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, IndexingError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.later import Later
from funcgrad.ops.arrays.structure import LinearUnary, aval, broadcast, broadcast_to, shape_of
from funcgrad.ops.families import summed_to
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom

# Where a Program is written as source.
spelled = Later("funcgrad.ir.text.numpy_source")

Span = tuple[int, int, int]
Index = tuple[int | Span, ...]


class Sliced(Primitive):
    """What the four operations share: the index, as parameter and as NumPy writes it."""

    index: Index

    @once
    def part_shape(self) -> Shape:
        """The shape of the part that the index selects."""
        return tuple([entry[1] for entry in self.index if isinstance(entry, tuple)])

    @once
    def numpy_index(self) -> tuple[Any, ...]:
        """The index as ints and slices."""
        return tuple([slice(*bounds(entry)) if isinstance(entry, tuple) else entry for entry in self.index])

    @once
    def index_source(self) -> str:
        """The index as one writes it between brackets."""
        return ", ".join(
            [span_source(entry) if isinstance(entry, tuple) else str(entry) for entry in self.index]
        )

    def written(self, target: str, part: str, sign: str = "=") -> str:
        """The statement that writes a part of `target`."""
        return f"{target}[{self.index_source}] {sign} {part}"

    def batched_index(self, size: int) -> Index:
        """The index below a new first axis."""
        return ((0, size, 1), *self.index)

    def check_index(self, x: Aval) -> None:
        """Raise IndexingError unless the index lies inside `x`."""
        if len(self.index) != x.ndim:
            raise IndexingError(f"an index of {len(self.index)} entries does not fit {x}")
        for axis, (entry, n) in enumerate(zip(self.index, x.shape, strict=True)):
            first, size, step = entry if isinstance(entry, tuple) else (entry, 1, 1)
            last = first + (size - 1) * step
            if step == 0 or size < 0 or (size and not (0 <= first < n and 0 <= last < n)):
                raise IndexingError(f"index {entry} is out of bounds for axis {axis} of {x}")

    def check_part(self, x: Aval, part: Aval, *, scalars: bool) -> None:
        """Raise unless `part` can stand at the index of `x`."""
        self.check_index(x)
        if part.shape != self.part_shape and not (scalars and not part.shape):
            raise ShapeError(f"{self.name}: a part {part} does not fit index [{self.index_source}] of {x}")
        if part.dtype != x.dtype:
            raise DtypeError(f"{self.name}: a part {part} must be cast to the dtype of {x} first")


def bounds(span: Span) -> tuple[int, int | None, int]:
    """The span as start, stop and step of a Python slice."""
    start, size, step = span
    if size == 0:
        return 0, 0, 1
    stop = start + (size - 1) * step + (1 if step > 0 else -1)
    return start, None if stop < 0 else stop, step


def span_source(span: Span) -> str:
    """The span as one writes it: ``1:4``, ``5::-1``."""
    start, stop, step = bounds(span)
    first = start if start or step < 0 else ""
    return f"{first}:{'' if stop is None else stop}" + ("" if step == 1 else f":{step}")


class Slice(Sliced, LinearUnary):
    """The part of an array at an index."""

    name = "slice"
    parameters = ("index",)
    selects = True

    @property
    def aliases(self) -> bool:  # type: ignore[override] # a constant of every instance
        """Whether the part is an array; NumPy reads a single element as a new scalar."""
        return any(type(entry) is tuple for entry in self.index)

    def infer(self, *avals: Aval) -> Aval:
        self.check_index(avals[0])
        return avals[0].with_shape(self.part_shape)

    def evaluate(self, *values: Array) -> Array:
        return values[0][self.numpy_index]

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"{names[0]}[{self.index_source}]"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (Pad(inputs[0].aval.shape, self.index).bind(cotangent),)

    def transpose_into(self, total: Array, cotangent: Array, *inputs: Array) -> Array:
        """The cotangent of the input added to what has reached it before, without an array of zeros."""
        return AddToSlice(self.index).bind(total, cotangent)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Slice(self.batched_index(size)).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if is_whole(self.index, inputs[0].aval.shape) else None

    get_part = LinearUnary.get

    def get(self, base: Array) -> Array:
        """The part of the base."""
        return base if is_whole(self.index, shape_of(base)) else self.get_part(base)

    def put(self, base: Array, part: Array) -> Array:
        """The base with another part."""
        return part if is_whole(self.index, shape_of(base)) else self.updating.bind(base, part)

    @once
    def updating(self) -> UpdateSlice:
        """What writes the part that this reads."""
        update: UpdateSlice = UpdateSlice(self.index)
        return update

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), params={"index": ((1, 3, 1),)}),
            Sample(normal(5), params={"index": ((4, 3, -2),)}),
            Sample(normal(2), params={"index": ((0, 1, -1),)}),
            Sample(normal(5), params={"index": (2,)}),
            Sample(normal(4, 3), params={"index": ((0, 2, 2), 1)}),
            Sample(normal(3, 4), params={"index": ((0, 0, 1), (3, 4, -1))}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        beyond = (3,), ((1, 3, 1),), ((1, 3, -1),)
        return (
            *(
                ErrorSample(normal(3), params={"index": i}, words="out of bounds", error=IndexingError)
                for i in beyond
            ),
            ErrorSample(normal(3), params={"index": (0, 0)}, words="does not fit", error=IndexingError),
        )


class Pad(Sliced, LinearUnary):
    """The input at an index of an array of zeros."""

    name = "pad"
    parameters = ("shape", "index")
    shape: Shape

    def infer(self, *avals: Aval) -> Aval:
        out = avals[0].with_shape(self.shape)
        self.check_part(out, avals[0], scalars=False)
        return out

    def evaluate(self, *values: Array) -> Array:
        out = np.zeros(self.shape, values[0].dtype)
        out[self.numpy_index] = values[0]
        return out

    def statements(self, target: str, names: Sequence[str], avals: Sequence[Aval]) -> list[str] | None:
        shape = str(self.shape[0]) if len(self.shape) == 1 else str(self.shape)
        dtype = avals[0].dtype
        made = shape if dtype == np.float64 else f"{shape}, {spelled.scalar_type(dtype)}"
        return [f"{target} = np.zeros({made})", self.written(target, names[0])] if self.index else None

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (Slice(self.index).bind(cotangent),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Pad((size, *self.shape), self.batched_index(size)).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if is_whole(self.index, self.shape) else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3), params={"shape": (5,), "index": ((1, 3, 1),)}),
            Sample(normal(), params={"shape": (2, 3), "index": (1, 2)}),
            Sample(normal(2), params={"shape": (4, 3), "index": ((3, 2, -2), 1)}),
            Sample(normal(0), params={"shape": (2,), "index": ((0, 0, 1),)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"shape": (5,), "index": ((1, 2, 1),)}
        return (ErrorSample(normal(3), params=params, words="does not fit", error=ShapeError),)


class UpdateSlice(Sliced):
    """``x`` with the part at an index replaced by an array, or by a scalar everywhere."""

    name = "update_slice"
    parameters = ("index",)
    selects = True
    overwrites = True
    kinds: ClassVar[str] = "fc"

    def infer(self, *avals: Aval) -> Aval:
        x, part = avals
        self.check_part(x, part, scalars=True)
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        return self.evaluate_over(values[0].copy(), values[1])

    def evaluate_over(self, *values: Array) -> Array:
        """As `evaluate`, in the memory of the first value."""
        x, part = values
        x[self.numpy_index] = part
        return x

    def statements(self, target: str, names: Sequence[str], avals: Sequence[Aval]) -> list[str] | None:
        copied = f"{target} = {names[0]}.copy()"
        return [copied, self.written(target, names[1])] if self.index else None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        x_dot, part_dot = tangents
        if x_dot is None:
            return out, Pad(out.aval.shape, self.index).bind(broadcast_to(part_dot, self.part_shape))
        return out, self.bind(x_dot, out.aval.dtype.type(0) if part_dot is None else part_dot)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, part = inputs
        x_bar = part_bar = None
        if isinstance(part, Linear):
            part_bar = summed_to(Slice(self.index).get(cotangent), part.aval)
        if isinstance(x, Linear):
            x_bar = self.bind(cotangent, cotangent.aval.dtype.type(0))
        return x_bar, part_bar

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, part = batched_pair(size, inputs, batched, self.part_shape)
        return type(self)(self.batched_index(size)).bind(x, part), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), normal(3), params={"index": ((1, 3, 1),)}),
            Sample(normal(5), normal(), params={"index": ((4, 3, -2),)}),
            Sample(normal(5), normal(), params={"index": (2,)}),
            Sample(normal(4, 3), normal(2), params={"index": ((0, 2, 2), 1)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"index": ((0, 3, 1),)}
        return (ErrorSample(normal(5), normal(2), params=params, words="does not fit", error=ShapeError),)


class AddToSlice(Sliced):
    """``x`` with an array added to the part at an index."""

    name = "add_to_slice"
    parameters = ("index",)
    overwrites = True
    kinds: ClassVar[str] = "fc"

    def infer(self, *avals: Aval) -> Aval:
        x, part = avals
        self.check_part(x, part, scalars=False)
        return x.strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(inputs[1].size)

    def evaluate(self, *values: Array) -> Array:
        return self.evaluate_over(values[0].copy(), values[1])

    def evaluate_over(self, *values: Array) -> Array:
        """As `evaluate`, in the memory of the first value."""
        x, part = values
        x[self.numpy_index] += part
        return x

    def statements(self, target: str, names: Sequence[str], avals: Sequence[Aval]) -> list[str] | None:
        copied = f"{target} = {names[0]}.copy()"
        return [copied, self.written(target, names[1], "+=")] if self.index else None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        x_dot, part_dot = tangents
        if part_dot is None:
            return out, x_dot
        if x_dot is None:
            return out, Pad(out.aval.shape, self.index).bind(part_dot)
        return out, self.bind(x_dot, part_dot)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, part = inputs
        part_bar = Slice(self.index).get(cotangent) if isinstance(part, Linear) else None
        return (cotangent if isinstance(x, Linear) else None), part_bar

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, part = batched_pair(size, inputs, batched, self.part_shape)
        return type(self)(self.batched_index(size)).bind(x, part), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), normal(3), params={"index": ((1, 3, 1),)}),
            Sample(normal(5), normal(), params={"index": (2,)}),
            Sample(normal(4, 3), normal(2), params={"index": ((3, 2, -2), 1)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"index": ((0, 3, 1),)}
        return (ErrorSample(normal(5), normal(), params=params, words="does not fit", error=ShapeError),)


def batched_pair(size: int, inputs: Sequence[Any], batched: Flags, part_shape: Shape) -> tuple[Any, Any]:
    """An array and its part, both with the batch axis; a scalar part that has none stays a scalar."""
    x, part = inputs
    if not batched[0]:
        shape = shape_of(x)
        x = broadcast(x, (size, *shape), tuple(range(1, len(shape) + 1)))
    if batched[1]:
        part = broadcast(part, (size, *part_shape), (0, *range(1, aval(part).ndim)))
    elif shape_of(part) or not part_shape:
        part = broadcast_to(part, (size, *part_shape))
    return x, part


def whole_index(shape: Shape) -> Index:
    """The index that selects every element of an array of `shape`, in order."""
    return tuple([(0, n, 1) for n in shape])


def is_whole(index: Index, shape: Shape) -> bool:
    """Whether the index selects every element of an array of `shape`, in order."""
    return index == whole_index(shape)
