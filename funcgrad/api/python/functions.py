"""Which functions are rewritten, and what stands in for builtins where their arguments are traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

from funcgrad.api.calling.transformed import TransformedFunction
from funcgrad.api.python.classes import call_of
from funcgrad.api.python.seen import handed, seen
from funcgrad.tracing.kinds import dispatching, is_dispatching
from funcgrad.tracing.python.attributes import note_classes_of
from funcgrad.tracing.python.definitions import NoSource
from funcgrad.tracing.python.functions import rewritten_function
from funcgrad.types import Anything

_DEFAULT: list[Any] = []
OTHER_KINDS: list[tuple[Callable[[Any], bool], Callable[[Any, Any], Any]]] = []
"""What another package made of the user's functions: whether one is of a kind, and what is traced."""


def use_by_default(hooks: object) -> None:
    """Have functions that are given to control flow ask these hooks; called once, when they are made."""
    _DEFAULT[:] = [hooks]


def recordable_by_default(function: Anything) -> Anything:
    """`recordable`, with the hooks of functions that are given to control flow."""
    if not _DEFAULT:
        # They give functions to control flow themselves: a circle. A gradient without any imports none of it.
        import_module("funcgrad.api.python.hooks")
    return recordable(function, _DEFAULT[0])


def recordable(function: Anything, hooks: Anything) -> Anything:
    """The function, rewritten where it is the user's own and its source is to be had; else itself."""
    if isinstance(function, FunctionType):
        return rewritten_or_same(function, hooks)
    kind = type(function)
    again = _AGAIN.get(kind)
    if again is not None:
        return again(function, hooks)
    for is_of_kind, traced in OTHER_KINDS:
        if is_of_kind(function):
            return traced(function, hooks)
    call = call_of(kind)
    if call is not None:
        return MethodType(rewritten_or_same(call, hooks), function)
    return function


def recordable_as_given(function: Callable[..., Any], hooks: object) -> Callable[..., Any]:
    """`recordable`; a function of SciPy's own, which is nobody's to rewrite, asks for ours when called."""
    again = recordable(function, hooks)
    found: Callable[..., Any] = seen(function) if again is function else again
    return found


def method_again(method: MethodType, hooks: Anything) -> MethodType:
    """The method of the same instance, rewritten."""
    inner = recordable(method.__func__, hooks)
    return method if inner is method.__func__ else MethodType(inner, method.__self__)


def partial_again(partial: functools.partial[Any], hooks: Anything) -> object:
    """The same arguments, and the function rewritten."""
    inner = recordable(partial.func, hooks)
    if inner is partial.func:
        inner = handed(inner)
    return partial if inner is partial.func else functools.partial(inner, *partial.args, **partial.keywords)


def rewritten_or_same(function: FunctionType, hooks: Anything) -> Anything:
    """The function with rewritten code, or itself where it has none."""
    if not hooks.is_users(function):
        again = functools.partial(recordable, hooks=hooks)
        return dispatching(function, again) if is_dispatching(function) else function
    note_classes_of(function)
    try:
        return rewritten_function(function, hooks.asked_by(function.__code__))
    except NoSource as reason:
        hooks.note_without_source(function, str(reason))
        # A generator has no blocks that could be recorded, but calls that may be seen.
        return seen(function)


def transformed_again(function: Anything, hooks: Anything) -> object:
    """The transform of the rewritten function, for a transform of the user's function."""
    transform, args, kwargs = function._made_by
    inner = recordable(args[0], hooks)
    return function if inner is args[0] else transform(inner, *args[1:], **kwargs)


_AGAIN: dict[type, Callable[[Any, Any], Any]] = {
    MethodType: method_again,
    functools.partial: partial_again,
    TransformedFunction: transformed_again,
}
