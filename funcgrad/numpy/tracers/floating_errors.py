"""`np.errstate` and kin asked to raise: what is traced is computed after the function, and raises nothing.

Where the user's code has a handler for it, the other path would be taken without a word: it is refused. So is
a function to be called for each error, and a list of warnings that is read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FunctionType
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, user_location
from funcgrad.tracing.guarded import cannot_raise, handles_inside, has_handler
from funcgrad.tracing.recorder import active_recorder
from funcgrad.types import Anything, Arrays, Index, Result, Tree

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

    def call(*args: Tree, **kwargs: Tree) -> Result:
        if asked(args, kwargs) and has_handler((raised,), _getframe(1)):
            raise cannot_raise(name, raised)
        if raised is FloatingPointError and not {"call", "log"}.isdisjoint(
            map(str, (*args, *kwargs.values()))
        ):
            raise UnsupportedFunctionError(
                f"{name} is asked to call a function for each error, and traced operations make none",
                source=Source(*user_location()),
                remedy="Ask for what the function is for: np.isfinite(y), or x > 0 before np.log(x).",
            )
        return function(*args, **kwargs)

    return call


# -- functions decorated with `np.errstate` ---------------------------------------------------------------


def nothing() -> None:
    """What is decorated to see how decorated functions look."""


_DECORATED = np.errstate()(nothing).__code__
"""The code of every function that `np.errstate` has decorated."""
_SETTINGS = ("_all", "_divide", "_over", "_under", "_invalid")


def decorated(function: object) -> bool:
    """Whether it is a function under a decorator ``np.errstate(...)`` that has errors raised."""
    if type(function) is not FunctionType or function.__code__ is not _DECORATED:
        return False
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    return any("raise" in [getattr(x, name, None) for name in _SETTINGS] for x in held)


def under_errstate(function: Anything) -> Function:
    """A decorated function, which refuses to be called where an exception of it would be handled."""

    def call(*args: Tree, **kwargs: Tree) -> Result:
        raised = (FloatingPointError,)
        if has_handler(raised, _getframe(1)) or handles_inside(function.__wrapped__, raised):
            raise cannot_raise("np.errstate", FloatingPointError)
        return function(*args, **kwargs)

    return call


# -- lists of warnings ------------------------------------------------------------------------------------


class Warned:
    """The list of ``warnings.catch_warnings(record=True)``: it lacks what traced operations warn of."""

    def __init__(self, found: list[Any]) -> None:
        self._found = found
        recorder = active_recorder()
        self._begin = 0 if recorder is None else len(recorder.steps)

    def _read(self) -> list[Any]:
        recorder = active_recorder()
        if recorder is not None and len(recorder.steps) > self._begin:
            raise UnsupportedFunctionError(
                "a list of warnings is read, and traced operations are computed later, and warn nobody",
                source=Source(*user_location()),
                remedy="Ask for what the warning is about: np.isfinite(y), or x > 0 before np.log(x).",
            )
        return self._found

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __getitem__(self, index: Index) -> Anything:
        return self._read()[index]

    def __getattr__(self, name: str) -> Anything:
        return getattr(self._read(), name)


class CatchingWarnings(warnings.catch_warnings):
    """``warnings.catch_warnings``, whose list is a `Warned`."""

    def __enter__(self) -> Anything:
        found = super().__enter__()
        return found if found is None else Warned(found)


def catching(*args: Arrays, **kwargs: Anything) -> Anything:
    """``warnings.catch_warnings``."""
    return CatchingWarnings(*args, **kwargs)


RAISING: dict[Any, Function] = {
    np.errstate: refused_where_handled(np.errstate, "np.errstate", asked_to_raise, FloatingPointError),
    np.seterr: refused_where_handled(np.seterr, "np.seterr", asked_to_raise, FloatingPointError),
    warnings.catch_warnings: catching,
    warnings.simplefilter: refused_where_handled(
        warnings.simplefilter, "warnings.simplefilter", asked_for_errors, RuntimeWarning
    ),
    warnings.filterwarnings: refused_where_handled(
        warnings.filterwarnings, "warnings.filterwarnings", asked_for_errors, RuntimeWarning
    ),
}
"""What is called instead of functions that have floating-point errors raised."""
