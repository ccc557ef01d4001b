"""What editors and type checkers know of transformed functions; nothing here exists while a program runs.

A class here stands for `TransformedFunction` as one transform makes it of a function of type `F`. The types
of a call are found when it is called, from `F`: so a lambda is read without any expectation of its arguments,
which checkers would otherwise hold against its body. The argument to differentiate by must be positional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from funcgrad.types import Anything, Tree

F_co = TypeVar("F_co", bound=Callable[..., Any], covariant=True)
P = ParamSpec("P")
X = TypeVar("X")
R = TypeVar("R")
A = TypeVar("A")
Item = TypeVar("Item", bound=np.generic)

Numeric = NDArray[Any] | np.generic | complex


class Bindable(Protocol):
    """A function in a class is a method; it has the name of what was transformed."""

    __name__: str
    __qualname__: str

    def __get__(self, instance: object, owner: object = None) -> Anything: ...


class Gradient(Bindable, Generic[F_co]):
    """By the first argument, whose type it has."""

    def __call__(
        self: Gradient[Callable[Concatenate[X, P], Any]], x: X, /, *args: P.args, **kwargs: P.kwargs
    ) -> X:
        """The gradient."""
        raise NotImplementedError


class GradientAndAux(Bindable, Generic[F_co]):
    """Of a function that returns ``(value, aux)``."""

    def __call__(
        self: GradientAndAux[Callable[Concatenate[X, P], tuple[Any, A]]],
        x: X,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> tuple[X, A]:
        """The gradient and aux."""
        raise NotImplementedError


class ValueAndGradient(Bindable, Generic[F_co]):
    """The result of the function and its gradient."""

    def __call__(
        self: ValueAndGradient[Callable[Concatenate[X, P], R]], x: X, /, *args: P.args, **kwargs: P.kwargs
    ) -> tuple[R, X]:
        """The value and the gradient."""
        raise NotImplementedError


class ValueAuxAndGradient(Bindable, Generic[F_co]):
    """Of a function that returns ``(value, aux)``."""

    def __call__(
        self: ValueAuxAndGradient[Callable[Concatenate[X, P], tuple[R, A]]],
        x: X,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> tuple[tuple[R, A], X]:
        """The result and the gradient."""
        raise NotImplementedError


class Jacobian(Bindable, Generic[F_co]):
    """An array where argument and result are arrays or numbers, and otherwise a pytree of arrays."""

    @overload
    def __call__(
        self: Jacobian[Callable[Concatenate[NDArray[Item], P], Numeric]],
        x: NDArray[Item],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> NDArray[Item]: ...
    @overload
    def __call__(self: Jacobian[Callable[P, Any]], *args: P.args, **kwargs: P.kwargs) -> Tree: ...
    def __call__(  # type: ignore[misc] # of any `self`, where mypy asks for each of those above
        self: Anything, *args: Tree, **kwargs: Tree
    ) -> Tree:
        """The derivatives."""
        raise NotImplementedError
