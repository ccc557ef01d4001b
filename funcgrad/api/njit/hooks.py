"""What the Python source of Numba's functions asks while it is traced, in Numba's meaning of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from funcgrad.api.arguments import here
from funcgrad.api.njit.kinds import is_njit, is_numbas, python_function, traced_within
from funcgrad.api.njit.standins import CASTS, MATHEMATICS, cast_to
from funcgrad.api.njit.writes import CapturedArguments
from funcgrad.api.python import items
from funcgrad.api.python.hooks import Hooks
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, is_library_code
from funcgrad.tracing.python.functions import NoSource, rewritten_function
from funcgrad.tracing.python.inside import INSIDE

__all__ = ["NjitHooks", "traced_njit"]

DEEPEST = 100
"""Calls of one function of Numba's inside of itself, from which on they are taken to have no end."""
_DEPTHS: ContextVar[dict[int, int] | None] = ContextVar("funcgrad_njit_depths", default=None)


class NjitHooks(Hooks):
    """The hooks of Numba's code, which calls what Python's own could not give traced values."""

    def __init__(self, asking: Hooks) -> None:
        super().__init__(asking.unroll)
        self.notes = asking.notes

    def is_users(self, function: FunctionType) -> bool:
        """Whether the function is traced: Numba compiles what it is told to, of installed packages too."""
        return not is_library_code(function.__code__)

    def function(self, function: Any) -> Any:
        """What is called instead of `function`."""
        found = instead_of(function)
        return super().function(function) if found is None else found


def instead_of(function: Any) -> Any:
    """What stands in for a function in Numba's code; None where it is as in any traced function."""
    if isinstance(function, type):
        if function in CASTS:
            return CASTS[function]
    elif isinstance(function, BuiltinMethodType):
        if function in MATHEMATICS:
            return MATHEMATICS[function]
        if function.__self__.__class__ is np.ndarray and function.__name__ in _COPYING:
            return copying(function)
        if isinstance(function.__self__, np.random.RandomState | np.random.Generator):
            return refusing_draws(function)
        return None
    return of_numbas_own(function) if is_numbas(function) and not is_njit(function) else None


_COPYING = frozenset({"copy", "astype", "flatten"})
"""Methods of arrays whose results are arrays of their own."""


def copying(method: Any) -> Callable[..., Any]:
    """A method that makes an array, which traced values can be written into."""

    def copy(*args: Any, **kwargs: Any) -> Any:
        return INSIDE.opened(method(*args, **kwargs))

    return copy


def of_numbas_own(function: Any) -> Any:
    """What stands in for one of Numba's own: ``prange``, and types as casts."""
    name = getattr(function, "__name__", type(function).__name__)
    if name in ("prange", "internal_prange"):
        return items.traced_range
    if name in _AS_THEY_ARE:
        return function
    dtype = dtype_of(function)
    if dtype is not None:
        return cast_to(dtype, dtype.type)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"{spelled(function)} is Numba's own and has no derivative here",
            source=here(),
            remedy="Use arrays, tuples and numbers in its place; or declare the function around it with "
            "fg.custom_vjp, with its derivative.",
        )

    return refuse


_AS_THEY_ARE = frozenset({"literal_unroll", "literally", "get_num_threads", "get_thread_id"})


def spelled(function: Any) -> str:
    """The name of an object of Numba's."""
    kind = function if hasattr(function, "__name__") else type(function)
    return f"{kind.__module__}.{kind.__name__}"


def dtype_of(numbas_type: Any) -> np.dtype[Any] | None:
    """The dtype of a number type of Numba's; None for anything else."""
    try:
        return np.dtype(str(numbas_type)) if is_type(numbas_type) else None
    except TypeError:
        return None


def is_type(x: Any) -> bool:
    """Whether `x` is one of Numba's types."""
    return type(x).__module__.startswith("numba.core.types.")


def refusing_draws(function: Any) -> Callable[..., Any]:
    """A draw of random numbers: Numba's come from a generator of its own, call by call."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"np.random.{function.__name__} is drawn anew at every call of a compiled function, "
            "and would be one constant here",
            source=here(),
            remedy="Draw before, and give the function the numbers as an argument; or use fg.random.",
        )

    return refuse


# -- a function of Numba's as one that is traced ---------------------------------------------------------


def traced_njit(dispatcher: Any, hooks: Hooks) -> Callable[..., Any]:
    """A function of Numba's: its Python source where something traced is given, else its machine code."""
    own = hooks if isinstance(hooks, NjitHooks) else NjitHooks(hooks)

    def calling(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values(), dispatcher)
        if not traced_within(given, INSIDE.is_open):
            return INSIDE.opened(dispatcher(*args, **kwargs))
        arrays = CapturedArguments()
        args = tuple([arrays.of(x) for x in args])
        kwargs = {key: arrays.of(x) for key, x in kwargs.items()}
        arrays.watch()
        with one_deeper(dispatcher):
            result = source_of(dispatcher, own)(*args, **kwargs)
        arrays.refuse_written(name)
        return result

    calling.__name__ = name = python_function(dispatcher).__name__
    return calling


def source_of(dispatcher: Any, hooks: NjitHooks) -> FunctionType:
    """The Python function, rewritten; raises UnsupportedFunctionError where its source is not to be had."""
    function = python_function(dispatcher)
    try:
        return rewritten_function(function, hooks)
    except NoSource as reason:
        code = function.__code__
        raise UnsupportedFunctionError(
            f"{function.__name__}, a function of Numba's, cannot be traced: {reason}",
            source=Source(code, 0),
            remedy="Define it in a file or a notebook; or declare its derivative with fg.custom_vjp.",
        ) from None


@contextmanager
def one_deeper(dispatcher: Any) -> Iterator[None]:
    """Within: the function is being traced; raises where that has no end."""
    depths = _DEPTHS.get() or {}
    depth = depths.get(id(dispatcher), 0) + 1
    if depth > DEEPEST:
        raise UnsupportedFunctionError(
            f"{python_function(dispatcher).__name__} calls itself without an end while it is traced",
            source=here(),
            remedy="How deep a recursion goes may depend on whole numbers that are given as such, and not "
            "on traced values: write a loop, or declare its derivative with fg.custom_vjp.",
        )
    token = _DEPTHS.set({**depths, id(dispatcher): depth})
    try:
        yield
    finally:
        _DEPTHS.reset(token)
