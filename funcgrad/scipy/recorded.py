"""Functions that users hand to solvers, recorded: shared by `optimize` and `integrate`.

A function is recorded without values; what it closes over, the values of outer traces among them, becomes
further inputs, so derivatives by it are right. Where nothing is traced SciPy is handed the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import run
from funcgrad.api.control_flow.control_types import Recorded, recorded
from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import cast, reshape
from funcgrad.ops.elementwise.complexes import make_complex
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.scipy.adopted import adopted_function
from funcgrad.scipy.derived import applied, composed
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import active_recorder, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, ExtraArguments

Function = Callable[..., Any]

FLOAT = np.dtype(np.float64)


class Closed(Protocol):
    """A Program whose last inputs have values."""

    @property
    def program(self) -> Program:
        """Of some arrays, and the constants."""

    @property
    def constants(self) -> list[Any]:
        """The values of the last inputs."""


class Known:
    """A recorded function of arrays: its Program, and the values of what it closes over.

    A complex value that it closes over is two real ones to the Program, so that its tangent is as well.
    """

    __slots__ = ("constants", "program", "recorded")

    def __init__(self, found: Recorded) -> None:
        self.recorded = found
        self.program: Program = found.transformed("known", _itself, found.out_avals)
        self.constants: list[Any] = found.constants
        if any(a.dtype.kind == "c" for a in self.program.in_avals[found.traced.n_inputs :]):
            count = len(self.constants)
            self.program = found.transformed(("of reals", count), of_real_constants(count), found.out_avals)
            self.constants = [part for x in self.constants for part in real_parts(x)]

    def __call__(self, *args: ArrayLike) -> Array:
        """The function of these arrays, traced or not: one result, or a tuple of several."""
        outs = run(self.program, [*args, *self.constants])
        return outs[0] if len(outs) == 1 else tuple(outs)


def _itself(program: Program) -> Program:
    return program


def real_parts(x: ArrayLike) -> list[Any]:
    """The real and the imaginary part of what is complex, and what is real itself."""
    return [np.real(x), np.imag(x)] if aval_of_any(x).dtype.kind == "c" else [x]


def of_real_constants(count: int) -> Callable[[Program], Program]:
    """What makes the same function of the parts of its last inputs, that many."""

    def build(program: Program) -> Program:
        avals = program.in_avals
        fixed, wanted = avals[: len(avals) - count], avals[len(avals) - count :]

        def together(*inputs: Array) -> list[Any]:
            rest = iter(inputs[len(fixed) :])
            given = [
                make_complex.bind(next(rest), next(rest)) if a.dtype.kind == "c" else next(rest)
                for a in wanted
            ]
            return applied(program, [*inputs[: len(fixed)], *given])

        parts = [
            Aval(a.shape, np.zeros(0, a.dtype).real.dtype) if a.dtype.kind == "c" else a
            for a in wanted
            for _ in range(2 if a.dtype.kind == "c" else 1)
        ]
        return composed(together, [*fixed, *parts], program.name)

    return build


def known(function: Function, avals: Sequence[Aval], what: str, role: str, args: Sequence[Any] = ()) -> Known:
    """``function(*arrays of these avals, *args)``, recorded; `args` count among what it closes over."""
    if not callable(function):
        raise TypeError(f"{what} expects a function, got a {type(function).__name__}: {function!r}")
    function = of_ours(function)

    def call(*arrays: Array) -> Array:
        return function(*arrays, *args)

    call.__name__ = getattr(function, "__name__", role)
    structure = tree.structure(tuple(avals))
    return Known(recorded(call, structure, avals, what, role))


def of_ours(function: Function) -> Function:
    """The function itself; ours where it is a method of an object of SciPy's, such as ``norm.pdf``."""
    found: Function | None = adopted_function(function)
    return function if found is None else found


def scalar_function(function: Function, avals: Sequence[Aval], what: str, args: Sequence[Any] = ()) -> Known:
    """A function that returns one real number; SciPy's vector of one element counts as such."""
    function = of_ours(function)

    def number(*arrays: Array) -> Array:
        value = asoperand(function(*arrays, *args))
        seen = aval_of_any(value)
        if seen.size != 1 or seen.dtype.kind == "c":
            raise ShapeError(
                f"the function given to {what} must return a real number, and returned {seen}", source=here()
            )
        return cast(reshape(value, ()) if seen.shape else value, FLOAT)

    number.__name__ = getattr(function, "__name__", "objective")
    return known(number, avals, what, "objective")


def vector_function(function: Function, avals: Sequence[Aval], what: str, args: Sequence[Any] = ()) -> Known:
    """A function that returns a vector; a number is a vector of one element."""
    function = of_ours(function)

    def vector(*arrays: Array) -> Array:
        value = asoperand(function(*arrays, *args))
        seen = aval_of_any(value)
        if seen.dtype.kind == "c" or seen.ndim > 1:
            raise ShapeError(
                f"the function given to {what} must return a real vector, and returned {seen}", source=here()
            )
        value = value if isinstance(value, Tracer | np.ndarray) else np.asarray(value)
        return cast(reshape(value, (seen.size,)), FLOAT)

    vector.__name__ = getattr(function, "__name__", "residuals")
    return known(vector, avals, what, "residuals")


def as_args(args: ExtraArguments) -> tuple[Any, ...]:
    """SciPy's `args`: a tuple, or the one argument there is."""
    return args if isinstance(args, tuple) else (args,)


def is_plain(*values: object) -> bool:
    """Whether no trace is open, so that SciPy may be handed everything as it stands."""
    return active_recorder() is None and recorder_of(tree.leaves(values)) is None


def real_vector(x: ArrayLike, what: str) -> Array:
    """A start as a vector of doubles, traced or not; raises DtypeError for complex numbers."""
    value = asoperand(x)
    seen = aval_of_any(value)
    if seen.dtype.kind == "c":
        raise DtypeError(f"{what} looks for real numbers, and the start is {seen}", source=here())
    value = value if isinstance(value, Tracer) else np.asarray(value)
    return cast(reshape(value, (seen.size,)), FLOAT)


def real_scalar(x: ArrayLike, what: str) -> Array:
    """A start, bracket or limit as a double, traced or not."""
    value = asoperand(x)
    seen = aval_of_any(value)
    if seen.size != 1 or seen.dtype.kind == "c":
        raise ShapeError(f"{what} takes a real number here, got {seen}", source=here())
    value = value if isinstance(value, Tracer) else np.asarray(value)
    return cast(reshape(value, ()), FLOAT)
