"""The operations every other rule needs: cast, broadcast, reshape, permute, sum.

Owns these five primitives and the functions that apply them to tracers and arrays alike. They are
linear, they transpose into each other, and they stand below the pointwise family for that reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape, aval_of
from funcgrad.ir.catalog import CATALOG
from funcgrad.ops.reducing.folds import SUM
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import AnyPrimitive, Array, DTypeLike

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom


def lines_text(shape: Shape, axis: int) -> str:
    """The text that says how the lines along an axis lie in a flat array."""
    return f"{math.prod(shape[:axis])}, {shape[axis]}, {math.prod(shape[axis + 1 :])}"


def aval(x: Array) -> Aval:
    """The aval of a tracer, array or scalar."""
    return x.aval if type(x) is Tracer else aval_of(x)


def shape_of(x: Array) -> Shape:
    """The shape of a tracer, array or scalar."""
    return aval(x).shape


def primitive_called(name: str, *params: object) -> AnyPrimitive:
    """The primitive of that name, for rules that need an operation defined above them."""
    return CATALOG[name](*params)


class LinearUnary(Primitive):
    """One linear input: the tangent goes through the same operation as the value."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """The operation applied to both."""
        return self.bind(primals[0]), self.bind(tangents[0])

    # -- as a lens, for operations whose result NumPy gives as a view (see `funcgrad.tracing.aliasing`) --

    def get(self, base: Array) -> Array:
        """The view of `base`, on a shorter path where it has been taken before."""
        if type(base) is Tracer and base._view is None:
            out = self._inferred.get((base.aval,))
            recorder = base._recorder
            if out is not None and not recorder.closed:
                return recorder.append_typed((self, base._index), out)
        return self.bind(base)

    def put(self, base: Array, part: Array) -> Array:
        """`base` with another view; raises ValueError where NumPy's view is read-only."""
        raise ValueError(f"assignment destination is read-only: it is a {self.name} of another array")


class Cast(LinearUnary):
    """Convert to another dtype; complex to real keeps the real part."""

    name = "cast"
    parameters = ("dtype",)
    kinds: ClassVar[str] = "fc"
    dtype: np.dtype[Any]

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        return Aval(x.shape, self.dtype)

    def evaluate(self, x: Array) -> Array:
        if x.dtype.kind == "c" and self.dtype.kind not in "cb":
            x = x.real
        return x.astype(self.dtype)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        real = ".real" if avals[0].dtype.kind == "c" and self.dtype.kind not in "cb" else ""
        return f"{names[0]}{real}.astype({self.dtype.name!r})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(primals[0])
        return out, (self.bind(tangents[0]) if self.dtype.kind in "fc" else None)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (cast(cotangent, inputs[0].aval.dtype),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        x = inputs[0].aval
        return inputs[0] if x.dtype == self.dtype and not x.weak else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"dtype": np.dtype(np.float64)}),
            Sample(normal(3), params={"dtype": np.dtype(np.complex128)}),
            Sample(normal(), params={"dtype": np.dtype(np.float32)}, differentiable=False),
            Sample(integers(-5, 5, 4), params={"dtype": np.dtype(np.float64)}, differentiable=False),
            Sample(normal(4), params={"dtype": np.dtype(np.int32)}, differentiable=False),
        )


