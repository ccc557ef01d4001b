"""What rewritten code of both kinds asks about the user's classes, and which results are new iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import CO_GENERATOR
from types import FunctionType, MethodType
from typing import Any

from funcgrad.tracing.kinds import class_of, pattern_class
from funcgrad.tracing.python.attributes import read
from funcgrad.tracing.python.functions import CODES
from funcgrad.tracing.python.operating import operated
from funcgrad.tracing.python.protocols import entered, special
from funcgrad.types import Anything, Tree


class AsksUsers:
    """Methods of the user's classes are run as any function of theirs."""

    def function(self, function: Anything) -> Anything:
        """What is called instead of `function`."""
        return function

    def attribute(self, x: object, name: str) -> object:
        """What is read of an object: a property of the user's is run as any function of theirs."""
        return class_of(x) if name == "__class__" else read(x, name, self.function)

    def pattern_class(self, kind: object) -> object:
        """What stands for a class in a pattern of ``match``."""
        return pattern_class(kind)

    def operated(self, name: str, *operands: object) -> object:
        """What an operator gives."""
        return operated(name, operands, self.function)

    def truth(self, x: object) -> object:
        """What is tested in place of an object, as its ``__bool__`` says."""
        method = special(x, "__bool__")
        return x if method is None else self.function(method)(x)

    def entered(self, x: object) -> object:
        """What a ``with`` enters in place of an object."""
        return entered(x, self.function)


def makes_iterators(function: object) -> bool:
    """Whether a function of Python's own gives a new iterator."""
    if function is iter or getattr(function, "__module__", None) == "itertools":
        return True
    return isinstance(function, type) and issubclass(function, Iterator)


def is_generator(function: object) -> bool:
    """Whether a call of a function gives a new generator."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    return isinstance(plain, FunctionType) and bool(plain.__code__.co_flags & CO_GENERATOR)


def is_recorded(function: object) -> bool:
    """Whether a function is the user's, with statements that ask: it is seen what it advances."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    return isinstance(plain, FunctionType) and CODES.is_rewritten(plain.__code__)


def noting(make: Callable[..., Any], noted: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose results `noted` is told of, unless they are what it was given."""

    def making(*args: Tree, **kwargs: Tree) -> Anything:
        made = make(*args, **kwargs)
        return made if any(made is x for x in args) else noted(made)

    return making
