"""Python's operators on a tracer: arithmetic, comparison, bits, and the built-in functions that ask for them.

The matrix product stands with the contractions, and the in-place operators with assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from sys import _getframe
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval
from funcgrad.numpy.elementwise import arithmetic as _public  # noqa: F401 - fills FUNCTIONS, which is read below
from funcgrad.numpy.elementwise.arithmetic import divmod, positive, power_of  # noqa: A004
from funcgrad.numpy.elementwise.rounding import round as rounded
from funcgrad.numpy.picking.ragged import Ragged
from funcgrad.numpy.tracers.python_numbers import PLAIN, dividing, raising_to_power
from funcgrad.ops.elementwise import arithmetic, comparison, logic, magnitude, rounding
from funcgrad.ops.families import Pointwise
from funcgrad.source import PLACES, place_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import captured, new_object
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike

Operation = Callable[..., Any]

KNOWN = frozenset({Tracer, float, int, complex, bool, np.float64, list, tuple})
"""Types that every operator takes without asking further."""


def defers_to(other: ArrayLike) -> bool:
    """Whether the other operand answers itself: ``__array_ufunc__ = None`` (NEP 13), or labels to keep."""
    kind = type(other)
    return kind is not np.ndarray and (
        kind is Ragged
        or getattr(kind, "__array_ufunc__", KNOWN) is None
        or kind.__module__.startswith("xarray.")
    )


def leaves_to(other: object, name: str, self: Tracer) -> bool:
    """Whether an object that is no number and no array answers the operator of a traced number itself.

    That of a traced array, too, where it asks for it, by ``__array_priority__`` or an ``__array_ufunc__``, as
    units of measure do.
    """
    kind = type(other)
    return (
        not isinstance(other, np.generic | np.ndarray)
        and (
            not self.aval.shape
            or hasattr(kind, "__array_ufunc__")
            or getattr(other, "__array_priority__", 0.0) > 0.0
        )
        and not hasattr(kind, "__array__")
        and hasattr(kind, f"__r{name.strip('_')}__")
        and (self.aval.dtype.kind in "iub" or not isinstance(other, str | bytes | bytearray))  # "ab" * n
        and not is_sparse(other)
    )


def as_captured(self: Tracer, other: ArrayLike) -> Array:
    """An array of NumPy's as it is; as a tracer where compiled code is to read it anew at every call."""
    recorder = self._recorder
    return captured(other, recorder) if recorder.copied is not None and type(other) is np.ndarray else other


def answered_for_sparse(name: str, self: Tracer, other: ArrayLike) -> Array:
    """The operation of a tracer and a sparse array of SciPy's."""
    return import_module("funcgrad.scipy.sparse.operators").operate(name, self, other)


def is_sparse(other: ArrayLike) -> bool:
    """Whether the other operand is a sparse array of SciPy's."""
    kind = type(other)
    return kind is not np.ndarray and kind.__module__.startswith("scipy.sparse.") and hasattr(kind, "tocsr")


def forward(operation: Operation, name: str) -> Operation:
    """``x + y`` with the tracer on the left."""
    primitive, known, of_arrays = met_before(operation)

    def operate(self: Tracer, other: ArrayLike) -> Array:
        # Plain tracers of one trace, or one and a number, as `literal_typed` and `append_typed` record them.
        recorder, seen = self._recorder, self.aval
        if self._view is None and not recorder.closed and (seen.shape or not of_arrays):
            kind = type(other)
            out = scalar = None
            if kind is Tracer:
                if other._recorder is recorder and other._view is None:
                    out = known.get((seen, other.aval))
            elif (kind is float or kind is int) and seen.inexact:
                scalar = seen.scalar
                out = known.get((seen, scalar))
            if out is not None:
                location = recorder.location
                if location is None:
                    frame = _getframe(1)
                    location = PLACES.get(frame.f_lasti)
                    if location is None or location[0] is not frame.f_code:
                        location = place_of(frame)
                avals = recorder.avals
                index = len(avals)
                if scalar is None:
                    recorder.steps.append((primitive, self._index, other._index))
                else:
                    value = scalar.dtype.type(other)
                    recorder.steps.append(scalar)
                    recorder.steps.append((primitive, self._index, index))
                    avals.append(scalar)
                    recorder.sources.append(None)
                    recorder.values[index] = value
                    recorder.operands.append((index, True))
                    recorder.operand_values.append(value)
                    index += 1
                avals.append(out)
                recorder.sources.append(location)
                made: Tracer = new_object(Tracer)
                made._recorder = recorder
                made._index = index
                made.aval = out
                made._view = made._alias = None
                return made
        if type(other) in KNOWN or (type(other) is np.ndarray and recorder.copied is None):
            return operation(self, other)
        return with_object(operation, name, self, other)

    return named(operate, name)


def with_object(operation: Operation, name: str, self: Tracer, other: ArrayLike) -> Array:
    """``x + y`` with an object on the right that may answer itself."""
    if defers_to(other) or leaves_to(other, name, self):
        return NotImplemented
    if is_sparse(other):
        return answered_for_sparse(name, self, other)
    return operation(self, as_captured(self, other))


