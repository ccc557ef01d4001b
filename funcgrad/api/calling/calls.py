"""From a Python call to a Program and back: tracing, the cache of transformed Programs, running.

Every transform in this layer has the same shape: record the function once (about a microsecond an
operation), look up the transformed Program under the fingerprint of what was recorded, and run it, or
record its equations into the trace that is open around it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from funcgrad.api.calling.decided import warn_if_decided
from funcgrad.api.calling.handled import behind, require_nothing_lost
from funcgrad.api.control_flow.loop_notices import MANY_OPERATIONS, notice_loop
from funcgrad.collector import CollectorPaused
from funcgrad.errors import FuncgradError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.evaluate.runner import prefer_fast, prefers_fast
from funcgrad.ir.program import Program
from funcgrad.later import Later
from funcgrad.shared import keep_through_forks
from funcgrad.source import user_location_of
from funcgrad.tracing.guarded import ERROR_STATE, refuse_raised_errors
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorded import NO_VALUE
from funcgrad.tracing.recorder import Recorder, located, note_derivative, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.replay import inline
from funcgrad.transforms.reverse import gradient_of_record
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import gradient_program
from funcgrad.types import Anything, Array, Result, Tree

# Where values were asked for while recording.
resume = Later("funcgrad.transforms.resume")
# Where a call ends in an error.
swallowed = Later("funcgrad.tracing.swallowed")

CACHE_STEPS = 4_000_000
"""Recorded steps whose transformed Programs are kept: about a gigabyte if all were different."""

CACHE_PROGRAMS = 1000
"""Programs that are kept: some ten kilobytes each where they are small."""

Built = TypeVar("Built")


class TransformCache:
    """Transformed Programs by fingerprint; the oldest leave when they are too many or together too large."""

    def __init__(self, most_steps: int, most_programs: int) -> None:
        self._most_steps = most_steps
        self._most_programs = most_programs
        self._steps = 0
        self._entries: dict[Hashable, tuple[Any, int]] = {}
        self._lock = Lock()
        keep_through_forks(self._lock)
        self.misses = 0
        """How many Programs had to be transformed."""

    def find(self, key: Hashable) -> Anything:
        """The entry under `key`; None where there is none."""
        found = self._entries.get(key)
        return None if found is None else found[0]

    def get(self, key: Hashable, n_steps: int, build: Callable[[], Built]) -> Built:
        """The entry under `key`, built from `n_steps` recorded steps when it is missing."""
        found = self._entries.get(key)
        if found is not None:
            return found[0]  # type: ignore[no-any-return]
        built = build()
        with self._lock:
            self.misses += 1
            # Another thread may have built it meanwhile; both are right, and the first one stays.
            kept, _ = self._entries.setdefault(key, (built, n_steps))
            if kept is built:
                self._steps += n_steps
                self._shrink()
        return kept  # type: ignore[no-any-return]

    def _shrink(self) -> None:
        while len(self._entries) > 1 and (
            self._steps > self._most_steps or len(self._entries) > self._most_programs
        ):
            _, n_steps = self._entries.pop(next(iter(self._entries)))
            self._steps -= n_steps

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._steps = 0


CACHE = TransformCache(CACHE_STEPS, CACHE_PROGRAMS)


class Traced:
    """A function recorded at some inputs: its structure, and the values that fill it."""

    __slots__ = ("_known", "evaluated", "n_inputs", "operands", "outputs", "recorder", "result")

    def __init__(self, recorder: Recorder, n_inputs: int, result: Result, outputs: tuple[int, ...]) -> None:
        self.recorder = recorder
        self.n_inputs = n_inputs
        self.result = result
        """Whatever the function returned, tracers and all."""
        self.outputs = outputs
        self.operands = recorder.operand_values
        """The values of the lifted Program's inputs."""
        self._known: tuple[int, ...] = ()
        self.evaluated: list[Any] = []
        """Values computed while recording: the last inputs of a transformed Program."""
        if len(recorder.values) > len(self.operands):
            self._note_evaluated()

    def _note_evaluated(self) -> None:
        if any(type(x) is Tracer for x in self.operands):
            # In an outer trace the values read here are functions of its tracers, not constants.
            return
        values = self.recorder.values
        given = {*range(self.n_inputs), *(index for index, _ in self.recorder.operands)}
        self._known = tuple(sorted(index for index in values if index not in given))
        self.evaluated = [values[index] for index in self._known]

    @property
    def program(self) -> Program:
        """The lifted Program: its inputs are this trace's inputs, then its literals and arrays."""
        return self.recorder.program(range(self.n_inputs), self.outputs, lifted=True)

    def transformed(self, key: Hashable, build: Callable[[Program], Built]) -> Built:
        """What `build` makes of the recorded Program, kept by fingerprint."""
        return self._kept(self._key(key), lambda: build(self.program))

    def gradient(self, active: Sequence[bool], *, keeps_value: bool) -> Program:
        """The outputs (all, or all but the value), then the gradient of the value by the active inputs."""
        if self.recorder.level:
            note_derivative(self.recorder)
        key = self._key(("grad", keeps_value, active))
        found: Program | None = CACHE.find(key)
        if found is not None:
            return found
        recorder = self.recorder

        def build() -> Program:
            program = gradient()
            warn_if_decided(recorder, self.outputs[0], program, sum(active))
            return program

        def gradient() -> Program:
            if any(type(step) is tuple and step[0].splits for step in recorder.steps):
                extra = [False] * (len(self.operands) - len(active))
                whole = gradient_program(self.program, (*active, *extra))
                return self.finished(whole if keeps_value else without_first_output(whole))
            return gradient_of_record(
                recorder, self.n_inputs, self.outputs, active, self._known, keeps_first=keeps_value
            )

        return self._kept(key, build)

    def run(self, program: Program) -> Sequence[Any]:
        """The results of what was made of this trace, for the values that fill it."""
        operands = [*self.operands, *self.evaluated] if self._known else self.operands
        if self.recorder.level:
            return run(program, operands)
        # Without a trace around this one no operand is a tracer.
        runner = program._runner
        return runner(*operands) if runner is not None else program.evaluate(*operands)

    def _key(self, key: Hashable) -> Hashable:
        recorder = self.recorder
        place = recorder.place()
        return key, recorder.name, place, self.n_inputs, self._known, self.outputs, tuple(recorder.steps)

    def _kept(self, key: Hashable, build: Callable[[], Built]) -> Built:
        """What `build` makes of the record, kept by fingerprint."""
        recorder = self.recorder

        def build_now() -> Built:
            with CollectorPaused():
                built = build()
            if recorder.native:
                for part in built if isinstance(built, tuple) else (built,):
                    if isinstance(part, Program):
                        prefer_fast(part)
            return built

        return CACHE.get(key, len(recorder.steps), build_now)

    def finished(self, program: Program) -> Program:
        """A transformed Program, simplified, that reuses what the trace has already evaluated.

        Values evaluated while recording become inputs after those of the recorded Program.
        """
        if self._known:
            program = resume.resume_program(program, self.recorder, self.n_inputs, self._known)
        return simplify_program(program)


