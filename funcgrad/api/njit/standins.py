"""What Numba's code calls, and what is called instead where a traced value meets it.

Numba takes functions of `math` and `cmath`, its own types as casts, and its own `prange`. NumPy's functions
are as in any traced function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.api.mathematics import COMPLEX, QUESTIONS, REAL, Function, raised_as_by_python
from funcgrad.api.njit.numbers import widened
from funcgrad.api.python.blocks.cells import is_undecided
from funcgrad.ops.arrays.structure import cast as converted
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, Number, Tree


def on_traced(theirs: Function, ours: Function) -> Function:
    """Ours where an argument is traced, and theirs otherwise."""

    def either(*args: Tree, **kwargs: Tree) -> Anything:
        if not any(holds_traced(x) for x in args):
            return theirs(*args, **kwargs)
        found = ours(*args, **kwargs)
        if theirs not in QUESTIONS:
            raised_as_by_python(theirs, found, args)
        return found

    return either


def holds_traced(x: object) -> bool:
    """Whether `x` is traced, or a list or tuple with something traced in it."""
    return type(x) is Tracer or (isinstance(x, list | tuple) and any(holds_traced(y) for y in x))


MATHEMATICS: dict[Any, Function] = {
    theirs: on_traced(theirs, ours) for theirs, ours in (REAL | QUESTIONS | COMPLEX).items()
}
"""What is called instead of a function of `math` or `cmath`."""


def cast_to(dtype: np.dtype[Any], theirs: Function) -> Function:
    """A type called as a function: the number or array in that type."""

    def cast(x: Number = 0, *others: Number) -> Number:
        if type(x) is not Tracer or others:
            return theirs(x, *others)
        return x if x.aval.dtype == dtype and not x.aval.weak else converted(x, dtype)

    return cast


def enumerated(x: ArrayLike) -> Iterator[Any]:
    """``np.ndenumerate``, whose elements stay traced."""
    for index in np.ndindex(x.shape):
        yield index, widened(x[index])


def complex_of(x: Number = 0, y: Number = 0) -> object:
    """``complex``"""
    if not (is_undecided(x) or is_undecided(y)):
        return complex(x, y)
    return converted(x + 1j * y, np.dtype(np.complex128))


CASTS: dict[Any, Function] = {
    complex: complex_of,
    **{
        kind: cast_to(np.dtype(kind), kind)
        for kind in (
            *(np.float16, np.float32, np.float64, np.complex64, np.complex128, np.bool_),
            *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        )
    },
}
"""What is called instead of a type."""
