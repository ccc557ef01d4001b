"""The data structure: what a Program says of itself, and when two are the same."""

from __future__ import annotations

import pickle

import numpy as np

import funcgrad as fg
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ops.elementwise.arithmetic import add, mul

VECTOR = Aval((3,), np.float64)


def made(hint: str, primitive: object) -> Program:
    x, y = Var(VECTOR, hint), Var(VECTOR)
    return Program((x,), (), (Equation(primitive, (x, x), (y,)),), (y,))


def test_names_of_variables_do_not_count() -> None:
    one, other = made("x", add), made("z", add)
    assert one == other
    assert hash(one) == hash(other)
    assert one != made("x", mul)


def test_a_program_says_what_goes_in_and_out() -> None:
    program = made("x", add)
    assert (program.in_avals, program.out_avals, len(program)) == ((VECTOR,), (VECTOR,), 1)
    assert [equation.primitive.name for equation in program] == ["add"]
    np.testing.assert_array_equal(program(np.ones(3))[0], 2 * np.ones(3))


def test_variables_are_identities_and_literals_are_values() -> None:
    assert Var(VECTOR, "x") != Var(VECTOR, "x")
    literal = pickle.loads(pickle.dumps(Literal(np.float64(2.0), Aval((), np.float64))))
    assert (literal.value, literal.aval) == (2.0, Aval((), np.float64))


def test_equations_carry_the_parameters_of_their_primitive() -> None:
    [equation] = fg.make_program(lambda x: np.sum(x, axis=0))(np.ones((2, 3))).equations
    assert dict(equation.params)["axes"] == (0,)
