"""Compiled functions for other compiled code: inside Numba's ``@njit``, and as C functions for SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.jit import JittedFunction, jit
from funcgrad.errors import UnsupportedFunctionError


def specialized(fun: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What `jit` makes of a function for arguments like these, all of them arrays or numbers."""
    jitted = fun if isinstance(fun, JittedFunction) else jit(fun)
    # Numbers stand for any number of their dtype, not for Python's alone.
    return jitted.specialized(*[x if isinstance(x, np.ndarray) else np.asarray(x)[()] for x in args])


def njit_callable(fun: Callable[..., Any], *example_args: Any) -> Any:
    """A Numba function that computes `fun`, for calls from your own ``@njit`` code.

    `example_args` are arrays and numbers of the shapes and dtypes that it will be called with. Several
    results come as a flat tuple. It is an ordinary Numba dispatcher: Python may call it too.

    Raises UnsupportedFunctionError where a part of `fun` has no native form; calls with arrays of other
    shapes raise ValueError.

    >>> import numba
    >>> slope = njit_callable(fg.grad(lambda x: x**3), 1.0)
    >>> @numba.njit
    ... def total_slope(n):
    ...     total = 0.0
    ...     for k in range(n):
    ...         total += slope(float(k))
    ...     return total
    >>> total_slope(4)
    42.0
    """
    from funcgrad.compile.runtime.interop import numba_function  # noqa: PLC0415 - imports Numba

    found = specialized(fun, example_args)
    name = getattr(fun, "__name__", "function")
    return numba_function(found.executable, name if name.isidentifier() else "function")


def low_level_callable(fun: Callable[..., Any], *example_args: Any, signature: str | None = None) -> Any:
    """`fun` as a `scipy.LowLevelCallable`, which SciPy calls without Python.

    `fun` takes one number, or one array of numbers, and returns one number. `signature` is one that SciPy
    asks for; by default ``double (double)`` for a number and ``double (int, double *)`` for an array.

    Raises UnsupportedFunctionError for other arguments, and where a part of `fun` has no native form.

    >>> from scipy.integrate import quad
    >>> integrand = low_level_callable(lambda x: np.exp(-x * x), 1.0)
    >>> round(quad(integrand, -10.0, 10.0)[0] ** 2, 6)
    3.141593
    """
    from scipy import LowLevelCallable  # noqa: PLC0415 - when first needed

    from funcgrad.compile.runtime.interop import SIGNATURES, c_callback  # noqa: PLC0415 - imports Numba

    found = specialized(fun, example_args)
    avals, outs = found.program.in_avals, found.program.out_avals
    if len(avals) != 1 or len(outs) != 1 or outs[0].shape or avals[0].ndim > 1:
        raise UnsupportedFunctionError(
            "low_level_callable needs a function of one number or one vector that returns one number",
            remedy="Wrap it: low_level_callable(lambda x: f(x[0], x[1:]), np.ones(3)).",
        )
    if signature is None:
        signature = "double (int, double *)" if avals[0].shape else "double (double)"
    if signature not in SIGNATURES or ("double *" in signature) != bool(avals[0].shape):
        raise UnsupportedFunctionError(
            f"low_level_callable has no signature {signature!r} for {avals[0]}",
            remedy=f"It has {', '.join(map(repr, SIGNATURES))}.",
        )
    callback = c_callback(njit_callable(fun, *example_args), signature, avals[0].size)
    return LowLevelCallable(callback.ctypes)
