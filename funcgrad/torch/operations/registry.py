"""How an operation gets its public names: a function of the module, a method, and a method in place."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from funcgrad.torch.core.dtypes import weak_dtype, without_its_dtype
from funcgrad.torch.core.inplace import in_place, require_apart, require_castable, require_same_or_apart
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.accepting import APART, EXACT_RESULTS, FIRST_TENSORS, ONE_TENSOR, accepting
from funcgrad.types import Anything

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""The functions of the module by name; complete once the package is imported."""


def operation(
    *names: str, function: bool = True, method: bool = True, inplace: bool = False
) -> Callable[[F], F]:
    """Publish the decorated function under its own name, or these."""

    def publish(given: F) -> F:
        for name in names or (given.__name__,):
            f: Any = accepting(given, name)
            if function:
                FUNCTIONS[name] = with_out(f, name)
            if method:
                setattr(Tensor, name, f)
            if inplace:
                made = in_place(f, f"{name}_")
                setattr(Tensor, f"{name}_", made)
                if function:
                    FUNCTIONS.setdefault(f"{name}_", made)
        return given

    return publish


def published(*names: str) -> Callable[[F], F]:
    """Publish a function, or a class, as it is: a name of the module, no method and no ``out=``."""

    def publish(given: F) -> F:
        for name in names or (given.__name__,):
            FUNCTIONS[name] = given
        return given

    return publish


def _is_number(x: object) -> bool:
    return isinstance(x, bool | int | float | complex)


def with_out(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function with PyTorch's ``out=``, and numbers refused where a tensor is expected."""

    # How many of the first arguments may not all be numbers.
    leading = 1 if name in FIRST_TENSORS else 2 if name in ONE_TENSOR else 0

    @functools.wraps(f)
    def function(*args: Operand, **kwargs: Anything) -> Operands:
        if 0 < leading <= len(args) and all(map(_is_number, args[:leading])):
            kind = type(args[0]).__name__
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}")
        if "out" in kwargs:
            out = kwargs.pop("out")
            if out is not None:
                if name in APART:
                    require_unread(args, out)
                elif isinstance(out, Tensor):
                    for x in args:
                        if isinstance(x, Tensor) and x._value.shape == out._value.shape:
                            require_same_or_apart(out._value, x._value)
                return stored(f(*args, **kwargs), out, name)
        try:
            return f(*args, **kwargs)
        except AttributeError as error:
            if args and not isinstance(args[0], Tensor) and "'_value'" in str(error):
                kind = type(args[0]).__name__
                message = f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}"
                raise TypeError(message) from None
            raise

    function.__name__ = function.__qualname__ = name
    return function


def take_out(module: dict[str, Any], names: Iterable[str]) -> None:
    """Give these functions of a module PyTorch's ``out=``."""
    for name in names:
        module[name] = with_out(module[name], name)


def stored(found: Operand, out: Operand, name: str) -> Operand:
    """Results written into the tensors given as ``out=``."""
    if isinstance(found, tuple):
        for x, y in zip(found, out, strict=True):
            stored(x, y, name)
        return out
    if MODES.grad and (found._rg or out._rg):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
    if name in EXACT_RESULTS and found._value.dtype != out._value.dtype:
        raise RuntimeError(f"{name}(): expected out= of dtype {found.dtype}, but got {out.dtype}")
    require_castable(found._value.dtype, out._value.dtype)
    require_apart(out._value)
    if out._value.shape == found._value.shape:
        out._value[...] = found._value
    else:
        if out._value.size:
            warn_of_resizing(out._value.shape, found._value.shape)
        out._value = np.array(found._value, out._value.dtype)
    out._version_box[0] += 1
    return out


def require_unread(args: Iterable[object], out: object) -> None:
    """Raise RuntimeError where a function would write into memory that it reads."""
    outs = out if isinstance(out, tuple | list) else (out,)
    read = [t for x in args for t in (x if isinstance(x, tuple | list) else (x,)) if isinstance(t, Tensor)]
    if any(np.may_share_memory(x._value, y._value) for x in read for y in outs):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def warn_of_resizing(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    """PyTorch's warning for an ``out=`` of another shape."""
    warnings.warn(
        f"out= of shape {list(before)} takes the shape {list(after)} of the result, deprecated by PyTorch: "
        "give a tensor of that shape, or one without elements",
        UserWarning,
        stacklevel=4,
    )


def tensor_of(x: Operand, like: Tensor | None = None) -> Tensor:
    """`x` as a tensor: itself, or a constant made of an array or number."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, np.ndarray):
        return wrap(x)
    if isinstance(x, bool | int | float | complex | np.generic):
        dtype = weak_dtype(x) if like is None else like._value.dtype
        return wrap(np.asarray(without_its_dtype(x), dtype))
    raise TypeError(f"expected a Tensor, got {type(x).__name__}")
