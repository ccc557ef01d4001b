"""Functions of `math` and `cmath` where they are given a traced number: NumPy's of the same meaning.

Where the number is known Python's own runs first, for what it raises: ``math.log(-1.0)`` is an error there,
and NaN to NumPy. Under `jit` and `vmap` nothing is known: see `funcgrad.api.mathematics`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.mathematics import COMPLEX, REAL, Function, raised_as_by_python
from funcgrad.tracing.constants import is_constant
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import ArrayLike, Number, Result, Tree

DERIVED = REAL | COMPLEX
"""Ours by the function of `math` or `cmath`."""
_OF_ITERABLES = frozenset({"dist", "fsum", "prod", "sumprod"})


def of_numbers(function: Function) -> Function:
    """A function of `math` or `cmath`, or NumPy's where something traced is among its arguments."""
    ours = DERIVED[function]
    goes_through = function.__name__ in _OF_ITERABLES

    def call(*args: Tree, **kwargs: Tree) -> Result:
        if goes_through:
            args = tuple([list(x) if type(x) is Tracer and x.aval.shape else x for x in args])
        flat = [y for x in args for y in (x if isinstance(x, list | tuple) else (x,))]
        traced = [x for x in flat if type(x) is Tracer]
        if not traced:
            return function(*args, **kwargs)
        if any(x.aval.shape for x in traced):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if all(x.has_value() for x in traced):
            found: Any = function(*[known(x) for x in args], **kwargs)
            if all(is_constant(x) for x in traced):
                return found
            return ours(*args, **kwargs)
        found = ours(*args, **kwargs)
        raised_as_by_python(function, found, args)
        return found

    return call


def known(x: ArrayLike) -> Number:
    """The value of a traced number, for what Python's own function says of it; also in lists."""
    if type(x) is Tracer:
        return np.asarray(x.concrete()).item()
    return [known(y) for y in x] if isinstance(x, list | tuple) else x
