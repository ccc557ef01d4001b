"""What optimisers are given: their options, declared as fields, and what is refused of them."""

from __future__ import annotations

import math
from dataclasses import InitVar
from typing import Any, ClassVar

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Anything, Number, Tree

__all__ = ["Declared", "number", "require_number_in_range", "require_options_in_range", "root"]

_LABELS = {"lr": "learning rate", "eps": "epsilon value"}


@declared
class Declared(Optimizer):
    """An optimiser whose class lists its options, with their defaults, as fields."""

    params: InitVar[Tree]

    checks: ClassVar[tuple[str, ...]] = ("lr",)
    """The options that are checked by `require_options_in_range`, in this order."""
    printed: ClassVar[str] = ""
    """The options in the order in which a group has and saves them, where it is not that of the fields."""

    def take(self, options: dict[str, Any]) -> None:
        """Begin with these options, checked."""
        params = options.pop("params")
        self.check(options)
        names = self.printed.split() or options
        Optimizer.__init__(self, params, {name: options[name] for name in names})

    def check(self, options: dict[str, Any]) -> None:
        """Raise for options that PyTorch's refuses."""
        require_options_in_range(options, self.checks)


def require_options_in_range(options: dict[str, Any], names: tuple[str, ...]) -> None:
    """Raise ValueError for the first of these options that is negative, or else out of its range."""
    for name in names:
        value = options[name]
        if name == "betas":
            for k, beta in enumerate(value):
                require_number_in_range(f"beta parameter at index {k}", beta, 0.0 <= beta < 1.0)
        else:
            valid = 0.0 <= value <= 1.0 if name == "rho" else value >= 0.0
            require_number_in_range(_LABELS.get(name, f"{name} value"), value, valid)


def require_number_in_range(label: str, value: Anything, valid: object) -> None:
    """Raise ValueError, in the words of Adam and its kin, for an option that is not valid."""
    if label == "learning rate" and isinstance(value, Tensor) and value._value.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not valid:
        raise ValueError(f"Invalid {label}: {value}")


def number(x: Operand) -> Number:
    """A learning rate, which may be a tensor, as a number; one of a trace as it is."""
    return x if type(x) is Tracer else float(x)


def root(x: Number) -> Number:
    """The square root of a number of Python's, as one, or of a traced one."""
    return np.sqrt(x) if type(x) is Tracer else math.sqrt(x)
