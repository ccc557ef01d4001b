"""The recorder: values and operations as they enter a trace, the innermost one and those around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from sys import _getframe, modules
from typing import Any

import numpy as np

from funcgrad.errors import EscapedTracerError, FuncgradError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.source import PLACES, place_of, user_location
from funcgrad.tracing.adapters import PENDING, introduce
from funcgrad.tracing.recorded import NO_VALUE, Recorded
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import AnyPrimitive, Anything, Array, ArrayLike, Arrays

overwriting = Later("funcgrad.tracing.overwriting")
COPY_BELOW = 1 << 14
"""Captured arrays up to this many bytes are copied, so that a buffer the user reuses stays right.

Larger ones are copied where the code that runs may write into them (see `funcgrad.tracing.overwriting`).
"""

_active: ContextVar[Recorder | None] = ContextVar("funcgrad_recorder", default=None)


RULE = "the derivative rule"
"""The transform of a trace that records a user's derivative rule."""

DERIVATIVES = {"grad": 1, "vjp": 1, "linearize": 1, "jvp": 1, RULE: -1}
"""How many derivatives are still to be taken of what a transform records; a rule is one of them."""

new_object = object.__new__

NOWHERE: tuple[()] = ()
"""The location of an operation that no line of the user's is behind."""


class Recorder(Recorded):
    """The operations of one trace, open between `__enter__` and `__exit__`."""

    __slots__ = (
        "_captured",
        "_held",
        "_token",
        "block",
        "closed",
        "copied",
        "decided",
        "deferred",
        "derivatives",
        "differentiated",
        "kinds_asked",
        "lasting",
        "level",
        "lies",
        "location",
        "moved",
        "native",
        "operand_values",
        "refusals",
        "refused",
        "selected",
        "spans",
        "varying",
    )

    def __init__(self, name: str, transform: str = "", location: Anything = None) -> None:
        outer = _active.get()
        taken = DERIVATIVES.get(transform, 0) if location is None else 0
        self.level, self.derivatives = 0, taken
        """How many derivatives this trace and those around it will take of what is recorded here."""
        self.copied: dict[int, tuple[Any, Any]] | None = {} if transform == "jit" else None
        """Where arrays are captured as they are, since compiled code reads them at every call: the copies of
        those that may be overwritten meanwhile, by identity, and what they are copies of. Otherwise None."""
        if outer is not None:
            self.level, self.derivatives = outer.level + 1, max(outer.derivatives + taken, 0)
            if outer.copied is not None:
                self.copied = outer.copied
        self.native = False
        """Whether a compiled function has been recorded: what becomes of this is compiled as well."""
        self.closed = self.differentiated = False
        """Whether the trace has ended, and whether a derivative has been taken inside of it."""
        self.name, self.transform, self.location = name, transform, location
        """The last one: where derived operations come from; None while the user's own function runs."""
        self.steps, self.avals, self.sources, self.values, self.operands = [], [], [], {}, []
        self.operand_values: list[Any] = []
        """The values of the inputs, literals and captured arrays: the inputs of the lifted Program."""
        self.selected: set[int] | None = None
        """Cotangents with zeros put there by a selection; kept by the transpose pass only."""
        self.lasting: frozenset[int] = frozenset()
        """Inputs of a step or a branch that are there on the way back without being kept."""
        self.refused: FuncgradError | None = None
        """The last refusal to give a value, which C code may have replaced by an error of its own."""
        self.refusals: tuple[FuncgradError, ...] = ()
        """The last refusal of any kind, and those before it that somebody caught (`api.calling.handled`)."""
        self.deferred = False
        """Whether that refusal is to be raised when the function returns, as it could not be before."""
        self.decided: tuple[Any, ...] = ()
        """Where the user's code asked for the truth of something that varies, the first few times."""
        self.varying: dict[int, bool] | None = None
        """What `funcgrad.tracing.constants` has found out: whether a derivative flows through an index."""
        self.spans: dict[int, tuple[float, float]] | None = None
        """Between which numbers the counters of loops are."""
        self.kinds_asked = False
        """Whether code has asked, in this trace or one inside of it, of what kind a traced value is."""
        self.block = False
        """Whether this is a part of a function around it, which runs any number of times."""
        self.moved: list[tuple[Tracer, Recorder, int, Aval]] | None = None
        """Tracers of outer traces that were written here, each with what it stood for before."""
        self.lies: dict[int, Any] = {}
        """What is known of how values lie in memory (`funcgrad.numpy.arrays.memory`)."""
        self._captured: dict[Any, int] = {}
        self._held: list[Any] | None = None

    def __enter__(self) -> Recorder:
        if not modules.keys().isdisjoint(PENDING):
            introduce()
        self._token = _active.set(self)
        return self

    def note_kind_asked(self) -> None:
        """Remember that code has asked what a traced value is, in this trace and those around it."""
        recorder: Recorder | None = self
        while isinstance(recorder, Recorder):
            recorder.kinds_asked = True
            recorder = recorder._token.old_value

    def __exit__(self, kind: object, error: object, place: object) -> None:
        _active.reset(self._token)
        outer = _active.get()
        if outer is not None:
            if self.native:
                outer.native = True
            if isinstance(error, FuncgradError) and error.refuses:
                outer.refusals = (*outer.refusals, error)
        self.closed = True

    def require_open(self, x: Tracer) -> None:
        """Raise EscapedTracerError if the trace has ended."""
        if self.closed:
            raise escaped(x)

    require_value = require_open
    """What is asked before a value is given; a trace of which nobody has the values refuses it."""

    # -- values entering the trace ---------------------------------------------------------------------

    def input(self, aval: Aval, value: Array = NO_VALUE) -> Tracer:
        """A new input; `value` is an array, an outer tracer, or NO_VALUE."""
        avals = self.avals
        index = len(avals)
        self.steps.append(aval)
        avals.append(aval)
        self.sources.append(None)
        self.operand_values.append(value)
        if value is not NO_VALUE:
            self.values[index] = value
        return Tracer(self, index, aval)

    def note_moved(self, x: Tracer) -> None:
        """Remember what a tracer of an outer trace stands for, which is about to be written here."""
        if self.moved is None:
            self.moved = []
        self.moved.append((x, x._recorder, x._index, x.aval))

    def _operand(self, aval: Aval, value: Anything, is_literal: bool) -> int:
        index = len(self.steps)
        self.steps.append(aval)
        self.avals.append(aval)
        self.sources.append(None)
        self.values[index] = value
        self.operands.append((index, is_literal))
        self.operand_values.append(value)
        return index

    def literal(self, value: object, dtype: np.dtype[Any], weak: bool = True) -> int:
        """A scalar constant met by the trace, in the given dtype."""
        return self.literal_typed(value, Aval((), dtype, weak))

    def literal_typed(self, value: object, aval: Aval) -> int:
        """As `literal`, where its aval is at hand."""
        value = aval.dtype.type(value)
        avals = self.avals
        index = len(avals)
        self.steps.append(aval)
        avals.append(aval)
        self.sources.append(None)
        self.values[index] = value
        self.operands.append((index, True))
        self.operand_values.append(value)
        return index

    def index_of(self, x: ArrayLike) -> int:
        """The index of a tracer of this trace, or of a value that thereby enters it."""
        if type(x) is Tracer:
            if x._view is not None:
                x._view.current_index(x)
            if x._recorder is self:
                if self.closed:
                    raise escaped(x)
                return x._index
            return self._capture_tracer(x)
        if type(x) in (float, int, complex, bool):
            return self.literal(x, aval_of(x).dtype)
        if isinstance(x, np.generic):
            return self.literal(x, x.dtype, weak=False)
        return self._capture_array(x)

    def _capture_tracer(self, x: Tracer) -> int:
        if x._recorder.closed:
            raise escaped(x)
        if x._recorder.level >= self.level:
            raise EscapedTracerError(
                f"a traced {x.aval} of an inner {x._recorder.transform or 'trace'} is used outside of it",
                source=x.source,
                remedy="Return it from the inner function instead of storing it.",
            )
        x = x.frozen()
        key = (id(x._recorder), x._index)
        index = self._captured.get(key)
        if index is None:
            index = self._captured[key] = self._operand(x.aval, x, False)
        return index

    def captured_at(self, index: int) -> Tracer | None:
        """The tracer of an outer trace that the value at an index is; None where it is none."""
        outer = self.values.get(index)
        if type(outer) is not Tracer or self._captured.get((id(outer._recorder), outer._index)) != index:
            return None
        return outer

    def _capture_array(self, x: Anything) -> int:
        key = id(x)
        index = self._captured.get(key)
        if index is not None:
            return index
        aval = aval_of(x)
        given = x
        if isinstance(x, np.ndarray):
            copied = self.copied
            small = x.nbytes <= COPY_BELOW and copied is None
            if small and type(x) is np.ndarray and x.flags.writeable and x.dtype.isnative:
                return self._operand(aval, x.copy("K"), False)  # as below, where nothing is looked for
            x = x if copied is not None else plain_array(x)
            if writeable_memory(x) and (small or overwriting.may_be_overwritten(x, _getframe(1), "trace")):
                # A copy, and no key: the next use may find other numbers in the same buffer.
                copy = x.copy("K")
                if copied is not None:
                    copied[id(copy)] = copy, x
                return self._operand(aval, copy, False)
        index = self._captured[key] = self._operand(aval, x, False)
        if x is not given:
            # The key is the identity of what was given, which must not become another array's meanwhile.
            if self._held is None:
                self._held = []
            self._held.append(given)
        return index

    def constant(self, array: Array) -> int:
        """The index of an array of numbers that will stay as it is; the caller sees to that."""
        index = self._captured.get(id(array))
        if index is None:
            index = self._captured[id(array)] = self._operand(aval_of(array), array, False)
        return index

    def small_constant(self, array: Anything) -> int:
        """The index of what a small array holds now: one for all arrays that hold the same and lie alike."""
        key = (array.dtype, array.shape, array.strides, array.tobytes())
        index = self._captured.get(key)
        if index is None:
            copy = array.copy("K")
            copy.setflags(write=False)  # so that traces around this one need not ask whether somebody may
            index = self._captured[key] = self._operand(aval_of(copy), copy, False)
        return index

    # -- operations ------------------------------------------------------------------------------------

    def record(self, primitive: AnyPrimitive, inputs: Sequence[Any]) -> Arrays:
        """Append an operation on tracers and values; returns its tracer, or a tuple of them."""
        step = [primitive]
        for x in inputs:
            if type(x) is Tracer and x._recorder is self and x._view is None and not self.closed:
                step.append(x._index)
            else:
                step.append(self.index_of(x))
        return self.append(primitive, tuple(step))

    def append(self, primitive: AnyPrimitive, step: tuple[Any, ...]) -> Arrays:
        """Append ``(primitive, *indices)``."""
        avals = self.avals
        key = tuple([avals[i] for i in step[1:]])
        out = primitive._inferred.get(key)
        if out is None:
            try:
                out = primitive.inferred(key)
            except FuncgradError as error:
                raise located(error, self.location or user_location(2)) from None
        if type(out) is Aval:
            return self.append_typed(step, out)
        location = self.location
        if location is None:
            location = user_location(2)
        index = len(avals)
        tracers = []
        for offset, aval in enumerate(out):
            self.steps.append(step if offset == 0 else offset)
            avals.append(aval)
            self.sources.append(location)
            tracers.append(Tracer(self, index + offset, aval))
        return tuple(tracers)

    def append_typed(self, step: tuple[Any, ...], out: Aval, depth: int = 2) -> Tracer:
        """Append a step with one result, whose aval is known. The hot path of all recording.

        The frame `depth` above this one is the user's, or is called by it.
        """
        location = self.location
        if location is None:
            # Operations call this, and users call operations.
            frame = _getframe(depth)
            location = PLACES.get(frame.f_lasti)
            if location is None or location[0] is not frame.f_code:
                location = place_of(frame)
        avals = self.avals
        index = len(avals)
        self.steps.append(step)
        avals.append(out)
        self.sources.append(location)
        # As Tracer(self, index, out), whose __init__ would take a third of the time of all this.
        made: Tracer = new_object(Tracer)
        made._recorder = self
        made._index = index
        made.aval = out
        made._view = None
        made._alias = None
        return made


