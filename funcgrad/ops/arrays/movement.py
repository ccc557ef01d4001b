"""Movement: flip, concatenate and stack, the operations that put elements elsewhere.

Broadcasting, reshaping and reordering axes stand in `structure`, regular parts in `slicing`, arbitrary
positions in `indexing`. Everything else that moves elements is composed of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import LinearUnary, aval, broadcast, broadcast_to, shape_of
from funcgrad.ops.families import listed
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal
from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom


class Flip(LinearUnary):
    """The elements in reverse order along ``axes``."""

    name = "flip"
    parameters = ("axes",)
    aliases = True
    axes: tuple[int, ...]

    def infer(self, *avals: Aval) -> Aval:
        x = avals[0]
        if any(not 0 <= a < x.ndim for a in self.axes) or len(set(self.axes)) != len(self.axes):
            raise ShapeError(f"axes {self.axes} are not distinct axes of {x}")
        return x

    def evaluate(self, *values: Array) -> Array:
        return np.flip(values[0], self.axes)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.flip({names[0]}, {self.axes if len(self.axes) != 1 else self.axes[0]})"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (self.bind(cotangent),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Flip(tuple([a + 1 for a in self.axes])).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if all(inputs[0].aval.shape[a] <= 1 for a in self.axes) else None

    def put(self, base: Array, part: Array) -> Array:
        """The base that has `part` for its flip."""
        return self.bind(part)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(4), params={"axes": (0,)}),
            Sample(normal(2, 3), params={"axes": (0, 1)}),
            Sample(normal(), params={"axes": ()}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axes": (1,)}, words="not distinct axes", error=ShapeError),)


class Joined(Primitive):
    """Any number of inputs of one dtype, side by side along ``axis``."""

    parameters = ("axis",)
    kinds: ClassVar[str] = "fc"
    axis: int

    def parts(self, avals: Sequence[Aval]) -> list[Slice]:
        """How to read each input out of the result."""
        raise NotImplementedError(f"{self.name}: parts")

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        zero = out.aval.dtype.type(0)
        dots = [
            broadcast_to(zero, shape_of(x)) if dot is None else dot
            for x, dot in zip(primals, tangents, strict=True)
        ]
        return out, self.bind(*dots)

    def linear_in(self, flags: Flags) -> bool:
        return all(flags)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        avals = [x.aval if isinstance(x, Linear) else aval(x) for x in inputs]
        return tuple(
            part.get(cotangent) if isinstance(x, Linear) else None
            for part, x in zip(self.parts(avals), inputs, strict=True)
        )

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        full = [
            x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
            for x, flag in zip(inputs, batched, strict=True)
        ]
        return type(self)(self.axis + 1).bind(*full), True

    def check_operands(self, avals: Sequence[Aval]) -> None:
        """Raise unless there are inputs, of one dtype."""
        if not avals:
            raise ShapeError(f"{self.name} needs at least one array")
        if any(x.dtype != avals[0].dtype for x in avals):
            raise DtypeError(f"{self.name} of {listed(avals)}: operands must be cast to one dtype first")


class Concatenate(Joined):
    """Arrays that agree in all other axes, one after the other along ``axis``."""

    name = "concatenate"

    def infer(self, *avals: Aval) -> Aval:
        self.check_operands(avals)
        first = avals[0]
        if not 0 <= self.axis < first.ndim:
            raise ShapeError(f"concatenate: {first} has no axis {self.axis}")
        for x in avals:
            if x is not first and self._others(x.shape) != self._others(first.shape):
                raise ShapeError(
                    f"concatenate of {listed(avals)} along axis {self.axis}: all other axes must agree"
                )
        shape = list(first.shape)
        shape[self.axis] = sum([x.shape[self.axis] for x in avals])
        return Aval(tuple(shape), first.dtype)

    def _others(self, shape: Shape) -> tuple[Shape, Shape]:
        return shape[: self.axis], shape[self.axis + 1 :]

    def evaluate(self, *values: Array) -> Array:
        return np.concatenate(values, self.axis)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.concatenate([{', '.join(names)}]{f', {self.axis}' if self.axis else ''})"

    def parts(self, avals: Sequence[Aval]) -> list[Slice]:
        found = []
        start = 0
        for x in avals:
            spans = [(0, n, 1) for n in x.shape]
            spans[self.axis] = (start, x.shape[self.axis], 1)
            found.append(Slice(tuple(spans)))
            start += x.shape[self.axis]
        return found

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if len(inputs) == 1 else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(2), normal(3), params={"axis": 0}),
            Sample(normal(2, 3), normal(2, 1), normal(2, 0), params={"axis": 1}),
            Sample(normal(3), params={"axis": 0}),
            Sample(integers(0, 5, 3), integers(0, 5, 2), params={"axis": 0}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(2, 3), normal(3, 2), params={"axis": 0}, words="must agree", error=ShapeError),
            ErrorSample(normal(), params={"axis": 0}, words="no axis", error=ShapeError),
        )


class Stack(Joined):
    """Arrays of one shape along a new axis; scalars are the common case."""

    name = "stack"

    def infer(self, *avals: Aval) -> Aval:
        self.check_operands(avals)
        first = avals[0]
        if any(x.shape != first.shape for x in avals):
            raise ShapeError(f"stack of {listed(avals)}: all shapes must be equal")
        if not 0 <= self.axis <= first.ndim:
            raise ShapeError(f"stack of {first} has no axis {self.axis}")
        return Aval((*first.shape[: self.axis], len(avals), *first.shape[self.axis :]), first.dtype)

    def evaluate(self, *values: Array) -> Array:
        return np.stack(values, self.axis) if values[0].ndim else np.array(values)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.stack([{', '.join(names)}]{f', {self.axis}' if self.axis else ''})"

    def parts(self, avals: Sequence[Aval]) -> list[Slice]:
        spans = [(0, n, 1) for n in avals[0].shape]
        return [Slice((*spans[: self.axis], k, *spans[self.axis :])) for k in range(len(avals))]

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(), normal(), normal(), params={"axis": 0}),
            Sample(normal(2, 3), normal(2, 3), params={"axis": 1}),
            Sample(normal(0), params={"axis": 1}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 0}
        return (ErrorSample(normal(2), normal(3), params=params, words="must be equal", error=ShapeError),)


def flip(x: Array, axes: tuple[int, ...]) -> Array:
    """`x` reversed along `axes`; `x` itself where there are none."""
    return Flip(axes).bind(x) if axes else x


def concatenate(arrays: Sequence[Any], axis: int) -> Array:
    """Arrays of one dtype along `axis`; the only one itself."""
    return arrays[0] if len(arrays) == 1 else Concatenate(axis).bind(*arrays)


def stack(arrays: Sequence[Any], axis: int) -> Array:
    """Arrays of one dtype and shape along a new axis."""
    return Stack(axis).bind(*arrays)


def take_axis(x: Array, axis: int, index: int) -> Array:
    """One element along `axis`, which disappears."""
    shape = shape_of(x)
    return Slice((*[(0, n, 1) for n in shape[:axis]], index, *[(0, n, 1) for n in shape[axis + 1 :]])).bind(x)


def take_span(x: Array, axis: int, start: int, size: int, step: int = 1) -> Array:
    """Evenly spaced elements along `axis`; `x` itself where these are all."""
    spans = [(0, n, 1) for n in shape_of(x)]
    spans[axis] = (start, size, step)
    return Slice(tuple(spans)).get(x)
