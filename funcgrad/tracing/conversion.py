"""Tracers where values are asked for: by NumPy, by ``float`` and its kin, by the functions of `math`.

Reading for control is free, reading for arithmetic is an error: what has a derivative never goes on as an
ordinary number. Integers, booleans and whatever `stop_gradient` has severed are given. A list of tracers
becomes an array of objects, which the next operation joins into one tracer (see `funcgrad.tracing.lists`),
so no gradient is lost. Decides; the words of refusals stand in `funcgrad.tracing.refusals`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import ConcretizationError, FuncgradError
from funcgrad.ir.avals import Aval
from funcgrad.later import Later
from funcgrad.source import Source, user_location
from funcgrad.tracing.callers import Use, called_function, called_method, formats, use_of
from funcgrad.tracing.constants import comes_of_inputs, is_constant
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.python.text import read_back
from funcgrad.types import Anything, Array, DTypeLike

if TYPE_CHECKING:
    from funcgrad.tracing.tracer import Tracer


# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")

_KEEPERS = frozenset({"fill", "itemset", "put", "__setitem__"})
"""Methods of an array that store the number they are given."""


_PYTHONS = {"f": float, "i": int, "c": complex, "b": bool}


def stood_for(aval: Aval) -> type:
    """The type of the array or number that a traced value stands for."""
    if aval.shape:
        return np.ndarray
    kind: type = _PYTHONS[aval.dtype.kind] if aval.weak else aval.dtype.type
    return kind


def noted(decide: Callable[..., Any]) -> Callable[..., Any]:
    """The decision, whose refusal the recorder remembers: C code that asked may report it in other words."""

    @wraps(decide)
    def deciding(x: Tracer, *args: Anything) -> Anything:
        x._recorder.require_value(x)
        try:
            return decide(x, *args)
        except FuncgradError as error:
            x._recorder.refused = error
            if not refusals.prints_errors(args[-1]):
                raise
            # The C code that asks would print this and give an error of its own: the transform raises it.
            x._recorder.deferred = True
            return np.array(x.concrete()) if x.has_value() else np.full(x.aval.shape, np.nan)

    return deciding


@noted
def array_of(x: Tracer, dtype: DTypeLike, copy: bool | None, frame: FrameType) -> Array:
    """What ``x.__array__`` answers to the frame that called NumPy.

    An array of its own with the value where no derivative is lost with it; an array of objects, the elements
    of `x`, where NumPy was given a list that holds it, or where that cannot be told. Raises
    ConcretizationError where NumPy was given the tracer itself, TracerAssignmentError where the tracer would
    be stored into an array, or converted inside a list.
    """
    if copy is False:
        raise ValueError(f"a traced {x.aval} has no memory that an array could share without a copy")
    wanted = None if dtype is None else np.dtype(dtype)
    if wanted is not None and wanted.kind == "O":
        return elements_of(x)
    if asked_by_sparse_product(frame):
        # ``a.dot(x)`` of a sparse array in coordinates only looks whether `x` is an array.
        return elements_of(x) if frame.f_code.co_name == "dot" else itself_as_object(x)
    use = use_in(frame, x)
    if is_constant(x):
        if use is Use.PASSED or wanted is not None or x.has_value():
            made = np.array(x._needed_by("np.asarray()"), wanted)
            if copy is None and x.aval.shape and made.dtype == x.aval.dtype and not comes_of_inputs(x):
                INSIDE.shown(x, made)
            return made
        return elements_of(x)
    # Whole numbers have no derivative to lose.
    is_whole = use is Use.PASSED and wanted is not None and wanted.kind in "biu" and x.has_value()
    if is_whole or refusals.asks_for_control(frame):
        return np.array(x._needed_by("this check"), wanted)
    refusals.refuse_inside_packages(x, use is Use.LISTED and wanted is None, frame)
    if use is Use.STORED or keeps(frame):
        raise refusals.assigned_into_array("this assignment")
    if use is Use.PASSED or (use is Use.UNKNOWN and wanted is not None):
        raise refusals.value_taken(x, "np.asarray()", frame)
    if wanted is not None:
        refusals.refuse_list(x, wanted, frame)
    return elements_of(x)


def asked_by_sparse_product(frame: FrameType) -> bool:
    """Whether a sparse array of SciPy's wants to know if its product with `x` is its own affair."""
    if not str(frame.f_globals.get("__name__")).startswith("scipy.sparse."):
        return False
    if frame.f_code.co_name in ("_matmul_dispatch", "_divide", "dot"):
        return True
    # The method `multiply` would return NotImplemented to its caller; the operator asks the other operand.
    called: FrameType | None = frame
    while called is not None and called.f_code.co_name in ("multiply", "_multiply_2d_with_broadcasting"):
        called = called.f_back
    return called is not None and called is not frame and called.f_code.co_name in ("__mul__", "__rmul__")


