"""Recognises objects of Numba's, and never imports it: where it is not loaded there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import modules
from types import FunctionType
from typing import Any

import numpy as np

from funcgrad.api.python.unbound import value_in
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Foreign, NumbaFunction


def is_njit(x: object) -> bool:
    """Whether `x` is what ``numba.njit`` and ``numba.jit`` make of a function.

    >>> import numba
    >>> is_njit(numba.njit(lambda x: x)), is_njit(len)
    (True, False)
    """
    found = modules.get("numba.core.dispatcher")
    return found is not None and isinstance(x, found.Dispatcher)


def behind_callback(x: Foreign) -> object:
    """The Python function of what ``numba.cfunc`` makes; anything else as it is.

    >>> behind_callback(len)
    <built-in function len>
    """
    found = modules.get("numba.core.ccallback")
    return x._pyfunc if found is not None and isinstance(x, found.CFunc) else x


def is_vectorized(x: object) -> bool:
    """Whether `x` is what ``numba.vectorize`` or ``numba.guvectorize`` makes of a function.

    >>> import numba
    >>> is_vectorized(numba.vectorize(lambda x: x)), is_vectorized(np.sin)
    (True, False)
    """
    found = modules.get("numba.np.ufunc.ufunc_base")
    return found is not None and isinstance(x, found.UfuncBase)


def is_compiled(x: object) -> bool:
    """Whether `x` is a function that Numba compiles, of numbers, of arrays or element by element."""
    return is_njit(x) or is_vectorized(x)


def is_numbas(x: object) -> bool:
    """Whether `x` is Numba's own: a function or class of that package, or an instance of one.

    >>> import numba
    >>> is_numbas(numba.prange), is_numbas(np.sum)
    (True, False)
    """
    if "numba" not in modules:
        return False
    module = getattr(x, "__module__", None) if isinstance(x, type | FunctionType) else type(x).__module__
    return isinstance(module, str) and module.partition(".")[0] == "numba"


def python_function(dispatcher: NumbaFunction) -> FunctionType:
    """The function that Numba compiles; of a vectorized one, that of one example."""
    builder = getattr(dispatcher, "gufunc_builder", None)
    made = dispatcher if is_njit(dispatcher) else builder or dispatcher._dispatcher
    found: FunctionType = made.py_func
    return found


def njit_behind(fun: object) -> object:
    """The function of Numba's that `fun` is, or is a transform of; None where there is none."""
    while True:
        if is_compiled(fun):
            return fun
        made_by = getattr(fun, "_made_by", None)
        if type(made_by) is not tuple:
            return None
        fun = made_by[1][0]


def fixed(x: object) -> bool:
    """Whether an argument decides how Numba's code runs rather than what it computes with.

    So sizes may be given: whole numbers, strings, None, functions and tuples of these.
    """
    if isinstance(x, bool | int | np.integer | np.bool_ | str | type(None) | FunctionType) or is_njit(x):
        return True
    return isinstance(x, tuple) and all(fixed(item) for item in x)


def never_fixed(_: object) -> bool:
    """Of functions whose arguments are all computed with."""
    return False


def traced_within(values: Iterable[Any], is_traced: Callable[[Any], bool]) -> bool:
    """Whether something traced stands among the values: in tuples, in lists, or where functions read it.

    A function of Numba's may read names of the function around it, where a traced value would be a constant.
    """
    stack = list(values)
    functions: set[int] = set()
    while stack:
        x = stack.pop()
        kind = type(x)
        if kind is Tracer or is_traced(x):
            return True
        if isinstance(x, tuple | list):
            stack += x
        elif kind is not int and kind is not float and is_njit(x) and id(x) not in functions:
            functions.add(id(x))
            stack += [value_in(cell) for cell in python_function(x).__closure__ or ()]
    return False
