"""Tensors on the `meta` device: a shape and a dtype, no memory, and every operation gives another such.

Their value is a traced array, so each shape and each dtype is that of the same operation on numbers; but the
trace remembers nothing, and each result begins one of its own. Where a number is wanted it refuses in
PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from funcgrad.errors import FuncgradError
from funcgrad.extend import Aval, Tracer, introduce
from funcgrad.source import user_location
from funcgrad.tracing.recorded import NO_VALUE
from funcgrad.tracing.recorder import NOWHERE, Recorder, located
from funcgrad.types import AnyPrimitive, Anything, Array, ArrayLike, Arrays, DTypeLike, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.core.tensor import Tensor

NO_DATA = "Cannot copy out of meta tensor; no data!"


class NoMemory(Recorder):
    """The trace of one meta tensor: an input without a value, below every trace that somebody opens."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("a tensor on meta", location=NOWHERE)
        self.level, self.derivatives, self.copied = -1, 0, None

    def result(self, aval: Aval) -> Tracer:
        """A new array of this kind."""
        return NoMemory().input(aval)

    def append(self, primitive: AnyPrimitive, step: tuple[Any, ...]) -> Arrays:
        """The results of an operation, each in a trace of its own."""
        try:
            out = primitive.inferred(tuple([self.avals[i] for i in step[1:]]))
        except FuncgradError as error:
            raise located(error, user_location(2)) from None
        return self.result(out) if type(out) is Aval else tuple([self.result(aval) for aval in out])

    def append_typed(self, step: tuple[Any, ...], out: Aval, depth: int = 2) -> Tracer:
        """The result of an operation, in a trace of its own."""
        return self.result(out)

    def literal_typed(self, value: object, aval: Aval) -> int:
        """The index of a number, the same for equal ones: operations on one array may be many."""
        key = "number", value, aval
        index = self._captured.get(key)
        if index is None:
            index = self._captured[key] = super().literal_typed(value, aval)
        return index

    def _capture_tracer(self, x: Tracer) -> int:
        if not is_shape_only(x):
            return super()._capture_tracer(x)
        index = self._captured.get(x.aval)
        if index is None:
            index = self._captured[x.aval] = self._operand(x.aval, NO_VALUE, False)
        return index

    def require_value(self, x: Tracer) -> None:
        """Raise the refusal."""
        raise NotImplementedError(NO_DATA)

    def note_moved(self, x: Tracer) -> None:
        """Nothing: an array that is written is another from then on, here as outside."""

    def value_of(self, index: int) -> Array:
        """Raise the refusal, whatever was written there."""
        raise NotImplementedError(NO_DATA)

    def why_unknown(self, index: int) -> str:
        """Why there is no value."""
        return "it has only a shape"

    def record(self, primitive: AnyPrimitive, inputs: Sequence[Any]) -> Arrays:
        """The results of an operation on such arrays and values."""
        return self.append(primitive, (primitive, *[self.index_of(x) for x in inputs]))


def is_shape_only(x: Anything) -> bool:
    """Whether a value is one of a meta tensor."""
    return type(x) is Tracer and type(x._recorder) is NoMemory


def meta_array(shape: ShapeLike, dtype: DTypeLike) -> Array:
    """What stands for the value of a meta tensor of this shape and NumPy dtype."""
    introduce()
    return NoMemory().input(Aval(tuple(shape), dtype))


def on_meta(value: ArrayLike) -> Array:
    """The value as one of a meta tensor."""
    return value if is_shape_only(value) else meta_array(value.shape, value.dtype)


def is_meta(t: Tensor) -> bool:
    """Whether a tensor is on the `meta` device."""
    return is_shape_only(t._value)


def require_one_device(values: Iterable[Any]) -> None:
    """Raise RuntimeError where arrays of the CPU meet those of meta tensors; numbers of rank 0 may."""
    first = ""
    for x in values:
        if not getattr(x, "shape", ()):
            continue
        found = "meta" if is_shape_only(x) else "cpu"
        first = first or found
        if found != first:
            raise RuntimeError(f"Tensor on device {found} is not on the expected device {first}!")


def require_device(out: Anything, values: Iterable[Any]) -> None:
    """`require_one_device`, after an operation that gave a traced result: the others need no look."""
    if type(out[0] if type(out) is tuple and out else out) is Tracer:
        require_one_device(values)
