"""Running a Program with NumPy: the oracle against which everything compiled is tested.

The first run walks the equations. A Program that is run again becomes one straight-line Python function
made of the same lines that `Program.to_numpy_source` shows. Long Programs become one later, when what walking
takes longer adds up to what Python needs to compile their source; the longest stay a walk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from operator import attrgetter
from sys import modules
from time import perf_counter
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.evaluate.buffers import Buffers, exposed, overwritten
from funcgrad.ir.evaluate.handing_up import PROMOTION, Run
from funcgrad.ir.evaluate.owning import as_own_array, owning
from funcgrad.ir.evaluate.quiet import quietly
from funcgrad.ir.evaluate.step_walk import StepWalk, writes_over
from funcgrad.ir.program import Literal, Program, Var
from funcgrad.later import Later
from funcgrad.types import AnyPrimitive, Anything

# A Program is written as source when it is run again.
spelled = Later("funcgrad.ir.text.numpy_source")

SIZE = attrgetter("size")

_KINDS = "biufc"
"""In this order, a Python scalar of one kind may stand where a later one is expected."""

WALKS_BEFORE_SOURCE = 1
SHORT = 2000
"""Equations up to which the second run is worth the source."""
WALKS_OF_LONG = 8
"""Walks of longer ones before their source: a line takes Python 20 µs once, and a walk 2 µs at every run."""
LONGEST_SOURCE = 20_000
"""Equations from which Python's own compiler would keep somebody waiting."""
EACH_ELEMENT = 1e-9
"""Seconds in which NumPy computes one element of a large array at best: it has to go to memory and back."""
LONG = 0.1
"""Seconds of evaluation that are worth a question before they are spent."""
TRIALS = 4
"""Calls of a compiled form before it is decided whether it stays."""
WORTH = 1.2
"""It stays although it is a little slower: timings are noisy, and it does not get worse with use."""
FREED_ABOVE = 1 << 16
"""Intermediate arrays of at least this many bytes are dropped after their last use."""


def checked_inputs(program: Program, args: Sequence[Any]) -> list[Any]:
    """The arguments, which must have the types of the inputs; Python scalars take their dtypes.

    Raises ShapeError or DtypeError for one that does not, TypeError for the wrong number of them.
    """
    expected = program.in_avals
    if len(args) != len(expected):
        raise TypeError(f"program {program.name} takes {len(expected)} inputs, and was given {len(args)}")
    checked = []
    for k, (aval, x) in enumerate(zip(expected, args, strict=True), 1):
        found: Aval = x.aval if hasattr(x, "aval") else aval_of(x)
        fits = found.weak and _KINDS.index(found.dtype.kind) <= _KINDS.index(aval.dtype.kind)
        if found.shape != aval.shape or not (fits or found.dtype == aval.dtype):
            error = ShapeError if found.shape != aval.shape else DtypeError
            raise error(f"input {k} of program {program.name} is {aval}, and was given {found}")
        checked.append(aval.dtype.type(x) if isinstance(x, bool | int | float | complex) else x)
    return checked