def refuse_sparse_inside_scipy(frame: FrameType) -> None:
    """Raise UnsupportedFunctionError where a function of SciPy's would make an array of a sparse one of ours.

    Its products and operators only look whether it is one, and leave it the operation.
    """
    if not asked_by_sparse_product(frame):
        refusals.refuse_sparse_values(frame)


def itself_as_object(x: Tracer) -> Array:
    """What is no array to SciPy, which then leaves the operation to the other operand."""
    found = np.empty((), dtype=object)
    found[()] = x
    return found


@noted
def number_of(x: Tracer, what: str, frame: FrameType) -> Array:
    """The value for ``float(x)`` and its kin, where no derivative is lost with it.

    Raises TracerAssignmentError where it would be stored away, and ConcretizationError elsewhere.
    """
    if is_constant(x) or refusals.asks_for_control(frame) or shows(frame):
        return x._needed_by(what)
    if use_in(frame, x) is Use.STORED or keeps(frame):
        raise refusals.assigned_into_array("this assignment")
    refusals.refuse_inside_packages(x, False, frame)
    raise refusals.value_taken(x, what, frame)


def shows(frame: FrameType) -> bool:
    """Whether a ``%`` makes text to be seen: not such as is read back, nor NumPy's in a file of numbers."""
    code = frame.f_code
    writes_file = code.co_name == "savetxt" and code.co_filename.startswith(refusals.NUMPY_FOLDER)
    return formats(frame) and not writes_file and not read_back(frame)


@noted
def text_of(x: Tracer, spec: str, frame: FrameType) -> str:
    """``format(x, spec)``: the digits of its value, which may be shown and not be read back as a number."""
    reader = "" if is_constant(x) else read_back(frame)
    if reader:
        raise read_in_text(f"{reader} reads a number in the text that a traced {x.aval} is written as here,")
    text = format(x._needed_by("format()"), spec)
    return text if is_constant(x) else Digits(text)


def read_in_text(what: str) -> ConcretizationError:
    """The error for text of a traced number that a number is read in."""
    return ConcretizationError(
        f"{what} without its gradient",
        source=Source(*user_location()),
        remedy="Use np.round for fewer digits, or the traced number itself.\n"
        "fg.stop_gradient(x) says that only the value is meant.",
    )


class Digits(str):
    """Text of a traced number, from which no number is made."""

    __slots__ = ()

    def __float__(self) -> float:
        raise read_in_text(f"float() makes a number of text that a traced one was written as ({self}),")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


@noted
def integer_of(x: Tracer, frame: FrameType) -> Array:
    """The value for ``int(x)``: a whole number has no derivative; storing one is refused all the same."""
    if x.aval.inexact and use_in(frame, x) is Use.STORED and not is_constant(x):
        raise refusals.assigned_into_array("this assignment")
    return x._needed_by("int()")


@noted
def python_value_of(x: Tracer, what: str, frame: FrameType) -> Array:
    """The value for ``x.item()`` and ``x.tolist()``, where no derivative is lost with it."""
    if not is_constant(x) and not refusals.asks_for_control(frame):
        raise refusals.value_taken(x, what, frame)
    return x._needed_by(what)


def keeps(frame: FrameType) -> bool:
    """Whether the frame calls what stores a number into an array, other than by an assignment."""
    return called_method(frame) in _KEEPERS or called_function(frame) is operator.setitem


def use_in(frame: FrameType, x: Tracer) -> Use:
    """What the frame is doing with the tracer."""
    recorder = x._recorder
    made_at = recorder.sources[x._index]
    return use_of(x, made_at, x._index == len(recorder.sources) - 1, frame)


def elements_of(x: Tracer) -> Array:
    """An array of objects: the elements of `x`."""
    array = np.empty(x.aval.shape, dtype=object)
    if not x.aval.shape:
        array[()] = x
        return array
    for index in np.ndindex(x.aval.shape):
        array[index] = x[index]  # type: ignore[index]
    return array
