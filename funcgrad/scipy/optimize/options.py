"""Options of solvers as parameters of an equation, and the results that solvers give inside a trace."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.api.control_flow.binding import bound
from funcgrad.ir.program import Program
from funcgrad.scipy.originals import originals_of
from funcgrad.transforms.solved.method import Method
from funcgrad.transforms.solved.solving import Solved
from funcgrad.types import Anything, Array, ScipyResult

IN_A_TRACE = "found inside a trace; success and status say how the search ended"

Options = tuple[tuple[str, Any], ...]


class Held:
    """An option that cannot be compared by value, such as a callback: equal to itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: Anything) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Held({self.value!r})"


def frozen(options: Mapping[str, Any] | None) -> Options:
    """The options as a value that can be compared."""
    return tuple([(key, hashable(value)) for key, value in sorted((options or {}).items())])


def hashable(value: object) -> Hashable:
    """The option itself, or held where it has no hash."""
    if isinstance(value, dict):
        return Held(value)
    try:
        hash(value)
    except TypeError:
        return Held(value)
    return value


def thawed(options: Options) -> dict[str, Any]:
    """The options as SciPy takes them."""
    return {key: value.value if isinstance(value, Held) else value for key, value in options}


scipys = originals_of("optimize")
"""SciPy's functions and classes by name."""


def found(method: Method, programs: tuple[Program, ...], inputs: Sequence[Any]) -> Sequence[Any]:
    """What the method finds, as an equation of the open trace, or at once where no input is traced."""
    return bound(Solved(method, programs, ()), inputs)


def result(**fields: object) -> ScipyResult:
    """SciPy's object for results."""
    return scipys("OptimizeResult")(message=IN_A_TRACE, **fields)


def report(
    solved: Array, success: Array = True, status: Array = 0, nit: Array = 0, nfev: Array = 0
) -> tuple[Any, Any, Any, Any, Any]:
    """What the results of every implicit method end with.

    What is solved has a derivative, also where SciPy is not content with the last digits.
    """
    return np.bool_(solved), np.bool_(success), np.int64(status), np.int64(nit), np.int64(nfev)
