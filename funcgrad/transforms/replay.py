"""Recording a Program again: the step every transform shares, and inlining into an outer trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad.errors import FuncgradError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.steps import Steps
from funcgrad.tracing.recorder import NOWHERE, Recorder, located
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Arrays

Env = dict[Var, Any]


@contextmanager
def transforming(program: Program, transform: str) -> Iterator[Recorder]:
    """An open recorder for the result of a transform: it holds no values and no user frames."""
    with Recorder(program.name, transform, location=NOWHERE) as recorder:
        try:
            yield recorder
        except FuncgradError as error:
            # Rules fail while `location` is the forward line they are about.
            raise located(error, recorder.location) from None


def inputs_of(recorder: Recorder, variables: Sequence[Var]) -> list[Tracer]:
    """A new input of the recorder for each variable."""
    return [recorder.input(v.aval) for v in variables]


def start(program: Program, inputs: Sequence[Any]) -> Env:
    """The environment in which the Program's inputs and captured arrays are known."""
    env: Env = dict(zip(program.inputs, inputs, strict=True))
    env.update(program.captured)
    return env


def read(env: Env, atom: Atom) -> Array:
    """The value of a variable or literal."""
    return atom.value if type(atom) is Literal else env[atom]


def read_tracer(recorder: Recorder, env: Env, atom: Atom) -> Array:
    """What `read` returns, with a literal recorded as it stands: in its dtype, weak if it was."""
    if type(atom) is not Literal:
        return env[atom]
    index = recorder.literal(atom.value, atom.aval.dtype, atom.aval.weak)
    return Tracer(recorder, index, atom.aval)


def write(env: Env, equation: Equation, out: Arrays) -> None:
    """Bind the results of an equation."""
    if equation.primitive.multiple:
        env.update(zip(equation.outputs, out, strict=True))
    else:
        env[equation.outputs[0]] = out


def replay(recorder: Recorder, equations: Sequence[Equation], env: Env) -> None:
    """Record the equations again, on what `env` says of their inputs."""
    indices: dict[Var, int] = {}
    outer = recorder.location
    for equation in equations:
        recorder.location = equation.source or NOWHERE
        step = [equation.primitive]
        for atom in equation.inputs:
            index = indices.get(atom)  # type: ignore[arg-type]
            if index is None:
                value = read(env, atom)
                if isinstance(value, np.generic):
                    index = recorder.literal(value, atom.aval.dtype, atom.aval.weak)
                else:
                    index = recorder.index_of(value)
                if isinstance(atom, Var):
                    indices[atom] = index
            step.append(index)
        write(env, equation, recorder.append(equation.primitive, tuple(step)))
    recorder.location = outer


def inline(recorder: Recorder, program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Record the Program's equations in an open trace; returns its outputs there."""
    for x in inputs if recorder.closed else ():
        if isinstance(x, Tracer):
            x._recorder.require_open(x)
    if program._steps is not None:
        return inline_steps(recorder, program._steps, inputs)
    env = start(program, inputs)
    replay(recorder, program.equations, env)
    return [as_tracer(recorder, read(env, atom)) for atom in program.outputs]


class Entered(dict[int, int]):
    """Where values of steps are in an open trace; what is given enters it when it is first read."""

    def __init__(self, recorder: Recorder, steps: Steps, given: Mapping[int, Any]) -> None:
        self._recorder, self._steps, self._given = recorder, steps, given
        self.as_recorded = True
        """Whether all that has entered has the types that it was recorded with: so has what is made of it."""

    def __missing__(self, i: int) -> int:
        value, aval = self._given[i], self._steps.avals[i]
        if isinstance(value, np.generic):
            self[i] = made = self._recorder.literal(value, aval.dtype, aval.weak)
        else:
            self[i] = made = self._recorder.index_of(value)
        if self._recorder.avals[made] is not aval:
            self.as_recorded = False
        return made


def inline_steps(recorder: Recorder, program: Steps, inputs: Sequence[Any]) -> list[Any]:
    """As `inline`, for a Program that is a list of steps: nobody has to make its equations."""
    given = {**dict(zip(program.inputs, inputs, strict=True)), **program.captured, **program.literals}
    at = Entered(recorder, program, given)
    steps, avals, sources = recorder.steps, recorder.avals, recorder.sources
    for i in program.live:
        primitive, *operands = program.steps[i]
        step = (primitive, *[at[j] for j in operands])
        out: Any = program.avals[i]
        if primitive.multiple or not at.as_recorded:
            out = primitive.inferred(tuple([avals[j] for j in step[1:]]))
        source = program.sources[i] or NOWHERE
        at[i] = index = len(steps)
        if type(out) is Aval:
            steps.append(step)
            avals.append(out)
            sources.append(source)
            continue
        for offset, aval in enumerate(out):
            at[i + offset] = index + offset
            steps.append(offset or step)
            avals.append(aval)
            sources.append(source)
    return [
        as_tracer(recorder, given[i]) if i in given else Tracer(recorder, at[i], avals[at[i]])
        for i in program.outputs
    ]


def as_tracer(recorder: Recorder, x: object) -> Tracer:
    """`x` as a tracer of this recorder."""
    if type(x) is Tracer and x._recorder is recorder and x._view is None:
        return x
    index = recorder.index_of(x)
    return Tracer(recorder, index, recorder.avals[index])
