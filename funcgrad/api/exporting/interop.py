"""Compiled functions for other compiled code: inside Numba's ``@njit``, and as C functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.derivatives.gradients import value_and_grad
from funcgrad.api.exporting.export import ExportedModule
from funcgrad.api.exporting.exported_function import export_of
from funcgrad.api.jit import JittedFunction, jit
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.later import Later
from funcgrad.types import ArrayLike, NumbaFunction, Tree

if TYPE_CHECKING:
    from funcgrad.compile.runtime.logp_callback import LogpCallback

# Numba is behind them, and SciPy.
interop = Later("funcgrad.compile.runtime.interop")
logp_callbacks = Later("funcgrad.compile.runtime.logp_callback")
scipy = Later("scipy")


def jitted(fun: Callable[..., Any]) -> JittedFunction[..., Any]:
    """The function as `jit` has it."""
    return fun if isinstance(fun, JittedFunction) else jit(fun)


def typed_numbers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in which numbers stand for any number of their dtype, not for Python's or arrays' alone."""
    return tuple([np.asarray(x)[()] if is_number(x) else x for x in args])


def is_number(x: object) -> bool:
    """Whether an argument is a number, or an array that has no axes."""
    return isinstance(x, bool | int | float | complex) or (isinstance(x, np.ndarray) and not x.ndim)


def njit_callable(fun: Callable[..., Any], *example_args: object) -> NumbaFunction:
    """A Numba function that computes `fun`, for calls from your own ``@njit`` code.

    `example_args` are of the ranks and dtypes that it will be called with: arrays, numbers, and tuples and
    named tuples of them, as its results are. It is the function of the module that `export` writes, so arrays
    may have other lengths, and Numba may inline it. A function that closes over arrays, or has a part that
    only funcgrad's own machine code does, calls that code by its address: arrays then have the shapes of the
    example, and several results come as a flat tuple. Python may call either.

    Raises UnsupportedFunctionError where a part of `fun` has no native form; calls with arrays of shapes that
    it was not made for raise ValueError.

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
    args = typed_numbers(example_args)
    text = function_of_text(jitted(fun), args)
    return text if text is not None else function_by_address(jitted(fun), args)


def function_of_text(fun: JittedFunction[..., Any], args: tuple[Any, ...]) -> NumbaFunction:
    """The Numba function of an exported module; None where there is none, or its arrays would be copies."""
    try:
        exporter, joint = export_of(fun.copied(), args, {}, "numba")
        text, name = exporter.module(joint)
    except UnsupportedFunctionError:
        return None
    if exporter.holds_arrays or not exporter.is_compiled:
        return None
    return ExportedModule(text, name).function


def function_by_address(fun: JittedFunction[..., Any], args: tuple[Any, ...]) -> NumbaFunction:
    """A Numba function around the machine code that `jit` has made."""
    name = getattr(fun, "__name__", "function")
    found = fun.specialized(*args)
    if found.written:
        raise UnsupportedFunctionError(
            f"{name} writes into its arguments, which machine code called by address does not",
            source=here(),
            remedy="Return the arrays instead of writing them into arguments.",
        )
    return interop.numba_function(found.executable, name if name.isidentifier() else "function")


def low_level_callable(
    fun: Callable[..., Any], *example_args: ArrayLike, signature: str | None = None
) -> NumbaFunction:
    """`fun` as a `scipy.LowLevelCallable`, which SciPy calls without Python.

    `fun` takes one number, or one array of numbers, and returns one number. `signature` is one that SciPy
    asks for; by default ``double (double)`` for a number and ``double (int, double *)`` for an array.

    Raises UnsupportedFunctionError for other arguments, and where a part of `fun` has no native form.

    >>> from scipy.integrate import quad
    >>> integrand = low_level_callable(lambda x: np.exp(-x * x), 1.0)
    >>> round(quad(integrand, -10.0, 10.0)[0] ** 2, 6)
    3.141593
    """
    found = jitted(fun).specialized(*typed_numbers(example_args))
    avals, outs = found.program.in_avals, found.program.out_avals
    if len(avals) != 1 or len(outs) != 1 or outs[0].shape or avals[0].ndim > 1:
        raise UnsupportedFunctionError(
            "low_level_callable needs a function of one number or one vector that returns one number",
            remedy="Wrap it: low_level_callable(lambda x: f(x[0], x[1:]), np.ones(3)).",
        )
    if signature is None:
        signature = "double (int, double *)" if avals[0].shape else "double (double)"
    if signature not in interop.SIGNATURES or ("double *" in signature) != bool(avals[0].shape):
        raise UnsupportedFunctionError(
            f"low_level_callable has no signature {signature!r} for {avals[0]}",
            remedy=f"It has {', '.join(map(repr, interop.SIGNATURES))}.",
        )
    callback = interop.c_callback(njit_callable(fun, *example_args), signature, avals[0].size)
    return scipy.LowLevelCallable(callback.ctypes)


def logp_callback(fun: Callable[..., Any], example: Tree) -> LogpCallback:
    """A log-density and its gradient as one C function, for samplers that ask without Python.

    `fun` takes one vector, of the length of `example`, and returns one number. The C function is
    ``int (size_t n, const double *x, double *grad, double *logp, void *user)``. It returns 0; or -1 where `n`
    is not the length of the example, 1 where the function raises an error, 3 where an element of the gradient
    is not finite, and 4 where the density is not. It holds no lock of the interpreter's, and threads may call
    it at once.

    Raises UnsupportedFunctionError for other functions, and where a part of `fun` has no native form.

    >>> density = fg.logp_callback(lambda x: -0.5 * np.sum(x**2), np.zeros(3))
    >>> x, slope, value = np.array([1.0, 2.0, 2.0]), np.zeros(3), np.zeros(1)
    >>> density.ctypes(3, x.ctypes.data, slope.ctypes.data, value.ctypes.data, None)
    0
    >>> value, slope
    (array([-4.5]), array([-1., -2., -2.]))
    """
    vector = np.asarray(example, np.float64)
    found = jitted(fun).specialized(vector).program
    if vector.ndim != 1 or len(found.out_avals) != 1 or found.out_avals[0].shape:
        raise UnsupportedFunctionError(
            "logp_callback needs a function of one vector that returns one number",
            remedy="fg.ravel_pytree makes a vector of parameters, and parameters of a vector.",
        )
    made: LogpCallback = logp_callbacks.LogpCallback(njit_callable(value_and_grad(fun), vector), vector.size)
    return made
