"""What the functions say of numbers, lists and arrays in place of tensors: PyTorch's `TypeError`, by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.functional.kinds import OF_BOTH, REFUSED, require_kind
from funcgrad.types import Anything

_TENSORS = ("Operand", "Operand | None")


def of_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which refuses what is no tensor; only the first argument is looked at before it runs."""

    exact = f.__name__ in REFUSED or f.__name__ in OF_BOTH

    @functools.wraps(f)
    def function(*args: Operand, **kwargs: Anything) -> Operands:
        if args and not isinstance(args[0], Tensor):
            refuse(f, args, kwargs)
        if exact and args and args[0]._value.dtype.char not in "fd":
            require_kind(f.__name__, *args)
        try:
            return f(*args, **kwargs)
        except (AttributeError, TypeError):
            refuse(f, args, kwargs)
            raise

    return function


def refuse(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise TypeError for the first argument that ought to be a tensor and is none.

    Knows arguments that are tensors by the annotation of their parameter.
    """
    signature = inspect.signature(f)
    try:
        given = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return  # What Python says of the arguments themselves comes first.
    for position, (name, parameter) in enumerate(signature.parameters.items(), 1):
        x = given.get(name, parameter.default)
        if parameter.annotation not in _TENSORS or isinstance(x, Tensor) or x is parameter.default:
            continue
        raise TypeError(
            f"{f.__name__}(): argument '{name}' (position {position}) must be Tensor, not {type(x).__name__}"
        )
