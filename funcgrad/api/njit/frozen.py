"""Names that Numba's code reads from around it: they are what they were when it was first traced.

Numba makes constants of them when it compiles; a table that is changed afterwards is as before in its code.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType, CodeType, FunctionType

import numpy as np

from funcgrad.api.python.unbound import value_in
from funcgrad.shared import Recent
from funcgrad.types import Array

MOST_FUNCTIONS = 500
_FROZEN = Recent[tuple[FunctionType, FunctionType]](MOST_FUNCTIONS)
"""By the id of a function: itself, which keeps the id its own, and what was made of it."""


def with_frozen_names(function: FunctionType) -> FunctionType:
    """The function that reads copies of the arrays that it has from around it, made once."""
    found = _FROZEN.get(id(function))
    if found is None:
        found = _FROZEN.keep(id(function), (function, frozen(function)))
    return found[1]


def frozen(function: FunctionType) -> FunctionType:
    """The function, or one that reads copies where it reads arrays."""
    code = function.__code__
    names = {name for name in all_names(code) if type(function.__globals__.get(name)) is np.ndarray}
    cells = [cell if type(value_in(cell)) is not np.ndarray else None for cell in function.__closure__ or ()]
    if not names and None not in cells:
        return function
    read = {name: kept(function.__globals__[name]) for name in names}
    closure = tuple(
        [
            CellType(kept(value_in(old))) if new is None else new
            for old, new in zip(function.__closure__ or (), cells, strict=True)
        ]
    )
    around = {**function.__globals__, **read}
    made = FunctionType(code, around, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def kept(array: Array) -> Array:
    """A copy that nobody else has."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def all_names(code: CodeType) -> Iterator[str]:
    """The global names that the code and the functions in it may read."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from all_names(inner)
