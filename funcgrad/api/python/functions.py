"""Which functions are rewritten, and what stands in for builtins where their arguments are traced."""

from __future__ import annotations

import functools
from contextvars import ContextVar
from types import FunctionType, MethodType
from typing import Any

from funcgrad.tracing.python.functions import NoSource, is_users, rewritten_function

ACTIVE: ContextVar[Any] = ContextVar("funcgrad_python", default=None)
"""The hooks of the function that is being recorded, or None where Python's statements are its own."""


def recordable(function: Any, hooks: Any) -> Any:
    """The function, rewritten where it is the user's own and its source is to be had; else itself."""
    from funcgrad.api.transformed import TransformedFunction  # noqa: PLC0415

    if isinstance(function, FunctionType):
        return rewritten_or_same(function, hooks)
    if isinstance(function, MethodType):
        inner = recordable(function.__func__, hooks)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if type(function) is functools.partial:
        inner = recordable(function.func, hooks)
        if inner is function.func:
            return function
        return functools.partial(inner, *function.args, **function.keywords)
    if type(function) is TransformedFunction:
        return transformed_again(function, hooks)
    call = getattr(type(function), "__call__", None)
    if isinstance(call, FunctionType) and not isinstance(function, type) and is_users(call.__code__):
        return MethodType(rewritten_or_same(call, hooks), function)
    return function


def rewritten_or_same(function: FunctionType, hooks: Any) -> Any:
    """The function with rewritten code, or itself where it has none."""
    if not hooks.is_users(function):
        return function
    try:
        return rewritten_function(function, hooks)
    except NoSource as reason:
        hooks.note_without_source(function, str(reason))
        return function


def transformed_again(function: Any, hooks: Any) -> Any:
    """The transform of the rewritten function, for a transform of the user's function."""
    transform, args, kwargs = function._made_by
    inner = recordable(args[0], hooks)
    return function if inner is args[0] else transform(inner, *args[1:], **kwargs)


__all__ = ["ACTIVE", "is_users", "recordable"]