def raised(operation: Operation, general: Operation) -> Operation:
    """``x ** y`` with the tracer on the left: arrays to whole powers are mostly met again."""

    def operate(self: Tracer, other: ArrayLike) -> Array:
        kind = type(other)
        if (kind is int or kind is float) and self.aval.shape and self._view is None:
            recorder = self._recorder
            met = POWERS.get((self.aval, kind, other))
            if met is not None and not recorder.closed:
                primitive, out = met
                return recorder.append_typed((primitive, self._index), out)
            found = operation(self, other)
            step = found._recorder.steps[found._index] if type(found) is Tracer else None
            if type(step) is tuple and step[1:] == (self._index,) and found._recorder is recorder:
                # One operation on this operand: nothing else was recorded for it.
                if len(POWERS) >= MOST_POWERS:
                    POWERS.clear()
                POWERS[self.aval, kind, other] = step[0], found.aval
            return found
        # Numbers ask who wrote the operator, and count the frames to there.
        return operation(self, other) if kind in KNOWN else general(self, other)

    return named(operate, general.__name__)


POWERS: dict[tuple[Aval, type, float], tuple[Any, Aval]] = {}
"""Powers of arrays that are one operation: the primitive and the type of its result."""

MOST_POWERS = 1000


def reflected(operation: Operation, name: str) -> Operation:
    """``x + y`` with the tracer on the right, and on the left what does not know it."""
    primitive, known, of_arrays = met_before(operation)

    def operate(self: Tracer, other: ArrayLike) -> Array:
        kind = type(other)
        if kind is float or kind is int:
            recorder, seen = self._recorder, self.aval
            out = known.get((seen.scalar, seen))
            if (
                out is not None
                and seen.inexact
                and self._view is None
                and not recorder.closed
                and (seen.shape or not of_arrays)
            ):
                return recorder.append_typed(
                    (primitive, recorder.literal_typed(other, seen.scalar), self._index), out
                )
        if kind in KNOWN:
            return operation(other, self)
        if not defers_to(other):
            if is_sparse(other):
                return answered_for_sparse(name, self, other)
            return operation(as_captured(self, other), self)
        return NotImplemented

    return named(operate, name)


def unary(operation: Operation, name: str) -> Operation:
    """``-x``."""
    primitive, known, _ = met_before(operation)

    def operate(self: Tracer) -> Array:
        recorder = self._recorder
        if self._view is None and not recorder.closed:
            out = known.get((self.aval,))
            if out is not None:
                return recorder.append_typed((primitive, self._index), out)
        return operation(self)

    return named(operate, name)


def met_before(operation: Operation) -> tuple[Any, dict[tuple[Aval, ...], Any], bool]:
    """The primitive of an operator, the types that it has given by those of its operands, and whether only
    arrays go straight to it.

    No types for what is more than a primitive: its operators ask it every time.
    """
    primitive: Any = PLAIN.get(operation, operation)
    return primitive, primitive._inferred if isinstance(primitive, Pointwise) else {}, operation in PLAIN


def equality(operation: Operation, name: str, unlike: bool) -> Operation:
    """``==`` and ``!=``, which also compare with what is no number: it is unlike every element."""

    def compare(self: Tracer, other: ArrayLike) -> Array:
        if type(other) in KNOWN:
            return operation(self, other)
        if defers_to(other):
            return NotImplemented
        try:
            other = asoperand(other)
        except DtypeError:
            return np.full(self.aval.shape, unlike)[()]
        return operation(self, other)

    return named(compare, name)


def whole_number(function: str, name: str) -> Operation:
    """``math.floor(x)`` and the like: an int, so it needs the value of a scalar."""

    def convert(self: Tracer) -> Array:
        if self.aval.shape:
            raise TypeError(f"{function} needs a scalar, got {self.aval}")
        return getattr(self._needed_by(function).item(), name)()

    return named(convert, name)


def _round(self: Tracer, ndigits: int | None = None) -> Array:
    if ndigits is not None:
        return rounded(self, ndigits)
    return whole_number("round()", "__round__")(self)


def named(function: Operation, name: str) -> Operation:
    """The function under the name it is installed by, for tracebacks."""
    function.__name__ = function.__qualname__ = name
    return function


BINARY: dict[str, Operation] = {
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "truediv": dividing(arithmetic.div),
    "floordiv": dividing(rounding.floor_divide),
    "mod": dividing(rounding.remainder),
    "divmod": dividing(divmod),
    "pow": raising_to_power(power_of),
    "and": logic.bitwise_and,
    "or": logic.bitwise_or,
    "xor": logic.bitwise_xor,
    "lshift": logic.left_shift,
    "rshift": logic.right_shift,
}
ORDER: dict[str, Operation] = {
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
}
UNARY: dict[str, Operation] = {
    "neg": arithmetic.neg,
    "pos": positive,
    "abs": magnitude.absolute,
    "invert": logic.invert,
}
WHOLE = {"floor": "math.floor()", "ceil": "math.ceil()", "trunc": "math.trunc()"}

LEFT = {name: forward(operation, f"__{name}__") for name, operation in (BINARY | ORDER).items()}
LEFT["pow"] = raised(BINARY["pow"], LEFT["pow"])
install({f"__{name}__": operator for name, operator in LEFT.items()})
install({f"__r{name}__": reflected(operation, f"__r{name}__") for name, operation in BINARY.items()})
install({f"__{name}__": unary(operation, f"__{name}__") for name, operation in UNARY.items()})
install({f"__{name}__": whole_number(function, f"__{name}__") for name, function in WHOLE.items()})
install(
    {
        "__eq__": equality(comparison.equal, "__eq__", False),
        "__ne__": equality(comparison.not_equal, "__ne__", True),
        "__round__": _round,
    }
)