class Broadcast(LinearUnary):
    """Repeat along new axes and along axes of size one.

    ``axes[i]`` is the axis of the result that axis ``i`` of the input becomes.
    """

    name = "broadcast"
    aliases = True
    parameters = ("shape", "axes")
    shape: Shape
    axes: tuple[int, ...]

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        fits = len(self.axes) == x.ndim and all(
            n in (1, self.shape[a]) for n, a in zip(x.shape, self.axes, strict=True)
        )
        if not fits or list(self.axes) != sorted(set(self.axes)):
            raise ShapeError(f"cannot broadcast {x} to shape {self.shape} with axes {self.axes}")
        return x.with_shape(self.shape)

    def _inner_shape(self, shape: Shape) -> Shape:
        inner = [1] * len(self.shape)
        for n, axis in zip(shape, self.axes, strict=True):
            inner[axis] = n
        return tuple(inner)

    def _is_trailing(self) -> bool:
        first = len(self.shape) - len(self.axes)
        return self.axes == tuple(range(first, len(self.shape)))

    def evaluate(self, x: Array) -> Array:
        if not self._is_trailing():
            x = x.reshape(self._inner_shape(x.shape))
        return np.broadcast_to(x, self.shape)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x = names[0]
        if not self._is_trailing():
            x = f"{x}.reshape({self._inner_shape(avals[0].shape)})"
        return f"np.broadcast_to({x}, {self.shape})"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        shape = inputs[0].aval.shape
        kept = {axis for n, axis in zip(shape, self.axes, strict=True) if n == self.shape[axis]}
        summed = reduce_sum(cotangent, tuple(a for a in range(len(self.shape)) if a not in kept))
        return (reshape(summed, shape),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        axes = (0, *(a + 1 for a in self.axes))
        return Broadcast((size, *self.shape), axes).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if inputs[0].aval.shape == self.shape else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(), params={"shape": (2, 3), "axes": ()}),
            Sample(normal(3), params={"shape": (2, 3), "axes": (1,)}),
            Sample(normal(2), params={"shape": (2, 3), "axes": (0,)}),
            Sample(normal(2, 1), params={"shape": (4, 2, 3), "axes": (1, 2)}),
            Sample(normal(1), params={"shape": (0,), "axes": (0,)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(
                normal(3), params={"shape": (2,), "axes": (0,)}, words="cannot broadcast", error=ShapeError
            ),
        )


class Reshape(LinearUnary):
    """The same elements in row-major order, in another shape."""

    name = "reshape"
    aliases = True
    parameters = ("shape",)
    shape: Shape

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        out = x.with_shape(self.shape)
        if out.size != x.size:
            raise ShapeError(f"cannot reshape {x}, {x.size} elements, into shape {self.shape}")
        return out

    def evaluate(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"{names[0]}.reshape({self.shape})"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (reshape(cotangent, inputs[0].aval.shape),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Reshape((size, *self.shape)).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if inputs[0].aval.shape == self.shape else None

    def put(self, base: Array, part: Array) -> Array:
        """The part, in the shape of the base."""
        return reshape(part, shape_of(base))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(2, 3), params={"shape": (6,)}),
            Sample(normal(2, 3), params={"shape": (3, 1, 2)}),
            Sample(normal(), params={"shape": (1, 1)}),
            Sample(normal(0, 3), params={"shape": (0,)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"shape": (2,)}, words="cannot reshape", error=ShapeError),)


class Permute(LinearUnary):
    """Reorder axes: axis ``i`` of the result is axis ``order[i]`` of the input."""

    name = "permute"
    aliases = True
    parameters = ("order",)
    order: tuple[int, ...]

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if sorted(self.order) != list(range(x.ndim)):
            raise ShapeError(f"{self.order} is not an order of the {x.ndim} axes of {x}")
        return x.with_shape(tuple([x.shape[a] for a in self.order]))

    def evaluate(self, x: Array) -> Array:
        return x.transpose(self.order)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        if self.order == (1, 0):
            return f"{names[0]}.T"
        return f"{names[0]}.transpose({self.order})"

    @property
    def inverse(self) -> tuple[int, ...]:
        """The order that undoes this one."""
        return tuple(sorted(range(len(self.order)), key=self.order.__getitem__))

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (permute(cotangent, self.inverse),)

    def put(self, base: Array, part: Array) -> Array:
        """The part, in the order of the base."""
        return permute(part, self.inverse)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Permute((0, *(a + 1 for a in self.order))).bind(inputs[0]), True

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if self.order == tuple(range(len(self.order))) else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(2, 3), params={"order": (1, 0)}),
            Sample(normal(2, 3, 4), params={"order": (2, 0, 1)}),
            Sample(normal(), params={"order": ()}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"order": (1,)}, words="not an order", error=ShapeError),)


class Reduction(Primitive):
    """Combines elements along ``axes``, which disappear from the result."""

    parameters = ("axes",)
    axes: tuple[int, ...]
    kinds: ClassVar[str] = "fc"

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(self.cost * inputs[0].size)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return type(self)(tuple(a + 1 for a in self.axes)).bind(*inputs), True

    def keepdims(self, x: Array, like: Array) -> Array:
        """The reduced `x` with its lost axes back, at the full shape of `like`."""
        kept = tuple(a for a in range(len(shape_of(like))) if a not in self.axes)
        return broadcast(x, shape_of(like), kept)


