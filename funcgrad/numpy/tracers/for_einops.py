"""The backends by which einops works on traced arrays and on the tensors of `funcgrad.torch`.

Imported when a trace begins, or a tensor is made, in a process that has imported einops, which finds the
classes among those derived from its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike

if TYPE_CHECKING:
    AbstractBackend = object
else:
    AbstractBackend = import_module("einops._backends").AbstractBackend


class TracerBackend(AbstractBackend):
    """What einops needs to do to a traced array, by NumPy's functions."""

    framework_name = "funcgrad"

    def is_appropriate_type(self, tensor: object) -> bool:
        """Whether `tensor` is a traced array."""
        return isinstance(tensor, Tracer)

    def from_numpy(self, x: ArrayLike) -> Array:
        """An array as an operand."""
        return x

    def to_numpy(self, x: ArrayLike) -> Array:
        """The value of a traced array, if it has one."""
        return np.asarray(x)

    def arange(self, start: int, stop: int) -> Array:
        """The integers of a range."""
        return np.arange(start, stop)

    def reduce(self, x: ArrayLike, operation: str, axes: Sequence[int]) -> Array:
        """A reduction by the name of the function."""
        return getattr(np, operation)(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Array:
        """The arrays, stacked along a new first axis."""
        return np.stack(tensors)

    def add_axis(self, x: ArrayLike, new_position: int) -> Array:
        """The array with a new axis of size one."""
        return np.expand_dims(x, new_position)

    def add_axes(self, x: ArrayLike, n_axes: int, pos2len: Mapping[int, int]) -> Array:
        """The array repeated along new axes, given by their places and lengths."""
        for position in sorted(pos2len):
            x = np.expand_dims(x, position)
        return np.broadcast_to(x, tuple([pos2len.get(k, n) for k, n in enumerate(x.shape)]))

    def tile(self, x: ArrayLike, repeats: Sequence[int]) -> Array:
        """The array repeated along its axes."""
        return np.tile(x, tuple(repeats))

    def concat(self, tensors: Sequence[Any], axis: int) -> Array:
        """The arrays, joined along an axis."""
        return np.concatenate(tensors, axis=axis)

    def is_float_type(self, x: ArrayLike) -> bool:
        """Whether the array can be averaged."""
        return bool(x.dtype.kind in "fc")

    def einsum(self, pattern: str, *x: ArrayLike) -> Array:
        """The sum of products that the pattern names."""
        return np.einsum(pattern, *x)


class TensorBackend(TracerBackend):
    """The same for the tensors of `funcgrad.torch`, by its functions."""

    framework_name = "funcgrad.torch"

    def __init__(self) -> None:
        self.torch: Any = import_module("funcgrad.torch")

    def is_appropriate_type(self, tensor: object) -> bool:
        """Whether `tensor` is a tensor of the facade."""
        return isinstance(tensor, self.torch.Tensor)

    def from_numpy(self, x: ArrayLike) -> Array:
        """A tensor with the elements of an array."""
        return self.torch.from_numpy(x)

    def to_numpy(self, x: ArrayLike) -> Array:
        """The elements of a tensor."""
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Array:
        """The integers of a range."""
        return self.torch.arange(start, stop)

    def transpose(self, x: ArrayLike, axes: Sequence[int]) -> Array:
        """The axes in another order."""
        return x.permute(tuple(axes))

    def reduce(self, x: ArrayLike, operation: str, axes: Sequence[int]) -> Array:
        """A reduction by the name of the function."""
        if operation in ("sum", "mean"):
            return getattr(x, operation)(dim=tuple(axes))
        if operation in ("min", "max"):
            return getattr(x, f"a{operation}")(dim=tuple(axes))
        for axis in sorted(axes, reverse=True):
            x = getattr(x, operation)(dim=axis)
        return x

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Array:
        """The tensors, stacked along a new first axis."""
        return self.torch.stack(tuple(tensors))

    def add_axis(self, x: ArrayLike, new_position: int) -> Array:
        """The tensor with a new axis of size one."""
        return self.torch.unsqueeze(x, new_position)

    def add_axes(self, x: ArrayLike, n_axes: int, pos2len: Mapping[int, int]) -> Array:
        """The tensor repeated along new axes, given by their places and lengths."""
        for position in sorted(pos2len):
            x = self.torch.unsqueeze(x, position)
        return x.expand([pos2len.get(k, -1) for k in range(n_axes)])

    def tile(self, x: ArrayLike, repeats: Sequence[int]) -> Array:
        """The tensor repeated along its axes."""
        return x.repeat(tuple(repeats))

    def concat(self, tensors: Sequence[Any], axis: int) -> Array:
        """The tensors, joined along an axis."""
        return self.torch.cat(tuple(tensors), dim=axis)

    def is_float_type(self, x: ArrayLike) -> bool:
        """Whether the tensor can be averaged."""
        return bool(x.is_floating_point())

    def einsum(self, pattern: str, *x: ArrayLike) -> Array:
        """The sum of products that the pattern names."""
        return self.torch.einsum(pattern, *x)
