"""The user's classes where they are called: their ``__init__`` is run as any function of the user's is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from funcgrad.tracing.python.owners import is_users
from funcgrad.types import Anything, Tree

__all__ = ["call_of", "constructed", "initializer"]


def initializer(kind: type) -> FunctionType | None:
    """``__init__`` of a class of the user's that Python makes instances of in its ordinary way, else None."""
    first = kind.__init__  # type: ignore[misc]
    if not isinstance(first, FunctionType) or not is_users(first.__code__):
        return None
    return first if type(kind).__call__ is type.__call__ else None


def call_of(kind: type) -> FunctionType | None:
    """``__call__`` of a class, its own or inherited, where it is a function of the user's, else None."""
    for base in kind.__mro__[:-1]:
        call = base.__dict__.get("__call__")
        if call is not None:
            return call if isinstance(call, FunctionType) and is_users(call.__code__) else None
    return None


AFTER = ("__post_init__", "__attrs_post_init__")
"""What the ``__init__`` that `dataclasses` and `attrs` write calls at its end."""


def handed_on(kind: type, again: Callable[[Any], Any]) -> dict[str, FunctionType]:
    """Methods that an ``__init__`` without a source calls, as they are run; those that stay are left out."""
    theirs = {name: getattr(kind, name, None) for name in AFTER}
    return {
        name: again(method)
        for name, method in theirs.items()
        if isinstance(method, FunctionType) and is_users(method.__code__) and again(method) is not method
    }


@contextmanager
def shadowed(made: object, methods: Mapping[str, FunctionType]) -> Iterator[None]:
    """Within: the object has these methods; one without a dictionary keeps those of its class."""
    own = getattr(made, "__dict__", None) if methods else None
    if own is None:
        yield
        return
    own.update({name: MethodType(method, made) for name, method in methods.items()})
    try:
        yield
    finally:
        for name in methods:
            own.pop(name, None)


def constructed(
    kind: type, again: Callable[[Any], Any], noted: Callable[[Any], Any] | None = None
) -> Callable[..., Any]:
    """What makes an instance as calling the class does, with ``again(kind.__init__)`` as its ``__init__``.

    `noted` is told of it before that runs.
    """
    first = initializer(kind)
    if first is None:
        return kind
    changed = again(first)
    after = handed_on(kind, again)
    if changed is first and not after:
        return kind

    def make(*args: Tree, **kwargs: Tree) -> Anything:
        new: Any = kind.__new__
        made = new(kind) if new is object.__new__ else new(kind, *args, **kwargs)
        if type(made) is kind:
            if noted is not None:
                noted(made)
            with shadowed(made, after):
                changed(made, *args, **kwargs)
        elif isinstance(made, kind):
            type(made).__init__(made, *args, **kwargs)
        return made

    return make
