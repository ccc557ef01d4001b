"""Doors for those who look behind the functions: primitives by name, and arrays that a source refers to."""

from __future__ import annotations

from typing import Any

from funcgrad.errors import ProgramError, did_you_mean
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.remembered import ARRAYS

__all__ = ["captured_array", "primitive"]


def primitive(name: str, **params: Any) -> Any:
    """The primitive operation of this name with these parameters, as it stands in a Program.

    Raises ProgramError if there is no such primitive, TypeError if it has other parameters.

    >>> total = primitive("reduce_sum", axes=(0,))
    >>> total
    reduce_sum(axes=(0,))
    >>> print(total.evaluate(np.array([1.0, 2.0])))
    3.0
    """
    cls = CATALOG.get(name)
    if cls is None:
        raise ProgramError(f"no primitive is called {name!r}", remedy=did_you_mean(name, CATALOG) or None)
    if set(params) != set(cls.parameters):
        raise TypeError(f"{name} takes the parameters {cls.parameters}, and was given {tuple(params)}")
    return cls(**params)


def captured_array(digest: str) -> Any:
    """The array that `Program.to_numpy_source` named by this digest in this process.

    Raises ProgramError if nobody holds the array any more, or in another process: pass it instead.

    >>> weights = np.linspace(0.0, 1.0, 20)
    >>> program = fg.make_program(lambda x: x * weights)(np.ones(20))
    >>> [line] = [line for line in program.to_numpy_source().splitlines() if line.startswith("def")]
    >>> print(line)
    def function(x, *, a=captured_array("...")):
    """
    array = ARRAYS.find(digest)
    if array is None:
        raise ProgramError(
            f"this process does not hold the captured array {digest}",
            remedy="Run the source where its Program was made, or pass the array as an argument.",
        )
    return array