def without_first_output(program: Program) -> Program:
    """The Program that does not return its first output."""
    return Program(program.inputs, program.captured, program.equations, program.outputs[1:], program.name)


def trace(
    function: Callable[..., Any],
    call: Callable[[list[Tracer]], Any],
    leaves: Sequence[Any],
    transform: str,
    collect: Callable[[Any], Iterable[Any]],
    *,
    avals: Sequence[Aval],
    with_values: bool = True,
) -> Traced:
    """Record ``call(tracers of the leaves)``; `collect` picks the outputs from its result."""
    with Recorder(name_of(function), transform) as recorder:
        tracers = []
        for aval, leaf in zip(avals, leaves, strict=True):
            value = NO_VALUE if not with_values else leaf if type(leaf) is np.ndarray else as_value(leaf)
            tracers.append(recorder.input(aval, value))
        result = recorded(recorder, function, call, tracers)
        outputs = tuple([index_in(recorder, x) for x in collect(result)])
        if len(recorder.steps) > MANY_OPERATIONS and with_values and not recorder.level:
            notice_loop(function, recorder)
        made = Traced(recorder, len(leaves), result, outputs)
    if recorder.refusals:
        require_nothing_lost(recorder, call, leaves if with_values else None, result)
    return made


def recorded(
    recorder: Recorder, function: Callable[..., Any], call: Callable[..., Any], *args: Tree, **kwargs: Tree
) -> Result:
    """What a call returns in which `function` is recorded; raises what its errors mean, with their line."""
    if ERROR_STATE.get(None) is not None:
        refuse_raised_errors(function)
    try:
        result: Result = call(*args, **kwargs)
        if recorder.deferred and recorder.refused is not None:
            raise recorder.refused
    except Exception as error:
        found = to_be_raised(error, recorder)
        if found is error:
            raise
        raise found from None
    return result


def to_be_raised(error: Exception, recorder: Recorder) -> Exception:
    """What an error of the user's function means: mostly itself, with the line that it is of."""
    if isinstance(error, FuncgradError):
        found = behind(error, recorder)
        if found is error:
            located(error, user_location_of(error))
        return found
    # NumPy and SciPy report in words of their own what goes wrong in the middle of their C code.
    real = swallowed.real_error(error, recorder)
    return error if real is None else behind(real, recorder).with_traceback(error.__traceback__)


def index_in(recorder: Recorder, x: Array) -> int:
    """The index of what a function returns in the trace that recorded it."""
    if type(x) is Tracer and x._recorder is recorder and x._view is None:
        return x._index
    return recorder.index_of(asoperand(x))


def as_value(leaf: object) -> Array:
    """A leaf as what evaluates: Python scalars become NumPy's, tracers are frozen."""
    if type(leaf) is np.ndarray or isinstance(leaf, np.generic):
        return leaf
    if type(leaf) is Tracer:
        leaf._recorder.require_open(leaf)
        return leaf.frozen()
    return leaf if isinstance(leaf, np.ndarray) else aval_of(leaf).dtype.type(leaf)


def run(program: Program, operands: Sequence[Any]) -> Sequence[Any]:
    """Evaluate the Program, or record it in the innermost trace that an operand belongs to."""
    recorder = recorder_of(operands) if Tracer in map(type, operands) else None
    if recorder is None:
        return program.evaluate(*operands)
    if prefers_fast(program):
        recorder.native = True
    # Tracers of their own: the caller may write into a result, and must not thereby change a residual.
    return [x.frozen() for x in inline(recorder, program, operands)]


def name_of(function: Callable[..., Any]) -> str:
    """The name a Program made from this function goes by."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if name.isidentifier() else "function"
