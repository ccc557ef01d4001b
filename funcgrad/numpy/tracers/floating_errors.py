"""`np.errstate` and kin asked to raise: what is traced is computed after the function, and raises nothing.

Where the user's code has a handler for it, the other path would be taken without a word: it is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, user_location
from funcgrad.tracing.guarded import has_handler

__all__ = ["RAISING"]

Function = Callable[..., Any]


def asked_to_raise(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Whether floating-point errors are to become exceptions."""
    return "raise" in args or "raise" in kwargs.values()


def asked_for_errors(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Whether warnings about numbers are to become exceptions."""
    kinds = [x for x in (*args, *kwargs.values()) if isinstance(x, type) and issubclass(x, Warning)]
    return "error" in (*args[:1], kwargs.get("action")) and all(issubclass(RuntimeWarning, k) for k in kinds)


def refused_where_handled(
    function: Function,
    name: str,
    asked: Callable[[tuple[object, ...], dict[str, object]], bool],
    raised: type[Exception],
) -> Function:
    """The function, which refuses to be asked for exceptions that the user's code would handle."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if asked(args, kwargs) and has_handler((raised,), _getframe(1)):
            raise UnsupportedFunctionError(
                f"{name} is asked to raise {raised.__name__}, and traced operations raise none",
                source=Source(*user_location()),
                remedy="Ask for what the handler is for: if np.isfinite(y), or if x > 0 before np.log(x).",
            )
        return function(*args, **kwargs)

    return call


RAISING: dict[Any, Function] = {
    np.errstate: refused_where_handled(np.errstate, "np.errstate", asked_to_raise, FloatingPointError),
    np.seterr: refused_where_handled(np.seterr, "np.seterr", asked_to_raise, FloatingPointError),
    warnings.simplefilter: refused_where_handled(
        warnings.simplefilter, "warnings.simplefilter", asked_for_errors, RuntimeWarning
    ),
    warnings.filterwarnings: refused_where_handled(
        warnings.filterwarnings, "warnings.filterwarnings", asked_for_errors, RuntimeWarning
    ),
}
"""What is called instead of functions that have floating-point errors raised."""
