"""For those who go behind the functions: new operations, and NumPy functions taught to trace.

A NumPy function that can be written with others needs no derivative, only an equivalent:

>>> @implements(np.polyval)
... def polyval(p, x):
...     total = 0.0
...     for coefficient in p:
...         total = total * x + coefficient
...     return total
>>> print(fg.grad(lambda x: np.polyval([3.0, 2.0, 1.0], x))(2.0))
14.0

An operation of its own is one class with its type, value, derivative and samples; `Unary` and the other
families supply most of it, and every sample is tested by `funcgrad.testing` and by our own suite:

>>> class Softsign(Unary):
...     "x / (1 + |x|)."
...     name = "softsign"
...     def evaluate(self, x):
...         return x / (1.0 + abs(x))
...     def derivative(self, x, out):
...         return (1.0 - abs(out)) ** 2
...     @classmethod
...     def samples(cls):
...         return (Sample(normal(3)),)
>>> softsign = Softsign()
>>> print(fg.grad(lambda x: softsign(x))(1.0), softsign(1.0))
0.25 0.5
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from funcgrad import lax, ops, transforms
from funcgrad.api.calling.calls import run as _run
from funcgrad.errors import ProgramError, did_you_mean
from funcgrad.ir.avals import Aval
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.program import Program
from funcgrad.ir.text.parsing import parse
from funcgrad.ir.text.remembered import ARRAYS
from funcgrad.numpy.dispatch import implements
from funcgrad.ops.arrays.structure import LinearUnary, Reduction
from funcgrad.ops.families import Binary, Pointwise, Unary
from funcgrad.ops.native import by_kind
from funcgrad.ops.rows import unary
from funcgrad.tracing.adapters import introduce
from funcgrad.tracing.primitive import Fold, Linear, Primitive
from funcgrad.tracing.samples import (
    ErrorSample,
    Sample,
    booleans,
    distinct,
    edge,
    fixed,
    integers,
    normal,
    positive,
    uniform,
)
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import AnyPrimitive, Array, ArrayLike

__all__ = [
    "Aval",
    "Binary",
    "ErrorSample",
    "Fold",
    "Linear",
    "LinearUnary",
    "Pointwise",
    "Primitive",
    "Reduction",
    "Sample",
    "Tracer",
    "Unary",
    "booleans",
    "by_kind",
    "call_program",
    "captured_array",
    "distinct",
    "edge",
    "fixed",
    "implements",
    "integers",
    "introduce",
    "normal",
    "parse",
    "positive",
    "primitive",
    "unary",
    "uniform",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


# Some operations are imported when they are asked for; who looks a primitive up by name asks for all.
_CONTROL_FLOW = lax
for _package in (ops, transforms):
    for _module in walk_packages(_package.__path__, f"{_package.__name__}."):
        import_module(_module.name)


def primitive(name: str, **params: object) -> AnyPrimitive:
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


def call_program(program: Program, *operands: ArrayLike) -> Sequence[Any]:
    """The outputs of a Program on flat operands that have the types of its inputs.

    Called inside a function that is being recorded, its equations become part of the record.

    >>> double = fg.make_program(lambda x: 2.0 * x)(np.ones(3))
    >>> print(fg.grad(lambda x: call_program(double, x)[0].sum())(np.ones(3)))
    [2. 2. 2.]
    """
    return _run(program, operands)


def captured_array(digest: str) -> Array:
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
