"""How NumPy's own functions reach ours: the tables behind ``__array_ufunc__`` and ``__array_function__``.

Every function of this package that stands in for one of NumPy's says so with `implements`; the tracer
answers NumPy's protocols from these tables. The tables are filled while the package is imported and
never change afterwards, except through `funcgrad.extend`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from funcgrad.errors import TracerAssignmentError, UnsupportedFunctionError
from funcgrad.source import Source, user_location
from funcgrad.tracing.tracer import Tracer

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy (and SciPy) functions by identity, and what runs when an argument is a tracer."""

UFUNC_METHODS: dict[tuple[Any, str], Callable[..., Any]] = {}
"""``(np.add, "reduce")`` and the like."""


def implements(*functions: Any) -> Callable[[F], F]:
    """Register the decorated function for these NumPy functions or ufuncs."""

    def register(ours: F) -> F:
        for function in functions:
            FUNCTIONS[function] = ours
        return ours

    return register


def implements_method(ufunc: Any, method: str) -> Callable[[F], F]:
    """Register the decorated function for a ufunc's method, such as ``np.add.reduce``."""

    def register(ours: F) -> F:
        UFUNC_METHODS[ufunc, method] = ours
        return ours

    return register


def array_ufunc(self: Tracer, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's protocol for ufuncs: ``np.sin(t)``, ``array + t``, ``np.add.reduce(t)``."""
    if method == "__call__":
        ours = FUNCTIONS.get(ufunc)
        if ours is not None:
            return ours(*inputs, **kwargs) if not kwargs else called_with_options(ufunc, ours, inputs, kwargs)
    else:
        ours = UFUNC_METHODS.get((ufunc, method))
        if ours is not None:
            return ours(*inputs, **kwargs)
    name = f"np.{ufunc.__name__}" if method == "__call__" else f"np.{ufunc.__name__}.{method}"
    raise unsupported(name)


def called_with_options(ufunc: Any, ours: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc call with ``out=``, ``where=`` or ``dtype=``."""
    options = dict(kwargs)
    out = options.pop("out", None)
    where = options.pop("where", True)
    dtype = options.pop("dtype", None)
    options.pop("casting", None)
    if options:
        raise unsupported(f"np.{ufunc.__name__} with {', '.join(sorted(options))}")
    target = out[0] if isinstance(out, tuple) else out
    if target is not None and not isinstance(target, Tracer):
        raise assigned_into_array(f"np.{ufunc.__name__} with out=")
    if dtype is not None:
        inputs = tuple([np.astype(np.asarray(x), dtype) if not isinstance(x, Tracer) else x.astype(dtype) for x in inputs])  # type: ignore[attr-defined]
    result = ours(*inputs)
    if where is not True:
        if target is None:
            raise unsupported(f"np.{ufunc.__name__} with where= and no out=")
        result = FUNCTIONS[np.where](where, result, target)
    if target is None:
        return result
    target[...] = result  # type: ignore[index]
    return target


def array_function(self: Tracer, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's protocol for all other functions: ``np.sum(t)``, ``np.linalg.norm(t)``."""
    ours = FUNCTIONS.get(function)
    if ours is None:
        module = getattr(function, "__module__", "numpy") or "numpy"
        raise unsupported(f"{module}.{function.__name__}".replace("numpy.", "np.", 1))
    return ours(*args, **kwargs)


def unsupported(name: str) -> UnsupportedFunctionError:
    """The error for a NumPy function that has no counterpart here."""
    return UnsupportedFunctionError(
        f"{name} is not supported on traced arrays",
        source=Source(*user_location()),
        remedy="Write it with functions of fg.numpy, or teach funcgrad: "
        f"@fg.extend.implements({name}) on a function composed of them, or fg.custom_vjp around the call.",
    )


def assigned_into_array(what: str) -> TracerAssignmentError:
    """The error for a tracer about to be stored in a real ndarray, where its gradient would be lost."""
    return TracerAssignmentError(
        f"{what} would store a traced value in a NumPy array, which cannot hold it",
        source=Source(*user_location()),
        remedy="Make the array with fg.numpy.zeros (or np.zeros_like of a traced value), which can be assigned into.",
    )
