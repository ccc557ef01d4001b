"""What Numba's functions take and transforms do not, and exceptions that their machine code raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.errors import FuncgradError, TracedBranchError, UnsupportedFunctionError
from funcgrad.tracing.tracer import Tracer

SPOKEN = {"List": "numba.typed.List", "Dict": "numba.typed.Dict", "_ObjModeContextType": "numba.objmode"}
"""Names that users know, by those of the classes."""


def not_traced(argument: object, function: str) -> FuncgradError:
    """The error for an argument that Numba's code takes, and a trace does not."""
    name = type(argument).__name__
    what = SPOKEN.get(name, f"a {name}")
    if isinstance(argument, np.ndarray):
        what = f"an array of records ({argument.dtype})" if argument.dtype.names else f"{argument.dtype}[]"
    return UnsupportedFunctionError(
        f"an argument of {function} is {what}, which cannot be traced",
        source=here(),
        remedy="Pass arrays, tuples and numbers; or declare the function's derivative with fg.custom_vjp.",
    )


def refuse_records(x: object) -> None:
    """Raise for an array of records, or one of them, that Numba's code reads or writes."""
    if isinstance(x, np.ndarray | np.void) and x.dtype.names:
        raise UnsupportedFunctionError(
            f"an array of records ({x.dtype}) holds no traced numbers",
            source=here(),
            remedy="Use an array for each field, or a named tuple of them; or declare the function's "
            "derivative with fg.custom_vjp.",
        )


def call_to_raise(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    """Call the function where a recorded guard has failed, so that it raises what it raises.

    Arguments that are traced have values there. Raises TracedBranchError if the function raises nothing.
    """
    given = [valued(x) for x in args]
    named = {key: valued(x) for key, x in kwargs.items()}
    result = function(*given, **named)
    if not any(type(x) is Tracer for x in (*args, *kwargs.values())):
        return result
    raise TracedBranchError(
        "a condition that was recorded fails, and the function itself raises nothing",
        source=here(),
        remedy="Let the branches of the function return, and check arguments outside of it.",
    )


def valued(x: object) -> object:
    """The value of a traced argument."""
    return x.concrete() if type(x) is Tracer else x
