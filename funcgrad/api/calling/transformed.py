"""What a transform returns: a function that pickles, binds as a method, and fails with a short traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from funcgrad.api.calling.again import is_final
from funcgrad.later import Later
from funcgrad.tracing.python.owners import take_in_package_of
from funcgrad.types import Anything, Tree

# Who pickles asks.
pickling = Later("funcgrad.api.calling.pickling")

Function = Callable[..., Any]
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class TransformedFunction(Generic[P, R]):
    """The result of ``transform(fun, *options)``, callable like `fun`.

    It pickles when `fun` does: as the transform, the function and the options.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self, implementation: Function, transform: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        functools.update_wrapper(self, args[0], updated=())
        if isinstance(args[0], FunctionType):
            # What a user has noted on the function stays on what is made of it.
            self.__dict__.update(args[0].__dict__)
        self._implementation = implementation
        self._made_by = transform, args, kwargs

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        while True:
            try:
                result: R = self._implementation(*args, **kwargs)
                return result
            except (Exception, KeyboardInterrupt) as error:
                if is_final(error):
                    raise

    @overload
    def __get__(self, instance: None, owner: object = None) -> TransformedFunction[P, R]: ...
    @overload
    def __get__(
        self: TransformedFunction[Concatenate[Any, Q], R], instance: object, owner: object = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: object, owner: object = None) -> Anything:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        transform, args, _ = self._made_by
        return f"{transform.__name__}({getattr(args[0], '__qualname__', repr(args[0]))})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        transform, args, kwargs = self._made_by
        name = getattr(args[0], "__qualname__", "")
        # Used as a decorator, the transformed function is what its module knows by this name.
        found = pickling.name_for_pickle(self, getattr(args[0], "__module__", ""), name)
        return (_remade, (transform, args, kwargs)) if found is None else found


def _remade(transform: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Anything:
    return transform(*args, **kwargs)


def function_expected(make: Function, fun: object) -> None:
    """Raise TypeError where a transform is given something that cannot be called."""
    if not callable(fun):
        raise TypeError(f"{make.__name__} expects a function, got a {type(fun).__name__}: {fun!r}")


AT_ONCE: list[tuple[Callable[[Any], bool], Function]] = []
"""Functions whose transforms are compiled at once: whether one is such, and what compiles."""


def compiled_at_once(function: TransformedFunction[..., Any]) -> TransformedFunction[..., Any]:
    """The transform, by way of `jit` if that is what the author of the function wants."""
    made_by, args, kwargs = function._made_by
    for wanted, compile_it in AT_ONCE:
        if wanted(args[0]):
            return TransformedFunction(compile_it(function), made_by, args, kwargs)
    return function


def transform(make: Function) -> Function:
    """Decorate ``make(fun, ...) -> function`` so that it returns a `TransformedFunction`.

    Without `fun` it returns a decorator, so options can be given where a function is defined. Overloads
    say what a transform does to types.
    """
    return transforming_by(make, compiled_at_once)


def plain_transform(make: Function) -> Function:
    """`transform` for what is never compiled by itself: it looks at functions, or is part of a traced one."""
    return transforming_by(make, lambda function: function)


def transforming_by(
    make: Function, finish: Callable[[TransformedFunction[..., Any]], TransformedFunction[..., Any]]
) -> Function:
    """What both decorators make."""

    @functools.wraps(make)
    def transforming(*args: Tree, **kwargs: Tree) -> Anything:
        if not args and "fun" not in kwargs:
            return functools.partial(transforming, **kwargs)
        if not args:
            args = (kwargs.pop("fun"),)
        function_expected(make, args[0])
        take_in_package_of(args[0])
        return finish(TransformedFunction(make(*args, **kwargs), transforming, args, kwargs))

    return transforming
