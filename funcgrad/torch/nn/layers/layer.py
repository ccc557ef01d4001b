"""Layers that are a function and its options: what they have in common.

Knows no parameters and refuses nothing: a layer that has weights, or
changes what it is given, does so itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.declared import Field
from funcgrad.torch.nn.module import Module


class Layer(Module):
    """A module whose declared fields are its options, which become attributes."""

    _fields: ClassVar[dict[str, Field]] = {}
    shown: ClassVar[str] = ""
    """The options that are printed."""

    def take(self, options: dict[str, Any]) -> None:
        """Begin with these options."""
        super().__init__()
        for name, field in self._fields.items():
            if field.is_attribute:
                setattr(self, name, options[name])

    def extra_repr(self) -> str:
        return ", ".join([f"{name}={getattr(self, name)!r}" for name in self.shown.split()])


class Applied(Layer):
    """A function with options, which are printed; one that is done in place says so."""

    function: ClassVar[Callable[..., Any]]

    def forward(self, input: Tensor) -> Operand:
        """The function of the input."""
        return type(self).function(input, *[getattr(self, option) for option in self._fields])

    def extra_repr(self) -> str:
        shown = [f"{k}={getattr(self, k)!r}" for k in self._fields if k != "inplace"]
        if getattr(self, "inplace", False):
            shown.append("inplace=True")
        return ", ".join(shown)


class Windowed(Layer):
    """A layer of signals, images or volumes: one function of `functional` for each."""

    ndim: ClassVar[int]
    function: ClassVar[str]
    """The name of the function, without its last part, as in ``1d``."""
    arguments: ClassVar[str]
    """The options that it takes, in its order."""

    def forward(self, input: Tensor) -> Operand:
        """The function of the input."""
        function = getattr(F, f"{self.function}{self.ndim}d")
        return function(input, *[getattr(self, name) for name in self.arguments.split()])