def plain_array(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself, as NumPy's own class sees it, with its bytes in this machine's order."""
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def writeable_memory(x: Anything) -> bool:
    """Whether the elements of `x` can be written: through itself, or through what a read-only view shows."""
    while not x.flags.writeable:
        x = x.base
        if not isinstance(x, np.ndarray):
            return False
    return True


def recorder_of(inputs: Sequence[Any]) -> Recorder | None:
    """The innermost recorder among the tracers in `inputs`, or None."""
    recorder: Recorder | None = None
    for x in inputs:
        if type(x) is Tracer:
            if x._view is not None:
                x._view.current_index(x)
            candidate = x._recorder
            if recorder is None or candidate.level > recorder.level:
                recorder = candidate
    return recorder


active_recorder: Callable[[], Recorder | None] = _active.get
"""The innermost open trace of this thread or task, or None."""


def differentiates(recorder: Recorder | None) -> bool:
    """Whether the trace itself is that of a transform that will differentiate it."""
    return recorder is not None and DERIVATIVES.get(recorder.transform, 0) > 0


def outlived(recorder: Recorder | None) -> bool:
    """Whether a trace around this one will differentiate what is recorded here, after this one has ended."""
    return recorder is not None and recorder.derivatives > differentiates(recorder)


def note_derivative(recorder: Recorder) -> None:
    """Have the traces around one that is differentiated know of it."""
    outer = recorder._token.old_value
    while isinstance(outer, Recorder):
        outer.differentiated = True
        outer = outer._token.old_value


def is_open(transform: str) -> bool:
    """Whether a trace of this transform is open."""
    recorder: Any = _active.get()
    while isinstance(recorder, Recorder):
        if recorder.transform == transform:
            return True
        recorder = recorder._token.old_value
    return False


def recorder_at(level: int) -> Recorder | None:
    """The open trace of this level, or the nearest to it; None where there is none."""
    recorder = _active.get()
    while recorder is not None and recorder.level > level:
        outer = recorder._token.old_value
        if not isinstance(outer, Recorder):
            break
        recorder = outer
    return recorder


def captured(array: Array, recorder: Recorder | None) -> Array:
    """The array as a tracer of the trace; as it is where there is none, and where it is not numeric."""
    if recorder is None or array.dtype.kind not in "fciub":
        return array
    index = recorder.index_of(array)
    return Tracer(recorder, index, recorder.avals[index])


def located(error: FuncgradError, location: object) -> FuncgradError:
    """The error with the user's line attached, if it has none yet."""
    if getattr(error, "source", None) is None:
        error.source = as_source(location)
    return error


def escaped(x: Tracer) -> EscapedTracerError:
    """The error for a tracer that is used after its trace ended."""
    recorder = x._recorder
    inside = f"{recorder.transform} of {recorder.name}" if recorder.transform else recorder.name
    return EscapedTracerError(
        f"a traced {x.aval} is used after its trace ended ({inside})",
        source=as_source(user_location()),
        notes=[("the tracer was made here", x.source)] if x.source is not None else [],
        remedy="Return it from the traced function instead of storing it elsewhere.",
    )
