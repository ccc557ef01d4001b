"""Python's containers and questions about types, which see through boxes."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.tracer import Box, getval
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike

tuple: Any = builtins.tuple
list: Any = builtins.list
dict: Any = builtins.dict


def isinstance(x: ArrayLike, types: builtins.type | tuple[builtins.type, ...]) -> bool:
    """`isinstance` of the value that a box stands for, or of the box.

    >>> from funcgrad.compat.autograd import grad
    >>> seen = []
    >>> _ = grad(lambda x: seen.append(isinstance(x, float)) or x)(1.0)
    >>> seen
    [True]
    """
    return builtins.isinstance(x, types) or (
        builtins.type(x) is Tracer and builtins.isinstance(getval(x), types)
    )


def type(x: ArrayLike) -> builtins.type:
    """The type of the value that a box stands for."""
    return builtins.type(getval(x))


class _ContainersOfBoxes(builtins.type):
    """The class of classes whose instances are containers that hold boxes."""

    container: builtins.type

    def __instancecheck__(cls, thing: object) -> bool:
        return builtins.isinstance(thing, cls.container)


class SequenceBox(metaclass=_ContainersOfBoxes):
    """A tuple or a list: containers of boxes are plain containers here."""

    container: Any = (builtins.tuple, builtins.list)


class TupleBox(metaclass=_ContainersOfBoxes):
    """A tuple."""

    container = builtins.tuple


class ListBox(metaclass=_ContainersOfBoxes):
    """A list."""

    container = builtins.list


class DictBox(metaclass=_ContainersOfBoxes):
    """A dictionary."""

    container = builtins.dict


def make_sequence(seq_type: Callable[..., Any], *args: object) -> Anything:
    """A sequence of a type."""
    return seq_type(args)


__all__ = [
    "Box",
    "DictBox",
    "ListBox",
    "SequenceBox",
    "TupleBox",
    "dict",
    "isinstance",
    "list",
    "make_sequence",
    "tuple",
    "type",
]