class ReduceSum(Reduction, LinearUnary):
    """Sum over axes, which disappear from the result. Booleans are refused: cast them first."""

    name = "reduce_sum"
    fold = SUM

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if x.dtype.kind == "b":
            raise DtypeError(f"reduce_sum of {x}: cast booleans to integers first")
        return Aval(reduced_shape(x, self.axes), x.dtype)

    def evaluate(self, x: Array) -> Array:
        if self._sums_long_columns(x.shape, x.dtype):
            kept = [a for a in range(x.ndim) if a not in self.axes]
            first = x.transpose((*self.axes, *kept))
            if first.flags.c_contiguous:
                rows = np.ones(math.prod([x.shape[a] for a in self.axes]), x.dtype)
                with np.errstate(invalid="ignore"):
                    return (rows @ first.reshape((len(rows), -1))).reshape([x.shape[a] for a in kept])
        return np.add.reduce(x, axis=self.axes, dtype=x.dtype)

    def _sums_long_columns(self, shape: Shape, dtype: np.dtype[Any]) -> bool:
        """Whether it sums many short rows, as for the derivative of a bias: BLAS is 5 to 20 times faster."""
        if not self.axes or dtype.char not in "fd" or math.prod(shape) < 4096:
            return False
        return 1 < math.prod([n for a, n in enumerate(shape) if a not in self.axes]) <= 64

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x = avals[0]
        dtype = f", dtype={x.dtype.name!r}" if x.dtype.kind in "iu" else ""
        if len(self.axes) == x.ndim:
            return f"np.sum({names[0]}{dtype})"
        axis = self.axes[0] if len(self.axes) == 1 else self.axes
        return f"np.sum({names[0]}, axis={axis}{dtype})"

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        # `np.sum` takes three times as long on a small array.
        x = avals[0]
        if self._sums_long_columns(x.shape, x.dtype):
            return None
        axis = None if len(self.axes) == x.ndim else self.axes[0] if len(self.axes) == 1 else self.axes
        dtype = f", {x.dtype.name!r}" if x.dtype.kind in "iu" else ""
        return f"np.add.reduce({names[0]}, {axis}{dtype})"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        shape = inputs[0].aval.shape
        kept = tuple(a for a in range(len(shape)) if a not in self.axes)
        return (broadcast(cotangent, shape, kept),)

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        return inputs[0] if not self.axes else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 4), params={"axes": (0,)}),
            Sample(normal(3, 4), params={"axes": (0, 1)}),
            Sample(normal(2, 3, 4), params={"axes": (1,)}),
            Sample(normal(0, 3), params={"axes": (0,)}),
            Sample(integers(-3, 3, 5, dtype=np.int8), params={"axes": (0,)}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3), params={"axes": (1,)}, words="axes", error=ShapeError),)


def real_products(x: Aval) -> int:
    """How many products of real numbers one of elements of this type takes."""
    return 4 if x.dtype.kind == "c" else 1


def reduced_shape(x: Aval, axes: tuple[int, ...]) -> Shape:
    """The shape left when `axes` are gone; raises ShapeError for axes that are not there."""
    if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes):
        raise ShapeError(f"axes {axes} are not distinct axes of {x}")
    return tuple([n for a, n in enumerate(x.shape) if a not in axes])


def cast(x: Array, dtype: DTypeLike) -> Array:
    """`x` in another dtype; `x` itself where it has it already."""
    dtype = np.dtype(dtype)
    seen = aval(x)
    if seen.dtype == dtype and not seen.weak:
        return x
    if type(x) is not Tracer:
        return Cast(dtype).evaluate(x if isinstance(x, np.ndarray | np.generic) else np.asarray(x)[()])
    if dtype.kind in "fiub" and seen.dtype.kind == "c":
        return Cast(dtype).bind(primitive_called("real")(x)) if dtype.kind != "b" else Cast(dtype).bind(x)
    return Cast(dtype).bind(x)


def broadcast(x: Array, shape: Shape, axes: tuple[int, ...]) -> Array:
    """`x` with its axes at `axes` of the larger `shape`; `x` itself where nothing changes."""
    if shape_of(x) == shape:
        return x
    return Broadcast(shape, axes).bind(x)


def broadcast_to(x: Array, shape: Shape) -> Array:
    """NumPy's broadcasting of `x` to `shape`: its axes are the last ones."""
    seen = shape_of(x)
    return x if seen == shape else Broadcast(shape, tuple(range(len(shape) - len(seen), len(shape)))).bind(x)


def reshape(x: Array, shape: Shape) -> Array:
    """`x` in another shape; `x` itself where it has it already."""
    return x if shape_of(x) == shape else Reshape(shape).bind(x)


def permute(x: Array, order: tuple[int, ...]) -> Array:
    """`x` with its axes in another order; `x` itself where the order is the same."""
    return x if order == tuple(range(len(order))) else Permute(order).bind(x)


def reduce_sum(x: Array, axes: tuple[int, ...]) -> Array:
    """The sum over `axes`; `x` itself where there are none."""
    return ReduceSum(axes).bind(x) if axes else x


def move_axis(x: Array, source: int, target: int) -> Array:
    """`x` with one axis moved, as `np.moveaxis`."""
    order = [a for a in range(len(shape_of(x))) if a != source]
    order.insert(target, source)
    return permute(x, tuple(order))


def zeros_beside(x: Tracer, shape: tuple[int, ...], dtype: np.dtype[Any] | None = None) -> Array:
    """Zeros of the dtype of `x`, or another, recorded in its trace: an array made here it would capture."""
    recorder = x._recorder
    dtype = x.aval.dtype if dtype is None else dtype
    zero = Tracer(recorder, recorder.literal(0, dtype), Aval((), dtype, True))
    return broadcast(zero, shape, ())
