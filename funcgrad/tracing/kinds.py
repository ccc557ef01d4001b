"""What a traced value is to code that asks for its type: what the plain value would have been."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from funcgrad.tracing.conversion import stood_for
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything


def plain_type(x: object, *more: Anything) -> type:
    """``type``; of a traced value that of the array or number that it stands for."""
    if more:
        return builtins.type(x, *more)
    if INSIDE.is_open(x):
        return np.ndarray
    if type(x) is not Tracer:
        return builtins.type(x)
    recorder = active_recorder()
    if recorder is not None:
        recorder.note_kind_asked()
    return stood_for(x.aval)


def is_instance(x: object, kinds: type | tuple[type, ...]) -> bool:
    """``isinstance``, for which a traced number is a number, and a traced array an array.

    A traced number has no length and is not iterable, as a number of NumPy's.
    """
    if type(x) is not Tracer:
        return isinstance(x, kinds)
    try:
        return issubclass(plain_type(x), kinds) or asks_for_ours(kinds)
    except TypeError:  # a protocol with attributes asks the object
        return isinstance(x, kinds)


def asks_for_ours(kinds: object) -> bool:
    """Whether traced values are among the kinds by name."""
    named = kinds if isinstance(kinds, tuple) else getattr(kinds, "__args__", (kinds,))
    return any(kind is Tracer or (isinstance(kind, tuple) and asks_for_ours(kind)) for kind in named)


def has_attribute(x: object, name: str) -> bool:
    """``hasattr``; of a traced value whether the array or number that it stands for has it."""
    if type(x) is not Tracer:
        return hasattr(x, name)
    own = not name.startswith("__") and not hasattr(np.ndarray, name)  # such as `concrete`
    return stands_for_one_with(x, name) or (own and hasattr(x, name))


def stands_for_one_with(x: Tracer, name: str) -> bool:
    """Whether instances of the type have the attribute; the type has those of its metaclass, too."""
    return any(name in kind.__dict__ for kind in plain_type(x).__mro__)


def get_attribute(x: object, name: str, *default: object) -> object:
    """``getattr``; the default where what a traced value stands for has no such attribute."""
    if default and type(x) is Tracer and not stands_for_one_with(x, name):
        return default[0]
    if name == "__class__":
        return class_of(x)
    return getattr(x, name) if type(x) is Tracer else getattr(x, name, *default)


def class_of(x: object) -> type:
    """``x.__class__``; of a traced value that of the array or number that it stands for."""
    kind: type = plain_type(x) if type(x) is Tracer else x.__class__
    return kind


KINDS: dict[Any, Any] = {
    builtins.isinstance: is_instance,
    builtins.type: plain_type,
    builtins.hasattr: has_attribute,
    builtins.getattr: get_attribute,
}
"""What is called instead in functions that have been rewritten."""


# -- what is chosen by the kind of a value ----------------------------------------------------------------


def is_dispatching(function: object) -> bool:
    """Whether it is what `functools.singledispatch` or `singledispatchmethod` makes of functions."""
    return hasattr(function, "register") and (
        hasattr(function, "registry") or isinstance(owner_of(function), functools.singledispatchmethod)
    )


def owner_of(function: object) -> object:
    """What a method that is chosen by kind is registered with."""
    return getattr(getattr(function, "register", None), "__self__", None)


def dispatching(function: Anything, called_as: Callable[[Any], Any]) -> Callable[..., Any]:
    """The same choice by what traced values stand for; `called_as` says what is called for what is chosen."""

    def choosing(*args: Anything, **kwargs: Anything) -> Anything:
        if not args:
            return function(*args, **kwargs)
        return called_as(chosen(function, class_of(args[0])))(*args, **kwargs)

    return choosing


def chosen(function: Anything, kind: Anything) -> Anything:
    """What is registered for a kind: a function, or the method of the object that `function` was read of."""
    if hasattr(function, "registry"):
        return function.dispatch(kind)
    if isinstance(function, FunctionType):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        held = cells["obj"].cell_contents, cells["cls"].cell_contents
    else:  # since Python 3.14
        held = function._obj, function._cls
    owner: Any = owner_of(function)
    return owner.dispatcher.dispatch(kind).__get__(*held)


@functools.lru_cache(maxsize=256)
def pattern_class(kind: object) -> object:
    """What stands for a class in ``case float():``, so that it takes traced numbers that stand for one."""
    if not isinstance(kind, type) or kind.__module__ not in _OF_NUMBERS:
        return kind

    def is_one(_: type, x: Anything) -> bool:
        return is_instance(x, kind)

    asking = type("Asking", (type(kind),), {"__instancecheck__": is_one})
    return asking(kind.__name__, (int if kind is bool else kind,), {})


_OF_NUMBERS = frozenset({"builtins", "numpy", "numbers", "collections.abc"})
"""Modules with classes that numbers and arrays are of."""


def numpys_random() -> Anything:
    """`numpy.random` once it is imported, which takes 13 ms; None before, when none of its objects exists."""
    return vars(np).get("random")


def is_generator(x: object) -> bool:
    """Whether it draws random numbers as NumPy does."""
    found = numpys_random()
    return found is not None and isinstance(x, found.Generator | found.RandomState)
