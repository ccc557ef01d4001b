"""Layers that learn the size of their input from the first one.

Their parameters are there from the beginning, without memory, so that an optimiser may hold them; the first
call makes the layer that they stand for, gives them its memory, and changes the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.nn.layers import convolution, linear, normalization
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import UninitializedParameter
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]


class Lazy(Module):
    """What lazy layers share."""

    cls_to_become: ClassVar[Any]
    channels_at: ClassVar[int | None] = None
    """The dimension of the input whose size is learnt; None for the one before the spatial dimensions."""
    defaults: ClassVar[dict[str, Any]] = {}
    """Options whose defaults differ from those of the layer."""

    def __init__(self, *args: Operand, **kwargs: Anything) -> None:
        super().__init__()
        kwargs = {**dict(list(self.defaults.items())[max(len(args) - 2, 0) :]), **kwargs}
        self._given = (args, kwargs)
        self._probe = FUNCTIONS["empty"](0, dtype=kwargs.get("dtype"))
        wants = (args[2] if len(args) > 2 else kwargs["affine"]) if self.defaults else True
        for name in ("weight", "bias"):
            if wants and not (name == "bias" and kwargs.get("bias", True) is False):
                self.register_parameter(name, UninitializedParameter(dtype=self._probe.dtype))
            else:
                self.register_parameter(name, None)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Anything:
        self._probe = fn(self._probe)
        return super()._apply(fn, recurse)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Operand) -> None:
        # What is loaded says how large it is.
        for name, held in self._parameters.items():
            given = state_dict.get(prefix + name)
            if isinstance(held, UninitializedParameter) and given is not None:
                held.hold(np.empty(tuple(given.shape), self._probe._value.dtype))
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            given = state_dict.get(prefix + name)
            if self.defaults and given is not None:
                self.register_buffer(name, given.detach().clone())
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def has_uninitialized_params(self) -> bool:
        """Whether parameters have no memory yet: no state has been loaded."""
        return any(isinstance(p, UninitializedParameter) for p in self._parameters.values())

    def initialize_parameters(self, input: Operand) -> None:
        """Become the layer for inputs like this one."""
        args, kwargs = self._given
        shape = input._value.shape
        at = len(shape) - 1 - self._spatial() if self.channels_at is None else self.channels_at
        # What has been asked of the layer meanwhile (`double()`) holds for buffers as well.
        made = self.cls_to_become(shape[at], *args, **kwargs).to(self._probe.dtype)
        for name, parameter in made._parameters.items():
            held: Any = self._parameters.get(name)
            if held is not None and parameter is not None:
                if isinstance(held, UninitializedParameter):
                    held.hold(own(parameter))
                made._parameters[name] = held
        made._buffers.update({k: v for k, v in self._buffers.items() if v is not None})
        made.training = self.training
        for name, value in made.__dict__.items():
            if not name.endswith("_hooks"):
                self.__dict__[name] = value
        del self.__dict__["_given"], self.__dict__["_probe"]
        self.__class__ = self.cls_to_become

    def _spatial(self) -> int:
        """How many dimensions follow the channels."""
        return int(type(self).__name__[-2])

    def forward(self, input: Operand) -> Operand:
        """The result of the layer, which is made now."""
        self.initialize_parameters(input)
        return self.forward(input)

    def __repr__(self) -> str:
        args, kwargs = self._given
        # The size that is not known yet stands first in what the layer prints; any that fits will do.
        size = kwargs.get("groups", 1)
        printed = self.cls_to_become(size, *args, **kwargs).extra_repr()
        first = printed.replace(str(size), "0", 1)
        return f"{type(self).__name__}({first})"


_OF_NORMS = {"affine": True, "track_running_stats": True}


def _lazy(real: Anything, at: int | None = None, is_norm: bool = False) -> Operand:
    name = f"Lazy{real.__name__}"
    doc = f"`{real.__name__}`, which learns the size of its input from the first one."
    members = {
        "cls_to_become": real,
        "channels_at": at,
        "defaults": _OF_NORMS if is_norm else {},
        "__doc__": doc,
    }
    return type(name, (Lazy,), {**members, "__module__": "funcgrad.torch.nn"})


LazyLinear = _lazy(linear.Linear, -1)
LazyConv1d, LazyConv2d, LazyConv3d = (
    _lazy(real) for real in (convolution.Conv1d, convolution.Conv2d, convolution.Conv3d)
)
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(real)
    for real in (convolution.ConvTranspose1d, convolution.ConvTranspose2d, convolution.ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy(real, 1, True)
    for real in (normalization.BatchNorm1d, normalization.BatchNorm2d, normalization.BatchNorm3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(real, None, True)
    for real in (normalization.InstanceNorm1d, normalization.InstanceNorm2d, normalization.InstanceNorm3d)
)