class Runner:
    """Calls a Program on NumPy values; the result is the tuple of its outputs.

    It keeps count of the time that takes, imports and the writing of source left out. A Program that has been
    evaluated for long is offered to whatever can compile it; the faster of the two forms stays.
    """

    __slots__ = (
        "_asks_at",
        "_fast",
        "_lifetimes",
        "_program",
        "_runs",
        "_source_function",
        "_spent",
        "_step_walk",
        "_trial",
        "preferred",
    )

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lifetimes: Lifetimes | None = None
        steps = program._steps
        self._step_walk = None if steps is None or writes_over(steps) else StepWalk(steps)
        """Runs what has not become equations yet."""
        self._runs = 0
        self._source_function: Callable[..., Any] | None = None
        self._fast: Run | None = None
        self._spent = 0.0
        self._asks_at = PROMOTION.first
        self._trial: Trial | None = None
        self.preferred = False
        """Whether a compiled function is part of the Program: what is made of it is compiled as well."""

    def __call__(self, *args: Anything) -> tuple[Any, ...]:
        fast = self._fast
        if fast is None and not self._runs:
            fast = self._foreseen()
        if fast is not None:
            return fast(*args)
        made = len(modules), self._source_function
        start = perf_counter()
        out = self.evaluated(*args)
        seconds = perf_counter() - start
        if made == (len(modules), self._source_function):
            # A run that imported SciPy for its operations, or wrote the source, says nothing of the others.
            self._spent += seconds
            if self._spent >= self._asks_at:
                self._promote(seconds)
        return out

    def prefer_fast(self) -> None:
        """Look for a faster form before the first evaluation: a compiled function is part of the Program."""
        self.preferred = True
        if self._fast is None and self._asks_at < inf:
            self._fast, self._asks_at = PROMOTION.offer(self._program, inf)

    def _foreseen(self) -> Run | None:
        """A faster form before the first evaluation, where that alone would take longer than making it."""
        least = least_seconds(self._program)
        if least >= LONG and least > self._asks_at:
            self._fast, self._asks_at = PROMOTION.offer(self._program, least / 2)
        return self._fast

    def _promote(self, seconds: float) -> None:
        fast, self._asks_at = PROMOTION.offer(self._program, self._spent)
        if fast is not None:
            self._trial = Trial(fast, seconds, self._decide)
            self._fast = self._trial

    def _decide(self, fast: Run | None) -> None:
        self._fast, self._trial = fast, None

    def evaluated(self, *args: object) -> tuple[Any, ...]:
        """The outputs, by NumPy."""
        function = self._source_function
        if function is None:
            self._runs += 1
            walks = self._runs <= walks_before_source(len(self._program))
            step_walk = self._step_walk  # another thread may do without it meanwhile
            if walks and step_walk is not None:
                return step_walk(args)
            if self._lifetimes is None:
                self._lifetimes = Lifetimes(self._program)
            if walks:
                return self._walk(args)
            self._step_walk = None
            function = self._source_function = source_function(self._program, self._lifetimes)
        try:
            return quietly(function, args)
        except Exception:
            # Equation by equation it is known which line of the user's the failure belongs to.
            self._walk(args)
            raise

    def _walk(self, args: Sequence[Any]) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return walk(self._program, args, self._lifetimes)


class Trial:
    """The first calls of a faster form, which are timed: it stays only if it is faster."""

    __slots__ = ("_best", "_decide", "_fast", "_left", "_to_beat")

    def __init__(self, fast: Run, to_beat: float, decide: Callable[[Run | None], None]) -> None:
        self._fast = fast
        self._to_beat = to_beat
        self._decide = decide
        self._left = TRIALS
        self._best = inf

    def __call__(self, *args: Anything) -> tuple[Any, ...]:
        start = perf_counter()
        out = self._fast(*args)
        self._best = min(self._best, perf_counter() - start)
        self._left -= 1
        if self._left <= 0:
            self._decide(self._fast if self._best < self._to_beat * WORTH else None)
        return out


def walks_before_source(equations: int) -> float:
    """How often a Program of so many equations is walked before it becomes a Python function."""
    if equations <= SHORT:
        return WALKS_BEFORE_SOURCE
    return WALKS_OF_LONG if equations <= LONGEST_SOURCE else inf


def least_seconds(program: Program) -> float:
    """What one evaluation takes at least, for Programs of large arrays: writing down every result."""
    steps = program._steps
    if steps is not None:
        sizes = map(SIZE, map(steps.avals.__getitem__, steps.live))
    else:
        sizes = map(SIZE, [v.aval for equation in program.equations for v in equation.outputs])
    return EACH_ELEMENT * float(sum(sizes))


