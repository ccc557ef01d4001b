"""Recording a Program again: the step every transform shares, and inlining into an outer trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad.errors import FuncgradError
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
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
    return atom.value if type(atom) is Literal else env[atom]  # type: ignore[index]


def read_tracer(recorder: Recorder, env: Env, atom: Atom) -> Array:
    """What `read` returns, with a literal recorded as it stands: in its dtype, weak if it was."""
    if type(atom) is not Literal:
        return env[atom]  # type: ignore[index]
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
    env = start(program, inputs)
    replay(recorder, program.equations, env)
    return [as_tracer(recorder, read(env, atom)) for atom in program.outputs]


def as_tracer(recorder: Recorder, x: object) -> Tracer:
    """`x` as a tracer of this recorder."""
    if type(x) is Tracer and x._recorder is recorder and x._view is None:
        return x
    index = recorder.index_of(x)
    return Tracer(recorder, index, recorder.avals[index])
