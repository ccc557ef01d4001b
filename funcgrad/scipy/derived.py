"""Programs derived from the Program of a user's function, for solvers: gradients, Jacobians, products.

Each has the inputs of the function, of which the first is differentiated by; what a solver asks for again and
again is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from funcgrad.api.calling.calls import run, trace
from funcgrad.api.derivatives.jacobians import hessian, jacfwd, jacrev
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.transforms.linearize import jvp_program
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import gradient_program
from funcgrad.types import Array, Arrays

KEPT = 512
"""Derived Programs that are remembered."""


def composed(function: Callable[..., Any], avals: Sequence[Aval], name: str) -> Program:
    """The Program of a function of arrays of these avals, which returns a list of arrays."""

    def call(tracers: Arrays) -> Arrays:
        return function(*tracers)

    call.__name__ = name
    found = trace(call, call, avals, name, list, avals=avals, with_values=False)
    return simplify_program(found.recorder.program(range(len(avals)), found.outputs))


def applied(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of the Program on tracers, in the innermost trace that one of them belongs to."""
    return list(run(program, inputs))


@lru_cache(KEPT)
def value_and_gradient(program: Program) -> Program:
    """``x, ... -> value, gradient by x``"""
    return simplify_program(gradient_program(program, first_alone(program)))


@lru_cache(KEPT)
def gradient(program: Program) -> Program:
    """``x, ... -> gradient by x``"""
    both = value_and_gradient(program)
    return simplify_program(Program(both.inputs, both.captured, both.equations, both.outputs[1:], both.name))


@lru_cache(KEPT)
def jacobian(program: Program) -> Program:
    """``x, ... -> derivative of the output by x``, of the shapes of both."""
    wide = program.in_avals[0].size > program.out_avals[0].size
    transform = jacrev if wide else jacfwd

    def derivative(*inputs: Array) -> list[Any]:
        return [transform(lambda x: applied(program, [x, *inputs[1:]])[0])(inputs[0])]

    return composed(derivative, program.in_avals, "jacobian")


@lru_cache(KEPT)
def hessian_of(program: Program) -> Program:
    """``x, ... -> Hessian by x``"""

    def second(*inputs: Array) -> list[Any]:
        return [hessian(lambda x: applied(program, [x, *inputs[1:]])[0])(inputs[0])]

    return composed(second, program.in_avals, "hessian")


@lru_cache(KEPT)
def hessian_product(program: Program) -> Program:
    """``x, ..., v -> Hessian @ v``"""
    return tangent(gradient(program))


@lru_cache(KEPT)
def tangent(program: Program) -> Program:
    """``x, ..., tangent of x -> tangent of the output``"""
    both = jvp_program(program, first_alone(program), len(program.outputs))
    outputs = both.outputs[len(program.outputs) :]
    return simplify_program(Program(both.inputs, both.captured, both.equations, outputs, both.name))


@lru_cache(KEPT)
def displacement(program: Program) -> Program:
    """``x, ... -> output - x``: zero where the function leaves x where it is."""

    def moved(*inputs: Array) -> list[Any]:
        return [applied(program, inputs)[0] - inputs[0]]

    return composed(moved, program.in_avals, "displacement")


def first_alone(program: Program) -> tuple[bool, ...]:
    """The flags of the inputs: the first, and no other."""
    return tuple([k == 0 for k in range(len(program.inputs))])