def evaluate_by_numpy(program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a Program by NumPy, whatever faster form it has."""
    runner = program._runner
    if not isinstance(runner, Runner):
        runner = program._runner = Runner(program)
    return runner.evaluated(*args)


def prefer_fast(program: Program) -> None:
    """Let a Program be compiled before it is evaluated for the first time."""
    if program._runner is None:
        program._runner = Runner(program)
    assert isinstance(program._runner, Runner)
    program._runner.prefer_fast()


def prefers_fast(program: Program) -> bool:
    """Whether a Program is to be compiled before it is evaluated."""
    return isinstance(program._runner, Runner) and program._runner.preferred


def last_uses(program: Program, own: Collection[Var] = ()) -> dict[Var, int]:
    """The number of the last equation that uses a variable, unless it is an input, output or captured.

    Inputs that are the evaluation's `own` are like any other variable.
    """
    kept = {*program.outputs, *set(program.inputs).difference(own), *(v for v, _ in program.captured)}
    last: dict[Var, int] = {}
    for k, equation in enumerate(program.equations):
        for atom in (*equation.inputs, *equation.outputs):
            if type(atom) is Var and atom not in kept:
                last[atom] = k
    return last


class Lifetimes:
    """What a run of the Program may forget, write over, and give away."""

    __slots__ = ("finishes", "freed", "overwritten")

    def __init__(self, program: Program) -> None:
        last = last_uses(program)
        buffers = Buffers(program)
        self.freed: dict[int, list[Var]] = {}
        """For each equation's number, the variables no longer needed after it."""
        for v, k in last.items():
            self.freed.setdefault(k, []).append(v)
        self.overwritten = overwritten(program, last, buffers)
        """The numbers of the equations whose first input is dead afterwards and its memory our own."""
        self.finishes = owning(program, exposed(program, buffers))
        """For each output, what makes it the caller's own; None where the evaluation already does."""


def walk(program: Program, args: Sequence[Any], lifetimes: Lifetimes | None = None) -> tuple[Any, ...]:
    """Evaluate equation by equation; a failure gets a note with the user's line."""
    lifetimes = Lifetimes(program) if lifetimes is None else lifetimes
    env: dict[Any, Any] = dict(zip(program.inputs, args, strict=True))
    env.update(program.captured)
    freed = lifetimes.freed
    for k, equation in enumerate(program.equations):
        values = [a.value if type(a) is Literal else env[a] for a in equation.inputs]
        try:
            if k in lifetimes.overwritten:
                out = equation.primitive.evaluate_over(*values)
            else:
                out = equation.primitive.evaluate(*values)
        except Exception as error:
            if equation.source is not None:
                error.add_note(
                    f"while {equation.primitive.name} was evaluated for\n{equation.source.caret()}"
                )
            raise
        if equation.primitive.multiple:
            env.update(zip(equation.outputs, out, strict=True))
        else:
            env[equation.outputs[0]] = out
        for v in freed.get(k, ()):
            del env[v]
    results = [a.value if type(a) is Literal else env[a] for a in program.outputs]
    finishes = lifetimes.finishes
    return tuple([finish(x, args) if finish else x for x, finish in zip(results, finishes, strict=True)])


def source_function(program: Program, lifetimes: Lifetimes | None = None) -> Callable[..., Any]:
    """The Program compiled by Python from one line per equation."""
    lifetimes = Lifetimes(program) if lifetimes is None else lifetimes
    names: dict[Any, str] = {}
    helpers: dict[Any, str] = {}
    constants: dict[str, Any] = {"np": np}
    for k, v in enumerate(program.inputs):
        names[v] = f"a{k}"
    for k, (v, value) in enumerate(program.captured):
        names[v] = f"c{k}"
        constants[f"c{k}"] = value

    def helper(primitive: AnyPrimitive) -> str:
        return helpers.setdefault(primitive, f"helper{len(helpers)}")

    count = 0
    lines = [f"def run({', '.join(names[v] for v in program.inputs)}):"]
    for k, equation in enumerate(program.equations):
        for v in equation.outputs:
            names[v] = f"v{count}"
            count += 1
        if k in lifetimes.overwritten:
            constants[f"over{k}"] = equation.primitive.evaluate_over
            text = f"over{k}({', '.join(spelled.atom_source(a, names) for a in equation.inputs)})"
        else:
            text = spelled.equation_source(equation, names, helper, form="fast_expression")
        lines.append(f"    {spelled.targets(equation, names)} = {text}")
        dropped = [names[v] for v in lifetimes.freed.get(k, ()) if v.aval.nbytes >= FREED_ABOVE]
        if dropped:
            lines.append(f"    del {', '.join(dropped)}")
    constants.update({name: primitive.evaluate for primitive, name in helpers.items()})
    results = []
    arguments = spelled.tuple_source([names[v] for v in program.inputs])
    for atom, finish in zip(program.outputs, lifetimes.finishes, strict=True):
        text = spelled.atom_source(atom, names)
        if finish is not None:
            constants[finish.__name__] = finish
            text = f"{finish.__name__}({text}, {'()' if finish is not as_own_array else arguments})"
        results.append(text)
    lines.append(f"    return {spelled.tuple_source(results)}")
    exec(compile("\n".join(lines), f"<funcgrad evaluation of {program.name}>", "exec"), constants)
    run: Callable[..., Any] = constants["run"]
    return run
